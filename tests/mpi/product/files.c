/*
 * The files that a context reads at creation: named by options, found in the usual place, missing, damaged, from
 * another machine. All processes use the contents that process 0 reads, whatever their own environment says.
 */
#include "support/failing_memory.h"
#include "support/product/tuned_plan.h"

#include "api/context_create.h"
#include "api/context_parts.h"

#include <errno.h>
#include <sys/stat.h>

enum { TEXT = 8192 };

/* The text with each @ replaced by the test's directory; valid during the next three calls. */
static const char *with_paths(const char *text)
{
    static char expanded[4][2 * TUNED_PATH];
    static int next;
    char *to = expanded[next = (next + 1) % 4];
    for (; *text; text++)
        to += *text == '@' ? sprintf(to, "%s", tuned_path("")) : sprintf(to, "%c", *text);
    *to = 0;
    return expanded[next];
}

/* Sets the directory in which process 0 looks for files. The other processes' directory `others` (NULL: not set) must
 * have no effect. */
static void look_in(const char *name, const char *others)
{
    const char *path = rank == 0 ? name : others;
    if (path)
        setenv("XDG_CONFIG_HOME", with_paths(path), 1);
    else
        unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/nowhere", 1);
}

/* Whether the note, the names and some numbers from the files are equal on all processes. */
static int files_alike(const hsumma_context *ctx)
{
    const struct hs_profile *p = &ctx->profile;
    int64_t h = hash_of(1, ctx->note, strlen(ctx->note));
    h = hash_of(h, ctx->tuned_file, strlen(ctx->tuned_file));
    h = hash_of(h, p->source, strlen(p->source));
    h = hash_of(h, &p->machine.network.alpha, sizeof(double));
    h = hash_of(h, &p->gemm[0].flop, sizeof(double));
    h = hash_of(h, &p->slice, sizeof p->slice);
    h = hash_of(h, &ctx->tuned.count, sizeof(int));
    h = hash_of(h, &ctx->team.selector.tuned.count, sizeof(int));
    return alike(h);
}

/* The expected state of a context after it has read its files; @ stands for the test's directory. */
struct wanted {
    const char *source; /* origin of the profile */
    const char *note;   /* contained in the context's note; "": no note */
    const char *tuned;  /* path of the tuned file to which the context writes */
    int rules, entries; /* number of rules and of entries in the tuned file */
};

/* Creates a context and checks its state; returns NULL and reports a failed test on error. */
static hsumma_context *made(const char *options, const struct wanted *want, const char *what)
{
    hsumma_context *ctx = NULL;
    char text[512] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options ? with_paths(options) : NULL, &ctx, text, sizeof text);
    if (!everywhere(status == HSUMMA_OK)) {
        tap_ok(0, "%s: %s: %s", what, options, text);
        hsumma_free(&ctx);
        return NULL;
    }
    const char *source = with_paths(want->source);
    int slow = strcmp(source, "built-in") == 0 && strncmp(ctx->profile.source, "built-in, ", 10) == 0 &&
               strstr(ctx->profile.source, " kernels of the BLAS"); /* which BLAS runs them depends on the machine */
    int good = (slow || strcmp(ctx->profile.source, source) == 0) &&
               strcmp(ctx->tuned_file, with_paths(want->tuned)) == 0 &&
               (want->note[0] ? strstr(ctx->note, want->note) != NULL : !ctx->note[0]) &&
               strncmp(hsumma_message(ctx), ctx->note, 400) == 0 && ctx->profile.one_node == 1 &&
               ctx->team.selector.tuned.count == want->rules && ctx->tuned.count == want->entries &&
               ctx->memo.profile == &ctx->profile && ctx->team.selector.machine == &ctx->profile.machine;
    tap_ok(everywhere(good) & files_alike(ctx), "%s: %s%s", what, want->note[0] ? "" : "no note", hsumma_message(ctx));
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
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, with_paths(options), &ctx, text, sizeof text);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && !ctx && strstr(text, words)), "%s", text);
    hsumma_free(&ctx);
}

/* Writes the built-in profile with all GEMM costs multiplied by `times`, as measured on `host` (NULL: this machine). */
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
    tuned_put(name, text, strlen(text));
}

