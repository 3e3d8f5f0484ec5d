/* The explanation as text; declared in command.h. */

#include "common/command.h"
#include "explain/command.h"
#include "report/columns.h"
#include "report/product.h"

enum { LINE = 110, TABLE_COLUMNS = 16, CUTS_PRINTED = 96 };

static const char operand_name[] = "ABC", dim_name[] = "mnk";

/* --- figures ----------------------------------------------------------------------------------------------------- */

static void print_head(const explanation *e, FILE *file)
{
    const arguments *args = &e->args->common;

    fprintf(file, "hsumma explain: C := A%s B%s, m = %lld, n = %lld, k = %lld, %s\n", report_op_mark(args->transa),
            report_op_mark(args->transb), (long long)args->m, (long long)args->n, (long long)args->k,
            type_name(args->type));
    fprintf(file, "%d x %d grid", e->whole[0], e->whole[1]);
    if (e->args->ranks)
        fprintf(file, " chosen for up to %lld processes", (long long)e->args->ranks);
    if (e->processes < e->whole[0] * e->whole[1])
        fprintf(file, " (%d x %d participate; the others own no data)", e->nprow, e->npcol);
    fprintf(file, " on %d node%s, ", e->node->parts, report_plural(e->node->parts));
    if (args->nb)
        fprintf(file, "%lld x %lld blocks\n\n", (long long)e->desc[HS_C].mb, (long long)e->desc[HS_C].nb);
    else
        fprintf(file, "one block per process\n\n");
}

#define SECONDS .digits = 4, .factor = REPORT_TIME, .narrow = 1, .when = PLANNED
static void print_hierarchies(const explanation *e, FILE *file)
{
    enum { PLANNED = 1 };

    static const report_column columns[] = {
        {.title = "groups", REPORT_VALUE(hierarchy, grid.name), .width = -8},
        {.title = "G", REPORT_VALUE(hierarchy, grid.groups), .width = 5, .narrow = 1},
        {.title = "stationary", REPORT_VALUE(hierarchy, info.stationary), .width = -10, .when = PLANNED},
        {.title = "outer", REPORT_VALUE(hierarchy, outer), .width = 7, .narrow = 1, .when = PLANNED},
        {.title = "block", REPORT_VALUE(hierarchy, block), .width = 7, .narrow = 1, .when = PLANNED},
        {.title = "communication", REPORT_VALUE(hierarchy, info.predicted_comm_seconds), .width = 14, SECONDS},
        {.title = "total", REPORT_VALUE(hierarchy, info.predicted_seconds), .width = 12, SECONDS},
        REPORT_END};
    report_table table = {.columns = columns, .shown = PLANNED};
    const char *unit;

    table.factor = report_time_unit(e->info.predicted_comm_seconds, &unit);
    fprintf(file, "times in %s\n", unit);
    report_table_head(&table, NULL, file);
    for (int i = 0; i < e->hierarchy_count; i++) {
        const hierarchy *h = &e->hierarchies[i];
        char note[sizeof h->message + 2];

        snprintf(note, sizeof note, "  %s", h->message);
        report_table_row(&table, h, h->plan ? PLANNED : 0,
                         !h->plan   ? note
                         : h->least ? "  <- least communication"
                                    : NULL,
                         file);
    }
    fputc('\n', file);
}

/* --- indices and panels ------------------------------------------------------------------------------------------ */

static void print_cut_line(const explanation *e, FILE *file, size_t first, int count, int line)
{
    static const char *const axis_name[2] = {"row", "column"};
    int movers[2], found = 0;

    for (int x = 0; x < 3; x++)
        if (e->variant.role[x].moves)
            movers[found++] = x;
    if (line == 0)
        fprintf(file, "%-14s", "from");
    else if (line < 3)
        fprintf(file, "%c on %-9s", operand_name[movers[line - 1]],
                axis_name[e->variant.role[movers[line - 1]].loop_axis]);
    else
        fprintf(file, "%-14s", "panel");
    for (int i = 0; i < count; i++) {
        const cut *c = &e->cuts[first + (size_t)i];

        fprintf(file, " %4lld", line == 0 ? (long long)c->begin : line == 3 ? c->panel : c->owner[line - 1]);
    }
    fputc('\n', file);
}

