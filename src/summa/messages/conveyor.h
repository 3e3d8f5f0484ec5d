/*
 * Conveyor: carries one operand that moves, panel by panel, through a sequence of channels.
 *
 * A feed brings A or B to where the local GEMM needs it, ahead of it.  Channel 0 fills: the owner's panel of the
 * outermost level is used in place or packed, or, for a transposed operand, comes through the exchange.  Exchanges of
 * panels of different owners are in flight together, so that all links are used at once: one panel per process as a
 * holder, and one as a taker unless it receives the panel as it stores it (hs_role.direct).  Channels
 * 1..levels broadcast, outermost first.  A process receives each panel exactly once (on the innermost level on which it
 * differs from the root) and forwards inner panels of it on the levels inside.
 *
 * The drain brings the sums of C home when C moves (stationary A or B).  The local GEMM writes partial panels; channels
 * 0..levels-1 reduce them, innermost level first, each into the panel of the next level outward; the last channel
 * empties: the root adds the sum to its part of C, or, for an exchanged C, sends it to those who hold it.  The
 * reductions trail the GEMM by the panels that have buffers, several at a time (hs_mover.reductions).
 *
 * Where cells have several members (cells.h), the buffers of panels lie in the node's shared memory, one for all of a
 * cell: the root fills its cell's, and of every cell the carrier takes part in the broadcasts.  What a process could
 * see of itself, that a panel is here, or that a buffer is free, it then learns from the words of all members: how many
 * panels they have multiplied, and which instances of each channel are over there.  Of C each member writes its partial
 * panels beside the others'; channel 0 of the drain adds them up in the order of the line, each member its share, and
 * the carriers reduce these sums between the cells.
 */
#ifndef HS_SUMMA_MESSAGES_CONVEYOR_H
#define HS_SUMMA_MESSAGES_CONVEYOR_H

#include "summa/messages/channel.h"
#include "summa/messages/mover.h"

struct hs_source { /* what the owner of a tier0 panel sends and multiplies from */
    int in_place;
    struct hs_matrix matrix; /* if so */
};

enum { HS_CONVEYOR_CHANNELS = HS_LEVELS_MAX + 2 };

struct hs_conveyor {
    struct hs_mover mover;
    int channels; /* levels + 1; of a drain in a cell of several members one more, in front */
    struct hs_channel channel[HS_CONVEYOR_CHANNELS];
    int slots[HS_CONVEYOR_CHANNELS]; /* panel buffers of each: a feed's writes to them, the drain's reads from them */
    char *ring[HS_CONVEYOR_CHANNELS];
    int64_t slot_bytes[HS_CONVEYOR_CHANNELS];
    int shared[HS_CONVEYOR_CHANNELS]; /* copies of the ring in the node's memory: 1 for the cell, or one for each
                                         member; 0: it is in this process's */
    size_t shared_at;                 /* where the cell's rings begin there */
    struct hs_turn *turn;             /* bound at start */
    int told[HS_CONVEYOR_CHANNELS];   /* instances that the others know to be over */
    char *outgoing, *incoming;        /* of the exchange */
    struct hs_matrix matrix;          /* bound at start */
    double copy_seconds;

    /* a feed */
    int ahead[HS_CONVEYOR_CHANNELS];  /* panels that may be under way ahead of the current one */
    int owners;                       /* of a batch (hs_batch_end): then its panels may be instead; 0: no batches */
    int shares[HS_CONVEYOR_CHANNELS]; /* uses the buffers of channel 0: a process gets a panel by one channel only, so
                                      those of equal width never meet in a buffer */
    struct hs_source *source;         /* per slot of channel 0 */

    /* the drain */
    char *scratch[HS_CONVEYOR_CHANNELS];
    int64_t scratch_bytes[HS_CONVEYOR_CHANNELS];
    const void *beta; /* bound at start */
};

/* Lists and sizes; then lay_out measures or places what a plan keeps, and place the panel buffers, before each start.
 */
hsumma_status hs_conveyor_init(struct hs_conveyor *conveyor, const struct hs_spec *spec, const struct hs_mover *mover,
                               struct hs_cache *lists, const struct hs_allocator *memory);
