/*
 * A plain MPI program without hsumma: many collective calls with known results. tests/programs/pmpi.py runs it by
 * itself and with libhsumma_pmpi.so preloaded. Every rank prints its errors, rank 0 then "ok N calls, 0 wrong"
 * or "failed: N calls, M wrong".
 */
#include "support/random.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5000 };

/* A communicator, with the numbers of its calls and of wrong results. */
struct place {
    MPI_Comm comm;
    int rank, size, calls, wrong;
};

static struct place place_of(MPI_Comm comm)
{
    struct place at = {.comm = comm};
    MPI_Comm_rank(comm, &at.rank);
    MPI_Comm_size(comm, &at.size);
    return at;
}

static void count_in(struct place *at, const struct place *other)
{
    at->calls += other->calls;
    at->wrong += other->wrong;
}

static void check(struct place *at, int good, const char *what, int count)
{
    at->calls++;
    if (good)
        return;
    printf("wrong: %s of %d on rank %d of %d\n", what, count, at->rank, at->size);
    at->wrong++;
}

/* Reductions. */

static int sum_is(const double *x, int count, int size, int scale)
{
    for (int i = 0; i < count; i++)
        if (x[i] != scale * (size * (size - 1) / 2.0 + (double)size * (i % 7)))
            return 0;
    return 1;
}

static void fill(double *x, int count, int rank)
{
    for (int i = 0; i < count; i++)
        x[i] = rank + i % 7;
}

static void test_sums(struct place *at, int count)
{
    static double in[MOST], out[MOST];
    const int rank = at->rank, size = at->size;
    fill(in, count, rank);
    memset(out, 0, sizeof out);
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, at->comm);
    check(at, sum_is(out, count, size, 1), "MPI_Allreduce", count);
    fill(out, count, rank);
    MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_DOUBLE, MPI_SUM, at->comm);
    check(at, sum_is(out, count, size, 1), "MPI_Allreduce in place", count);
    for (int root = 0; root<size; root += size> 1 ? size - 1 : 1) {
        memset(out, 0, sizeof out);
        MPI_Reduce(in, rank == root ? out : NULL, count, MPI_DOUBLE, MPI_SUM, root, at->comm);
        check(at, rank != root || sum_is(out, count, size, 1), "MPI_Reduce", count);
        if (root && count > 64) /* MPICH 4.0.2 itself crashes here in place */
            continue;
        fill(out, count, rank);
        MPI_Reduce(rank == root ? MPI_IN_PLACE : out, rank == root ? out : NULL, count, MPI_DOUBLE, MPI_SUM, root,
                   at->comm);
        check(at, rank != root || sum_is(out, count, size, 1), "MPI_Reduce in place", count);
    }
}

