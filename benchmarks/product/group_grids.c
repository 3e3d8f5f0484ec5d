#include "product/group_grids.h"

#include <stdio.h>
#include <stdlib.h>

static int count_divisors(int n)
{
    int count = 0;

    for (int i = 1; i <= n; i++)
        count += n % i == 0;
    return count;
}

static int compare(const void *a, const void *b)
{
    const group_grid *x = a, *y = b;

    return x->groups != y->groups ? x->groups - y->groups : x->rows - y->rows;
}

group_grid *group_grids(int nprow, int npcol, int *count)
{
    group_grid *all = calloc((size_t)count_divisors(nprow) * (size_t)count_divisors(npcol), sizeof *all), *to = all;

    for (int i = 1; i <= nprow && all; i++)
        for (int j = 1; j <= npcol && nprow % i == 0; j++)
            if (npcol % j == 0) {
                *to = (group_grid){.rows = i, .cols = j, .groups = i * j};
                snprintf(to->name, sizeof to->name, "%dx%d", i, j);
                to++;
            }
    *count = all ? (int)(to - all) : 0;
    if (all)
        qsort(all, (size_t)*count, sizeof *all, compare);
    return all;
}
