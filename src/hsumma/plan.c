#include "hsumma/plan.h"

#include "base/wait.h"
#include "dist/cover.h"
#include "hsumma/candidate.h"
#include "summa/native.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static void make_problem(const struct hs_request *request, struct hs_problem *problem)
{
    memset(problem, 0, sizeof *problem);
    problem->scalar = &hs_scalars[request->type];
    problem->grid = request->desc[0]->grid->grid;
    memcpy(problem->extent, request->extent, sizeof problem->extent);
    for (int x = 0; x < 3; x++) {
        const hsumma_desc *desc = request->desc[x];
        struct hs_axis rows = hs_desc_axis(desc, 0), cols = hs_desc_axis(desc, 1);
        char op = request->op[x] == 'C' && !problem->scalar->complex_type ? 'T' : request->op[x];
        int64_t logical[2] = {request->extent[hs_operand_dims[x][0]], request->extent[hs_operand_dims[x][1]]};
        problem->view[x] = hs_view_make(&rows, &cols, desc->i, desc->j, logical[op == 'N' ? 0 : 1],
                                        logical[op == 'N' ? 1 : 0], problem->grid.coord, desc->ld, op);
    }
}

/*
 * Rows and columns of processes that own nothing of A, B and C take no part: what is left is a smaller grid, down to
 * one process where each matrix is one block.  A hierarchy that the caller has given is of the whole grid.
 */
static hsumma_status leave_idle(hsumma_plan *plan, const struct hs_settings *settings)
{
    struct hs_grid *grid = &plan->problem.grid, whole = *grid;
    struct hs_cover cover[2];
    for (int a = 0; a < 2; a++) {
        const struct hs_axis *axis[3];
        for (int x = 0; x < 3; x++)
            axis[x] = &plan->problem.view[x].axis[a];
        cover[a] = hs_cover_make(axis, 3, whole.extent[a]);
    }
    if (settings->levels > 0 || (cover[0].length == whole.extent[0] && cover[1].length == whole.extent[1]))
        return HSUMMA_OK;
    plan->ranks = hs_get(&plan->ctx->memory, (size_t)cover[0].length * (size_t)cover[1].length, sizeof *plan->ranks);
    if (!plan->ranks)
        return HSUMMA_ERR_MEMORY;
    grid->rank = plan->ranks;
    for (int i = 0; i < cover[0].length; i++)
        for (int j = 0; j < cover[1].length; j++)
            plan->ranks[i * cover[1].length + j] = whole.rank[(cover[0].start + i) % whole.extent[0] * whole.extent[1] +
                                                              (cover[1].start + j) % whole.extent[1]];
    for (int a = 0; a < 2; a++) {
        for (int x = 0; cover[a].length < whole.extent[a] && x < 3; x++)
            plan->problem.view[x].axis[a] = hs_cover_axis(&cover[a], &plan->problem.view[x].axis[a]);
        grid->extent[a] = cover[a].length;
        grid->coord[a] = plan->in_grid ? hs_cover_place(&cover[a], whole.extent[a], whole.coord[a]) : -1;
    }
    if (grid->coord[0] < 0 || grid->coord[1] < 0)
        grid->coord[0] = grid->coord[1] = -1;
    plan->member = grid->coord[0] >= 0;
    return HSUMMA_OK;
}

/* BLAS counts in 32 bits: what a process stores of one dimension has to fit. */
static hsumma_status check_blas_limits(const struct hs_problem *problem, struct hs_message *message)
{
    for (int x = 0; x < 3; x++)
        for (int axis = 0; axis < 2; axis++)
            if (hs_axis_count_max(&problem->view[x].axis[axis]) > INT32_MAX)
                return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                               "%c has %" PRId64 " local %s; the BLAS counts to 2147483647", "ABC"[x],
                               hs_axis_count_max(&problem->view[x].axis[axis]), axis ? "columns" : "rows");
    return HSUMMA_OK;
}

/* The local verdict on the leading dimensions. */
static hsumma_status check_local(const hsumma_plan *plan, const int64_t ld[3], struct hs_message *message, int *about)
{
    const int *coord = plan->grid->grid.coord;
    for (int x = 0; x < 3; x++) {
        int64_t least = plan->local_rows[x] > 1 ? plan->local_rows[x] : 1;
        if (ld[x] >= least && ld[x] <= INT32_MAX)
            continue;
        *about = HS_ABOUT_A + x;
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "leading dimension of %c is %" PRId64 " on process (%d,%d); expected %" PRId64 " to 2147483647",
                       "ABC"[x], ld[x], coord[0], coord[1], least);
    }
    return HSUMMA_OK;
}

