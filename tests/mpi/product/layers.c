/*
 * Layers over k, and operands on several grids: random products against a triple loop, reproducible bits, refusals,
 * bytes moved, and memory that fails.
 *
 *     layers [ROUNDS [SEED]] [OPTION=WORD ...]
 */
#include "dist/layers.h"
#include "support/failing_memory.h"
#include "support/product/gemm_random.h"

static int rounds = 40;

/* Makes a grid of the same processes, in a random shape and order. */
static hsumma_grid *same_processes(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q, ranks[64], count;
    hsumma_grid *other = NULL;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    count = P * Q;
    int by = draw(count), rows = 1 + draw(count);
    for (int i = 0; i < count; i++)
        ranks[i] = hsumma_grid_rank(grid, (i + by) % count / Q, (i + by) % count % Q);
    while (count % rows)
        rows--;
    return hsumma_grid_create(ctx, rows, count / rows, "RCA"[draw(3)], ranks, &other) ? NULL : other;
}

/* Changes an operand's descriptor to another grid, with the same blocks. */
static void put_on(hsumma_desc *desc, const hsumma_grid *grid)
{
    int P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    desc->grid = grid;
    desc->rsrc = desc->rsrc < 0 ? -1 : desc->rsrc % P;
    desc->csrc = desc->csrc < 0 ? -1 : desc->csrc % Q;
    desc->ld = hsumma_local_rows(desc) + GEMM_PAD;
}

static void test_random(hsumma_context *ctx)
{
    int failed = 0;
    for (int i = 0; i < rounds; i++) {
        char options[160];
        hsumma_grid *grid[3] = {gemm_draw_grid(ctx), NULL, NULL};
        if (!everywhere(grid[0] != NULL))
            break;
        int P, Q, several = draw(2);
        hsumma_grid_info(grid[0], &P, &Q, NULL, NULL);
        struct gemm_case c = gemm_draw_product(grid[0], draw(9), 1 + draw(8));
        if (draw(2))
            gemm_draw_layouts(&c);
        for (int x = 1; x < 3 && several; x++)
            if ((grid[x] = same_processes(ctx, grid[0])) != NULL)
                put_on(&c.desc[x], grid[x]);
        char layers[16] = "auto";
        if (draw(5))
            snprintf(layers, sizeof layers, "%d", 1 + draw(P * Q));
        snprintf(options, sizeof options, "layers=%s workspace_limit=%s%s", layers, draw(4) ? "1M" : "120k",
                 draw(3) ? "" : " node=messages block=3 lookahead=1");
        c.options = options;
        c.fractions = 0;
        const char *what = gemm_failure(ctx, &c, 1);
        int first = (int)world_reduce(what ? rank : size, MPI_MIN);
        if (first < size && failed++ < 5)
            gemm_report(first, &c, i, what);
        for (int x = 0; x < 3; x++)
            hsumma_grid_free(&grid[x]);
    }
    tap_ok(failed == 0, "%d products in random layers, on random grids of the same processes: %d wrong", rounds,
           failed);
}

/* Bits are reproducible, because the layers' sums are added in the order of the layers. */
static void test_bits(hsumma_context *ctx, const hsumma_grid *grid)
{
    for (int layers = 1; layers <= size; layers *= 2) {
        char options[64];
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 23, 19, 77, 3);
        snprintf(options, sizeof options, "layers=%d workspace_limit=1M", layers);
        c.options = options;
        c.fractions = 1;
        tap_ok(everywhere(gemm_bits(ctx, &c, 3, NULL) != -1), "layers=%d: the same bits three times", layers);
    }
}

/* The fewest elements that a process receives on any P x Q x `layers` grid with `each` processes in a layer. */
static int64_t least_received(const int64_t extent[3], int each, int layers)
{
    int64_t least = -1;
    for (int p = 1; p <= each; p++) {
        int64_t received = each % p ? -1 : hs_layers_count(extent, p, each / p, layers).received;
        if (received >= 0 && (least < 0 || received < least))
            least = received;
    }
    return least;
}

