/* Collective calls: errors and their messages, the choice of an algorithm and its origin, user-defined algorithms. */
#include "support/coll/data.h"
#include "support/tap.h"
#include "support/world.h"

#include <unistd.h>

static hsumma_context *ctx;
static double in[64], out[512];

static hsumma_coll sum(int64_t count)
{
    return (hsumma_coll){.collective = HSUMMA_ALLREDUCE,
                         .in = in,
                         .out = out,
                         .count = count,
                         .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
}

/* Tests that a call returns the status on all ranks, with a message that contains `text`. */
static void refused(const hsumma_coll *call, hsumma_status expected, const char *text, const char *what)
{
    hsumma_status status = hsumma_coll_run(ctx, call);
    const char *said = hsumma_message(ctx);
    int wrong = status != expected || !strstr(said, text);
    if (wrong)
        printf("# rank %d: %s: status %d, %s\n", rank, what, (int)status, said);
    tap_ok(world_worst(wrong) == 0, "%s: %s", what, said);
}

static void works(const char *when)
{
    for (int i = 0; i < 64; i++)
        in[i] = rank + i;
    hsumma_coll call = sum(64);
    int wrong = hsumma_coll_run(ctx, &call) != HSUMMA_OK;
    for (int i = 0; i < 64; i++)
        wrong += out[i] != size * (size - 1) / 2 + size * i;
    tap_ok(world_worst(wrong) == 0, "an allreduce %s: %d wrong %s", when, wrong, wrong ? hsumma_message(ctx) : "");
}

static void test_errors(void)
{
    static int64_t counts[64];
    hsumma_coll call = {.collective = HSUMMA_BCAST, .out = out, .count = 8, .root = size};
    refused(&call, HSUMMA_ERR_ARGUMENT, "root is", "a root that is no rank");
    call.root = -1;
    refused(&call, HSUMMA_ERR_ARGUMENT, "root is -1", "a negative root");
    call = sum(-1);
    refused(&call, HSUMMA_ERR_ARGUMENT, "-1", "a negative count");
    call = sum(INT64_MAX / 4);
    refused(&call, HSUMMA_ERR_ARGUMENT, "2^63", "more bytes than there are numbers for");
    call = sum(3);
    call.op.op = HSUMMA_MAX;
    call.op.element = HSUMMA_DOUBLE_COMPLEX;
    refused(&call, HSUMMA_ERR_ARGUMENT, "max", "the largest of complex numbers");
    call.op = (hsumma_operator){.op = HSUMMA_USER, .size = 8};
    refused(&call, HSUMMA_ERR_ARGUMENT, "combine is NULL", "a user's operator without a function");
    call = sum(3);
    call.collective = (hsumma_collective)7;
    refused(&call, HSUMMA_ERR_ARGUMENT, "collective is 7", "no such collective");
    call = sum(5);
    call.algorithm = "fastest";
    refused(&call, HSUMMA_ERR_OPTION, "recursive_doubling", "an unknown algorithm");
    call.algorithm = "ring(l=2)";
    refused(&call, HSUMMA_ERR_OPTION, "no parameters", "a parameter that the algorithm has not");
    call.algorithm = "dpml(l=0)";
    refused(&call, HSUMMA_ERR_OPTION, "l=N", "a parameter out of its range");
    call = sum(7);
    call.in = rank == size - 1 ? NULL : in;
    call.out = rank == size - 1 ? NULL : out;
    refused(&call, HSUMMA_ERR_ARGUMENT, "output buffer is NULL", "NULL on one process, for the first time");
    if (size > 1) {
        call = sum(rank == 1 ? 9 : 8);
        refused(&call, HSUMMA_ERR_ARGUMENT, "rank 1 gave count = 9, rank 0 gave 8", "different counts");
        call = sum(9);
        call.root = 0;
        call.collective = rank == 1 ? HSUMMA_REDUCE : HSUMMA_ALLREDUCE;
        refused(&call, HSUMMA_ERR_ARGUMENT, "rank 1 gave collective = reduce, rank 0 gave allreduce",
                "different collectives");
        call = sum(rank == 0 ? -1 : 10);
        refused(&call, HSUMMA_ERR_ARGUMENT, "-1", "a negative count on one process");
    }
    counts[size - 1] = -2;
    call = (hsumma_coll){.collective = HSUMMA_ALLGATHER, .in = in, .out = out, .counts = counts, .size = 8};
    refused(&call, HSUMMA_ERR_ARGUMENT, "] is -2", "a negative count among several");
    works("after all of them");
}

static void test_always(void)
{
    hsumma_create(MPI_COMM_WORLD, "check=always", &ctx, NULL, 0);
    works("that is checked");
    hsumma_coll call = sum(64);
    call.out = rank == 0 ? NULL : out;
    refused(&call, HSUMMA_ERR_ARGUMENT, "output buffer is NULL", "check=always: NULL at a later call");
    works("after it");
    hsumma_free(&ctx);
}

/* Checks the description of the algorithm that is chosen for a call. */
static void described(const char *word, int64_t count, int ordered, const char *text)
{
    char line[400] = "";
    hsumma_coll call = sum(count);
    int64_t calls = 0;
    call.algorithm = word;
    if (ordered)
        call.op = (hsumma_operator){HSUMMA_USER, HSUMMA_FLOAT, coll_product, &calls, 16, 0};
    hsumma_status status = hsumma_coll_describe(ctx, &call, line, sizeof line);
    int wrong = status != HSUMMA_OK || !strstr(line, text);
    tap_ok(world_worst(wrong) == 0, "%s: %s%s", text, line, status ? hsumma_message(ctx) : "");
}

static void test_choice(void)
{
    described(NULL, 64, 0, "by the model");
    described("ring", 64, 0, "ring, by the call");
    described("dpml(l=2,k=4)", 64, 0, "dpml(l=2,k=4), by the call");
    described("ring", 64, 1, "instead of ring (by the call): the operator does not commute");
    described("mpi", 64, 1, "instead of mpi (by the call): the operator is user-defined");
    if (size & (size - 1))
        described("butterfly", 64, 0,
                  "recursive_doubling instead of butterfly (by the call): the number of ranks is not a power");
    else
        described("butterfly", 64, 0, "butterfly, by the call");
}

/* Creates a context; returns 1 on success. If `words` is not NULL, checks instead that the options are refused with a
 * message that contains `words`. */
static int context(const char *options, const char *words)
{
    char text[400] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, text, sizeof text);
    int wrong = words ? status != HSUMMA_ERR_OPTION || !strstr(text, words) : status != HSUMMA_OK;
    if (wrong)
        printf("# rank %d: %s: %d, %s\n", rank, options, (int)status, text);
    tap_ok(world_worst(wrong) == 0, "a context with %s: %s", options, status ? text : "made");
    return !words && world_worst(wrong) == 0;
}

