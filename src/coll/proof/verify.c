#include "coll/proof/verify_parts.h"

#include <stdarg.h>
#include <stdio.h>

hsumma_status hs_wrong(struct hs_proof *proof, const char *format, ...)
{
    /* An error replaces a text about the order of sums. */
    if (!proof->report->text[0] || !proof->report->keeps_order) {
        va_list args;
        va_start(args, format);
        vsnprintf(proof->report->text, sizeof proof->report->text, format, args);
        va_end(args);
    }
    return HSUMMA_ERR_INTERNAL;
}

hsumma_status hs_wrong_step(struct hs_proof *proof, int rank, int i, const char *format, ...)
{
    char text[sizeof proof->report->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return hs_wrong(proof, "rank %d step %d (%s)%s", rank, i, hs_kind_name(proof->list[rank].step[i].kind), text);
}

const char *hs_slot_name(enum hs_slot slot)
{
    static const char *const names[HS_SLOTS] = {"IN", "OUT", "SCRATCH", "SHARED"};
    return (unsigned)slot < HS_SLOTS ? names[slot] : "?";
}

int hs_sums(const struct hs_proof *proof)
{
    return proof->collective != HS_BCAST && proof->collective != HS_ALLGATHER;
}

int64_t hs_slot_bytes(const struct hs_proof *proof, int rank, enum hs_slot slot)
{
    if (slot == HS_IN || slot == HS_OUT)
        return hs_buffer_bytes(proof->collective, proof->shape, rank, slot);
    return slot == HS_SHARED && proof->shared ? proof->shared[rank] : proof->list[rank].extent[slot];
}

int hs_slot_fixed(const struct hs_proof *proof, int rank, enum hs_slot slot)
{
    return slot == HS_IN || (slot == HS_OUT && proof->collective == HS_BCAST && rank == proof->shape->root);
}

int hs_accesses_of(const struct hs_step *step, int index, struct hs_access *access)
{
    unsigned touches = hs_step_touches(step);
    int n = 0;
    if (touches & HS_TOUCHES_LEFT)
        access[n++] = (struct hs_access){index, 0, step->left,
                                         step->left.at + hs_left_bytes(step->kind, step->peer, step->count)};
    if (touches & HS_TOUCHES_RIGHT)
        access[n++] = (struct hs_access){index, 0, step->right, step->right.at + step->count};
    if (touches & HS_TOUCHES_DST)
        access[n++] = (struct hs_access){index, 1, step->dst, step->dst.at + step->count};
    return n;
}

/* Finds the number of bytes of each rank's SHARED that its owner or peers use. */
static hsumma_status measure_shared(struct hs_proof *proof)
{
    int64_t *shared = hs_get(proof->memory, (size_t)proof->shape->size, sizeof *shared);
    if (!shared)
        return HSUMMA_ERR_MEMORY;
    for (int r = 0; r < proof->shape->size; r++)
        shared[r] = proof->list[r].extent[HS_SHARED];
    for (int g = 0; g < proof->lists.steps; g++) {
        struct hs_access access[3];
        for (int a = hs_accesses_of(hs_lists_step(&proof->lists, g), 0, access) - 1; a >= 0; a--)
            if (access[a].ref.of && access[a].ref.slot == HS_SHARED && shared[access[a].ref.of - 1] < access[a].end)
                shared[access[a].ref.of - 1] = access[a].end;
    }
    proof->shared = shared;
    return HSUMMA_OK;
}

static hsumma_status check_message(struct hs_proof *proof, int g, int compare_sizes)
{
    const struct hs_lists *lists = &proof->lists;
    const struct hs_step *step = hs_lists_step(lists, g);
    int rank = lists->rank[g], index = g - lists->base[rank], mate = lists->mate[g];
    if (mate < 0)
        return hs_wrong(proof, "rank %d step %d: unmatched %s %s %d of %lld bytes", rank, index,
                        hs_kind_name(step->kind), step->kind == HS_SEND ? "to" : "from", step->peer,
                        (long long)step->count);
    if (compare_sizes && step->count != hs_lists_step(lists, mate)->count)
        return hs_wrong(proof, "rank %d step %d: %s of %lld bytes, but step %d of rank %d has %lld", rank, index,
                        hs_kind_name(step->kind), (long long)step->count, mate - lists->base[lists->rank[mate]],
                        lists->rank[mate], (long long)hs_lists_step(lists, mate)->count);
    return HSUMMA_OK;
}

/* Checks that all ranks of an MPI step have a matching one, with the same count, row and root. */
static hsumma_status check_ring(struct hs_proof *proof, int g)
{
    const struct hs_lists *lists = &proof->lists;
    const struct hs_step *step = hs_lists_step(lists, g);
    const struct hs_joint *joint = hs_lists_joint(lists, g);
    int steps = 1;
    for (int m = lists->mate[g]; m != g; m = lists->mate[m], steps++) {
        const struct hs_joint *other = hs_lists_joint(lists, m);
        if (hs_lists_step(lists, m)->count != step->count || other->alg != joint->alg || other->root != joint->root)
            return hs_wrong_at(proof, g, ": differs from step %d of rank %d", m - lists->base[lists->rank[m]],
                               lists->rank[m]);
    }
    return steps == joint->size ? HSUMMA_OK : hs_wrong_at(proof, g, ": %d of %d ranks perform it", steps, joint->size);
}

static hsumma_status check_messages(struct hs_proof *proof)
{
    const struct hs_lists *lists = &proof->lists;
    for (int pass = 0; pass < 2; pass++) /* after a missing message, later ones match partners of other sizes, so the
                                            first pass looks only for missing ones */
        for (int g = 0; g < lists->steps; g++) {
            const struct hs_step *step = hs_lists_step(lists, g);
            if ((step->kind == HS_SEND || step->kind == HS_RECV) && check_message(proof, g, pass))
                return HSUMMA_ERR_INTERNAL;
            if (step->kind == HS_MPI && check_ring(proof, g))
                return HSUMMA_ERR_INTERNAL;
            if (step->kind == HS_WAIT && lists->signal[g] < 0)
                return hs_wrong_at(proof, g, ": waits for a signal that never comes: rank %d, %lld", step->peer,
                                   (long long)step->count);
        }
    return HSUMMA_OK;
}

static hsumma_status check_shape(struct hs_proof *proof)
{
    const struct hs_shape *shape = proof->shape;
    if (shape->size < 1 || shape->root < 0 || shape->root >= shape->size || shape->unit < 1 || shape->bytes < 0 ||
        shape->bytes % shape->unit)
        return hs_wrong(proof, "the shape is out of range: size %d, root %d, %lld bytes, unit %lld", shape->size,
                        shape->root, (long long)shape->bytes, (long long)shape->unit);
    for (int i = 0; shape->part && i <= shape->size; i++)
        if (shape->part[i] % shape->unit || shape->part[i] < (i ? shape->part[i - 1] : 0) ||
            (i == 0 && shape->part[0]) || (i == shape->size && shape->part[i] != shape->bytes))
            return hs_wrong(proof,
                            "part[%d] of the shape is %lld; expected multiples of %lld that ascend from 0 to %lld", i,
                            (long long)shape->part[i], (long long)shape->unit, (long long)shape->bytes);
    if (proof->options.run < 0 || proof->options.ld < proof->options.run)
        return hs_wrong(proof, "lines of %lld elements do not fit into ld %lld", (long long)proof->options.run,
                        (long long)proof->options.ld);
    if (shape->topology && shape->topology->size != shape->size)
        return hs_wrong(proof, "a topology of %d ranks for %d", shape->topology->size, shape->size);
    return HSUMMA_OK;
}

hsumma_status hs_verify_lists(enum hs_collective collective, const struct hs_list *list, const struct hs_shape *shape,
                              const struct hs_verify_options *options, const struct hs_allocator *memory,
                              struct hs_verify_report *report)
{
    static hsumma_status (*const parts[])(struct hs_proof *) = {
        measure_shared, check_messages,  hs_verify_shared, hs_verify_fill,
        hs_verify_run,  hs_verify_judge, hs_verify_count,
    };
    struct hs_proof proof = {collective, list, shape, .memory = memory, .report = report};
    if (options)
        proof.options = *options;
    if (proof.options.instances < 1)
        proof.options.instances = 1;
    *report = (struct hs_verify_report){.same_bits = 1, .keeps_order = 1, .uniform = 1, .exact = 1};

    hsumma_status status = check_shape(&proof);
    if (!status)
        status = hs_verify_static(&proof);
    if (!status)
        status = hs_lists_index(list, shape->size, memory, &proof.lists);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++)
        status = parts[i](&proof);
    hs_put(memory, proof.shared);
    hs_put(memory, proof.cell);
    hs_put(memory, proof.buffer);
    hs_lists_free(memory, &proof.lists);
    return status;
}