/* In hsumma_desc_best's layouts A and B already are where the layers need them, so only the data counted by dist/layers
 * move. */
static void test_free(hsumma_context *ctx, const hsumma_grid *none)
{
    const int64_t extent[3] = {48, 96, 192};
    (void)none;
    for (int layers = 2; layers <= size; layers++) {
        if (size % layers)
            continue;
        for (int ops = 0; ops < 4; ops++) {
            char options[96], ta = "NTNT"[ops], tb = "NNTT"[ops];
            hsumma_grid *grid[3];
            hsumma_desc desc[3];
            snprintf(options, sizeof options, "layers=%d workspace_limit=1M stationary=C node=messages bcast=flat",
                     layers);
            hsumma_status status = hsumma_desc_best(ctx, HSUMMA_D, ta, tb, extent[0], extent[1], extent[2], options,
                                                    grid, &desc[0], &desc[1], &desc[2]);
            if (!tap_ok(everywhere(!status), "layouts for %d layers, %c%c", layers, ta, tb)) {
                tap_diag("%s", hsumma_message(ctx));
                continue;
            }
            struct gemm_case c = gemm_case_of(grid[0], HSUMMA_D, ta, tb, extent[0], extent[1], extent[2], 0);
            memcpy(c.desc, desc, sizeof desc);
            c.options = options;
            hsumma_plan_info info = {0};
            int64_t bits = gemm_bits(ctx, &c, 1, &info), moved = world_reduce(info.bytes_sent, MPI_SUM);
            int64_t want = size * least_received(extent, size / layers, layers) * 8;
            /* only a transposed operand passes through an exchange inside its layer */
            int stay = ops > 0 || (!info.operand[0].exchange_bytes && !info.operand[1].exchange_bytes);
            tap_ok(everywhere(bits != -1 && stay), "A and B do not move between layouts");
            int even = extent[0] % size == 0; /* all processes have equally many rows and columns */
            tap_ok(ops > 0 || !even || moved == want, "%" PRId64 " bytes move: %" PRId64, want, moved);
            for (int x = 0; x < 3; x++)
                hsumma_grid_free(&grid[x]);
        }
    }
    hsumma_grid *grid[3];
    hsumma_desc desc[3];
    hsumma_status status =
        hsumma_desc_best(ctx, HSUMMA_D, 'N', 'X', 4, 4, 4, "layers=2", grid, &desc[0], &desc[1], &desc[2]);
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && !grid[0]), "refused: transb X");
    status = hsumma_desc_best(ctx, HSUMMA_D, 'N', 'N', 4, 4, 4, "layers=1000", grid, &desc[0], &desc[1], &desc[2]);
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && !grid[0]), "refused: 1000 layers");
}

/* The number of layers in a plan's line; 1 if the line has no layers. */
static int layers_of(const hsumma_plan_info *info)
{
    return info->line && !strncmp(info->line, "layers=", 7) ? atoi(info->line + 7) : 1;
}

/* Makes a plan and executes it. Returns the plan's info; info.line points to the copy in `line`, or is NULL if there is
 * no plan or C is wrong. */
static hsumma_plan_info planned(hsumma_context *ctx, const struct gemm_case *c, char line[HS_LINE_TEXT])
{
    hsumma_plan *plan = NULL;
    int good = !gemm_plan_create(ctx, c, &plan) && gemm_executes(plan, c);
    hsumma_plan_info info = plan_query(plan);
    snprintf(line, HS_LINE_TEXT, "%s", plan ? info.line : "");
    info.line = everywhere(good) ? line : NULL;
    hsumma_plan_free(&plan);
    return info;
}

/*
 * layers=auto between nodes: on a slow network a product with a large k gets several layers, and the model predicts no
 * shorter time for any other possible number of layers.
 */
