/* The arguments that the gemm and the sweep command have in common: the product, its layout, and how to measure. */
#ifndef HS_BENCHMARKS_COMMON_ARGUMENTS_H
#define HS_BENCHMARKS_COMMON_ARGUMENTS_H

#include <stdint.h>
#include <stdio.h>

#include "common/command.h"

/* The fields of a descriptor that --layout sets. */
enum {
    LAYOUT_M,
    LAYOUT_N,
    LAYOUT_MB,
    LAYOUT_NB,
    LAYOUT_IMB,
    LAYOUT_INB,
    LAYOUT_RSRC, /* -1: every grid row has all rows; likewise the columns */
    LAYOUT_CSRC,
    LAYOUT_I,
    LAYOUT_J,
    LAYOUT_PAD, /* rows that ld exceeds the local rows by */
    LAYOUT_FIELDS
};
extern const char *const layout_names[LAYOUT_FIELDS];

typedef enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON } report_format;

typedef struct arguments {
    hsumma_type type;
    char transa, transb;
    int64_t m, n, k; /* n and k are m's value if not given */
    double alpha[2], beta[2];
    int nprow, npcol; /* 0: the factors of the number of ranks nearest to a square */
    char order;
    int64_t nb;                       /* 0: one block per process */
    int64_t layout[3][LAYOUT_FIELDS]; /* of A, B and C; the sizes are -1 if they were not given */
    uint64_t seed;
    int reps;
    int check;
    report_format format;
    int help;
} arguments;

/* The entries of the common options for an array of struct option; command's own values begin at ARGUMENT_OWN. */
enum {
    ARGUMENT_TYPE = 0x100,
    ARGUMENT_GRID,
    ARGUMENT_ORDER,
    ARGUMENT_NB,
    ARGUMENT_LAYOUT,
    ARGUMENT_LAYOUT_A,
    ARGUMENT_LAYOUT_B,
    ARGUMENT_LAYOUT_C,
    ARGUMENT_TRANSA,
    ARGUMENT_TRANSB,
    ARGUMENT_ALPHA,
    ARGUMENT_BETA,
    ARGUMENT_SEED,
    ARGUMENT_REPS,
    ARGUMENT_CHECK,
    ARGUMENT_FORMAT,
    ARGUMENT_OWN
};
/* clang-format off */
#define ARGUMENT_OPTIONS                                      \
    {"m", required_argument, NULL, 'm'},                      \
    {"n", required_argument, NULL, 'n'},                      \
    {"k", required_argument, NULL, 'k'},                      \
    {"type", required_argument, NULL, ARGUMENT_TYPE},         \
    {"grid", required_argument, NULL, ARGUMENT_GRID},         \
    {"order", required_argument, NULL, ARGUMENT_ORDER},       \
    {"nb", required_argument, NULL, ARGUMENT_NB},             \
    {"layout", required_argument, NULL, ARGUMENT_LAYOUT},     \
    {"layout-a", required_argument, NULL, ARGUMENT_LAYOUT_A}, \
    {"layout-b", required_argument, NULL, ARGUMENT_LAYOUT_B}, \
    {"layout-c", required_argument, NULL, ARGUMENT_LAYOUT_C}, \
    {"transa", required_argument, NULL, ARGUMENT_TRANSA},     \
    {"transb", required_argument, NULL, ARGUMENT_TRANSB},     \
    {"alpha", required_argument, NULL, ARGUMENT_ALPHA},       \
    {"beta", required_argument, NULL, ARGUMENT_BETA},         \
    {"seed", required_argument, NULL, ARGUMENT_SEED},         \
    {"reps", required_argument, NULL, ARGUMENT_REPS},         \
    {"check", no_argument, NULL, ARGUMENT_CHECK},             \
    {"format", required_argument, NULL, ARGUMENT_FORMAT},     \
    {"help", no_argument, NULL, 'h'}
/* clang-format on */

void arguments_init(arguments *args);

/* Takes option opt with its value in optarg. Returns 1 if it is one of the common ones and good, 0 if it is none of
 * them, -1 if it is bad (options->error says why). */
int arguments_take(arguments *args, command_options *options, int opt);

/* After the last option: fills in what depends on other arguments. Returns nonzero, with options->error set, if they do
 * not fit together. */
int arguments_finish(arguments *args, command_options *options, int argc, char **argv);

/* The common part of --help. */
void arguments_help(FILE *file);

#endif
