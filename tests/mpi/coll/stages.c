/*
 * Stages between nodes by MPI and by functions of the caller. The functions count their calls and the ranks of their
 * communicators, so a stage that another algorithm performs is found. Sums are of small integers, exact in any order.
 */
#include "support/coll/data.h"
#include "support/left_in_mpi.h"
#include "support/tap.h"
#include "support/world.h"

enum { DOUBLES = 1000, NODES = 2 };

static hsumma_context *ctx;
static int by_mpi, by_function, ranks_seen; /* calls since the last reset, and the ranks of the last one */
static int64_t elements_seen;

/* The library's MPI_Iallreduce and MPI_Ibcast: those of this program, which count. */
int MPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    by_mpi++;
    MPI_Comm_size(comm, &ranks_seen);
    elements_seen += count;
    return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    by_mpi++;
    MPI_Comm_size(comm, &ranks_seen);
    elements_seen += count / (int)sizeof(double);
    return PMPI_Ibcast(buffer, count, type, root, comm, request);
}

enum how { STARTS, WAITS, FAILS };

/* Performs a stage by MPI: starts it, or waits for it. FAILS: fails on rank 0, and never ends on the others. */
static int perform(const hsumma_stage *stage, MPI_Request *request, void *state)
{
    enum how how = *(const enum how *)state;
    by_function++;
    elements_seen += stage->count;
    MPI_Comm_size(stage->comm, &ranks_seen);
    if (how == FAILS)
        return rank == 0 ? 5 : MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, stage->comm, request);
    if (stage->in || stage->op.size || stage->size != sizeof(double) || stage->op.element == HSUMMA_DOUBLE)
        PMPI_Iallreduce(stage->in == stage->out ? MPI_IN_PLACE : stage->in, stage->out, (int)stage->count, MPI_DOUBLE,
                        MPI_SUM, stage->comm, request);
    else
        PMPI_Ibcast(stage->out, (int)stage->count, MPI_DOUBLE, stage->root, stage->comm, request);
    for (int done = 0; how == WAITS && !done;)
        PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    return 0;
}

static int context(const char *options)
{
    char text[240] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, text, sizeof text);
    return tap_ok(world_worst(status) == 0, "a context with %s %s", options, text);
}

static hsumma_status add(hsumma_collective collective, const char *name, enum how *how)
{
    return hsumma_coll_register(
        ctx,
        &(hsumma_algorithm){
            .collective = collective, .name = name, .flags = HSUMMA_KEEPS_ORDER, .state = how, .perform = perform});
}

static hsumma_coll call_of(hsumma_collective collective, const char *algorithm, double *in, double *out, int root)
{
    for (int i = 0; i < DOUBLES; i++) {
        in[i] = rank + i % 17;
        out[i] = collective == HSUMMA_BCAST && rank == root ? 3 * i + root : -1;
    }
    return (hsumma_coll){.collective = collective,
                         .in = collective == HSUMMA_BCAST ? NULL : in,
                         .out = out,
                         .count = DOUBLES,
                         .size = collective == HSUMMA_BCAST ? sizeof(double) : 0,
                         .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE},
                         .root = root,
                         .algorithm = algorithm};
}

static int wrong_in(const hsumma_coll *call)
{
    int wrong = 0, result = call->collective != HSUMMA_REDUCE || rank == call->root;
    for (int i = 0; result && i < DOUBLES; i++) {
        double want = call->collective == HSUMMA_BCAST ? 3 * i + call->root
                                                       : (double)size * (size - 1) / 2 + (double)size * (i % 17);
        wrong += ((const double *)call->out)[i] != want;
    }
    return wrong;
}

/*
 * Runs a collective, and tests that `leaders` ranks per node performed the stage between nodes, `times` times each, on
 * `vectors` vectors per node in total.
 */
