/* hsumma coll on a device: copies inside the device, bits of results, setup cost. */
#include "coll/device.h"

#include <inttypes.h>

enum { COPIES = 9, MOST_COPIED = 256 << 20, LEAST_COPIED = 64 << 20 };

/* --- sharing and copy rate --------------------------------------------------------------------------------------- */

/* The median rate of a few copies on rank 0, in bytes read and written per second; 0 on failure. */
static double copy_rate(const coll_run *run, void *to, const void *from, size_t bytes)
{
    double seconds[COPIES];

    hsumma_copy(run->ctx, to, from, bytes);
    for (int i = 0; i < COPIES; i++) {
        double start = MPI_Wtime();

        if (hsumma_copy(run->ctx, to, from, bytes))
            return 0;
        seconds[i] = MPI_Wtime() - start;
    }
    return 2 * (double)bytes / spread_of(seconds, COPIES).median;
}

int coll_device_survey(coll_run *run)
{
    int64_t most = run->args->to < LEAST_COPIED  ? LEAST_COPIED
                   : run->args->to > MOST_COPIED ? MOST_COPIED
                                                 : run->args->to;
    size_t bytes = run->rank == 0 ? (size_t)most : 0;
    void *two[2] = {NULL, NULL};
    hsumma_status status;

    if (device_mates(run->ctx, run->comm, &run->mates))
        return COMMAND_INTERNAL;
    status = hsumma_malloc(run->ctx, bytes, &two[0]);
    if (!status)
        status = hsumma_malloc(run->ctx, bytes, &two[1]);
    if (command_fail(run->comm, status != HSUMMA_OK, "coll: %s", hsumma_message(run->ctx))) {
        hsumma_mfree(run->ctx, two[0]);
        return COMMAND_INTERNAL;
    }
    sleeping_barrier(run->comm);
    if (run->rank == 0)
        run->copy_rate = copy_rate(run, two[0], two[1], bytes);
    sleeping_barrier(run->comm);
    run->copied = most;
    hsumma_mfree(run->ctx, two[0]);
    hsumma_mfree(run->ctx, two[1]);
    return COMMAND_OK;
}

int64_t coll_device_traffic(const coll_run *run, const coll_case *c)
{
    int is_giver = c->call.collective != HSUMMA_BCAST || c->rank == c->call.root;
    int64_t mine = (is_giver ? (int64_t)c->in_bytes : 0) + (int64_t)c->out_bytes, ours, most;

    if (c->call.collective == HSUMMA_BCAST && is_giver)
        mine -= (int64_t)c->out_bytes; /* the root already has the vector */
    quiet_allreduce(&mine, &ours, 1, MPI_INT64_T, MPI_SUM, run->mates);
    quiet_allreduce(&ours, &most, 1, MPI_INT64_T, MPI_MAX, run->comm);
    return most;
}

/* --- bits --------------------------------------------------------------------------------------------------------- */

int coll_device_bits(coll_run *run, coll_case *c, coll_contender *x)
{
    uint64_t bits, least, most, sum, part;
    int whole = c->call.collective != HSUMMA_REDUCE && c->call.collective != HSUMMA_REDUCE_SCATTER, code;

    coll_case_roughen(c);
    coll_case_reset(c);
    code = coll_call(run, c, x);
    if (!code) {
        bits = coll_case_bits(c);
        part = bits * (2 * (uint64_t)run->rank + 1); /* so that the sum changes if two ranks exchange results */
        if (c->call.collective == HSUMMA_REDUCE)
            part = c->rank == c->call.root ? bits : 0;
        quiet_allreduce(&bits, &least, 1, MPI_UINT64_T, MPI_MIN, run->comm);
        quiet_allreduce(&bits, &most, 1, MPI_UINT64_T, MPI_MAX, run->comm);
        quiet_allreduce(&part, &sum, 1, MPI_UINT64_T, MPI_SUM, run->comm);
        snprintf(x->checksum, sizeof x->checksum, "%016" PRIx64, whole ? least : sum);
        x->same = !whole || least == most;
    }
    coll_case_smooth(c);
    return code;
}

/* --- setup cost -------------------------------------------------------------------------------------------------- */

/* Times the first call in a new context. The call needs buffers of its own, because this context may be on another
 * device than run->ctx. */
static hsumma_status first_calls(hsumma_context *ctx, const coll_case *c, hsumma_coll call, double *first)
{
    void *in = NULL, *out = NULL;
    hsumma_status one = hsumma_malloc(ctx, c->in_bytes, &in), two = hsumma_malloc(ctx, c->out_bytes, &out), status;
    double start;

    status = one ? one : two;
    if (!status && call.in)
        status = hsumma_copy(ctx, in, c->in, c->in_bytes);
    call.in = call.in ? in : NULL;
    call.out = out;
    start = MPI_Wtime();
    if (!status)
        status = hsumma_coll_run(ctx, &call);
    if (!status)
        status = hsumma_synchronize(ctx);
    *first = MPI_Wtime() - start;
    hsumma_mfree(ctx, in);
    hsumma_mfree(ctx, out);
    return status;
}

int coll_device_init(coll_run *run, const coll_case *c, coll_contender *x)
{
    hsumma_context *ctx = NULL;
    double mine[2] = {0, 0}, all[2], start;
    char text[400] = "";
    hsumma_status status;

    quiet_barrier(run->comm);
    start = MPI_Wtime();
    status = hsumma_create(run->comm, run->options, &ctx, text, sizeof text);
    mine[0] = MPI_Wtime() - start;
    if (!status)
        status = first_calls(ctx, c, coll_call_of(c, x), &mine[1]);
    if (status && ctx)
        snprintf(text, sizeof text, "%s", hsumma_message(ctx));
    hsumma_free(&ctx);
    if (command_fail(run->comm, status != HSUMMA_OK, "coll: --init: %s", text))
        return COMMAND_INTERNAL;
    quiet_allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, run->comm);
    x->created = all[0];
    x->first = all[1];
    return COMMAND_OK;
}
