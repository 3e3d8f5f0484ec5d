#include "hsumma/plan/plan.h"

#include "base/hash.h"

#include <inttypes.h>

static const char names[] = "ABC";

hsumma_status hs_desc_check(const hsumma_desc *desc, const hsumma_context *ctx, char name, struct hs_message *message)
{
    if (!desc || !desc->grid)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "descriptor of %c is NULL or has no grid", name);
    if (desc->grid->ctx != ctx)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "descriptor of %c: its grid belongs to another context", name);
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
    for (unsigned c = 0; c < sizeof check / sizeof *check; c++)
        if (check[c].value < check[c].least || check[c].value > check[c].most)
            return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                           "descriptor of %c: %s is %" PRId64 "; expected %" PRId64 " to %" PRId64, name,
                           check[c].field, check[c].value, check[c].least, check[c].most);
    return HSUMMA_OK;
}

/* Checks that op(X) fits into the matrix, from (i, j) on. */
static hsumma_status check_fit(const struct hs_request *request, int x, struct hs_message *message)
{
    static const char dim_name[] = "mnk";
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
    static const char dim_name[] = "mnk";
    if ((unsigned)request->type > HSUMMA_Z)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "type is %d; expected HSUMMA_S, _D, _C or _Z", (int)request->type);
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

uint64_t hs_desc_hash(uint64_t hash, const hsumma_desc *desc, int layout)
{
    const int64_t field[] = {desc->m,
                             desc->n,
                             desc->mb,
                             desc->nb,
                             desc->imb,
                             desc->inb,
                             desc->rsrc,
                             desc->csrc,
                             desc->i,
                             desc->j,
                             layout ? 0 : desc->grid->number,
                             desc->grid->grid.extent[0],
                             desc->grid->grid.extent[1]};
    for (unsigned f = 0; f < sizeof field / sizeof *field; f++)
        hash = hs_mix(hash, (uint64_t)field[f]);
    return hash;
}

int64_t hs_request_hash(const struct hs_request *request, int layout)
{
    uint64_t hash = hs_mix((uint64_t)request->type, (uint64_t)(request->op[0] * 256 + request->op[1]));
    for (int x = 0; x < 3; x++)
        hash = hs_desc_hash(hs_mix(hash, (uint64_t)request->extent[x]), request->desc[x], layout);
    for (const char *c = request->options && !layout ? request->options : ""; *c; c++)
        hash = hs_mix(hash, (uint64_t)*c);
    return (int64_t)(hash >> 1); /* non-negative, so that it can be negated */
}
