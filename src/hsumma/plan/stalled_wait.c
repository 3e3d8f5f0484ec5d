#include "hsumma/plan/plan.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_REPORTS = 3 }; /* of a process in a context, because a program may be slow in every call */

/* Writes the call in which this process waits. */
static void write_call(const hsumma_context *ctx, const void *waiter, char *text, size_t size)
{
    const struct hs_team *team = &ctx->team;
    const hsumma_plan *plan = ctx->running;
    if (waiter == team && team->first)
        snprintf(text, size, "%s", hs_collective_name(team->first->signature->collective));
    else if (waiter == &team->agreement)
        snprintf(text, size, "a collective call, the first of its kind");
    else if (plan && waiter != &ctx->agreement)
        snprintf(text, size, "a product with m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64, plan->problem.extent[0],
                 plan->problem.extent[1], plan->problem.extent[2]);
    else
        snprintf(text, size, "a call that is collective over the context");
}

static void write_report(hsumma_context *ctx, double seconds)
{
    const struct hs_trace_entry *wait = &ctx->timeline.wait;
    const void *waiter = ctx->timeline.waiter;
    char call[128], peer[64] = "other processes", panel[48] = "a sum";
    struct hs_message *text = &ctx->stall.text;
    write_call(ctx, waiter, call, sizeof call);
    if (waiter && wait->peer >= 0)
        snprintf(peer, sizeof peer, "rank %d", wait->peer);
    if (wait->panel >= 0)
        snprintf(panel, sizeof panel, "panel %d", wait->panel);
    hs_fail(text, HSUMMA_OK, "rank %d of %d has waited %.0f s in %s: ", ctx->comm.rank, ctx->comm.size, seconds, call);
    if (!waiter)
        hs_append(text->text, sizeof text->text, "no progress of %s", peer);
    else if (wait->cause == HS_CAUSE_START)
        hs_append(text->text, sizeof text->text, "%s has not begun this call, or waits for another rank", peer);
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
}

/* Called during a wait without progress.  Notes waits from half of the limit on, so that the report can name them.  A
 * process that gives up makes those of its node that wait for it return an error, too. */
static hsumma_status look(void *state, double seconds)
{
    hsumma_context *ctx = state;
    struct hs_stall *stall = &ctx->stall;
    const struct hs_settings *settings = &ctx->options.settings;
    if (seconds < stall->waited)
        stall->reported = 0;
    stall->waited = seconds;
    const int noted = ctx->timeline.notes; /* since the look before this one */
    ctx->timeline.notes = ctx->timeline.ring || seconds >= settings->timeout / 2.0;
    if (seconds < settings->timeout || !noted || stall->reported)
        return HSUMMA_OK;
    stall->reported = 1;
    write_report(ctx, seconds);
    if (stall->reports++ < MOST_REPORTS)
        fprintf(stderr, "hsumma: %s (option timeout=%d)\n", stall->text.text, settings->timeout);
    if (!settings->timeout_fails)
        return HSUMMA_OK;
    ctx->broken = 1;
    if (ctx->comm.shm)
        hs_shm_break(ctx->comm.shm);
    if (ctx->running && ctx->running->grid->shared.directory.entry)
        hs_directory_break(&ctx->running->grid->shared.directory);
    if (ctx->team.comm) /* else the context runs no collective calls */
        hs_team_give_up(&ctx->team, &stall->text);
    return HSUMMA_ERR_MPI;
}

void hs_stall_watch(hsumma_context *ctx)
{
    const struct hs_settings *settings = &ctx->options.settings;
    double interval = settings->timeout / 4.0;
    ctx->stall.watch = (struct hs_watch){.look = look, .state = ctx, .interval = interval < 1 ? interval : 1};
    ctx->comm.watch = settings->timeout ? &ctx->stall.watch : NULL;
}
