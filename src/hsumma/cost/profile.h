/* What the choices need to know about a machine: built in, or measured by hsumma calibrate. */
#ifndef HS_HSUMMA_COST_PROFILE_H
#define HS_HSUMMA_COST_PROFILE_H

#include "coll/model/clock.h"

/*
 * A call of the local GEMM, m x n x k: call + flop 2 m n k + c m n max(1, k / knee) + ab (m k + k n) seconds, in real
 * arithmetic.
 */
struct hs_gemm_cost {
    double flop; /* s per multiplication or addition */
    double c;    /* s per element of C, which is read and written for each `knee` of k */
    double ab;   /* s per element of A and B, which a call packs */
    double call; /* s per call */
};

enum { HS_PROFILE_SOURCE = 256, HS_HOST_TEXT = 256 };

struct hs_profile {
    struct hs_machine machine;        /* messages, sums, copies */
    struct hs_machine device_machine; /* the same in device memory, which messages leave through the host; how many
                                         devices a node has is not of the file, but of the context's processes */
    double exchange_alpha;            /* s per message of an exchange after the first, where many send to many at once;
                                         0: as between two */
    double overlap;              /* the share of a message's time that a multiplication hides, between nodes: 0 to 1 */
    struct hs_gemm_cost gemm[2]; /* of reals in double and in single precision, by `threads` threads */
    int threads;                 /* that were measured together; others in proportion */
    int64_t knee;                /* panel width from which the local GEMM runs at about its full rate */
    int64_t slice;               /* flops of a slice of the local GEMM between two looks at the messages */
    char source[HS_PROFILE_SOURCE]; /* "built-in", or the file's name */
    int one_node;                   /* all processes of the context are on one node: not of the profile's file */
};

/* Built in: a present-day server, ranks of one node. */
extern const struct hs_profile hs_profile_builtin;

/* Seconds of one call of the local GEMM of m x n x k by so many threads. */
double hs_gemm_seconds(const struct hs_profile *profile, size_t scalar_size, int complex_type, int threads, double m,
                       double n, double k);
/* hs_gemm_seconds for callers to whom the profile is opaque (hs_compute). */
double hs_profile_gemm_seconds(const void *profile, size_t scalar_size, int complex_type, int threads, double m,
                               double n, double k);

/*
 * profile_text.c: the file.  A first line "hsumma profile 1", then lines "NAME VALUE"; # begins a comment; unknown
 * names are refused, names that are not there keep the built-in value.  "host TEXT" is the signature of the machine
 * that has been measured (hs_host_signature): the profile of another one is refused.
 *
 * hs_profile_read: HSUMMA_ERR_OPTION and a message with the line that is wrong, *profile is not changed then; host
 * NULL: any will do.  hs_profile_write: the length, as snprintf.
 */
hsumma_status hs_profile_read(const char *text, const char *host, struct hs_profile *profile,
                              struct hs_message *message);
int hs_profile_write(const struct hs_profile *profile, const char *host, char *text, size_t size);

/* host_signature.c: processor, cores, MPI and BLAS of this machine in one line without a newline. */
void hs_host_signature(char text[HS_HOST_TEXT]);

#endif
