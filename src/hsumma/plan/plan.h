/* The plan: a multiplication with checked arguments, with all choices made and all memory allocated.  It can be
 * executed any number of times. */
#ifndef HS_HSUMMA_PLAN_PLAN_H
#define HS_HSUMMA_PLAN_PLAN_H

#include "coll/run/agree.h"
#include "hsumma/context/context.h"
#include "hsumma/context/workspace.h"
#include "hsumma/guard/guard.h"
#include "hsumma/guard/sections.h"
#include "hsumma/plan/layered.h"
#include "hsumma/plan/plan_device.h"
#include "hsumma/plan/staging.h"
#include "hsumma/plan/trial.h"
#include "summa/messages/loop.h"
#include "summa/node/node.h"

/* The arguments of a multiplication, as passed to the API. */
struct hs_request {
    hsumma_type type;
    char op[3];        /* op of A, op of B, and 'N' for C */
    int64_t extent[3]; /* m, n, k */
    const hsumma_desc *desc[3];
    const char *options;
    /* 1 if no agreement is needed: all processes pass the same arguments, but perhaps at different times (p?gemm
     * without layers, hs_layered_together). */
    int alone;
    int silent;                     /* 1 if the plan's `line` and `why` are not needed */
    const struct hs_choice *choice; /* the choice, if it has been made; NULL otherwise */
    int afresh;                     /* 1 if remembered plans are ignored */
    int unguarded;                  /* 1 if the guard of another plan, of which this is a layer, checks this one */
    int for_cache;                  /* 1 if the cache, which has checked the request, makes the plan */
    int layers;                     /* number of layers, if it has been chosen; 0 if the options determine it */
    /* For a layer's plan: A, B and C of the layer with the largest share of k.  The plan is chosen for them, so that
     * all layers choose alike; otherwise NULL. */
    const hsumma_desc *largest;
    int64_t limit;            /* for a layer's plan: of its workspace, in bytes */
    int priced;               /* 1 if the plan is only made to know its price, and has no sections */
    int64_t whole;            /* for a section of k (guard/sections.h): k of the whole product; otherwise 0 */
    const void *scalar[2];    /* alpha and beta, for hs_request_compare; otherwise NULL */
    const hsumma_plan *first; /* for a section but the first: the plan of the first; otherwise NULL */
};

/* Codes for the subject of a verdict. */
enum { HS_ABOUT_NOTHING, HS_ABOUT_A, HS_ABOUT_B, HS_ABOUT_C, HS_ABOUT_SCALARS, HS_ABOUT_MEMORY, HS_ABOUT_OVERLAP };

/* The phases of an execution (execute.c). */
enum hs_plan_phase {
    HS_PLAN_COMPLETE, /* no execution is in progress, or its work has ended */
    HS_PLAN_AGREEING, /* agreement on whether all can begin, and whether the execution runs on devices */
    HS_PLAN_STAGING, /* for the host: agreement on whether all have memory for copies of matrices that are on devices */
    HS_PLAN_SUMMING, /* with a guard: checksums of A travel */
    HS_PLAN_MULTIPLYING, /* multiplication by loop, node or devices; in a trial, spans of several candidates */
    HS_PLAN_TIMING,      /* in a trial: agreement on the candidates' times */
    HS_PLAN_REPORTING,   /* after the use of devices: agreement on whether one failed on any process */
    HS_PLAN_CHECKING,    /* with a guard: checksums of C travel */
    HS_PLAN_JUDGING,     /* with a guard: agreement on whether C is right */
    HS_PLAN_FAILED       /* hs_plan_drive had an error that wait or test has not returned yet */
};

