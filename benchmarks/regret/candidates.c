/* The candidates of a case, from a table whose rows are cross products of option values. */
#include <math.h>
#include <string.h>

#include "product/group_grids.h"
#include "regret/command.h"

/*
 * Options with their values; an option that is absent is not passed. Words that depend on the problem:
 *
 *   stationary   largest: of op(A), op(B) and C (of equal ones C, then A); others: the two that are not; all: all three
 *   groups       each: every group grid that divides the grid and differs from SUMMA; if there are more than four, only
 *                the squarest of each number of groups, and of these the four whose number of groups is nearest to the
 *                square root of the number of processes; middle: only the one nearest to that square root
 */
static const struct row {
    int several; /* 1: for jobs on several nodes; 0: on one */
    const char *text;
} rows[] = {
    {0, "stationary: all; node: shared; block: auto 192 384; chunk: auto 256 1024;"},
    {0, "stationary: all; node: shared; block: 768;"},
    {0, "stationary: all; node: messages; lookahead: 0 1;"},
    {0, "stationary: largest; node: messages; groups: 1x1 middle; block: 128; lookahead: 1;"},
    {1, "stationary: all; groups: auto;"},
    {1, "stationary: largest; groups: 1x1; block: 128 256 384; bcast: binomial van_de_geijn chain; lookahead: 1;"},
    {1, "stationary: largest; groups: each; block: 256; bcast: binomial van_de_geijn; lookahead: 1;"},
    {1, "stationary: largest; groups: middle; block: 256; bcast: chain; lookahead: 1;"},
    {1, "stationary: largest; groups: 1x1 middle; block: 256; bcast: binomial van_de_geijn; lookahead: 0;"},
    {1, "stationary: largest; groups: 1x1; block: 256; bcast: chain; lookahead: 1; segment: 16k;"},
    {1, "stationary: others; groups: 1x1; block: 256; bcast: binomial van_de_geijn chain; lookahead: 1;"},
    {1, "stationary: others; groups: 1x1; block: 256; bcast: binomial; lookahead: 0;"},
    {1, "stationary: others; groups: middle; block: 256; bcast: van_de_geijn; lookahead: 1;"},
    {1, "stationary: all; groups: 1x1; block: 256; lookahead: 1; exchange: all"},
};

/* The prefix of an option's value in a candidate's name. */
static const struct {
    const char *option, *mark;
} marks[] = {{"block", "b"}, {"chunk", "c"}, {"lookahead", "la"}, {"segment", "s"}, {"exchange", "to_"}};

enum {
    RIVAL_ROWS = sizeof rows / sizeof *rows,
    MARKS = sizeof marks / sizeof *marks,
    MOST_PARTS = 8,
    MOST_WORDS = 8,
    WORD_BYTES = 32,
    GRIDS = 64,
    EACH = 4
};

/* An option of a row, with its values. */
typedef struct row_part {
    const char *option;
    int length; /* length of the option's name */
    char word[MOST_WORDS][WORD_BYTES];
    int count;
} row_part;

static int is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !strncmp(text, word, length);
}

static void add(row_part *to, const char *word, size_t length)
{
    if (to->count < MOST_WORDS && length < WORD_BYTES) {
        memcpy(to->word[to->count], word, length);
        to->word[to->count++][length] = 0;
    }
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

static void add_operands(row_part *to, const problem *p, const char *which, size_t length)
{
    const arguments *args = p->args;
    const double size[3] = {(double)args->m * (double)args->k, (double)args->k * (double)args->n,
                            (double)args->m * (double)args->n};
    int largest = size[2] >= size[0] && size[2] >= size[1] ? 2 : size[0] >= size[1] ? 0 : 1;

    if (!is_word(which, length, "others"))
        add(to, &"ABC"[largest], 1);
    for (int x = 2; x >= 0 && !is_word(which, length, "largest"); x--)
        if (x != largest)
            add(to, &"ABC"[x], 1);
}

/* --- group grids -------------------------------------------------------------------------------------------------- */

/* The distance of the number of groups from the square root of the number of processes, as a logarithm. */
static double from_root(const problem *p, const group_grid *grid)
{
    return fabs(log(grid->groups / sqrt((double)p->nprow * p->npcol)));
}

static double from_square(const group_grid *grid)
{
    return fabs(log((double)grid->rows / grid->cols));
}

/* All group grids that divide the grid, except those equal to SUMMA. */
static int all_grids(const problem *p, group_grid *grid)
{
    int count = 0;

    for (int i = 1; i <= p->nprow; i++)
        for (int j = 1; j <= p->npcol; j++)
            if (p->nprow % i == 0 && p->npcol % j == 0 && i * j > 1 && (i < p->nprow || j < p->npcol) && count < GRIDS)
                grid[count++] = (group_grid){.rows = i, .cols = j, .groups = i * j};
    return count;
}

/* Keeps the squarest grid of each number of groups, the first of equals. */
static int keep_squarest(group_grid *grid, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++) {
        int same = 0;

        while (same < kept && grid[same].groups != grid[i].groups)
            same++;
        if (same == kept)
            grid[kept++] = grid[i];
        else if (from_square(&grid[i]) < from_square(&grid[same]) - 1e-9)
            grid[same] = grid[i];
    }
    return kept;
}

