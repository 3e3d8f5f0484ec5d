/*
 * guard=product: no false alarm for random products, also with badly scaled data; bits flipped in local products, in
 * panels as a local product reads them, and in the caller's A and B while a product runs are found if they change a
 * checksum by more than the documented bound, and C then has the bits of an undisturbed execution.
 * With guard=messages, every message with a flipped bit is found, and every flip in what a process has put into shared
 * memory for others.  With guard=panels, all but the last in long products, section by section.
 *
 *     guard [TRIALS [SEED [PLANS [shared]]]] [OPTION=WORD ...]
 *
 * makes TRIALS of each kind of fault, and ten executions without a fault of each of PLANS plans (default: TRIALS). With
 * "shared", only faults in shared memory.
 *
 * The program's own cblas_?gemm and MPI_Isend plant the faults; they call the BLAS's and MPI's.  So do functions around
 * those of the library that take CRCs of data in shared memory (support/product/damaged_memory.h).
 */
#include "support/cblas_hook.h"
#include "support/product/damaged_memory.h"
#include "support/product/gemm_random.h"
#include "support/product/guard_bound.h"

#include <hsumma_coll.h>

static int trials = 60, plans = 60, only_shared;
enum { MANY = 40 };     /* at least one of this many flips is found */
static int in_sections; /* 1: products with guard=panels */

enum kind {
    NOTHING,
    RESULT,
    LEFT,
    RIGHT,
    TILE,
    OWN_A,
    OWN_B,
    IN_FLIGHT,
    MESSAGE,
    SHARED,
    EVERY_RESULT,
    TWO_IN_A,
    EVERY_MESSAGE
};
static const char *const kind_name[] = {[RESULT] = "a local product's result",
                                        [LEFT] = "a panel of A that is read",
                                        [RIGHT] = "a panel of B that is read",
                                        [TILE] = "a panel's buffer, where others may read it",
                                        [OWN_A] = "the caller's A",
                                        [OWN_B] = "the caller's B",
                                        [IN_FLIGHT] = "a message without a CRC",
                                        [MESSAGE] = "a message",
                                        [SHARED] = "shared memory, after its CRC was taken"};

/* The fault to be planted in local product number `at` of this process, and what has happened. */
static struct {
    const hsumma_plan *plan;
    enum kind kind;
    int at, calls, planted; /* calls: of the product, not of its checksums */
    uint64_t bits;
    const struct gemm_case *c;
    struct gemm_part *local;
    int sent;          /* messages of the product */
    int shared;        /* CRCs of data in shared memory */
    void *packed[256]; /* messages with a flipped bit */
    int flipped;
} plant;

static void plant_nothing(void)
{
    for (int i = 0; i < plant.flipped; i++)
        free(plant.packed[i]);
    memset(&plant, 0, sizeof plant);
}

static void flip(void *matrix, int64_t rows, int64_t cols, int64_t ld, size_t unit, uint64_t bits)
{
    damaged_memory_flip(matrix, rows, cols, ld, unit, bits);
    plant.planted = 1;
}

/* Flips a bit in an element of the operand that this process owns; `number` chooses the element. */
static void flip_own(int x, uint64_t number)
{
    struct gemm_part *local = &plant.local[x];
    int64_t count = local->data ? local->rows * local->cols : 0, i, j;
    for (int64_t t = 0; t < count; t++) {
        int64_t element = (int64_t)((number + (uint64_t)t) % (uint64_t)count);
        if (!gemm_inside(plant.c, x, local, element % local->rows, element / local->rows, &i, &j))
            continue;
        size_t unit = gemm_element_size(plant.c->type);
        int64_t at = element % local->rows + element / local->rows * plant.c->desc[x].ld;
        flip((char *)local->data + (size_t)at * unit, 1, 1, 1, unit, plant.bits);
        return;
    }
}

