#include "support/device/fixture.h"

#include <unistd.h>

int fixture_open(struct device_fixture *fixture, const struct hs_device_kind *kind, const char *policy)
{
    setenv("HSUMMA_HOST_DEVICE", policy, 1);
    *fixture = (struct device_fixture){.kind = kind, .label = policy};
    hsumma_status status = kind->open(-1, 0, &hs_heap, &fixture->device, &fixture->message);
    if (!status)
        status = kind->make_stream(fixture->device, &fixture->stream);
    if (status && fixture->device)
        fixture->message = fixture->device->message;
    return status == HSUMMA_OK;
}

void fixture_close(struct device_fixture *fixture)
{
    if (fixture->stream)
        fixture->kind->free_stream(fixture->device, fixture->stream);
    fixture->kind->close(fixture->device);
    fixture->device = NULL;
}

void fixture_noise(struct device_fixture *fixture, void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = (unsigned char)draw_of(&fixture->draw, 256);
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

static int neighbour_show(const struct hs_device_kind *kind, const char *policy, int to)
{
    static const char zeros[8000];
    struct device_fixture opened, *fixture = &opened;
    struct hs_exported exported[2];
    struct hs_event *event = NULL;
    int wrong = !fixture_open(fixture, kind, policy);
    void *memory = wrong ? NULL : fixture_place(fixture, zeros, sizeof zeros);
    if (wrong)
        return 0;
    FIXTURE_DO(kind->make_event(fixture->device, 1, &event));
    FIXTURE_DO(kind->export_memory(fixture->device, memory, &exported[0]));
    FIXTURE_DO(kind->export_event(fixture->device, event, &exported[1]));
    FIXTURE_DO(kind->record(fixture->device, fixture->stream, event));
    return !wrong && write(to, exported, sizeof exported) == sizeof exported;
}

int neighbour_start(struct device_neighbour *neighbour, const struct hs_device_kind *kind, const char *policy)
{
    struct hs_exported exported[2];
    int to[2], from[2];
    char byte;
    if (pipe(to) || pipe(from))
        return 0;
    if (fork() == 0) {
        close(to[1]);
        _exit(!neighbour_show(kind, policy, from[1]) || read(to[0], &byte, 1) != 0);
    }
    neighbour->until = to[1];
    close(to[0]);
    close(from[1]);
    int shown = read(from[0], exported, sizeof exported) == sizeof exported;
    close(from[0]);
    neighbour->memory = exported[0];
    neighbour->event = exported[1];
    return shown;
}

void neighbour_end(struct device_neighbour *neighbour)
{
    close(neighbour->until);
}
