/*
 * Plain MPI, without hsumma: calls that MPI refuses on the rank that makes them. tests/programs/pmpi.py runs this
 * program as it is and with libhsumma_pmpi.so preloaded, and compares the outputs. Prints a line per call: on every
 * rank the class of the error, and how often the error handler ran.
 *
 *   wrong_calls [WARM]       WARM: correct calls made first on each communicator, by default 0
 *   wrong_calls WARM unlike  the ranks' counts differ, which MPI need not notice; prints rank 0's error as text
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    MPI_Comm comm;
    int rank, size;
};

static int handled;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* A new communicator with an error handler of its own. */
static struct place make_place(int warm, MPI_Errhandler handler)
{
    struct place at;
    int one = 1, sum;

    MPI_Comm_dup(MPI_COMM_WORLD, &at.comm);
    MPI_Comm_rank(at.comm, &at.rank);
    MPI_Comm_size(at.comm, &at.size);
    MPI_Comm_set_errhandler(at.comm, handler);
    for (int i = 0; i < warm; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, at.comm);
        if (sum != at.size)
            printf("wrong: a sum of %d on %d ranks\n", sum, at.size);
    }
    handled = 0;
    return at;
}

/* --- the calls ---------------------------------------------------------------------------------------------------- */

static int x[4] = {1, 2, 3, 4}, y[4];

static int alias(const struct place *at)
{
    return MPI_Allreduce(x, x, 2, MPI_INT, MPI_SUM, at->comm);
}

/* If MPI refuses the root's call, the root makes the right one, for which the other ranks wait. */
static int alias_on_root(const struct place *at)
{
    int code = MPI_Reduce(x, at->rank ? NULL : x, 1, MPI_INT, MPI_SUM, 0, at->comm);

    if (code)
        MPI_Reduce(x, y, 1, MPI_INT, MPI_SUM, 0, at->comm);
    return code;
}

static int alias_on_one(const struct place *at)
{
    return at->rank ? MPI_SUCCESS : MPI_Allreduce(x, x, 2, MPI_INT, MPI_SUM, at->comm);
}

static int in_place_out(const struct place *at)
{
    return MPI_Allreduce(x, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, at->comm);
}

static int in_place_out_on_root(const struct place *at)
{
    return at->rank ? MPI_SUCCESS : MPI_Reduce(x, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, 0, at->comm);
}

static int in_place_both(const struct place *at)
{
    return MPI_Allreduce(MPI_IN_PLACE, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, at->comm);
}

static int uncommitted(const struct place *at)
{
    MPI_Datatype type;
    int code;

    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    code = MPI_Bcast(x, 1, type, 0, at->comm);
    MPI_Type_free(&type);
    return code;
}

static int uncommitted_on_one(const struct place *at)
{
    return at->rank ? MPI_SUCCESS : uncommitted(at);
}

static int invalid_type(const struct place *at)
{
#ifdef OPEN_MPI /* Open MPI dereferences any handle */
    return MPI_Bcast(x, 1, MPI_DATATYPE_NULL, 0, at->comm);
#else
    return MPI_Bcast(x, 1, (MPI_Datatype)MPI_COMM_WORLD, 0, at->comm);
#endif
}

static int invalid_type_in_sum(const struct place *at)
{
#ifdef OPEN_MPI
    return MPI_Allreduce(x, y, 1, MPI_DATATYPE_NULL, MPI_SUM, at->comm);
#else
    return MPI_Allreduce(x, y, 1, (MPI_Datatype)MPI_COMM_WORLD, MPI_SUM, at->comm);
#endif
}

static int invalid_root(const struct place *at)
{
    return at->rank ? MPI_SUCCESS : MPI_Bcast(x, 1, MPI_INT, at->size, at->comm);
}

static int negative_count(const struct place *at)
{
    return MPI_Bcast(x, -1, MPI_INT, 0, at->comm);
}

static int null_type(const struct place *at)
{
    return MPI_Bcast(x, 1, MPI_DATATYPE_NULL, 0, at->comm);
}

static int null_operator(const struct place *at)
{
    return MPI_Allreduce(x, y, 1, MPI_INT, MPI_OP_NULL, at->comm);
}

static int maximum_of_complex(const struct place *at)
{
    return MPI_Allreduce(x, y, 1, MPI_C_FLOAT_COMPLEX, MPI_MAX, at->comm);
}

static const struct {
    const char *name;
    int (*make)(const struct place *at);
} calls[] = {
    {"MPI_Allreduce, in = out", alias},
    {"MPI_Reduce, in = out on the root", alias_on_root},
    {"MPI_Allreduce, in = out on one rank", alias_on_one},
    {"MPI_Allreduce, out = MPI_IN_PLACE", in_place_out},
    {"MPI_Allreduce, in = out = MPI_IN_PLACE", in_place_both},
    {"MPI_Reduce, out = MPI_IN_PLACE on the root", in_place_out_on_root},
    {"MPI_Bcast, type not committed", uncommitted},
    {"MPI_Bcast, type not committed on one rank", uncommitted_on_one},
    {"MPI_Bcast, no such type", invalid_type},
    {"MPI_Allreduce, no such type", invalid_type_in_sum},
    {"MPI_Bcast, no such root on one rank", invalid_root},
    {"MPI_Bcast, count -1", negative_count},
    {"MPI_Bcast, MPI_DATATYPE_NULL", null_type},
    {"MPI_Allreduce, MPI_OP_NULL", null_operator},
    {"MPI_Allreduce, maximum of complex numbers", maximum_of_complex},
};

/* --- the report --------------------------------------------------------------------------------------------------- */

static void print_result(const struct place *at, const char *name, int code)
{
    int mine[2], text_length;
    char text[MPI_MAX_ERROR_STRING];

    MPI_Error_class(code, &mine[0]);
    mine[1] = handled;
    if (at->rank) {
        MPI_Send(mine, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
        return;
    }
    printf("%s:", name);
    for (int r = 0; r < at->size; r++) {
        if (r)
            MPI_Recv(mine, 2, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Error_string(mine[0], text, &text_length);
        printf(" %.*s (%d)", (int)strcspn(text, ":,"), text, mine[1]);
    }
    printf("\n");
    fflush(stdout);
}

static void test_unlike(const struct place *at)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int code = MPI_Bcast(x, 1 + at->rank, MPI_INT, 0, at->comm), length, class;

    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (at->rank == 0)
        printf("class %s, handled %d: %s\n", class == MPI_ERR_ARG ? "MPI_ERR_ARG" : "other", handled, text);
}

int main(int argc, char **argv)
{
    const int warm = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Errhandler handler;
    struct place at;

    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler); /* Open MPI reports some errors here */
    for (int i = 0; i < (int)(sizeof calls / sizeof *calls) && argc < 3; i++) {
        at = make_place(warm, handler);
        print_result(&at, calls[i].name, calls[i].make(&at));
        MPI_Comm_free(&at.comm);
    }
    if (argc > 2) {
        at = make_place(warm, handler);
        test_unlike(&at);
        MPI_Comm_free(&at.comm);
    }
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
