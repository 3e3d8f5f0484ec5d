/*
 * Threads of the BLAS: a process's share of the cores, numbers that are set for a product and restored, the user's
 * settings.
 *
 *   threads [LIBRARY BUILD [CHOSEN [overlooked]]]
 *
 * LIBRARY: the BLAS that must be found; BUILD: threads or serial; CHOSEN: number of threads set in the environment;
 * overlooked: the number is set by a variable that this build of the BLAS does not read.
 */
#include "support/product/gemm_case.h"

#include "api/cores.h"
#include "base/threads.h"
#include "hsumma/context/context.h"

#include <cblas.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

int omp_get_max_threads(void) __attribute__((weak));
void omp_set_num_threads(int n) __attribute__((weak));
int openblas_get_parallel(void) __attribute__((weak));
int64_t bli_thread_get_num_threads(void) __attribute__((weak));
int MKL_Set_Num_Threads_Local(int n) __attribute__((weak));

static const char *expected_library;
static int expected_threads = 1, chosen, overlooked;

static int seen_least, seen_most; /* number of BLAS threads during the local GEMM: least and most seen */

/* Replaces the BLAS's function; notes the number of threads, then calls it. */
void cblas_dgemm(const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, const enum CBLAS_TRANSPOSE tb,
                 const int m, const int n, const int k, const double alpha, const double *a, const int lda,
                 const double *b, const int ldb, const double beta, double *c, const int ldc)
{
    void (*next)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, int, int, int, double, const double *,
                 int, const double *, int, double, double *, int);
    int now = hs_threads_now();
    seen_least = now < seen_least ? now : seen_least;
    seen_most = now > seen_most ? now : seen_most;
    *(void **)&next = dlsym(RTLD_NEXT, "cblas_dgemm");
    next(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* OpenMP's number of threads, which an OpenBLAS built with OpenMP changes; -1 without OpenMP. */
static int openmp_now(void)
{
    return omp_get_max_threads ? omp_get_max_threads() : -1;
}

/* The number of threads that the BLAS stores: if it was never set, less than 1 for BLIS, 0 for MKL. */
static int64_t kept(void)
{
    if (strcmp(hs_threads_library(), "BLIS") == 0)
        return bli_thread_get_num_threads() > 0 ? bli_thread_get_num_threads() : -1;
    if (strcmp(hs_threads_library(), "MKL") != 0)
        return hs_threads_now();
    int64_t local = MKL_Set_Num_Threads_Local(0);
    MKL_Set_Num_Threads_Local((int)local);
    return local;
}

static void test_set(void)
{
    int64_t own = kept();
    int first = hs_threads_now(), before = hs_threads_set(4), inside = hs_threads_now(), again = hs_threads_set(4);
    hs_threads_restore(again);
    int still = hs_threads_now();
    hs_threads_restore(before);
    if (!expected_threads) {
        tap_ok(first == 0 && inside == 0 && before == 0 && again == 0, "serial: nothing to set");
        return;
    }
    tap_ok(first > 0 && inside == 4 && before != 0, "from %d threads to 4", first);
    tap_ok(again == 0 && still == 4, "a number that is right already is not set, nor put back");
    tap_ok(hs_threads_now() == first && kept() == own, "back at %d", hs_threads_now());
    tap_ok(hs_threads_set(0) == 0 && hs_threads_set(-1) == 0 && hs_threads_now() == first, "0 and less: left alone");
    if (!omp_get_max_threads || !openblas_get_parallel || openblas_get_parallel() != 2) {
        tap_skip(1, "OpenBLAS is not built with OpenMP, or not there");
        return;
    }
    first = openmp_now();
    omp_set_num_threads(7); /* OpenBLAS reads this only in its GEMM */
    before = hs_threads_set(2);
    inside = openmp_now();
    hs_threads_restore(before);
    tap_ok(inside == 2 && openmp_now() == 7, "OpenMP's number: 2 in between, back at %d", openmp_now());
    omp_set_num_threads(first);
}

static int plant(const char *root, const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* The set of the processors first, first + step, ..., last. */
static struct hs_cpus cpus_of(int first, int last, int step)
{
    struct hs_cpus cpus;
    memset(&cpus, 0, sizeof cpus);
    for (int cpu = first; cpu <= last; cpu += step)
        CPU_SET_S((size_t)cpu, sizeof cpus, cpus.part);
    return cpus;
}

/* Writes, as text, the core shares of `ranks` processes that may use these processors. */
static void shares(const char *root, const struct hs_cpus *cpus, int ranks, double quota, char *text, size_t room)
{
    static struct hs_core_users mine[8], all;
    int used = 0;
    memset(&all, 0, sizeof all);
    for (int r = 0; r < ranks; r++) {
        hs_cores_of(&cpus[r], root, &mine[r]);
        for (int cpu = 0; cpu < HS_CPUS; cpu++)
            all.of[cpu] = (uint16_t)(all.of[cpu] + mine[r].of[cpu]);
    }
    for (int r = 0; r < ranks; r++)
        used +=
            snprintf(text + used, room - (size_t)used, "%s%d", r ? " " : "", hs_share_of(&mine[r], &all, quota, ranks));
}

/* A machine with two sockets of four cores with two hardware threads: core c has the processors c and c + 8. */
static void test_shares(const char *root)
{
    struct {
        const char *what, *want;
        struct hs_cpus cpus[8];
        int ranks;
        double quota;
    } cases[] = {
        {"one process", "8", {cpus_of(0, 15, 1)}, 1, 0},
        {"one process, one hardware thread of each core", "8", {cpus_of(8, 15, 1)}, 1, 0},
        {"two that may run anywhere", "4 4", {cpus_of(0, 15, 1), cpus_of(0, 15, 1)}, 2, 0},
        {"three that may run anywhere", "2 2 2", {cpus_of(0, 15, 1), cpus_of(0, 15, 1), cpus_of(0, 15, 1)}, 3, 0},
        {"pinned apart, unequally", "6 2", {cpus_of(0, 5, 1), cpus_of(6, 7, 1)}, 2, 0},
        {"on the two threads of the same cores", "2 2", {cpus_of(0, 3, 1), cpus_of(8, 11, 1)}, 2, 0},
        {"two on each socket",
         "2 2 2 2",
         {cpus_of(0, 3, 1), cpus_of(0, 3, 1), cpus_of(4, 7, 1), cpus_of(4, 7, 1)},
         4,
         0},
        {"three on one socket, one on the other",
         "1 1 1 4",
         {cpus_of(0, 3, 1), cpus_of(0, 3, 1), cpus_of(0, 3, 1), cpus_of(4, 7, 1)},
         4,
         0},
        {"one that may use the core of the other", "7 1", {cpus_of(0, 15, 1), cpus_of(0, 0, 1)}, 2, 0},
        {"more processes than cores", "1 1 1", {cpus_of(0, 0, 1), cpus_of(0, 0, 1), cpus_of(8, 8, 1)}, 3, 0},
        {"a quota of 5 cores", "5", {cpus_of(0, 15, 1)}, 1, 5},
        {"a quota of 5 cores for two", "2 2", {cpus_of(0, 15, 1), cpus_of(0, 15, 1)}, 2, 5},
        {"a quota of half a core", "1", {cpus_of(0, 15, 1)}, 1, 0.5},
        {"a quota above the cores", "8", {cpus_of(0, 15, 1)}, 1, 100},
        {"processors that the system does not describe", "3", {cpus_of(2000, 2002, 1)}, 1, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        shares(root, cases[i].cpus, cases[i].ranks, cases[i].quota, text, sizeof text);
        if (!tap_ok(strcmp(text, cases[i].want) == 0, "%s: %s", cases[i].what, cases[i].want))
            tap_diag("%s", text);
    }
}

static void test_quota(const char *root)
{
    const char *const group = "/proc/self/cgroup", *const inner = "/sys/fs/cgroup/job/step/cpu.max";
    int good = hs_cpu_quota(root) == 0 && plant(root, group, "0::/job/step\n") && hs_cpu_quota(root) == 0;
    tap_ok(good, "no quota without cpu.max");
    good = plant(root, inner, "max 100000\n") && hs_cpu_quota(root) == 0;
    tap_ok(good, "none from \"max\"");
    good = plant(root, inner, "250000 100000\n") && hs_cpu_quota(root) == 2.5;
    tap_ok(good, "2.5 cores");
    good = plant(root, "/sys/fs/cgroup/job/cpu.max", "150000 100000\n") && hs_cpu_quota(root) == 1.5;
    tap_ok(good, "1.5 cores of the group around it");
    good = plant(root, group, "4:memory:/\n0::/elsewhere/x\n") && hs_cpu_quota(root) == 0 &&
           plant(root, "/sys/fs/cgroup/cpu.max", "400000 100000\n") && hs_cpu_quota(root) == 4;
    tap_ok(good, "a path from outside a container: what its root says");
    good = plant(root, group, "4:memory:/\n3:cpu:/job\n") && hs_cpu_quota(root) == 0;
    tap_ok(good, "groups of version 1 are not looked at");
}

/* Tests that a product with these options uses `want` threads (0: the number set before), and restores the number. */
static void product(const hsumma_grid *grid, hsumma_context *ctx, const char *options, int want)
{
    struct gemm_case call = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 60, 50, 70, 16);
    int before = hs_threads_now(), openmp = openmp_now();
    want = want ? want : before;
    call.options = options;
    seen_least = 1 << 20;
    seen_most = -1;
    int good = gemm_multiplies(ctx, &call, 1);
    if (!tap_ok(everywhere(good && seen_least == want && seen_most == want), "%s: %d threads in the GEMM",
                options ? options : "default", want))
        tap_diag("result %s, %d to %d threads", good ? "right" : "wrong", seen_least, seen_most);
    tap_ok(everywhere(hs_threads_now() == before && openmp_now() == openmp), "  afterwards %d as before",
           hs_threads_now());
}

/* A refused call also restores the number of threads. */
static void refused(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct gemm_case call = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 40, 40, 40, 8);
    struct gemm_part none[3] = {{0}};
    hsumma_plan *plan = NULL;
    int before = hs_threads_now(), openmp = openmp_now();
    call.options = "threads=2";
    int good =
        gemm_plan_create(ctx, &call, &plan) == HSUMMA_OK && gemm_begin(plan, &call, none, 1) == HSUMMA_ERR_ARGUMENT;
    hsumma_plan_free(&plan);
    tap_ok(everywhere(good && hs_threads_now() == before && openmp_now() == openmp),
           "after a call without matrices %d as before", before);
}

static void test_products(hsumma_context *ctx, const hsumma_grid *grid)
{
    int share = hs_share_of_node(&ctx->comm), outer;
    if (!expected_threads) {
        tap_ok(everywhere(share == 1), "serial: a share of one thread");
        product(grid, ctx, NULL, 0);
        product(grid, ctx, "threads=2", 0);
        return;
    }
    int obeys = chosen && !overlooked;
    tap_ok(everywhere(hs_threads_user_chose() == obeys), "the user has %schosen", obeys ? "" : "not ");
    if (chosen)
        tap_ok(everywhere(share == chosen && (overlooked || hs_threads_now() == chosen)), "%d threads", chosen);
    outer = hs_threads_set(5); /* as a program would set it */
    product(grid, ctx, NULL, obeys ? 0 : share);
    product(grid, ctx, "threads=2", 2);
    product(grid, ctx, "threads=user", 0);
    refused(ctx, grid);
    hs_threads_restore(outer);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    char root[] = "/tmp/hsumma_threads_XXXXXX", command[64];
    if (expected_library)
        tap_ok(strcmp(hs_threads_library(), expected_library) == 0, "the BLAS is %s", hs_threads_library());
    test_set();
    test_products(ctx, grid);
    if (rank != 0 || expected_library)
        return;
    int good = mkdtemp(root) != NULL;
    for (int cpu = 0; cpu < 16; cpu++) {
        char path[96], text[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        snprintf(text, sizeof text, "%d,%d\n", cpu % 8, cpu % 8 + 8);
        good = good && plant(root, path, text);
    }
    tap_ok(good, "a machine of files");
    test_shares(root);
    test_quota(root);
    snprintf(command, sizeof command, "rm -rf %s", root);
    tap_ok(system(command) == 0, "removed");
}

int main(int argc, char **argv)
{
    expected_library = argc > 1 ? argv[1] : NULL;
    expected_threads = argc > 2 ? strcmp(argv[2], "serial") != 0 : hs_threads_now() > 0;
    chosen = argc > 3 ? atoi(argv[3]) : 0;
    overlooked = argc > 4;
    return gemm_main(argc, argv, test_all);
}
