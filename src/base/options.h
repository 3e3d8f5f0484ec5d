/*
 * Options: one table (options.c) with name, type, default, help and environment variable.  Values stay text until a
 * plan reads them (hs_settings_read), so that a caller, the environment and a command line all say the same words.
 */
#ifndef HS_BASE_OPTIONS_H
#define HS_BASE_OPTIONS_H

#include "base/status.h"

enum hs_option {
    HS_OPT_STATIONARY,
    HS_OPT_GROUPS,
    HS_OPT_LEVELS,
    HS_OPT_BLOCK,
    HS_OPT_OUTER,
    HS_OPT_BCAST,
    HS_OPT_REDUCE,
    HS_OPT_SEGMENT,
    HS_OPT_EXCHANGE,
    HS_OPT_LOOKAHEAD,
    HS_OPT_SLICE,
    HS_OPT_THREADS,
    HS_OPT_WORKSPACE,
    HS_OPT_NODE,
    HS_OPT_CHUNK,
    HS_OPT_EXPLAIN,
    HS_OPT_PROFILE,
    HS_OPT_TUNE,
    HS_OPT_TUNED,
    HS_OPT_COLL,
    HS_OPT_TOPOLOGY,
    HS_OPT_SHARED,
    HS_OPT_DIRECT,
    HS_OPT_CHECK,
    HS_OPT_DEVICE,
    HS_OPT_GPU_AWARE_MPI,
    HS_OPT_DEVICE_MEMORY,
    HS_OPT_SCALAPACK,
    HS_OPT_LOG,
    HS_OPTIONS
};

/* Who has said it; the later wins. */
enum hs_said_by { HS_BY_DEFAULT, HS_BY_TUNED, HS_BY_ENVIRONMENT, HS_BY_CONTEXT, HS_BY_PLAN };

enum { HS_OPTION_TEXT = 512, HS_NAME_TEXT = 32, HS_LEVELS = HSUMMA_MAX_LEVELS };

struct hs_options {
    char value[HS_OPTIONS][HS_OPTION_TEXT];
    unsigned char said_by[HS_OPTIONS];
};

void hs_options_default(struct hs_options *options);
/* Reads "name=value name=value"; a value with blanks stands in quotation marks.  HSUMMA_ERR_OPTION: an unknown name or
 * an unreadable value; options may be half changed. */
hsumma_status hs_options_apply(struct hs_options *options, const char *text, enum hs_said_by by,
                               struct hs_message *message);
/* Words that were remembered: taken where nobody else has said anything. */
void hs_options_recall(struct hs_options *options, const struct hs_options *remembered);
/* Whether anybody has said how a product is to be done (everything but threads and workspace). */
int hs_options_plan_said(const struct hs_options *options);
/* The environment's options as such a text. */
void hs_options_environment(char *text, size_t size);

/* How processes of one node share (hs_settings.node). */
enum { HS_NODE_AUTO = -1, HS_NODE_MESSAGES, HS_NODE_SHARED, HS_NODE_DEVICE };
extern const char *const hs_node_modes[3];

/* What becomes of what measuring has found (hs_settings.tune). */
enum { HS_TUNE_ESTIMATE, HS_TUNE_MEASURE, HS_TUNE_OFF };

/* Names per level: count 0: choose; 1: all levels alike; or {for the outer levels, for the innermost}; or one per
 * level. */
struct hs_names {
    int count, outer_inner;
    char name[HS_LEVELS][HS_NAME_TEXT];
};

/* The same, read. */
struct hs_settings {
    int stationary; /* 0, 1, 2 for A, B, C; -1: choose */
    int levels;     /* outer levels given: 0 is SUMMA; -1: choose a group grid */
    int factor[HS_LEVELS][2];
    int64_t block; /* 0: choose */
    int outers;    /* widths of outer panels given; 0: choose */
    int64_t outer[HS_LEVELS];
    struct hs_names bcast, reduce;
    int64_t segment;         /* bytes; 0: choose */
    int exchange;            /* 0: to roots, 1: to all, -1: choose */
    int lookahead;           /* -1: choose */
    int64_t slice;           /* flops; INT64_MAX: never cut; 0: choose */
    int threads;             /* -1: choose; 0: leave alone */
    double workspace_share;  /* of the process's A, B and C; or ... */
    int64_t workspace_bytes; /* ... if not 0, bytes */
    int node;                /* HS_NODE_... */
    int64_t chunk;           /* 0: choose */
    int for_messages;        /* words that only messages can obey have been given */
    int explain;
    int tune; /* HS_TUNE_... */
    /* of contexts: a plan's own word for them changes nothing; coll, tuned, profile and topology stay text */
    int nodes, sockets;   /* virtual nodes, and sockets of each; 0: look */
    int64_t shared;       /* bytes of shared memory per process and slot; -1: choose */
    int direct;           /* processes of a node may read each other's memory */
    int check_always;     /* collective calls are checked on all processes together each time */
    double device_share;  /* of the free memory of the device, for all processes that share it; or ... */
    int64_t device_bytes; /* ... if not 0, bytes of each */
    int gpu_aware;        /* MPI takes device memory; -1: ask it */
    int device_number;    /* of those that a process sees; -1: by its number on the node; the kind stays text */
    int64_t scalapack;    /* p?gemm calls with m n k up to the cube of this go to ScaLAPACK; INT64_MAX: all; 0: none */
};

/* A number of bytes of at least `least`, with an optional factor k, M or G of 1024.  Returns 0, or -1. */
int hs_size_text(const char *text, int64_t least, int64_t *value);

hsumma_status hs_settings_read(const struct hs_options *options, struct hs_settings *settings,
                               struct hs_message *message);

#endif
