/*
 * What the tests of devices share: a device with a stream, bytes that say where they come from, exact numbers of any
 * type.  A device's memory is looked at by copying it out and synchronizing.
 */
#ifndef HS_TESTS_SUPPORT_DEVICE_CASES_H
#define HS_TESTS_SUPPORT_DEVICE_CASES_H

#include "base/operators.h"
#include "base/scalar.h"
#include "gpu/devices.h"
#include "support/tap.h"

#include <complex.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct ground {
    const struct hs_device_kind *kind;
    struct hs_device *device;
    struct hs_stream *stream;
    const char *label; /* in the tests' lines */
    uint64_t draw;
};

static inline int ground_open(struct ground *ground, const struct hs_device_kind *kind, const char *label,
                              struct hs_message *message)
{
    *ground = (struct ground){.kind = kind, .label = label, .draw = 88172645463325252u};
    hsumma_status status = kind->open(-1, 0, &hs_heap, &ground->device, message);
    if (!status)
        status = kind->make_stream(ground->device, &ground->stream);
    if (status && ground->device)
        *message = ground->device->message;
    return status == HSUMMA_OK;
}

static inline void ground_close(struct ground *ground)
{
    if (ground->stream)
        ground->kind->free_stream(ground->device, ground->stream);
    ground->kind->close(ground->device);
    ground->device = NULL;
}

static inline int64_t ground_draw(struct ground *ground, int64_t below)
{
    ground->draw ^= ground->draw << 13;
    ground->draw ^= ground->draw >> 7;
    ground->draw ^= ground->draw << 17;
    return (int64_t)((ground->draw >> 11) % (uint64_t)below);
}

static inline void ground_noise(struct ground *ground, void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = (unsigned char)ground_draw(ground, 256);
}

static inline void ground_store(struct ground *ground, void *memory, const void *from, size_t bytes)
{
    if (ground->kind->copy(ground->device, ground->stream, memory, from, bytes) ||
        ground->kind->synchronize(ground->device, ground->stream))
        tap_diag("%s: %s", ground->label, ground->device->message.text);
}

/* Device memory, with these contents. */
static inline void *ground_place(struct ground *ground, const void *from, size_t bytes)
{
    void *memory = NULL;
    if (ground->kind->get(ground->device, bytes, &memory))
        tap_diag("%s: %s", ground->label, ground->device->message.text);
    else
        ground_store(ground, memory, from, bytes);
    return memory;
}

static inline int ground_fetch(struct ground *ground, void *to, const void *memory, size_t bytes)
{
    int wrong = ground->kind->copy(ground->device, ground->stream, to, memory, bytes) ||
                ground->kind->synchronize(ground->device, ground->stream);
    if (wrong)
        tap_diag("%s: %s", ground->label, ground->device->message.text);
    return !wrong;
}

/* Whether device memory has these contents. */
static inline int ground_is(struct ground *ground, const void *memory, const void *wanted, size_t bytes)
{
    unsigned char *is = malloc(bytes ? bytes : 1);
    int right = is && ground_fetch(ground, is, memory, bytes) && memcmp(is, wanted, bytes) == 0;
    for (size_t i = 0; is && !right && i < bytes; i++)
        if (is[i] != ((const unsigned char *)wanted)[i]) {
            tap_diag("%s: byte %zu of %zu is %d, not %d", ground->label, i, bytes, is[i],
                     ((const unsigned char *)wanted)[i]);
            break;
        }
    free(is);
    return right;
}

/* A whole number as an element of a type; i times `imaginary` is added where there is such a part. */
static inline void ground_value(hsumma_type type, int real, int imaginary, void *to)
{
    if (type == HSUMMA_S)
        *(float *)to = (float)real;
    else if (type == HSUMMA_D)
        *(double *)to = real;
    else if (type == HSUMMA_C)
        *(float _Complex *)to = (float)real + (float)imaginary * (float _Complex)I;
    else
        *(double _Complex *)to = real + imaginary * I;
}

static inline double _Complex ground_read(hsumma_type type, const void *from)
{
    return type == HSUMMA_S   ? *(const float *)from
           : type == HSUMMA_D ? *(const double *)from
           : type == HSUMMA_C ? *(const float _Complex *)from
                              : *(const double _Complex *)from;
}

/* device_memory.h, device_work.h, device_order.h: the cases; each says what it has found. */
#define GROUND_DO(call)                                                                 \
    do {                                                                                \
        if (call) {                                                                     \
            tap_diag("%s: %s: %s", ground->label, #call, ground->device->message.text); \
            wrong++;                                                                    \
        }                                                                               \
    } while (0)

#endif
