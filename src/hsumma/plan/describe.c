/* The text of a plan: the line of options that gives the same plan, and the origin of each choice. */
#include "hsumma/plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct plan_text {
    char *at;
    size_t size;
};
#define ADD(text, ...) hs_append((text).at, (text).size, __VA_ARGS__)

/* Writes the algorithms of all levels.  unsaid: 1 if the line leaves the hierarchy open; a plan made from the line may
 * then have another number of levels, so only the outermost and innermost algorithms are written. */
static void add_names(struct plan_text text, const char *option, const struct hs_spec *spec,
                      const struct hs_alg *const alg[], const struct hs_parameters with[], int unsaid)
{
    int alike = 1, last = spec->levels - 1;
    for (int l = 1; l < spec->levels; l++)
        alike &= alg[l] == alg[0] && hs_same_parameters(&with[l], &with[0]);
    ADD(text, " %s=", option);
    for (int l = 0; l < (alike ? 1 : spec->levels); l += unsaid && l < last ? last - l : 1) {
        char word[HS_ALG_SPEC_TEXT];
        hs_alg_spec_write(&(struct hs_alg_spec){.alg = alg[l], .with = with[l]}, word, sizeof word);
        ADD(text, "%s%s%s", l ? "," : "", alike || !unsaid ? "" : l ? "inner=" : "outer=", word);
    }
}

/* Writes the caller's workspace limit. */
static void add_limit(const struct hs_options *options, struct plan_text text)
{
    char limit[HS_NAME_TEXT];
    if (!options->said_by[HS_OPT_WORKSPACE_LIMIT])
        return;
    hs_option_write(HS_OPT_WORKSPACE_LIMIT, &options->settings, limit, sizeof limit);
    ADD(text, " workspace_limit=%s", limit);
}

/* Writes the options that the lines of all plans end with. */
static void write_rest(int threads, const struct hs_options *options, struct plan_text text)
{
    if (threads)
        ADD(text, " threads=%d", threads);
    else
        ADD(text, " threads=user");
    add_limit(options, text);
    if (options->settings.bits)
        ADD(text, " bits=anywhere");
}

/* The value of the option `node` that the line needs; -1 if it needs none.  A product inside a node needs it; so do
 * cells, unless a group cuts through a node, and messages on several nodes if the caller requested them. */
static int node_to_say(const hsumma_plan *plan, const struct hs_choice *choice, const struct hs_options *options)
{
    const struct hs_topology *topology = &plan->ctx->comm.topology;
    int several = topology->size && topology->division[HS_NODE].parts > 1;
    if (choice->spec.node != HS_NODE_MESSAGES)
        return choice->spec.node;
    if (choice->spec.cells && !choice->cut)
        return HS_NODE_SHARED;
    return several && options->settings.node == HS_NODE_MESSAGES ? HS_NODE_MESSAGES : -1;
}

/* Writes the options of a choice.  The hierarchy is left out if the problem's grid is smaller than the whole grid,
 * because the hierarchy in a line applies to the whole grid. */
static void write_line(const hsumma_plan *plan, const struct hs_choice *choice, const struct hs_options *options,
                       struct plan_text text)
{
    const struct hs_spec *spec = &choice->spec;
    int part = plan->ranks && spec->node != HS_NODE_EVEN, threads = plan->choice.spec.threads,
        node = node_to_say(plan, choice, options);
    ADD(text, "stationary=%c", "ABC"[spec->stationary]);
    if (node >= 0)
        ADD(text, " node=%s", hs_option_word(HS_OPT_NODE, node));
    if (spec->node != HS_NODE_MESSAGES) {
        ADD(text, " block=%" PRId64, spec->width[0]);
        if (spec->chunked >= 0)
            ADD(text, " chunk=%" PRId64, spec->chunk);
        write_rest(threads, options, text);
        return;
    }
    if (part)
        ADD(text, " groups=auto");
    else if (spec->levels == 1)
        ADD(text, " groups=1x1");
    for (int l = 0; !part && l < spec->levels - 1; l++)
        ADD(text, "%s%dx%d", l ? "," : " levels=", spec->factors[0].size[l], spec->factors[1].size[l]);
    ADD(text, " block=%" PRId64, spec->width[spec->levels - 1]);
    for (int l = 0; l < spec->levels - 1; l++)
        ADD(text, "%s%" PRId64, l ? "," : " outer=", spec->width[l]);
    if (spec->turn == HS_WHOLE_TURN)
        ADD(text, " turn=all");
    else
        ADD(text, " turn=%" PRId64, spec->turn);
    add_names(text, "bcast", spec, spec->bcast, spec->bcast_with, part);
    add_names(text, "reduce", spec, spec->reduce, spec->reduce_with, part);
    if (choice->prediction.exchanges)
        ADD(text, " exchange=%s", spec->spread ? "all" : "root");
    ADD(text, " segment=%" PRId64 " lookahead=%d", spec->segment, spec->lookahead);
    if (spec->owners > 1)
        ADD(text, " owners=%d", spec->owners);
    if (spec->slice == INT64_MAX)
        ADD(text, " slice=none");
    else
        ADD(text, " slice=%" PRId64, spec->slice);
    write_rest(threads, options, text);
}

