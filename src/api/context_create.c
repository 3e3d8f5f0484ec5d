#include "api/context_create.h"
#include "api/context_parts.h"
#include "api/cores.h"
#include "api/plan_cache.h"
#include "base/hash.h"
#include "base/simulator.h"
#include "base/threads.h"
#include "coll/node/agree_mpi.h"
#include "coll/run/device_comm.h"
#include "hsumma/context/mpi_family.h"
#include "hsumma/trace/trace_file.h"

#include <stdio.h>
#include <string.h>

void hsumma_version(int *major, int *minor, int *patch)
{
    if (major)
        *major = HSUMMA_VERSION_MAJOR;
    if (minor)
        *minor = HSUMMA_VERSION_MINOR;
    if (patch)
        *patch = HSUMMA_VERSION_PATCH;
}

/* Rank 0 reads the environment and broadcasts it, so that all processes have the same options. */
static hsumma_status read_options(hsumma_context *ctx, const char *options)
{
    struct {
        hsumma_status status;
        struct hs_message message;
        struct hs_options options;
        struct hs_texts texts;
        int threads;
    } broadcast;
    int share = hs_share_of_node(&ctx->comm);
    ctx->threads = hs_threads_user_chose() ? 0 : share;
    memset(&broadcast, 0, sizeof broadcast);
    broadcast.threads = share;
    hs_options_default(&broadcast.options, &broadcast.texts);
    if (ctx->comm.rank == 0)
        broadcast.status = hs_options_environment(&broadcast.options, &broadcast.message);
    hsumma_status status = hs_mpi_bcast(&broadcast, sizeof broadcast, 0, ctx->comm.comm, ctx->comm.watch);
    if (status)
        return hs_fail(&ctx->message, status, "MPI_Ibcast of the options failed");
    ctx->threads_model = broadcast.threads;
    ctx->options = broadcast.options;
    ctx->texts = broadcast.texts;
    ctx->options.texts = &ctx->texts;
    if (broadcast.status)
        return hs_fail(&ctx->message, broadcast.status, "%s", broadcast.message.text);
    return hs_options_apply(&ctx->options, options, HS_BY_CONTEXT, &ctx->message);
}

/* Decides whether this process polls or blocks while it waits; the simulator needs blocking. */
static hsumma_status settle_waiting(hsumma_context *ctx)
{
    const struct hs_settings *settings = &ctx->options.settings;
    const struct hs_simulator *simulator = hs_simulator();
    int blocks = settings->wait == HS_WAIT_BLOCK || (simulator && settings->wait == HS_WAIT_AUTO);
    if (simulator && !blocks)
        return hs_fail(
            &ctx->message, HSUMMA_ERR_OPTION,
            "wait=poll: would never end in the simulator, where polling takes no time; expected auto or block");
    if (settings->compute_time && !simulator)
        return hs_fail(&ctx->message, HSUMMA_ERR_OPTION,
                       "compute=time: allowed only in the simulator (make sim); expected auto");
    if (blocks && strcmp(settings->device.kind, "none") != 0)
        return hs_fail(&ctx->message, HSUMMA_ERR_OPTION,
                       simulator ? "device=%s: the simulator has no devices; expected device=none"
                                 : "device=%s: a device needs polling, but wait=block is given; expected wait=auto or "
                                   "poll, or device=none",
                       settings->device.kind);
    return blocks ? hs_block_make(&ctx->comm.block, ctx->comm.comm, ctx->comm.host.comm, ctx->comm.watch, &ctx->memory)
                  : HSUMMA_OK;
}

/* Sets the costs of work in the simulator, from the profile, which must have been read. */
static hsumma_status settle_work(hsumma_context *ctx)
{
    const struct hs_machine *machine = &ctx->profile.machine;
    const struct hs_simulator *simulator = hs_simulator();
    int priced = machine->shm.alpha > 0 || machine->shm.beta > 0;
    ctx->compute = hs_get(&ctx->memory, 1, sizeof *ctx->compute);
    if (!ctx->compute)
        return hs_fail(&ctx->message, HSUMMA_ERR_MEMORY, "no memory for a context");
    *ctx->compute = (struct hs_compute){
        .real = !ctx->options.settings.compute_time,
        .price = {[HS_WORK_COPY] = {0, machine->copy},
                  [HS_WORK_SHARED_COPY] = {machine->shm.alpha, priced ? machine->shm.beta : machine->copy},
                  [HS_WORK_READ] = {machine->read.alpha, machine->read.beta},
                  [HS_WORK_SUM] = {0, machine->gamma}},
        .profile = &ctx->profile,
        .gemm_seconds = hs_profile_gemm_seconds,
        .advance = simulator->advance,
    };
    if (!ctx->compute->real)
        ctx->bulk = simulator->folded;
    return HSUMMA_OK;
}

