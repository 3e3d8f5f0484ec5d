#include "summa/redistribute/redistribution.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUND_BYTES = 1 << 20, /* most bytes that a process sends or receives in a round, unless MESSAGE_BYTES needs more */
    MESSAGE_BYTES = 1 << 15 /* least mean size of messages, if the limit of buffers allows it */
};

/* The process on an axis that is at coordinate `place` of the grid; 0 for a replicated axis. */
static int process_of(const struct hs_axis *axis, int place)
{
    return axis->nprocs == 1 ? 0 : place;
}

/* Whether source process i serves target process p on an axis.  Only one of several replicas does. */
static int serves(const struct hs_layout *source, int axis, int i, int p)
{
    return source->axis[axis].nprocs > 1 || i == p % source->extent[axis];
}

static void find_me(struct hs_side *side, const struct hs_layout *layout, int rank)
{
    side->coord[0] = side->coord[1] = -1;
    for (int i = 0; i < layout->extent[0] * layout->extent[1]; i++)
        if (hs_rank_in(layout->rank, i) == rank) {
            side->coord[0] = i / layout->extent[1];
            side->coord[1] = i % layout->extent[1];
            return;
        }
}

static hsumma_status make_side(struct hs_side *side, const struct hs_layout *mine, const struct hs_layout *other,
                               int rank, const struct hs_allocator *memory)
{
    hsumma_status status = HSUMMA_OK;
    find_me(side, mine, rank);
    for (int a = 0; a < 2 && !status && side->coord[0] >= 0; a++)
        status = hs_shares_make(&side->share[a], &mine->axis[a], process_of(&mine->axis[a], side->coord[a]),
                                &other->axis[a], memory);
    return status;
}

static void free_side(struct hs_side *side, const struct hs_allocator *memory)
{
    for (int a = 0; a < 2; a++)
        hs_shares_free(&side->share[a], memory);
}

/* The distance from a sender to a receiver; 0 to itself.  At any distance no two senders have the same
 * receiver. */
static int64_t distance(const struct hs_topology *topology, int size, int from, int to)
{
    const struct hs_division *node = &topology->division[HS_NODE];
    if (topology->size == 0)
        return (to - from + size) % size;
    int64_t nodes = (hs_part_of(node, to) - hs_part_of(node, from) + node->parts) % node->parts;
    int inside = (hs_place_in_part(node, to) - hs_place_in_part(node, from) + size) % size;
    return nodes * size + inside;
}

/* Lists the transfers between process `here`, with its `side`, and the processes of the other layout; returns their
 * number.  A block that stays on the process is listed only with sends = 0.  If transfer is NULL, only counts. */
static int list_side(const struct hs_topology *topology, int size, int here, const struct hs_side *side,
                     const struct hs_layout *source, const struct hs_layout *target, int number, int sends,
                     struct hs_transfer *transfer)
{
    const struct hs_layout *other = sends ? target : source;
    int count = 0;
    if (side->coord[0] < 0)
        return 0;
    for (int i = 0; i < other->extent[0]; i++)
        for (int j = 0; j < other->extent[1]; j++) {
            int place[2] = {i, j}, shared = 1, there = hs_rank_in(other->rank, i * other->extent[1] + j);
            struct hs_shared block = {.axis = side->share};
            for (int a = 0; a < 2; a++) {
                block.with[a] = process_of(&other->axis[a], place[a]);
                shared &=
                    sends ? serves(source, a, side->coord[a], place[a]) : serves(source, a, place[a], side->coord[a]);
            }
            if (!shared || hs_shared_elements(&block) == 0 || (sends && there == here))
                continue;
            if (transfer)
                transfer[count] = (struct hs_transfer){.source = number,
                                                       .with = {block.with[0], block.with[1]},
                                                       .rank = there,
                                                       .far = sends ? distance(topology, size, here, there)
                                                                    : distance(topology, size, there, here),
                                                       .elements = hs_shared_elements(&block)};
            count++;
        }
    return count;
}

static int by_block_and_source(const void *left, const void *right)
{
    const struct hs_transfer *a = left, *b = right;
    for (int i = 0; i < 2; i++)
        if (a->with[i] != b->with[i])
            return a->with[i] < b->with[i] ? -1 : 1;
    return a->source < b->source ? -1 : a->source > b->source;
}