static void test_sources(void)
{
    char name[] = "/tmp/hsumma-tuned-XXXXXX", options[200];
    if (context("coll=allreduce:0-1k:ring,1k-inf:rabenseifner_traff;bcast:chain(segment=8k)", NULL)) {
        described(NULL, 128, 0, "ring, by the option coll");
        described(NULL, 129, 0, size > 1 ? "rabenseifner_traff(b=" : "rabenseifner_traff");
        described("smp", 129, 0, "smp, by the call");
        described("auto", 129, 0, size > 1 ? "rabenseifner_traff(b=" : "rabenseifner_traff");
        hsumma_free(&ctx);
    }
    if (context("coll=allreduce:nonsense", NULL)) { /* accepted, because the name could be registered later */
        hsumma_coll call = sum(3);
        refused(&call, HSUMMA_ERR_OPTION, "coll: there is no allreduce algorithm \"nonsense\"",
                "a name that nobody has");
        hsumma_free(&ctx);
    }
    context("coll=allreduce:5-2:ring", "range");
    context("coll=alltoall:ring", "reduce_scatter");
    context("tuned=/nowhere/at/all", "cannot read /nowhere/at/all");
    context("topology=nodes:0", "topology");
    int file = rank == 0 ? mkstemp(name) : -1;
    FILE *to = rank == 0 ? fdopen(file, "w") : NULL;
    if (to) {
        fprintf(to, "hsumma tuned 2\n# measured\nallreduce %d * 0-2k smp\nallreduce * * 0-inf ring # the rest\n", size);
        fclose(to);
    }
    for (int i = 0; i < (int)sizeof name; i++)
        name[i] = (char)world_reduce(rank == 0 ? name[i] : 0, MPI_MAX);
    snprintf(options, sizeof options, "tuned=%s", name);
    if (context(options, NULL)) {
        described(NULL, 64, 0, "smp, by the tuned file");
        described(NULL, 5000, 0, "ring, by the tuned file");
        hsumma_free(&ctx);
    }
    snprintf(options, sizeof options, "coll=allreduce:ring tuned=%s", name);
    if (context(options, NULL)) {
        described(NULL, 64, 0, "ring, by the option coll");
        hsumma_free(&ctx);
    }
    world_reduce(0, MPI_SUM); /* all ranks have read the file */
    to = rank == 0 ? fopen(name, "w") : NULL;
    if (to) {
        fprintf(to, "hsumma tuned 2\nallreduce 2 ring\n");
        fclose(to);
    }
    world_reduce(0, MPI_SUM);
    context(options, "line 2");
    if (rank == 0)
        unlink(name);
}

