/* The plan: arguments checked, everything chosen and sized, memory held; then executed any number of times. */
#ifndef HS_HSUMMA_PLAN_PLAN_H
#define HS_HSUMMA_PLAN_PLAN_H

#include "coll/run/agree.h"
#include "hsumma/context/context.h"
#include "hsumma/context/workspace.h"
#include "hsumma/plan/layered.h"
#include "hsumma/plan/plan_device.h"
#include "hsumma/plan/staging.h"
#include "hsumma/plan/trial.h"
#include "summa/messages/loop.h"
#include "summa/node/node.h"

/* The arguments of a multiplication as the API gets them. */
struct hs_request {
    hsumma_type type;
    char op[3];        /* of A and B; 'N' for C */
    int64_t extent[3]; /* m, n, k */
    const hsumma_desc *desc[3];
    const char *options;
    int alone;  /* nothing is agreed upon: all are known to ask for the same, and may do so late (p?gemm) */
    int silent; /* the plan needs no words: no line, no why */
    const struct hs_choice *choice; /* chosen already; NULL: choose */
    int afresh;                     /* nothing is to be remembered */
    int layers;                     /* chosen already; 0: as the options say */
};

/* Codes of what a verdict is about. */
enum { HS_ABOUT_NOTHING, HS_ABOUT_A, HS_ABOUT_B, HS_ABOUT_C, HS_ABOUT_SCALARS, HS_ABOUT_MEMORY, HS_ABOUT_OVERLAP };

/* Where an execution is; execute.c moves it from one to the next. */
enum hs_plan_phase {
    HS_PLAN_COMPLETE,    /* nothing is under way, or what was has ended well */
    HS_PLAN_AGREEING,    /* whether all can begin, and whether it runs on devices */
    HS_PLAN_STAGING,     /* all have settled for the host: whether all have staged copies of what lies on devices */
    HS_PLAN_MULTIPLYING, /* the loop, the node or the devices; spans of several candidates in a trial */
    HS_PLAN_TIMING,      /* a trial: the candidates' times are agreed upon */
    HS_PLAN_REPORTING,   /* a device was in use: all learn whether it has failed on one process */
    HS_PLAN_FAILED       /* hs_plan_drive has met an error that no wait or test has returned yet */
};

struct hsumma_plan {
    hsumma_context *ctx;
    hsumma_grid *held[3]; /* of the operands: none is freed, for another to lie at its address, while the plan lives */
    hsumma_grid *grid;    /* A's */
    int in_grid;          /* this process is */
    int member;           /* and among those that own something: the problem's grid, which may be smaller */
    int *ranks;           /* of the problem's grid, if it is */
    int cached;           /* held by the context's cache, not by the caller: holds no context in turn */
    struct hs_problem problem;
    struct hs_scalar scalar;   /* the problem's, in a simulated run */
    int64_t local_rows[3];     /* of the whole matrices, for the leading dimensions */
    struct hs_choice choice;   /* the one that is executed */
    struct hs_ranking ranking; /* it and its rivals */
    struct hs_trial trial;     /* of the plan that the caller holds */
    hsumma_plan *holder;       /* of a rival: that plan; else NULL */
    int remembered;            /* the choice is from the tuned file */
    int disobeyed;             /* the tuned file's words cannot be obeyed */
    int steps;                 /* outermost panels that an execution multiplies; 0: all */
    int by_node;               /* the processes share memory: node, else loop */
    struct hs_loop loop;
    struct hs_node_product node;
    struct hs_plan_device device;   /* of the plan that the caller holds */
    struct hs_layered *layered;     /* layers, each with a plan of its own; NULL: none */
    int wants;                      /* is counted among the plans that may need the context's workspace */
    struct hs_workspace *workspace; /* while it runs */
    int64_t workspace_max;          /* bytes, of the process that holds most */
    struct hs_agreement agreement;  /* at each start, over the whole grid */
    enum hs_plan_phase phase;
    int on_device;         /* all have settled for the devices */
    int staged;            /* on the host, with matrices of some process's on its device */
    hsumma_status failure; /* of this process: to be reported at the end, or returned by wait or test */
    double began;
    union hs_value alpha, beta; /* what the loop begins with when all have agreed */
    struct hs_matrix matrix[3];
    struct hs_staging staging; /* in a context with a device */
    char line[HS_LINE_TEXT], why[1280], rival[HSUMMA_MAX_RIVALS][HS_LINE_TEXT];
};

