/* Counts the bytes that must enter each node, and times the local GEMMs. */
#include "gemm/link.h"

#include <stdlib.h>
#include <string.h>

#include "hsumma/plan/plan.h"
#include "summa/entering.h"

static hsumma_status count_bytes(gemm_link *link, const problem *p, const hsumma_plan *plan)
{
    const struct hs_division *node = &p->ctx->comm.topology.division[HS_NODE];
    hsumma_status status;

    link->bytes = calloc((size_t)node->parts, sizeof *link->bytes);
    if (!link->bytes)
        return HSUMMA_ERR_MEMORY;
    status = hs_entering_bytes(&plan->problem, plan->choice.spec.stationary, node, &hs_heap, link->bytes);
    for (int i = 0; i < node->parts; i++)
        link->most = link->bytes[i] > link->most ? link->bytes[i] : link->most;
    return status;
}

int gemm_link_create(gemm_link *link, problem *p, hsumma_plan *plan, double rate)
{
    hsumma_plan *own = NULL;
    hsumma_plan_info info;
    hsumma_status status;
    char text[400] = "";
    int code;

    memset(link, 0, sizeof *link);
    if (rate == 0)
        return COMMAND_OK;
    link->rate = rate;
    if (!plan && (code = problem_plan(p, NULL, &own, &info, text, sizeof text))) {
        command_fail(p->comm, text[0], "--link: %s", text);
        return code;
    }
    if (command_fail(p->comm, (plan ? plan : own)->sections != NULL,
                     "--link: not supported with guard=panels; expected guard=product or off")) {
        hsumma_plan_free(&own);
        return COMMAND_BAD_INPUT;
    }
    status = count_bytes(link, p, plan ? plan : own);
    hsumma_plan_free(&own);
    if (command_fail(p->comm, status != HSUMMA_OK, "--link: %s", hsumma_status_string(status)))
        return COMMAND_INTERNAL;
    if ((code = gemm_rate_create(&link->alone, p, 0, RATE_ALL)))
        return code;
    gemm_rate_run(&link->alone, p, 1);
    return COMMAND_OK;
}

void gemm_link_free(gemm_link *link)
{
    gemm_rate_free(&link->alone);
    free(link->bytes);
    memset(link, 0, sizeof *link);
}

double gemm_link_seconds(const gemm_link *link)
{
    return link->rate > 0 ? 8 * (double)link->most / link->rate : 0;
}

double gemm_link_turn(gemm_link *link, const problem *p, int calls)
{
    return link->rate > 0 ? gemm_link_seconds(link) + gemm_rate_run(&link->alone, p, calls) : 0;
}
