/* Devices shared by several ranks (clock_parts.h). */
#include "coll/model/clock_parts.h"

#include <math.h>

enum { NO_TURN_BYTES = 64 << 10 }; /* copies of at least this size do not wait for the turn of their process */

int hs_device_of(const struct hs_machine *machine, const struct hs_topology *topology, int rank)
{
    const struct hs_division *nodes = topology ? &topology->division[HS_NODE] : NULL;
    int node = nodes ? hs_part_of(nodes, rank) : rank, index = nodes ? hs_place_in_part(nodes, rank) : 0;
    int ranks = nodes ? hs_division_size(nodes, node) : 1;
    return node * machine->devices + (int)((int64_t)index * machine->devices / ranks);
}

double hs_device_work(const struct hs_machine *machine, const struct hs_list *list, int i)
{
    const struct hs_step *step = &list->step[i];
    int through_shared = hs_is_priced(&machine->shm) && hs_copies_shared(step);
    double seconds = machine->shm.alpha, beta = through_shared ? machine->shm.beta : machine->copy;
    if (hs_step_continues(list, i))
        return 0;
    if (step->kind == HS_COPY)
        return seconds + (double)step->count * beta;
    do
        seconds += (double)step->count * machine->gamma;
    while (++i < list->steps && hs_step_continues(list, i));
    return seconds;
}

double hs_staging_seconds(const struct hs_machine *device, const struct hs_machine *host,
                          const struct hs_topology *topology, int64_t bytes)
{
    const struct hs_link *there = &host->node;
    int ranks = topology ? hs_division_largest(&topology->division[HS_NODE]) : 1, devices = device->devices;
    int sharers = devices > 0 ? (ranks + devices - 1) / devices : 1;
    double beta = device->node.beta - hs_long_beta(there);
    return device->node.alpha +
           sharers * (fmax(beta, 0) * (double)bytes + (sharers > 1 && bytes < NO_TURN_BYTES ? device->turn : 0));
}

hsumma_status hs_devices_begin(struct hs_devices *devices, const struct hs_machine *machine,
                               const struct hs_topology *topology, int size, int steps,
                               const struct hs_allocator *memory)
{
    *devices = (struct hs_devices){.turn = machine->turn, .devices = hs_nodes_of(topology, size) * machine->devices};
    devices->device = hs_get(memory, (size_t)devices->devices, sizeof *devices->device);
    devices->work = hs_get(memory, (size_t)steps + 1, sizeof *devices->work);
    devices->of = hs_get(memory, (size_t)size, sizeof *devices->of);
    for (int d = 0; devices->device && d < devices->devices; d++)
        devices->device[d] = (struct hs_clock_device){.last = -1, .first = -1};
    for (int r = 0; devices->device && devices->of && r < size; r++) {
        devices->of[r] = hs_device_of(machine, topology, r);
        devices->device[devices->of[r]].ranks++;
    }
    return devices->device && devices->work && devices->of ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

void hs_devices_end(struct hs_devices *devices, const struct hs_allocator *memory)
{
    hs_put(memory, devices->device);
    hs_put(memory, devices->work);
    hs_put(memory, devices->of);
}

int hs_devices_serve_another(const struct hs_devices *devices, int rank)
{
    const struct hs_clock_device *device = &devices->device[devices->of[rank]];
    return device->ranks > 1 && device->last != rank;
}

/* Inserts the request into its device's queue, which is sorted by time, then by rank. */
void hs_devices_ask(struct hs_devices *devices, int rank, int g, double ready, double seconds)
{
    struct hs_device_work *work = devices->work, *mine = &work[g];
    int *at = &devices->device[devices->of[rank]].first;
    while (*at >= 0 && (work[*at].ready < ready || (work[*at].ready == ready && work[*at].rank <= rank)))
        at = &work[*at].behind;
    *mine = (struct hs_device_work){.rank = rank, .ready = ready, .seconds = seconds, .behind = *at};
    *at = g;
    devices->waiting++;
}

/* The place in a device's queue of the step to be executed next: the first that is ready for the rank that the device
 * works for, else the first. */
static int *next_of(const struct hs_devices *devices, struct hs_clock_device *device)
{
    for (int *at = &device->first; *at >= 0 && devices->work[*at].ready <= device->free;
         at = &devices->work[*at].behind)
        if (devices->work[*at].rank == device->last)
            return at;
    return &device->first;
}

/* The end of a device's next work if no other becomes ready before it; HUGE_VAL if the queue is empty. */
static double end_of(const struct hs_devices *devices, struct hs_clock_device *device)
{
    if (device->first < 0)
        return HUGE_VAL;
    const struct hs_device_work *work = &devices->work[*next_of(devices, device)];
    int turns = device->last >= 0 && device->last != work->rank;
    return fmax(work->ready, device->free) + (turns ? devices->turn : 0) + work->seconds;
}

static int first_of(const struct hs_devices *devices)
{
    int first = 0;
    for (int d = 1; d < devices->devices; d++)
        if (end_of(devices, &devices->device[d]) < end_of(devices, &devices->device[first]))
            first = d;
    return first;
}

double hs_devices_next(const struct hs_devices *devices)
{
    return devices->waiting > 0 ? end_of(devices, &devices->device[first_of(devices)]) : HUGE_VAL;
}

int hs_devices_serve(struct hs_devices *devices, double *time)
{
    if (devices->waiting == 0)
        return -1;
    struct hs_clock_device *device = &devices->device[first_of(devices)];
    int *at = next_of(devices, device), step = *at;
    *time = end_of(devices, device);
    device->free = *time;
    device->last = devices->work[step].rank;
    *at = devices->work[step].behind;
    devices->waiting--;
    return step;
}
