/* hsumma trace: reads, sums up and draws the timelines in a file of the option trace. */
#ifndef HS_BENCHMARKS_TRACE_TRACE_H
#define HS_BENCHMARKS_TRACE_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "common/arguments.h"

typedef struct trace_arguments {
    const char *path, *svg;
    int64_t product; /* 1 is the first; 0: the last; -1: the whole file */
    int top;
    report_format format;
} trace_arguments;

typedef enum trace_kind { TRACE_GEMM, TRACE_COPY, TRACE_WAIT, TRACE_SEND, TRACE_RECEIVE, TRACE_PRODUCT } trace_kind;

/* One entry; times in seconds from the zero of the file's clock. */
typedef struct trace_span {
    trace_kind kind;
    int rank, peer; /* peer -1: none */
    double begin, end;
    char what[16];    /* "A", "B" or "C", "agreement", "call", or "" */
    char awaited[16]; /* for a wait: "start", "data", "room", "sent" or "call" */
    int64_t bytes, panel;
    double predicted[3]; /* for a product: total seconds, seconds of the GEMM, of copies; 0: unknown */
} trace_span;

/* A rank in the examined interval. */
typedef struct trace_rank {
    int rank, node;
    double all, gemm, copy, wait, rest; /* seconds */
    int64_t sent, messages;
    int64_t lost; /* 1: its ring buffer has overwritten the oldest entries */
} trace_rank;

/* The time that a rank, or the ranks of a node, waited for another rank or node, for one cause (awaited, what). In the
 * total of a node, waiter and peer are -1. */
typedef struct trace_debt {
    int waiter, waiter_node;
    int peer, peer_node; /* -1: unknown */
    char what[16], awaited[16];
    double seconds;
    int times;
} trace_debt;

/* A quantity in each tenth of the time: bytes per second that enter one node from others, or the number of ranks that
 * multiply. */
enum { TRACE_TENTHS = 10 };
typedef struct trace_course {
    double tenth[TRACE_TENTHS];
} trace_course;

typedef struct trace_file {
    trace_span *span;
    int spans, ranks, nodes, products;
    int product; /* the examined product, from 1 on; 0: all */
    double begin, end;
    double predicted[3]; /* of the examined product, as in a span */
    double clock_error;
    int64_t lost;
    trace_rank *rank;
    trace_debt *by_rank, *by_node; /* by_node: the longest first; by_rank: by waiter, then the longest first */
    int rank_debts, node_debts;
    trace_course *entering; /* indexed by node */
    trace_course multiplying;
} trace_file;

/* Reads the file and sums up; returns 0, or -1 with a message. Always call trace_free. */
int trace_read(trace_file *trace, const trace_arguments *args, char *error, size_t size);
/* sum.c: sums up the ranks' work between trace->begin and trace->end. Returns 0; -1 if out of memory. */
int trace_sum(trace_file *trace);
void trace_free(trace_file *trace);

/* Prints the report. Returns 0 if writing failed. */
int trace_report(const trace_file *trace, const trace_arguments *args, FILE *file);
/* Draws the timeline into a file; returns 0, or -1 with a message. */
int trace_draw(const trace_file *trace, const char *path, char *error, size_t size);
/* Writes what a wait is for: "A", "room for A", "a send of A", "the start", "a call". */
void trace_say(const char *awaited, const char *what, char *text, size_t size);

#endif
