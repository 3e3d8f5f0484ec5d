/* The device on which a test runs: the stand-in ("host"), or the one that HSUMMA_TEST_DEVICE names, set by
 * scripts/run-gpu-checks. */
#ifndef HS_TESTS_SUPPORT_DEVICE_TEST_DEVICE_H
#define HS_TESTS_SUPPORT_DEVICE_TEST_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the device is the stand-in. Only the stand-in has planted failures and refusals, and memory that any MPI can
 * access. */
int test_device_is_host(void);

/* Writes the device's option and then `options` to text: "device=host threads=1". Returns text. */
const char *on_test_device(char *text, size_t room, const char *options);

#endif