/* Checks the promises of the row's flags, and that all ranks of an allreduce have the same bits. */
static hsumma_status judge_row(const struct hs_alg *alg, const struct hs_shape *shape, struct hs_verify_report *report)
{
    int contiguous = !shape->topology || shape->topology->division[shape->with.level].contiguous;
    int ordered = alg->flags & HS_KEEPS_ORDER || (alg->flags & HS_KEEPS_ORDER_IF && contiguous);
    if (ordered && !report->keeps_order)
        return HSUMMA_ERR_INTERNAL; /* hs_verify_lists has stored a text */
    if (alg->collective == HS_ALLREDUCE && !report->same_bits)
        snprintf(report->text, sizeof report->text, "the ranks end with different bits");
    else if (alg->flags & HS_EXACT_SUMS && !report->exact)
        snprintf(report->text, sizeof report->text, "not exact: an element is not one EXACT step over all ranks");
    else if (alg->flags & HS_UNIFORM && !report->uniform)
        snprintf(report->text, sizeof report->text, "not uniform: elements are bracketed differently");
    else
        return HSUMMA_OK;
    return HSUMMA_ERR_INTERNAL;
}

hsumma_status hs_verify(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_verify_options *options,
                        const struct hs_allocator *memory, struct hs_verify_report *report)
{
    struct hs_list *list = NULL;
    hsumma_status status = alg->flags & HS_BY_MPI ? HSUMMA_ERR_UNSUPPORTED : hs_build_all(alg, shape, memory, &list);
    if (status) {
        *report = (struct hs_verify_report){0};
        snprintf(report->text, sizeof report->text, "the lists cannot be built: %s", hsumma_status_string(status));
        return status;
    }
    status = hs_verify_lists(alg->collective, list, shape, options, memory, report);
    if (!status)
        status = judge_row(alg, shape, report);
    hs_free_all(memory, list, shape->size);
    return status;
}
