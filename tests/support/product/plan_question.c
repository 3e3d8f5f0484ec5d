#include "support/product/plan_question.h"

#include "hsumma/search/search_node.h"

int64_t draw_size(int64_t least, int64_t most)
{
    double ratio = (double)most / (double)least;
    int64_t size = least;
    for (int part = draw(1000); part > 0 && ratio > 1; part--)
        size = size + (size + 99) / 100 > most ? most : size + (draw(2) ? size / 100 : (size + 99) / 100);
    return size;
}

static hsumma_status topology_of(const struct plan_question *q, struct hs_topology *topology)
{
    static int node[RANKS];
    int ranks = q->product.extent[0] * q->product.extent[1], block = (ranks + q->nodes - 1) / q->nodes;
    for (int i = 0; i < ranks; i++)
        node[i] = q->turn ? i % q->nodes : i / block;
    return hs_topology_make(topology, ranks, node, NULL, &hs_heap);
}

hsumma_status plan_read_words(const char *words, struct hs_settings *settings, struct hs_message *message)
{
    struct hs_options options;
    hs_options_default(&options, NULL);
    hsumma_status status = hs_options_apply(&options, words, HS_BY_PLAN, message);
    *settings = options.settings;
    return status;
}

hsumma_status plan_ask(const struct plan_question *q, struct hs_clock_memo *memo, struct hs_ranking *ranking,
                       struct hs_message *message)
{
    static struct hs_clock_memo cold;
    struct hs_problem problem = model_problem(&q->product);
    struct hs_settings settings;
    struct hs_topology topology;
    for (int a = 0; q->first && a < 2; a++)
        problem.view[HS_C].axis[a].first = q->first;
    memset(ranking, 0, sizeof *ranking);
    message->text[0] = 0;
    hsumma_status status = plan_read_words(q->words, &settings, message);
    if (!status && q->nodes)
        status = topology_of(q, &topology);
    if (status)
        return status;
    if (!memo)
        hs_clock_memo_begin(memo = &cold, &q->profile, &hs_heap);
    struct hs_planner planner = {.memo = memo,
                                 .topology = q->nodes ? &topology : NULL,
                                 .coll = q->coll,
                                 .tuned = q->tuned,
                                 .threads = 1,
                                 .sharing = {.bytes = (size_t)q->shared},
                                 .memory = &hs_heap};
    status = hs_choose(&problem, &settings, &planner, ranking, message);
    if (!status && q->divides)
        status = hs_choose_even(&problem, &settings, &planner, ranking, message);
    if (q->nodes)
        hs_topology_free(&topology, &hs_heap);
    return status;
}

double plan_cost_of(const struct plan_question *q, const struct hs_spec *spec, int64_t *bytes)
{
    struct hs_problem problem = model_problem(&q->product);
    struct hs_topology topology;
    if (q->nodes && topology_of(q, &topology))
        return INFINITY;
    struct hs_prediction prediction = model_price(&problem, spec, &q->profile, q->nodes ? &topology : NULL, bytes);
    if (q->nodes)
        hs_topology_free(&topology, &hs_heap);
    return prediction.seconds >= 0 ? prediction.seconds : INFINITY;
}

int64_t plan_shared_bytes(const struct plan_question *q, const struct hs_spec *spec)
{
    struct hs_problem problem = model_problem(&q->product);
    struct hs_topology topology;
    struct hs_line_table lines;
    struct hs_variant variant;
    struct hs_pairs pairs;
    struct hs_message message;
    int64_t bytes = -1;
    if (topology_of(q, &topology) || hs_variant_make(&problem, spec->stationary, &variant, &message) ||
        hs_variant_pairs(&variant, &hs_heap, &pairs))
        return -1;
    if (!hs_line_table_init(&lines, &topology, 0, &problem.grid, &hs_heap) && !hs_line_table_share(&lines, &hs_heap))
        bytes = hs_need_of(&(struct hs_pricing){NULL, &lines, &problem, &variant, &pairs, 1}, spec).shared;
    hs_line_table_free(&lines, &hs_heap);
    hs_pairs_free(&hs_heap, &pairs);
    hs_topology_free(&topology, &hs_heap);
    return bytes;
}

/* Draws a factor from 1/16 to 16. */
static double draw_factor(void)
{
    return (1 + draw(100) / 100.0) * (double)(1 << draw(8)) / 16;
}

static struct hs_profile draw_profile(void)
{
    struct hs_profile profile = hs_profile_builtin;
    struct hs_machine *m = &profile.machine;
    struct hs_link *link[2] = {&m->network, &m->node};
    for (int i = 0; i < 2; i++) {
        double slower = draw_factor();
        link[i]->alpha *= draw_factor() * slower;
        link[i]->beta *= draw_factor() * slower;
        if (draw(2)) {
            link[i]->eager = 1 << (10 + draw(8));
            link[i]->alpha_long = link[i]->alpha * (1 + draw(4));
            link[i]->beta_long = link[i]->beta * (0.5 + draw(3) / 4.0);
        }
    }
    m->inject = draw(3) ? m->beta * (0.1 + draw(10) / 10.0) : 0;
    m->gamma *= draw_factor();
    m->copy *= draw_factor();
    if (draw(2))
        profile.exchange_alpha = m->alpha * (1 + draw(3));
    profile.overlap = draw(5) / 4.0;
    profile.pipelining = draw(2) ? 1 : 2.0 / 3;
    profile.knee = 64 << draw(4);
    return profile;
}

struct plan_question plan_question_draw(int most)
{
    struct plan_question q;
    memset(&q, 0, sizeof q);
    q.product.type = draw(4);
    q.profile = draw_profile();
    for (int a = 0; a < 2; a++) {
        q.product.extent[a] = 1 + draw(most);
        q.product.coord[a] = -1;
    }
    for (int dim = 0; dim < 3; dim++)
        q.product.size[dim] = draw(20) ? draw_size(1, 20000) : draw(3);
    for (int x = 0; x < 3; x++) {
        q.product.op[x] = x == HS_C || draw(3) ? 'N' : draw(2) ? 'T' : 'C';
        q.product.src[x] = draw(3) ? 0 : draw(most);
        int64_t block = draw(2) ? 0 : draw_size(100, 1000); /* large blocks, because a few blocks are counted faster */
        for (int a = 0; a < 2; a++)
            q.product.block[x][a] = block;
    }
    q.profile.one_node = draw(3) == 0;
    if (!q.profile.one_node && draw(2)) {
        q.nodes = 1 + draw(q.product.extent[0] * q.product.extent[1]);
        q.turn = draw(2);
        q.profile.one_node = q.nodes == 1;
    }
    return q;
}

void plan_question_describe(const struct plan_question *q, char *text, size_t size)
{
    const struct model_product *p = &q->product;
    snprintf(
        text, size,
        "%c%c %lldx%lldx%lld on %dx%d, nodes %d%s%s sharing %lld bytes, blocks %lld %lld %lld, type %d, words '%s'",
        p->op[0], p->op[1], (long long)p->size[0], (long long)p->size[1], (long long)p->size[2], p->extent[0],
        p->extent[1], q->nodes, q->turn ? " in turn" : "", q->profile.one_node ? ", one node" : "",
        (long long)q->shared, (long long)p->block[0][0], (long long)p->block[1][0], (long long)p->block[2][0], p->type,
        q->words);
}
