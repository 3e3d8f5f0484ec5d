/* Products of hsumma soak: several plans of one problem, executed in turns, and one-call routines. */

#include "base/status.h"
#include "check/result.h"
#include "product/turn.h"
#include "soak/soak.h"

enum { SOAK_PLANS = 3, CASE_TEXT = 400 };

/* A size: usually small, sometimes 0 or some hundreds. */
static int64_t draw_size(soak_scene *s)
{
    static const int64_t most[] = {0, 7, 40, 40, 150, 150, 150, 400};

    return scene_draw_from(s, 0, most[scene_draw(s, 8)]);
}

static void draw_layout(soak_scene *s, int P, int Q, int64_t layout[LAYOUT_FIELDS])
{
    static const int64_t blocks[] = {1, 3, 8, 16, 64, 500};

    if (scene_draw(s, 3) == 0) /* the default: blocks of args.nb from the first process on */
        return;
    for (int f = LAYOUT_MB; f <= LAYOUT_INB; f++)
        layout[f] = scene_draw_from(s, 1, blocks[scene_draw(s, 6)]);
    layout[LAYOUT_RSRC] = scene_draw(s, 12) ? scene_draw(s, P) : -1;
    layout[LAYOUT_CSRC] = scene_draw(s, 12) ? scene_draw(s, Q) : -1;
    layout[LAYOUT_I] = scene_draw(s, 5);
    layout[LAYOUT_J] = scene_draw(s, 5);
    layout[LAYOUT_PAD] = scene_draw(s, 4);
}

static arguments draw_problem(soak_scene *s, const hsumma_grid *grid)
{
    static const double scalars[] = {0, 1, -1, 0.5, 2.25};
    arguments args = ARGUMENTS_DEFAULT(1);
    int P, Q;

    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    args.type = (hsumma_type)scene_draw(s, 4);
    args.transa = "NNTC"[scene_draw(s, 4)];
    args.transb = "NNTC"[scene_draw(s, 4)];
    args.m = draw_size(s);
    args.n = draw_size(s);
    args.k = draw_size(s);
    args.alpha[0] = scalars[scene_draw(s, 5)];
    args.beta[0] = scalars[scene_draw(s, 5)];
    if (type_is_complex(args.type)) {
        args.alpha[1] = scalars[scene_draw(s, 5)];
        args.beta[1] = scalars[scene_draw(s, 5)];
    }
    args.seed = hs_random(&s->draws);
    args.nb = scene_draw(s, 3) ? scene_draw_from(s, 1, 80) : 0;
    for (int x = 0; x < 3; x++)
        draw_layout(s, P, Q, args.layout[x]);
    return args;
}

/* The name of a random algorithm of this collective. */
static const char *draw_algorithm(soak_scene *s, hsumma_collective collective)
{
    int count = 0;

    while (soak_algorithm(s, collective, count))
        count++;
    return soak_algorithm(s, collective, (int)scene_draw(s, count));
}

/* Draws options of a plan; some combinations are refused. */
static void draw_options(soak_scene *s, char *text, size_t size)
{
    static const char *const words[] = {"stationary=A",
                                        "stationary=B",
                                        "stationary=C",
                                        "node=messages",
                                        "node=messages",
                                        "node=shared",
                                        "lookahead=0",
                                        "lookahead=2",
                                        "block=1",
                                        "block=24",
                                        "groups=1x1",
                                        "groups=auto",
                                        "lookahead=0 owners=2",
                                        "exchange=all",
                                        "chunk=16",
                                        "turn=all",
                                        "layers=2",
                                        "layers=auto",
                                        "threads=1",
                                        "workspace_limit=64k",
                                        "segment=512",
                                        "tune=measure",
                                        "slice=2k"};
    enum { WORDS = sizeof words / sizeof *words };

    text[0] = 0;
    for (int64_t i = scene_draw(s, 4); i > 0; i--) {
        int64_t word = scene_draw(s, WORDS + 2);

        if (word < WORDS)
            hs_append(text, size, "%s ", words[word]);
        else
            hs_append(text, size, "%s=%s ", word == WORDS ? "bcast" : "reduce",
                      draw_algorithm(s, word == WORDS ? HSUMMA_BCAST : HSUMMA_REDUCE));
    }
}

static void describe(const problem *p, const char *options, char *text)
{
    const arguments *args = p->args;

    snprintf(
        text, CASE_TEXT, "product %s %c%c %lld x %lld x %lld, alpha %g%+gi, beta %g%+gi on %d x %d, options \"%s\"",
        type_name(args->type), args->transa, args->transb, (long long)args->m, (long long)args->n, (long long)args->k,
        args->alpha[0], args->alpha[1], args->beta[0], args->beta[1], p->nprow, p->npcol, options);
}

/* Whether a plan may be refused for this reason. */
static int is_refusal(hsumma_status status)
{
    return status == HSUMMA_ERR_ARGUMENT || status == HSUMMA_ERR_OPTION || status == HSUMMA_ERR_UNSUPPORTED ||
           status == HSUMMA_ERR_WORKSPACE;
}

