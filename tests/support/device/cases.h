/*
 * Tests of whatever a device does: its memory and copies, its combinations, updates and products, its streams and
 * events. late: work waits until it is asked for (the stand-in, lazy), so that what nothing has waited for can be
 * shown not to have happened.
 */
#ifndef HS_TESTS_SUPPORT_DEVICE_CASES_H
#define HS_TESTS_SUPPORT_DEVICE_CASES_H

#include "support/device/fixture.h"

void device_test_memory(struct device_fixture *fixture);
void device_test_work(struct device_fixture *fixture);
void device_test_order(struct device_fixture *fixture, int late);

/* All of them, and closes it. */
void device_test_all(struct device_fixture *fixture, int late);

#endif
