/* The entries that the loop records in the timeline: copies, sums, and waits with their causes. */
#include "summa/messages/loop.h"

void hs_conveyor_copied(struct hs_conveyor *conveyor, int tier, int o, enum hs_trace_kind kind, double begin)
{
    const struct hs_mover *mover = &conveyor->mover;
    double end = hs_now();
    conveyor->copy_seconds += end - begin;
    int64_t bytes = hs_tier_width(mover->panels, tier, o) * mover->length * (int64_t)mover->problem->scalar->size;
    hs_problem_worked(mover->problem, kind, begin, end, mover->operand, o, bytes);
}

/* The rank that a conveyor's first instance in flight waits for (hs_instance_awaits); -1 if none.  t: only instances of
 * innermost panels up to t; -1: all. */
static int awaits(const struct hs_conveyor *conveyor, int t, int *receives)
{
    *receives = 0;
    for (int s = 0; s < conveyor->channels; s++) {
        const struct hs_channel *channel = &conveyor->channel[s];
        if (channel->done < channel->next && (t < 0 || channel->done <= hs_conveyor_tier(conveyor, s)->of[t]))
            return hs_instance_awaits(&channel->instance[channel->done % channel->slots], receives);
    }
    return -1;
}

/* The rank of a process of this node for whose signal this process waits; -1 if it waits for none. */
static int awaited_mate(const struct hs_loop *loop)
{
    const struct hs_directory *directory = loop->execution.shared ? &loop->execution.shared->directory : NULL;
    return directory && directory->awaits ? loop->problem->trace->rank_of_mate[directory->awaited[0].rank] : -1;
}

/* The first panel of a feed that has not arrived and that the next multiplication needs; -1 if there is none. */
static int missing_panel(const struct hs_loop *loop, const struct hs_conveyor *feed)
{
    int end = hs_loop_batch_end(loop, feed);
    for (int t = loop->now; t < end; t++)
        if (!hs_feed_ready(feed, t))
            return t;
    return -1;
}

/* The timeline entry for the wait before panel `now`.  If this process is the panel's root, it waits for a message of
 * the exchange or for a free buffer. */
static struct hs_trace_entry awaited_panel(const struct hs_loop *loop)
{
    struct hs_trace_entry entry = {.cause = HS_CAUSE_ROOM, .panel = loop->now};
    const struct hs_conveyor *of = &loop->conveyor[1]; /* the drain, unless a feed is the cause */
    int receives, passed = -1; /* passed: the panel that must be passed on, if that is the cause */
    for (int f = 0; f < loop->feeds; f++) {
        const struct hs_conveyor *feed = &loop->conveyor[f];
        int missing = missing_panel(loop, feed);
        int root = missing < 0 ? -1 : hs_mover_rank(&feed->mover, hs_feed_root_on_line(feed, missing));
        if (missing >= 0 && root != loop->comm->rank)
            return (struct hs_trace_entry){
                .cause = HS_CAUSE_DATA, .panel = missing, .operand = feed->mover.operand, .peer = root};
        if (missing >= 0 || (loop->passes_on && !hs_feed_passed_on(feed, hs_loop_batch_end(loop, feed) - 1))) {
            entry.cause = missing >= 0 ? HS_CAUSE_ROOM : HS_CAUSE_SENT;
            passed = missing >= 0 ? -1 : hs_loop_batch_end(loop, feed) - 1;
            of = feed;
            break;
        }
    }
    entry.operand = of->mover.operand;
    entry.peer = awaits(of, passed, &receives);
    entry.cause = receives ? HS_CAUSE_DATA : entry.cause;
    if (entry.peer < 0)
        entry.peer = awaited_mate(loop);
    return entry;
}

/* The timeline entry for the wait at the end of the span. */
static struct hs_trace_entry awaited_end(const struct hs_loop *loop)
{
    const struct hs_conveyor *of = &loop->conveyor[!hs_conveyor_done(&loop->conveyor[1])];
    int receives, peer = awaits(of, -1, &receives), sends = peer >= 0 && !receives;
    return (struct hs_trace_entry){.cause = sends ? HS_CAUSE_SENT : HS_CAUSE_DATA,
                                   .panel = -1,
                                   .operand = of->mover.operand,
                                   .peer = peer < 0 ? awaited_mate(loop) : peer};
}

void hs_loop_trace_wait(struct hs_loop *loop)
{
    if (hs_trace_notes(loop->problem->trace))
        hs_trace_await(loop->problem->trace, loop, loop->now < loop->end ? awaited_panel(loop) : awaited_end(loop));
}
