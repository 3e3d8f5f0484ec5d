/* Options: one table (options.inc), parsed once into typed values (hs_settings); said_by records the origin of each. */
#ifndef HS_BASE_OPTIONS_H
#define HS_BASE_OPTIONS_H

#include "base/status.h"

enum hs_option {
#define OPTION(id, ...) HS_OPT_##id,
#include "base/options.inc"
#undef OPTION
    HS_OPTIONS
};

/* The origin of a value, in order of increasing precedence. */
enum hs_said_by { HS_BY_DEFAULT, HS_BY_TUNED, HS_BY_ENVIRONMENT, HS_BY_CONTEXT, HS_BY_PLAN };

enum { HS_OPTION_TEXT = 512, HS_NAME_TEXT = 32, HS_WORD_TEXT = 64, HS_LEVELS = HSUMMA_MAX_LEVELS };
/* All options of a plan as text: two names per level, and half a kilobyte for the others. */
enum { HS_LINE_TEXT = 2 * HS_LEVELS * HS_WORD_TEXT + HS_OPTION_TEXT };

/* How the processes of a node share panels (hs_settings.node). */
enum { HS_NODE_AUTO = -1, HS_NODE_MESSAGES, HS_NODE_SHARED, HS_NODE_DEVICE, HS_NODE_EVEN };

/* The parts of a guard (hs_settings.guard).  HS_GUARD_PANELS: the product is checked in sections. */
enum { HS_GUARD_PRODUCT = 1, HS_GUARD_MESSAGES = 2, HS_GUARD_PANELS = 4 };

/* A number of layers over k that stands for the planner's choice (hs_settings.layers). */
enum { HS_LAYERS_AUTO = 0 };

/* How processes wait (hs_settings.wait). */
enum { HS_WAIT_AUTO, HS_WAIT_POLL, HS_WAIT_BLOCK };

/* The planner's use of measurements (hs_settings.tune). */
enum { HS_TUNE_ESTIMATE, HS_TUNE_MEASURE, HS_TUNE_OFF };

/* Algorithms as NAME or NAME(KEY=VALUE,...). count 0: the planner chooses; 1: one for all levels; otherwise one per
 * level, or, with outer_inner, one for the outer levels and one for the innermost. */
struct hs_names {
    int count, outer_inner;
    char name[HS_LEVELS][HS_WORD_TEXT];
};

/* Group grids of the outer levels, outermost first; count 0: not given. */
struct hs_group_grids {
    int count, grid[HS_LEVELS][2];
};

/* Panel widths of the outer levels, outermost first; count 0: not given. */
struct hs_widths {
    int count;
    int64_t width[HS_LEVELS];
};

/* A part of some memory: a share of it, or a number of bytes. */
struct hs_part {
    double share;  /* 0.15 is 15% */
    int64_t bytes; /* overrides share unless 0 */
};

/* The value of the option topology. */
struct hs_nodes {
    int count, sockets; /* number of virtual nodes, and of sockets per node; count 0: the real nodes */
    const char *fabric; /* the part of the text for the links between nodes: "torus:..." etc., a file's name, or "" */
};

struct hs_device_name {
    char kind[HS_NAME_TEXT]; /* none, auto, or a kind's name */
    int number; /* index among the devices that the process sees; -1: the process's index on its node selects one */
};

/* The parsed values. In the comments "choose" means that the planner chooses. */
struct hs_settings {
    int stationary; /* 0, 1, 2 for A, B, C; -1: choose */
    struct hs_group_grids given_groups, given_levels;
    int levels; /* number of outer levels, by the options groups and levels; 0: SUMMA; -1: choose a group grid */
    int factor[HS_LEVELS][2];
    int64_t block; /* width of the innermost panels; 0: choose */
    struct hs_widths outer;
    int64_t turn; /* indices per turn; INT64_MAX: all of a pair of owners; 0: choose */
    struct hs_names bcast, reduce;
    int64_t segment; /* bytes per segment of pipelined broadcasts; 0: choose */
    int exchange;    /* panels that are not aligned go to a root (0) or to all that need them (1); -1: choose */
    int bits;        /* 1: every plan gives the same bits (summa/local/ordered.h) */
    int guard;       /* a sum of HS_GUARD_..., or 0 */
    int layers;      /* layers over k; 1: no layering; or HS_LAYERS_AUTO */
    int lookahead;   /* panels in flight beyond the one that is multiplied; -1: choose */
    int owners;      /* pairs of owners per batch; 0: choose */
    int64_t slice;   /* flops per slice of the local GEMM; INT64_MAX: not sliced; 0: choose */
    int threads;     /* BLAS threads; -1: choose; 0: as the user has set them */
    struct hs_part workspace; /* limit of panel buffers; a share is of the process's parts of A, B and C */
    int node;                 /* HS_NODE_... */
    int64_t chunk;            /* rows or columns per chunk; 0: choose */
    int explain;
    int tune;              /* HS_TUNE_... */
    int steps;             /* number of outermost panels to multiply; 0: all */
    uint64_t for_messages; /* bit set of the given options that only the product over messages can obey */
    /* Options of a context; those above belong to plans. */
    /* Bytes of shared memory per process and slot; on a device, the limit of a process's shared buffers; -1: choose. */
    int64_t shared;
    int direct;        /* 1: processes of a node may read each other's memory */
    int check_always;  /* 1: every collective call agrees on its arguments; 0: only the first of each kind does */
    int wait;          /* HS_WAIT_... */
    int timeout;       /* seconds without progress until a report; 0: none */
    int timeout_fails; /* 1: the wait then ends with an error */
    int compute_time;  /* 1, in the simulator: work only advances the clock, and no data are computed */
    struct hs_device_name device;
    int gpu_aware; /* 1: MPI accepts device memory; 0: it does not; -1: ask MPI */
    /* Device memory for products of host matrices: a share of the free memory, divided among the processes that use the
     * device, or bytes per process. */
    struct hs_part device_memory;
    int gemr2d; /* 1: the shim serves p?gemr2d itself; 0: it calls ScaLAPACK's */
    /* The shim leaves p?gemm calls with m n k up to the cube of this number to ScaLAPACK; INT64_MAX: all; 0: none. */
    int64_t scalapack;
};