static void test_auto(hsumma_context *ctx, const hsumma_grid *grid)
{
    const struct hs_profile before = ctx->profile;
    char line[HS_LINE_TEXT];
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 16, 16, 4096, 4);
    c.fractions = 0;
    ctx->profile.machine.network = (struct hs_link){.alpha = 1e-6, .beta = 1e-6};
    hs_clock_memo_begin(&ctx->memo, &ctx->profile, &ctx->memory);
    c.options = "layers=auto workspace_limit=1G";
    hsumma_plan_info info = planned(ctx, &c, line);
    tap_ok(
        everywhere(info.bytes_sent == info.predicted_bytes_sent && info.messages_sent == info.predicted_messages_sent),
        "as predicted %" PRId64 " bytes are sent in %" PRId64 " messages", info.bytes_sent, info.messages_sent);
    int chosen = layers_of(&info), several = ctx->comm.topology.division[HS_NODE].parts > 1;
    double seconds = info.predicted_seconds;
    tap_ok(everywhere(info.line && (several ? chosen > 1 : chosen == 1)), "layers=auto on %s: %d",
           several ? "several nodes" : "one node", chosen);
    for (int layers = 1; layers <= size && several; layers++) {
        char options[64];
        if (size % layers)
            continue;
        snprintf(options, sizeof options, "layers=%d workspace_limit=1G", layers);
        c.options = options;
        info = planned(ctx, &c, line);
        int better = info.predicted_seconds < seconds * (1 - 1e-9), same = layers != chosen;
        same = same || fabs(info.predicted_seconds - seconds) <= 1e-9 * seconds;
        if (!tap_ok(everywhere(info.line && !better && same), "layers=%d is not faster", layers))
            tap_diag("%g s, the choice %g s", info.predicted_seconds, seconds);
    }
    c.options = NULL;
    info = planned(ctx, &c, line);
    tap_ok(everywhere(info.line && (layers_of(&info) > 1) == several), "without options: %d layers", layers_of(&info));
    static const char *const words[] = {"layers=1", "lookahead=1", "stationary=C", "bcast=binomial"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        c.options = words[i];
        info = planned(ctx, &c, line);
        tap_ok(everywhere(info.line && layers_of(&info) == 1), "%s: none", words[i]);
    }
    c.options = "layers=auto workspace_limit=20k";
    info = planned(ctx, &c, line);
    tap_ok(everywhere(info.line && layers_of(&info) == 1), "layers=auto, where their parts do not fit: none");
    int failed = 0;
    for (int bytes = 98400; bytes < 400000; bytes += 6600) {
        char options[64];
        snprintf(options, sizeof options, "layers=auto workspace_limit=%d", bytes);
        c.options = options;
        failed += planned(ctx, &c, line).line == NULL;
    }
    tap_ok(failed == 0, "layers=auto, where the limit is tight: %d fail", failed);
    c.options = "layers=auto workspace_limit=1G groups=1x1";
    info = planned(ctx, &c, line);
    tap_ok(everywhere(info.line != NULL), "layers=auto with groups=1x1: %d layers", layers_of(&info));
    hsumma_grid *best[3];
    hsumma_status status = hsumma_desc_best(ctx, HSUMMA_D, 'N', 'N', 16, 16, 4096, "layers=auto workspace_limit=1G",
                                            best, &c.desc[0], &c.desc[1], &c.desc[2]);
    tap_ok(everywhere(!status && (best[0] != best[2]) == several), "layouts for layers=auto: %s grids",
           several ? "three" : "one");
    c.options = "layers=auto workspace_limit=1G";
    info = planned(ctx, &c, line);
    tap_ok(
        everywhere(info.line && (layers_of(&info) > 1) == several && (!several || info.operand[0].exchange_bytes == 0)),
        "a product with them: %d layers, and A stays", layers_of(&info));
    for (int x = 0; x < 3 && !status; x++)
        hsumma_grid_free(&best[x]);
    if (several && chosen > 1) {
        status = hsumma_desc_best(ctx, HSUMMA_D, 'N', 'N', 16, 16, 4096,
                                  rank ? "layers=auto workspace_limit=1G" : "layers=1", best, &c.desc[0], &c.desc[1],
                                  &c.desc[2]);
        tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && !best[0] && strstr(hsumma_message(ctx), "gave options = ")),
               "layouts with layers=auto on some: %s", hsumma_message(ctx));
    }
    ctx->profile = before;
    hs_clock_memo_begin(&ctx->memo, &ctx->profile, &ctx->memory);
}

