/* Matrices in device memory, for tests of products on the host device. */
#ifndef HS_TESTS_SUPPORT_ON_DEVICE_H
#define HS_TESTS_SUPPORT_ON_DEVICE_H

#include "hsumma/plan/plan.h"
#include "support/product.h"
#include "support/test_device.h"

enum { ON_A = 1, ON_B = 2, ON_C = 4, ALL = 7 };

/* The matrices of one execution: `home` of the host has what they begin with, and what has come of them. */
struct matrices {
    struct local home[3], used[3];
    size_t bytes[3];
    int on_device; /* which of them, of this process's parts */
};

/* A context whose device does its work in the order that the words say. */
static inline hsumma_context *context(const char *words)
{
    hsumma_context *ctx = NULL;
    char options[80];
    setenv("HSUMMA_HOST_DEVICE", words, 1);
    hsumma_status status =
        hsumma_create(MPI_COMM_WORLD, on_test_device(options, sizeof options, "threads=1"), &ctx, NULL, 0);
    unsetenv("HSUMMA_HOST_DEVICE");
    return status ? NULL : ctx;
}

/* Fills them by work on the context's stream, which may be under way when this returns.  0: some stay on the host. */
static inline int place(hsumma_context *ctx, const struct call *c, int on_device, struct matrices *m)
{
    struct hs_device *device = ctx->device;
    int good = 1;
    make(c, m->home);
    m->on_device = 0;
    for (int x = 0; x < 3; x++) {
        m->used[x] = m->home[x];
        m->bytes[x] = (size_t)(c->desc[x].ld * m->home[x].cols) * bytes_of(c->type);
        if (!(on_device >> x & 1) || !m->home[x].data)
            continue;
        if (device->kind->get(device, m->bytes[x], &m->used[x].data)) {
            m->used[x] = m->home[x];
            good = 0;
            continue;
        }
        good &= !device->kind->copy(device, ctx->stream, m->used[x].data, m->home[x].data, m->bytes[x]);
        m->on_device |= 1 << x;
    }
    return good;
}

/* Brings what is on the device home. */
static inline int bring(hsumma_context *ctx, struct matrices *m)
{
    struct hs_device *device = ctx->device;
    int good = 1;
    for (int x = 0; x < 3; x++)
        if (m->on_device >> x & 1)
            good &= !device->kind->copy(device, ctx->stream, m->home[x].data, m->used[x].data, m->bytes[x]);
    return good && !device->kind->synchronize(device, ctx->stream);
}

static inline void forget(hsumma_context *ctx, struct matrices *m)
{
    for (int x = 0; x < 3; x++)
        if (m->on_device >> x & 1)
            ctx->device->kind->put(ctx->device, m->used[x].data);
    drop(m->home);
}

/* One execution of a plan, whose C comes home if it ends well.  `good`: it is right, and nothing else has changed. */
static inline hsumma_status execute_there(hsumma_context *ctx, hsumma_plan *plan, const struct call *c, int on_device,
                                          int *good)
{
    struct matrices m;
    int placed = place(ctx, c, on_device, &m);
    hsumma_status status = begin(plan, c, m.used, 1);
    int home = bring(ctx, &m);
    *good = (placed || !m.on_device) && home && !status && wrong(c, &m.home[2], 0) + changed(c, m.home) == 0;
    forget(ctx, &m);
    return status;
}

#endif
