/* Checksums of a process's part, and products with them, against direct sums; and parities: changed elements are found
 * and told apart. */
#include "summa/parity.h"
#include "support/entry.h"
#include "support/random.h"
#include "support/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 200 };

/* A part of a random matrix on process (row, col) of a 2 x 3 grid. */
struct drawn {
    struct hs_view view;
    struct hs_local_part part;
    int64_t in, out; /* rows and columns of op(X) */
    char *data;
};

static struct drawn draw_part(const struct hs_scalar *scalar, int longest, int widest)
{
    struct drawn drawn;
    int coord[2] = {draw(2), draw(3)};
    int64_t m = 1 + draw(longest), n = 1 + draw(widest);
    struct hs_axis rows = hs_axis_make(m, 1 + draw(9), 1 + draw(5), draw(2), 2),
                   cols = hs_axis_make(n, 1 + draw(9), 1 + draw(5), draw(3), 3);
    int64_t ld = hs_axis_count(&rows, coord[0]) + 1 + draw(3);
    drawn.view =
        hs_view_make(&rows, &cols, 0, 0, m, n, coord, ld, scalar->complex_type ? "NTC"[draw(3)] : "NT"[draw(2)]);
    drawn.in = drawn.view.op == 'N' ? m : n;
    drawn.out = drawn.view.op == 'N' ? n : m;
    drawn.data = malloc((size_t)(ld * (drawn.view.cols + 1)) * scalar->size);
    for (int64_t t = 0; t < ld * (drawn.view.cols + 1); t++)
        gemm_store(scalar->type, drawn.data, t, draw_fraction() - 0.5 + (draw_fraction() - 0.5) * I);
    drawn.part = (struct hs_local_part){
        .view = NULL, .coord = {coord[0], coord[1]}, .matrix = {drawn.data, ld}, .cols = drawn.view.cols};
    return drawn;
}

/* into ^= the element at `from` */
static void fold(size_t size, unsigned char *into, const unsigned char *from)
{
    for (size_t b = 0; b < size; b++)
        into[b] ^= from[b];
}

/* Whether a parity is that of all elements of a part, taken one by one. */
static int is_parity(const struct hs_scalar *scalar, const struct drawn *drawn, const struct hs_parity *parity)
{
    const int64_t rows = drawn->view.rows, cols = drawn->view.cols;
    const size_t size = scalar->size;
    unsigned char *want = calloc((size_t)(rows + cols) + 1, size);
    for (int64_t c = 0; c < cols; c++)
        for (int64_t r = 0; r < rows; r++) {
            const unsigned char *x = (unsigned char *)drawn->data + (size_t)(c * drawn->part.matrix.ld + r) * size;
            fold(size, want + (size_t)r * size, x);
            fold(size, want + (size_t)(rows + c) * size, x);
        }
    const int is = memcmp(want, parity->rows, (size_t)rows * size) == 0 &&
                   memcmp(want + (size_t)rows * size, parity->cols, (size_t)cols * size) == 0;
    free(want);
    return is;
}

/* Whether hs_checksum_add or hs_checksum_multiply (times) of a part, in two pieces as parts in device memory, equals
 * sums element by element. */
