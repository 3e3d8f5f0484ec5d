#include "coll/node/shm.h"

#include "base/simulator.h"
#include "coll/node/comm.h"
#include "coll/node/mapping.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

int hs_shm_signalled(const struct hs_shm *shm, int64_t instance, int member, int64_t value)
{
    uint64_t flag = atomic_load_explicit(&hs_shm_post(shm, instance, member)->flag, memory_order_acquire);
    return (int64_t)(flag - hs_shm_epoch(instance, value)) >= 0;
}

int hs_shm_free(struct hs_shm *shm, int64_t instance, int ring)
{
    const int64_t needed = instance - shm->ring[ring].depth + 1;
    if (shm->finished >= needed)
        return 1;
    int64_t finished = INT64_MAX;
    for (int m = 0; m < shm->members && finished >= needed; m++) {
        int64_t ended = atomic_load_explicit(&shm->of[m].ended, memory_order_acquire);
        finished = ended < finished ? ended : finished;
    }
    if (finished < needed)
        return 0;
    shm->finished = finished;
    return 1;
}

_Static_assert(HS_RING <= 32, "ended_beyond has a bit for each instance in progress");

void hs_shm_finish(struct hs_shm *shm, int64_t instance)
{
    /* in 2^30 instances no list may have raised the flag, and flags more than 2^31 instances apart do not compare */
    if (instance % (INT64_C(1) << 30) < HS_RING)
        hs_shm_signal(shm, instance, HS_SIGNAL_MAX);
    _Atomic int64_t *mine = &shm->of[shm->me].ended;
    int64_t ended = atomic_load_explicit(mine, memory_order_relaxed);
    shm->ended_beyond |= UINT32_C(1) << (instance - ended);
    for (; shm->ended_beyond & 1; shm->ended_beyond >>= 1)
        ended++;
    atomic_store_explicit(mine, ended, memory_order_release);
    hs_bells_ring(shm->bells);
}

void hs_shm_signal(struct hs_shm *shm, int64_t instance, int64_t value)
{
    atomic_store_explicit(&hs_shm_post(shm, instance, shm->me)->flag, hs_shm_epoch(instance, value),
                          memory_order_release);
    hs_bells_ring(shm->bells);
}

void hs_shm_publish(struct hs_shm *shm, int64_t instance, const void *in, const void *out)
{
    struct hs_post *post = hs_shm_post(shm, instance, shm->me);
    post->address[0] = (uint64_t)(uintptr_t)in;
    post->address[1] = (uint64_t)(uintptr_t)out;
}