static void refused(hsumma_context *ctx, const hsumma_grid *grid, const char *options, hsumma_status status,
                    const char *word, const char *other)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 300, 300, 300, 8);
    c.options = options;
    gemm_refuse(ctx, &c, status, options, word, other);
}

static void test_refusals(hsumma_context *ctx, const hsumma_grid *grid)
{
    refused(ctx, grid, "layers=65", HSUMMA_ERR_ARGUMENT, "layers=65", "the number of processes of the grid");
    refused(ctx, grid, "layers=0", HSUMMA_ERR_OPTION, "layers", "1 to");
    if (size > 1) {
        refused(ctx, grid, "layers=2 workspace_limit=10k", HSUMMA_ERR_WORKSPACE, "layers=2", "allows 10240");
        refused(ctx, grid, "layers=2 workspace_limit=1G bcast=mpi", HSUMMA_ERR_UNSUPPORTED, "bcast=mpi",
                "expected another");
        refused(ctx, grid, "layers=2 workspace_limit=1G tune=measure", HSUMMA_ERR_UNSUPPORTED, "tune=measure",
                "expected tune=");
        refused(ctx, grid, "layers=2 workspace_limit=1G groups=7x7", HSUMMA_ERR_ARGUMENT, "7x7", "divide");
        if (size == 4) /* the limit has room for the parts (720,000 bytes), but not for panels */
            refused(ctx, grid, "layers=2 workspace_limit=800000 block=150 node=messages", HSUMMA_ERR_WORKSPACE,
                    "use 720000 of the 800000 bytes of workspace_limit; of the rest: ", "workspace_limit allows 80000");
        hsumma_grid *less = NULL;
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 30, 30, 30, 8);
        if (everywhere(!hsumma_grid_create(ctx, 1, size - 1, 'R', NULL, &less)))
            put_on(&c.desc[2], less);
        gemm_refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, "C on other processes than A", "same processes", "");
        hsumma_grid_free(&less);
    }
}

/* The cache identifies a grid by its address. While it has a plan on the grid, no other grid may get this address. */
static void test_cached(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q, ranks[64], good = 1, held = 1;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int by = 0; by < 6; by++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
        hsumma_grid *other = NULL;
        for (int i = 0; i < P * Q; i++)
            ranks[i] = (i + by) % (P * Q);
        if (!everywhere(!hsumma_grid_create(ctx, P, Q, 'R', ranks, &other)))
            break;
        put_on(&c.desc[1 + by % 2], other);
        good = gemm_multiplies(ctx, &c, 0) && good;
        held = held && other->holders == 2;
        hsumma_grid_free(&other);
    }
    tap_ok(everywhere(good && held), "one call on grids that come and go; the cached plan holds them");
}

/* An argument with another value on one process is an error on all. */
static void test_differing(hsumma_context *ctx, const hsumma_grid *none)
{
    (void)none;
    for (int i = 0; i < 4 && size > 1; i++) {
        hsumma_grid *grid[3];
        hsumma_desc desc[3];
        int odd = rank == size - 1;
        hsumma_status status = hsumma_desc_best(ctx, HSUMMA_D, 'N', i == 2 && odd ? 'X' : 'N', i == 0 && odd ? -1 : 64,
                                                i == 1 && odd ? 65 : 64, 64, i == 3 && odd ? "layers=1" : "layers=2",
                                                grid, &desc[0], &desc[1], &desc[2]);
        tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && !grid[0] && !grid[1] && !grid[2]),
               "layouts that processes do not agree on (%d): %s", i, hsumma_message(ctx));
    }
}

