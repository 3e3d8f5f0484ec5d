/*
 * What tune=measure has found and remembers: in the context and in the tuned file, who overrides it, lines that do not
 * fit; hsumma_tune and hsumma_choose_grid.
 */
#include "support/product/tuned_plan.h"

#include <sys/stat.h>

static void put(const char *name, const char *text)
{
    FILE *file = rank == 0 ? fopen(tuned_path(name), "w") : NULL;
    if (file) {
        fputs(text, file);
        fclose(file);
    }
    world_reduce(0, MPI_SUM);
}

/* The first process's view of a file, on it alone: its letters, or -1. */
static int get(const char *name, char *text, size_t bytes)
{
    FILE *file = rank == 0 ? fopen(tuned_path(name), "r") : NULL;
    int length = -1;
    text[0] = 0;
    if (file) {
        length = (int)fread(text, 1, bytes - 1, file);
        text[length] = 0;
        fclose(file);
    }
    return length;
}

/* --- memories ----------------------------------------------------------------------------------------------------- */

/* Executes a plan until it is known which candidate is the fastest; its line. */
static int measured_line(hsumma_context *ctx, struct gemm_case *c, const char *words, char line[TUNED_WORDS])
{
    hsumma_plan *plan = plan_with(ctx, c, words);
    int good = plan && plan_decide(plan, c) >= 0 && plan_tuned_is(plan, "measured");
    snprintf(line, TUNED_WORDS, "%s", plan ? plan_query(plan).line : "");
    hsumma_plan_free(&plan);
    return everywhere(good);
}

/* A plan that says how it has come about, is the same on all and right. */
static int comes(hsumma_context *ctx, struct gemm_case *c, const char *options, const char *tuned, const char *line)
{
    hsumma_plan *plan = plan_with(ctx, c, options);
    int good = plan && plan_tuned_is(plan, tuned) && (!line || strcmp(plan_query(plan).line, line) == 0);
    if (plan && !good)
        tap_diag("%s: %s: %s [%s]", options ? options : "", plan_query(plan).tuned, plan_query(plan).line,
                 plan_query(plan).why);
    good = plan && everywhere(good) && plan_is_alike(plan) && plan_executes(plan, c);
    hsumma_plan_free(&plan);
    return everywhere(good);
}

/* The remembered line, with other words in its place. */
static void edit(const char *name, const char *words)
{
    char text[4096], edited[4096 + TUNED_WORDS];
    if (get(name, text, sizeof text) > 0) {
        char *at = strstr(text, "\ngemm ");
        for (int i = 0; at && i < 3; i++)
            at = strchr(at + 1, ' ');
        if (at) {
            *at = 0;
            snprintf(edited, sizeof edited, "%s %s\n", text, words);
        }
        put(name, at ? edited : text);
    } else {
        put(name, "");
    }
}

static void test_remembered(void)
{
    char line[TUNED_WORDS], text[4096];
    hsumma_grid *grid;
    unlink(tuned_path("kept"));
    world_reduce(0, MPI_SUM);
    hsumma_context *ctx = tuned_context("kept", "tune=measure", &grid);
    if (!ctx)
        return;
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 24, 20, 28, 2),
                     other = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 24, 20, 30, 2);
    if (!measured_line(ctx, &c, NULL, line)) { /* nothing to choose from: nothing is remembered */
        tap_skip(1, "one candidate");
        hsumma_grid_free(&grid);
        hsumma_free(&ctx);
        return;
    }
    int length = get("kept", text, sizeof text);
    tap_ok(
        everywhere(rank > 0 || (length > 0 && strncmp(text, "hsumma tuned 2\ngemm ", 20) == 0 && strstr(text, line))),
        "the file has the line");
    tap_ok(comes(ctx, &c, NULL, "remembered", line), "the next plan of the context is remembered: %s", line);
    tap_ok(comes(ctx, &c, "tune=estimate", "remembered", line), "also where nothing is to be measured");
    tap_ok(comes(ctx, &c, "tune=off", "estimated", NULL), "but not with tune=off");
    tap_ok(comes(ctx, &c, "tune=estimate block=2", "estimated", NULL), "nor with a word on how");
    tap_ok(comes(ctx, &c, "block=2", "measuring", NULL), "which is measured on its own");
    tap_ok(comes(ctx, &other, "tune=estimate", "estimated", NULL), "nor for another product");
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);

    ctx = tuned_context("kept", "", &grid);
    if (!ctx)
        return;
    for (int x = 0; x < 3; x++)
        c.desc[x].grid = grid;
    tap_ok(comes(ctx, &c, NULL, "remembered", line), "a second context remembers");
    hsumma_plan *plan = plan_with(ctx, &c, NULL);
    if (plan)
        tap_ok(everywhere(strstr(plan_query(plan).why, "tuned file") != NULL), "and says why: %s",
               plan_query(plan).why);
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
}

