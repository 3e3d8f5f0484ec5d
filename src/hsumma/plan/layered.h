/*
 * Layers over k (2.5-D; Solomonik and Demmel, Euro-Par 2011): P x Q x L processes.  Each layer is a P x Q grid, which
 * multiplies its share of k.
 *
 * A and B are redistributed into the layers, both at the same time; each layer executes a plan of its own on its part;
 * and the partial results are added to C in the order of the layers (summa/redistribute).  Data that move between
 * layouts are read and written once.  Inside a layer the product is like any other.
 *
 * A layer has consecutive processes of the grid, in the order of their ranks, so it has few nodes if ranks are
 * consecutive on nodes.  Inside a layer processes are placed by order 'A' (hsumma_grid_create).  Process (i, j) of
 * layer l has block (i, l Q + j) of A, which is cut into P x (L Q) blocks, and block (l P + i, j) of B, which is cut
 * into (L P) x Q blocks.  A transposed A is distributed as stored, in the blocks described for B, and vice versa.
 */
#ifndef HS_HSUMMA_PLAN_LAYERED_H
#define HS_HSUMMA_PLAN_LAYERED_H

#include "hsumma/context/context.h"
#include "summa/redistribute/redistribution.h"

struct hs_request;

struct hs_layered {
    int count;          /* number of layers, L */
    int extent[2];      /* P and Q */
    hsumma_grid **grid; /* grid[l]: the grid of layer l */
    int mine;           /* the layer of this process; -1 if it is in none */
    /* The plan of this process's layer; if it is in none, the plan of layer 0, of which it is not a member. */
    hsumma_plan *inner;
    int alike; /* 1 if all layers have the same plan, as far as its line says */
    struct hs_redistribution move[3];
    int in_place[3];           /* 1 for A or B if it already has the layout of the layers, and is not moved */
    int64_t moved[3];          /* bytes that this process sends in each redistribution */
    int64_t messages;          /* messages that this process sends in all of them */
    double move_seconds[3];    /* predicted seconds of each redistribution */
    struct hs_axis axis[3][2]; /* axes of A and B over all layers, and of C over one layer */
    char *memory;              /* memory of this process's parts of A, B and C in its layer */
    int64_t bytes; /* bytes of `memory`, plus those of the redistributions' buffers or of the inner plan, whichever are
                      more */
    struct hs_matrix part[3];
    struct hs_matrix *partial; /* part[HS_C], once per layer: the sources of C's redistribution */

    /* State of the current execution. */
    enum { HS_LAYERED_INWARD, HS_LAYERED_PRODUCT, HS_LAYERED_OUTWARD, HS_LAYERED_OVER } step;
    int64_t sent_bytes, sent_messages;
    double seconds; /* seconds of the last execution */
};

/* Whether a request needs an hs_layered: for several layers, or for matrices on several grids, for which one layer is
 * enough. */
int hs_layered_wanted(const struct hs_request *request, const struct hs_settings *settings);

/* Checks that A, B and C have at most 2^58 elements each, because hs_layers_count multiplies pairs of dimensions.
 * HSUMMA_ERR_UNSUPPORTED. */
hsumma_status hs_layered_check_sizes(const int64_t extent[3], struct hs_message *message);

/* `layers`, but at most the number of processes of A's grid. */
int hs_layered_at_most(const struct hs_request *request, int layers);

/* Whether a plan of p?gemm (hs_request.alone) may get several layers.  All processes then make it together, because
 * layers need grids and memory of all of them. */
int hs_layered_together(const hsumma_context *ctx, const struct hs_request *request,
                        const struct hs_settings *settings);

/* The layout of a view of a matrix on a grid. */
struct hs_layout hs_layout_of(const hsumma_grid *grid, const struct hs_view *view);

/* Implemented in layered_places.c, as are the functions up to hs_layered_ends_free: chooses P x Q for layered->count
 * layers, with as many processes as possible and the fewest elements that a process receives, and the axes.  Returns
 * these elements. */
int64_t hs_layered_place(struct hs_layered *layered, const struct hs_request *request, int processes);
/* The stored axis of A or B on which k lies. */
int hs_layered_axis_of_k(const struct hs_request *request, int operand);
/* The descriptor of an operand in the plan of a layer. */
hsumma_desc hs_layered_desc(const struct hs_layered *layered, const struct hs_request *request, int operand, int layer);
/* The extent of k that a layer's descriptors have. */
int64_t hs_layered_share_of_k(const struct hs_request *request, const hsumma_desc desc[3]);
/* Sets layered->in_place for A and B.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_layered_find_in_place(struct hs_layered *layered, const struct hs_request *request,
                                       const struct hs_problem *problem, const struct hs_allocator *memory);
/* The layout that hs_layered_layouts chooses for an operand.  rank: memory for all ranks. */
struct hs_layout hs_layered_free_layout(const struct hs_layered *layered, const struct hs_request *request, int operand,
                                        int *rank);
/* Bytes of the parts of A, B and C that are not in place, on the process with the largest parts. */
int64_t hs_layered_part_bytes(const struct hs_layered *layered, size_t size);