/* Plans for matrices larger than any memory are refused before anything is allocated. */
static void test_huge(hsumma_context *ctx, const hsumma_grid *grid)
{
    const int64_t sizes[] = {INT64_MAX, (int64_t)1 << 61, (int64_t)1 << 28};
    int P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int i = 0; i < 3 && size > 1; i++) {
        const int64_t n = sizes[i];
        struct gemm_case c = gemm_case_of(grid, HSUMMA_Z, 'N', 'N', 8, 8, 8, 8);
        hsumma_status wanted = i < 2 ? HSUMMA_ERR_UNSUPPORTED : HSUMMA_ERR_WORKSPACE;
        char what[80];
        for (int x = 0; x < 3; x++) {
            hsumma_desc *desc = &c.desc[x];
            desc->m = desc->n = n;
            desc->mb = desc->imb = n / P;
            desc->nb = desc->inb = n / Q;
            desc->ld = i < 2 ? 8 : n;
        }
        c.m = c.n = c.k = n;
        c.options = "layers=2 workspace_limit=1G";
        snprintf(what, sizeof what, "layers of %" PRId64 " x %" PRId64, n, n);
        gemm_refuse(ctx, &c, wanted, what, "", "");
    }
}

/* Makes and executes a plan with layers, which also makes grids, while allocation n of the victim fails. Returns 1 if
 * nothing leaks and either all ranks report the error or the plan works; *reached: as in survives() of memory.c. */
static int survives(hsumma_context *ctx, const struct gemm_case *c, int victim, int64_t n, int *reached)
{
    struct failing_memory scarce = {0, rank == victim ? n : -1, 0, 0};
    hsumma_plan *plan = NULL;
    ctx->memory = ctx->bulk = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
    hsumma_status status = gemm_plan_create(ctx, c, &plan);
    *reached = (int)world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
    int good = 1;
    if (world_reduce(status != HSUMMA_OK, MPI_MAX))
        good = status == HSUMMA_ERR_MEMORY && !plan && hsumma_message(ctx)[0];
    else
        good = gemm_executes(plan, c);
    hsumma_plan_free(&plan);
    good = good && scarce.out == 0;
    ctx->memory = ctx->bulk = hs_heap;
    return everywhere(good);
}

static void test_memory(hsumma_context *ctx, const hsumma_grid *grid)
{
    for (int victim = 0; victim<size; victim += size> 1 ? size - 1 : 1) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 12, 10, 24, 2);
        char options[64];
        for (int automatic = 0; automatic < 2; automatic++) {
            int reached = 1, bad = 0;
            int64_t n = 0;
            snprintf(options, sizeof options, automatic ? "layers=auto" : "layers=%d workspace_limit=1M", size);
            c.options = options;
            for (; reached; n += n < 30 ? 1 : 1 + n / 10)
                bad += !survives(ctx, &c, victim, n, &reached);
            tap_ok(bad == 0, "memory fails once on rank %d, up to call %d, %s: %d wrong", victim, (int)n, options, bad);
        }
    }
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    test_random(ctx);
    test_bits(ctx, grid);
    test_free(ctx, grid);
    if (size != 3) /* 1 x 1 x 3 is not necessarily faster */
        test_auto(ctx, grid);
    test_refusals(ctx, grid);
    test_cached(ctx, grid);
    test_differing(ctx, grid);
    test_huge(ctx, grid);
    test_memory(ctx, grid);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    draw_seed(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    return gemm_main(argc, argv, test_all);
}
