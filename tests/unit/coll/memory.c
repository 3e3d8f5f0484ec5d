/* The collective layer when any one allocation fails. */
#include "coll/schedule/dump.h"
#include "support/coll/sweep.h"
#include "support/failing_memory.h"
#include "support/tap.h"

enum { UNIT = 8 };

static hsumma_status use_verify(const struct hs_alg *alg, const struct hs_shape *shape,
                                const struct hs_allocator *memory)
{
    struct hs_verify_report report;
    struct hs_verify_options options = {.instances = 2, .run = 3, .ld = 5};
    return hs_verify(alg, shape, &options, memory, &report);
}

static hsumma_status use_clock(const struct hs_alg *alg, const struct hs_shape *shape,
                               const struct hs_allocator *memory)
{
    struct hs_clock_report report;
    struct hs_machine machine = {.alpha = 1};
    return hs_clock(alg, shape, &machine, memory, &report);
}

/* The clock, for messages that share a node's bandwidth. */
static hsumma_status use_flow(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory)
{
    struct hs_clock_report report;
    struct hs_machine machine = {.alpha = 1, .inject = 1};
    return hs_clock(alg, shape, &machine, memory, &report);
}

static hsumma_status use_build(const struct hs_alg *alg, const struct hs_shape *shape,
                               const struct hs_allocator *memory)
{
    struct hs_list list;
    hsumma_status status = hs_build(alg, shape, memory, &list);
    hs_list_free(memory, &list);
    return status;
}

static hsumma_status use_dump(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory)
{
    FILE *file = fopen("/dev/null", "w");
    hsumma_status status = file ? hs_dump_rounds(file, alg, shape, memory) : HSUMMA_ERR_INTERNAL;
    if (file)
        fclose(file);
    return status;
}

static const struct {
    const char *name;
    hsumma_status (*use)(const struct hs_alg *, const struct hs_shape *, const struct hs_allocator *);
} users[] = {
    {"build", use_build}, {"verify", use_verify}, {"clock", use_clock}, {"flow", use_flow}, {"dump", use_dump}};

/* Makes each allocation of one call fail in turn. Adds the number of errors to *bad, and raises *most to the number of
 * allocations. */
static void fail(int user, const struct hs_alg *alg, const struct hs_shape *shape, int *bad, int *most)
{
    hsumma_status status = HSUMMA_ERR_MEMORY;
    for (int n = 0; status == HSUMMA_ERR_MEMORY; n++) {
        struct failing_memory scarce = {.fail_at = n};
        struct hs_allocator allocator = {failing_memory_get, failing_memory_put, &scarce};
        status = users[user].use(alg, shape, &allocator);
        *bad += scarce.out != 0 || (status != HSUMMA_OK && status != HSUMMA_ERR_MEMORY);
        *most = n > *most ? n : *most;
    }
}

/* Tests every algorithm, where it fits, on two nodes and on one node; algorithms that use the topology also on six
 * nodes without and with shared memory. */
int main(void)
{
    struct hs_topology places[] = {topology_blocks(8, 2, 1, 64 * UNIT, 1), topology_blocks(8, 1, 1, 64 * UNIT, 1),
                                   topology_blocks(12, 6, 1, 0, 0), topology_blocks(12, 6, 1, 1 << 16, 0)};
    enum { PLACES = sizeof places / sizeof *places };
    const struct hs_alg *alg;
    for (int u = 0; u < (int)(sizeof users / sizeof *users); u++) {
        int bad = 0, most = 0, served = 0;
        for (int a = 0; (alg = hs_alg_at(a)); a++) {
            int before = served;
            for (int i = 0; i < PLACES && !(alg->flags & HS_BY_MPI); i++) {
                struct hs_shape shape = {.rank = 2, .size = places[i].size, .bytes = 29 * UNIT, .unit = UNIT};
                shape.segment = 8 * UNIT;
                shape.topology = &places[i];
                struct hs_box box = {.dims = 2, .extent = {2, shape.size / 2}, .ring = {0, 1}, .share = {3, 5}};
                shape.box = &box;
                if (hs_alg_unfit(alg, &shape) || (i > 1 && !(alg->flags & HS_USES_TOPOLOGY)))
                    continue;
                served++;
                fail(u, alg, &shape, &bad, &most);
            }
            bad += served == before && !(alg->flags & HS_BY_MPI);
        }
        tap_ok(bad == 0, "%s: memory that fails at any of up to %d places is a status and is all given back",
               users[u].name, most);
    }
    for (int i = 0; i < PLACES; i++)
        hs_topology_free(&places[i], &hs_heap);
    return tap_done();
}
