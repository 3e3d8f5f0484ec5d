#include "support/product/gemm_random.h"

#include "hsumma/context/context.h"

const char gemm_stays[] = "CAB";

static const int rows_and_cols[3][2] = {{0, 2}, {2, 1}, {0, 1}}; /* of op(A), op(B), C; 0 is m, 1 is n, 2 is k */

/* The stored axis, which is also the grid axis, of dimension `dim` in operand x; -1 if x does not have it. */
static int gemm_axis_of(const struct gemm_case *c, int x, int dim)
{
    int turned = (x == 0 && c->ta != 'N') || (x == 1 && c->tb != 'N');
    for (int logical = 0; logical < 2; logical++)
        if (rows_and_cols[x][logical] == dim)
            return logical ^ turned;
    return -1;
}

int gemm_extent_of(const struct gemm_case *c, int axis)
{
    int extent[2];
    hsumma_grid_info(c->desc[0].grid, &extent[0], &extent[1], NULL, NULL);
    return extent[axis];
}

/* Whether the process at `coord` of a grid axis has index g of operand x, found by counting blocks. */
static int gemm_has(const struct gemm_case *c, int x, int axis, int coord, int64_t g)
{
    const hsumma_desc *d = &c->desc[x];
    int64_t at = g + (axis ? d->j : d->i), block = axis ? d->nb : d->mb, end = axis ? d->inb : d->imb;
    int owner = axis ? d->csrc : d->rsrc;
    if (owner < 0)
        return 1;
    for (; end <= at; end += block)
        owner = (owner + 1) % gemm_extent_of(c, axis);
    return owner == coord;
}

int gemm_replicated(const struct gemm_case *c, int x)
{
    return (c->desc[x].rsrc < 0 && gemm_extent_of(c, 0) > 1) || (c->desc[x].csrc < 0 && gemm_extent_of(c, 1) > 1);
}

int gemm_can_stay(const struct gemm_case *c, int x)
{
    return x == 2 || (!gemm_replicated(c, x) && !gemm_replicated(c, 2));
}

int gemm_is_possible(const struct gemm_case *c, int stationary)
{
    return stationary == GEMM_AUTO || gemm_can_stay(c, "\2\0\1"[stationary]);
}

const char *gemm_wrong_verdict(hsumma_context *ctx, const struct gemm_case *c, int stationary, hsumma_status status)
{
    int empty = c->m == 0 || c->n == 0 || c->k == 0; /* an empty product need not be refused */
    if (!gemm_is_possible(c, stationary) && (status || !empty))
        return status == HSUMMA_ERR_UNSUPPORTED && strstr(hsumma_message(ctx), "replicated") ? NULL : "not refused";
    return status ? hsumma_message(ctx) : NULL;
}

static struct gemm_layout draw_layout(int procs)
{
    static const int64_t blocks[] = {1, 2, 3, 4, 5, 7, 8, 16, 64};
    struct gemm_layout l = {blocks[draw(9)], 0, 0, 0, draw(4)};
    l.first = draw(2) ? l.block : 1 + draw((int)l.block * (draw(4) ? 1 : 2)); /* may be larger than the other blocks */
    l.src = draw(7) ? draw(procs) : -1;
    l.offset = draw(2) ? 0 : draw(2 * (int)l.block + 2);
    return l;
}

/* A layout with the same owners: a short first block becomes a full one that begins before the operand. */
static struct gemm_layout in_other_words(struct gemm_layout l)
{
    l.behind = draw(4);
    if (l.offset == 0 && l.first < l.block) {
        l.offset = l.block - l.first;
        l.first = l.block;
    }
    return l;
}

