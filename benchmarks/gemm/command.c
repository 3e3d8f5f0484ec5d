/* hsumma gemm: one product, timed in turns with the local GEMM and other contenders, and checked. */
#include "gemm/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "doctor/doctor.h"

/* The info of a contender whose plan is unknown, or has not been queried yet. */
static const hsumma_plan_info unknown = {.predicted_seconds = NAN,
                                         .predicted_comm_seconds = NAN,
                                         .predicted_gemm_seconds = NAN,
                                         .predicted_copy_seconds = NAN};

/* Records the peak memory so far in x. Collective. */
static void read_memory(const problem *p, contender *x)
{
    int64_t most[3] = {peak_rss(), peak_rss() - problem_bytes(p), problem_bytes(p)}, all[3];

    quiet_allreduce(most, all, 3, MPI_INT64_T, MPI_MAX, p->comm);
    x->peak_rss = all[0];
    x->peak_above = all[1];
    x->matrices = all[2];
}

/* Adds a contender and allocates what it needs. Collective. */
static int add_contender(contest *r, const char *name, api how, const problem *p)
{
    size_t first = (size_t)r->count * (size_t)r->args->common.reps;
    int code = COMMAND_OK;

    if (how >= API_PDGEMM && !r->blacs.made)
        code = pblas_create(&r->blacs, &r->p);
    if (how == API_PLAN && !r->plan) {
        code = problem_plan(&r->p, NULL, &r->plan, &r->info, r->text, sizeof r->text);
        command_fail(r->p.comm, code && r->text[0], "%s", r->text);
    }
    r->contenders[r->count++] = (contender){.name = name,
                                            .api = api_names[how],
                                            .who = {how, r->plan, &r->blacs, p->c.local},
                                            .p = p,
                                            .turns = r->turns + first,
                                            .times = r->times + first,
                                            .info = unknown,
                                            .sent = {-1, -1, -1},
                                            .peak_rss = -1,
                                            .peak_above = -1,
                                            .matrices = -1,
                                            .bounds = bounds_unknown};
    return code;
}

/* Adds the contender with all matrices in memory of hsumma_malloc, which is device memory if there is a device. If the
 * matrices cannot be made, this is an error only if --compare asked for the contender. */
static int add_resident(contest *r)
{
    int asked = (r->args->compare & 1 << COMPARE_SHARED) != 0,
        code = problem_share(&r->shared, &r->p, SHARE_ALL, !asked);

    if (code)
        problem_unshare(&r->shared);
    if (code)
        return asked ? code : COMMAND_OK;
    r->resident = r->count;
    return add_contender(r, problem_on_device(&r->p) ? "resident" : "shared", r->args->how, &r->shared);
}

static int add_alone(contest *r)
{
    int code = gemm_alone_create(&r->alone, &r->p, r->options);

    if (!code)
        code = add_contender(r, compared_names[COMPARE_DEVICE], API_PLAN, &r->p);
    r->contenders[r->count - 1].alone = !code;
    return code;
}

/* Adds a plan with one more option. */
static int add_with(contest *r, compared i, const char *option)
{
    hsumma_plan_info info;
    int code = problem_plan(&r->p, option, &r->with[i], &info, r->text, sizeof r->text);

    if (command_fail(r->p.comm, code, "--compare %s: %s", compared_names[i], r->text))
        return code;
    code = add_contender(r, compared_names[i], API_PLAN, r->measured);
    r->contenders[r->count - 1].who.plan = r->with[i];
    return code;
}

static int add_compared(contest *r, compared i)
{
    static const api how[COMPARE_COUNT] = {
        [COMPARE_PLAN] = API_PLAN,
        [COMPARE_CALL] = API_CALL,
        [COMPARE_PDGEMM] = API_PDGEMM,
        [COMPARE_SCALAPACK] = API_SCALAPACK,
    };
    static const char *const option[COMPARE_COUNT] = {
        [COMPARE_GUARDED] = "guard=product",
        [COMPARE_ANYWHERE] = "bits=anywhere",
    };

    if (option[i])
        return add_with(r, i, option[i]);
    if (i == COMPARE_SHARED)
        return add_resident(r);
    if (i == COMPARE_DEVICE)
        return add_alone(r);
    return add_contender(r, compared_names[i], how[i], how[i] >= API_PDGEMM ? &r->p : r->measured);
}

