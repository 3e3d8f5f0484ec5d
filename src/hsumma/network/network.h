/*
 * The network between the nodes of a context, and the rate of its processes.  If neither a profile nor an earlier
 * measurement describes it, it is measured when the context is created, in less than a tenth of a second, and stored.
 *
 * It is stored as a line of the tuned file, one per set of hosts:
 *   network KEY eager=BYTES alpha=S ...
 */
#ifndef HS_HSUMMA_NETWORK_NETWORK_H
#define HS_HSUMMA_NETWORK_NETWORK_H

#include "base/scalar.h"
#include "coll/node/comm.h"
#include "coll/select/select.h"
#include "hsumma/cost/profile.h"

struct hs_network {
    struct hs_link between; /* messages between nodes */
    double inject;          /* seconds per byte that leaves a node, over all its ranks; 0 if no limit was seen */
    struct hs_link inside; /* messages inside a node; alpha and beta are 0 if no node has two ranks or time was short */
    double gemm; /* the time of the local GEMM, divided by that of the built-in profile; 0 if it was not measured */
};

/*
 * Measures messages between nodes and inside them, and the local GEMM of doubles, on all ranks at the same time, with
 * `threads` BLAS threads (0: as many as the BLAS uses; gemm NULL: not).  Steps after the first are skipped if they
 * would exceed `budget` seconds; *seconds is the time used.  comm must have several nodes and a known topology.
 * Collective, with the same status, figures and seconds on all ranks.  HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI.
 */
hsumma_status hs_network_measure(struct hs_comm *comm, double budget, hs_gemm *gemm, int threads,
                                 const struct hs_allocator *memory, struct hs_network *network, double *seconds);

/* Puts the figures into a profile; source: the profile's new source text. */
void hs_network_use(const struct hs_network *network, const char *source, struct hs_profile *profile);

/*
 * Implemented in network_key.c: a hash that identifies a set of hosts by their names, the number of ranks on each, the
 * virtual nodes and sockets (option topology), and the MPI library.  The key is 0 on all ranks but the first.
 * Collective, with the same status on all ranks.  HSUMMA_ERR_MPI.
 */
hsumma_status hs_network_key(MPI_Comm comm, int on_machine, int nodes, int sockets, const struct hs_watch *watch,
                             uint64_t *key);

/* Implemented in network_text.c: writes a line of the tuned file; returns the length, like snprintf. */
int hs_network_write(uint64_t key, const struct hs_network *network, char *text, size_t size);
/* Reads the last line with this key from a tuned file's text; returns 0 if there is none. */
int hs_network_recall(const char *text, uint64_t key, struct hs_network *network);
/* Reads a line that begins with hs_tuned_network; returns 0 if it is invalid. */
int hs_network_read(const struct hs_tuned_fields *line, uint64_t *key, struct hs_network *network);

#endif
