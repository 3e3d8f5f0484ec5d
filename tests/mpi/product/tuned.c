/*
 * The choices that tune=measure remembers, in the context and in the tuned file; options that override them, lines
 * that do not fit; hsumma_tune and hsumma_choose_grid.
 */
#include "support/product/tuned_plan.h"

#include <sys/stat.h>

/* Reads a file on process 0; returns its length, or -1. */
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

/* Remembered plans. */

/* A context with or without a tuned file, and a product on its grid. */
struct scene {
    hsumma_context *ctx;
    hsumma_grid *grid;
    struct gemm_case c;
};

static int scene_open(struct scene *scene, const char *file, const char *words)
{
    if (!tuned_open(file, words, &scene->ctx, &scene->grid))
        return 0;
    scene->c = gemm_case_of(scene->grid, HSUMMA_D, 'N', 'N', 24, 20, 28, 2);
    return 1;
}

static void scene_close(struct scene *scene)
{
    gemm_close(&scene->ctx, &scene->grid);
}

/* Executes a plan until the fastest candidate is known; `line` becomes the plan's line. */
static int measured_line(struct scene *scene, const char *words, char line[TUNED_WORDS])
{
    hsumma_plan *plan = plan_with(scene->ctx, &scene->c, words);
    int good = plan && plan_decide(plan, &scene->c) >= 0 && plan_tuned_is(plan, "measured");
    snprintf(line, TUNED_WORDS, "%s", plan_query(plan).line);
    hsumma_plan_free(&plan);
    return everywhere(good);
}

/* Makes a plan, which must be the same on all processes. Checks the origin of its choices (`tuned`) and, unless `line`
 * is NULL, its line. Unless `why` is NULL, the plan's reasons must name the tuned file if and only if `why` is not
 * empty. Returns 1 if all is right on all processes. */
static int comes(struct scene *scene, const char *options, const char *tuned, const char *line, const char *why)
{
    hsumma_plan *plan = plan_with(scene->ctx, &scene->c, options);
    hsumma_plan_info info = plan_query(plan);
    int from_file = strstr(info.why, "tuned file") != NULL;
    int good = plan && plan_tuned_is(plan, tuned) && (!line || strcmp(info.line, line) == 0) &&
               (!why || from_file == (why[0] != 0));
    if (plan && !good)
        tap_diag("%s: %s: %s [%s]", options ? options : "", info.tuned, info.line, info.why);
    good = plan && everywhere(good) && plan_is_alike(plan) && gemm_executes(plan, &scene->c);
    hsumma_plan_free(&plan);
    return everywhere(good);
}

/* Replaces the options in the remembered line of a tuned file. */
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
        tuned_put(name, at ? edited : text, strlen(at ? edited : text));
    } else {
        tuned_put(name, "", 0);
    }
}

/* Plans use the remembered choice in the context that measured it, and in a later context. */
static void test_remembered(void)
{
    static const struct {
        const char *options, *tuned, *what;
        int64_t k;
    } rows[] = {{NULL, "remembered", "the next plan of the context is remembered", 28},
                {"tune=estimate", "remembered", "also where nothing is to be measured", 28},
                {"tune=off", "estimated", "but not with tune=off", 28},
                {"tune=estimate block=2", "estimated", "nor with a word on how", 28},
                {"block=2", "measuring", "which is measured on its own", 28},
                {"tune=estimate", "estimated", "nor for another product", 30}};
    char line[TUNED_WORDS], text[4096];
    struct scene scene;
    if (!scene_open(&scene, "kept", "tune=measure"))
        return;
    if (!measured_line(&scene, NULL, line)) { /* with a single candidate nothing is remembered */
        tap_skip(1, "one candidate");
        scene_close(&scene);
        return;
    }
    int length = get("kept", text, sizeof text);
    tap_ok(
        everywhere(rank > 0 || (length > 0 && strncmp(text, "hsumma tuned 2\ngemm ", 20) == 0 && strstr(text, line))),
        "the file has the line: %s", line);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene.c = gemm_case_of(scene.grid, HSUMMA_D, 'N', 'N', 24, 20, rows[i].k, 2);
        int remembered = strcmp(rows[i].tuned, "remembered") == 0;
        tap_ok(comes(&scene, rows[i].options, rows[i].tuned, remembered ? line : NULL, NULL), "%s", rows[i].what);
    }
    scene_close(&scene);
    if (scene_open(&scene, "kept", ""))
        tap_ok(comes(&scene, NULL, "remembered", line, "tuned file"), "a second context remembers, and says why");
    scene_close(&scene);
}

