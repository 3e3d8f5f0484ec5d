/*
 * How a process multiplies matrices in its own memory: with its BLAS or, if its context has a device, on the device.
 *
 * On a device the operands are streamed in tiles (tiles.h says which, and in which order), within this process's share
 * of the device's memory; managed memory is not used.  Three streams work at a time: one copies in, one multiplies, one
 * copies out.  Device copies reach full speed only for pinned memory, so the calling thread copies all other host
 * memory through pinned pieces, which it fills and empties while other pieces are in flight.  Operands in device memory
 * are used in place.  A product without operands in device memory is left to the BLAS if the BLAS is expected to
 * complete it sooner, for instance because it is small.
 *
 * C in host memory is only overwritten with complete results.  So if the device fails or runs out of memory, the BLAS
 * does the rest, the device is not used again, and hs_local_note says why.  The BLAS cannot complete a product with an
 * operand on the device, nor one with pinned C and beta not 0 if the failure occurs while a tile of C is being written;
 * these return the device's status.
 */
#ifndef HS_SUMMA_LOCAL_LOCAL_H
#define HS_SUMMA_LOCAL_LOCAL_H

#include "base/device.h"
#include "base/scalar.h"

struct hs_local;

/* Sizes, and the rates that decide between BLAS and device. */
struct hs_local_limits {
    int64_t memory;   /* maximum bytes of device memory */
    int64_t piece;    /* bytes of a pinned piece */
    int64_t edge;     /* maximum number of rows, and of columns, of a tile of C */
    double host[2];   /* flops per second of the BLAS in double [0] and single [1] precision; 0: never use the BLAS */
    double device[2]; /* flops per second of the device in double [0] and single [1] precision */
    double link;      /* bytes per second between pinned memory and device, in each direction */
    double copies;    /* bytes per second of copies by the calling thread */
    double start;     /* seconds until the first copy is in flight */
};

/* Values for an H100 or H200 on PCIe 5, with unlimited memory. */
extern const struct hs_local_limits hs_local_usual;

/* C := alpha op(A) op(B) + beta C, column-major; each operand may be in any kind of memory. */
struct hs_product {
    const struct hs_scalar *scalar;
    char op[2];
    int64_t extent[3]; /* m, n, k */
    union hs_value alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    int threads; /* number of threads of the BLAS; 0 leaves its setting unchanged */
};

/* Whether the elements are single-precision numbers. */
static inline int hs_is_single(const struct hs_scalar *scalar)
{
    return scalar->size == (scalar->complex_type ? 2 : 1) * sizeof(float);
}

static inline int64_t hs_product_flops(const struct hs_product *product)
{
    const int64_t *extent = product->extent;
    return extent[0] * extent[1] * extent[2] * (product->scalar->complex_type ? 8 : 2);
}

/*
 * Makes the state for local products.  `device` must outlive it; nothing is allocated on the device before the first
 * product.  order: points to the stream on which operands that the device accesses in place become ready; read at each
 * product; may be NULL.  HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_local_make(struct hs_device *device, struct hs_stream *const *order,
                            const struct hs_local_limits *limits, const struct hs_allocator *memory,
                            struct hs_local **local);
/* Waits until this state's work on the device is complete, then frees the state; NULL is ignored. */
void hs_local_free(struct hs_local *local);

/* In the functions below `local` may be NULL (the BLAS then computes all products), except where noted. */

/* The reason why the device is no longer used; "" while it is used. */
const char *hs_local_note(const struct hs_local *local);
/* Like hs_local_note, but only the first time after a failure; "" afterwards. */
const char *hs_local_news(struct hs_local *local);
/* The name of the device's kind if the device would compute a product of this size with all operands in host memory,
 * else "BLAS". */
const char *hs_local_maker(const struct hs_local *local, const struct hs_scalar *scalar, const int64_t extent[3]);
/* Whether the device is in use and expected to be faster than the BLAS for a product of this size, with all operands in
 * host memory; 0 without a device.  more: seconds that it needs beyond those of a local product. */
int hs_local_prefers(const struct hs_local *local, const struct hs_scalar *scalar, const int64_t extent[3],
                     double more);
/* The maximum bytes of device memory for operands from host memory; local is not NULL. */
int64_t hs_local_memory(const struct hs_local *local);
/* Records a failure of the device outside the local products: the BLAS computes later products.  local is not NULL. */
void hs_local_disable(struct hs_local *local, hsumma_status status);
/* Whether the device would compute this product. */
int hs_local_takes(const struct hs_local *local, const struct hs_product *product);

/* Begins a product; only one may be in progress.  Its operands must not change until it is complete. */
void hs_local_start(struct hs_local *local, const struct hs_product *product);
/* Advances the product (an hs_advance function).  The BLAS completes it in one call; with a device a call takes about
 * as long as the copy of one piece. */
hsumma_status hs_local_advance(void *local, int *worked, int *done);
/* Whether the device has a product in progress. */
int hs_local_is_busy(const struct hs_local *local);
/* Abandons the product; afterwards its operands are not accessed.  local is not NULL. */
void hs_local_stop(struct hs_local *local);

#endif
