#include "hsumma/context/allocations.h"

#include "coll/node/agree_mpi.h"
#include "coll/node/mapping.h"
#include "hsumma/context/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes that the system could provide now; if unknown, the bytes of the machine's memory.  The system may accept a
 * larger request, but the kernel then kills a process later. */
static int64_t available(void)
{
    char line[128];
    int64_t kib = -1, pages = sysconf(_SC_PHYS_PAGES);
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %" SCNd64, &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    return kib >= 0 ? kib * 1024 : pages > 0 ? pages * sysconf(_SC_PAGESIZE) : INT64_MAX;
}

/* The bytes of a part in whole pages: at least one page, so that a part of 0 bytes has its own address.  0 if the part
 * is too large. */
static size_t in_pages(uint64_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes > PTRDIFF_MAX - page ? 0 : bytes ? ((size_t)bytes + page - 1) / page * page : page;
}

/* A process's request, and the memory that it finds available. */
struct asked {
    uint64_t bytes;
    int64_t available;
};

/* The bytes of all mates' parts; 0 if they exceed `limit`. */
static size_t total_of(const struct asked *asked, int mates, int64_t limit)
{
    size_t total = 0;
    for (int m = 0; m < mates; m++) {
        size_t bytes = in_pages(asked[m].bytes);
        if (bytes == 0 || bytes > (size_t)limit - total)
            return 0;
        total += bytes;
    }
    return total;
}

/* Maps all parts at once; base stays NULL if hs_mapping_make fails. */
static hsumma_status map_all(struct hs_allocation *allocation, const struct hs_comm *comm, const struct asked *asked,
                             struct hs_message *message)
{
    const struct hs_mates *mates = &comm->mates;
    int64_t limit = INT64_MAX;
    int most = 0;
    for (int m = 0; m < mates->count; m++) {
        limit = asked[m].available < limit ? asked[m].available : limit;
        most = asked[m].bytes > asked[most].bytes ? m : most;
    }
    allocation->bytes = total_of(asked, mates->count, limit);
    if (allocation->bytes == 0)
        return hs_fail(message, HSUMMA_ERR_MEMORY,
                       "bytes: %" PRIu64
                       " on process %d and the requests of the other processes of its node exceed the %" PRId64
                       " bytes available there",
                       asked[most].bytes, comm->mates.rank[most], limit);
    allocation->base = hs_mapping_make(mates->comm, allocation->bytes, 1, comm->watch, NULL);
    char *at = allocation->base;
    for (int m = 0; m < mates->count && at; m++) {
        allocation->part[m] = at;
        at += in_pages(asked[m].bytes);
    }
    allocation->mine = allocation->part[mates->me];
    return HSUMMA_OK;
}