static int take_turn(contest *r, const contender *x, int calls, turn *t)
{
    return x->alone ? gemm_alone_turn(&r->alone, &r->p, calls, t) : execute_turn(x->p, &x->who, calls, t);
}

static int first_turn(contest *r)
{
    contender *x = &r->contenders[r->count - 1];
    turn t;

    if (is_simulated()) /* there is nothing to warm up, and one process holds the memory of all ranks */
        return COMMAND_OK;

    int code = take_turn(r, x, r->args->calls, &t);

    if (!code)
        read_memory(&r->p, x);
    return code;
}

/* Places A, B and C as --memory says. If there is a device but not all of them lie in its memory, prepares the lower
 * bound (floor.h). */
static int place(contest *r)
{
    const gemm_arguments *args = r->args;
    static const int which[MEMORY_COUNT] = {[MEMORY_DEVICE] = SHARE_ALL, [MEMORY_MIXED] = SHARE_A | SHARE_C};
    int device = problem_on_device(&r->p), code = COMMAND_OK;
    gemm_memory memory = args->memory ? args->memory : device ? MEMORY_DEVICE : MEMORY_HOST;

    if (command_fail(r->p.comm, !device && (memory != MEMORY_HOST || (args->compare & 1 << COMPARE_DEVICE)),
                     "--%s %s: the context has no device; give --device, e.g. --device cuda",
                     memory != MEMORY_HOST ? "memory" : "compare",
                     memory != MEMORY_HOST ? memory_names[memory] : compared_names[COMPARE_DEVICE]) ||
        command_fail(r->p.comm, args->how >= API_PDGEMM && memory != MEMORY_HOST,
                     "--api %s with a device: expected matrices in host memory; give --memory host",
                     api_names[args->how]))
        return COMMAND_BAD_INPUT;
    r->measured = which[memory] ? &r->placed : &r->p;
    r->floored = device && memory != MEMORY_DEVICE;
    if (which[memory])
        code = problem_share(&r->placed, &r->p, which[memory], 0);
    return code || !r->floored ? code : gemm_floor_create(&r->floor, r->measured, args->common.reps);
}

/* Adds the contenders and warms them up, the measured routine first, so that its peak memory includes no other's; then
 * prepares the GEMM rate and the link. */
static int warm_up(contest *r)
{
    const gemm_arguments *args = r->args;
    int code = place(r);

    if (!code && command_fail(r->p.comm, args->link > 0 && (problem_on_device(&r->p) || is_simulated()),
                              "--link: not allowed with a device or in the simulator; omit it"))
        code = COMMAND_BAD_INPUT;
    if (!code)
        code = add_contender(r, args->how == API_SCALAPACK ? "scalapack" : "hsumma", args->how, r->measured);
    if (!code)
        code = first_turn(r);
    for (int i = 0; i < COMPARE_COUNT && !code; i++) {
        int before = r->count;

        if ((args->compare & 1 << i) || (i == COMPARE_SHARED && r->floored))
            code = add_compared(r, (compared)i);
        if (!code && r->count > before)
            code = first_turn(r);
    }
    if (code || problem_on_device(&r->p) || is_simulated())
        return code;
    if ((code = gemm_rate_create(&r->rate, &r->p, args->gemm_threads, args->gemm_local ? RATE_LOCAL : RATE_NODE)))
        return code;
    gemm_rate_run(&r->rate, &r->p, args->calls);
    return gemm_link_create(&r->link, &r->p, r->plan, args->link);
}