hsumma_status hs_shm_read(const struct hs_shm *shm, int64_t instance, int member, int which, int64_t at, void *to,
                          int64_t bytes)
{
    uint64_t from = hs_shm_post(shm, instance, member)->address[which] + (uint64_t)at;
    if (hs_simulator()) { /* in a simulator all ranks are one process */
        memcpy(to, (const void *)(uintptr_t)from, (size_t)bytes);
        return HSUMMA_OK;
    }
    for (int64_t done = 0; done < bytes;) {
        struct iovec local = {(char *)to + done, (size_t)(bytes - done)};
        struct iovec remote = {(void *)(uintptr_t)(from + (uint64_t)done), (size_t)(bytes - done)};
        ssize_t got = process_vm_readv((pid_t)shm->of[member].process, &local, 1, &remote, 1, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return HSUMMA_ERR_INTERNAL;
        done += got > 0 ? got : 0;
    }
    return HSUMMA_OK;
}

void hs_shm_break(struct hs_shm *shm, hsumma_status status)
{
    atomic_store_explicit(&shm->of[shm->me].broken, status == HSUMMA_ERR_PEER ? (int)status : HSUMMA_ERR_MPI,
                          memory_order_release);
    hs_bells_ring(shm->bells);
}

hsumma_status hs_shm_broken(const struct hs_shm *shm, int member)
{
    return (hsumma_status)atomic_load_explicit(&shm->of[member].broken, memory_order_acquire);
}

static const int64_t MOST_WISHED = INT64_C(1) << 56; /* bytes of a node's SHARED in a slot: more than any node has */
enum { LEAST_SHARED_BYTES = 32 * 1024, MOST_SHARED_BYTES = 512 * 1024, NODE_MEMORY = 8 * 1024 * 1024 };

/* The default is the memory budget of a node divided among its ranks, within bounds. */
int64_t hs_shm_bytes_for(int ranks, int64_t wish)
{
    int64_t shared_bytes = NODE_MEMORY / HS_LONG_RING / ranks;
    shared_bytes = shared_bytes < LEAST_SHARED_BYTES  ? LEAST_SHARED_BYTES
                   : shared_bytes > MOST_SHARED_BYTES ? MOST_SHARED_BYTES
                                                      : shared_bytes;
    if (wish > 0) /* too large a wish still fails to be mapped */
        shared_bytes = wish < MOST_WISHED / ranks ? wish : MOST_WISHED / ranks;
    return hs_in_pages(shared_bytes);
}

/*
 * The rings but the last have room for the short messages of which a program makes many in a row. 32 SHAREDs of 8 KB
 * are faster than four, although the four would stay in the first cache (doc/results/collectives.md).
 */
static const struct hs_shared_ring rings[HS_SHARED_RINGS] = {
    {NULL, 512, HS_RING}, {NULL, 8192, HS_RING}, {NULL, 0, HS_LONG_RING}};

void hs_shm_lay_out(struct hs_shm *shm, void *memory, int64_t shared_bytes)
{
    int64_t of = HS_RING * shm->members * (int64_t)sizeof *shm->post;
    int64_t at = hs_in_pages(of + shm->members * (int64_t)sizeof *shm->of);
    shm->post = memory;
    shm->of = memory ? (struct hs_shm_rank *)((char *)memory + of) : NULL;
    for (int r = 0; r < HS_SHARED_RINGS; r++) {
        struct hs_shared_ring *ring = &shm->ring[r];
        *ring = rings[r];
        ring->memory = memory ? (char *)memory + at : NULL;
        ring->bytes = r == HS_SHARED_RINGS - 1 || !shared_bytes ? shared_bytes : ring->bytes;
        at += hs_in_pages(ring->depth * shm->members * ring->bytes);
    }
    shm->bytes = (size_t)at;
}

int hs_shm_ring_for(int64_t reach)
{
    int ring = 0;
    while (ring < HS_SHARED_RINGS - 1 && reach > rings[ring].bytes)
        ring++;
    return ring;
}

static const uint64_t PROBE = 0x6873756d6d610000u;

struct hs_shm *hs_shm_make(MPI_Comm mates, const struct hs_comm *comm, int64_t shared_bytes,
                           const struct hs_allocator *memory)
{
    const struct hs_division *node = &comm->topology.division[HS_NODE];
    struct hs_shm *shm = hs_get_zero(memory, 1, sizeof *shm), none = {0}, *made = shm ? shm : &none;
    MPI_Comm_size(mates, &made->members);
    MPI_Comm_rank(mates, &made->me);
    made->bells = comm->block ? &comm->block->bells : NULL;
    made->node = node; /* the members have its ascending order of ranks */
    hs_shm_lay_out(made, NULL, shared_bytes ? hs_shm_bytes_for(hs_division_largest(node), shared_bytes) : 0);
    hs_shm_lay_out(made, hs_mapping_make(mates, made->bytes, 0, comm->watch, NULL),
                   made->ring[HS_SHARED_RINGS - 1].bytes);
    made->bounce = shm ? hs_get(memory, 1, HS_BOUNCE) : NULL;
    if (!made->post || !made->bounce) {
        hs_mapping_free(made->post, made->bytes);
        made->post = NULL;
        hs_shm_free_memory(shm, memory);
        return NULL;
    }
    shm->probe = PROBE + (uint64_t)shm->me;
    shm->of[shm->me].process = getpid();
    hs_shm_publish(shm, 0, &shm->probe, NULL);
    return shm;
}

int hs_shm_probe(const struct hs_shm *shm)
{
    int well = 1;
    for (int m = 0; m < shm->members && well; m++) {
        uint64_t read = 0;
        well = hs_shm_read(shm, 0, m, 0, 0, &read, sizeof read) == HSUMMA_OK && read == PROBE + (uint64_t)m;
    }
    return well;
}

void hs_shm_free_memory(struct hs_shm *shm, const struct hs_allocator *memory)
{
    if (!shm)
        return;
    hs_mapping_free(shm->post, shm->bytes);
    hs_put(memory, shm->bounce);
    hs_put(memory, shm);
}
