#include "support/device/gemm_device.h"

hsumma_context *gemm_device_context(const char *words)
{
    hsumma_context *ctx = NULL;
    char options[80];
    setenv("HSUMMA_HOST_DEVICE", words, 1);
    hsumma_status status =
        hsumma_create(MPI_COMM_WORLD, on_test_device(options, sizeof options, "threads=1"), &ctx, NULL, 0);
    unsetenv("HSUMMA_HOST_DEVICE");
    return status ? NULL : ctx;
}

int gemm_place(hsumma_context *ctx, const struct gemm_case *c, int on_device, struct gemm_matrices *m)
{
    struct hs_device *device = ctx->device;
    int good = 1;
    gemm_make(c, m->home);
    m->on_device = 0;
    for (int x = 0; x < 3; x++) {
        m->used[x] = m->home[x];
        if (!(on_device >> x & 1) || !m->home[x].data)
            continue;
        if (device->kind->get(device, m->home[x].bytes, &m->used[x].data)) {
            m->used[x] = m->home[x];
            good = 0;
            continue;
        }
        good &= !device->kind->copy(device, ctx->stream, m->used[x].data, m->home[x].data, m->home[x].bytes);
        m->on_device |= 1 << x;
    }
    return good;
}

int gemm_bring_home(hsumma_context *ctx, struct gemm_matrices *m)
{
    struct hs_device *device = ctx->device;
    int good = 1;
    for (int x = 0; x < 3; x++)
        if (m->on_device >> x & 1)
            good &= !device->kind->copy(device, ctx->stream, m->home[x].data, m->used[x].data, m->home[x].bytes);
    return good && !device->kind->synchronize(device, ctx->stream);
}

void gemm_forget(hsumma_context *ctx, struct gemm_matrices *m)
{
    for (int x = 0; x < 3; x++)
        if (m->on_device >> x & 1)
            ctx->device->kind->put(ctx->device, m->used[x].data);
    gemm_drop(m->home);
}

hsumma_status gemm_execute_there(hsumma_context *ctx, hsumma_plan *plan, const struct gemm_case *c, int on_device,
                                 int *good)
{
    struct gemm_matrices m;
    int placed = gemm_place(ctx, c, on_device, &m);
    hsumma_status status = gemm_begin(plan, c, m.used, 1);
    int home = gemm_bring_home(ctx, &m);
    *good = (placed || !m.on_device) && home && !status && gemm_wrong(c, &m.home[2], 0) + gemm_changed(c, m.home) == 0;
    gemm_forget(ctx, &m);
    return status;
}
