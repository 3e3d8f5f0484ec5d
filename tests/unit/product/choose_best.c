/*
 * The quality of the choice, judged by the model: a faster network makes the chosen plan at most 1 % slower, and the
 * search, which skips most candidates, is compared with all candidates.
 */
#include "support/product/plan_question.h"
#include "support/tap.h"

#include <stdlib.h>

/* Reduces one of a machine's prices, sometimes all or none, by a random factor. */
static void make_faster(struct hs_profile *profile)
{
    struct hs_machine *m = &profile->machine;
    double *const price[] = {&m->network.alpha,
                             &m->network.beta,
                             &m->inject,
                             &m->node.alpha,
                             &m->node.beta,
                             &m->network.alpha_long,
                             &m->network.beta_long,
                             &m->node.alpha_long,
                             &m->node.beta_long,
                             &m->gamma,
                             &m->copy,
                             &profile->exchange_alpha};
    int count = sizeof price / sizeof *price, only = draw(count + 1), all = draw(6) == 0;
    double factor = 0.05 + draw(90) / 100.0;
    for (int i = 0; i < count; i++)
        if (all || i == only)
            *price[i] *= factor;
}

struct losses {
    int cases, above; /* above: number of cases in which a cost exceeds its reference by more than allowed */
    int any;          /* number of cases in which a cost exceeds its reference by more than 1e-9 */
    double worst;
    char at[900];
};

static void count(struct losses *losses, double is, double was, double allowed, const struct plan_question *q)
{
    double loss = was > 0 ? is / was - 1 : 0;
    losses->cases++;
    losses->any += loss > 1e-9;
    losses->above += loss > allowed;
    if (loss > losses->worst) {
        losses->worst = loss;
        plan_question_describe(q, losses->at, sizeof losses->at);
    }
}

static void faster_networks(int cases)
{
    struct losses spec[2] = {{0}}, choice[2] = {{0}}; /* [0]: without an injection limit; [1]: with one */
    draw_seed(3);
    for (int i = 0; i < cases; i++) {
        struct plan_question q = plan_question_draw(8), faster;
        struct hs_ranking before, after;
        struct hs_message message;
        if (i % 2)
            q.profile.machine.inject = 0;
        faster = q;
        make_faster(&faster.profile);
        if (plan_ask(&q, NULL, &before, &message) || plan_ask(&faster, NULL, &after, &message))
            continue;
        const struct hs_choice *was = &before.choice[0], *is = &after.choice[0];
        int limited = q.profile.machine.inject > 0;
        count(&spec[limited], plan_cost_of(&faster, &was->spec, NULL), was->prediction.seconds, limited ? 0.01 : 1e-9,
              &q);
        count(&choice[limited], is->prediction.seconds, was->prediction.seconds, 0.01, &q);
    }
    for (int limited = 0; limited < 2; limited++) {
        const char *with = limited ? "with injection" : "without injection";
        if (!tap_ok(!spec[limited].above,
                    "%s, on a faster network the same plan is not slower (%d cases, %d by 1e-9 "
                    "or more, at most %.3f %%)",
                    with, spec[limited].cases, spec[limited].any, 100 * spec[limited].worst))
            tap_diag("%d are: %s", spec[limited].above, spec[limited].at);
        if (!tap_ok(!choice[limited].above, "nor is the plan that is chosen then (%d by 1e-9 or more, at most %.3f %%)",
                    choice[limited].any, 100 * choice[limited].worst))
            tap_diag("%d are: %s", choice[limited].above, choice[limited].at);
    }
}

/* The cost of the best plan over all group grids of one outer level and all pairs of broadcast algorithms, each forced
 * by options; -1 if there is none. With shared panels, group grids that cut through nodes are skipped. */
