/*
 * Layers over k (2.5-D; Solomonik and Demmel, Euro-Par 2011): P x Q x L processes, of which each layer, a P x Q grid,
 * multiplies its share of k.
 *
 * A and B pass into the layers by redistribution, both together, each layer runs a plan of its own on its part, and the
 * partial results are added to C in the order of the layers (summa/redistribute).  What moves between layouts is read
 * and written once; inside a layer it is a product like any other.
 *
 * Layers are runs of the grid's processes in the order of their ranks, so that they lie on whole nodes where ranks do;
 * inside a layer places are dealt as by order 'A'.  In layer l process (i, j) has of A rows i and columns (l, j) of
 * P x (L Q) blocks, of B rows (l, i) and columns j of (L P) x Q; a matrix that is transposed is spread as it is stored.
 */
#ifndef HS_HSUMMA_PLAN_LAYERED_H
#define HS_HSUMMA_PLAN_LAYERED_H

#include "hsumma/context/context.h"
#include "summa/redistribute/redistribution.h"

struct hs_request;

struct hs_layered {
    int count;          /* layers */
    int extent[2];      /* P x Q of each */
    hsumma_grid **grid; /* one for each layer */
    int mine;           /* the layer of this process; -1: none */
    hsumma_plan *inner; /* of that layer; where there is none, of the first, in which it takes no part */
    struct hs_redistribution move[3];
    int in_place[3];           /* A, B: it lies as the layers want it, and does not move */
    int64_t moved[3];          /* bytes that this process sends in each of them */
    double move_seconds[3];    /* predicted */
    struct hs_axis axis[3][2]; /* of each operand over all layers; of C over one */
    char *memory;              /* of this process's parts of A, B and C in its layer */
    int64_t bytes;             /* of that, and of buffers */
    struct hs_matrix part[3];
    struct hs_matrix *partial; /* C's, as each layer's */

    /* an execution */
    enum { HS_LAYERED_INWARD, HS_LAYERED_PRODUCT, HS_LAYERED_OUTWARD, HS_LAYERED_OVER } step;
    int64_t sent_bytes, sent_messages;
    double seconds; /* of the last one */
};

/* Whether a request needs layers or, with one layer, another layout than its matrices have. */
int hs_layered_wanted(const struct hs_request *request, const struct hs_settings *settings);

/* The layout of a part of a matrix on a grid. */
struct hs_layout hs_layout_of(const hsumma_grid *grid, const struct hs_view *view);

/* layered_places.c: the shape and the axes of layered->count layers; the stored axis of A or B on which k lies; an
 * operand as the plan of a layer has it; its layout in a layer (C) or in all of them, with room for all ranks. */
void hs_layered_place(struct hs_layered *layered, const struct hs_request *request, int processes);
int hs_layered_axis_of_k(const struct hs_request *request, int operand);
hsumma_desc hs_layered_desc(const struct hs_layered *layered, const struct hs_request *request, int operand, int layer);
struct hs_layout hs_layered_layout(const struct hs_layered *layered, const struct hs_request *request, int operand,
                                   int layer, int *rank);
/* Finds which of A and B have the layout of the layers already.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_layered_find_in_place(struct hs_layered *layered, const struct hs_request *request,
                                       const struct hs_problem *problem, const struct hs_allocator *memory);
/* The layout of hs_layered_layouts, with room for all ranks. */
struct hs_layout hs_layered_free_layout(const struct hs_layered *layered, const struct hs_request *request, int operand,
                                        int *rank);
/* Bytes of the parts of A, B and C, in place or not, of the process that has most. */
int64_t hs_layered_part_bytes(const struct hs_layered *layered, size_t size);

/* What each operand's redistribution is from and into. */
struct hs_layered_ends {
    struct hs_layout given[3], inside[2], *of_c;
    const struct hs_layout *source[3], *target[3];
    int sources[3];
    int *rank[2]; /* of A and B in all layers */
};
hsumma_status hs_layered_ends_make(const struct hs_layered *layered, const struct hs_request *request,
                                   const struct hs_problem *problem, const struct hs_allocator *memory,
                                   struct hs_layered_ends *ends);
