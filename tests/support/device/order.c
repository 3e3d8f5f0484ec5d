/* Tests of the order of a device's streams and events; also the function that runs all device tests. */
#include "support/device/cases.h"

#include <sched.h>

enum { ORDER_BYTES = 4096 };

/* Three contents (old: that of all buffers at the start), the buffers, two streams and an event. */
struct scene {
    unsigned char first[ORDER_BYTES], second[ORDER_BYTES], old[ORDER_BYTES];
    unsigned char *from, *to, *other, *pinned;
    struct hs_stream *a, *b;
    struct hs_event *event;
};

static int scene_make(struct device_fixture *fixture, struct scene *scene)
{
    int wrong = 0;
    memset(scene, 0, sizeof *scene);
    memset(scene->first, 1, ORDER_BYTES);
    memset(scene->second, 2, ORDER_BYTES);
    memset(scene->old, 3, ORDER_BYTES);
    scene->from = fixture_place(fixture, scene->old, ORDER_BYTES);
    scene->to = fixture_place(fixture, scene->old, ORDER_BYTES);
    scene->other = fixture_place(fixture, scene->old, ORDER_BYTES);
    void *pinned = NULL;
    FIXTURE_DO(fixture->kind->get_pinned(fixture->device, ORDER_BYTES, &pinned));
    scene->pinned = pinned;
    if (pinned)
        memset(pinned, 3, ORDER_BYTES);
    FIXTURE_DO(fixture->kind->make_stream(fixture->device, &scene->a));
    FIXTURE_DO(fixture->kind->make_stream(fixture->device, &scene->b));
    FIXTURE_DO(fixture->kind->make_event(fixture->device, 0, &scene->event));
    return wrong;
}

static void scene_free(struct device_fixture *fixture, struct scene *scene)
{
    fixture->kind->synchronize(fixture->device, scene->a);
    fixture->kind->synchronize(fixture->device, scene->b);
    fixture->kind->free_event(fixture->device, scene->event);
    fixture->kind->free_stream(fixture->device, scene->a);
    fixture->kind->free_stream(fixture->device, scene->b);
    fixture->kind->put(fixture->device, scene->from);
    fixture->kind->put(fixture->device, scene->to);
    fixture->kind->put(fixture->device, scene->other);
    fixture->kind->put_pinned(fixture->device, scene->pinned);
}

static hsumma_status put_copy(struct device_fixture *fixture, struct hs_stream *stream, void *dst, const void *src)
{
    return fixture->kind->copy(fixture->device, stream, dst, src, ORDER_BYTES);
}

/* Stream a writes the first contents to `from` and records the event. */
static int write_first(struct device_fixture *fixture, struct scene *scene)
{
    int wrong = 0;
    FIXTURE_DO(put_copy(fixture, scene->a, scene->from, scene->first));
    FIXTURE_DO(fixture->kind->record(fixture->device, scene->a, scene->event));
    return wrong;
}

/* A stream copies a buffer and completes. */
static int copy_now(struct device_fixture *fixture, struct hs_stream *stream, void *dst, const void *src)
{
    int wrong = 0;
    FIXTURE_DO(put_copy(fixture, stream, dst, src));
    FIXTURE_DO(fixture->kind->synchronize(fixture->device, stream));
    return wrong;
}

static int has(struct device_fixture *fixture, const void *memory, const unsigned char contents[ORDER_BYTES])
{
    return fixture_is(fixture, memory, contents, ORDER_BYTES);
}

/* A stream that waits for the writer must read the new contents. */
static void test_wait(struct device_fixture *fixture, struct scene *scene, int late)
{
    int wrong = write_first(fixture, scene);
    (void)late;
    FIXTURE_DO(fixture->kind->wait(fixture->device, scene->b, scene->event));
    wrong += copy_now(fixture, scene->b, scene->to, scene->from);
    tap_ok(!wrong && has(fixture, scene->to, scene->first), "%s: a stream sees what it has waited for", fixture->label);
}

