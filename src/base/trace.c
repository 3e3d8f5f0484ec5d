#include "base/trace.h"

hsumma_status hs_trace_make(struct hs_trace *trace, const struct hs_allocator *memory)
{
    /* Zeroed, so that its pages are allocated now. */
    trace->ring = hs_get_zero(memory, HS_TRACE_ENTRIES, sizeof *trace->ring);
    trace->notes = trace->ring != NULL;
    trace->made = hs_now();
    return trace->ring ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

void hs_trace_free(struct hs_trace *trace, const struct hs_allocator *memory)
{
    hs_put(memory, trace->ring);
    trace->ring = NULL;
    trace->notes = 0;
}

int64_t hs_trace_put(struct hs_trace *trace, const struct hs_trace_entry *entry)
{
    struct hs_trace_entry *at = &trace->ring[trace->count % HS_TRACE_ENTRIES];
    *at = *entry;
    at->order = trace->order++;
    return (int64_t)trace->count++;
}

static int alike(const struct hs_trace_entry *a, const struct hs_trace_entry *b)
{
    return a->kind == b->kind && a->operand == b->operand && a->panel == b->panel && a->peer == b->peer;
}

void hs_trace_put_work(struct hs_trace *trace, const struct hs_trace_entry *entry)
{
    struct hs_trace_entry *last = &trace->ring[(trace->count - 1) % HS_TRACE_ENTRIES];
    if (trace->waiter)
        hs_trace_end_wait(trace, entry->begin);
    else if (trace->count && last->end == entry->begin && alike(last, entry)) {
        last->end = entry->end;
        last->amount += entry->amount;
        return;
    }
    hs_trace_put(trace, entry);
}

void hs_trace_put_wait(struct hs_trace *trace, const void *waiter, const struct hs_trace_entry *entry)
{
    struct hs_trace_entry wait = *entry;
    wait.kind = HS_TRACE_WAIT;
    wait.tag = HS_TRACE_NO_TAG;
    if (trace->waiter && (trace->waiter != waiter || (alike(&trace->wait, &wait) && trace->wait.cause == wait.cause)))
        return;
    wait.begin = hs_now();
    if (trace->waiter)
        hs_trace_end_wait(trace, wait.begin);
    trace->wait = wait;
    trace->waiter = waiter;
}

void hs_trace_end_wait(struct hs_trace *trace, double end)
{
    trace->waiter = NULL;
    if (!trace->ring || end <= trace->wait.begin) /* a wait of no length */
        return;
    trace->wait.end = end;
    hs_trace_put(trace, &trace->wait);
}
