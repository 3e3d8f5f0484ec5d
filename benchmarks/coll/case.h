/* One collective call of one size: its buffers, the call by hsumma and by MPI, and the right result. */
#ifndef HS_BENCHMARKS_COLL_CASE_H
#define HS_BENCHMARKS_COLL_CASE_H

#include "coll/command.h"

typedef struct coll_case {
    MPI_Comm comm;
    int rank, size;
    hsumma_coll call; /* the call's arguments, with algorithm = NULL */
    coll_element element;
    int64_t bytes;              /* size of the vector */
    size_t in_bytes, out_bytes; /* sizes of this rank's buffers */
    unsigned char *in, *out, *expected;
    /* if vectors are on a device: the context, and the call's buffers in device memory; in and out are then pinned */
    hsumma_context *ctx;
    void *there_in, *there_out;
} coll_case;

/* The sizes of --bytes, ascending, each rounded down to whole elements, at least one; for allgather and reduce_scatter
 * to the same number of elements for each rank. Returns the number of sizes. */
enum { COLL_SIZES = 40 };
int coll_case_sizes(const coll_arguments *args, int ranks, int64_t bytes[COLL_SIZES]);
/* Allocates and fills the buffers; returns 0 if out of memory on this rank. Local. */
int coll_case_make(coll_case *c, const coll_arguments *args, int64_t bytes, MPI_Comm comm);
void coll_case_free(coll_case *c);
/* Moves the call's buffers to the context's device. Collective. Returns an error message, or NULL. */
const char *coll_case_place(coll_case *c, hsumma_context *ctx);

/* Overwrites the result, so that an old one cannot pass; on the root of a broadcast, with the vector. */
void coll_case_reset(coll_case *c);
/* Whether this rank's result is right. */
int coll_case_right(coll_case *c);
/* Replaces contributions by random numbers, whose sum in floating point depends on its order; coll_case_smooth restores
 * them. */
void coll_case_roughen(coll_case *c);
void coll_case_smooth(coll_case *c);
/* A hash of the bits of this rank's result. */
uint64_t coll_case_bits(coll_case *c);

/* Calls MPI's blocking collective; returns an MPI error code. Vectors on a device are copied to host memory and back,
 * as an MPI that is not GPU-aware needs. */
int coll_case_mpi(const coll_case *c);
const char *coll_case_mpi_name(const coll_case *c);

#endif
