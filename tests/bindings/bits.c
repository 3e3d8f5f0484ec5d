/*
 * Prints hashes of the bits of products, redistributions and sums, by process. bits.f90.in and bits.cpp print the same
 * lines through the Fortran module and hsumma.hpp.
 */
#include <hsumma_coll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 37, N = 29, K = 41, PAD = 3, VECTOR = 1000 };

static hsumma_context *ctx;
static hsumma_grid *grid;
static int ranks, rank;

static void check(hsumma_status status)
{
    if (status) {
        fprintf(stderr, "rank %d: %s\n", rank, hsumma_message(ctx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The real part of a matrix element; sums of products of such fractions are rarely exact. */
static double real_part(int64_t row, int64_t col, int seed)
{
    return (double)(1 + (3 * row + 5 * col + seed) % 17) / (double)(1 + (7 * row + col) % 13);
}

static double imaginary_part(int64_t row, int64_t col, int seed)
{
    return (double)((2 * row + col + seed) % 11) / 7;
}

static void put(void *at, int type, int64_t row, int64_t col, int seed)
{
    double real = real_part(row, col, seed), imaginary = imaginary_part(row, col, seed);
    switch (type) {
    case HSUMMA_S:
        *(float *)at = (float)real;
        break;
    case HSUMMA_D:
        *(double *)at = real;
        break;
    case HSUMMA_C:
        ((float *)at)[0] = (float)real;
        ((float *)at)[1] = (float)imaginary;
        break;
    default:
        ((double *)at)[0] = real;
        ((double *)at)[1] = imaginary;
    }
}

static size_t bytes_of(int type)
{
    static const size_t bytes[] = {4, 8, 8, 16};
    return bytes[type];
}

static hsumma_desc describe(int64_t m, int64_t n, int64_t mb, int64_t nb)
{
    hsumma_desc desc;
    hsumma_desc_init(&desc, grid, m, n, mb, nb);
    desc.ld += PAD;
    return desc;
}

static char *fill(const hsumma_desc *desc, int type, int seed)
{
    int64_t rows = hsumma_local_rows(desc), cols = hsumma_local_cols(desc);
    size_t size = bytes_of(type);
    char *data = calloc((size_t)(desc->ld * (cols + 1)), size);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            put(data + (size_t)(i + j * desc->ld) * size, type, hsumma_global_row(desc, i), hsumma_global_col(desc, j),
                seed);
    return data;
}

static uint64_t mix(uint64_t hash, const char *data, size_t bytes, int is_single)
{
    for (size_t at = 0; at < bytes; at += is_single ? 4 : 8) {
        uint32_t half;
        uint64_t word;
        memcpy(&half, data + at, 4);
        if (!is_single)
            memcpy(&word, data + at, 8);
        hash = (hash << 7 | hash >> 57) ^ (is_single ? half : word);
    }
    return hash;
}

static uint64_t hash_of(const hsumma_desc *desc, int type, const char *data)
{
    uint64_t hash = 1;
    int64_t rows = hsumma_local_rows(desc), cols = hsumma_local_cols(desc);
    size_t size = bytes_of(type);
    for (int64_t j = 0; j < cols; j++)
        hash = mix(hash, data + (size_t)(j * desc->ld) * size, (size_t)rows * size, type % 2 == 0);
    return hash;
}

static void print(int type, const char *what, uint64_t hash)
{
    uint64_t *all = malloc((size_t)ranks * sizeof *all);
    MPI_Gather(&hash, 8, MPI_BYTE, all, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int r = 0; r < ranks && rank == 0; r++)
        printf("%c %s %d %016llX\n", "sdcz"[type], what, r, (unsigned long long)all[r]);
    free(all);
}

static void multiply(int type, const char *trans)
{
    hsumma_desc a = trans[0] == 'N' ? describe(M + 2, K + 1, 5, 7) : describe(K + 2, M + 1, 7, 5);
    hsumma_desc b = trans[1] == 'N' ? describe(K, N, 7, 4) : describe(N, K, 4, 7);
    hsumma_desc c = describe(M, N, 5, 4), other;
    char *pa = fill(&a, type, 1), *pb = fill(&b, type, 2), *pc = fill(&c, type, 3);
    union {
        float s;
        double d[2];
    } alpha, beta;
    char name[32];
    hsumma_plan *plan;
    a.i = 2;
    a.j = 1;
    put(&alpha, type, 1, 2, 4);
    put(&beta, type, 2, 1, 5);
    if (type == HSUMMA_S)
        check(hsumma_sgemm(ctx, trans[0], trans[1], M, N, K, alpha.s, (float *)pa, &a, (float *)pb, &b, beta.s,
                           (float *)pc, &c));
    else if (type == HSUMMA_D)
        check(hsumma_dgemm(ctx, trans[0], trans[1], M, N, K, alpha.d[0], (double *)pa, &a, (double *)pb, &b, beta.d[0],
                           (double *)pc, &c));
    else
        check((type == HSUMMA_C ? hsumma_cgemm : hsumma_zgemm)(ctx, trans[0], trans[1], M, N, K, &alpha, pa, &a, pb, &b,
                                                               &beta, pc, &c));
    snprintf(name, sizeof name, "gemm %s", trans);
    print(type, name, hash_of(&c, type, pc));
    check(hsumma_plan_create(ctx, (hsumma_type)type, trans[0], trans[1], M, N, K, &a, &b, &c,
                             "stationary=A node=messages", &plan));
    check(hsumma_plan_execute(plan, &alpha, pa, pb, &beta, pc));
    hsumma_plan_free(&plan);
    snprintf(name, sizeof name, "plan %s", trans);
    print(type, name, hash_of(&c, type, pc));
    other = describe(M, N, 3, 7);
    char *moved = calloc((size_t)(other.ld * (hsumma_local_cols(&other) + 1)), bytes_of(type));
    check(hsumma_redistribute(ctx, (hsumma_type)type, M, N, pc, &c, moved, &other));
    snprintf(name, sizeof name, "redistribute %s", trans);
    print(type, name, hash_of(&other, type, moved));
    free(pa), free(pb), free(pc), free(moved);
}

static void sum(int type)
{
    size_t size = bytes_of(type);
    char *x = malloc(VECTOR * size), *y = malloc(VECTOR * size);
    for (int i = 0; i < VECTOR; i++)
        put(x + (size_t)i * size, type, rank, i, 6);
    check(hsumma_allreduce(ctx, x, y, VECTOR, (hsumma_element)type, HSUMMA_SUM));
    print(type, "allreduce", mix(1, y, VECTOR * size, type % 2 == 0));
    check(hsumma_reduce(ctx, x, y, VECTOR, (hsumma_element)type, HSUMMA_SUM, ranks - 1));
    print(type, "reduce", mix(1, y, VECTOR * size, type % 2 == 0));
    check(hsumma_bcast(ctx, x, (int64_t)(VECTOR * size), ranks / 2));
    print(type, "bcast", mix(1, x, VECTOR * size, type % 2 == 0));
    free(x), free(y);
}

int main(int argc, char **argv)
{
    static const char *const trans[] = {"NN", "TN", "NC", "CT"};
    char text[256] = "";
    int nprow, npcol;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (hsumma_create(MPI_COMM_WORLD, "lookahead=1", &ctx, text, sizeof text)) {
        fprintf(stderr, "rank %d: %s\n", rank, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    hsumma_grid_shape(ranks, &nprow, &npcol);
    check(hsumma_grid_create(ctx, nprow, npcol, 'C', NULL, &grid));
    for (int type = 0; type < 4; type++) {
        for (int t = 0; t < 4; t++)
            multiply(type, trans[t]);
        sum(type);
    }
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
    MPI_Finalize();
}
