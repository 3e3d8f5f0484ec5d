/*
 * The files that a context reads at its creation: named, found by itself, missing, damaged, of another machine.  What
 * the first process finds all have, whatever their own environment says.
 */
#include "support/failing_memory.h"
#include "support/product/gemm_case.h"

#include "api/context_create.h"
#include "api/context_files.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 200, TEXT = 8192 };

static char directory[] = "/tmp/hsumma-files-XXXXXX";

/* A path in the test's directory. */
static const char *in(const char *name)
{
    static char path[4][NAME];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], NAME, "%s/%s", directory, name);
    return path[next];
}

/* The same, but for what is a whole path or none. */
static const char *path_of(const char *name)
{
    return !name[0] || name[0] == '/' || strcmp(name, "built-in") == 0 ? name : in(name);
}

/* The first process writes, the others wait. */
static void put_bytes(const char *name, const char *text, size_t length)
{
    FILE *file = rank == 0 ? fopen(in(name), "w") : NULL;
    if (file) {
        fwrite(text, 1, length, file);
        fclose(file);
    }
    world_reduce(0, MPI_SUM);
}

static void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

/* The first process's way to its own files; the others' lead nowhere, or to other files. */
static void look_in(const char *name, const char *others)
{
    const char *path = rank == 0 ? name : others;
    if (path)
        setenv("XDG_CONFIG_HOME", path, 1);
    else
        unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/nowhere", 1);
}

static int64_t hash_bytes(const void *bytes, size_t length, int64_t from)
{
    uint64_t h = (uint64_t)from;
    for (size_t i = 0; i < length; i++)
        h = scrambled(h + ((const unsigned char *)bytes)[i]);
    return (int64_t)(h >> 2);
}

/* All that the files have said, alike on all processes. */
static int alike(const hsumma_context *ctx)
{
    const struct hs_profile *p = &ctx->profile;
    int64_t h = hash_bytes(ctx->note, strlen(ctx->note), 1);
    h = hash_bytes(ctx->tuned_file, strlen(ctx->tuned_file), h);
    h = hash_bytes(p->source, strlen(p->source), h);
    h = hash_bytes(&p->machine.network.alpha, sizeof(double), h);
    h = hash_bytes(&p->gemm[0].flop, sizeof(double), h);
    h = hash_bytes(&p->slice, sizeof p->slice, h);
    h = hash_bytes(&ctx->tuned.count, sizeof(int), h);
    h = hash_bytes(&ctx->team.selector.tuned.count, sizeof(int), h);
    return world_reduce(h, MPI_MIN) == world_reduce(h, MPI_MAX);
}

struct wanted {
    const char *source; /* of the profile, and ... */
    const char *note;   /* words in it; "": there is none */
    const char *tuned;  /* ... the file to remember to: names in the directory */
    int rules, entries; /* of the tuned file */
};

/* A context that is made, and what it knows; NULL and a failed test if not. */
static hsumma_context *made(const char *options, const struct wanted *want, const char *what)
{
    hsumma_context *ctx = NULL;
    char text[512] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, text, sizeof text);
    if (!everywhere(status == HSUMMA_OK)) {
        tap_ok(0, "%s: %s: %s", what, options, text);
        hsumma_free(&ctx);
        return NULL;
    }
    int good = strcmp(ctx->profile.source, path_of(want->source)) == 0 &&
               strcmp(ctx->tuned_file, path_of(want->tuned)) == 0 &&
               (want->note[0] ? strstr(ctx->note, want->note) != NULL : !ctx->note[0]) &&
               strncmp(hsumma_message(ctx), ctx->note, 400) == 0 && ctx->profile.one_node == 1 &&
               ctx->team.selector.tuned.count == want->rules && ctx->tuned.count == want->entries &&
               ctx->memo.profile == &ctx->profile && ctx->team.selector.machine == &ctx->profile.machine;
    tap_ok(everywhere(good) & alike(ctx), "%s: %s%s", what, want->note[0] ? "" : "no note", hsumma_message(ctx));
    if (!good)
        printf("# rank %d: source %s, note \"%s\", to %s, %d rules, %d entries\n", rank, ctx->profile.source, ctx->note,
               ctx->tuned_file, ctx->team.selector.tuned.count, ctx->tuned.count);
    return ctx;
}