static double predicted(hsumma_context *ctx)
{
    hsumma_grid *grid = NULL;
    hsumma_plan *plan = NULL;
    if (hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid) == HSUMMA_OK) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 1000, 900, 800, 50);
        c.options = "stationary=C groups=1x1 block=50 bcast=binomial lookahead=1 slice=none";
        gemm_plan_create(ctx, &c, &plan);
    }
    double seconds = plan_query(plan).predicted_gemm_seconds;
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
    return seconds;
}

static const struct wanted of_none = {"built-in", "", "", 0, 0}, of_profile = {"@good", "", "", 0, 0};

static void test_profile(void)
{
    char text[TEXT];
    put_profile("good", 10, NULL);
    hsumma_context *ctx = made("profile=builtin tuned=none", &of_none, "the built-in profile");
    double before = ctx ? predicted(ctx) : 0;
    hsumma_free(&ctx);
    ctx = made("profile=@good tuned=none", &of_profile, "a named profile");
    double after = ctx ? predicted(ctx) : 0;
    hsumma_free(&ctx);
    tap_ok(everywhere(before > 0 && fabs(after / before - 10) < 1e-9), "ten times dearer: %g s, then %g s predicted",
           before, after);
    if (everywhere(
            !hs_context_create(MPI_COMM_WORLD, with_paths("profile=@good tuned=none"), 0, &ctx, text, sizeof text)))
        tap_ok(everywhere(strcmp(ctx->profile.source, tuned_path("good")) == 0 && ctx->profile.slice == 12345),
               "also where there are no collective calls");
    hsumma_free(&ctx);
    if (rank == 0)
        setenv("HSUMMA_PROFILE", tuned_path("good"), 1);
    check("tuned=none", &of_profile, "a profile that the environment names");
    unsetenv("HSUMMA_PROFILE");
}

static void test_bad_profiles(void)
{
    static const struct {
        const char *name, *note, *text;
        size_t length;
    } bad[] = {
        {"foreign", "measured on another machine", NULL, 0},
        {"later", "later than this library's", "hsumma profile 2\nend\n", 21},
        {"binary", "line 2, \"gemm.knee ?\t\xc3\xa9??[2J\": expected a whole number",
         "hsumma profile 1\ngemm.knee \x01\t\xc3\xa9\xff\x1b[2J\nend\n", 41},
        {"damaged", "line 2, \"gemm.knee 0\": expected a whole number", "hsumma profile 1\ngemm.knee 0\nend\n", 33},
        {"cut", "line 2, \"gemm.knee 12\": the file ends here", "hsumma profile 1\ngemm.knee 12", 29},
        {"empty", "the file ends here", "", 0},
        {"zeros", "expected nothing after", "hsumma profile 1\nend\n\0\n", 23}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        char options[TUNED_PATH];
        struct wanted want = of_none;
        want.note = bad[i].note;
        if (bad[i].text)
            tuned_put(bad[i].name, bad[i].text, bad[i].length);
        else
            put_profile(bad[i].name, 10, "Another processor; 3 cores; MPI; BLAS");
        snprintf(options, sizeof options, "profile=@%s tuned=none", bad[i].name);
        hsumma_context *ctx = made(options, &want, bad[i].name);
        int told = ctx && strstr(ctx->note, tuned_path(bad[i].name)) && strstr(ctx->note, "; the built-in one is used");
        tap_ok(everywhere(told && ctx->profile.slice == hs_profile_builtin.slice), "%s: the note names the file",
               bad[i].name);
        hsumma_free(&ctx);
    }
    refused("profile=/nowhere/at/all", "profile: cannot read /nowhere/at/all: ");
    refused("profile=@", strerror(EISDIR));
}

static void put_text(const char *name, const char *text)
{
    tuned_put(name, text, strlen(text));
}

