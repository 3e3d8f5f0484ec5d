/*
 * The state attached to a BLACS context: plans and memory, options, the log.
 *
 *   contexts [CONTEXTS [CALLS]]    numbers of contexts and of calls that must not leak memory (default 50, 2000)
 */
#include "support/captured.h"
#include "support/scalapack/pgemm_call.h"

/* Many contexts, whose numbers are reused for other grids, and calls in them: no memory or communicators may leak. */
static void test_lifetimes(int contexts, int calls)
{
    long before = 0, after = 0;
    int good = 1, distinct = 0, seen[16] = {0}, warm = contexts / 4;
    for (int i = 0; i < contexts; i++) {
        int wide = i % 3, context = blacs_context_of(wide ? 1 : size, wide ? size : 1, wide == 2 ? "C" : "R");
        distinct += !seen[context & 15];
        seen[context & 15] = 1;
        good &= pgemm_multiplies(context, 5 + i % 7, 6, 7 + i % 2, 2);
        Cblacs_gridexit(context);
        if (i == warm)
            before = (long)mallinfo2().uordblks;
    }
    after = (long)mallinfo2().uordblks;
    tap_ok(everywhere(good), "%d contexts with %d numbers, one after another", contexts, distinct);
    /* MPI's own pools grow in steps; a leaked context would have at least 60 KB */
    tap_ok(everywhere(after - before < 65536L * size + 512L * contexts), "they leave no memory behind: %ld bytes",
           after - before);

    int context = blacs_context_of(1, size, "R");
    struct pgemm_call call[10];
    good = 1;
    for (int i = 0; i < calls; i++) {
        int which = i % 1000 < 20 ? i % 10 : 0; /* more shapes than the cache has plans */
        call[which] = pgemm_call_of(context, 'N', 'T', 4 + which, 5, 6, 2);
        pgemm_run(hsumma_pdgemm_, HSUMMA_D, &call[which], pgemm_matrix[0], pgemm_matrix[1], pgemm_matrix[2]);
        if (i == calls / 4)
            before = (long)mallinfo2().uordblks;
    }
    after = (long)mallinfo2().uordblks;
    good = pgemm_multiplies(context, 9, 9, 9, 2);
    Cblacs_gridexit(context);
    tap_ok(everywhere(good && after - before < 1 << 16), "%d calls leave no memory behind: %ld bytes", calls,
           after - before);
}

/* Creates a BLACS context with an option in the environment, which only process 0 sets. */
static int context_with(const char *name, const char *value)
{
    if (rank == 0)
        setenv(name, value, 1);
    int context = blacs_context_of(1, size, "R");
    struct pgemm_call call = pgemm_call_of(context, 'N', 'N', 30, 30, 30, 4);
    pgemm_run(hsumma_pdgemm_, HSUMMA_D, &call, pgemm_matrix[0], pgemm_matrix[1],
              pgemm_matrix[2]); /* the first call reads the option */
    if (rank == 0)
        unsetenv(name);
    return context;
}

static void test_left_to_scalapack(void)
{
    const struct {
        const char *name, *value;
        int n[2], theirs[2]; /* expected number of calls of ScaLAPACK, for each size in n */
    } rows[] = {{"HSUMMA_SCALAPACK", "off", {8, 40}, {1, 1}},
                {"HSUMMA_SCALAPACK", "10", {10, 11}, {1, 0}},
                {"HSUMMA_SCALAPACK", "on", {1, 40}, {0, 0}},
                {"HSUMMA_BLOCK", "nonsense", {8, 40}, {1, 1}},
                {"HSUMMA_WORKSPACE_LIMIT", "1", {40, 40}, {size > 1, size > 1}}};
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++) {
        int context = context_with(rows[r].name, rows[r].value), good = 1, count[2];
        for (int i = 0; i < 2; i++) {
            int n = rows[r].n[i];
            struct pgemm_call call = pgemm_call_of(context, 'N', 'T', n, n, n, 4);
            pgemm_theirs_count = 0;
            good &= pgemm_same(HSUMMA_S, &call, hsumma_psgemm_);
            count[i] = pgemm_theirs_count - 1; /* the comparison itself makes one call */
            good &= count[i] == rows[r].theirs[i];
        }
        Cblacs_gridexit(context);
        tap_ok(everywhere(good), "%s=%s: ScaLAPACK's calls are %d of n = %d, %d of n = %d", rows[r].name, rows[r].value,
               count[0], rows[r].n[0], count[1], rows[r].n[1]);
    }
}

