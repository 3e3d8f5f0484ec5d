/* hsumma calibrate: sums and copies; copies and signals through shared memory. All ranks measure at once, because the
 * ranks of a node share the memory's bandwidth. */
#include "calibrate/command.h"

#include <string.h>

#include "base/scalar.h"
#include "base/wait.h"

/* --- sums and copies --------------------------------------------------------------------------------------------- */

enum { COPY_PIECE = 1 << 20, COPY_PIECES = 32 /* pieces per array, so that it exceeds the caches */ };

typedef struct arrays {
    char *left, *right;
    int next; /* index of the next piece */
    int sum;
} arrays;

static double walk(calibration *cal, void *state, int calls)
{
    arrays *x = state;
    double start = hs_now();

    (void)cal;
    for (int i = 0; i < calls; i++, x->next = (x->next + 1) % COPY_PIECES) {
        char *left = x->left + (size_t)x->next * COPY_PIECE, *right = x->right + (size_t)x->next * COPY_PIECE;

        if (x->sum)
            hs_scalars[HSUMMA_D].add(left, left, right, COPY_PIECE, NULL);
        else
            memcpy(right, left, COPY_PIECE);
    }
    return hs_now() - start;
}

static int measure_arrays(calibration *cal, double budget)
{
    size_t bytes = (size_t)COPY_PIECE * COPY_PIECES;
    arrays x = {.left = calibrate_get(cal, bytes), .right = calibrate_get(cal, bytes)};
    double copy, sum;

    if (command_fail(cal->comm, cal->lacks, "calibrate: no memory for two arrays of %zu bytes", bytes))
        return 0;
    copy = calibrate_together(cal, walk, &x, budget / 2);
    x.sum = 1;
    sum = calibrate_together(cal, walk, &x, budget / 2);
    calibrate_note(cal, "copy", 1, (int64_t[3]){COPY_PIECE}, copy);
    calibrate_note(cal, "sum", 1, (int64_t[3]){COPY_PIECE}, sum);
    cal->profile.machine.copy = copy / COPY_PIECE;
    cal->profile.machine.gamma = sum / COPY_PIECE;
    return 1;
}

/* --- shared memory ----------------------------------------------------------------------------------------------- */

/* Slots of the context's shared memory that are used for flags and for data; no collective is in flight. */
enum { WORD_SLOT, DATA_SLOT, MOST_SHARED = 1 << 20 };

struct shared_flags {
    _Alignas(128) _Atomic int64_t filled;
    _Alignas(128) _Atomic int64_t read; /* rounds in which this rank has read its neighbour's data */
    _Alignas(128) _Atomic int64_t ball;
};

typedef struct sharing {
    const struct hs_shm *shm;
    int64_t bytes, pieces, round;
    char *own, *source; /* source: read by the neighbour */
} sharing;

static struct shared_flags *words_of(const sharing *s, int member)
{
    return (struct shared_flags *)hs_shm_shared(s->shm, WORD_SLOT, HS_SHARED_RINGS - 1, member);
}

