#include "hsumma/guard/restore.h"

#include "hsumma/guard/own_part.h"
#include "hsumma/plan/plan.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

int hs_bits_make(const hsumma_plan *plan, int x, struct hs_parity *parity)
{
    const struct hs_view *view = &plan->problem.view[x];
    size_t size = plan->problem.scalar->size;
    parity->rows = hs_get_zero(&plan->ctx->memory, (size_t)view->rows + 1, size);
    parity->cols = hs_get_zero(&plan->ctx->memory, (size_t)view->cols + 1, size);
    return parity->rows && parity->cols;
}

void hs_bits_free(const struct hs_allocator *memory, struct hs_parity *parity)
{
    hs_put(memory, parity->rows);
    hs_put(memory, parity->cols);
}

void hs_bits_clear(const hsumma_plan *plan, int x, const struct hs_parity *parity)
{
    const struct hs_view *view = &plan->problem.view[x];
    memset(parity->rows, 0, (size_t)view->rows * plan->problem.scalar->size);
    memset(parity->cols, 0, (size_t)view->cols * plan->problem.scalar->size);
}

static void add(const hsumma_plan *plan, const struct hs_local_part *part, void *parity)
{
    hs_parity_add(plan->problem.scalar, part, 0, 0, part->view->rows, part->cols, parity);
}

/* Writes to memory of this process that may be read-only.  Returns 0 if it is. */
static int write_back(void *to, void *from, size_t bytes)
{
    const struct iovec here = {from, bytes}, there = {to, bytes};
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/*
 * Restores one element from the parity of its column, or of its row if others in the column have changed, and the other
 * elements there.  Its present value does not matter, since another process that shares the memory may restore it, too.
 */
static int restore_element(const hsumma_plan *plan, int x, const struct hs_parity *before, const struct hs_flip *flip,
                           char *line)
{
    const struct hs_view *view = &plan->problem.view[x];
    const size_t size = plan->problem.scalar->size;
    const int by_column = flip->alone_in_column;
    int on_device;
    const struct hs_matrix matrix = hs_own_matrix(plan, x, &on_device);
    const int64_t count = by_column ? view->rows : view->cols, own = by_column ? flip->row : flip->col;
    const int64_t row = by_column ? 0 : flip->row, col = by_column ? flip->col : 0;
    const struct hs_matrix from = {matrix.base + (size_t)(row + col * matrix.ld) * size, matrix.ld};
    const struct hs_matrix at = {matrix.base + (size_t)(flip->row + flip->col * matrix.ld) * size, matrix.ld};
    unsigned char element[sizeof flip->bits];
    if (hs_copy_own(plan, (struct hs_matrix){line, by_column ? count : 1}, from, by_column ? count : 1,
                    by_column ? 1 : count))
        return 0;
    memcpy(element, by_column ? before->cols + (size_t)col * size : before->rows + (size_t)row * size, size);
    for (int64_t i = 0; i < count; i++)
        for (size_t b = 0; i != own && b < size; b++)
            element[b] ^= (unsigned char)line[(size_t)i * size + b];
    return on_device ? !hs_copy_own(plan, at, (struct hs_matrix){(char *)element, 1}, 1, 1)
                     : write_back(at.base, element, size);
}

int hs_bits_room_make(const hsumma_plan *plan, struct hs_bits_room *room)
{
    size_t longest = 1;
    int good = 1;
    for (int x = 0; x < 2; x++) {
        const struct hs_view *view = &plan->problem.view[x];
        const size_t here = (size_t)(view->rows > view->cols ? view->rows : view->cols);
        longest = here > longest ? here : longest;
        good &= hs_bits_make(plan, x, &room->now[x]);
    }
    room->line = hs_get(&plan->ctx->memory, longest, plan->problem.scalar->size);
    return good && room->line;
}

void hs_bits_room_free(const struct hs_allocator *memory, struct hs_bits_room *room)
{
    for (int x = 0; x < 2; x++)
        hs_bits_free(memory, &room->now[x]);
    hs_put(memory, room->line);
}

int hs_bits_restore(const hsumma_plan *plan, int x, const struct hs_parity *before, const struct hs_bits_room *room,
                    char *slab)
{
    const struct hs_view *view = &plan->problem.view[x];
    struct hs_parity now = room->now[x];
    struct hs_flip flip[HS_FLIPS];
    if (!hs_has_own_part(plan, x) || hs_only_scales(&plan->problem, &plan->alpha))
        return 0;
    int flips = -1;
    hs_bits_clear(plan, x, &now);
    if (!hs_read_own_part(plan, x, slab, add, &now))
        flips = hs_parity_compare(plan->problem.scalar, view->rows, view->cols, before, &now, flip);
    for (int i = 0, all = flips; i < all; i++)
        flips = restore_element(plan, x, before, &flip[i], room->line) ? flips : -1;
    return flips;
}