/* While a process waits in a collective, MPI must deliver messages that the process has sent before. */
static void test_own_messages(struct place *at)
{
    enum { MESSAGES = 20, BYTES = 200000 };
    static char data[BYTES];
    MPI_Request request[MESSAGES];
    double one = 1, sum = 0;
    const int rank = at->rank, size = at->size;
    for (int i = 0; i < MESSAGES && size > 1; i++) {
        if (rank == 0)
            MPI_Isend(data, BYTES, MPI_CHAR, 1, 5, at->comm, &request[i]);
        else if (rank == 1)
            MPI_Recv(data, BYTES, MPI_CHAR, 0, 5, at->comm, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, at->comm);
    if (rank == 0 && size > 1)
        MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
    check(at, sum == size, "a collective beside messages under way", 1);
}

/* Broadcasts without data, described by count 0 or by an empty type; and an error that only one process gets. */
static void test_nothing(struct place *at)
{
    MPI_Datatype empty;
    MPI_Comm own;
    const int rank = at->rank, size = at->size;
    int code = MPI_SUCCESS, value = 7;
#ifdef OMPI_MAJOR_VERSION /* with 1, Open MPI 4.1.4 itself leaves the root's message to the next communicator */
    const int one = 0;
#else
    const int one = 1;
#endif

    MPI_Comm_dup(at->comm, &own); /* the first call on this communicator is the one under test */
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Bcast(&value, rank == 0 ? one : 0, rank == 0 ? empty : MPI_INT, 0, own);
    check(at, value == 7, "MPI_Bcast of nothing", 0);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    if (rank == 0)
        code = MPI_Bcast(&value, 1, MPI_INT, size + 3, own);
    check(at, rank > 0 || code != MPI_SUCCESS, "a wrong root on one process", 1);
    MPI_Bcast(&value, 1, MPI_INT, size - 1, own);
    MPI_Type_free(&empty);
    MPI_Comm_free(&own);
}

/* An operator that composes maps x -> m x + n modulo a prime; it is associative, but not commutative. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const int64_t *a = in;
    int64_t *b = inout;
    (void)type;
    for (int i = 0; i < 2 * *length; i += 2) {
        b[i + 1] = (a[i] * b[i + 1] + a[i + 1]) % 1009;
        b[i] = a[i] * b[i] % 1009;
    }
}

static void largest(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

/* Tests user-defined operators; the preloaded library leaves those on derived types to MPI. */
static void test_own_operators(struct place *at)
{
    int64_t mine[2], all[2], expected[2] = {1, 0};
    const int rank = at->rank, size = at->size;
    int value, result, one = 1;
    MPI_Datatype map;
    MPI_Op op, max;
    MPI_Type_contiguous(2, MPI_INT64_T, &map);
    MPI_Type_commit(&map);
    MPI_Op_create(compose, 0, &op);
    MPI_Op_create(largest, 1, &max);
    for (int r = size - 1; r >= 0; r--) {
        mine[0] = r + 2;
        mine[1] = 3 * r + 1;
        compose(mine, expected, &one, NULL);
    }
    mine[0] = rank + 2;
    mine[1] = 3 * rank + 1;
    MPI_Allreduce(mine, all, 1, map, op, at->comm);
    check(at, all[0] == expected[0] && all[1] == expected[1], "an operator on a derived type", 1);
    value = 10 * rank;
    MPI_Allreduce(&value, &result, 1, MPI_INT, max, at->comm);
    check(at, result == 10 * (size - 1), "an operator of its own", 1);
    MPI_Reduce(&value, &result, 1, MPI_INT, max, size - 1, at->comm);
    check(at, rank != size - 1 || result == 10 * (size - 1), "MPI_Reduce with an operator of its own", 1);
    MPI_Op_free(&op);
    MPI_Op_free(&max);
    MPI_Type_free(&map);
}

/* An operator that returns the left operand unless that is 0; it is associative, but not commutative. */
static void first_of(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        if (((int64_t *)in)[i])
            ((int64_t *)inout)[i] = ((int64_t *)in)[i];
}

static void test_order(struct place *at, int count)
{
    static int64_t in[MOST], out[MOST];
    const int rank = at->rank, size = at->size;
    int good = 1;
    MPI_Op op;
    for (int i = 0; i < count; i++)
        in[i] = i % size <= rank ? 100 * i + rank + 1 : 0;
    MPI_Op_create(first_of, 0, &op);
    MPI_Allreduce(in, out, count, MPI_INT64_T, op, at->comm);
    for (int i = 0; i < count; i++)
        good &= out[i] == 100 * i + i % size + 1;
    check(at, good, "MPI_Allreduce that keeps the order", count);
    MPI_Op_free(&op);
}

static void test_other_operators(struct place *at)
{
    struct {
        double value;
        int place;
    } mine, all;
    const int rank = at->rank, size = at->size;
    int yes, result;
    unsigned u, sum;
    float in[3], out[3];
    double complex_in[4] = {1, 2, 3, 4}, complex_out[4];
    short s, least;
    yes = rank != size - 1;
    MPI_Allreduce(&yes, &result, 1, MPI_INT, MPI_LAND, at->comm);
    check(at, result == 0, "MPI_LAND", 1);
    mine.value = -rank;
    mine.place = rank;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE_INT, MPI_MINLOC, at->comm);
    check(at, all.place == size - 1, "MPI_MINLOC", 1);
    u = 4000000000U;
    MPI_Allreduce(&u, &sum, 1, MPI_UNSIGNED, MPI_SUM, at->comm);
    check(at, sum == (unsigned)size * u, "MPI_UNSIGNED", 1);
    for (int i = 0; i < 3; i++)
        in[i] = (float)(rank * (i - 1));
    MPI_Allreduce(in, out, 3, MPI_FLOAT, MPI_MAX, at->comm);
    check(at, out[0] == 0 && out[2] == (float)(size - 1), "MPI_MAX of float", 3);
    MPI_Allreduce(in, out, 3, MPI_FLOAT, MPI_MIN, at->comm);
    check(at, out[0] == (float)(1 - size) && out[2] == 0, "MPI_MIN of float", 3);
    MPI_Allreduce(complex_in, complex_out, 2, MPI_C_DOUBLE_COMPLEX, MPI_SUM, at->comm);
    check(at, complex_out[3] == 4.0 * size, "complex", 2);
    MPI_Allreduce(complex_in, complex_out, 2, MPI_C_DOUBLE_COMPLEX, MPI_PROD, at->comm);
    s = (short)(5 - rank);
    MPI_Allreduce(&s, &least, 1, MPI_SHORT, MPI_MIN, at->comm);
    check(at, least == 6 - size, "MPI_SHORT", 1);
}

