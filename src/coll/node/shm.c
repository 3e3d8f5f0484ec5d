#include "coll/node/shm.h"

#include "base/simulator.h"
#include "coll/node/bells.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

/*
 * `finished` is 1 + the number of an instance, or 0. Since the depth divides HS_RING, instance i - HS_RING has
 * finished, too: instance i - depth could not start before.
 */
int hs_shm_free(const struct hs_shm *shm, int64_t instance)
{
    int64_t before = instance - shm->depth;
    if (before < 0)
        return 1;
    for (int m = 0; m < shm->members; m++)
        if (atomic_load_explicit(&hs_shm_post(shm, before, m)->finished, memory_order_acquire) < (uint64_t)before + 1)
            return 0;
    return 1;
}

static void raise_flag(struct hs_shm *shm, int64_t instance, int64_t value)
{
    atomic_store_explicit(&hs_shm_post(shm, instance, shm->me)->flag, hs_shm_epoch(instance, value),
                          memory_order_release);
}

void hs_shm_signal(struct hs_shm *shm, int64_t instance, int64_t value)
{
    raise_flag(shm, instance, value);
    hs_bells_ring(shm->bells);
}

void hs_shm_finish(struct hs_shm *shm, int64_t instance)
{
    /* Epochs wrap, so no flag may lag by more than HS_RING instances, even if a rank's list has no SIGNAL. */
    raise_flag(shm, instance, HS_SIGNAL_MAX);
    atomic_store_explicit(&hs_shm_post(shm, instance, shm->me)->finished, (uint64_t)instance + 1, memory_order_release);
    hs_bells_ring(shm->bells);
}

void hs_shm_publish(struct hs_shm *shm, int64_t instance, const void *in, const void *out)
{
    struct hs_post *post = hs_shm_post(shm, instance, shm->me);
    post->address[0] = (uint64_t)(uintptr_t)in;
    post->address[1] = (uint64_t)(uintptr_t)out;
}

int hs_shm_signalled(const struct hs_shm *shm, int64_t instance, int member, int64_t value)
{
    uint64_t flag = atomic_load_explicit(&hs_shm_post(shm, instance, member)->flag, memory_order_acquire);
    return (int64_t)(flag - hs_shm_epoch(instance, value)) >= 0;
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
        ssize_t got = process_vm_readv(shm->process[member], &local, 1, &remote, 1, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return HSUMMA_ERR_INTERNAL;
        done += got > 0 ? got : 0;
    }
    return HSUMMA_OK;
}

void hs_shm_break(struct hs_shm *shm)
{
    atomic_store_explicit(&hs_shm_post(shm, 0, shm->me)->broken, 1, memory_order_release);
    hs_bells_ring(shm->bells);
}

int hs_shm_broken(const struct hs_shm *shm, int member)
{
    return atomic_load_explicit(&hs_shm_post(shm, 0, member)->broken, memory_order_acquire);
}