void hs_conveyor_free(struct hs_conveyor *conveyor, const struct hs_allocator *memory);
void hs_conveyor_lay_out(struct hs_conveyor *conveyor, const struct hs_cache *lists, struct hs_arena *arena);
void hs_conveyor_place_buffers(struct hs_conveyor *conveyor, struct hs_arena *arena);

/*
 * Bytes of the node's memory for `lines` cells of an operand with `members` members together: what all lines have room
 * in, whatever their own levels are.
 */
size_t hs_conveyor_shared_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                                int lines, int members);
/* A member's share of what its cell has there. */
size_t hs_conveyor_shared_part(const struct hs_conveyor *conveyor);
/* Bytes of panel buffers for given local extents, with room for the scratch that reductions need: what place takes. */
int64_t hs_conveyor_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                          int64_t length);

/* Before each execution: of the innermost panels from .. to - 1.  beta is the drain's. */
void hs_conveyor_reset(struct hs_conveyor *conveyor, const struct hs_matrix *matrix, const void *beta,
                       struct hs_turn *turn, int from, int to);
/* Tells the others of the node which instances of each channel are over; stream: which of their words are meant. */
void hs_conveyor_tell(struct hs_conveyor *conveyor, int stream);
hsumma_status hs_conveyor_progress(struct hs_conveyor *conveyor, int *worked);
/*
 * Starts what may start while innermost panel `now` is the one being multiplied; with `one_at_a_time` nothing is
 * started while something of this conveyor is under way.
 */
hsumma_status hs_conveyor_start(struct hs_conveyor *conveyor, struct hs_comm *comm, const struct hs_cache *lists,
                                int now, int one_at_a_time, int *worked);
/* 1 when nothing is under way. */
int hs_conveyor_idle(const struct hs_conveyor *conveyor);
/* 1 when all that the span asks of this process, forwarding included, is over. */
int hs_conveyor_done(const struct hs_conveyor *conveyor);

/* feed.c: 1 when innermost panel t is here; then where.  The rank of its root. */
int hs_feed_ready(const struct hs_conveyor *feed, int t);
int hs_feed_root(const struct hs_conveyor *feed, int t);
struct hs_matrix hs_feed_panel(const struct hs_conveyor *feed, int t);
/* 1 when everything that panel `now` asks of this process, forwarding included, has been started and is over. */
int hs_feed_settled(const struct hs_conveyor *feed, int now);
/* 1 when that of panel t is over on all members of the cell. */
int hs_feed_passed_on(const struct hs_conveyor *feed, int t);

/* drain.c: 1 when the GEMM may write panel t; where; *direct is set if that is C itself and beta has to be applied
 * there. */
int hs_drain_open(const struct hs_conveyor *drain, int t);
struct hs_matrix hs_drain_panel(const struct hs_conveyor *drain, int t, int *direct);

/* Among the parts of a conveyor: whether the next panel of channel s may start ... */
int hs_feed_may_start(const struct hs_conveyor *feed, int s, int now);
int hs_drain_may_start(const struct hs_conveyor *drain, int s, int now);
/* ... and what its root does with tier0 panel o where nothing is exchanged. */
void hs_feed_fill(struct hs_conveyor *feed, int o);
void hs_drain_empty(struct hs_conveyor *drain, int o);
/* timeline.c: after a copy or a sum of panel o of a tier that has taken from `begin` until now. */
void hs_conveyor_copied(struct hs_conveyor *conveyor, int tier, int o, enum hs_trace_kind kind, double begin);
/* Whether the node's memory may be written in this execution. */
int hs_conveyor_entered(const struct hs_conveyor *conveyor);
/* Whether all members of the cell are through with the first `count` panels of channel s. */
int hs_conveyor_all_done(const struct hs_conveyor *conveyor, int s, int count);
/* The drain's channel 0 in a cell of several members: this member's share of the sum of panel o. */
void hs_drain_gather(struct hs_conveyor *drain, int o);
/* Innermost panel t in the buffers of channel s. */
struct hs_matrix hs_conveyor_panel(const struct hs_conveyor *conveyor, int s, int t);
/* Where panels begin in this process's own matrix, from a local index of the looped dimension on. */
char *hs_conveyor_at(const struct hs_conveyor *conveyor, const struct hs_matrix *matrix, int64_t local);

#endif
