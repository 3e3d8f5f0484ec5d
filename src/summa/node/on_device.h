/*
 * The node's product on devices: the steps of node.c, whose copies, products and sums are put on streams.  Tiles lie in
 * device memory that all processes have mapped.
 *
 * A word of the directory then says that the work of a step has been put on a stream, and an event of its owner says
 * when it is over: who waits for a word makes his stream wait for the event behind it.  So the host runs ahead of the
 * devices, and nothing on a device polls.  An event serves every HS_NODE_EVENTS-th step; one that is recorded again
 * before somebody has waited for it delays him at most (base/device.h).  Where other processes cannot wait for events a
 * word is told when its event is over.
 *
 * After a failure a process goes through the rest of the steps without its device, so that nobody waits in vain; the
 * caller tells the others in the end.
 */
#ifndef HS_SUMMA_NODE_ON_DEVICE_H
#define HS_SUMMA_NODE_ON_DEVICE_H

#include "base/device.h"
#include "coll/node/device_share.h"
#include "summa/node/shape.h"

enum {
    HS_NODE_LOOKAHEAD = 2,                  /* at most: a ring has fewer tiles than a word has events */
    HS_NODE_EVENTS = HS_NODE_LOOKAHEAD + 2, /* of each word that counts steps */
    HS_NODE_COMPLETE = 3 * HS_NODE_EVENTS,  /* the event of an execution's end */
    HS_NODE_ALL_EVENTS
};

/* Tiles for the products of a grid, and what this process runs them with. */
struct hs_node_device {
    struct hs_node_device *older; /* of the grid: smaller, and not freed yet */
    struct hs_device *device;
    struct hs_device_share share; /* the tiles are the memory of the owner */
    int owner;
    size_t bytes;
    struct hs_stream *copies, *products; /* sums are copies' */
    struct hs_event *turn;               /* of this process alone, for streams that wait for each other */
    struct hs_stream *outside;           /* where the caller orders results */
};

static inline char *hs_node_device_tiles(const struct hs_node_device *on)
{
    return on->share.memory[on->owner];
}

/* Begins an execution: behind what is on the caller's stream. */
void hs_node_device_begin(struct hs_node_product *node);
/* What has used the memory before, on another rank, is awaited. */
void hs_node_device_enter(struct hs_node_product *node, int rank);

/* The stream waits for the work of all peers behind `steps` steps; of those at `owner`, if it is not negative. */
void hs_node_device_await_all(struct hs_node_product *node, struct hs_stream *stream, const struct hs_peers *peers,
                              int owner, enum hs_counter counter, int64_t steps);
/* The work of a step has been put on the stream. */
void hs_node_device_mark(struct hs_node_product *node, struct hs_stream *stream, enum hs_counter counter, int64_t step);
/* Tells the words whose events are over, where others cannot wait for events; whether there were any. */
int hs_node_device_announce(struct hs_node_product *node);
/* Whether this process may leave the execution: the first call puts its end on the caller's stream. */
int hs_node_device_left(struct hs_node_product *node);

/* Work. */
void hs_node_device_copy(struct hs_node_product *node, char *to, int64_t to_ld, const char *from, int64_t from_ld,
                         int64_t rows, int64_t cols);
/* A multiplication, and its marks. */
void hs_node_device_multiply(struct hs_node_product *node, int64_t step, const struct hs_range range[3],
                             const struct hs_matrix *a, const struct hs_matrix *b, const void *beta,
                             const struct hs_matrix *c);
void hs_node_device_update(struct hs_node_product *node, int64_t rows, int64_t cols, const void *beta, char *c,
                           int64_t ldc, const char *s, int64_t lds);
/* All that there is to do: C = beta C. */
void hs_node_device_scale(struct hs_node_product *node);

#endif