/* Errors of the user-defined broadcast below, in which the root sends to all ranks; `state` selects one. */
enum wrong { RIGHT, SENDS_TOO_LITTLE, FORGETS_ONE, NO_SUCH_PEER, BEYOND, BEYOND_64_BITS, FAILS };

static void build_star(hsumma_builder *builder, const hsumma_shape *shape, void *state)
{
    enum wrong wrong = *(const enum wrong *)state;
    hsumma_place all = {HSUMMA_OUT, 0}, behind = {HSUMMA_OUT, wrong == BEYOND ? shape->unit : INT64_MAX};
    int last = -1;
    for (int r = 0; r < shape->size; r++) {
        if (r == shape->root || (wrong == FORGETS_ONE && r == shape->size - 1))
            continue;
        if (shape->rank == shape->root) {
            int step = hsumma_step_send(builder, wrong == NO_SUCH_PEER ? shape->size : r, all,
                                        shape->bytes - (wrong == SENDS_TOO_LITTLE ? shape->unit : 0));
            hsumma_step_after(builder, step, last);
            last = step;
        } else if (shape->rank == r) {
            hsumma_step_recv(builder, shape->root, wrong == BEYOND || wrong == BEYOND_64_BITS ? behind : all,
                             shape->bytes);
        }
    }
    if (wrong == FAILS)
        hsumma_step_after(builder, last, last + 1 + (last < 0));
}

static const char *not_on_three(const hsumma_shape *shape, void *state)
{
    (void)state;
    return shape->size == 3 ? "three are too many" : NULL;
}

static void test_proofs(void)
{
    static const char *const names[] = {
        "right",          "sends too little",      "forgets one", "no such peer", "beyond its buffer",
        "beyond 64 bits", "waits for a later step"};
    enum wrong wrong;
    char text[240];
    const hsumma_algorithm star = {HSUMMA_BCAST, "star",     NULL,   HSUMMA_TRUE_ROOT,
                                   not_on_three, build_star, &wrong, NULL};
    for (wrong = RIGHT; wrong <= FAILS; wrong++) {
        hsumma_status status = hsumma_coll_prove(&star, 6, 2, 480, 8, text, sizeof text);
        tap_ok(wrong == RIGHT ? status == HSUMMA_OK && !text[0] : status == HSUMMA_ERR_INTERNAL && text[0],
               "prove, %s: %s", names[wrong], text);
    }
    wrong = RIGHT;
    tap_ok(hsumma_coll_prove(&star, 3, 0, 8, 8, text, sizeof text) == HSUMMA_ERR_UNSUPPORTED &&
               strstr(text, "three are too many"),
           "prove, a shape that does not fit: %s", text);
    tap_ok(hsumma_coll_prove(&star, 4, 4, 8, 8, text, sizeof text) == HSUMMA_ERR_ARGUMENT &&
               hsumma_coll_prove(&star, 4, 0, 9, 8, NULL, 0) == HSUMMA_ERR_ARGUMENT &&
               hsumma_coll_prove(&star, 1, 0, 0, 8, NULL, 0) == HSUMMA_OK,
           "prove, shapes that are none, and the smallest: %s", text);
}

/* Broadcasts by a user-defined algorithm, whose description must contain `words`. */
static void broadcasts(const char *algorithm, const char *words, const char *what)
{
    hsumma_coll call = {
        .collective = HSUMMA_BCAST, .out = out, .count = 100, .size = 8, .root = size - 1, .algorithm = algorithm};
    char text[400] = "";
    int bad = 0;
    for (int i = 0; i < 100; i++)
        out[i] = rank == size - 1 ? i : -1;
    bad += hsumma_coll_describe(ctx, &call, text, sizeof text) != HSUMMA_OK || !strstr(text, words);
    bad += hsumma_coll_run(ctx, &call) != HSUMMA_OK;
    for (int i = 0; i < 100; i++)
        bad += out[i] != i;
    tap_ok(world_worst(bad) == 0, "%s: %s: %d wrong", what, bad ? hsumma_message(ctx) : text, bad);
}

