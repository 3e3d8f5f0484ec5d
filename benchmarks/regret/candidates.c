/* The candidates of a case: a table whose rows are cross products of words. */
#include <math.h>
#include <string.h>

#include "regret/command.h"

enum {
    PART_OPERAND,
    PART_NODE,
    PART_GROUPS,
    PART_BLOCK,
    PART_CHUNK,
    PART_BCAST,
    PART_LOOKAHEAD,
    PART_SEGMENT,
    PART_EXCHANGE,
    PARTS
};

/* The option that a part of a name stands for, and what marks it in the name. */
static const struct {
    const char *option, *mark;
} part[PARTS] = {
    [PART_OPERAND] = {"stationary", ""},    [PART_NODE] = {"node", ""},        [PART_GROUPS] = {"groups", ""},
    [PART_BLOCK] = {"block", "b"},          [PART_CHUNK] = {"chunk", "c"},     [PART_BCAST] = {"bcast", ""},
    [PART_LOOKAHEAD] = {"lookahead", "la"}, [PART_SEGMENT] = {"segment", "s"}, [PART_EXCHANGE] = {"exchange", "to_"},
};

/*
 * Words of each part; none: the option is not given.  Operands: "largest" of op(A), op(B) and C (of equal ones C, then
 * A), the "others", "all".  Groups: a grid, or "each": every group grid of two levels that divides the grid, if they
 * are more than four the one nearest to a square of each number of groups, and of those the four whose number is
 * nearest to the root of the processes; "middle": the one that is nearest to it.
 */
static const struct row {
    int several; /* nodes; else one */
    const char *word[PARTS];
} rows[] = {
    {0,
     {[PART_OPERAND] = "all", [PART_NODE] = "shared", [PART_BLOCK] = "auto 192 384", [PART_CHUNK] = "auto 256 1024"}},
    {0, {[PART_OPERAND] = "all", [PART_NODE] = "shared", [PART_BLOCK] = "768"}},
    {0, {[PART_OPERAND] = "all", [PART_NODE] = "messages", [PART_LOOKAHEAD] = "0 1"}},
    {0,
     {[PART_OPERAND] = "largest",
      [PART_NODE] = "messages",
      [PART_GROUPS] = "1x1 middle",
      [PART_BLOCK] = "128",
      [PART_LOOKAHEAD] = "1"}},
    {1, {[PART_OPERAND] = "all", [PART_GROUPS] = "auto"}},
    {1,
     {[PART_OPERAND] = "largest",
      [PART_GROUPS] = "1x1",
      [PART_BLOCK] = "128 256 384",
      [PART_BCAST] = "binomial van_de_geijn chain",
      [PART_LOOKAHEAD] = "1"}},
    {1,
     {[PART_OPERAND] = "largest",
      [PART_GROUPS] = "each",
      [PART_BLOCK] = "256",
      [PART_BCAST] = "binomial van_de_geijn",
      [PART_LOOKAHEAD] = "1"}},
    {1,
     {[PART_OPERAND] = "largest",
      [PART_GROUPS] = "middle",
      [PART_BLOCK] = "256",
      [PART_BCAST] = "chain",
      [PART_LOOKAHEAD] = "1"}},
    {1,
     {[PART_OPERAND] = "largest",
      [PART_GROUPS] = "1x1 middle",
      [PART_BLOCK] = "256",
      [PART_BCAST] = "binomial van_de_geijn",
      [PART_LOOKAHEAD] = "0"}},
    {1,
     {[PART_OPERAND] = "largest",
      [PART_GROUPS] = "1x1",
      [PART_BLOCK] = "256",
      [PART_BCAST] = "chain",
      [PART_LOOKAHEAD] = "1",
      [PART_SEGMENT] = "16k"}},
    {1,
     {[PART_OPERAND] = "others",
      [PART_GROUPS] = "1x1",
      [PART_BLOCK] = "256",
      [PART_BCAST] = "binomial van_de_geijn chain",
      [PART_LOOKAHEAD] = "1"}},
    {1,
     {[PART_OPERAND] = "others",
      [PART_GROUPS] = "1x1",
      [PART_BLOCK] = "256",
      [PART_BCAST] = "binomial",
      [PART_LOOKAHEAD] = "0"}},
    {1,
     {[PART_OPERAND] = "others",
      [PART_GROUPS] = "middle",
      [PART_BLOCK] = "256",
      [PART_BCAST] = "van_de_geijn",
      [PART_LOOKAHEAD] = "1"}},
    {1,
     {[PART_OPERAND] = "all",
      [PART_GROUPS] = "1x1",
      [PART_BLOCK] = "256",
      [PART_LOOKAHEAD] = "1",
      [PART_EXCHANGE] = "all"}},
};

enum { RIVAL_ROWS = sizeof rows / sizeof *rows, MOST_WORDS = 8, WORD_BYTES = 32, GRIDS = 64, EACH = 4 };

/* What a part's words come to. */
typedef struct part_words {
    char word[MOST_WORDS][WORD_BYTES];
    int count;
} part_words;

