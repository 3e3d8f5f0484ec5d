/* The plan: arguments checked, everything chosen and sized, memory held.  It can be executed any number of times. */
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

/* The arguments of a multiplication, as passed to the API. */
struct hs_request {
    hsumma_type type;
    char op[3];        /* of A and B; 'N' for C */
    int64_t extent[3]; /* m, n, k */
    const hsumma_desc *desc[3];
    const char *options;
    /* No agreement: all processes are known to pass the same arguments, but perhaps at different times (p?gemm). */
    int alone;
    int silent;                     /* neither line nor why are needed */
    const struct hs_choice *choice; /* already made; NULL: choose */
    int afresh;                     /* ignore remembered plans */
    int layers;                     /* already chosen; 0: as the options say */
};

/* Codes for the subject of a verdict. */
enum { HS_ABOUT_NOTHING, HS_ABOUT_A, HS_ABOUT_B, HS_ABOUT_C, HS_ABOUT_SCALARS, HS_ABOUT_MEMORY, HS_ABOUT_OVERLAP };

/* The phases of an execution; execute.c moves it from one to the next. */
enum hs_plan_phase {
    HS_PLAN_COMPLETE,    /* nothing is in progress, or the last execution has succeeded */
    HS_PLAN_AGREEING,    /* whether all can begin, and whether it runs on devices */
    HS_PLAN_STAGING,     /* all run on the host: whether all have staged copies of data on devices */
    HS_PLAN_MULTIPLYING, /* the loop, the node or the devices; in a trial, spans of several candidates */
    HS_PLAN_TIMING,      /* in a trial: agreement on the candidates' times */
    HS_PLAN_REPORTING,   /* a device was used: agreement on whether it failed on any process */
    HS_PLAN_FAILED       /* hs_plan_drive has had an error, not yet returned by wait or test */
};

struct hsumma_plan {
    hsumma_context *ctx;
    /* Of the operands: held, so that no other grid can be allocated at their addresses while the plan lives. */
    hsumma_grid *held[3];
    hsumma_grid *grid; /* A's */
    int in_grid;       /* this process is in the grid */
    int member;        /* this process is also in the problem's grid, which may lack processes that own nothing */
    int *ranks;        /* of the problem's grid, if it is smaller */
    int cached;        /* held by the context's cache instead of the caller; then it does not hold the context */
    struct hs_problem problem;
    struct hs_scalar scalar;   /* the problem's, in a simulated run */
    int64_t local_rows[3];     /* of the whole matrices, to check leading dimensions */
    struct hs_choice choice;   /* the one that is executed */
    struct hs_ranking ranking; /* this choice and its rivals */
    struct hs_trial trial;     /* in the plan that the caller holds */
    hsumma_plan *holder;       /* of a rival: the plan that the caller holds; else NULL */
    int remembered;            /* the choice comes from the tuned file */
    int disobeyed;             /* the tuned file's options cannot be obeyed */
    int steps;                 /* outermost panels per execution; 0: all */
    int by_node;               /* the processes share memory: `node` executes, else `loop` */
    struct hs_loop loop;
    struct hs_node_product node;
    struct hs_plan_device device;   /* in the plan that the caller holds */
    struct hs_layered *layered;     /* layers, each with its own plan; NULL: none */
    int wants;                      /* the context counts this plan among those that may need its workspace */
    struct hs_workspace *workspace; /* while it runs */
    int64_t workspace_max;          /* bytes, on the process that holds most */
    struct hs_agreement agreement;  /* at each start, over the whole grid */
    enum hs_plan_phase phase;
    int on_device; /* all processes have agreed to run on devices */
    int staged;    /* runs on the host: some process has matrices in device memory and copies them to the host */
    hsumma_status failure; /* of this process: to be reported at the end, or returned by wait or test */
    double began;
    union hs_value alpha, beta; /* passed to the loop when all have agreed */
    struct hs_matrix matrix[3];
    struct hs_staging staging; /* in a context with a device */
    char line[HS_LINE_TEXT], why[1280], rival[HSUMMA_MAX_RIVALS][HS_LINE_TEXT];
};

/* Checks a descriptor on its own: its grid belongs to the context, and its fields are in range. */
hsumma_status hs_desc_check(const hsumma_desc *desc, const hsumma_context *ctx, char name, struct hs_message *message);
/* Checks the global arguments, without communication: every process gets the same verdict. */
hsumma_status hs_request_check(const struct hs_request *request, const hsumma_context *ctx, struct hs_message *message);

/* Hashes the fields of a descriptor that must agree on all processes; layout: as for hs_request_hash. */
uint64_t hs_desc_hash(uint64_t hash, const hsumma_desc *desc, int layout);
/* A hash of the arguments that must agree on all processes; the request must have been checked.  layout: leaves out the
 * identity of grids and the options, so that a later run gets the same hash. */