void gemm_draw_layouts(struct gemm_case *c)
{
    struct gemm_layout of[3][2];
    for (int x = 0; x < 3; x++)
        for (int axis = 0; axis < 2; axis++)
            of[x][axis] = draw_layout(gemm_extent_of(c, axis));
    for (int dim = 0; dim < 3; dim++) {
        int x = dim == 1 ? 1 : 0, y = dim == 2 ? 1 : 2, to = gemm_axis_of(c, y, dim);
        if (draw(3))
            continue;
        of[y][to] = in_other_words(of[x][gemm_axis_of(c, x, dim)]);
        if (of[y][to].src >= gemm_extent_of(c, to))
            of[y][to].src = 0;
    }
    for (int x = 0; x < 3; x++)
        gemm_spread(c, x, &of[x][0], &of[x][1]);
}

/* Draws options for the product inside one node. */
static void draw_shared_options(int stationary, char *text, size_t room)
{
    static const int widths[] = {0, 1, 2, 3, 5, 8, 30, 100};
    int block = widths[draw(8)], chunk = widths[draw(8)];
    int used = stationary == GEMM_AUTO ? 0 : snprintf(text, room, "stationary=%c ", gemm_stays[stationary]);
    if (block)
        used += snprintf(text + used, room - (size_t)used, "block=%d ", block);
    if (chunk)
        used += snprintf(text + used, room - (size_t)used, "chunk=%d ", chunk);
    snprintf(text + used, room - (size_t)used, "threads=1");
}

/* Takes the broadcast over a torus away from drawn options, unless it can serve the lines of the case. */
static void without_torus(const struct gemm_case *c, char *text)
{
    hsumma_context *ctx = c->desc[0].grid->ctx;
    struct gemm_case tried = *c;
    hsumma_plan *plan = NULL;
    char *word = strstr(text, "bcast=torus");
    tried.options = text;
    if (word && gemm_plan_create(ctx, &tried, &plan) && strstr(hsumma_message(ctx), "torus"))
        memcpy(word, "bcast=chain", strlen("bcast=chain"));
    hsumma_plan_free(&plan);
}

void gemm_draw_hierarchy(const struct gemm_case *c, int stationary, char *text, size_t room)
{
    static const char *const bcast[] = {"auto",         "flat",
                                        "binomial",     "van_de_geijn",
                                        "chain",        "bidirectional_chain",
                                        "binary_tree",  "mpi",
                                        "hierarchical", "hierarchical(outer=chain,inner=flat)"};
    static const char *const reduce[] = {"auto",
                                         "binomial",
                                         "rabenseifner_traff",
                                         "mpi",
                                         "smp",
                                         "dpml(l=2,k=3)",
                                         "smp(outer=rabenseifner_traff)",
                                         "recursive_doubling",
                                         "elimination_32",
                                         "small_ring",
                                         "ring"};
    const int checked = c->desc[0].grid->ctx->options.settings.guard & HS_GUARD_MESSAGES; /* not with MPI's own */
    enum { BCASTS = sizeof bcast / sizeof *bcast, REDUCES = sizeof reduce / sizeof *reduce };
    static const char *const ahead[] = {"lookahead=0", "lookahead=1", "lookahead=1",
                                        "lookahead=2", "lookahead=5", "lookahead=0 owners=auto",
                                        "owners=3"};
    static const int widths[] = {0, 1, 2, 3, 5, 8, 30, 100};
    int levels = draw(3), left[2] = {gemm_extent_of(c, 0), gemm_extent_of(c, 1)}, block = widths[draw(8)];
    int used = stationary == GEMM_AUTO ? 0 : snprintf(text, room, "stationary=%c ", gemm_stays[stationary]);
    if (block) {
        const char *const when = ahead[draw(7)], *const in = reduce[draw(REDUCES)];
        const struct hs_fabric *fabric = c->desc[0].grid->ctx->comm.topology.fabric;
        const int torus = fabric && fabric->kind == HS_TORUS && stationary != GEMM_AUTO && draw(2);
        const char *const out = torus ? "torus" : bcast[draw(BCASTS)];
        used +=
            snprintf(text + used, room - (size_t)used, "block=%d %s bcast=%s reduce=%s ", block, when,
                     checked && !strcmp(out, "mpi") ? "flat" : out, checked && !strcmp(in, "mpi") ? "binomial" : in);
    }
    if (block || draw(2)) {
        used += snprintf(text + used, room - (size_t)used, "segment=%d ", 1 + draw(200));
        for (int l = 0; l < levels; l++) {
            int f[2];
            for (int axis = 0; axis < 2; axis++) {
                f[axis] = draw_divisor(left[axis]);
                left[axis] /= f[axis];
            }
            used += snprintf(text + used, room - (size_t)used, "%s%dx%d", l ? "," : "levels=", f[0], f[1]);
        }
        used += snprintf(text + used, room - (size_t)used, levels ? " " : "groups=1x1 ");
    }
    if (block && levels)
        used += snprintf(text + used, room - (size_t)used, levels == 1 ? "outer=%d " : "outer=%d,%d ",
                         block * (1 + draw(3)) * levels, block);
    if (draw(3))
        used += snprintf(text + used, room - (size_t)used, "exchange=%s ", draw(2) ? "root" : "all");
    snprintf(text + used, room - (size_t)used, "threads=1");
    without_torus(c, text);
}

