/* hsumma explain: the plan for a product on a grid that need not exist, and its predicted cost. */
#ifndef HS_BENCHMARKS_EXPLAIN_COMMAND_H
#define HS_BENCHMARKS_EXPLAIN_COMMAND_H

#include <stdio.h>

#include "common/arguments.h"
#include "hsumma/plan/plan.h"
#include "measure/timing.h"
#include "product/bounds.h"
#include "product/group_grids.h"
#include "report/columns.h"
#include "summa/messages/preview.h"

/* The most processes of a grid that is drawn, and of one whose messages are counted. */
enum { EXPLAIN_DRAWN = 64, EXPLAIN_COUNTED = BOUNDS_COUNTED };

/* Parts of the output, for --show. */
enum {
    SHOW_PLAN = 1,
    SHOW_GROUPS = 2,
    SHOW_CUTS = 4,
    SHOW_MAP = 8,
    SHOW_MESSAGES = 16,
    SHOW_ALL = 31,
    SHOW_HINT = 32 /* a hint at --show, printed if it was not given */
};

/* A list of numbers, or of triples of numbers. */
enum { EXPLAIN_ITEMS = 32 };
typedef struct explain_free_items {
    int count;
    int64_t number[3 * EXPLAIN_ITEMS];
} explain_free_items;

/* --model: Hockney's model, a message takes alpha + bytes x beta. */
typedef struct explain_model {
    double alpha;              /* seconds per message */
    double beta, element_beta; /* seconds per byte, and per element of the product's type; one of them is 0 */
    double gamma;              /* seconds per multiply-add; of a collective: per byte summed */
    const char *text;          /* as given; NULL: not given */
} explain_model;

typedef struct explain_arguments {
    arguments common;
    int64_t nodes, panels; /* number of nodes, each a block of processes, 0: not given; pairs of owners drawn */
    int64_t sockets;       /* of each node, 0: not given */
    const char *map;       /* the node of each process, instead of `nodes`; NULL: not given */
    char order;            /* 'R', 'C' or 'A', as for hsumma_grid_create; 0: not given */
    int64_t ranks; /* the most processes of a grid to be chosen; 0: the grid is given. Of a collective: its ranks */
    explain_model model; /* instead of a profile */
    int64_t timing;      /* number of plans to time, cold and warm; 0: none */
    int all, show;       /* all: 1 if --all was given, which sets `show` to SHOW_ALL */
    int quiet;           /* 1: no progress bar */
    /* --free: the best of all layouts, for each shape and number of processes; without shapes, that of -m, -n, -k */
    explain_free_items processes, shapes;
    int64_t memory; /* bytes per process; 0: no limit */
    /* --collective: explain a collective, not a product */
    const char *collective, *alg;
    int64_t bytes, root;
    int64_t devices; /* of each node, whose memory holds the vectors; 0: host memory */
} explain_arguments;

/* One way of grouping the grid, for SHOW_GROUPS. */
typedef struct hierarchy {
    group_grid grid;
    int64_t outer, block; /* panel widths: of the first of several levels (else -1), and of the last level */
    hsumma_plan *plan;    /* NULL if the library refuses it */
    hsumma_plan_info info;
    char message[400]; /* why there is no plan */
    int least;         /* 1: of all hierarchies, this has the least predicted communication */
} hierarchy;

/* A piece of the looped dimension that lies in one block of each moving operand and in one panel. */
typedef struct cut {
    int64_t begin, length;
    int panel, owner[2];
} cut;

/* The transfers on one level: `panels` consecutive panels of `width`, from `panel` on, all by the same route. */
typedef struct stage {
    int level; /* level of the mover, 0 is the outermost; or HS_EXCHANGE */
    int tier, panel, panels;
    int64_t width;
    const char *algorithm;
    struct hs_list *part; /* a list for each process */
    struct hs_hop *hop;
    int hops;
    int by_mpi; /* 1: MPI sends the messages, which are therefore unknown */
} stage;

/* The route of one panel of a moving operand: the first outermost panel of a pair of owners. */
typedef struct picture {
    int operand, pair;
    int64_t at, width; /* first index and width */
    int tier;
    struct hs_arrival *place; /* indexed by process */
    stage stages[2 * HS_LEVELS_MAX + 1];
    int stage_count;
} picture;

/*
 * Whether G = sqrt(p) groups minimise or maximise communication in the model of the HSUMMA paper (Section IV-C: van de
 * Geijn broadcasts, B = b): a minimum if alpha / beta is above 2 n b / p. n counts
 * elements, so beta must be per element. per_element and per_byte are alpha / beta with beta in these units.
 */
typedef struct condition {
    int applies; /* product and grid are square, or nearly */
    int64_t n, b, p;
    double per_element, per_byte, against; /* against: 2 n b / p */
    int minimum_per_element, minimum_per_byte;
} condition;

/* The data that enter the nodes for one order of the grid, by spans of consecutive panels. */
enum { ORDERS = 3, MOST_SPANS = 8 };
typedef struct entering {
    char order;
    int spans;
    int planned;               /* 1: the library accepts this order, and its plan could be counted */
    int refused;               /* 1: the library refuses this order */
    int64_t *messages, *bytes; /* what enters each node, by span of panels: [span][node] */
    int64_t most, all;         /* bytes into the most loaded node, and into all */
    double seconds;            /* predicted seconds of the product */
} entering;

