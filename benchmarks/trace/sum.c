/* Sums up what each rank does in the examined interval, and for which ranks it waits. */
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

/* The seconds of a span that lie inside the examined interval. */
static double seconds_inside(const trace_file *trace, const trace_span *span)
{
    double begin = span->begin > trace->begin ? span->begin : trace->begin;
    double end = span->end < trace->end ? span->end : trace->end;

    return end > begin ? end - begin : 0;
}

/* The last rank to begin a product during a wait; -1: none. */
static int last_to_begin(const trace_file *trace, const trace_span *wait)
{
    int last = -1;

    for (int i = 0; i < trace->spans; i++) {
        const trace_span *span = &trace->span[i];

        if (span->begin > wait->end)
            break;
        if (span->kind == TRACE_PRODUCT && span->begin > wait->begin)
            last = span->rank;
    }
    return last;
}

/* Adds a span to the tenths of the time: a message from another node to the tenth in which it completes; a GEMM to all
 * that it overlaps. */
static void add_course(trace_file *trace, const trace_span *span)
{
    double tenth = (trace->end - trace->begin) / TRACE_TENTHS;
    int node = trace->rank[span->rank].node, at = tenth > 0 ? (int)((span->end - trace->begin) / tenth) : 0;

    if (span->kind == TRACE_RECEIVE && span->peer >= 0 && trace->rank[span->peer].node != node && tenth > 0 &&
        span->end >= trace->begin && span->end <= trace->end)
        trace->entering[node].tenth[at < TRACE_TENTHS ? at : TRACE_TENTHS - 1] += (double)span->bytes / tenth;
    for (int i = 0; span->kind == TRACE_GEMM && tenth > 0 && i < TRACE_TENTHS; i++) {
        double begin = trace->begin + i * tenth, end = begin + tenth;

        begin = span->begin > begin ? span->begin : begin;
        end = span->end < end ? span->end : end;
        trace->multiplying.tenth[i] += end > begin ? (end - begin) / tenth : 0;
    }
}

static int same_debt(const trace_debt *a, const trace_debt *b)
{
    return a->waiter == b->waiter && a->waiter_node == b->waiter_node && a->peer == b->peer &&
           a->peer_node == b->peer_node && !strcmp(a->what, b->what) && !strcmp(a->awaited, b->awaited);
}

static void owe(trace_debt *list, int *count, const trace_debt *more)
{
    int i = 0;

    while (i < *count && !same_debt(&list[i], more))
        i++;
    if (i == *count)
        list[(*count)++] = *more;
    else {
        list[i].seconds += more->seconds;
        list[i].times++;
    }
}

static int longest_first(const void *left, const void *right)
{
    const trace_debt *a = left, *b = right;

    if (a->waiter != b->waiter)
        return a->waiter < b->waiter ? -1 : 1;
    return a->seconds > b->seconds ? -1 : a->seconds < b->seconds;
}

static void add_wait(trace_file *trace, const trace_span *span, double seconds)
{
    int begins = !strcmp(span->awaited, "start"), peer = begins ? last_to_begin(trace, span) : span->peer;
    trace_debt debt = {.waiter = span->rank,
                       .waiter_node = trace->rank[span->rank].node,
                       .peer = peer,
                       .peer_node = peer < 0 ? -1 : trace->rank[peer].node,
                       .seconds = seconds,
                       .times = 1};

    memcpy(debt.what, span->what, sizeof debt.what);
    memcpy(debt.awaited, span->awaited, sizeof debt.awaited);
    owe(trace->by_rank, &trace->rank_debts, &debt);
    debt.waiter = debt.peer = -1;
    owe(trace->by_node, &trace->node_debts, &debt);
}

int trace_sum(trace_file *trace)
{
    int waits = 1;

    for (int i = 0; i < trace->spans; i++)
        waits += trace->span[i].kind == TRACE_WAIT;
    trace->by_rank = calloc((size_t)waits, sizeof *trace->by_rank);
    trace->by_node = calloc((size_t)waits, sizeof *trace->by_node);
    trace->entering = calloc((size_t)trace->nodes, sizeof *trace->entering);
    if (!trace->by_rank || !trace->by_node || !trace->entering)
        return -1;
    for (int i = 0; i < trace->spans; i++) {
        const trace_span *span = &trace->span[i];
        trace_rank *rank = &trace->rank[span->rank];
        double seconds = seconds_inside(trace, span);

        add_course(trace, span);
        if (span->kind == TRACE_SEND) {
            int inside = span->begin >= trace->begin && span->begin <= trace->end;

            rank->sent += inside ? span->bytes : 0;
            rank->messages += inside;
        } else if (span->kind == TRACE_PRODUCT)
            rank->all += seconds;
        else if (span->kind == TRACE_GEMM)
            rank->gemm += seconds;
        else if (span->kind == TRACE_COPY)
            rank->copy += seconds;
        else if (span->kind == TRACE_WAIT && seconds > 0) {
            rank->wait += seconds;
            add_wait(trace, span, seconds);
        }
    }
    for (int r = 0; r < trace->ranks; r++) {
        trace_rank *rank = &trace->rank[r];

        if (trace->products == 0)
            rank->all = trace->end - trace->begin;
        rank->rest = rank->all - rank->gemm - rank->copy - rank->wait;
        if (rank->rest < 0) /* copies and waits outside products are not part of `all` */
            rank->rest = 0;
    }
    qsort(trace->by_rank, (size_t)trace->rank_debts, sizeof *trace->by_rank, longest_first);
    qsort(trace->by_node, (size_t)trace->node_debts, sizeof *trace->by_node, longest_first);
    return 0;
}

void trace_say(const char *awaited, const char *what, char *text, size_t size)
{
    const char *of = what[0] ? what : "panels";

    if (!strcmp(awaited, "data"))
        snprintf(text, size, "%s", of);
    else if (!strcmp(awaited, "room"))
        snprintf(text, size, "room for %s", of);
    else if (!strcmp(awaited, "sent"))
        snprintf(text, size, "a send of %s", of);
    else if (!strcmp(awaited, "start"))
        snprintf(text, size, "the start");
    else
        snprintf(text, size, "a call");
}
