#include "hsumma/plan/plan.h"

#include "base/simulator.h"
#include "coll/node/agree_mpi.h"
#include "coll/run/notice.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_REPORTS = 3 }; /* of a process in a context, because a program may be slow in every call */

static const double look_interval = 0.5; /* seconds */

/* Writes the last call that a process has entered. */
static void write_last_call(uint64_t call, char *text, size_t size)
{
    static const char *const name[HS_ENTERED_COLLECTIVE] = {
        [HS_ENTERED_NOTHING] = "hsumma_create",    [HS_ENTERED_GRID] = "hsumma_grid_create",
        [HS_ENTERED_MALLOC] = "hsumma_malloc",     [HS_ENTERED_PLAN] = "hsumma_plan_create",
        [HS_ENTERED_COMPARISON] = "a product",     [HS_ENTERED_REDISTRIBUTE] = "hsumma_redistribute",
        [HS_ENTERED_LAYOUTS] = "hsumma_desc_best", [HS_ENTERED_TRACE] = "hsumma_trace_write",
    };
    int entered = (int)(call & 255);
    if (entered == HS_ENTERED_EXECUTION)
        snprintf(text, size, "execution %u of a product", (unsigned)(call >> 8 & 0xffffff));
    else if (entered < HS_ENTERED_COLLECTIVE)
        snprintf(text, size, "%s", name[entered]);
    else
        snprintf(text, size, "hsumma_%s",
                 hs_collective_name((enum hs_collective)(entered - (int)HS_ENTERED_COLLECTIVE)));
}

/* Writes the call in which this process waits. */
static void write_call(const hsumma_context *ctx, const void *waiter, char *text, size_t size)
{
    const struct hs_team *team = &ctx->team;
    hsumma_plan *plan = ctx->running;
    if (waiter == team && team->first)
        snprintf(text, size, "%s", hs_collective_name(team->first->signature->collective));
    else if (waiter == &team->agreement)
        snprintf(text, size, "a collective call, the first of its kind");
    else if (plan && waiter != &ctx->agreement)
        snprintf(text, size, "execution %" PRIu64 " of a product with m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64,
                 (plan->sections ? plan->sections->plan[0] : hs_plan_holder(plan))->executions, plan->problem.extent[0],
                 plan->problem.extent[1], plan->sections ? plan->sections->k : plan->problem.extent[2]);
    else
        write_last_call(ctx->comm.roster.call, text, size);
}

/* The mate that the noted wait waits for; -1 if none is noted, or if it is on another node. */
static int awaited_mate(const hsumma_context *ctx)
{
    int peer = ctx->timeline.waiter ? ctx->timeline.wait.peer : -1;
    return peer >= 0 && ctx->comm.mates.rank ? hs_mate_index(&ctx->comm.mates, peer) : -1;
}

static uint64_t last_call(const struct hs_roster *roster, int mate)
{
    return atomic_load_explicit(&roster->entry[mate].call, memory_order_relaxed);
}

static int is_in_this_call(const struct hs_roster *roster, int mate)
{
    return last_call(roster, mate) == last_call(roster, roster->me);
}

/* True if the call in which this process waits is an execution of a plan whose grid does not contain the rank. */
static int is_outside(const hsumma_context *ctx, const void *waiter, int rank)
{
    const hsumma_plan *plan = ctx->running;
    if (!plan || waiter == &ctx->agreement || waiter == &ctx->team || waiter == &ctx->team.agreement)
        return 0;
    const struct hs_grid *grid = &plan->grid->grid;
    int i = 0, count = grid->extent[0] * grid->extent[1];
    while (i < count && hs_grid_rank(grid, i) != rank)
        i++;
    return i == count;
}

