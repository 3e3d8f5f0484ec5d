/*
 * The general model of the HSUMMA paper (Quintin, Hasanov and Lastovetsky, ICPP 2013, Section IV-C): a broadcast of m
 * elements among q processes takes L(q) alpha + m W(q) beta, for any functions L and W.  Equations 1 to 9 and 12 are
 * computed here from L, W and their derivatives, and compared with the costs of the step lists.
 */
#include "support/product/model_product.h"
#include "support/tap.h"

#include "coll/schedule/registry.h"

static double one_less(double q)
{
    return q - 1;
}

static double one(double q)
{
    (void)q;
    return 1;
}

static double logarithm(double q)
{
    return log2(q);
}

static double logarithm_slope(double q)
{
    return 1 / (q * log(2));
}

static double geijn_latency(double q)
{
    return log2(q) + q - 1;
}

static double geijn_latency_slope(double q)
{
    return logarithm_slope(q) + 1;
}

static double geijn_width(double q)
{
    return 2 * (1 - 1 / q);
}

static double geijn_width_slope(double q)
{
    return 2 / (q * q);
}

/* A chain that forwards four segments: the last of q processes receives its last segment in round q + 2. */
static double chain_latency(double q)
{
    return q > 1 ? q + 2 : 0;
}

static double chain_width(double q)
{
    return chain_latency(q) / 4;
}

typedef double function(double q);

static const struct broadcast {
    const char *name;
    int segments;
    function *latency, *width;             /* L and W */
    function *latency_slope, *width_slope; /* their derivatives; NULL if they have none at 1 */
} broadcasts[] = {{"flat", 1, one_less, one_less, one, one},
                  {"chain", 1, one_less, one_less, one, one},
                  {"chain", 4, chain_latency, chain_width, NULL, NULL},
                  {"binomial", 1, logarithm, logarithm, logarithm_slope, logarithm_slope},
                  {"van_de_geijn", 1, geijn_latency, geijn_width, geijn_latency_slope, geijn_width_slope}};

enum { BROADCASTS = sizeof broadcasts / sizeof *broadcasts, ELEMENT = 8 };

/* A product of n x n matrices on q x q processes in x x x groups, with B = b; beta in seconds per element. */
struct setting {
    double n, b, q, x, alpha, beta;
};

/* Predicted communication; x = 0: SUMMA. */
static double cost(const struct broadcast *broadcast, const struct setting *s)
{
    struct hs_profile profile = {
        .machine = {.alpha = s->alpha, .beta = s->beta / ELEMENT}, .threads = 1, .knee = 256, .slice = INT64_MAX};
    struct model_product product = model_product_square((int64_t)s->n, (int)s->q);
    struct model_how how = {.stationary = HS_C,
                            .levels = s->x > 0,
                            .groups = {(int)s->x, (int)s->x},
                            .outer = (int64_t)s->b,
                            .block = (int64_t)s->b,
                            .bcast = broadcast->name};
    struct hs_spec spec = model_spec(&product, &how);
    struct hs_problem problem = model_problem(&product);
    spec.segment = (int64_t)(s->n / s->q * s->b * ELEMENT) / broadcast->segments;
    return model_price(&problem, &spec, &profile, NULL, NULL).comm;
}

/* Equations 4 and 5, the latency and the bandwidth cost; with x = 1 they are those of equation 2. */
static double latency_cost(const struct broadcast *f, const struct setting *s)
{
    return 2 * s->n / s->b * (f->latency(s->x) + f->latency(s->q / s->x)) * s->alpha;
}

static double bandwidth_cost(const struct broadcast *f, const struct setting *s)
{
    return 2 * s->n * s->n / s->q * (f->width(s->x) + f->width(s->q / s->x)) * s->beta;
}

/* Equations 7 and 8: L1 and W1 from the derivatives of L and of W. */
static double extremum(function *slope, double p, double groups)
{
    double inner = sqrt(p) / sqrt(groups);
    return slope(sqrt(groups)) / sqrt(groups) - slope(inner) * sqrt(p) / (groups * sqrt(groups));
}

/* Equation 6: the derivative of the cost with respect to G. */
static double derivative(const struct broadcast *f, const struct setting *s, double groups)
{
    double p = s->q * s->q;
    return s->n / s->b * extremum(f->latency_slope, p, groups) * s->alpha +
           s->n * s->n / sqrt(p) * extremum(f->width_slope, p, groups) * s->beta;
}

/* The integral of equation 6 from G = x^2 to (2 x)^2, by Simpson's rule over log G. */
static double integral(const struct broadcast *f, const struct setting *s)
{
    enum { PIECES = 400 };
    double from = log(s->x * s->x), step = log(4) / PIECES, sum = 0;
    for (int i = 0; i <= PIECES; i++) {
        double groups = exp(from + i * step), weight = i == 0 || i == PIECES ? 1 : i % 2 ? 4 : 2;
        sum += weight * derivative(f, s, groups) * groups;
    }
    return sum * step / 3;
}

