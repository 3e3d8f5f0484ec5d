#include "hsumma/guard/total.h"

#include "base/operators.h"
#include "hsumma/plan/plan.h"

hsumma_status hs_total_make(struct hs_total *total, const hsumma_plan *plan, int64_t elements, size_t planes)
{
    const struct hs_allocator *memory = &plan->ctx->memory;
    const struct hs_group group = hs_grid_all(&plan->grid->grid);
    total->elements = elements;
    total->bytes = elements * (int64_t)(planes * sizeof(double));
    struct hs_shape shape = {
        .rank = group.me, .size = group.size, .bytes = total->bytes, .unit = sizeof(double), .segment = 0};
    hsumma_status status = hs_build(hs_alg_find(HS_ALLREDUCE, "rabenseifner_traff"), &shape, memory, &total->list);
    if (status)
        return status;
    total->in = hs_get_zero(memory, (size_t)elements + 1, planes * sizeof(double));
    total->out = hs_get_zero(memory, (size_t)elements + 1, planes * sizeof(double));
    total->scratch = hs_get(memory, 1, (size_t)total->list.extent[HS_SCRATCH] + 1);
    total->work = hs_get(memory, 1, hs_instance_bytes(total->list.steps));
    if (!total->in || !total->out || !total->scratch || !total->work)
        return HSUMMA_ERR_MEMORY;
    hs_instance_init(&total->instance, total->work, total->list.steps);
    return HSUMMA_OK;
}

void hs_total_free(const struct hs_allocator *memory, struct hs_total *total)
{
    hs_list_free(memory, &total->list);
    hs_put(memory, total->in);
    hs_put(memory, total->out);
    hs_put(memory, total->scratch);
    hs_put(memory, total->work);
}

hsumma_status hs_total_start(struct hs_total *total, hsumma_plan *plan)
{
    const struct hs_binding binding = {
        .list = &total->list,
        .group = hs_grid_all(&plan->grid->grid),
        .tag = hs_tag(HS_CHANNEL_AGREE, HS_GUARD),
        .checked = plan->ctx->comm.checks_messages,
        .slot = {[HS_IN] = total->in, [HS_OUT] = total->out, [HS_SCRATCH] = total->scratch},
        .combine = hs_sum_double,
        .unit = sizeof(double),
        .compute = plan->problem.scalar->compute};
    return hs_start(&total->instance, &plan->ctx->comm, &binding);
}
