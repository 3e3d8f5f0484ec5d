/* The output of dump, compared with the exact text. */
#include "coll/schedule/dump.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

static void expect(const char *name, char *text, const char *want)
{
    if (!tap_ok(text && strcmp(text, want) == 0, "%s", name))
        tap_diag("printed:\n%s", text ? text : "(nothing)");
    free(text);
}

/* The text of a rank's list, or of the rounds of all ranks; NULL on failure. */
static char *dump(const struct hs_alg *alg, const struct hs_shape *shape, int rounds)
{
    char *text = NULL;
    size_t size;
    struct hs_list list = {0};
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    hsumma_status status = rounds ? hs_dump_rounds(file, alg, shape, &hs_heap) : hs_build(alg, shape, &hs_heap, &list);
    if (!rounds && !status)
        hs_dump_list(file, &list);
    hs_list_free(&hs_heap, &list);
    fclose(file);
    if (!status)
        return text;
    free(text);
    return NULL;
}

static char *list_of(enum hs_collective collective, const char *name, struct hs_shape shape)
{
    return dump(hs_alg_find(collective, name), &shape, 0);
}

static char *rounds_of(enum hs_collective collective, const char *name, struct hs_shape shape)
{
    return dump(hs_alg_find(collective, name), &shape, 1);
}

/* Rank 1 waits for rank 0's signal, copies from its SHARED, combines the memory of both peers, and sends to rank 2. */
static void build_shared(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank == 0) {
        int copy = hs_emit_copy(builder, hs_shared(8), hs_out(0), 16, -1);
        hs_emit_signal(builder, 3, copy);
    } else if (shape->rank == 1) {
        int wait = hs_emit_wait(builder, 0, 2), join = hs_emit_join(builder);
        hs_after(builder, join, wait);
        int copy = hs_emit_copy(builder, hs_out(0), hs_of(0, hs_shared(8)), 16, join);
        int reduce = hs_emit_reduce(builder, hs_scratch(0), hs_of(2, hs_in(0)), hs_of(0, hs_out(8)), 8, copy);
        hs_emit_send(builder, 2, hs_out(0), 16, reduce);
    } else {
        hs_emit_recv(builder, 1, hs_out(0), 16, -1);
    }
}

static void dump_shared(void)
{
    static const struct hs_alg row = {HS_BCAST, "shared", "", HS_TRUE_ROOT, .build = build_shared};
    struct hs_shape shape = {.size = 3, .bytes = 16, .unit = 8};
    expect("a signal", dump(&row, &shape, 0),
           "0 COPY shared[8..24) <- out[0..16)\n"
           "1 SIGNAL 3 after 0\n");
    shape.rank = 1;
    expect("a peer's memory", dump(&row, &shape, 0),
           "0 WAIT for 0 >= 2\n"
           "1 JOIN after 0\n"
           "2 COPY out[0..16) <- 0:shared[8..24) after 1\n"
           "3 REDUCE scratch[0..8) <- 2:in[0..8) op 0:out[8..16) after 2\n"
           "4 SEND to 2 <- out[0..16) after 3\n");
    expect("a signal is no message", dump(&row, &shape, 1), "1: 1>2 (16 each)\n");
}

int main(void)
{
    expect("the list of an inner rank of a chain",
           list_of(HS_BCAST, "chain", (struct hs_shape){.rank = 1, .size = 3, .bytes = 40, .unit = 8, .segment = 16}),
           "0 RECV from 0 -> out[0..16)\n"
           "1 SEND to 2 <- out[0..16) after 0\n"
           "2 RECV from 0 -> out[16..32)\n"
           "3 SEND to 2 <- out[16..32) after 2,1\n"
           "4 RECV from 0 -> out[32..40) after 0\n"
           "5 SEND to 2 <- out[32..40) after 4,3\n");
    expect("the list of the root of a reduction",
           list_of(HS_REDUCE_TO, "binomial", (struct hs_shape){.rank = 2, .size = 3, .root = 2, .bytes = 8, .unit = 8}),
           "0 RECV from 0 -> scratch[0..8)\n"
           "1 REDUCE out[0..8) <- scratch[0..8) op in[0..8) after 0\n");
    expect("a lone rank copies",
           list_of(HS_ALLREDUCE, "recursive_doubling", (struct hs_shape){.size = 1, .bytes = 8, .unit = 8}),
           "0 COPY out[0..8) <- in[0..8)\n");
    expect("the rounds of a binomial tree with root 1",
           rounds_of(HS_BCAST, "binomial", (struct hs_shape){.size = 5, .root = 1, .bytes = 8, .unit = 8}),
           "1: 1>0 (8 each)\n"
           "2: 1>3 (8 each)\n"
           "3: 1>2 3>4 (8 each)\n");
    expect("the rounds of van de Geijn's broadcast",
           rounds_of(HS_BCAST, "van_de_geijn", (struct hs_shape){.size = 3, .bytes = 40, .unit = 8}),
           "1: 0>2 (8 each)\n"
           "2: 0>1 (16 each)\n"
           "3: 0>1 1>2 (16 each)\n"
           "4: 0>1(8) 1>2(16)\n");
    dump_shared();
    expect("no message, no round", rounds_of(HS_BCAST, "flat", (struct hs_shape){.size = 1, .bytes = 8, .unit = 8}),
           "");
    return tap_done();
}
