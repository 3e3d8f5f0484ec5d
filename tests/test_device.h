/* On which device a test runs: the host's, or the one that HSUMMA_TEST_DEVICE names, as scripts/run-gpu-checks does. */
#ifndef HSUMMA_TESTS_TEST_DEVICE_H
#define HSUMMA_TESTS_TEST_DEVICE_H

#include <stdio.h>
#include <stdlib.h>

/* "device=host threads=1": the device's word before other options; returns text. */
static inline const char *on_test_device(char *text, size_t room, const char *options)
{
    const char *device = getenv("HSUMMA_TEST_DEVICE");
    snprintf(text, room, "device=%s %s", device && *device ? device : "host", options);
    return text;
}

#endif
