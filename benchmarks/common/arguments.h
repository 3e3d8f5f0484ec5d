/* The arguments that the gemm and the sweep command have in common: the product, its layout, and how to measure. */
#ifndef HS_BENCHMARKS_COMMON_ARGUMENTS_H
#define HS_BENCHMARKS_COMMON_ARGUMENTS_H

#include <stdint.h>

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
#define LAYOUT_EXPECTED                                                                                     \
    "FIELD=NUMBER,... with the fields m n mb nb imb inb rsrc csrc i j pad; mb nb imb inb at least 1, rsrc " \
    "csrc at least -1, the others at least 0"

/* "mb=64,inb=3" into these fields; returns 0 if it is none.  A text with a mistake may leave some of them set. */
int layout_read(const char *text, int64_t layout[LAYOUT_FIELDS]);

typedef enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON } report_format;

typedef struct arguments {
    hsumma_type type;
    char transa, transb;
    int64_t m, n, k; /* n and k are m's value if not given */
    double alpha[2], beta[2];
    int nprow, npcol; /* 0: the factors of the number of ranks nearest to a square */
    char order;
    int64_t nb;                       /* 0: one block per process */
    int best;                         /* as hsumma_desc_best has it, instead of grid and nb */
    int64_t layout[3][LAYOUT_FIELDS]; /* of A, B and C; the sizes are -1 if they were not given */
    uint64_t seed;
    int reps;
    int check;
    int quiet; /* no progress */
    report_format format;
} arguments;

/* The common options, for rows of a command's table with an `arguments` as their field. */
extern const argument arguments_product[]; /* m n k type transa transb grid nb layout... */
extern const argument arguments_values[];  /* order alpha beta seed */
extern const argument arguments_all[];     /* these two, and reps check format help */

/* What they are unless they are given. */
#define LAYOUT_DEFAULT         \
    {                          \
        -1, -1, -1, -1, -1, -1 \
    }
#define ARGUMENTS_DEFAULT(repetitions)                                                                           \
    {                                                                                                            \
        .type = HSUMMA_D, .transa = 'N', .transb = 'N', .m = 1024, .n = -1, .k = -1, .alpha = {1}, .order = 'R', \
        .nb = 128, .seed = 1, .reps = (repetitions), .layout = {                                                 \
            LAYOUT_DEFAULT,                                                                                      \
            LAYOUT_DEFAULT,                                                                                      \
            LAYOUT_DEFAULT                                                                                       \
        }                                                                                                        \
    }

/* After the last option: fills in what depends on other arguments. Returns nonzero, with options->error set, if they do
 * not fit together. */
int arguments_finish(arguments *args, command_options *options, int argc, char **argv);

/* The common part of --help. */
void arguments_help(void);

#endif
