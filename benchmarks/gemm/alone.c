/* hsumma gemm --compare device: the whole product on one process's device. */
#include "gemm/alone.h"

#include <math.h>
#include <string.h>

#include "common/command.h"
#include "measure/timing.h"

/* Extracts "device=..." from the options; the others, such as a hierarchy, are of no use to one process. */
static void device_word(const char *options, char *word, size_t size)
{
    static const char name[] = "device=";
    const char *at = options;

    word[0] = 0;
    for (const char *next; (next = strstr(at, name)); at = next + 1)
        if (next == options || next[-1] == ' ')
            snprintf(word, size, "%.*s", (int)strcspn(next, " "), next);
}

/* Makes the problem and its plan. Called on rank 0 only. */
static int create(gemm_alone *alone, const char *options)
{
    hsumma_plan_info info;
    char word[64], text[400];
    int code;

    device_word(options, word, sizeof word);
    if ((code = problem_create(&alone->host, &alone->args, word, MPI_COMM_SELF)))
        return code;
    if ((code = problem_share(&alone->placed, &alone->host, SHARE_ALL, 0)))
        return code;
    code = problem_plan(&alone->host, NULL, &alone->plan, &info, text, sizeof text);
    command_fail(MPI_COMM_SELF, code, "--compare device: %s", text);
    return code;
}

int gemm_alone_create(gemm_alone *alone, const problem *p, const char *options)
{
    arguments plain = ARGUMENTS_DEFAULT(5);
    int code = COMMAND_OK;

    memset(alone, 0, sizeof *alone);
    alone->host.mach.node = MPI_COMM_NULL;
    alone->args = *p->args;
    memcpy(alone->args.layout, plain.layout, sizeof plain.layout);
    alone->args.nprow = alone->args.npcol = 1;
    alone->args.nb = 0;
    if (p->rank == 0)
        code = create(alone, options);
    quiet_bcast(&code, 1, MPI_INT, 0, p->comm);
    return code;
}

int gemm_alone_turn(gemm_alone *alone, const problem *p, int calls, turn *t)
{
    gemm_contender who = {API_PLAN, alone->plan, NULL, alone->placed.c.local};
    int code = COMMAND_OK;

    sleeping_barrier(p->comm);
    if (p->rank == 0)
        code = execute_turn(&alone->placed, &who, calls, t);
    sleeping_barrier(p->comm);
    quiet_bcast(&code, 1, MPI_INT, 0, p->comm);
    quiet_bcast(t, (int)sizeof *t, MPI_BYTE, 0, p->comm);
    return code;
}

int gemm_alone_check(gemm_alone *alone, const problem *p, int strict, check_outcome *out)
{
    hsumma_status status = HSUMMA_OK;
    int code = COMMAND_OK;
    void *c = NULL;

    *out = (check_outcome){.passed = 1, .residual = NAN, .row = -1, .col = -1};
    if (!strict)
        return COMMAND_OK;
    if (p->rank == 0)
        status = problem_fetch(&alone->placed, alone->placed.c.local, &c);
    if (command_fail(p->comm, status != HSUMMA_OK, "--compare device: %s", hsumma_message(alone->host.ctx)))
        return COMMAND_INTERNAL;
    if (p->rank == 0)
        code = check_product(&alone->placed, c, strict, out);
    quiet_bcast(&code, 1, MPI_INT, 0, p->comm);
    quiet_bcast(out, (int)sizeof *out, MPI_BYTE, 0, p->comm);
    return code;
}

void gemm_alone_free(gemm_alone *alone)
{
    hsumma_plan_free(&alone->plan);
    problem_unshare(&alone->placed);
    if (alone->args.reps) /* it was created */
        problem_free(&alone->host);
}