static void add(part_words *to, const char *word, size_t length)
{
    if (to->count < MOST_WORDS && length < WORD_BYTES) {
        memcpy(to->word[to->count], word, length);
        to->word[to->count++][length] = 0;
    }
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

static void add_operands(part_words *to, const problem *p, const char *which)
{
    const arguments *args = p->args;
    const double size[3] = {(double)args->m * (double)args->k, (double)args->k * (double)args->n,
                            (double)args->m * (double)args->n};
    int largest = size[2] >= size[0] && size[2] >= size[1] ? 2 : size[0] >= size[1] ? 0 : 1;

    if (strcmp(which, "others"))
        add(to, &"ABC"[largest], 1);
    for (int x = 2; x >= 0 && strcmp(which, "largest"); x--)
        if (x != largest)
            add(to, &"ABC"[x], 1);
}

/* --- group grids -------------------------------------------------------------------------------------------------- */

typedef struct group_grid {
    int rows, cols;
} group_grid;

/* How far the number of groups is from the root of the processes, as a factor. */
static double from_root(const problem *p, const group_grid *grid)
{
    return fabs(log((double)grid->rows * grid->cols / sqrt((double)p->nprow * p->npcol)));
}

static double from_square(const group_grid *grid)
{
    return fabs(log((double)grid->rows / grid->cols));
}

/* Those that divide the grid, without those that are SUMMA. */
static int all_grids(const problem *p, group_grid *grid)
{
    int count = 0;

    for (int i = 1; i <= p->nprow; i++)
        for (int j = 1; j <= p->npcol; j++)
            if (p->nprow % i == 0 && p->npcol % j == 0 && i * j > 1 && (i < p->nprow || j < p->npcol) && count < GRIDS)
                grid[count++] = (group_grid){i, j};
    return count;
}

/* Keeps the squarest of each number of groups, of equal ones the first. */
static int keep_squarest(group_grid *grid, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++) {
        int same = 0;

        while (same < kept && grid[same].rows * grid[same].cols != grid[i].rows * grid[i].cols)
            same++;
        if (same == kept)
            grid[kept++] = grid[i];
        else if (from_square(&grid[i]) < from_square(&grid[same]) - 1e-9)
            grid[same] = grid[i];
    }
    return kept;
}

/* Takes away the one whose number of groups is farthest from the root. */
static int drop_farthest(const problem *p, group_grid *grid, int count)
{
    int farthest = 0;

    for (int i = 1; i < count; i++)
        if (from_root(p, &grid[i]) > from_root(p, &grid[farthest]) + 1e-9)
            farthest = i;
    memmove(grid + farthest, grid + farthest + 1, (size_t)(count - farthest - 1) * sizeof *grid);
    return count - 1;
}

static void add_groups(part_words *to, const problem *p, int most)
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

/* What the words of a part stand for in this problem; none at all is one empty word. */
static part_words expand(const problem *p, int which, const char *text)
{
    part_words out = {.count = 0};

    if (!text)
        add(&out, "", 0);
    for (size_t length; text && *text; text += length + (text[length] == ' ')) {
        length = strcspn(text, " ");
        if (which == PART_OPERAND)
            add_operands(&out, p, text);
        else if (which == PART_GROUPS && strncmp(text, "each", length) == 0)
            add_groups(&out, p, EACH);
        else if (which == PART_GROUPS && strncmp(text, "middle", length) == 0)
            add_groups(&out, p, 1);
        else
            add(&out, text, length);
    }
    return out;
}

/* The i-th of a row's cross product, the last part changing first; 0 past its end, with what is left of i in *rest. */
static int of_row(const problem *p, const struct row *row, int i, int *rest, char *name, size_t name_size, char *text,
                  size_t size)
{
    part_words each[PARTS];
    int total = 1, used = 0, named = 0, at[PARTS];

    for (int x = 0; x < PARTS; x++) {
        each[x] = expand(p, x, row->word[x]);
        total *= each[x].count;
    }
    *rest = i - total;
    if (i >= total)
        return 0;
    for (int x = PARTS - 1; x >= 0; i /= each[x--].count)
        at[x] = i % each[x].count;
    for (int x = 0; x < PARTS; x++) {
        const char *word = each[x].word[at[x]];

        if (!*word)
            continue;
        used += snprintf(text + used, size - (size_t)used, "%s%s=%s", used ? " " : "", part[x].option, word);
        named += snprintf(name + named, name_size - (size_t)named, "%s%s%s", named ? "/" : "", part[x].mark, word);
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
        for (int r = 0; r < RIVAL_ROWS; r++) {
            if (rows[r].several != several)
                continue;
            fputs("   ", file);
            for (int x = 0; x < PARTS; x++)
                if (rows[r].word[x])
                    fprintf(file, " %s: %s%s", part[x].option, rows[r].word[x], x < PARTS - 1 ? ";" : "");
            fputc('\n', file);
        }
    }
}
