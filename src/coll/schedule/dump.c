#include "coll/schedule/dump.h"

#include "coll/schedule/lists.h"

static void print_range(FILE *file, const char *before, struct hs_ref ref, int64_t count)
{
    static const char *const names[HS_SLOTS] = {"in", "out", "scratch", "shared"};
    fputs(before, file);
    if (ref.of)
        fprintf(file, "%d:", ref.of - 1);
    fprintf(file, "%s[%lld..%lld)", names[ref.slot], (long long)ref.at, (long long)(ref.at + count));
}

static void print_joint(FILE *file, const struct hs_joint *joint)
{
    fprintf(file, " %s among", hs_collective_name(joint->alg->collective));
    for (int i = 0; i < joint->size && i < 8; i++)
        fprintf(file, "%c%d", i ? ',' : ' ', hs_joint_rank(joint, i));
    fprintf(file, "%s:", joint->size > 8 ? ",..." : "");
}

static void print_step(FILE *file, const struct hs_list *list, const struct hs_step *step)
{
    unsigned touches = hs_step_touches(step);
    fputs(hs_kind_name(step->kind), file);
    if (step->kind == HS_SEND)
        fprintf(file, " to %d", step->peer);
    else if (step->kind == HS_RECV)
        fprintf(file, " from %d ->", step->peer);
    else if (step->kind == HS_SIGNAL)
        fprintf(file, " %lld", (long long)step->count);
    else if (step->kind == HS_WAIT)
        fprintf(file, " for %d >= %lld", step->peer, (long long)step->count);
    else if (step->kind == HS_MPI)
        print_joint(file, &list->joint[step->peer]);
    if (touches & HS_TOUCHES_DST)
        print_range(file, " ", step->dst, step->count);
    if (touches & HS_TOUCHES_LEFT)
        print_range(file, " <- ", step->left, hs_left_bytes(step->kind, step->peer, step->count));
    if (step->kind == HS_EXACT)
        fprintf(file, " of %d", step->peer);
    if (touches & HS_TOUCHES_RIGHT)
        print_range(file, " op ", step->right, step->count);
}

void hs_dump_list(FILE *file, const struct hs_list *list)
{
    for (int i = 0; i < list->steps; i++) {
        const struct hs_step *step = &list->step[i];
        fprintf(file, "%d ", i);
        print_step(file, list, step);
        for (int d = 0; d < step->deps; d++)
            fprintf(file, "%s%d", d ? "," : " after ", list->dep[step->first_dep + d]);
        fputc('\n', file);
    }
}

/* Prints one round on a line: the SENDs in order[0 .. count). */
static void print_round(FILE *file, int number, const struct hs_lists *lists, const int *order, int count)
{
    int differ = 0;
    for (int i = 1; i < count; i++)
        differ |= hs_lists_step(lists, order[i])->count != hs_lists_step(lists, order[0])->count;
    fprintf(file, "%d:", number);
    for (int i = 0; i < count; i++) {
        const struct hs_step *step = hs_lists_step(lists, order[i]);
        fprintf(file, " %d>%d", lists->rank[order[i]], step->peer);
        if (differ)
            fprintf(file, "(%lld)", (long long)step->count);
    }
    if (count > 0 && !differ)
        fprintf(file, " (%lld each)", (long long)hs_lists_step(lists, order[0])->count);
    fputc('\n', file);
}

/* Prints the SENDs by round. first[] is zero on entry, and has two more entries than there are rounds. */
static void print_rounds(FILE *file, const struct hs_lists *lists, const int *round, int *first, int *order)
{
    int last = 0;
    for (int g = 0; g < lists->steps; g++)
        if (hs_lists_step(lists, g)->kind == HS_SEND) {
            first[round[g] + 1]++;
            last = last < round[g] ? round[g] : last;
        }
    for (int i = 0; i <= last; i++)
        first[i + 1] += first[i];
    for (int g = 0; g < lists->steps; g++)
        if (hs_lists_step(lists, g)->kind == HS_SEND)
            order[first[round[g]]++] = g;
    for (int i = 1; i <= last; i++) /* first[i] has advanced to the end of round i */
        print_round(file, i, lists, order + first[i - 1], first[i] - first[i - 1]);
}

hsumma_status hs_dump_rounds(FILE *file, const struct hs_alg *alg, const struct hs_shape *shape,
                             const struct hs_allocator *memory)
{
    struct hs_lists lists;
    hsumma_status status = hs_lists_build(alg, shape, memory, &lists);
    if (status)
        return status;
    size_t steps = (size_t)lists.steps;
    int *round = hs_get(memory, steps + 1, sizeof *round), *order = hs_get(memory, steps + 1, sizeof *order);
    int *first = hs_get_zero(memory, steps + 2, sizeof *first); /* there are at most as many rounds as steps */
    status = round && order && first ? hs_lists_rounds(&lists, memory, round) : HSUMMA_ERR_MEMORY;
    if (!status)
        print_rounds(file, &lists, round, first, order);
    hs_put(memory, round);
    hs_put(memory, order);
    hs_put(memory, first);
    hs_lists_free(memory, &lists);
    return status;
}
