/* Reads the file of the option trace: JSON in Chrome's trace event format. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static int64_t integer_of(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* The kind of an event; -1 if the event is ignored. */
static int kind_of(const json_t *event, const json_t *args)
{
    static const struct {
        const char *category;
        trace_kind kind;
    } kinds[] = {{"gemm", TRACE_GEMM}, {"copy", TRACE_COPY}, {"wait", TRACE_WAIT}, {"product", TRACE_PRODUCT}};
    const char *category = text_of(event, "cat"), *way = text_of(args, "kind");

    if (strcmp(text_of(event, "ph"), "X"))
        return -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(category, kinds[i].category))
            return (int)kinds[i].kind;
    if (strcmp(category, "message"))
        return -1;
    return !strcmp(way, "send") ? TRACE_SEND : !strcmp(way, "receive") ? TRACE_RECEIVE : -1;
}

/* Records an event; returns 0 if its rank, node, peer or times are invalid. */
static int take(trace_file *trace, const json_t *event)
{
    const json_t *args = json_object_get(event, "args");
    int64_t thread = integer_of(event, "tid", -1), node = integer_of(event, "pid", 0);
    int kind = kind_of(event, args), rank = (int)(thread % trace->ranks);
    double begin = number_of(event, "ts") * 1e-6;

    if (thread < 0 || node < 0 || node >= trace->ranks)
        return 0;
    trace->rank[rank].node = (int)node;
    if (thread < trace->ranks && !strcmp(text_of(event, "name"), "thread_name"))
        trace->rank[rank].lost = strstr(text_of(args, "name"), "lost") != NULL;
    if (kind < 0)
        return 1;
    trace_span *span = &trace->span[trace->spans++];
    *span =
        (trace_span){.kind = (trace_kind)kind,
                     .rank = rank,
                     .peer = (int)integer_of(args, "peer", -1),
                     .begin = begin,
                     .end = begin + number_of(event, "dur") * 1e-6,
                     .bytes = integer_of(args, "bytes", 0),
                     .panel = integer_of(args, "panel", -1),
                     .predicted = {number_of(args, "predicted_us") * 1e-6, number_of(args, "predicted_gemm_us") * 1e-6,
                                   number_of(args, "predicted_copy_us") * 1e-6}};
    snprintf(span->what, sizeof span->what, "%s", text_of(args, "what"));
    snprintf(span->awaited, sizeof span->awaited, "%s", text_of(args, "awaited"));
    return span->end >= span->begin && span->peer >= -1 && span->peer < trace->ranks;
}

static int by_begin(const void *left, const void *right)
{
    const trace_span *a = left, *b = right;

    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Finds the wanted product and sets the time interval to examine; returns 0 if there is no such product. Products are
 * counted back from the last, which all ranks have, because a full ring loses its first entries. */
static int find_product(trace_file *trace, int64_t wanted)
{
    int *count = calloc((size_t)trace->ranks, sizeof *count), most = 0, found = 0;

    for (int i = 0; count && i < trace->spans; i++)
        if (trace->span[i].kind == TRACE_PRODUCT && ++count[trace->span[i].rank] > most)
            most = count[trace->span[i].rank];
    trace->products = most;
    trace->product = wanted < 0 || most == 0 ? 0 : wanted == 0 ? most : wanted > most ? -1 : (int)wanted;
    for (int i = 0; count && i < trace->spans; i++) {
        const trace_span *span = &trace->span[i];
        int number = 0;

        if (span->kind == TRACE_PRODUCT) /* numbered from the end, by this rank's remaining products */
            number = most - --count[span->rank];
        if (trace->product < 0 || (trace->product > 0 && number != trace->product))
            continue;
        if (!found || span->begin < trace->begin)
            trace->begin = span->begin;
        if (!found || span->end > trace->end)
            trace->end = span->end;
        if (span->kind == TRACE_PRODUCT && trace->product > 0)
            memcpy(trace->predicted, span->predicted, sizeof trace->predicted);
        found = 1;
    }
    free(count);
    return found && trace->product >= 0;
}

static int read_events(trace_file *trace, const json_t *file)
{
    const json_t *events = json_object_get(file, "traceEvents"), *other = json_object_get(file, "otherData"), *event;
    int64_t ranks = integer_of(other, "ranks", 0);
    size_t i;

    if (!json_is_array(events) || !text_of(other, "hsumma")[0] || ranks < 1 || ranks > INT32_MAX / 2)
        return 0;
    trace->ranks = (int)ranks;
    trace->clock_error = number_of(other, "clock_error_us") * 1e-6;
    trace->lost = integer_of(other, "lost", 0);
    trace->rank = calloc((size_t)ranks, sizeof *trace->rank);
    trace->span = calloc(json_array_size(events) + 1, sizeof *trace->span);
    if (!trace->rank || !trace->span)
        return 0;
    json_array_foreach(events, i, event) if (!take(trace, event)) return 0;
    for (int r = 0; r < trace->ranks; r++) {
        trace->rank[r].rank = r;
        if (trace->rank[r].node >= trace->nodes)
            trace->nodes = trace->rank[r].node + 1;
    }
    qsort(trace->span, (size_t)trace->spans, sizeof *trace->span, by_begin);
    return 1;
}

int trace_read(trace_file *trace, const trace_arguments *args, char *error, size_t size)
{
    json_error_t why;
    json_t *file = json_load_file(args->path, 0, &why);
    int good = file && read_events(trace, file);

    if (!file)
        snprintf(error, size, "%s: %s", args->path, why.text);
    else if (!good)
        snprintf(error, size, "%s: not a timeline; expected a file written by the option trace", args->path);
    json_decref(file);
    if (good && !find_product(trace, args->product)) {
        good = 0;
        snprintf(error, size, "%s: there is no product %lld; expected 1 to %d, last or all", args->path,
                 (long long)args->product, trace->products);
        if (trace->spans == 0)
            snprintf(error, size, "%s: the timeline is empty", args->path);
    }
    if (good && trace_sum(trace)) {
        good = 0;
        snprintf(error, size, "no memory to read %s", args->path);
    }
    return good ? 0 : -1;
}

void trace_free(trace_file *trace)
{
    free(trace->span);
    free(trace->rank);
    free(trace->by_rank);
    free(trace->by_node);
    free(trace->entering);
}
