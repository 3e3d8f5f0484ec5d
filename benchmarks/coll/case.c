/* The buffers of one collective call, and its right result. Numbers are small integers, so sums are exact in every type
 * and order, and results are known in advance. */
#include "coll/case.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "hsumma/context/context.h"

/* The i-th real that a rank contributes, from 0 to 12. */
static int number(int rank, int64_t i)
{
    return (int)((7 * (int64_t)rank + 3 * i + (int64_t)rank * (i % 11)) % 13);
}

/* The i-th real of one rank's contribution, or, if rank < 0, of the sum over all ranks. */
static int64_t result(const coll_case *c, int rank, int64_t i)
{
    int64_t sum = 0;

    if (rank >= 0)
        return number(rank, i);
    for (int r = 0; r < c->size; r++)
        sum += number(r, i);
    return sum;
}

/* Writes `bytes` bytes of a rank's contribution (rank < 0: of the sum), from its real `first` on. */
static void write_numbers(const coll_case *c, int rank, int64_t first, unsigned char *to, size_t bytes)
{
    size_t size = c->element.part;

    for (size_t i = 0; i < bytes / size; i++) {
        int64_t value = result(c, rank, first + (int64_t)i);

        if (c->element.is_integer && size == 4)
            ((int32_t *)to)[i] = (int32_t)value;
        else if (c->element.is_integer)
            ((int64_t *)to)[i] = value;
        else if (size == 4)
            ((float *)to)[i] = (float)value;
        else
            ((double *)to)[i] = (double)value;
    }
}

static int has_parts(hsumma_collective collective)
{
    return collective == HSUMMA_ALLGATHER || collective == HSUMMA_REDUCE_SCATTER;
}

int coll_case_sizes(const coll_arguments *args, int ranks, int64_t bytes[COLL_SIZES])
{
    int64_t unit = (int64_t)coll_element_of(args->element).size;
    int count = 0;

    if (has_parts((hsumma_collective)args->collective))
        unit *= ranks;
    for (int64_t size = args->from; size <= args->to && count < COLL_SIZES; size = (size ? size : 1) * args->factor) {
        int64_t used = size < unit ? unit : size - size % unit;

        if (!count || used != bytes[count - 1])
            bytes[count++] = used;
    }
    return count;
}

/* Computes this rank's right result. */
static void expect(coll_case *c)
{
    int64_t part = c->bytes / (int64_t)c->element.part / c->size; /* reals per rank */

    switch (c->call.collective) {
    case HSUMMA_BCAST:
        write_numbers(c, c->call.root, 0, c->expected, c->out_bytes);
        break;
    case HSUMMA_ALLGATHER:
        for (int r = 0; r < c->size; r++)
            write_numbers(c, r, 0, c->expected + r * (c->bytes / c->size), c->in_bytes);
        break;
    case HSUMMA_REDUCE_SCATTER:
        write_numbers(c, -1, part * c->rank, c->expected, c->out_bytes);
        break;
    default:
        write_numbers(c, -1, 0, c->expected, c->out_bytes);
    }
}

int coll_case_make(coll_case *c, const coll_arguments *args, int64_t bytes, MPI_Comm comm)
{
    hsumma_collective collective = (hsumma_collective)args->collective;
    size_t part;

    *c = (coll_case){.comm = comm, .element = coll_element_of(args->element), .bytes = bytes};
    MPI_Comm_rank(comm, &c->rank);
    MPI_Comm_size(comm, &c->size);
    part = (size_t)(bytes / c->size);
    c->in_bytes = collective == HSUMMA_ALLGATHER ? part : (size_t)bytes;
    c->out_bytes = collective == HSUMMA_REDUCE_SCATTER ? part : (size_t)bytes;
    if (collective == HSUMMA_REDUCE && c->rank != args->root)
        c->out_bytes = 0;
    c->in = aligned_alloc(64, (c->in_bytes + 127) / 64 * 64);
    c->out = aligned_alloc(64, (c->out_bytes + 127) / 64 * 64);
    c->expected = aligned_alloc(64, (c->out_bytes + 127) / 64 * 64);
    if (!c->in || !c->out || !c->expected)
        return 0;
    c->call = (hsumma_coll){.collective = collective,
                            .in = collective == HSUMMA_BCAST ? NULL : c->in,
                            .out = c->out,
                            .count = (int64_t)((has_parts(collective) ? part : (size_t)bytes) / c->element.size),
                            .size = c->element.size,
                            .op = {.op = HSUMMA_SUM, .element = args->element},
                            .root = args->root};
    write_numbers(c, c->rank, 0, c->in, c->in_bytes);
    expect(c);
    return 1;
}

void coll_case_free(coll_case *c)
{
    struct hs_device *device = c->ctx ? c->ctx->device : NULL;

    if (device) {
        hsumma_mfree(c->ctx, c->there_in);
        hsumma_mfree(c->ctx, c->there_out);
        device->kind->put_pinned(device, c->in);
        device->kind->put_pinned(device, c->out);
    } else {
        free(c->in);
        free(c->out);
    }
    free(c->expected);
    c->in = c->out = c->expected = NULL;
    c->there_in = c->there_out = c->ctx = NULL;
}

