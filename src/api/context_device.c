#include "api/context_parts.h"

#include "coll/node/agree_mpi.h"
#include "coll/run/device_comm.h"
#include "gpu/devices.h"

#include <dlfcn.h>
#include <string.h>

/* DEVICE_PANEL: width of panels of host matrices.  SHARED_PART: the usual limit of a process's shared buffers, as a
 * part of the smallest device's memory. */
enum { DEVICE_PANEL = 2048, SHARED_PART = 64 };

static hsumma_status open_device(hsumma_context *ctx, const char *name, int number, int place, struct hs_message *why)
{
    const struct hs_device_kind *kind = hs_device_kind_find(name, why);
    if (!kind)
        return HSUMMA_ERR_DEVICE;
    hsumma_status status = kind->open(number, place, &ctx->memory, &ctx->device, why);
    if (!status)
        status = kind->make_stream(ctx->device, &ctx->stream);
    if (!status)
        status = kind->make_event(ctx->device, 0, &ctx->turned);
    if (status && ctx->device)
        *why = ctx->device->message;
    return status;
}

/* Agrees on the worst status, with the message of the first process that has it. */
static hsumma_status agree_on(hsumma_context *ctx, hsumma_status mine, struct hs_message *why)
{
    struct hs_verdict verdict = hs_agree_by_mpi(ctx->comm.comm, (struct hs_vote){.status = mine}, ctx->comm.watch);
    if (!verdict.status)
        return HSUMMA_OK;
    if (hs_status_is_final(verdict.status))
        return hs_fail(why, verdict.status, "MPI failed while the processes agreed on a device");
    hsumma_status sent = hs_mpi_bcast(why->text, sizeof why->text, verdict.rank, ctx->comm.comm, ctx->comm.watch);
    if (sent)
        return hs_fail(why, sent, "MPI_Ibcast of an error message failed");
    struct hs_message text = *why;
    return hs_fail(why, verdict.status, "process %d: %.*s", verdict.rank, (int)sizeof text.text - 32, text.text);
}

/* The number of devices that a machine's processes use, on the machine with most; 0 if MPI fails, which means one per
 * process. */
static int count_devices(const hsumma_context *ctx)
{
    const char *place = ctx->device->location;
    unsigned colour = 0;
    MPI_Comm mates = MPI_COMM_NULL, machine = ctx->comm.host.comm;
    int rank = 0, devices = 0;
    for (int i = 0; place[i]; i++)
        colour = colour * 31 + (unsigned char)place[i];
    if (MPI_Comm_split(machine, (int)(colour >> 1), 0, &mates) == MPI_SUCCESS) {
        MPI_Comm_rank(mates, &rank);
        devices = rank == 0;
        hs_mpi_allreduce(&devices, 1, MPI_INT, MPI_SUM, machine, ctx->comm.watch);
        MPI_Comm_free(&mates);
    }
    hs_mpi_allreduce(&devices, 1, MPI_INT, MPI_MAX, ctx->comm.comm, ctx->comm.watch);
    return devices;
}

/* Agrees on the memory of the smallest device, because all processes must choose alike. */
static hsumma_status measure(hsumma_context *ctx, struct hs_message *why)
{
    struct hs_device *device = ctx->device;
    int64_t free_bytes, bytes = 0;
    hsumma_status status = device ? device->kind->memory_left(device, &free_bytes, &bytes) : HSUMMA_OK;
    if (status && why)
        *why = device->message;
    hsumma_status least = hs_mpi_allreduce(&bytes, 1, MPI_INT64_T, MPI_MIN, ctx->comm.comm, ctx->comm.watch);
    ctx->device_bytes = bytes;
    return least ? hs_fail(why, least, "MPI_Iallreduce failed") : status;
}

/* The number of processes that use this process's device, itself included; 0 on error. */
static int sharers(const hsumma_context *ctx, hsumma_status *status)
{
    const size_t length = sizeof ctx->device->location;
    const char *mine = ctx->device->location;
    char *all = hs_get(&ctx->memory, (size_t)ctx->comm.size, length);
    int count = 0;
    /* a process without memory must agree too, or the others would wait for it in the allgather */
    *status = hs_agreed(ctx->comm.comm, all ? HSUMMA_OK : HSUMMA_ERR_MEMORY, ctx->comm.watch);
    if (!*status)
        *status = hs_mpi_allgather(mine, length, all, ctx->comm.comm, ctx->comm.watch);
    for (int r = 0; !*status && r < ctx->comm.size; r++)
        count += strncmp(all + (size_t)r * length, mine, length) == 0;
    hs_put(&ctx->memory, all);
    return count;
}

