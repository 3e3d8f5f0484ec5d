#include "support/coll/rabenseifner_traff.h"

#include <math.h>

int paper_log2_up(int n)
{
    int log = 0;
    while (n > 1 << log)
        log++;
    return log;
}

int paper_power_below(int n)
{
    return 1 << (paper_log2_up(n + 1) - 1);
}

static int twos(int p)
{
    return p % 2 ? 0 : 1 + twos(p / 2);
}

double paper_cost(const struct paper_setting *setting, double alphas, double betas, double gammas)
{
    return alphas + betas * setting->beta_m + gammas * setting->gamma_m;
}

double paper_butterfly(const struct paper_setting *s)
{
    double n = paper_log2_up(s->p), once = 1 - 1.0 / s->p;
    return s->cut ? paper_cost(s, 2 * n, 2 * once, once) : paper_cost(s, n, n, n);
}

double paper_elimination_21(const struct paper_setting *s)
{
    struct paper_setting inner = {paper_power_below(s->p), s->cut, s->beta_m, s->gamma_m};
    return paper_butterfly(&inner) + (inner.p < s->p ? paper_cost(s, 2, 2, 1) : 0);
}

double paper_elimination_32(const struct paper_setting *s)
{
    double rounds = paper_log2_up(s->p), once = 1 + 1.0 / (2 << twos(s->p)) - 1.0 / paper_power_below(s->p);
    if (paper_power_below(s->p) == s->p)
        return paper_butterfly(s);
    return s->cut ? paper_cost(s, 2 * rounds, 2 * once, once) : paper_cost(s, rounds + 1, rounds + 1, rounds);
}

double paper_one_ring(const struct paper_setting *s)
{
    double p = s->p, rounds = paper_log2_up(s->p);
    return s->cut ? paper_cost(s, rounds + p - 1, 2 * (1 - 1 / p), 1 - 1 / p) : paper_cost(s, rounds, p - 1, p - 1);
}

double paper_small_ring(const struct paper_setting *s)
{
    int q = s->p >> twos(s->p);
    double rounds = twos(s->p), exchanges = twos(s->p);
    for (int r = 3; q > 1; r += 2)
        for (; q % r == 0; q /= r) {
            rounds += paper_log2_up(r);
            exchanges += r - 1;
        }
    return s->cut ? paper_cost(s, rounds + exchanges, 2 * (1 - 1.0 / s->p), 1 - 1.0 / s->p)
                  : paper_cost(s, rounds, exchanges, exchanges);
}

const struct paper_printed paper_printed_table[PAPER_PRINTED] = {
    {3, 'S', {2.22, 3.32, 4.14, 4.21}, -1}, {3, 'M', {4.20, 6.20, 5.40, 6.10}, 0}, {3, 'L', {0, 35.0, 18.0, 25.0}, 2},
    {5, 'S', {0, 4.43, 7.17, 6.26}, -1},    {5, 'M', {0, 8.30, 8.68, 8.63}, -1},   {5, 'L', {0, 47.0, 23.8, 32.3}, 2},
    {7, 'S', {0, 4.43, 9.18, 6.26}, -1},    {7, 'M', {0, 8.30, 0, 8.63}, 1},       {7, 'L', {0, 47.0, 27.0, 32.3}, 2},
    {13, 'S', {0, 0, 16.2, 8.29}, -1},      {13, 'M', {0, 10.4, 0, 10.9}, 1},      {13, 'L', {136, 0, 35.4, 36.9}, 2},
    {15, 'S', {0, 5.54, 0, 8.29}, 1},       {15, 'M', {0, 10.4, 0, 10.9}, 1},      {15, 'L', {158, 0, 37.6, 36.9}, 3},
    {23, 'S', {7.42, 6.65, 0, 10.3}, 1},    {23, 'M', {0, 12.5, 0, 13.0}, 1},      {23, 'L', {247, 0, 0, 40.2}, 3},
    {23, 'X', {2425, 0, 228, 0}, 2},        {63, 'S', {12.8, 7.66, 0, 12.3}, 1},   {63, 'M', {74.2, 13.6, 0, 15.1}, 1},
    {63, 'L', {688, 0, 0, 42.9}, -1},       {63, 'X', {6826, 667, 275, 321}, 2},
};

struct paper_setting paper_setting_of(const struct paper_printed *line, int column)
{
    static const char sizes[] = "SMLX";
    struct paper_setting setting = {line->p, column >= 2, 0.1, 0.01};
    for (const char *c = sizes; *c != line->size; c++) {
        setting.beta_m *= 10;
        setting.gamma_m *= 10;
    }
    return setting;
}

int paper_near(double printed, double value)
{
    return fabs(printed - value) <= 1.01 * pow(10, floor(log10(printed)) - 2);
}

int paper_misprint(const struct paper_printed *line, int column)
{
    return line->p == 63 && column == 1;
}
