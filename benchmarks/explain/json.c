/* The explanation as a json object; declared in explain.h. */
#include "common/command.h"
#include "explain/explain.h"
#include "gemm/report.h"

static json_t *machine_json(const struct hs_profile *profile)
{
    const struct hs_machine *m = &profile->machine;

    return json_pack("{s:s,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:i,s:I}", "profile", profile->source, "alpha_s", m->alpha,
                     "beta_s_per_byte", m->beta, "node_alpha_s", m->node.alpha, "node_beta_s_per_byte", m->node.beta,
                     "gamma_s_per_byte", m->gamma, "copy_s_per_byte", m->copy, "flops", 1 / profile->gemm[0].flop,
                     "threads", profile->threads, "knee", (json_int_t)profile->knee);
}

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

/* null: the paper's condition says nothing about this product on this grid. */
static json_t *condition_json(const condition *c)
{
    if (!c->applies)
        return json_null();
    return json_pack("{s:I,s:I,s:I,s:f,s:f,s:f,s:b,s:b}", "n", (json_int_t)c->n, "b", (json_int_t)c->b, "p",
                     (json_int_t)c->p, "alpha_beta_per_element", c->per_element, "alpha_beta_per_byte", c->per_byte,
                     "threshold", c->against, "minimum_per_element", c->per_element > c->against, "minimum_per_byte",
                     c->per_byte > c->against);
}

static json_t *spread_json(const spread *times)
{
    return json_pack("{s:o,s:o,s:o}", "median_s", report_real(times->median), "min_s", report_real(times->min), "max_s",
                     report_real(times->max));
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
    const char stationary[2] = {info->stationary, 0};

    json_object_set_new(object, "plan", json_string(info->line));
    json_object_set_new(object, "why", json_string(info->why));
    json_object_set_new(object, "stationary", json_string(stationary));
    json_object_set_new(object, "levels", levels_json(info));
    json_object_set_new(object, "lookahead", json_integer(info->lookahead));
    report_moves_json(info, object);
    json_object_set_new(object, "predicted_s", report_real(info->predicted_seconds));
    json_object_set_new(object, "predicted_comm_s", report_real(info->predicted_comm_seconds));
    json_object_set_new(object, "predicted_gemm_s", report_real(info->predicted_gemm_seconds));
    json_object_set_new(object, "predicted_copy_s", report_real(info->predicted_copy_seconds));
    json_object_set_new(object, "workspace_limit_bytes", json_integer((json_int_t)info->workspace_limit_bytes));
}

static json_t *hierarchies_json(const explanation *e)
{
    json_t *all = json_array();

    for (int i = 0; i < e->hierarchy_count; i++) {
        const hierarchy *h = &e->hierarchies[i];
        json_t *one = json_pack("{s:[i,i],s:i,s:b}", "groups", h->rows, h->cols, "g", h->rows * h->cols,
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

int explain_json(const explanation *e, FILE *file)
{
    const arguments *args = &e->args->common;
    const char letter[2] = {"sdcz"[args->type], 0}, ta[2] = {args->transa, 0}, tb[2] = {args->transb, 0};
    json_t *pictures = json_array(), *object;
    int good;

    object = json_pack("{s:s,s:s,s:I,s:I,s:I,s:s,s:s,s:[i,i],s:I,s:o,s:I,s:i}", "command", "explain", "type", letter,
                       "m", (json_int_t)args->m, "n", (json_int_t)args->n, "k", (json_int_t)args->k, "transa", ta,
                       "transb", tb, "grid", e->nprow, e->npcol, "nodes", (json_int_t)e->args->nodes, "machine",
                       machine_json(&e->ctx->profile), "panels", (json_int_t)e->panels, "pairs", e->pairs);
    add_plan(object, &e->info);
    json_object_set_new(object, "tuned", e->info.tuned ? json_string(e->info.tuned) : json_null());
    json_object_set_new(object, "rivals", rivals_json(&e->info));
    json_object_set_new(object, "whole_grid", json_pack("[i,i]", e->whole[0], e->whole[1]));
    json_object_set_new(object, "ranks", report_integer(e->args->ranks ? e->args->ranks : -1));
    json_object_set_new(object, "condition", condition_json(&e->groups));
    json_object_set_new(object, "lower_bound_bytes", report_real(e->info.lower_bound_bytes));
    json_object_set_new(object, "bytes_to_bound",
                        e->counted && e->info.lower_bound_bytes > 0
                            ? report_real((double)e->bytes_max / e->info.lower_bound_bytes)
                            : json_null());
    if (e->args->timing)
        json_object_set_new(object, "planning",
                            json_pack("{s:I,s:o,s:o}", "plans", (json_int_t)e->args->timing, "cold",
                                      spread_json(&e->cold), "warm", spread_json(&e->warm)));
    json_object_set_new(object, "workspace_bytes_max", json_integer(e->workspace_max));
    json_object_set_new(object, "messages_per_process_max", report_integer(e->counted ? e->messages_max : -1));
    json_object_set_new(object, "bytes_per_process_max", report_integer(e->counted ? e->bytes_max : -1));
    json_object_set_new(object, "messages", report_integer(e->counted ? e->messages : -1));
    json_object_set_new(object, "bytes", report_integer(e->counted ? e->bytes : -1));
    if (e->args->show & SHOW_GROUPS)
        json_object_set_new(object, "hierarchies", hierarchies_json(e));
    for (int i = 0; i < e->picture_count; i++)
        json_array_append_new(pictures, picture_json(e, &e->pictures[i]));
    json_object_set_new(object, "pictures", pictures);
    good = object && !json_dumpf(object, file, JSON_INDENT(2)) && fputc('\n', file) != EOF;
    json_decref(object);
    return good && !ferror(file);
}
