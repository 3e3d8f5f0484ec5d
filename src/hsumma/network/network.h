/*
 * What lies between the nodes of a context, where no profile says it: measured when a context is made, in less than a
 * tenth of a second, and remembered.
 *
 * A line of the tuned file holds it, one for each set of hosts:
 *   network KEY alpha=S beta=S ...
 */
#ifndef HS_HSUMMA_NETWORK_NETWORK_H
#define HS_HSUMMA_NETWORK_NETWORK_H

#include "coll/node/comm.h"
#include "coll/select/select.h"
#include "hsumma/cost/profile.h"

struct hs_network {
    struct hs_link between; /* nodes */
    double inject;          /* s per byte that leaves a node, whoever sends it; 0: no limit was seen */
    struct hs_link inside;  /* a node; both 0: no node has two ranks */
};

/*
 * Measures messages between nodes, and inside them.  What would go beyond `budget` seconds is left out; what it took
 * comes in *seconds.  A comm of several nodes whose topology is known; collective, and the same status, figures and
 * seconds on all ranks.  HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI.
 */
hsumma_status hs_network_measure(struct hs_comm *comm, double budget, const struct hs_allocator *memory,
                                 struct hs_network *network, double *seconds);

/* Puts the figures into a profile, with `source` as where it comes from. */
void hs_network_use(const struct hs_network *network, const char *source, struct hs_profile *profile);

/*
 * network_key.c: what identifies a set of hosts: their names, how many ranks of comm each has, virtual nodes, and MPI.
 * 0 on all ranks but the first.  Collective, and the same status on all ranks: HSUMMA_ERR_MPI.
 */
hsumma_status hs_network_key(MPI_Comm comm, int on_machine, int nodes, int sockets, uint64_t *key);

/* network_text.c: the length, as snprintf. */
int hs_network_write(uint64_t key, const struct hs_network *network, char *text, size_t size);
/* The last line of a tuned file's text that has the key; 0 if there is none. */
int hs_network_recall(const char *text, uint64_t key, struct hs_network *network);
/* Whether a line that begins with hs_tuned_network can be read. */
int hs_network_read(const struct hs_tuned_fields *line, uint64_t *key, struct hs_network *network);

#endif