static void write_report(hsumma_context *ctx, double seconds, struct hs_message *text)
{
    const struct hs_trace_entry *wait = &ctx->timeline.wait;
    const void *waiter = ctx->timeline.waiter;
    const struct hs_roster *roster = &ctx->comm.roster;
    char call[160], peer[64] = "other processes", panel[48] = "a sum", last[64] = "";
    int mate = roster->entry ? awaited_mate(ctx) : -1, entered = 0;
    write_call(ctx, waiter, call, sizeof call);
    if (mate >= 0) {
        entered = is_in_this_call(roster, mate);
        for (int m = 0; m < roster->mates && entered && wait->cause == HS_CAUSE_START; m++)
            if (!is_in_this_call(roster, m) &&
                !is_outside(ctx, waiter, ctx->comm.mates.rank[m])) { /* the awaited mate itself waits for this one */
                mate = m;
                entered = 0;
            }
        write_last_call(last_call(roster, mate), last, sizeof last);
    }
    if (waiter && wait->peer >= 0)
        snprintf(peer, sizeof peer, "rank %d", mate >= 0 ? ctx->comm.mates.rank[mate] : wait->peer);
    if (wait->panel >= 0)
        snprintf(panel, sizeof panel, "panel %d", wait->panel);
    hs_fail(text, HSUMMA_OK, "rank %d of %d has waited %.0f s in %s: ", ctx->comm.rank, ctx->comm.size, seconds, call);
    if (!waiter)
        hs_append(text->text, sizeof text->text, "no progress of %s", peer);
    else if (wait->cause == HS_CAUSE_START && entered)
        hs_append(text->text, sizeof text->text, "%s has begun this call, but waits for another rank", peer);
    else if (wait->cause == HS_CAUSE_START)
        hs_append(text->text, sizeof text->text, "%s has not begun this call%s", peer,
                  mate >= 0 ? "" : ", or waits for another rank");
    else if (wait->cause == HS_CAUSE_DATA)
        hs_append(text->text, sizeof text->text, "%s of %c from %s has not arrived", panel,
                  "ABC"[wait->operand < 0 ? 2 : wait->operand], peer);
    else if (wait->cause == HS_CAUSE_ROOM)
        hs_append(text->text, sizeof text->text, "%s still reads a buffer that %s needs", peer, panel);
    else if (wait->cause == HS_CAUSE_SENT && wait->peer < 0)
        hs_append(text->text, sizeof text->text, "a collective of MPI or of a function has not completed");
    else if (wait->cause == HS_CAUSE_SENT)
        hs_append(text->text, sizeof text->text, "%s has not received a message", peer);
    else
        hs_append(text->text, sizeof text->text, "the part of %s has not arrived", peer);
    if (last[0] && !entered)
        hs_append(text->text, sizeof text->text, "; its last call was %s", last);
}

/* Ends the use of the context, and makes the processes of this node return an error, too. */
static hsumma_status give_up(hsumma_context *ctx, hsumma_status status, const char *why)
{
    ctx->broken = 1;
    hs_roster_give_up(&ctx->comm.roster, status, why);
    if (ctx->comm.shm)
        hs_shm_break(ctx->comm.shm, status);
    if (ctx->running && ctx->running->grid->shared.directory.entry)
        hs_directory_break(&ctx->running->grid->shared.directory, status);
    if (ctx->team.comm) /* else the context runs no collective calls */
        hs_team_give_up(&ctx->team, status, why);
    return status;
}

/* A mate has given up or ended. The processes of other nodes, which cannot see an end, receive a notice of it. */
static hsumma_status give_up_after(hsumma_context *ctx, int mate)
{
    const struct hs_roster_entry *entry = &ctx->comm.roster.entry[mate];
    struct hs_notice notice = {.status = HSUMMA_ERR_PEER};
    char last[64];
    int left = atomic_load(&entry->left);
    if (atomic_load(&entry->failed)) {
        const char *why = hs_roster_why(&ctx->comm.roster, HSUMMA_ERR_MPI); /* sets roster.failed */
        return give_up(ctx, ctx->comm.roster.failed, why);
    }
    write_last_call(last_call(&ctx->comm.roster, mate), last, sizeof last);
    hs_fail(&notice.text, HSUMMA_ERR_PEER, "rank %d %s; its last call was %s", ctx->comm.mates.rank[mate],
            left ? "has freed its context" : "has ended", last);
    const struct hs_group all = hs_group_of_all(&ctx->comm);
    if (ctx->comm.size > ctx->comm.mates.count)
        hs_notice_send(&ctx->comm, &all, notice, &ctx->memory);
    return give_up(ctx, HSUMMA_ERR_PEER, notice.text.text);
}

