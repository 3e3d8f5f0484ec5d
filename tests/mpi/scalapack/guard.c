/*
 * p?gemm with HSUMMA_GUARD: a wrong local product is repaired, and the program sees nothing of it. A product that
 * cannot be repaired, and a call that the guard cannot check, end with PBLAS's error exit, not with ScaLAPACK's
 * product.
 *
 * The program's own cblas_dgemm plants the faults; it calls the BLAS's.
 */
#if !HSUMMA_HAVE_SCALAPACK
#include "support/tap.h"
int main(void)
{
    tap_skip(1, "built without ScaLAPACK");
    return tap_done();
}
#else

#include "support/scalapack/pgemm_call.h"

#include <stdio.h>

enum { SIZE = 48, BLOCK = 12, ALL = 1 << 30, INFO = -2000 }; /* info of the error exit: INFO - status */

static int faults; /* number of local products that become wrong */

void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const void *a, int lda, const void *b,
                 int ldb, double beta, void *c, int ldc);
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const void *a, int lda, const void *b,
                 int ldb, double beta, void *c, int ldc)
{
    static void (*blas)(int, int, int, int, int, int, double, const void *, int, const void *, int, double, void *,
                        int);
    if (!blas)
        *(void **)&blas = dlsym(RTLD_NEXT, "cblas_dgemm");
    blas(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (m < BLOCK || n < BLOCK || faults == 0) /* products of checksums have fewer rows */
        return;
    *(double *)c += 1000;
    faults--;
}

/* A reference without which the linker would leave out the BLAS. */
void cblas_dswap(int n, double *x, int incx, double *y, int incy);
void (*const guard_blas)(int, double *, int, double *, int) = cblas_dswap;

/* Makes p?gemm use a new context, with this guard. */
static int context_with(const char *guard, int nprow)
{
    setenv("HSUMMA_GUARD", guard, 1);
    return blacs_context_of(nprow, size / nprow, "R");
}

/* Multiplies; `wrong` local products of the last process become wrong. Returns 1 if C is ScaLAPACK's. *text: what was
 * written to standard error. */
static int multiply(int context, int wrong, char *text, size_t room)
{
    FILE *file = tmpfile();
    int screen = dup(2);
    memset(&pgemm_aborted, 0, sizeof pgemm_aborted);
    fflush(stderr);
    dup2(fileno(file), 2);
    pgemm_theirs_count = 0;
    faults = rank == size - 1 ? wrong : 0;
    int same = pgemm_multiplies(context, SIZE, SIZE, SIZE, BLOCK);
    faults = 0;
    fflush(stderr);
    dup2(screen, 2);
    close(screen);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
    return same;
}

/* Whether our call has ended with PBLAS's error exit; pgemm_multiplies itself calls ScaLAPACK once. */
static int ended(hsumma_status status)
{
    return pgemm_theirs_count == 1 && pgemm_aborted.count == 1 && pgemm_aborted.info == INFO - (int)status &&
           !strcmp(pgemm_aborted.routine, "PDGEMM");
}

static void test_product(int nprow)
{
    int context = context_with("product", nprow);
    char text[2000];
    int same = multiply(context, 0, text, sizeof text);
    tap_ok(everywhere(same && !pgemm_aborted.count && !text[0]), "guard=product: no fault, no message");
    same = multiply(context, 1, text, sizeof text);
    tap_ok(everywhere(same && !pgemm_aborted.count && (rank > 0 || strstr(text, "C is computed again"))),
           "a wrong local product: C is right, by the call after it: %s", text);
    multiply(context, ALL, text, sizeof text);
    tap_ok(everywhere(ended(HSUMMA_ERR_DATA)), "all local products wrong: info = %d", pgemm_aborted.info);
    tap_ok(everywhere(rank > 0 || (strstr(text, "the recomputed C failed the check, too; error exit with info = ") &&
                                   strstr(text, "hsumma: PDGEMM: "))),
           "with a message: %s", text);
    same = multiply(context, 0, text, sizeof text);
    tap_ok(everywhere(same && !pgemm_aborted.count), "the next product is right");
    Cblacs_gridexit(context);
}

/* Messages cannot be checked where panels are in shared memory. */
static void test_refusal(int nprow)
{
    char text[2000];
    setenv("HSUMMA_NODE", "shared", 1);
    int context = context_with("messages", nprow);
    multiply(context, 0, text, sizeof text);
    tap_ok(everywhere(ended(HSUMMA_ERR_UNSUPPORTED)), "guard=messages node=shared: info = %d", pgemm_aborted.info);
    Cblacs_gridexit(context);
}

int main(int argc, char **argv)
{
    pgemm_begin(&argc, &argv);
    int nprow = size % 2 ? 1 : 2;
    test_product(nprow);
    if (size > 1)
        test_refusal(nprow);
    MPI_Finalize();
    return tap_done();
}
#endif
