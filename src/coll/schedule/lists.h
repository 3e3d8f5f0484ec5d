/* The lists of all ranks of a group side by side, for readers that need no MPI: verify, clock, dump. */
#ifndef HS_COLL_SCHEDULE_LISTS_H
#define HS_COLL_SCHEDULE_LISTS_H

#include "coll/schedule/registry.h"

/* Steps have global numbers across ranks: step i of rank r is base[r] + i. */
struct hs_lists {
    int size, steps;
    const struct hs_list *list; /* one list per rank, indexed by rank; peers are true (unrotated) ranks */
    struct hs_list *owned;      /* equal to `list` if hs_lists_build has built the lists, else NULL */
    /* In one block of memory, which begins with base. */
    int *base; /* global number of each rank's first step; size + 1 entries, the last one is `steps` */
    int *rank; /* rank of each global step */
    /* The step at the other end of a SEND's or RECV's message, -1 if none; matching MPI steps form a ring. */
    int *mate;
    int *signal; /* for each WAIT, the global step of the SIGNAL that completes it; -1 if none, and for other steps */
    /*
     * The global steps that depend on step g are user[first_user[g] .. first_user[g + 1]); for a SIGNAL they include
     * the WAITs of other ranks that it completes.
     */
    int *first_user, *user;
};

/*
 * Builds the lists of all ranks in an array that hs_free_all frees. Peers are true ranks, even if the algorithm is
 * built with rotated ones; shape->rank is ignored. After an error *list is NULL.
 */
hsumma_status hs_build_all(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                           struct hs_list **list);
/* Builds the list of one rank, with peers as in hs_build_all; after an error *list is empty. */
hsumma_status hs_build_rank(const struct hs_alg *alg, const struct hs_shape *shape, int rank,
                            const struct hs_allocator *memory, struct hs_list *list);
void hs_free_all(const struct hs_allocator *memory, struct hs_list *list, int size);

/* Builds the lists of all ranks and indexes them; *lists owns them. */
hsumma_status hs_lists_build(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                             struct hs_lists *lists);
/* Indexes lists that the caller keeps. HSUMMA_ERR_INTERNAL: a peer or a dependency is out of range. */
hsumma_status hs_lists_index(const struct hs_list *list, int size, const struct hs_allocator *memory,
                             struct hs_lists *lists);
void hs_lists_free(const struct hs_allocator *memory, struct hs_lists *lists);

static inline const struct hs_step *hs_lists_step(const struct hs_lists *lists, int global)
{
    return &lists->list[lists->rank[global]].step[global - lists->base[lists->rank[global]]];
}

/* The ranks of an MPI step. */
static inline const struct hs_joint *hs_lists_joint(const struct hs_lists *lists, int global)
{
    return &lists->list[lists->rank[global]].joint[hs_lists_step(lists, global)->peer];
}

/*
 * Matches messages in one pass over the ranks: the i-th SEND from a to b with the i-th RECV of b from a, whatever their
 * counts. mate[] of each step becomes the global number of the other step, or -1 if there is none; matching MPI steps
 * become a ring. For each rank in ascending order, call hs_mail_open, hs_mail_add for its SENDs and RECVs, hs_mail_join
 * for its MPI steps, and hs_mail_close.
 */
struct hs_mail {
    int size, waiting;    /* waiting: number of steps in all queues of open[] */
    struct hs_ring *ring; /* one entry for each set of matching MPI steps that some ranks have not reached */
    int rings;
    size_t ring_capacity;
    int *first[2], *last[2]; /* queues, linked by mate[], of SENDs [0] and RECVs [1] that name a rank not yet visited */
    int *open[2];            /* for each peer, its unmatched SENDs [0] and RECVs [1] that name the current rank */
};
hsumma_status hs_mail_begin(struct hs_mail *mail, int size, const struct hs_allocator *memory);
void hs_mail_open(struct hs_mail *mail, int rank, const int *rank_of, int *mate);
void hs_mail_add(struct hs_mail *mail, int rank, enum hs_kind kind, int peer, int g, int *mate);
/* Adds MPI step g, performed by the ranks of `joint`, to its ring. Returns HSUMMA_OK or HSUMMA_ERR_MEMORY. */
hsumma_status hs_mail_join(struct hs_mail *mail, int rank, const struct hs_joint *joint, int g, int *mate,
                           const struct hs_allocator *memory);
void hs_mail_close(struct hs_mail *mail, int rank, int *mate);
void hs_mail_end(struct hs_mail *mail, const struct hs_allocator *memory);

/*
 * Sets level[g] to the length of the longest dependency chain that ends in step g, counted in steps (or, with
 * sends_alone, in SENDs and MPI steps only), and order[] to the steps in topological order; pending[] is scratch
 * memory. All three arrays have lists->steps entries. Returns 1, or 0 if steps are missing from order[]: those on a
 * dependency cycle, RECVs without a SEND, WAITs without a SIGNAL, and all steps that depend on these.
 */
int hs_lists_levels(const struct hs_lists *lists, int sends_alone, int *level, int *order, int *pending);

/*
 * Sets round[g] to the round of step g, for all lists->steps steps: the largest number of SENDs and MPI steps in a
 * dependency chain that ends in the step, itself included. A RECV is in the round of its SEND, or in a later one if it
 * depends on a later step. A WAIT likewise follows its SIGNAL, which does not count as a message. Returns
 * HSUMMA_ERR_INTERNAL if a RECV has no SEND, a WAIT has no SIGNAL or dependencies form a cycle.
 */
hsumma_status hs_lists_rounds(const struct hs_lists *lists, const struct hs_allocator *memory, int *round);

#endif
