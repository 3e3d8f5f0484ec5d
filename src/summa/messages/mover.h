/*
 * A mover is a moving operand as one process sees it: its line of processes, the levels of that line with more than one
 * member, the roots, and this process's groups and exchange partners.  Feeds (A, B) and the drain (C) share it.
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
    int index; /* 0 or 1: number of the operand among the two moving ones, as in hs_pair.owner */
    const struct hs_problem *problem;
    const struct hs_role *role;
    const struct hs_panels *panels;
    int64_t length; /* local extent of the pinned dimension, in the layout of the stationary operand */
    int64_t held;   /* the same in this operand's own layout; differs only if the operand is exchanged */
    int line;       /* coordinate of this process on the line */
    const struct hs_topology *topology_of_all; /* of the communicator; NULL: it has a single node */
    const struct hs_cells *cells;              /* of the line; NULL: each member is a cell of its own */
    int members;                               /* of this process's cell */
    int place;                                 /* index of this cell on the line; levels divide the cells */
    int loop_coord; /* coordinate of this process on the axis where the looped dimension lies */
    int spread;     /* an exchanged A or B goes directly to all members (hs_spec) */
    int reductions; /* of C: most reductions in flight on a level */
    int levels;     /* those with more than one cell, outermost first; 0: the line is one cell, or `spread` is set */
    struct hs_factors factors;
    int tier[HS_LEVELS_MAX];
    int tier0; /* tier of the panels that are copied from or to the matrix, or exchanged: that of the outermost level */
    struct hs_group group[HS_LEVELS_MAX];
    const struct hs_alg *alg[HS_LEVELS_MAX];
    struct hs_parameters with[HS_LEVELS_MAX];
    struct hs_topology topology[HS_LEVELS_MAX]; /* of the group, if the algorithm uses it */
    struct hs_native native[HS_LEVELS_MAX];     /* mpi_rows.h */
    /* Of an exchange: numbers of indices of the pinned dimension that this process gives, as a holder, to taker i, and
     * takes, as a taker, from holder q. */
    int64_t *gives, *takes;
    int *root;  /* of an exchange: this line's root for the panels of each owner */
    int *taker; /* of an exchange: each line's root for the panels that this process holds */
};

/* Local; allocates nothing.  cells: of the operand's line, or NULL. */
void hs_mover_init(struct hs_mover *mover, const struct hs_problem *problem, const struct hs_variant *variant,
                   const struct hs_spec *spec, const struct hs_panels *panels, const struct hs_topology *topology,
                   const struct hs_cells *cells, int operand);

/* Allocates what the lists need in addition: topologies of groups, and tables of the exchange.  HSUMMA_ERR_MEMORY.
 * hs_mover_free_tables must be called, also after an error. */
hsumma_status hs_mover_make_tables(struct hs_mover *mover, const struct hs_allocator *memory);
void hs_mover_free_tables(struct hs_mover *mover, const struct hs_allocator *memory);

/*
 * The coordinate on a line of the root for the panels of `owner`.  Any member can be the root of an exchanged operand:
 * the owners are dealt to the members on the holder's node, so that a panel leaves and enters each node once, or to all
 * members if there are none, or nodes are not known (nodes NULL).  *among: number of members that owners are dealt to.
 * line: its coordinate on the other axis.
 */
int hs_exchange_root(const struct hs_role *role, const struct hs_grid *grid, const struct hs_topology *nodes, int line,
                     int owner, int *among);
/* The same for this process's line and a pair of owners. */
int hs_mover_root(const struct hs_mover *mover, int pair);

/*
 * The level on which this cell receives the panels of a root (of C: sends its sum): the innermost one on which its
 * digit differs from that of the root's cell; -1: the root's cell itself.  It is the root on the levels inside, and no
 * member of the collectives on the levels outside.
 */
int hs_mover_level(const struct hs_mover *mover, int root);

/* The carrier of this cell for a root, and whether this process is it. */
static inline int hs_mover_carrier(const struct hs_mover *mover, int root)
{
    return mover->cells ? hs_cells_carrier(mover->cells, root) : 0;
}
static inline int hs_mover_carries(const struct hs_mover *mover, int root)
{
    return !mover->cells || hs_cells_carrier(mover->cells, root) == mover->cells->division->index[mover->line];
}

/* Bytes of a buffer for one panel of a tier.  length: local extent of the pinned dimension. */
int64_t hs_mover_buffer_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                              int tier, int64_t length);
/* Most bytes of the message buffers of an exchange, in and out. */
int64_t hs_mover_exchange_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs);
/* The innermost panels of tier panel o. */
struct hs_run_of_panels hs_mover_run(const struct hs_mover *mover, int tier, int o);
/* The pair of owners of tier panel o. */
int hs_mover_pair(const struct hs_mover *mover, int tier, int o);

/* The binding of a level's collective for a pair, without list, tag and buffers. */
struct hs_binding hs_mover_binding(const struct hs_mover *mover, int level, int pair);
/* Makes the lists of a level.  list[o]: index of the list for tier panel o; -1: this process takes no part. */
hsumma_status hs_mover_lists(const struct hs_mover *mover, int level, int64_t segment, struct hs_cache *lists,
                             int *list);

/*
 * The exchange of a panel passes between its holders and its takers (pack.h).  The holders are the processes with the
 * owner's coordinate on the axis of the looped dimension; the takers are the roots of the lines, or with `spread` all
 * members.  Indices that a process both holds and takes are in no message.
 */
/* Most indices of the pinned dimension in the messages that this process packs as a holder, or unpacks as a taker. */
int64_t hs_mover_exchange_indices(const struct hs_mover *mover, int as_holder);
/* Whether this process is a holder of a pair's panels; a taker of them (without an exchange: the root). */
int hs_mover_holds(const struct hs_mover *mover, int pair);
int hs_mover_takes(const struct hs_mover *mover, int pair);
/* Makes the lists of the exchange.  list[o]: for each panel of tier0; -1: this process is neither holder nor taker.
 * outward: 1 for C, where takers send and holders receive. */
hsumma_status hs_mover_exchange_lists(const struct hs_mover *mover, int outward, struct hs_cache *lists, int *list);
/* Packs or unpacks all messages of this process for tier0 panel o; they follow each other in `message`.  With
 * hs_role.direct a taker does nothing here, as its slabs are the messages. */
void hs_mover_exchange_copy(const struct hs_mover *mover, int o, enum hs_exchange_step step, char *message,
                            const struct hs_matrix *matrix, char *slabs, const void *beta);
/* Copies between this process's matrix and its slabs the indices that it both holds and takes. */
void hs_mover_exchange_own(const struct hs_mover *mover, int o, enum hs_exchange_step step,
                           const struct hs_matrix *matrix, char *slabs, const void *beta);

#endif
