/*
 * A conveyor moves one operand, panel by panel, through a sequence of channels.
 *
 * A feed brings panels of A or B to the local GEMM, ahead of their multiplication.  Channel 0 fills: the owner's panel
 * of the outermost level is used in place, packed, or passed through the exchange.  Exchanges of panels of different
 * owners are in flight together, so that all links are used.  A process has at most one panel in flight as a holder and
 * one as a taker; any number as a taker if hs_role.direct.  Channels 1..levels broadcast, outermost first.  A process
 * receives each panel exactly once, on the innermost level on which its coordinate differs from the root's, and
 * forwards inner panels on the levels inside.
 *
 * The drain returns the sums of C when C moves (stationary A or B).  The local GEMM writes partial panels; channels
 * 0..levels-1 reduce them, innermost level first, each into the panel of the next level outward.  On the last channel
 * the root adds the sum to its part of C, or sends it through the exchange to the holders.  Up to hs_mover.reductions
 * reductions of a level are in flight, and the GEMM runs ahead of them as far as buffers are free.
 *
 * The members of a cell (cells.h), if there are several, share panel buffers in the node's memory ("Cells" in
 * doc/design.md); channel 0 of the drain then adds up their partial panels.
 */
#ifndef HS_SUMMA_MESSAGES_CONVEYOR_H
#define HS_SUMMA_MESSAGES_CONVEYOR_H

#include "summa/messages/channel.h"
#include "summa/messages/mover.h"
#include "summa/shared_crc.h"

/* The memory from which the root of a tier0 panel sends and multiplies. */
struct hs_source {
    int in_place; /* 1: `matrix`, a part of the operand, is used in place; 0: the panel buffer */
    struct hs_matrix matrix;
};

enum { HS_CONVEYOR_CHANNELS = HS_LEVELS_MAX + 2 };

struct hs_conveyor {
    struct hs_mover mover;
    int channels; /* levels + 1; a drain that sums inside its cell has one more, at the front */
    struct hs_channel channel[HS_CONVEYOR_CHANNELS];
    /* Each channel has a ring of `slots` panel buffers.  A feed's channel writes to its ring, a drain's reads from it.
     */
    int slots[HS_CONVEYOR_CHANNELS];
    char *ring[HS_CONVEYOR_CHANNELS];
    int64_t slot_bytes[HS_CONVEYOR_CHANNELS];
    /* Number of a channel's rings in the node's memory: 1 for the whole cell, or one per member.  0 if the ring is in
     * this process's memory. */
    int node_rings[HS_CONVEYOR_CHANNELS];
    int64_t crc_bytes;      /* at the end of each buffer in the node's memory, for CRCs (hs_spec.checked) */
    struct hs_comm *checks; /* hs_checking */
    size_t shared_at;       /* offset of the cell's rings in the node's memory */
    struct hs_node_execution *execution; /* hs_conveyor_reset sets execution, matrix and beta */
    int signalled[HS_CONVEYOR_CHANNELS]; /* for each channel, the value of `done` last signalled to the cell */
    char *outgoing, *incoming;           /* packed messages of the exchange */
    struct hs_matrix matrix;
    double copy_seconds;

    /* Fields of a feed. */
    int ahead[HS_CONVEYOR_CHANNELS]; /* number of panels that may be in flight beyond the current one */
    int owners; /* number of outermost panels of a batch, used instead of `ahead`; 0 if there are no batches */
    /* 1 if the channel uses the ring of channel 0, because the panels of both are equally wide.  Each process receives
     * a panel through one channel only, so only one of the two writes a panel's buffer. */
    int reuses_ring[HS_CONVEYOR_CHANNELS];
    struct hs_source *source; /* one for each slot of channel 0 */

    /* Fields of the drain. */
    char *scratch[HS_CONVEYOR_CHANNELS];
    int64_t scratch_bytes[HS_CONVEYOR_CHANNELS]; /* bytes of scratch per instance in flight */
    const void *beta;
};

/* Makes lists and computes sizes.  Local; after an error hs_conveyor_free must be called. */
hsumma_status hs_conveyor_init(struct hs_conveyor *conveyor, const struct hs_spec *spec, const struct hs_mover *mover,
                               struct hs_cache *lists, const struct hs_allocator *memory);
void hs_conveyor_free(struct hs_conveyor *conveyor, const struct hs_allocator *memory);
/* Takes the instances, which live as long as the plan, from the arena. */
void hs_conveyor_lay_out(struct hs_conveyor *conveyor, const struct hs_cache *lists, struct hs_arena *arena);
/* Takes this process's own panel buffers from the arena, whose memory may differ between executions. */
void hs_conveyor_place_buffers(struct hs_conveyor *conveyor, struct hs_arena *arena);
/* Sets the rings that lie in the node's memory, which begins at `memory`. */
void hs_conveyor_place_shared(struct hs_conveyor *conveyor, char *memory);

/*
 * Bytes of the node's memory for one operand's cells on `lines` lines, with `members` members in total.  The size is
 * enough whichever levels a line has over its cells, so all processes of the node compute the same.
 */
size_t hs_conveyor_shared_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                                int lines, int members);
/* This process's share, in bytes, of its cell's panel buffers in the node's memory. */
size_t hs_conveyor_shared_part(const struct hs_conveyor *conveyor);
/* Bytes of one process: its panel buffers, its share of the cell's buffers, scratch, and messages of the exchange.
 * length: local extent of the pinned dimension. */
int64_t hs_conveyor_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                          int64_t length);