/* Joins the verdicts; a process whose own was better tells who complained, and about what. */
static hsumma_status explain(hsumma_context *ctx, hsumma_status mine, struct hs_verdict verdict)
{
    static const char *const about[] = {"",
                                        " (A: pointer or leading dimension)",
                                        " (B: pointer or leading dimension)",
                                        " (C: pointer or leading dimension)",
                                        " (alpha or beta is NULL)",
                                        " (workspace)"};
    if (verdict.status && verdict.status != mine)
        hs_fail(&ctx->message, verdict.status, "process %d reports: %s%s", verdict.rank,
                hsumma_status_string(verdict.status), verdict.detail <= HS_ABOUT_MEMORY ? about[verdict.detail] : "");
    return verdict.status;
}

static int threads_of(const hsumma_context *ctx, const struct hs_settings *settings)
{
    return settings->threads >= 0 ? settings->threads : ctx->threads;
}

static struct hs_sharing sharing_of(const hsumma_plan *plan)
{
    const struct hs_node_room *room = &plan->grid->room;
    return (struct hs_sharing){room->memory ? room->bytes : 0, plan->ctx->rooms.readable,
                               plan->ctx->regions.first != NULL};
}

/* The choice: made already, or remembered where nobody has said anything else, or by the model. */
static hsumma_status choose(hsumma_plan *plan, const struct hs_request *request, const struct hs_settings *settings,
                            struct hs_options *options, struct hs_message *message)
{
    hsumma_context *ctx = plan->ctx;
    struct hs_settings recalled;
    const int *extent = plan->grid->grid.extent, processes = extent[0] * extent[1]; /* imagined ones may be more */
    struct hs_planner planner = {.memo = &ctx->memo,
                                 .topology = ctx->comm.topology.size >= processes ? &ctx->comm.topology : NULL,
                                 .own = &ctx->own,
                                 .coll = &ctx->team.selector.coll,
                                 .tuned = &ctx->team.selector.tuned,
                                 .threads = settings->threads > 0 ? settings->threads : ctx->threads_model,
                                 .sharing = sharing_of(plan),
                                 .memory = &ctx->memory};
    if (request->choice) {
        plan->ranking.choice[plan->ranking.count++] = *request->choice;
        return HSUMMA_OK;
    }
    struct hs_options told = *options;
    if (!request->afresh && hs_trial_recall(ctx, request, &told, settings, &recalled)) {
        hsumma_status status = hs_choose(&plan->problem, &recalled, &planner, &plan->ranking, message);
        plan->remembered = status == HSUMMA_OK;
        if (plan->remembered)
            *options = told;
        if (plan->remembered || hs_is_own_failure(status)) /* others may remember */
            return status;
    }
    return hs_choose(&plan->problem, settings, &planner, &plan->ranking, message);
}

/* Everything that this process can do alone; *about says what a failure is about. */
static hsumma_status prepare(hsumma_plan *plan, const struct hs_request *request, const struct hs_settings *settings,
                             struct hs_options *options, struct hs_message *message, int *about)
{
    hsumma_context *ctx = plan->ctx;
    int64_t ld[3] = {request->desc[0]->ld, request->desc[1]->ld, request->desc[2]->ld};
    *about = HS_ABOUT_NOTHING;
    hsumma_status status = check_blas_limits(&plan->problem, message);
    if (status)
        return status;
    status = choose(plan, request, settings, options, message);
    if (!status)
        plan->choice = plan->ranking.choice[0];
    plan->by_node = !status && plan->choice.spec.node != HS_NODE_MESSAGES;
    plan->choice.spec.threads = threads_of(ctx, settings);
    if (status || !plan->in_grid)
        return status;
    for (int x = 0; x < 3; x++) {
        struct hs_axis rows = hs_desc_axis(request->desc[x], 0);
        plan->local_rows[x] = hs_axis_count(&rows, plan->grid->grid.coord[0]);
    }
    status = check_local(plan, ld, message, about);
    if (!status) {
        struct hs_group all = hs_grid_all(&plan->grid->grid);
        *about = HS_ABOUT_MEMORY;
        status = hs_agreement_init(&plan->agreement, &ctx->comm, &all, HS_AGREE_PLAN, &ctx->memory);
    }
    if (!status && plan->grid->room.directory.entry)
        plan->agreement.directory = &plan->grid->room.directory;
    if (!status && plan->by_node) {
        if (plan->member)
            status = hs_node_init(&plan->node, &plan->problem, &plan->choice.spec, &ctx->memory, message);
        return status;
    }
    if (!status && plan->member)
        status = hs_loop_init(&plan->loop, &plan->problem, &plan->choice.spec, &ctx->comm, &ctx->memory, message);
    if (!status && hs_workspace_want(ctx, plan->loop.buffer_bytes))
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for %zu bytes of workspace", plan->loop.buffer_bytes);
    plan->wants = !status;
    return status;
}

