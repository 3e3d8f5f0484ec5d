/* Measures the GEMM rate. */
#include "gemm/rate.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/scalar.h"
#include "base/threads.h"
#include "common/command.h"
#include "measure/simulated.h"
#include "measure/timing.h"

static int64_t scaled(int64_t size, double scale)
{
    return size <= 1 || scale == 1 ? size : fmax(1, (double)size * scale);
}

/* Chooses the requested product, or the largest of the same proportions whose matrices fit in half of the free memory
 * (with RATE_ALL, in the rank's share of that half) and whose sizes fit in an int. */
static void choose_size(gemm_rate *rate, const problem *p)
{
    double m, n, k, need, most, scale = 1, limit = 0.5 * (double)memory_available();

    if (rate->kind == RATE_ALL)
        limit /= p->mach.node_ranks;
    rate->m = p->args->m;
    rate->n = p->args->n;
    rate->k = p->args->k;
    if (rate->kind != RATE_NODE) {
        rate->m = p->row < 0 ? 0 : hsumma_local_rows(&p->c.desc);
        rate->n = p->row < 0 ? 0 : hsumma_local_cols(&p->c.desc);
    }
    m = (double)rate->m;
    n = (double)rate->n;
    k = (double)rate->k;
    need = (m * n + m * k + n * k) * (double)type_size(p->args->type);
    most = fmax(m, fmax(n, k));
    if (need > limit)
        scale = sqrt(limit / need);
    if (most * scale > INT_MAX) /* sizes in the BLAS are of type int */
        scale = INT_MAX / most;
    rate->shrunk = scale < 1;
    rate->m = scaled(rate->m, scale);
    rate->n = scaled(rate->n, scale);
    rate->k = scaled(rate->k, scale);
    rate->times = rate->shrunk ? m * n * k / ((double)rate->m * (double)rate->n * (double)rate->k) : 1;
}

/* Allocates a matrix of numbers in [-0.5, 0.5); the values do not affect the speed. */
static void *make_matrix(hsumma_type type, int64_t count)
{
    int64_t reals = type_is_complex(type) ? 2 * count : count;
    void *matrix = NULL;

    if (posix_memalign(&matrix, 64, (size_t)count * type_size(type)))
        return NULL;
    for (int64_t i = 0; i < reals; i++)
        set_real(type, matrix, i, (double)((uint64_t)i * 2654435761u % 1024) / 1024 - 0.5);
    return matrix;
}

/* The number of threads of a multiplying process. */
static int choose_threads(const machine *mach, int threads, gemm_rate_kind kind)
{
    if (!hs_threads_now() || kind == RATE_LOCAL)
        return 1;
    if (kind == RATE_ALL)
        return mach->blas_share;
    return threads ? threads : mach->node_ranks < mach->cores ? mach->node_ranks : mach->cores;
}

int gemm_rate_create(gemm_rate *rate, const problem *p, int threads, gemm_rate_kind kind)
{
    int good = 1, works = p->rank == 0 || kind == RATE_ALL;

    memset(rate, 0, sizeof *rate);
    rate->threads = choose_threads(&p->mach, threads, kind);
    rate->kind = kind;
    rate->copies = kind == RATE_NODE ? p->mach.nodes : p->nprow * p->npcol;
    if (works)
        choose_size(rate, p);
    if (kind != RATE_ALL)
        quiet_bcast(rate, (int)sizeof *rate, MPI_BYTE, 0, p->comm);
    rate->flops = (type_is_complex(p->args->type) ? 8.0 : 2.0) * (double)rate->m * (double)rate->n * (double)rate->k;
    if (works && rate->flops > 0) {
        rate->a = make_matrix(p->args->type, rate->m * rate->k);
        rate->b = make_matrix(p->args->type, rate->k * rate->n);
        rate->c = make_matrix(p->args->type, rate->m * rate->n);
        good = rate->a && rate->b && rate->c;
    }
    return command_fail(p->comm, !good, "no memory for the matrices of the GEMM rate; give smaller -m, -n, -k");
}

void gemm_rate_free(gemm_rate *rate)
{
    free(rate->a);
    free(rate->b);
    free(rate->c);
    memset(rate, 0, sizeof *rate);
}

static void multiply(const gemm_rate *rate, const arguments *args)
{
    const struct hs_scalar *s = &hs_scalars[args->type];
    int64_t lda = args->transa == 'N' ? rate->m : rate->k, ldb = args->transb == 'N' ? rate->k : rate->n;

    s->gemm(args->transa, args->transb, rate->m, rate->n, rate->k, s->one, rate->a, lda, rate->b, ldb, s->zero, rate->c,
            rate->m);
}

/* Sets the affinity of this process's threads to `want`, all cores of the node's ranks: a launcher may have bound the
 * rank to few cores, and its BLAS threads have inherited this affinity. Stores the threads' ids and previous affinities
 * in thread[] and had[], and returns their number. Threads beyond `most` keep their binding. */
static int bind_threads(const cpu_set_t *want, pid_t *thread, cpu_set_t *had, int most)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    for (struct dirent *entry; tasks && count < most && (entry = readdir(tasks));) {
        pid_t id = (pid_t)atol(entry->d_name);

        if (id <= 0 || sched_getaffinity(id, sizeof *had, &had[count]))
            continue;
        thread[count++] = id;
        sched_setaffinity(id, sizeof *want, want);
    }
    if (tasks)
        closedir(tasks);
    return count;
}

/* Multiplies on every rank, from a common start; returns the seconds of one requested product on the slowest rank. */
static double run_all(const gemm_rate *rate, const problem *p, int calls)
{
    int before = hs_threads_set(rate->threads);
    double seconds, slowest;

    common_start(p->comm);
    seconds = MPI_Wtime();
    for (int i = 0; i < calls && rate->flops > 0; i++)
        multiply(rate, p->args);
    seconds = (MPI_Wtime() - seconds) / calls * rate->times;
    quiet_barrier(p->comm); /* ranks that are done yield their cores */
    quiet_allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    hs_threads_restore(before);
    if (p->mach.blas_share > 1)
        sleep_seconds(0.05); /* until idle BLAS threads have stopped spinning */
    return slowest;
}

double gemm_rate_run(gemm_rate *rate, const problem *p, int calls)
{
    enum { MOST_THREADS = 512 };
    pid_t thread[MOST_THREADS];
    cpu_set_t had[MOST_THREADS];
    double seconds = 0;

    if (rate->kind == RATE_ALL)
        return run_all(rate, p, calls);
    if (rate->flops == 0)
        return 0;
    sleeping_barrier(p->comm);
    if (p->rank == 0) {
        int before = hs_threads_set(rate->threads), bound; /* first: only existing threads can be rebound */

        bound = bind_threads(&p->mach.cpus, thread, had, MOST_THREADS);
        seconds = MPI_Wtime();
        for (int i = 0; i < calls; i++)
            multiply(rate, p->args);
        seconds = (MPI_Wtime() - seconds) / calls;
        for (int i = 0; i < bound; i++)
            sched_setaffinity(thread[i], sizeof had[i], &had[i]);
        hs_threads_restore(before);
        if (rate->threads > 1)
            sleep_seconds(0.05); /* OpenBLAS's idle threads spin for a while: keep that out of the next turn */
    }
    sleeping_barrier(p->comm);
    quiet_bcast(&seconds, 1, MPI_DOUBLE, 0, p->comm);
    return seconds;
}
