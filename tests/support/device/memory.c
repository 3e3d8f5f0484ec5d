/* Tests of a device's memory: classification of addresses, and copies between all kinds of memory. */
#include "support/device/cases.h"

enum { PLACES = 4, PLACE_BYTES = 1 << 17 };

/* A buffer (host, pinned, device, or a second one on the device) and a model in host memory with the same bytes. */
struct place {
    const char *name;
    unsigned char *memory, model[PLACE_BYTES];
};

static void places_make(struct device_fixture *fixture, struct place *place)
{
    static const char *const names[PLACES] = {"host", "pinned", "device", "device again"};
    for (int i = 0; i < PLACES; i++) {
        void *memory = NULL;
        place[i].name = names[i];
        if (i == 0)
            memory = malloc(PLACE_BYTES);
        else if (i == 1)
            fixture->kind->get_pinned(fixture->device, PLACE_BYTES, &memory);
        fixture_noise(fixture, place[i].model, PLACE_BYTES);
        if (memory)
            memcpy(memory, place[i].model, PLACE_BYTES);
        place[i].memory = i < 2 ? memory : fixture_place(fixture, place[i].model, PLACE_BYTES);
    }
}

static void places_free(struct device_fixture *fixture, struct place *place)
{
    free(place[0].memory);
    fixture->kind->put_pinned(fixture->device, place[1].memory);
    fixture->kind->put(fixture->device, place[2].memory);
    fixture->kind->put(fixture->device, place[3].memory);
}

static int place_is_right(struct device_fixture *fixture, const struct place *place, int i)
{
    return i < 2 ? memcmp(place[i].memory, place[i].model, PLACE_BYTES) == 0
                 : fixture_is(fixture, place[i].memory, place[i].model, PLACE_BYTES);
}

/* Makes one random copy between two places; returns 1 if the target's bytes are then as in its model. */
static int one_copy(struct device_fixture *fixture, struct place *place, int to, int from, int block)
{
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 64, 255, 256, 1000, 4096, 4099};
    int wrong = 0;
    size_t bytes = sizes[draw_of(&fixture->draw, sizeof sizes / sizeof *sizes)];
    size_t columns = block ? (size_t)draw_of(&fixture->draw, 9) + 1 : 1;
    size_t dst_pitch = bytes + (size_t)draw_of(&fixture->draw, 40),
           src_pitch = bytes + (size_t)draw_of(&fixture->draw, 40);
    size_t dst = (size_t)draw_of(&fixture->draw, 33), src = (size_t)draw_of(&fixture->draw, 33);
    struct place *at = &place[to], *of = &place[from];
    if (to == from) /* source and target of a copy within one place must not overlap */
        src += PLACE_BYTES / 2;
    if (block)
        FIXTURE_DO(fixture->kind->copy_block(fixture->device, fixture->stream, at->memory + dst, dst_pitch,
                                             of->memory + src, src_pitch, bytes, columns));
    else
        FIXTURE_DO(fixture->kind->copy(fixture->device, fixture->stream, at->memory + dst, of->memory + src, bytes));
    FIXTURE_DO(fixture->kind->synchronize(fixture->device, fixture->stream));
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < bytes; i++)
            at->model[dst + j * dst_pitch + i] = of->model[src + j * src_pitch + i];
    return !wrong && place_is_right(fixture, place, to);
}