/* A copy of an operand of a local product with one bit flipped. */
static void *flipped(const void *matrix, int64_t rows, int64_t cols, int64_t ld, size_t unit)
{
    size_t bytes = (size_t)(ld * (cols - 1) + rows) * unit;
    void *copy = malloc(bytes);
    memcpy(copy, matrix, bytes);
    flip(copy, rows, cols, ld, unit, plant.bits);
    return copy;
}

/* Flips bits in the caller's A, once. */
static void change_a(void)
{
    if (plant.planted)
        return;
    if (plant.kind == OWN_A)
        flip_own(0, plant.bits >> 32);
    for (uint64_t i = 0; plant.kind == TWO_IN_A && i < 2; i++)
        flip_own(0, i * (uint64_t)(plant.local[0].rows + 1));
}

/* Whether the plan, or a section of it, is in a phase. */
static int is_in_phase(enum hs_plan_phase phase)
{
    const hsumma_plan *running = plant.plan ? hs_plan_under_way(plant.plan) : NULL;
    return running && running->phase == phase;
}

/* Whether a bit of the message that is being sent, one of the product, is to be flipped. */
static int is_to_be_flipped(void)
{
    if (!is_in_phase(HS_PLAN_MULTIPLYING))
        return 0;
    int now = plant.sent++ == plant.at;
    return ((plant.kind == MESSAGE || plant.kind == IN_FLIGHT) && now) ||
           (plant.kind == EVERY_MESSAGE && plant.flipped < (int)(sizeof plant.packed / sizeof *plant.packed));
}

static int send_flipped(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                        MPI_Request *request)
{
    int unit;
    MPI_Type_size(type, &unit);
    const int bytes = count * unit;
    void *packed = plant.packed[plant.flipped++] = malloc((size_t)bytes);
    memcpy(packed, buffer, (size_t)bytes);
    flip(packed, bytes, 1, bytes, 1, plant.bits);
    return PMPI_Isend(packed, count, type, to, tag, comm, request);
}

/* While checksums of A travel, which are the first messages after they have been taken, A may change: later than its
 * checksums and before its panels leave. */
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (is_in_phase(HS_PLAN_SUMMING))
        change_a();
    if (is_to_be_flipped())
        return send_flipped(buffer, count, type, to, tag, comm, request);
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

/* Whether data whose CRC has just been taken, and which other processes do not read yet, is to be damaged. */
static int is_to_be_damaged(uint64_t *bits)
{
    const int now = is_in_phase(HS_PLAN_MULTIPLYING) && plant.shared++ == plant.at && plant.kind == SHARED;
    *bits = plant.bits;
    plant.planted |= now;
    return now;
}

/* Whether the BLAS multiplies checksums. */
static int is_checksum(void)
{
    return is_in_phase(HS_PLAN_SUMMING);
}

/* Whether an address belongs to the caller's A or B. */
static int is_own(const void *address)
{
    for (int x = 0; x < 2; x++) {
        const char *data = plant.local[x].data, *at = address;
        const size_t bytes = (size_t)(plant.c->desc[x].ld * plant.local[x].cols) * gemm_element_size(plant.c->type);
        if (data && at >= data && at < data + bytes)
            return 1;
    }
    return 0;
}

/* Plants what belongs before a local product. */
static void *before_gemm(struct cblas_call *call)
{
    const int64_t rows[2] = {call->plain_a ? call->m : call->k, call->plain_b ? call->k : call->n};
    const int64_t cols[2] = {call->plain_a ? call->k : call->m, call->plain_b ? call->n : call->k};
    void *copy = NULL;
    if (plant.calls != plant.at || is_checksum())
        return NULL;
    if (plant.kind == LEFT)
        call->a = copy = flipped(call->a, rows[0], cols[0], call->lda, call->unit);
    if (plant.kind == RIGHT)
        call->b = copy = flipped(call->b, rows[1], cols[1], call->ldb, call->unit);
    /* in place: a tile in shared memory, or the buffer of a panel to be forwarded */
    if (plant.kind == TILE && !is_own(call->a))
        flip((void *)call->a, rows[0], cols[0], call->lda, call->unit, plant.bits);
    else if (plant.kind == TILE && !is_own(call->b))
        flip((void *)call->b, rows[1], cols[1], call->ldb, call->unit, plant.bits);
    if (plant.kind == OWN_B)
        flip_own(1, plant.bits >> 32);
    change_a();
    return copy;
}

