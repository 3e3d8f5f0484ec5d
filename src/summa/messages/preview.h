/*
 * dump: what a loop is going to do, read off its own step lists, for people and for tests.  Nothing is sent: the loops
 * of all processes of a grid can be made one after the other in one process (coord set, a communicator that is never
 * used).
 *
 * Processes are given by their index in the grid, row * columns + column.  A transfer is a level of a moving operand's
 * mover (0: its outermost one), or HS_EXCHANGE: the passage across the grid before the broadcasts (of C: after the
 * reductions).
 */
#ifndef HS_SUMMA_MESSAGES_PREVIEW_H
#define HS_SUMMA_MESSAGES_PREVIEW_H

#include "summa/messages/loop.h"

enum { HS_EXCHANGE = -1 };

/* The operand's part in the loop; NULL for the stationary operand. */
const struct hs_mover *hs_preview_mover(const struct hs_loop *loop, int operand);

/* The tier of the panels that a transfer moves. */
int hs_preview_tier(const struct hs_mover *mover, int transfer);

/* How this process comes to the panels of a pair of owners (C: how it gives its sums away). */
struct hs_arrival {
    int level; /* level of the plan, 1 the outermost, on which it receives (C: sends); 0: it is the root of its line */
    int reads; /* another process of its node does so for it: it reads the panels there (C: adds its sum there) */
    int moves; /* 0: the line is one process and nothing is exchanged: used where it lies */
    int holds; /* of an exchanged operand: it holds a part of the panels */
    int64_t length; /* of the pinned dimension that it has to do with; 0: it has no part in the panels */
};
struct hs_arrival hs_preview_arrival(const struct hs_mover *mover, int pair);

/*
 * A copy of the list that this process executes for tier panel o of a transfer, peers given by their index in the grid.
 * Empty where it takes no part.  HSUMMA_ERR_MEMORY.  Free with hs_list_free.
 */
hsumma_status hs_preview_part(const struct hs_loop *loop, int operand, int transfer, int o,
                              const struct hs_allocator *memory, struct hs_list *part);

/*
 * Adds the messages that this process sends to other nodes in one product, and their bytes, to
 * messages[span * node->parts + node] and bytes[likewise] of the receivers.  node: of all ranks.  The innermost panels
 * are divided into `spans` of about one length; a message belongs to that of its first panel.  What MPI's own
 * collectives send (rows "mpi") is not counted.
 */
void hs_preview_entering(const struct hs_loop *loop, const struct hs_division *node, int spans, int64_t *messages,
                         int64_t *bytes);

/* One message.  round: the length of the longest chain of dependent messages of its transfer that ends in it, from 1.
 */
struct hs_hop {
    int round, from, to;
    int64_t bytes;
};

/*
 * The messages of one transfer, from the parts of all processes of the grid, by round, then by sender.  *hop is freed
 * with hs_put and NULL if there is none.  HSUMMA_ERR_MEMORY; HSUMMA_ERR_INTERNAL if the parts do not fit together.
 */
hsumma_status hs_preview_hops(const struct hs_list *part, int processes, const struct hs_allocator *memory,
                              struct hs_hop **hop, int *hops);

#endif
