#include "interleave/network.h"

#include "interleave/schedule.h"
#include "support/random.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_MOST = 1 << 14, POISON = 0xff, RANKS_HERE = 64 };

/* A send or a receive; its MPI_Request is its index in `net.transfer` plus 1. */
struct transfer {
    int sends; /* nonzero for a send, 0 for a receive */
    int rank, peer, tag;
    char *at; /* the caller's buffer */
    size_t bytes;
    int mate;     /* index of the matching receive or send; -1 while unmatched */
    int arrived;  /* the data have been copied to the receiver */
    int eager;    /* buffered: the send completes at once */
    int returned; /* MPI_Testsome has returned its completion to the caller */
    char *image;  /* expected contents of the caller's buffer while MPI may use it */
    size_t room;
};

static struct {
    struct network_manner manner;
    uint64_t *random;
    int rank, hurried;
    struct transfer transfer[OPEN_MOST];
    int used; /* number of entries of `transfer` that have ever been used */
    int unused[OPEN_MOST], unused_count;
    int waiting[OPEN_MOST], waiting_count; /* indices of unmatched transfers, in the order of their start */
    int under_way[OPEN_MOST], way_count; /* indices of matched sends that have not arrived, in the order of matching */
    int withheld[RANKS_HERE];
    int calls_left, failed; /* calls_left: calls until MPI fails; failed: the rank on which MPI has failed, or -1 */
    char fault[200];
} net;

void network_begin(const struct network_manner *manner, uint64_t *random)
{
    net.manner = *manner;
    net.random = random;
    net.unused_count = net.waiting_count = net.way_count = net.hurried = 0;
    for (int i = net.used; i-- > 0;)
        net.unused[net.unused_count++] = i;
    memset(net.withheld, 0, sizeof net.withheld);
    net.calls_left = manner->lie == NETWORK_FAILS ? 1 + draw_of(random, 1 << draw_of(random, 11)) : 0;
    net.failed = -1;
    net.fault[0] = 0;
}

int network_as(int rank)
{
    int before = net.rank;
    net.rank = rank;
    return before;
}

void network_hurry(int hurry)
{
    net.hurried = hurry;
}

int network_failed(void)
{
    return net.failed;
}

/* Whether this call of MPI fails: the call that was drawn, and every later call of the same rank. */
static int call_fails(void)
{
    schedule_look();
    if (net.calls_left > 0 && --net.calls_left == 0)
        net.failed = net.rank;
    return net.failed == net.rank;
}

int network_withheld(int rank)
{
    int withheld = net.withheld[rank];
    net.withheld[rank] = 0;
    return withheld;
}

const char *network_fault(void)
{
    return net.fault[0] ? net.fault : NULL;
}

static void complain(const struct transfer *of, const char *what)
{
    if (!net.fault[0])
        snprintf(net.fault, sizeof net.fault, "%s of rank %d %s rank %d, tag %d, %zu bytes: %s",
                 of->sends ? "message" : "receive", of->rank, of->sends ? "to" : "from", of->peer, of->tag, of->bytes,
                 what);
}

static void put_away(struct transfer *transfer)
{
    net.unused[net.unused_count++] = (int)(transfer - net.transfer);
}

static void drop(int *list, int *count, int place)
{
    *count -= 1;
    memmove(list + place, list + place + 1, (size_t)(*count - place) * sizeof *list);
}

/* Matches a transfer with the earliest waiting one from the other side, or appends it to the waiting ones. */
static void match(int number)
{
    struct transfer *mine = &net.transfer[number];
    for (int i = 0; i < net.waiting_count; i++) {
        struct transfer *other = &net.transfer[net.waiting[i]];
        if (other->sends == mine->sends || other->tag != mine->tag || other->rank != mine->peer ||
            other->peer != mine->rank)
            continue;
        mine->mate = net.waiting[i];
        other->mate = number;
        net.under_way[net.way_count++] = mine->sends ? number : mine->mate;
        if (other->bytes != mine->bytes)
            complain(mine, "the two sides have different lengths");
        drop(net.waiting, &net.waiting_count, i);
        return;
    }
    net.waiting[net.waiting_count++] = number;
}