static void test_tuned(void)
{
    static const char named[] = "profile=builtin tune=off tuned=@choices";
    struct wanted good = {"built-in", "", "@choices", 2, 1};
    put_text("choices", "hsumma tuned 2\nallreduce * * 0-2k smp # measured\ngemm some-key 0.5 stationary=C groups=1x1\n"
                        "allreduce * * 0-inf ring\n");
    put_text("wrong", "hsumma tuned 2\nallreduce * * 0-2k smp\nallreduce 2 ring\n");
    put_text("wrong-too", "hsumma tuned 2\nallreduce * * 0-2k smp\ngemm some-key never\n");
    check("profile=builtin tuned=none", &of_none, "no tuned file");
    hsumma_context *ctx = made("profile=builtin tuned=@choices", &good, "a named tuned file");
    const struct hs_tuned_entry *entry = ctx ? hs_tuned_find(&ctx->tuned, "some-key") : NULL;
    const char *word = ctx ? hs_rules_find(&ctx->team.selector.tuned, HS_ALLREDUCE, size, 1, 100) : NULL;
    int right = entry && entry->seconds == 0.5 && strcmp(entry->line, "stationary=C groups=1x1") == 0;
    tap_ok(everywhere(right && word && strcmp(word, "smp") == 0), "its products and its collectives");
    hsumma_free(&ctx);
    check(named, &good, "read with tune=off as well: a plan may say otherwise");
    if (everywhere(!hs_context_create(MPI_COMM_WORLD, with_paths(named), 0, &ctx, NULL, 0)))
        tap_ok(everywhere(hs_tuned_find(&ctx->tuned, "some-key") != NULL), "also where there are no collective calls");
    hsumma_free(&ctx);
    refused("tuned=/nowhere/at/all", "tuned: cannot read /nowhere/at/all: ");
    refused("tuned=@wrong", "line 3");
    refused("tuned=@wrong-too", "line 3");
}

/* Files in the user's own directory, which no option names; only process 0 has them. */
static void test_auto(void)
{
    static const char profile[] = "config/hsumma/profile", tuned[] = "config/hsumma/tuned";
    struct wanted want = {"built-in", "", "@config/hsumma/tuned", 0, 0}, part;
    if (rank == 0) {
        mkdir(tuned_path("config"), 0700);
        mkdir(tuned_path("config/hsumma"), 0700);
    }
    look_in("@config", "/nowhere");
    check(NULL, &want, "nothing is there yet");
    put_profile(profile, 10, NULL);
    put_text(tuned, "hsumma tuned 2\ngemm some-key 0.5 stationary=C\nbcast * * * chain\n");
    want = (struct wanted){"@config/hsumma/profile", "", "@config/hsumma/tuned", 1, 1};
    check(NULL, &want, "both are found by the first process");
    check("profile=auto tuned=auto", &want, "both are asked for");
    part = want;
    part.source = "built-in";
    check("profile=builtin", &part, "profile=builtin does not look");
    part = (struct wanted){want.source, "", "", 0, 0};
    check("tuned=none", &part, "nor does tuned=none");
    look_in("/nowhere", "@config");
    part = (struct wanted){"built-in", "", "/nowhere/hsumma/tuned", 0, 0};
    check(NULL, &part, "what other processes would find does not count");
    look_in("@config", NULL);
    put_text(tuned, "hsumma tuned 2\nbcast * * * chain\ngemm some-key\n");
    want.rules = want.entries = 0;
    want.note = "hsumma/tuned: line 3";
    check(NULL, &want, "a damaged tuned file that was not named");
    put_profile(profile, 10, "Another machine");
    want.source = "built-in";
    want.note = "; the built-in one is used; tuned ";
    check(NULL, &want, "neither can be used");
    if (rank == 0) {
        unlink(tuned_path(tuned));
        mkdir(tuned_path(tuned), 0700);
    }
    want.note = strerror(EISDIR);
    check(NULL, &want, "a directory where the file should be");
    look_in(NULL, NULL);
    unsetenv("HOME");
    check(NULL, &of_none, "no place to look");
}

