/*
 * Feed: brings an operand that moves inward (A or B) to where the local GEMM needs it, panel by panel, ahead of it.
 *
 * Channel 0 fills: the owner's panel of the outermost level is used in place or packed, or, for a transposed operand,
 * comes through the exchange.  Channels 1..levels broadcast, outermost first.  A process receives each panel exactly
 * once (on the innermost level on which it differs from the root) and forwards inner panels of it on the levels inside.
 */
#ifndef HS_SUMMA_MESSAGES_FEED_H
#define HS_SUMMA_MESSAGES_FEED_H

#include "summa/messages/channel.h"
#include "summa/messages/mover.h"

struct hs_source { /* what the owner of a tier0 panel sends and multiplies from */
    char *base;
    int64_t ld;
    int in_place;
};

struct hs_feed {
    struct hs_mover mover;
    int channels;
    struct hs_channel channel[1 + HS_LEVELS_MAX];
    int ahead[1 + HS_LEVELS_MAX];
    int slots[1 + HS_LEVELS_MAX];  /* panel buffers of each channel */
    int shares[1 + HS_LEVELS_MAX]; /* uses those of channel 0: a process gets a panel by one channel only, so those of
                                      equal width never meet in a buffer */
    char *ring[1 + HS_LEVELS_MAX];
    int64_t slot_bytes[1 + HS_LEVELS_MAX];
    struct hs_source *source;  /* per slot of channel 0 */
    char *outgoing, *incoming; /* of the exchange */
    struct hs_matrix matrix;   /* bound at start */
    double copy_seconds;
};

/* Lists and sizes; then lay_out measures or places what a plan keeps, and place the panel buffers, before each start.
 */
hsumma_status hs_feed_init(struct hs_feed *feed, const struct hs_spec *spec, const struct hs_mover *mover,
                           struct hs_cache *lists, const struct hs_allocator *memory);
void hs_feed_free(struct hs_feed *feed, const struct hs_allocator *memory);
void hs_feed_lay_out(struct hs_feed *feed, const struct hs_cache *lists, struct hs_arena *arena);
void hs_feed_place_buffers(struct hs_feed *feed, struct hs_arena *arena);

/* Bytes of panel buffers for given local extents: what place takes. */
int64_t hs_feed_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                      int64_t length);

/* Before each execution: of the innermost panels from .. to - 1. */
void hs_feed_reset(struct hs_feed *feed, const struct hs_matrix *matrix, int from, int to);
hsumma_status hs_feed_progress(struct hs_feed *feed, int *worked);
/*
 * Starts what may start while innermost panel `now` is the one being multiplied; with `one_at_a_time` nothing is
 * started while something of this feed is under way.
 */
hsumma_status hs_feed_start(struct hs_feed *feed, struct hs_comm *comm, const struct hs_cache *lists, int now,
                            int one_at_a_time, int *worked);
/* 1 when innermost panel t is here; then where. */
int hs_feed_ready(const struct hs_feed *feed, int t);
struct hs_matrix hs_feed_panel(const struct hs_feed *feed, int t);
/* 1 when everything that panel `now` asks of this process, forwarding included, has been started and is over. */
int hs_feed_settled(const struct hs_feed *feed, int now);
/* 1 when all that the span asks of this process, forwarding included, is over. */
int hs_feed_done(const struct hs_feed *feed);

/* Panels of a tier that may be under way ahead of the current one. */
int hs_ahead(const struct hs_spec *spec, int tier);

#endif