/* On two virtual nodes, a node has a row of a grid by rows and a column of a grid by columns. A choice measured on one
 * kind of grid is not used on the other. */
static void test_mapping(void)
{
    char line[TUNED_WORDS];
    struct scene scene;
    hsumma_grid *columns = NULL, *rows = NULL;
    if (size != 4)
        return;
    if (scene_open(&scene, "mapped", "topology=nodes:2 tune=measure") && measured_line(&scene, NULL, line) &&
        tap_ok(everywhere(!hsumma_grid_create(scene.ctx, 2, 2, 'C', NULL, &columns) &&
                          !hsumma_grid_create(scene.ctx, 2, 2, 'R', NULL, &rows)),
               "two more grids of 2 x 2 on two nodes")) {
        scene.c = gemm_case_of(columns, HSUMMA_D, 'N', 'N', 24, 20, 28, 2);
        tap_ok(comes(&scene, "tune=estimate", "estimated", NULL, NULL),
               "measured with a row of the grid on each node: not for a grid with columns there");
        scene.c = gemm_case_of(rows, HSUMMA_D, 'N', 'N', 24, 20, 28, 2);
        tap_ok(comes(&scene, "tune=estimate", "remembered", line, NULL), "for another grid with rows there it is");
    }
    hsumma_grid_free(&columns);
    hsumma_grid_free(&rows);
    scene_close(&scene);
}

/* A choice measured under the caller's options is not used for a plan without these options. */
static void test_words_apart(void)
{
    char line[TUNED_WORDS];
    struct scene scene;
    if (scene_open(&scene, "apart", "tune=measure") && measured_line(&scene, "node=messages block=2", line))
        tap_ok(comes(&scene, "tune=estimate", "estimated", NULL, NULL),
               "measured with block=2: not for plans without words");
    scene_close(&scene);
}

/* Remembered lines that do not fit the product or the library. */
static void test_passed_over(void)
{
    static const struct {
        const char *line, *why;
    } rows[] = {{"groups=3x3 block=2", "the remembered plan cannot be used (group grids (the first is 3x3)"},
                {"stationary=A groups=1x1 bcast=no_such_algorithm",
                 "the remembered plan cannot be used (bcast=no_such_algorithm: no such algorithm"},
                {"node=messages levels=7x7,2x2", "the remembered plan cannot be used (group grids (the first is 7x7)"}};
    char line[TUNED_WORDS];
    struct scene scene;
    int known = scene_open(&scene, "edited", "tune=measure") && measured_line(&scene, NULL, line);
    scene_close(&scene);
    for (unsigned i = 0; known && i < sizeof rows / sizeof *rows; i++) {
        edit("edited", rows[i].line);
        if (scene_open(&scene, "edited", "")) {
            tap_ok(comes(&scene, NULL, "estimated", NULL, ""),
                   "a remembered line that does not fit is passed over, and has decided nothing: %s", rows[i].line);
            hsumma_plan *plan = plan_with(scene.ctx, &scene.c, NULL);
            tap_ok(everywhere(plan && strstr(plan_query(plan).why, rows[i].why)), "and the plan says why");
            hsumma_plan_free(&plan);
        }
        scene_close(&scene);
    }
}

/* hsumma_tune. */

static hsumma_status tune(const struct scene *scene, int64_t m, const char *options, char *line, size_t bytes)
{
    const struct gemm_case *c = &scene->c;
    return hsumma_tune(scene->ctx, c->type, c->ta, c->tb, m, c->n, c->k, &c->desc[0], &c->desc[1], &c->desc[2], options,
                       line, bytes);
}

/* Whether the product has more than one candidate. */
static int chooses(struct scene *scene)
{
    hsumma_plan *plan = plan_with(scene->ctx, &scene->c, "tune=measure");
    int many = plan && plan->trial.count > 1;
    hsumma_plan_free(&plan);
    return many;
}

