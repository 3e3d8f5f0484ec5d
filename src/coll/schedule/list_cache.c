#include "coll/schedule/list_cache.h"

#include <string.h>

void hs_cache_begin(struct hs_cache *lists, const struct hs_allocator *memory)
{
    memset(lists, 0, sizeof *lists);
    lists->memory = memory;
}

void hs_cache_free(struct hs_cache *lists)
{
    for (int i = 0; i < lists->count; i++)
        hs_list_free(lists->memory, &lists->list[i]);
    hs_put(lists->memory, lists->list);
    hs_put(lists->memory, lists->key);
    hs_cache_begin(lists, lists->memory);
}

static int same(const struct hs_list_key *x, const struct hs_list_key *y)
{
    return x->alg == y->alg && x->rank == y->rank && x->size == y->size && x->root == y->root && x->bytes == y->bytes &&
           x->unit == y->unit && x->segment == y->segment && x->topology == y->topology && x->box == y->box &&
           hs_same_parameters(&x->with, &y->with);
}

int hs_cache_find(struct hs_cache *lists, const struct hs_list_key *key)
{
    for (int i = 0; i < lists->count; i++) {
        int at = (lists->last + i) % lists->count;
        if (same(&lists->key[at], key))
            return lists->last = at;
    }
    return -1;
}

hsumma_status hs_cache_add(struct hs_cache *lists, const struct hs_list_key *key, struct hs_list *list)
{
    size_t need = (size_t)lists->count + 1;
    if (hs_grow(lists->memory, (void **)&lists->key, sizeof *key, &lists->key_capacity, need) ||
        hs_grow(lists->memory, (void **)&lists->list, sizeof *list, &lists->list_capacity, need)) {
        hs_list_free(lists->memory, list);
        return HSUMMA_ERR_MEMORY;
    }
    lists->key[lists->count] = *key;
    lists->list[lists->count] = *list;
    lists->last = lists->count++;
    return HSUMMA_OK;
}

hsumma_status hs_cache_get(struct hs_cache *lists, const struct hs_list_key *key, int *index)
{
    *index = hs_cache_find(lists, key);
    if (*index >= 0)
        return HSUMMA_OK;
    struct hs_shape shape = {key->rank,    key->size, key->root,     key->bytes, key->unit,
                             key->segment, NULL,      key->topology, key->box,   key->with};
    struct hs_list list;
    hsumma_status status = hs_build(key->alg, &shape, lists->memory, &list);
    if (!status)
        status = hs_cache_add(lists, key, &list);
    *index = lists->last;
    return status;
}