static void after_gemm(const struct cblas_call *call)
{
    if (is_checksum())
        return;
    if ((plant.kind == RESULT && plant.calls == plant.at) || plant.kind == EVERY_RESULT)
        flip(call->c, call->m, call->n, call->ldc, call->unit, plant.bits);
    plant.calls++;
}

/* Executes a plan on fresh matrices with a fault of this kind in local product `at` on rank `victim`. */
static hsumma_status execute(hsumma_plan *plan, const struct gemm_case *c, struct gemm_part local[3], enum kind kind,
                             int victim, int at, uint64_t bits)
{
    gemm_make(c, local);
    plant_nothing();
    plant.plan = plan;
    plant.kind = rank == victim ? kind : NOTHING;
    plant.at = at;
    plant.bits = bits;
    plant.c = c;
    plant.local = local;
    hsumma_status status = gemm_step_through(plan, c, local, bits & 512 ? 1000000 : GEMM_AT_ONCE);
    plant.plan = NULL; /* the plan may be freed before the next message */
    return status;
}

struct counts {
    int64_t planted, changed, found, repaired, missed, wrong;
};

/* One fault in an execution of a plan, after an undisturbed one. */
static void try_fault(hsumma_plan *plan, const struct gemm_case *c, enum kind kind, struct counts *counts)
{
    struct gemm_part reference[3], local[3];
    int victim = draw(size);
    uint64_t bits = draw_bits();
    hsumma_status status = execute(plan, c, reference, NOTHING, 0, 0, 0);
    int64_t calls = kind == SHARED      ? plant.shared
                    : kind >= IN_FLIGHT ? plant.sent
                                        : plant.calls,
            hash = gemm_hash_of_c(c, &reference[2]);
    int at = (int)(draw_bits() >> 8 & 0xffffff);
    const int64_t false_alarms = plan_query(plan).guard_found;
    /* a change in the caller's matrices has an effect only while panels still have to leave */
    at = calls > 0 && (kind < OWN_A || kind >= IN_FLIGHT) ? (int)(at % calls) : 0;
    status = status ? status : execute(plan, c, local, kind, victim, at, bits);
    int planted = (int)world_reduce(plant.planted, MPI_MAX);
    hsumma_plan_info info = plan_query(plan);
    /* processes outside the grid check nothing */
    int found = (int)world_reduce(info.guard_found - false_alarms, MPI_MAX);
    int repaired = (int)world_reduce(info.guard_repaired, MPI_MAX), changed = gemm_hash_of_c(c, &local[2]) != hash;
    int beyond = !found && guard_exceeds(plan, c, &local[2], &reference[2]);
    int wrong = status != HSUMMA_OK || false_alarms || (kind == MESSAGE && planted != found) ||
                (kind == SHARED && changed && !found) ||
                (found && (changed || gemm_changed(c, local) || repaired != found || !planted));
    counts->planted += planted;
    counts->changed += world_reduce(changed, MPI_MAX) || found;
    counts->found += found;
    counts->repaired += repaired;
    counts->missed += world_reduce(beyond, MPI_MAX);
    counts->wrong += world_reduce(wrong, MPI_MAX);
    if (world_reduce(wrong, MPI_MAX) && wrong)
        tap_diag("rank %d: status %d (%s), %s, found %d, repaired %d, C %s, A and B: %d changed", rank, (int)status,
                 hsumma_message(plan->ctx), kind_name[kind], found, repaired, changed ? "differs" : "equal",
                 (int)gemm_changed(c, local));
    gemm_drop(reference);
    gemm_drop(local);
}