static void write_why(const hsumma_plan *plan, const struct hs_options *options, struct plan_text text)
{
    static const char *const sayer[] = {"model", "tuned file", "environment", "context", "caller"};
    static const enum hs_option shown[] = {HS_OPT_STATIONARY, HS_OPT_GROUPS, HS_OPT_BLOCK,    HS_OPT_OUTER,
                                           HS_OPT_BCAST,      HS_OPT_REDUCE, HS_OPT_EXCHANGE, HS_OPT_LOOKAHEAD,
                                           HS_OPT_NODE,       HS_OPT_CHUNK,  HS_OPT_THREADS};
    for (unsigned i = 0; i < sizeof shown / sizeof *shown; i++) {
        hsumma_option_info info;
        int by = options->said_by[shown[i]];
        if (shown[i] == HS_OPT_GROUPS && options->settings.given_levels.count)
            by = options->said_by[HS_OPT_LEVELS];
        hsumma_option(shown[i], &info);
        int ruled = by == HS_BY_DEFAULT && ((shown[i] == HS_OPT_BCAST && plan->choice.by_rule[0]) ||
                                            (shown[i] == HS_OPT_REDUCE && plan->choice.by_rule[1]));
        ADD(text, "%s%s: %s", i ? ", " : "", info.name, ruled ? "rules for collectives" : sayer[by]);
    }
    ADD(text, "; workspace limit: %s",
        options->said_by[HS_OPT_WORKSPACE_LIMIT] ? sayer[options->said_by[HS_OPT_WORKSPACE_LIMIT]] : "default");
    ADD(text, "; profile: %s, %d candidates", plan->ctx->profile.source, plan->ranking.considered);
    if (plan->choice.cut)
        ADD(text, "; groups cut through nodes, so panels are also sent inside nodes");
    if (plan->choice.apart)
        ADD(text, "; nodes do not share panels: %s", plan->choice.apart);
    if (plan->not_recalled[0])
        ADD(text, "; the remembered plan cannot be used (%s)", plan->not_recalled);
    if (plan->device.why_not)
        ADD(text, "; device: staged through the host (%s)", plan->device.why_not);
    if (plan->grid->shared.refused[0])
        ADD(text, "; %s", plan->grid->shared.refused);
    if (plan->ctx->note[0])
        ADD(text, "; %s", plan->ctx->note);
    const char *note = hs_local_note(plan->ctx->local);
    if (plan->ctx->local)
        ADD(text, "; local GEMM: %s%s%s", hs_plan_maker(plan), note[0] ? ", because " : "", note);
}

const char *hs_plan_maker(const hsumma_plan *plan)
{
    const struct hs_variant *variant = plan->by_node ? &plan->node.variant : &plan->loop.variant;
    const struct hs_spec *spec = &plan->choice.spec;
    int64_t extent[3], whole = plan->problem.extent[variant->looped], width = spec->width[spec->levels - 1];
    memcpy(extent, plan->by_node ? plan->node.local : plan->loop.local, sizeof extent);
    extent[variant->looped] = width < whole ? width : whole;
    if (plan->member && plan->problem.scalar->ordered)
        return "hsumma";
    return plan->member ? hs_local_maker(plan->ctx->local, plan->problem.scalar, extent) : "none";
}

/* Describes a plan with layers.  Its line is the option `layers`, then the line of a layer's plan.  If the plans of
 * layers differ, no options say all of them; its line is then the given options and `layers`, with which the layers
 * make their plans again. */
static void describe_layered(hsumma_plan *plan, const struct hs_options *options)
{
    const struct hs_layered *layered = plan->layered;
    /* the inner plan's workspace_limit is the rest of the caller's limit, and is left out */
    const char *inside = layered->inner->line, *limit = strstr(inside, " workspace_limit=");
    int length = limit ? (int)(limit - inside) : (int)strlen(inside);
    snprintf(plan->line, sizeof plan->line, "layers=%d", layered->count);
    if (layered->alike) {
        hs_append(plan->line, sizeof plan->line, " %.*s", length, inside);
        add_limit(options, (struct plan_text){plan->line, sizeof plan->line});
    } else {
        hs_options_write_plan_said(options, plan->line, sizeof plan->line);
        write_rest(layered->inner->choice.spec.threads, options, (struct plan_text){plan->line, sizeof plan->line});
    }
    snprintf(plan->why, sizeof plan->why, "%d layers of %d x %d processes%s; in %s: %.*s", layered->count,
             layered->extent[0], layered->extent[1],
             options->settings.layers == HS_LAYERS_AUTO ? " (layers: model)" : "",
             layered->alike ? "a layer" : "this process's layer (plans of layers differ)", (int)sizeof plan->why - 152,
             layered->inner->why);
}

void hs_plan_describe(hsumma_plan *plan, const struct hs_options *options)
{
    if (plan->layered) {
        describe_layered(plan, options);
        return;
    }
    write_line(plan, &plan->choice, options, (struct plan_text){plan->line, sizeof plan->line});
    for (int i = 1; i < plan->ranking.count; i++)
        write_line(plan, &plan->ranking.choice[i], options,
                   (struct plan_text){plan->rival[i - 1], sizeof plan->rival[i - 1]});
    if (plan->device.possible)
        write_line(plan, &plan->device.choice, options,
                   (struct plan_text){plan->device.line, sizeof plan->device.line});
    write_why(plan, options, (struct plan_text){plan->why, sizeof plan->why});
}
