/* One collective call of one size: its buffers, hsumma's and MPI's form of it, and what must come out. */
#ifndef HS_BENCHMARKS_COLL_CASE_H
#define HS_BENCHMARKS_COLL_CASE_H

#include "coll/command.h"

typedef struct coll_case {
    MPI_Comm comm;
    int rank, size;
    hsumma_coll call; /* algorithm = NULL */
    coll_element element;
    int64_t bytes;              /* of the whole vector */
    size_t in_bytes, out_bytes; /* of this rank's buffers */
    unsigned char *in, *out, *expected;
    /* on a device: its context, and the call's buffers there; in and out then are pinned memory */
    hsumma_context *ctx;
    void *there_in, *there_out;
} coll_case;

/* The sizes of --bytes, each cut to what the ranks can share equally in whole elements, but at least one each;
 * ascending. Returns how many. */
enum { COLL_SIZES = 40 };
int coll_case_sizes(const coll_arguments *args, int ranks, int64_t bytes[COLL_SIZES]);
/* Allocates and fills; 0 without memory (on this rank).  Local. */
int coll_case_make(coll_case *c, const coll_arguments *args, int64_t bytes, MPI_Comm comm);
void coll_case_free(coll_case *c);
/* The call's buffers become memory of the context's device.  Collective.  A message, or NULL. */
const char *coll_case_place(coll_case *c, hsumma_context *ctx);

/* Spoils out, so that a result must be new. */
void coll_case_reset(coll_case *c);
/* Whether out holds what it should. */
int coll_case_right(coll_case *c);
/* Contributions that are sums of no few bits, so that the order of a sum shows; and back. */
void coll_case_roughen(coll_case *c);
void coll_case_smooth(coll_case *c);
/* A number that tells results apart by their bits: of this rank's. */
uint64_t coll_case_bits(coll_case *c);

/* MPI's blocking collective; an MPI error code.  On a device with copies out of it and in again, as MPI without
 * knowledge of GPUs wants it. */
int coll_case_mpi(const coll_case *c);
const char *coll_case_mpi_name(const coll_case *c);

#endif
