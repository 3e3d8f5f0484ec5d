/* The lists of all ranks of a group side by side, for the readers that need no MPI: verify, clock, dump. */
#ifndef HS_COLL_SCHEDULE_LISTS_H
#define HS_COLL_SCHEDULE_LISTS_H

#include "coll/schedule/registry.h"

/* Steps of all ranks are numbered through: step i of rank r is base[r] + i, a "global" step. */
struct hs_lists {
    int size, steps;
    const struct hs_list *list; /* a list per rank, with true ranks as peers */
    struct hs_list *owned;      /* the same if hs_lists_build has made them */
    int *base;                  /* size + 1 */
    int *rank;                  /* of each global step */
    int *mate;                  /* global step at the other end of a message, -1: none */
    int *signal;                /* of a WAIT: the SIGNAL that completes it; -1: none will, or no WAIT */
    int *first_user, *user;     /* user[first_user[g] .. first_user[g + 1]): the global steps that depend on g, which
                                   for a SIGNAL includes the WAITs of other ranks that it completes */
};

/*
 * Builds the list of every rank into an array that hs_free_all frees.  Peers are true ranks, whether or not the
 * algorithm is built with rotated ones; shape->rank is ignored.  After an error *list is NULL.
 */
hsumma_status hs_build_all(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                           struct hs_list **list);
/* The same for one rank; after an error *list is empty. */
hsumma_status hs_build_rank(const struct hs_alg *alg, const struct hs_shape *shape, int rank,
                            const struct hs_allocator *memory, struct hs_list *list);
void hs_free_all(const struct hs_allocator *memory, struct hs_list *list, int size);

/* hs_build_all, and the index below. */
hsumma_status hs_lists_build(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                             struct hs_lists *lists);
/* The same from lists that the caller keeps.  HSUMMA_ERR_INTERNAL if a peer or a dependency is out of range. */
hsumma_status hs_lists_index(const struct hs_list *list, int size, const struct hs_allocator *memory,
                             struct hs_lists *lists);
void hs_lists_free(const struct hs_allocator *memory, struct hs_lists *lists);

static inline const struct hs_step *hs_lists_step(const struct hs_lists *lists, int global)
{
    return &lists->list[lists->rank[global]].step[global - lists->base[lists->rank[global]]];
}

/*
 * Pairs the i-th SEND from a to b with the i-th RECV of b from a, whatever their counts: mate[] of both, by global
 * step; -1: none.  The ranks come in ascending order, each with open, add for its SENDs and RECVs, and close.
 */
struct hs_mail {
    int size, waiting;
    int *first[2], *last[2]; /* SENDs and RECVs for a rank that has not come yet, linked through mate[] */
    int *open[2];            /* of each peer, those for the rank that is there now */
};
hsumma_status hs_mail_begin(struct hs_mail *mail, int size, const struct hs_allocator *memory);
void hs_mail_open(struct hs_mail *mail, int rank, const int *rank_of, int *mate);
void hs_mail_add(struct hs_mail *mail, int rank, enum hs_kind kind, int peer, int g, int *mate);
void hs_mail_close(struct hs_mail *mail, int rank, int *mate);
void hs_mail_end(struct hs_mail *mail, const struct hs_allocator *memory);

/*
 * The length of the longest chain of steps, or of SENDs alone, that ends in each step, in level[lists->steps]; and
 * order[lists->steps]: the steps, each behind all that it waits for.  0: some wait for each other in a circle, and have
 * no place in it.  pending[lists->steps] is scratch.
 */
int hs_lists_levels(const struct hs_lists *lists, int sends_alone, int *level, int *order, int *pending);

/*
 * The round of every step, in round[lists->steps]: the length of the longest chain of dependent messages that ends in
 * it.  A SEND counts itself; a RECV is in the round of its SEND, or later when something that it waits for is; so is a
 * WAIT with its SIGNAL, which is no message.  HSUMMA_ERR_INTERNAL if messages do not match, a WAIT has no SIGNAL or the
 * steps wait for each other in a circle; HSUMMA_ERR_UNSUPPORTED for lists of MPI's own.
 */
hsumma_status hs_lists_rounds(const struct hs_lists *lists, const struct hs_allocator *memory, int *round);

#endif
