/* The collective layer with memory that runs out, at every place where it can. */
#include "coll/model/clock.h"
#include "coll/proof/verify.h"
#include "coll/schedule/dump.h"
#include "support/failing_memory.h"
#include "support/tap.h"

#include <stdlib.h>

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

/* Messages that share what their node may send. */
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

int main(void)
{
    static const struct {
        const char *name;
        hsumma_status (*use)(const struct hs_alg *, const struct hs_shape *, const struct hs_allocator *);
    } users[] = {
        {"build", use_build}, {"verify", use_verify}, {"clock", use_clock}, {"flow", use_flow}, {"dump", use_dump}};
    const struct hs_alg *alg;
    struct hs_topology topology[2]; /* two nodes, and one */

    for (int i = 0; i < 2; i++) {
        if (hs_topology_blocks(&topology[i], 8, 2 - i, 1, &hs_heap) != HSUMMA_OK)
            return 99;
        topology[i].shared_bytes = 64 * UNIT;
        topology[i].direct = 1;
    }
    for (int u = 0; u < (int)(sizeof users / sizeof *users); u++) {
        int bad = 0, most = 0;
        for (int a = 0; (alg = hs_alg_at(a)); a++) {
            struct hs_shape shape = {.size = 8, .bytes = 29 * UNIT, .unit = UNIT, .segment = 8 * UNIT};
            shape.topology = &topology[0];
            if (alg->flags & HS_BY_MPI)
                continue;
            if (hs_alg_unfit(alg, &shape)) /* only one node will do */
                shape.topology = &topology[1];
            hsumma_status status = HSUMMA_ERR_MEMORY;
            for (int n = 0; status == HSUMMA_ERR_MEMORY; n++) {
                struct failing_memory scarce = {.fail_at = n};
                struct hs_allocator allocator = {failing_memory_get, failing_memory_put, &scarce};
                status = users[u].use(alg, &shape, &allocator);
                bad += scarce.out != 0 || (status != HSUMMA_OK && status != HSUMMA_ERR_MEMORY);
                most = n > most ? n : most;
            }
            bad += status != HSUMMA_OK;
        }
        tap_ok(bad == 0, "%s: memory that fails at any of up to %d places is a status and is all given back",
               users[u].name, most);
    }
    for (int i = 0; i < 2; i++)
        hs_topology_free(&topology[i], &hs_heap);
    return tap_done();
}
