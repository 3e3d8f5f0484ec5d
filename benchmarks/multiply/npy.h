/* The header of NumPy's .npy files (format versions 1.0, 2.0, 3.0) and matrices in such files, spread over a grid of
 * processes. The format: numpy.lib.format, "\x93NUMPY", two version bytes, the length of the text (2 bytes, from
 * version 2.0 on 4, little-endian), the text of a Python dictionary padded with spaces, the elements.
 *
 * Nothing here prints. A function that can fail returns 0, or -1 with one line of explanation in `error`. */
#ifndef HS_BENCHMARKS_MULTIPLY_NPY_H
#define HS_BENCHMARKS_MULTIPLY_NPY_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "hsumma.h"

/* A two-dimensional array in a file. */
typedef struct npy_header {
    hsumma_type type;
    int fortran;        /* stored by columns (else by rows) */
    int64_t rows, cols; /* logical: the shape that NumPy shows */
    int64_t data;       /* offset of the first element in bytes */
} npy_header;

typedef struct npy_error {
    char text[400];
} npy_error;

/* Explains; returns -1. */
int npy_fail(npy_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bytes that are enough for npy_header_size to see all it needs, and for npy_format to write. */
enum { NPY_PREFIX = 12, NPY_WRITTEN = 256 };

/* The length of the whole header (the offset of the elements) from the first `size` bytes of a file, at most NPY_PREFIX
 * of them are looked at; -1 with an error if this is no .npy file or not a sane one. */
int64_t npy_header_size(const unsigned char *bytes, size_t size, npy_error *error);

/* Reads a whole header of `size` bytes: npy_header_size's answer. */
int npy_parse(const unsigned char *bytes, size_t size, npy_header *header, npy_error *error);

/* Sets header->data and writes a version 1.0 header as NumPy does; returns its length, a multiple of 64. */
size_t npy_format(npy_header *header, unsigned char bytes[NPY_WRITTEN]);

/* Bytes of all elements; a header from npy_parse cannot overflow. */
int64_t npy_data_size(const npy_header *header);

/* Whether a file of file_size bytes has exactly the elements that the header announces. */
int npy_check_size(const npy_header *header, int64_t file_size, npy_error *error);

/* Opens the file, reads and checks its header and size. Not collective: one rank calls it. */
int npy_read_header(const char *path, npy_header *header, npy_error *error);

#endif