struct hsumma_plan {
    hsumma_context *ctx;
    /* The operands' grids, held so that no other grid can be allocated at their addresses while the plan lives. */
    hsumma_grid *held[3];
    hsumma_grid *grid;   /* the grid of A */
    int in_grid;         /* 1 if this process is in `grid` */
    int member;          /* 1 if this process is in the problem's grid, which may lack processes that own nothing */
    int *ranks;          /* rank table of the problem's grid, if that is smaller than `grid` */
    uint64_t executions; /* number of executions that this process has begun */
    uint32_t mark;       /* a hash of the request, by which the node's processes recognise the plan */
    int cached; /* 1 if the cache or another plan, not the caller, holds this plan, which then does not hold the context
                 */
    int pooled; /* 1 if the plan's memory is to serve the next plan of the cache (hsumma_context.spare) */
    struct hs_problem problem;
    struct hs_scalar scalar; /* the problem's scalar type */
    int64_t local_rows[3];   /* local rows of the whole matrices, to check leading dimensions */
    /* The choice for the host, taken from ranking.choice[0]; that for devices is device.choice.  With layers only
     * spec.threads is set. */
    struct hs_choice choice;
    struct hs_trial trial;  /* only in the plan that the caller holds, not in its rivals */
    hsumma_plan *holder;    /* for a rival, the plan that the caller holds; else NULL */
    int remembered;         /* 1 if the choice was remembered (hs_trial_recall) */
    char not_recalled[200]; /* the reason why a remembered choice is not possible; empty if there is none */
    int by_node;            /* 1 if `node` executes, in memory that all processes share; 0 if `loop` executes */
    struct hs_loop loop;
    struct hs_node_product node;
    struct hs_plan_device device;   /* only in the plan that the caller holds, not in its rivals */
    struct hs_guard *guard;         /* NULL with guard=off */
    struct hs_sections *sections;   /* all plans of guard=panels, of which the caller holds the first; otherwise NULL */
    struct hs_layered *layered;     /* layers, each with its own plan; NULL if there are none */
    int wants;                      /* 1 if the context counts this plan among the plans that may need its workspace */
    struct hs_workspace *workspace; /* set while the plan runs */
    int64_t workspace_max;          /* the largest hs_plan_bytes of all processes */
    struct hs_agreement agreement;  /* the agreements of executions, over the whole grid */
    enum hs_plan_phase phase;
    int on_device; /* 1 if all processes have agreed to run on devices */
    int from_host; /* 1 if the run on devices makes a C in host memory, on some process */
    int saved;     /* 1 once that C has been copied there, or given up */
    int staged;    /* 1 if the plan runs on the host and some process copies matrices from device to host memory */
    hsumma_status failure; /* this process's error, to be reported at the end, or returned by wait or test */
    double began;
    union hs_value alpha, beta; /* kept for the multiplication, which begins after the agreement */
    struct hs_matrix matrix[3];
    struct hs_staging staging; /* used in a context with a device */
    /* Large, and last, so that a new plan need not be zeroed from ranking.choice on (new_plan in plan.c). */
    struct hs_ranking ranking; /* `choice` and its rivals */
    char line[HS_LINE_TEXT], why[1280], rival[HSUMMA_MAX_RIVALS][HS_LINE_TEXT];
};

/* Checks a single descriptor: its grid belongs to the context, and its fields are in range. */
hsumma_status hs_desc_check(const hsumma_desc *desc, const hsumma_context *ctx, char name, struct hs_message *message);
/* Checks the global arguments, without communication: processes with the same arguments get the same status. */
hsumma_status hs_request_check(const struct hs_request *request, const hsumma_context *ctx, struct hs_message *message);

/* Refuses what bits=anywhere does not support: HSUMMA_ERR_UNSUPPORTED.  The request must have been checked. */
hsumma_status hs_request_check_bits(const struct hs_request *request, const hsumma_context *ctx,
                                    const struct hs_settings *settings, struct hs_message *message);

/* Refuses what a guard does not support: HSUMMA_ERR_UNSUPPORTED. */
hsumma_status hs_check_guard(const hsumma_context *ctx, const struct hs_settings *settings, struct hs_message *message);

/* Hashes the fields of a descriptor that must agree on all processes; layout: as for hs_request_hash. */
uint64_t hs_desc_hash(uint64_t hash, const hsumma_desc *desc, int layout);
/* A hash of the arguments that must agree on all processes.  The request must have been checked.  layout: 1 to leave
 * out the identity of grids and the options, so that a later program gets the same hash. */
int64_t hs_request_hash(const struct hs_request *request, int layout);
/*
 * Implemented in simulated_choice.c: in the simulator, hs_choice_recall sets plan->ranking to the choice that another
 * rank has made for the same question, and returns 1; otherwise it returns 0, and hs_choice_keep shares this rank's
 * choice under the key.  On a real machine both do nothing.
 */
int hs_choice_recall(hsumma_plan *plan, const struct hs_request *request, const struct hs_settings *settings,
                     const struct hs_planner *planner, uint64_t *key);
void hs_choice_keep(const hsumma_plan *plan, uint64_t key);
/* Lists the fields of a descriptor that must agree on all processes, with their names.  whose: for example "A's
 * descriptor".  Returns the number of fields. */