/* If any one allocation fails on one process, reading the files fails on all processes, and nothing leaks. */
static void test_memory(void)
{
    hsumma_context *ctx = NULL;
    int reached = everywhere(!hsumma_create(MPI_COMM_WORLD, with_paths("profile=@good tuned=@choices"), &ctx, NULL, 0)),
        bad = !reached, places = 0;
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

/* Finds the fabric of a context anew with memory that fails at one place after the other. */
static void test_fabric_memory(hsumma_context *ctx)
{
    int bad = 0, places = 0;
    for (int64_t n = 0, there = 1; there; n++, places++) {
        struct failing_memory scarce = {0, rank == size - 1 ? n : -1, 0, 0};
        hs_put(&ctx->memory, ctx->comm.fabric.at);
        ctx->comm.fabric = (struct hs_fabric){0};
        ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
        hsumma_status status = hs_context_find_fabric(ctx);
        there = world_reduce(rank == size - 1 && scarce.calls > n, MPI_MAX);
        int64_t out = scarce.out;
        bad += !everywhere(there ? status == HSUMMA_ERR_MEMORY && out == 0 && hsumma_message(ctx)[0]
                                 : status == HSUMMA_OK && ctx->comm.fabric.positions == 16);
        hs_put(&ctx->memory, ctx->comm.fabric.at);
        ctx->comm.fabric.at = NULL;
        bad += !everywhere(scarce.out == 0);
        ctx->memory = hs_heap;
    }
    tap_ok(bad == 0 && places > 1, "memory fails at %d places while a fabric is read: %d wrong", places, bad);
}

/* The links between nodes (option topology), which process 0 reads. */
static void test_fabric(void)
{
    char host[MPI_MAX_PROCESSOR_NAME], text[sizeof host + 64], nodes[64];
    int length;
    hsumma_context *ctx = NULL;
    MPI_Get_processor_name(host, &length);
    snprintf(text, sizeof text, "# this machine\ntorus 4x4\nanother[0-2],%s,yet-another\n", host);
    put_text("fabric", text);
    put_text("elsewhere", "torus 4x4\nanother[0-2]-host\n");
    put_text("crooked", "torus 4x4\nanother[0-2]-host\nand[1-\n");
    refused("topology=/nowhere/at/all", "topology: cannot read /nowhere/at/all: ");
    refused("topology=@elsewhere", "elsewhere does not have host ");
    refused("topology=@crooked", "line 3");
    refused("topology=torus:4x", "topology: \"torus:4x\": expected a fabric such as torus:8x8x8");
    refused("topology=tree:64x64/1", "topology: \"tree:64x64/1\": expected a fabric such as torus:8x8x8");
    refused("topology=ring:4", "topology is \"ring:4\"; expected auto, nodes:N");
    snprintf(nodes, sizeof nodes, "topology=nodes:%d,torus:1x1", size + 1);
    if (size > 1)
        refused(nodes, "expected at least");
    if (everywhere(!hsumma_create(MPI_COMM_WORLD, with_paths("topology=@fabric profile=builtin"), &ctx, NULL, 0))) {
        const struct hs_fabric *fabric = &ctx->comm.fabric;
        int at = ctx->comm.topology.size ? hs_fabric_at(fabric, 0) : 3; /* without a topology nobody asks */
        tap_ok(everywhere(fabric->dims == 2 && fabric->positions == 16 && at == 3), "a torus of a file: position %d",
               at);
        test_fabric_memory(ctx);
    }
    hsumma_free(&ctx);
    snprintf(nodes, sizeof nodes, "topology=nodes:%d,torus:2x8", size);
    if (everywhere(!hsumma_create(MPI_COMM_WORLD, nodes, &ctx, NULL, 0))) {
        const struct hs_fabric *fabric = ctx->comm.topology.fabric;
        int good = size == 1 ? !fabric : fabric && fabric->extent[1] == 8 && hs_fabric_at(fabric, size - 1) == size - 1;
        tap_ok(everywhere(good), "a torus of %d virtual nodes", size);
    }
    hsumma_free(&ctx);
}

static void test_all(hsumma_context *unused, const hsumma_grid *none)
{
    (void)unused, (void)none;
    if (!tap_ok(tuned_directory_make(), "a directory"))
        return;
    unsetenv("HSUMMA_PROFILE");
    look_in("@", NULL);
    test_profile();
    test_bad_profiles();
    test_tuned();
    test_auto();
    test_memory();
    test_fabric();
    tuned_directory_drop();
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
