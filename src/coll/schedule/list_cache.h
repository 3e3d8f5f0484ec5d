/* A cache of lists, used by index: the many instances of a channel need only a few different lists. */
#ifndef HS_COLL_SCHEDULE_LIST_CACHE_H
#define HS_COLL_SCHEDULE_LIST_CACHE_H

#include "coll/schedule/registry.h"

/* Lists with equal keys are equal. alg NULL: the caller builds the list and defines the other fields. */
struct hs_list_key {
    const struct hs_alg *alg;
    int rank, size, root;
    int64_t bytes, unit, segment;
    const struct hs_topology *topology;
    const struct hs_box *box;
    struct hs_parameters with;
};

struct hs_cache {
    const struct hs_allocator *memory;
    struct hs_list_key *key;
    struct hs_list *list;
    size_t key_capacity, list_capacity;
    int count;
    int last; /* index of the list found or added last; the next search starts there, because most searches repeat */
};

void hs_cache_begin(struct hs_cache *lists, const struct hs_allocator *memory);
void hs_cache_free(struct hs_cache *lists);
/* Returns the index of the list with this key, or -1. */
int hs_cache_find(struct hs_cache *lists, const struct hs_list_key *key);
/* Adds a list and takes ownership of it. On HSUMMA_ERR_MEMORY the list has been freed. */
hsumma_status hs_cache_add(struct hs_cache *lists, const struct hs_list_key *key, struct hs_list *list);
/* Finds the list of a registry row for equal parts (hs_shape.part = NULL), or builds and adds it, and sets *index. */
hsumma_status hs_cache_get(struct hs_cache *lists, const struct hs_list_key *key, int *index);

#endif