/* The usual limits for the device; the BLAS's speed comes from the profile. */
static struct hs_local_limits limits_of(const hsumma_context *ctx)
{
    const struct hs_profile *profile = &ctx->profile;
    struct hs_local_limits limits = hs_local_usual;
    double threads = (double)ctx->threads_model / (profile->threads > 0 ? profile->threads : 1);
    for (int single = 0; single < 2; single++)
        limits.host[single] = threads / profile->gemm[single].flop;
    if (ctx->device->kind->is_stand_in)
        limits.host[0] = limits.host[1] = 0;
    return limits;
}

/* Prepares the local products on the device. Collective; the status is this process's own. */
static hsumma_status make_local(hsumma_context *ctx, const struct hs_settings *settings, struct hs_message *why)
{
    struct hs_device *device = ctx->device;
    struct hs_local_limits limits = limits_of(ctx);
    int64_t free_bytes = 0, all_bytes;
    hsumma_status status, shared;
    int processes = sharers(ctx, &shared);
    status = device->kind->memory_left(device, &free_bytes, &all_bytes);
    if (status)
        *why = device->message;
    if (shared)
        return hs_fail(why, shared, "cannot determine which processes share the device \"%s\": %s", device->name,
                       hsumma_status_string(shared));
    limits.memory = settings->device_memory.bytes
                        ? settings->device_memory.bytes
                        : (int64_t)(settings->device_memory.share * (double)free_bytes / processes);
    if (!status && hs_local_make(device, &ctx->stream, &limits, &ctx->memory, &ctx->local))
        status = hs_fail(why, HSUMMA_ERR_MEMORY, "no memory for products on a device");
    return status;
}

hsumma_status hs_context_open_device(hsumma_context *ctx)
{
    const struct hs_settings *settings = &ctx->options.settings;
    struct hs_message why = {""};
    char word[2 * HS_NAME_TEXT];
    if (strcmp(settings->device.kind, "none") == 0)
        return HSUMMA_OK;
    int wish = strcmp(settings->device.kind, "auto") == 0; /* with auto, a missing device is not an error */
    hsumma_status status =
        open_device(ctx, wish ? "cuda" : settings->device.kind, settings->device.number, ctx->comm.host.me, &why);
    hsumma_status measured = measure(ctx, status ? NULL : &why);
    status = status ? status : measured;
    status = agree_on(ctx, status, &why);
    if (!status)
        status = agree_on(ctx, make_local(ctx, settings, &why), &why);
    if (!status) {
        ctx->profile.device_machine.devices = count_devices(ctx);
        ctx->profile.device_panel = DEVICE_PANEL;
        return HSUMMA_OK;
    }
    hs_context_close_device(ctx);
    hs_option_write(HS_OPT_DEVICE, settings, word, sizeof word);
    if (!wish || hs_status_is_final(status))
        return hs_fail(&ctx->message, status, "device=%s: %s", word, why.text);
    hs_append(ctx->note, sizeof ctx->note, "%sno device: %.*s", ctx->note[0] ? "; " : "", 300, why.text);
    return HSUMMA_OK;
}

/* Asks MPI whether it accepts device memory; an MPI that has no query for this counts as not accepting it. */
static int mpi_takes_devices(void)
{
    int (*ask)(void) = NULL, (*ask_kind)(int, int *) = NULL, yes = 0;
    void *symbol = dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support");
    memcpy(&ask_kind, &symbol, sizeof symbol);
    if (ask_kind) /* 0 is MPIX_GPU_SUPPORT_CUDA */
        return ask_kind(0, &yes) == MPI_SUCCESS && yes;
    symbol = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    memcpy(&ask, &symbol, sizeof symbol);
    return ask && ask() == 1;
}

