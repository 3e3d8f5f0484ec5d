/* The costs of the algorithms of Rabenseifner and Traeff (2004) by the formulas of the paper; nothing is measured. */
#ifndef HS_TESTS_SUPPORT_COLL_RABENSEIFNER_TRAFF_H
#define HS_TESTS_SUPPORT_COLL_RABENSEIFNER_TRAFF_H

/* p ranks; cut: whether all rounds halve the vector, which is bandwidth-optimal. */
struct paper_setting {
    int p, cut;
    double beta_m, gamma_m; /* m beta and m gamma, in units of alpha */
};

int paper_log2_up(int n);
int paper_power_below(int n);
double paper_cost(const struct paper_setting *setting, double alphas, double betas, double gammas);

/* Section 2: the butterfly, for powers of two. */
double paper_butterfly(const struct paper_setting *s);

/* Section 3.3: 3-2 elimination; also Section 4, for p = 2^n q with 1 + 1/2^(n+1) in place of 1.5. */
double paper_elimination_32(const struct paper_setting *s);

/* Section 3.5: one ring of all p ranks. */
double paper_one_ring(const struct paper_setting *s);

/* 2-1 elimination: the butterfly, before and after which the whole vector is sent to a neighbour and back. With `cut`,
 * the terms in m are less than 4 m beta + 2 m gamma. */
double paper_elimination_21(const struct paper_setting *s);

/* Section 3.4: the butterfly, then a ring for each odd prime factor of p; the cut parts add up to 1 - 1/p. */
double paper_small_ring(const struct paper_setting *s);

/* Table 1: times in units of alpha; 0: not legible in our copy. Columns 0 and 1: latency-optimal ring and elimination;
 * columns 2 and 3: the bandwidth-optimal ones. */
enum { PAPER_COLUMNS = 4 };

struct paper_printed {
    int p;
    char size;
    double printed[PAPER_COLUMNS];
    int marked; /* the column with the mark of the fastest protocol; -1 if it is not legible in our copy */
};

enum { PAPER_PRINTED = 23 };

extern const struct paper_printed paper_printed_table[PAPER_PRINTED];
struct paper_setting paper_setting_of(const struct paper_printed *line, int column);

/* Whether a printed figure agrees up to one unit of its third digit; the printed figures are sums of rounded terms. */
int paper_near(double printed, double value);

/* Whether a figure is the misprint of Table 1: latency-optimal elimination on 63 ranks has 6 m beta there, but
 * ceil(log2 63) + 1 = 7 messages. */
int paper_misprint(const struct paper_printed *line, int column);

#endif
