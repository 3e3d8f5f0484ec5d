/*
 * Layouts: each operand with its own blocks, first blocks, sources, replicas and offsets, aligned with the others or
 * not. In random cases on grids of random shapes, the product is compared with a direct triple loop, and the plan's
 * information on its operands with the owners of every index. Further tests: bytes sent, which are compared with a
 * count of misplaced elements; workspace; bits.
 *
 *     layouts [CASES [FIRST]]     a failing case is reported by its number: layouts 1 NUMBER runs it alone
 */
#include "support/product/gemm_random.h"

#include <malloc.h>

/* Checks the movement of an operand in the info of a plan inside one node; returns NULL, or the error. */
static const char *wrong_sharing(const hsumma_movement *o, int x, int stationary, int even)
{
    int kept = strcmp(o->how, "stays") == 0, local = strcmp(o->how, "local") == 0;
    int moved = strcmp(o->how, x == 2 ? "summed" : "shared") == 0;
    if (!(x == stationary && !even ? kept : moved || (local && x < 2)))
        return "operand.how cannot be true where memory is shared";
    return o->exchange_bytes > 0 || o->exchange_seconds > 0 ? "an exchange where memory is shared" : NULL;
}

/* The share of its time for which each level of a plan counts against it (hs_is_better). */
static const double LEVEL = 0.01;

/* The number of levels of the best plan with stationary operand x, by its line; that of the chosen plan if it is not
 * listed. */
static int levels_of(const hsumma_plan_info *info, int x)
{
    for (int i = 0; i < info->nrivals; i++) {
        const char *line = info->rival[i].line, *level = strstr(line, " levels=");
        int levels = 1 + (level != NULL);
        if (line[strlen("stationary=")] != "ABC"[x] ||
            fabs(info->rival[i].seconds - info->predicted_stationary[x]) > 1e-9 * info->rival[i].seconds)
            continue;
        for (const char *at = level ? level + 1 : ""; *at && *at != ' '; at++)
            levels += *at == ',';
        return levels;
    }
    return info->nlevels;
}

/* Checks a plan's info: the stationary operand (forced: named by the options), the predicted times, and how each
 * operand moves. Returns NULL, or a description of the error. */
static const char *wrong_words(const struct gemm_case *c, const hsumma_plan_info *info, int forced)
{
    enum { EXCHANGED = 1, NOT_C = 2, ONLY_C = 4, SHARES = 8, WORDS = 11 };
    static const struct {
        const char *how;
        int means;
    } words[WORDS] = {{"stays", 0},
                      {"broadcast", NOT_C},
                      {"reduced", ONLY_C},
                      {"local", 0},
                      {"exchanged", EXCHANGED},
                      {"exchanged and broadcast", EXCHANGED | NOT_C},
                      {"reduced and exchanged", EXCHANGED | ONLY_C},
                      {"shared", SHARES | NOT_C},
                      {"summed", SHARES | ONLY_C},
                      {"exchanged and shared", EXCHANGED | SHARES | NOT_C},
                      {"summed and exchanged", EXCHANGED | SHARES | ONLY_C}};
    int stationary = info->stationary - 'A', many = gemm_extent_of(c, 0) * gemm_extent_of(c, 1) > 1;
    double mine = info->predicted_stationary[stationary];
    if (info->workspace_bytes > info->workspace_bytes_max)
        return "workspace_bytes above workspace_bytes_max";
    if (!gemm_can_stay(c, stationary))
        return "this operand cannot stay";
    for (int x = 0; x < 3; x++) {
        double other = info->predicted_stationary[x];
        if ((other < 0) != ((forced && x != stationary) || !gemm_can_stay(c, x)))
            return "predicted_stationary: -1 where it is possible, or not where it is not";
        double counted = other * (1 + LEVEL * levels_of(info, x)) / (1 + LEVEL * info->nlevels);
        if (other >= 0 && mine > counted * (1 + 1e-8))
            return "another stationary operand is predicted to be faster";
    }
    if (!(fabs(mine - info->predicted_seconds) <= 1e-9 * mine))
        return "predicted_stationary is not predicted_seconds";
    for (int x = 0; x < 3; x++) {
        const hsumma_movement *o = &info->operand[x];
        int word = 0, exchanged = 0, even = strcmp(info->node, "even") == 0;
        int shares = even || strcmp(info->node, "shared") == 0;
        if (shares && strcmp(info->level[0].bcast, "none") == 0) {
            if (wrong_sharing(o, x, stationary, even))
                return wrong_sharing(o, x, stationary, even);
            continue;
        }
        while (word < WORDS && o->how && strcmp(o->how, words[word].how) != 0)
            word++;
        if (word == WORDS || !o->how)
            return "operand.how is no word of the interface";
        int means = words[word].means;
        if ((word == 0) != (x == stationary) || (means & NOT_C && x == 2) || (means & ONLY_C && x != 2) ||
            (means & SHARES && !shares))
            return "operand.how cannot be true";
        exchanged = means & EXCHANGED;
        if (!exchanged && (o->exchange_bytes > 0 || o->exchange_seconds > 0))
            return "an exchange that is not said";
        if (!many && o->exchange_bytes > 0)
            return "an exchange on one process";
        struct gemm_misplaced misplaced = gemm_count_misplaced(c, x, stationary);
        if (x == stationary || !misplaced.known)
            continue;
        if ((exchanged != 0) != misplaced.differs)
            return exchanged ? "an exchange of what is in place" : "no exchange of what is not in place";
        if (word == 4 && misplaced.line > 1) /* sent to the whole line: more than `most` */
            misplaced.most = misplaced.most > 0 ? misplaced.most : (int64_t)o->exchange_bytes;
        if ((misplaced.most > 0) != (o->exchange_bytes > 0))
            return "exchange_bytes are 0 and something is misplaced, or the other way round";
        if ((int64_t)o->exchange_bytes < misplaced.most)
            return "exchange_bytes are less than what a process sends and receives";
    }
    return NULL;
}

