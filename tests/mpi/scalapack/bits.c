/* p?gemm with HSUMMA_BITS=anywhere: on every grid, products of one process included, each element of C has the bits of
 * its definition (ordered_entry). */
#include "support/entry.h"
#include "support/product/ordered_entry.h"
#include "support/scalapack/pgemm_call.h"

enum { SIZE = 60 }; /* of all dimensions; at most PGEMM_LD */

static double matrix[3][PGEMM_WORDS], whole[3][PGEMM_WORDS];

/* The index of a block-cyclic matrix at local index `at` of process `p` of `count`. */
static int index_of(int at, int nb, int p, int count)
{
    return (at / nb * count + p) * nb + at % nb;
}

/* Calls visit(local index, row, column) for all elements of this process. */
static void visit_all(const struct pgemm_call *call, void (*visit)(int64_t at, int64_t i, int64_t j))
{
    int P, Q, row, col, nb = call->desc[0][MB];
    Cblacs_gridinfo(call->desc[0][CTXT], &P, &Q, &row, &col);
    for (int c = 0; index_of(c, nb, col, Q) < SIZE || c % nb; c++)
        for (int r = 0; index_of(r, nb, row, P) < SIZE || r % nb; r++)
            if (index_of(c, nb, col, Q) < SIZE && index_of(r, nb, row, P) < SIZE)
                visit(r + (int64_t)c * PGEMM_LD, index_of(r, nb, row, P), index_of(c, nb, col, Q));
}

static hsumma_type type;
static struct pgemm_call now;
static int64_t wrong;

static void fill(int64_t at, int64_t i, int64_t j)
{
    for (int x = 0; x < 3; x++)
        gemm_store(type, matrix[x], at, gemm_load(type, whole[x], i + j * SIZE));
}

static double complex scalar_of(const double value[2])
{
    double rounded[2];
    gemm_store(type, rounded, 0, value[0] + value[1] * I);
    return gemm_load(type, rounded, 0);
}

static void compare(int64_t at, int64_t i, int64_t j)
{
    double complex a[SIZE], b[SIZE];
    for (int l = 0; l < SIZE; l++) {
        a[l] = gemm_load(type, whole[0], now.trans[0] == 'N' ? i + l * SIZE : l + i * SIZE);
        b[l] = gemm_load(type, whole[1], now.trans[1] == 'N' ? l + j * SIZE : j + l * SIZE);
        a[l] = now.trans[0] == 'C' ? conj(a[l]) : a[l];
        b[l] = now.trans[1] == 'C' ? conj(b[l]) : b[l];
    }
    double complex want = ordered_entry(type, SIZE, scalar_of(now.alpha), a, b, creal(scalar_of(now.beta)),
                                        gemm_load(type, whole[2], i + j * SIZE));
    wrong += gemm_load(type, matrix[2], at) != want;
}

static void test_grid(int P, int Q)
{
    int context = blacs_context_of(P, Q, "R");
    for (int t = 0; t < 12; t++) {
        static const int blocks[] = {3, 8, SIZE};
        type = (hsumma_type)(t % 4);
        now = pgemm_call_of(context, "NTC"[t % 3], "NCT"[t / 4], SIZE, SIZE, SIZE, blocks[draw(3)]);
        now.alpha[0] = draw(2) ? 1 : 0.3;
        now.alpha[1] = type >= HSUMMA_C ? 0.7 : 0;
        now.beta[0] = draw(2) ? 0 : -1.7;
        for (int x = 0; x < 3; x++)
            for (int e = 0; e < SIZE * SIZE; e++)
                gemm_store(type, whole[x], e, draw_fraction() - 0.5 + (draw_fraction() - 0.5) * I);
        visit_all(&now, fill);
        wrong += !pgemm_run(pgemm_ours[type], type, &now, matrix[0], matrix[1], matrix[2]);
        visit_all(&now, compare);
    }
    Cblacs_gridexit(context);
    tap_ok(world_worst(wrong + pgemm_aborted.count + pgemm_theirs_count) == 0, "%d x %d processes", P, Q);
    wrong = 0;
}

int main(int argc, char **argv)
{
    pgemm_begin(&argc, &argv);
    setenv("HSUMMA_BITS", "anywhere", 1);
    test_grid(1, size);
    if (size > 1)
        test_grid(size, 1);
    if (size > 2 && size % 2 == 0)
        test_grid(2, size / 2);
    return world_end();
}
