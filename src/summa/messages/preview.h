/*
 * A preview of a loop: the messages that it will send, read from its step lists, for hsumma explain, the benchmarks and
 * tests.  Nothing is sent, so one process can make the loops of all processes of a grid, with grid.coord set for each
 * process and a communicator that is never used.
 *
 * Processes are numbered by their index in the grid, row * columns + column.  A transfer is a level of a mover (0: the
 * outermost one), or HS_EXCHANGE: the exchange, which comes before the broadcasts or, for C, after the reductions.
 */
#ifndef HS_SUMMA_MESSAGES_PREVIEW_H
#define HS_SUMMA_MESSAGES_PREVIEW_H

#include "summa/messages/loop.h"

enum { HS_EXCHANGE = -1 };

/* The mover of an operand; NULL for the stationary one. */
const struct hs_mover *hs_preview_mover(const struct hs_loop *loop, int operand);

/* The tier of the panels that a transfer moves. */
int hs_preview_tier(const struct hs_mover *mover, int transfer);

/* How this process receives the panels of a pair of owners or, for C, sends its sums. */
struct hs_arrival {
    int level; /* plan level (1: outermost) on which this process's cell receives (C: sends); 0 in the root's cell */
    int reads; /* 1 if another member of the cell is the carrier; this process reads A and B from the node's memory */
    int moves; /* 0 if the line is one process and nothing is exchanged, so that no data move */
    int holds; /* 1 if the operand is exchanged and this process holds a part of the panels */
    int64_t length; /* local extent of the pinned dimension; 0 if this process has no part of the panels */
};
struct hs_arrival hs_preview_arrival(const struct hs_mover *mover, int pair);

/*
 * Copies the list that this process executes for tier panel o of a transfer, with peers as indices in the grid; empty
 * if it executes none.  HSUMMA_ERR_MEMORY.  Free with hs_list_free.
 */
hsumma_status hs_preview_part(const struct hs_loop *loop, int operand, int transfer, int o,
                              const struct hs_allocator *memory, struct hs_list *part);

/*
 * Counts the messages, and their bytes, that this process sends to other nodes in one product: adds them to
 * messages[i] and bytes[i] with i = span * node->parts + node of the receiver.  node: division of all ranks by node.
 * The innermost panels are divided into `spans` spans of nearly equal length; a message belongs to the span of its
 * first panel. Messages of MPI's own collectives (rows "mpi") are not counted.
 */
void hs_preview_entering(const struct hs_loop *loop, const struct hs_division *node, int spans, int64_t *messages,
                         int64_t *bytes);

/* One message.  round: the length, at least 1, of the longest chain of dependent messages of its transfer that ends
 * with this message. */
struct hs_hop {
    int round, from, to;
    int64_t bytes;
};

/*
 * Lists the messages of one transfer, sorted by round, then sender, then receiver.  part: the lists of all processes of
 * the grid (hs_preview_part).  The caller frees *hop with hs_put; it is NULL if there is no message.  Errors:
 * HSUMMA_ERR_MEMORY; HSUMMA_ERR_INTERNAL if the lists do not match; HSUMMA_ERR_UNSUPPORTED for row "mpi".
 */
hsumma_status hs_preview_hops(const struct hs_list *part, int processes, const struct hs_allocator *memory,
                              struct hs_hop **hop, int *hops);

#endif
