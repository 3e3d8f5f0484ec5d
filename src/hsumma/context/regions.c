#include "hsumma/context/regions.h"

#include "coll/node/mapping.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes that the system could give now; where it does not say, what the machine has.  Reserving more than that would
 * not fail: the kernel would end a process. */
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

/* What a part takes: whole pages, and at least one, so that a part of 0 bytes has an address of its own.  0: more than
 * can be. */
static size_t in_pages(uint64_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes > PTRDIFF_MAX - page ? 0 : bytes ? ((size_t)bytes + page - 1) / page * page : page;
}

/* Where the parts begin, and the end of the last; 0 if that is beyond `limit`. */
static int lay_out(size_t *part, const uint64_t *asked, int ranks, int64_t limit)
{
    size_t at = 0;
    for (int r = 0; r < ranks; r++) {
        size_t bytes = in_pages(asked[r]);
        part[r] = at;
        if (bytes == 0 || bytes > (size_t)limit - at)
            return 0;
        at += bytes;
    }
    part[ranks] = at;
    return 1;
}

/* One mapping of all parts; base stays NULL where there can be none. */
static hsumma_status map_all(struct hs_region *region, const struct hs_comm *comm, const uint64_t *asked, int64_t limit,
                             struct hs_message *message)
{
    if (!lay_out(region->part, asked, comm->size, limit)) {
        int most = 0;
        for (int r = 1; r < comm->size; r++)
            most = asked[r] > asked[most] ? r : most;
        return hs_fail(message, HSUMMA_ERR_MEMORY,
                       "bytes: %" PRIu64 " on process %d, with what the others ask for more than the %" PRId64
                       " that the node has left",
                       asked[most], most, limit);
    }
    region->bytes = region->part[comm->size];
    region->base = hs_mapping_make(comm->comm, region->bytes, 1);
    region->mine = region->base ? region->base + region->part[comm->rank] : NULL;
    return HSUMMA_OK;
}