/* Bytes of panel buffers on this process; the limit does not cover other memory of a plan. */
static int64_t buffers(const hsumma_plan *plan)
{
    return !plan           ? 0
           : plan->by_node ? hs_plan_bytes(plan)
                           : (int64_t)(plan->loop.buffer_bytes + plan->loop.shared_part);
}

/* Makes and queries the plan of a case, executes it twice, and tries one call; returns NULL, or this rank's error. */
static const char *failure(hsumma_context *ctx, const struct gemm_case *c, int stationary)
{
    hsumma_plan *plan = NULL;
    int possible = gemm_is_possible(c, stationary), steps = draw(2) ? 1 << draw(12) : GEMM_AT_ONCE;
    const char *what = gemm_wrong_verdict(ctx, c, stationary, gemm_plan_create(ctx, c, &plan));
    if (plan && !what) {
        hsumma_plan_info info = plan_query(plan);
        what = buffers(plan) > (int64_t)info.workspace_limit_bytes ? "panel buffers above the limit"
               : possible                                          ? wrong_words(c, &info, stationary != GEMM_AUTO)
                                                                   : NULL;
    }
    for (int i = 0; plan && i < 2; i++) {
        const char *fault = gemm_execution_fault(plan, c, i ? GEMM_AT_ONCE : steps);
        what = what ? what : fault;
    }
    hsumma_plan_free(&plan);
    int in_one_call = !possible || stationary != GEMM_AUTO || gemm_multiplies(ctx, c, 0);
    return what || in_one_call ? what : "C is wrong, or A or B has changed, in one call";
}

/* Runs cases: four on each grid, several grids in each context. */
static void test_cases(int64_t from, int count)
{
    enum { GRIDS = 6 };
    int cases[4] = {0}, failed[4] = {0}, shared = 0;
    hsumma_context *ctx = NULL;
    hsumma_grid *grid = NULL;
    for (int64_t number = from; number < from + count; number++) {
        char options[256];
        int stationary = (int)(number % 4);
        if (number % 4 == 0 || !grid) {
            hsumma_grid_free(&grid);
            if (number % (4 * GRIDS) == 0)
                hsumma_free(&ctx);
            draw_seed((uint64_t)number / 4 + 1);
            if ((!ctx && hsumma_create(MPI_COMM_WORLD, NULL, &ctx, NULL, 0)) || !(grid = gemm_draw_grid(ctx))) {
                tap_ok(0, "a context and a grid");
                return;
            }
        }
        draw_seed((uint64_t)number + 1);
        struct gemm_case c = gemm_draw_case(grid, stationary, options, sizeof options);
        const char *what = failure(ctx, &c, stationary);
        cases[stationary]++;
        int first = (int)world_reduce(what ? rank : size, MPI_MIN);
        if (first < size) {
            if (++failed[stationary] <= 5)
                gemm_report(first, &c, number, what);
        }
        shared += grid->shared.memory && !strstr(options, "groups") && !strstr(options, "levels");
    }
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
    tap_diag("%d cases in shared memory", shared);
    for (int s = 0; s < 4; s++)
        tap_ok(failed[s] == 0, "stationary %s: %d layouts, %d wrong",
               s == GEMM_AUTO ? "auto" : (char[2]){gemm_stays[s], 0}, cases[s], failed[s]);
}

