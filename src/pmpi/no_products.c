/* The preloaded library multiplies nothing, so it needs no BLAS, and serves host memory only: no kind of device, no
 * GEMM.
 */
#include "api/context_parts.h"
#include "gpu/devices.h"

const struct hs_device_kind *hs_device_kind_find(const char *name, struct hs_message *why)
{
    hs_fail(why, HSUMMA_ERR_DEVICE, "libhsumma_pmpi.so does not support \"%s\"; expected device=none", name);
    return NULL;
}

hs_gemm *hs_gemm_to_measure(void)
{
    return NULL;
}
