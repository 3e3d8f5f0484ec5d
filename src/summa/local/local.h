/*
 * How a process multiplies what lies in its own memory: with its BLAS, or, where its context has a device, there.
 *
 * With a device the operands are streamed in tiles (tiles.h says which and in which order), within the memory
 * that this process may use of the device; none of it is managed memory.  Three streams work at the same time: one in,
 * one that multiplies, one out.  What the device's copies cannot read and write at full speed, which is all memory that
 * is not pinned, goes through pinned pieces that the calling thread fills and empties while others are under way.  What
 * lies on the device already is used where it is.  Small products, which the BLAS ends before the device has begun,
 * stay with the BLAS.
 *
 * C in memory of the host is written when its new elements are there and right.  So if the device fails, or has no
 * memory, the BLAS does what is left, the device is not used again, and hs_local_note says why.  There are two
 * products that cannot be saved so, and end with the device's status: with an operand on the device, and with pinned C
 * and beta not 0 when the failure comes while a tile of C is being written.
 */
#ifndef HS_SUMMA_LOCAL_LOCAL_H
#define HS_SUMMA_LOCAL_LOCAL_H

#include "base/device.h"
#include "base/scalar.h"

struct hs_local;

/* What decides between BLAS and device, and sizes. */
struct hs_local_limits {
    int64_t memory;   /* bytes of the device */
    int64_t piece;    /* bytes of a pinned piece */
    int64_t edge;     /* of tiles of C */
    double host[2];   /* multiplications and additions per second in double, in single; 0: never by the BLAS */
    double device[2]; /* the device's */
    double link;      /* bytes per second: between pinned memory and device, each way */
    double copies;    /* of the calling thread's copies */
    double start;     /* seconds until something is under way */
};

/* An H100 or H200 on PCIe 5, in the size of its memory's share. */
extern const struct hs_local_limits hs_local_usual;

/* C := alpha op(A) op(B) + beta C, column by column; each operand in any memory. */
struct hs_product {
    const struct hs_scalar *scalar;
    char op[2];
    int64_t extent[3]; /* m, n, k */
    union hs_value alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    int threads; /* of the BLAS; 0: leave them alone */
};

static inline int64_t hs_product_flops(const struct hs_product *product)
{
    const int64_t *extent = product->extent;
    return extent[0] * extent[1] * extent[2] * (product->scalar->complex_type ? 8 : 2);
}

/*
 * The device outlives it; nothing is taken of it before the first product.  order: the stream on which operands in the
 * device's memory are ready, looked up at each product; may be NULL.
 */
hsumma_status hs_local_make(struct hs_device *device, struct hs_stream *const *order,
                            const struct hs_local_limits *limits, const struct hs_allocator *memory,
                            struct hs_local **local);
/* Waits until the device is done; NULL is ignored. */
void hs_local_free(struct hs_local *local);

/* In all that follows local NULL stands for the BLAS. */

/* Why the device is not used any more; "": it is. */
const char *hs_local_note(const struct hs_local *local);
/* The same, where nobody has been told. */
const char *hs_local_news(struct hs_local *local);
/* Products since it was made; not of NULL: [0] left to the BLAS, [1] by the device, [2] begun there and ended by the
 * BLAS. */
const int64_t *hs_local_counts(const struct hs_local *local);
/* Bytes that have gone in ([0]) and out ([1]) over the same time. */
const int64_t *hs_local_bytes(const struct hs_local *local);

/* Whether the device would make products of a size: its kind's name; else "BLAS". */
const char *hs_local_maker(const struct hs_local *local, const struct hs_scalar *scalar, const int64_t extent[3]);
/* Whether it would make this one. */
int hs_local_takes(const struct hs_local *local, const struct hs_product *product);

/* Begins a product; one at a time.  Its operands must stay as they are until it is over. */
void hs_local_start(struct hs_local *local, const struct hs_product *product);
/* Moves it forward: all of it by the BLAS, or about a piece's copy of this thread's time (hs_advance). */
hsumma_status hs_local_advance(void *local, int *worked, int *done);
/* Whether a device is at one. */
int hs_local_is_busy(const struct hs_local *local);
/* Leaves it as it is; its operands are not used any more. */
void hs_local_stop(struct hs_local *local);

#endif