static void print_cuts(const explanation *e, FILE *file)
{
    size_t printed = e->cut_count < CUTS_PRINTED ? e->cut_count : CUTS_PRINTED;

    fprintf(file, "panels of the indices %c (one column per interval):\n", dim_name[e->variant.looped]);
    for (size_t at = 0; at < printed; at += TABLE_COLUMNS) {
        int count = printed - at < TABLE_COLUMNS ? (int)(printed - at) : TABLE_COLUMNS;

        for (int line = 0; line < 4; line++)
            print_cut_line(e, file, at, count, line);
        fputc('\n', file);
    }
    if (printed < e->cut_count)
        fprintf(file, "(and %zu more)\n\n", e->cut_count - printed);
}

/* --- pictures ----------------------------------------------------------------------------------------------------- */

char explain_mark(const struct hs_arrival *place)
{
    if (place->length == 0)
        return '-';
    if (!place->moves)
        return '.';
    if (place->reads)
        return 'r';
    return place->level ? (char)('0' + place->level) : '*';
}

/* Formats one line of an operand's map, in exactly `width` columns; row -1 is the title. */
static void format_map_line(const explanation *e, const picture *p, int row, char *text, int width)
{
    char line[512];
    int used = 0;

    if (row < 0)
        used = snprintf(line, sizeof line, "  %c along the %s", operand_name[p->operand],
                        e->variant.role[p->operand].line_axis ? "rows" : "columns");
    else
        used = snprintf(line, sizeof line, "  %3d ", row);
    for (int j = 0; row >= 0 && j < e->npcol; j++) {
        const struct hs_arrival *place = &p->place[row * e->npcol + j];

        used +=
            snprintf(line + used, sizeof line - (size_t)used, " %c%c", explain_mark(place), place->holds ? 'x' : ' ');
    }
    snprintf(text, (size_t)width + 1, "%-*s", width, line);
}

/* Prints the maps of `count` operands side by side. */
static void print_maps(const explanation *e, const picture *p, int count, FILE *file)
{
    int width = 6 + 3 * e->npcol < 24 ? 24 : 6 + 3 * e->npcol;
    char text[1024];

    for (int row = -1; row < e->nprow; row++) {
        int end = count * width;

        for (int i = 0; i < count; i++)
            format_map_line(e, &p[i], row, text + i * width, width);
        while (end > 0 && text[end - 1] == ' ')
            end--;
        fprintf(file, "%.*s\n", end, text);
    }
    fputc('\n', file);
}

static void print_stage_head(const explanation *e, const picture *p, const stage *s, FILE *file)
{
    char dim = dim_name[e->variant.looped];

    if (s->level == HS_EXCHANGE)
        fprintf(file, "%c, exchange, %lld %c:\n", operand_name[p->operand], (long long)s->width, dim);
    else if (s->panels == 1)
        fprintf(file, "%c, level %d, %s, %lld %c:\n", operand_name[p->operand], s->tier + 1, s->algorithm,
                (long long)s->width, dim);
    else
        fprintf(file, "%c, level %d, %s, %d times %lld %c:\n", operand_name[p->operand], s->tier + 1, s->algorithm,
                s->panels, (long long)s->width, dim);
    if (!s->hops)
        fputs(s->by_mpi ? "  not known: MPI sends them\n" : "  no messages\n", file);
}

/* Prints one round, the messages hop[0 .. count). */
static void print_round(const explanation *e, const struct hs_hop *hop, int count, FILE *file)
{
    int alike = 1, column;
    char text[80];

    for (int i = 1; i < count; i++)
        alike &= hop[i].bytes == hop[0].bytes;
    column = fprintf(file, "%3d:", hop->round);
    for (int i = 0; i < count; i++) {
        int length = snprintf(text, sizeof text, " (%d,%d)>(%d,%d)", hop[i].from / e->npcol, hop[i].from % e->npcol,
                              hop[i].to / e->npcol, hop[i].to % e->npcol);

        if (!alike)
            length += snprintf(text + length, sizeof text - (size_t)length, ":%lld", (long long)hop[i].bytes);
        if (column + length > LINE)
            column = fprintf(file, "\n    ") - 1;
        fputs(text, file);
        column += length;
    }
    if (alike)
        fprintf(file, "  %lld bytes%s", (long long)hop->bytes, count > 1 ? " each" : "");
    fputc('\n', file);
}

