/* What Rabenseifner and Traeff (2004) say that their algorithms cost: the formulas of the paper, nothing measured. */
#ifndef HS_TESTS_SUPPORT_RABENSEIFNER_TRAFF_H
#define HS_TESTS_SUPPORT_RABENSEIFNER_TRAFF_H

#include <math.h>

/* A vector as a fraction of alpha, and whether all rounds cut. */
struct setting {
    int p, cut;
    double beta_m, gamma_m; /* in alphas */
};

static inline int log2_up(int n)
{
    int log = 0;
    while (n > 1 << log)
        log++;
    return log;
}

static inline int power_below(int n)
{
    return 1 << (log2_up(n + 1) - 1);
}

static inline int twos(int p)
{
    return p % 2 ? 0 : 1 + twos(p / 2);
}

static inline double cost(const struct setting *setting, double alphas, double betas, double gammas)
{
    return alphas + betas * setting->beta_m + gammas * setting->gamma_m;
}

/* Section 2 (powers of two). */
static inline double butterfly(const struct setting *s)
{
    double n = log2_up(s->p), once = 1 - 1.0 / s->p;
    return s->cut ? cost(s, 2 * n, 2 * once, once) : cost(s, n, n, n);
}

/* The whole vector to a neighbour and back, around the butterfly: less than 4 m beta + 2 m gamma. */
static inline double elimination_21(const struct setting *s)
{
    struct setting inner = {power_below(s->p), s->cut, s->beta_m, s->gamma_m};
    return butterfly(&inner) + (inner.p < s->p ? cost(s, 2, 2, 1) : 0);
}

/* Section 3.3, and Section 4 for p = 2^n q: 1 + 1/2^(n+1) for 1.5. */
static inline double elimination_32(const struct setting *s)
{
    double rounds = log2_up(s->p), once = 1 + 1.0 / (2 << twos(s->p)) - 1.0 / power_below(s->p);
    if (power_below(s->p) == s->p)
        return butterfly(s);
    return s->cut ? cost(s, 2 * rounds, 2 * once, once) : cost(s, rounds + 1, rounds + 1, rounds);
}

/* Section 3.5: one ring of all p. */
static inline double one_ring(const struct setting *s)
{
    double p = s->p, rounds = log2_up(s->p);
    return s->cut ? cost(s, rounds + p - 1, 2 * (1 - 1 / p), 1 - 1 / p) : cost(s, rounds, p - 1, p - 1);
}

/* Section 3.4: the butterfly, then a ring for each odd prime factor; cuts add up to 1 - 1/p. */
static inline double small_ring(const struct setting *s)
{
    int q = s->p >> twos(s->p);
    double rounds = twos(s->p), exchanges = twos(s->p);
    for (int r = 3; q > 1; r += 2)
        for (; q % r == 0; q /= r) {
            rounds += log2_up(r);
            exchanges += r - 1;
        }
    return s->cut ? cost(s, rounds + exchanges, 2 * (1 - 1.0 / s->p), 1 - 1.0 / s->p)
                  : cost(s, rounds, exchanges, exchanges);
}

/* Table 1: seconds in alphas; 0: not legible in our copy. */
/* Columns: ring and elimination, each latency-optimal (0, 1) and bandwidth-optimal (2, 3). */
enum { COLUMNS = 4 };

struct line {
    int p;
    char size;
    double printed[COLUMNS];
};

static const struct line table[] = {
    {3, 'S', {2.22, 3.32, 4.14, 4.21}}, {3, 'M', {4.20, 6.20, 5.40, 6.10}}, {3, 'L', {0, 35.0, 18.0, 25.0}},
    {5, 'S', {0, 4.43, 7.17, 6.26}},    {5, 'M', {0, 8.30, 8.68, 8.63}},    {5, 'L', {0, 47.0, 23.8, 32.3}},
    {7, 'S', {0, 4.43, 9.18, 6.26}},    {7, 'M', {0, 8.30, 0, 8.63}},       {7, 'L', {0, 47.0, 27.0, 32.3}},
    {13, 'S', {0, 0, 16.2, 8.29}},      {13, 'M', {0, 10.4, 0, 10.9}},      {13, 'L', {136, 0, 35.4, 36.9}},
    {15, 'S', {0, 5.54, 0, 8.29}},      {15, 'M', {0, 10.4, 0, 10.9}},      {15, 'L', {158, 0, 37.6, 36.9}},
    {23, 'S', {7.42, 6.65, 0, 10.3}},   {23, 'M', {0, 12.5, 0, 13.0}},      {23, 'L', {247, 0, 0, 40.2}},
    {23, 'X', {2425, 0, 228, 0}},       {63, 'S', {12.8, 7.66, 0, 12.3}},   {63, 'M', {74.2, 13.6, 0, 15.1}},
    {63, 'L', {688, 0, 0, 42.9}},       {63, 'X', {6826, 667, 275, 321}},
};
enum { LINES = sizeof table / sizeof *table };

static inline struct setting setting_of(const struct line *line, int column)
{
    static const char sizes[] = "SMLX";
    struct setting setting = {line->p, column >= 2, 0.1, 0.01};
    for (const char *c = sizes; *c != line->size; c++) {
        setting.beta_m *= 10;
        setting.gamma_m *= 10;
    }
    return setting;
}

/* The printed figures add up rounded terms: one unit of the last of three digits. */
static inline int near(double printed, double value)
{
    return fabs(printed - value) <= 1.01 * pow(10, floor(log10(printed)) - 2);
}

/* Latency-optimal elimination of 63: printed as if it took 6 alpha-beta terms; ceil(log2 63) + 1 = 7. */
static inline int misprint(const struct line *line, int column)
{
    return line->p == 63 && column == 1;
}

#endif
