/* Converts lists to the clock's form: each list is built, read and freed before the next one. */
#include "base/compute.h"
#include "coll/model/clock_parts.h"

#include <limits.h>

/* An allocator that reuses memory: blocks are powers of two; free ones are linked through their headers. */
enum { POOL_ORDERS = 64 };

struct list_pool {
    const struct hs_allocator *memory;
    struct pool_block {
        struct pool_block *next;
        int order;
    } * unused[POOL_ORDERS];
};

static void *pool_get(void *state, size_t bytes)
{
    struct list_pool *pool = state;
    int order = 8;
    while (order < POOL_ORDERS - 1 && (size_t)1 << order < bytes)
        order++;
    struct pool_block *block = pool->unused[order];
    if (block)
        pool->unused[order] = block->next;
    else if (bytes <= SIZE_MAX / 4)
        block = hs_get(pool->memory, 1, HS_ALIGN + ((size_t)1 << order));
    if (!block)
        return NULL;
    block->order = order;
    return (char *)block + HS_ALIGN;
}

static void pool_put(void *state, void *memory)
{
    struct list_pool *pool = state;
    struct pool_block *block = (void *)((char *)memory - HS_ALIGN);
    block->next = pool->unused[block->order];
    pool->unused[block->order] = block;
}

/* Frees the pool, whose blocks must all be free. */
static void pool_end(struct list_pool *pool)
{
    for (int i = 0; i < POOL_ORDERS; i++)
        for (struct pool_block *block; (block = pool->unused[i]);) {
            pool->unused[i] = block->next;
            hs_put(pool->memory, block);
        }
}

/* A rank's queues, served in list order; arithmetic: COPY, REDUCE, EXACT. QUEUES: steps in none. */
enum queue { OUT_PORT, IN_PORT, ARITHMETIC, QUEUES };

/* State while the lists are read. */
struct reader {
    /* The work with one collective at a time [0], and beside others [1]. */
    double *busy[2]; /* [rank * QUEUES + queue]: seconds of work of each rank in each queue */
    double *way[2];  /* seconds of messages that leave [2 * node] or enter [2 * node + 1] a node, per port */
    double *device;  /* seconds of work of each device; NULL if ranks compute on their processors */
    struct hs_clock_steps *steps;
    const struct hs_machine *machine;
    const struct hs_topology *topology;
    const struct hs_allocator *memory;
    struct hs_mail mail;
    int size, signals, waits;
    int *signal;                 /* the SIGNALs of all lists read, ordered by rank */
    int *first;                  /* the SIGNALs of rank r are signal[first[r] .. first[r + 1]) */
    const unsigned char *sample; /* nonzero for each rank whose list is read; NULL for all ranks */
    size_t signal_capacity;
};

static enum queue queue_of(int kind)
{
    static const unsigned char queue[HS_KINDS] = {
        [HS_SEND] = OUT_PORT,     [HS_RECV] = IN_PORT,     [HS_COPY] = ARITHMETIC,
        [HS_REDUCE] = ARITHMETIC, [HS_EXACT] = ARITHMETIC, [HS_SIGNAL] = QUEUES,
        [HS_WAIT] = QUEUES,       [HS_JOIN] = QUEUES,      [HS_MPI] = OUT_PORT};
    return (enum queue)queue[kind];
}

/* Appends step g to its queue. Returns 1 if it waits for an earlier step to free a place of the queue, else 0. */
static int enqueue(const struct reader *reader, int g, int *served, int *before)
{
    struct hs_clock_step *step = reader->steps->step;
    enum queue queue = queue_of(step[g].kind);
    int places = queue != ARITHMETIC && reader->machine->ports > 1 ? reader->machine->ports : 1;

    if (queue == QUEUES)
        return 0;
    if (served[queue] < places) {
        if (served[queue]++ == 0)
            before[queue] = g;
        return 0;
    }
    step[before[queue]].next = g;
    do
        before[queue]++;
    while (queue_of(step[before[queue]].kind) != queue);
    return 1;
}

