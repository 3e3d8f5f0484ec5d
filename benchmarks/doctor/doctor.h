/*
 * hsumma doctor: what is known of a job, and what may be wrong with it.  A subject (MPI, cores, BLAS, ...) is a file
 * that fills in its part of struct doctor_job, and judges it by functions without side effects; subjects.c lists them.
 */
#ifndef HS_BENCHMARKS_DOCTOR_DOCTOR_H
#define HS_BENCHMARKS_DOCTOR_DOCTOR_H

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "coll/node/mapping.h"
#include "hsumma/context/context.h"

enum { DOCTOR_TEXT = 400, DOCTOR_FACTS = 4, DOCTOR_CHECKS = 6 };

/* mpi.c */
typedef enum mpi_family { FAMILY_UNKNOWN, FAMILY_MPICH, FAMILY_OPENMPI } mpi_family;
typedef struct job_mpi {
    mpi_family built, runs; /* whose headers the program has; whose library runs */
    unsigned loaded;        /* a bit for each family that has a library in the process */
    char library[96];       /* as it calls itself */
    int unlike;             /* not the library of rank 0 */
    const char *launcher;   /* NULL: none is known */
    int launched, number;   /* processes that it has started, and which of them this is */
} job_mpi;

/* cores.c; of this rank's node */
typedef struct job_cores {
    char host[64], mine[64]; /* cores of this rank's affinity mask, as a list */
    int count;               /* of those */
    int sockets;             /* that they lie in */
    double share;            /* of the node's cores, where a core is divided among the ranks that may use it */
    int shared;              /* some core of this rank's is another rank's, too */
    int used, online;        /* cores that some rank may use; all of the node */
    double quota;            /* cores' worth of time of the control group; 0: any */
    int fit;                 /* BLAS threads that fit in the share and the quota, at least 1 */
    int threads;             /* that products use */
    int all_threads;         /* of all ranks of the node */
    const char *chosen;      /* what says so: a variable, or an option; NULL: the library */
} job_cores;

/* blas.c: vectors that a processor has, or that kernels use */
typedef enum vector_level { VECTORS_UNKNOWN, VECTORS_SSE, VECTORS_AVX, VECTORS_AVX2, VECTORS_AVX512 } vector_level;
typedef struct job_blas {
    char version[64], kernels[32]; /* as the BLAS says itself; "": it does not */
    char file[PATH_MAX];           /* of the library that has the GEMM; "": it is linked statically */
    vector_level uses, processor;
    int chooses; /* kernels are chosen when the program starts */
} job_blas;

/* memory.c; of this rank's node */
typedef struct job_memory {
    int no_memfd;                /* errno of memfd_create; 0: it works */
    enum hs_mapping_fault fault; /* of a mapping that all ranks of the node share */
    int64_t shm_size, shm_free;  /* bytes of /dev/shm; -1: there is none */
    int64_t address_limit;       /* bytes that a process may map, or a file have; -1: any number */
    int64_t product_memory;      /* bytes that a grid maps */
    int ptrace_scope;            /* of Yama; 0: no limit, or none for this process */
    char huge[24], huge_shared[24];
} job_memory;

/* files.c; alike on all ranks: rank 0 reads them */
typedef struct job_file {
    enum { FILE_NONE, FILE_GOOD, FILE_FOREIGN, FILE_BAD } state;
    char path[HS_OPTION_TEXT], why[256]; /* why it is not used; of a foreign profile: the other machine */
    double days;                         /* since it was written */
    int older;                           /* than a library that it has measured */
    int locked;                          /* it could not be written */
} job_file;

/* network.c */
typedef struct job_network {
    int measured;
    struct hs_link found; /* between nodes */
    int expects;          /* a profile or the tuned file says what it should be: */
    struct hs_link expected;
} job_network;

typedef struct doctor_job {
    MPI_Comm comm, node; /* the ranks that share this rank's memory */
    int rank, ranks, nodes, node_ranks;
    const char *root;    /* goes before paths of /proc, /sys and /dev: "", or a test's directory */
    const char *options; /* of the library */
    hsumma_context *ctx; /* NULL: none could be made, */
    char refused[512];   /* and why */
    int own;             /* it is the job's */
    job_mpi mpi;
    job_cores cores;
    job_blas blas;
    job_memory memory;
    job_file profile, tuned;
    job_network network;
} doctor_job;