static void test_own(void)
{
    enum wrong wrong = RIGHT, broken = NO_SUCH_PEER;
    const unsigned flags = HSUMMA_TRUE_ROOT | HSUMMA_KEEPS_ORDER | HSUMMA_UNIFORM;
    hsumma_algorithm star = {HSUMMA_BCAST, "star", "a star", flags, not_on_three, build_star, &wrong, NULL};
    hsumma_algorithm_info info, last = {0};
    int bad = hsumma_coll_register(ctx, &star) != HSUMMA_OK;
    bad += hsumma_coll_register(ctx, &star) != HSUMMA_ERR_ARGUMENT;
    tap_ok(bad == 0, "registered once: %s", hsumma_message(ctx));
    bad = 0;
    star.name = "chain";
    bad += hsumma_coll_register(ctx, &star) != HSUMMA_ERR_ARGUMENT;
    star.name = "a b";
    bad += hsumma_coll_register(ctx, &star) != HSUMMA_ERR_ARGUMENT;
    star.name = "no_builder";
    star.build = NULL;
    bad += hsumma_coll_register(ctx, &star) != HSUMMA_ERR_ARGUMENT;
    tap_ok(bad == 0, "refused: a name that is built in, one that is none, no builder");
    int own = 0, rows = 0;
    for (; hsumma_coll_algorithm(ctx, rows, &info); rows++)
        last = info;
    while (hsumma_coll_algorithm(NULL, own, &info))
        own++;
    tap_ok(rows == own + 1 && strcmp(last.name, "star") == 0 && strcmp(last.doc, "a star") == 0 && last.flags == flags,
           "the listing ends with it: %d algorithms, %s", rows, last.name);

    broadcasts("star", size == 3 ? "instead of star (by the call): three are too many" : "star, by the call",
               "and it runs");

    hsumma_algorithm unsafe = {HSUMMA_BCAST, "unsafe", NULL, HSUMMA_TRUE_ROOT, NULL, build_star, &broken, NULL};
    bad = hsumma_coll_register(ctx, &unsafe) != HSUMMA_OK;
    hsumma_coll call = {
        .collective = HSUMMA_BCAST, .out = out, .count = 100, .size = 8, .root = size - 1, .algorithm = "unsafe"};
    if (size > 1)
        refused(&call, HSUMMA_ERR_ARGUMENT, "bcast algorithm unsafe", "one that names a peer outside");
    tap_ok(bad == 0, "which could be registered");
    works("after it");
}

/* Uses a user-defined algorithm in a multiplication. */
static void test_in_a_plan(void)
{
    enum wrong right = RIGHT;
    const hsumma_algorithm star = {HSUMMA_BCAST, "star", "", HSUMMA_TRUE_ROOT, NULL, build_star, &right, NULL};
    hsumma_grid *grid;
    hsumma_desc desc;
    hsumma_plan *plan = NULL;
    hsumma_plan_info info = {.line = ""};
    hsumma_coll_register(ctx, &star);
    hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
    hsumma_desc_init(&desc, grid, 32, 32, 4, 4);
    hsumma_status status = hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', 32, 32, 32, &desc, &desc, &desc,
                                              "bcast=star stationary=C groups=1x1", &plan);
    if (!status)
        hsumma_plan_query(plan, &info);
    tap_ok(world_worst(status) == 0 && (size == 1 || strstr(info.line, "star")), "a plan uses it: %s",
           status ? hsumma_message(ctx) : info.line);
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
}

/* Uses a user-defined algorithm for the stage between nodes of another one. */
static void test_as_a_stage(void)
{
    enum wrong right = RIGHT;
    const hsumma_algorithm star = {HSUMMA_BCAST, "star", "", HSUMMA_TRUE_ROOT, NULL, build_star, &right, NULL};
    hsumma_status status = hsumma_coll_register(ctx, &star);
    tap_ok(world_worst(status) == 0, "registered for a stage");
    broadcasts("hierarchical(outer=star)", "outer=star", "and as the stage between nodes");
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    if (context("segment=4k", NULL)) {
        test_errors();
        test_choice();
        test_own();
        hsumma_free(&ctx);
    }
    if (context("coll=auto", NULL)) {
        test_in_a_plan();
        hsumma_free(&ctx);
    }
    if (context("topology=nodes:2", NULL)) {
        test_as_a_stage();
        hsumma_free(&ctx);
    }
    test_always();
    test_sources();
    test_proofs();
    return world_end();
}