static void print_stages(const explanation *e, const picture *p, FILE *file)
{
    for (int i = 0; i < p->stage_count; i++) {
        const stage *s = &p->stages[i];

        print_stage_head(e, p, s, file);
        for (int first = 0, end; first < s->hops; first = end) {
            for (end = first; end < s->hops && s->hop[end].round == s->hop[first].round;)
                end++;
            print_round(e, s->hop + first, end - first, file);
        }
    }
    if (p->stage_count)
        fputc('\n', file);
}

static void print_legend(const explanation *e, FILE *file)
{
    int c_moves = e->variant.role[HS_C].moves, exchanged = 0, empty = 0, still = 0, reads = 0;

    for (int i = 0; i < e->picture_count; i++)
        for (int r = 0; r < e->processes; r++) {
            exchanged |= e->pictures[i].place[r].holds;
            empty |= e->pictures[i].place[r].length == 0;
            reads |= e->pictures[i].place[r].reads;
            still |= !e->pictures[i].place[r].moves;
        }
    fprintf(file, "*: owner; 1 (outermost), 2, ...: level on which a process receives its part%s%s%s%s%s\n\n",
            c_moves ? " (C: sends its sum)" : "",
            !reads    ? ""
            : c_moves ? "; r: reads it from its node's memory (C: adds to the sum there)"
                      : "; r: reads it from its node's memory",
            exchanged ? "; x: holds a part, exchanged with *" : "", still ? "; .: used in place" : "",
            empty ? "; -: no part" : "");
}

static void print_pictures(const explanation *e, FILE *file)
{
    static const char *const axis_name[2] = {"row", "column"};
    int wide = 2 * (8 + 3 * e->npcol) > LINE;

    if (e->processes > EXPLAIN_DRAWN) {
        fprintf(file, "(no pictures: the grid has more than %d processes)\n", EXPLAIN_DRAWN);
        return;
    }
    if (e->picture_count && e->args->show & SHOW_MAP)
        print_legend(e, file);
    for (int i = 0; i < e->picture_count; i += 2) { /* the two operands that move */
        const picture *p = &e->pictures[i];
        const int *owner = e->owner[p->pair];

        fprintf(file, "pair of owners %d of %d: %c from %lld on; ", p->pair + 1, e->pairs, dim_name[e->variant.looped],
                (long long)p->at);
        for (int x = 0; x < 2; x++)
            fprintf(file, "%c: %lld wide, on grid %s %d%s", operand_name[p[x].operand], (long long)p[x].width,
                    axis_name[e->variant.role[p[x].operand].loop_axis], owner[x], x ? "\n\n" : "; ");
        if (e->args->show & SHOW_MAP)
            for (int x = 0; x < 2; x += wide ? 1 : 2)
                print_maps(e, p + x, wide ? 1 : 2, file);
        for (int x = 0; x < 2 && e->args->show & SHOW_MESSAGES; x++)
            print_stages(e, p + x, file);
    }
}

int explain_table(const explanation *e, FILE *file)
{
    if (e->args->show & SHOW_PLAN) {
        print_head(e, file);
        explain_plan(e, file);
    }
    if (e->args->timing)
        explain_timing(e, file);
    if (e->args->show & SHOW_GROUPS) {
        if (!(e->args->show & SHOW_PLAN))
            explain_print_condition(&e->groups, file);
        print_hierarchies(e, file);
    }
    if (e->args->show & SHOW_CUTS)
        print_cuts(e, file);
    if (e->args->show & SHOW_MAP)
        explain_draw_nodes(e, file);
    if (e->args->show & (SHOW_MAP | SHOW_MESSAGES))
        print_pictures(e, file);
    if (e->args->show & SHOW_HINT)
        fputs("more        --show groups, map, messages or cuts (a list), or --all; see hsumma explain --help\n", file);
    return !ferror(file);
}
