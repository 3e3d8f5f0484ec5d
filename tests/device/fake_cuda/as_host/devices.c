/*
 * Replaces src/gpu/devices.c in tests written for the stand-in: the kind "host" becomes the device "cuda" over the
 * fake. This tests the library together with the CUDA device without changing the tests.
 */
#include "device/fake_cuda/fake.h"

#include <stdlib.h>
#include <string.h>

/* Translates the settings of HSUMMA_HOST_DEVICE that describe the machine into properties of the fake. */
static void take_policy(void)
{
    const char *policy = getenv("HSUMMA_HOST_DEVICE"), *devices = policy ? strstr(policy, "devices=") : NULL;
    int count = devices ? atoi(devices + strlen("devices=")) : 1;
    fake_cuda_reset();
    fake_cuda.fatal = 1;
    fake_cuda.shares_events = !policy || !strstr(policy, "noevents");
    fake_cuda.devices = count < FAKE_DEVICES ? count : FAKE_DEVICES;
}

/* Reads a changed policy only if no earlier object is live. */
const struct hs_device_kind *hs_device_kind_find(const char *name, struct hs_message *why)
{
    if (strcmp(name, "host") != 0 && strcmp(name, "cuda") != 0) {
        hs_fail(why, HSUMMA_ERR_DEVICE, "the fake of CUDA is no device \"%s\"", name);
        return NULL;
    }
    if (fake_cuda_out() == 0) {
        fake_cuda_end();
        take_policy();
    }
    return &hs_device_cuda;
}
