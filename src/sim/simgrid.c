/*
 * The library in SimGrid's SMPI ("make sim"): all ranks are in one process, MPI and the clock are the simulator's, and
 * so is what the processor does.
 */
#include "base/simulator.h"

#include <simgrid/actor.h>
#include <simgrid/link.h>
#include <simgrid/plugins/load.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every rank has a core of its own, so computing is sleeping. An execution would cost more: at its end SimGrid 3.32
 * searches the list of what the rank has started, which took most of the time of runs with many messages. */
static void advance(double seconds)
{
    if (seconds > 0)
        sg_actor_sleep_for(seconds);
}

/* All ranks have one piece of memory for all that is as large, to the next power of two: SMPI keeps it under its size,
 * until the end.  It is shared memory of SMPI's own kind, which messages do not copy. */
static void *make_folded(size_t bytes)
{
    return SMPI_SHARED_MALLOC(bytes);
}

static void *folded_get(void *state, size_t bytes)
{
    size_t size = (size_t)1 << 20;
    char key[32];
    (void)state;
    while (size < bytes)
        size *= 2;
    snprintf(key, sizeof key, "%zu", size);
    return SMPI_SHARED_CALL(make_folded, key, size);
}

static void folded_put(void *state, void *memory)
{
    (void)state, (void)memory;
}

/* By SimGrid's plugin link_load, which the caller has switched on. */
static void watch_links(void)
{
    sg_link_t *link = sg_link_list();
    for (size_t i = 0; i < sg_link_count(); i++) {
        sg_link_load_track(link[i]);
        sg_link_load_reset(link[i]);
    }
    free(link);
}

static void read_links(struct hs_simulated_links *links)
{
    double longest = 0;
    sg_link_t *link = sg_link_list();
    for (size_t i = 0; i < sg_link_count(); i++) {
        double bytes = sg_link_get_cum_load(link[i]), bandwidth = sg_link_get_bandwidth(link[i]);
        sg_link_load_untrack(link[i]);
        links->bytes += (int64_t)(bytes + 0.5);
        if (bytes / bandwidth > longest) {
            longest = bytes / bandwidth;
            links->busiest_bytes = bytes;
            links->busiest_bandwidth = bandwidth;
            snprintf(links->name, sizeof links->name, "%s", sg_link_get_name(link[i]));
        }
    }
    free(link);
}

/* All ranks are in this process, so they share the list.  It is small: ranks ask for the last entries. */
struct shared_finding {
    struct shared_finding *before;
    uint64_t key;
    size_t size;
};
static struct shared_finding *findings;

static void keep(uint64_t key, const void *found, size_t size)
{
    struct shared_finding *finding = malloc(sizeof *finding + size);
    if (!finding)
        return;
    *finding = (struct shared_finding){findings, key, size};
    memcpy(finding + 1, found, size);
    findings = finding;
}

static int recall(uint64_t key, void *found, size_t size)
{
    for (const struct shared_finding *finding = findings; finding; finding = finding->before)
        if (finding->key == key && finding->size == size) {
            memcpy(found, finding + 1, size);
            return 1;
        }
    return 0;
}

static const struct hs_simulator simulator = {.name = "SimGrid",
                                              .advance = advance,
                                              .folded = {folded_get, folded_put, NULL},
                                              .watch_links = watch_links,
                                              .read_links = read_links,
                                              .keep = keep,
                                              .recall = recall};

const struct hs_simulator *hs_simulator(void)
{
    return &simulator;
}
