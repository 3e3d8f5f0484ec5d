/*
 * A call of the system or of MPI fails on one rank, at a random place in a random sequence of calls of the library:
 * every rank returns, no result is wrong where the status is HSUMMA_OK, all ranks have the same status (except after an
 * error of MPI), the same call then succeeds (after an error of MPI: in a new context), and no memory stays mapped.
 *
 * MPI fails only once the plan has been made: while a context, or a plan with the algorithm "mpi", is made, the other
 * ranks may wait in MPI_Comm_create_group, which blocks, so that no time limit ends it.
 *
 *     faults [TRIALS [FIRST [FUNCTION]]]      needs the preloaded library tests/tools/faults.c, and with MPICH over UCX
 *                                             UCX_MEM_MMAP_HOOK_MODE=none, without which UCX replaces mmap
 */
#include "support/process.h"
#include "support/product/gemm_random.h"

#include <hsumma_coll.h>

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

enum { LIMIT_S = 300 };

static void (*arm)(const char *function, int at, int error);
static int (*disarm)(void);
static int *on, counts; /* counts: the calls of the current step can fail */
static char hanging[500];

/* The outcomes of a trial; those from UNEVEN on are failures. */
enum { NOT_REACHED, HARMLESS, REFUSED, MPI_FAILED, UNEVEN, WRONG, NOT_AGAIN, LEFT, OUTCOMES };
static const char *const outcomes[OUTCOMES] = {
    "not reached",   "without effect", "error then right", "MPI error and a new context right",
    "UNEVEN STATUS", "WRONG RESULT",   "NOT REPEATABLE",   "MEMORY LEFT"};