static void test_copies(struct device_fixture *fixture)
{
    struct place *place = malloc(PLACES * sizeof *place);
    places_make(fixture, place);
    for (int block = 0; block < 2; block++)
        for (int to = 0; to < PLACES; to++) {
            int wrong = 0, cases = 0;
            for (int from = 0; from < PLACES; from++)
                for (int i = 0; i < 20; i++, cases++)
                    wrong += !one_copy(fixture, place, to, from, block);
            for (int i = 0; i < PLACES; i++)
                wrong += !place_is_right(fixture, place, i);
            tap_ok(wrong == 0, "%s: %d copies%s to %s memory from each: %d wrong", fixture->label, cases,
                   block ? " of blocks" : "", place[to].name, wrong);
        }
    int wrong = 0;
    unsigned char byte = 1;
    FIXTURE_DO(fixture->kind->copy(fixture->device, fixture->stream, place[2].memory, &byte, 0));
    FIXTURE_DO(fixture->kind->copy_block(fixture->device, fixture->stream, place[2].memory, 8, &byte, 8, 0, 3));
    FIXTURE_DO(fixture->kind->copy_block(fixture->device, fixture->stream, place[2].memory, 8, &byte, 8, 1, 0));
    tap_ok(wrong == 0 && place_is_right(fixture, place, 2), "%s: copies of nothing", fixture->label);
    places_free(fixture, place);
    free(place);
}

static void test_classify(struct device_fixture *fixture)
{
    const struct hs_device_kind *kind = fixture->kind;
    void *memory = NULL, *pinned = NULL, *nothing = NULL;
    int here, wrong = 0;
    int64_t before = 0, after = 0, total = 0, given = 0;
    FIXTURE_DO(kind->memory_left(fixture->device, &before, &total));
    FIXTURE_DO(kind->get(fixture->device, 5000000, &memory));
    FIXTURE_DO(kind->memory_left(fixture->device, &after, &total));
    FIXTURE_DO(kind->get_pinned(fixture->device, 5000, &pinned));
    FIXTURE_DO(kind->get(fixture->device, 0, &nothing));
    tap_ok(!wrong && memory && pinned && kind->classify(fixture->device, memory) == HS_MEMORY_DEVICE &&
               kind->classify(fixture->device, (char *)memory + 4999999) == HS_MEMORY_DEVICE &&
               kind->classify(fixture->device, pinned) == HS_MEMORY_PINNED &&
               kind->classify(fixture->device, (char *)pinned + 4999) == HS_MEMORY_PINNED &&
               kind->classify(fixture->device, &here) == HS_MEMORY_HOST &&
               kind->classify(fixture->device, fixture) == HS_MEMORY_HOST &&
               kind->classify(fixture->device, NULL) == HS_MEMORY_HOST,
           "%s: memory is the device's, pinned, or the host's, from the first byte to the last", fixture->label);
    memset(pinned, 7, 5000);
    kind->put(fixture->device, memory);
    kind->put(fixture->device, nothing);
    kind->put_pinned(fixture->device, pinned);
    kind->put(fixture->device, NULL);
    kind->put_pinned(fixture->device, NULL);
    kind->unmap(fixture->device, NULL);
    kind->free_event(fixture->device, NULL);
    FIXTURE_DO(kind->memory_left(fixture->device, &given, &total));
    tap_ok(!wrong && after <= before - 4999999 && given >= after && before <= total,
           "%s: 5000000 bytes are taken from the room that there is", fixture->label);
}

static void test_export(struct device_fixture *fixture)
{
    const struct hs_device_kind *kind = fixture->kind;
    void *memory = NULL, *imported = NULL;
    struct hs_exported exported, other;
    int wrong = 0;
    char here[64];
    FIXTURE_DO(kind->get(fixture->device, 1 << 21, &memory));
    FIXTURE_DO(kind->export_memory(fixture->device, memory, &exported));
    FIXTURE_DO(kind->import_memory(fixture->device, &exported, &imported));
    int same = imported == memory;
    kind->unmap(fixture->device, imported);
    tap_ok(!wrong && same && kind->classify(fixture->device, memory) == HS_MEMORY_DEVICE,
           "%s: what a process imports from itself is what it has, and stays", fixture->label);
    hsumma_status host = kind->export_memory(fixture->device, here, &other);
    tap_ok(host == HSUMMA_ERR_DEVICE && fixture->device->message.text[0], "%s: the host's memory is not exported: %s",
           fixture->label, fixture->device->message.text);
    kind->put(fixture->device, memory);
}

void device_test_memory(struct device_fixture *fixture)
{
    test_classify(fixture);
    test_export(fixture);
    test_copies(fixture);
}
