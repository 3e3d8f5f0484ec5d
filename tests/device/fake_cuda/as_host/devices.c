/*
 * Replaces src/gpu/devices.c for tests that use the stand-in: the kind "host" is then the device "cuda" over the fake.
 * So library and device are tested together, without changes to those tests.
 */
#include "device/fake_cuda/fake.h"

#include <stdlib.h>
#include <string.h>

/* Passes words of the stand-in's policy on to the fake, for what the device "cuda" learns from CUDA. */
static void take_policy(void)
{
    const char *policy = getenv("HSUMMA_HOST_DEVICE"), *devices = policy ? strstr(policy, "devices=") : NULL;
    int count = devices ? atoi(devices + strlen("devices=")) : 1;
    fake_cuda_reset();
    fake_cuda.fatal = 1;
    fake_cuda.shares_events = !policy || !strstr(policy, "noevents");
    fake_cuda.devices = count < FAKE_DEVICES ? count : FAKE_DEVICES;
}

/* A new policy takes effect here if no earlier object is live. */
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