/* Broadcasts. */

static void test_bcast(struct place *at, int count)
{
    static int x[2 * MOST];
    const int rank = at->rank, size = at->size;
    int good = 1;
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < count; i++)
            x[i] = rank == root ? i + root : -1;
        MPI_Bcast(x, count, MPI_INT, root, at->comm);
        for (int i = 0; i < count; i++)
            good &= x[i] == i + root;
    }
    check(at, good, "MPI_Bcast", count);
}

/* Broadcasts integers that each rank describes by another type: with gaps, as contiguous bytes, or backwards. */
static void test_bcast_types(struct place *at, int count)
{
    static int x[2 * MOST];
    const int rank = at->rank, size = at->size;
    int good = 1, stride = 1, used;
    int length[MOST], place[MOST];
    MPI_Datatype type;
    for (int i = 0; i < count; i++) {
        length[i] = 1;
        place[i] = count - 1 - i;
    }
    if (rank % 3 == 0)
        MPI_Type_vector(count, 1, stride = 2, MPI_INT, &type);
    else if (rank % 3 == 1)
        MPI_Type_contiguous(count, MPI_INT, &type);
    else
        MPI_Type_indexed(count, length, place, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < 2 * count; i++)
            x[i] = -1;
        for (int i = 0; i < count; i++) {
            used = rank % 3 == 2 ? count - 1 - i : stride * i;
            x[used] = rank == root ? 3 * i + root : -1;
        }
        MPI_Bcast(x, 1, type, root, at->comm);
        for (int i = 0; i < count; i++) {
            used = rank % 3 == 2 ? count - 1 - i : stride * i;
            good &= x[used] == 3 * i + root;
        }
        if (stride == 2)
            for (int i = 0; i < count; i++)
                good &= x[2 * i + 1] == -1;
    }
    check(at, good, "MPI_Bcast of unlike types", count);
    MPI_Type_free(&type);
}