/* Drops the grid whose number of groups is farthest from the square root of the number of processes. */
static int drop_farthest(const problem *p, group_grid *grid, int count)
{
    int farthest = 0;

    for (int i = 1; i < count; i++)
        if (from_root(p, &grid[i]) > from_root(p, &grid[farthest]) + 1e-9)
            farthest = i;
    memmove(grid + farthest, grid + farthest + 1, (size_t)(count - farthest - 1) * sizeof *grid);
    return count - 1;
}

static void add_groups(row_part *to, const problem *p, int most)
{
    group_grid grid[GRIDS];
    char text[WORD_BYTES];
    int count = all_grids(p, grid);

    if (count > most)
        count = keep_squarest(grid, count);
    while (count > most)
        count = drop_farthest(p, grid, count);
    for (int i = 0; i < count; i++)
        add(to, text, (size_t)snprintf(text, sizeof text, "%dx%d", grid[i].rows, grid[i].cols));
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Adds the values that a word of the table stands for in this problem. */
static void add_word(row_part *to, const problem *p, const char *word, size_t length)
{
    int groups = is_word(to->option, (size_t)to->length, "groups");

    if (is_word(to->option, (size_t)to->length, "stationary"))
        add_operands(to, p, word, length);
    else if (groups && is_word(word, length, "each"))
        add_groups(to, p, EACH);
    else if (groups && is_word(word, length, "middle"))
        add_groups(to, p, 1);
    else
        add(to, word, length);
}

/* Reads the parts of a row; returns their number. */
static int read_row(const problem *p, const char *text, row_part parts[MOST_PARTS])
{
    int count = 0;

    while (*text && count < MOST_PARTS) {
        row_part *to = &parts[count++];

        *to = (row_part){.option = text, .length = (int)strcspn(text, ":")};
        text += to->length + 1;
        while (*text == ' ') {
            size_t length = strcspn(++text, " ;");

            add_word(to, p, text, length);
            text += length;
        }
        text += strspn(text, "; ");
    }
    return count;
}

static const char *mark_of(const row_part *of)
{
    for (int i = 0; i < MARKS; i++)
        if (is_word(of->option, (size_t)of->length, marks[i].option))
            return marks[i].mark;
    return "";
}

/* Writes the i-th candidate of a row's cross product, whose last part varies fastest. Returns 0 if the row has fewer;
 * *rest is then i less their number. */
static int of_row(const problem *p, const struct row *row, int i, int *rest, char *name, size_t name_size, char *text,
                  size_t size)
{
    row_part parts[MOST_PARTS];
    int count = read_row(p, row->text, parts), total = 1, used = 0, named = 0;

    for (int x = 0; x < count; x++)
        total *= parts[x].count;
    *rest = i - total;
    if (i >= total)
        return 0;
    for (int x = 0; x < count; x++) {
        const char *word;

        total /= parts[x].count;
        word = parts[x].word[i / total % parts[x].count];
        used += snprintf(text + used, size - (size_t)used, "%s%.*s=%s", used ? " " : "", parts[x].length,
                         parts[x].option, word);
        named +=
            snprintf(name + named, name_size - (size_t)named, "%s%s%s", named ? "/" : "", mark_of(&parts[x]), word);
    }
    return 1;
}

int regret_candidate(const problem *p, int i, char *name, size_t name_size, char *text, size_t size)
{
    for (int r = 0; r < RIVAL_ROWS; r++) {
        if (rows[r].several != (p->mach.nodes > 1))
            continue;
        if (of_row(p, &rows[r], i, &i, name, name_size, text, size))
            return 1;
    }
    return 0;
}

void regret_candidates_help(FILE *file)
{
    for (int several = 0; several < 2; several++) {
        fprintf(file, "  %s\n", several ? "several nodes" : "one node");
        for (int r = 0; r < RIVAL_ROWS; r++)
            if (rows[r].several == several)
                fprintf(file, "    %s\n", rows[r].text);
    }
}
