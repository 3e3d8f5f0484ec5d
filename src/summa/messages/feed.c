/* The feed's part of conveyor.h: which panels have arrived, and the memory from which their root sends them. */
#include "base/wait.h"
#include "summa/messages/conveyor.h"

int hs_feed_root_on_line(const struct hs_conveyor *feed, int t)
{
    return hs_mover_root(&feed->mover, feed->mover.panels->panel[t].pair);
}

int hs_feed_channel(const struct hs_conveyor *feed, int t)
{
    return 1 + hs_mover_level(&feed->mover, hs_feed_root_on_line(feed, t));
}

/* The panel is ready when the cell's carrier has it.  In the root's cell the carrier is the root. */
int hs_feed_ready(const struct hs_conveyor *feed, int t)
{
    const struct hs_mover *mover = &feed->mover;
    int s = hs_feed_channel(feed, t), root = hs_feed_root_on_line(feed, t);
    int o = hs_conveyor_tier(feed, s)->of[t];
    if (hs_mover_carries(mover, root))
        return o < feed->channel[s].done;
    return hs_cells_signalled(mover->cells, feed->execution, hs_mover_carrier(mover, root), hs_done_of(mover->index, s),
                              o + 1);
}

struct hs_matrix hs_feed_panel(const struct hs_conveyor *feed, int t)
{
    const struct hs_mover *mover = &feed->mover;
    int s = hs_feed_channel(feed, t), slots = feed->slots[0] ? feed->slots[0] : 1;
    const struct hs_source *source = &feed->source[mover->panels->tier[mover->tier0].of[t] % slots];
    if (s > 0 || mover->members > 1 || !source->in_place)
        return hs_conveyor_panel(feed, s, t);
    int64_t offset = hs_tier_offset(mover->panels, mover->tier0, t);
    return (struct hs_matrix){hs_conveyor_at(feed, &source->matrix, offset), source->matrix.ld};
}

/* Whether the buffer for tier panel o of channel s is free: the memory may be written, and all members of the cell have
 * multiplied the buffer's previous panel and completed its forwarding. */
static int buffer_free(const struct hs_conveyor *feed, int s, int o, int now)
{
    int before = o - feed->slots[s];
    if (!hs_conveyor_may_write(feed))
        return 0;
    if (before < 0)
        return 1;
    int last = hs_conveyor_tier(feed, s)->first[before + 1] - 1;
    if (last >= now)
        return 0;
    for (int j = 1; j < feed->channels; j++)
        if (!hs_conveyor_all_done(feed, j, hs_conveyor_tier(feed, j)->of[last] + 1))
            return 0;
    return feed->mover.members == 1 || hs_cells_all_signalled(feed->mover.cells, feed->execution, HS_USED, last + 1);
}

/* Uses the panel in place if this process is alone in its cell and the panel can be sent and multiplied from the
 * matrix; otherwise packs the panel. */
void hs_feed_fill(struct hs_conveyor *feed, int o)
{
    const struct hs_mover *mover = &feed->mover;
    struct hs_run_of_panels run = hs_mover_run(mover, mover->tier0, o);
    int slots = feed->slots[0] ? feed->slots[0] : 1, one_slab = run.end - run.begin == 1;
    struct hs_source *source = &feed->source[o % slots];
    /* sending needs the layout of a packed panel; the GEMM accepts any leading dimension */
    int contiguous = mover->role->loop_axis == 0
                         ? one_slab && feed->matrix.ld == hs_tier_width(mover->panels, mover->tier0, o)
                         : feed->matrix.ld == mover->length;
    int64_t start = mover->members == 1 && (mover->levels == 0 || contiguous) ? hs_in_place(&run) : -1;
    source->in_place = start >= 0;
    if (source->in_place) {
        source->matrix = (struct hs_matrix){hs_conveyor_at(feed, &feed->matrix, start), feed->matrix.ld};
        return;
    }
    double begin = hs_now();
    hs_pack(&run, &feed->matrix, mover->length, hs_conveyor_panel(feed, 0, run.begin).base);
    hs_conveyor_copied(feed, mover->tier0, o, HS_TRACE_COPY, begin);
}

/* Whether channels 0 .. s - 1 have started their panels that contain innermost panel `first`.  The order matters if
 * instances run one at a time: an inner instance that started first would block the outer ones, which other processes
 * need first. */
static int is_next(const struct hs_conveyor *feed, int s, int first)
{
    for (int j = 0; j < s; j++)
        if (feed->channel[j].next <= hs_conveyor_tier(feed, j)->of[first])
            return 0;
    return 1;
}

/* The last panel of channel s that may be in flight while innermost panel `now` is multiplied. */
static int window_end(const struct hs_conveyor *feed, int s, int now)
{
    const struct hs_panels *panels = feed->mover.panels;
    const struct hs_tier *tier = hs_conveyor_tier(feed, s);
    if (feed->owners == 0 || now == panels->count)
        return tier->of[now] + feed->ahead[s];
    return tier->of[hs_batch_end(panels, feed->owners, now) - 1];
}

/* 1 if the next panel is inside the window and the outer channels have started it (is_next).  If channel s fills or
 * receives it, its buffer must also be free; if channel s forwards it, it must have arrived. */
int hs_feed_may_start(const struct hs_conveyor *feed, int s, int now)
{
    const struct hs_channel *channel = &feed->channel[s];
    int o = channel->next;
    if (o > window_end(feed, s, now))
        return 0;
    int first = hs_conveyor_tier(feed, s)->first[o], from = hs_feed_channel(feed, first);
    if (!is_next(feed, s, first))
        return 0;
    if (s == 0 && !hs_mover_takes(&feed->mover, hs_mover_pair(&feed->mover, channel->tier, o)))
        return 1; /* this process is at most a holder, which needs no buffer */
    if (s == 0 || from == s)
        return feed->slots[s] == 0 || buffer_free(feed, s, o, now);
    return from > s || hs_feed_ready(feed, first);
}

int hs_feed_forwarded(const struct hs_conveyor *feed, int t)
{
    for (int s = 0; s < feed->channels; s++)
        if (!hs_conveyor_all_done(feed, s, hs_conveyor_tier(feed, s)->of[t] + 1))
            return 0;
    return 1;
}

int hs_feed_passed_on(const struct hs_conveyor *feed, int t)
{
    for (int s = 0; s < feed->channels; s++)
        if (feed->channel[s].done <= hs_conveyor_tier(feed, s)->of[t])
            return 0;
    return 1;
}