/* From the system: zeros need not be written, and a matrix that is never touched takes no memory. */
static hsumma_status map_mine(struct hs_region *region, struct hs_agreement *agreement, const uint64_t *asked,
                              struct hs_message *message)
{
    region->bytes = in_pages(region->mine_bytes);
    void *mine = MAP_FAILED;
    if (region->bytes)
        mine = mmap(NULL, region->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    region->mine = mine == MAP_FAILED ? NULL : mine;
    struct hs_verdict verdict =
        hs_agree(agreement, (struct hs_vote){.status = region->mine ? HSUMMA_OK : HSUMMA_ERR_MEMORY});
    if (!verdict.status)
        return HSUMMA_OK;
    if (region->mine)
        munmap(region->mine, region->bytes);
    return hs_fail(message, verdict.status, "bytes: %" PRIu64 " on process %d: %s", asked[verdict.rank], verdict.rank,
                   hsumma_status_string(verdict.status));
}

/* Agrees on what there is, gathers who asks for how much, and takes it. */
static hsumma_status take(struct hs_region *region, uint64_t *asked, struct hs_agreement *agreement, int shared,
                          size_t bytes, struct hs_message *message)
{
    const struct hs_comm *comm = agreement->comm;
    const uint64_t mine = bytes;
    hsumma_status status = region && asked ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    /* the largest of the negative sizes: what the process that sees least could get */
    struct hs_vote vote = {.status = status, .value = shared ? -available() : 0, .hash = shared};
    struct hs_verdict verdict = hs_agree(agreement, vote);
    if (verdict.status)
        return hs_fail(message, verdict.status, "bytes: %zu; process %d could not list what all ask for: %s", bytes,
                       verdict.rank, hsumma_status_string(verdict.status));
    if (MPI_Allgather(&mine, 1, MPI_UINT64_T, asked, 1, MPI_UINT64_T, comm->comm) != MPI_SUCCESS)
        return hs_fail(message, HSUMMA_ERR_MPI, "MPI_Allgather failed");
    region->mine_bytes = bytes;
    if (shared && verdict.alike)
        status = map_all(region, comm, asked, -verdict.value, message);
    return status || region->base ? status : map_mine(region, agreement, asked, message);
}

hsumma_status hs_region_make(struct hs_regions *regions, struct hs_agreement *agreement, int shared, size_t bytes,
                             const struct hs_allocator *memory, void **given, struct hs_message *message)
{
    size_t ranks = (size_t)agreement->comm->size;
    struct hs_region *region = hs_get_zero(memory, 1, sizeof *region + (ranks + 1) * sizeof *region->part);
    uint64_t *asked = hs_get(memory, ranks, sizeof *asked);
    hsumma_status status = take(region, asked, agreement, shared, bytes, message);
    hs_put(memory, asked);
    *given = NULL;
    if (status) {
        hs_put(memory, region);
        return status;
    }
    region->number = regions->made++;
    region->next = regions->first;
    regions->first = region;
    *given = region->mine;
    return HSUMMA_OK;
}

/* Shared if the devices allow it, else of this process alone. */
static hsumma_status take_on_device(struct hs_region *region, MPI_Comm mates, struct hs_device *device, size_t bytes,
                                    const struct hs_allocator *memory, struct hs_message *message)
{
    size_t least = bytes ? bytes : 1; /* an address of its own */
    hsumma_status status = hs_device_share_make(&region->share, mates, device, 0, least, memory, message);
    void *mine = status ? NULL : region->share.memory[region->share.me];
    if (status == HSUMMA_ERR_DEVICE) {
        region->device = device;
        status = device->kind->get(device, least, &mine);
        if (status)
            hs_fail(message, status, "%s", device->message.text);
    }
    region->mine = mine;
    region->mine_bytes = bytes;
    return status;
}

static void leave_device(struct hs_region *region, const struct hs_allocator *memory)
{
    if (region->device)
        region->device->kind->put(region->device, region->mine);
    hs_device_share_free(&region->share, memory);
}

/* What nobody has mapped any more. */
static void free_left(struct hs_regions *regions, const struct hs_allocator *memory)
{
    while (regions->left) {
        struct hs_region *region = regions->left;
        regions->left = region->next;
        leave_device(region, memory);
        hs_put(memory, region);
    }
}

/* What is others' is unmapped, and collective calls know it no more. */
static void leave(struct hs_region *region)
{
    if (region->on)
        hs_device_region_remove(region->on, &region->shared);
    region->on = NULL;
    hs_device_share_leave(&region->share);
}

void hs_regions_leave(struct hs_regions *regions)
{
    for (struct hs_region *region = regions->first; region; region = region->next)
        leave(region);
}

hsumma_status hs_region_make_on_device(struct hs_regions *regions, struct hs_agreement *agreement, MPI_Comm mates,
                                       struct hs_device *device, size_t bytes, const struct hs_allocator *memory,
                                       void **given, struct hs_message *message)
{
    struct hs_region *region = hs_get_zero(memory, 1, sizeof *region);
    *given = NULL;
    struct hs_verdict verdict = hs_agree(agreement, (struct hs_vote){.status = region ? HSUMMA_OK : HSUMMA_ERR_MEMORY});
    hsumma_status status = verdict.status;
    if (!status) /* all are here, and so have left what they had freed before */
        free_left(regions, memory);
    if (!status)
        status = take_on_device(region, mates, device, bytes, memory, message);
    if (!verdict.status) {
        verdict = hs_agree(agreement, (struct hs_vote){.status = status});
        if (verdict.status) {
            hs_device_share_leave(&region->share);
            MPI_Barrier(mates);
            leave_device(region, memory);
        }
    }
    if (verdict.status) {
        hs_put(memory, region);
        return status ? status
                      : hs_fail(message, verdict.status, "bytes: process %d could not get its part: %s", verdict.rank,
                                hsumma_status_string(verdict.status));
    }
    region->number = regions->made++;
    region->next = regions->first;
    regions->first = region;
    region->on = agreement->comm->device;
    if (region->on && region->share.device) {
        region->shared = (struct hs_device_region){
            .number = HS_REGION_FIRST + region->number, .share = &region->share, .bytes = bytes};
        hs_device_region_add(region->on, &region->shared);
    }
    *given = region->mine;
    return HSUMMA_OK;
}

int hs_region_free(struct hs_regions *regions, const void *given, const struct hs_allocator *memory)
{
    struct hs_region **link = &regions->first;
    while (*link && (*link)->mine != given)
        link = &(*link)->next;
    struct hs_region *region = *link;
    if (!region)
        return 0;
    *link = region->next;
    if (region->device || region->share.device) {
        leave(region);
        region->next = regions->left;
        regions->left = region;
        return 1;
    }
    if (region->base)
        hs_mapping_free(region->base, region->bytes);
    else
        munmap(region->mine, region->bytes);
    hs_put(memory, region);
    return 1;
}

void hs_regions_free(struct hs_regions *regions, const struct hs_allocator *memory)
{
    while (regions->first)
        hs_region_free(regions, regions->first->mine, memory);
    free_left(regions, memory);
}

const struct hs_region *hs_region_of(const struct hs_regions *regions, const void *at, size_t bytes, size_t *offset)
{
    for (const struct hs_region *region = regions->first; region; region = region->next) {
        uintptr_t begin = (uintptr_t)region->mine, from = (uintptr_t)at;
        if (!region->base || from < begin || from - begin > region->mine_bytes)
            continue;
        *offset = from - begin;
        if (bytes <= region->mine_bytes - *offset)
            return region;
    }
    return NULL;
}

const char *hs_region_at(const struct hs_regions *regions, int64_t number, int rank, size_t offset)
{
    const struct hs_region *region = regions->first;
    while (region && region->number != number)
        region = region->next;
    return region && region->base ? region->base + region->part[rank] + offset : NULL;
}
