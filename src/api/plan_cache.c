#include "api/plan_cache.h"

#include "base/hash.h"

#include <string.h>

/*
 * A plan over messages or in layers has lists and buffers, a plan inside one node hardly any memory, so the cache keeps
 * more of these: a factorisation of a matrix of 64 blocks has as many different products, and is often repeated.
 * WEIGHT: the number of plans inside a node that count as much as another plan.
 */
enum { PLANS = 64, WEIGHT = 8 };

/* The global arguments, which all processes agree on; desc[].ld is not compared. */
struct key {
    hsumma_type type;
    char op[2];
    int64_t extent[3];
    hsumma_desc desc[3];
};

struct hs_plan_cache {
    uint64_t tag[PLANS]; /* tag_of(slot[].key), so that a search reads little memory */
    struct slot {
        struct key key;
        hsumma_plan *plan; /* NULL if the slot is free */
        int64_t used;
    } slot[PLANS];
    int64_t clock;
    int weight; /* of all plans: at most PLANS */
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

/* A number that differs for most different products of a program. */
static uint64_t tag_of(const struct key *key)
{
    uint64_t tag = (uint64_t)key->type;
    for (int x = 0; x < 3; x++)
        tag = hs_mix(hs_mix(tag, (uint64_t)key->extent[x]),
                     (uint64_t)key->desc[x].i ^ (uint64_t)key->desc[x].j << 32 ^ (uint64_t)key->desc[x].m << 16);
    return tag;
}

static int weight_of(const hsumma_plan *plan)
{
    const int sections = plan->sections ? plan->sections->count : 1;
    /* a plan in layers has memory of its own for its parts of A, B and C */
    const int one = plan->by_node ? 1 : plan->layered ? PLANS / 4 : WEIGHT;
    return (int)hs_min(sections * one, PLANS);
}

static void evict(struct hs_plan_cache *cache, struct slot *slot)
{
    cache->weight -= slot->plan ? weight_of(slot->plan) : 0;
    hs_plan_destroy(slot->plan);
    slot->plan = NULL;
    slot->used = 0;
    cache->tag[slot - cache->slot] = 0;
}

/* The plan that was last used before all others, or a free slot. */
static struct slot *oldest(struct hs_plan_cache *cache, int free_too)
{
    struct slot *found = NULL;
    for (int i = 0; i < PLANS; i++)
        if ((cache->slot[i].plan || free_too) && (!found || cache->slot[i].used < found->used))
            found = &cache->slot[i];
    return found;
}

static struct slot *find(struct hs_plan_cache *cache, const struct key *key, uint64_t tag)
{
    for (int i = 0; i < PLANS; i++)
        if (cache->tag[i] == tag && cache->slot[i].plan && same(&cache->slot[i].key, key))
            return &cache->slot[i];
    return NULL;
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
    const uint64_t tag = tag_of(&key);
    struct slot *slot = find(cache, &key, tag);
    if (slot) {
        slot->used = ++cache->clock;
        *plan = slot->plan;
        return HSUMMA_OK;
    }
    struct hs_message none;
    if (hs_request_check(request, ctx, &none))
        return hs_plan_create(ctx, request, 1, plan); /* reports the error; evicts no plan */
    struct hs_request accepted = *request;
    accepted.for_cache = 1;
    slot = oldest(cache, 1);
    evict(cache, slot); /* first, so that a call with a full cache never holds the workspace of two plans */
    hsumma_status status = hs_plan_create(ctx, &accepted, 1, &slot->plan);
    if (status)
        return status;
    slot->key = key;
    slot->used = ++cache->clock;
    cache->tag[slot - cache->slot] = tag;
    *plan = slot->plan;
    for (cache->weight += weight_of(slot->plan); cache->weight > PLANS;)
        evict(cache, oldest(cache, 0));
    return HSUMMA_OK;
}
