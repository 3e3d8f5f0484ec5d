#include "gpu/devices.h"

#include <string.h>

static const struct hs_device_kind *const kinds[] = {
#if HSUMMA_HAVE_CUDA
    &hs_device_cuda,
#endif
    &hs_device_host};

const struct hs_device_kind *hs_device_kind_at(int i)
{
    return i >= 0 && i < (int)(sizeof kinds / sizeof *kinds) ? kinds[i] : NULL;
}

const struct hs_device_kind *hs_device_kind_find(const char *name)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}