int64_t hs_plan_bytes(const hsumma_plan *plan)
{
    const int *extent = plan->problem.grid.extent;
    if (plan->by_node)
        return (int64_t)(plan->node.bytes / (size_t)(extent[0] * extent[1]));
    return (int64_t)(plan->loop.arena_bytes + plan->loop.buffer_bytes);
}

static void hold(hsumma_plan *plan, hsumma_context *ctx, hsumma_grid *grid, int cached)
{
    plan->ctx = ctx;
    plan->grid = grid;
    plan->in_grid = plan->member = grid->grid.coord[0] >= 0;
    plan->cached = cached;
    ctx->holders += !cached;
    grid->holders++;
}

static void print_plan(const hsumma_plan *plan)
{
    const struct hs_problem *problem = &plan->problem;
    fprintf(stderr, "hsumma: m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " %c%c%c grid=%dx%d %s [%s]\n", problem->extent[0],
            problem->extent[1], problem->extent[2], problem->scalar->letter, problem->view[0].op, problem->view[1].op,
            plan->grid->grid.extent[0], plan->grid->grid.extent[1], plan->line, plan->why);
}

/* Communicators for the rows "mpi", which only a spec that names one pays for. */
static hsumma_status connect(hsumma_plan *plan)
{
    hsumma_context *ctx = plan->ctx;
    if (plan->by_node || !hs_native_wanted(&plan->choice.spec))
        return HSUMMA_OK;
    hsumma_status status = plan->member ? hs_loop_connect(&plan->loop) : HSUMMA_OK;
    if (status)
        hs_fail(&ctx->message, status, "no communicators for MPI's own collectives");
    struct hs_verdict verdict = hs_agree(&ctx->agreement, status, HS_ABOUT_NOTHING, 0, 0);
    return explain(ctx, status, verdict);
}

hsumma_status hs_plan_create(hsumma_context *ctx, const struct hs_request *request, int cached, hsumma_plan **result)
{
    struct hs_options options = ctx->options;
    struct hs_settings settings;
    *result = NULL;
    if (ctx->broken)
        return hs_fail(&ctx->message, HSUMMA_ERR_MPI, "MPI has failed before in this context");
    struct hs_message mine = {""};
    hsumma_status status = hs_options_apply(&options, request->options, HS_BY_PLAN, &mine);
    if (!status)
        status = hs_settings_read(&options, &settings, &mine);
    if (!status)
        status = hs_request_check(request, ctx, &mine);
    /* whatever a process has found, it goes on to the agreement: others may have been told something else */
    int about = HS_ABOUT_NOTHING;
    int64_t hash = status ? 0 : hs_request_hash(request, 0);
    hsumma_plan *plan = status ? NULL : hs_get_zero(&ctx->memory, 1, sizeof *plan);
    if (plan) {
        hold(plan, ctx, (hsumma_grid *)request->desc[0]->grid, cached); /* const, but for the count of its holders */
        make_problem(request, &plan->problem);
        status = leave_idle(plan, &settings);
        about = status ? HS_ABOUT_MEMORY : about;
        if (!status)
            status = prepare(plan, request, &settings, &options, &mine, &about);
    } else if (!status) {
        status = HSUMMA_ERR_MEMORY;
        about = HS_ABOUT_MEMORY;
    }
    if (status)
        hs_fail(&ctx->message, status, "%s", mine.text[0] ? mine.text : "no memory for a plan");
    struct hs_verdict verdict = {status, about, ctx->comm.rank, plan ? hs_plan_bytes(plan) : 0, 1};
    if (!request->alone)
        verdict = hs_agree(&ctx->agreement, status, about, verdict.size, hash);
    ctx->broken = verdict.status == HSUMMA_ERR_MPI;
    status = explain(ctx, status, verdict);
    if (!status && !verdict.alike)
        status = hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT,
                         "processes have given different sizes, descriptors, operations or options");
    if (status) {
        hs_plan_destroy(plan);
        return status;
    }
    status = connect(plan);
    if (status) {
        hs_plan_destroy(plan);
        return status;
    }
    plan->workspace_max = verdict.size;
    if (!request->silent)
        hs_plan_describe(plan, &options);
    if (settings.explain && ctx->comm.rank == 0 && !request->choice)
        print_plan(plan);
    if (settings.tune == HS_TUNE_MEASURE && !request->alone && !request->choice && !plan->remembered)
        status = hs_trial_begin(plan, request, &options);
    if (status) {
        hs_plan_destroy(plan);
        return status;
    }
    *result = plan;
    return HSUMMA_OK;
}

