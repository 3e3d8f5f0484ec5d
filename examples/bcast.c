/* Write your own broadcast: mpicc bcast.c -lhsumma && mpiexec -n 4 ./a.out */
#include <hsumma_coll.h>

#include <stdio.h>
#include <string.h>

/* begin */
/* Half of the vector goes around the ring in each direction, so each process receives one half from either side. */
static void both_ways(hsumma_builder *builder, const hsumma_shape *shape, void *state)
{
    int rank = shape->rank, size = shape->size; /* HSUMMA_TRUE_ROOT is not set, so rank 0 is the root */
    int64_t half = shape->bytes / shape->unit / 2 * shape->unit;
    const struct {
        hsumma_place place;
        int64_t bytes;
        int from, to; /* neighbours */
        int last;     /* the last process on the ring, which does not forward this half */
    } part[2] = {{{HSUMMA_OUT, 0}, half, rank - 1, rank + 1, size - 1},
                 {{HSUMMA_OUT, half}, shape->bytes - half, rank + 1, rank - 1, 1}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        int received = -1;
        if (rank > 0)
            received = hsumma_step_recv(builder, part[i].from % size, part[i].place, part[i].bytes);
        if (rank != part[i].last && size > 1) {
            int sent = hsumma_step_send(builder, (part[i].to + size) % size, part[i].place, part[i].bytes);
            hsumma_step_after(builder, sent, received); /* forward only what has arrived */
        }
    }
}

static const hsumma_algorithm algorithm = {
    HSUMMA_BCAST, "both_ways", "halves around the ring in both directions", 0, NULL, both_ways, NULL, NULL};
/* end */

int main(int argc, char **argv)
{
    char text[240], line[240] = "";
    hsumma_context *ctx;
    int rank;
    if (hsumma_coll_prove(&algorithm, 13, 3, 1000, 8, text, sizeof text)) { /* prove it before its first run */
        fprintf(stderr, "both_ways is wrong: %s\n", text);
        return 1;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (hsumma_create(MPI_COMM_WORLD, "coll=bcast:both_ways", &ctx, text, sizeof text)) {
        fprintf(stderr, "rank %d: %s\n", rank, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0)
        strcpy(line, "a vector that has come both ways");
    if (hsumma_coll_register(ctx, &algorithm) || hsumma_bcast(ctx, line, sizeof line, 0))
        fprintf(stderr, "rank %d: %s\n", rank, hsumma_message(ctx));
    printf("rank %d: %s\n", rank, line);
    hsumma_free(&ctx);
    MPI_Finalize();
}
