/*
 * Prints the simulated time of schedules and the clock's price of the same schedules, on the machine of a profile.
 * hsumma_sim starts this program in place of hsumma; tests/programs/sim_clock.py judges its output.
 *
 *     clock coll --only COLLECTIVE --leave NAME --bytes N,N,...       every algorithm of a collective except NAME
 *     clock coll --only COLLECTIVE --alg NAME --bytes N,N,...         one of them
 *     clock coll --box EXTENT,EXTENT,... --bytes N                    the broadcast in a torus, on rings
 *     clock coll --grid PxQ --n N --nb NB --plan OPTION,OPTION,...    a product of N x N matrices; + stands for a blank
 *
 * It prints a line per measurement: "timed WHAT SIMULATED CLOCK SHARED" (see price), or "left WHAT REASON"; for a plan
 * first "predicted SECONDS LINE". All ranks live in one process, so nothing here is global.
 *
 * The clock of a plan is that of one long schedule: the broadcasts of all panels, each after the previous one on every
 * rank, which is what lookahead 0 means. The library's own prediction adds up panels, as if the broadcast of a panel
 * began only after the previous one has ended on all ranks.
 */
#include "coll/pattern/embed.h"
#include "coll/run/executor_parts.h"
#include "hsumma/plan/plan.h"
#include "measure/simulated.h"
#include "support/coll/instance.h"

#include <hsumma_coll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *profile, *only, *alg, *leave, *bytes, *box, *grid, *plan;
    int64_t n, nb;
};

static struct options read_options(int argc, char **argv)
{
    struct options options = {.profile = "", .bytes = "1024,65536,1048576", .n = 8192, .nb = 512};
    for (int i = 2; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--profile") == 0)
            options.profile = value;
        else if (strcmp(argv[i], "--only") == 0)
            options.only = value;
        else if (strcmp(argv[i], "--alg") == 0)
            options.alg = value;
        else if (strcmp(argv[i], "--leave") == 0)
            options.leave = value;
        else if (strcmp(argv[i], "--bytes") == 0)
            options.bytes = value;
        else if (strcmp(argv[i], "--box") == 0)
            options.box = value;
        else if (strcmp(argv[i], "--grid") == 0)
            options.grid = value;
        else if (strcmp(argv[i], "--plan") == 0)
            options.plan = value;
        else if (strcmp(argv[i], "--n") == 0)
            options.n = atoll(value);
        else if (strcmp(argv[i], "--nb") == 0)
            options.nb = atoll(value);
    }
    return options;
}

static void fail(const hsumma_context *ctx, const char *what)
{
    fprintf(stderr, "hsumma: %s: %s\n", what, ctx ? hsumma_message(ctx) : "");
    exit(1);
}

