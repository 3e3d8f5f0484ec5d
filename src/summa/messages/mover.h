/*
 * A mover is a moving operand as one process sees it: its line of processes, the levels of that line with more than one
 * member, the roots, and this process's groups and exchange partners.  Feeds (A, B) and the drain (C) both have one.
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
    int index; /* index of the operand, 0 or 1, among the two moving ones, as in hs_pair.owner */
    const struct hs_problem *problem;
    const struct hs_role *role;
    const struct hs_panels *panels;
    int64_t length; /* local extent of the pinned dimension, in the layout of the stationary operand */
    int64_t held; /* local extent of the pinned dimension, in this operand's own layout; differs from `length` only with
                     an exchange */
    int line;     /* coordinate of this process on the line */
    const struct hs_topology *topology_of_all; /* topology of the communicator; NULL if unknown or a single node */
    const struct hs_cells *cells; /* cells of the line; NULL if members share nothing: each is then a cell of its own */
    int members;                  /* number of members of this process's cell */
    int place;                    /* index of this process's cell on the line; levels divide the cells */
    int loop_coord;               /* coordinate of this process on the grid axis of the looped dimension */
    int spread;                   /* 1 if an exchanged A or B goes directly to all members (hs_spec) */
    int reductions;               /* maximum number of reductions of C in flight on a level */
    int levels; /* number of levels with more than one cell; 0 if the line is one cell or `spread` is set */
    struct hs_factors factors;
    int tier[HS_LEVELS_MAX];
    int tier0; /* tier of the panels that are copied from or to the matrix, or exchanged (outer_tier in mover.c) */
    struct hs_group group[HS_LEVELS_MAX];
    const struct hs_alg *alg[HS_LEVELS_MAX];
    struct hs_parameters with[HS_LEVELS_MAX];
    const struct hs_box *box; /* the box of the cells, if there is one level over all of them; else NULL */
    struct hs_topology topology[HS_LEVELS_MAX]; /* topology of each level's group, if its algorithm uses it */
    struct hs_native native[HS_LEVELS_MAX];     /* communicators for MPI's own collectives (mpi_rows.h) */
    int connected[HS_LEVELS_MAX];               /* true if native[] has been set */
    hsumma_operator operation;                  /* the sum of elements, for MPI's own collectives */
    /* Numbers of pinned indices in an exchange.  gives[i]: given by this process, as a holder, to taker i; takes[q]:
     * received by this process, as a taker, from holder q. */
    int64_t *gives, *takes;
    int *root;  /* in an exchange, root[owner]: root of this line for an owner's panels; NULL without an exchange */
    int *taker; /* in an exchange, taker[line]: root of a line for the panels that this process holds */
};

/* The number of reductions of C in flight on a level; 1 without lookahead.  levels: of the line, over cells if these
 * share panels. */
enum { HS_FEW_REDUCED = 3 }; /* members of a group of which two reductions are in flight at least */
int hs_reductions_in_flight(const struct hs_variant *variant, const struct hs_spec *spec,
                            const struct hs_factors *levels);

/* Sets all fields but the tables.  Local; allocates nothing.  cells: the cells of the operand's line, or NULL. */
void hs_mover_init(struct hs_mover *mover, const struct hs_problem *problem, const struct hs_variant *variant,
                   const struct hs_spec *spec, const struct hs_panels *panels, const struct hs_topology *topology,
                   const struct hs_cells *cells, int operand);

/* Allocates the tables that lists need: topologies of groups, and the roots and index counts of the exchange.
 * HSUMMA_ERR_MEMORY.  hs_mover_free_tables must be called, also after an error. */
hsumma_status hs_mover_make_tables(struct hs_mover *mover, const struct hs_allocator *memory);
void hs_mover_free_tables(struct hs_mover *mover, const struct hs_allocator *memory);

/*
 * The coordinate on a line of the root for the panels of `owner`.  The root is the owner, unless an exchange moves the
 * operand to the other axis.  Then any member can be the root.  If the holder of the line's first index is on the line,
 * the root is that holder.  Otherwise the owners are dealt to the members on the holder's node, so that panels need not
 * leave this node before they are broadcast.  If none is on this node, or `nodes` is NULL (unknown), the owners are
 * dealt to all members.  Sets *among to the number of members that owners are dealt to, or to the size of the line if
 * `owner` is not dealt.  line: the line's coordinate on role->want_axis.
 */
