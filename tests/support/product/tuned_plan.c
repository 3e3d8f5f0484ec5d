#include "support/product/tuned_plan.h"

static char directory[] = "/tmp/hsumma-tune-XXXXXX";

const char *tuned_path(const char *name)
{
    static char path[TUNED_PATH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

hsumma_plan_info plan_query(const hsumma_plan *plan)
{
    hsumma_plan_info info;
    hsumma_plan_query(plan, &info);
    return info;
}

int plan_tuned_is(const hsumma_plan *plan, const char *word)
{
    return strcmp(plan_query(plan).tuned, word) == 0;
}

static int64_t mixed(int64_t hash, const void *bytes, size_t count)
{
    uint64_t h = (uint64_t)hash;
    for (size_t i = 0; i < count; i++)
        h = scrambled(h + ((const unsigned char *)bytes)[i]);
    return (int64_t)(h >> 2);
}

int plan_is_alike(const hsumma_plan *plan)
{
    hsumma_plan_info info = plan_query(plan);
    int64_t h = mixed(1, info.line, strlen(info.line));
    h = mixed(h, info.tuned, strlen(info.tuned));
    h = mixed(h, &info.nrivals, sizeof info.nrivals);
    for (int i = 0; i < info.nrivals; i++) {
        h = mixed(h, info.rival[i].line, strlen(info.rival[i].line));
        h = mixed(h, &info.rival[i].seconds, sizeof info.rival[i].seconds);
        h = mixed(h, &info.rival[i].measured, sizeof info.rival[i].measured);
    }
    return world_reduce(h, MPI_MIN) == world_reduce(h, MPI_MAX);
}

int plan_executes(hsumma_plan *plan, const struct gemm_case *c)
{
    struct gemm_part local[3];
    gemm_make(c, local);
    int good = gemm_begin(plan, c, local, 1) == HSUMMA_OK && gemm_wrong(c, &local[2], 0) + gemm_changed(c, local) == 0;
    gemm_drop(local);
    return good;
}

int plan_decide(hsumma_plan *plan, const struct gemm_case *c)
{
    int count = 0, good = 1;
    while (good && plan_tuned_is(plan, "measuring") && count < TUNED_MOST)
        good = plan_executes(plan, c) && ++count;
    return good && count < TUNED_MOST ? count : -1;
}

hsumma_context *tuned_context_alone(const char *options)
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

hsumma_context *tuned_context(const char *name, const char *more, hsumma_grid **grid)
{
    char options[TUNED_WORDS];
    int P, Q;
    *grid = NULL;
    snprintf(options, sizeof options, "tuned=%s %s", name ? tuned_path(name) : "none", more);
    hsumma_context *ctx = tuned_context_alone(options);
    hsumma_grid_shape(size, &P, &Q);
    if (ctx && !everywhere(hsumma_grid_create(ctx, P, Q, 'R', NULL, grid) == HSUMMA_OK)) {
        tap_ok(0, "no grid");
        hsumma_free(&ctx);
    }
    return ctx;
}

hsumma_plan *plan_with(hsumma_context *ctx, struct gemm_case *c, const char *options)
{
    hsumma_plan *plan = NULL;
    c->options = options;
    hsumma_status status = gemm_plan_create(ctx, c, &plan);
    if (!everywhere(status == HSUMMA_OK)) {
        tap_ok(0, "a plan with %s: %s", options ? options : "no words", hsumma_message(ctx));
        hsumma_plan_free(&plan);
    }
    return plan;
}

int tuned_directory_make(void)
{
    if (rank == 0 && !mkdtemp(directory))
        directory[0] = 0;
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    return everywhere(directory[0] != 0);
}

void tuned_directory_drop(void)
{
    char command[TUNED_PATH + 16];
    world_reduce(0, MPI_SUM);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    tap_ok(everywhere(rank > 0 || system(command) == 0), "the directory is gone");
}