/* Reads a file and deletes it. */
static void slurp(const char *name, char *text, size_t room)
{
    FILE *file = fopen(name, "r");
    text[file ? fread(text, 1, room - 1, file) : 0] = 0;
    if (file)
        fclose(file);
    unlink(name);
}

static void test_log(void)
{
    char name[] = "/tmp/hsumma-shim-XXXXXX", text[4096] = "", expected[1024];
    int good = 1, file = rank == 0 ? mkstemp(name) : -1, context = context_with("HSUMMA_LOG", name);
    struct pgemm_call call = pgemm_call_of(context, 'C', 'n', 5, 6, 7, 2);
    call.first[0][1] = 2;
    call.desc[0][COLS] = 9;
    call.desc[1][INB] = 1;
    call.alpha[0] = 0.5;
    call.alpha[1] = -3;
    pgemm_shorten(call.desc[2]);
    good &= pgemm_same(HSUMMA_C, &call, hsumma_pcgemm_);
    Cblacs_gridexit(context);
    if (rank == 0) {
        close(file);
        slurp(name, text, sizeof text);
        snprintf(expected, sizeof expected,
                 "mpiexec -n %d hsumma gemm -m 5 -n 6 -k 7 --type c --transa C --transb N --alpha "
                 "\"(0.5,-3)\" --beta \"(-1,0)\" --grid 1x%d "
                 "--layout-a m=7,n=9,imb=2,inb=2,mb=2,nb=2,rsrc=0,csrc=0,i=0,j=1,pad=%d "
                 "--layout-b m=7,n=6,imb=2,inb=1,mb=2,nb=2,rsrc=0,csrc=0,i=0,j=0,pad=%d "
                 "--layout-c m=5,n=6,imb=2,inb=2,mb=2,nb=2,rsrc=0,csrc=0,i=0,j=0,pad=%d\n",
                 size, size, PGEMM_LD - 7, PGEMM_LD - 7, PGEMM_LD - 5);
        char *second = strchr(text, '\n');
        good &= second && strncmp(text, "mpiexec -n ", 11) == 0 && strcmp(second + 1, expected) == 0;
        if (!good)
            printf("# log: %s# expected: %s", text, expected);
    }
    tap_ok(everywhere(good), "HSUMMA_LOG: one line per call, in which every argument stands");
}

/* The log has one line per distinct call, even if plans were dropped from the cache and made again. */
static void test_explain(void)
{
    char text[8192];
    int good = 1, lines = 0;
    struct captured captured = captured_begin();
    int context = context_with("HSUMMA_EXPLAIN", "1");
    for (int round = 0; round < 2; round++)
        for (int shape = 0; shape < 10; shape++)
            good &= pgemm_multiplies(context, 10 + shape, 10, 10, 3);
    Cblacs_gridexit(context);
    captured_end(&captured, text, sizeof text);
    if (rank == 0) {
        for (char *line = text; (line = strstr(line, "hsumma: PDGEMM m=")); line++)
            lines++;
        good &= lines == 11 && strstr(text, "m=19 n=10 k=10 NN") && strstr(text, "stationary=");
        if (!good)
            printf("# %s\n", text);
    }
    tap_ok(everywhere(good), "HSUMMA_EXPLAIN: one line per distinct call: %d", lines);
}

/* HSUMMA_LAYERS: hsumma serves the calls, in the number of layers given, at most one per process, or, if it chooses, in
 * layers over links that are slow enough; without it (NULL) never. */
static void test_layers(const char *layers, int chosen)
{
    static const char profile[] = "hsumma profile 1\nnetwork.alpha_s 1e-9\nnetwork.beta_s_per_byte 1e-6\n"
                                  "inject_s_per_byte 1e-6\nend\n";
    char text[8192], file[] = "/tmp/hsumma_contexts_XXXXXX";
    const char *setting[][2] = {{"HSUMMA_EXPLAIN", "1"},
                                {"HSUMMA_PROFILE", file},
                                {"HSUMMA_TOPOLOGY", chosen ? "nodes:4" : "auto"},
                                {"HSUMMA_WORKSPACE_LIMIT", "1M"}};
    int theirs = pgemm_theirs_count, good = 1, lines = 0, at = rank == 0 ? mkstemp(file) : -1;
    if (rank == 0)
        good &= write(at, profile, sizeof profile - 1) == sizeof profile - 1 && close(at) == 0;
    struct captured captured = captured_begin();
    for (size_t i = 0; rank == 0 && i < sizeof setting / sizeof *setting; i++)
        setenv(setting[i][0], setting[i][1], 1);
    int context = layers ? context_with("HSUMMA_LAYERS", layers) : context_with("HSUMMA_TUNE", "estimate");
    for (size_t i = 0; rank == 0 && i < sizeof setting / sizeof *setting; i++)
        unsetenv(setting[i][0]);
    theirs = pgemm_theirs_count - theirs;
    for (int i = 0; i < 6; i++) /* each plan twice */
        good &= pgemm_multiplies(context, 8, 8 + i % 3, 64, 2);
    Cblacs_gridexit(context);
    captured_end(&captured, text, sizeof text);
    for (char *line = text; rank == 0 && (line = strstr(line, " layers=")); line++)
        lines++;
    good &= theirs == 0 && (rank > 0 || (layers ? lines >= (chosen ? 1 : 4) : lines == 0));
    if (rank == 0 && !good)
        printf("# %s\n", text);
    if (rank == 0)
        unlink(file);
    tap_ok(everywhere(good), "HSUMMA_LAYERS=%s: %d plans in layers", layers ? layers : "", lines);
}