/* Begins an execution of the innermost panels from .. to - 1.  Only the drain uses beta.  checks: hs_checking. */
void hs_conveyor_reset(struct hs_conveyor *conveyor, const struct hs_matrix *matrix, const void *beta,
                       struct hs_node_execution *execution, struct hs_comm *checks, int from, int to);
/* Signals to the cell how many instances of each channel are complete. */
void hs_conveyor_signal(struct hs_conveyor *conveyor);
/* Advances all instances in flight. */
hsumma_status hs_conveyor_progress(struct hs_conveyor *conveyor, int *worked);
/*
 * Starts every instance that may start while innermost panel `now` is multiplied.  If one_at_a_time is set, an instance
 * only starts while the conveyor is idle.
 */
hsumma_status hs_conveyor_start(struct hs_conveyor *conveyor, struct hs_comm *comm, const struct hs_cache *lists,
                                int now, int one_at_a_time, int *worked);
/* 1 if no instance is in flight. */
int hs_conveyor_idle(const struct hs_conveyor *conveyor);
/* 1 if this process has completed all its instances of the span, forwarding included. */
int hs_conveyor_done(const struct hs_conveyor *conveyor);

/* Implemented in feed.c.  1 if innermost panel t has arrived. */
int hs_feed_ready(const struct hs_conveyor *feed, int t);
/* The coordinate on the line of the root of innermost panel t. */
int hs_feed_root_on_line(const struct hs_conveyor *feed, int t);
/* The channel through which this cell receives innermost panel t; 0 if the root is in this cell. */
int hs_feed_channel(const struct hs_conveyor *feed, int t);
/* The address of innermost panel t, which must be ready. */
struct hs_matrix hs_feed_panel(const struct hs_conveyor *feed, int t);
/* 1 if this process has completed its instances up to panel t of the span, forwarding included. */
int hs_feed_passed_on(const struct hs_conveyor *feed, int t);
/* 1 if all members of the cell have completed their instances up to panel t, forwarding included. */
int hs_feed_forwarded(const struct hs_conveyor *feed, int t);

/* Implemented in crcs.c, for cells of several members while a product is checked.  Compares the CRC of innermost panel
 * t, which must be ready and is about to be multiplied. */
void hs_feed_check_crc(struct hs_conveyor *feed, int t);
/* Takes the CRCs of this process's partial panels that end at innermost panel t. */
void hs_drain_take_crcs(struct hs_conveyor *drain, int t);

/* Implemented in drain.c.  1 if the GEMM may write innermost panel t. */
int hs_drain_open(const struct hs_conveyor *drain, int t);
/* The address to which the GEMM writes innermost panel t.  Sets *in_c to 1 if that address is in C itself; the
 * GEMM must then apply beta. */
struct hs_matrix hs_drain_panel(const struct hs_conveyor *drain, int t, int *in_c);

/* Internal to conveyor.c, feed.c, drain.c.  Whether the next panel of channel s may start while innermost panel `now`
 * is multiplied. */
int hs_feed_may_start(const struct hs_conveyor *feed, int s, int now);
int hs_drain_may_start(const struct hs_conveyor *drain, int s, int now);
/* If the operand is not exchanged: the root uses its part of tier0 panel o in place, or packs it. */
void hs_feed_fill(struct hs_conveyor *feed, int o);
/* If C is not exchanged: the root adds the sum of tier0 panel o to C. */
void hs_drain_add(struct hs_conveyor *drain, int o);
/* Implemented in timeline.c: records a copy or sum of a tier's panel o that lasted from `begin` until now. */
void hs_conveyor_copied(struct hs_conveyor *conveyor, int tier, int o, enum hs_trace_kind kind, double begin);
/* Whether this execution may write to the node's memory, because all earlier users of that memory have finished. */
int hs_conveyor_may_write(const struct hs_conveyor *conveyor);
/* Whether all members of the cell have completed the first `count` panels of channel s. */
int hs_conveyor_all_done(const struct hs_conveyor *conveyor, int s, int count);
/* Runs channel 0 of the drain in a cell of several members: computes this member's share of the sum of panel o. */
void hs_drain_sum_cell(struct hs_conveyor *drain, int o);
/* The bytes of a member's share of panel o of channel 0, from offset *from on. */
int64_t hs_drain_share(const struct hs_conveyor *drain, int o, int member, int64_t *from);
/* Implemented in crcs.c.  Takes the CRC of panel o of channel s if this process has written it for its cell. */
void hs_feed_take_crc(struct hs_conveyor *feed, int s, int o);
/* Compares the CRCs of this member's share of the members' partial panels o. */
void hs_drain_check_parts(const struct hs_conveyor *drain, int o);
/* Takes the CRC of this member's share of the sum of panel o; compares those of all shares. */
void hs_drain_take_crc_of_sum(const struct hs_conveyor *drain, int o);
void hs_drain_check_sum(struct hs_conveyor *drain, int o);
/* The tier of the panels of channel s. */
static inline const struct hs_tier *hs_conveyor_tier(const struct hs_conveyor *conveyor, int s)
{
    return &conveyor->mover.panels->tier[conveyor->channel[s].tier];
}
/* The buffer of panel o of channel s. */
char *hs_conveyor_buffer(const struct hs_conveyor *conveyor, int s, int o);
/* The address of innermost panel t in the buffers of channel s. */
struct hs_matrix hs_conveyor_panel(const struct hs_conveyor *conveyor, int s, int t);
/* Address of a local index of the looped dimension in this process's part of the operand. */
char *hs_conveyor_at(const struct hs_conveyor *conveyor, const struct hs_matrix *matrix, int64_t local);

#endif