/* The seconds of reading an operand from a peer's IN or OUT; 0 for other operands, and if there is no price. */
static double reading(const struct hs_machine *machine, struct hs_ref ref, int64_t count)
{
    return hs_is_peers_own(ref) ? machine->read.alpha + (double)count * machine->read.beta : 0;
}

/* The seconds of a step that is not a message, without devices. */
static double work(const struct hs_machine *machine, const struct hs_step *step)
{
    if (step->kind == HS_REDUCE)
        return (double)step->count * machine->gamma + reading(machine, step->left, step->count) +
               reading(machine, step->right, step->count);
    if (step->kind == HS_EXACT)
        return (double)(step->peer * step->count) * HS_EXACT_WORK * machine->gamma;
    if (step->kind != HS_COPY)
        return 0;
    if (hs_is_peers_own(step->left) && hs_is_priced(&machine->read))
        return reading(machine, step->left, step->count);
    if (hs_is_priced(&machine->shm) && hs_copies_shared(step))
        return machine->shm.alpha + (double)step->count * machine->shm.beta;
    return (double)step->count * machine->copy;
}

static int price_of(const struct reader *reader, int rank, const struct hs_step *step)
{
    int price = 2 * (int)hs_tier_of(reader->topology, rank, step->peer);
    int64_t eager = reader->steps->price[price].eager;
    return price + (eager > 0 && step->count > eager);
}

static int is_outside(const struct reader *reader, int rank)
{
    return reader->sample && !reader->sample[rank];
}

/* Stores step g of a rank in the clock's form, with its price and the other end of its message. */
static hsumma_status keep(struct reader *reader, int rank, const struct hs_list *list, int i, int g)
{
    const struct hs_step *from = &list->step[i];
    struct hs_clock_steps *steps = reader->steps;
    struct hs_clock_step *step = &steps->step[g];
    *step =
        (struct hs_clock_step){.next = -1, .first_use = -1, .pending = from->deps, .kind = (unsigned char)from->kind};
    step->count = from->count;
    steps->rank[g] = rank;
    steps->mate[g] = -1;
    if ((from->kind == HS_SEND || from->kind == HS_RECV || from->kind == HS_WAIT) &&
        (from->peer < 0 || from->peer >= reader->size))
        return HSUMMA_ERR_INTERNAL;
    switch (from->kind) {
    case HS_SEND:
    case HS_RECV:
        step->price = (unsigned char)price_of(reader, rank, from);
        if (is_outside(reader, from->peer))
            steps->mate[g] = HS_CLOCK_OUTSIDE;
        else
            hs_mail_add(&reader->mail, rank, from->kind, from->peer, g, steps->mate);
        return HSUMMA_OK;
    case HS_COPY:
    case HS_REDUCE:
    case HS_EXACT:
    case HS_JOIN:
        step->seconds = work(reader->machine, from);
        return HSUMMA_OK;
    case HS_WAIT:
        if (!is_outside(reader, from->peer)) {
            steps->mate[g] = from->peer; /* the rank of the peer, which find_signals reads */
            reader->waits++;
        }
        return HSUMMA_OK;
    case HS_SIGNAL:
        reader->signal[reader->signals++] = g;
        return HSUMMA_OK;
    case HS_MPI:
        if (!hs_is_priced(&reader->machine->offload))
            break;
        step->seconds = reader->machine->offload.alpha + (double)from->count * reader->machine->offload.beta;
        return hs_mail_join(&reader->mail, rank, &list->joint[from->peer], g, steps->mate, reader->memory);
    case HS_KINDS:
        break;
    }
    return HSUMMA_ERR_UNSUPPORTED;
}

