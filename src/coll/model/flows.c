#include "coll/model/flows.h"

/* Adds the flows of one rank; sum: room for one number per rank, all 0, as they are again afterwards. */
static hsumma_status add_rank(const struct hs_list *list, int rank, int64_t *sum, const struct hs_allocator *memory,
                              void **flow, size_t *capacity, int *count)
{
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; i < list->steps; i++)
        if (list->step[i].kind == HS_SEND)
            sum[list->step[i].peer] += list->step[i].count;
    for (int i = 0; i < list->steps; i++) {
        const struct hs_step *step = &list->step[i];
        if (step->kind != HS_SEND || sum[step->peer] == 0)
            continue;
        if (!status && hs_grow(memory, flow, sizeof(struct hs_rank_flow), capacity, (size_t)*count + 1))
            status = HSUMMA_ERR_MEMORY;
        if (!status)
            ((struct hs_rank_flow *)*flow)[(*count)++] = (struct hs_rank_flow){rank, step->peer, sum[step->peer]};
        sum[step->peer] = 0;
    }
    return status;
}

hsumma_status hs_flows(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                       struct hs_rank_flow **flow, int *count)
{
    struct hs_shape here = *shape;
    void *all = NULL;
    size_t capacity = 0;
    int64_t *sum = hs_get_zero(memory, (size_t)shape->size, sizeof *sum);
    hsumma_status status = sum ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    *count = 0;
    for (here.rank = 0; !status && here.rank < shape->size; here.rank++) {
        struct hs_list list;
        status = hs_build(alg, &here, memory, &list);
        if (status)
            break;
        status = add_rank(&list, here.rank, sum, memory, &all, &capacity, count);
        hs_list_free(memory, &list);
    }
    hs_put(memory, sum);
    if (status) {
        hs_put(memory, all);
        all = NULL;
    }
    *flow = all;
    return status;
}
