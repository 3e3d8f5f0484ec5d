/* The properties of a machine on which choices depend: built in, or measured by hsumma calibrate. */
#ifndef HS_HSUMMA_COST_PROFILE_H
#define HS_HSUMMA_COST_PROFILE_H

#include "coll/model/clock.h"

/*
 * The cost of one local GEMM call, m x n x k, in real arithmetic: call + flop 2 m n k + c m n max(1, k / knee) + ab (m
 * k + k n) seconds.
 */
struct hs_gemm_cost {
    double flop; /* s per multiplication or addition */
    double c;    /* s per element of C, which is read and written once per `knee` of k */
    double ab;   /* s per element of A and B, which each call packs */
    double call; /* s per call */
};

enum { HS_PROFILE_SOURCE = 256, HS_HOST_TEXT = 256 };

struct hs_profile {
    struct hs_machine machine; /* costs of messages, sums and copies of data in host memory */
    /* Costs of messages, sums and copies of data in device memory, with messages through the host.  The number of
     * devices per node is not in the file: it comes from the context's processes. */
    struct hs_machine device_machine;
    /* Seconds per message after the first of an exchange in which many processes send to many at once; 0 if these
     * messages cost as much as the first. */
    double exchange_alpha;
    double overlap; /* share, 0 to 1, of the time of messages between nodes that a multiplication hides */
    /* Share, 0 to 1, of the ideal saving by panels in flight together that is counted.  Ideally panels would delay each
     * other only at shared ports and links. */
    double pipelining;
    /* GEMM of real elements in double [0] and single [1] precision, with `threads` threads. */
    struct hs_gemm_cost gemm[2];
    int threads;                    /* threads of the measurement; the rate is assumed proportional to threads */
    int64_t knee;                   /* panel width from which the local GEMM runs at nearly full rate */
    int64_t slice;                  /* flops of a slice of the local GEMM, between polls of the messages */
    char source[HS_PROFILE_SOURCE]; /* "built-in", the file's name, or the origin of the network's figures */
    /* Products m n k up to which the BLAS multiplies without packing, and faster; 0: unknown.  Not in the file. */
    double unpacked;
    /* Processors that more processes of one node share, and which the GEMM's figures do not count; 0: each has its own.
     * Not in the file. */
    int crowded;
    int one_node; /* 1 if all processes of the context are on one node; not in the file */
    /* Least width of panels in host memory whose products a device may compute, because C travels to the device and
     * back for each; 0 without a device.  Not in the file. */
    int64_t device_panel;
};

/* The panel width from which local products run at nearly full rate. */
static inline int64_t hs_profile_knee(const struct hs_profile *profile)
{
    return profile->device_panel > profile->knee ? profile->device_panel : profile->knee;
}

/* The built-in profile: measured inside a current server; the network is an assumption (profile.c). */
extern const struct hs_profile hs_profile_builtin;

/* The GEMM cost of a scalar type. */
static inline const struct hs_gemm_cost *hs_gemm_cost_of(const struct hs_profile *profile, size_t scalar_size,
                                                         int complex_type)
{
    return &profile->gemm[scalar_size == (complex_type ? 8 : 4)];
}

/* Seconds of one local GEMM call of m x n x k with `threads` threads. */
double hs_gemm_seconds(const struct hs_profile *profile, size_t scalar_size, int complex_type, int threads, double m,
                       double n, double k);
/* hs_gemm_seconds for callers that do not know the profile's type (hs_compute). */
double hs_profile_gemm_seconds(const void *profile, size_t scalar_size, int complex_type, int threads, double m,
                               double n, double k);

/*
 * Implemented in profile_text.c: reading and writing a profile file.  Its first line is "hsumma profile 1", then lines
 * "NAME VALUE", then "end".  # begins a comment.  Unknown names are refused, except "measured.*", which is for human
 * readers; missing names keep their built-in value. "host TEXT" is the signature of the measured machine
 * (hs_host_signature); a profile of another machine is refused.
 *
 * hs_profile_read: host NULL accepts any machine; on HSUMMA_ERR_OPTION the message has the offending line, and *profile
 * is unchanged.  hs_profile_write returns the length, like snprintf.
 */
hsumma_status hs_profile_read(const char *text, const char *host, struct hs_profile *profile,
                              struct hs_message *message);
int hs_profile_write(const struct hs_profile *profile, const char *host, char *text, size_t size);

/* Implemented in host_signature.c: processor, cores, MPI and BLAS of this machine, as one line without a newline. */
void hs_host_signature(char text[HS_HOST_TEXT]);

#endif
