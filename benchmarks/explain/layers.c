/* The gain from layers over k (layers=L) if the processes span several nodes; declared in command.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "explain/command.h"

/* On grids with more processes only the number is priced that a plan takes. */
enum { LAYERS_PROCESSES = 1 << 12 };

static hsumma_status add_price(explanation *e, const struct hs_request *request, int count)
{
    hsumma_status status = hs_layered_price(e->ctx, request, count, INT64_MAX >> 2, &e->layers[e->layers_count]);

    e->layers_count += status == HSUMMA_OK;
    return status;
}

static const struct hs_layered_price *price_of(const explanation *e, int count)
{
    for (int i = 0; i < e->layers_count; i++)
        if (e->layers[i].count == count)
            return &e->layers[i];
    return NULL;
}

static struct hs_request request_of(const explanation *e)
{
    const arguments *args = &e->args->common;

    return (struct hs_request){.type = args->type,
                               .op = {args->transa, args->transb, 'N'},
                               .extent = {args->m, args->n, args->k},
                               .desc = {&e->desc[0], &e->desc[1], &e->desc[2]}};
}

hsumma_status explain_take_layers(explanation *e)
{
    const struct hs_prediction *one = &e->plan->choice.prediction;
    const struct hs_request request = request_of(e);
    const int processes = e->whole[0] * e->whole[1];
    struct hs_settings settings = e->ctx->options.settings;
    hsumma_status status = HSUMMA_OK;

    e->layers_taken = 1;
    settings.layers = e->layers_wanted;
    if (settings.layers > 1)
        e->layers_taken = settings.layers < processes ? settings.layers : processes;
    else if (!e->plan->remembered && !e->plan->by_node && hs_layered_may_choose(e->ctx, &settings))
        status = hs_layered_choose(e->ctx, &request, &settings, (struct hs_layered_rival){one->seconds, one->gemm, 0},
                                   &e->layers_taken);
    return status;
}

/* Prices all numbers of layers that divide the processes, and that of a plan; omits those that the library refuses. */
hsumma_status explain_layers(explanation *e, struct hs_message *message)
{
    const struct hs_request request = request_of(e);
    const struct hs_settings *settings = &e->ctx->options.settings;
    int processes = e->whole[0] * e->whole[1], most = processes > LAYERS_PROCESSES ? 0 : processes;
    hsumma_status status = HSUMMA_OK;

    e->layers_taken = e->layers_fit = 1;
    if (e->node->parts == 1 || settings->bits || settings->tune == HS_TUNE_MEASURE) /* plans refuse layers */
        return HSUMMA_OK;
    e->layers = calloc((size_t)most + 1, sizeof *e->layers);
    if (!e->layers)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for the prices of layers");
    for (int count = 2; count <= most && count <= request.extent[HS_K] && status != HSUMMA_ERR_MEMORY; count++)
        if (processes % count == 0)
            status = add_price(e, &request, count);
    if (status != HSUMMA_ERR_MEMORY)
        status = explain_take_layers(e);
    if (!status && e->layers_taken > 1 && !price_of(e, e->layers_taken))
        status = add_price(e, &request, e->layers_taken);
    if (!status && e->layers_wanted > 1) { /* those that are chosen fit */
        struct hs_layered_price price;

        status = hs_layered_price(e->ctx, &request, e->layers_taken, (int64_t)e->info.workspace_limit_bytes, &price);
        e->layers_fit = status != HSUMMA_ERR_WORKSPACE;
    }
    return status == HSUMMA_ERR_MEMORY ? hs_fail(message, status, "no memory for the prices of layers") : HSUMMA_OK;
}

void explain_print_layers(const explanation *e, FILE *file)
{
    const struct hs_layered_price *taken = price_of(e, e->layers_taken), *best = taken;
    const char *unit;
    char bytes[32];

    for (int i = 0; i < e->layers_count; i++)
        if (!best || e->layers[i].seconds < best->seconds)
            best = &e->layers[i];
    if (!best)
        return;
    const struct hs_layered_price *shown = taken ? taken : best;
    double scale = report_time_unit(shown->seconds, &unit);
    fprintf(file,
            "layers      %s layers=%d of %d x %d: %.4g %s, %.2f of the time without layers; moving A and B %.3g, C "
            "%.3g %s; workspace %s\n",
            !taken          ? "best"
            : e->layers_fit ? "a plan takes"
                            : "over workspace_limit:",
            shown->count, shown->extent[0], shown->extent[1], shown->seconds * scale, unit,
            e->info.predicted_seconds > 0 ? shown->seconds / e->info.predicted_seconds : 1,
            (shown->move[0] + shown->move[1]) * scale, shown->move[2] * scale, unit,
            report_bytes(bytes, sizeof bytes, shown->workspace_bytes));
    if (taken && e->layers_fit)
        fprintf(file, "            (all other lines: without layers, as with layers=1)\n");
    struct hs_settings settings = e->ctx->options.settings;
    settings.layers = HS_LAYERS_AUTO;
    if (best != taken && best->seconds < HS_LAYERS_CLEARLY * (taken ? taken->seconds : e->info.predicted_seconds) &&
        hs_layered_may_choose(e->ctx, &settings))
        fprintf(file, "            layers=%d workspace_limit=%" PRId64 "M would take %.4g %s\n", best->count,
                (best->workspace_bytes >> 20) + 1, best->seconds * scale, unit);
}

json_t *explain_layers_json(const explanation *e)
{
    static const report_column columns[] = {{"layers", REPORT_VALUE(struct hs_layered_price, count)},
                                            {"nprow", REPORT_VALUE(struct hs_layered_price, extent[0])},
                                            {"npcol", REPORT_VALUE(struct hs_layered_price, extent[1])},
                                            {"predicted_s", REPORT_VALUE(struct hs_layered_price, seconds)},
                                            {"a_s", REPORT_VALUE(struct hs_layered_price, move[0])},
                                            {"b_s", REPORT_VALUE(struct hs_layered_price, move[1])},
                                            {"product_s", REPORT_VALUE(struct hs_layered_price, product)},
                                            {"c_s", REPORT_VALUE(struct hs_layered_price, move[2])},
                                            {"workspace_bytes", REPORT_VALUE(struct hs_layered_price, workspace_bytes)},
                                            REPORT_END};
    json_t *rows = json_array();

    for (int i = 0; i < e->layers_count; i++)
        json_array_append_new(rows, report_object(columns, &e->layers[i], REPORT_ALL));
    return rows;
}
