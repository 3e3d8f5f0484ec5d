/*
 * What the tests of devices share: a device with a stream, bytes that say where they come from.  A device's memory is
 * looked at by copying it out and synchronizing.
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
    const char *label;         /* in the tests' lines */
    struct hs_message message; /* why it does not open */
    uint64_t draw;
};

/* policy: HSUMMA_HOST_DEVICE from now on, and the label. */
int fixture_open(struct device_fixture *fixture, const struct hs_device_kind *kind, const char *policy);
void fixture_close(struct device_fixture *fixture);
int64_t fixture_draw(struct device_fixture *fixture, int64_t below);
void fixture_noise(struct device_fixture *fixture, void *to, size_t bytes);
void fixture_store(struct device_fixture *fixture, void *memory, const void *from, size_t bytes);

/* Device memory, with these contents. */
void *fixture_place(struct device_fixture *fixture, const void *from, size_t bytes);

/* Copies device memory to the host; 0 if that fails. */
int fixture_fetch(struct device_fixture *fixture, void *to, const void *memory, size_t bytes);

/* Whether device memory has these contents. */
int fixture_is(struct device_fixture *fixture, const void *memory, const void *wanted, size_t bytes);

/* Another process with a device: memory of zeros, and an event that it has recorded.  It ends without a further look at
 * its device when it is told, or when this process ends. */
struct device_neighbour {
    struct hs_exported memory, event;
    int until; /* the end of a pipe whose closing it waits for */
};

int neighbour_start(struct device_neighbour *neighbour, const struct hs_device_kind *kind, const char *policy);
void neighbour_end(struct device_neighbour *neighbour);

/* In a test with a fixture and a count of what is wrong: a call that must not fail. */
#define FIXTURE_DO(call)                                                                  \
    do {                                                                                  \
        if (call) {                                                                       \
            tap_diag("%s: %s: %s", fixture->label, #call, fixture->device->message.text); \
            wrong++;                                                                      \
        }                                                                                 \
    } while (0)

#endif