/* Finishes a contender after its last turn. If C accumulated over several calls, one more call gives a C to check. */
static int finish_contender(contest *r, contender *x)
{
    const gemm_arguments *args = r->args;
    const double *beta = args->common.beta;
    hsumma_status status;
    turn t;
    int code;
    void *c;

    if (x->who.how == API_PLAN && !x->alone) {
        hsumma_plan_query(r->plan, &r->info);
        x->node = r->info.node;
        x->chunk = r->info.chunk;
        x->sent = plan_sent_of(&r->p, &r->info);
    }
    if (args->calls > 1 && (beta[0] != 0 || beta[1] != 0) && (code = take_turn(r, x, 1, &t)))
        return code;
    if (x->alone)
        return gemm_alone_check(&r->alone, &r->p, args->common.check, &x->check);
    if (is_timed_only(r->p.ctx)) {
        x->check = (check_outcome){.passed = 1, .residual = NAN, .row_error = NAN};
        return COMMAND_OK;
    }
    status = problem_fetch(x->p, x->who.c, &c);
    if (command_fail(r->p.comm, status != HSUMMA_OK, "%s", hsumma_message(r->p.ctx)))
        return COMMAND_INTERNAL;
    if (args->plant && x == r->contenders)
        check_plant(x->p, c, args->plant_value, args->plant_row, args->plant_col);
    return check_product(x->p, c, args->common.check, &x->check);
}

static int measure(contest *r)
{
    int code, reps = r->args->common.reps, calls = r->args->calls;
    char phase[40];

    for (int round = 0; round < reps; round++) {
        for (int i = 0; i < r->count; i++) {
            contender *x = &r->contenders[i];

            snprintf(phase, sizeof phase, "round %d of %d", round + 1, reps);
            progress_update(&r->bar, phase, (round + (double)i / r->count) / reps);
            if ((code = take_turn(r, x, calls, &x->turns[round])))
                return code;
            x->times[round] = x->turns[round].seconds;
            if (round == reps - 1 && (code = finish_contender(r, x)))
                return code;
        }
        if (r->floored && (code = gemm_floor_turn(&r->floor, r->measured)))
            return code;
        r->rate_times[round] = gemm_rate_run(&r->rate, &r->p, calls);
        r->least[round] = gemm_link_turn(&r->link, &r->p, calls);
    }
    return COMMAND_OK;
}

/* Fills in the plan. If an API hides its plans, a plan with the same arguments stands for them. It is made only now, so
 * that its memory and time are in no measurement. */
static void fill_plan(contest *r, contender *x)
{
    if (!r->plan && !r->text[0] && problem_plan(&r->p, NULL, &r->plan, &r->info, r->text, sizeof r->text)) {
        memmove(r->text + 6, r->text, sizeof r->text - 7);
        memcpy(r->text, "none: ", 6);
    }
    x->plan = r->text;
    if (!r->plan)
        return;
    hsumma_plan_query(r->plan, &r->info);
    x->info = r->info;
    x->plan = r->info.line;
}

/* The turn with the median time (the shorter of two middle ones): its parts add up, unlike the medians of each part. */
static turn typical(const contender *x, int reps)
{
    double middle = spread_of(x->times, reps).median;
    int at = 0;

    for (int i = 1; i < reps; i++)
        if (x->times[i] <= middle && (x->times[at] > middle || x->times[i] > x->times[at]))
            at = i;
    return x->turns[at];
}

/* The fraction of the GEMM rate that the contender reaches, for equal numbers of operations; on a device, of the rate
 * of one process alone, or NaN if that was not measured. */
static spread fraction_of(const contest *r, const contender *x, int reps)
{
    double scale = r->rate.flops > 0 ? problem_flops(&r->p) / r->rate.flops / r->rate.copies : 0;

    for (int i = 0; i < r->count; i++)
        if (r->contenders[i].alone)
            return spread_of_ratio(r->contenders[i].times, x->times, reps);
    if (problem_on_device(&r->p))
        return spread_of(NULL, 0);
    spread all = spread_of_ratio(r->rate_times, x->times, reps);
    return (spread){.median = all.median * scale, .min = all.min * scale, .max = all.max * scale};
}

