/* The kinds of device: "cuda", if the library is built with it, and "host", the stand-in that tests load. */
#ifndef HS_GPU_DEVICES_H
#define HS_GPU_DEVICES_H

#include "base/device.h"

/* The kind of this name; NULL, with the reason in why, if it is not available. */
const struct hs_device_kind *hs_device_kind_find(const char *name, struct hs_message *why);

#if HSUMMA_HAVE_CUDA
extern const struct hs_device_kind hs_device_cuda;
#endif

#endif
