/*
 * Options: one table (options.inc).  Texts of the environment, of a context and of a plan are read once, into typed
 * values (struct hs_settings) beside which stands who gave each.
 */
#ifndef HS_BASE_OPTIONS_H
#define HS_BASE_OPTIONS_H

#include "base/status.h"

enum hs_option {
#define OPTION(id, ...) HS_OPT_##id,
#include "base/options.inc"
#undef OPTION
    HS_OPTIONS
};

/* Who gave a value; the later wins. */
enum hs_said_by { HS_BY_DEFAULT, HS_BY_TUNED, HS_BY_ENVIRONMENT, HS_BY_CONTEXT, HS_BY_PLAN };

enum { HS_OPTION_TEXT = 512, HS_NAME_TEXT = 32, HS_WORD_TEXT = 64, HS_LEVELS = HSUMMA_MAX_LEVELS };
/* The options of a plan: two words for each level, and half a kilobyte for all others. */
enum { HS_LINE_TEXT = 2 * HS_LEVELS * HS_WORD_TEXT + HS_OPTION_TEXT };

/* How processes of one node share (hs_settings.node). */
enum { HS_NODE_AUTO = -1, HS_NODE_MESSAGES, HS_NODE_SHARED, HS_NODE_DEVICE };

/* How processes wait (hs_settings.wait). */
enum { HS_LAYERS_AUTO = 0 };
enum { HS_WAIT_AUTO, HS_WAIT_POLL, HS_WAIT_BLOCK };

/* What becomes of what measuring has found (hs_settings.tune). */
enum { HS_TUNE_ESTIMATE, HS_TUNE_MEASURE, HS_TUNE_OFF };

/* NAME or NAME(KEY=VALUE,...) per level: count 0: choose; 1: all levels alike; or {for the outer levels, for the
 * innermost}; or one per level. */
struct hs_names {
    int count, outer_inner;
    char name[HS_LEVELS][HS_WORD_TEXT];
};

/* Group grids of the outer levels, outermost first; count 0: not given. */
struct hs_group_grids {
    int count, grid[HS_LEVELS][2];
};

/* Widths of the panels of the outer levels, likewise. */
struct hs_widths {
    int count;
    int64_t width[HS_LEVELS];
};

/* A part of something, or bytes. */
struct hs_part {
    double share;  /* 0.15 is 15% */
    int64_t bytes; /* 0: the share counts */
};

/* Virtual nodes; count 0: the real ones. */
struct hs_nodes {
    int count, sockets; /* sockets of each */
};

struct hs_device_name {
    char kind[HS_NAME_TEXT]; /* none, auto, or a kind's name */
    int number;              /* of those that a process sees; -1: by its number on the node */
};

/* The values. */
struct hs_settings {
    int stationary; /* 0, 1, 2 for A, B, C; -1: choose */
    struct hs_group_grids given_groups, given_levels;
    int levels; /* outer levels given by the one or the other: 0 is SUMMA; -1: choose a group grid */
    int factor[HS_LEVELS][2];
    int64_t block; /* 0: choose */
    struct hs_widths outer;
    int64_t turn; /* INT64_MAX: all; 0: choose */
    struct hs_names bcast, reduce;
    int64_t segment;          /* bytes; 0: choose */
    int exchange;             /* 0: to roots, 1: to all, -1: choose */
    int layers;               /* over k; 1: none; or HS_LAYERS_AUTO */
    int lookahead;            /* -1: choose */
    int owners;               /* 0: choose */
    int64_t slice;            /* flops; INT64_MAX: never cut; 0: choose */
    int threads;              /* -1: choose; 0: leave alone */
    struct hs_part workspace; /* of the process's A, B and C */
    int node;                 /* HS_NODE_... */
    int64_t chunk;            /* 0: choose */
    int explain;
    int tune;              /* HS_TUNE_... */
    int steps;             /* panels of the outermost level that are multiplied; 0: all */
    uint64_t for_messages; /* options given that only messages can obey: a bit for each */
    /* of contexts */
    struct hs_nodes nodes;
    int64_t shared;   /* bytes of shared memory per process and slot; -1: choose */
    int direct;       /* processes of a node may read each other's memory */
    int check_always; /* collective calls are checked on all processes together each time */
    int wait;         /* HS_WAIT_... */
    int compute_time; /* simulated work only takes time */
    struct hs_device_name device;
    int gpu_aware;                /* MPI takes device memory; -1: ask it */
    struct hs_part device_memory; /* of what is free, for all processes that share the device; or bytes of each */
    int gemr2d;                   /* p?gemr2d: 1: hsumma's, where it stands in ScaLAPACK's place */
    int64_t scalapack; /* p?gemm calls with m n k up to the cube of this go to ScaLAPACK; INT64_MAX: all; 0: none */
};

/* The values that stay text: only contexts have them. */
struct hs_texts {
    char coll[HS_OPTION_TEXT], profile[HS_OPTION_TEXT], tuned[HS_OPTION_TEXT], log[HS_OPTION_TEXT],
        trace[HS_OPTION_TEXT];
};

struct hs_options {
    struct hs_settings settings;
    unsigned char said_by[HS_OPTIONS];
    struct hs_texts *texts; /* where texts are kept; NULL: nowhere, they are only checked */
};

void hs_options_default(struct hs_options *options, struct hs_texts *texts);
/* Reads "name=value name=value"; a value with blanks stands in quotation marks.  A plan's values for options of a
 * context are checked, but not taken; a tuned file's only for those that say how a product is done.
 * HSUMMA_ERR_OPTION: an unknown name or an unreadable value; options may be half changed. */
hsumma_status hs_options_apply(struct hs_options *options, const char *text, enum hs_said_by by,
                               struct hs_message *message);
/* The environment's variables, likewise. */
hsumma_status hs_options_environment(struct hs_options *options, struct hs_message *message);
/* Whether anybody has said how a product is to be done. */
int hs_options_plan_said(const struct hs_options *options);
/* Whether that one's value for the option is taken, or only checked. */
int hs_option_taken(enum hs_option option, enum hs_said_by by);

/* A value as text, which reads as the same value again; of options with a writer (options.c). */
void hs_option_write(enum hs_option option, const struct hs_settings *settings, char *text, size_t size);
/* The word that stands for a value, such as "shared" for HS_NODE_SHARED; NULL: there is none. */
const char *hs_option_word(enum hs_option option, int64_t value);

/* A number of bytes of at least `least`, with an optional factor k, M or G of 1024.  Returns 0, or -1. */
int hs_size_text(const char *text, int64_t least, int64_t *value);
/* As it is read: 65536 is 64k. */
void hs_size_write(int64_t value, char *text, size_t size);

#endif
