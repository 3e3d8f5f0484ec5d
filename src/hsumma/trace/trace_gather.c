#include "base/simulator.h"
#include "coll/node/agree_mpi.h"
#include "coll/node/tags.h"
#include "hsumma/trace/trace_file.h"

#include <stdlib.h>
#include <string.h>

enum { TRIPS = 8, CHUNK = 1024 }; /* round trips to measure a clock; entries per message */

struct header {
    uint64_t entries, lost;
};

/* The result that process 0 broadcasts. */
struct told {
    hsumma_status status;
    struct hs_message message;
};

/* Waits for a request: in a simulator inside MPI, because time passes only in MPI calls. */
static hsumma_status await(hsumma_context *ctx, MPI_Request *request, int code)
{
    if (code == MPI_SUCCESS && !hs_simulator())
        return hs_team_await(&ctx->team, request);
    return code == MPI_SUCCESS && MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS ? HSUMMA_OK : HSUMMA_ERR_MPI;
}

/* Sends data, or receives it into `into`, by a copy, which is not freed if the wait fails: MPI may still access it. */
static hsumma_status exchange(hsumma_context *ctx, const void *data, void *into, size_t bytes, int peer)
{
    const int tag = hs_tag(HS_CHANNEL_AGREE, HS_TRACE);
    MPI_Request request;
    void *copy = hs_get(&ctx->memory, bytes, 1);
    if (!copy)
        return HSUMMA_ERR_MEMORY;
    if (data)
        memcpy(copy, data, bytes);
    hsumma_status status = await(ctx, &request,
                                 data ? MPI_Isend(copy, (int)bytes, MPI_BYTE, peer, tag, ctx->comm.comm, &request)
                                      : MPI_Irecv(copy, (int)bytes, MPI_BYTE, peer, tag, ctx->comm.comm, &request));
    if (!status && into)
        memcpy(into, copy, bytes);
    if (status)
        hs_keep(copy);
    else
        hs_put(&ctx->memory, copy);
    return status;
}

static hsumma_status transmit(hsumma_context *ctx, const void *data, size_t bytes, int to)
{
    return exchange(ctx, data, NULL, bytes, to);
}

static hsumma_status receive(hsumma_context *ctx, void *data, size_t bytes, int from)
{
    return exchange(ctx, NULL, data, bytes, from);
}

/* Broadcasts process 0's status and message; returns that status, or HSUMMA_ERR_MPI. */
static hsumma_status tell(hsumma_context *ctx, hsumma_status status)
{
    struct told told = {.status = status, .message = ctx->message};
    hsumma_status sent = HSUMMA_OK;
    if (ctx->comm.rank != 0)
        sent = receive(ctx, &told, sizeof told, 0);
    for (int r = 1; !sent && ctx->comm.rank == 0 && r < ctx->comm.size; r++)
        sent = transmit(ctx, &told, sizeof told, r);
    if (sent)
        return hs_fail(&ctx->message, sent, "trace: MPI failed, so no timeline is written");
    return told.status ? hs_fail(&ctx->message, told.status, "%s", told.message.text) : HSUMMA_OK;
}

hsumma_status hs_trace_open(hsumma_context *ctx)
{
    struct hs_trace *trace = &ctx->timeline;
    trace->rank_of_mate = ctx->comm.mates.rank;
    ctx->comm.trace = trace;
    if (strcmp(ctx->texts.trace, "none") == 0)
        return HSUMMA_OK;
    hsumma_status status =
        tell(ctx, ctx->comm.rank == 0 ? hs_new_file_try("trace: ", ctx->texts.trace, &ctx->message) : HSUMMA_OK);
    if (status)
        return status;
    status = hs_agreed(ctx->comm.comm, hs_trace_make(trace, &ctx->memory), ctx->comm.watch);
    if (!status)
        return HSUMMA_OK;
    hs_trace_free(trace, &ctx->memory);
    return hs_fail(&ctx->message, status, "trace: cannot make the timeline: %s", hsumma_status_string(status));
}

