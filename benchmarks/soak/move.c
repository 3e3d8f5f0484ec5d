/* Redistributions and allocations of hsumma soak. */
#include <stdlib.h>
#include <string.h>

#include "check/moved.h"
#include "product/generate.h"
#include "soak/soak.h"

/* Draws the layout of a matrix in which an m x n part lies somewhere. */
static hsumma_desc draw_desc(soak_scene *s, int64_t m, int64_t n)
{
    const hsumma_grid *grid = s->grid[scene_draw(s, s->grids)];
    int64_t i = scene_draw(s, 4), j = scene_draw(s, 4);
    hsumma_desc desc;
    int P, Q;

    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    if (scene_draw(s, 3))
        hsumma_desc_init(&desc, grid, m + i + scene_draw(s, 4), n + j + scene_draw(s, 4), scene_draw_from(s, 1, 64),
                         scene_draw_from(s, 1, 64));
    else
        hsumma_desc_checkerboard(&desc, grid, m + i, n + j);
    desc.i = i;
    desc.j = j;
    desc.rsrc = scene_draw(s, 8) ? (int)scene_draw(s, P) : -1;
    desc.csrc = scene_draw(s, 8) ? (int)scene_draw(s, Q) : -1;
    desc.ld = hsumma_local_rows(&desc) + scene_draw(s, 3);
    desc.ld += desc.ld < 1;
    return desc;
}

int soak_move(soak_scene *s)
{
    hsumma_type type = (hsumma_type)scene_draw(s, 4);
    int64_t m = scene_draw(s, 200), n = scene_draw(s, 200), wrong;
    uint64_t seed = hs_random(&s->draws);
    hsumma_desc a = draw_desc(s, m, n), b = draw_desc(s, m, n);
    char *from = malloc((size_t)(a.ld * hsumma_local_cols(&a) + 1) * type_size(type)),
         *to = malloc((size_t)(b.ld * hsumma_local_cols(&b) + 1) * type_size(type));
    hsumma_status status;
    int code = command_fail(s->comm, !from || !to, "no memory for a matrix");

    if (!code) {
        generate_local(type, seed, MATRIX_A, &a, from);
        generate_nan(type, &b, to);
        status = hsumma_redistribute(s->ctx, type, m, n, from, &a, to, &b);
        wrong = status ? 0 : check_moved(type, seed, m, n, &a, &b, to);
        code = command_fail(s->comm, status || wrong, "redistribution of %lld x %lld %s: %s", (long long)m,
                            (long long)n, type_name(type), status ? hsumma_message(s->ctx) : "entries are wrong");
        s->did[DID_MOVES]++;
    }
    free(from);
    free(to);
    return code;
}

int soak_allocations(soak_scene *s)
{
    enum { ALLOCATIONS = 5 };
    unsigned char *memory[ALLOCATIONS] = {NULL};
    size_t bytes[ALLOCATIONS];
    int count = (int)scene_draw_from(s, 1, ALLOCATIONS), first = (int)scene_draw(s, count), bad = 0;
    hsumma_status status = HSUMMA_OK;

    for (int i = 0; i < count && !status; i++) {
        void *got = NULL;

        bytes[i] = (size_t)(scene_draw(s, 200000) * (1 + s->rank % 2));
        status = hsumma_malloc(s->ctx, bytes[i], &got);
        memory[i] = got;
        for (size_t b = 0; !status && b < bytes[i]; b += 512)
            bad |= memory[i][b] != 0;
        if (!status)
            memset(memory[i], i + 1, bytes[i]);
    }
    for (int i = 0; i < count && !status; i++) /* a later allocation must not have overwritten an earlier one */
        for (size_t b = 0; b < bytes[i]; b += 512)
            bad |= memory[i][b] != i + 1;
    s->did[DID_ALLOCATIONS] += count;
    if (command_fail(s->comm, status || bad, "hsumma_malloc: %s",
                     status ? hsumma_message(s->ctx) : "memory is not zero, or two allocations overlap"))
        return COMMAND_INTERNAL;
    for (int i = 0; i < count && scene_draw(s, 8); i++) /* the context frees the rest */
        hsumma_mfree(s->ctx, memory[(first + i) % count]);
    return COMMAND_OK;
}