enum { HS_DESC_GIVEN = 13 };
int hs_desc_given(const hsumma_desc *desc, const char *whose, struct hs_given given[HS_DESC_GIVEN]);
/* Agrees on a request (hs_context_agree), sets *verdict and returns the judgement (hs_context_judge).  With
 * request->alone there is no communication: the verdict is that of this process's vote. */
hsumma_status hs_request_agree(hsumma_context *ctx, const struct hs_request *request,
                               const struct hs_settings *settings, struct hs_vote vote, struct hs_verdict *verdict);
/* With check=always: compares the requests of all processes, with their scalars, at the cost of an agreement. mine: the
 * status of this process's request. Collective over the context, with the same status on all processes. */
hsumma_status hs_request_compare(hsumma_context *ctx, const struct hs_request *request, hsumma_status mine);

/* The problem of a request.  scalar: storage for its scalar type. */
void hs_plan_problem(const struct hs_request *request, const struct hs_settings *settings, struct hs_scalar *scalar,
                     struct hs_problem *problem);

/* The problem for which a plan is chosen: for a layer, that of the layer with the largest share of k; for other plans,
 * the plan's own. */
struct hs_subject {
    struct hs_problem whole, without_idle;
};
/* Makes the subject of a plan with its problem, on the whole grid. */
void hs_subject_make(hsumma_plan *plan, const struct hs_request *request, const struct hs_settings *settings,
                     struct hs_subject *subject);
/* Reduces the grid of the plan's problem and of subject->without_idle to the shortest (cyclic) run of rows and of
 * columns whose processes own all of the subject's A, B and C, at least one process.  Keeps the whole grid if the
 * caller gives a hierarchy, which applies to the whole grid.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_plan_leave_idle(hsumma_plan *plan, struct hs_subject *subject, const struct hs_settings *settings);
/*
 * For a call of p?gemm between nodes without layers or sections, sets plan->ranking to the choice for the class of its
 * shape, and *found to 1 (class_choice.c).  *found is 0 for other plans, for long products, and if the choice needs too
 * much workspace. Errors: HSUMMA_ERR_MEMORY, HSUMMA_ERR_INTERNAL.
 */
hsumma_status hs_class_choice(hsumma_plan *plan, const struct hs_request *request, const struct hs_subject *subject,
                              const struct hs_settings *settings, const struct hs_planner *planner,
                              struct hs_message *message, int *found);

/* Makes an agreement over the whole grid, of which this process must be a member.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_plan_agreement_init(const hsumma_plan *plan, struct hs_agreement *agreement,
                                     enum hs_agreement_number number);

/* Numbers an execution of a plan, or a span of a trial, in the product memory (hs_node_count).  Every process of the
 * grid must call this function.  Returns an empty execution if the plan shares nothing. */
struct hs_node_execution hs_plan_count_execution(const hsumma_plan *plan);

/* Makes a plan.  Collective over the context, with the same status on all processes.  With request->alone no process
 * waits for another, except to make communicators for algorithms "mpi"; HSUMMA_ERR_MEMORY, _MPI or _INTERNAL then
 * concern this process only. */
hsumma_status hs_plan_create(hsumma_context *ctx, const struct hs_request *request, int cached, hsumma_plan **plan);
void hs_plan_destroy(hsumma_plan *plan);
/* Bytes of this process's memory for the plan: the plan's own, and memory lent while the plan runs. */
int64_t hs_plan_bytes(const hsumma_plan *plan);

/* Checks the leading dimensions of the whole matrices locally.  If one is wrong, sets *about to its operand
 * (HS_ABOUT_A, ...). */
hsumma_status hs_plan_check_local(const hsumma_plan *plan, const int64_t ld[3], struct hs_message *message, int *about);

/*
 * Implemented in bind.c: with check=always, processes that execute different plans, or pass different alpha or beta,
 * are found by the agreement at the start, which follows the copy of the scalars to the plan. The hash is that of its
 * vote: the same on all processes that begin the same execution of a plan; 0 without check=always. hs_plan_judge_start
 * returns the verdict's status, or HSUMMA_ERR_ARGUMENT, with a message, if hashes differ.
 */
int64_t hs_plan_execution_hash(hsumma_plan *plan);
hsumma_status hs_plan_judge_start(hsumma_plan *plan, struct hs_verdict verdict);
/* Implemented in bind.c: checks the arguments of an execution locally and sets plan->matrix.  *about: the subject of an
 * error (HS_ABOUT_A, ...). */
