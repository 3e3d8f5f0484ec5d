/* The gain from layers over k (layers=L) if the processes span several nodes; declared in command.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "explain/command.h"

/* Grids with more processes are not examined. */
enum { LAYERS_PROCESSES = 1 << 12 };

/* Prices all numbers of layers that divide the processes; omits those that the library refuses. */
hsumma_status explain_layers(explanation *e, struct hs_message *message)
{
    const arguments *args = &e->args->common;
    int processes = e->whole[0] * e->whole[1];
    struct hs_request request = {.type = args->type,
                                 .op = {args->transa, args->transb, 'N'},
                                 .extent = {args->m, args->n, args->k},
                                 .desc = {&e->desc[0], &e->desc[1], &e->desc[2]}};

    if (e->node->parts == 1 || processes > LAYERS_PROCESSES)
        return HSUMMA_OK;
    e->layers = calloc((size_t)processes, sizeof *e->layers);
    if (!e->layers)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for the prices of layers");
    for (int count = 2; count <= processes && count <= args->k; count++) {
        if (processes % count)
            continue;
        hsumma_status status = hs_layered_price(e->ctx, &request, count, INT64_MAX >> 2, &e->layers[e->layers_count]);
        if (status == HSUMMA_ERR_MEMORY)
            return hs_fail(message, status, "no memory for the prices of layers");
        e->layers_count += status == HSUMMA_OK;
    }
    return HSUMMA_OK;
}

void explain_print_layers(const explanation *e, FILE *file)
{
    const struct hs_layered_price *best = NULL;
    const char *unit;
    char bytes[32];

    for (int i = 0; i < e->layers_count; i++)
        if (!best || e->layers[i].seconds < best->seconds)
            best = &e->layers[i];
    if (!best)
        return;
    double scale = report_time_unit(best->seconds, &unit);
    fprintf(file,
            "layers      best layers=%d of %d x %d: %.4g %s, %.2f of the time without layers; moving A and B %.3g, C "
            "%.3g %s; "
            "workspace %s\n",
            best->count, best->extent[0], best->extent[1], best->seconds * scale, unit,
            e->info.predicted_seconds > 0 ? best->seconds / e->info.predicted_seconds : 1,
            (best->move[0] + best->move[1]) * scale, best->move[2] * scale, unit,
            report_bytes(bytes, sizeof bytes, best->workspace_bytes));
    struct hs_settings settings = e->ctx->options.settings;
    settings.layers = HS_LAYERS_AUTO;
    if (best->seconds < HS_LAYERS_CLEARLY * e->info.predicted_seconds && hs_layered_may_choose(e->ctx, &settings))
        fprintf(file, "            layers=auto workspace_limit=%" PRId64 "M would choose them\n",
                (best->workspace_bytes >> 20) + 1);
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
