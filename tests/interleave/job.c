#include "interleave/job.h"

#include "base/options.h"
#include "hsumma/search/candidate.h"
#include "summa/node/shape.h"
#include "support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct hs_compute watched;
static struct hs_scalar element;

static double no_seconds(const void *profile, size_t size, int complex_type, int threads, double m, double n, double k)
{
    (void)profile, (void)size, (void)complex_type, (void)threads, (void)m, (void)n, (void)k;
    return 0;
}

/* Stands in for the GEMM. Other ranks may run during the GEMM, but must not write its inputs. */
static void multiply(char transa, char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                     int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    const double *pa = a, *pb = b;
    int64_t ai = transa == 'N' ? 1 : lda, al = transa == 'N' ? lda : 1;
    int64_t bl = transb == 'N' ? 1 : ldb, bj = transb == 'N' ? ldb : 1;
    for (int64_t j = 0; j < n; j++) {
        if (j == n / 2)
            watched.advance(0);
        for (int64_t i = 0; i < m; i++) {
            double *to = (double *)c + i + j * ldc, sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += pa[i * ai + l * al] * pb[l * bl + j * bj];
            *to = *(const double *)alpha * sum + (*(const double *)beta == 0 ? 0 : *(const double *)beta * *to);
        }
    }
}

void job_begin(void (*yields)(double))
{
    watched = (struct hs_compute){.real = 1, .gemm_seconds = no_seconds, .advance = yields};
    element = hs_scalars[HSUMMA_D];
    element.gemm = multiply;
    element.compute = &watched;
}

static struct spread_dimension draw_spread(int procs, uint64_t *random)
{
    static const int64_t blocks[] = {1, 2, 3, 4, 5, 7, 8, 16, 64};
    struct spread_dimension s = {.block = blocks[draw_of(random, 9)]};
    s.first = draw_of(random, 2) ? s.block : 1 + draw_of(random, (int)s.block);
    s.src = draw_of(random, 24) ? draw_of(random, procs) : -1;
    if (draw_of(random, 2)) {
        s.before = draw_of(random, 2 * (int)s.block + 2);
        s.behind = draw_of(random, 4);
    }
    return s;
}

/* The stored axis (0: rows, 1: columns) that corresponds to axis `logical` of op(X). */
static int stored_axis(const struct job *job, int x, int logical)
{
    return job->op[x] == 'N' ? logical : 1 - logical;
}

/* Draws layouts. With a probability drawn per job, a dimension of an operand gets the usual layout of this dimension on
 * its grid axis. Operands with equal layouts need no exchange. */
static void draw_spreads(struct job *job, uint64_t *random)
{
    struct spread_dimension usual[3][2];
    int usually = draw_of(random, 4);
    for (int dim = 0; dim < 3; dim++)
        for (int axis = 0; axis < 2; axis++)
            usual[dim][axis] = draw_spread(job->extent[axis], random);
    for (int x = 0; x < 3; x++)
        for (int logical = 0; logical < 2; logical++) {
            int axis = stored_axis(job, x, logical);
            job->spread[x][axis] = draw_of(random, 4) < usually ? usual[hs_operand_dims[x][logical]][axis]
                                                                : draw_spread(job->extent[axis], random);
        }
}

/* Draws an algorithm that fits groups of size[0] and of size[1] processes; for a reduction it may be an allreduce. */
static const struct hs_alg *draw_row(enum hs_collective collective, const int size[2], uint64_t *random)
{
    const struct hs_alg *row, *fitting[32];
    int count = 0;
    for (int i = 0; (row = hs_alg_at(i)) != NULL; i++) {
        int fits = count < 32 && (hs_may_serve(row, collective) ||
                                  (collective == HS_REDUCE_TO && !row->unfit && hs_may_serve(row, HS_ALLREDUCE)));
        for (int axis = 0; fits && axis < 2; axis++) {
            struct hs_shape shape = {.size = size[axis], .bytes = 1024, .unit = 8};
            fits = !hs_alg_unfit(row, &shape);
        }
        if (fits)
            fitting[count++] = row;
    }
    return fitting[draw_of(random, count)];
}

/* Draws levels, algorithms and lookahead. width: number of indices in an innermost panel; turn: number of innermost
 * panels in a turn, 0: all panels of a pair of owners. */
