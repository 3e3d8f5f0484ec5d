#include "coll/node/tags.h"
#include "coll/schedule/registry.h"
#include "hsumma/trace/trace_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024, MESSAGES = 0, CALLS = 1 };

static void flush(struct hs_trace_text *text)
{
    if (!text->status)
        text->status = hs_new_file_write(text->file, text->buffer, text->used, text->message);
    text->used = 0;
}

__attribute__((format(printf, 2, 3))) static void add(struct hs_trace_text *text, const char *format, ...)
{
    va_list args;
    if (text->used + LINE_BYTES > HS_TRACE_TEXT)
        flush(text);
    va_start(args, format);
    int length = vsnprintf(text->buffer + text->used, LINE_BYTES, format, args);
    va_end(args);
    text->used += length < 0 ? 0 : length < LINE_BYTES ? (size_t)length : LINE_BYTES - 1;
}

/* Begins an event on a new line, after a comma if it is not the first. */
static void event(struct hs_trace_text *text, const char *phase, int thread, const char *category, const char *name)
{
    add(text, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"cat\":\"%s\",\"name\":\"%s\"", text->lines++ ? ",\n" : "",
        phase, text->node, thread, category, name);
}

static void name_thread(struct hs_trace_text *text, int thread, int place, const char *name)
{
    event(text, "M", thread, "", "thread_name");
    add(text, ",\"args\":{\"name\":\"%s\"}}", name);
    event(text, "M", thread, "", "thread_sort_index");
    add(text, ",\"args\":{\"sort_index\":%" PRId64 "}}", (int64_t)text->rank * (2 * HS_TRACE_LANES + 1) + place);
}

/* Microseconds since rank 0 created its timeline, on the clock of rank 0. */
static double microseconds(const struct hs_trace_text *text, double time)
{
    return (time - text->shift - text->zero) * 1e6;
}

/* The first free thread for a message or a call; the last thread if none is free. */
static int thread_for(struct hs_trace_text *text, int kind, const struct hs_trace_entry *entry)
{
    char name[64];
    int lane = 0;
    while (lane < HS_TRACE_LANES - 1 && text->busy[kind][lane] > entry->begin)
        lane++;
    int place = 1 + kind * HS_TRACE_LANES + lane, thread = text->ranks * place + text->rank;
    if (text->busy[kind][lane] == 0) {
        snprintf(name, sizeof name, "rank %d %s %d", text->rank, kind == CALLS ? "calls" : "messages", lane + 1);
        name_thread(text, thread, place, name);
    }
    text->busy[kind][lane] = entry->end;
    return thread;
}

/* The data of a message, of work or of a wait, from the operand or tag: "A", "B", "C", "agreement", "call" or "" if
 * unknown. */
static const char *carried(const struct hs_trace_entry *entry)
{
    static const char *const operands[] = {"A", "B", "C"};
    int channel = entry->tag / HS_INSTANCES, operand = entry->operand;
    if (operand < 0 && entry->tag >= 0)
        operand = channel / HS_CHANNELS_OF_OPERAND;
    if (operand >= 0 && operand < 3)
        return operands[operand];
    return entry->tag < 0 ? "" : channel == HS_CHANNEL_AGREE ? "agreement" : "call";
}

static void put_message(struct hs_trace_text *text, const struct hs_trace_entry *entry, double begin, double end)
{
    const char *what = carried(entry);
    int thread = thread_for(text, MESSAGES, entry), channel = entry->tag / HS_INSTANCES;
    int sends = entry->kind == HS_TRACE_SEND;
    char name[64];
    snprintf(name, sizeof name, "%s %s", sends ? "send" : entry->kind == HS_TRACE_RECEIVE ? "receive" : "MPI", what);
    event(text, "X", thread, "message", name);
    add(text, ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"kind\":\"%.*s\",\"what\":\"%s\",\"bytes\":%" PRId64, begin,
        end - begin, (int)strcspn(name, " "), name, what, entry->amount);
    if (channel < HS_CHANNEL_COLL)
        add(text, ",\"level\":%d", channel % HS_CHANNELS_OF_OPERAND - 1);
    add(text, ",\"panel\":%d,\"peer\":%d}}", entry->tag % HS_INSTANCES, entry->peer);
    if (entry->kind == HS_TRACE_MPI)
        return;
    event(text, sends ? "s" : "f", thread, "message", what);
    add(text, ",\"ts\":%.3f,\"bp\":\"e\",\"id\":\"%d-%d-%d-%d\"}", sends || end - begin < 0.002 ? begin : end - 0.001,
        sends ? text->rank : entry->peer, sends ? entry->peer : text->rank, entry->tag, entry->panel);
}

