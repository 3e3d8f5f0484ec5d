/* The timelines of a file that the option trace has made: read, summed up, drawn. */
#ifndef HS_BENCHMARKS_TRACE_TRACE_H
#define HS_BENCHMARKS_TRACE_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "common/arguments.h"

typedef struct trace_arguments {
    const char *path, *svg;
    int64_t product; /* 1 is the first; 0: the last; -1: all of the file */
    int top;
    report_format format;
} trace_arguments;

typedef enum trace_kind { TRACE_GEMM, TRACE_COPY, TRACE_WAIT, TRACE_SEND, TRACE_RECEIVE, TRACE_PRODUCT } trace_kind;

/* One entry; seconds since the file's zero. */
typedef struct trace_span {
    trace_kind kind;
    int rank, peer; /* peer -1: none */
    double begin, end;
    char what[16];    /* "A", "B", "C", "start", "room", ... */
    char awaited[16]; /* of a wait */
    int64_t bytes, panel;
    double predicted[3]; /* of a product: seconds in all, of the GEMM, of copies; 0: not known */
} trace_span;

/* A rank in the time that is looked at. */
typedef struct trace_rank {
    int rank, node;
    double begin, end;                  /* of its product */
    double all, gemm, copy, wait, rest; /* seconds */
    int64_t sent, messages;
    int64_t lost; /* 1: the ring was too small for what came first */
} trace_rank;

/* What a rank, or the ranks of a node, have waited for from one other. */
typedef struct trace_debt {
    int waiter, waiter_node;
    int peer, peer_node; /* -1: not known */
    char what[16], awaited[16];
    double seconds;
    int times;
} trace_debt;

/* In each tenth of the time: what has come to a node from others, in bytes per second; or how many ranks multiply. */
enum { TRACE_TENTHS = 10 };
typedef struct trace_course {
    double tenth[TRACE_TENTHS];
} trace_course;

typedef struct trace_file {
    trace_span *span;
    int spans, ranks, nodes, products;
    int product; /* the one that is looked at, from 1 on; 0: all */
    double begin, end;
    double predicted[3]; /* of the product that is looked at, as of a span */
    double clock_error;
    int64_t lost;
    trace_rank *rank;
    trace_debt *by_rank, *by_node; /* the longest first; by rank: of each rank together */
    int rank_debts, node_debts;
    trace_course *entering; /* of each node */
    trace_course multiplying;
} trace_file;

/* Reads and sums up; returns 0, or -1 with an explanation.  To be freed in any case. */
int trace_read(trace_file *trace, const trace_arguments *args, char *error, size_t size);
/* sum.c: what the ranks do between trace->begin and trace->end.  -1: no memory. */
int trace_sum(trace_file *trace);
void trace_free(trace_file *trace);

/* Returns 0 if writing failed. */
int trace_report(const trace_file *trace, const trace_arguments *args, FILE *file);
/* Draws into a file; returns 0, or -1 with an explanation. */
int trace_draw(const trace_file *trace, const char *path, char *error, size_t size);
/* "A from rank 3", "for rank 3 to begin": what is awaited, in words. */
void trace_say(const char *awaited, const char *what, char *text, size_t size);

#endif
