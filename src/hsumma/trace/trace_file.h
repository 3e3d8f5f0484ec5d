/*
 * Writes the timelines of all processes (base/trace.h) to one file (option trace), in Chrome's trace event format,
 * which Perfetto, chrome://tracing and hsumma trace read.  A "process" of the format is a node.  A "thread" is a rank
 * with its consecutive work and waits; its overlapping messages and calls are on further threads.
 */
#ifndef HS_HSUMMA_TRACE_TRACE_FILE_H
#define HS_HSUMMA_TRACE_TRACE_FILE_H

#include "hsumma/context/context.h"
#include "hsumma/context/new_file.h"

/*
 * Implemented in trace_gather.c.  Makes ctx->comm.trace if the option trace is given; the topology must be known.
 * Collective, with the same status on all processes: HSUMMA_ERR_OPTION (the file cannot be created), HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_MPI.
 */
hsumma_status hs_trace_open(hsumma_context *ctx);
/*
 * Writes the entries of all rings, if there are new ones; no plan or call may be in progress.  Collective, with the
 * same status on all processes: HSUMMA_ERR_BUSY, HSUMMA_ERR_OPTION (the file cannot be written), HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_MPI.
 */
hsumma_status hs_trace_write(hsumma_context *ctx);

/* Implemented in trace_json.c: writes the file's text.  After an error nothing more is written. */
enum { HS_TRACE_LANES = 64, HS_TRACE_TEXT = 1 << 16 };

struct hs_trace_text {
    struct hs_new_file *file;
    char *buffer; /* HS_TRACE_TEXT bytes */
    size_t used;
    int lines, ranks;
    double zero; /* time 0 of the file, on the clock of rank 0 */
    hsumma_status status;
    struct hs_message *message;
    /* The current rank. */
    int rank, node;
    double shift; /* seconds by which its clock is ahead of rank 0's */
    /* End of the last entry in each lane (a thread in the viewer) for messages [0] and calls [1]; 0 if unused so far.
     */
    double busy[2][HS_TRACE_LANES];
};

void hs_trace_text_begin(struct hs_trace_text *text);
/* Begins a rank; its entries must follow in the order of their beginning. */
void hs_trace_text_rank(struct hs_trace_text *text, int rank, int node, double shift, uint64_t lost);
void hs_trace_text_entry(struct hs_trace_text *text, const struct hs_trace_entry *entry);
/* Ends the text.  error: uncertainty of the clocks in seconds; lost: number of lost entries of all ranks. */
void hs_trace_text_end(struct hs_trace_text *text, double error, uint64_t lost);

#endif
