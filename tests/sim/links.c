/*
 * Prints the bytes on the links of a fabric after random messages, as the simulator counts them and as hs_fabric_route
 * does: "links SIMULATED ROUTED BUSIEST_SIMULATED BUSIEST_ROUTED" for each of several rounds.  hsumma_sim starts this
 * program in place of hsumma, with one rank per node; tests/programs/sim_platform.py judges its output.
 *
 *     links gemm --topology FILE
 */
#include "base/hash.h"
#include "base/simulator.h"
#include "dist/fabric.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4, MESSAGES = 6 /* of each rank */, MOST = 1 << 20 /* bytes */ };
static const double EACH = 0.01; /* seconds: more than a message takes */

/* Message number `number` of a round. */
struct message {
    int from, to, bytes;
};

/* Whether a message may go either way round a dimension.  SimGrid does not always choose the same way. */
static int goes_either_way(const struct hs_fabric *fabric, int from, int to)
{
    for (int d = 0; fabric->kind == HS_TORUS && d < fabric->dims; d++) {
        int extent = fabric->extent[d], apart = abs(from % extent - to % extent);
        if (extent > 2 && 2 * apart == extent)
            return 1;
        from /= extent;
        to /= extent;
    }
    return 0;
}

static struct message message_of(const struct hs_fabric *fabric, int round, int number)
{
    uint64_t random = hs_mix((uint64_t)round + 1, (uint64_t)number + 1);
    int from = number / MESSAGES, to = (int)(random % (uint64_t)fabric->positions);
    int either = goes_either_way(fabric, from, to);
    return (struct message){from, either ? from : to, 1 + (int)((random >> 32) % MOST)};
}

/* Waits until the simulated time, in seconds. */
static void wait_until(double time)
{
    double now = MPI_Wtime();
    if (now < time)
        hs_simulator()->advance(time - now);
}

/* Sends and receives this rank's messages of a round.  Each message begins when those before it have ended, because
 * SimGrid's count is too high if flows share a link and one of them ends (doc/simulator.md). */
static void send_all(const struct hs_fabric *fabric, int round, int rank, char *memory)
{
    double begin = MPI_Wtime() + 1;
    for (int number = 0; number < fabric->positions * MESSAGES; number++) {
        struct message message = message_of(fabric, round, number);
        if (message.from == message.to || (message.from != rank && message.to != rank))
            continue;
        wait_until(begin + number * EACH);
        if (message.to == rank)
            MPI_Recv(memory, message.bytes, MPI_BYTE, message.from, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(memory, message.bytes, MPI_BYTE, message.to, number, MPI_COMM_WORLD);
    }
}

static void print_loads(const struct hs_fabric *fabric, int round, const struct hs_simulated_links *links)
{
    int count = hs_fabric_links(fabric);
    double all = 0, busiest = 0, *load = calloc((size_t)count, sizeof *load);
    for (int number = 0; load && number < fabric->positions * MESSAGES; number++) {
        struct message message = message_of(fabric, round, number);
        hs_fabric_route(fabric, message.from, message.to, message.bytes, &(struct hs_fabric_traffic){.load = load});
    }
    for (int i = 0; load && i < count; i++) {
        all += load[i];
        busiest = load[i] > busiest ? load[i] : busiest;
    }
    free(load);
    printf("links %.0f %.0f %.0f %.0f\n", (double)links->bytes, all, links->busiest_bytes, busiest);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    struct hs_fabric fabric = {0};
    char fabric_text[100] = "";
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--topology") == 0) {
            FILE *file = fopen(argv[i + 1], "r");
            if (!file || !fgets(fabric_text, sizeof fabric_text, file))
                fabric_text[0] = '\0';
            if (file)
                fclose(file);
        }
    const char *shape = strchr(fabric_text, ' ') ? strchr(fabric_text, ' ') + 1 : fabric_text;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *memory = malloc(MOST);
    if (!memory || hs_fabric_read(fabric_text, &shape, &fabric) || fabric.positions != ranks)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct hs_simulated_links links = {0};
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            hs_simulator()->watch_links();
        send_all(&fabric, round, rank, memory);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            hs_simulator()->read_links(&links);
            print_loads(&fabric, round, &links);
        }
    }
    free(memory);
    MPI_Finalize();
    return 0;
}