static void test_bottom(struct place *at)
{
    const int rank = at->rank;
    int a, b, length[2] = {1, 1};
    MPI_Aint place[2];
    MPI_Datatype type, parts[2] = {MPI_INT, MPI_INT};
    a = rank ? 0 : 17;
    b = rank ? 0 : 23;
    MPI_Get_address(&a, &place[0]);
    MPI_Get_address(&b, &place[1]);
    MPI_Type_create_struct(2, length, place, parts, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(MPI_BOTTOM, 1, type, 0, at->comm);
    check(at, a == 17 && b == 23, "MPI_Bcast from MPI_BOTTOM", 1);
    MPI_Type_free(&type);
}

/* Makes many small consecutive calls with changing kinds, roots and communicators. */
static void test_sequence(struct place *places, int number, int length)
{
    static const char *const names[] = {"sequence: MPI_Bcast", "sequence: MPI_Reduce", "sequence: MPI_Allreduce"};
    uint64_t sequence = 12345;
    double in[16], out[16];
    for (int i = 0; i < length; i++) {
        struct place *at = &places[draw_of(&sequence, number)];
        const int rank = at->rank, size = at->size;
        int kind = draw_of(&sequence, 3), count = 1 + draw_of(&sequence, 16), good = 1;
        int root = draw_of(&sequence, 1024) % size;
        for (int k = 0; k < count; k++) {
            in[k] = i + rank + k;
            out[k] = kind == 0 && rank == root ? i + k : -1;
        }
        if (kind == 0)
            MPI_Bcast(out, count, MPI_DOUBLE, root, at->comm);
        else if (kind == 1)
            MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, at->comm);
        else
            MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, at->comm);
        for (int k = 0; k < count; k++)
            good &= (kind == 1 && rank != root) ||
                    out[k] == (kind == 0 ? i + k : size * (double)(i + k) + size * (size - 1) / 2);
        check(at, good, names[kind], count);
    }
}

/* Communicators. */

static void test_all(struct place *at)
{
    static const int counts[] = {0, 1, 2, 7, 64, 1000, MOST};
    for (int i = 0; i < (int)(sizeof counts / sizeof *counts); i++) {
        test_sums(at, counts[i]);
        test_bcast(at, counts[i]);
        test_order(at, counts[i]);
        if (counts[i])
            test_bcast_types(at, counts[i]);
    }
    test_own_operators(at);
    test_own_messages(at);
    test_nothing(at);
    test_other_operators(at);
    test_bottom(at);
}

static void test_communicators(struct place *world)
{
    const int rank = world->rank, size = world->size;
    int value, sum;
    MPI_Comm comm, half, inter;
    for (int i = 0; i < 20; i++) { /* communicators that are freed after use */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        struct place copy = place_of(comm);
        test_sums(&copy, 5);
        count_in(world, &copy);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm);
    struct place places[3] = {place_of(MPI_COMM_WORLD), place_of(half), place_of(comm)};
    test_all(&places[1]);
    test_sums(&places[0], 3);
    if (size > 1) {
        /* the leader of each side has the side's highest rank */
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, size - 1 - (size + rank) % 2, 0, &inter);
        value = rank % 2 + 1;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter); /* the sum over the other side's processes */
        check(&places[1], sum == (2 - rank % 2) * ((size + rank % 2) / 2), "an intercommunicator", 1);
        MPI_Comm_free(&inter);
    }
    test_sequence(places, 3, 3000);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(half, &comm); /* a communicator that is never freed */
    struct place kept = place_of(comm);
    test_sums(&kept, 11);
    MPI_Comm_free(&half);
    test_sums(&kept, 11);
    count_in(world, &kept);
    for (int i = 0; i < 3; i++)
        count_in(world, &places[i]);
}

int main(int argc, char **argv)
{
    int provided, level = argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &provided);
    struct place world = place_of(MPI_COMM_WORLD), self = place_of(MPI_COMM_SELF);
    test_all(&world);
    test_all(&self);
    count_in(&world, &self);
    test_communicators(&world);
    int mine[2] = {world.calls, world.wrong}, all[2];
    MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world.rank == 0)
        printf("%s %d calls, %d wrong\n", all[1] ? "failed:" : "ok", all[0], all[1]);
    MPI_Finalize();
    return world.wrong != 0;
}