static double best_forced(const struct plan_question *q, const char *words, struct hs_clock_memo *memo, char *how,
                          size_t size)
{
    static const char *const rows[] = {"flat", "binomial", "van_de_geijn", "chain", "binary_tree"};
    struct plan_question forced = *q;
    double best = -1;
    for (int i = 1; i <= q->product.extent[0]; i++)
        for (int j = 1; j <= q->product.extent[1]; j++)
            for (int row = 0; row < 25; row++) {
                struct hs_ranking ranking;
                struct hs_message message;
                if (q->product.extent[0] % i || q->product.extent[1] % j)
                    continue;
                snprintf(forced.words, sizeof forced.words, "%s groups=%dx%d bcast=outer=%s,inner=%s", words, i, j,
                         rows[row / 5], rows[row % 5]);
                if (plan_ask(&forced, memo, &ranking, &message) || ranking.choice[0].cut)
                    continue;
                double seconds = ranking.choice[0].prediction.seconds;
                if (best >= 0 && seconds >= best)
                    continue;
                best = seconds;
                snprintf(how, size, "groups %dx%d %s %s, outer %d", i, j, rows[row / 5], rows[row % 5],
                         (int)ranking.choice[0].spec.width[0]);
            }
    return best;
}

/* Compares choices with the best forced plans of equal block and lookahead. Options give both if `given`; else the
 * library chooses them. */
static void against_all(int cases, int given)
{
    static const int even[] = {1, 2, 3, 4, 6, 8, 9, 12, 16};
    static struct hs_clock_memo memo;
    struct losses losses = {0};
    int tenth = 0, percent = 0;
    char best_is[200] = "";
    /* With seeds 4 to 8, about 1,450 products, three gaps exceed 5 %: 9.7, 11 and 12 %; all others 2.3 %. */
    draw_seed(7);
    for (int i = 0; i < cases; i++) {
        struct plan_question q = plan_question_draw(8);
        struct hs_ranking ranking;
        struct hs_message message;
        char how[200] = "", words[100];
        for (int a = 0; a < 2; a++)
            q.product.extent[a] = even[draw(9)];
        if (q.nodes)
            q.nodes = 1 + draw(q.product.extent[0] * q.product.extent[1]);
        q.profile.one_node = q.nodes == 1;
        q.shared = q.nodes > 1 && draw(2) ? (int64_t)1 << 40 : 0;
        hs_clock_memo_begin(&memo, &q.profile, &hs_heap);
        snprintf(q.words, given ? sizeof q.words : 1, "block=%d lookahead=%d", 16 << draw(6), draw(2));
        if (plan_ask(&q, &memo, &ranking, &message))
            continue;
        /* The library uses all of a limit in bytes. Of a limit given as a share it leaves a fifth to MPI's buffers if
         * it chooses the block. */
        size_t said = strlen(q.words);
        snprintf(q.words + said, sizeof q.words - said, " workspace_limit=%lld", (long long)ranking.workspace_limit);
        if (plan_ask(&q, &memo, &ranking, &message))
            continue;
        const struct hs_spec *spec = &ranking.choice[0].spec;
        snprintf(words, sizeof words, "block=%d lookahead=%d workspace_limit=%lld", (int)spec->width[spec->levels - 1],
                 spec->lookahead, (long long)ranking.workspace_limit);
        double worst = losses.worst, best = best_forced(&q, words, &memo, how, sizeof how);
        double gap = best > 0 ? ranking.choice[0].prediction.seconds / best - 1 : 0;
        tenth += gap > 0.001;
        percent += gap > 0.01;
        count(&losses, gap + 1, 1, 0.02, &q);
        if (losses.worst > worst)
            memcpy(best_is, how, sizeof how);
    }
    /* the search varies one coordinate at a time, and sometimes misses a better plan (doc/planner.md) */
    if (!tap_ok(losses.cases > cases / 2 && losses.above * 20 <= losses.cases && losses.worst < 0.15,
                "against all group grids and broadcasts at the %s block and lookahead (%d products): %d by more than "
                "0.1 %% above the best, %d by 1 %%, %d by 2 %%; at most %.2f %%",
                given ? "given" : "chosen", losses.cases, tenth, percent, losses.above, 100 * losses.worst))
        tap_diag("%s: best is %s", losses.at, best_is);
}

int main(void)
{
    faster_networks(2000);
    against_all(150, 1);
    against_all(150, 0);
    return tap_done();
}
