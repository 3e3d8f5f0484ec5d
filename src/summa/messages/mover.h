/*
 * An operand that moves: its line of processes, the levels on that line that have more than one member, who is the
 * root, and this process's part.  Common to what is fed into the multiplication (A, B) and what is drained from it (C).
 */
#ifndef HS_SUMMA_MESSAGES_MOVER_H
#define HS_SUMMA_MESSAGES_MOVER_H

#include "coll/run/executor.h"
#include "coll/schedule/exchange.h"
#include "coll/schedule/list_cache.h"
#include "summa/messages/cells.h"
#include "summa/pack.h"

struct hs_mover {
    int operand;
    int index; /* which of a pair's two owners is this operand's */
    const struct hs_problem *problem;
    const struct hs_role *role;
    const struct hs_panels *panels;
    int64_t length;                            /* local extent of the pinned dimension, as wanted */
    int64_t held;                              /* and as this operand has it (differs if exchanged) */
    int line;                                  /* coordinate of this process on the line */
    const struct hs_topology *topology_of_all; /* of the communicator, if it has several nodes */
    const struct hs_cells *cells;              /* of the line; NULL: each member is one, and shares nothing */
    int members;                               /* of this process's cell */
    int place;                                 /* of that cell among the cells: levels are of them */
    int loop_coord;                            /* and on the axis where the looped dimension lies */
    int spread;                                /* hs_spec, if it is exchanged and feeds */
    int reductions;                            /* of C: reductions of a level that may be in flight at a time */
    int levels; /* with more than one cell, outermost first; 0: the line is one cell, or spread */
    struct hs_factors factors;
    int tier[HS_LEVELS_MAX];
    int tier0; /* tier of the panels that are packed, exchanged or drained: the outermost level's */
    struct hs_group group[HS_LEVELS_MAX];
    const struct hs_alg *alg[HS_LEVELS_MAX];
    struct hs_parameters with[HS_LEVELS_MAX];
    struct hs_topology topology[HS_LEVELS_MAX]; /* of the group, where the row uses it; hs_mover_share */
    struct hs_native native[HS_LEVELS_MAX];     /* mpi_rows.h */
    /* of an exchange: lines of the pinned dimension that this process shares with each taker as a holder, and with each
     * holder as a taker; hs_mover_share as well */
    int64_t *gives, *takes;
    int *root, *taker; /* and the roots of this line by owner, and of all lines for what this process owns */
};

void hs_mover_init(struct hs_mover *mover, const struct hs_problem *problem, const struct hs_variant *variant,
                   const struct hs_spec *spec, const struct hs_panels *panels, const struct hs_topology *topology,
                   const struct hs_cells *cells, int operand);

/* What lists need beside: the nodes of groups, and the parts of exchanges.  HSUMMA_ERR_MEMORY; to be undone in any
 * case. */
hsumma_status hs_mover_share(struct hs_mover *mover, const struct hs_allocator *memory);
void hs_mover_unshare(struct hs_mover *mover, const struct hs_allocator *memory);

/*
 * The coordinate on its line of the root of what `owner` has.  Of what is transposed any member could be root: owners
 * are dealt among the members on the holder's node, so that a panel leaves and enters each node once.  Where there are
 * none, or nodes are not known (nodes NULL), they are dealt among all members.  *among: the number of members that they
 * are dealt among.  A line is named by its coordinate on the other axis.
 */
int hs_exchange_root(const struct hs_role *role, const struct hs_grid *grid, const struct hs_topology *nodes, int line,
                     int owner, int *among);
/* Of this process's line, for a pair. */
int hs_mover_root(const struct hs_mover *mover, int pair);

/*
 * This cell's place for a root: the innermost level on which its digit differs from that of the root's cell, or -1 if
 * it is the root's cell.  On that level it receives (or sends its sum); on the levels inside it is the root; on those
 * outside it takes no part.
 */
int hs_mover_level(const struct hs_mover *mover, int root);

/* The member of this cell that carries for a root, and whether this process does. */
static inline int hs_mover_carrier(const struct hs_mover *mover, int root)
{
    return mover->cells ? hs_cells_carrier(mover->cells, root) : 0;
}
static inline int hs_mover_carries(const struct hs_mover *mover, int root)
{
    return !mover->cells || hs_cells_carrier(mover->cells, root) == mover->cells->division->index[mover->line];
}

/* Bytes of a buffer for the panels of a tier, for a local extent of the pinned dimension. */
int64_t hs_mover_buffer_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                              int tier, int64_t length);
/* And of those of an exchange, at most. */
int64_t hs_mover_exchange_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs);
struct hs_run_of_panels hs_mover_run(const struct hs_mover *mover, int tier, int o);
/* The pair of tier panel o. */
int hs_mover_pair(const struct hs_mover *mover, int tier, int o);

/* The binding for a level, without list, tag and buffers. */
struct hs_binding hs_mover_binding(const struct hs_mover *mover, int level, int pair);
/* list[o] for all tier panels of a level. */
hsumma_status hs_mover_lists(const struct hs_mover *mover, int level, int64_t segment, struct hs_cache *lists,
                             int *list);

/*
 * The exchange.  Holders have the looped dimension's owner coordinate; takers are the line's roots, or if spread all of
 * the line.  `outward` is the way of C: takers send, holders receive.  list[o] for all panels of tier0, -1 where this
 * process is neither.  What a process shares with itself is in no message.
 */
/* Lines of the pinned dimension that this process packs as a holder, or unpacks as a taker, at most. */
int64_t hs_mover_lines(const struct hs_mover *mover, int as_holder);
int hs_mover_holds(const struct hs_mover *mover, int pair);
int hs_mover_takes(const struct hs_mover *mover, int pair);
hsumma_status hs_mover_exchange_lists(const struct hs_mover *mover, int outward, struct hs_cache *lists, int *list);
/* Packs or unpacks all messages of this process: `message` holds them one after the other.  If the role is direct, a
 * taker sends and receives its slabs themselves. */
void hs_mover_exchange_copy(const struct hs_mover *mover, int o, enum hs_exchange_step step, char *message,
                            const struct hs_matrix *matrix, char *slabs, const void *beta);
/* What needs no message: between this process's own matrix and its own slabs, if it is both holder and taker. */
void hs_mover_exchange_own(const struct hs_mover *mover, int o, enum hs_exchange_step step,
                           const struct hs_matrix *matrix, char *slabs, const void *beta);

#endif
