/* The drain's own part of conveyor.h: where the local GEMM writes, and the way back into C. */
#include "base/wait.h"
#include "summa/messages/conveyor.h"

/* The GEMM writes C itself when nobody else adds to it and its lines lie together: then there are no buffers. */
static int is_direct(const struct hs_conveyor *drain)
{
    return drain->slots[drain->mover.levels] == 0;
}

/* 1 if the buffer that channel s reads tier panel `of[t]` from has been emptied of what was in it before. */
static int emptied(const struct hs_conveyor *drain, int s, int t)
{
    int o = drain->mover.panels->tier[drain->channel[s].tier].of[t];
    return o - (drain->slots[s] ? drain->slots[s] : 1) < drain->channel[s].done;
}

int hs_drain_open(const struct hs_conveyor *drain, int t)
{
    return emptied(drain, 0, t);
}

struct hs_matrix hs_drain_panel(const struct hs_conveyor *drain, int t, int *direct)
{
    const struct hs_mover *mover = &drain->mover;
    *direct = is_direct(drain);
    if (!*direct)
        return hs_conveyor_panel(drain, 0, t);
    int64_t local = hs_axis_before(mover->role->looped, mover->loop_coord, mover->panels->panel[t].at);
    return (struct hs_matrix){hs_conveyor_at(drain, &drain->matrix, local), drain->matrix.ld};
}

/* The root adds the sum to C. */
void hs_drain_empty(struct hs_conveyor *drain, int o)
{
    const struct hs_mover *mover = &drain->mover;
    struct hs_run_of_panels run = hs_mover_run(mover, mover->tier0, o);
    double begin = hs_now();
    if (!is_direct(drain))
        hs_unpack(&run, hs_conveyor_panel(drain, mover->levels, run.begin).base, mover->length, drain->beta,
                  &drain->matrix);
    drain->copy_seconds += hs_now() - begin;
}

/* Its panels are multiplied, its sums are complete, and the root has where to put the result. */
int hs_drain_may_start(const struct hs_conveyor *drain, int s, int now)
{
    const struct hs_mover *mover = &drain->mover;
    const struct hs_channel *channel = &drain->channel[s];
    const struct hs_tier *tier = &mover->panels->tier[channel->tier];
    int first = tier->first[channel->next], last = tier->first[channel->next + 1] - 1;
    if (last >= now)
        return 0;
    if (s > 0 && mover->panels->tier[drain->channel[s - 1].tier].of[last] >= drain->channel[s - 1].done)
        return 0;
    return s == mover->levels || emptied(drain, s + 1, first);
}
