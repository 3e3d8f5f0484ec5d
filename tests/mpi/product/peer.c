/*
 * A process that ends while the others need it: on its node they return HSUMMA_ERR_PEER, whatever the call, and so do
 * processes of other nodes that receive a notice. Run by programs/peer_ends.py, which starts it under an mpiexec that
 * lets the survivors live: peer CALL HOW [OPTION=VALUE...]. In CALL the last rank is missing: HOW is killed (it kills
 * itself before the call), exits (it frees its context and ends) or stays (it frees its context and waits for the
 * others to end). Each survivor prints "rank R: STATUS after S s: MESSAGE", makes the call again and prints "rank R:
 * then STATUS", then frees everything and prints "rank R: freed".
 */
#include "support/product/stage.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Waits until the caller of this program kills it: an mpiexec may end all processes when one ends without MPI_Finalize.
 */
static void wait_for_end(void)
{
    for (;;)
        pause();
}

/* The part of the last rank. */
static void go_missing(struct call_stage *stage, const char *how)
{
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    stage_close(stage);
    if (strcmp(how, "stays") == 0)
        wait_for_end();
    _exit(0);
}

int main(int argc, char **argv)
{
    struct call_stage stage = {0};
    world_begin(&argc, &argv);
    const struct stage_call *call = argc > 2 ? stage_call_named(argv[1]) : NULL;
    hsumma_status status = call ? stage_open(&stage, MPI_COMM_WORLD) : HSUMMA_ERR_ARGUMENT;
    if (!status) /* once with all ranks, so that the next call needs no preparation */
        status = call->run(&stage);
    if (status) {
        printf("cannot begin: %s %s\n", hsumma_status_string(status), stage.text);
        return 1;
    }
    for (int r = 0; rank == size - 1 && r < size - 1; r++) /* the others need nothing more from this rank */
        MPI_Recv(NULL, 0, MPI_BYTE, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < size - 1)
        MPI_Send(NULL, 0, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD);
    if (rank == size - 1)
        go_missing(&stage, argv[2]);
    double begin = hs_now();
    status = call->run(&stage);
    printf("rank %d: %d after %.1f s: %s\n", rank, (int)status, hs_now() - begin, hsumma_message(stage.ctx));
    fflush(stdout); /* one write for each line, so that the lines of ranks do not mix */
    status = call->run(&stage);
    printf("rank %d: then %d\n", rank, (int)status);
    fflush(stdout);
    stage_close(&stage);
    printf("rank %d: freed\n", rank);
    fflush(stdout);
    wait_for_end(); /* MPI_Finalize would wait for the missing rank */
}
