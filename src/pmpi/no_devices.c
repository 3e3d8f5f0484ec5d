/* The preloaded library serves host memory only; devices would need a BLAS, so it has no kind of device. */
#include "gpu/devices.h"

const struct hs_device_kind *hs_device_kind_find(const char *name, struct hs_message *why)
{
    hs_fail(why, HSUMMA_ERR_DEVICE, "libhsumma_pmpi.so does not support \"%s\"; expected device=none", name);
    return NULL;
}
