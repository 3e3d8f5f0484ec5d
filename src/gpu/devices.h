/* The table of devices that this library has been built with. */
#ifndef HS_GPU_DEVICES_H
#define HS_GPU_DEVICES_H

#include "base/device.h"

/* The i-th kind, NULL past the last. */
const struct hs_device_kind *hs_device_kind_at(int i);
/* By name; NULL if there is none. */
const struct hs_device_kind *hs_device_kind_find(const char *name);

/* See gpu/host_parts.h; HSUMMA_HOST_DEVICE says when its work is done, and what it refuses (gpu/host_policy.c). */
extern const struct hs_device_kind hs_device_host;
#if HSUMMA_HAVE_CUDA
extern const struct hs_device_kind hs_device_cuda;
#endif

#endif