static int is_message(const struct hs_trace_entry *entry)
{
    return entry->kind == HS_TRACE_SEND || entry->kind == HS_TRACE_RECEIVE;
}

/* Orders entries: messages last, by direction, peer and tag, and if these are equal the latest first. */
static int by_message(const void *left, const void *right)
{
    const struct hs_trace_entry *a = left, *b = right;
    if (is_message(a) != is_message(b))
        return is_message(a) - is_message(b);
    if (a->kind != b->kind)
        return a->kind - b->kind;
    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return a->order > b->order ? -1 : 1;
}

/* Orders entries by their beginning; on a tie the longer entry is first. */
static int by_begin(const void *left, const void *right)
{
    const struct hs_trace_entry *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/*
 * Sorts the ring.  Messages of a pair and tag are numbered backwards from the last one, so a message has the same
 * number on both sides, even if one side has lost more entries.
 */
static void put_in_order(struct hs_trace *trace)
{
    struct hs_trace_entry *entry = trace->ring;
    if (trace->count > HS_TRACE_ENTRIES) {
        trace->lost += trace->count - HS_TRACE_ENTRIES;
        trace->count = HS_TRACE_ENTRIES; /* after sorting, index 0 is the oldest, to be overwritten next */
    }
    size_t count = (size_t)trace->count;
    qsort(entry, count, sizeof *entry, by_message);
    for (size_t i = 0; i < count; i++) {
        int follows = i > 0 && entry[i].kind == entry[i - 1].kind && entry[i].peer == entry[i - 1].peer &&
                      entry[i].tag == entry[i - 1].tag;
        if (is_message(&entry[i]))
            entry[i].panel = follows ? entry[i - 1].panel + 1 : 0;
    }
    qsort(entry, count, sizeof *entry, by_begin);
}

/* Measures by how many seconds another process's clock is ahead of this process's, by the fastest of several round
 * trips. */
static hsumma_status read_clock(hsumma_context *ctx, int rank, double *shift, double *error)
{
    double theirs;
    *error = -1;
    for (int i = 0; i < TRIPS; i++) {
        double begin = hs_now();
        hsumma_status status = transmit(ctx, &begin, sizeof begin, rank);
        if (!status)
            status = receive(ctx, &theirs, sizeof theirs, rank);
        if (status)
            return status;
        double half = (hs_now() - begin) / 2;
        if (*error < 0 || half < *error) {
            *error = half;
            *shift = theirs - begin - half;
        }
    }
    if (*shift < *error && -*shift < *error) /* no difference was measured, as between processes of one machine */
        *shift = 0;
    return HSUMMA_OK;
}

/* Shows process 0 this process's clock, and sends it the entries. */
static hsumma_status give(hsumma_context *ctx, const struct hs_trace *trace)
{
    struct header header = {trace->count, trace->lost};
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; !status && i < TRIPS; i++) {
        double theirs;
        status = receive(ctx, &theirs, sizeof theirs, 0);
        const double mine = hs_now();
        if (!status)
            status = transmit(ctx, &mine, sizeof mine, 0);
    }
    if (!status)
        status = transmit(ctx, &header, sizeof header, 0);
    for (uint64_t at = 0; !status && at < header.entries; at += CHUNK) {
        uint64_t count = header.entries - at < CHUNK ? header.entries - at : CHUNK;
        status = transmit(ctx, &trace->ring[at], count * sizeof *trace->ring, 0);
    }
    return status;
}