static int sums_are_right(const struct hs_scalar *scalar, int longest, int widest, int times)
{
    struct drawn drawn = draw_part(scalar, longest, widest);
    const struct hs_view *view = drawn.part.view = &drawn.view;
    const int64_t height = 1 + draw(draw(2) ? 9 : 200);
    const int64_t blocks = times ? 1 + draw(9) : (drawn.in + height - 1) / height;
    int planes = hs_checksum_planes(scalar), right = 1;
    const int64_t ins = drawn.in * blocks, outs = drawn.out * blocks;
    double *vectors = calloc((size_t)(ins * planes), sizeof *vectors);
    double *sum = calloc((size_t)(outs * planes), sizeof *sum);
    double complex *want = calloc((size_t)outs, sizeof *want);
    double *size = calloc((size_t)outs, sizeof *size), greatest = 0;
    void *work = malloc(hs_checksum_work(blocks));
    struct hs_parity parity = {calloc((size_t)view->rows + 1, scalar->size),
                               calloc((size_t)view->cols + 1, scalar->size)};
    for (int64_t i = 0; i < ins; i++) {
        vectors[i] = draw_fraction() - 0.5;
        if (planes > 2)
            vectors[ins + i] = draw_fraction() - 0.5;
        double *at = &vectors[(planes - 1) * ins + i];
        *at = fabs(vectors[i]) + (planes > 2 ? fabs(vectors[ins + i]) : 0) + draw_fraction();
        greatest = fmax(greatest, *at);
    }
    for (int64_t c = 0; c < view->cols; c++)
        for (int64_t r = 0; r < view->rows; r++) {
            int64_t i = hs_axis_global(&view->axis[0], drawn.part.coord[0], r);
            int64_t j = hs_axis_global(&view->axis[1], drawn.part.coord[1], c);
            int64_t in = view->op == 'N' ? i : j, out = view->op == 'N' ? j : i;
            double complex x = gemm_load(scalar->type, drawn.data, c * drawn.part.matrix.ld + r);
            for (int64_t b = 0; b < blocks; b++) {
                const int64_t at = in * blocks + b;
                if (!times && in / height != b)
                    continue;
                double complex by =
                    times ? vectors[at] + (planes > 2 ? vectors[ins + at] : 0) * I : hs_checksum_weight(in);
                want[out * blocks + b] += by * (view->op == 'C' ? conj(x) : x);
                size[out * blocks + b] +=
                    (times ? vectors[(planes - 1) * ins + at] : creal(by)) * (fabs(creal(x)) + fabs(cimag(x)));
            }
        }
    for (int piece = 0; piece < 2; piece++) {
        const int64_t half = view->cols / 2;
        drawn.part.first = piece * half;
        drawn.part.cols = piece ? view->cols - half : half;
        drawn.part.matrix.base = drawn.data + (size_t)(drawn.part.first * drawn.part.matrix.ld) * scalar->size;
        if (times)
            hs_checksum_multiply(scalar, &drawn.part, blocks, vectors, sum, &parity, work);
        else
            hs_checksum_add(scalar, &drawn.part, height, blocks, sum, &parity);
    }
    for (int64_t j = 0; j < outs; j++) {
        const double complex got = sum[j] + (planes > 2 ? sum[outs + j] : 0) * I;
        const double rounding = times ? 4 * 260 * scalar->epsilon : 1e-12, claimed = sum[(planes - 1) * outs + j];
        /* a product's sizes may be larger, but not than with the greatest size in all vectors */
        const double most = times ? greatest * (double)(drawn.in + 1) : size[j];
        right = right && cabs(got - want[j]) <= rounding * (1e-9 + size[j]) && claimed >= size[j] * (1 - 1e-12) &&
                claimed <= most * (1 + 1e-12);
    }
    right = right && is_parity(scalar, &drawn, &parity);
    free(parity.rows);
    free(parity.cols);
    free(vectors);
    free(sum);
    free(want);
    free(size);
    free(work);
    free(drawn.data);
    return right;
}

static struct hs_parity parity_of(const struct hs_scalar *scalar, const struct drawn *drawn)
{
    struct hs_parity parity = {calloc((size_t)drawn->view.rows + 1, scalar->size),
                               calloc((size_t)drawn->view.cols + 1, scalar->size)};
    hs_parity_add(scalar, &drawn->part, 0, 0, drawn->view.rows, drawn->part.cols, &parity);
    return parity;
}

/* Equal changes in a row cancel in its parity: they cannot be placed, and must not be. */
static int refuses_to_guess(const struct hs_scalar *scalar)
{
    unsigned char row[2][2 * 16] = {{0}}, col[2][2 * 16] = {{0}};
    struct hs_flip flip[HS_FLIPS];
    const struct hs_parity before = {row[0], col[0]}, after = {row[1], col[1]};
    col[1][0] = col[1][scalar->size] = 4;
    return hs_parity_compare(scalar, 2, 2, &before, &after, flip) == -1;
}

/* Changes `count` elements in one row (along 1), one column (along 0), or a rectangle of 2 x 2 (along -1); whether the
 * comparison lists them, or reports the rectangle as not restorable. */
