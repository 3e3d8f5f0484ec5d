/* The drain's part of conveyor.h: the buffers that the local GEMM writes, and the return of the sums to C. */
#include "base/wait.h"
#include "summa/messages/conveyor.h"

/* Whether the GEMM writes C itself, because no other process adds to this part and its panels are contiguous in C.  The
 * drain then has no buffers. */
static int writes_c(const struct hs_conveyor *drain)
{
    return drain->slots[drain->channels - 1] == 0;
}

/* Whether the buffer from which channel s will read the tier panel of innermost panel t is free.  The channel must have
 * completed the buffer's previous panel; if the buffer is in the node's memory, on all members of the cell. */
static int input_free(const struct hs_conveyor *drain, int s, int t)
{
    int before = hs_conveyor_tier(drain, s)->of[t] - (drain->slots[s] ? drain->slots[s] : 1);
    if (drain->node_rings[s])
        return hs_conveyor_may_write(drain) && hs_conveyor_all_done(drain, s, before + 1);
    return before < drain->channel[s].done;
}

int hs_drain_open(const struct hs_conveyor *drain, int t)
{
    return input_free(drain, 0, t);
}

struct hs_matrix hs_drain_panel(const struct hs_conveyor *drain, int t, int *in_c)
{
    const struct hs_mover *mover = &drain->mover;
    *in_c = writes_c(drain);
    if (!*in_c)
        return hs_conveyor_panel(drain, 0, t);
    int64_t local = hs_axis_before(mover->role->looped, mover->loop_coord, mover->panels->panel[t].at);
    return (struct hs_matrix){hs_conveyor_at(drain, &drain->matrix, local), drain->matrix.ld};
}

void hs_drain_add(struct hs_conveyor *drain, int o)
{
    const struct hs_mover *mover = &drain->mover;
    struct hs_run_of_panels run = hs_mover_run(mover, mover->tier0, o);
    if (writes_c(drain))
        return;
    double begin = hs_now();
    hs_unpack(&run, hs_conveyor_panel(drain, drain->channels - 1, run.begin).base, mover->length, drain->beta,
              &drain->matrix);
    hs_conveyor_copied(drain, mover->tier0, o, HS_TRACE_SUM, begin);
}

int64_t hs_drain_share(const struct hs_conveyor *drain, int o, int member, int64_t *from)
{
    const struct hs_mover *mover = &drain->mover;
    const int64_t elements = hs_tier_width(mover->panels, drain->channel[0].tier, o) * mover->length;
    const int64_t size = (int64_t)mover->problem->scalar->size;
    *from = elements * member / mover->members * size;
    return elements * (member + 1) / mover->members * size - *from;
}

/* Each element is summed in the order of the line, so the bits do not depend on how members divide the work. */
void hs_drain_sum_cell(struct hs_conveyor *drain, int o)
{
    const struct hs_mover *mover = &drain->mover;
    const struct hs_scalar *scalar = mover->problem->scalar;
    int members = mover->members, me = hs_mover_place(mover);
    int64_t from, bytes = hs_drain_share(drain, o, me, &from);
    int64_t apart = drain->slots[0] * drain->slot_bytes[0]; /* distance between the rings of consecutive members */
    const char *part = hs_conveyor_buffer(drain, 0, o) - me * apart + from;
    char *sum = hs_conveyor_buffer(drain, 1, o) + from;
    double begin = hs_now();
    if (drain->checks)
        hs_drain_check_parts(drain, o);
    if (bytes > 0 && hs_compute_bytes(scalar->compute, HS_WORK_SUM, bytes * (members - 1))) {
        scalar->add(sum, part, part + apart, bytes, NULL);
        for (int i = 2; i < members; i++)
            scalar->add(sum, sum, part + i * apart, bytes, NULL);
    }
    if (drain->checks)
        hs_drain_take_crc_of_sum(drain, o);
    hs_conveyor_copied(drain, drain->channel[0].tier, o, HS_TRACE_SUM, begin);
}

/* 1 if the panel has been multiplied, its sums on the levels inside are complete, and the result's buffer is free. */
int hs_drain_may_start(const struct hs_conveyor *drain, int s, int now)
{
    const struct hs_mover *mover = &drain->mover;
    const struct hs_tier *tier = hs_conveyor_tier(drain, s);
    int o = drain->channel[s].next, first = tier->first[o], last = tier->first[o + 1] - 1;
    if (last >= now)
        return 0;
    int inner = s > 0 ? hs_conveyor_tier(drain, s - 1)->of[last] : 0;
    if (s > 0 && (drain->node_rings[s - 1] ? !hs_conveyor_all_done(drain, s - 1, inner + 1)
                                           : inner >= drain->channel[s - 1].done))
        return 0;
    if (s == 0 && drain->node_rings[0] && !hs_cells_all_signalled(mover->cells, drain->execution, HS_USED, last + 1))
        return 0;
    return s == drain->channels - 1 || input_free(drain, s + 1, first);
}
