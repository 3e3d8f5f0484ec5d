/*
 * verify: executes the lists of all ranks in one process, without MPI, on symbolic data, and proves a collective
 * correct for the schedules tried. It checks the data; that there is no deadlock, no unmatched message or message of
 * the wrong size, no WAIT without its SIGNAL and no read of unwritten memory; that no two independent steps, of one
 * rank or of two, touch the same bytes; that no rank's memory is read by a peer before the rank has entered or after it
 * may have left; and the order and bracketing of sums. It also counts messages, bytes, signals and rounds.
 */
#ifndef HS_COLL_PROOF_VERIFY_H
#define HS_COLL_PROOF_VERIFY_H

#include "coll/schedule/registry.h"

enum hs_schedule { HS_IN_ORDER, HS_RANDOM, HS_LAST_FIRST, HS_STARVE_ONE, HS_SCHEDULES };

struct hs_verify_options {
    enum hs_schedule schedule;
    uint64_t seed;   /* for HS_RANDOM; for HS_STARVE_ONE it selects the starved rank */
    int eager;       /* 1: SENDs complete immediately; 0: every SEND is a rendezvous */
    int instances;   /* concurrent instances of the collective (0: 1), matched by instance */
    int window;      /* steps that a rank may have in progress or skip over (0: no limit) */
    int64_t run, ld; /* IN and OUT are bound as lines of `run` elements with stride ld >= run (0: contiguous) */
};

struct hs_verify_report {
    int64_t messages, bytes;   /* over all ranks, of one instance */
    int64_t messages_rank_max; /* sent by the rank that sends most */
    int64_t bytes_rank_max;
    int64_t signals;
    /* Between ranks on different nodes of shape->topology (NULL: every rank is its own node). */
    int64_t inter_node_messages, inter_node_messages_rank_max;
    int64_t node_pair_messages_max; /* most messages from one node to another one */
    int rounds;                     /* longest chain of dependent messages (hs_lists_rounds) */
    int same_bits;                  /* allreduce: all ranks get the same bracketing */
    /* All sums combine adjacent ranges, lower ranks on the left; else text names one that does not. */
    int keeps_order;
    int uniform; /* all elements of OUT have the same bracketing */
    /* Hash of the bracketing of the sums (reduce: the root's, allreduce: rank 0's, reduce_scatter: all parts'). */
    uint64_t bracketing;
    char text[240]; /* readable description of the error */
};

/*
 * Verifies a row. shape->rank is ignored; shape->root is the true root (verify rotates ranks as an executor does).
 * options may be NULL. Returns HSUMMA_OK; HSUMMA_ERR_INTERNAL with report->text if the algorithm is wrong, which
 * includes that it breaks the order or the uniform bracketing promised by its row, or that ranks of an allreduce differ
 * in bits; HSUMMA_ERR_UNSUPPORTED if it does not fit the shape or is row "mpi"; or HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_verify(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_verify_options *options,
                        const struct hs_allocator *memory, struct hs_verify_report *report);

/*
 * As hs_verify, for lists that the caller has built (perhaps with deliberate errors): list[r] is rank r's, unrotated.
 */
hsumma_status hs_verify_lists(enum hs_collective collective, const struct hs_list *list, const struct hs_shape *shape,
                              const struct hs_verify_options *options, const struct hs_allocator *memory,
                              struct hs_verify_report *report);

#endif