/* often: called more than a few times in a trial */
static const struct {
    const char *name;
    int often;
} functions[] = {
    {"malloc", 1},    {"mmap", 0},      {"malloc", 1},          {"memfd_create", 0}, {"malloc", 1},
    {"ftruncate", 0}, {"malloc", 1},    {"posix_fallocate", 0}, {"futex", 0},        {"process_vm_readv", 0},
    {"fopen", 0},     {"MPI_Isend", 1}, {"MPI_Irecv", 1},       {"MPI_Testsome", 1}, {"MPI_Iprobe", 1}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* The objects of a trial. */
struct trial {
    hsumma_context *ctx;
    hsumma_grid *grid;
    hsumma_plan *plan;
    struct gemm_case c;
    char options[256], words[256];
    void *memory;
    hsumma_status status; /* of the latest call */
};

/* A step of a trial: makes one call of the library while calls may fail, and checks its result (*wrong: 0 before). */
typedef hsumma_status step(struct trial *t, int *wrong);

#define FAULTY(call) (*on = counts, t->status = (call), *on = 0, t->status)

static hsumma_status create(struct trial *t, int *wrong)
{
    (void)wrong;
    return FAULTY(hsumma_create(MPI_COMM_WORLD, t->words, &t->ctx, NULL, 0));
}

static hsumma_status make_grid(struct trial *t, int *wrong)
{
    int P, Q;
    hsumma_grid_shape(size, &P, &Q);
    (void)wrong;
    return FAULTY(hsumma_grid_create(t->ctx, P, Q, 'R', NULL, &t->grid));
}

static hsumma_status allocate(struct trial *t, int *wrong)
{
    (void)wrong;
    if (!FAULTY(hsumma_malloc(t->ctx, 5000, &t->memory)))
        memset(t->memory, 1, 5000);
    return t->status;
}

static hsumma_status make_plan(struct trial *t, int *wrong)
{
    (void)wrong;
    return FAULTY(gemm_plan_create(t->ctx, &t->c, &t->plan));
}

static hsumma_status multiply(struct trial *t, int *wrong, int by_plan)
{
    struct gemm_part local[3];
    gemm_make(&t->c, local);
    hsumma_status status = FAULTY(by_plan ? gemm_begin(t->plan, &t->c, local, 1) : gemm_one_call(t->ctx, &t->c, local));
    *wrong = !status && (gemm_wrong(&t->c, &local[2], 0) || gemm_changed(&t->c, local));
    if (status != HSUMMA_ERR_MPI) /* else MPI may still write to them */
        gemm_drop(local);
    return status;
}

static hsumma_status execute(struct trial *t, int *wrong)
{
    return multiply(t, wrong, 1);
}

static hsumma_status one_call(struct trial *t, int *wrong)
{
    return multiply(t, wrong, 0);
}

/* Frees a buffer, unless MPI may still write to it. */
static void drop(void *buffer, hsumma_status status)
{
    if (status != HSUMMA_ERR_MPI)
        free(buffer);
}

static hsumma_status add_up(struct trial *t, int *wrong)
{
    enum { COUNT = 60000 };
    double *in = malloc(2 * COUNT * sizeof *in), *out = in + COUNT;
    for (int i = 0; i < COUNT; i++)
        in[i] = rank + i;
    hsumma_status status = FAULTY(hsumma_allreduce(t->ctx, in, out, COUNT, HSUMMA_DOUBLE, HSUMMA_SUM));
    for (int i = 0; !status && i < COUNT; i++)
        *wrong |= out[i] != size * (size - 1) / 2 + (double)size * i;
    drop(in, status);
    return status;
}

static hsumma_status move(struct trial *t, int *wrong)
{
    enum { N = 30 };
    double *from = malloc(2 * N * N * sizeof *from), *to = from + N * N;
    hsumma_desc a, b;
    hsumma_desc_init(&a, t->grid, N, N, 3, 4);
    hsumma_desc_checkerboard(&b, t->grid, N, N);
    for (int64_t j = 0; j < hsumma_local_cols(&a); j++)
        for (int64_t i = 0; i < hsumma_local_rows(&a); i++)
            from[i + j * a.ld] = (double)(hsumma_global_row(&a, i) * N + hsumma_global_col(&a, j));
    hsumma_status status = FAULTY(hsumma_redistribute(t->ctx, HSUMMA_D, N, N, from, &a, to, &b));
    for (int64_t j = 0; !status && j < hsumma_local_cols(&b); j++)
        for (int64_t i = 0; i < hsumma_local_rows(&b); i++)
            *wrong |= to[i + j * b.ld] != (double)(hsumma_global_row(&b, i) * N + hsumma_global_col(&b, j));
    drop(from, status);
    return status;
}

static step *const steps[] = {create, make_grid, allocate, make_plan, execute, execute, one_call, add_up, add_up, move};
static const char *const step_names[] = {"create",  "grid_create", "malloc",    "plan_create", "execute",
                                         "execute", "one call",    "allreduce", "allreduce",   "redistribute"};
enum { STEPS = sizeof steps / sizeof *steps, PLAN = 3 };

static void free_all(struct trial *t)
{
    hsumma_plan_free(&t->plan);
    if (t->ctx)
        hsumma_mfree(t->ctx, t->memory);
    t->memory = NULL;
    hsumma_grid_free(&t->grid);
    hsumma_free(&t->ctx);
}

/* Runs the steps, of which those before `from` cannot fail; returns the outcome, the same on all ranks. *at: the step
 * that failed, or STEPS; *first: its status. */
static int run_steps(struct trial *t, int from, int *at, hsumma_status *first)
{
    int outcome = HARMLESS;
    *first = HSUMMA_OK;
    for (*at = 0; *at < STEPS; ++*at) {
        int wrong = 0;
        if (*at == PLAN) { /* draws depend on the grid */
            t->c = gemm_draw_case(t->grid, GEMM_AUTO, t->options, sizeof t->options);
            t->c.alpha = 1;
        }
        counts = *at >= from;
        hsumma_status status = steps[*at](t, &wrong);
        int64_t most = world_reduce(status, MPI_MAX), least = world_reduce(status, MPI_MIN);
        int by_mpi = (int)world_reduce(status == HSUMMA_ERR_MPI, MPI_MAX);
        *first = (hsumma_status)(most ? most : *first);
        if (!everywhere(!wrong))
            return WRONG;
        if (by_mpi)
            return MPI_FAILED;
        if (most != least)
            return UNEVEN;
        if (!most)
            continue;
        outcome = REFUSED;
        status = steps[*at](t, &wrong); /* the fault has happened: the same call must succeed now */
        if (!everywhere(!status && !wrong))
            return NOT_AGAIN;
    }
    return outcome;
}

/* Trial `number`; at: receives the step. */
static int try(int which, int64_t number, char *text, size_t room)
{
    struct trial t = {.ctx = NULL};
    const char *function = functions[which].name;
    int at, by_mpi = !strncmp(function, "MPI_", 4), segments = process_segments();
    draw_seed((uint64_t)number + 1);
    int victim = draw(size), n = functions[which].often ? draw(1 << draw(10)) : draw(4), nodes = 1 + draw(size),
        error = draw(2) ? ENOMEM : EIO;
    hsumma_status status;
    snprintf(t.words, sizeof t.words, "topology=nodes:%d%s%s%s%s", nodes, draw(4) ? "" : " direct=off",
             draw(4) ? "" : " shared=0", draw(6) || by_mpi ? "" : " wait=block",
             by_mpi ? " timeout=2 on_timeout=error" : "");
    if (rank == victim)
        arm(function, n, error);
    snprintf(hanging, sizeof hanging, "# hangs: rank %d of %d, trial %" PRId64 ", call %d of %s on rank %d, %s\n", rank,
             size, number, n, function, victim, t.words);
    alarm(LIMIT_S);
    int outcome = run_steps(&t, by_mpi ? PLAN + 1 : 0, &at, &status);
    int reached = (int)world_reduce(rank == victim && disarm() > n, MPI_MAX);
    int late = outcome == MPI_FAILED && !reached; /* on a loaded machine, a wait can reach its limit without a fault */
    if (late && !by_mpi)
        outcome = WRONG;
    free_all(&t);
    if (outcome == MPI_FAILED) {
        int step_again;
        hsumma_status again;
        t = (struct trial){.ctx = NULL};
        snprintf(t.words, sizeof t.words, "topology=nodes:%d", nodes);
        outcome = run_steps(&t, 0, &step_again, &again) == HARMLESS ? MPI_FAILED : NOT_AGAIN;
        free_all(&t);
    }
    world_reduce(0, MPI_SUM); /* all ranks have unmapped */
    if (outcome < UNEVEN && outcome != MPI_FAILED && !everywhere(process_segments() <= segments))
        outcome = LEFT;
    if ((outcome == HARMLESS && !reached) || (outcome == MPI_FAILED && late))
        outcome = NOT_REACHED;
    snprintf(text, room, "call %d of %s on rank %d: %s in %s (%s), %s, plan %s", n, function, victim, outcomes[outcome],
             at < STEPS ? step_names[at] : "no step", hsumma_status_string(status), t.words, t.options);
    return outcome;
}

static void on_alarm(int number)
{
    ssize_t written = write(STDOUT_FILENO, hanging, strlen(hanging));
    void *frames[40];
    (void)written;
    backtrace_symbols_fd(frames, backtrace(frames, 40), STDOUT_FILENO);
    signal(number, SIG_DFL);
    raise(number);
}

static void run_trials(int64_t trials, int64_t first, const char *only)
{
    int64_t count[FUNCTIONS][OUTCOMES] = {{0}};
    for (int64_t number = first; number < first + trials; number++) {
        int which = (int)(number % FUNCTIONS);
        char text[900];
        if (only && strcmp(only, functions[which].name) != 0)
            continue;
        int outcome = try(which, number, text, sizeof text);
        which = strcmp(functions[which].name, functions[0].name) ? which : 0; /* one line for all of malloc's */
        count[which][outcome]++;
        if (outcome >= UNEVEN)
            tap_diag("trial %" PRId64 ": %s", number, text);
    }
    alarm(0);
    for (int f = 0; f < FUNCTIONS; f++) {
        int64_t bad = 0, all = 0;
        char text[400] = "";
        for (int o = 0; o < OUTCOMES; o++) {
            bad += o >= UNEVEN ? count[f][o] : 0;
            all += count[f][o];
            if (count[f][o])
                hs_append(text, sizeof text, ", %s %" PRId64, outcomes[o], count[f][o]);
        }
        if (all)
            tap_ok(bad == 0, "%s fails: %" PRId64 " trials%s", functions[f].name, all, text);
    }
}

int main(int argc, char **argv)
{
    *(void **)(&arm) = dlsym(RTLD_DEFAULT, "faults_arm");
    *(void **)(&disarm) = dlsym(RTLD_DEFAULT, "faults_disarm");
    on = dlsym(RTLD_DEFAULT, "faults_on");
    world_begin(&argc, &argv);
    if (!arm || !disarm || !on) {
        tap_skip(1, "the library faults.so is not preloaded");
    } else {
        int silent = size > 1 && dup2(STDOUT_FILENO, STDERR_FILENO); /* reports of waits */
        (void)silent;
        signal(SIGALRM, on_alarm);
        run_trials(argc > 1 ? atoll(argv[1]) : FUNCTIONS, argc > 2 ? atoll(argv[2]) : 0, argc > 3 ? argv[3] : NULL);
    }
    return world_end();
}
