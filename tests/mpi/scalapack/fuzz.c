/*
 * Random cases of p?gemm: hsumma's routines compared with ScaLAPACK's, entry by entry, and both with a triple loop.
 *
 *   fuzz [CASES [SEED]] [verbose] [OPTION=VALUE...]
 *
 * Case i follows from SEED + i and the number of processes. The options are the library's (block=3). A failure prints
 * the case and the command that runs it alone. A and B, and everything of C outside sub(C), must stay unchanged to the
 * bit.
 */
#include "support/scalapack/fuzz_data.h"
#include "support/scalapack/pgemm_call.h"

#include <ctype.h>
#include <signal.h>

enum { BLOCK = 100, PATIENCE_S = 120 };

static int verbose;
static int scalapack_is_wrong; /* number of cases in which ScaLAPACK's C is wrong */
static int contexts[FUZZ_MOST_PROCESSES][FUZZ_MOST_PROCESSES]['X' + 1]; /* by P - 1, Q - 1, order: context + 2, or 0 */
static char settings[256], replay[512];

/* Prints the case during which the program crashes or hangs. */
static void on_signal(int number)
{
    static const char head[] = "# fuzz: a crash or no end, in the case of: ";
    ssize_t written = write(1, head, sizeof head - 1);
    written += write(1, replay, strlen(replay)) + write(1, "\n", 1);
    (void)written;
    signal(number, SIG_DFL);
    raise(number);
}

