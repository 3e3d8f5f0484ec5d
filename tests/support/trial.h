/* Plans with tune=measure in tests: contexts with a tuned file in a directory of the test's own, and executions that
 * are looked at. */
#ifndef HS_TESTS_SUPPORT_TRIAL_H
#define HS_TESTS_SUPPORT_TRIAL_H

#include "support/product.h"

#include "hsumma/plan/plan.h"

#include <unistd.h>

enum { PATH = 128, WORDS = 400, MOST = 64 };

static char directory[] = "/tmp/hsumma-tune-XXXXXX";

/* A path in the test's directory. */
static inline const char *in(const char *name)
{
    static char path[PATH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static inline hsumma_plan_info query(const hsumma_plan *plan)
{
    hsumma_plan_info info;
    hsumma_plan_query(plan, &info);
    return info;
}

static inline int says(const hsumma_plan *plan, const char *word)
{
    return strcmp(query(plan).tuned, word) == 0;
}

static inline int64_t mixed(int64_t hash, const void *bytes, size_t count)
{
    uint64_t h = (uint64_t)hash;
    for (size_t i = 0; i < count; i++)
        h = scrambled(h + ((const unsigned char *)bytes)[i]);
    return (int64_t)(h >> 2);
}

/* What a plan says of itself and its rivals is the same on all processes. */
static inline int alike(const hsumma_plan *plan)
{
    hsumma_plan_info info = query(plan);
    int64_t h = mixed(1, info.line, strlen(info.line));
    h = mixed(h, info.tuned, strlen(info.tuned));
    h = mixed(h, &info.nrivals, sizeof info.nrivals);
    for (int i = 0; i < info.nrivals; i++) {
        h = mixed(h, info.rival[i].line, strlen(info.rival[i].line));
        h = mixed(h, &info.rival[i].seconds, sizeof info.rival[i].seconds);
        h = mixed(h, &info.rival[i].measured, sizeof info.rival[i].measured);
    }
    return quiet_reduce(h, MPI_MIN) == quiet_reduce(h, MPI_MAX);
}

/* One execution from fresh matrices: 1 if it is right here. */
static inline int execution(hsumma_plan *plan, const struct call *c)
{
    struct local local[3];
    make(c, local);
    int good = begin(plan, c, local, 1) == HSUMMA_OK && wrong(c, &local[2], 0) + changed(c, local) == 0;
    drop(local);
    return good;
}

/* Executions until a plan has decided: how many, -1 if one was wrong or it goes on for ever. */
static inline int decide(hsumma_plan *plan, const struct call *c)
{
    int count = 0, good = 1;
    while (good && says(plan, "measuring") && count < MOST)
        good = execution(plan, c) && ++count;
    return good && count < MOST ? count : -1;
}

static inline hsumma_context *context(const char *options)
{
    hsumma_context *ctx = NULL;
    char text[256] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, text, sizeof text);
    if (!everywhere(status == HSUMMA_OK)) {
        tap_ok(0, "a context with %s: %s", options, text);
        hsumma_free(&ctx);
    }
    return ctx;
}

/* A context with its tuned file in the test's directory, and a grid. */
static inline hsumma_context *tuned_context(const char *name, const char *more, hsumma_grid **grid)
{
    char options[WORDS];
    int P, Q;
    *grid = NULL;
    snprintf(options, sizeof options, "tuned=%s %s", name ? in(name) : "none", more);
    hsumma_context *ctx = context(options);
    hsumma_grid_shape(size, &P, &Q);
    if (ctx && !everywhere(hsumma_grid_create(ctx, P, Q, 'R', NULL, grid) == HSUMMA_OK)) {
        tap_ok(0, "no grid");
        hsumma_free(&ctx);
    }
    return ctx;
}

/* A plan with these words, or NULL and a failed test. */
static inline hsumma_plan *planned(hsumma_context *ctx, struct call *c, const char *options)
{
    hsumma_plan *plan = NULL;
    c->options = options;
    hsumma_status status = create(ctx, c, &plan);
    if (!everywhere(status == HSUMMA_OK)) {
        tap_ok(0, "a plan with %s: %s", options ? options : "no words", hsumma_message(ctx));
        hsumma_plan_free(&plan);
    }
    return plan;
}

/* A directory, the same for all processes; 0: none. */
static inline int make_directory(void)
{
    if (rank == 0 && !mkdtemp(directory))
        directory[0] = 0;
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    return everywhere(directory[0] != 0);
}

static inline void drop_directory(void)
{
    char command[PATH + 16];
    quiet_reduce(0, MPI_SUM);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    tap_ok(everywhere(rank > 0 || system(command) == 0), "the directory is gone");
}

#endif
