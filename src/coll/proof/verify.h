/*
 * verify executes the lists of all ranks in one process, without MPI, on symbolic data, and proves a collective correct
 * for the interleavings tried. It checks the result; that there is no deadlock, no unmatched message or message of the
 * wrong size, no WAIT without its SIGNAL and no read of unwritten memory; that of two independent steps, of one rank or
 * of two, neither writes bytes that the other accesses; that no peer reads a rank's memory before the rank has entered
 * the call or after it may have returned; and the order and bracketing of sums. It also counts messages, bytes, signals
 * and rounds.
 */
#ifndef HS_COLL_PROOF_VERIFY_H
#define HS_COLL_PROOF_VERIFY_H

#include "coll/schedule/registry.h"

enum hs_schedule { HS_IN_ORDER, HS_RANDOM, HS_LAST_FIRST, HS_STARVE_ONE, HS_SCHEDULES };

struct hs_verify_options {
    enum hs_schedule schedule;
    uint64_t seed;   /* seed of HS_RANDOM; for HS_STARVE_ONE it selects the starved rank */
    int eager;       /* 1 if SENDs complete immediately, 0 if every SEND is a rendezvous */
    int instances;   /* concurrent instances of the collective, whose messages match by instance; 0 means 1 */
    int window;      /* steps from the first incomplete one on that a rank may execute; 0 if there is no limit */
    int64_t run, ld; /* IN and OUT are lines of `run` elements with stride ld >= run; run 0: contiguous */
};

struct hs_verify_report {
    int64_t messages, bytes;   /* messages and bytes that all ranks send in one instance */
    int64_t messages_rank_max; /* maximum over ranks of messages sent */
    int64_t bytes_rank_max;
    int64_t signals;
    /* Messages between nodes (without a topology: between ranks), and their maximum over the senders. */
    int64_t inter_node_messages, inter_node_messages_rank_max;
    int64_t node_pair_messages_max; /* maximum number of messages from one node to another */
    int rounds;                     /* messages in the longest chain of dependent messages (hs_lists_rounds) */
    int same_bits;                  /* true unless ranks of an allreduce get different bracketings */
    /* True if all sums combine adjacent ranges of ranks, lower ones left; else `text` names one that does not. */
    int keeps_order;
    int uniform; /* true if all elements of OUT have the same bracketing */
    int exact;   /* true if each element of OUT is the result of one EXACT step over the contributions of all ranks */
    /*
     * Hash of the bracketing of the sums in OUT of the root (reduce), of rank 0 (allreduce) or of all ranks
     * (reduce_scatter), in instance 0.
     */
    uint64_t bracketing;
    char text[240]; /* readable description of the error */
};

/*
 * Verifies a row. shape->rank is ignored; shape->root is the true root (verify rotates ranks as an executor does).
 * options may be NULL. Returns HSUMMA_OK; HSUMMA_ERR_INTERNAL with report->text if the algorithm is wrong, also if it
 * violates the order or the uniform bracketing that its row's flags promise, or if the ranks of an allreduce get
 * different bits; HSUMMA_ERR_UNSUPPORTED if the row does not fit the shape, or is performed by MPI or by a function of
 * the caller; or HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_verify(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_verify_options *options,
                        const struct hs_allocator *memory, struct hs_verify_report *report);

/*
 * Verifies lists that the caller has built (perhaps with deliberate errors), as hs_verify does, but without the
 * promises of a row: list[r] is rank r's list, with true (unrotated) ranks.
 */
hsumma_status hs_verify_lists(enum hs_collective collective, const struct hs_list *list, const struct hs_shape *shape,
                              const struct hs_verify_options *options, const struct hs_allocator *memory,
                              struct hs_verify_report *report);

#endif
