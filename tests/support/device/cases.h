/*
 * Tests of a device kind: memory and copies, combinations, updates and products, streams and events. With `late` the
 * device delays work until a result is needed (the stand-in's lazy mode), so that a missing wait is noticed.
 */
#ifndef HS_TESTS_SUPPORT_DEVICE_CASES_H
#define HS_TESTS_SUPPORT_DEVICE_CASES_H

#include "support/device/fixture.h"

void device_test_memory(struct device_fixture *fixture);
void device_test_work(struct device_fixture *fixture);
void device_test_order(struct device_fixture *fixture, int late);

/* Runs all tests of a device, and closes the device. */
void device_test_all(struct device_fixture *fixture, int late);

#endif