static void put_call(struct hs_trace_text *text, const struct hs_trace_entry *entry, double begin, double end)
{
    event(text, "X", thread_for(text, CALLS, entry), "call", hs_collective_name((enum hs_collective)entry->operand));
    add(text, ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"bytes\":%" PRId64 "}}", begin, end - begin, entry->amount);
}

static void put_wait(struct hs_trace_text *text, const struct hs_trace_entry *entry, double begin, double end)
{
    static const struct {
        const char *awaited, *name;
    } causes[] = {[HS_CAUSE_START] = {"start", "for all to begin"},
                  [HS_CAUSE_DATA] = {"data", "for "},
                  [HS_CAUSE_ROOM] = {"room", "for room for "},
                  [HS_CAUSE_SENT] = {"sent", "for sends of "},
                  [HS_CAUSE_CALL] = {"call", "in a call"}};
    const char *what = carried(entry);
    char name[64];
    snprintf(name, sizeof name, "wait %s%s", causes[(int)entry->cause].name,
             entry->cause == HS_CAUSE_START || entry->cause == HS_CAUSE_CALL ? ""
             : what[0]                                                       ? what
                                                                             : "panels");
    event(text, "X", text->rank, "wait", name);
    add(text, ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"awaited\":\"%s\",\"what\":\"%s\",\"panel\":%d,\"peer\":%d}}",
        begin, end - begin, causes[(int)entry->cause].awaited, what, entry->panel, entry->peer);
}

static void put_product(struct hs_trace_text *text, const struct hs_trace_entry *entry, double begin, double end)
{
    const float *predicted = entry->predicted;
    event(text, "X", text->rank, "product", "product");
    add(text,
        ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"flops\":%" PRId64
        ",\"predicted_us\":%.3f,\"predicted_gemm_us\":%.3f,\"predicted_copy_us\":%.3f}}",
        begin, end - begin, entry->amount, predicted[0] * 1e6, predicted[1] * 1e6, predicted[2] * 1e6);
}

/* Writes a GEMM, copy or sum of the current rank (text->rank). */
static void put_work(struct hs_trace_text *text, const struct hs_trace_entry *entry, double begin, double end)
{
    static const char *const names[][2] = {
        [HS_TRACE_GEMM] = {"gemm", "GEMM"}, [HS_TRACE_COPY] = {"copy", "copy"}, [HS_TRACE_SUM] = {"copy", "sum"}};
    const char *what = carried(entry);
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", names[(int)entry->kind][1], what[0] ? " " : "", what);
    event(text, "X", text->rank, names[(int)entry->kind][0], name);
    add(text, ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"what\":\"%s\",\"panel\":%d,\"%s\":%" PRId64 "}}", begin,
        end - begin, what, entry->panel, entry->kind == HS_TRACE_GEMM ? "flops" : "bytes", entry->amount);
}

void hs_trace_text_begin(struct hs_trace_text *text)
{
    add(text, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
}

void hs_trace_text_rank(struct hs_trace_text *text, int rank, int node, double shift, uint64_t lost)
{
    char name[96];
    text->rank = rank;
    text->node = node;
    text->shift = shift;
    memset(text->busy, 0, sizeof text->busy);
    event(text, "M", rank, "", "process_name");
    add(text, ",\"args\":{\"name\":\"node %d\"}}", node);
    int length = snprintf(name, sizeof name, "rank %d", rank);
    if (lost)
        snprintf(name + length, sizeof name - (size_t)length, " (the first %" PRIu64 " entries are lost)", lost);
    name_thread(text, rank, 0, name);
}

void hs_trace_text_entry(struct hs_trace_text *text, const struct hs_trace_entry *entry)
{
    double begin = microseconds(text, entry->begin), end = microseconds(text, entry->end);
    if (entry->end < entry->begin) /* the entry is still open */
        return;
    if (entry->kind >= HS_TRACE_SEND)
        put_message(text, entry, begin, end);
    else if (entry->kind == HS_TRACE_WAIT)
        put_wait(text, entry, begin, end);
    else if (entry->kind == HS_TRACE_CALL)
        put_call(text, entry, begin, end);
    else if (entry->kind == HS_TRACE_PRODUCT)
        put_product(text, entry, begin, end);
    else
        put_work(text, entry, begin, end);
}

void hs_trace_text_end(struct hs_trace_text *text, double error, uint64_t lost)
{
    add(text,
        "\n],\"otherData\":{\"hsumma\":\"%d.%d.%d\",\"ranks\":%d,\"clock_error_us\":%.3f,\"lost\":%" PRIu64 "}}\n",
        HSUMMA_VERSION_MAJOR, HSUMMA_VERSION_MINOR, HSUMMA_VERSION_PATCH, text->ranks, error * 1e6, lost);
    flush(text);
}
