/*
 * Tests of a device's streams and events.  late: work waits until somebody asks for it (the host device, lazy), so that
 * what nobody has waited for can be shown not to have happened.
 */
#ifndef HS_TESTS_SUPPORT_DEVICE_ORDER_H
#define HS_TESTS_SUPPORT_DEVICE_ORDER_H

#include "support/device_cases.h"

enum { ORDER_BYTES = 4096 };

/* Contents, memory that has the old ones, streams. */
struct scene {
    unsigned char first[ORDER_BYTES], second[ORDER_BYTES], old[ORDER_BYTES];
    unsigned char *from, *to, *other, *pinned;
    struct hs_stream *a, *b;
    struct hs_event *event;
};

static int scene_make(struct ground *ground, struct scene *scene)
{
    int wrong = 0;
    memset(scene, 0, sizeof *scene);
    memset(scene->first, 1, ORDER_BYTES);
    memset(scene->second, 2, ORDER_BYTES);
    memset(scene->old, 3, ORDER_BYTES);
    scene->from = ground_place(ground, scene->old, ORDER_BYTES);
    scene->to = ground_place(ground, scene->old, ORDER_BYTES);
    scene->other = ground_place(ground, scene->old, ORDER_BYTES);
    void *pinned = NULL;
    GROUND_DO(ground->kind->get_pinned(ground->device, ORDER_BYTES, &pinned));
    scene->pinned = pinned;
    if (pinned)
        memset(pinned, 3, ORDER_BYTES);
    GROUND_DO(ground->kind->make_stream(ground->device, &scene->a));
    GROUND_DO(ground->kind->make_stream(ground->device, &scene->b));
    GROUND_DO(ground->kind->make_event(ground->device, 0, &scene->event));
    return wrong;
}

static void scene_free(struct ground *ground, struct scene *scene)
{
    ground->kind->synchronize(ground->device, scene->a);
    ground->kind->synchronize(ground->device, scene->b);
    ground->kind->free_event(ground->device, scene->event);
    ground->kind->free_stream(ground->device, scene->a);
    ground->kind->free_stream(ground->device, scene->b);
    ground->kind->put(ground->device, scene->from);
    ground->kind->put(ground->device, scene->to);
    ground->kind->put(ground->device, scene->other);
    ground->kind->put_pinned(ground->device, scene->pinned);
}

static hsumma_status put_copy(struct ground *ground, struct hs_stream *stream, void *dst, const void *src)
{
    return ground->kind->copy(ground->device, stream, dst, src, ORDER_BYTES);
}

/* One stream writes, another one reads what it has waited for, or what was there before. */
static void test_wait(struct ground *ground, int late, int waits)
{
    const struct hs_device_kind *kind = ground->kind;
    struct scene scene;
    int wrong = scene_make(ground, &scene);
    GROUND_DO(put_copy(ground, scene.a, scene.from, scene.first));
    GROUND_DO(kind->record(ground->device, scene.a, scene.event));
    if (waits)
        GROUND_DO(kind->wait(ground->device, scene.b, scene.event));
    GROUND_DO(put_copy(ground, scene.b, scene.to, scene.from));
    GROUND_DO(kind->synchronize(ground->device, scene.b));
    if (waits)
        tap_ok(!wrong && ground_is(ground, scene.to, scene.first, ORDER_BYTES),
               "%s: a stream sees what it has waited for", ground->label);
    else if (late)
        tap_ok(!wrong && ground_is(ground, scene.to, scene.old, ORDER_BYTES), "%s: and without that does not see it",
               ground->label);
    scene_free(ground, &scene);
}