/* Bytes that all processes together have sent, or -1 on error. */
static int64_t bytes_sent(hsumma_context *ctx, const struct gemm_case *c)
{
    hsumma_plan *plan = NULL;
    int good = !gemm_plan_create(ctx, c, &plan) && gemm_executes(plan, c);
    int64_t sum = world_reduce(plan_query(plan).bytes_sent, MPI_SUM);
    hsumma_plan_free(&plan);
    return everywhere(good) ? sum : -1;
}

/* A plan sends the bytes that it would send with aligned layouts, plus exactly the misplaced elements. If it reports an
 * operand as "exchanged" but no element is misplaced, it sends nothing more. */
static void test_bytes(hsumma_context *ctx, int count)
{
    int wrong_sums = 0, none = 0, cases = 0;
    for (int number = 0; number < count; number++) {
        char options[128], drawn[256];
        int64_t misplaced;
        draw_seed((uint64_t)number + 1000003);
        hsumma_grid *grid = gemm_draw_grid(ctx);
        struct gemm_case c, same;
        /* free_of_charge: layouts differ, but thanks to replicas nothing is misplaced */
        int stationary, differs, free_of_charge = number % 4 == 0, tries = 40;
        do {
            c = gemm_draw_case(grid, GEMM_AUTO, drawn, sizeof drawn); /* its options are ignored */
            stationary = gemm_can_stay(&c, number % 3) ? number % 3 : 2;
            same = gemm_aligned(&c, stationary, &misplaced, &differs);
        } while (c.m * c.n * c.k == 0 || ((!differs || (misplaced == 0) != free_of_charge) && --tries > 0));
        snprintf(options, sizeof options,
                 "stationary=%c groups=1x1 block=%d lookahead=%d exchange=root bcast=flat reduce=binomial",
                 "ABC"[stationary], 1 + draw(9), draw(3));
        c.alpha = same.alpha = 2;
        c.options = same.options = options;
        int64_t all = bytes_sent(ctx, &c), least = bytes_sent(ctx, &same);
        cases++;
        none += misplaced == 0;
        if (all < 0 || least < 0 || all != least + misplaced) {
            wrong_sums++;
            gemm_report(0, &c, number, all < 0 || least < 0 ? "it fails" : "bytes sent");
            tap_diag("%" PRId64 " bytes in all, %" PRId64 " of them misplaced; aligned %" PRId64, all, misplaced,
                     least);
        }
        hsumma_grid_free(&grid);
    }
    tap_ok(wrong_sums == 0,
           "bytes sent: those of aligned layouts and what is misplaced: %d layouts, %d wrong, %d in place", cases,
           wrong_sums, none);
}

/* Plans and executes with a limit on workspace. Returns the bytes of the panel buffers, -1 on error; *refused: the
 * bytes that the error message says are needed, or 0. */
static int64_t within(hsumma_context *ctx, struct gemm_case *c, int stationary, int64_t limit, int64_t *refused)
{
    char options[128];
    hsumma_plan *plan = NULL;
    snprintf(options, sizeof options, "stationary=%c node=messages workspace_limit=%" PRId64, "ABC"[stationary], limit);
    c->options = options;
    hsumma_status status = gemm_plan_create(ctx, c, &plan);
    const char *need = status == HSUMMA_ERR_WORKSPACE ? strstr(hsumma_message(ctx), "need ") : NULL;
    *refused = need ? atoll(need + 5) : 0;
    int good = !status && gemm_executes(plan, c);
    int64_t bytes = world_reduce(good ? buffers(plan) : 0, MPI_MAX);
    hsumma_plan_free(&plan);
    c->options = NULL;
    return everywhere(good) ? bytes : -1;
}

/* Lowers the limit until panels have one index: every plan must keep to its limit, and the narrowest panels must need
 * only a small fraction of the matrices' memory. Returns NULL, or the error. */