/* What was measured among candidates that somebody's words have left is not the fastest of all. */
static void test_words_apart(void)
{
    char line[TUNED_WORDS];
    hsumma_grid *grid;
    unlink(tuned_path("apart"));
    world_reduce(0, MPI_SUM);
    hsumma_context *ctx = tuned_context("apart", "tune=measure", &grid);
    if (!ctx)
        return;
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 24, 20, 28, 2);
    if (measured_line(ctx, &c, "node=messages block=2", line))
        tap_ok(comes(ctx, &c, "tune=estimate", "estimated", NULL),
               "measured with block=2: not for plans without words");
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
}

/* Lines that cannot serve (any more), and a file that cannot be read. */
static void test_passed_over(void)
{
    static const char *const lines[] = {"groups=3x3 block=2", "stationary=A groups=1x1 bcast=no_such_algorithm",
                                        "node=messages levels=7x7,2x2"};
    char line[TUNED_WORDS];
    hsumma_grid *grid;
    unlink(tuned_path("edited"));
    world_reduce(0, MPI_SUM);
    hsumma_context *ctx = tuned_context("edited", "tune=measure", &grid);
    if (!ctx)
        return;
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 24, 20, 28, 2);
    int known = measured_line(ctx, &c, NULL, line);
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
    for (unsigned i = 0; known && i < sizeof lines / sizeof *lines; i++) {
        edit("edited", lines[i]);
        ctx = tuned_context("edited", "", &grid);
        if (!ctx)
            return;
        for (int x = 0; x < 3; x++)
            c.desc[x].grid = grid;
        tap_ok(comes(ctx, &c, NULL, "estimated", NULL), "a remembered line that does not fit is passed over: %s",
               lines[i]);
        hsumma_plan *plan = plan_with(ctx, &c, NULL);
        if (plan)
            tap_ok(everywhere(!strstr(plan_query(plan).why, "tuned file")), "and has decided nothing: %s",
                   plan_query(plan).why);
        hsumma_plan_free(&plan);
        hsumma_grid_free(&grid);
        hsumma_free(&ctx);
    }
}

/* --- hsumma_tune -------------------------------------------------------------------------------------------------- */

static hsumma_status tune(hsumma_context *ctx, const struct gemm_case *c, const char *options, char *line, size_t bytes)
{
    return hsumma_tune(ctx, c->type, c->ta, c->tb, c->m, c->n, c->k, &c->desc[0], &c->desc[1], &c->desc[2], options,
                       line, bytes);
}

static void test_tune(void)
{
    char line[TUNED_WORDS] = "", text[4096], few[8] = "";
    hsumma_grid *grid;
    hsumma_context *ctx = tuned_context(NULL, "", &grid);
    if (!ctx)
        return;
    struct gemm_case c = gemm_case_of(grid, HSUMMA_C, 'N', 'C', 18, 30, 22, 2);
    hsumma_plan *plan = plan_with(ctx, &c, "tune=measure");
    int chooses = plan && plan->trial.count > 1;
    hsumma_plan_free(&plan);
    hsumma_status status = tune(ctx, &c, NULL, line, sizeof line);
    tap_ok(everywhere(!status && line[0]), "hsumma_tune without a file: %s", status ? hsumma_message(ctx) : line);
    c.options = NULL;
    tap_ok(comes(ctx, &c, NULL, chooses ? "remembered" : "estimated", line), "its context remembers");
    status = tune(ctx, &c, "node=nowhere", NULL, 0);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && strstr(hsumma_message(ctx), "node")), "a wrong option: %s",
           hsumma_message(ctx));
    struct gemm_case bad = c;
    bad.m = -1;
    status = tune(ctx, &bad, NULL, NULL, 0);
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT), "a wrong size: %s", hsumma_message(ctx));
    status = tune(ctx, &c, NULL, few, sizeof few);
    tap_ok(everywhere(!status && strlen(few) == sizeof few - 1), "a short line: \"%s\"", few);
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);

    unlink(tuned_path("made"));
    world_reduce(0, MPI_SUM);
    ctx = tuned_context("made", "tune=measure", &grid);
    if (!ctx)
        return;
    for (int x = 0; x < 3; x++)
        c.desc[x].grid = grid;
    status = tune(ctx, &c, NULL, line, sizeof line);
    int length = get("made", text, sizeof text);
    tap_ok(everywhere(!status && (rank > 0 || !chooses || (length > 0 && strstr(text, line)))),
           "hsumma_tune makes the file: %s", status ? hsumma_message(ctx) : line);
    status = tune(ctx, &c, NULL, line, sizeof line);
    length = get("made", text, sizeof text);
    char *first = rank || !chooses ? NULL : strstr(text, "\ngemm ");
    tap_ok(everywhere(!status && (rank || !chooses || (first && !strstr(first + 1, "\ngemm ")))),
           "again: measured anew, one line");
    if (rank == 0) { /* what cannot be replaced, whoever asks */
        unlink(tuned_path("made"));
        mkdir(tuned_path("made"), 0700);
    }
    world_reduce(0, MPI_SUM);
    status = tune(ctx, &c, NULL, line, sizeof line);
    if (chooses)
        tap_ok(everywhere(status == HSUMMA_ERR_OPTION && hsumma_message(ctx)[0]) &
                   everywhere(rank > 0 || strstr(hsumma_message(ctx), "made")),
               "a file that cannot be written: %s", hsumma_message(ctx));
    tap_ok(comes(ctx, &c, NULL, chooses ? "remembered" : "estimated", line), "what was measured holds all the same");
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
    if (rank == 0)
        rmdir(tuned_path("made"));
}