void hs_layered_ends_free(struct hs_layered_ends *ends, const struct hs_allocator *memory);

/* The ranks of a grid in ascending order; NULL without memory. */
int *hs_layered_ranks(hsumma_context *ctx, const hsumma_grid *grid);
/* The plan of a layer: the caller's words, of one layer, in what the limit leaves. */
hsumma_status hs_layered_plan_inner(hsumma_context *ctx, const struct hs_request *request, const hsumma_desc desc[3],
                                    int64_t limit, int silent, hsumma_plan **inner);

/* What a choice of layers is compared with: the predicted seconds of one layer, -1: there is none; free: A, B and C
 * will have the layouts of hs_layered_layouts instead of those that they have. */
struct hs_layered_rival {
    double seconds;
    int free;
};
/*
 * layered_choice.c: layers=auto.  The number of layers with the least predicted time of all that divide the processes
 * and fit into the workspace limit: alike on all processes where it is HSUMMA_OK; 1 unless others are clearly faster.
 */
hsumma_status hs_layered_choose(hsumma_context *ctx, const struct hs_request *request,
                                const struct hs_settings *settings, struct hs_layered_rival one, int *count);
/* Whether layers may be chosen with these options, in this context. */
int hs_layered_may_choose(const hsumma_context *ctx, const struct hs_settings *settings);
/* Predicted seconds of the redistributions. */
hsumma_status hs_layered_move_seconds(hsumma_context *ctx, struct hs_layered *layered,
                                      const struct hs_layered_ends *ends, size_t size);

/* What layers cost by the model. */
struct hs_layered_price {
    int count, extent[2];
    double product, move[3], seconds;
    int64_t part_bytes, workspace_bytes; /* on a process: of the parts of A, B and C; of those and of panels */
};
/* Of `count` layers on the processes of A's grid, which need not be there.  HSUMMA_ERR_WORKSPACE where their parts
 * exceed the limit; what the plan of a layer refuses; HSUMMA_ERR_MEMORY. */
hsumma_status hs_layered_price(hsumma_context *ctx, const struct hs_request *request, int count, int64_t limit,
                               struct hs_layered_price *price);

/* The layers and their grids.  Collective over the context, and the same status on all; *layered is NULL after an
 * error. A message in ctx->message. */
hsumma_status hs_layered_create(hsumma_context *ctx, const struct hs_request *request,
                                const struct hs_settings *settings, struct hs_layered **layered);
/* Memory, redistributions and the layer's plan for plan->layered.  HSUMMA_ERR_WORKSPACE, alike on all; the layer's
 * plan's errors. */
hsumma_status hs_layered_prepare(hsumma_plan *plan, const struct hs_request *request,
                                 const struct hs_settings *settings, struct hs_message *message);
void hs_layered_destroy(hsumma_context *ctx, struct hs_layered *layered);

/*
 * The distributions in which the layers of a product want A and B, and in which each process of a layer owns one block
 * of its tile of C: nothing but partial results of C moves between layers then.  request->desc[] is on the grid of the
 * processes.  Collective as hs_layered_create; the grids are to be freed.
 */
hsumma_status hs_layered_layouts(hsumma_context *ctx, const struct hs_request *request,
                                 const struct hs_settings *settings, hsumma_grid *grid[3], hsumma_desc desc[3]);

/* An execution of a plan whose matrices, alpha and beta are bound.  Then advance until *over. */
void hs_layered_begin(hsumma_plan *plan);
hsumma_status hs_layered_advance(hsumma_plan *plan, int *worked, int *over);
/* The layer's plan while it runs; NULL: messages between layouts are under way. */
hsumma_plan *hs_layered_running(const hsumma_plan *plan);

#endif