static void draw_options(const struct gemm_case *c, enum kind kind, char *text, size_t room)
{
    char words[220] = "";
    const int sends = kind == MESSAGE || kind == IN_FLIGHT, layers = !sends && !in_sections && !draw(5);
    const int even = kind == SHARED && !layers && !draw(3);
    if (even)
        snprintf(words, sizeof words, "node=even");
    else if (!layers && draw(2))
        gemm_draw_hierarchy(c, draw(3), words, sizeof words);
    else if (!layers && draw(2))
        snprintf(words, sizeof words, "stationary=%c", gemm_stays[draw(3)]);
    snprintf(text, room, "guard=%s %s%s%s",
             in_sections      ? "panels"
             : kind < MESSAGE ? "product"
             : draw(2)        ? "messages"
                              : "all",
             words, layers ? " layers=2 workspace_limit=1M" : "", sends ? " node=messages" : "");
}

struct drawn {
    hsumma_grid *grid;
    hsumma_plan *plan; /* NULL on all ranks if there is none */
    struct gemm_case c;
};

static struct drawn draw_plan(hsumma_context *ctx, enum kind kind)
{
    char options[300];
    struct drawn drawn = {.grid = gemm_draw_grid(ctx)};
    drawn.c = gemm_draw_product(drawn.grid, draw(9), 1 + draw(8));
    if (!draw(4)) /* several blocks of rows with checksums of their own, if there is a grid that has few processes */
        drawn.c = gemm_case_of(drawn.grid, drawn.c.type, drawn.c.ta, drawn.c.tb,
                               drawn.c.type % 2 ? 513 + draw(700) : 129 + draw(200), 5 + draw(30), 20 + draw(100),
                               1 + draw(50));
    if (in_sections)
        drawn.c = gemm_case_of(drawn.grid, drawn.c.type, drawn.c.ta, drawn.c.tb, 1 + draw(15), 1 + draw(15),
                               2048 + draw(1500), 1 + draw(300));
    if (draw(2))
        gemm_draw_layouts(&drawn.c);
    draw_options(&drawn.c, kind, options, sizeof options);
    drawn.c.options = options;
    drawn.c.fractions = 1;
    if (!everywhere(drawn.grid && !gemm_plan_create(ctx, &drawn.c, &drawn.plan)))
        hsumma_plan_free(&drawn.plan);
    drawn.c.options = NULL;
    return drawn;
}

static void test_faults(hsumma_context *ctx)
{
    for (enum kind kind = RESULT; kind <= (!in_sections && size > 1 ? SHARED : OWN_B); kind++) {
        struct counts counts = {0};
        if ((only_shared && kind != SHARED) || (kind == TILE && size == 1)) /* it reads its own matrices in place */
            continue;
        const int tried = in_sections ? (trials + 1) / 2 : trials; /* long products take long to compare */
        for (int i = 0; i < tried; i++) {
            struct drawn drawn = draw_plan(ctx, kind);
            if (drawn.plan)
                try_fault(drawn.plan, &drawn.c, kind, &counts);
            hsumma_plan_free(&drawn.plan);
            hsumma_grid_free(&drawn.grid);
        }
        tap_ok(
            counts.missed == 0 && counts.wrong == 0 && counts.repaired == counts.found &&
                (counts.found > 0 || tried < MANY),
            "a bit flipped in %s%s, %d trials: %d flips, %d changed C, %d found, %d of these repaired, %d beyond the "
            "bound missed, %d wrong",
            kind_name[kind], in_sections ? " of a section" : "", tried, (int)counts.planted, (int)counts.changed,
            (int)counts.found, (int)counts.repaired, (int)counts.missed, (int)counts.wrong);
    }
}

/* Scales the elements of an operand by powers of two, and puts in special values. */
static void scale(const struct gemm_case *c, int x, struct gemm_part *local, int range, int special, uint64_t seed)
{
    static const double odd[] = {INFINITY, -INFINITY, NAN, 0, -0.0, 1e-310, 1e-42, 3e38, 1.7e308};
    for (int64_t t = 0; t < local->rows * local->cols; t++) {
        int64_t at = t % local->rows + t / local->rows * c->desc[x].ld, i, j;
        if (!gemm_inside(c, x, local, t % local->rows, t / local->rows, &i, &j))
            continue;
        uint64_t state = seed + hs_scrambled((uint64_t)(i * 1000 + j + 1)); /* replicas of an element are equal */
        double factor = ldexp(1, draw_of(&state, 2 * range + 1) - range);
        double complex v = gemm_load(c->type, local->data, at) * factor;
        gemm_store(c->type, local->data, at, special && !draw_of(&state, 20) ? odd[draw_of(&state, 9)] : v);
    }
}

