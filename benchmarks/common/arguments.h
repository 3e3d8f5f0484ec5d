/* Arguments that several commands share: the product, its layout, and how to measure. */
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
    LAYOUT_RSRC, /* -1: every grid row stores all rows; LAYOUT_CSRC likewise for columns */
    LAYOUT_CSRC,
    LAYOUT_I,
    LAYOUT_J,
    LAYOUT_PAD, /* rows by which ld exceeds the local rows */
    LAYOUT_FIELDS
};
#define LAYOUT_EXPECTED                                                                                     \
    "FIELD=NUMBER,... with the fields m n mb nb imb inb rsrc csrc i j pad; mb nb imb inb at least 1, rsrc " \
    "csrc at least -1, the others at least 0"

/* Reads "mb=64,inb=3" into the fields; returns 0 if it is invalid, possibly after setting some of them. */
int layout_read(const char *text, int64_t layout[LAYOUT_FIELDS]);

typedef enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON } report_format;

typedef struct arguments {
    hsumma_type type;
    char transa, transb;
    int64_t m, n, k; /* n and k default to m */
    double alpha[2], beta[2];
    int nprow, npcol; /* 0: the most nearly square factors of the number of ranks */
    char order;
    int64_t nb;                       /* 0: one block per process */
    int best;                         /* layouts by hsumma_desc_best, in place of grid and nb */
    int64_t layout[3][LAYOUT_FIELDS]; /* of A, B and C; -1: a size that was not given */
    uint64_t seed;
    int reps;
    int check;
    int quiet; /* no progress bar */
    report_format format;
} arguments;

/* Rows for the shared options: a command's table includes them with .rows, at a field of type `arguments`. */
extern const argument arguments_product[]; /* m n k type transa transb grid nb layout... */
extern const argument arguments_values[];  /* order alpha beta seed */
extern const argument arguments_all[];     /* both of the above, and reps check quiet format help */

/* Default values. */
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

/* After the last option: sets n and k, if not given, to m. Returns nonzero, with options->error set, if there is an
 * operand, or if alpha or beta is complex and the type is real. */
int arguments_finish(arguments *args, command_options *options);

/* The shared parts of --help: the product and its distribution; the options of arguments_all for measuring. */
void arguments_help(void);
void arguments_help_run(const char *reps, const char *check, const char *formats);

#endif
