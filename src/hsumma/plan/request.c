#include "hsumma/plan/plan.h"

#include "base/hash.h"
#include "hsumma/search/search_cells.h"

#include <inttypes.h>

static const char names[] = "ABC", dim_name[] = "mnk";

hsumma_status hs_desc_check(const hsumma_desc *desc, const hsumma_context *ctx, char name, struct hs_message *message)
{
    if (!desc || !desc->grid)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "descriptor of %c is NULL or has no grid; fill it with hsumma_desc_init", name);
    if (desc->grid->ctx != ctx)
        return hs_fail(
            message, HSUMMA_ERR_ARGUMENT,
            "descriptor of %c: its grid belongs to another context; expected a grid of the context of the call", name);
    const int *extent = desc->grid->grid.extent;
    const struct {
        const char *field;
        int64_t value, least, most;
    } check[] = {
        {"m", desc->m, 0, INT64_MAX},
        {"n", desc->n, 0, INT64_MAX},
        {"mb", desc->mb, 1, INT64_MAX},
        {"nb", desc->nb, 1, INT64_MAX},
        {"imb", desc->imb, 1, INT64_MAX},
        {"inb", desc->inb, 1, INT64_MAX},
        {"rsrc", desc->rsrc, -1, extent[0] - 1},
        {"csrc", desc->csrc, -1, extent[1] - 1},
        {"i", desc->i, 0, desc->m},
        {"j", desc->j, 0, desc->n},
    };
    char range[64];
    for (unsigned c = 0; c < sizeof check / sizeof *check; c++)
        if (check[c].value < check[c].least || check[c].value > check[c].most)
            return hs_fail(message, HSUMMA_ERR_ARGUMENT, "descriptor of %c: %s is %" PRId64 "; expected %s", name,
                           check[c].field, check[c].value,
                           hs_range_text(check[c].least, check[c].most, range, sizeof range));
    return HSUMMA_OK;
}

/* Checks that op(X) fits into the matrix, from (i, j) on. */
static hsumma_status check_fit(const struct hs_request *request, int x, struct hs_message *message)
{
    const hsumma_desc *desc = request->desc[x];
    for (int logical = 0; logical < 2; logical++) {
        int dim = hs_operand_dims[x][logical], stored = request->op[x] == 'N' ? logical : 1 - logical;
        int64_t begin = stored == 0 ? desc->i : desc->j, whole = stored == 0 ? desc->m : desc->n;
        if (request->extent[dim] > whole - begin)
            return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                           "%c has %" PRId64 " %s from %c = %" PRId64
                           " on; op(%c) with trans = '%c' needs %c = %" PRId64,
                           names[x], whole - begin, stored == 0 ? "rows" : "columns", stored == 0 ? 'i' : 'j', begin,
                           names[x], request->op[x], dim_name[dim], request->extent[dim]);
    }
    return HSUMMA_OK;
}

hsumma_status hs_request_check(const struct hs_request *request, const hsumma_context *ctx, struct hs_message *message)
{
    if ((unsigned)request->type > HSUMMA_Z)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "type is %d; expected HSUMMA_S, HSUMMA_D, HSUMMA_C or HSUMMA_Z",
                       (int)request->type);
    for (int x = 0; x < 2; x++) {
        const char op = request->op[x], name = "ab"[x];
        if (op != 'N' && op != 'T' && op != 'C')
            return hs_fail(message, HSUMMA_ERR_ARGUMENT, "trans%c is '%c' (%d); expected N, T or C", name,
                           op >= 32 && op < 127 ? op : '?', op);
    }
    for (int dim = 0; dim < 3; dim++)
        if (request->extent[dim] < 0)
            return hs_fail(message, HSUMMA_ERR_ARGUMENT, "%c is %" PRId64 "; expected 0 or more", dim_name[dim],
                           request->extent[dim]);
    for (int x = 0; x < 3; x++) {
        hsumma_status status = hs_desc_check(request->desc[x], ctx, names[x], message);
        if (!status)
            status = check_fit(request, x, message);
        if (status)
            return status;
    }
    return HSUMMA_OK;
}

hsumma_status hs_request_check_bits(const struct hs_request *request, const hsumma_context *ctx,
                                    const struct hs_settings *settings, struct hs_message *message)
{
    const char *expected = NULL;
    if (settings->stationary >= 0 && settings->stationary != HS_C)
        expected = "stationary=C or auto, so that no partial results are summed";
    else if (settings->turn && settings->turn != HS_WHOLE_TURN)
        expected = "turn=all or auto, so that k is summed in ascending order";
    else if (settings->layers > 1)
        expected = "layers=1 or auto, so that no partial results are summed";
    else if (settings->threads > 1)
        expected = "threads=1, auto or user; a process computes with one thread";
    else if (settings->tune == HS_TUNE_MEASURE)
        expected = "tune=estimate or off";
    else if (hs_layered_wanted(request, settings))
        expected = "A, B and C on one grid";
    else if (ctx->device)
        expected = "a context without a device";
    return expected ? hs_fail(message, HSUMMA_ERR_UNSUPPORTED, "bits=anywhere: expected %s", expected) : HSUMMA_OK;
}

hsumma_status hs_check_guard(const hsumma_context *ctx, const struct hs_settings *settings, struct hs_message *message)
{
    if (!settings->guard)
        return HSUMMA_OK;
    if (!hs_compute_is_real(ctx->compute))
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "a guard: matrices have no contents with compute=time; expected compute=auto");
    if (settings->tune == HS_TUNE_MEASURE)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "a guard does not support tune=measure; expected tune=estimate or off");
    if (!(settings->guard & HS_GUARD_MESSAGES))
        return HSUMMA_OK;
    const struct hs_alg *by_mpi = hs_named_row_of_mpi(settings, &ctx->own);
    if (by_mpi)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "guard=messages does not check %s=%s; expected another algorithm, or guard=product",
                       hs_option_of(by_mpi->collective), by_mpi->name);
    if (ctx->device)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "guard=messages does not check device memory; expected guard=product, or device=none");
    return HSUMMA_OK;
}