static void check(const char *options, const struct wanted *want, const char *what)
{
    hsumma_context *ctx = made(options, want, what);
    hsumma_free(&ctx);
}

static void refused(const char *options, const char *words)
{
    hsumma_context *ctx = NULL;
    char text[512] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, text, sizeof text);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && !ctx && strstr(text, words)), "%s", text);
    hsumma_free(&ctx);
}

/* A profile of this machine with all of the GEMM's costs so many times the built-in ones. */
static void put_profile(const char *name, double times, const char *host)
{
    char text[TEXT], mine[HS_HOST_TEXT];
    struct hs_profile profile = hs_profile_builtin;
    for (int i = 0; i < 2; i++) {
        struct hs_gemm_cost *cost = &profile.gemm[i];
        *cost = (struct hs_gemm_cost){cost->flop * times, cost->c * times, cost->ab * times, cost->call * times};
    }
    profile.slice = 12345;
    hs_host_signature(mine);
    hs_profile_write(&profile, host ? host : mine, text, sizeof text);
    put(name, text);
}

static double predicted(hsumma_context *ctx)
{
    hsumma_grid *grid = NULL;
    hsumma_plan *plan = NULL;
    hsumma_plan_info info = {0};
    if (hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid) == HSUMMA_OK) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 1000, 900, 800, 50);
        c.options = "stationary=C groups=1x1 block=50 bcast=binomial lookahead=1";
        if (gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK)
            hsumma_plan_query(plan, &info);
    }
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
    return info.predicted_gemm_seconds;
}

static void test_profile(void)
{
    char text[TEXT], options[2 * NAME];
    struct wanted builtin = {"built-in", "", "", 0, 0}, good = {"good", "", "", 0, 0};
    put_profile("good", 10, NULL);
    put_profile("foreign", 10, "Another processor; 3 cores; MPI; BLAS");
    put("later", "hsumma profile 2\nend\n");
    put("damaged", "hsumma profile 1\ngemm.knee 0\nend\n");
    put("cut", "hsumma profile 1\ngemm.knee 12");
    put("empty", "");
    put_bytes("zeros", "hsumma profile 1\nend\n\0\n", 23);

    hsumma_context *ctx = made("profile=builtin tuned=none", &builtin, "the built-in profile");
    double before = ctx ? predicted(ctx) : 0;
    hsumma_free(&ctx);
    snprintf(options, sizeof options, "profile=%s tuned=none", in("good"));
    ctx = made(options, &good, "a named profile");
    double after = ctx ? predicted(ctx) : 0;
    hsumma_free(&ctx);
    tap_ok(everywhere(before > 0 && fabs(after / before - 10) < 1e-9), "ten times dearer: %g s, then %g s predicted",
           before, after);
    if (everywhere(!hs_context_create(MPI_COMM_WORLD, options, 0, &ctx, text, sizeof text)))
        tap_ok(everywhere(strcmp(ctx->profile.source, in("good")) == 0 && ctx->profile.slice == 12345),
               "also where there are no collective calls");
    hsumma_free(&ctx);

    static const char *const bad[][2] = {{"foreign", "measured on another machine"},
                                         {"later", "later than this library's"},
                                         {"damaged", "line 2, \"gemm.knee 0\": expected a whole number"},
                                         {"cut", "line 2, \"gemm.knee 12\": the file ends here"},
                                         {"empty", "the file ends here"},
                                         {"zeros", "expected nothing after"}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(options, sizeof options, "profile=%s tuned=none", in(bad[i][0]));
        builtin.note = bad[i][1];
        ctx = made(options, &builtin, bad[i][0]);
        int told = ctx && strstr(ctx->note, in(bad[i][0])) && strstr(ctx->note, "; the built-in one is used");
        tap_ok(everywhere(told && ctx->profile.slice == hs_profile_builtin.slice), "%s: the note names the file",
               bad[i][0]);
        hsumma_free(&ctx);
    }
    refused("profile=/nowhere/at/all", "profile: cannot read /nowhere/at/all: ");
    snprintf(options, sizeof options, "profile=%s", directory);
    refused(options, strerror(EISDIR));
    if (rank == 0)
        setenv("HSUMMA_PROFILE", in("good"), 1);
    check("tuned=none", &good, "a profile that the environment names");
    unsetenv("HSUMMA_PROFILE");
}

