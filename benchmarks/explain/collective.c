/* hsumma explain for one collective, from its step lists; declared in command.h. */
#include <stdlib.h>
#include <string.h>

#include "coll/costs.h"
#include "coll/node/shm.h"
#include "coll/run/device_comm.h"
#include "coll/schedule/dump.h"
#include "explain/command.h"

/* Times the choice of an algorithm: without known prices (cold), and once more with them (warm). */
static hsumma_status time_choice(const hsumma_context *ctx, const struct hs_question *question, int count, FILE *file)
{
    struct hs_selector fresh = ctx->team.selector;
    double *cold = calloc((size_t)count, 2 * sizeof *cold), *warm = cold + count;
    struct hs_answer answer;
    hsumma_status status = cold ? HSUMMA_OK : HSUMMA_ERR_MEMORY;

    for (int i = 0; i < count && !status; i++) {
        fresh.price = NULL;
        fresh.prices = 0;
        fresh.price_capacity = 0;
        for (int again = 0; again < 2 && !status; again++) {
            double start = MPI_Wtime();
            status = hs_select(&fresh, question, &answer, NULL);
            (again ? warm : cold)[i] = MPI_Wtime() - start;
        }
        hs_put(fresh.memory, fresh.price);
    }
    if (!status)
        fprintf(file, "choosing: cold %.4g ms, warm %.4g us: medians of %d\n", 1e3 * spread_of(cold, count).median,
                1e6 * spread_of(warm, count).median, count);
    free(cold);
    return status;
}

hsumma_status explain_collective(const explain_arguments *args, hsumma_context *ctx, FILE *file,
                                 struct hs_message *message)
{
    int collective = coll_find(args->collective);
    struct hs_alg_spec spec = {.alg = NULL};
    struct hs_topology *topology = &ctx->comm.topology;
    struct hs_answer answer;
    char text[400];

    if (collective == HS_COLLECTIVES)
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "--collective %s: expected bcast, reduce, allreduce, allgather or reduce_scatter",
                       args->collective);
    if (args->alg &&
        hs_alg_spec_read(NULL, (enum hs_collective)collective, args->alg, strlen(args->alg), "--alg", &spec, message))
        return HSUMMA_ERR_OPTION;
    const struct hs_alg *row = spec.alg;
    if (ctx->options.settings.shared) {
        topology->shared_bytes =
            hs_shm_bytes_for(hs_division_largest(&topology->division[HS_NODE]), ctx->options.settings.shared);
        topology->direct = ctx->options.settings.direct;
    }
    struct hs_topology host = *topology; /* of vectors in host memory */
    if (args->devices) {
        ctx->profile.device_machine.devices = (int)args->devices;
        topology->shared_bytes = hs_device_shared_limit(ctx->options.settings.shared);
    }
    const struct hs_machine *machine = args->devices ? &ctx->profile.device_machine : &ctx->profile.machine;
    struct hs_shape shape = {.size = topology->size,
                             .root = (int)args->root,
                             .bytes = args->bytes,
                             .unit = 1,
                             .segment = ctx->options.settings.segment,
                             .topology = topology};
    const struct hs_question question = {
        .collective = (enum hs_collective)collective, .shape = &shape, .on_device = args->devices > 0};
    hsumma_status status = hs_select(&ctx->team.selector, &question, &answer, message);

    if (status)
        return status;
    hs_answer_write(&question, &answer, text, sizeof text);
    fprintf(file, "%s of %lld bytes over %d processes on %d node%s, root %d", args->collective, (long long)shape.bytes,
            shape.size, topology->division[HS_NODE].parts, report_plural(topology->division[HS_NODE].parts),
            shape.root);
    if (args->devices)
        fprintf(file, ", in the memory of %lld device%s per node", (long long)args->devices,
                report_plural((int)args->devices));
    fputc('\n', file);
    if (row)
        fprintf(file, "%s: %s\n", row->name, row->doc);
    int named = args->alg && strchr(args->alg, '(') != NULL; /* with parameters, which are not auto's */
    fputc('\n', file);
    if (row)
        hs_alg_spec_complete(&spec, &shape, machine);
    shape.segment = spec.segment ? spec.segment : shape.segment;
    coll_costs_heading(file, &shape);
    for (int i = 0; hs_alg_at(i) && !status; i++) {
        const struct hs_alg *alg = hs_alg_at(i);
        struct hs_alg_spec each = row ? spec : (struct hs_alg_spec){.alg = alg};

        if (row ? alg != row : (int)alg->collective != collective || alg->flags & HS_BY_MPI)
            continue;
        hs_alg_spec_complete(&each, &shape, machine);
        shape.with = each.with;
        if (!row && alg->flags & HS_ON_HOST) {
            struct hs_shape there = shape;

            there.topology = &host;
            if (args->devices)
                status = coll_costs_line(file, alg, &there, &ctx->profile.machine, machine, alg == answer.spec.alg);
        } else if (row || !hs_alg_unfit(alg, &shape)) {
            status = coll_costs_line(file, alg, &shape, machine, NULL, alg == answer.spec.alg && !named);
        }
    }
    if (status == HSUMMA_ERR_UNSUPPORTED && row)
        return hs_fail(message, status,
                       "--alg %s: no price for MPI's own collective or for this shape; expected another algorithm, or "
                       "offload.alpha_s and offload.beta_s_per_byte in the profile for a stage by MPI",
                       args->alg);
    if (status)
        return status;
    fprintf(file, "\nauto: %s\n", text);
    if (args->timing)
        status = time_choice(ctx, &question, (int)args->timing, file);
    if (status || !row)
        return status;
    shape.with = spec.with;
    fputc('\n', file);
    return hs_dump_rounds(file, row, &shape, &hs_heap);
}
