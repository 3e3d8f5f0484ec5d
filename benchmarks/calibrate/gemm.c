/* hsumma calibrate: the local GEMM, on all ranks at once as in a product. */
#include "calibrate/command.h"

#include "base/scalar.h"
#include "base/threads.h"
#include "base/wait.h"

enum { EDGE = 1024, MOST_WIDTH = 768, GEMM_ROUNDS = 3 };

static const int edges[] = {128, 384, EDGE}, widths[] = {16, 48, 96, 192, 384, MOST_WIDTH};

enum { EDGES = sizeof edges / sizeof *edges, WIDTHS = sizeof widths / sizeof *widths };

typedef struct gemm_product {
    hsumma_type type;
    int64_t m, n, k;
    char *a, *b, *c;
} gemm_product;

static double multiply(calibration *cal, void *state, int calls)
{
    const gemm_product *p = state;
    const struct hs_scalar *s = &hs_scalars[p->type];
    double start;

    (void)cal;
    start = hs_now();
    for (int i = 0; i < calls; i++)
        s->gemm('N', 'N', p->m, p->n, p->k, s->one, p->a, p->m, p->b, p->k, s->one, p->c, p->m);
    return hs_now() - start;
}

/* Fills a matrix with small numbers, so that C grows little over many products. */
static void fill(char *matrix, size_t count, hsumma_type type)
{
    for (size_t i = 0; i < count; i++)
        set_real(type, matrix, (int64_t)i, ((double)(i * 2654435761u % 1024) / 1024 - 0.5) * 1e-3);
}

/* Whether this run measures the shape edges[m] x edges[n] x widths[k]: with --quick only enough shapes to determine the
 * unknowns. */
static int is_measured(const calibration *cal, int m, int n, int k)
{
    if (!cal->args->quick)
        return 1;
    return (m == n || k == 2) && k % 2 == 0;
}

static int choose_shapes(const calibration *cal, fit_gemm_point point[HS_FIT_POINTS])
{
    int points = 0;

    for (int m = 0; m < EDGES; m++)
        for (int n = 0; n < EDGES; n++)
            for (int k = 0; k < WIDTHS; k++)
                if (is_measured(cal, m, n, k))
                    point[points++] = (fit_gemm_point){edges[m], edges[n], widths[k], 0};
    return points;
}

/* Measures all shapes in rounds and keeps the fastest time of each, so that a disturbance affects only one round. */
static void measure_shapes(calibration *cal, gemm_product *p, fit_gemm_point *point, int points, double budget)
{
    double start = calibrate_clock(cal), spent = 0;

    for (int round = 0; round < GEMM_ROUNDS && (round == 0 || spent < budget * 2 / 3); round++) {
        for (int i = 0; i < points; i++) {
            double left = budget * (round + 1) / GEMM_ROUNDS - (calibrate_clock(cal) - start), seconds;

            p->m = point[i].m;
            p->n = point[i].n;
            p->k = point[i].k;
            seconds = calibrate_together(cal, multiply, p, left > 0 ? left / (points - i) : 0);
            point[i].seconds = round > 0 && point[i].seconds < seconds ? point[i].seconds : seconds;
        }
        spent = calibrate_clock(cal) - start;
    }
}

static void measure_type(calibration *cal, gemm_product *p, const char *name, enum calibrate_fit which, double budget)
{
    fit_gemm_point point[HS_FIT_POINTS];
    double fit[HS_FIT_POINTS], seconds[HS_FIT_POINTS];
    struct hs_profile *profile = &cal->profile;
    int points = choose_shapes(cal, point), single = p->type == HSUMMA_S;

    fill(p->a, (size_t)EDGE * MOST_WIDTH, p->type);
    fill(p->b, (size_t)EDGE * MOST_WIDTH, p->type);
    fill(p->c, (size_t)EDGE * EDGE, p->type);
    measure_shapes(cal, p, point, points, budget);
    if (!single)
        profile->knee = fit_knee(point, points);
    /* The cost of packing is derived from the copy rate, since it is too small to be fitted beside the multiplication.
     * It matters because it depends on the stationary operand. */
    fit_gemm(point, points, profile->knee, profile->machine.copy * (single ? 4 : 8), &profile->gemm[single]);
    for (int i = 0; i < points; i++) {
        double m = (double)point[i].m, n = (double)point[i].n, k = (double)point[i].k;

        seconds[i] = point[i].seconds;
        fit[i] = hs_gemm_seconds(profile, single ? 4 : 8, 0, profile->threads, m, n, k);
        calibrate_note(cal, name, 3, (int64_t[3]){point[i].m, point[i].n, point[i].k}, seconds[i]);
    }
    cal->error[which] = fit_error_of(fit, seconds, points);
}

/* The number of BLAS threads of rank 0; recorded for all ranks, because plans assume rank 0's number, too. */
static int threads_of(const calibration *cal)
{
    int threads = cal->ctx->threads > 0 ? cal->ctx->threads : hs_threads_now();

    quiet_bcast(&threads, 1, MPI_INT, 0, cal->comm);
    return threads > 0 ? threads : 1;
}

int calibrate_gemm(calibration *cal, double budget)
{
    size_t operand = (size_t)EDGE * MOST_WIDTH * sizeof(double), product = (size_t)EDGE * EDGE * sizeof(double);
    gemm_product p = {
        .a = calibrate_get(cal, operand), .b = calibrate_get(cal, operand), .c = calibrate_get(cal, product)};
    int before;

    cal->profile.threads = threads_of(cal);
    if (command_fail(cal->comm, cal->lacks, "calibrate: no memory for matrices of %d x %d", EDGE, EDGE))
        return 0;
    before = hs_threads_set(cal->ctx->threads);
    p.type = HSUMMA_D;
    measure_type(cal, &p, "gemm double", FIT_GEMM_D, 0.6 * budget);
    p.type = HSUMMA_S;
    measure_type(cal, &p, "gemm float", FIT_GEMM_S, 0.4 * budget);
    hs_threads_restore(before);
    return 1;
}
