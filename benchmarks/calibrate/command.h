/* hsumma calibrate: what its files share. */
#ifndef HS_BENCHMARKS_CALIBRATE_COMMAND_H
#define HS_BENCHMARKS_CALIBRATE_COMMAND_H

#include <stdatomic.h>

#include "calibrate/fit.h"
#include "common/arguments.h"
#include "hsumma/context/context.h"
#include "hsumma/network/message_trial.h"
#include "hsumma/network/rank_pairs.h"
#include "measure/machine.h"
#include "report/columns.h"
#include "report/progress.h"

typedef struct calibrate_arguments {
    const char *file; /* NULL: where contexts look for it; "-": standard output */
    double seconds;   /* about how long it may take */
    int quick;        /* fewer sizes and shapes */
    report_format format;
    int progress, quiet;
} calibrate_arguments;

/* One measured time: "measured.NAME NUMBER ... SECONDS" in the file. */
typedef struct calibrate_sample {
    const char *name;
    int numbers;
    int64_t number[3];
    double seconds;
} calibrate_sample;

/* What has been fitted to several points. */
enum calibrate_fit {
    FIT_NETWORK,
    FIT_NODE,
    FIT_SOCKET,
    FIT_SHM,
    FIT_EXCHANGE,
    FIT_GEMM_D,
    FIT_GEMM_S,
    FIT_DEVICE,
    FIT_STAGED,
    FIT_STAGED_NETWORK,
    FITS
};

typedef struct calibration {
    const calibrate_arguments *args;
    MPI_Comm comm;
    int rank, size;
    hsumma_context *ctx;
    machine mach;
    int crowded; /* more BLAS threads on rank 0's node than cores */
    progress bar;
    const char *phase;
    double begun, took; /* when; seconds in all */
    struct hs_profile profile;
    fit_error error[FITS]; /* NaN: kept as built in */
    calibrate_sample *sample;
    int samples, capacity;
    int out_of_memory;     /* for a sample */
    double device_rate[2]; /* flop/s of the device's product, in double and in single precision; 0: there is none */
    int device_turned;     /* its turn has been measured */
    void *held[4];         /* by the subject at hand */
    int holds, lacks;      /* how much of it; there was no memory for some of it */
} calibration;

/* --- measure.c: memory and repeated trials; collective ----------------------------------------------------------- */

/* Memory for the subject at hand, all its bytes 1 (small doubles), which goes with it.  NULL, and cal->lacks, if there
 * is none. */
void *calibrate_get(calibration *cal, size_t bytes);

/* Does something so many times; returns the seconds that it took on this rank, 0 if it takes no part. */
typedef double calibrate_trial(calibration *cal, void *state, int calls);

/*
 * Seconds of one call, the median of the faster half of several trials: of the slowest rank in each; or, together, from
 * a common start until all are done, which is fair also where ranks share cores and work one after the other.  The
 * trials go on for `budget` seconds, but there are three at least (one, if nothing is left).  The same on all ranks.
 */
double calibrate_slowest(calibration *cal, calibrate_trial *trial, void *state, double budget);
double calibrate_together(calibration *cal, calibrate_trial *trial, void *state, double budget);

/* Polls until a word that ranks share is as large, and after some polls yields after each. */
void calibrate_wait_word(_Atomic int64_t *word, int64_t value);

void calibrate_note(calibration *cal, const char *name, int numbers, const int64_t number[3], double seconds);
/* Seconds since the beginning, of rank 0: the same on all. */
double calibrate_clock(const calibration *cal);

/* --- subjects: each fills in its part of the profile; 0 on all ranks, after a message, if one has no memory ------ */

/* network.c: messages between pairs; exchange.c: of all to all, and beside a multiplication;
 * memory.c: sums, copies, signals; gemm.c. `budget`: seconds. */
int calibrate_network(calibration *cal, double budget);
int calibrate_exchange(calibration *cal, double budget);
int calibrate_overlap(calibration *cal, double budget);
int calibrate_memory(calibration *cal, double budget);
int calibrate_gemm(calibration *cal, double budget);
/* device.c: nothing to do without one. */
int calibrate_device(calibration *cal, double budget);

/* --- report.c ---------------------------------------------------------------------------------------------------- */

/* The file's text, to be freed; NULL without memory. */
char *calibrate_text(const calibration *cal);
/* Nonzero if it was written.  path: where the profile is. */
int calibrate_table(const calibration *cal, const char *path, FILE *file);
int calibrate_json(const calibration *cal, const char *path, FILE *file);

#endif
