#include "coll/verify_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

hsumma_status hs_wrong(struct hs_trial *trial, const char *format, ...)
{
    /* A remark about the order of the sums gives way to an error. */
    if (!trial->report->text[0] || !trial->report->keeps_order) {
        va_list args;
        va_start(args, format);
        vsnprintf(trial->report->text, sizeof trial->report->text, format, args);
        va_end(args);
    }
    return HSUMMA_ERR_INTERNAL;
}

const char *hs_kind_name(enum hs_kind kind)
{
    static const char *const names[] = {"SEND", "RECV", "COPY", "REDUCE"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

static int64_t part_bytes(const struct hs_trial *trial, int rank)
{
    return hs_part_at(trial->shape, rank + 1) - hs_part_at(trial->shape, rank);
}

int64_t hs_slot_bytes(const struct hs_trial *trial, int rank, enum hs_slot slot)
{
    if (slot == HS_SCRATCH)
        return trial->list[rank].extent[HS_SCRATCH];
    if (slot == HS_IN)
        return trial->collective == HS_BCAST       ? 0
               : trial->collective == HS_ALLGATHER ? part_bytes(trial, rank)
                                                   : trial->shape->bytes;
    return trial->collective == HS_REDUCE_TO && rank != trial->shape->root ? 0 : trial->shape->bytes;
}

int hs_slot_fixed(const struct hs_trial *trial, int rank, enum hs_slot slot)
{
    return slot == HS_IN || (slot == HS_OUT && trial->collective == HS_BCAST && rank == trial->shape->root);
}

int64_t hs_view_at(const struct hs_trial *trial, enum hs_slot slot, int64_t element)
{
    int64_t run = slot == HS_SCRATCH ? 0 : trial->options.run;
    return run ? element / run * trial->options.ld + element % run : element;
}

static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct hs_cell hs_leaf(int instance, int rank, int64_t position)
{
    uint64_t key = scramble((uint64_t)position + scramble(((uint64_t)instance << 32) + (uint64_t)rank + 1));
    return (struct hs_cell){.tree = key, .bag = scramble(key), .low = rank, .high = rank, .written = 1};
}

/* Cells of a buffer: whole lines of the view, so that the last gap is there as well. */
static int64_t cells_of(const struct hs_trial *trial, int rank, enum hs_slot slot)
{
    int64_t elements = hs_slot_bytes(trial, rank, slot) / trial->shape->unit, run = trial->options.run;
    return run && slot != HS_SCRATCH ? (elements + run - 1) / run * trial->options.ld : elements;
}

/* Lays out the buffers of all instances and fills in what is there at the start. */
static hsumma_status fill(struct hs_trial *trial)
{
    const struct hs_shape *shape = trial->shape;
    int64_t buffers = (int64_t)trial->options.instances * shape->size * HS_SLOTS;

    trial->buffer = hs_get_zero(trial->memory, (size_t)buffers + 1, sizeof *trial->buffer);
    if (!trial->buffer)
        return HSUMMA_ERR_MEMORY;
    for (int64_t b = 0; b < buffers; b++)
        trial->buffer[b + 1] =
            trial->buffer[b] + cells_of(trial, (int)(b / HS_SLOTS % shape->size), (enum hs_slot)(b % HS_SLOTS));
    trial->cell = hs_get_zero(trial->memory, (size_t)trial->buffer[buffers] + 1, sizeof *trial->cell);
    if (!trial->cell)
        return HSUMMA_ERR_MEMORY;
    for (int64_t b = 0; b < buffers; b++) {
        int rank = (int)(b / HS_SLOTS % shape->size);
        enum hs_slot slot = (enum hs_slot)(b % HS_SLOTS);
        int64_t first = trial->collective == HS_ALLGATHER ? hs_part_at(shape, rank) / shape->unit : 0;
        if (hs_slot_fixed(trial, rank, slot))
            for (int64_t i = 0; i < hs_slot_bytes(trial, rank, slot) / shape->unit; i++)
                trial->cell[trial->buffer[b] + hs_view_at(trial, slot, i)] =
                    hs_leaf((int)(b / HS_SLOTS / shape->size), rank, first + i);
    }
    return HSUMMA_OK;
}

/* What OUT must hold at a position; the tree of a sum is left open. */
static struct hs_cell expected(const struct hs_trial *trial, int instance, int64_t position, int *owner)
{
    const struct hs_shape *shape = trial->shape;
    if (trial->collective == HS_BCAST)
        return hs_leaf(instance, shape->root, position);
    if (trial->collective == HS_ALLGATHER) {
        while (hs_part_at(shape, *owner + 1) <= position * shape->unit)
            ++*owner;
        return hs_leaf(instance, *owner, position);
    }
    struct hs_cell sum = {.low = 0, .high = shape->size - 1, .written = 1};
    for (int r = 0; r < shape->size; r++)
        sum.bag += hs_leaf(instance, r, position).bag;
    return sum;
}

/* Compares all OUT buffers of one instance with what the collective promises. */
static hsumma_status judge_instance(struct hs_trial *trial, int instance)
{
    const struct hs_shape *shape = trial->shape;
    const int64_t *buffer = trial->buffer + (int64_t)instance * shape->size * HS_SLOTS;
    int sums = trial->collective == HS_REDUCE_TO || trial->collective == HS_ALLREDUCE, owner = 0;
    int reporter = trial->collective == HS_REDUCE_TO ? shape->root : 0;

    for (int64_t i = 0; i < shape->bytes / shape->unit; i++) {
        struct hs_cell want = expected(trial, instance, i, &owner);
        int64_t at = hs_view_at(trial, HS_OUT, i);
        uint64_t tree = trial->cell[buffer[reporter * HS_SLOTS + HS_OUT] + at].tree;
        for (int r = 0; r < shape->size; r++) {
            const struct hs_cell *have = &trial->cell[buffer[r * HS_SLOTS + HS_OUT] + at];
            if (hs_slot_bytes(trial, r, HS_OUT) == 0)
                continue;
            if (!have->written)
                return hs_wrong(trial, "rank %d: element %lld of OUT is never written", r, (long long)i);
            if (have->bag != want.bag || have->low != want.low || have->high != want.high ||
                (!sums && have->tree != want.tree))
                return hs_wrong(trial, "rank %d: wrong data at element %lld of OUT (from ranks %d..%d)", r,
                                (long long)i, have->low, have->high);
            if (have->tree != tree)
                trial->report->same_bits = 0;
        }
        if (instance == 0 && sums)
            trial->report->bracketing = scramble(trial->report->bracketing + tree);
    }
    return HSUMMA_OK;
}

/* The elements between the lines of the views belong to somebody else. */
static hsumma_status judge_gaps(struct hs_trial *trial)
{
    int64_t run = trial->options.run, buffers = (int64_t)trial->options.instances * trial->shape->size * HS_SLOTS;
    for (int64_t b = 0; run && b < buffers; b++)
        for (int64_t i = trial->buffer[b]; b % HS_SLOTS != HS_SCRATCH && i < trial->buffer[b + 1]; i++)
            if ((i - trial->buffer[b]) % trial->options.ld >= run && trial->cell[i].written)
                return hs_wrong(trial, "rank %d: an element between two lines was written",
                                (int)(b / HS_SLOTS % trial->shape->size));
    return HSUMMA_OK;
}

static hsumma_status check_messages(struct hs_trial *trial)
{
    const struct hs_lists *lists = &trial->lists;
    for (int pass = 0; pass < 2; pass++) /* a missing message shifts the sizes of those behind it: look for it first */
        for (int g = 0; g < lists->steps; g++) {
            const struct hs_step *step = hs_lists_step(lists, g);
            int rank = lists->rank[g], index = g - lists->base[rank], mate = lists->mate[g];
            if (step->kind != HS_SEND && step->kind != HS_RECV)
                continue;
            if (mate < 0)
                return hs_wrong(trial, "rank %d step %d: unmatched %s %s %d of %lld bytes", rank, index,
                                hs_kind_name(step->kind), step->kind == HS_SEND ? "to" : "from", step->peer,
                                (long long)step->count);
            if (pass == 1 && step->count != hs_lists_step(lists, mate)->count)
                return hs_wrong(trial, "rank %d step %d: %s of %lld bytes, but step %d of rank %d has %lld", rank,
                                index, hs_kind_name(step->kind), (long long)step->count,
                                mate - lists->base[lists->rank[mate]], lists->rank[mate],
                                (long long)hs_lists_step(lists, mate)->count);
        }
    return HSUMMA_OK;
}

static hsumma_status count(struct hs_trial *trial)
{
    const struct hs_lists *lists = &trial->lists;
    struct hs_verify_report *report = trial->report;
    int *round = hs_get(trial->memory, (size_t)lists->steps + 1, sizeof *round);
    hsumma_status status = round ? hs_lists_rounds(lists, trial->memory, round) : HSUMMA_ERR_MEMORY;

    for (int r = 0; r < lists->size && !status; r++) {
        int64_t messages = 0, bytes = 0;
        for (int g = lists->base[r]; g < lists->base[r + 1]; g++) {
            if (hs_lists_step(lists, g)->kind == HS_SEND) {
                messages++;
                bytes += hs_lists_step(lists, g)->count;
            }
            if (report->rounds < round[g])
                report->rounds = round[g];
        }
        report->messages += messages;
        report->bytes += bytes;
        if (report->messages_rank_max < messages)
            report->messages_rank_max = messages;
        if (report->bytes_rank_max < bytes)
            report->bytes_rank_max = bytes;
    }
    hs_put(trial->memory, round);
    return status;
}

static hsumma_status check_shape(struct hs_trial *trial)
{
    const struct hs_shape *shape = trial->shape;
    if (shape->size < 1 || shape->root < 0 || shape->root >= shape->size || shape->unit < 1 || shape->bytes < 0 ||
        shape->bytes % shape->unit)
        return hs_wrong(trial, "the shape is out of range: size %d, root %d, %lld bytes, unit %lld", shape->size,
                        shape->root, (long long)shape->bytes, (long long)shape->unit);
    for (int i = 0; shape->part && i <= shape->size; i++)
        if (shape->part[i] % shape->unit || shape->part[i] < (i ? shape->part[i - 1] : 0) ||
            (i == 0 && shape->part[0]) || (i == shape->size && shape->part[i] != shape->bytes))
            return hs_wrong(trial, "part %d of the shape begins at %lld, which is out of order or no multiple of %lld",
                            i, (long long)shape->part[i], (long long)shape->unit);
    if (trial->options.run < 0 || trial->options.ld < trial->options.run)
        return hs_wrong(trial, "lines of %lld elements do not fit into ld %lld", (long long)trial->options.run,
                        (long long)trial->options.ld);
    return HSUMMA_OK;
}

hsumma_status hs_verify_lists(enum hs_collective collective, const struct hs_list *list, const struct hs_shape *shape,
                              const struct hs_verify_options *options, const struct hs_allocator *memory,
                              struct hs_verify_report *report)
{
    struct hs_trial trial = {collective, list, shape, .memory = memory, .report = report};
    if (options)
        trial.options = *options;
    if (trial.options.instances < 1)
        trial.options.instances = 1;
    *report = (struct hs_verify_report){.same_bits = 1, .keeps_order = 1};

    hsumma_status status = check_shape(&trial);
    if (!status)
        status = hs_verify_static(&trial);
    if (!status)
        status = hs_lists_index(list, shape->size, memory, &trial.lists);
    if (!status)
        status = check_messages(&trial);
    if (!status)
        status = fill(&trial);
    if (!status)
        status = hs_verify_run(&trial);
    for (int i = 0; i < trial.options.instances && !status; i++)
        status = judge_instance(&trial, i);
    if (!status)
        status = judge_gaps(&trial);
    if (!status)
        status = count(&trial);
    hs_put(memory, trial.cell);
    hs_put(memory, trial.buffer);
    hs_lists_free(memory, &trial.lists);
    return status;
}

hsumma_status hs_verify(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_verify_options *options,
                        const struct hs_allocator *memory, struct hs_verify_report *report)
{
    struct hs_list *list;
    hsumma_status status = hs_build_all(alg, shape, memory, &list);
    if (status) {
        *report = (struct hs_verify_report){0};
        snprintf(report->text, sizeof report->text, "the lists cannot be built: %s", hsumma_status_string(status));
        return status;
    }
    status = hs_verify_lists(alg->collective, list, shape, options, memory, report);
    if (!status && (alg->flags & HS_KEEPS_ORDER) && !report->keeps_order)
        status = HSUMMA_ERR_INTERNAL;
    hs_free_all(memory, list, shape->size);
    return status;
}
