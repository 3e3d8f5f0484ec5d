#include "support/product/tuned_plan.h"

static char directory[] = "/tmp/hsumma-tune-XXXXXX";

const char *tuned_path(const char *name)
{
    static char path[4][TUNED_PATH];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], TUNED_PATH, "%s/%s", directory, name);
    return path[next];
}

void tuned_put(const char *name, const char *text, size_t length)
{
    FILE *file = rank == 0 ? fopen(tuned_path(name), "w") : NULL;
    if (file) {
        fwrite(text, 1, length, file);
        fclose(file);
    }
    world_reduce(0, MPI_SUM);
}

int plan_tuned_is(const hsumma_plan *plan, const char *word)
{
    return strcmp(plan_query(plan).tuned, word) == 0;
}

int64_t hash_of(int64_t hash, const void *bytes, size_t count)
{
    uint64_t h = (uint64_t)hash;
    for (size_t i = 0; i < count; i++)
        h = hs_scrambled(h + ((const unsigned char *)bytes)[i]);
    return (int64_t)(h >> 2);
}

int plan_is_alike(const hsumma_plan *plan)
{
    hsumma_plan_info info = plan_query(plan);
    int64_t h = hash_of(1, info.line, strlen(info.line));
    h = hash_of(h, info.tuned, strlen(info.tuned));
    h = hash_of(h, &info.nrivals, sizeof info.nrivals);
    for (int i = 0; i < info.nrivals; i++) {
        h = hash_of(h, info.rival[i].line, strlen(info.rival[i].line));
        h = hash_of(h, &info.rival[i].seconds, sizeof info.rival[i].seconds);
        h = hash_of(h, &info.rival[i].measured, sizeof info.rival[i].measured);
    }
    return alike(h);
}

int plan_decide(hsumma_plan *plan, const struct gemm_case *c)
{
    int count = 0, good = 1;
    while (good && plan_tuned_is(plan, "measuring") && count < TUNED_MOST)
        good = gemm_executes(plan, c) && ++count;
    return good && count < TUNED_MOST ? count : -1;
}

int tuned_open(const char *name, const char *more, hsumma_context **ctx, hsumma_grid **grid)
{
    char options[TUNED_WORDS];
    snprintf(options, sizeof options, "tuned=%s %s", name ? tuned_path(name) : "none", more);
    return gemm_open(options, 0, 0, ctx, grid);
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