static void fill(contest *r, contender *x)
{
    int reps = r->args->common.reps;

    x->plan = r->blacs.how;
    if (x->alone)
        x->plan = "the whole product by one process";
    else if (x->who.how != API_SCALAPACK)
        fill_plan(r, x);
    x->seconds = spread_of(x->times, reps);
    x->gflops = x->seconds.median > 0 ? problem_flops(&r->p) / x->seconds.median * 1e-9 : 0;
    x->ratio = spread_of_ratio(x->times, r->contenders[0].times, reps);
    x->fraction = fraction_of(r, x, reps);
    x->of_link = spread_of_ratio(x->times, r->least, r->link.rate > 0 ? reps : 0);
    x->typical = typical(x, reps);
    x->row_error = x->check.strict ? x->check.row_error : NAN;
}

/* Allocates the results of all rounds: of every contender, the GEMM rate and the link. */
static int make_room(contest *r, MPI_Comm comm)
{
    size_t reps = (size_t)r->args->common.reps;

    r->turns = calloc(reps * CONTENDERS, sizeof *r->turns);
    r->times = calloc(reps * (CONTENDERS + 2), sizeof *r->times);
    r->rate_times = r->times ? r->times + reps * CONTENDERS : NULL;
    r->least = r->times ? r->rate_times + reps : NULL;
    return command_fail(comm, !r->turns || !r->times, "no memory for the times of --reps %zu; give a smaller number",
                        reps);
}

static int carry_out(contest *r, MPI_Comm comm)
{
    int code, rank, reps = r->args->common.reps, bad = 0;

    if (make_room(r, comm))
        return COMMAND_INTERNAL;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        progress_begin(&r->bar, 0, r->args->common.quiet);
    progress_update(&r->bar, "filling A, B and C", 0);
    if (!(code = problem_create(&r->p, &r->args->common, r->options, comm))) {
        progress_update(&r->bar, "warm-up", 0);
        code = warm_up(r);
    }
    if (!code)
        code = measure(r);
    progress_end(&r->bar);
    if (code)
        return code;
    if (is_simulated() && (code = gemm_sample(r)))
        return code;
    if (!is_simulated())
        doctor_warn(comm, r->p.ctx, r->warning, sizeof r->warning);
    for (int i = 0; i < r->count; i++)
        fill(r, &r->contenders[i]);
    if ((code = gemm_bounds(r)))
        return code;
    r->rate_seconds = spread_of(r->rate_times, reps);
    if (r->resident)
        r->under = gemm_floor_judge(&r->floor, r->contenders[0].times, r->contenders[r->resident].times);
    if (r->p.rank == 0)
        bad = !report_gemm(r, stdout);
    if (command_fail(comm, bad, "the report could not be written"))
        return COMMAND_INTERNAL;
    for (int i = 0; i < r->count; i++)
        bad |= !r->contenders[i].check.passed;
    return command_trace(comm, r->p.ctx, bad ? COMMAND_INTERNAL : COMMAND_OK);
}

int gemm_run(const void *args, const char *options, MPI_Comm comm)
{
    contest r = {.args = args, .options = options, .p.mach.node = MPI_COMM_NULL};
    int code = carry_out(&r, comm);

    gemm_rate_free(&r.rate);
    gemm_link_free(&r.link);
    pblas_free(&r.blacs);
    hsumma_plan_free(&r.plan);
    for (int i = 0; i < COMPARE_COUNT; i++)
        hsumma_plan_free(&r.with[i]);
    gemm_alone_free(&r.alone);
    gemm_floor_free(&r.floor, &r.p);
    problem_unshare(&r.shared);
    problem_unshare(&r.placed);
    problem_free(&r.p);
    free(r.turns);
    free(r.times);
    return code;
}