/* The source and target layouts of each operand's redistribution. */
struct hs_layered_ends {
    struct hs_layout given[3], inside[2], *of_c;
    const struct hs_layout *source[3], *target[3];
    int sources[3];
    int *rank[2]; /* memory for the rank tables of A and B over all layers */
};
hsumma_status hs_layered_ends_make(const struct hs_layered *layered, const struct hs_request *request,
                                   const struct hs_problem *problem, const struct hs_allocator *memory,
                                   struct hs_layered_ends *ends);
void hs_layered_ends_free(struct hs_layered_ends *ends, const struct hs_allocator *memory);

/* The ranks of a grid in ascending order; NULL if out of memory. */
int *hs_layered_ranks(hsumma_context *ctx, const hsumma_grid *grid);
/* Makes the plan of a layer from the caller's options, with layers=1 and the workspace limit `limit`.  It is chosen as
 * the plan of layer 0 is, whose share of k is the largest. */
hsumma_status hs_layered_plan_inner(hsumma_context *ctx, const struct hs_request *request,
                                    const struct hs_layered *layered, int layer, int64_t limit, int silent,
                                    hsumma_plan **inner);

/* With layers=auto, several layers must take less than this share of the time without layers, because redistributions
 * are priced less accurately. */
#define HS_LAYERS_CLEARLY 0.9

/* The alternative to several layers: one layer.  seconds: its predicted time, -1 if there is none; gemm: that of its
 * local products.  free: 1 if several layers are priced with A, B and C in the layouts of hs_layered_layouts instead of
 * their present layouts. */
struct hs_layered_rival {
    double seconds, gemm;
    int free;
};
/*
 * Implemented in layered_choice.c, for layers=auto.  Sets *count to the number of layers with the least predicted time
 * among those whose memory fits into the workspace limit.  Numbers that engage nearly all processes are priced
 * in the order of an estimate until one is not faster.  If `one` has a time, *count is 1 unless more layers are clearly
 * faster.  *count is equal on all processes that return HSUMMA_OK.
 */
hsumma_status hs_layered_choose(hsumma_context *ctx, const struct hs_request *request,
                                const struct hs_settings *settings, struct hs_layered_rival one, int *count);
/* Whether the options and the context permit a choice of layers. */
int hs_layered_may_choose(const hsumma_context *ctx, const struct hs_settings *settings);
/* Sets layered->move_seconds.  limit: of the bytes of the buffers of one redistribution. */
hsumma_status hs_layered_move_seconds(hsumma_context *ctx, struct hs_layered *layered,
                                      const struct hs_layered_ends *ends, size_t size, int64_t limit);

/* The predicted cost of layers. */
struct hs_layered_price {
    int count, extent[2];
    double product, move[3], seconds;
    /* Most bytes of a process: parts of A, B and C that are not in place; these parts plus panel buffers. */
    int64_t part_bytes, workspace_bytes;
};
/* Prices `count` layers on the processes of A's grid, without creating them.  Errors: HSUMMA_ERR_WORKSPACE if the parts
 * exceed the limit, HSUMMA_ERR_MEMORY, and errors of a layer's plan. */
hsumma_status hs_layered_price(hsumma_context *ctx, const struct hs_request *request, int count, int64_t limit,
                               struct hs_layered_price *price);

/* Creates the layers and their grids.  Collective over the context, with the same status on all processes.  After an
 * error *layered is NULL and ctx->message explains the error. */
hsumma_status hs_layered_create(hsumma_context *ctx, const struct hs_request *request,
                                const struct hs_settings *settings, struct hs_layered **layered);
/* Allocates memory, redistributions and the layer's plan for plan->layered.  Errors: HSUMMA_ERR_WORKSPACE on all
 * processes, HSUMMA_ERR_MEMORY, and errors of the layer's plan. */
hsumma_status hs_layered_prepare(hsumma_plan *plan, const struct hs_request *request,
                                 const struct hs_settings *settings, struct hs_message *message);
/* Joins the votes on a plan after hs_layered_prepare, and sets layered->alike.  plan: NULL if there is no memory for
 * it. Collective over the context. */
hsumma_status hs_layered_agree(hsumma_context *ctx, hsumma_plan *plan, struct hs_vote vote, struct hs_verdict *verdict);
void hs_layered_destroy(hsumma_context *ctx, struct hs_layered *layered);

/*
 * Makes layouts with which only partial results of C move between layers.  A and B are distributed as the layers need
 * them; of C, each process of a layer owns one block of its tile.  The processes are those of the grid of
 * request->desc[].  Collective over the context; the caller frees the grids.
 */
hsumma_status hs_layered_layouts(hsumma_context *ctx, const struct hs_request *request,
                                 const struct hs_settings *settings, hsumma_grid *grid[3], hsumma_desc desc[3]);

/* Begins an execution of a plan whose matrices, alpha and beta are set.  The caller then repeats hs_layered_advance
 * until *over is 1. */
void hs_layered_begin(hsumma_plan *plan);
hsumma_status hs_layered_advance(hsumma_plan *plan, int *worked, int *over);
/* The layer's plan while it runs; NULL while data move between layouts, or if this process is in no layer. */
hsumma_plan *hs_layered_running(const hsumma_plan *plan);

#endif
