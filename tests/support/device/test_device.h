/* On which device a test runs: the stand-in ("host"), or the one that HSUMMA_TEST_DEVICE names, as
 * scripts/run-gpu-checks does. */
#ifndef HS_TESTS_SUPPORT_DEVICE_TEST_DEVICE_H
#define HS_TESTS_SUPPORT_DEVICE_TEST_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Failures, what is refused, and an MPI that takes any memory are the stand-in's. */
int test_device_is_host(void);

/* "device=host threads=1": the device's word before other options; returns text. */
const char *on_test_device(char *text, size_t room, const char *options);

#endif
