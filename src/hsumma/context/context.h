/* The objects behind the public handles.  A context is held by its owner, its grids and its plans, and is destroyed
 * with the last. */
#ifndef HS_HSUMMA_CONTEXT_CONTEXT_H
#define HS_HSUMMA_CONTEXT_CONTEXT_H

#include "base/compute.h"
#include "base/device.h"
#include "base/memory.h"
#include "base/options.h"
#include "coll/run/team.h"
#include "dist/axis.h"
#include "hsumma/context/allocations.h"
#include "hsumma/context/product_memory.h"
#include "hsumma/cost/predict.h"
#include "hsumma/tuned/tuned.h"
#include "summa/local/local.h"

struct hs_plan_cache; /* of api */
struct hs_workspace;

struct hsumma_context {
    int holders;
    void (*destroy)(hsumma_context *ctx); /* of whoever has made it */
    struct hs_allocator memory;
    struct hs_allocator bulk;   /* of what holds nothing but elements of matrices */
    struct hs_compute *compute; /* of a simulated run; NULL: a real one */
    struct hs_comm comm;
    struct hs_options options;
    struct hs_texts texts; /* of its options */
    struct hs_profile profile;
    struct hs_clock_memo memo;       /* of the profile */
    int measures;                    /* what lies between its nodes when it is made */
    uint64_t network_key;            /* of its hosts, on rank 0 (hs_network_key) */
    struct hs_tuned tuned;           /* measured choices for products */
    int trials;                      /* under way: each has a place in it */
    char tuned_file[HS_OPTION_TEXT]; /* where to remember more; "": nowhere */
    char note[HS_OPTION_TEXT];       /* about files that were not used; "": nothing */
    int threads;         /* this process's share of its node's cores; 0: the user has set the BLAS's threads */
    int threads_model;   /* the first process's share, for choices, which all must make alike */
    int on_machine;      /* processes of the context on this one's machine */
    int grids;           /* that have been made, alike on all processes */
    uint64_t tile_bytes; /* that a grid may have on each node, alike on all processes */
    struct hs_node_device *left_tiles; /* of grids that this process has freed */
    uint64_t left_hash;                /* which grids these are */
    struct hs_message no_tiles;        /* why devices cannot share tiles, once that is known; "": it is not */
    struct hs_device *device;          /* NULL: none */
    int64_t device_bytes;              /* that the smallest of all processes' devices has */
    struct hs_stream *stream;          /* where results are ordered */
    struct hs_local *local;            /* how this process multiplies; NULL: by its BLAS */
    struct hs_event *turned;           /* what the stream before had to do when it was set */
    int *ranks;                        /* 0, 1, 2, ...: the group of all */
    struct hs_agreement agreement;
    struct hs_registry own;            /* algorithms that the user has registered */
    struct hs_team team;               /* of all: runs the collective calls */
    struct hs_allocations allocations; /* what hsumma_malloc has given */
    struct hs_workspace *workspace;    /* panel buffers, of the plan that runs (workspace.c) */
    int plans;                         /* that may need it */
    hsumma_plan *running;
    int broken; /* MPI has failed: nobody knows what is still on its way, so nothing more is started or reused */
    struct hs_plan_cache *cache;
    struct hs_message message;
};

struct hsumma_grid {
    hsumma_context *ctx;
    int holders;
    int number; /* among those that the context has made, alike on all processes */
    struct hs_grid grid;
    struct hs_product_memory shared;
    struct hs_node_device *on_device; /* tiles for products on devices; NULL: none so far */
    int *rank;
};

/* The rows (0) or columns (1) of a whole described matrix; its fields must be valid. */
struct hs_axis hs_desc_axis(const hsumma_desc *desc, int axis);
/* How many of them this process has; 0 where the descriptor is not valid. */
int64_t hs_desc_local(const hsumma_desc *desc, int axis);
/* hsumma_desc_init. */
hsumma_desc hs_desc_make(const hsumma_grid *grid, int64_t m, int64_t n, int64_t mb, int64_t nb);

/* hsumma_grid_create. */
hsumma_status hs_grid_create(hsumma_context *ctx, const int extent[2], char order, const int *ranks,
                             hsumma_grid **result);

/* Whether anything can run in the context now; else HSUMMA_ERR_BUSY or HSUMMA_ERR_MPI. */
hsumma_status hs_context_check_free(hsumma_context *ctx);

/* The status of a call of this process's device, whose message becomes the context's. */
hsumma_status hs_context_device_said(hsumma_context *ctx, hsumma_status status);

/* Joins the votes of all processes of the context, which is broken if MPI fails in that.  Collective. */
struct hs_verdict hs_context_agree(hsumma_context *ctx, struct hs_vote vote);
/* The same with messages: `what` was voted on, in the words of `unlike` hashes differ.  A status alike on all. */
hsumma_status hs_context_agree_on(hsumma_context *ctx, hsumma_status mine, int64_t hash, const char *what,
                                  const char *unlike);

/* One holder less. */
void hs_context_release(hsumma_context *ctx);
void hs_grid_release(hsumma_grid *grid);

#endif