/*
 * In PBLAS a process that needs no data from others can continue. Here rank 0 has all of the matrices, multiplies, and
 * then sends a message for which the other ranks wait before they call. Tested in a new context and in one that is
 * already connected.
 */
static void test_late(void)
{
    int context = blacs_context_of(1, size, "R"), good = 1;
    for (int connected = 0; size > 1 && connected < 2; connected++) {
        struct pgemm_call call = pgemm_call_of(context, 'N', 'T', 7 + connected, 7 + connected, 7 + connected, 8);
        double word = connected;
        if (connected)
            good &= pgemm_multiplies(context, 24, 24, 24, 4);
        for (int to = 1; rank == 0 && to < size; to++) {
            good &= to > 1 || pgemm_same(HSUMMA_D, &call, pgemm_ours[HSUMMA_D]);
            Cdgesd2d(context, 1, 1, &word, 1, 0, to);
        }
        if (rank > 0) {
            word = -1;
            Cdgerv2d(context, 1, 1, &word, 1, 0, 0);
            good &= word == connected && pgemm_same(HSUMMA_D, &call, pgemm_ours[HSUMMA_D]);
        }
    }
    if (size > 1)
        tap_ok(everywhere(good), "a process that has all goes on before the others call");
    else
        tap_skip(1, "needs two processes");
    Cblacs_gridexit(context);
}

/* A call that differs from the previous one in a single argument is not treated as its repetition. */
static void test_like(int nprow, int npcol)
{
    enum { TYPE, TRANS, EXTENT = TRANS + 2, FIRST = EXTENT + 3, DESC = FIRST + 6, CALLS = DESC + 3 * (LLD - IMB + 1) };
    int context = blacs_context_of(nprow, npcol, "R"), good = 1;
    for (int i = 0; i < CALLS; i++) {
        struct pgemm_call call = pgemm_call_of(context, 'N', 'N', 24, 24, 24, 4);
        int type = i == TYPE ? HSUMMA_S : HSUMMA_D, x = i < DESC ? (i - FIRST) / 2 : (i - DESC) % 3;
        for (int at = 0; at < 3; at++)
            call.extent[at] = 20;
        good &= pgemm_same(HSUMMA_D, &call, pgemm_ours[HSUMMA_D]);
        if (i >= DESC) {
            int entry = IMB + (i - DESC) / 3, *value = &call.desc[x][entry];
            *value = entry == RSRC ? nprow - 1 : entry == CSRC ? npcol - 1 : *value - 1;
        } else if (i >= FIRST) {
            call.first[x][(i - FIRST) % 2] = 3;
        } else if (i >= EXTENT) {
            call.extent[i - EXTENT] = 19;
        } else if (i >= TRANS) {
            call.trans[i - TRANS] = 'T';
        }
        int same = pgemm_same(type, &call, pgemm_ours[type]);
        if (!same)
            printf("# rank %d: call %d\n", rank, i);
        good &= same;
    }
    Cblacs_gridexit(context);
    tap_ok(everywhere(good), "%d x %d: %d calls that differ from the one before in one argument", nprow, npcol, CALLS);
}

int main(int argc, char **argv)
{
    int contexts = argc > 1 ? atoi(argv[1]) : 50, calls = argc > 2 ? atoi(argv[2]) : 2000;
    pgemm_begin(&argc, &argv);
    test_left_to_scalapack();
    test_log();
    test_explain();
    if (size > 1) {
        test_layers("2", 0);
        test_layers("99", 0);
    }
    if (size >= 4) {
        test_layers("auto", 1);
        test_layers(NULL, 1);
    }
    test_late();
    test_like(1, size);
    test_like(size, 1);
    test_lifetimes(contexts, calls);
    return world_end();
}