_Noreturn static void fail(const char *text)
{
    printf("Bail out! %s, in the case of: %s\n", text, replay);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* The BLACS context of a case, negative on processes outside its grid. Collective over all processes. */
static int context_of(const struct fuzz_case *c)
{
    int *known = &contexts[c->grid[0] - 1][c->grid[1] - 1][(int)c->order], map[FUZZ_MOST_PROCESSES], context;
    if (*known)
        return *known - 2;
    for (int i = 0; i < c->grid[0]; i++)
        for (int j = 0; j < c->grid[1]; j++) {
            int by_row = i * c->grid[1] + j, by_col = i + j * c->grid[0];
            map[by_col] = c->order == 'R' ? by_row : c->order == 'C' ? by_col : size - 1 - by_row;
        }
    Cblacs_get(-1, 0, &context);
    Cblacs_gridmap(&context, map, c->grid[0], c->grid[0], c->grid[1]);
    *known = context + 2;
    return context;
}

static void context_leave(const struct fuzz_case *c, int context)
{
    if (context >= 0)
        Cblacs_gridexit(context);
    contexts[c->grid[0] - 1][c->grid[1] - 1][(int)c->order] = 0;
}

static struct pgemm_call call_of(const struct fuzz_case *c, int context, const struct fuzz_local local[3])
{
    struct pgemm_call call;
    memset(&call, 0, sizeof call);
    memcpy(call.trans, c->trans, sizeof call.trans);
    memcpy(call.extent, c->extent, sizeof call.extent);
    memcpy(call.alpha, c->alpha, sizeof call.alpha);
    memcpy(call.beta, c->beta, sizeof call.beta);
    for (int x = FUZZ_A; x <= FUZZ_C; x++) {
        const struct fuzz_side *r = &c->x[x].side[0], *s = &c->x[x].side[1];
        const int desc[PGEMM_DESC] = {2,        context,  fuzz_total(r), fuzz_total(s), r->first,   s->first,
                                      r->block, s->block, r->source,     s->source,     local[x].ld};
        memcpy(call.desc[x], desc, sizeof desc);
        if (c->x[x].dtype == 1)
            pgemm_shorten(call.desc[x]);
        call.first[x][0] = r->offset + 1;
        call.first[x][1] = s->offset + 1;
    }
    return call;
}

/* Compares sub(C) with `expected`, a pair (re, im) for each local entry; describes the largest difference in `text`. */
static int values_differ(const struct fuzz_local *l, const double *values, const double *expected, double bound,
                         const char *than, char *text, size_t room)
{
    double worst = -1;
    for (int col = 0; col < l->count[1]; col++)
        for (int row = 0; l->index[1][col] >= 0 && row < l->count[0]; row++) {
            size_t at = 2 * ((size_t)row + (size_t)col * (size_t)l->count[0]);
            const double *v = &values[at], *e = &expected[at];
            double error = fmax(fabs(v[0] - e[0]), fabs(v[1] - e[1]));
            if (isnan(v[0]) || isnan(v[1]) || isnan(e[0]) || isnan(e[1]))
                error = INFINITY; /* because fmax ignores NaN */
            if (l->index[0][row] < 0 || error <= bound || error <= worst)
                continue;
            worst = error;
            snprintf(text, room, "C(%d,%d) = (%.9g,%.9g), but (%.9g,%.9g) %s, bound %.3g", l->index[0][row] + 1,
                     l->index[1][col] + 1, v[0], v[1], e[0], e[1], than, bound);
        }
    return worst >= 0;
}

/* Restores the entries of sub(C) from a copy. */
static void restore(struct fuzz_local *c, const char *before)
{
    for (int col = 0; col < c->count[1]; col++)
        for (int row = 0; c->index[1][col] >= 0 && row < c->count[0]; row++)
            if (c->index[0][row] >= 0) {
                char *at = fuzz_at(c, row, col);
                memcpy(at, before + (at - c->memory), c->entry);
            }
}

static int touched(char name, const struct fuzz_local *now, const char *before, char *text, size_t room)
{
    for (size_t i = 0; i < now->size; i++)
        if (now->memory[i] != before[i]) {
            long entry = (long)(i / now->entry) - FUZZ_GUARD;
            snprintf(text, room, "%c was written to at local row %ld, column %ld (of %d, %d; ld %d)", name,
                     entry < 0 ? entry : entry % now->ld, entry < 0 ? 0 : entry / now->ld, now->count[0], now->count[1],
                     now->ld);
            return 1;
        }
    return 0;
}

static char *passed(const struct fuzz_case *c, const struct fuzz_local *l)
{
    return c->null && (l->count[0] == 0 || l->count[1] == 0) ? NULL : l->data;
}

/* The result of one library's routine. */
struct outcome {
    int wrong;
    double *values; /* local entries of C, each a pair (re, im) */
    char text[256];
};

/* Calls one library's routine for the case's type, on its own copies of the matrices. */
static void attempt(const struct fuzz_case *c, int context, hsumma_pgemm *const routines[4], const int me[2],
                    const double *expected, struct outcome *out)
{
    struct fuzz_local local[3], *l = &local[2];
    char *before[3] = {NULL, NULL, NULL};
    int made = 1;
    memset(local, 0, sizeof local);
    for (int x = FUZZ_A; x <= FUZZ_C; x++) {
        int inside = c->store == FUZZ_PARTS ? x > FUZZ_A : c->store == FUZZ_TWINS && x == FUZZ_B;
        made = made && fuzz_make(c, x, me, inside ? &local[FUZZ_A] : NULL, &local[x]);
    }
    for (int x = FUZZ_A; x <= FUZZ_C; x++)
        if ((made = made && (before[x] = malloc(local[x].size))))
            memcpy(before[x], local[x].memory, local[x].size);
    if (!made ||
        !(out->values = realloc(out->values, sizeof(double[2]) * ((size_t)l->count[0] * (size_t)l->count[1] + 1))))
        fail("no memory");
    struct pgemm_call call = call_of(c, context, local);
    int type = (int)(strchr("sdcz", c->type) - "sdcz"), refused = pgemm_aborted.count;
    int same = pgemm_run(routines[type], type, &call, passed(c, &local[0]), passed(c, &local[1]), passed(c, l));
    for (int col = 0; col < l->count[1]; col++)
        for (int row = 0; row < l->count[0]; row++)
            fuzz_get(c, fuzz_at(l, row, col), &out->values[2 * ((size_t)row + (size_t)col * (size_t)l->count[0])]);
    out->wrong =
        values_differ(l, out->values, expected, 2 * fuzz_bound(c), "by the triple loop", out->text, sizeof out->text);
    restore(l, before[FUZZ_C]);
    for (int x = FUZZ_A; x <= FUZZ_C; x++)
        out->wrong = out->wrong || touched("ABC"[x], &local[x], before[x], out -> text, sizeof out->text);
    if (!out->wrong && (out->wrong = !same))
        snprintf(out->text, sizeof out->text, "an argument was changed");
    if (!out->wrong && (out->wrong = pgemm_aborted.count != refused))
        snprintf(out->text, sizeof out->text, "refused: info %d", pgemm_aborted.info);
    for (int x = FUZZ_A; x <= FUZZ_C; x++) {
        fuzz_drop(&local[x]);
        free(before[x]);
    }
}

/* Runs the routines of both libraries on this process and compares their results. */
static void compare(const struct fuzz_case *c, int context, struct outcome *ours, struct outcome *theirs)
{
    int shape[2], me[2];
    struct fuzz_local l;
    double *expected = NULL;
    Cblacs_gridinfo(context, &shape[0], &shape[1], &me[0], &me[1]);
    if (!fuzz_make(c, FUZZ_C, me, NULL, &l) || !(expected = fuzz_reference(c, &l)))
        fail("no memory");
    attempt(c, context, pgemm_theirs, me, expected, theirs);
    int before = pgemm_theirs_count; /* shows whether the shim passes the call on to ScaLAPACK */
    for (int i = 0; i <= c->twice && !ours->wrong; i++)
        attempt(c, context, pgemm_ours, me, expected, ours);
    int left = pgemm_theirs_count > before;
    /* The shim may leave the case to ScaLAPACK only if a stationary operand is prescribed: replicas can rule it out. */
    if (!ours->wrong && !getenv("HSUMMA_STATIONARY") && (ours->wrong = left))
        snprintf(ours->text, sizeof ours->text, "left to ScaLAPACK");
    if (!ours->wrong && !theirs->wrong)
        ours->wrong = values_differ(&l, ours->values, theirs->values, 2 * fuzz_bound(c), "by ScaLAPACK", ours->text,
                                    sizeof ours->text);
    fuzz_drop(&l);
    free(expected);
    free(ours->values);
    free(theirs->values);
}

static void report(const struct fuzz_case *c, const char *verdict, const char *detail)
{
    char text[1024];
    fuzz_print(c, text, sizeof text);
    printf("# %s: %s\n#   %s\n#   rank %d: %s\n", verdict, replay, text, rank, detail);
    fflush(stdout);
}

/* Runs a case; returns, on all processes, whether hsumma's result was right. */
static int good(uint64_t seed)
{
    int processes = size < FUZZ_MOST_PROCESSES ? size : FUZZ_MOST_PROCESSES;
    struct fuzz_case c = fuzz_draw(seed, processes);
    struct outcome ours = {0, NULL, ""}, theirs = {0, NULL, ""};
    snprintf(replay, sizeof replay, "mpiexec -n %d build/tests/mpi/scalapack/fuzz 1 %llu%s", size,
             (unsigned long long)seed, settings);
    alarm(PATIENCE_S);
    int context = context_of(&c);
    if (context >= 0)
        compare(&c, context, &ours, &theirs);
    int64_t wrong = world_reduce(ours.wrong ? rank : INT64_MAX, MPI_MIN);
    int64_t scalapack = world_reduce(theirs.wrong ? rank : INT64_MAX, MPI_MIN);
    if (wrong == rank)
        report(&c, "wrong", ours.text);
    if (scalapack == rank)
        report(&c, wrong < INT64_MAX ? "ScaLAPACK is wrong as well" : "ScaLAPACK is wrong", theirs.text);
    if (verbose && wrong == INT64_MAX && rank == 0)
        report(&c, "right", "agrees");
    scalapack_is_wrong += scalapack < INT64_MAX;
    if (c.fresh)
        context_leave(&c, context);
    return wrong == INT64_MAX;
}

/* Reads arguments that are not numbers; options of the library, which world_begin reads, are kept for `replay`. */
static void read_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t length = strlen(settings);
        if (strchr(argv[i], '='))
            snprintf(settings + length, sizeof settings - length, " %s", argv[i]);
        verbose |= strcmp(argv[i], "verbose") == 0;
    }
}

int main(int argc, char **argv)
{
    long long cases = argc > 1 && atoll(argv[1]) > 0 ? atoll(argv[1]) : BLOCK;
    unsigned long long seed = argc > 2 && isdigit((unsigned char)argv[2][0]) ? strtoull(argv[2], NULL, 10) : 1;
    static const int deadly[] = {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
    const char *sanitize = getenv("SANITIZE"); /* sanitizers handle the other signals themselves */

    world_begin(&argc, &argv);
    read_words(argc, argv);
    for (size_t i = 0; i < (sanitize && *sanitize ? 1 : sizeof deadly / sizeof deadly[0]); i++)
        signal(deadly[i], on_signal);
    for (long long first = 0; first < cases; first += BLOCK) {
        long long count = cases - first < BLOCK ? cases - first : BLOCK, right = 0;
        for (long long i = 0; i < count; i++)
            right += good(seed + (unsigned long long)(first + i));
        tap_ok(right == count, "%lld of %lld random cases from seed %llu", right, count,
               seed + (unsigned long long)first);
    }
    if (scalapack_is_wrong)
        tap_diag("ScaLAPACK was wrong in %d cases", scalapack_is_wrong);
    return world_end();
}
