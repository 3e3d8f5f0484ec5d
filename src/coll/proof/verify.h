/*
 * verify: runs the lists of all ranks in one process, without MPI, on symbolic data, and proves (for the schedules
 * tried) that the collective is right: data, no deadlock, no unmatched or mis-sized message, no signal that never
 * comes, no read of unwritten memory, no two independent steps, of one rank or of two, that touch the same bytes, no
 * peer's memory read before the peer has entered or after it may have left, order and bracketing of the sums; and
 * counts messages, bytes, signals and rounds.
 */
#ifndef HS_COLL_PROOF_VERIFY_H
#define HS_COLL_PROOF_VERIFY_H

#include "coll/schedule/registry.h"

enum hs_schedule { HS_IN_ORDER, HS_RANDOM, HS_LAST_FIRST, HS_STARVE_ONE, HS_SCHEDULES };

struct hs_verify_options {
    enum hs_schedule schedule;
    uint64_t seed;   /* of HS_RANDOM; which rank HS_STARVE_ONE starves */
    int eager;       /* 1: SENDs complete at once; 0: every SEND is a rendezvous */
    int instances;   /* so many instances of the collective at the same time (1 if 0), matched by instance */
    int window;      /* steps that a rank may have under way or skip over (0: no limit) */
    int64_t run, ld; /* IN and OUT are bound as lines of `run` elements, ld >= run apart (0: contiguous) */
};

struct hs_verify_report {
    int64_t messages, bytes;   /* over all ranks, of one instance */
    int64_t messages_rank_max; /* sent by the rank that sends most */
    int64_t bytes_rank_max;
    int64_t signals;
    /* Between ranks on different nodes of shape->topology (NULL: every rank is a node). */
    int64_t inter_node_messages, inter_node_messages_rank_max;
    int64_t node_pair_messages_max; /* from one node to one other, at most */
    int rounds;                     /* longest chain of dependent messages (hs_lists_rounds) */
    int same_bits;                  /* allreduce: all ranks end with the same bracketing */
    int keeps_order;                /* every sum joined neighbouring ranges, lower ranks left; else text names one */
    int uniform;                    /* every element of OUT has the same bracketing */
    uint64_t bracketing;            /* a hash of the bracketing of the sums (reduce: the root's, allreduce: rank 0's,
                                       reduce_scatter: all parts) */
    char text[240];                 /* what went wrong, for people */
};

/*
 * shape->rank is ignored, shape->root is the true root (verify rotates ranks as an executor does).  options may be
 * NULL. Returns HSUMMA_OK, HSUMMA_ERR_INTERNAL with report->text when the algorithm is wrong (also when it does not
 * keep the order or the uniform bracketing that its row promises, or ranks of an allreduce differ in bits),
 * HSUMMA_ERR_UNSUPPORTED when it does not fit the shape or is MPI's own, or HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_verify(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_verify_options *options,
                        const struct hs_allocator *memory, struct hs_verify_report *report);

/* The same for lists that somebody else has built (and may have broken on purpose): list[r] is rank r's, unrotated. */
hsumma_status hs_verify_lists(enum hs_collective collective, const struct hs_list *list, const struct hs_shape *shape,
                              const struct hs_verify_options *options, const struct hs_allocator *memory,
                              struct hs_verify_report *report);

#endif
