/*
 * Between nodes a call of p?gemm has the choice for the class of its shape (hsumma/plan/class_choice.c), whichever
 * shape of the class comes first, and on processes that have not seen the others.
 */
#include "api/plan_cache.h"
#include "hsumma/plan/plan.h"
#include "support/tap.h"
#include "support/world.h"
#include <string.h>

static hsumma_context *ctx;
static hsumma_grid *grid;

/* Plans an m x n x k product as p?gemm does; returns the predicted seconds of its choice, which depend on the shape for
 * which it was made, or -1. */
static double plan_for(int64_t m, int64_t n, int64_t k, int src, const char *options)
{
    hsumma_desc desc[3];
    struct hs_request request = {
        .type = HSUMMA_D, .op = {'N', 'N', 'N'}, .extent = {m, n, k}, .options = options, .alone = 1};
    hsumma_plan *plan;
    for (int x = 0; x < 3; x++) {
        hsumma_desc_init(&desc[x], grid, x == HS_B ? k : m, x == HS_A ? k : n, 64, 64);
        desc[x].rsrc = desc[x].csrc = src;
        desc[x].ld = desc[x].m; /* enough for any source */
        request.desc[x] = &desc[x];
    }
    return hs_plan_cached(ctx, &request, &plan) ? -1 : plan->choice.prediction.seconds;
}

/* The plan of a layer, which has no agreement of its own, is that of its own shape also if the cache makes the
 * product's plan. */
static void test_layers(void)
{
    char text[480];
    hsumma_desc desc[3];
    hsumma_plan *plan = NULL, *cached = NULL;
    struct hs_request request = {.type = HSUMMA_D, .op = {'N', 'N', 'N'}, .extent = {520, 520, 1050}};
    int good = !hsumma_create(MPI_COMM_WORLD, "topology=nodes:2 profile=builtin layers=2", &ctx, text, sizeof text) &&
               !hsumma_grid_create(ctx, 2, size / 2, 'R', NULL, &grid);
    for (int x = 0; x < 3 && good; x++) {
        hsumma_desc_init(&desc[x], grid, request.extent[x == HS_B ? HS_K : HS_M],
                         request.extent[x == HS_A ? HS_K : HS_N], 64, 64);
        request.desc[x] = &desc[x];
    }
    hsumma_plan_info info = {0}, of_cached = {0};
    good = everywhere(good) && !hs_plan_cached(ctx, &request, &cached) &&
           !hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', 520, 520, 1050, &desc[0], &desc[1], &desc[2], NULL, &plan);
    if (good) {
        hsumma_plan_query(cached, &of_cached);
        hsumma_plan_query(plan, &info);
    }
    tap_ok(everywhere(good && strcmp(info.line, of_cached.line) == 0 &&
                      info.predicted_seconds == of_cached.predicted_seconds),
           "a plan in layers of the cache: %s", good ? of_cached.line : hsumma_message(ctx));
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
}

int main(int argc, char **argv)
{
    static const int64_t n[] = {769, 900, 1024}, other = 700;
    char text[480];
    world_begin(&argc, &argv);
    int64_t good = 1;
    double first = 0;
    for (int order = 0; order < 2 && good; order++) {
        double seconds[3];
        int64_t bits = 0;
        good &= !hsumma_create(MPI_COMM_WORLD, "topology=nodes:2 profile=builtin", &ctx, text, sizeof text) &&
                !hsumma_grid_create(ctx, 2, size / 2, 'R', NULL, &grid);
        for (int i = 0; i < 3 && good; i++) {
            const int at = order ? 2 - i : i;
            if (rank == 0 && i == 0) /* as if this process alone had been part of another product */
                plan_for(770, 770, 60, 0, NULL);
            seconds[at] = plan_for(n[at], n[at], 60 + at, (i + order) % 2, i ? NULL : "explain=0");
        }
        memcpy(&bits, &seconds[0], sizeof bits);
        good = everywhere((int)good) && alike(bits) && (order == 0 || seconds[0] == first) && seconds[0] > 0 &&
               seconds[0] == seconds[1] && seconds[1] == seconds[2];
        tap_ok(everywhere((int)good), "order %d: one choice for %d, %d and %d", order, (int)n[0], (int)n[1], (int)n[2]);
        if (order == 0) {
            first = seconds[0];
            double differs = plan_for(other, other, 60, 0, NULL);
            tap_ok(everywhere(differs > 0 && differs < seconds[0]), "another class: another choice");
        }
        hsumma_grid_free(&grid);
        hsumma_free(&ctx);
    }
    test_layers();
    return world_end();
}