/* The largest time of all ranks since `began`, a common start. */
static double longest(double began)
{
    double mine = MPI_Wtime() - began, most;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/*
 * Prices a schedule by the clock, in seconds: *clock on the machine of the profile; *fluid on a machine that shares
 * bandwidth as the simulator does. On that machine all messages that a rank sends together are in flight at once, as
 * many as the executor starts. *fluid includes SimGrid's 16 bytes before each message by adding them to the vector,
 * which is exact for schedules that send only whole vectors.
 */
static void price(const hsumma_context *ctx, const struct hs_alg *alg, const struct hs_shape *shape, double *clock,
                  double *fluid)
{
    struct hs_machine machine = ctx->profile.machine;
    if (hs_clock_seconds(alg, shape, &machine, &ctx->memory, clock, NULL))
        fail(NULL, "the clock");
    struct hs_shape longer = *shape;
    longer.bytes += 16;
    machine.ports = HS_STEP_WINDOW;
    machine.inject = machine.beta;
    if (hs_clock_seconds(alg, &longer, &machine, &ctx->memory, fluid, NULL))
        fail(NULL, "the clock");
}

/* Collectives. */

static struct hs_shape shape_of(const hsumma_context *ctx, int64_t bytes)
{
    return (struct hs_shape){.size = ctx->comm.size,
                             .root = 1,
                             .bytes = bytes,
                             .unit = 8,
                             .segment = ctx->team.segment,
                             .topology = ctx->comm.topology.size ? &ctx->comm.topology : NULL};
}

static hsumma_status run(hsumma_context *ctx, const struct hs_alg *alg, int64_t bytes, void *const vector[2])
{
    static const hsumma_collective collective[HS_COLLECTIVES] = {[HS_BCAST] = HSUMMA_BCAST,
                                                                 [HS_REDUCE_TO] = HSUMMA_REDUCE,
                                                                 [HS_ALLREDUCE] = HSUMMA_ALLREDUCE,
                                                                 [HS_ALLGATHER] = HSUMMA_ALLGATHER,
                                                                 [HS_REDUCE_SCATTER] = HSUMMA_REDUCE_SCATTER};
    int parts = alg->collective == HS_ALLGATHER || alg->collective == HS_REDUCE_SCATTER;
    int rooted = alg->collective == HS_BCAST || alg->collective == HS_REDUCE_TO;
    return hsumma_coll_run(ctx, &(hsumma_coll){.collective = collective[alg->collective],
                                               .in = alg->collective == HS_BCAST ? NULL : vector[0],
                                               .out = vector[1],
                                               .count = bytes / 8 / (parts ? ctx->comm.size : 1),
                                               .size = 8,
                                               .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE},
                                               .root = rooted ? 1 : 0,
                                               .algorithm = alg->name});
}