hsumma_status hs_plan_bind(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                           const void *beta, int *about);
/* Implemented in bind.c: refuses a C whose first local element is that of A or B. plan->matrix must have been set.
 * Other overlaps are not found. p?gemm does not call it, because its processes do not agree at the start. */
hsumma_status hs_plan_check_overlap(const hsumma_plan *plan, const void *alpha, int *about);

/* Implemented in execute.c: begins an execution, after a local check of pointers and of the leading dimensions, which
 * may change from call to call. */
hsumma_status hs_plan_start(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                            const void *beta);
/*
 * Like hs_plan_start and hs_plan_wait, but without the agreement at the start: for p?gemm, which returns no error and
 * leaves arguments that differ between processes to its callers.  The only communication is the multiplication's own.
 * HSUMMA_ERR_ARGUMENT concerns this process only, and nothing has been sent.
 */
hsumma_status hs_plan_run(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                          const void *beta);
hsumma_status hs_plan_wait(hsumma_plan *plan);
/* Begins the execution of a layer's plan inside an execution of the layered plan, on a member of the layer. */
void hs_plan_begin_inner(hsumma_plan *plan, const void *alpha, const struct hs_matrix matrix[3], const void *beta);
/* Advances that execution of a layer's plan; sets *over to 1 when it is complete. */
hsumma_status hs_plan_advance_inner(hsumma_plan *plan, int *worked, int *over);
hsumma_status hs_plan_test(hsumma_plan *plan, int *done);
/* Advances a running plan while the caller waits for something else; hs_plan_wait or hs_plan_test returns the status.
 */
void hs_plan_drive(hsumma_plan *plan, int *worked);

/* Implemented in idle.c: an hs_idle function (base/wait.h) for a running plan, and what hs_plan_test and hs_plan_drive
 * do instead, which do not wait. */
hsumma_status hs_plan_idle(void *plan, int times);
void hs_plan_let_messages_move(hsumma_plan *plan);

/*
 * Implemented in execute_device.c, for contexts with a device.  Locates the matrices and sets *vote to this process's
 * vote in the agreement at the start, in which the largest vote wins: if devices are possible, 0 for devices, 1 for
 * devices with a C in host memory, or 2 for the host; otherwise 1 if this process needs staged copies.  Allocates the
 * staged copies; if devices are possible, only those on the device, and hs_plan_settle allocates those in host memory.
 */
hsumma_status hs_plan_locate(hsumma_plan *plan, int *about, int *vote);
/* Continues after the agreement, with the winning vote.  The next phase is staging, with a new agreement already
 * started, or multiplying. */
hsumma_status hs_plan_settle(hsumma_plan *plan, int vote);
/* Begins an execution on devices, after all processes have agreed on it. */
void hs_plan_begin_on_device(hsumma_plan *plan, uint64_t execution);
/* Ends an execution that used a device: on the host, copies C back to device memory.  Returns this process's status. */
hsumma_status hs_plan_end(hsumma_plan *plan);
/* Continues after the agreement on that status.  If C is in host memory, either copies it there and begins another
 * agreement or, after a failure of a device, begins the product again on the host (HS_PLAN_STAGING). */
hsumma_status hs_plan_reported(hsumma_plan *plan, hsumma_status status);
static inline int hs_plan_is_unsaved(const hsumma_plan *plan)
{
    return plan->from_host && !plan->saved;
}
static inline hsumma_plan *hs_plan_holder(hsumma_plan *plan)
{
    return plan->holder ? plan->holder : plan;
}

/* The running plan for the plan that the caller holds: that plan, a rival or another section; NULL if none runs. */
static inline hsumma_plan *hs_plan_under_way(const hsumma_plan *plan)
{
    hsumma_plan *running = plan->ctx->running;
    return running && (running == plan || running->holder == plan ||
                       (running->sections && running->sections == plan->sections))
               ? running
               : NULL;
}

/* Implemented in describe.c: writes the line of options that gives the same plan, and the origin of each choice. */
void hs_plan_describe(hsumma_plan *plan, const struct hs_options *options);
/* Where this process's local products are computed: "BLAS", "hsumma" (bits=anywhere) or its device's kind; "none" if it
 * is not a member. */
const char *hs_plan_maker(const hsumma_plan *plan);

#endif
