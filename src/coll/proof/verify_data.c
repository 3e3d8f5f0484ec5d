/* Part of verify: the symbolic data in the buffers at the start, and the expected data at the end. */
#include "coll/proof/verify_parts.h"

#include "base/hash.h"

/* The symbolic element that a rank contributes at a position of the vector. */
static struct hs_cell leaf(int instance, int rank, int64_t position)
{
    uint64_t owner = hs_scrambled(((uint64_t)instance << 32) + (uint64_t)rank + 1);
    return (struct hs_cell){hs_scrambled((uint64_t)position + owner), hs_scrambled((uint64_t)rank + 1), rank, rank + 1};
}

/* The cells of a buffer. A strided view has whole lines, so that the gap after the last is checked, too. */
static int64_t cells_of(const struct hs_proof *proof, int rank, enum hs_slot slot)
{
    int64_t elements = hs_slot_bytes(proof, rank, slot) / proof->shape->unit, run = proof->options.run;
    return run && (slot == HS_IN || slot == HS_OUT) ? (elements + run - 1) / run * proof->options.ld : elements;
}

hsumma_status hs_verify_fill(struct hs_proof *proof)
{
    const struct hs_shape *shape = proof->shape;
    int64_t buffers = (int64_t)proof->options.instances * shape->size * HS_SLOTS;

    proof->buffer = hs_get_zero(proof->memory, (size_t)buffers + 1, sizeof *proof->buffer);
    if (!proof->buffer)
        return HSUMMA_ERR_MEMORY;
    for (int64_t b = 0; b < buffers; b++)
        proof->buffer[b + 1] =
            proof->buffer[b] + cells_of(proof, (int)(b / HS_SLOTS % shape->size), (enum hs_slot)(b % HS_SLOTS));
    proof->cell = hs_get_zero(proof->memory, (size_t)proof->buffer[buffers] + 1, sizeof *proof->cell);
    if (!proof->cell)
        return HSUMMA_ERR_MEMORY;
    for (int64_t b = 0; b < buffers; b++) {
        int rank = (int)(b / HS_SLOTS % shape->size);
        enum hs_slot slot = (enum hs_slot)(b % HS_SLOTS);
        int64_t first = proof->collective == HS_ALLGATHER ? hs_part_at(shape, rank) / shape->unit : 0;
        if (hs_slot_fixed(proof, rank, slot))
            for (int64_t i = 0; i < hs_slot_bytes(proof, rank, slot) / shape->unit; i++)
                proof->cell[proof->buffer[b] + hs_view_at(proof, slot, i)] =
                    leaf((int)(b / HS_SLOTS / shape->size), rank, first + i);
    }
    return HSUMMA_OK;
}

/* The expected value in OUT at a position in the part of `owner`. For a sum, `form` is that of an EXACT step. */
static struct hs_cell expected(const struct hs_proof *proof, int instance, int64_t position, int owner)
{
    const struct hs_shape *shape = proof->shape;
    if (!hs_sums(proof))
        return leaf(instance, proof->collective == HS_BCAST ? shape->root : owner, position);
    struct hs_cell sum = {.low = 0, .end = shape->size};
    for (int r = 0; r < shape->size; r++) {
        struct hs_cell one = leaf(instance, r, position);
        sum.bag += one.bag;
        sum.form += one.form;
    }
    sum.form = hs_exact_form(sum.form);
    return sum;
}

/* Compares `have`, element i of a rank's OUT, with the expected value. */
static hsumma_status judge_cell(struct hs_proof *proof, const struct hs_cell *have, const struct hs_cell *want,
                                int rank, int64_t i)
{
    if (have->end == 0)
        return hs_wrong(proof, "rank %d: element %lld of OUT is never written", rank, (long long)i);
    if (have->bag != want->bag || have->low != want->low || have->end != want->end ||
        (!hs_sums(proof) && have->form != want->form))
        return hs_wrong(proof, "rank %d: wrong data at element %lld of OUT (from ranks %d..%d)", rank, (long long)i,
                        have->low, have->end - 1);
    return HSUMMA_OK;
}

/* Checks position i of the vector, in the part of `owner`, on all ranks whose OUT contains it. */
static hsumma_status judge_position(struct hs_proof *proof, int instance, int64_t i, int owner)
{
    const struct hs_shape *shape = proof->shape;
    int64_t *buffer = proof->buffer + (int64_t)instance * shape->size * HS_SLOTS;
    int scattered = proof->collective == HS_REDUCE_SCATTER;
    int only = scattered ? owner : proof->collective == HS_REDUCE_TO ? shape->root : -1;
    int first = only < 0 ? 0 : only, end = only < 0 ? shape->size : only + 1;
    int64_t element = scattered ? i - hs_part_at(shape, owner) / shape->unit : i;
    int64_t at = hs_view_at(proof, HS_OUT, element);
    uint64_t form = proof->cell[buffer[first * HS_SLOTS + HS_OUT] + at].form;
    struct hs_cell want = expected(proof, instance, i, owner);
    struct hs_verify_report *report = proof->report;

    for (int r = first; r < end; r++) {
        const struct hs_cell *have = &proof->cell[buffer[r * HS_SLOTS + HS_OUT] + at];
        hsumma_status status = judge_cell(proof, have, &want, r, element);
        if (status)
            return status;
        report->same_bits &= have->form == form;
    }
    if (hs_sums(proof)) {
        if (instance == 0 && i == 0)
            proof->form = form;
        report->uniform &= form == proof->form;
        report->exact &= form == want.form;
        if (instance == 0)
            report->bracketing = hs_scrambled(report->bracketing + form);
    }
    return HSUMMA_OK;
}

/* Checks that the elements between the lines of a strided view, which are not part of the buffer, are unwritten. */
static hsumma_status judge_gaps(struct hs_proof *proof)
{
    int64_t run = proof->options.run, buffers = (int64_t)proof->options.instances * proof->shape->size * HS_SLOTS;
    for (int64_t b = 0; run && b < buffers; b++) {
        enum hs_slot slot = (enum hs_slot)(b % HS_SLOTS);
        for (int64_t i = proof->buffer[b]; (slot == HS_IN || slot == HS_OUT) && i < proof->buffer[b + 1]; i++)
            if ((i - proof->buffer[b]) % proof->options.ld >= run && proof->cell[i].end)
                return hs_wrong(proof, "rank %d: an element between two lines was written",
                                (int)(b / HS_SLOTS % proof->shape->size));
    }
    return HSUMMA_OK;
}

hsumma_status hs_verify_judge(struct hs_proof *proof)
{
    const struct hs_shape *shape = proof->shape;
    hsumma_status status = HSUMMA_OK;
    for (int instance = 0; instance < proof->options.instances && !status; instance++) {
        int owner = 0;
        for (int64_t i = 0; i < shape->bytes / shape->unit && !status; i++) {
            while (hs_part_at(shape, owner + 1) <= i * shape->unit)
                owner++;
            status = judge_position(proof, instance, i, owner);
        }
    }
    return status ? status : judge_gaps(proof);
}