static int flips_are_found(const struct hs_scalar *scalar, int along, int count)
{
    struct drawn drawn = draw_part(scalar, 60, 40);
    drawn.part.view = &drawn.view;
    int64_t rows = drawn.view.rows, cols = drawn.view.cols, ld = drawn.part.matrix.ld;
    struct hs_flip flip[HS_FLIPS];
    int found, right;
    int64_t most = along > 0 ? cols : along == 0 ? rows : 2;
    count = count > most ? (int)most : count;
    if (rows < 2 || cols < 2) {
        free(drawn.data);
        return 1;
    }
    size_t bytes = (size_t)(ld * cols) * scalar->size;
    char *before = malloc(bytes);
    memcpy(before, drawn.data, bytes);
    struct hs_parity old = parity_of(scalar, &drawn);
    for (int e = 0; e < count; e++)
        for (int other = 0; other < (along < 0 ? 2 : 1); other++) {
            int64_t r = along > 0 ? rows / 2 : e, c = along > 0 ? e : along == 0 ? cols / 2 : other;
            int bit = 8 * draw((int)scalar->size / 4) + 2 * e + other; /* no two changes cancel */
            drawn.data[(size_t)(r + c * ld) * scalar->size + (size_t)(bit / 8)] ^= (char)(1 << bit % 8);
        }
    struct hs_parity now = parity_of(scalar, &drawn);
    found = hs_parity_compare(scalar, rows, cols, &old, &now, flip);
    for (int f = 0; f < found; f++)
        for (size_t b = 0; b < scalar->size; b++)
            drawn.data[(size_t)(flip[f].row + flip[f].col * ld) * scalar->size + b] ^= (char)flip[f].bits[b];
    right = along < 0 ? found == -1 : found == count && memcmp(before, drawn.data, bytes) == 0;
    free(before);
    free(old.rows);
    free(old.cols);
    free(now.rows);
    free(now.cols);
    free(drawn.data);
    return right;
}

/* CRC32C against its published check value, and the instruction against the portable form. */
static void test_crc(void)
{
    unsigned char bytes[300];
    int equal = 0;
    for (int i = 0; i < CASES; i++) {
        const size_t begin = (size_t)draw(9), count = (size_t)draw(290);
        for (size_t b = 0; b < sizeof bytes; b++)
            bytes[b] = (unsigned char)draw(256);
        const size_t first = (size_t)draw((int)count + 1);
        const uint32_t crc = hs_crc32c(bytes + begin, count);
        equal += crc == ~hs_crc32c_portable(~0u, bytes + begin, count) &&
                 crc == hs_crc32c_after(hs_crc32c(bytes + begin, first), bytes + begin + first, count - first);
    }
    tap_ok(hs_crc32c("123456789", 9) == 0xe3069283, "CRC32C of 123456789");
    tap_ok(equal == CASES, "CRC32C by instruction, by half bytes and in two parts: equal in %d of %d cases", equal,
           CASES);
}

int main(void)
{
    draw_seed(1);
    test_crc();
    for (int type = 0; type < 4; type++) {
        const struct hs_scalar *scalar = &hs_scalars[type];
        int sums[2] = {0}, flips[3] = {0};
        for (int i = 0; i < CASES; i++) {
            for (int times = 0; times < 2; times++)
                sums[times] += sums_are_right(scalar, i % 20 ? 60 : 9000, i % 7 ? 40 : 600, times);
            for (int along = -1; along < 2; along++)
                flips[along + 1] += flips_are_found(scalar, along, along < 0 ? 2 : draw(5));
        }
        tap_ok(sums[0] == CASES && sums[1] == CASES, "type %c: %d checksums, %d products with checksums, of %d",
               scalar->letter, sums[0], sums[1], CASES);
        tap_ok(flips[2] == CASES && flips[1] == CASES && flips[0] == CASES,
               "type %c: changes in one row (%d), one column (%d), a rectangle (%d), of %d", scalar->letter, flips[2],
               flips[1], flips[0], CASES);
        tap_ok(refuses_to_guess(scalar), "type %c: changes that cancel are not restored", scalar->letter);
    }
    return tap_done();
}