static const char *descend(hsumma_context *ctx, struct gemm_case *c, int stationary, int64_t *least)
{
    int64_t limit = 1 << 20, share = 0, refused, bytes;
    for (int x = 0; x < 3; x++)
        share += hsumma_local_rows(&c->desc[x]) * hsumma_local_cols(&c->desc[x]) * (int64_t)gemm_element_size(c->type);
    share = world_reduce(share, MPI_MAX);
    *least = 0;
    for (;;) {
        bytes = within(ctx, c, stationary, limit, &refused);
        if (bytes < 0 || bytes > limit || bytes == 0)
            break;
        *least = bytes;
        limit = (bytes < limit ? bytes : limit) / 4 * 3;
    }
    if (bytes > limit)
        return "buffers above the limit";
    if (bytes < 0 && refused <= limit)
        return "no refusal that tells what is needed, or a wrong result";
    if (bytes < 0) { /* the last step may have skipped a smaller limit that suffices */
        int64_t enough = within(ctx, c, stationary, refused, &bytes);
        if (enough < 0)
            return "what the refusal asks for is not enough";
        *least = *least && *least < enough ? *least : enough;
    }
    return *least * 100 > share * 15 ? "the narrowest panels need more than 15 % of the matrices" : NULL;
}

static void test_workspace(hsumma_context *ctx, const hsumma_grid *grid)
{
    for (int stationary = 0; stationary < 3; stationary++) {
        int64_t bad = 0, least = 0;
        for (int ops = 0; ops < 9; ops++) {
            struct gemm_case c =
                gemm_case_of(grid, (hsumma_type)(ops % 4), "NTC"[ops % 3], "NTC"[ops / 3], 96, 100, 104, 8);
            gemm_unalign(&c, ops + stationary);
            const char *what = descend(ctx, &c, stationary, &least);
            bad += what != NULL;
            if (what)
                gemm_report(0, &c, ops, what);
        }
        tap_ok(bad == 0, "workspace with stationary %c, every limit down to %" PRId64 " bytes: %" PRId64 " wrong",
               "ABC"[stationary], least, bad);
    }
}

/* An allocator that counts the bytes in use, and their maximum. */
struct counted {
    int64_t out, most;
};

static void *counted_get(void *of, size_t bytes)
{
    struct counted *counted = of;
    void *memory = hs_heap.get(hs_heap.state, bytes);
    counted->out += (int64_t)malloc_usable_size(memory);
    counted->most = counted->out > counted->most ? counted->out : counted->most;
    return memory;
}

static void counted_put(void *of, void *memory)
{
    ((struct counted *)of)->out -= (int64_t)malloc_usable_size(memory);
    hs_heap.put(hs_heap.state, memory);
}

/* The most memory, lists included, that a plan and its execution use beyond the limit; INT32_MAX on error. */
static int64_t memory_beyond_limit(hsumma_context *ctx, const hsumma_grid *grid, int ops, int stationary)
{
    enum { N = 600 };
    struct counted counted = {0, 0};
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, "NT"[ops % 2], "NT"[ops / 2], N, N, N, 4);
    struct gemm_part local[3];
    hsumma_plan *plan = NULL;
    char options[96];
    int64_t share = 0;
    gemm_unalign(&c, ops);
    for (int x = 0; x < 3; x++)
        share += hsumma_local_rows(&c.desc[x]) * hsumma_local_cols(&c.desc[x]) * 8;
    share = world_reduce(share, MPI_MAX);
    snprintf(options, sizeof options, "stationary=%c node=messages workspace_limit=%" PRId64, "ABC"[stationary],
             share / 100 * 15);
    c.options = options;
    gemm_make(&c, local);
    ctx->memory = (struct hs_allocator){counted_get, counted_put, &counted};
    int good = !gemm_plan_create(ctx, &c, &plan) && !gemm_begin(plan, &c, local, 1);
    hsumma_plan_free(&plan);
    ctx->memory = hs_heap;
    gemm_drop(local);
    return good && counted.out == 0 ? counted.most - share / 100 * 15 : INT32_MAX;
}

static void test_memory(void)
{
    enum { LISTS = 128 << 10 };
    hsumma_context *ctx; /* a new context, because panel buffers belong to the context */
    hsumma_grid *grid;
    int64_t most = INT32_MIN;
    if (gemm_open(NULL, 0, 0, &ctx, &grid))
        for (int i = 0; i < 12; i++) {
            int64_t beyond = world_reduce(memory_beyond_limit(ctx, grid, i / 3, i % 3), MPI_MAX);
            most = beyond > most ? beyond : most;
        }
    tap_ok(most > INT32_MIN && most < LISTS,
           "all memory of 12 exchanged plans: %" PRId64 " bytes beyond workspace_limit at most", most);
    gemm_close(&ctx, &grid);
}

