/*
 * The library in SimGrid's SMPI ("make sim"): all ranks are in one process, MPI and the clock are the simulator's, and
 * so is what the processor does.
 */
#include "base/simulator.h"

#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <stdio.h>

static void advance(double seconds)
{
    if (seconds > 0)
        sg_actor_execute(seconds * sg_host_get_speed(sg_host_self()));
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

static const struct hs_simulator simulator = {"SimGrid", advance, {folded_get, folded_put, NULL}};

const struct hs_simulator *hs_simulator(void)
{
    return &simulator;
}