static void drive_plan(void *state, int *worked)
{
    hsumma_context *ctx = state;
    if (ctx->running)
        hs_plan_drive(ctx->running, worked);
}

/* State of the process, not of a context. */
static struct hs_copies copies_of_process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Prepares the context for collective calls. Local. */
static hsumma_status make_team(hsumma_context *ctx)
{
    const struct hs_settings *settings = &ctx->options.settings;
    struct hs_team *team = &ctx->team;
    struct hs_group all = hs_group_of_all(&ctx->comm);
    struct hs_rules tuned = team->selector.tuned; /* read before; hs_team_init overwrites it */
    hsumma_status status = hs_team_init(team, &ctx->comm, &all, &ctx->memory);
    team->selector.tuned = tuned;
    team->selector.own = &ctx->own;
    team->selector.machine = &ctx->profile.machine;
    team->selector.device_machine = &ctx->profile.device_machine;
    team->selector.anywhere = settings->bits;
    team->segment = settings->segment;
    team->compute = ctx->compute;
    team->check_always = settings->check_always;
    team->drive = drive_plan;
    team->driven = ctx;
    if (!status)
        status = hs_rules_read(&team->selector.coll, ctx->texts.coll, &ctx->memory, &ctx->message);
    return status;
}

/* Finds nodes and sockets, for collective calls and for the prices of messages. */
static hsumma_status find_places(hsumma_context *ctx, int collectives)
{
    const struct hs_settings *settings = &ctx->options.settings;
    struct hs_nodes nodes;
    hs_topology_text(ctx->texts.topology, &nodes);
    if (!collectives && ctx->profile.one_node && !nodes.count)
        return hs_agreed(ctx->comm.comm, hs_comm_on_one_node(&ctx->comm, &ctx->memory), ctx->comm.watch);
    struct hs_discover_options places = {.nodes = nodes.count,
                                         .sockets = nodes.sockets,
                                         .shared_bytes = collectives ? settings->shared : 0,
                                         .direct = collectives && settings->direct};
    hsumma_status status = hs_comm_discover(&ctx->comm, &places, &ctx->memory, &ctx->message);
    if (!status)
        ctx->profile.one_node = ctx->comm.topology.division[HS_NODE].parts == 1;
    return status;
}

static hsumma_status fill(hsumma_context *ctx)
{
    ctx->cache = hs_plan_cache_new(&ctx->memory);
    if (!ctx->cache)
        return hs_fail(&ctx->message, HSUMMA_ERR_MEMORY, "no memory for a context");
    struct hs_group all = hs_group_of_all(&ctx->comm);
    return hs_agreement_init(&ctx->agreement, &ctx->comm, &all, NULL, HS_AGREE_CONTEXT, &ctx->memory);
}

/*
 * Waits until all processes have arrived, then until none has given up this wait: a process that gave up in
 * MPI_Comm_idup would keep a number that MPI needs for the next communicator. The time limit is this process's own
 * until read_options broadcasts rank 0's.
 */
static hsumma_status await_all(hsumma_context *ctx, MPI_Comm comm, const char *options)
{
    struct hs_message unsaid; /* read_options reports wrong options */
    if (ctx) {
        MPI_Comm_rank(comm, &ctx->comm.rank);
        MPI_Comm_size(comm, &ctx->comm.size);
        hs_options_default(&ctx->options, &ctx->texts);
        if (!hs_options_environment(&ctx->options, &unsaid))
            hs_options_apply(&ctx->options, options, HS_BY_CONTEXT, &unsaid);
        hs_stall_watch(ctx);
    }
    const struct hs_watch *watch = ctx ? ctx->comm.watch : NULL;
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; i < 2 && !status; i++)
        status = hs_mpi_barrier(comm, watch);
    return status;
}