/* The plan with workspace_limit=100%: a copy of the process's part of A, B and C. */
typedef struct with_memory {
    double seconds; /* predicted; 0: not planned */
    int64_t workspace_bytes;
    int lookahead;
} with_memory;

typedef struct explanation {
    const explain_arguments *args;
    int whole[2];                /* shape of the whole grid */
    int nprow, npcol, processes; /* shape and size of the grid of participating processes */
    hsumma_context *ctx;
    const struct hs_division *node; /* division of the processes by node */
    hsumma_grid *grid;              /* a grid that does not contain this process */
    hsumma_desc desc[3];
    hsumma_plan *plan;
    hsumma_plan_info info;
    struct hs_variant variant;
    condition groups;
    spread cold, warm; /* seconds of planning: without and with the clock's memo */
    hierarchy *hierarchies;
    int hierarchy_count;
    /* from the loops of the processes (read.c): */
    int pairs;
    int64_t panels;
    int (*owner)[2]; /* indexed by pair */
    int counted;
    /* sent by the process that sends most (_max), and by all; -1: not counted */
    int64_t messages_max, bytes_max, messages, bytes;
    bounds_count received; /* what each process and node receives, for `bounds` */
    product_bounds bounds;
    struct hs_layered_price *layers; /* prices with 2 and more layers, if there are several nodes */
    int layers_count;
    int layers_fit;    /* 0 if the number of layers in the options exceeds workspace_limit, so that plans fail */
    int layers_wanted; /* the option `layers`, as it holds for a plan with these options */
    int layers_taken;  /* number of layers of that plan; the explained plan has none */
    with_memory more;
    entering enters[ORDERS]; /* not counted if `order` is 0, for example on one node */
    int64_t workspace_max;   /* most bytes of a process; if not counted, by the search's formula */
    picture *pictures;
    int picture_count;
    cut *cuts;
    size_t cut_count;
} explanation;

/* Runs the command with these arguments, on one process; an exit status. */
int explain_run(const void *args, const char *options, MPI_Comm comm);

/* Makes the loops of the first `count` processes of the grid, one at a time, and passes each to a reader. */
typedef hsumma_status loop_reader(void *state, const struct hs_loop *loop, int process, struct hs_message *message);
hsumma_status explain_each_process(const explanation *e, int count, loop_reader *read, void *state,
                                   struct hs_message *message);
/* Records the messages, bytes, panels and cuts of all processes; of a grid above EXPLAIN_COUNTED only panels and cuts.
 * On error *message has the reason, or is empty. */
hsumma_status explain_read(explanation *e, struct hs_message *message);
void explain_read_free(explanation *e);

/* The mark drawn for how a process gets a panel: "*", "1", ".", ... */
char explain_mark(const struct hs_arrival *place);

/* Print; return 0 if writing failed. */
int explain_table(const explanation *e, FILE *file);
int explain_json(const explanation *e, FILE *file);

/* Lays out the matrices of e->args on a grid of e->whole in the given order, and plans. On error sets *message. */
hsumma_status explain_lay_out(explanation *e, char order, struct hs_message *message);

/* nodes.c: places the processes by --nodes or --map. */
hsumma_status explain_places(explanation *e, int processes, struct hs_message *message);
/* Counts the data that enter each node, for the plan's grid order and for the other orders. Call explain_read first. */
hsumma_status explain_entering(explanation *e, struct hs_message *message);
void explain_entering_free(explanation *e);
/* The entry of e->enters for the plan's grid order; NULL if not counted. */
const entering *explain_enters(const explanation *e);
void explain_print_entering(const explanation *e, FILE *file);
void explain_draw_nodes(const explanation *e, FILE *file);
void explain_entering_json(const explanation *e, json_t *object);

/* layers.c: the predicted cost with layers over k (layers=L), for comparison with the explained plan. */
hsumma_status explain_layers(explanation *e, struct hs_message *message);
/* Sets e->layers_taken as a plan would. */
hsumma_status explain_take_layers(explanation *e);
void explain_print_layers(const explanation *e, FILE *file);
json_t *explain_layers_json(const explanation *e);

/* model.c: the profile of --model for elements of `element` bytes. Messages cost the same inside nodes and between
 * them; nothing overlaps, and copies take no time. */
argument_reader explain_read_model;
struct hs_profile explain_model_profile(const explain_model *model, size_t element, int collective);
/* The condition for the plan in e->info. Printing writes nothing if it does not apply. */
condition explain_condition(const explanation *e);
void explain_print_condition(const condition *c, FILE *file);

/* Parts of the table: the plan and its cost; the time that planning took. */
void explain_plan(const explanation *e, FILE *file);
void explain_timing(const explanation *e, FILE *file);

/* free.c: the table of --free, and readers for its lists. */
int explain_free(const explain_arguments *args, FILE *file);
argument_reader explain_read_free_ranks, explain_read_free_shapes;

/* Prints the cost and rounds of args->alg or, if that is NULL, a table of those algorithms of the collective that
 * fit; and auto's choice. On error *message has the reason, or is empty. */
hsumma_status explain_collective(const explain_arguments *args, hsumma_context *ctx, FILE *file,
                                 struct hs_message *message);

#endif
