/* The objects behind the public handles.  The holders of a context are its owner, its grids and the plans that callers
 * hold; the last release destroys it. */
#ifndef HS_HSUMMA_CONTEXT_CONTEXT_H
#define HS_HSUMMA_CONTEXT_CONTEXT_H

#include "base/compute.h"
#include "base/device.h"
#include "base/memory.h"
#include "base/options.h"
#include "coll/team/team.h"
#include "dist/axis.h"
#include "hsumma/context/allocations.h"
#include "hsumma/context/product_memory.h"
#include "hsumma/context/stall.h"
#include "hsumma/cost/predict.h"
#include "hsumma/tuned/tuned.h"
#include "summa/local/local.h"

struct hs_plan_cache; /* defined in src/api */
struct hs_workspace;

/* The upper case of a letter argument; as in BLAS, either case is accepted. */
static inline char hs_upper(char letter)
{
    return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

struct hsumma_context {
    int holders;
    void (*destroy)(hsumma_context *ctx); /* provided by the creator */
    struct hs_allocator memory;
    struct hs_allocator bulk;   /* for memory that contains only matrix elements */
    struct hs_compute *compute; /* costs in a simulated run; NULL on a real machine */
    struct hs_comm comm;
    struct hs_trace timeline; /* comm.trace */
    struct hs_stall stall;
    struct hs_options options;
    struct hs_texts texts; /* the memory of texts in `options` */
    struct hs_profile profile;
    struct hs_clock_memo memo;       /* clock values for the profile */
    int measures;                    /* 1 if the network between nodes is measured at creation */
    int measures_copies;             /* 1 if the first long broadcasts measure copies, on one node */
    uint64_t network_key;            /* key of the context's set of hosts, on rank 0 (hs_network_key) */
    struct hs_tuned tuned;           /* measured choices for products */
    int trials;                      /* number of trials in progress; `tuned` has space for the result of each */
    char tuned_file[HS_OPTION_TEXT]; /* path of the file that stores new measurements; "" if they are not stored */
    char note[HS_OPTION_TEXT];       /* why files or devices are not used, or results not stored; "" if none */
    int threads;       /* this process's BLAS threads (hs_share_of_node in api/cores.h); 0 if the user has set them */
    int threads_model; /* rank 0's BLAS threads (hs_share_of_node): for choices, which must be equal on all processes */
    uint64_t entered;  /* number of this process's calls that are collective over the context, without executions */
    int grids;         /* number of grids made so far, equal on all processes */
    uint64_t tile_bytes;               /* limit on the bytes of a grid's tiles on each node, equal on all processes */
    struct hs_node_device *left_tiles; /* tiles of freed grids, which other processes may still have mapped */
    uint64_t left_hash;                /* a hash of the grids of left_tiles */
    struct hs_message no_tiles;        /* the reason why devices cannot share tiles; "" if none is known */
    struct hs_device *device;          /* NULL if the context has no device */
    int64_t device_bytes;              /* bytes of memory of the smallest of all processes' devices */
    struct hs_stream *stream;          /* the stream that orders work and results (hsumma_set_stream) */
    struct hs_local *local;            /* computes local products on the device; NULL if the BLAS computes them */
    struct hs_event *turned;           /* recorded on the previous stream when a new one is set */
    struct hs_agreement agreement;
    struct hs_registry own;            /* algorithms registered by the user */
    struct hs_team team;               /* the team of all ranks, which runs the collective calls */
    struct hs_allocations allocations; /* memory of hsumma_malloc */
    struct hs_workspace *workspace;    /* panel buffers, lent to the running plan (workspace.h) */
    int plans;                         /* number of plans that may need the workspace */
    hsumma_plan *running;
    struct hs_class_choices *classes; /* choices of p?gemm (plan/class_choice.c); NULL if none */
    hsumma_plan *spare;               /* memory of a plan of the cache that has been freed, for the next one; or NULL */
    int broken; /* 1 after an error that may leave messages in flight: nothing is started and no buffer is reused */
    struct hs_plan_cache *cache;
    struct hs_message message;
};

struct hsumma_grid {
    hsumma_context *ctx;
    int holders;
    int number; /* index among the grids that the context has made, equal on all processes */
    struct hs_grid grid;
    struct hs_product_memory shared;
    struct hs_node_device *on_device; /* tiles for products on devices; NULL if there are none yet */
    int *rank;                        /* grid.rank, to be freed */
};

/* The axis of the rows (0) or columns (1) of the whole matrix; desc must be valid. */
struct hs_axis hs_desc_axis(const hsumma_desc *desc, int axis);
/* This process's number of rows (0) or columns (1); 0 if it is not in the grid, or if a size is not valid. */
int64_t hs_desc_local(const hsumma_desc *desc, int axis);
/* Implements hsumma_desc_init. */
hsumma_desc hs_desc_make(const hsumma_grid *grid, int64_t m, int64_t n, int64_t mb, int64_t nb);

/* Implements hsumma_grid_create. */
hsumma_status hs_grid_create(hsumma_context *ctx, const int extent[2], char order, const int *ranks,
                             hsumma_grid **result);

/* Sets the message of a call that an error of MPI, or the loss of a process, has ended; returns the status. */
hsumma_status hs_context_ended_early(hsumma_context *ctx, hsumma_status status, const char *call);
/* Refuses a call in a broken context: sets the message, and returns HSUMMA_ERR_PEER or HSUMMA_ERR_MPI. */
hsumma_status hs_context_refuse(hsumma_context *ctx);
/* HSUMMA_OK if a plan or call can be started in the context, else HSUMMA_ERR_BUSY or the status of hs_context_refuse.
 */
hsumma_status hs_context_check_free(hsumma_context *ctx);

/* Returns the status of a call of this process's device; on failure copies the device's message to the context. */
hsumma_status hs_context_device_said(hsumma_context *ctx, hsumma_status status);

/* Joins the votes of all processes of the context; marks the context as broken if MPI fails, or if a device's failure
 * interrupts the agreement.  Collective. */
struct hs_verdict hs_context_agree(hsumma_context *ctx, struct hs_vote vote);
/* Turns the verdict of hs_context_agree into a status, equal on all ranks, and a message: the error of the rank
 * that failed, or the argument of the call in which ranks differ (coll/node/verdict.h).  mine: the status of this
 * rank's vote.  Collective. */
hsumma_status hs_context_judge(hsumma_context *ctx, hsumma_status mine, struct hs_verdict verdict, const char *call,
                               const struct hs_given *given, int count);

/* Shows the processes of this node which call this process enters. number, mark: equal on all processes that enter the
 * same call, and so different from those of other calls of this kind. */
static inline void hs_context_enter(hsumma_context *ctx, int entered, uint64_t number, uint32_t mark)
{
    hs_roster_enter(&ctx->comm.roster, (uint64_t)entered | (number & 0xffffff) << 8 | (uint64_t)mark << 32);
}

/* Removes one holder of a context or grid; removing the last one destroys the object. */
void hs_context_release(hsumma_context *ctx);
void hs_grid_release(hsumma_grid *grid);

/* Implemented in imagine_grid.c: makes a grid for plans that only this process makes and that never run.  Puts the
 * grid's ranks, rank[], into order 'A', and assumes that the ranks of a node share memory.  The plans must be destroyed
 * before rank[] is freed. HSUMMA_ERR_MEMORY. */
hsumma_status hs_imagine_grid(hsumma_context *ctx, const int extent[2], int *rank, hsumma_grid *grid);

#endif