/* Makes a plan; *plan is NULL if its options were refused. */
static int make_plan(soak_scene *s, const problem *p, const char *options, hsumma_plan **plan)
{
    const arguments *args = p->args;
    hsumma_status status = hsumma_plan_create(s->ctx, args->type, args->transa, args->transb, args->m, args->n, args->k,
                                              &p->a.desc, &p->b.desc, &p->c.desc, options, plan);
    int most, own = (int)status;
    char text[CASE_TEXT];

    describe(p, options, text);
    quiet_allreduce(&own, &most, 1, MPI_INT, MPI_MAX, s->comm);
    if (command_fail(s->comm, own != most, "%s: status %d of the plan here, %d on another rank", text, own, most) ||
        command_fail(s->comm, status && (!options[0] || !is_refusal(status)), "%s: no plan: %s", text,
                     hsumma_message(s->ctx)))
        return COMMAND_INTERNAL;
    s->did[status ? DID_REFUSED : DID_PLANS]++;
    return COMMAND_OK;
}

/* Executes a plan in one of several ways; plan NULL: by the one-call routine. */
static hsumma_status multiply(soak_scene *s, const problem *p, hsumma_plan *plan, int *code)
{
    int64_t how = scene_draw(s, 3), tests = scene_draw(s, 20);
    hsumma_status status;
    int done = 0;

    if (!plan)
        return call_gemm(p, p->c.local);
    if (how == 0)
        return hsumma_plan_execute(plan, &p->alpha, p->a.local, p->b.local, &p->beta, p->c.local);
    status = hsumma_plan_start(plan, &p->alpha, p->a.local, p->b.local, &p->beta, p->c.local);
    for (int64_t i = 0; i < tests && !status && !done; i++)
        status = hsumma_plan_test(plan, &done);
    if (how == 2 && !status)
        *code = soak_collectives(s);
    return status ? status : hsumma_plan_wait(plan);
}

static int execute(soak_scene *s, const problem *p, hsumma_plan *plan, const char *options)
{
    char text[CASE_TEXT];
    check_outcome outcome;
    int code = COMMAND_OK;
    hsumma_status status = problem_refresh(p, p->c.local);

    describe(p, plan ? options : "one call", text);
    status = status ? status : multiply(s, p, plan, &code);
    if (command_fail(s->comm, status != HSUMMA_OK, "%s: %s", text, hsumma_message(s->ctx)) || code)
        return COMMAND_INTERNAL;
    if (s->plant == PLANT_RESULT && p->args->m && p->args->n)
        check_plant(p, p->c.local, 1, 0, 0);
    code = check_product(p, p->c.local, 1, &outcome);
    if (!code && command_fail(s->comm, !outcome.passed && s->rank == 0,
                              "%s: C is wrong: residual %g, entries %g, rows %g of their bounds, at (%lld, %lld)", text,
                              outcome.residual, outcome.entry_error, outcome.row_error, (long long)outcome.row,
                              (long long)outcome.col))
        code = COMMAND_INTERNAL;
    s->did[DID_PRODUCTS]++;
    return code;
}

/* Makes up to SOAK_PLANS plans, executes them in random order, and frees them in another. */
static int run_plans(soak_scene *s, const problem *p)
{
    hsumma_plan *plan[SOAK_PLANS] = {NULL};
    char options[SOAK_PLANS][CASE_TEXT] = {""};
    int code = COMMAND_OK, count = (int)scene_draw_from(s, 0, SOAK_PLANS), first;

    for (int i = 0; i < count && !code; i++) {
        draw_options(s, options[i], CASE_TEXT);
        code = make_plan(s, p, options[i], &plan[i]);
    }
    for (int64_t i = scene_draw_from(s, 1, 2 * SOAK_PLANS); i > 0 && !code; i--) {
        int64_t which = scene_draw(s, SOAK_PLANS);

        code = execute(s, p, plan[which], options[which]);
    }
    first = (int)scene_draw(s, SOAK_PLANS);
    for (int i = 0; i < SOAK_PLANS; i++)
        hsumma_plan_free(&plan[(first + i) % SOAK_PLANS]);
    return code;
}

int soak_product(soak_scene *s)
{
    hsumma_grid *grid = s->grid[scene_draw(s, s->grids)];
    arguments args = draw_problem(s, grid);
    int which = scene_draw(s, 3) ? 0 : (int)scene_draw_from(s, 1, SHARE_ALL), code;
    problem p, shared = {.ctx = NULL};

    code = problem_create_on(&p, &args, s->ctx, grid, s->comm);
    if (!code && which)
        code = problem_share(&shared, &p, which, 0);
    if (!code)
        code = run_plans(s, which ? &shared : &p);
    if (which)
        problem_unshare(&shared);
    problem_free(&p);
    return code;
}