static void test_no_wait(struct device_fixture *fixture, struct scene *scene, int late)
{
    int wrong = write_first(fixture, scene);
    wrong += copy_now(fixture, scene->b, scene->to, scene->from);
    if (late)
        tap_ok(!wrong && has(fixture, scene->to, scene->old), "%s: and without that does not see it", fixture->label);
}

/* A wait refers to the latest recording of the event before the wait; later recordings do not matter. */
static void test_generations(struct device_fixture *fixture, struct scene *scene, int late)
{
    int wrong = write_first(fixture, scene);
    FIXTURE_DO(fixture->kind->wait(fixture->device, scene->b, scene->event));
    FIXTURE_DO(put_copy(fixture, scene->b, scene->to, scene->from));
    FIXTURE_DO(put_copy(fixture, scene->a, scene->other, scene->second));
    FIXTURE_DO(fixture->kind->record(fixture->device, scene->a, scene->event));
    FIXTURE_DO(fixture->kind->synchronize(fixture->device, scene->b));
    tap_ok(!wrong && has(fixture, scene->to, scene->first) && (!late || has(fixture, scene->other, scene->old)),
           "%s: an event is waited for as it was recorded before%s", fixture->label,
           late ? ", not as it is later" : "");
}

/* Two streams record one event. A wait between both recordings is for the first, a wait after both for the second. */
static void test_two_recorders(struct device_fixture *fixture, struct scene *scene, int late)
{
    const struct hs_device_kind *kind = fixture->kind;
    struct hs_stream *third = NULL;
    int wrong = write_first(fixture, scene);
    FIXTURE_DO(kind->make_stream(fixture->device, &third));
    FIXTURE_DO(kind->wait(fixture->device, scene->b, scene->event));
    FIXTURE_DO(kind->record(fixture->device, third, scene->event));
    FIXTURE_DO(kind->synchronize(fixture->device, third));
    if (late) {
        FIXTURE_DO(kind->wait(fixture->device, third, scene->event));
        wrong += copy_now(fixture, third, scene->other, scene->from);
    }
    wrong += copy_now(fixture, scene->b, scene->to, scene->from);
    tap_ok(!wrong && has(fixture, scene->to, scene->first) && (!late || has(fixture, scene->other, scene->old)),
           "%s: an event that two streams record%s", fixture->label, late ? " orders its last recorder only" : "");
    kind->free_stream(fixture->device, third);
}

/* Polls until an event completes; returns 0 on an error, or after very many polls. */
static int poll_event(struct device_fixture *fixture, struct hs_event *event, int *wrong)
{
    int is = 0;
    for (int64_t times = 0; !is && !*wrong && times < 100000000; times++) {
        *wrong += fixture->kind->complete(fixture->device, event, &is) != HSUMMA_OK;
        sched_yield();
    }
    return is;
}

static void test_over(struct device_fixture *fixture, struct scene *scene, int late)
{
    const struct hs_device_kind *kind = fixture->kind;
    int wrong = 0, never = 0, early = 0;
    FIXTURE_DO(kind->complete(fixture->device, scene->event, &never));
    FIXTURE_DO(put_copy(fixture, scene->a, scene->from, scene->first));
    FIXTURE_DO(put_copy(fixture, scene->a, scene->pinned, scene->from));
    FIXTURE_DO(kind->record(fixture->device, scene->a, scene->event));
    if (late)
        FIXTURE_DO(kind->complete(fixture->device, scene->event, &early));
    int is = poll_event(fixture, scene->event, &wrong);
    tap_ok(!wrong && never && !early && is && memcmp(scene->pinned, scene->first, ORDER_BYTES) == 0,
           "%s: an event is over when its work is%s, and if it was never recorded", fixture->label,
           late ? ", not before" : "");
}