hsumma_status hs_context_share_device(hsumma_context *ctx)
{
    const struct hs_settings *settings = &ctx->options.settings;
    if (!ctx->device)
        return HSUMMA_OK;
    int takes = settings->gpu_aware < 0 ? mpi_takes_devices() : settings->gpu_aware;
    hsumma_status all = hs_agreed(ctx->comm.comm, takes ? HSUMMA_OK : HSUMMA_ERR_UNSUPPORTED, ctx->comm.watch);
    if (hs_status_is_final(all))
        return hs_fail(&ctx->message, all, "MPI failed while the processes agreed on gpu_aware_mpi");
    /* a large device has room for long vectors in one chunk */
    const int64_t least = hs_device_shared_limit(-1), part = ctx->device_bytes / SHARED_PART;
    const int64_t usual = part > least ? part : least;
    const struct hs_device_options options = {.shared_bytes = settings->shared < 0 ? usual : settings->shared,
                                              .direct = settings->direct,
                                              .gpu_aware = all == HSUMMA_OK};
    hsumma_status status =
        hs_device_comm_make(&ctx->comm, ctx->device, &ctx->stream, &options, &ctx->memory, &ctx->message);
    if (status || !ctx->comm.device->note.text[0])
        return status;
    hs_append(ctx->note, sizeof ctx->note,
              "%sprocesses cannot share device memory, so algorithms for shared memory run in host memory: %.*s",
              ctx->note[0] ? "; " : "", 300, ctx->comm.device->note.text);
    return HSUMMA_OK;
}

/* Waits until all processes arrive, or until one has reported a failed device and so will not arrive. */
static void meet_all(hsumma_context *ctx)
{
    MPI_Request request;
    if (MPI_Ibarrier(ctx->comm.comm, &request) == MPI_SUCCESS)
        hs_team_await(&ctx->team, &request);
}

void hs_context_leave_device(hsumma_context *ctx, int meet)
{
    if (!ctx->device || ctx->broken) /* the device's work may wait forever for a process that has failed */
        return;
    ctx->device->kind->synchronize(ctx->device, ctx->stream);
    hs_allocations_leave(&ctx->allocations);
    hs_device_comm_leave(&ctx->comm);
    if (meet)
        meet_all(ctx);
}

void hs_context_close_device(hsumma_context *ctx)
{
    struct hs_device *device = ctx->device;
    if (!device || ctx->broken)
        return;
    hs_local_free(ctx->local);
    ctx->local = NULL;
    if (ctx->stream)
        device->kind->synchronize(device, ctx->stream);
    device->kind->free_event(device, ctx->turned);
    device->kind->free_stream(device, ctx->stream);
    device->kind->close(device);
    ctx->device = NULL;
    ctx->stream = NULL;
    ctx->turned = NULL;
}

static hsumma_status no_device(hsumma_context *ctx)
{
    if (!ctx)
        return HSUMMA_ERR_ARGUMENT;
    return hs_fail(&ctx->message, HSUMMA_ERR_UNSUPPORTED,
                   "the context has no device; create it with device=cuda or auto");
}

hsumma_status hsumma_set_stream(hsumma_context *ctx, void *stream)
{
    struct hs_device *device = ctx ? ctx->device : NULL;
    struct hs_stream *next = NULL;
    if (!device)
        return no_device(ctx);
    if (ctx->running)
        return hs_fail(&ctx->message, HSUMMA_ERR_BUSY,
                       "a plan of this context is running; complete it with hsumma_plan_wait first");
    if (stream && stream == device->kind->show_stream(device, ctx->stream))
        return HSUMMA_OK; /* adopting it again would free it below */
    hsumma_status status =
        stream ? device->kind->adopt_stream(device, stream, &next) : device->kind->make_stream(device, &next);
    if (!status) /* the new stream waits for work on the old one */
        status = device->kind->record(device, ctx->stream, ctx->turned);
    if (!status)
        status = device->kind->wait(device, next, ctx->turned);
    device->kind->free_stream(device, status ? next : ctx->stream);
    ctx->stream = status ? ctx->stream : next;
    return hs_context_device_said(ctx, status);
}

void *hsumma_stream(const hsumma_context *ctx)
{
    return ctx->device ? ctx->device->kind->show_stream(ctx->device, ctx->stream) : NULL;
}

hsumma_status hsumma_synchronize(hsumma_context *ctx)
{
    return ctx && ctx->device ? hs_context_device_said(ctx, ctx->device->kind->synchronize(ctx->device, ctx->stream))
                              : no_device(ctx);
}

hsumma_status hsumma_copy(hsumma_context *ctx, void *dst, const void *src, size_t bytes)
{
    struct hs_device *device = ctx ? ctx->device : NULL;
    if (!device)
        return no_device(ctx);
    if (bytes && (!dst || !src))
        return hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT, "%s is NULL, with %zu bytes to copy", dst ? "src" : "dst",
                       bytes);
    hsumma_status status = bytes ? device->kind->copy(device, ctx->stream, dst, src, bytes) : HSUMMA_OK;
    return hs_context_device_said(ctx, status ? status : device->kind->synchronize(device, ctx->stream));
}

const char *hsumma_device(const hsumma_context *ctx)
{
    return ctx->device ? ctx->device->name : "none";
}
