/* hsumma explain: what the library would do with a product on a grid that is not there, and what it would cost.
 */
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

/* Larger grids are neither drawn nor counted. */
enum { EXPLAIN_DRAWN = 64, EXPLAIN_COUNTED = BOUNDS_COUNTED };

/* Parts of the output, for --show. */
enum { SHOW_PLAN = 1, SHOW_GROUPS = 2, SHOW_CUTS = 4, SHOW_MAP = 8, SHOW_MESSAGES = 16 };

/* Numbers of a list, or triples of numbers. */
enum { EXPLAIN_ITEMS = 32 };
typedef struct explain_free_items {
    int count;
    int64_t number[3 * EXPLAIN_ITEMS];
} explain_free_items;

typedef struct explain_arguments {
    arguments common;
    int64_t nodes, panels; /* nodes: blocks of processes; 0: not given */
    const char *map;       /* or the node of each process; NULL: not given */
    char order;            /* 'R', 'C' or 'A', as of hsumma_grid_create; 0: not given */
    int64_t ranks;  /* chooses a grid of at most `ranks` processes; 0: the grid is given.  Of a collective: all */
    int64_t timing; /* plans timed, cold and warm; 0: none */
    int all, show;  /* all: SHOW_GROUPS, too */
    /* --free: the best of all layouts, for each shape and number of processes; without shapes that of -m, -n, -k */
    explain_free_items processes, shapes;
    int64_t memory; /* bytes of a process; 0: no limit */
    /* --collective: one collective instead of a product */
    const char *collective, *alg;
    int64_t bytes, root;
} explain_arguments;

/* One way of grouping the grid, for SHOW_GROUPS. */
typedef struct hierarchy {
    group_grid grid;
    int64_t outer, block; /* of the first level if there are several, else -1; of the last */
    hsumma_plan *plan;    /* NULL if the library refuses it */
    hsumma_plan_info info;
    char message[400]; /* why there is no plan */
    int least;
} hierarchy;

/* A piece of the looped dimension that lies in one block of both moving operands and in one panel. */
typedef struct cut {
    int64_t begin, length;
    int panel, owner[2];
} cut;

/* What moves on one level: `panels` panels of `width` that go the same way, one after the other. */
typedef struct stage {
    int level; /* of the mover, 0 the outermost; HS_EXCHANGE */
    int tier, panel, panels;
    int64_t width;
    const char *algorithm;
    struct hs_list *part; /* of each process, until the messages have been read off */
    struct hs_hop *hop;
    int hops;
} stage;

/* The way of one moving operand's first outermost panel of a pair of owners. */
typedef struct picture {
    int operand, pair;
    int64_t at, width; /* its first index, its width */
    int tier;
    struct hs_arrival *place; /* of each process */
    stage stages[2 * HS_LEVELS_MAX + 1];
    int stage_count;
} picture;

/*
 * Whether the group count G = sqrt(p) is a minimum or a maximum of communication in the HSUMMA paper's model (Section
 * IV-C: van de Geijn broadcasts, B = b): a minimum where alpha / beta is above 2 n b / p.  The paper's beta is per
 * element; per_element takes the machine's number as that, per_byte takes it as what it is, seconds per byte.
 */
typedef struct condition {
    int applies; /* the product and the grid are square or nearly */
    int64_t n, b, p;
    double per_element, per_byte, against;
    int minimum_per_element, minimum_per_byte;
} condition;

/* What enters the nodes with the grid in one order; the panels are divided into spans. */
enum { ORDERS = 3, MOST_SPANS = 8 };
typedef struct entering {
    char order;
    int spans;
    int planned;               /* else the library refuses it in this order */
    int64_t *messages, *bytes; /* into each node, of one span of panels after the other: [span][node] */
    int64_t most, all;         /* bytes into the node that gets most, into all */
    double seconds;            /* predicted */
} entering;

typedef struct explanation {
    const explain_arguments *args;
    int whole[2];                /* the grid */
    int nprow, npcol, processes; /* those of it that take part */
    hsumma_context *ctx;
    const struct hs_division *node; /* of the processes */
    hsumma_grid *grid;              /* without this process */
    hsumma_desc desc[3];
    hsumma_plan *plan;
    hsumma_plan_info info;
    struct hs_variant variant;
    condition groups;
    spread cold, warm; /* seconds that planning took: nothing known of the clock, everything */
    hierarchy *hierarchies;
    int hierarchy_count;
    /* read off the loops of the processes (read.c) */
    int pairs;
    int64_t panels;
    int (*owner)[2]; /* of each pair */
    int counted;
    int64_t messages_max, bytes_max, messages, bytes; /* -1 if not counted */
    bounds_count received;                            /* while that is counted */
    product_bounds bounds;
    struct hs_layered_price *layers; /* numbers of layers from 2 on, where the processes are on several nodes */
    int layers_count;
    entering enters[ORDERS]; /* counted with several nodes; order 0: not */
    int64_t workspace_max;   /* if not counted: by the formula that the choice goes by */
    picture *pictures;
    int picture_count;
    cut *cuts;
    size_t cut_count;
} explanation;

/* The command, when its arguments are known.  Collective; an exit status. */
int explain_run(const void *args, const char *options, MPI_Comm comm);

/* Makes the loop of one process of the grid after the other, of the first `count`, and hands each to a reader. */
typedef hsumma_status loop_reader(void *state, const struct hs_loop *loop, int process, struct hs_message *message);
hsumma_status explain_each_process(const explanation *e, int count, loop_reader *read, void *state,
                                   struct hs_message *message);
/* Takes down what these loops would do.  The message is in text. */
hsumma_status explain_read(explanation *e, struct hs_message *message);
void explain_read_free(explanation *e);

/* "*", "1", ".", ... : how a process comes to a panel. */
char explain_mark(const struct hs_arrival *place);

/* Print; return 0 if writing failed. */
int explain_table(const explanation *e, FILE *file);
int explain_json(const explanation *e, FILE *file);

/* Lays the matrices of e->args out on a grid of e->whole in an order, and plans; a status and a complaint. */
hsumma_status explain_lay_out(explanation *e, char order, struct hs_message *message);

/* nodes.c.  Where the processes are, by --nodes or --map. */
hsumma_status explain_places(explanation *e, int processes, struct hs_message *message);
/* What enters the nodes, in this order and in others; after explain_read. */
hsumma_status explain_entering(explanation *e, struct hs_message *message);
void explain_entering_free(explanation *e);
/* That of the plan; NULL if it was not counted. */
const entering *explain_enters(const explanation *e);
void explain_print_entering(const explanation *e, FILE *file);
void explain_draw_nodes(const explanation *e, FILE *file);
void explain_entering_json(const explanation *e, json_t *object);

/* layers.c: layers over k, which the plan that is explained does not have. */
hsumma_status explain_layers(explanation *e, struct hs_message *message);
void explain_print_layers(const explanation *e, FILE *file);
json_t *explain_layers_json(const explanation *e);

/* Parts of the table: what was chosen and what it costs; how long choosing took. */
void explain_plan(const explanation *e, FILE *file);
void explain_timing(const explanation *e, FILE *file);

/* free.c: the table of --free, and the readers of its lists. */
int explain_free(const explain_arguments *args, FILE *file);
argument_reader explain_read_free_ranks, explain_read_free_shapes;

/* The rounds of one algorithm, or a table of all of a collective, over all processes: a status and a complaint. */
hsumma_status explain_collective(const explain_arguments *args, hsumma_context *ctx, FILE *file,
                                 struct hs_message *message);

#endif