void hs_plan_destroy(hsumma_plan *plan)
{
    if (!plan)
        return;
    hsumma_context *ctx = plan->ctx;
    int cached = plan->cached;
    if (ctx->running && (ctx->running == plan || ctx->running->holder == plan))
        hs_plan_wait(plan);
    hs_trial_end(plan);
    if (!ctx->broken) { /* else MPI may still write to its buffers: they are left to the process's end */
        hs_loop_free(&plan->loop, &ctx->memory);
        hs_node_free(&plan->node, &ctx->memory);
        hs_agreement_free(&plan->agreement, &ctx->memory);
    }
    if (plan->wants && !ctx->broken)
        hs_workspace_leave(ctx);
    hs_grid_release(plan->grid);
    if (!ctx->broken) {
        hs_put(&ctx->memory, plan->ranks);
        hs_put(&ctx->memory, plan);
    }
    if (!cached)
        hs_context_release(ctx);
}

/* The first local element of each operand; a NULL where something is owned is this process's complaint. */
static hsumma_status bind(const hsumma_plan *plan, const void *const data[3], const int64_t ld[3],
                          struct hs_matrix matrix[3], int *about)
{
    const struct hs_problem *problem = &plan->problem;
    for (int x = 0; x < 3; x++) {
        const struct hs_view *view = &problem->view[x];
        int64_t rows = hs_axis_count(&view->axis[0], problem->grid.coord[0]);
        int64_t cols = hs_axis_count(&view->axis[1], problem->grid.coord[1]);
        size_t offset = (size_t)(view->origin[0] + view->origin[1] * ld[x]) * problem->scalar->size;
        /* where nothing is owned some address stands, never used: arithmetic on NULL is undefined, even adding 0 */
        matrix[x] = (struct hs_matrix){(char *)plan, ld[x]};
        if (rows == 0 || cols == 0)
            continue;
        if (!data[x]) {
            const char name = "ABC"[x];
            *about = HS_ABOUT_A + x;
            return hs_fail(&plan->ctx->message, HSUMMA_ERR_ARGUMENT,
                           "%c is NULL on process (%d,%d), which owns %" PRId64 " x %" PRId64 " of it", name,
                           problem->grid.coord[0], problem->grid.coord[1], rows, cols);
        }
        matrix[x].base = (char *)data[x] + offset; /* A and B are only read: feed.c */
    }
    return HSUMMA_OK;
}

/* Whether anything can run in the context now. */
static hsumma_status check_free(const hsumma_plan *plan)
{
    hsumma_context *ctx = plan->ctx;
    if (ctx->running)
        return hs_fail(&ctx->message, HSUMMA_ERR_BUSY, "a plan of this context has been started and not waited for");
    if (ctx->broken)
        return hs_fail(&ctx->message, HSUMMA_ERR_MPI, "MPI has failed before in this context");
    return HSUMMA_OK;
}

