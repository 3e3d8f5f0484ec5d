/*
 * Shared buffers of the two designs of Faraji and Afsahi, GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014): bytes
 * on each rank, segments, copies of each rank. For every row: the bytes depend on the vector, not on the limit.
 */
#include "coll/schedule/lists.h"
#include "support/coll/sweep.h"
#include "support/tap.h"

enum { MOST = 16 };

struct use {
    int64_t bytes[MOST];                         /* of each rank's SHARED that any list accesses */
    int copies[MOST], sums[MOST], signals[MOST]; /* steps of each rank; sums: chains of REDUCEs */
};

static void access(struct use *use, int rank, struct hs_ref ref, int64_t count)
{
    int of = ref.of ? ref.of - 1 : rank;
    if (ref.slot == HS_SHARED && use->bytes[of] < ref.at + count)
        use->bytes[of] = ref.at + count;
}

static int survey(const struct hs_alg *alg, const struct hs_shape *shape, struct use *use)
{
    *use = (struct use){.bytes = {0}};
    for (int rank = 0; rank < shape->size; rank++) {
        struct hs_list list;
        if (hs_build_rank(alg, shape, rank, &hs_heap, &list))
            return 0;
        for (int i = 0; i < list.steps; i++) {
            const struct hs_step *step = &list.step[i];
            int copy = step->kind == HS_COPY, sum = step->kind == HS_REDUCE;
            use->copies[rank] += copy;
            use->sums[rank] += sum && !hs_step_continues(&list, i);
            use->signals[rank] += step->kind == HS_SIGNAL;
            if (copy || sum || step->kind == HS_RECV)
                access(use, rank, step->dst, step->count);
            if (copy || sum || step->kind == HS_SEND)
                access(use, rank, step->left, step->count);
            if (sum)
                access(use, rank, step->right, step->count);
        }
        hs_list_free(&hs_heap, &list);
    }
    return 1;
}

static int use_of(const char *name, int ranks, int64_t bytes, int64_t limit, int pieces, struct use *use)
{
    const struct hs_alg *alg = hs_alg_find(HS_ALLREDUCE, name);
    struct hs_topology topology = topology_blocks(ranks, 1, 1, limit, 0);
    struct hs_shape shape = {.size = ranks, .bytes = bytes, .unit = 4, .topology = &topology, .with.pieces = pieces};
    int right = survey(alg, &shape, use);
    hs_topology_free(&topology, &hs_heap);
    return right;
}

/* Section 3.1: q places in the memory of rank 0, a copy in and a copy out. The paper: 256 MB, for 16 MB on 16 ranks. */
static void test_owner(void)
{
    const int64_t vector = 16 << 20, limit = 256 << 20;
    struct use use;
    for (int q = 2; q <= MOST; q++) {
        int right = use_of("shared_buffer", q, vector, limit, 0, &use) && use.bytes[0] == q * vector &&
                    use.copies[0] == 1 && use.sums[0] == 1;
        for (int r = 1; r < q; r++)
            right &= use.bytes[r] == 0 && use.copies[r] == 2 && use.sums[r] == 0 && use.signals[r] == 1;
        tap_ok(right, "shared_buffer, %d ranks: %d MB on rank 0 and none elsewhere, 2 copies per rank", q, 16 * q);
    }
    int right = use_of("shared_buffer", MOST, 2 * vector, limit, 0, &use) && use.bytes[0] <= limit;
    for (int r = 1; r < MOST; r++) /* two slots of half the limit: segments of 8 MB */
        right &= use.bytes[r] == 0 && use.copies[r] == 2 * 4;
    tap_ok(right, "twice the vector: %d copies per rank, within the limit", use.copies[1]);
}

/* The levels on which rank r of q has a child in a binomial tree. */
static int children_of(int r, int q)
{
    int children = 0;
    for (int stride = 1; stride < q && r % (2 * stride) == 0; stride *= 2)
        children += r + stride < q;
    return children;
}

/* Section 3.2: a place for each child, so none on odd ranks; one more on rank 0 for the sum. */
static void test_binomial(void)
{
    const int64_t vector = 16 << 20, limit = 256 << 20;
    struct use use;
    for (int q = 2; q <= MOST; q++) {
        int right = use_of("binomial", q, vector, limit, 1, &use), owners = 0;
        for (int r = 0; r < q; r++) {
            int levels = children_of(r, q);
            owners += use.bytes[r] > 0;
            right &= levels > 0 ? use.bytes[r] <= (4 + 1) * vector && use.bytes[r] >= (levels + !r) * vector
                                : use.bytes[r] == 0;
            right &= use.sums[r] == levels && use.copies[r] == (r == 0 ? 1 : 2);
        }
        tap_ok(right && owners == q / 2, "binomial, %d ranks: %d ranks have a buffer", q, owners);
    }
}

/* Above a limit that suffices, the bytes of no row depend on the limit. */
static void test_limit(void)
{
    const int64_t sizes[] = {4, 1000, 40000, 4 << 20};
    int rows = 0;
    for (int i = 0; hs_alg_at(i); i++) {
        const struct hs_alg *alg = hs_alg_at(i);
        int wrong = 0, cases = 0;
        if (alg->flags & (HS_BY_MPI | HS_ON_HOST) || !(alg->flags & (HS_USES_SHARED | HS_USES_OUTER | HS_USES_INNER)))
            continue;
        for (int q = 2; q <= MOST; q++)
            for (int kind = 0; kind < 8 * 2; kind++) {
                struct hs_topology topology = topology_blocks(q, 1 + (kind & 1), 1 + (kind >> 1 & 1), 0, kind >> 2 & 1);
                struct hs_shape shape = {.size = q,
                                         .bytes = sizes[(q + kind / 8) % 4],
                                         .unit = 4,
                                         .topology = &topology,
                                         .with.level = kind >> 3 ? HS_SOCKET : HS_NODE};
                struct use use[2];
                topology.shared_bytes = (int64_t)1 << 30;
                const char *why = hs_alg_unfit(alg, &shape);
                int right = why || survey(alg, &shape, &use[0]);
                topology.shared_bytes = (int64_t)1 << 36;
                right &= why || survey(alg, &shape, &use[1]);
                for (int r = 0; r < q && !why; r++)
                    right &= use[0].bytes[r] == use[1].bytes[r];
                wrong += !right;
                cases += !why;
                hs_topology_free(&topology, &hs_heap);
            }
        rows++;
        tap_ok(!wrong && cases, "%s %s: %d cases, %d wrong", hs_collective_name(alg->collective), alg->name, cases,
               wrong);
    }
    tap_ok(rows > 10, "%d rows use shared memory", rows);
}

int main(void)
{
    test_owner();
    test_binomial();
    test_limit();
    return tap_done();
}