const char *coll_case_place(coll_case *c, hsumma_context *ctx)
{
    struct hs_device *device = ctx->device;
    unsigned char **ours[2] = {&c->in, &c->out};
    size_t bytes[2] = {c->in_bytes, c->out_bytes};
    hsumma_status status = HSUMMA_OK;

    free(c->in);
    free(c->out);
    c->in = c->out = NULL;
    c->ctx = ctx;
    for (int i = 0; i < 2 && !status; i++) { /* pinned, so that MPI's contender has the fastest copies */
        void *pinned = NULL;

        status = device->kind->get_pinned(device, bytes[i] + 1, &pinned);
        *ours[i] = pinned;
    }
    if (status) /* still call hsumma_malloc, which is collective */
        bytes[0] = bytes[1] = 0;
    hsumma_status first = hsumma_malloc(ctx, bytes[0], &c->there_in),
                  second = hsumma_malloc(ctx, bytes[1], &c->there_out);
    if (status || first || second)
        return status ? device->message.text : hsumma_message(ctx);
    c->call.in = c->call.in ? c->there_in : NULL;
    c->call.out = c->there_out;
    write_numbers(c, c->rank, 0, c->in, c->in_bytes);
    return hsumma_copy(ctx, c->there_in, c->in, c->in_bytes) ? hsumma_message(ctx) : NULL;
}

void coll_case_reset(coll_case *c)
{
    memset(c->out, 0xff, c->out_bytes);
    if (c->call.collective == HSUMMA_BCAST && c->rank == c->call.root)
        memcpy(c->out, c->in, c->out_bytes);
    if (c->ctx)
        hsumma_copy(c->ctx, c->there_out, c->out, c->out_bytes);
}

/* Copies the result from a device to host memory; if that fails, the result counts as wrong. */
static void fetch(coll_case *c)
{
    if (!c->ctx)
        return;
    memset(c->out, 0xff, c->out_bytes);
    hsumma_copy(c->ctx, c->out, c->there_out, c->out_bytes);
}

int coll_case_right(coll_case *c)
{
    fetch(c);
    return !memcmp(c->out, c->expected, c->out_bytes);
}

static void tell_device(coll_case *c)
{
    if (c->ctx)
        hsumma_copy(c->ctx, c->there_in, c->in, c->in_bytes);
}

void coll_case_roughen(coll_case *c)
{
    size_t size = c->element.part;

    for (size_t i = 0; i < c->in_bytes / size; i++) {
        uint64_t h = hs_scrambled((uint64_t)c->rank << 40 ^ i);
        float narrow = (float)(h >> 40) * 0x1p-24f - 0.5f;
        double wide = (double)(h >> 11) * 0x1p-53 - 0.5;
        const void *number = c->element.is_integer ? (void *)&h : size == 4 ? (void *)&narrow : (void *)&wide;

        memcpy(c->in + i * size, number, size);
    }
    tell_device(c);
}

void coll_case_smooth(coll_case *c)
{
    write_numbers(c, c->rank, 0, c->in, c->in_bytes);
    tell_device(c);
}

uint64_t coll_case_bits(coll_case *c)
{
    uint64_t bits = hs_scrambled(c->out_bytes);

    fetch(c);
    for (size_t at = 0; at < c->out_bytes; at += sizeof bits) {
        uint64_t word = 0;

        memcpy(&word, c->out + at, c->out_bytes - at < sizeof word ? c->out_bytes - at : sizeof word);
        bits = hs_scrambled(bits ^ word);
    }
    return bits;
}

static int call_mpi(const coll_case *c)
{
    int count = (int)c->call.count;

    switch (c->call.collective) {
    case HSUMMA_BCAST:
        return MPI_Bcast(c->out, count, c->element.type, c->call.root, c->comm);
    case HSUMMA_REDUCE:
        return MPI_Reduce(c->in, c->out, count, c->element.type, MPI_SUM, c->call.root, c->comm);
    case HSUMMA_ALLREDUCE:
        return MPI_Allreduce(c->in, c->out, count, c->element.type, MPI_SUM, c->comm);
    case HSUMMA_ALLGATHER:
        return MPI_Allgather(c->in, count, c->element.type, c->out, count, c->element.type, c->comm);
    default:
        return MPI_Reduce_scatter_block(c->in, c->out, count, c->element.type, MPI_SUM, c->comm);
    }
}

int coll_case_mpi(const coll_case *c)
{
    int is_bcast = c->call.collective == HSUMMA_BCAST, is_root = c->rank == c->call.root, error;

    if (!c->ctx)
        return call_mpi(c);
    if (is_bcast && is_root && hsumma_copy(c->ctx, c->out, c->there_out, c->out_bytes))
        return MPI_ERR_OTHER;
    if (!is_bcast && hsumma_copy(c->ctx, c->in, c->there_in, c->in_bytes))
        return MPI_ERR_OTHER;
    error = call_mpi(c);
    if (error || (is_bcast && is_root))
        return error;
    return hsumma_copy(c->ctx, c->there_out, c->out, c->out_bytes) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

const char *coll_case_mpi_name(const coll_case *c)
{
    static const char *const names[] = {"MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Allgather",
                                        "MPI_Reduce_scatter_block"};

    return names[c->call.collective];
}