struct gemm_case gemm_draw_product(const hsumma_grid *grid, int ops, int64_t nb)
{
    static const double scalars[] = {1, 1, 1, 0, -1, 2};
    int64_t extent[3];
    for (int dim = 0; dim < 3; dim++)
        extent[dim] = draw(8) ? 1 + draw(dim == 2 ? 60 : 40) : draw(3);
    struct gemm_case c =
        gemm_case_of(grid, (hsumma_type)draw(4), "NTC"[ops % 3], "NTC"[ops / 3], extent[0], extent[1], extent[2], nb);
    c.alpha = scalars[draw(6)];
    c.beta = scalars[draw(6)];
    return c;
}

struct gemm_case gemm_draw_case(const hsumma_grid *grid, int stationary, char *options, size_t room)
{
    int ops = draw(9);
    struct gemm_case c = gemm_draw_product(grid, ops, 1 + draw(8));
    gemm_draw_layouts(&c);
    if (draw(2))
        draw_shared_options(stationary, options, room);
    else
        gemm_draw_hierarchy(&c, stationary, options, room);
    c.options = options;
    return c;
}

hsumma_grid *gemm_draw_grid_of(hsumma_context *ctx, int P, int Q)
{
    hsumma_grid *grid = NULL;
    int ranks[64], used = P * Q, turned = draw(2), by = draw(size);
    for (int r = 0; r < used; r++)
        ranks[r] = ((turned ? used - 1 - r : r) + by) % size;
    return hsumma_grid_create(ctx, P, Q, "RCA"[draw(3)], ranks, &grid) ? NULL : grid;
}

hsumma_grid *gemm_draw_grid(hsumma_context *ctx)
{
    int P, Q;
    do {
        P = 1 + draw(size);
        Q = 1 + draw(size / P);
    } while (P * Q < size && draw(4)); /* sometimes some ranks are not in the grid */
    return gemm_draw_grid_of(ctx, P, Q);
}

const char *gemm_failure(hsumma_context *ctx, const struct gemm_case *c, int limited)
{
    hsumma_plan *plan = NULL;
    int stepwise = draw(2);
    const char *what = gemm_plan_create(ctx, c, &plan) ? hsumma_message(ctx) : NULL;
    hsumma_plan_info info = plan_query(plan);
    if (plan && limited && info.workspace_bytes_max > info.workspace_limit_bytes)
        what = "more workspace than the limit";
    for (int i = 0; plan && i < 2; i++) { /* executed on all ranks, even if one rank has failed */
        const char *fault = gemm_execution_fault(plan, c, !stepwise ? GEMM_AT_ONCE : i ? 1000000 : 5);
        what = what ? what : fault;
    }
    hsumma_plan_free(&plan);
    return what;
}