/* Grows the arrays to these total numbers of steps, uses and signals. */
static hsumma_status make_room(struct reader *reader, size_t steps, size_t uses, size_t signals)
{
    struct hs_clock_steps *all = reader->steps;
    void *array[] = {all->step, all->mate, all->rank, all->use, reader->signal};
    if (steps > INT_MAX - 2 || uses > INT_MAX - 2)
        return HSUMMA_ERR_MEMORY;
    int failed = hs_grow(reader->memory, &array[0], sizeof *all->step, &all->step_capacity, steps) ||
                 hs_grow(reader->memory, &array[1], sizeof *all->mate, &all->mate_capacity, steps) ||
                 hs_grow(reader->memory, &array[2], sizeof *all->rank, &all->rank_capacity, steps) ||
                 hs_grow(reader->memory, &array[3], sizeof *all->use, &all->use_capacity, uses) ||
                 hs_grow(reader->memory, &array[4], sizeof *reader->signal, &reader->signal_capacity, signals);
    all->step = array[0];
    all->mate = array[1];
    all->rank = array[2];
    all->use = array[3];
    reader->signal = array[4];
    return failed ? HSUMMA_ERR_MEMORY : HSUMMA_OK;
}

/*
 * Makes room for a rank's list. If the array of steps must grow, makes room at once for lists of this size for all
 * remaining ranks, except at rank 0, with a sample, or if memory is short.
 */
static hsumma_status make_room_for(struct reader *reader, int rank, const struct hs_list *list)
{
    const struct hs_clock_steps *all = reader->steps;
    size_t steps = (size_t)list->steps, uses = 0, signals = 0, times = 1;
    for (int i = 0; i < list->steps; i++) {
        uses += (size_t)list->step[i].deps;
        signals += list->step[i].kind == HS_SIGNAL;
    }
    if (rank > 0 && !reader->sample &&
        /* the list of rank 0, often the root, is not typical */
        (size_t)all->steps + steps > all->step_capacity)
        times = (size_t)(reader->size - rank);
    hsumma_status status = make_room(reader, (size_t)all->steps + times * steps, (size_t)all->uses + times * uses,
                                     (size_t)reader->signals + times * signals);
    return status && times > 1 ? make_room(reader, (size_t)all->steps + steps, (size_t)all->uses + uses,
                                           (size_t)reader->signals + signals)
                               : status;
}

static double port_alpha(const struct hs_link *price)
{
    return price->gap > 0 ? price->gap : price->alpha;
}

/* The seconds for which a step occupies its port or processor.  overhead: those of a message besides its bytes; 0: as
 * within its collective. */
static double own_seconds(const struct hs_clock_steps *steps, int g, double overhead)
{
    const struct hs_clock_step *step = &steps->step[g];
    const struct hs_link *price = &steps->price[step->price];
    if (step->kind == HS_SEND || step->kind == HS_RECV)
        return (overhead > 0 ? overhead : port_alpha(price)) + (double)step->count * price->beta;
    return step->kind == HS_MPI || queue_of(step->kind) == ARITHMETIC ? step->seconds : 0;
}

static hsumma_status read_list(struct reader *reader, int rank, const struct hs_list *list)
{
    struct hs_clock_steps *steps = reader->steps;
    int base = steps->steps, served[QUEUES] = {0}, before[QUEUES] = {0};
    hsumma_status status = make_room_for(reader, rank, list);
    if (status)
        return status;
    size_t at = (size_t)rank * QUEUES;
    int ports = reader->machine->ports > 1 ? reader->machine->ports : 1;
    steps->steps += list->steps;
    hs_mail_open(&reader->mail, rank, steps->rank, steps->mate);
    for (int i = 0; i < list->steps && !status; i++) {
        const struct hs_step *from = &list->step[i];
        status = keep(reader, rank, list, i, base + i);
        if (reader->device && queue_of(from->kind) == ARITHMETIC) {
            steps->step[base + i].seconds = hs_device_work(reader->machine, list, i);
            steps->step[base + i].price = !hs_step_continues(list, i);
        }
        enum queue queue = queue_of(from->kind);
        int between = steps->step[base + i].price >= 2 * HS_BETWEEN_NODES && queue < ARITHMETIC;
        for (int beside = 0; beside < 2; beside++) {
            double seconds = own_seconds(steps, base + i, beside && between ? reader->machine->overhead : 0);
            if (queue < QUEUES)
                reader->busy[beside][at + queue] += queue == ARITHMETIC ? seconds : seconds / ports;
            if (between)
                reader->way[beside][2 * hs_node_of(reader->topology, rank) + (queue == IN_PORT)] += seconds / ports;
        }
        steps->step[base + i].pending += enqueue(reader, base + i, served, before);
        for (int d = 0; d < from->deps; d++) {
            struct hs_clock_step *on = &steps->step[base + list->dep[from->first_dep + d]];
            steps->use[steps->uses] = (struct hs_clock_use){base + i, on->first_use};
            on->first_use = steps->uses++;
        }
    }
    hs_mail_close(&reader->mail, rank, steps->mate);
    if (reader->device) {
        reader->device[hs_device_of(reader->machine, reader->topology, rank)] += reader->busy[0][at + ARITHMETIC];
        reader->busy[0][at + ARITHMETIC] = reader->busy[1][at + ARITHMETIC] = 0;
    }
    return status;
}