static void test_tuned(void)
{
    char options[2 * NAME];
    struct wanted none = {"built-in", "", "", 0, 0}, good = {"built-in", "", "choices", 2, 1};
    put("choices", "hsumma tuned 2\nallreduce * * 0-2k smp # measured\ngemm some-key 0.5 stationary=C groups=1x1\n"
                   "allreduce * * 0-inf ring\n");
    put("wrong", "hsumma tuned 2\nallreduce * * 0-2k smp\nallreduce 2 ring\n");
    put("wrong-too", "hsumma tuned 2\nallreduce * * 0-2k smp\ngemm some-key never\n");
    check("profile=builtin tuned=none", &none, "no tuned file");
    snprintf(options, sizeof options, "profile=builtin tuned=%s", in("choices"));
    hsumma_context *ctx = made(options, &good, "a named tuned file");
    const struct hs_tuned_entry *entry = ctx ? hs_tuned_find(&ctx->tuned, "some-key") : NULL;
    const char *word = ctx ? hs_rules_find(&ctx->team.selector.tuned, HS_ALLREDUCE, size, 1, 100) : NULL;
    int right = entry && entry->seconds == 0.5 && strcmp(entry->line, "stationary=C groups=1x1") == 0;
    tap_ok(everywhere(right && word && strcmp(word, "smp") == 0), "its products and its collectives");
    hsumma_free(&ctx);
    snprintf(options, sizeof options, "profile=builtin tune=off tuned=%s", in("choices"));
    check(options, &good, "read with tune=off as well: a plan may say otherwise");
    if (everywhere(!hs_context_create(MPI_COMM_WORLD, options, 0, &ctx, NULL, 0)))
        tap_ok(everywhere(hs_tuned_find(&ctx->tuned, "some-key") != NULL), "also where there are no collective calls");
    hsumma_free(&ctx);
    refused("tuned=/nowhere/at/all", "tuned: cannot read /nowhere/at/all: ");
    snprintf(options, sizeof options, "tuned=%s", in("wrong"));
    refused(options, "line 3");
    snprintf(options, sizeof options, "tuned=%s", in("wrong-too"));
    refused(options, "line 3");
}

