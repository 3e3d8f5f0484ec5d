/* Reads the algorithms that a caller names for broadcasts and reductions, and checks that algorithms can run on all
 * lines of a level. */
#include "coll/select/select.h"
#include "hsumma/search/candidate.h"

#include <stdio.h>
#include <string.h>

/* The caller's name for the algorithm of a level; NULL if there is none, and the search chooses. */
static const char *name_for(const struct hs_names *names, int level, int levels)
{
    if (names->count == 0)
        return NULL;
    if (names->outer_inner)
        return names->name[level == levels - 1];
    return names->name[names->count == 1 ? 0 : level];
}

/* Refuses what a product has no communicators for: MPI as a stage, and functions of the caller. */
static hsumma_status refuse_stages(const struct hs_chooser *chooser, const char *option, const char *word,
                                   const struct hs_alg_spec *read)
{
    if (read->alg->flags & HS_EXACT_SUMS)
        return hs_fail(chooser->message, HSUMMA_ERR_UNSUPPORTED,
                       "%s=%s: this algorithm serves calls only; expected another algorithm", option, word);
    if (!hs_alg_spec_by_mpi(read) || (read->alg->flags & HS_BY_MPI && !read->alg->performer))
        return HSUMMA_OK;
    return hs_fail(chooser->message, HSUMMA_ERR_UNSUPPORTED,
                   "%s=%s: in a product MPI cannot perform a stage of an algorithm, nor can a function of the caller; "
                   "expected an algorithm of messages",
                   option, word);
}

/* Reads the algorithm that a name stands for.  The option reduce may also name an allreduce, of which only the root
 * uses the result.
 */
static hsumma_status read_word(const struct hs_chooser *chooser, enum hs_collective collective, const char *word,
                               struct hs_alg_spec *read)
{
    const enum hs_collective also = collective == HS_REDUCE_TO ? HS_ALLREDUCE : collective;
    const enum hs_collective either[2] = {collective, also};
    const struct hs_registry *own = chooser->planner->own;
    const char *option = hs_option_of(collective);
    char name[HS_WORD_TEXT], known[2][300] = {"", ""};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "("), word);
    for (int i = 0; i < 2; i++)
        if (hs_alg_find_in(own, either[i], name)) {
            hsumma_status status = hs_alg_spec_read(own, either[i], word, strlen(word), option, read, chooser->message);
            return status ? status : refuse_stages(chooser, option, word, read);
        }
    struct hs_guess guess = hs_guess_of(name, strlen(name));
    char meant[80];
    for (int i = 0; i < 1 + (also != collective); i++) {
        hs_alg_names(own, either[i], known[i], sizeof known[i]);
        hs_guess_among(&guess, known[i]);
    }
    if (hs_guess_text(&guess, "", meant, sizeof meant)[0])
        return hs_fail(chooser->message, HSUMMA_ERR_OPTION, "%s=%s: no such algorithm%s", option, name, meant);
    return hs_fail(chooser->message, HSUMMA_ERR_OPTION, "%s=%s: no such algorithm; expected one of: %s%s%s", option,
                   name, known[0], known[1][0] ? "; or an allreduce: " : "", known[1]);
}

hsumma_status hs_name_rows(struct hs_chooser *chooser, struct hs_spec *spec)
{
    const struct hs_names *names[2] = {&chooser->settings->bcast, &chooser->settings->reduce};
    for (int i = 0; i < 2; i++)
        for (int l = 0; l < spec->levels; l++) {
            const char *option = i ? "reduce" : "bcast", *word = name_for(names[i], l, spec->levels);
            struct hs_alg_spec read;
            if (!word)
                continue;
            if (names[i]->count > 1 && !names[i]->outer_inner && names[i]->count != spec->levels)
                return hs_fail(chooser->message, HSUMMA_ERR_OPTION,
                               "%s names %d algorithms for %d levels; expected one, or one for each level", option,
                               names[i]->count, spec->levels);
            hsumma_status status = read_word(chooser, i ? HS_REDUCE_TO : HS_BCAST, word, &read);
            if (!status && read.segment)
                status = hs_fail(chooser->message, HSUMMA_ERR_OPTION,
                                 "%s=%s: a level has no segment of its own; use the option segment, which applies to "
                                 "all levels",
                                 option, word);
            if (status)
                return status;
            (i ? spec->reduce : spec->bcast)[l] = read.alg;
            (i ? spec->reduce_with : spec->bcast_with)[l] = read.with;
        }
    return HSUMMA_OK;
}