static void time_algorithm(hsumma_context *ctx, const struct hs_alg *alg, int64_t bytes)
{
    struct hs_shape shape = shape_of(ctx, bytes);
    char what[100];
    if (alg->collective == HS_ALLGATHER || alg->collective == HS_REDUCE_SCATTER) /* at least one element per part */
        shape.bytes = bytes = bytes < 8 * shape.size ? 8 * shape.size : bytes / (8 * shape.size) * (8 * shape.size);
    shape.root = alg->collective == HS_BCAST || alg->collective == HS_REDUCE_TO ? shape.root : 0;
    snprintf(what, sizeof what, "%s %s %lld", hs_collective_name(alg->collective), alg->name, (long long)bytes);
    const char *why = alg->flags & HS_BY_MPI ? "MPI's own" : hs_alg_unfit(alg, &shape);
    if (why) {
        if (ctx->comm.rank == 0)
            printf("left %s %s\n", what, why);
        return;
    }
    void *vector[2];
    for (int i = 0; i < 2; i++)
        if (!(vector[i] = hs_get(&ctx->bulk, (size_t)bytes, 1)))
            fail(NULL, "memory");
    if (run(ctx, alg, bytes, vector)) /* the first run prepares the second */
        fail(ctx, what);
    common_start(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (run(ctx, alg, bytes, vector))
        fail(ctx, what);
    double simulated = longest(began), clock, fluid;
    for (int i = 0; i < 2; i++)
        hs_put(&ctx->bulk, vector[i]);
    if (ctx->comm.rank != 0)
        return;
    struct hs_alg_spec chosen = {.alg = alg}; /* as in the call: with parameters by the profile */
    hs_alg_spec_complete(&chosen, &shape, &ctx->profile.machine);
    shape.with = chosen.with;
    price(ctx, alg, &shape, &clock, &fluid);
    printf("timed %s %.12g %.12g %.12g\n", what, simulated, clock, fluid);
    fflush(stdout);
}

static void time_collectives(hsumma_context *ctx, const struct options *options)
{
    const struct hs_alg *alg;
    for (int i = 0; (alg = hs_alg_at(i)); i++) {
        if ((options->only && strcmp(options->only, hs_collective_name(alg->collective)) != 0) ||
            (options->alg && strcmp(options->alg, alg->name) != 0) ||
            (options->leave && strcmp(options->leave, alg->name) == 0))
            continue;
        for (const char *size = options->bytes; size; size = strchr(size, ',') ? strchr(size, ',') + 1 : NULL)
            time_algorithm(ctx, alg, atoll(size));
    }
}

/* The broadcast in a torus, which needs a box and is used by products only: its list is executed here. */

static void execute(hsumma_context *ctx, const struct hs_list *list, void *vector)
{
    struct hs_instance instance;
    int size = ctx->comm.size, *rank = hs_get(&ctx->memory, (size_t)size, sizeof *rank);
    void *room = hs_get(&ctx->memory, hs_instance_bytes(list->steps), 1);
    for (int r = 0; rank && r < size; r++)
        rank[r] = r;
    if (!rank || !room)
        fail(NULL, "memory");
    struct hs_binding binding = {.list = list,
                                 .group = {rank, 0, 1, size, ctx->comm.rank},
                                 .tag = hs_tag(1, 0),
                                 .slot = {[HS_OUT] = vector},
                                 .unit = 8};
    hs_instance_init(&instance, room, list->steps);
    if (hs_start(&instance, &ctx->comm, &binding) ||
        (instance.active && hs_comm_wait(&ctx->comm, instance_advance, &instance)))
        fail(NULL, "the list");
    hs_put(&ctx->memory, room);
    hs_put(&ctx->memory, rank);
}

static void time_box(hsumma_context *ctx, const struct options *options)
{
    const struct hs_alg *alg = hs_alg_find(HS_BCAST, "torus");
    struct hs_box box = {.dims = 0};
    struct hs_shape shape = shape_of(ctx, atoll(options->bytes));
    for (const char *extent = options->box; extent; extent = strchr(extent, ',') ? strchr(extent, ',') + 1 : NULL) {
        box.extent[box.dims] = atoi(extent);
        box.ring[box.dims++] = 1;
    }
    for (int d = 0; d < box.dims; d++)
        box.share[d] = HS_BOX_SHARES / box.dims;
    shape.box = &box;
    shape.rank = ctx->comm.rank;
    struct hs_list list;
    void *vector = hs_get(&ctx->bulk, (size_t)shape.bytes, 1);
    if (!vector || hs_build(alg, &shape, &ctx->memory, &list))
        fail(NULL, "the list");
    common_start(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    execute(ctx, &list, vector);
    double simulated = longest(began), clock, fluid;
    hs_list_free(&ctx->memory, &list);
    hs_put(&ctx->bulk, vector);
    if (ctx->comm.rank != 0)
        return;
    price(ctx, alg, &shape, &clock, &fluid);
    printf("timed bcast torus %s %.12g %.12g %.12g\n", options->box, simulated, clock, fluid);
}

/* Plans. */

/* Adds a rank's part of the broadcast of tier panel o on `level`, after step `after`; returns the last step. */
static int compose_panel(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_mover *mover,
                         int level, int o, int64_t segment, int after)
{
    const struct hs_grid *grid = &mover->problem->grid;
    const int coord[2] = {shape->rank / grid->extent[1], shape->rank % grid->extent[1]};
    int axis = mover->role->line_axis, root = hs_mover_root(mover, hs_mover_pair(mover, mover->tier[level], o));
    for (int l = level + 1; l < mover->levels; l++) /* a rank that is not the root of inner level l receives there */
        if (hs_digit(&mover->factors, l, coord[axis]) != hs_digit(&mover->factors, l, root))
            return after;
    int size = mover->factors.size[level], me = hs_digit(&mover->factors, level, coord[axis]);
    int *rank = hs_builder_get(builder, (size_t)size, sizeof *rank);
    if (!rank)
        return -1;
    for (int i = 0; i < size; i++)
        rank[i] = shape->rank + (i - me) * mover->factors.stride[level] * hs_grid_stride(grid, axis);
    int64_t unit = (int64_t)mover->problem->scalar->size,
            length = hs_axis_count(mover->role->want, coord[mover->role->want_axis]);
    struct hs_shape inner = {.rank = me,
                             .size = size,
                             .root = hs_digit(&mover->factors, level, root),
                             .bytes = hs_tier_width(mover->panels, mover->tier[level], o) * length * unit,
                             .unit = unit,
                             .segment = segment};
    struct hs_embedding embedding = {.rank = rank, .in = hs_in(0), .out = hs_out(0), .after = after};
    return hs_embed(builder, mover->alg[level], &inner, &embedding, NULL);
}

/* Adds the broadcasts of a whole product with stationary C; multiplications are left out. */
static void compose(struct hs_builder *builder, const struct hs_shape *shape)
{
    const hsumma_plan *plan = builder->alg->own;
    const struct hs_panels *panels = &plan->loop.panels;
    int after = -1;
    for (int t = 0; t < panels->count; t++)
        for (int f = 0; f < 2; f++) {
            const struct hs_mover *mover = &plan->loop.conveyor[f].mover;
            for (int level = 0; level < mover->levels; level++) {
                const struct hs_tier *tier = &panels->tier[mover->tier[level]];
                if (tier->first[tier->of[t]] == t)
                    after = compose_panel(builder, shape, mover, level, tier->of[t], plan->loop.spec->segment, after);
            }
        }
}

static void time_plan(hsumma_context *ctx, const struct options *options)
{
    struct hs_alg whole = {.collective = HS_BCAST, .name = "plan", .flags = HS_TRUE_ROOT, .build = compose};
    struct hs_shape shape = {.size = ctx->comm.size, .bytes = 8, .unit = 8};
    char words[400];
    int extent[2];
    if (sscanf(options->grid, "%dx%d", &extent[0], &extent[1]) != 2)
        fail(NULL, "--grid");
    snprintf(words, sizeof words, "%s", options->plan);
    for (char *c = words; *c; c++)
        *c = *c == '+' ? ' ' : *c;
    hsumma_grid *grid;
    hsumma_desc desc;
    hsumma_plan *plan;
    if (hsumma_grid_create(ctx, extent[0], extent[1], 'R', NULL, &grid))
        fail(ctx, "grid");
    hsumma_desc_init(&desc, grid, options->n, options->n, options->nb, options->nb);
    if (hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', options->n, options->n, options->n, &desc, &desc, &desc, words,
                           &plan))
        fail(ctx, words);
    size_t bytes = (size_t)(hsumma_local_cols(&desc) * desc.ld + 1) * 8;
    void *matrix[3];
    for (int i = 0; i < 3; i++)
        if (!(matrix[i] = hs_get(&ctx->bulk, bytes, 1)))
            fail(NULL, "memory");
    const int64_t ld[3] = {desc.ld, desc.ld, desc.ld};
    const void *data[3] = {matrix[0], matrix[1], matrix[2]};
    double one = 1, zero = 0, clock, fluid;
    common_start(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (hs_plan_run(plan, &one, data, ld, &zero)) /* this call skips hsumma_plan_execute's agreement */
        fail(ctx, words);
    double simulated = longest(began);
    if (ctx->comm.rank == 0) {
        hsumma_plan_info info;
        hsumma_plan_query(plan, &info);
        whole.own = plan;
        price(ctx, &whole, &shape, &clock, &fluid);
        printf("predicted %.12g %s\n", info.predicted_comm_seconds, info.line);
        printf("timed plan %s %.12g %.12g %.12g\n", options->plan, simulated, clock, fluid);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        hs_put(&ctx->bulk, matrix[i]);
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
}

int main(int argc, char **argv)
{
    struct options options = read_options(argc, argv);
    hsumma_context *ctx;
    char words[400], message[300];
    MPI_Init(&argc, &argv);
    snprintf(words, sizeof words, "compute=time tuned=none profile=%s", options.profile);
    if (hsumma_create(MPI_COMM_WORLD, words, &ctx, message, sizeof message)) {
        fprintf(stderr, "hsumma: %s\n", message);
        return 1;
    }
    if (options.box)
        time_box(ctx, &options);
    else if (options.plan)
        time_plan(ctx, &options);
    else
        time_collectives(ctx, &options);
    hsumma_free(&ctx);
    MPI_Finalize();
    return 0;
}
