/* The costs of Rabenseifner and Traeff's algorithms (2004) by the formulas of the paper; nothing is measured. */
#ifndef HS_TESTS_SUPPORT_COLL_RABENSEIFNER_TRAFF_H
#define HS_TESTS_SUPPORT_COLL_RABENSEIFNER_TRAFF_H

/* Costs of a vector relative to alpha, and whether all rounds cut the vector. */
struct paper_setting {
    int p, cut;
    double beta_m, gamma_m; /* in alphas */
};

int paper_log2_up(int n);
int paper_power_below(int n);
double paper_cost(const struct paper_setting *setting, double alphas, double betas, double gammas);

/* Section 2 (powers of two). */
double paper_butterfly(const struct paper_setting *s);

/* Section 3.3, and Section 4 for p = 2^n q: 1 + 1/2^(n+1) for 1.5. */
double paper_elimination_32(const struct paper_setting *s);

/* Section 3.5: one ring of all p. */
double paper_one_ring(const struct paper_setting *s);

/* The whole vector to a neighbour and back, around the butterfly: less than 4 m beta + 2 m gamma. */
double paper_elimination_21(const struct paper_setting *s);

/* Section 3.4: the butterfly, then a ring for each odd prime factor; cuts add up to 1 - 1/p. */
double paper_small_ring(const struct paper_setting *s);

/* Table 1: times in units of alpha; 0: not legible in our copy. Columns: ring and elimination, each latency-optimal (0,
 * 1) and bandwidth-optimal (2, 3). */
enum { PAPER_COLUMNS = 4 };

struct paper_printed {
    int p;
    char size;
    double printed[PAPER_COLUMNS];
};

enum { PAPER_PRINTED = 23 };

extern const struct paper_printed paper_printed_table[PAPER_PRINTED];
struct paper_setting paper_setting_of(const struct paper_printed *line, int column);

/* Equal up to one unit of the third digit: the printed figures are sums of rounded terms. */
int paper_near(double printed, double value);

/* Latency-optimal elimination for 63 ranks is printed with 6 alpha-beta terms; ceil(log2 63) + 1 = 7. */
int paper_misprint(const struct paper_printed *line, int column);

#endif
