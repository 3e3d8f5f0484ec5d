/* The device on which a test runs: the stand-in ("host"), or the one in HSUMMA_TEST_DEVICE, which
 * scripts/run-gpu-checks sets. */
#ifndef HS_TESTS_SUPPORT_DEVICE_TEST_DEVICE_H
#define HS_TESTS_SUPPORT_DEVICE_TEST_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether it is the stand-in; only that has planted failures, refusals, and an MPI that takes any memory. */
int test_device_is_host(void);

/* Puts the device's option before other options: "device=host threads=1". Returns text. */
const char *on_test_device(char *text, size_t room, const char *options);

#endif
