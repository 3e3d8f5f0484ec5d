#include "coll/node/region.h"

void hs_region_add(struct hs_region **list, struct hs_region *region)
{
    region->next = *list;
    *list = region;
}

void hs_region_remove(struct hs_region **list, const struct hs_region *region)
{
    while (*list && *list != region)
        list = &(*list)->next;
    if (*list)
        *list = region->next;
}

const struct hs_region *hs_region_of(const struct hs_region *list, const void *at, size_t bytes, size_t *offset)
{
    for (; list; list = list->next) {
        uintptr_t begin = (uintptr_t)list->part[list->me], from = (uintptr_t)at;
        *offset = from - begin;
        if (from >= begin && *offset <= list->bytes && bytes <= list->bytes - *offset)
            return list;
    }
    return NULL;
}

char *hs_region_at(const struct hs_region *list, int64_t number, int rank, size_t offset)
{
    while (list && list->number != number)
        list = list->next;
    return list ? list->part[rank] + offset : NULL;
}