/* Maps private memory.  Unlike memory of malloc, it is zeroed, and its pages take no memory until they are touched. */
static hsumma_status map_mine(struct hs_allocation *allocation)
{
    allocation->bytes = in_pages(allocation->mine_bytes);
    void *mine = MAP_FAILED;
    if (allocation->bytes)
        mine = mmap(NULL, allocation->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    allocation->mine = mine == MAP_FAILED ? NULL : mine;
    return allocation->mine ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

static void unmap(struct hs_allocation *allocation)
{
    if (allocation->base)
        hs_mapping_free(allocation->base, allocation->bytes);
    else if (allocation->mine)
        munmap(allocation->mine, allocation->bytes);
}

/* Maps this process's part, together with its mates' parts if the processes can share memory, else privately. */
static hsumma_status map(struct hs_allocation *allocation, const struct hs_comm *comm, struct asked *asked,
                         struct hs_message *message)
{
    const struct asked mine = {allocation->mine_bytes, available()};
    hsumma_status status = HSUMMA_OK;
    if (comm->mates.count > 1 && comm->mates.comm != MPI_COMM_NULL) {
        status = hs_mpi_allgather(&mine, sizeof mine, asked, comm->mates.comm, comm->watch);
        if (!status)
            status = map_all(allocation, comm, asked, message);
        if (comm->roster.failed) /* a process has ended meanwhile, or did not arrive in time */
            return comm->roster.failed;
    }
    if (!status && !allocation->base && (status = map_mine(allocation)))
        hs_fail(message, status, "bytes: %" PRIu64 " on process %d: %s", mine.bytes, comm->rank,
                hsumma_status_string(status));
    return status;
}

/* Maps the parts.  Agrees with all processes first that `asked` and `allocation` exist, then on the result of the
 * mapping. */
static hsumma_status take(hsumma_context *ctx, struct hs_allocation *allocation, struct asked *asked, size_t bytes)
{
    struct hs_message mine = {""};
    hsumma_status status = allocation && asked ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    struct hs_verdict verdict = hs_context_agree(ctx, (struct hs_vote){.status = status});
    if (hs_status_is_final(verdict.status))
        return hs_context_ended_early(ctx, verdict.status, "hsumma_malloc");
    if (verdict.status)
        return hs_fail(&ctx->message, verdict.status, "bytes: %zu; process %d could not record the allocation: %s",
                       bytes, verdict.rank, hsumma_status_string(verdict.status));
    allocation->mine_bytes = bytes;
    status = map(allocation, &ctx->comm, asked, &mine);
    if (hs_status_is_final(status)) {
        ctx->broken = 1;
        unmap(allocation);
        return hs_context_ended_early(ctx, status, "hsumma_malloc");
    }
    verdict = hs_context_agree(ctx, (struct hs_vote){.status = status});
    if (!verdict.status)
        return HSUMMA_OK;
    unmap(allocation);
    if (hs_status_is_final(verdict.status) && !mine.text[0])
        return hs_context_ended_early(ctx, verdict.status, "hsumma_malloc");
    ctx->message = mine;
    return hs_context_judge(ctx, status, verdict, "hsumma_malloc", NULL, 0);
}

/* Adds an allocation to the context's allocations.  parts: the parts of all mates, NULL if the memory is not shared.
 * Shared memory's region is added to `list`. */
static void keep(struct hs_allocations *all, struct hs_allocation *allocation, struct hs_region **list,
                 char *const *parts, int me)
{
    allocation->next = all->first;
    all->first = allocation;
    allocation->region = (struct hs_region){
        .number = HS_REGION_FIRST + all->made++, .part = parts, .me = me, .bytes = allocation->mine_bytes};
    allocation->list = parts ? list : NULL;
    if (parts)
        hs_region_add(list, &allocation->region);
}

hsumma_status hs_allocate(hsumma_context *ctx, size_t bytes, void **given)
{
    const struct hs_mates *mates = &ctx->comm.mates;
    struct hs_allocations *all = &ctx->allocations;
    size_t count = (size_t)mates->count;
    struct hs_allocation *allocation =
        hs_get_zero(&ctx->memory, 1, sizeof *allocation + count * sizeof *allocation->part);
    struct asked *asked = hs_get(&ctx->memory, count, sizeof *asked);
    hsumma_status status = take(ctx, allocation, asked, bytes);
    hs_put(&ctx->memory, asked);
    if (status) {
        hs_put(&ctx->memory, allocation);
        return status;
    }
    keep(all, allocation, &all->shared, allocation->base ? allocation->part : NULL, mates->me);
    *given = allocation->mine;
    return HSUMMA_OK;
}

/* Allocates shared device memory if the devices allow it, else private device memory. */
static hsumma_status take_on_device(hsumma_context *ctx, struct hs_allocation *allocation, MPI_Comm mates, size_t bytes)
{
    struct hs_device *device = ctx->device;
    size_t least = bytes ? bytes : 1; /* so that an allocation of 0 bytes has its own address */
    hsumma_status status =
        hs_device_share_make(&allocation->share, mates, ctx->comm.watch, device, 0, least, &ctx->memory, &ctx->message);
    void *mine = status ? NULL : allocation->share.memory[allocation->share.me];
    if (status == HSUMMA_ERR_DEVICE) {
        allocation->device = device;
        status = device->kind->get(device, least, &mine);
        if (status)
            hs_fail(&ctx->message, status, "%s", device->message.text);
    }
    allocation->mine = mine;
    allocation->mine_bytes = bytes;
    return status;
}

static void leave_device(struct hs_allocation *allocation, const struct hs_allocator *memory)
{
    if (allocation->device)
        allocation->device->kind->put(allocation->device, allocation->mine);
    hs_device_share_free(&allocation->share, memory);
}

/* Releases the device memory in all->left.  No mate may have it mapped any more. */
static void free_left(struct hs_allocations *all, const struct hs_allocator *memory)
{
    while (all->left) {
        struct hs_allocation *allocation = all->left;
        all->left = allocation->next;
        leave_device(allocation, memory);
        hs_put(memory, allocation);
    }
}

/* Removes an allocation's region from its list; unmaps the mates' parts of shared device memory. */
static void leave(struct hs_allocation *allocation)
{
    if (allocation->list)
        hs_region_remove(allocation->list, &allocation->region);
    allocation->list = NULL;
    hs_device_share_leave(&allocation->share);
}

void hs_allocations_leave(struct hs_allocations *all)
{
    for (struct hs_allocation *allocation = all->first; allocation; allocation = allocation->next)
        if (allocation->share.device)
            leave(allocation);
}

hsumma_status hs_allocate_on_device(hsumma_context *ctx, size_t bytes, void **given)
{
    const MPI_Comm known = ctx->comm.mates.comm, mates = known == MPI_COMM_NULL ? MPI_COMM_SELF : known;
    struct hs_allocation *allocation = hs_get_zero(&ctx->memory, 1, sizeof *allocation);
    hsumma_status mine = allocation ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    struct hs_verdict verdict = hs_context_agree(ctx, (struct hs_vote){.status = mine});
    if (!allocation)
        hs_fail(&ctx->message, mine, "bytes: %zu; no memory to record the allocation", bytes);
    if (!verdict.status) {
        free_left(&ctx->allocations, &ctx->memory); /* every process has unmapped what it freed before */
        mine = take_on_device(ctx, allocation, mates, bytes);
        verdict = hs_context_agree(ctx, (struct hs_vote){.status = mine});
        if (verdict.status) {
            hs_device_share_leave(&allocation->share);
            if (!hs_agreed(mates, HSUMMA_OK, ctx->comm.watch)) /* all mates have unmapped the parts */
                leave_device(allocation, &ctx->memory);
        }
    }
    if (verdict.status) {
        hs_put(&ctx->memory, allocation);
        return mine == verdict.status
                   ? verdict.status
                   : hs_fail(&ctx->message, verdict.status, "bytes: %zu; process %d could not allocate its part: %s",
                             bytes, verdict.rank, hsumma_status_string(verdict.status));
    }
    struct hs_device_comm *on = ctx->comm.device;
    keep(&ctx->allocations, allocation, on ? &on->region : NULL, on ? allocation->share.memory : NULL,
         allocation->share.me);
    *given = allocation->mine;
    return HSUMMA_OK;
}

int hs_allocation_free(struct hs_allocations *all, const void *given, const struct hs_allocator *memory)
{
    struct hs_allocation **link = &all->first;
    while (*link && (*link)->mine != given)
        link = &(*link)->next;
    struct hs_allocation *allocation = *link;
    if (!allocation)
        return 0;
    *link = allocation->next;
    leave(allocation);
    if (allocation->device || allocation->share.device) {
        allocation->next = all->left;
        all->left = allocation;
        return 1;
    }
    unmap(allocation);
    hs_put(memory, allocation);
    return 1;
}

void hs_allocations_free(struct hs_allocations *all, const struct hs_allocator *memory)
{
    while (all->first)
        hs_allocation_free(all, all->first->mine, memory);
    free_left(all, memory);
}