static void test_auto(void)
{
    struct wanted none = {"built-in", "", "config/hsumma/tuned", 0, 0};
    if (rank == 0) {
        mkdir(in("config"), 0700);
        mkdir(in("config/hsumma"), 0700);
    }
    look_in(in("config"), "/nowhere");
    check(NULL, &none, "nothing is there yet");
    put_profile("config/hsumma/profile", 10, NULL);
    put("config/hsumma/tuned", "hsumma tuned 2\ngemm some-key 0.5 stationary=C\nbcast * * * chain\n");
    struct wanted both = {"config/hsumma/profile", "", "config/hsumma/tuned", 1, 1};
    check(NULL, &both, "both are found by the first process");
    check("profile=auto tuned=auto", &both, "both are asked for");
    struct wanted builtin = both, untuned = both;
    builtin.source = "built-in";
    untuned.tuned = "";
    untuned.rules = untuned.entries = 0;
    check("profile=builtin", &builtin, "profile=builtin does not look");
    check("tuned=none", &untuned, "nor does tuned=none");
    look_in("/nowhere", in("config"));
    none.tuned = "/nowhere/hsumma/tuned";
    check(NULL, &none, "what other processes would find does not count");
    look_in(in("config"), NULL);
    put("config/hsumma/tuned", "hsumma tuned 2\nbcast * * * chain\ngemm some-key\n");
    both.rules = both.entries = 0;
    both.note = "hsumma/tuned: line 3";
    check(NULL, &both, "a damaged tuned file that was not named");
    put_profile("config/hsumma/profile", 10, "Another machine");
    both.source = "built-in";
    both.note = "; the built-in one is used; tuned ";
    check(NULL, &both, "neither can be used");
    if (rank == 0) {
        unlink(in("config/hsumma/tuned"));
        mkdir(in("config/hsumma/tuned"), 0700);
    }
    both.note = strerror(EISDIR);
    check(NULL, &both, "a directory where the file should be");
    if (rank == 0) {
        rmdir(in("config/hsumma/tuned"));
        unlink(in("config/hsumma/profile"));
        rmdir(in("config/hsumma"));
        rmdir(in("config"));
    }
    look_in(NULL, NULL);
    unsetenv("HOME");
    none.tuned = "";
    check(NULL, &none, "no place to look");
}

/* Memory that fails on one process, at every place, fails everywhere, and nothing is left. */
static void test_memory(void)
{
    char options[2 * NAME];
    hsumma_context *ctx = NULL;
    snprintf(options, sizeof options, "profile=%s tuned=%s", in("good"), in("choices"));
    int reached = everywhere(!hsumma_create(MPI_COMM_WORLD, options, &ctx, NULL, 0)), bad = !reached, places = 0;
    for (int victim = 0; reached && victim<size; victim += size> 1 ? size - 1 : 1)
        for (int64_t n = 0, there = 1; there; n++, places++) {
            struct failing_memory scarce = {0, rank == victim ? n : -1, 0, 0};
            hs_rules_free(&ctx->team.selector.tuned, &ctx->memory);
            hs_tuned_free(&ctx->tuned, &ctx->memory);
            ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
            hsumma_status status = hs_files_read(ctx);
            there = world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
            int64_t out = scarce.out;
            int good = there ? status == HSUMMA_ERR_MEMORY && out == 0 && hsumma_message(ctx)[0]
                             : status == HSUMMA_OK && ctx->tuned.count == 1 && ctx->team.selector.tuned.count == 2;
            bad += !everywhere(good);
            hs_rules_free(&ctx->team.selector.tuned, &ctx->memory);
            hs_tuned_free(&ctx->tuned, &ctx->memory);
            bad += !everywhere(scarce.out == 0);
            ctx->memory = hs_heap;
        }
    tap_ok(bad == 0 && places > 3, "memory fails at %d places: %d wrong", places, bad);
    hsumma_free(&ctx);
}

int main(int argc, char **argv)
{
    static const char *const files[] = {"good",  "foreign", "later",   "damaged", "cut",
                                        "empty", "zeros",   "choices", "wrong",   "wrong-too"};
    hsumma_option_info info;
    world_begin(&argc, &argv);
    for (int i = 0; hsumma_option(i, &info); i++)
        unsetenv(info.environment);
    int there = rank > 0 || mkdtemp(directory) != NULL;
    for (int i = 0; i < (int)sizeof directory; i++)
        directory[i] = (char)world_reduce(rank == 0 ? directory[i] : 0, MPI_MAX);
    look_in(directory, NULL);
    if (everywhere(there)) {
        test_profile();
        test_tuned();
        test_auto();
        test_memory();
    } else
        tap_ok(0, "no directory in /tmp");
    world_reduce(0, MPI_SUM);
    for (unsigned i = 0; rank == 0 && i < sizeof files / sizeof *files; i++)
        unlink(in(files[i]));
    if (rank == 0)
        tap_ok(rmdir(directory) == 0, "nothing is left behind");
    MPI_Finalize();
    return tap_done();
}
