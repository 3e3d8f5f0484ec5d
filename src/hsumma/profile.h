/* What the choices need to know about a machine. */
#ifndef HS_HSUMMA_PROFILE_H
#define HS_HSUMMA_PROFILE_H

#include "coll/clock.h"

struct hs_profile {
    struct hs_machine machine; /* messages */
    double flops;              /* of one core in double precision, real multiplications and additions per second */
    int64_t knee;              /* panel width from which the local GEMM runs at its full rate */
    int64_t slice;             /* flops of a slice of the local GEMM between two looks at the messages */
    int one_node;              /* all processes of the context are on one node */
};

/* Built in: a present-day server, ranks of one node. */
extern const struct hs_profile hs_profile_builtin;

/* Seconds of a local GEMM of m x n x k that is done in panels of `width` of the looped dimension. */
double hs_gemm_seconds(const struct hs_profile *profile, size_t scalar_size, int complex_type, int threads, double m,
                       double n, double k, double width);

#endif