static const struct setting machines[] = {
    {.n = 8192, .b = 64, .alpha = 1e-4, .beta = 1e-9},
    {.n = 4096, .b = 32, .alpha = 3e-6, .beta = 8e-9},
    {.n = 16384, .b = 128, .alpha = 1e-6, .beta = 1e-10},
};

enum { MACHINES = sizeof machines / sizeof *machines };

static void equation_1(const struct broadcast *f)
{
    const struct hs_alg *alg = hs_alg_find(HS_BCAST, f->name);
    int off = 0, runs = 0;
    for (int q = 1; q <= 256; q *= 2)
        for (int64_t m = 1 << 10; m <= 1 << 20; m <<= 5, runs++) {
            const struct hs_machine machine = {.alpha = 1e-5, .beta = 1e-9 / ELEMENT};
            struct hs_shape shape = {
                .size = q, .bytes = m * ELEMENT, .unit = ELEMENT, .segment = m * ELEMENT / f->segments};
            double seconds = NAN;
            off += hs_clock_seconds(alg, &shape, &machine, &hs_heap, &seconds, NULL) != HSUMMA_OK ||
                   !model_near(seconds, f->latency(q) * 1e-5 + (double)m * f->width(q) * 1e-9);
        }
    tap_ok(!off, "%s, %d segments: equation 1 for %d broadcasts; %d are off", f->name, f->segments, runs, off);
}

static void equations_2_to_5(const struct broadcast *f)
{
    int summa = 0, latency = 0, bandwidth = 0, sums = 0, runs = 0;
    for (int i = 0; i < MACHINES; i++)
        for (int q = 2; q <= 32; q *= 2)
            for (int x = 1; x <= q; x *= 2, runs++) {
                struct setting s = machines[i], none, slow, narrow;
                s.q = q;
                s.x = x;
                slow = narrow = none = s;
                slow.beta = narrow.alpha = 0;
                latency += !model_near(cost(f, &slow), latency_cost(f, &s));
                bandwidth += !model_near(cost(f, &narrow), bandwidth_cost(f, &s));
                sums += !model_near(cost(f, &s), latency_cost(f, &s) + bandwidth_cost(f, &s));
                none.x = 0;
                s.x = 1;
                summa += !model_near(cost(f, &none), latency_cost(f, &s) + bandwidth_cost(f, &s));
            }
    tap_ok(!summa && !latency && !bandwidth && !sums,
           "  equations 2 to 5 for %d groupings; off: %d, sum %d, latency %d, bandwidth %d", runs, summa, sums, latency,
           bandwidth);
}

static void equations_6_to_8(const struct broadcast *f)
{
    int off = 0, level = 0, runs = 0;
    for (int i = 0; i < MACHINES; i++)
        for (int q = 4; q <= 64; q *= 4) {
            struct setting s = machines[i];
            s.q = q;
            level += fabs(derivative(f, &s, q)) > 1e-12 * fabs(derivative(f, &s, 1)) + 1e-15;
            for (int x = 1; x < q; x *= 2, runs++) {
                struct setting more = s;
                s.x = x;
                more.x = 2 * x;
                off += fabs(cost(f, &more) - cost(f, &s) - integral(f, &s)) > 1e-7 * cost(f, &s);
            }
        }
    tap_ok(!off, "  equations 6 to 8: the cost from G to 4 G changes by the integral of equation 6; %d of %d do not",
           off, runs);
    tap_ok(!level, "  and equation 6 is 0 at G = sqrt(p); %d are not", level);
}

/* Equations 9 and 12: van de Geijn's broadcast. */
static void equations_9_and_12(void)
{
    const struct broadcast *f = &broadcasts[BROADCASTS - 1];
    int slope = 0, least = 0;
    for (int i = 0; i < MACHINES; i++)
        for (int q = 4; q <= 64; q *= 4) {
            struct setting s = machines[i];
            double p = (double)q * q, root = sqrt(sqrt(p));
            s.q = q;
            s.x = root;
            for (double groups = 1.5; groups < p; groups *= 1.7) {
                double want =
                    (groups - q) / (groups * sqrt(groups)) * (s.n * s.alpha / s.b - 2 * s.n * s.n / p * s.beta);
                slope += !model_near(derivative(f, &s, groups), want) && fabs(want) > 1e-9 * s.alpha;
            }
            least += !model_near(cost(f, &s), (log2(p) + 4 * (root - 1)) * s.n / s.b * s.alpha +
                                                  8 * (1 - 1 / root) * s.n * s.n / q * s.beta);
        }
    tap_ok(!slope, "van_de_geijn: equation 9 is equation 6; %d are off", slope);
    tap_ok(!least, "van_de_geijn: equation 12 is the cost at G = sqrt(p); %d are off", least);
}

int main(void)
{
    for (int i = 0; i < BROADCASTS; i++) {
        const struct broadcast *f = &broadcasts[i];
        equation_1(f);
        equations_2_to_5(f);
        if (f->latency_slope)
            equations_6_to_8(f);
    }
    equations_9_and_12();
    return tap_done();
}
