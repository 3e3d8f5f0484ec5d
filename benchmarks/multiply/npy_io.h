/* A distributed matrix to and from a .npy file with MPI-IO: each rank moves its own part only, in collective calls of
 * bounded size, and nothing is gathered.
 *
 * A file by columns ("Fortran order") holds the matrix as the library wants it, a file by rows its transpose. So a
 * descriptor here speaks of the matrix in memory, and `flip` says that the file holds that matrix by rows. */
#ifndef HS_BENCHMARKS_MULTIPLY_NPY_IO_H
#define HS_BENCHMARKS_MULTIPLY_NPY_IO_H

#include "multiply/npy.h"
#include "report/output.h"

/* How a transfer is done and who is told of its progress. */
typedef struct npy_transfer {
    MPI_Comm comm;                                /* all ranks of it call together */
    int64_t piece;                                /* bytes that a rank moves in one call of MPI-IO, at most 2^30 */
    void (*progress)(void *context, double done); /* may be NULL; `done` grows to 1 */
    void *context;
} npy_transfer;

/* Large enough for a disk to run at its speed, small enough for memory and for the int counts of MPI-IO. */
enum { NPY_PIECE = 64 << 20, NPY_PIECE_MAX = 1 << 30 };

/* Why this layout cannot be read or written, or 0: dimensions beyond the 31 bits of MPI's counts, and layouts that
 * begin elsewhere than at the first process or with a block of another size. The same verdict on all ranks. */
int npy_check_layout(const hsumma_desc *desc, npy_error *error);

/*
 * Read and write the elements after the header. Collective over transfer->comm, which contains the grid; `local` has
 * the leading dimension of the descriptor, which must be the number of local rows (at least 1), and may be NULL where
 * nothing is stored. They return 0, or -1 on every rank if any rank failed; then `error` explains on the ranks that
 * failed and is
 * "" on others. The file that is written must exist; flip is not offered for writing.
 */
int npy_read(const npy_transfer *transfer, const char *path, const npy_header *header, const hsumma_desc *desc,
             int flip, void *local, npy_error *error);
int npy_write(const npy_transfer *transfer, const char *path, const npy_header *header, const hsumma_desc *desc,
              const void *local, npy_error *error);

/* Opens the output of a result: a file with the header and room for the data (report/output.h).  Local. */
int npy_create(output *out, const char *path, npy_header *header, int force, npy_error *error);

#endif
