#include "summa/node/on_device.h"

#include <string.h>

/* The index of the event for a step of a counter. */
static int event_of(enum hs_counter counter, int64_t step)
{
    return (int)counter * HS_NODE_EVENTS + (int)(step % HS_NODE_EVENTS);
}

static int me(const struct hs_node_product *node)
{
    return node->shared->directory.me;
}

static hsumma_type type_of(const struct hs_node_product *node)
{
    return node->problem->scalar->type;
}

/* Keeps the first error; afterwards this process enqueues no more work. */
static void keep(struct hs_node_product *node, hsumma_status status)
{
    node->failed = node->failed ? node->failed : status;
}

static void await(struct hs_node_product *node, struct hs_stream *stream, struct hs_event *event)
{
    struct hs_device *device = node->device->device;
    if (!node->failed)
        keep(node, device->kind->wait(device, stream, event));
}

static void record(struct hs_node_product *node, struct hs_stream *stream, struct hs_event *event)
{
    struct hs_device *device = node->device->device;
    if (!node->failed)
        keep(node, device->kind->record(device, stream, event));
}

/* Makes `stream` wait for all work that is now enqueued on stream `first`. */
static void follow(struct hs_node_product *node, struct hs_stream *stream, struct hs_stream *first)
{
    record(node, first, node->device->turn);
    await(node, stream, node->device->turn);
}

void hs_node_device_begin(struct hs_node_product *node)
{
    struct hs_node_device *on = node->device;
    follow(node, on->copies, on->outside);
    await(node, on->products, on->turn);
}

static void await_event(struct hs_node_product *node, struct hs_stream *stream, int rank, int event)
{
    const struct hs_node_device *on = node->device;
    if (on->share.shares_events || rank == me(node))
        await(node, stream, hs_device_share_event(&on->share, rank, event));
}

void hs_node_device_enter(struct hs_node_product *node, int rank)
{
    await_event(node, node->device->copies, rank, HS_NODE_COMPLETE);
    await_event(node, node->device->products, rank, HS_NODE_COMPLETE);
}

void hs_node_device_await_all(struct hs_node_product *node, struct hs_stream *stream, const struct hs_peers *peers,
                              int owner, enum hs_counter counter, int64_t steps)
{
    for (int i = 0; steps > 0 && i < peers->count; i++)
        if (owner < 0 || owner == peers->coord[i])
            await_event(node, stream, peers->rank[i], event_of(counter, steps - 1));
}

void hs_node_device_mark(struct hs_node_product *node, struct hs_stream *stream, enum hs_counter counter, int64_t step)
{
    record(node, stream, hs_device_share_event(&node->device->share, me(node), event_of(counter, step)));
}

/* Whether an event of this process is complete; 1 after a failure, so that the process does not wait. */
static int is_complete(struct hs_node_product *node, int event)
{
    const struct hs_node_device *on = node->device;
    int complete = 1;
    if (!node->failed)
        keep(node,
             on->device->kind->complete(on->device, hs_device_share_event(&on->share, me(node), event), &complete));
    return complete || node->failed;
}

int hs_node_device_announce(struct hs_node_product *node)
{
    const int64_t put[3] = {[HS_FILLED] = node->fill, [HS_USED] = node->step, [HS_SUMMED] = node->sum};
    int announced = 0;
    for (int w = 0; w < 3 && !node->device->share.shares_events; w++)
        for (; node->announced[w] < put[w] && is_complete(node, event_of((enum hs_counter)w, node->announced[w]));
             announced = 1)
            hs_signal(&node->shared->directory, w, hs_node_progress(node->execution, ++node->announced[w]));
    return announced;
}

int hs_node_device_left(struct hs_node_product *node)
{
    struct hs_node_device *on = node->device;
    if (!node->closed) {
        follow(node, on->products, on->copies);
        record(node, on->products, hs_device_share_event(&on->share, me(node), HS_NODE_COMPLETE));
        await_event(node, on->outside, me(node), HS_NODE_COMPLETE);
        node->closed = 1;
    }
    hs_node_device_announce(node);
    return (on->share.shares_events && !on->to_host) || is_complete(node, HS_NODE_COMPLETE);
}

void hs_node_device_copy(struct hs_node_product *node, char *to, int64_t to_ld, const char *from, int64_t from_ld,
                         int64_t rows, int64_t cols)
{
    struct hs_device *device = node->device->device;
    size_t size = node->problem->scalar->size;
    if (!node->failed)
        keep(node, device->kind->copy_block(device, node->device->copies, to, (size_t)to_ld * size, from,
                                            (size_t)from_ld * size, (size_t)rows * size, (size_t)cols));
}

/*
 * Enqueues a product.  It runs after the copies that fill its tiles, after the loads of its panel from host memory and,
 * if C moves, after the sums that read the previous partial result in the same tile.  The event for USED also follows
 * this process's own copies of the step, because once it is complete other processes may overwrite the tile.
 */
void hs_node_device_multiply(struct hs_node_product *node, int64_t step, const struct hs_range range[3],
                             const struct hs_matrix matrix[3], const void *beta)
{
    struct hs_device *device = node->device->device;
    struct hs_stream *stream = node->device->products;
    const struct hs_view *view = node->problem->view;
    const struct hs_matrix *a = &matrix[HS_A], *b = &matrix[HS_B], *c = &matrix[HS_C];
    for (int i = 0; i < node->ins; i++) {
        const struct hs_supply *supply = &node->in[i];
        int owner = hs_panel_owner(node, supply, hs_panel_of(node, step));
        if (!hs_owner_is_here(node, supply, owner))
            hs_node_device_await_all(node, stream, &supply->givers, owner, HS_FILLED, step + 1);
    }
    if (node->outs)
        hs_node_device_await_all(node, stream, &node->out.givers, -1, HS_SUMMED,
                                 hs_supply_free_after(node, &node->out, step) / node->chunks);
    if (node->device->host[HS_A].base || node->device->host[HS_B].base)
        await_event(node, stream, me(node), event_of(HS_FILLED, step));
    if (!node->failed)
        keep(node, device->kind->gemm(device, stream, type_of(node), view[HS_A].op, view[HS_B].op, range[HS_M].length,
                                      range[HS_N].length, range[HS_K].length, &node->alpha, a->base, a->ld, b->base,
                                      b->ld, beta, c->base, c->ld));
    await_event(node, stream, me(node), event_of(HS_FILLED, step));
    hs_node_device_mark(node, stream, HS_USED, step);
}

void hs_node_device_update(struct hs_node_product *node, int64_t rows, int64_t cols, const void *beta, char *c,
                           int64_t ldc, const char *s, int64_t lds)
{
    struct hs_device *device = node->device->device;
    if (!node->failed && rows > 0 && cols > 0)
        keep(node, device->kind->update(device, node->device->copies, type_of(node), rows, cols, beta, c, ldc, s, lds));
}

void hs_node_device_scale(struct hs_node_product *node)
{
    const struct hs_view *view = &node->problem->view[HS_C];
    const struct hs_matrix *c = &node->matrix[HS_C];
    node->fill = node->step = node->steps;
    node->sum = node->panels;
    memcpy(node->announced, (const int64_t[3]){node->fill, node->step, node->sum}, sizeof node->announced);
    hs_node_device_update(node, view->rows, view->cols, &node->beta, c->base, c->ld, NULL, 0);
}
