/*
 * hsumma doctor: the facts about a job, and checks of them. A subject (MPI, cores, BLAS, ...) is a file that fills in
 * its part of struct doctor_job and judges it by functions without side effects; subjects.c lists the subjects.
 */
#ifndef HS_BENCHMARKS_DOCTOR_DOCTOR_H
#define HS_BENCHMARKS_DOCTOR_DOCTOR_H

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "coll/node/mapping.h"
#include "hsumma/context/context.h"
#include "hsumma/context/mpi_family.h"
#include "hsumma/cost/blas_kernels.h"

enum { DOCTOR_TEXT = 400, DOCTOR_FACTS = 4, DOCTOR_CHECKS = 6 };

/* mpi.c */
typedef struct job_mpi {
    enum hs_mpi_family built, runs; /* the MPI of the headers at build time; the MPI of the running library */
    unsigned loaded;                /* a bit for each family with a library in the process */
    char library[96];               /* the library's version string */
    int unlike;                     /* 1: the library differs from rank 0's */
    const char *launcher;           /* NULL: unknown */
    int launched, number; /* number of processes that the launcher started; index of this process among them */
} job_mpi;

/* cores.c; mostly about this rank's node */
typedef struct job_cores {
    char host[64], mine[64]; /* the host's name; the cores in this rank's affinity mask, as a list */
    int count;               /* cores in that mask */
    int sockets;             /* sockets that these cores span */
    double share;            /* this rank's share of the node's cores, each divided among the ranks that may use it */
    int shared;              /* 1: another rank may use one of this rank's cores */
    int used, online;        /* the node's cores that some rank may use; all its cores */
    double quota;            /* the control group's quota in cores; 0: none */
    int fit;                 /* BLAS threads that fit the share and the quota, at least 1 */
    int threads;             /* BLAS threads that products use */
    int all_threads;         /* sum of `threads` over the ranks of the node */
    const char *chosen;      /* the variable or option that sets `threads`; NULL if the library or the BLAS chose */
} job_cores;

/* blas.c */
typedef struct job_blas {
    char version[64]; /* as the BLAS reports it, or "" */
    struct hs_blas_kernels kernels;
    char file[PATH_MAX]; /* the library with the GEMM; "" if unknown, e.g. linked statically */
    enum hs_vectors processor;
    int chooses; /* 1: the BLAS chooses its kernels at program start */
} job_blas;

/* memory.c; about this rank's node */
typedef struct job_memory {
    int no_memfd;                /* errno of memfd_create; 0: it works */
    enum hs_mapping_fault fault; /* the fault of a trial mapping that all ranks of the node share; 0: none */
    int64_t shm_size, shm_free;  /* bytes of /dev/shm; -1: there is none */
    int64_t address_limit;       /* bytes that a process may map or write to a file; -1: no limit */
    int64_t product_memory;      /* the most bytes that a grid maps for its products */
    int ptrace_scope;            /* Yama's setting; 0 if it does not restrict this process */
    char huge[24], huge_shared[24];
} job_memory;

/* files.c: read by rank 0, the same on all ranks */
typedef struct job_file {
    enum { FILE_NONE, FILE_GOOD, FILE_FOREIGN, FILE_BAD } state;
    char path[HS_OPTION_TEXT], why[256]; /* why: the reason it is not used; for a foreign profile, the other machine */
    double days;                         /* since the file was written */
    int older;                           /* profile only; 1: older than the BLAS or the MPI library */
    int locked;                          /* tuned file only; 1: cannot be replaced */
} job_file;

/* network.c */
typedef struct job_network {
    int measured;
    struct hs_link found; /* the measured link between nodes */
    int expects; /* 1: `expected` is the network of the context's profile; 0: the context has only just measured it */
    struct hs_link expected;
} job_network;

/* startup.c: seconds on the slowest rank; 0 if unknown */
typedef struct job_startup {
    double first;      /* making the job's own context */
    double seconds[2]; /* medians: making another context, a grid in it */
} job_startup;

typedef struct doctor_job {
    MPI_Comm comm, node; /* node: the ranks of this rank's node */
    int rank, ranks, nodes, node_ranks;
    const char *root;    /* prefix of paths in /proc, /sys and /dev: "", or a directory of a test */
    const char *options; /* options for the library */
    hsumma_context *ctx; /* NULL if it could not be made */
    char refused[512];   /* why it could not be made */
    int own;             /* 1: the context belongs to the job, which frees it */
    job_mpi mpi;
    job_cores cores;
    job_blas blas;
    job_memory memory;
    job_file profile, tuned;
    job_network network;
    job_startup startup;
} doctor_job;

