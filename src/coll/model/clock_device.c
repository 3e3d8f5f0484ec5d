/*
 * Devices shared by several ranks. A device executes one piece of work at a time, in the order in which the pieces
 * become ready.
 */
#include "coll/model/clock_parts.h"

#include <math.h>

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
    int priced = machine->shm.alpha > 0 || machine->shm.beta > 0;
    double seconds = machine->shm.alpha, beta = priced && hs_copies_shared(step) ? machine->shm.beta : machine->copy;
    if (hs_step_continues(list, i))
        return 0;
    if (step->kind == HS_COPY)
        return seconds + (double)step->count * beta;
    do
        seconds += (double)step->count * machine->gamma;
    while (++i < list->steps && hs_step_continues(list, i));
    return seconds;
}

hsumma_status hs_devices_begin(struct hs_devices *devices, const struct hs_machine *machine,
                               const struct hs_topology *topology, int size, const struct hs_allocator *memory)
{
    int nodes = topology ? topology->division[HS_NODE].parts : size;
    *devices = (struct hs_devices){.turn = machine->turn, .devices = nodes * machine->devices};
    devices->device = hs_get(memory, (size_t)devices->devices, sizeof *devices->device);
    devices->work = hs_get(memory, (size_t)size, sizeof *devices->work);
    for (int d = 0; devices->device && d < devices->devices; d++)
        devices->device[d] = (struct hs_clock_device){.last = -1, .first = -1};
    for (int r = 0; devices->work && r < size; r++)
        devices->work[r].device = hs_device_of(machine, topology, r);
    return devices->device && devices->work ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

void hs_devices_end(struct hs_devices *devices, const struct hs_allocator *memory)
{
    hs_put(memory, devices->device);
    hs_put(memory, devices->work);
}

/* Inserts the request into its device's queue, which is sorted by time, then by rank. */
void hs_devices_ask(struct hs_devices *devices, int rank, int g, double ready, double seconds)
{
    struct hs_device_work *work = devices->work, *mine = &work[rank];
    int *at = &devices->device[mine->device].first;
    while (*at >= 0 && (work[*at].ready < ready || (work[*at].ready == ready && *at < rank)))
        at = &work[*at].behind;
    mine->step = g;
    mine->ready = ready;
    mine->seconds = seconds;
    mine->behind = *at;
    *at = rank;
    devices->waiting++;
}

/*
 * The time at which the first work in a device's queue will end if none is inserted before it; HUGE_VAL if the queue is
 * empty.
 */
static double end_of(const struct hs_devices *devices, const struct hs_clock_device *device)
{
    if (device->first < 0)
        return HUGE_VAL;
    const struct hs_device_work *work = &devices->work[device->first];
    int turns = device->last >= 0 && device->last != device->first;
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
    int rank = device->first;
    *time = device->free = end_of(devices, device);
    device->last = rank;
    device->first = devices->work[rank].behind;
    devices->waiting--;
    return devices->work[rank].step;
}