static void runs(hsumma_collective collective, const char *algorithm, int function, int leaders, int times, int vectors)
{
    static double in[DOUBLES], out[DOUBLES];
    int root = size - 1;
    hsumma_coll call = call_of(collective, algorithm, in, out, root);
    for (int again = 0; again < 2; again++) {
        by_mpi = by_function = ranks_seen = 0;
        elements_seen = 0;
        hsumma_status status = hsumma_coll_run(ctx, &call);
        int calls = function ? by_function : by_mpi, wrong = status ? 1 : wrong_in(&call);
        int others = calls > 0 && (calls != times || ranks_seen != NODES);
        others += (function ? by_mpi : by_function) != 0;
        int64_t elements = elements_seen, all = world_reduce(calls, MPI_SUM); /* which itself calls MPI_Iallreduce */
        elements = world_reduce(elements, MPI_SUM);
        int good = all == (int64_t)NODES * leaders * times && elements == (int64_t)NODES * vectors * DOUBLES;
        tap_ok(world_worst(wrong + others) == 0 && good,
               "%s: %d calls of the stage, %d elements, %d wrong, %d not between nodes %s", algorithm, (int)all,
               (int)elements, wrong, others, status ? hsumma_message(ctx) : "");
        call = call_of(collective, algorithm, in, out, root);
    }
}

/* Several calls in flight, completed in the opposite order. */
static void flies(const char *algorithm)
{
    enum { CALLS = 6 };
    static double in[CALLS][DOUBLES], out[CALLS][DOUBLES];
    hsumma_request *request[CALLS];
    hsumma_coll call[CALLS];
    int wrong = 0;
    for (int c = 0; c < CALLS; c++) {
        call[c] = call_of(HSUMMA_ALLREDUCE, c % 3 == 2 ? "ring" : algorithm, in[c], out[c], 0);
        wrong += hsumma_coll_start(ctx, &call[c], &request[c]) != HSUMMA_OK;
    }
    for (int c = CALLS - 1; c >= 0; c--) {
        wrong += hsumma_coll_wait(&request[c]) != HSUMMA_OK;
        wrong += wrong_in(&call[c]);
    }
    tap_ok(world_worst(wrong) == 0, "%s, %d calls in flight: %d wrong", algorithm, CALLS, wrong);
}

static void refused(hsumma_coll call, const char *text)
{
    by_mpi = by_function = 0;
    hsumma_status status = hsumma_coll_run(ctx, &call);
    int wrong = status != HSUMMA_ERR_UNSUPPORTED || !strstr(hsumma_message(ctx), text) || by_mpi || by_function;
    tap_ok(world_worst(wrong) == 0, "%s refused: %s", call.algorithm, hsumma_message(ctx));
}

static void test_refusals(void)
{
    static double in[DOUBLES], out[DOUBLES];
    hsumma_coll call = call_of(HSUMMA_ALLREDUCE, "dpml(inner=mpi)", in, out, 0);
    char text[240] = "";
    hsumma_desc desc;
    hsumma_grid *grid;
    hsumma_plan *plan = NULL;
    refused(call, "a stage has no such collective");
    call = call_of(HSUMMA_REDUCE, "smp(outer=starts)", in, out, 0);
    refused(call, "a stage has no such collective");
    call = call_of(HSUMMA_ALLREDUCE, "smp(outer=mpi)", in, out, 0);
    call.op = (hsumma_operator){HSUMMA_USER, .combine = coll_sum_of_doubles, .size = sizeof(double), .commutative = 1};
    refused(call, "the operator is user-defined");
    hsumma_coll_describe(ctx, &call, text, sizeof text);
    tap_ok(strstr(hsumma_message(ctx), "the operator is user-defined") != NULL, "described: %s", hsumma_message(ctx));
    hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
    hsumma_desc_init(&desc, grid, 32, 32, 4, 4);
    static const char *const named[] = {"node=messages bcast=hierarchical(outer=mpi)", "node=messages bcast=spreads"};
    for (int i = 0; i < 2; i++) {
        hsumma_status status =
            hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', 32, 32, 32, &desc, &desc, &desc, named[i], &plan);
        tap_ok(world_worst(status != HSUMMA_ERR_UNSUPPORTED) == 0 && strstr(hsumma_message(ctx), "in a product"),
               "a product refuses %s: %s", named[i], hsumma_message(ctx));
    }
    hsumma_grid_free(&grid);
}