static int begin(int sends, void *buffer, int count, int peer, int tag, MPI_Request *request)
{
    if (call_fails())
        return MPI_ERR_OTHER;
    int number = net.unused_count > 0 ? net.unused[--net.unused_count] : net.used++;
    if (number >= OPEN_MOST) {
        fprintf(stderr, "more than %d messages under way\n", OPEN_MOST);
        exit(2);
    }
    struct transfer *made = &net.transfer[number];
    char *image = made->image;
    size_t room = made->room, bytes = (size_t)count;
    if (room < bytes || !image) {
        image = realloc(image, room = bytes + 64);
        if (!image)
            exit(2);
    }
    *made = (struct transfer){.sends = sends,
                              .rank = net.rank,
                              .peer = peer,
                              .tag = tag,
                              .at = buffer,
                              .bytes = bytes,
                              .mate = -1,
                              .eager = sends && draw_of(net.random, 8) < net.manner.eager,
                              .image = image,
                              .room = room};
    if (!sends)
        memset(buffer, POISON, bytes);
    memcpy(image, buffer, bytes);
    match(number);
    *request = (MPI_Request)(intptr_t)(number + 1);
    return MPI_SUCCESS;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    (void)type, (void)comm;
    return begin(1, (void *)buffer, count, to, tag, request); /* a send's buffer is never written */
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    (void)type, (void)comm;
    return begin(0, buffer, count, from, tag, request);
}

int network_can_deliver(void)
{
    return net.way_count > 0;
}

int network_deliver(void)
{
    if (net.way_count == 0)
        return 0;
    int place = net.manner.order < 0   ? 0
                : net.manner.order > 0 ? net.way_count - 1
                                       : draw_of(net.random, net.way_count);
    struct transfer *message = &net.transfer[net.under_way[place]], *receive = &net.transfer[message->mate];
    drop(net.under_way, &net.way_count, place);
    if (!message->eager && memcmp(message->at, message->image, message->bytes) != 0)
        complain(message, "the buffer was written before the message had been read");
    if (memcmp(receive->at, receive->image, receive->bytes) != 0)
        complain(receive, "the buffer was written before the message had arrived");
    memcpy(receive->at, message->eager ? message->image : message->at, receive->bytes);
    memcpy(receive->image, receive->at, receive->bytes);
    message->arrived = receive->arrived = 1;
    schedule_stir(message->rank);
    schedule_stir(receive->rank);
    if (message->returned)
        put_away(message);
    if (receive->returned)
        put_away(receive);
    return 1;
}

static int complete(const struct transfer *transfer)
{
    enum network_lie lie = net.manner.lie;
    return transfer->arrived || transfer->eager ||
           lie == (transfer->sends ? NETWORK_SENDS_EARLY : NETWORK_RECEIVES_EARLY);
}

/* Returns a completed request to its rank, which may then use the buffer again. */
static void give_back(struct transfer *transfer)
{
    if (memcmp(transfer->at, transfer->image, transfer->bytes) != 0)
        complain(transfer, "the buffer was written before the request was complete");
    transfer->returned = 1;
    if (transfer->arrived)
        put_away(transfer);
}

int MPI_Testsome(int count, MPI_Request request[], int *found, int index[], MPI_Status status[])
{
    int active = 0;
    (void)status;
    if (call_fails())
        return MPI_ERR_OTHER;
    *found = 0;
    for (int i = 0; i < count; i++) {
        if (request[i] == MPI_REQUEST_NULL)
            continue;
        struct transfer *transfer = &net.transfer[(intptr_t)request[i] - 1];
        active = 1;
        if (transfer->rank != net.rank)
            complain(transfer, "tested by another rank");
        if (!complete(transfer))
            continue;
        if (!net.hurried && draw_of(net.random, 8) < net.manner.withheld) {
            net.withheld[net.rank] = 1;
            continue;
        }
        give_back(transfer);
        request[i] = MPI_REQUEST_NULL;
        index[(*found)++] = i;
    }
    if (!active)
        *found = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

const char *network_left_over(void)
{
    if (net.waiting_count > 0)
        complain(&net.transfer[net.waiting[0]], "nothing matches it");
    else if (net.way_count > 0)
        complain(&net.transfer[net.under_way[0]], "it has not been waited for");
    else if (net.unused_count < net.used && !net.fault[0])
        snprintf(net.fault, sizeof net.fault, "%d requests have not been waited for", net.used - net.unused_count);
    return network_fault();
}

void network_describe(int rank, char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < net.waiting_count && used < room; i++) {
        const struct transfer *of = &net.transfer[net.waiting[i]];
        if (of->rank == rank && !of->returned)
            used += (size_t)snprintf(text + used, room - used, " %s %d (tag %d+%d)",
                                     of->sends ? "send to" : "receive from", of->peer, of->tag / 1024, of->tag % 1024);
    }
}
