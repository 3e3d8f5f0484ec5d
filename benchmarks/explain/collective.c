/* One collective, by its step lists; declared in command.h. */
#include <string.h>

#include "coll/costs.h"
#include "coll/schedule/dump.h"
#include "explain/command.h"

hsumma_status explain_collective(const explain_arguments *args, const hsumma_context *ctx, FILE *file,
                                 struct hs_message *message)
{
    int collective = coll_find(args->collective);
    const struct hs_alg *row = NULL;
    hsumma_status status = HSUMMA_OK;
    char names[400];

    if (collective == HS_COLLECTIVES)
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "--collective %s: expected bcast, reduce, allreduce, allgather or reduce_scatter",
                       args->collective);
    hs_alg_names(NULL, (enum hs_collective)collective, names, sizeof names);
    if (args->alg && !(row = hs_alg_find((enum hs_collective)collective, args->alg)))
        return hs_fail(message, HSUMMA_ERR_OPTION, "--alg %s: expected one of: %s", args->alg, names);
    struct hs_shape shape = {.size = (int)args->size,
                             .root = (int)args->root,
                             .bytes = args->bytes,
                             .unit = 1,
                             .segment = ctx->options.settings.segment};
    fprintf(file, "%s of %lld bytes over %d processes, root %d\n", args->collective, (long long)shape.bytes, shape.size,
            shape.root);
    if (row)
        fprintf(file, "%s: %s\n", row->name, row->doc);
    fputc('\n', file);
    coll_costs_heading(file);
    for (int i = 0; hs_alg_at(i) && !status; i++) {
        const struct hs_alg *alg = hs_alg_at(i);

        if (row ? alg == row
                : alg->collective == (enum hs_collective)collective && !(alg->flags & (HS_BY_MPI | HS_ON_HOST)) &&
                      !hs_alg_unfit(alg, &shape))
            status = coll_costs_line(file, alg, &shape, &ctx->profile.machine);
    }
    if (status || !row)
        return status;
    fputc('\n', file);
    return hs_dump_rounds(file, row, &shape, &hs_heap);
}