static void test_registration(enum how *how)
{
    hsumma_algorithm both = {
        .collective = HSUMMA_ALLGATHER, .name = "gathers", .state = how, .perform = perform, .flags = 0};
    int wrong = hsumma_coll_register(ctx, &both) != HSUMMA_ERR_ARGUMENT || !strstr(hsumma_message(ctx), "allgather");
    both.perform = NULL;
    wrong += hsumma_coll_register(ctx, &both) != HSUMMA_ERR_ARGUMENT || !strstr(hsumma_message(ctx), "NULL");
    tap_ok(wrong == 0, "refused: a function for an allgather, and neither a builder nor a function");
    both = (hsumma_algorithm){.collective = HSUMMA_ALLREDUCE, .name = "x", .state = how, .perform = perform};
    tap_ok(hsumma_coll_prove(&both, 4, 0, 8, 8, NULL, 0) == HSUMMA_ERR_UNSUPPORTED, "a function is not proved");
}

static void test_failure(void)
{
    static double in[DOUBLES], out[DOUBLES];
    enum how fails = FAILS;
    hsumma_coll call = call_of(HSUMMA_ALLREDUCE, "smp(outer=fails)", in, out, 0);
    if (!context("topology=nodes:2"))
        return;
    int wrong = add(HSUMMA_ALLREDUCE, "fails", &fails) != HSUMMA_OK;
    wrong += hsumma_coll_run(ctx, &call) != HSUMMA_ERR_MPI;
    wrong += rank == 0 && !strstr(hsumma_message(ctx), "function of allreduce algorithm fails returned 5");
    wrong += hsumma_coll_run(ctx, &call) != HSUMMA_ERR_MPI;
    tap_ok(world_worst(wrong) == 0, "a function that fails on one process ends the call on all: %s",
           hsumma_message(ctx));
    hsumma_free(&ctx);
}

int main(int argc, char **argv)
{
    enum how starts = STARTS, waits = WAITS;
    world_begin(&argc, &argv);
    int members = size / NODES;
    for (int messages = 0; messages < 2; messages++) {
        if (!context(messages ? "topology=nodes:2 shared=0" : "topology=nodes:2"))
            continue;
        int wrong = add(HSUMMA_ALLREDUCE, "starts", &starts) || add(HSUMMA_ALLREDUCE, "waits", &waits) ||
                    add(HSUMMA_BCAST, "spreads", &starts);
        tap_ok(world_worst(wrong) == 0, "functions registered: %s", wrong ? hsumma_message(ctx) : "");
        test_registration(&starts);
        runs(HSUMMA_ALLREDUCE, "smp(outer=mpi)", 0, 1, 1, 1);
        runs(HSUMMA_ALLREDUCE, "smp(outer=starts)", 1, 1, 1, 1);
        runs(HSUMMA_ALLREDUCE, "smp(outer=waits)", 1, 1, 1, 1);
        runs(HSUMMA_ALLREDUCE, "dpml(l=1,k=3,outer=mpi)", 0, 1, 3, 1);
        runs(HSUMMA_ALLREDUCE, "dpml(l=8,outer=starts)", 1, members, 1, 1);
        runs(HSUMMA_ALLREDUCE, "dpml(l=2,k=2,outer=waits)", 1, members < 2 ? members : 2, 2, 1);
        runs(HSUMMA_BCAST, "hierarchical(outer=mpi)", 0, 1, 1, 1);
        runs(HSUMMA_BCAST, "hierarchical(outer=spreads)", 1, 1, 1, 1);
        runs(HSUMMA_BCAST, "hierarchical(segment=2k,outer=spreads)", 1, 1, members > 1 ? 4 : 1, 1);
        flies("dpml(l=2,k=2,outer=starts)");
        flies("smp(outer=waits)");
        test_refusals();
        hsumma_free(&ctx);
    }
    test_failure();
    return world_end();
}
