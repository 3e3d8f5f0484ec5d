/* Moves a distributed matrix to or from a .npy file by MPI-IO: each rank moves only its own part, in collective calls
 * of bounded size; nothing is gathered.
 *
 * A file by columns ("Fortran order") holds the matrix in the library's order, a file by rows its transpose. A
 * descriptor here describes the matrix in memory; `flip` says that the file holds that matrix by rows. */
#ifndef HS_BENCHMARKS_MULTIPLY_NPY_IO_H
#define HS_BENCHMARKS_MULTIPLY_NPY_IO_H

#include "multiply/npy.h"
#include "report/output.h"

/* Parameters of a transfer. */
typedef struct npy_transfer {
    MPI_Comm comm;                                /* the ranks that make the transfer together */
    int64_t piece;                                /* bytes per rank in each MPI-IO call, at most 2^30 */
    void (*progress)(void *context, double done); /* may be NULL; `done` grows to 1 */
    void *context;
} npy_transfer;

/* NPY_PIECE, the default, is large enough for the full speed of a disk and small enough for memory; NPY_PIECE_MAX is
 * within MPI-IO's int counts. */
enum { NPY_PIECE = 64 << 20, NPY_PIECE_MAX = 1 << 30 };

/* 0, or -1 if the layout cannot be read or written: dimensions beyond MPI's 31-bit counts, an offset, a source that is
 * not the first process, or a first block of another size. The same on all ranks. */
int npy_check_layout(const hsumma_desc *desc, npy_error *error);

/*
 * Read and write the elements after the header. Collective over transfer->comm, which contains the grid. The leading
 * dimension of `local` is the descriptor's, which must be the number of local rows (at least 1); `local` may be NULL if
 * this rank stores nothing. They return 0, or -1 on every rank if any failed; then `error` has a message on the
 * ranks that know most about the failure, and is empty on others. The file to write must exist. There is no flip for
 * writing.
 */
int npy_read(const npy_transfer *transfer, const char *path, const npy_header *header, const hsumma_desc *desc,
             int flip, void *local, npy_error *error);
int npy_write(const npy_transfer *transfer, const char *path, const npy_header *header, const hsumma_desc *desc,
              const void *local, npy_error *error);

/* Opens the output file of a result, with the header and space for the data (report/output.h). Local. */
int npy_create(output *out, const char *path, npy_header *header, int force, npy_error *error);

#endif