/* An event is waited for as it was last recorded, whatever is recorded later. */
static void test_generations(struct ground *ground, int late)
{
    const struct hs_device_kind *kind = ground->kind;
    struct scene scene;
    int wrong = scene_make(ground, &scene);
    GROUND_DO(put_copy(ground, scene.a, scene.from, scene.first));
    GROUND_DO(kind->record(ground->device, scene.a, scene.event));
    GROUND_DO(kind->wait(ground->device, scene.b, scene.event));
    GROUND_DO(put_copy(ground, scene.b, scene.to, scene.from));
    GROUND_DO(put_copy(ground, scene.a, scene.other, scene.second));
    GROUND_DO(kind->record(ground->device, scene.a, scene.event));
    GROUND_DO(kind->synchronize(ground->device, scene.b));
    tap_ok(!wrong && ground_is(ground, scene.to, scene.first, ORDER_BYTES) &&
               (!late || ground_is(ground, scene.other, scene.old, ORDER_BYTES)),
           "%s: an event is waited for as it was recorded before%s", ground->label, late ? ", not as it is later" : "");
    scene_free(ground, &scene);
}

/* What two streams record on one event: he who has waited for the first waits for the first, he who comes later for
 * the second alone. */
static void test_two_recorders(struct ground *ground, int late)
{
    const struct hs_device_kind *kind = ground->kind;
    struct scene scene;
    struct hs_stream *third = NULL;
    int wrong = scene_make(ground, &scene);
    GROUND_DO(kind->make_stream(ground->device, &third));
    GROUND_DO(put_copy(ground, scene.a, scene.from, scene.first));
    GROUND_DO(kind->record(ground->device, scene.a, scene.event));
    GROUND_DO(kind->wait(ground->device, scene.b, scene.event));
    GROUND_DO(kind->record(ground->device, third, scene.event));
    GROUND_DO(kind->synchronize(ground->device, third));
    if (late) {
        GROUND_DO(kind->wait(ground->device, third, scene.event));
        GROUND_DO(put_copy(ground, third, scene.other, scene.from));
        GROUND_DO(kind->synchronize(ground->device, third));
    }
    GROUND_DO(put_copy(ground, scene.b, scene.to, scene.from));
    GROUND_DO(kind->synchronize(ground->device, scene.b));
    tap_ok(!wrong && ground_is(ground, scene.to, scene.first, ORDER_BYTES) &&
               (!late || ground_is(ground, scene.other, scene.old, ORDER_BYTES)),
           "%s: an event that two streams record%s", ground->label, late ? " orders its last recorder only" : "");
    kind->free_stream(ground->device, third);
    scene_free(ground, &scene);
}

/* Polls until an event is over; 0 after too long. */
static int poll_event(struct ground *ground, struct hs_event *event, int *wrong)
{
    int is = 0;
    for (int64_t times = 0; !is && !*wrong && times < 100000000; times++) {
        *wrong += ground->kind->complete(ground->device, event, &is) != HSUMMA_OK;
        sched_yield();
    }
    return is;
}

static void test_over(struct ground *ground, int late)
{
    const struct hs_device_kind *kind = ground->kind;
    struct scene scene;
    int wrong = scene_make(ground, &scene), never = 0, early = 0;
    GROUND_DO(kind->complete(ground->device, scene.event, &never));
    GROUND_DO(put_copy(ground, scene.a, scene.from, scene.first));
    GROUND_DO(put_copy(ground, scene.a, scene.pinned, scene.from));
    GROUND_DO(kind->record(ground->device, scene.a, scene.event));
    if (late)
        GROUND_DO(kind->complete(ground->device, scene.event, &early));
    int is = poll_event(ground, scene.event, &wrong);
    tap_ok(!wrong && never && !early && is && memcmp(scene.pinned, scene.first, ORDER_BYTES) == 0,
           "%s: an event is over when its work is%s, and if it was never recorded", ground->label,
           late ? ", not before" : "");
    scene_free(ground, &scene);
}

