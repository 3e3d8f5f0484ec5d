/*
 * p?gemm with HSUMMA_GUARD: a wrong local product is repaired, and the program sees nothing of it. A product that
 * cannot be repaired, and a call that the guard cannot check, end with PBLAS's error exit, not with ScaLAPACK's
 * product.
 *
 * The program's own cblas_dgemm plants the faults.
 */
#include "support/captured.h"
#include "support/cblas_hook.h"
#include "support/scalapack/pgemm_call.h"

enum { SIZE = 48, BLOCK = 12, ALL = 1 << 30, INFO = -2000 }; /* info of the error exit: INFO - status */

static int faults; /* number of local products that become wrong */

static void *before_gemm(struct cblas_call *call)
{
    (void)call;
    return NULL;
}

static void after_gemm(const struct cblas_call *call)
{
    if (call->m < BLOCK || call->n < BLOCK || faults == 0) /* products of checksums have fewer rows */
        return;
    *(double *)call->c += 1000;
    faults--;
}

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
    struct captured captured = captured_begin();
    memset(&pgemm_aborted, 0, sizeof pgemm_aborted);
    pgemm_theirs_count = 0;
    faults = rank == size - 1 ? wrong : 0;
    int same = pgemm_multiplies(context, SIZE, SIZE, SIZE, BLOCK);
    faults = 0;
    captured_end(&captured, text, room);
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
    setenv("HSUMMA_BCAST", "mpi", 1);
    int context = context_with("messages", nprow);
    multiply(context, 0, text, sizeof text);
    tap_ok(everywhere(ended(HSUMMA_ERR_UNSUPPORTED)), "guard=messages bcast=mpi: info = %d", pgemm_aborted.info);
    Cblacs_gridexit(context);
}

int main(int argc, char **argv)
{
    pgemm_begin(&argc, &argv);
    int nprow = size % 2 ? 1 : 2;
    test_product(nprow);
    if (size > 1)
        test_refusal(nprow);
    return world_end();
}
