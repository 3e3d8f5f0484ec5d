/* Lists built once and used by index: the instances of a stream differ in few ways. */
#ifndef HS_COLL_SCHEDULE_LIST_CACHE_H
#define HS_COLL_SCHEDULE_LIST_CACHE_H

#include "coll/schedule/registry.h"

/* What makes two lists the same.  alg is NULL for lists that the caller builds (exchanges), which use the fields as
 * they like. */
struct hs_list_key {
    const struct hs_alg *alg;
    int rank, size, root;
    int64_t bytes, unit, segment;
    const struct hs_topology *topology;
    struct hs_parameters with;
};

struct hs_cache {
    const struct hs_allocator *memory;
    struct hs_list_key *key;
    struct hs_list *list;
    size_t key_capacity, list_capacity;
    int count;
    int last; /* where the last search ended: most searches repeat */
};

void hs_cache_begin(struct hs_cache *lists, const struct hs_allocator *memory);
void hs_cache_free(struct hs_cache *lists);
/* The index of the list with this key, or -1. */
int hs_cache_find(struct hs_cache *lists, const struct hs_list_key *key);
/* Adds a list under a key and takes it over; HSUMMA_ERR_MEMORY: the list has been freed. */
hsumma_status hs_cache_add(struct hs_cache *lists, const struct hs_list_key *key, struct hs_list *list);
/* Finds or builds the list of a registry row (part = NULL); *index is its place. */
hsumma_status hs_cache_get(struct hs_cache *lists, const struct hs_list_key *key, int *index);

#endif