static void test_tune(void)
{
    char line[TUNED_WORDS] = "", few[8] = "";
    struct scene scene;
    if (!scene_open(&scene, NULL, ""))
        return;
    scene.c = gemm_case_of(scene.grid, HSUMMA_C, 'N', 'C', 18, 30, 22, 2);
    int many = chooses(&scene);
    hsumma_status status = tune(&scene, 18, NULL, line, sizeof line);
    tap_ok(everywhere(!status && line[0]), "hsumma_tune without a file: %s", status ? hsumma_message(scene.ctx) : line);
    tap_ok(comes(&scene, NULL, many ? "remembered" : "estimated", line, NULL), "its context remembers");
    status = tune(&scene, 18, "node=nowhere", NULL, 0);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && strstr(hsumma_message(scene.ctx), "node")), "a wrong option: %s",
           hsumma_message(scene.ctx));
    status = tune(&scene, -1, NULL, NULL, 0);
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT), "a wrong size: %s", hsumma_message(scene.ctx));
    status = tune(&scene, 18, NULL, few, sizeof few);
    tap_ok(everywhere(!status && strlen(few) == sizeof few - 1), "a short line: \"%s\"", few);
    scene_close(&scene);
}

/* The file that hsumma_tune writes. */
static void test_tune_file(void)
{
    char line[TUNED_WORDS] = "", text[4096];
    struct scene scene;
    if (!scene_open(&scene, "made", "tune=measure"))
        return;
    int many = chooses(&scene);
    for (int again = 0; again < 2; again++) {
        hsumma_status status = tune(&scene, 24, NULL, line, sizeof line);
        int length = get("made", text, sizeof text);
        char *first = length > 0 ? strstr(text, "\ngemm ") : NULL;
        int there = first && strstr(first, line) && !strstr(first + 1, "\ngemm ");
        tap_ok(everywhere(!status && (rank > 0 || !many || there)), "hsumma_tune %s: %s",
               again ? "again: measured anew, one line" : "makes the file", status ? hsumma_message(scene.ctx) : line);
    }
    if (rank == 0) { /* a directory in place of the file, which even root cannot replace */
        unlink(tuned_path("made"));
        mkdir(tuned_path("made"), 0700);
    }
    world_reduce(0, MPI_SUM);
    hsumma_status status = tune(&scene, 24, NULL, line, sizeof line);
    if (many)
        tap_ok(everywhere(status == HSUMMA_ERR_OPTION && hsumma_message(scene.ctx)[0]) &
                   everywhere(rank > 0 || strstr(hsumma_message(scene.ctx), "made")),
               "a file that cannot be written: %s", hsumma_message(scene.ctx));
    tap_ok(comes(&scene, NULL, many ? "remembered" : "estimated", line, NULL), "what was measured holds all the same");
    scene_close(&scene);
    if (rank == 0)
        rmdir(tuned_path("made"));
}

/* hsumma_choose_grid. */

static void test_grids(hsumma_context *ctx)
{
    static const struct {
        char ta, tb;
        int64_t m, n, k, nb;
        int processes, rows, cols; /* expected shape; -1: any shape that leaves out at most one process */
    } cases[] = {{'N', 'N', 4096, 4096, 4096, 64, 16, 4, 4},
                 {'N', 'T', 512, 512, 1 << 17, 0, 16, 1, 16}, /* columns distributed: only C moves */
                 {'T', 'N', 512, 512, 1 << 17, 0, 16, 16, 1}, /* rows distributed: only C moves */
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
        tap_ok(everywhere(good) & alike(rows * 1000 + cols), "%d processes, %c%c %d x %d x %d: %d x %d, %g s%s%s", p,
               cases[i].ta, cases[i].tb, (int)cases[i].m, (int)cases[i].n, (int)cases[i].k, rows, cols, seconds,
               status ? ", " : "", status ? hsumma_message(ctx) : "");
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

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    (void)grid;
    if (!tap_ok(tuned_directory_make(), "a directory"))
        return;
    test_remembered();
    test_mapping();
    test_words_apart();
    test_passed_over();
    test_tune();
    test_tune_file();
    test_grids(ctx);
    tuned_directory_drop();
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
