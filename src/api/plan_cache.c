#include "api/plan_cache.h"

#include <string.h>

enum { PLANS = 8 };

/* The global arguments, which all processes agree on; desc[].ld is not compared. */
struct key {
    hsumma_type type;
    char op[2];
    int64_t extent[3];
    hsumma_desc desc[3];
};

struct hs_plan_cache {
    struct slot {
        struct key key;
        hsumma_plan *plan; /* NULL if the slot is free */
        int64_t used;
    } slot[PLANS];
    int64_t clock;
};

struct hs_plan_cache *hs_plan_cache_new(const struct hs_allocator *memory)
{
    return hs_get_zero(memory, 1, sizeof(struct hs_plan_cache));
}

void hs_plan_cache_free(hsumma_context *ctx, struct hs_plan_cache *cache)
{
    for (int i = 0; cache && i < PLANS; i++)
        hs_plan_destroy(cache->slot[i].plan);
    hs_put(&ctx->memory, cache);
}

static int same_desc(const hsumma_desc *x, const hsumma_desc *y)
{
    return x->grid == y->grid && x->m == y->m && x->n == y->n && x->mb == y->mb && x->nb == y->nb && x->imb == y->imb &&
           x->inb == y->inb && x->rsrc == y->rsrc && x->csrc == y->csrc && x->i == y->i && x->j == y->j;
}

static int same(const struct key *x, const struct key *y)
{
    if (x->type != y->type || memcmp(x->op, y->op, sizeof x->op) || memcmp(x->extent, y->extent, sizeof x->extent))
        return 0;
    for (int i = 0; i < 3; i++)
        if (!same_desc(&x->desc[i], &y->desc[i]))
            return 0;
    return 1;
}

hsumma_status hs_plan_cached(hsumma_context *ctx, const struct hs_request *request, hsumma_plan **plan)
{
    struct hs_plan_cache *cache = ctx->cache;
    struct key key = {.type = request->type, .op = {request->op[0], request->op[1]}};
    *plan = NULL;
    memcpy(key.extent, request->extent, sizeof key.extent);
    for (int x = 0; x < 3; x++) {
        if (!request->desc[x])
            return hs_plan_create(ctx, request, 1, plan); /* reports the error, the same on all processes */
        key.desc[x] = *request->desc[x];
    }
    struct slot *oldest = &cache->slot[0];
    for (int i = 0; i < PLANS; i++) {
        struct slot *slot = &cache->slot[i];
        if (slot->plan && same(&slot->key, &key)) {
            slot->used = ++cache->clock;
            *plan = slot->plan;
            return HSUMMA_OK;
        }
        if (slot->used < oldest->used)
            oldest = slot;
    }
    struct hs_message none;
    if (hs_request_check(request, ctx, &none))
        return hs_plan_create(ctx, request, 1, plan); /* reports the error; evicts no plan */
    hs_plan_destroy(oldest->plan);                    /* first, so that a call never holds the workspace of two plans */
    oldest->plan = NULL;
    oldest->used = 0;
    hsumma_status status = hs_plan_create(ctx, request, 1, &oldest->plan);
    if (status)
        return status;
    oldest->key = key;
    oldest->used = ++cache->clock;
    *plan = oldest->plan;
    return HSUMMA_OK;
}
