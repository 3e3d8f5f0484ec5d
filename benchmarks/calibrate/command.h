/* hsumma calibrate: declarations that its files share. */
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
    const char *file; /* NULL: the usual path of a profile; "-": standard output */
    double seconds;   /* approximate duration */
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

/* The fits in a profile; indices of calibration.error. */
enum calibrate_fit {
    FIT_NETWORK,
    FIT_NODE,
    FIT_SOCKET,
    FIT_SHM,
    FIT_READ,
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
    int crowded; /* 1: more ranks than logical processors on rank 0's node */
    progress bar;
    const char *phase;
    double begun, took; /* start time; duration in seconds */
    struct hs_profile profile;
    fit_error error[FITS]; /* indexed by calibrate_fit; NaN if the built-in value is kept */
    calibrate_sample *sample;
    int samples;
    size_t capacity;
    int out_of_memory;     /* 1: no memory for a sample */
    double device_rate[2]; /* flop/s of the device's GEMM, in double and in single precision; 0: no device */
    int device_turned;     /* 1: the cost of switching a device between processes (turn) was measured */
    void *held[4];         /* memory of the current subject */
    int holds, lacks;      /* number of allocations in `held`; 1 if one has failed */
} calibration;

/* --- measure.c: memory and repeated trials ------------------------------------------------------------------------ */

/* Memory for the current subject, freed when the subject ends. All its bytes are 1, so doubles in it are tiny. NULL if
 * out of memory; cal->lacks is then set. */
void *calibrate_get(calibration *cal, size_t bytes);

/* Runs a trial of `calls` calls. Returns this rank's seconds; 0 if the rank does not participate. */
typedef double calibrate_trial(calibration *cal, void *state, int calls);

/*
 * Seconds of one call: the median of the faster half of several trials. A trial's time is that of its slowest rank; in
 * calibrate_together, the time from a common start until all ranks are done, which is fair even if ranks share cores.
 * Trials continue for `budget` seconds: at least three (one if the budget is not positive), at most 64. Collective; the
 * same result on all ranks.
 */
double calibrate_slowest(calibration *cal, calibrate_trial *trial, void *state, double budget);
double calibrate_together(calibration *cal, calibrate_trial *trial, void *state, double budget);

/* Waits until a shared word reaches `value`: polls, and yields after the first polls. */
void calibrate_wait_word(_Atomic int64_t *word, int64_t value);

void calibrate_note(calibration *cal, const char *name, int numbers, const int64_t number[3], double seconds);
/* Seconds since the start, by rank 0's clock; the same on all ranks. Collective. */
double calibrate_clock(const calibration *cal);

/* --- subjects: each fills in its part of the profile; returns 0 on all ranks, after a message, on failure --------- */

/* network.c: messages between pairs; exchange.c: all-to-all messages, and messages beside a multiplication; memory.c:
 * sums, copies, signals; gemm.c: the local GEMM. `budget` is in seconds. */
int calibrate_network(calibration *cal, double budget);
int calibrate_exchange(calibration *cal, double budget);
int calibrate_overlap(calibration *cal, double budget);
int calibrate_memory(calibration *cal, double budget);
int calibrate_gemm(calibration *cal, double budget);
/* device.c; does nothing without a device. */
int calibrate_device(calibration *cal, double budget);

/* --- report.c ---------------------------------------------------------------------------------------------------- */

/* The text of the profile's file, which the caller frees; NULL if out of memory. */
char *calibrate_text(const calibration *cal);
/* Print the result; 0 if writing failed. path: the file of the profile. */
int calibrate_table(const calibration *cal, const char *path, FILE *file);
int calibrate_json(const calibration *cal, const char *path, FILE *file);

#endif
