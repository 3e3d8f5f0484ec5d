/* Headers of NumPy's .npy files (format versions 1.0, 2.0, 3.0). The format, as in numpy.lib.format: "\x93NUMPY", two
 * version bytes, the length of the text (little-endian; 2 bytes, from version 2.0 on 4), the text of a Python
 * dictionary padded with spaces, the elements.
 *
 * Nothing here prints. A function that can fail returns 0, or -1 with a one-line message in `error`. */
#ifndef HS_BENCHMARKS_MULTIPLY_NPY_H
#define HS_BENCHMARKS_MULTIPLY_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A two-dimensional array in a file. */
typedef struct npy_header {
    hsumma_type type;
    int fortran;        /* stored by columns (else by rows) */
    int64_t rows, cols; /* the shape that NumPy shows */
    int64_t data;       /* offset of the first element, in bytes */
} npy_header;

typedef struct hs_message npy_error;

/* Sets the message and returns -1. */
int npy_fail(npy_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The bytes that npy_header_size needs, and that npy_format writes at most. */
enum { NPY_PREFIX = 12, NPY_WRITTEN = 256 };

/* The length of the header (the offset of the elements), from the first `size` bytes of a file; at most NPY_PREFIX of
 * them are read. -1 with an error if these bytes begin no valid .npy file. */
int64_t npy_header_size(const unsigned char *bytes, size_t size, npy_error *error);

/* Parses the header at the start of `size` bytes of a file. */
int npy_parse(const unsigned char *bytes, size_t size, npy_header *header, npy_error *error);

/* Sets header->data and writes a version 1.0 header as NumPy does; returns its length, a multiple of 64. */
size_t npy_format(npy_header *header, unsigned char bytes[NPY_WRITTEN]);

/* The bytes of all elements; cannot overflow for a header from npy_parse. */
int64_t npy_data_size(const npy_header *header);

/* Checks that a file of file_size bytes has exactly the elements of the header. */
int npy_check_size(const npy_header *header, int64_t file_size, npy_error *error);

/* Opens the file, reads and checks its header and size. Not collective: for one rank. */
int npy_read_header(const char *path, npy_header *header, npy_error *error);

#endif
