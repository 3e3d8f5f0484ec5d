/*
 * For device tests: a device with a stream, random contents of memory, and a second process with a device. Device
 * memory is inspected by copying it to the host and synchronizing.
 */
#ifndef HS_TESTS_SUPPORT_DEVICE_FIXTURE_H
#define HS_TESTS_SUPPORT_DEVICE_FIXTURE_H

#include "base/operators.h"
#include "base/scalar.h"
#include "gpu/devices.h"
#include "support/random.h"
#include "support/tap.h"
#include <stdlib.h>
#include <string.h>

struct device_fixture {
    const struct hs_device_kind *kind;
    struct hs_device *device;
    struct hs_stream *stream;
    const char *label;         /* name of the policy, printed with each test */
    struct hs_message message; /* the reason if the device cannot be opened */
    uint64_t draw;
};

/* Opens a device. `policy` becomes the value of HSUMMA_HOST_DEVICE, and the label. */
int fixture_open(struct device_fixture *fixture, const struct hs_device_kind *kind, const char *policy);
void fixture_close(struct device_fixture *fixture);
void fixture_noise(struct device_fixture *fixture, void *to, size_t bytes);
void fixture_store(struct device_fixture *fixture, void *memory, const void *from, size_t bytes);

/* Allocates device memory and copies `bytes` bytes from host memory into it. */
void *fixture_place(struct device_fixture *fixture, const void *from, size_t bytes);

/* Copies device memory to the host; 0 on failure. */
int fixture_fetch(struct device_fixture *fixture, void *to, const void *memory, size_t bytes);

/* Whether device memory has the contents `wanted`. */
int fixture_is(struct device_fixture *fixture, const void *memory, const void *wanted, size_t bytes);

/* Another process with a device. It exports memory of zeros and an event that it has recorded. It exits without closing
 * its device when `until` is closed, by neighbour_end or because this process exits. */
struct device_neighbour {
    struct hs_exported memory, event;
    int until; /* the process exits when this end of a pipe is closed */
};

int neighbour_start(struct device_neighbour *neighbour, const struct hs_device_kind *kind, const char *policy);
void neighbour_end(struct device_neighbour *neighbour);

/* For tests with variables `fixture` and `wrong`: makes a call that must not fail. */
#define FIXTURE_DO(call)                                                                  \
    do {                                                                                  \
        if (call) {                                                                       \
            tap_diag("%s: %s: %s", fixture->label, #call, fixture->device->message.text); \
            wrong++;                                                                      \
        }                                                                                 \
    } while (0)

#endif