/* The fields of a descriptor that must agree on all processes, in the order of their names in hs_desc_given. */
struct fields {
    int64_t value[HS_DESC_GIVEN];
};

static struct fields fields_of(const hsumma_desc *desc, int layout)
{
    const int *extent = desc->grid->grid.extent, number = layout ? 0 : desc->grid->number;
    return (struct fields){{desc->m, desc->n, desc->mb, desc->nb, desc->imb, desc->inb, desc->rsrc, desc->csrc, desc->i,
                            desc->j, number, extent[0], extent[1]}};
}

int hs_desc_given(const hsumma_desc *desc, const char *whose, struct hs_given given[HS_DESC_GIVEN])
{
    enum { OF_GRID = 10 };
    static const char *const name[OF_GRID] = {"m", "n", "mb", "nb", "imb", "inb", "rsrc", "csrc", "i", "j"};
    static const char *const of_grid[] = {"the grid's number (in order of creation)", "the grid's rows",
                                          "the grid's columns"};
    const struct fields fields = fields_of(desc, 0);
    for (int f = 0; f < HS_DESC_GIVEN; f++)
        given[f] = (struct hs_given){f < OF_GRID ? name[f] : of_grid[f - OF_GRID], whose, .number = fields.value[f]};
    return HS_DESC_GIVEN;
}

uint64_t hs_desc_hash(uint64_t hash, const hsumma_desc *desc, int layout)
{
    const struct fields fields = fields_of(desc, layout);
    for (int f = 0; f < HS_DESC_GIVEN; f++)
        hash = hs_mix(hash, (uint64_t)fields.value[f]);
    return hash;
}

/* Adds the bytes of a scalar, so that NaN equals itself; nothing for NULL. */
static uint64_t mix_scalar(uint64_t hash, const struct hs_scalar *scalar, const void *value)
{
    return value ? hs_mix_bytes(hash, value, scalar->size) : hash;
}

hsumma_status hs_request_agree(hsumma_context *ctx, const struct hs_request *request,
                               const struct hs_settings *settings, struct hs_vote vote, struct hs_verdict *verdict)
{
    static const char *const type[] = {"HSUMMA_S", "HSUMMA_D", "HSUMMA_C", "HSUMMA_Z"};
    static const char *const whose[] = {"A's descriptor", "B's descriptor", "C's descriptor"};
    static const char *const scalar_name[] = {"alpha", "beta"};
    struct hs_given given[10 + 3 * HS_DESC_GIVEN];
    char scalar[2][64];
    int count = 0;
    const char op[2][2] = {{request->op[0]}, {request->op[1]}};
    *verdict = request->alone ? hs_verdict_alone(vote, ctx->comm.rank) : hs_context_agree(ctx, vote);
    if (request->alone)
        return verdict->status;
    if (!verdict->status && !verdict->alike) { /* in this case all processes have a checked request */
        given[count++] = (struct hs_given){"type", .text = type[request->type]};
        given[count++] = (struct hs_given){"transa", .text = op[0]};
        given[count++] = (struct hs_given){"transb", .text = op[1]};
        given[count++] = (struct hs_given){"m", .number = request->extent[0]};
        given[count++] = (struct hs_given){"n", .number = request->extent[1]};
        given[count++] = (struct hs_given){"k", .number = request->whole ? request->whole : request->extent[2]};
        for (int i = 0; i < 2; i++) {
            const struct hs_scalar *of = &hs_scalars[request->type];
            hs_scalar_write(of, request->scalar[i], scalar[i], sizeof scalar[i]);
            given[count++] = (struct hs_given){scalar_name[i], .text = scalar[i],
                                               .number = (int64_t)mix_scalar(0, of, request->scalar[i])};
        }
        for (int x = 0; x < 3; x++)
            count += hs_desc_given(request->desc[x], whose[x], &given[count]);
        given[count++] = (struct hs_given){"options", .text = request->options ? request->options : ""};
        given[count++] = (struct hs_given){"layers", .number = settings->layers};
    }
    return hs_context_judge(ctx, vote.status, *verdict, "a product", given, count);
}

hsumma_status hs_request_compare(hsumma_context *ctx, const struct hs_request *request, hsumma_status mine)
{
    const struct hs_vote vote = {.status = mine, .hash = mine ? 0 : hs_request_hash(request, 0)};
    struct hs_verdict verdict;
    if (ctx->broken)
        return hs_context_refuse(ctx);
    hs_context_enter(ctx, HS_ENTERED_COMPARISON, ++ctx->entered, 0);
    return hs_request_agree(ctx, request, &ctx->options.settings, vote, &verdict);
}

int64_t hs_request_hash(const struct hs_request *request, int layout)
{
    uint64_t hash = hs_mix((uint64_t)request->type, (uint64_t)(request->op[0] * 256 + request->op[1]));
    for (int x = 0; x < 3; x++)
        hash = hs_desc_hash(hs_mix(hash, (uint64_t)request->extent[x]), request->desc[x], layout);
    for (int i = 0; i < 2; i++)
        hash = mix_scalar(hash, &hs_scalars[request->type], request->scalar[i]);
    if (request->whole)
        hash = hs_mix(hash, (uint64_t)request->whole);
    if (request->options && !layout)
        hash = hs_mix_text(hash, request->options);
    return (int64_t)(hash >> 1); /* non-negative, so that it can be negated */
}
