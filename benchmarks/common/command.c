#include "common/command.h"

#include <ctype.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "measure/simulated.h"

/* --- waiting ---------------------------------------------------------------------------------------------------- */

void quiet_wait(int count, MPI_Request *request)
{
    if (is_simulated()) { /* time does not advance there while ranks poll */
        MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
        return;
    }
    for (int done = 0;;) {
        MPI_Testall(count, request, &done, MPI_STATUSES_IGNORE);
        if (done)
            return;
        sched_yield();
    }
}

void quiet_barrier(MPI_Comm comm)
{
    MPI_Request request;

    if (is_simulated()) {
        MPI_Barrier(comm);
        return;
    }
    MPI_Ibarrier(comm, &request);
    quiet_wait(1, &request);
}

void quiet_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    MPI_Request request;

    if (is_simulated()) {
        MPI_Bcast(buffer, count, type, root, comm);
        return;
    }
    MPI_Ibcast(buffer, count, type, root, comm, &request);
    quiet_wait(1, &request);
}

void quiet_allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;

    if (is_simulated()) {
        MPI_Allreduce(in, out, count, type, op, comm);
        return;
    }
    MPI_Iallreduce(in, out, count, type, op, comm, &request);
    quiet_wait(1, &request);
}

void quiet_gather(const void *mine, void *all, int count, MPI_Datatype type, MPI_Comm comm)
{
    MPI_Request request;

    if (is_simulated()) {
        MPI_Gather(mine, count, type, all, count, type, 0, comm);
        return;
    }
    MPI_Igather(mine, count, type, all, count, type, 0, comm, &request);
    quiet_wait(1, &request);
}

/* --- failing ---------------------------------------------------------------------------------------------------- */

enum { TEXT = 512, MOST_LINES = 8 };

/* Replaces control characters, which file names and files may contain, by ' ' or '?': the text becomes one line,
 * without terminal escapes. */
static void make_one_line(char *text)
{
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = isspace((unsigned char)*c) ? ' ' : '?';
}

/* Prints each distinct non-empty text of the list once, up to MOST_LINES of them. */
static void print_distinct(char (*texts)[TEXT], int count)
{
    int printed[MOST_LINES], lines = 0, more = 0;

    for (int i = 0; i < count; i++) {
        int known = !texts[i][0];
        for (int j = 0; j < lines && !known; j++)
            known = !strcmp(texts[i], texts[printed[j]]);
        if (known)
            continue;
        if (lines == MOST_LINES) {
            more++;
            continue;
        }
        printed[lines++] = i;
        fprintf(stderr, "hsumma: %s\n", texts[i]);
    }
    if (more)
        fprintf(stderr, "hsumma: (%d more ranks with other messages)\n", more);
}

int command_fail(MPI_Comm comm, int failed_here, const char *format, ...)
{
    int rank, size, mine = failed_here != 0, any = 0;
    char text[TEXT] = "", (*texts)[TEXT] = NULL;
    va_list args;

    quiet_allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm);
    if (!any)
        return COMMAND_OK;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (failed_here) {
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        make_one_line(text);
    }
    if (rank == 0)
        texts = malloc((size_t)size * sizeof *texts);
    mine = rank != 0 || texts; /* without memory for all texts, rank 0 prints only its own */
    quiet_bcast(&mine, 1, MPI_INT, 0, comm);
    if (mine)
        quiet_gather(text, texts, TEXT, MPI_CHAR, comm);
    if (rank == 0)
        print_distinct(texts ? texts : &text, texts ? size : 1);
    free(texts);
    return COMMAND_INTERNAL;
}

int command_trace(MPI_Comm comm, hsumma_context *ctx, int code)
{
    hsumma_status status = code == COMMAND_OK ? hsumma_trace_write(ctx) : HSUMMA_OK;

    return command_fail(comm, status != HSUMMA_OK, "%s", hsumma_message(ctx)) ? COMMAND_INTERNAL : code;
}

int command_code(hsumma_status status)
{
    if (status == HSUMMA_OK)
        return COMMAND_OK;
    return status == HSUMMA_ERR_INTERNAL || status == HSUMMA_ERR_MPI || status == HSUMMA_ERR_DEVICE ||
                   status == HSUMMA_ERR_PEER
               ? COMMAND_INTERNAL
               : COMMAND_BAD_INPUT;
}

/* --- reading arguments ------------------------------------------------------------------------------------------ */
