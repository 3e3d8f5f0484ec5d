/* Tests of a device's memory: what it is, copies from everywhere to everywhere. */
#ifndef HS_TESTS_SUPPORT_DEVICE_MEMORY_H
#define HS_TESTS_SUPPORT_DEVICE_MEMORY_H

#include "support/device_cases.h"

enum { PLACES = 4, PLACE_BYTES = 1 << 17 };

/* The same bytes in a place (host, pinned, device, device again) and in a model of it. */
struct place {
    const char *name;
    unsigned char *memory, model[PLACE_BYTES];
};

static void places_make(struct ground *ground, struct place *place)
{
    static const char *const names[PLACES] = {"host", "pinned", "device", "device again"};
    for (int i = 0; i < PLACES; i++) {
        void *memory = NULL;
        place[i].name = names[i];
        if (i == 0)
            memory = malloc(PLACE_BYTES);
        else if (i == 1)
            ground->kind->get_pinned(ground->device, PLACE_BYTES, &memory);
        ground_noise(ground, place[i].model, PLACE_BYTES);
        if (memory)
            memcpy(memory, place[i].model, PLACE_BYTES);
        place[i].memory = i < 2 ? memory : ground_place(ground, place[i].model, PLACE_BYTES);
    }
}

static void places_free(struct ground *ground, struct place *place)
{
    free(place[0].memory);
    ground->kind->put_pinned(ground->device, place[1].memory);
    ground->kind->put(ground->device, place[2].memory);
    ground->kind->put(ground->device, place[3].memory);
}

static int place_is_right(struct ground *ground, const struct place *place, int i)
{
    return i < 2 ? memcmp(place[i].memory, place[i].model, PLACE_BYTES) == 0
                 : ground_is(ground, place[i].memory, place[i].model, PLACE_BYTES);
}

/* One copy of random shape between two places; 1 if only what should has changed. */
static int one_copy(struct ground *ground, struct place *place, int to, int from, int block)
{
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 64, 255, 256, 1000, 4096, 4099};
    int wrong = 0;
    size_t bytes = sizes[ground_draw(ground, sizeof sizes / sizeof *sizes)];
    size_t columns = block ? (size_t)ground_draw(ground, 9) + 1 : 1;
    size_t dst_pitch = bytes + (size_t)ground_draw(ground, 40), src_pitch = bytes + (size_t)ground_draw(ground, 40);
    size_t dst = (size_t)ground_draw(ground, 33), src = (size_t)ground_draw(ground, 33);
    struct place *at = &place[to], *of = &place[from];
    if (to == from) /* not where it reads */
        src += PLACE_BYTES / 2;
    if (block)
        GROUND_DO(ground->kind->copy_block(ground->device, ground->stream, at->memory + dst, dst_pitch,
                                           of->memory + src, src_pitch, bytes, columns));
    else
        GROUND_DO(ground->kind->copy(ground->device, ground->stream, at->memory + dst, of->memory + src, bytes));
    GROUND_DO(ground->kind->synchronize(ground->device, ground->stream));
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < bytes; i++)
            at->model[dst + j * dst_pitch + i] = of->model[src + j * src_pitch + i];
    return !wrong && place_is_right(ground, place, to);
}

static void test_copies(struct ground *ground)
{
    struct place *place = malloc(PLACES * sizeof *place);
    places_make(ground, place);
    for (int block = 0; block < 2; block++)
        for (int to = 0; to < PLACES; to++) {
            int wrong = 0, cases = 0;
            for (int from = 0; from < PLACES; from++)
                for (int i = 0; i < 20; i++, cases++)
                    wrong += !one_copy(ground, place, to, from, block);
            for (int i = 0; i < PLACES; i++)
                wrong += !place_is_right(ground, place, i);
            tap_ok(wrong == 0, "%s: %d copies%s to %s memory from each: %d wrong", ground->label, cases,
                   block ? " of blocks" : "", place[to].name, wrong);
        }
    int wrong = 0;
    unsigned char byte = 1;
    GROUND_DO(ground->kind->copy(ground->device, ground->stream, place[2].memory, &byte, 0));
    GROUND_DO(ground->kind->copy_block(ground->device, ground->stream, place[2].memory, 8, &byte, 8, 0, 3));
    GROUND_DO(ground->kind->copy_block(ground->device, ground->stream, place[2].memory, 8, &byte, 8, 1, 0));
    tap_ok(wrong == 0 && place_is_right(ground, place, 2), "%s: copies of nothing", ground->label);
    places_free(ground, place);
    free(place);
}

static void test_classify(struct ground *ground)
{
    const struct hs_device_kind *kind = ground->kind;
    void *memory = NULL, *pinned = NULL, *nothing = NULL;
    int here, wrong = 0;
    int64_t before = 0, after = 0, total = 0, given = 0;
    GROUND_DO(kind->memory_left(ground->device, &before, &total));
    GROUND_DO(kind->get(ground->device, 5000000, &memory));
    GROUND_DO(kind->memory_left(ground->device, &after, &total));
    GROUND_DO(kind->get_pinned(ground->device, 5000, &pinned));
    GROUND_DO(kind->get(ground->device, 0, &nothing));
    tap_ok(!wrong && memory && pinned && kind->classify(ground->device, memory) == HS_MEMORY_DEVICE &&
               kind->classify(ground->device, (char *)memory + 4999999) == HS_MEMORY_DEVICE &&
               kind->classify(ground->device, pinned) == HS_MEMORY_PINNED &&
               kind->classify(ground->device, (char *)pinned + 4999) == HS_MEMORY_PINNED &&
               kind->classify(ground->device, &here) == HS_MEMORY_HOST &&
               kind->classify(ground->device, ground) == HS_MEMORY_HOST &&
               kind->classify(ground->device, NULL) == HS_MEMORY_HOST,
           "%s: memory is the device's, pinned, or the host's, from the first byte to the last", ground->label);
    memset(pinned, 7, 5000);
    kind->put(ground->device, memory);
    kind->put(ground->device, nothing);
    kind->put_pinned(ground->device, pinned);
    kind->put(ground->device, NULL);
    kind->put_pinned(ground->device, NULL);
    kind->unmap(ground->device, NULL);
    kind->free_event(ground->device, NULL);
    GROUND_DO(kind->memory_left(ground->device, &given, &total));
    tap_ok(!wrong && after <= before - 4999999 && given >= after && before <= total,
           "%s: 5000000 bytes are taken from the room that there is", ground->label);
}

static void test_export(struct ground *ground)
{
    const struct hs_device_kind *kind = ground->kind;
    void *memory = NULL, *imported = NULL;
    struct hs_exported exported, other;
    int wrong = 0;
    char here[64];
    GROUND_DO(kind->get(ground->device, 1 << 21, &memory));
    GROUND_DO(kind->export_memory(ground->device, memory, &exported));
    GROUND_DO(kind->import_memory(ground->device, &exported, &imported));
    int same = imported == memory;
    kind->unmap(ground->device, imported);
    tap_ok(!wrong && same && kind->classify(ground->device, memory) == HS_MEMORY_DEVICE,
           "%s: what a process imports from itself is what it has, and stays", ground->label);
    hsumma_status host = kind->export_memory(ground->device, here, &other);
    tap_ok(host == HSUMMA_ERR_DEVICE && ground->device->message.text[0], "%s: the host's memory is not exported: %s",
           ground->label, ground->device->message.text);
    kind->put(ground->device, memory);
}

static void test_memory(struct ground *ground)
{
    test_classify(ground);
    test_export(ground);
    test_copies(ground);
}

#endif