static void draw_levels(struct job *job, struct hs_spec *spec, int64_t width, int turn, uint64_t *random)
{
    int outer[2][HS_LEVELS_MAX], left[2] = {job->extent[0], job->extent[1]}, levels = draw_of(random, 3);
    for (int l = 0; l < levels; l++)
        for (int axis = 0; axis < 2; axis++) {
            int f = 1 + draw_of(random, left[axis]);
            while (left[axis] % f)
                f--;
            outer[axis][l] = f;
            left[axis] /= f;
        }
    spec->levels = levels + 1;
    for (int axis = 0; axis < 2; axis++)
        hs_factors_make(&spec->factors[axis], job->extent[axis], levels, outer[axis]);
    for (int l = levels, times = 1; l >= 0; l--) {
        int size[2] = {spec->factors[0].size[l], spec->factors[1].size[l]}, wider = 1 + draw_of(random, 3);
        while (turn % (times * wider))
            wider--;
        times *= l == levels ? 1 : wider;
        spec->width[l] = width * times;
        spec->bcast[l] = draw_row(HS_BCAST, size, random);
        spec->reduce[l] = draw_row(HS_REDUCE_TO, size, random);
    }
    spec->turn = turn ? turn * width : HS_WHOLE_TURN;
    spec->lookahead = draw_of(random, draw_of(random, 4) ? 4 : 7);
    spec->owners = spec->lookahead == 0 ? draw_of(random, 5) : 0;
    spec->cells = draw_of(random, 8) > 0;
    spec->spread = draw_of(random, 2);
    spec->segment = 32 * (1 + draw_of(random, 20));
}

/* Draws a spec for the product inside one node. Chunks are only possible for an A or B that moves and is not resident
 * (hs_supply_resident). */
static void draw_chunks(struct job *job, const struct hs_problem *problem, const struct hs_variant *stays,
                        uint64_t *random)
{
    struct hs_spec *spec = &job->spec[0];
    struct hs_variant divided;
    const struct hs_variant *variant = stays;
    int x = draw_of(random, 3) - 1;
    spec->node = draw_of(random, 3) ? HS_NODE_SHARED : HS_NODE_EVEN;
    if (spec->node == HS_NODE_EVEN) {
        hs_variant_divide(problem, &divided);
        spec->stationary = HS_C;
        variant = &divided;
    }
    spec->levels = 1;
    for (int axis = 0; axis < 2; axis++)
        hs_factors_make(&spec->factors[axis], job->extent[axis], 0, NULL);
    spec->width[0] = 1 + draw_of(random, 8);
    spec->lookahead = draw_of(random, 3);
    spec->chunked = x >= 0 && variant->role[x].moves && !hs_supply_resident(&variant->role[x]) ? x : -1;
    spec->chunk = 1 + draw_of(random, 8);
}

static int draw_spec(struct job *job, int one_node, uint64_t *random)
{
    struct hs_problem problem = job_problem(job, 0);
    struct hs_variant variant;
    struct hs_message message;
    job->spec[0] = job->spec[1] = (struct hs_spec){
        .stationary = draw_of(random, 3), .slice = INT64_MAX, .chunked = -1, .checked = draw_of(random, 2)};
    job->specs = 1;
    if (hs_variant_make(&problem, job->spec[0].stationary, &variant, &message))
        return 0;
    if (one_node && draw_of(random, 3) == 0) {
        draw_chunks(job, &problem, &variant, random);
        return 1;
    }
    job->specs = 1 + draw_of(random, 2);
    static const int turns[] = {1, 1, 2, 3, 6, 0};
    int64_t width = 1 + draw_of(random, 6);
    int turn = turns[draw_of(random, 6)], mates[2] = {draw_of(random, 4), draw_of(random, 4)};
    for (int i = 0; i < job->specs; i++) {
        memcpy(job->spec[i].mates, mates, sizeof mates);
        draw_levels(job, &job->spec[i], width, turn, random);
    }
    return 1;
}