/* Links every WAIT for a rank in the sample to its peer's first SIGNAL of at least the WAIT's value. */
static hsumma_status find_signals(struct reader *reader)
{
    struct hs_clock_steps *steps = reader->steps;
    for (int g = 0; reader->waits > 0 && g < steps->steps; g++) {
        struct hs_clock_step *wait = &steps->step[g];
        if (wait->kind != HS_WAIT || steps->mate[g] < 0)
            continue;
        int first = reader->first[steps->mate[g]], end = reader->first[steps->mate[g] + 1], last = end;
        while (first < last) {
            int middle = first + (last - first) / 2;
            if (steps->step[reader->signal[middle]].count < wait->count)
                first = middle + 1;
            else
                last = middle;
        }
        if (first == end)
            return HSUMMA_ERR_INTERNAL;
        struct hs_clock_step *signal = &steps->step[reader->signal[first]];
        wait->pending++;
        wait->next = signal->next;
        signal->next = g;
    }
    return HSUMMA_OK;
}

static void set_prices(struct hs_link *price, const struct hs_machine *machine)
{
    struct hs_link link = machine->network;
    for (int tier = HS_BETWEEN_NODES; tier >= HS_IN_SOCKET; tier--) {
        const struct hs_link *own = tier == HS_IN_SOCKET ? &machine->socket : &machine->node;
        link = tier < HS_BETWEEN_NODES && hs_is_priced(own) ? *own : link;
        price[2 * tier] = link;
        price[2 * tier + 1] = (struct hs_link){.alpha = link.alpha_long, .beta = link.beta_long};
    }
}

static void raise_to(double *most, double value)
{
    *most = value > *most ? value : *most;
}

/*
 * Raises load->most[k], for each k, at least to a rank's mean work over k + 1 consecutive roots: with root k, the rank
 * has the work that rank - k has with root 0. of[0][] (of one root) and of[1][] are indexed by rank or, if by_node is
 * not NULL, by the rank's node in it, from `first` on, with the given stride.
 */
static void weigh_rank(struct hs_clock_load *load, double *const of[2], int first, const struct hs_topology *by_node,
                       int stride, int rank, int size)
{
    double sum = 0;
    for (int k = 0; k < HS_LOAD_ROOTS; k++) {
        int at = first + hs_node_of(by_node, (rank - k % size + size) % size) * stride;
        sum += of[1][at];
        raise_to(&load->most[k], k == 0 ? of[0][at] : sum / (k + 1));
    }
}