/* What a check says of this rank.  cure: what to do; "": what the check's row says. */
typedef struct finding {
    char what[DOCTOR_TEXT], cure[DOCTOR_TEXT];
} finding;

/* Where its texts speak of nothing special they are the documentation's as well (doc/doctor.md). */
typedef struct doctor_check {
    const char *name;
    int (*found)(const doctor_job *j, finding *f); /* nonzero: something is wrong, and what.  Local */
    const char *what, *why, *cure;
    int costly;  /* it costs more than 10 %: the exit status is 1 */
    int measure; /* it spoils what gemm measures */
} doctor_check;

/* A line about the job on this rank; an empty text says nothing. */
typedef struct doctor_fact {
    const char *name;
    void (*tell)(const doctor_job *j, char *text, size_t size);
} doctor_fact;

typedef struct doctor_subject {
    void (*look)(doctor_job *j); /* fills in its part.  Collective */
    doctor_fact facts[DOCTOR_FACTS];
    doctor_check checks[DOCTOR_CHECKS];
} doctor_subject;

/* subjects.c: all of them; NULL ends the list. */
extern const doctor_subject doctor_mpi, doctor_cores, doctor_blas, doctor_memory, doctor_files, doctor_environment,
    doctor_network, doctor_device;
extern const doctor_subject *const doctor_subjects[];

/* Sets what is wrong, and returns 1. */
int doctor_finds(finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets what to do about it. */
void doctor_advises(finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text of a file behind the root, cut where `size` ends; 0 if there is none. */
int doctor_read(const doctor_job *j, const char *path, char *text, size_t size);
/* Opens it; NULL if there is none. */
FILE *doctor_open(const doctor_job *j, const char *path);

/* Whether a launcher has started several processes, and MPI knows of this one alone: they are of two MPIs. */
int doctor_is_alone(const doctor_job *j);

/* Fills in what the environment says of the launcher; needs no MPI. */
void doctor_find_launcher(job_mpi *mpi);

/* "0-3,8" for the numbers of a set of which is[number] is nonzero. */
void doctor_list(const unsigned char *is, int count, char *text, size_t size);

/* memory.c: before MPI_Init, which ends the program where /dev/shm is too small for it: then stderr says so.  Local. */
void doctor_before_mpi(void);

/* --- a job, from the outside -------------------------------------------------------------------------------------- */

/* Looks at everything, or only at what the checks for measurements need (then in a context that is there).  The
 * context is the job's own unless it is given.  Collective; doctor_free undoes it. */
void doctor_look(doctor_job *j, MPI_Comm comm, hsumma_context *ctx);
void doctor_free(doctor_job *j);

/* What all ranks say, on rank 0: alike ones of several ranks in one row. */
typedef struct doctor_row {
    const char *kind; /* fact, advice or costly */
    const char *name, *why;
    char ranks[128], what[DOCTOR_TEXT], cure[DOCTOR_TEXT];
} doctor_row;
typedef struct doctor_rows {
    doctor_row *row;
    int count;
    size_t capacity;
    int costly; /* how many are, known to all ranks */
} doctor_rows;

/* Nonzero on all ranks, after a message, if there is no memory.  Collective. */
int doctor_gather(const doctor_job *j, doctor_rows *rows);

/* What spoils measurements, in one line, on rank 0; "" if nothing does.  Collective. */
void doctor_warn(MPI_Comm comm, hsumma_context *ctx, char *text, size_t size);

/* report.c: prints in a format; returns 0 if writing failed. */
enum { DOCTOR_TABLE, DOCTOR_CSV, DOCTOR_JSON };
int doctor_report(const doctor_job *j, const doctor_rows *rows, int format, int quiet, FILE *file);
/* The checks that there are. */
int doctor_report_checks(int format, FILE *file);

#endif