static void set(_Atomic int64_t *word, int64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

/* Copies pieces `calls` times into this rank's shared memory and out of its neighbour's; returns the seconds of the
 * copies, without the waits. */
static double copy_shared(calibration *cal, void *state, int calls)
{
    sharing *s = state;
    int me = s->shm->me, members = s->shm->members, next = (me + 1) % members, last = (me + members - 1) % members;
    char *mine = hs_shm_shared(s->shm, DATA_SLOT, HS_SHARED_RINGS - 1, me),
         *theirs = hs_shm_shared(s->shm, DATA_SLOT, HS_SHARED_RINGS - 1, next);
    double seconds = 0, start;

    (void)cal;
    for (int i = 0; i < calls; i++) {
        calibrate_wait_word(&words_of(s, last)->read, s->round++);
        start = hs_now();
        for (int64_t p = 0; p < s->pieces; p++)
            memcpy(mine + p * s->bytes, s->own + p * s->bytes, (size_t)s->bytes);
        seconds += hs_now() - start;
        set(&words_of(s, me)->filled, s->round);
        calibrate_wait_word(&words_of(s, next)->filled, s->round);
        start = hs_now();
        for (int64_t p = 0; p < s->pieces; p++)
            memcpy(s->own + p * s->bytes, theirs + p * s->bytes, (size_t)s->bytes);
        seconds += hs_now() - start;
        set(&words_of(s, me)->read, s->round);
    }
    return seconds;
}

/* Reads bytes of the neighbour's own memory `calls` times. */
static double read_neighbour(calibration *cal, void *state, int calls)
{
    const sharing *s = state;
    int next = (s->shm->me + 1) % s->shm->members;
    double start = hs_now();

    (void)cal;
    for (int i = 0; i < calls; i++)
        hs_shm_read(s->shm, WORD_SLOT, next, 0, 0, s->own, s->bytes); /* the context has tested that it can be read */
    return hs_now() - start;
}

/* Passes a flag to a neighbour and back `calls` times; returns half the seconds, which is the time of `calls` signals.
 */
static double play(calibration *cal, void *state, int calls)
{
    sharing *s = state;
    int me = s->shm->me, mate = me ^ 1, first = me < mate;
    double start;

    (void)cal;
    if (mate >= s->shm->members)
        return 0;
    s->round++; /* common start */
    set(&words_of(s, me)->ball, s->round);
    calibrate_wait_word(&words_of(s, mate)->ball, s->round);
    start = hs_now();
    for (int i = 0; i < calls; i++) {
        s->round++;
        if (!first)
            calibrate_wait_word(&words_of(s, mate)->ball, s->round);
        set(&words_of(s, me)->ball, s->round);
        if (first)
            calibrate_wait_word(&words_of(s, mate)->ball, s->round);
    }
    return (hs_now() - start) / 2;
}

/* Measures copies from the neighbour's own memory, if ranks can read it. */
static void measure_reads(calibration *cal, sharing *s, double budget)
{
    enum { READ_SIZES = 3 };
    double bytes[READ_SIZES], seconds[READ_SIZES];
    struct hs_link *read = &cal->profile.machine.read;

    if (!s->shm->direct)
        return;
    hs_shm_publish(cal->ctx->comm.shm, WORD_SLOT, s->source, NULL);
    quiet_barrier(cal->comm);
    s->bytes = 4096;
    for (int i = 0; i < READ_SIZES; i++, s->bytes *= 16) {
        bytes[i] = (double)s->bytes;
        seconds[i] = calibrate_slowest(cal, read_neighbour, s, budget / READ_SIZES);
        calibrate_note(cal, "read", 1, (int64_t[3]){s->bytes}, seconds[i]);
    }
    cal->error[FIT_READ] = fit_line(bytes, seconds, READ_SIZES, read);
    quiet_barrier(cal->comm);
}

static void measure_sharing(calibration *cal, sharing *s, double budget)
{
    enum { COPY_SIZES = 4 };
    const int64_t room =
        s->shm->ring[HS_SHARED_RINGS - 1].bytes < MOST_SHARED ? s->shm->ring[HS_SHARED_RINGS - 1].bytes : MOST_SHARED;
    double bytes[COPY_SIZES], seconds[COPY_SIZES];
    int points = 0;

    *words_of(s, s->shm->me) = (struct shared_flags){0};
    quiet_barrier(cal->comm);
    for (s->bytes = 64; points < COPY_SIZES && s->bytes <= room; s->bytes *= 16, points++) {
        s->pieces = room / s->bytes < 64 ? room / s->bytes : 64;
        seconds[points] = calibrate_slowest(cal, copy_shared, s, budget / (COPY_SIZES + 1)) / (2 * (double)s->pieces);
        bytes[points] = (double)s->bytes;
        calibrate_note(cal, "shared", 1, (int64_t[3]){s->bytes}, seconds[points]);
    }
    cal->error[FIT_SHM] = fit_line(bytes, seconds, points, &cal->profile.machine.shm);
    measure_reads(cal, s, budget / 5);
    s->round = 0;
    cal->profile.machine.signal = calibrate_slowest(cal, play, s, budget / (COPY_SIZES + 1));
    calibrate_note(cal, "signal", 0, NULL, cal->profile.machine.signal);
}

int calibrate_memory(calibration *cal, double budget)
{
    sharing s = {.shm = cal->ctx->comm.shm};
    int shared, everywhere;

    if (!measure_arrays(cal, budget / 2))
        return 0;
    /* a node with one rank shares nothing */
    shared =
        s.shm && s.shm->members > 1 && s.shm->ring[HS_SHARED_RINGS - 1].bytes >= (int64_t)sizeof(struct shared_flags);
    quiet_allreduce(&shared, &everywhere, 1, MPI_INT, MPI_MIN, cal->comm);
    if (!everywhere)
        return 1;
    s.own = calibrate_get(cal, MOST_SHARED);
    s.source = calibrate_get(cal, MOST_SHARED);
    if (command_fail(cal->comm, cal->lacks, "calibrate: no memory for %d bytes", MOST_SHARED))
        return 0;
    measure_sharing(cal, &s, budget / 2);
    return 1;
}