int64_t hs_request_hash(const struct hs_request *request, int layout);
/* The same of a descriptor, each with its name; whose: "A's descriptor".  Returns how many they are. */
enum { HS_DESC_GIVEN = 13 };
int hs_desc_given(const hsumma_desc *desc, const char *whose, struct hs_given given[HS_DESC_GIVEN]);
/* hs_context_judge for an agreement on a request. */
hsumma_status hs_request_judge(hsumma_context *ctx, const struct hs_request *request,
                               const struct hs_settings *settings, hsumma_status mine, struct hs_verdict verdict);

/* The problem of a request; simulated: storage for its scalar in a simulated run. */
void hs_plan_problem(const struct hs_request *request, struct hs_scalar *simulated, struct hs_problem *problem);

/* imagined.c: a grid for plans that only this process makes and that never run.  Its processes, rank[], are brought
 * into order 'A', and nodes are assumed to share memory.  The plans must be destroyed before rank[] is freed.
 * HSUMMA_ERR_MEMORY. */
hsumma_status hs_imagine_grid(hsumma_context *ctx, const int extent[2], int *rank, hsumma_grid *grid);

/* An agreement over the whole grid, of which this process is a member.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_plan_agreement_init(const hsumma_plan *plan, struct hs_agreement *agreement,
                                     enum hs_agreement_number number);

/* Counts an execution of a plan, or a span of a trial, in the product memory (hs_node_count): every process of the grid
 * must call it.  Returns an empty one if the plan shares nothing. */
struct hs_node_execution hs_plan_count_execution(const hsumma_plan *plan);

/* Makes a plan.  Collective over the context, with the joined verdict of all processes.  With request->alone no process
 * waits for another, and HSUMMA_ERR_MEMORY, _MPI or _INTERNAL concern this process only. */
hsumma_status hs_plan_create(hsumma_context *ctx, const struct hs_request *request, int cached, hsumma_plan **plan);
void hs_plan_destroy(hsumma_plan *plan);
/* Bytes of this process's memory for the plan: held, and lent while it runs. */
int64_t hs_plan_bytes(const hsumma_plan *plan);

/* Checks the leading dimensions of the whole matrices locally; *about: which one is wrong. */
hsumma_status hs_plan_check_local(const hsumma_plan *plan, const int64_t ld[3], struct hs_message *message, int *about);

/* execute.c.  Begins an execution, after a local check of pointers and of the leading dimensions, which may change from
 * call to call. */
hsumma_status hs_plan_start(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                            const void *beta);
/*
 * Like hs_plan_start and hs_plan_wait, but without the agreement at the start: for p?gemm, whose callers are
 * responsible for arguments that differ, and which returns no error.  The only communication is the multiplication's
 * own.  HSUMMA_ERR_ARGUMENT concerns this process only, and nothing has been sent.
 */
hsumma_status hs_plan_run(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                          const void *beta);
hsumma_status hs_plan_wait(hsumma_plan *plan);
/* For the plan of a layer, on a member of the layer: its execution inside that of the layered plan. */
void hs_plan_begin_inner(hsumma_plan *plan, const void *alpha, const struct hs_matrix matrix[3], const void *beta);
hsumma_status hs_plan_advance_inner(hsumma_plan *plan, int *worked, int *over);
hsumma_status hs_plan_test(hsumma_plan *plan, int *done);
/* Moves a running plan forward while the caller waits for something else; wait or test return its status. */
void hs_plan_drive(hsumma_plan *plan, int *worked);

/*
 * execute_device.c, for contexts with a device.  Before the agreement: determines this process's vote; the largest vote
 * wins.
 */
hsumma_status hs_plan_locate(hsumma_plan *plan, int *about, int *vote);
/* After the agreement, with the winning vote: the next phase is staging, with a new agreement already started, or
 * multiplying. */
hsumma_status hs_plan_settle(hsumma_plan *plan, int vote);
/* Begins the execution on devices, if all have agreed on that. */
void hs_plan_begin_on_device(hsumma_plan *plan, uint64_t execution);
/* Ends an execution that used a device: copies C to where the caller wants it, and returns this process's status. */
hsumma_status hs_plan_end(hsumma_plan *plan);
static inline hsumma_plan *hs_plan_holder(hsumma_plan *plan)
{
    return plan->holder ? plan->holder : plan;
}

/* describe.c: writes the line that gives the plan again, and the origin of each choice. */
void hs_plan_describe(hsumma_plan *plan, const struct hs_options *options);
/* What does this process's local products: "BLAS", its device, or "none" if it is no member. */
const char *hs_plan_maker(const hsumma_plan *plan);

#endif