/* Checks that an algorithm can run on the groups of a level on one line.  Lines may be placed differently on nodes, so
 * each must be checked.  Sets *why to the reason if it cannot.  cells: 1 if there is one group, whose members are the
 * line's nodes. */
static hsumma_status ask_line(const struct hs_chooser *chooser, const struct hs_alg *row,
                              const struct hs_parameters *with, const struct hs_group *line, int cells,
                              const struct hs_factors *factors, int level, int *size, const char **why)
{
    const struct hs_allocator *memory = chooser->planner->memory;
    hsumma_status status = HSUMMA_OK;
    for (int m = 0; !status && !*why && m < line->size; m++) {
        struct hs_topology topology;
        struct hs_group group = {.table = line->table,
                                 .base = line->base + m * line->stride,
                                 .stride = line->stride * factors->stride[level],
                                 .size = factors->size[level]};
        if (hs_digit(factors, level, m) || (cells && m > 0))
            continue;
        status = hs_group_topology(cells ? line : &group, 0, chooser->planner->topology, memory, &topology);
        if (status)
            break;
        *size = cells ? topology.division[HS_NODE].parts : group.size;
        struct hs_shape shape = {.size = *size, .bytes = 1024, .unit = 8, .with = *with};
        shape.topology = row->flags & HS_USES_TOPOLOGY ? &topology : NULL;
        *why = *size > 1 ? hs_alg_unfit(row, &shape) : NULL;
        hs_topology_free(&topology, memory);
    }
    return status;
}

/*
 * Checks that an algorithm can run on the lines of a level along an axis, over members or over cells.  All lines are
 * checked, so that all processes get the same result.  Levels of sums are merged as in hs_mover_init; a level that is
 * merged into another level does not use its own algorithm.
 */
static hsumma_status check_row(const struct hs_chooser *chooser, const struct hs_spec *spec, int level, int axis,
                               int operand)
{
    const struct hs_grid *grid = &chooser->problem->grid;
    const struct hs_alg *row = (operand == HS_C ? spec->reduce : spec->bcast)[level];
    const struct hs_parameters *with = &(operand == HS_C ? spec->reduce_with : spec->bcast_with)[level];
    struct hs_factors over;
    int cells = hs_line_cells(chooser->lines, hs_spec_shares(spec, operand), axis, &spec->factors[axis], &over) != NULL;
    int tier[HS_LEVELS_MAX], at = level, others = 1;
    if (operand == HS_C) {
        struct hs_factors given = over;
        hs_factors_merge_for_sums(&given, &over, tier);
        for (at = 0; at < over.levels && tier[at] != level; at++)
            ;
    }
    if (!row || at == over.levels)
        return HSUMMA_OK;
    for (int l = 0; l < over.levels; l++)
        others *= l == at ? 1 : over.size[l];
    int size = over.size[at], alone = cells && others == 1;
    struct hs_shape shape = {.size = size, .bytes = 1024, .unit = 8, .with = *with};
    if (alone && operand != HS_C)
        shape.box = hs_line_boxes(chooser->lines, axis);
    const char *why = hs_alg_unfit(row, &shape);
    hsumma_status status = HSUMMA_OK;
    int asked = row->unfit && !(row->flags & HS_USES_BOX) && chooser->planner->topology && (alone || !cells);
    for (int line = 0; asked && !status && !why && line < grid->extent[1 - axis]; line++) {
        struct hs_group all = {.table = grid->rank,
                               .base = hs_grid_index(grid, axis, 0, line),
                               .stride = hs_grid_stride(grid, axis),
                               .size = grid->extent[axis]};
        status = ask_line(chooser, row, with, &all, cells, &over, at, &size, &why);
    }
    if (!why)
        return status;
    return hs_fail(chooser->message, HSUMMA_ERR_UNSUPPORTED,
                   "%s=%s cannot serve a line of %d %s: %s; expected another algorithm",
                   operand == HS_C ? "reduce" : "bcast", row->name, size, cells ? "nodes" : "processes", why);
}

hsumma_status hs_check_rows(const struct hs_chooser *chooser, const struct hs_spec *spec, int level)
{
    hsumma_status status = HSUMMA_OK;
    for (int x = 0; !status && x < 3; x++)
        if (chooser->variant.role[x].moves)
            status = check_row(chooser, spec, level, chooser->variant.role[x].line_axis, x);
    return status;
}