/* Whether the replicas of each part of C have equal bits; hash: of this process's part. Collective. */
static int replicas_agree(const struct gemm_case *c, int64_t hash)
{
    int at[2], agree = 1;
    hsumma_grid_info(c->desc[2].grid, NULL, NULL, &at[0], &at[1]);
    for (int row = 0; row < gemm_extent_of(c, 0); row++)
        for (int col = 0; col < gemm_extent_of(c, 1); col++) {
            /* Whether this process has a replica of the part at (row, col): all rows have one, all columns, or both. */
            int mine = at[0] >= 0 && (c->desc[2].rsrc < 0 || at[0] == row) && (c->desc[2].csrc < 0 || at[1] == col);
            agree &= world_reduce(mine ? hash : INT64_MAX, MPI_MIN) == world_reduce(mine ? hash : -1, MPI_MAX);
        }
    return agree;
}

/* Whether groups cut through nodes, so that sums along lines have another order than with cells. */
static int cuts(hsumma_context *ctx, const struct gemm_case *c)
{
    hsumma_plan *plan = NULL;
    int is_cut = !gemm_plan_create(ctx, c, &plan) && plan->choice.cut;
    hsumma_plan_free(&plan);
    return is_cut;
}

/* With fixed block, turn, stationary operand and lookahead every hierarchy of whole nodes has the bits of SUMMA, with
 * or without exchanges. */
static void test_bits(hsumma_context *ctx, int count)
{
    int hierarchies = 0, differ = 0, apart = 0, copies = 0;
    for (int number = 0; number < count; number++) {
        char words[128], options[400];
        draw_seed((uint64_t)number + 2000003);
        hsumma_grid *grid = gemm_draw_grid(ctx);
        struct gemm_case c = gemm_draw_case(grid, GEMM_AUTO, options, sizeof options); /* its options are ignored */
        int stationary = gemm_can_stay(&c, number % 3) ? number % 3 : 2, block = 1 + draw(9), ahead = draw(4);
        int wide = 1 + draw(3); /* width of the outer panels, in inner panels */
        c.fractions = 1;
        c.alpha = 1.3;
        c.k += 20;
        gemm_draw_layouts(&c);
        if (!gemm_can_stay(&c, stationary))
            stationary = 2;
        snprintf(words, sizeof words, "stationary=%c block=%d turn=%d lookahead=%d threads=1 workspace_limit=16M",
                 "ABC"[stationary], block, block * wide, ahead);
        snprintf(options, sizeof options, "%s groups=1x1 exchange=root", words);
        c.options = options;
        int64_t summa = gemm_bits(ctx, &c, 1, NULL);
        copies += gemm_replicated(&c, 2);
        if (gemm_replicated(&c, 2) && !replicas_agree(&c, summa)) {
            apart++;
            gemm_report(0, &c, number, "replicas of C have different bits");
        }
        for (int i = 1; i <= gemm_extent_of(&c, 0); i++)
            for (int j = 1; j <= gemm_extent_of(&c, 1); j++) {
                if (gemm_extent_of(&c, 0) % i || gemm_extent_of(&c, 1) % j)
                    continue;
                snprintf(options, sizeof options, "%s levels=%dx%d outer=%d bcast=%s segment=%d exchange=%s", words, i,
                         j, hierarchies % 3 ? block * wide : block, hierarchies % 2 ? "chain" : "binomial",
                         64 << hierarchies % 3, hierarchies % 2 ? "root" : "all");
                hierarchies++;
                int64_t bits = gemm_bits(ctx, &c, 1, NULL);
                int is_cut = cuts(ctx, &c);
                if (everywhere(summa >= 0 && (bits == summa || (bits >= 0 && is_cut))))
                    continue;
                differ++;
                gemm_report(0, &c, number, "other bits than SUMMA");
            }
        hsumma_grid_free(&grid);
    }
    tap_ok(differ == 0, "the bits of SUMMA: %d products, %d hierarchies, %d differ", count, hierarchies, differ);
    tap_ok(apart == 0, "replicas of C have the same bits: %d products with replicas, %d differ", copies, apart);
}

static int64_t count_of_cases, first_case;

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    test_cases(first_case, (int)count_of_cases);
    if (count_of_cases == 1)
        return;
    test_bytes(ctx, (int)count_of_cases / 4);
    test_workspace(ctx, grid);
    test_bits(ctx, (int)count_of_cases / 8);
    test_memory();
}

int main(int argc, char **argv)
{
    count_of_cases = argc > 1 ? atoll(argv[1]) : 400;
    first_case = argc > 2 ? atoll(argv[2]) : 0;
    return gemm_main(argc, argv, test_all);
}
