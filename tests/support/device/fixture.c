#include "support/device/fixture.h"

#include <complex.h>

int fixture_open(struct device_fixture *fixture, const struct hs_device_kind *kind, const char *label,
                 struct hs_message *message)
{
    *fixture = (struct device_fixture){.kind = kind, .label = label};
    hsumma_status status = kind->open(-1, 0, &hs_heap, &fixture->device, message);
    if (!status)
        status = kind->make_stream(fixture->device, &fixture->stream);
    if (status && fixture->device)
        *message = fixture->device->message;
    return status == HSUMMA_OK;
}

void fixture_close(struct device_fixture *fixture)
{
    if (fixture->stream)
        fixture->kind->free_stream(fixture->device, fixture->stream);
    fixture->kind->close(fixture->device);
    fixture->device = NULL;
}

int64_t fixture_draw(struct device_fixture *fixture, int64_t below)
{
    return (int64_t)(draw_bits_of(&fixture->draw) % (uint64_t)below);
}

void fixture_noise(struct device_fixture *fixture, void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = (unsigned char)fixture_draw(fixture, 256);
}

void fixture_store(struct device_fixture *fixture, void *memory, const void *from, size_t bytes)
{
    if (fixture->kind->copy(fixture->device, fixture->stream, memory, from, bytes) ||
        fixture->kind->synchronize(fixture->device, fixture->stream))
        tap_diag("%s: %s", fixture->label, fixture->device->message.text);
}

void *fixture_place(struct device_fixture *fixture, const void *from, size_t bytes)
{
    void *memory = NULL;
    if (fixture->kind->get(fixture->device, bytes, &memory))
        tap_diag("%s: %s", fixture->label, fixture->device->message.text);
    else
        fixture_store(fixture, memory, from, bytes);
    return memory;
}

int fixture_fetch(struct device_fixture *fixture, void *to, const void *memory, size_t bytes)
{
    int wrong = fixture->kind->copy(fixture->device, fixture->stream, to, memory, bytes) ||
                fixture->kind->synchronize(fixture->device, fixture->stream);
    if (wrong)
        tap_diag("%s: %s", fixture->label, fixture->device->message.text);
    return !wrong;
}

int fixture_is(struct device_fixture *fixture, const void *memory, const void *wanted, size_t bytes)
{
    unsigned char *is = malloc(bytes ? bytes : 1);
    int right = is && fixture_fetch(fixture, is, memory, bytes) && memcmp(is, wanted, bytes) == 0;
    for (size_t i = 0; is && !right && i < bytes; i++)
        if (is[i] != ((const unsigned char *)wanted)[i]) {
            tap_diag("%s: byte %zu of %zu is %d, not %d", fixture->label, i, bytes, is[i],
                     ((const unsigned char *)wanted)[i]);
            break;
        }
    free(is);
    return right;
}

void fixture_value(hsumma_type type, int real, int imaginary, void *to)
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

double _Complex fixture_read(hsumma_type type, const void *from)
{
    return type == HSUMMA_S   ? *(const float *)from
           : type == HSUMMA_D ? *(const double *)from
           : type == HSUMMA_C ? *(const float _Complex *)from
                              : *(const double _Complex *)from;
}
