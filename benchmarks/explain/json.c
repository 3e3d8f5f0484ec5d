/* The explanation as JSON; declared in command.h. */
#include "explain/command.h"
#include "report/bounds.h"
#include "report/product.h"

#define MACHINE(member) REPORT_VALUE(struct hs_profile, machine.member)

static const report_column machine_columns[] = {{"profile", REPORT_VALUE(struct hs_profile, source)},
                                                {"alpha_s", MACHINE(alpha)},
                                                {"beta_s_per_byte", MACHINE(beta)},
                                                {"node_alpha_s", MACHINE(node.alpha)},
                                                {"node_beta_s_per_byte", MACHINE(node.beta)},
                                                {"gamma_s_per_byte", MACHINE(gamma)},
                                                {"copy_s_per_byte", MACHINE(copy)},
                                                {"threads", REPORT_VALUE(struct hs_profile, threads)},
                                                {"knee", REPORT_VALUE(struct hs_profile, knee)},
                                                REPORT_END};

/* The columns of "condition", which is null if the paper's condition does not apply. */
static const report_column condition_columns[] = {{"n", REPORT_VALUE(condition, n)},
                                                  {"b", REPORT_VALUE(condition, b)},
                                                  {"p", REPORT_VALUE(condition, p)},
                                                  {"alpha_beta_per_element", REPORT_VALUE(condition, per_element)},
                                                  {"alpha_beta_per_byte", REPORT_VALUE(condition, per_byte)},
                                                  {"threshold", REPORT_VALUE(condition, against)},
                                                  {"minimum_per_element", REPORT_TRUTH(condition, minimum_per_element)},
                                                  {"minimum_per_byte", REPORT_TRUTH(condition, minimum_per_byte)},
                                                  REPORT_END};

static const report_column spread_columns[] = {{"median_s", REPORT_VALUE(spread, median)},
                                               {"min_s", REPORT_VALUE(spread, min)},
                                               {"max_s", REPORT_VALUE(spread, max)},
                                               REPORT_END};

static json_t *rivals_json(const hsumma_plan_info *info)
{
    json_t *rivals = json_array();

    for (int i = 0; i < info->nrivals; i++) {
        const hsumma_rival *rival = &info->rival[i];

        json_array_append_new(rivals, json_pack("{s:s?,s:o,s:o}", "plan", rival->line, "predicted_s",
                                                report_real(rival->seconds), "measured_s",
                                                rival->measured > 0 ? report_real(rival->measured) : json_null()));
    }
    return rivals;
}

static json_t *levels_json(const hsumma_plan_info *info)
{
    json_t *levels = json_array();

    for (int l = 0; l < info->nlevels; l++)
        json_array_append_new(levels, json_pack("{s:[i,i],s:I,s:s,s:s}", "members", info->level[l].rows,
                                                info->level[l].cols, "block", (json_int_t)info->level[l].block, "bcast",
                                                info->level[l].bcast, "reduce", info->level[l].reduce));
    return levels;
}

static void add_plan(json_t *object, const hsumma_plan_info *info)
{
    static const report_column columns[] = {
        {"plan", REPORT_VALUE(hsumma_plan_info, line)},
        {"why", REPORT_VALUE(hsumma_plan_info, why)},
        {"stationary", REPORT_VALUE(hsumma_plan_info, stationary)},
        {"lookahead", REPORT_VALUE(hsumma_plan_info, lookahead)},
        {"predicted_s", REPORT_VALUE(hsumma_plan_info, predicted_seconds)},
        {"predicted_comm_s", REPORT_VALUE(hsumma_plan_info, predicted_comm_seconds)},
        {"predicted_gemm_s", REPORT_VALUE(hsumma_plan_info, predicted_gemm_seconds)},
        {"predicted_copy_s", REPORT_VALUE(hsumma_plan_info, predicted_copy_seconds)},
        {"workspace_limit_bytes", REPORT_VALUE(hsumma_plan_info, workspace_limit_bytes)},
        REPORT_END};

    report_add(object, columns, info, REPORT_ALL);
    json_object_set_new(object, "levels", levels_json(info));
    report_moves_json(info, object);
}

static json_t *hierarchies_json(const explanation *e)
{
    json_t *all = json_array();

    for (int i = 0; i < e->hierarchy_count; i++) {
        const hierarchy *h = &e->hierarchies[i];
        json_t *one = json_pack("{s:[i,i],s:i,s:b}", "groups", h->grid.rows, h->grid.cols, "g", h->grid.groups,
                                "least_communication", h->least);

        if (h->plan)
            add_plan(one, &h->info);
        else
            json_object_set_new(one, "refused", json_string(h->message));
        json_array_append_new(all, one);
    }
    return all;
}

