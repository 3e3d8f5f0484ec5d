/* A product in the simulator: the bytes that its links carried, and the extrapolation from a part to the whole. */
#include "gemm/command.h"

#include <stdio.h>

#include "common/command.h"

/* With steps=N the measured turn ran N outer panels. Runs the product with half as many; the difference gives the time
 * of one panel, and thus of all. */
int gemm_sample(contest *r)
{
    contender *x = &r->contenders[0];
    int code = COMMAND_OK, most[2], half;
    hsumma_plan *plan = NULL;
    hsumma_plan_info info;
    gemm_contender who = x->who;
    char options[32], text[400];
    turn t;

    quiet_allreduce((int[]){r->info.steps, r->info.steps_run}, most, 2, MPI_INT, MPI_MAX, r->p.comm);
    r->sampled = (gemm_sampled){.steps = most[1], .steps_total = most[0]};
    half = most[1] / 2;
    if (most[1] == most[0])
        return COMMAND_OK;
    if (command_fail(r->p.comm, half == 0,
                     "--steps 1: expected at least 2, since the time of a step is the difference of two runs"))
        return COMMAND_BAD_INPUT;
    snprintf(options, sizeof options, "steps=%d", half);
    code = problem_plan(&r->p, options, &plan, &info, text, sizeof text);
    if (command_fail(r->p.comm, code && text[0], "%s", text) || code)
        return code;
    who.plan = plan;
    code = execute_turn(&r->p, &who, 1, &t);
    hsumma_plan_free(&plan);
    if (!code) {
        double left = (most[0] - most[1]) / (double)(most[1] - half);

        r->sampled.half_steps = half;
        r->sampled.half = t.seconds;
        r->sampled.seconds = x->turns[0].seconds + left * (x->turns[0].seconds - t.seconds);
        r->sampled.comm = x->turns[0].comm + left * (x->turns[0].comm - t.comm);
    }
    return code;
}

static const report_column part[] = {{"half_steps", REPORT_VALUE(gemm_sampled, half_steps)},
                                     {"half_s", REPORT_VALUE(gemm_sampled, half)},
                                     {"extrapolated_s", REPORT_VALUE(gemm_sampled, seconds)},
                                     {"extrapolated_comm_s", REPORT_VALUE(gemm_sampled, comm)},
                                     REPORT_END};

void report_simulated_json(const contest *run, json_t *object)
{
    const struct hs_simulated_links *links = &run->contenders[0].turns[0].links;
    json_t *simulated;

    if (!is_simulated())
        return;
    simulated = json_pack("{s:s,s:b,s:i,s:i,s:f}", "simulator", hs_simulator()->name, "data",
                          !is_timed_only(run->p.ctx), "steps", run->sampled.steps, "steps_total",
                          run->sampled.steps_total, "lower_bound_bytes", run->info.lower_bound_bytes);
    if (run->sampled.half_steps)
        report_add(simulated, part, &run->sampled, REPORT_ALL);
    if (links->name[0])
        json_object_update_new(simulated,
                               json_pack("{s:s,s:f,s:f,s:I}", "busiest_link", links->name, "busiest_link_bytes",
                                         links->busiest_bytes, "busiest_link_bandwidth", links->busiest_bandwidth,
                                         "links_bytes", (json_int_t)links->bytes));
    json_object_set_new(object, "simulated", simulated);
}

void report_simulated(const contest *run, FILE *file)
{
    const struct hs_simulated_links *links = &run->contenders[0].turns[0].links;
    const gemm_sampled *sampled = &run->sampled;

    if (!is_simulated())
        return;
    fprintf(file, "simulated  by %s, %s\n", hs_simulator()->name,
            is_timed_only(run->p.ctx) ? "without data (compute=time)" : "with data");
    if (sampled->half_steps)
        fprintf(file,
                "sampled    %d of %d outer panels in %.6f s, %d in %.6f s; extrapolated to all: %.6f s, of which "
                "communication %.6f s\n",
                sampled->steps, sampled->steps_total, run->contenders[0].turns[0].seconds, sampled->half_steps,
                sampled->half, sampled->seconds, sampled->comm);
    if (links->name[0])
        fprintf(file, "links      busiest: %s, %.0f bytes at %.6g bytes/s\n", links->name, links->busiest_bytes,
                links->busiest_bandwidth);
}