/* A check's finding on this rank. cure: the remedy; "" stands for the check's. */
typedef struct finding {
    char what[DOCTOR_TEXT], cure[DOCTOR_TEXT];
} finding;

/* A check. what, why and cure also appear in doc/doctor.md; a finding's own text has the details of the job. */
typedef struct doctor_check {
    const char *name;
    int (*found)(const doctor_job *j, finding *f); /* Nonzero, with the finding, if something is wrong. Local. */
    const char *what, *why, *cure;
    int costly;  /* 1: costs more than 10 % of the time; a finding makes the exit status 1 */
    int measure; /* 1: disturbs the measurements of hsumma gemm */
} doctor_check;

/* A line about the job on this rank; an empty text prints nothing. */
typedef struct doctor_fact {
    const char *name;
    void (*tell)(const doctor_job *j, char *text, size_t size);
} doctor_fact;

typedef struct doctor_subject {
    void (*look)(doctor_job *j); /* Fills in the subject's part of the job. Collective. */
    doctor_fact facts[DOCTOR_FACTS];
    doctor_check checks[DOCTOR_CHECKS];
} doctor_subject;

/* subjects.c: all subjects, ending with NULL. */
extern const doctor_subject doctor_mpi, doctor_cores, doctor_blas, doctor_memory, doctor_files, doctor_environment,
    doctor_network, doctor_device, doctor_startup;
extern const doctor_subject *const doctor_subjects[];

/* Sets the finding's text, and returns 1. */
int doctor_finds(finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets the finding's cure. */
void doctor_advises(finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads the first line of a file below the root, truncated to `size`; 0 if there is no file or the line is empty. */
int doctor_read(const doctor_job *j, const char *path, char *text, size_t size);
/* Opens a file below the root; NULL if there is none. */
FILE *doctor_open(const doctor_job *j, const char *path);

/* Whether a launcher started several processes while MPI reports only this one: the two belong to different MPIs. */
int doctor_is_alone(const doctor_job *j);

/* Finds the launcher from the environment; needs no MPI. */
void doctor_find_launcher(job_mpi *mpi);

/* Writes a set of numbers as "0-3,8"; is[number] is nonzero for its members. */
void doctor_list(const unsigned char *is, int count, char *text, size_t size);

/* memory.c: on the first process, warns on stderr if /dev/shm has too little space even for one rank. Called before
 * MPI_Init, which may then end the program. Local. */
void doctor_before_mpi(void);

/* Nonzero if another MPI's launcher started the processes, each of which would run the whole command alone. The first
 * process then reports this on stderr, and *code is the calling process's exit status. */
int doctor_refuses(MPI_Comm comm, int *code);

/* --- the examination of a job ------------------------------------------------------------------------------------ */

/* Examines all subjects, or, if a context is given, only those whose checks concern measurements. Without ctx the job
 * makes its own context. Collective; doctor_free undoes it. */
void doctor_look(doctor_job *j, MPI_Comm comm, hsumma_context *ctx);
void doctor_free(doctor_job *j);

/* The facts and findings of all ranks, on rank 0; equal ones of several ranks share a row. */
typedef struct doctor_row {
    const char *kind; /* "fact", "advice" or "costly" */
    const char *name, *why;
    char ranks[128], what[DOCTOR_TEXT], cure[DOCTOR_TEXT];
} doctor_row;
typedef struct doctor_rows {
    doctor_row *row;
    int count;
    size_t capacity;
    int costly; /* number of costly checks with a finding on some rank; the same on all ranks */
} doctor_rows;

/* Gathers all rows. Nonzero on all ranks, after a message, if out of memory. Collective. */
int doctor_gather(const doctor_job *j, doctor_rows *rows);

/* Writes on all ranks the first finding that disturbs measurements, as one line, or "" if there is none. Collective. */
void doctor_warn(MPI_Comm comm, hsumma_context *ctx, char *text, size_t size);

/* report.c: prints in a format; returns 0 if writing failed. */
enum { DOCTOR_TABLE, DOCTOR_CSV, DOCTOR_JSON };
int doctor_report(const doctor_job *j, const doctor_rows *rows, int format, int quiet, FILE *file);
/* Prints the list of all checks. */
int doctor_report_checks(int format, FILE *file);

#endif