int job_draw(struct job *job, const int extent[2], const int *rank, int one_node, uint64_t *random)
{
    static const double scalars[] = {1, 1, 1, -1, 2, 0};
    int part = draw_of(random, 6) == 0, least = draw_of(random, 4) ? 4 : 1;
    for (int axis = 0; axis < 2; axis++) /* processes that own nothing do not participate in a product (dist/cover.h) */
        job->extent[axis] = part ? 1 + draw_of(random, extent[axis]) : extent[axis];
    for (int i = 0; i < job->extent[0] * job->extent[1]; i++)
        job->rank[i] = rank[i / job->extent[1] * extent[1] + i % job->extent[1]];
    for (int x = 0; x < 3; x++) {
        job->op[x] = x < 2 && draw_of(random, 2) ? 'T' : 'N';
        job->size[x] = least + draw_of(random, draw_of(random, 8) ? 12 : 36);
    }
    draw_spreads(job, random);
    job->alpha = scalars[draw_of(random, 16) ? draw_of(random, 5) : 5];
    job->beta = scalars[draw_of(random, 6)];
    return draw_spec(job, one_node, random);
}

/* The axis of the whole matrix of which operand x is a part. */
static struct hs_axis axis_of(const struct job *job, int x, int axis)
{
    const struct spread_dimension *s = &job->spread[x][axis];
    int64_t n = job->size[hs_operand_dims[x][job->op[x] == 'N' ? axis : 1 - axis]];
    return hs_axis_make(s->before + n + s->behind, s->block, s->first, s->src, job->extent[axis]);
}

struct hs_problem job_problem(const struct job *job, int process)
{
    struct hs_problem problem = {
        .scalar = &element,
        .grid = {.extent = {job->extent[0], job->extent[1]},
                 .coord = {process / job->extent[1], process % job->extent[1]},
                 .rank = job->rank},
    };
    memcpy(problem.extent, job->size, sizeof problem.extent);
    for (int x = 0; x < 3; x++) {
        struct hs_axis rows = axis_of(job, x, 0), cols = axis_of(job, x, 1);
        const struct spread_dimension *s = job->spread[x];
        problem.view[x] = hs_view_make(&rows, &cols, s[0].before, s[1].before, rows.n - s[0].before - s[0].behind,
                                       cols.n - s[1].before - s[1].behind, problem.grid.coord, 1, job->op[x]);
    }
    return problem;
}

int job_index_of(const struct job *job, int rank)
{
    for (int i = 0; i < job->extent[0] * job->extent[1]; i++)
        if (job->rank[i] == rank)
            return i;
    return -1;
}

int job_by_node(const struct job *job)
{
    return job->spec[0].node != HS_NODE_MESSAGES;
}

static size_t describe_spec(const struct hs_spec *spec, char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    if (spec->node != HS_NODE_MESSAGES)
        used =
            (size_t)snprintf(text, room, " node%s, block %" PRId64 ", chunks %d of %" PRId64 ",",
                             spec->node == HS_NODE_EVEN ? " evenly" : "", spec->width[0], spec->chunked, spec->chunk);
    for (int l = 0; l < spec->levels && spec->node == HS_NODE_MESSAGES && used < room; l++)
        used += (size_t)snprintf(text + used, room - used, " %dx%d by %" PRId64 " %s %s,", spec->factors[0].size[l],
                                 spec->factors[1].size[l], spec->width[l], spec->bcast[l]->name, spec->reduce[l]->name);
    if (used < room)
        used += (size_t)snprintf(text + used, room - used,
                                 " turn %" PRId64 ", lookahead %d, owners %d, spread %d, segment %" PRId64 "%s",
                                 spec->turn == HS_WHOLE_TURN ? 0 : spec->turn, spec->lookahead, spec->owners,
                                 spec->spread, spec->segment, spec->cells ? ", cells" : "");
    if (used < room)
        used += (size_t)snprintf(text + used, room - used, "%s", spec->checked ? " with CRCs" : "");
    return used;
}

void job_describe(const struct job *job, char *text, size_t room)
{
    size_t used =
        (size_t)snprintf(text, room, "%c%c %" PRId64 "x%" PRId64 "x%" PRId64 " on %dx%d, %c stays, a %g b %g,",
                         job->op[0], job->op[1], job->size[0], job->size[1], job->size[2], job->extent[0],
                         job->extent[1], "ABC"[job->spec[0].stationary], job -> alpha, job -> beta);
    for (int i = 0; i < job->specs && used < room; i++) {
        used += describe_spec(&job->spec[i], text + used, room - used);
        if (i + 1 < job->specs && used < room)
            used += (size_t)snprintf(text + used, room - used, "; or");
    }
}