/* What a descriptor has by itself: its grid is of the context, its fields are in their ranges. */
hsumma_status hs_desc_check(const hsumma_desc *desc, const hsumma_context *ctx, char name, struct hs_message *message);
/* Wrong global arguments give the same verdict on every process without communication. */
hsumma_status hs_request_check(const struct hs_request *request, const hsumma_context *ctx, struct hs_message *message);

/* Joins what all processes must give alike of a descriptor; layout as below. */
uint64_t hs_desc_hash(uint64_t hash, const hsumma_desc *desc, int layout);
/* A hash of what all processes must give alike; of a request that has been checked.  layout: of what a later run gives
 * alike, too: not which grid it is, and no options. */
int64_t hs_request_hash(const struct hs_request *request, int layout);

/* The problem that a request is; simulated: where its scalar is kept in a simulated run. */
void hs_plan_problem(const struct hs_request *request, struct hs_scalar *simulated, struct hs_problem *problem);

/* imagined.c: a grid for plans of this process alone, which takes no part in it: of the processes in rank[], which are
 * brought into order 'A', as if nodes shared memory.  The plans are to be destroyed before rank[].  HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_imagine_grid(hsumma_context *ctx, const int extent[2], int *rank, hsumma_grid *grid);

/* An agreement over the whole grid, of which this process is.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_plan_agreement_init(const hsumma_plan *plan, struct hs_agreement *agreement,
                                     enum hs_agreement_number number);

/* What an execution begins with, or a span of a trial: nothing where nodes share nothing, else counted by every process
 * of the grid (hs_node_count). */
struct hs_turn hs_plan_turn(const hsumma_plan *plan);

/* Collective over the context: the verdicts of all processes are joined; but for request->alone, where no process waits
 * for another, and a status that says memory, MPI or a defect is of this process alone. */
hsumma_status hs_plan_create(hsumma_context *ctx, const struct hs_request *request, int cached, hsumma_plan **plan);
void hs_plan_destroy(hsumma_plan *plan);
/* What this process needs for it: kept, and lent while it runs. */
int64_t hs_plan_bytes(const hsumma_plan *plan);

/* The local verdict on the leading dimensions of the whole matrices; *about says which. */
hsumma_status hs_plan_check_local(const hsumma_plan *plan, const int64_t ld[3], struct hs_message *message, int *about);
/* The verdict's status; a process whose own was better gets a message of who complained, and about what. */
hsumma_status hs_plan_explain(hsumma_context *ctx, hsumma_status mine, struct hs_verdict verdict);

/* execute.c.  Leading dimensions of this call (a cached plan meets new ones); the local verdict on them and on the
 * pointers. */
hsumma_status hs_plan_start(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                            const void *beta);
/*
 * The same and waits, but nothing is agreed upon first: for p?gemm, whose callers answer for arguments that differ, and
 * which has no error to tell.  Communication is the multiplication's own.
 * HSUMMA_ERR_ARGUMENT is of this process alone, and nothing has been sent.
 */
hsumma_status hs_plan_run(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                          const void *beta);
hsumma_status hs_plan_wait(hsumma_plan *plan);
/* The plan of a layer, on a process that takes part in it: its execution inside that of the plan that has the layers.
 */
void hs_plan_begin_inner(hsumma_plan *plan, const void *alpha, const struct hs_matrix matrix[3], const void *beta);
hsumma_status hs_plan_advance_inner(hsumma_plan *plan, int *worked, int *over);
hsumma_status hs_plan_test(hsumma_plan *plan, int *done);
/* Moves a running plan forward for a caller that waits for something else; wait or test says how it has ended. */
void hs_plan_drive(hsumma_plan *plan, int *worked);

/*
 * execute_device.c, for contexts with a device.  Before the agreement: what this process votes for; the largest
 * wins.
 */
hsumma_status hs_plan_locate(hsumma_plan *plan, int *about, int *vote);
/* After it, with the vote that has won: the next phase is staging, for which another has been started, or
 * multiplying. */
hsumma_status hs_plan_settle(hsumma_plan *plan, int vote);
/* Begins the execution that all have settled for, if it runs on devices. */
void hs_plan_begin_on_device(hsumma_plan *plan, uint64_t execution);
/* How an execution in which a device was in use has ended on this process; C goes where the caller wants it. */
hsumma_status hs_plan_end(hsumma_plan *plan);
static inline hsumma_plan *hs_plan_holder(hsumma_plan *plan)
{
    return plan->holder ? plan->holder : plan;
}

/* describe.c: the line that gives the plan again, and who decided what. */
void hs_plan_describe(hsumma_plan *plan, const struct hs_options *options);
/* What makes this process's products: "BLAS", its device, or "none" where it has no part. */
const char *hs_plan_maker(const hsumma_plan *plan);

#endif