/* Gives up if a mate has ended or given up, if another node has sent a notice, or if MPI knows of a lost process. */
static hsumma_status look_around(hsumma_context *ctx, int *leavers)
{
    struct hs_notice notice;
    *leavers = 0;
    if (hs_simulator()) /* all ranks are one process */
        return HSUMMA_OK;
    const struct hs_roster_entry *entry = ctx->comm.roster.entry;
    int mate = hs_roster_find_lost(&ctx->comm.roster, awaited_mate(ctx), leavers), before = ctx->stall.leaver;
    ctx->stall.leaver = mate;
    /* a mate that has freed its context may have sent what is awaited just before; the next look knows */
    if (mate >= 0 && (mate == before || !atomic_load(&entry[mate].left) || atomic_load(&entry[mate].failed)))
        return give_up_after(ctx, mate);
    if (!ctx->comm.mates.count || ctx->comm.size == ctx->comm.mates.count)
        return HSUMMA_OK;
    /* a device's other notices are received by the calls that look for them */
    if ((ctx->comm.device ? hs_notice_receive_loss : hs_notice_receive)(&ctx->comm, &notice))
        return give_up(ctx, notice.status, notice.text.text);
    int lost = hs_mpi_lost(ctx->comm.comm); /* then Open MPI receives no more notices */
    if (lost < 0)
        return HSUMMA_OK;
    hs_fail(&notice.text, HSUMMA_ERR_PEER, "rank %d has ended", lost);
    return give_up(ctx, HSUMMA_ERR_PEER, notice.text.text);
}

/* Passes a report to the caller's function or prints it, and adds it to the log of calls as a comment. */
static void deliver(hsumma_context *ctx, const struct hs_message *text)
{
    const int timeout = ctx->options.settings.timeout;
    struct hs_stall *stall = &ctx->stall;
    if (stall->report)
        stall->report(text->text, stall->report_state);
    else if (stall->reports++ < MOST_REPORTS)
        fprintf(stderr, "hsumma: %s (option timeout=%d)\n", text->text, timeout);
    if (strcmp(ctx->texts.log, "none") == 0)
        return;
    int file = open(ctx->texts.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file >= 0) {
        dprintf(file, "# hsumma: %s (option timeout=%d)\n", text->text, timeout);
        close(file);
    }
}

/* Called during a wait without progress.  Notes waits from half of the limit on, so that the report can name them, and
 * once a process of the node has freed the context, since that matters only to those that wait for it. */
static hsumma_status look(void *state, double seconds)
{
    hsumma_context *ctx = state;
    struct hs_stall *stall = &ctx->stall;
    const struct hs_settings *settings = &ctx->options.settings;
    struct hs_message text;
    int leavers = 0;
    if (ctx->comm.roster.failed) /* an earlier wait of this call has been given up */
        return ctx->comm.roster.failed;
    if (seconds < stall->waited)
        stall->reported = 0;
    stall->waited = seconds;
    hsumma_status status = look_around(ctx, &leavers);
    if (status)
        return status;
    const int limited = settings->timeout > 0, noted = ctx->timeline.notes; /* since the look before this one */
    ctx->timeline.notes = ctx->timeline.ring || leavers || (limited && seconds >= settings->timeout / 2.0);
    if (!limited || seconds < settings->timeout || !noted || stall->reported)
        return HSUMMA_OK;
    stall->reported = 1;
    write_report(ctx, seconds, &text);
    deliver(ctx, &text);
    return settings->timeout_fails ? give_up(ctx, HSUMMA_ERR_MPI, text.text) : HSUMMA_OK;
}

hsumma_status hs_stall_glance(hsumma_context *ctx)
{
    int leavers;
    double now = hs_now();
    if (!ctx->comm.watch || now - ctx->stall.glanced < look_interval)
        return HSUMMA_OK;
    ctx->stall.glanced = now;
    hsumma_status status = look_around(ctx, &leavers);
    ctx->timeline.notes |= leavers; /* so that the next look knows whom this process awaits */
    return status;
}

void hs_stall_watch(hsumma_context *ctx)
{
    ctx->stall.watch = (struct hs_watch){.look = look, .state = ctx, .interval = look_interval};
    ctx->stall.glanced = hs_now();
    ctx->stall.leaver = -1;
    ctx->comm.watch = ctx->options.settings.timeout || ctx->comm.size > 1 ? &ctx->stall.watch : NULL;
}