/* Writes the entries of a rank to the file; receives them first if the rank is not this process. */
static hsumma_status take(hsumma_context *ctx, int rank, struct hs_trace_entry *chunk, struct hs_trace_text *text,
                          double *error, uint64_t *lost)
{
    const struct hs_topology *topology = &ctx->comm.topology;
    double shift = 0, uncertain = 0;
    struct header header = {ctx->comm.trace->count, ctx->comm.trace->lost};
    hsumma_status status = rank ? read_clock(ctx, rank, &shift, &uncertain) : HSUMMA_OK;
    if (!status && rank)
        status = receive(ctx, &header, sizeof header, rank);
    if (!status)
        hs_trace_text_rank(text, rank, topology->size ? hs_part_of(&topology->division[HS_NODE], rank) : 0, shift,
                           header.lost);
    for (uint64_t at = 0; !status && at < header.entries; at += CHUNK) {
        uint64_t count = header.entries - at < CHUNK ? header.entries - at : CHUNK;
        const struct hs_trace_entry *entry = rank ? chunk : &ctx->comm.trace->ring[at];
        if (rank)
            status = receive(ctx, chunk, count * sizeof *chunk, rank);
        for (uint64_t i = 0; !status && i < count; i++)
            hs_trace_text_entry(text, &entry[i]);
    }
    *error = uncertain > *error ? uncertain : *error;
    *lost += header.lost;
    return status;
}

/* On process 0: gathers all entries and writes the file.  The other processes send in any case; an error of the file is
 * returned at the end. */
static hsumma_status collect(hsumma_context *ctx, struct hs_trace_entry *chunk, char *buffer)
{
    struct hs_new_file file;
    struct hs_trace_text text = {.file = &file,
                                 .buffer = buffer,
                                 .ranks = ctx->comm.size,
                                 .zero = ctx->comm.trace->made,
                                 .message = &ctx->message};
    double error = 0;
    uint64_t lost = 0;
    hsumma_status status = HSUMMA_OK;
    text.status = hs_new_file_find(&file, "trace: ", ctx->texts.trace, &ctx->message);
    if (!text.status)
        text.status = hs_new_file_open(&file, &ctx->message);
    hs_trace_text_begin(&text);
    for (int r = 0; !status && r < ctx->comm.size; r++)
        status = take(ctx, r, chunk, &text, &error, &lost);
    hs_trace_text_end(&text, error, lost);
    return hs_new_file_end(&file, status ? status : text.status, &ctx->message);
}

hsumma_status hs_trace_write(hsumma_context *ctx)
{
    struct hs_trace *trace = ctx->comm.trace;
    struct hs_trace_entry *chunk = NULL;
    char *buffer = NULL;
    int reads = ctx->comm.rank == 0;
    if (!hs_trace_records(trace))
        return HSUMMA_OK;
    struct hs_vote mine = {.value = trace->count + trace->lost != trace->written || !trace->written};
    if (ctx->running || ctx->team.first)
        mine.status = HSUMMA_ERR_BUSY;
    if (reads && ((chunk = hs_get(&ctx->memory, CHUNK, sizeof *chunk)) == NULL ||
                  (buffer = hs_get(&ctx->memory, HS_TRACE_TEXT, 1)) == NULL))
        mine.status = HSUMMA_ERR_MEMORY;
    ctx->comm.trace = NULL; /* the following messages are not part of the timeline */
    struct hs_verdict verdict = hs_agree(&ctx->agreement, mine);
    ctx->comm.trace = trace;
    hsumma_status status = verdict.status;
    if (status == HSUMMA_ERR_BUSY)
        hs_fail(&ctx->message, status,
                "trace: a plan or call of this context is not complete on rank %d; complete it first", verdict.rank);
    else if (status)
        hs_fail(&ctx->message, status, "trace: %s", hsumma_status_string(status));
    if (!status && verdict.value) {
        put_in_order(trace);
        trace->written = trace->count + trace->lost;
        status = reads ? collect(ctx, chunk, buffer) : give(ctx, trace);
        status = hs_status_is_final(status)
                     ? hs_fail(&ctx->message, status, "trace: MPI failed, so no timeline is written")
                     : tell(ctx, status);
    }
    hs_put(&ctx->memory, chunk);
    hs_put(&ctx->memory, buffer);
    return status;
}