static void destroy(hsumma_context *ctx)
{
    int finalised = 1;
    MPI_Finalized(&finalised);
    ctx->broken |= ctx->team.broken;
    if (!finalised && !ctx->broken)
        hs_trace_write(ctx);
    hs_trace_free(&ctx->timeline, &ctx->memory);
    if (!finalised && !ctx->broken)
        hs_team_leave_mpi(&ctx->team);
    hs_context_leave_device(ctx, !finalised);
    ctx->broken |= ctx->team.broken;
    hs_team_free(&ctx->team);
    hs_device_comm_free(&ctx->comm, ctx->broken);
    hs_roster_leave(&ctx->comm.roster);
    ctx->comm.mates.own &= !ctx->broken; /* MPI_Comm_free is collective */
    ctx->comm.host.own &= !ctx->broken;
    if (ctx->broken) { /* MPI may still write to it */
        hs_keep(ctx->comm.shm);
        ctx->comm.shm = NULL;
    }
    hs_comm_forget(&ctx->comm, &ctx->memory);
    hs_block_free(ctx->comm.block, !finalised && !ctx->broken, &ctx->memory);
    hs_rules_free(&ctx->team.selector.tuned, &ctx->memory); /* also needed when no team was made */
    hs_tuned_free(&ctx->tuned, &ctx->memory);
    hs_clock_memo_free(&ctx->memo);
    hs_put(&ctx->memory, ctx->classes);
    hs_own_algorithms_free(&ctx->own, &ctx->memory);
    if (!finalised && !ctx->broken) /* else a new communicator could receive messages left in this one */
        MPI_Comm_free(&ctx->comm.comm);
    hs_agreement_free(&ctx->agreement, &ctx->memory);
    if (!ctx->device || !ctx->broken) /* else peers may have the memory mapped, or freeing it may wait forever */
        hs_device_tiles_free(ctx);
    if (!ctx->broken) /* else MPI may still access it */
        hs_allocations_free(&ctx->allocations, &ctx->memory);
    hs_context_close_device(ctx);
    hs_put(&ctx->memory, ctx->spare);
    hs_put(&ctx->memory, ctx->compute);
    if (ctx->broken) /* MPI may still write to the results of agreements in it */
        hs_keep(ctx);
    else
        hs_put(&hs_heap, ctx);
}

static struct hs_verdict agree_by_mpi(void *ctx, struct hs_vote vote)
{
    const struct hs_comm *comm = &((hsumma_context *)ctx)->comm;
    return hs_agree_by_mpi(comm->comm, vote, comm->watch);
}

/* Agrees that no process has failed (mine: this process's status) and that all have given the same options. */
static hsumma_status agree_on_options(hsumma_context *ctx, const char *options, hsumma_status mine)
{
    const struct hs_voters voters = {.agree = agree_by_mpi, .state = ctx, .rank = ctx->comm.rank};
    const struct hs_given given = {"options", .text = options ? options : ""};
    const int64_t hash = (int64_t)(hs_mix_text(0, given.text) >> 1); /* not negative, so that it can be negated */
    struct hs_verdict verdict = agree_by_mpi(ctx, (struct hs_vote){.status = mine, .hash = hash});
    return verdict.status || verdict.alike ? verdict.status
                                           : hs_unlike_explain(&voters, "hsumma_create", &given, 1, &ctx->message);
}

/* Gives every process of a failed creation a message: processes without an error of their own get that of a process
 * with one. Does nothing after an error of MPI or a device, or an internal one. */
static void share_refusal(hsumma_context *ctx, hsumma_status status)
{
    const struct hs_voters voters = {.agree = agree_by_mpi, .state = ctx, .rank = ctx->comm.rank};
    if (status >= HSUMMA_ERR_MPI)
        return;
    hsumma_status mine = ctx->message.text[0] ? status : HSUMMA_OK;
    struct hs_verdict verdict = agree_by_mpi(ctx, (struct hs_vote){.status = mine});
    hs_unlike_report(&voters, mine, verdict, &ctx->message);
}