/* A stream that is freed finishes what it has; memory that is put waits for it. */
static void test_freed(struct ground *ground)
{
    const struct hs_device_kind *kind = ground->kind;
    struct scene scene;
    struct hs_stream *stream = NULL;
    int wrong = scene_make(ground, &scene);
    GROUND_DO(kind->make_stream(ground->device, &stream));
    GROUND_DO(put_copy(ground, stream, scene.from, scene.first));
    GROUND_DO(put_copy(ground, stream, scene.pinned, scene.from));
    GROUND_DO(kind->record(ground->device, stream, scene.event));
    kind->free_stream(ground->device, stream);
    int is = poll_event(ground, scene.event, &wrong);
    tap_ok(!wrong && is && memcmp(scene.pinned, scene.first, ORDER_BYTES) == 0,
           "%s: a stream that is freed finishes its work", ground->label);
    GROUND_DO(put_copy(ground, scene.a, scene.from, scene.second));
    GROUND_DO(put_copy(ground, scene.a, scene.pinned, scene.from));
    kind->put(ground->device, scene.from);
    scene.from = NULL;
    tap_ok(!wrong && memcmp(scene.pinned, scene.second, ORDER_BYTES) == 0,
           "%s: memory is given back after the work on it", ground->label);
    GROUND_DO(kind->record(ground->device, scene.b, scene.event));
    GROUND_DO(kind->wait(ground->device, scene.a, scene.event));
    kind->free_event(ground->device, scene.event);
    scene.event = NULL;
    GROUND_DO(put_copy(ground, scene.a, scene.to, scene.second));
    GROUND_DO(kind->synchronize(ground->device, scene.a));
    tap_ok(!wrong && ground_is(ground, scene.to, scene.second, ORDER_BYTES),
           "%s: an event may be freed while a stream waits for it", ground->label);
    scene_free(ground, &scene);
}

static void test_adopted(struct ground *ground)
{
    const struct hs_device_kind *kind = ground->kind;
    struct scene scene;
    struct hs_stream *same = NULL;
    int wrong = scene_make(ground, &scene);
    void *shown = kind->show_stream(ground->device, scene.a);
    GROUND_DO(kind->adopt_stream(ground->device, shown, &same));
    GROUND_DO(put_copy(ground, scene.a, scene.from, scene.first));
    GROUND_DO(put_copy(ground, same, scene.to, scene.from));
    GROUND_DO(kind->synchronize(ground->device, same));
    tap_ok(!wrong && shown && kind->show_stream(ground->device, same) == shown &&
               ground_is(ground, scene.to, scene.first, ORDER_BYTES),
           "%s: a stream that is adopted is the same stream", ground->label);
    kind->free_stream(ground->device, same);
    GROUND_DO(put_copy(ground, scene.a, scene.to, scene.second));
    GROUND_DO(kind->synchronize(ground->device, scene.a));
    tap_ok(!wrong && ground_is(ground, scene.to, scene.second, ORDER_BYTES), "%s: and stays when its other handle goes",
           ground->label);
    scene_free(ground, &scene);
}

static void test_many(struct ground *ground)
{
    const struct hs_device_kind *kind = ground->kind;
    struct scene scene;
    int wrong = scene_make(ground, &scene);
    for (int i = 0; i < 2000; i++) {
        struct hs_stream *one = i % 2 ? scene.b : scene.a, *two = i % 2 ? scene.a : scene.b;
        GROUND_DO(put_copy(ground, one, i % 2 ? scene.from : scene.to, i % 2 ? scene.to : scene.from));
        GROUND_DO(kind->record(ground->device, one, scene.event));
        GROUND_DO(kind->wait(ground->device, two, scene.event));
        if (i == 999)
            GROUND_DO(put_copy(ground, two, scene.from, scene.first));
        if (wrong)
            break;
    }
    GROUND_DO(kind->synchronize(ground->device, scene.a));
    tap_ok(!wrong && ground_is(ground, scene.to, scene.first, ORDER_BYTES) &&
               ground_is(ground, scene.from, scene.first, ORDER_BYTES),
           "%s: two streams take turns 2000 times", ground->label);
    scene_free(ground, &scene);
}

static void test_order(struct ground *ground, int late)
{
    test_wait(ground, late, 1);
    test_wait(ground, late, 0);
    test_generations(ground, late);
    test_two_recorders(ground, late);
    test_over(ground, late);
    test_freed(ground);
    test_adopted(ground);
    test_many(ground);
}

#endif