/* The local verdict on the arguments of an execution. */
static hsumma_status judge(const hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                           const void *beta, struct hs_matrix matrix[3], int *about)
{
    if (!plan->in_grid)
        return HSUMMA_OK;
    hsumma_status status = check_local(plan, ld, &plan->ctx->message, about);
    if (!status && plan->member)
        status = bind(plan, data, ld, matrix, about);
    if (!status && (!alpha || !beta)) {
        *about = HS_ABOUT_SCALARS;
        status = hs_fail(&plan->ctx->message, HSUMMA_ERR_ARGUMENT, "%s is NULL", alpha ? "beta" : "alpha");
    }
    return status;
}

/* Whether what this process has of an operand lies in memory from hsumma_malloc, which others have mapped. */
static struct hs_where where_is(const hsumma_plan *plan, int x, const struct hs_matrix *matrix)
{
    const struct hs_view *view = &plan->problem.view[x];
    const int *coord = plan->problem.grid.coord;
    int64_t rows = hs_axis_count(&view->axis[0], coord[0]), cols = hs_axis_count(&view->axis[1], coord[1]);
    size_t offset, size = plan->problem.scalar->size;
    if (rows == 0 || cols == 0 || !plan->ctx->regions.first)
        return (struct hs_where){-1, 0};
    const struct hs_region *region =
        hs_region_of(&plan->ctx->regions, matrix->base, (size_t)((cols - 1) * matrix->ld + rows) * size, &offset);
    return region ? (struct hs_where){region->number, (int64_t)offset} : (struct hs_where){-1, 0};
}

static void begin(hsumma_plan *plan, const void *alpha, const struct hs_matrix matrix[3], const void *beta)
{
    const hsumma_plan *holder = plan->holder ? plan->holder : plan;
    uint64_t execution = plan->by_node ? hs_node_count(&plan->grid->room, &plan->problem.grid) : 0;
    plan->over = HS_GOING_ON;
    plan->counts = holder->trial.count && !holder->trial.decided &&
                   memcmp(alpha, plan->problem.scalar->zero, plan->problem.scalar->size) != 0;
    if (!plan->member)
        return;
    if (plan->by_node) {
        struct hs_where where[2];
        for (int x = 0; x < 2; x++)
            where[x] = where_is(plan, x, &matrix[x]);
        hs_node_start(&plan->node, &plan->grid->room, execution, alpha, matrix, where, beta, plan->began);
        return;
    }
    plan->workspace = hs_workspace_hold(plan->ctx->workspace);
    hs_loop_start(&plan->loop, alpha, matrix, beta, plan->workspace->base, plan->began, 0,
                  plan->counts ? hs_trial_first_span(plan) : HS_ALL);
}

hsumma_status hs_plan_start(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                            const void *beta)
{
    hsumma_context *ctx = plan->ctx;
    int about = HS_ABOUT_NOTHING;
    hsumma_status status = check_free(plan);
    if (status)
        return status;
    hs_trial_settle(plan);
    plan = hs_trial_turn(plan);
    hsumma_status mine = judge(plan, alpha, data, ld, beta, plan->matrix, &about);
    size_t size = plan->problem.scalar->size;
    memcpy(&plan->alpha, alpha ? alpha : plan->problem.scalar->zero, size);
    memcpy(&plan->beta, beta ? beta : plan->problem.scalar->zero, size);
    plan->began = hs_now();
    ctx->running = plan;
    plan->agreeing = plan->in_grid;
    if (plan->in_grid)
        status = hs_agreement_start(&plan->agreement, mine, about, 0, 0);
    if (status) {
        plan->agreeing = 0;
        ctx->running = NULL;
        ctx->broken = 1;
        return hs_fail(&ctx->message, status, "MPI failed at the start");
    }
    return HSUMMA_OK;
}

hsumma_status hs_plan_run(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                          const void *beta)
{
    int about;
    hsumma_status status = check_free(plan);
    if (!status)
        status = judge(plan, alpha, data, ld, beta, plan->matrix, &about);
    if (status || !plan->in_grid)
        return status;
    plan->began = hs_now();
    begin(plan, alpha, plan->matrix, beta);
    if (!plan->member)
        return HSUMMA_OK;
    plan->ctx->running = plan;
    return hs_plan_wait(plan);
}

