/* On which device a test runs: the host's, or the one that HSUMMA_TEST_DEVICE names, as scripts/run-gpu-checks does. */
#ifndef HS_TESTS_SUPPORT_TEST_DEVICE_H
#define HS_TESTS_SUPPORT_TEST_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const char *test_device(void)
{
    const char *device = getenv("HSUMMA_TEST_DEVICE");
    return device && *device ? device : "host";
}

/* Failures, what is refused, and an MPI that takes any memory are the host device's. */
static inline int test_device_is_host(void)
{
    return strcmp(test_device(), "host") == 0;
}

/* "device=host threads=1": the device's word before other options; returns text. */
static inline const char *on_test_device(char *text, size_t room, const char *options)
{
    snprintf(text, room, "device=%s %s", test_device(), options);
    return text;
}

#endif