/* Values that are kept as text; all belong to contexts. */
struct hs_texts {
    char coll[HS_OPTION_TEXT], profile[HS_OPTION_TEXT], tuned[HS_OPTION_TEXT], topology[HS_OPTION_TEXT],
        log[HS_OPTION_TEXT], trace[HS_OPTION_TEXT];
};

struct hs_options {
    struct hs_settings settings;
    unsigned char said_by[HS_OPTIONS];
    struct hs_texts *texts; /* receives the texts; NULL: they are only checked */
};

/* The value of an environment variable; NULL in a program that has more rights than its caller (setuid, setgid, file
 * capabilities). The library and the command read the environment only here. */
const char *hs_environment(const char *name);

void hs_options_default(struct hs_options *options, struct hs_texts *texts);
/* Parses "name=value name=value"; a value with blanks is quoted.  All values are checked, but not all are used: a
 * plan's values for context options are ignored; a tuned file's values are used only for the options that describe how
 * a product is done.  HSUMMA_ERR_OPTION: an unknown name or an invalid value; some options may have changed. */
hsumma_status hs_options_apply(struct hs_options *options, const char *text, enum hs_said_by by,
                               struct hs_message *message);
/* The next variable of the environment, from index *at on, whose name is unknown and resembles that of one of the
 * library's, or begins with HSUMMA_; NULL if there is none. guess: the nearest known name. */
const char *hs_environment_misspelt(int *at, struct hs_guess *guess);
/* Writes "NAME in the environment has no effect; did you mean OTHER?" for each such variable with a near name; returns
 * their number. */
int hs_environment_misspelt_text(char *text, size_t size);
/* Parses the variables of the environment; fails like hs_options_apply. */
hsumma_status hs_options_environment(struct hs_options *options, struct hs_message *message);
/* Whether any option that describes how a product is done was given (a tuned file does not count). */
int hs_options_plan_said(const struct hs_options *options);
/* Appends the options that describe how a product is done and were given, by a tuned file too, each as " name=value".
 */
void hs_options_write_plan_said(const struct hs_options *options, char *text, size_t size);
/* The option layers.  As long as it is not given, it is 1 for a process that plans alone, and where an option describes
 * how a product is done. */
int hs_options_layers(const struct hs_options *options, int alone);
/* Whether a value of this origin is used for the option, or only checked. */
int hs_option_taken(enum hs_option option, enum hs_said_by by);

/* Writes a value as text that parses to the same value; only for options whose type can write (options.c). */
void hs_option_write(enum hs_option option, const struct hs_settings *settings, char *text, size_t size);
/* The keyword for a value, such as "shared" for HS_NODE_SHARED; NULL if it has none. */
const char *hs_option_word(enum hs_option option, int64_t value);

/* Parses the value of the option topology.  Returns 0, or -1 if it is wrong. */
int hs_topology_text(const char *text, struct hs_nodes *nodes);
/* Whether such a part describes the links itself (hs_fabric_read), and is not the name of a file. */
int hs_is_fabric(const char *text);

/* Parses a number of bytes, at least `least`, with an optional factor k, M or G (powers of 1024).  Returns 0, or -1. */
int hs_size_text(const char *text, int64_t least, int64_t *value);
/* Writes a size as hs_size_text reads it: 65536 as 64k. */
void hs_size_write(int64_t value, char *text, size_t size);

#endif