/* The end of an execution, good or bad. */
static hsumma_status finish(hsumma_plan *plan, hsumma_status status)
{
    hsumma_context *ctx = plan->ctx;
    ctx->running = NULL;
    plan->agreeing = 0;
    if (status != HSUMMA_ERR_MPI) /* else MPI may still write to it */
        hs_workspace_release(ctx, plan->workspace);
    plan->workspace = NULL;
    if (!status)
        return HSUMMA_OK;
    struct hs_verdict verdict = hs_agreement_verdict(&plan->agreement);
    ctx->broken |= status == HSUMMA_ERR_MPI || status == HSUMMA_ERR_INTERNAL;
    if (verdict.status != status)
        return hs_fail(&ctx->message, status, "the multiplication ended early: %s; C is undefined",
                       hsumma_status_string(status));
    if (verdict.rank != ctx->comm.rank)
        explain(ctx, HSUMMA_OK, verdict);
    return status;
}

/* The agreement, then the loop. */
static hsumma_status go_on(hsumma_plan *plan, int *worked, int *done)
{
    hsumma_status status = HSUMMA_OK;
    if (plan->agreeing) {
        int met = 0;
        status = hs_agreement_advance(&plan->agreement, worked, &met);
        if (!status && !met) {
            *done = 0;
            return HSUMMA_OK;
        }
        plan->agreeing = 0;
        if (!status)
            status = hs_agreement_verdict(&plan->agreement).status;
        if (status)
            return status;
        begin(plan, &plan->alpha, plan->matrix, &plan->beta);
    }
    hsumma_plan *holder = plan->holder ? plan->holder : plan;
    *done = 1;
    if (plan->over == HS_OVER)
        return HSUMMA_OK;
    if (plan->counts && holder->trial.stepping) {
        status = hs_trial_share(holder, worked, done);
    } else {
        if (plan->member && plan->over == HS_GOING_ON)
            status =
                plan->by_node ? hs_node_advance(&plan->node, worked, done) : hs_loop_advance(&plan->loop, worked, done);
        if (!status && *done && plan->counts && plan->in_grid) {
            plan->over = HS_MULTIPLIED;
            status = hs_trial_advance(holder, hs_now() - plan->began, worked, done);
        }
    }
    plan->over = *done ? HS_OVER : plan->over;
    return status;
}

/* An error is told once: what hs_plan_drive has been told is kept for whoever waits. */
static hsumma_status advance(void *state, int *worked, int *done)
{
    hsumma_plan *plan = state;
    hsumma_status status = plan->driven;
    *done = 1;
    plan->driven = HSUMMA_OK;
    return status ? status : go_on(plan, worked, done);
}

/*
 * Where memory is shared this process sleeps until others have done what it waits for; but they may wait for MPI to
 * deliver what it has sent them before, so MPI is looked at, too.
 */
static void idle(void *state, int times)
{
    enum { POLLS = 64, BETWEEN = 16 };
    hsumma_plan *plan = state;
    struct hs_directory *directory = &plan->grid->room.directory;
    int found;
    if (directory->entry && ((plan->by_node && plan->over == HS_GOING_ON) || plan->agreeing)) {
        if (hs_directory_sleeps(directory, times) || (times > POLLS && times % BETWEEN == 0))
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, plan->ctx->comm.comm, &found, MPI_STATUS_IGNORE);
        hs_directory_idle(directory, times);
    } else if (times > POLLS) {
        sched_yield();
    }
}

/* What runs for the plan that the caller holds, itself or a rival; NULL: nothing. */
static hsumma_plan *plan_under_way(hsumma_plan *plan)
{
    hsumma_plan *running = plan->ctx->running;
    return running == plan || (running && running->holder == plan) ? running : NULL;
}

hsumma_status hs_plan_wait(hsumma_plan *plan)
{
    plan = plan_under_way(plan);
    if (!plan)
        return HSUMMA_OK;
    return finish(plan, hs_wait_idle(advance, plan, idle, plan));
}

void hs_plan_drive(hsumma_plan *plan, int *worked)
{
    int done = 0;
    if (!plan->driven)
        plan->driven = advance(plan, worked, &done);
}

hsumma_status hs_plan_test(hsumma_plan *plan, int *done)
{
    int worked = 0;
    *done = 1;
    plan = plan_under_way(plan);
    if (!plan)
        return HSUMMA_OK;
    hsumma_status status = advance(plan, &worked, done);
    return status || *done ? finish(plan, status) : HSUMMA_OK;
}