/* --- hsumma_choose_grid ------------------------------------------------------------------------------------------- */

static void test_grids(hsumma_context *ctx)
{
    static const struct {
        char ta, tb;
        int64_t m, n, k, nb;
        int processes, rows, cols; /* -1: any that leaves at most one process out */
    } cases[] = {{'N', 'N', 4096, 4096, 4096, 64, 16, 4, 4},
                 {'N', 'T', 512, 512, 1 << 17, 0, 16, 1, 16}, /* the columns of both are spread: C alone is summed */
                 {'T', 'N', 512, 512, 1 << 17, 0, 16, 16, 1}, /* likewise the rows */
                 {'N', 'N', 1 << 16, 64, 64, 0, 8, 8, 1},
                 {'N', 'N', 64, 1 << 16, 64, 0, 8, 1, 8},
                 {'N', 'N', 3000, 3000, 3000, 64, 7, -1, -1},
                 {'N', 'N', 100, 100, 100, 32, 1, 1, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rows = 0, cols = 0, p = cases[i].processes;
        double seconds = 0;
        hsumma_status status = hsumma_choose_grid(ctx, HSUMMA_D, cases[i].ta, cases[i].tb, cases[i].m, cases[i].n,
                                                  cases[i].k, cases[i].nb, p, "node=messages", &rows, &cols, &seconds);
        int good = !status && seconds > 0 && rows >= 1 && cols >= 1 && rows * cols <= p && rows * cols >= p - 1 &&
                   (cases[i].rows < 0 || (rows == cases[i].rows && cols == cases[i].cols));
        int64_t same = rows * 1000 + cols;
        int alike_all = world_reduce(same, MPI_MIN) == world_reduce(same, MPI_MAX);
        tap_ok(everywhere(good) & alike_all, "%d processes, %c%c %d x %d x %d: %d x %d, %g s%s%s", p, cases[i].ta,
               cases[i].tb, (int)cases[i].m, (int)cases[i].n, (int)cases[i].k, rows, cols, seconds, status ? ", " : "",
               status ? hsumma_message(ctx) : "");
    }
    static const struct {
        int64_t m, nb;
        int processes;
        const char *options;
        hsumma_status status;
    } bad[] = {{-1, 64, 4, NULL, HSUMMA_ERR_ARGUMENT},
               {100, -1, 4, NULL, HSUMMA_ERR_ARGUMENT},
               {100, 64, 0, NULL, HSUMMA_ERR_ARGUMENT},
               {100, 64, 4, "no_such=1", HSUMMA_ERR_OPTION},
               {100, 64, 4, "block=x", HSUMMA_ERR_OPTION}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        int rows = -5, cols = -5;
        hsumma_status status = hsumma_choose_grid(ctx, HSUMMA_D, 'N', 'N', bad[i].m, 100, 100, bad[i].nb,
                                                  bad[i].processes, bad[i].options, &rows, &cols, NULL);
        tap_ok(everywhere(status == bad[i].status && hsumma_message(ctx)[0]), "refused: %s: %s",
               hsumma_status_string(status), hsumma_message(ctx));
    }
}

static void test_all(hsumma_context *unused, const hsumma_grid *none)
{
    (void)unused, (void)none;
    if (!tap_ok(tuned_directory_make(), "a directory"))
        return;
    test_remembered();
    test_words_apart();
    test_passed_over();
    test_tune();
    hsumma_context *ctx = tuned_context_alone("tuned=none");
    if (ctx)
        test_grids(ctx);
    hsumma_free(&ctx);
    tuned_directory_drop();
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