/* Executes plans on badly scaled matrices; nothing may be reported. */
static void test_false_alarms(hsumma_context *ctx)
{
    enum { EXECUTIONS = 10 };
    int64_t failed = 0, alarms = 0, unchecked = 0, executions = 0;
    for (int i = 0; i < (in_sections ? plans / 10 : plans); i++) {
        struct drawn drawn = draw_plan(ctx, NOTHING);
        struct gemm_case c = drawn.c;
        hsumma_plan *plan = drawn.plan;
        int made = plan != NULL, single = c.type % 2 == 0;
        for (int e = 0; made && e < EXECUTIONS; e++, executions++) {
            struct gemm_part local[3];
            int range = draw(single ? 70 : 520), special = !draw(4);
            plant_nothing();
            c.alpha = draw(6) ? ldexp(1 - 2 * draw(2), draw(61) - 30) : 0;
            c.beta = draw(3) ? ldexp(1 - 2 * draw(2), draw(61) - 30) : 0;
            gemm_make(&c, local);
            for (int x = 0; x < 3; x++)
                scale(&c, x, &local[x], draw(range + 1), special && draw(2), draw_bits());
            failed += gemm_begin(plan, &c, local, 1) != HSUMMA_OK;
            unchecked += plan_query(plan).guard_unchecked > 0;
            gemm_drop(local);
        }
        alarms += made ? plan_query(plan).guard_found : 0;
        hsumma_plan_free(&drawn.plan);
        hsumma_grid_free(&drawn.grid);
    }
    tap_ok(world_worst(failed + alarms) == 0,
           "%d executions%s on badly scaled matrices: %d false alarms, %d with columns that cannot be checked",
           (int)executions, in_sections ? " in sections" : "", (int)alarms, (int)unchecked);
}

/* Faults that a repetition does not cure, and what is refused. */
static void test_errors(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const char *const what[] = {[EVERY_RESULT] = "all products wrong",
                                       [TWO_IN_A] = "two elements of A in different rows and columns",
                                       [EVERY_MESSAGE] = "all messages damaged"};
    for (enum kind kind = EVERY_RESULT; kind <= (size > 1 && !ctx->device ? EVERY_MESSAGE : TWO_IN_A); kind++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 40, 40, 40, 5);
        struct gemm_part local[3];
        hsumma_plan *plan = NULL;
        const uint64_t top_byte = 0x0037000000000006; /* bit 62: the highest bit of the exponent */
        c.options = kind == EVERY_MESSAGE ? "guard=messages node=messages" : "guard=product";
        c.fractions = 1;
        int made = !gemm_plan_create(ctx, &c, &plan);
        hsumma_status status = execute(plan, &c, local, kind, size - 1, 0, top_byte | 512 * (kind == TWO_IN_A));
        hsumma_plan_info info = plan_query(plan);
        /* one rank explains the error, the others name that rank */
        const int sees = kind == TWO_IN_A ? rank == size - 1 : kind == EVERY_MESSAGE ? 0 : rank == 0;
        const char *word = !sees              ? "wrong result"
                           : kind == TWO_IN_A ? "A has changed and cannot be restored"
                                              : "the recomputed C failed the check, too";
        if (kind == EVERY_MESSAGE && strstr(hsumma_message(ctx), "arrived damaged"))
            word = "the recomputed C failed the check, too";
        tap_ok(everywhere(made && status == HSUMMA_ERR_DATA && info.guard_found == 1 && info.guard_repaired == 0 &&
                          strstr(hsumma_message(ctx), word)),
               "%s: HSUMMA_ERR_DATA on all ranks", what[kind]);
        tap_diag("%s", hsumma_message(ctx));
        gemm_drop(local);
        plant_nothing();
        tap_ok(everywhere(!gemm_execution_fault(plan, &c, GEMM_AT_ONCE)), "the plan can be executed again");
        hsumma_plan_free(&plan);
    }
    static const struct refusal {
        const char *options, *word, *other;
    } refused[] = {{"guard=product tune=measure", "tune=measure", "guard"},
                   {"guard=messages bcast=mpi", "bcast=mpi", "guard=product"},
                   {"guard=all reduce=mpi", "reduce=mpi", "guard=product"},
                   {"guard=panels layers=2", "layers", "guard=product"}};
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 8, 8, 8, 4);
    for (int i = 0; i < (int)(sizeof refused / sizeof *refused) - (size == 1); i++) {
        c.options = refused[i].options;
        gemm_refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, c.options, refused[i].word, refused[i].other);
    }
}