void gemm_report(int who, const struct gemm_case *c, int64_t number, const char *what)
{
    char text[700];
    if (rank != who)
        return;
    int used = snprintf(text, sizeof text, "%c%c%c %" PRId64 " x %" PRId64 " x %" PRId64 " on %d x %d, %g, %g",
                        "sdcz"[c->type], c -> ta, c -> tb, c -> m, c -> n, c -> k, gemm_extent_of(c, 0),
                        gemm_extent_of(c, 1), creal(c->alpha), c -> beta);
    for (int x = 0; x < 3; x++) {
        const hsumma_desc *d = &c->desc[x];
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "; %c %" PRId64 "(%" PRId64 ")@%d+%" PRId64 " x %" PRId64 "(%" PRId64 ")@%d+%" PRId64,
                         "ABC"[x], d -> mb, d -> imb, d -> rsrc, d -> i, d -> nb, d -> inb, d -> csrc, d -> j);
    }
    printf("# case %" PRId64 ": %s: %s; %s\n", number, what, text, c->options ? c->options : "");
    fflush(stdout);
}

struct gemm_misplaced gemm_count_misplaced(const struct gemm_case *c, int x, int stationary)
{
    static const int loops[3] = {1, 0, 2};
    const int64_t extent[3] = {c->m, c->n, c->k};
    int looped = loops[stationary], pinned = rows_and_cols[x][0] == looped ? rows_and_cols[x][1] : rows_and_cols[x][0];
    int own = gemm_axis_of(c, x, pinned), across = 1 - own, procs = gemm_extent_of(c, own), differs = 0;
    int64_t moved[64] = {0}, lines[64] = {0}, most = 0, all = 0, widest = 0;
    if (own != gemm_axis_of(c, stationary, pinned))
        return (struct gemm_misplaced){0, 0, 0, 0, 0};
    for (int64_t g = 0; g < extent[pinned]; g++)
        for (int p = 0; p < procs; p++) {
            int wants = gemm_has(c, stationary, own, p, g), holds = gemm_has(c, x, own, p, g);
            differs |= wants != holds;
            for (int q = 0; q < procs && wants && !holds; q++)
                if (gemm_has(c, x, own, q, g)) {
                    moved[p]++;
                    moved[q]++;
                    all++;
                }
        }
    for (int p = 0; p < procs; p++)
        most = moved[p] > most ? moved[p] : most;
    for (int64_t g = 0; g < extent[looped]; g++) /* of a replicated operand, the first replica counts */
        for (int p = 0; p < gemm_extent_of(c, across); p++)
            if (gemm_has(c, x, across, p, g)) {
                lines[p]++;
                break;
            }
    for (int p = 0; p < gemm_extent_of(c, across); p++)
        widest = lines[p] > widest ? lines[p] : widest;
    int64_t bytes = (int64_t)gemm_element_size(c->type);
    return (struct gemm_misplaced){differs, 1, most * widest * bytes, all * extent[looped] * bytes,
                                   gemm_extent_of(c, across)};
}

static struct gemm_layout layout_of(const struct gemm_case *c, int x, int axis)
{
    const hsumma_desc *d = &c->desc[x];
    return axis ? (struct gemm_layout){d->nb, d->inb, d->csrc, d->j, 0}
                : (struct gemm_layout){d->mb, d->imb, d->rsrc, d->i, 0};
}

struct gemm_case gemm_aligned(const struct gemm_case *c, int stationary, int64_t *misplaced, int *differs)
{
    static const int loops[3] = {1, 0, 2};
    struct gemm_case same = *c;
    *misplaced = *differs = 0;
    for (int x = 0; x < 3; x++) {
        int looped = loops[stationary], pinned = rows_and_cols[x][rows_and_cols[x][0] == looped];
        int axis = gemm_axis_of(c, x, pinned);
        if (x == stationary || axis != gemm_axis_of(c, stationary, pinned))
            continue;
        struct gemm_layout layout[2] = {layout_of(c, x, 0), layout_of(c, x, 1)};
        layout[axis] = in_other_words(layout_of(c, stationary, axis));
        gemm_spread(&same, x, &layout[0], &layout[1]);
        struct gemm_misplaced of = gemm_count_misplaced(c, x, stationary);
        *misplaced += of.all;
        *differs |= of.differs;
    }
    return same;
}
