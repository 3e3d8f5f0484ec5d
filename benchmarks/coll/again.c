/* hsumma coll --from: prints the CSV of an earlier run as a table and, with --plot, draws it; for runs on clusters
 * without gnuplot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll/costs.h"
#include "coll/time.h"

typedef struct reading {
    coll_run run;
    coll_arguments args;
    int rows;
} reading;

/* Reads from a row what all rows of a run have in common. Returns 0 if the row is of another run, or invalid. */
static int take_head(reading *r, const coll_contender *row)
{
    int op = coll_find(row->op), element = 0;

    while (element < HSUMMA_INT64 && strcmp(coll_element_of((hsumma_element)element).name, row->element))
        element++;
    if (strcmp(coll_element_of((hsumma_element)element).name, row->element))
        return 0;
    if (r->rows && (op != r->args.collective || element != (int)r->args.element || row->ranks != r->run.size))
        return 0;
    r->args.collective = op;
    r->args.element = (hsumma_element)element;
    r->args.reps = row->reps;
    r->run.size = row->ranks;
    r->run.options = row->device;
    r->run.copy_rate = row->present & COLL_PLACED ? row->copy_rate : r->run.copy_rate;
    r->run.placed |= (row->present & COLL_PLACED) != 0;
    r->args.bits |= (row->present & COLL_BITS) != 0;
    r->args.init |= (row->present & COLL_INIT) != 0;
    return op < HS_COLLECTIVES && row->ranks > 0;
}

/* Adds a row, whose strings point into the line. NULL, or an error message. */
static const char *add_line(reading *r, char *line)
{
    coll_contender *more = realloc(r->run.row, (size_t)(r->rows + 1) * sizeof *more), *row;
    int groups;

    if (!more)
        return "no memory";
    r->run.row = more;
    row = &more[r->rows];
    groups = report_csv_read(coll_columns, line, row);
    if (groups < 0)
        return "expected the output of hsumma coll --format csv";
    row->present = (unsigned)groups;
    if (!take_head(r, row))
        return "expected lines of one collective, one element type and one number of ranks";
    r->rows++;
    return NULL;
}

/* Counts the sizes, each with as many rows as the first. An incomplete last size, from an interrupted run, is left out.
 */
static const char *count_points(reading *r)
{
    const coll_contender *row = r->run.row;
    int count = 0;

    while (count < r->rows && row[count].bytes == row[0].bytes)
        count++;
    for (int i = 1; i < r->rows; i++)
        if ((row[i].bytes != row[i - 1].bytes) != (i % count == 0))
            return "the sizes have different numbers of lines; expected the output of one run";
    r->run.count = count;
    r->run.points = count ? r->rows / count : 0;
    return count ? NULL : "there is no measurement; expected the output of hsumma coll --format csv";
}

/* Reads all lines, except an incomplete last one from an interrupted run. NULL, or an error message. */
static const char *read_lines(reading *r, char *text)
{
    const char *complaint = NULL;
    char *rest = text, *line = strsep(&rest, "\n");
    size_t length = strcspn(line, "\r");

    if (rest && (length < 5 || strncmp(line + length - 5, ",note", 5)))
        return "expected the output of hsumma coll --format csv, with its first line, the names";
    while (!complaint && (line = strsep(&rest, "\n")) && rest) {
        line[strcspn(line, "\r")] = 0;
        complaint = add_line(r, line);
    }
    return complaint ? complaint : count_points(r);
}

int coll_again(const coll_arguments *args)
{
    reading r = {.run = {.comm = MPI_COMM_SELF, .mates = MPI_COMM_NULL}, .args = *args};
    FILE *file = fopen(args->again, "r");
    struct hs_message message = {""};
    char empty[] = "", *text = NULL;
    size_t size = 0;
    const char *complaint = file ? read_lines(&r, getdelim(&text, &size, 0, file) < 0 ? empty : text) : strerror(errno);
    int bad = complaint != NULL;

    if (file)
        fclose(file);
    r.run.args = &r.args;
    if (!complaint) {
        coll_report_again(&r.run, stdout);
        if (!report_written(stdout))
            complaint = "the report could not be written";
        else if (args->plot)
            complaint = coll_plot(&r.run, args->plot, &message);
    }
    command_fail(MPI_COMM_SELF, complaint != NULL, "coll: --from %s: %s", args->again, complaint);
    free(text);
    free(r.run.row);
    return bad ? COMMAND_BAD_INPUT : complaint ? COMMAND_INTERNAL : COMMAND_OK;
}