/* A rank that takes part in a sum, for which others come after the product, still begins the product's next section. */
static void test_sections(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 60, 50, 3 * 1024 + 100, 7);
    struct gemm_part local[3];
    hsumma_plan *plan = NULL;
    double sum = 0;
    c.options = "guard=panels";
    c.beta = 2;
    gemm_make(&c, local);
    int made = !gemm_plan_create(ctx, &c, &plan) && !gemm_begin(plan, &c, local, 0);
    for (int i = 0; made && i < 2; i++)
        made = rank % 2 == i ? !hsumma_allreduce(ctx, &c.beta, &sum, 1, HSUMMA_DOUBLE, HSUMMA_SUM)
                             : !hsumma_plan_wait(plan);
    int right = made && sum == 2 * size && gemm_wrong(&c, &local[2], 0) == 0;
    hsumma_plan_info info = plan_query(plan);
    tap_ok(everywhere(right && info.guard_checked == 3 && info.guard_found == 0),
           "guard=panels: %d sections checked, one after the other", (int)info.guard_checked);
    made = everywhere(made) && !gemm_begin(plan, &c, local, 0);
    for (int done = 0; made && rank == 0 && plan->sections->at == 0 && !done;)
        made = !hsumma_plan_test(plan, &done);
    if (made && rank == 0 && local[2].data)
        *(double *)local[2].data += 1;
    made = hsumma_plan_wait(plan) == HSUMMA_ERR_DATA && made;
    tap_ok(everywhere(made), "C changed between two sections: HSUMMA_ERR_DATA on all ranks");
    /* the last rank may have no part of the first section */
    void *const a = local[0].data;
    for (int64_t i = 0; i < local[2].rows * local[2].cols; i++)
        gemm_store(c.type, local[2].data, i % local[2].rows + i / local[2].rows * c.desc[2].ld, 1);
    local[0].data = rank == size - 1 ? NULL : a;
    hsumma_status status = gemm_begin(plan, &c, local, 1);
    made = status == HSUMMA_ERR_ARGUMENT && (!local[2].data || !local[2].rows || *(double *)local[2].data == 1);
    local[0].data = a;
    tap_ok(everywhere(made), "A is NULL on a rank: HSUMMA_ERR_ARGUMENT, and C is unchanged");
    hsumma_plan_free(&plan);
    gemm_drop(local);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    test_faults(ctx);
    if (only_shared)
        return;
    in_sections = 1;
    test_sections(ctx, grid);
    test_faults(ctx);
    test_false_alarms(ctx);
    in_sections = 0;
    test_false_alarms(ctx);
    test_errors(ctx, grid);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strchr(argv[1], '='))
        trials = plans = atoi(argv[1]);
    if (argc > 3 && !strchr(argv[3], '='))
        plans = atoi(argv[3]);
    only_shared = argc > 4 && !strcmp(argv[4], "shared");
    damaged_memory_due = is_to_be_damaged;
    draw_seed(argc > 2 && !strchr(argv[2], '=') ? strtoull(argv[2], NULL, 10) : 1);
    return gemm_main(argc, argv, test_all);
}