static int by_distance(const void *left, const void *right)
{
    const struct hs_transfer *a = *(const struct hs_transfer *const *)left,
                             *b = *(const struct hs_transfer *const *)right;
    if (a->far != b->far)
        return a->far < b->far ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The largest number of sources of which one rank is a member; -1 if out of memory. */
static int most_sources(const struct hs_comm *comm, const struct hs_layout *source, int sources,
                        const struct hs_allocator *memory)
{
    int most = 1, *times = sources > 1 ? hs_get_zero(memory, (size_t)comm->size, sizeof *times) : NULL;
    if (sources > 1 && !times)
        return -1;
    for (int s = 0; sources > 1 && s < sources; s++)
        for (int i = 0; i < source->extent[0] * source->extent[1]; i++)
            if (++times[hs_rank_in(source[s].rank, i)] > most)
                most = times[hs_rank_in(source[s].rank, i)];
    hs_put(memory, times);
    return most;
}

/* The largest number of target processes on an axis to which one source process gives the same indices. */
static int64_t copies(const struct hs_layout *source, const struct hs_layout *target, int axis)
{
    int replicas = source->axis[axis].nprocs == 1 ? source->extent[axis] : 1;
    return target->axis[axis].nprocs == 1 ? (target->extent[axis] + replicas - 1) / replicas : 1;
}

hsumma_status hs_redistribution_rounds(const struct hs_layout *source, int sources, const struct hs_layout *target,
                                       int memberships, int64_t size, int64_t limit, int64_t cut, int64_t *needs,
                                       int64_t *rounds)
{
    int64_t in = sources, out = memberships, share, want, ins = sources, outs = memberships;
    for (int a = 0; a < 2; a++) {
        in = hs_bytes_of(in, hs_axis_count_max(&target->axis[a]), 1);
        out = hs_bytes_of(out, hs_axis_count_max(&source->axis[a]), copies(source, target, a));
        ins *= source->extent[a];
        outs *= target->extent[a];
    }
    int64_t transfers = ins > outs ? ins : outs, bytes = hs_bytes_of(in > out ? in : out, size, 1);
    *needs = 2 * 2 * HS_ROUNDS_AT_A_TIME * transfers * size;
    if (limit < *needs)
        return HSUMMA_ERR_WORKSPACE;
    share = limit / (2 * HS_ROUNDS_AT_A_TIME);
    want = transfers * MESSAGE_BYTES > ROUND_BYTES ? transfers * MESSAGE_BYTES : ROUND_BYTES;
    want = hs_min(hs_min(want, share), cut) - transfers * size;
    *rounds = bytes > want ? hs_cuts(bytes, want) : 1;
    return HSUMMA_OK;
}

static int64_t piece(const struct hs_redistribution *r, const struct hs_transfer *transfer)
{
    return (transfer->elements + r->rounds - 1) / r->rounds;
}

/* Places the pieces of a round in the buffer and returns their bytes.  Data that stay on this process need no place. */
static int64_t place(const struct hs_redistribution *r, struct hs_transfer *transfer, int count)
{
    int64_t at = 0;
    for (int i = 0; i < count; i++) {
        transfer[i].at = at;
        if (transfer[i].far)
            at += piece(r, &transfer[i]) * (int64_t)r->scalar->size;
    }
    return at;
}

/* Makes the transfers, orders their messages, and sizes the buffers of a round. */
static hsumma_status deal(struct hs_redistribution *r, const struct hs_layout *source, const struct hs_layout *target,
                          const struct hs_allocator *memory)
{
    const struct hs_topology *topology = &r->comm->topology;
    int all_ranks = r->comm->size, here = r->comm->rank;
    for (int s = 0; s < r->sources; s++) {
        r->sends += list_side(topology, all_ranks, here, &r->source[s], &source[s], target, s, 1, NULL);
        r->recvs += list_side(topology, all_ranks, here, &r->target, &source[s], target, s, 0, NULL);
    }
    size_t all = (size_t)r->sends + (size_t)r->recvs + 1;
    struct hs_step *steps = hs_get_zero(memory, all, HS_ROUNDS_AT_A_TIME * sizeof *steps);
    r->list[0].step = steps;
    r->transfer = hs_get(memory, all, sizeof *r->transfer);
    r->message = hs_get(memory, all, sizeof *r->message);
    r->rank = hs_get(memory, all, sizeof *r->rank);
    r->work = hs_get(memory, HS_ROUNDS_AT_A_TIME, hs_aligned(hs_instance_bytes((int)all)));
    if (!steps || !r->transfer || !r->message || !r->rank || !r->work)
        return HSUMMA_ERR_MEMORY;
    struct hs_transfer *send = r->transfer, *recv = r->transfer + r->sends;
    for (int s = 0; s < r->sources; s++) {
        send += list_side(topology, all_ranks, here, &r->source[s], &source[s], target, s, 1, send);
        recv += list_side(topology, all_ranks, here, &r->target, &source[s], target, s, 0, recv);
    }
    recv = r->transfer + r->sends;
    qsort(recv, (size_t)r->recvs, sizeof *recv, by_block_and_source);
    for (size_t i = 0; i + 1 < all; i++) {
        r->message[i] = &r->transfer[i];
        r->rank[i] = r->transfer[i].rank;
    }
    qsort(r->message, all - 1, sizeof *r->message, by_distance);
    r->out_bytes = place(r, r->transfer, r->sends);
    r->in_bytes = place(r, recv, r->recvs);
    r->buffer_bytes = (size_t)(hs_min(HS_ROUNDS_AT_A_TIME, r->rounds) * (r->out_bytes + r->in_bytes));
    for (int i = 0; i < HS_ROUNDS_AT_A_TIME; i++) {
        r->list[i].step = steps + (size_t)i * all;
        hs_instance_init(&r->instance[i], (char *)r->work + (size_t)i * hs_aligned(hs_instance_bytes((int)all)),
                         (int)all);
    }
    return HSUMMA_OK;
}

hsumma_status hs_redistribution_init(struct hs_redistribution *r, struct hs_comm *comm, int channel,
                                     const struct hs_scalar *scalar, const struct hs_layout *source, int sources,
                                     const struct hs_layout *target, int64_t limit, const struct hs_allocator *memory,
                                     int64_t *needs)
{
    *r = (struct hs_redistribution){.comm = comm, .channel = channel, .scalar = scalar, .sources = sources};
    int memberships = most_sources(comm, source, sources, memory);
    r->source = hs_get_zero(memory, (size_t)sources, sizeof *r->source);
    r->from = hs_get(memory, (size_t)sources, sizeof *r->from);
    hsumma_status status = memberships < 0 || !r->source || !r->from ? HSUMMA_ERR_MEMORY : HSUMMA_OK;
    if (!status)
        status = hs_redistribution_rounds(source, sources, target, memberships, (int64_t)scalar->size, limit, comm->cut,
                                          needs, &r->rounds);
    if (!status)
        status = make_side(&r->target, target, source, comm->rank, memory);
    for (int s = 0; s < sources && !status; s++)
        status = make_side(&r->source[s], &source[s], target, comm->rank, memory);
    if (!status)
        status = deal(r, source, target, memory);
    if (status)
        hs_redistribution_free(r, memory);
    return status;
}

hsumma_status hs_redistribution_transfers(const struct hs_layout *source, int sources, const struct hs_layout *target,
                                          const struct hs_topology *topology, int size, int rank, int sends,
                                          const struct hs_allocator *memory, struct hs_transfer **found, int *count)
{
    const struct hs_layout *other = sends ? target : source;
    int most = other->extent[0] * other->extent[1], listed = 0;
    struct hs_transfer *transfer = NULL;
    struct hs_side side = {.coord = {-1, -1}};
    size_t capacity = 0;
    hsumma_status status = HSUMMA_OK;
    for (int s = 0; s < sources && !status; s++) {
        if (sends || s == 0) { /* the sources differ only in their tables of ranks */
            free_side(&side, memory);
            status = make_side(&side, sends ? &source[s] : target, sends ? target : source, rank, memory);
        }
        if (!status && hs_grow(memory, (void **)&transfer, sizeof *transfer, &capacity, (size_t)(listed + most)))
            status = HSUMMA_ERR_MEMORY;
        if (!status)
            listed += list_side(topology, size, rank, &side, &source[s], target, s, sends, transfer + listed);
    }
    free_side(&side, memory);
    *found = transfer;
    *count = status ? 0 : listed;
    return status;
}

void hs_redistribution_free(struct hs_redistribution *r, const struct hs_allocator *memory)
{
    free_side(&r->target, memory);
    for (int s = 0; r->source && s < r->sources; s++)
        free_side(&r->source[s], memory);
    hs_put(memory, r->source);
    hs_put(memory, r->from);
    hs_put(memory, r->transfer);
    hs_put(memory, r->message);
    hs_put(memory, r->rank);
    hs_put(memory, r->list[0].step);
    hs_put(memory, r->work);
    *r = (struct hs_redistribution){0};
}

void hs_redistribution_start(struct hs_redistribution *r, const struct hs_matrix *from, const void *beta,
                             const struct hs_matrix *to, void *buffers, int checked)
{
    memcpy(r->from, from, (size_t)r->sources * sizeof *from);
    memcpy(&r->beta, beta, r->scalar->size);
    r->to = *to;
    r->buffers = buffers;
    r->checked = checked;
    r->next = r->done = 0;
}

/* The elements of a block that one round moves. */
struct part_of_block {
    int64_t begin, end;
};

static struct part_of_block part_of_round(const struct hs_redistribution *r, const struct hs_transfer *transfer,
                                          int64_t round)
{
    int64_t begin = round * piece(r, transfer), end = begin + piece(r, transfer);
    return (struct part_of_block){hs_min(begin, transfer->elements), hs_min(end, transfer->elements)};
}

/* The buffer of a round's received pieces (received 1) or of its pieces to send (0). */
static char *buffer_of(const struct hs_redistribution *r, int64_t round, int received)
{
    return r->buffers + round % HS_ROUNDS_AT_A_TIME * (r->out_bytes + r->in_bytes) + (received ? r->out_bytes : 0);
}

static void pack(const struct hs_redistribution *r, int64_t round)
{
    char *buffer = buffer_of(r, round, 0);
    for (int i = 0; i < r->sends; i++) {
        const struct hs_transfer *transfer = &r->transfer[i];
        struct part_of_block part = part_of_round(r, transfer, round);
        struct hs_shared block = {r->source[transfer->source].share, {transfer->with[0], transfer->with[1]}};
        int64_t bytes = (part.end - part.begin) * (int64_t)r->scalar->size;
        if (bytes > 0 && hs_compute_bytes(r->scalar->compute, HS_WORK_COPY, bytes))
            hs_shared_pack(&block, &r->from[transfer->source], r->scalar->size, part.begin, part.end,
                           buffer + transfer->at);
    }
}

/* The block of a source that this process keeps. */
static struct hs_shared own_block(const struct hs_redistribution *r, int source)
{
    struct hs_shared block = {.axis = r->source[source].share};
    for (int a = 0; a < 2; a++)
        block.with[a] = block.axis[a].others == 1 ? 0 : r->target.coord[a];
    return block;
}

/* Adds the pieces of a round to the target.  The pieces of each block are added in the order of the sources. */
static void unpack(const struct hs_redistribution *r, int64_t round)
{
    const struct hs_transfer *recv = r->transfer + r->sends;
    const char *buffer = buffer_of(r, round, 1);
    for (int i = 0; i < r->recvs; i++) {
        struct part_of_block part = part_of_round(r, &recv[i], round);
        struct hs_shared block = {r->target.share, {recv[i].with[0], recv[i].with[1]}};
        const void *beta = recv[i].source == 0 ? &r->beta : r->scalar->one;
        int64_t bytes = (part.end - part.begin) * (int64_t)r->scalar->size;
        if (bytes == 0 || !hs_compute_bytes(r->scalar->compute, HS_WORK_COPY, bytes))
            continue;
        if (recv[i].far) {
            hs_shared_unpack(&block, &r->to, r->scalar, beta, part.begin, part.end, buffer + recv[i].at);
        } else {
            struct hs_shared own = own_block(r, recv[i].source);
            hs_shared_copy(&own, &r->from[recv[i].source], &block, &r->to, r->scalar, beta, part.begin, part.end);
        }
    }
}

/*
 * Packs and starts a round.  All processes order their messages by distance, so the nearest unfinished message is the
 * next one for its sender and for its receiver.  An executor that looks ahead only a limited number of steps can
 * therefore always proceed.
 */
static hsumma_status begin_round(struct hs_redistribution *r, int64_t round)
{
    int turn = (int)(round % HS_ROUNDS_AT_A_TIME);
    struct hs_list *list = &r->list[turn];
    list->steps = 0;
    pack(r, round);
    for (int i = 0; i < r->sends + r->recvs; i++) {
        const struct hs_transfer *transfer = r->message[i];
        struct part_of_block part = part_of_round(r, transfer, round);
        int number = (int)(transfer - r->transfer), sends = number < r->sends;
        if (!transfer->far || part.begin == part.end)
            continue;
        list->step[list->steps++] = (struct hs_step){.kind = sends ? HS_SEND : HS_RECV,
                                                     .peer = number,
                                                     .left = hs_in(transfer->at),
                                                     .dst = hs_out(transfer->at),
                                                     .count = (part.end - part.begin) * (int64_t)r->scalar->size};
    }
    const struct hs_binding binding = {
        .list = list,
        .group = {.table = r->rank, .stride = 1, .size = r->sends + r->recvs},
        .tag = hs_tag(r->channel, round),
        .slot = {[HS_IN] = buffer_of(r, round, 0), [HS_OUT] = buffer_of(r, round, 1)},
        .checked = r->checked,
    };
    return hs_start(&r->instance[turn], r->comm, &binding);
}

hsumma_status hs_redistribution_advance(void *state, int *worked, int *done)
{
    struct hs_redistribution *r = state;
    hsumma_status status = HSUMMA_OK;
    for (int64_t round = r->done; round < r->next && !status; round++)
        status = hs_progress(&r->instance[round % HS_ROUNDS_AT_A_TIME], worked);
    while (!status && r->next < r->rounds && r->next - r->done < HS_ROUNDS_AT_A_TIME) {
        status = begin_round(r, r->next++);
        *worked = 1;
    }
    if (!status && r->done < r->next && !r->instance[r->done % HS_ROUNDS_AT_A_TIME].active) {
        unpack(r, r->done++);
        *worked = 1;
    }
    *done = r->done == r->rounds;
    return status;
}
