/*
 * The timelines of all processes (base/trace.h) become one file (option trace): Chrome's trace event format, which
 * Perfetto, chrome://tracing and hsumma trace read.  A process of the format is a node.  A thread is a rank,
 * whose work and waits follow each other; its messages and calls, which go on at the same time, lie on further threads.
 */
#ifndef HS_HSUMMA_TRACE_TRACE_FILE_H
#define HS_HSUMMA_TRACE_TRACE_FILE_H

#include "hsumma/context/context.h"
#include "hsumma/context/new_file.h"

/*
 * trace_gather.c.  Makes ctx->comm.trace, if the option asks for one, once it is known where the processes are.
 * HSUMMA_ERR_OPTION: the file cannot be made; HSUMMA_ERR_MEMORY.  Collective; the same status on all.
 */
hsumma_status hs_trace_open(hsumma_context *ctx);
/*
 * Writes all that is in the rings, if anything has come in since the last time; nothing may be under way.  Collective;
 * the same status on all: HSUMMA_ERR_BUSY, HSUMMA_ERR_OPTION (the file cannot be written), HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_MPI.
 */
hsumma_status hs_trace_write(hsumma_context *ctx);

/* trace_json.c: the file's text; after a failure nothing more is written. */
enum { HS_TRACE_LANES = 64, HS_TRACE_TEXT = 1 << 16 };

struct hs_trace_text {
    struct hs_new_file *file;
    char *buffer; /* of HS_TRACE_TEXT bytes */
    size_t used;
    int lines, ranks;
    double zero; /* the clock of rank 0 there */
    hsumma_status status;
    struct hs_message *message;
    /* the rank whose entries come now */
    int rank, node;
    double shift;                   /* of its clock, ahead of that of rank 0 */
    double busy[2][HS_TRACE_LANES]; /* until when its threads for messages and for calls are used; 0: not so far */
};

void hs_trace_text_begin(struct hs_trace_text *text);
/* Entries of a rank come in the order of their begin. */
void hs_trace_text_rank(struct hs_trace_text *text, int rank, int node, double shift, uint64_t lost);
void hs_trace_text_entry(struct hs_trace_text *text, const struct hs_trace_entry *entry);
/* error: of the clocks, in seconds; lost: entries of all ranks. */
void hs_trace_text_end(struct hs_trace_text *text, double error, uint64_t lost);

#endif