/* Messages as [round, from row, from column, to row, to column, bytes]. */
static json_t *stage_json(const explanation *e, const stage *s)
{
    json_t *messages = json_array();

    for (int i = 0; i < s->hops; i++) {
        const struct hs_hop *hop = &s->hop[i];

        json_array_append_new(messages,
                              json_pack("[i,i,i,i,i,I]", hop->round, hop->from / e->npcol, hop->from % e->npcol,
                                        hop->to / e->npcol, hop->to % e->npcol, (json_int_t)hop->bytes));
    }
    return json_pack("{s:i,s:s,s:i,s:I,s:o}", "level", s->level == HS_EXCHANGE ? 0 : s->tier + 1, "algorithm",
                     s->algorithm, "panels", s->panels, "width", (json_int_t)s->width, "messages", messages);
}

static json_t *picture_json(const explanation *e, const picture *p)
{
    const char name[2] = {"ABC"[p->operand], 0}, dim[2] = {"mnk"[e->variant.looped], 0};
    int index = p->operand - (e->plan->choice.spec.stationary < p->operand);
    json_t *map = json_array(), *stages = json_array();

    for (int i = 0; i < e->nprow; i++) {
        json_t *row = json_array();

        for (int j = 0; j < e->npcol; j++) {
            const struct hs_arrival *place = &p->place[i * e->npcol + j];
            const char cell[3] = {explain_mark(place), place->holds ? 'x' : 0, 0};

            json_array_append_new(row, json_string(cell));
        }
        json_array_append_new(map, row);
    }
    for (int s = 0; s < p->stage_count; s++)
        json_array_append_new(stages, stage_json(e, &p->stages[s]));
    return json_pack("{s:s,s:i,s:i,s:s,s:I,s:I,s:o,s:o}", "operand", name, "pair", p->pair, "owner",
                     e->owner[p->pair][index], "looped", dim, "from", (json_int_t)p->at, "width", (json_int_t)p->width,
                     "map", map, "stages", stages);
}

/* The plan with workspace_limit=100%. */
static const report_column memory_columns[] = {{"predicted_s", REPORT_VALUE(with_memory, seconds)},
                                               {"workspace_bytes", REPORT_VALUE(with_memory, workspace_bytes)},
                                               {"lookahead", REPORT_VALUE(with_memory, lookahead)},
                                               REPORT_END};

int explain_json(const explanation *e, FILE *file)
{
    static const report_column columns[] = {{"panels", REPORT_VALUE(explanation, panels)},
                                            {"pairs", REPORT_VALUE(explanation, pairs)},
                                            {"tuned", REPORT_VALUE(explanation, info.tuned)},
                                            {"lower_bound_bytes", REPORT_VALUE(explanation, info.lower_bound_bytes)},
                                            {"workspace_bytes_max", REPORT_VALUE(explanation, workspace_max)},
                                            {"messages_per_process_max", REPORT_VALUE(explanation, messages_max)},
                                            {"bytes_per_process_max", REPORT_VALUE(explanation, bytes_max)},
                                            {"messages", REPORT_VALUE(explanation, messages)},
                                            {"bytes", REPORT_VALUE(explanation, bytes)},
                                            REPORT_BOUNDS(explanation, bounds),
                                            REPORT_END};
    json_t *pictures = json_array(), *object = report_arguments_json(&e->args->common, "explain");
    json_t *model = report_object(machine_columns, &e->ctx->profile, REPORT_ALL);

    json_object_set_new(model, "flops", report_real(1 / e->ctx->profile.gemm[0].flop));
    add_plan(object, &e->info);
    report_add(object, columns, e, REPORT_ALL);
    json_object_update_new(
        object,
        json_pack("{s:[i,i],s:I,s:o,s:o,s:[i,i],s:o,s:o}", "grid", e->nprow, e->npcol, "nodes",
                  (json_int_t)e->node->parts, "machine", model, "rivals", rivals_json(&e->info), "whole_grid",
                  e->whole[0], e->whole[1], "ranks", report_integer(e->args->ranks ? e->args->ranks : -1), "condition",
                  e->groups.applies ? report_object(condition_columns, &e->groups, REPORT_ALL) : json_null()));
    explain_entering_json(e, object);
    json_object_set_new(object, "layers", explain_layers_json(e));
    json_object_set_new(object, "layers_taken", e->layers_fit ? json_integer(e->layers_taken) : json_null());
    json_object_set_new(object, "with_memory",
                        e->more.seconds > 0 ? report_object(memory_columns, &e->more, REPORT_ALL) : json_null());
    if (e->args->timing)
        json_object_set_new(object, "planning",
                            json_pack("{s:I,s:o,s:o}", "plans", (json_int_t)e->args->timing, "cold",
                                      report_object(spread_columns, &e->cold, REPORT_ALL), "warm",
                                      report_object(spread_columns, &e->warm, REPORT_ALL)));
    if (e->args->show & SHOW_GROUPS)
        json_object_set_new(object, "hierarchies", hierarchies_json(e));
    for (int i = 0; i < e->picture_count; i++)
        json_array_append_new(pictures, picture_json(e, &e->pictures[i]));
    json_object_set_new(object, "pictures", pictures);
    return report_json(object, 0, 0, file);
}