/* Freeing a stream completes its work; freeing memory waits for the work that uses it. */
static void test_freed(struct device_fixture *fixture, struct scene *scene, int late)
{
    const struct hs_device_kind *kind = fixture->kind;
    struct hs_stream *stream = NULL;
    int wrong = 0;
    (void)late;
    FIXTURE_DO(kind->make_stream(fixture->device, &stream));
    FIXTURE_DO(put_copy(fixture, stream, scene->from, scene->first));
    FIXTURE_DO(put_copy(fixture, stream, scene->pinned, scene->from));
    FIXTURE_DO(kind->record(fixture->device, stream, scene->event));
    kind->free_stream(fixture->device, stream);
    int is = poll_event(fixture, scene->event, &wrong);
    tap_ok(!wrong && is && memcmp(scene->pinned, scene->first, ORDER_BYTES) == 0,
           "%s: a stream that is freed finishes its work", fixture->label);
    FIXTURE_DO(put_copy(fixture, scene->a, scene->from, scene->second));
    FIXTURE_DO(put_copy(fixture, scene->a, scene->pinned, scene->from));
    kind->put(fixture->device, scene->from);
    scene->from = NULL;
    tap_ok(!wrong && memcmp(scene->pinned, scene->second, ORDER_BYTES) == 0,
           "%s: memory is given back after the work on it", fixture->label);
    FIXTURE_DO(kind->record(fixture->device, scene->b, scene->event));
    FIXTURE_DO(kind->wait(fixture->device, scene->a, scene->event));
    kind->free_event(fixture->device, scene->event);
    scene->event = NULL;
    wrong += copy_now(fixture, scene->a, scene->to, scene->second);
    tap_ok(!wrong && has(fixture, scene->to, scene->second), "%s: an event may be freed while a stream waits for it",
           fixture->label);
}

static void test_adopted(struct device_fixture *fixture, struct scene *scene, int late)
{
    const struct hs_device_kind *kind = fixture->kind;
    struct hs_stream *same = NULL;
    void *shown = kind->show_stream(fixture->device, scene->a);
    int wrong = 0;
    (void)late;
    FIXTURE_DO(kind->adopt_stream(fixture->device, shown, &same));
    FIXTURE_DO(put_copy(fixture, scene->a, scene->from, scene->first));
    wrong += copy_now(fixture, same, scene->to, scene->from);
    tap_ok(!wrong && shown && kind->show_stream(fixture->device, same) == shown &&
               has(fixture, scene->to, scene->first),
           "%s: a stream that is adopted is the same stream", fixture->label);
    kind->free_stream(fixture->device, same);
    wrong += copy_now(fixture, scene->a, scene->to, scene->second);
    tap_ok(!wrong && has(fixture, scene->to, scene->second), "%s: and stays when its other handle goes",
           fixture->label);
}

static void test_many(struct device_fixture *fixture, struct scene *scene, int late)
{
    const struct hs_device_kind *kind = fixture->kind;
    int wrong = 0;
    (void)late;
    for (int i = 0; i < 2000 && !wrong; i++) {
        struct hs_stream *one = i % 2 ? scene->b : scene->a, *two = i % 2 ? scene->a : scene->b;
        FIXTURE_DO(put_copy(fixture, one, i % 2 ? scene->from : scene->to, i % 2 ? scene->to : scene->from));
        FIXTURE_DO(kind->record(fixture->device, one, scene->event));
        FIXTURE_DO(kind->wait(fixture->device, two, scene->event));
        if (i == 999)
            FIXTURE_DO(put_copy(fixture, two, scene->from, scene->first));
    }
    FIXTURE_DO(kind->synchronize(fixture->device, scene->a));
    tap_ok(!wrong && has(fixture, scene->to, scene->first) && has(fixture, scene->from, scene->first),
           "%s: two streams take turns 2000 times", fixture->label);
}

void device_test_order(struct device_fixture *fixture, int late)
{
    static void (*const tests[])(struct device_fixture *, struct scene *, int late) = {
        test_wait, test_no_wait, test_generations, test_two_recorders, test_over, test_freed, test_adopted, test_many};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct scene scene;
        if (scene_make(fixture, &scene))
            tap_ok(0, "%s: buffers, streams and an event", fixture->label);
        else
            tests[i](fixture, &scene, late);
        scene_free(fixture, &scene);
    }
}

void device_test_all(struct device_fixture *fixture, int late)
{
    device_test_memory(fixture);
    device_test_work(fixture);
    device_test_order(fixture, late);
    fixture_close(fixture);
}
