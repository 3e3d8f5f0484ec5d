/* Times copies to the device and back, and the bound that they set. */
#include "gemm/floor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "hsumma/context/context.h"

enum { FLOOR_PIECE = 32 << 20 };

/* The context's device. Its functions are called directly: the public API neither allocates pinned memory nor copies
 * asynchronously. */
static struct hs_device *device_of(const problem *p)
{
    return p->ctx->device;
}

static int is_read(const problem *p, int x)
{
    return x < 2 || p->args->beta[0] != 0 || p->args->beta[1] != 0;
}

int gemm_floor_create(gemm_floor *floor, const problem *p, int reps)
{
    struct hs_device *device = device_of(p);
    hsumma_status status;
    int good = 1;

    memset(floor, 0, sizeof *floor);
    floor->reps = reps;
    floor->piece = FLOOR_PIECE;
    for (int x = 0; x < 3; x++) {
        const operand *o = &p->x[x];
        int64_t bytes = o->shared ? 0 : (int64_t)o->bytes;

        floor->in += is_read(p, x) ? bytes : 0;
        floor->out += x == 2 ? bytes : 0;
    }
    for (int way = 0; way < FLOOR_WAYS; way++)
        good &= (floor->times[way] = calloc((size_t)reps, sizeof(double))) != NULL;
    status = device->kind->get_pinned(device, floor->piece, &floor->pinned);
    if (!status) {
        memset(floor->pinned, 0, floor->piece);
        status = device->kind->get(device, floor->piece, &floor->there);
    }
    return command_fail(p->comm, status || !good, "the copies to the device: %s",
                        status ? device->message.text : "no memory");
}

void gemm_floor_free(gemm_floor *floor, const problem *p)
{
    if (floor->pinned)
        device_of(p)->kind->put_pinned(device_of(p), floor->pinned);
    if (floor->there)
        device_of(p)->kind->put(device_of(p), floor->there);
    for (int way = 0; way < FLOOR_WAYS; way++)
        free(floor->times[way]);
    memset(floor, 0, sizeof *floor);
}

/* Copies `bytes` bytes between the pinned buffer and the device's: enqueues all pieces, then waits. */
static hsumma_status copy_pinned(const gemm_floor *floor, const problem *p, int64_t bytes, int out)
{
    struct hs_device *device = device_of(p);
    hsumma_status status = HSUMMA_OK;

    for (int64_t some; bytes > 0 && !status; bytes -= some) {
        some = bytes < (int64_t)floor->piece ? bytes : (int64_t)floor->piece;
        status = device->kind->copy(device, p->ctx->stream, out ? floor->pinned : floor->there,
                                    out ? floor->there : floor->pinned, (size_t)some);
    }
    return status ? status : device->kind->synchronize(device, p->ctx->stream);
}

/* Copies the operands themselves. The bytes copied back are arbitrary: C is refreshed before its next use. */
static hsumma_status copy_own(const gemm_floor *floor, const problem *p, int out)
{
    hsumma_status status = HSUMMA_OK;

    for (int x = 0; x < 3 && !status; x++) {
        const operand *o = &p->x[x];
        int used = !o->shared && (out ? x == 2 : is_read(p, x));

        for (size_t at = 0; used && at < o->bytes && !status; at += floor->piece) {
            size_t some = o->bytes - at < floor->piece ? o->bytes - at : floor->piece;
            char *here = (char *)o->local + at;

            status = hsumma_copy(p->ctx, out ? here : floor->there, out ? floor->there : here, some);
        }
    }
    return status;
}

int gemm_floor_turn(gemm_floor *floor, const problem *p)
{
    for (int way = 0; way < FLOOR_WAYS; way++) {
        int out = way == FLOOR_OUT || way == FLOOR_OWN_OUT;
        double start;
        hsumma_status status;

        quiet_barrier(p->comm);
        start = MPI_Wtime();
        status =
            way < FLOOR_OWN_IN ? copy_pinned(floor, p, out ? floor->out : floor->in, out) : copy_own(floor, p, out);
        start = MPI_Wtime() - start;
        quiet_allreduce(&start, &floor->times[way][floor->round], 1, MPI_DOUBLE, MPI_MAX, p->comm);
        if (command_fail(p->comm, status != HSUMMA_OK, "gemm: copying %s the device failed: %s", out ? "from" : "to",
                         device_of(p)->message.text))
            return COMMAND_INTERNAL;
    }
    floor->round++;
    return COMMAND_OK;
}

floor_result gemm_floor_judge(const gemm_floor *floor, const double *times, const double *resident)
{
    floor_result found = {.measured = floor->round == floor->reps && floor->reps > 0};
    int reps = floor->reps;
    double *copies = calloc(2 * (size_t)reps + 1, sizeof *copies), *least = copies ? copies + reps : NULL;

    found.measured = found.measured && copies;
    for (int i = 0; found.measured && i < reps; i++) {
        copies[i] = floor->times[FLOOR_IN][i] + floor->times[FLOOR_OUT][i];
        least[i] = fmax(copies[i], resident[i]);
    }
    if (found.measured) {
        for (int way = 0; way < FLOOR_WAYS; way++)
            found.way[way] = spread_of(floor->times[way], reps);
        found.copy = spread_of(copies, reps);
        found.compute = spread_of(resident, reps);
        found.ratio = spread_of_ratio(times, least, reps);
    }
    free(copies);
    return found;
}