hsumma_status hs_context_create(MPI_Comm comm, const char *options, int collectives, hsumma_context **result,
                                char *message, size_t size)
{
    int initialised = 0, inter = 0;
    char library[96];
    enum hs_mpi_family built = hs_mpi_built(), runs = hs_mpi_runs(library, sizeof library);
    struct hs_message text = {""};
    hsumma_context *ctx = NULL;
    MPI_Comm own = MPI_COMM_NULL;
    if (!result)
        return HSUMMA_ERR_ARGUMENT;
    *result = NULL;
    hsumma_status status = HSUMMA_OK;
    if (built && runs && built != runs)
        status = hs_fail(&text, HSUMMA_ERR_MPI,
                         "hsumma was built with %s, but the program runs with %s: compile and link the "
                         "program with the wrapper of %s",
                         hs_mpi_family_name[built], library, hs_mpi_family_name[built]);
    else if (MPI_Initialized(&initialised) != MPI_SUCCESS || !initialised)
        status = hs_fail(&text, HSUMMA_ERR_MPI, "MPI is not initialised; call MPI_Init before hsumma_create");
    else if (comm == MPI_COMM_NULL)
        status = hs_fail(&text, HSUMMA_ERR_ARGUMENT,
                         "the communicator is MPI_COMM_NULL; expected one that this process is a member of");
    else if (MPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter)
        status =
            hs_fail(&text, HSUMMA_ERR_ARGUMENT,
                    "the communicator is an intercommunicator; expected one of a single group (MPI_Intercomm_merge)");
    if (!status) {
        ctx = hs_get_zero(&hs_heap, 1, sizeof *ctx);
        status = await_all(ctx, comm, options);
        if (status)
            hs_fail(&text, status, "hsumma_create ended early: %.400s",
                    ctx ? hs_roster_why(&ctx->comm.roster, status) : hsumma_status_string(status));
        else if ((status = hs_mpi_duplicate(comm, &own, ctx ? ctx->comm.watch : NULL)) != HSUMMA_OK)
            hs_fail(&text, status, "MPI_Comm_idup failed: no communicator for the context");
    }
    if (!status) {
        MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
        status = hs_agreed(own, ctx ? HSUMMA_OK : HSUMMA_ERR_MEMORY, ctx ? ctx->comm.watch : NULL);
    }
    if (!status) {
        ctx->holders = 1;
        ctx->destroy = destroy;
        ctx->memory = ctx->bulk = hs_heap;
        ctx->comm.comm = own;
        ctx->comm.cut = HS_CUT;
        ctx->profile = hs_profile_builtin;
        status = hs_comm_find_host(&ctx->comm, &ctx->memory, &ctx->message);
        ctx->profile.one_node = ctx->comm.host.count == ctx->comm.size;
        if (!status) {
            status = read_options(ctx, options);
            status = agree_on_options(ctx, options, status ? status : fill(ctx));
        }
        if (!status)
            status = settle_waiting(ctx);
        if (!status)
            status = hs_files_read(ctx);
        if (!status && hs_simulator())
            status = hs_agreed(own, settle_work(ctx), ctx->comm.watch);
        hs_clock_memo_begin(&ctx->memo, &ctx->profile, &ctx->memory);
        if (!status)
            status = hs_context_open_device(ctx);
        if (!status) {
            struct hs_verdict verdict =
                agree_by_mpi(ctx, (struct hs_vote){.status = collectives ? make_team(ctx) : HSUMMA_OK,
                                                   .value = -hs_product_memory_limit()});
            status = verdict.status;
            ctx->tile_bytes = (uint64_t)-verdict.value; /* the least limit of all processes */
        }
        if (!status)
            status = find_places(ctx, collectives);
        if (!status)
            status = hs_context_find_fabric(ctx);
        if (!status)
            hs_roster_make(&ctx->comm.roster, ctx->comm.mates.comm, ctx->comm.watch);
        if (!status)
            status = hs_context_measure_network(ctx);
        ctx->team.copies = ctx->measures_copies && ctx->profile.one_node ? &copies_of_process : NULL;
        if (!status && collectives)
            status = hs_context_share_device(ctx);
        if (!status)
            status = hs_trace_open(ctx);
        if (ctx->comm.roster.failed) /* a wait has been given up */
            status = hs_context_ended_early(ctx, ctx->comm.roster.failed, "hsumma_create");
        if (status)
            share_refusal(ctx, status);
        text = ctx->message;
        if (status)
            hsumma_free(&ctx);
        else
            snprintf(ctx->message.text, sizeof ctx->message.text, "%.*s", (int)sizeof ctx->message.text - 1, ctx->note);
    } else {
        hs_put(&hs_heap, ctx);
        if (own != MPI_COMM_NULL && !hs_status_is_final(status)) /* else MPI_Comm_free might wait for ever */
            MPI_Comm_free(&own);
    }
    if (status && message && size)
        snprintf(message, size, "%s", text.text[0] ? text.text : hsumma_status_string(status));
    *result = status ? NULL : ctx;
    return status;
}

hsumma_status hsumma_create(MPI_Comm comm, const char *options, hsumma_context **ctx, char *message, size_t size)
{
    return hs_context_create(comm, options, 1, ctx, message, size);
}

hsumma_status hsumma_create_fortran(MPI_Fint comm, const char *options, hsumma_context **ctx, char *message,
                                    size_t size)
{
    return hsumma_create(MPI_Comm_f2c(comm), options, ctx, message, size);
}

void hsumma_free(hsumma_context **ctx)
{
    if (!ctx || !*ctx)
        return;
    hs_plan_cache_free(*ctx, (*ctx)->cache);
    (*ctx)->cache = NULL;
    hs_context_release(*ctx);
    *ctx = NULL;
}

hsumma_status hsumma_trace_write(hsumma_context *ctx)
{
    if (!ctx)
        return HSUMMA_ERR_ARGUMENT;
    if (ctx->broken || ctx->team.broken)
        return hs_context_refuse(ctx);
    hs_context_enter(ctx, HS_ENTERED_TRACE, ++ctx->entered, 0);
    return hs_trace_write(ctx);
}

const char *hsumma_message(const hsumma_context *ctx)
{
    return ctx ? ctx->message.text : "";
}

void hsumma_set_message(hsumma_context *ctx, const char *text)
{
    if (ctx)
        snprintf(ctx->message.text, sizeof ctx->message.text, "%s", text);
}

void hsumma_set_report(hsumma_context *ctx, hsumma_report *report, void *state)
{
    ctx->stall.report = report;
    ctx->stall.report_state = state;
}