/* Computes the load of ports, arithmetic, outgoing and incoming links of nodes, and devices. */
static void weigh(const struct reader *reader, int size)
{
    struct hs_clock_load *load = &reader->steps->load;
    int nodes = hs_nodes_of(reader->topology, size);
    int devices = reader->device ? nodes * reader->machine->devices : 0;
    double mean[QUEUES + 3] = {0};
    for (int r = 0; r < size; r++) {
        for (int q = 0; q < QUEUES; q++) {
            weigh_rank(load, reader->busy, q, NULL, QUEUES, r, size);
            mean[q] += reader->busy[1][r * QUEUES + q] / size;
        }
        for (int i = 0; i < 2; i++)
            weigh_rank(load, reader->way, i, reader->topology, 2, r, size);
    }
    for (int n = 0; n < 2 * nodes; n++)
        mean[QUEUES + n % 2] += reader->way[1][n] / nodes;
    for (int d = 0; d < devices; d++) {
        for (int k = 0; k < HS_LOAD_ROOTS; k++)
            raise_to(&load->most[k], reader->device[d]);
        mean[QUEUES + 2] += reader->device[d] / devices;
    }
    for (int i = 0; i < QUEUES + 3; i++)
        raise_to(&load->mean, mean[i]);
}

hsumma_status hs_clock_steps_build(struct hs_clock_steps *steps, const struct hs_alg *alg, const struct hs_shape *shape,
                                   const struct hs_machine *machine, const struct hs_allocator *memory,
                                   const unsigned char *sample, struct hs_clock_report *report)
{
    int size = shape->size;
    *steps = (struct hs_clock_steps){0};
    if (alg->flags & HS_BY_MPI)
        return HSUMMA_ERR_UNSUPPORTED;
    if (size < 1 || (shape->topology && shape->topology->size != size))
        return HSUMMA_ERR_INTERNAL;
    struct list_pool pool = {.memory = memory};
    struct hs_allocator pooled = {pool_get, pool_put, &pool};
    struct reader reader = {.steps = steps,
                            .machine = machine,
                            .topology = shape->topology,
                            .memory = memory,
                            .size = size,
                            .sample = sample};
    set_prices(steps->price, machine);
    reader.first = hs_get(memory, (size_t)size + 1, sizeof *reader.first);
    double *work = hs_get_zero(memory, (size_t)size, 2 * (QUEUES + 2) * sizeof *work);
    for (int beside = 0; work && beside < 2; beside++) {
        reader.busy[beside] = work + (size_t)(beside * QUEUES) * (size_t)size;
        reader.way[beside] = work + (size_t)(2 * QUEUES + 2 * beside) * (size_t)size;
    }
    if (machine->devices > 0)
        reader.device = hs_get_zero(memory, (size_t)size * (size_t)machine->devices, sizeof *reader.device);
    struct hs_traffic *node_between = report ? hs_get_zero(memory, (size_t)size, sizeof *node_between) : NULL;
    hsumma_status status = hs_mail_begin(&reader.mail, size, memory);
    if (!reader.first || !work || (machine->devices > 0 && !reader.device) || (report && !node_between))
        status = HSUMMA_ERR_MEMORY;
    for (int r = 0; r < size && !status; r++) {
        struct hs_list list;
        reader.first[r] = reader.signals;
        if (is_outside(&reader, r))
            continue;
        status = hs_build_rank(alg, shape, r, &pooled, &list);
        if (!status)
            status = read_list(&reader, r, &list);
        if (!status && report)
            hs_clock_count(&list, shape->topology, r, &node_between[hs_node_of(shape->topology, r)], report);
        hs_list_free(&pooled, &list);
    }
    if (!status) {
        reader.first[size] = reader.signals;
        status = find_signals(&reader);
        if (!sample)
            weigh(&reader, size);
    }
    hs_mail_end(&reader.mail, memory);
    hs_put(memory, reader.first);
    hs_put(memory, work);
    hs_put(memory, reader.device);
    hs_put(memory, reader.signal);
    hs_put(memory, node_between);
    pool_end(&pool);
    return status;
}

void hs_clock_steps_free(struct hs_clock_steps *steps, const struct hs_allocator *memory)
{
    hs_put(memory, steps->step);
    hs_put(memory, steps->mate);
    hs_put(memory, steps->rank);
    hs_put(memory, steps->use);
    *steps = (struct hs_clock_steps){0};
}