int hs_exchange_root(const struct hs_role *role, const struct hs_grid *grid, const struct hs_topology *nodes, int line,
                     int owner, int *among);
/* The coordinate on this process's line of the root for the panels of a pair of owners. */
int hs_mover_root(const struct hs_mover *mover, int pair);

/*
 * The level on which this process's cell receives the panels of a root or, for C, sends its sum: the innermost level on
 * which the digits of this cell and of the root's cell differ; -1 if this is the root's cell.  On the levels inside,
 * this cell is the root; on the levels outside, it is not a member of the collectives.
 */
int hs_mover_level(const struct hs_mover *mover, int root);

/* The index of this process in its cell. */
static inline int hs_mover_place(const struct hs_mover *mover)
{
    return mover->cells ? hs_place_in_part(mover->cells->division, mover->line) : 0;
}
/* The carrier of this process's cell for a root, as an index in the cell.  root: its coordinate on the line. */
static inline int hs_mover_carrier(const struct hs_mover *mover, int root)
{
    return mover->cells ? hs_place_in_part(mover->cells->division, root) % mover->cells->members : 0;
}
/* Whether this process is the carrier of its cell for a root. */
static inline int hs_mover_carries(const struct hs_mover *mover, int root)
{
    return hs_mover_carrier(mover, root) == hs_mover_place(mover);
}

/* The rank of a member of this process's line.  member: its coordinate on the line. */
static inline int hs_mover_rank(const struct hs_mover *mover, int member)
{
    const struct hs_grid *grid = &mover->problem->grid;
    int along = mover->role->line_axis;
    return hs_grid_rank(grid, hs_grid_index(grid, along, member, grid->coord[!along]));
}

/* Bytes of a buffer for one panel of a tier.  length: local extent of the pinned dimension. */
int64_t hs_mover_buffer_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                              int tier, int64_t length);
/* Upper bound on the bytes of the two message buffers of an exchange, outgoing and incoming. */
int64_t hs_mover_exchange_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs);
/* The innermost panels of tier panel o. */
struct hs_run_of_panels hs_mover_run(const struct hs_mover *mover, int tier, int o);
/* The pair of owners of tier panel o. */
int hs_mover_pair(const struct hs_mover *mover, int tier, int o);

/* The binding of a level's collective for a pair, without list, tag and buffers. */
struct hs_binding hs_mover_binding(const struct hs_mover *mover, int level, int pair);
/* Makes the lists of a level.  list[o]: index of the list for tier panel o; -1 if this process does not participate. */
hsumma_status hs_mover_lists(const struct hs_mover *mover, int level, int64_t segment, struct hs_cache *lists,
                             int *list);

/*
 * The exchange of a panel is between its holders and its takers (pack.h).  The holders are the processes with the
 * owner's coordinate on the axis of the looped dimension; the takers are the roots of the lines, or with `spread` all
 * members.  No process sends itself a message: indices that it both holds and takes are copied.
 */
/* Upper bound on the number of pinned indices in this process's packed messages of one exchange, as a holder (as_holder
 * 1) or as a taker (0). */
int64_t hs_mover_exchange_indices(const struct hs_mover *mover, int as_holder);
/* Whether this process is a holder of the panels of a pair of owners. */
int hs_mover_holds(const struct hs_mover *mover, int pair);
/* Whether this process is a taker of the panels of a pair of owners or, without an exchange, their root. */
int hs_mover_takes(const struct hs_mover *mover, int pair);
/* Makes the lists of the exchange.  list[o]: index of the list for tier0 panel o; -1 if this process is neither holder
 * nor taker.  outward: 1 for C, whose takers send and whose holders receive. */
hsumma_status hs_mover_exchange_lists(const struct hs_mover *mover, int outward, struct hs_cache *lists, int *list);
/* Packs or unpacks all messages of this process for tier0 panel o, which are consecutive in `message`.  Does nothing
 * for a taker with hs_role.direct, because its slabs are the messages. */
void hs_mover_exchange_copy(const struct hs_mover *mover, int o, enum hs_exchange_step step, char *message,
                            const struct hs_matrix *matrix, char *slabs, const void *beta);
/* Copies the indices that this process both holds and takes between its matrix and its slabs. */
void hs_mover_exchange_own(const struct hs_mover *mover, int o, enum hs_exchange_step step,
                           const struct hs_matrix *matrix, char *slabs, const void *beta);

#endif
