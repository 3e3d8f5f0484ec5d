/*
 * Processes that are killed, and the others, which continue without them by ULFM. Run by programs/ulfm.py, under an
 * mpiexec that lets the survivors live: shrink CALL MOMENT SEED [OPTION=VALUE...]. While there are more than two ranks,
 * all repeat CALL until it fails, because one of them kills itself: `before` the call, or `during` the calls, 0 to 30
 * ms after the first. The survivors free everything, shrink the communicator, and multiply in a new context over it.
 * Each prints "rank R: STATUS after S s: N left, WHAT: MESSAGE", where WHAT is right if its part of the product is, and
 * at the end "rank R: done".
 */
#include "coll/node/agree_mpi.h"
#include "support/product/stage.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef OMPI_HAVE_MPI_EXT_FTMPI

static void kill_itself(int number)
{
    (void)number;
    raise(SIGKILL);
}

static void set_timer(int microseconds)
{
    const struct itimerval timer = {.it_value.tv_usec = microseconds};
    signal(SIGALRM, kill_itself);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Repeats the call until it fails; one rank kills itself. Returns the status, *seconds: since the last call began. */
static hsumma_status lose_one(struct call_stage *stage, const struct stage_call *call, int during, uint64_t *random,
                              double *seconds)
{
    const int victim = draw_of(random, size), delay = 1 + draw_of(random, 30000);
    hsumma_status status = HSUMMA_OK;
    double begin = 0;
    MPI_Barrier(stage->comm);
    if (rank == victim && during)
        set_timer(delay);
    else if (rank == victim)
        raise(SIGKILL);
    while (!status) {
        begin = hs_now();
        status = call->run(stage);
    }
    *seconds = hs_now() - begin;
    return status;
}

/* Opens a stage over the survivors, and multiplies there. Returns NULL if this rank's result is right, else why not. */
static const char *continue_without(struct call_stage *stage)
{
    MPI_Comm rest;
    if (MPIX_Comm_shrink(stage->comm, &rest) != MPI_SUCCESS)
        return "MPIX_Comm_shrink has failed";
    MPI_Comm_set_errhandler(rest, MPI_ERRORS_RETURN);
    MPI_Comm_rank(rest, &rank);
    MPI_Comm_size(rest, &size);
    hsumma_status status = stage_open(stage, rest);
    if (status)
        return stage->text[0] ? stage->text : hsumma_status_string(status);
    return gemm_execution_fault(stage->plan, &stage->c, GEMM_AT_ONCE);
}

int main(int argc, char **argv)
{
    struct call_stage stage = {0};
    world_begin(&argc, &argv);
    const int world = rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const struct stage_call *call = argc > 3 ? stage_call_named(argv[1]) : NULL;
    hsumma_status status = call ? stage_open(&stage, MPI_COMM_WORLD) : HSUMMA_ERR_ARGUMENT;
    if (!status)
        status = call->run(&stage);
    if (status) {
        printf("cannot begin: %s %s\n", hsumma_status_string(status), stage.text);
        return 1;
    }
    uint64_t random = strtoull(argv[3], NULL, 0);
    const char *fault = NULL;
    while (size > 2 && !fault) {
        double seconds;
        char message[1200];
        status = lose_one(&stage, call, strcmp(argv[2], "during") == 0, &random, &seconds);
        snprintf(message, sizeof message, "%s%s", hsumma_message(stage.ctx), stage.text);
        stage_close(&stage);
        fault = continue_without(&stage);
        printf("rank %d: %d after %.2f s: %d left, %s: %s\n", world, (int)status, seconds, size,
               fault ? fault : "right", message);
        fflush(stdout); /* one write for each line, so that the lines of ranks do not mix */
    }
    if (fault)
        return 1;
    stage_close(&stage);
    MPI_Barrier(stage.comm);
    printf("rank %d: done\n", world);
    fflush(stdout);
    _exit(0); /* Open MPI 5.0.11: MPI_Finalize may wait for the processes that have ended */
}

#else

int main(void)
{
    printf("1..0 # SKIP this MPI has no ULFM with which a program continues\n");
    return 0;
}

#endif
