/* hsumma_bench coll --from: what a run has printed as csv, as a table and a drawing: where it ran there may be no
 * gnuplot.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll/costs.h"
#include "coll/time.h"

typedef struct reading {
    coll_run run;
    coll_arguments args;
    char device[200];
    int room; /* contenders that a point has memory for */
} reading;

/* What all lines have in common; 0: this one is of another run. */
static int take_head(reading *r, const coll_row *row)
{
    int op = coll_find(row->op), element = 0;

    while (element < HSUMMA_INT64 && strcmp(coll_element_of((hsumma_element)element).name, row->element))
        element++;
    if (r->run.points && (op != r->args.collective || element != (int)r->args.element || row->ranks != r->run.size))
        return 0;
    r->args.collective = op;
    r->args.element = (hsumma_element)element;
    r->args.reps = row->reps;
    r->run.size = row->ranks;
    snprintf(r->device, sizeof r->device, "%s", row->device);
    return op < HS_COLLECTIVES && row->ranks > 0;
}

/* The point of a line, a new one if its size is new. */
static coll_point *point_of(reading *r, int64_t bytes)
{
    coll_run *run = &r->run;
    coll_point *more;

    if (run->points && run->point[run->points - 1].bytes == bytes)
        return &run->point[run->points - 1];
    more = realloc(run->point, (size_t)(run->points + 1) * sizeof *more);
    if (!more)
        return NULL;
    run->point = more;
    more += run->points++;
    *more = (coll_point){.bytes = bytes};
    r->room = 0;
    return more;
}

/* The first line of a size is MPI's.  0 without memory. */
static int add_contender(reading *r, const coll_row *row, unsigned groups)
{
    coll_point *point = point_of(r, row->bytes);
    coll_contender *more = point ? realloc(point->contender, (size_t)(r->room + 1) * sizeof *more) : NULL, *x;

    if (!more)
        return 0;
    point->contender = more;
    x = more + r->room;
    *x = (coll_contender){.calls = row->calls,
                          .word = r->room ? strdup(row->label) : NULL,
                          .right = row->right,
                          .time = row->time,
                          .ratio = row->ratio,
                          .same = row->same,
                          .bits = strtoull(row->bits, NULL, 16)};
    r->room++;
    snprintf(groups & COLL_RAN ? x->chosen : x->why, sizeof x->why, "%s", row->note);
    if (groups & COLL_PLACED) {
        point->traffic = llround(row->bandwidth * x->time.median);
        r->run.copy_rate = row->copy_rate;
    }
    if (groups & COLL_INIT) {
        x->created = row->created;
        x->first = row->first;
    }
    r->run.placed |= (groups & COLL_PLACED) != 0;
    r->args.bits |= (groups & COLL_BITS) != 0;
    r->args.init |= (groups & COLL_INIT) != 0;
    return r->room == 1 || x->word;
}

/* Lines of all sizes have the contenders of the first one; a run that was stopped leaves a size that lacks some. */
static const char *end_point(reading *r)
{
    if (r->run.points == 1)
        r->run.count = r->room;
    return r->run.points && r->room != r->run.count ? "expected as many lines of each size" : NULL;
}

/* NULL, or what is wrong. */
static const char *read_lines(reading *r, FILE *file)
{
    const char *complaint = NULL;
    char *line = NULL;
    size_t size = 0;

    for (int n = 0; !complaint && getline(&line, &size, file) >= 0 && strchr(line, '\n'); n++) {
        coll_row row;
        int groups;

        line[strcspn(line, "\r\n")] = 0;
        groups = report_csv_read(coll_columns, line, &row);
        if (groups < 0)
            complaint = "expected what hsumma_bench coll --format csv has printed";
        else if (n == 0)
            complaint = strcmp(row.note, "note") ? "expected a line of names first" : NULL;
        else if (!take_head(r, &row))
            complaint = "expected one collective of one number of ranks";
        else if (r->run.points && r->run.point[r->run.points - 1].bytes != row.bytes)
            complaint = end_point(r);
        if (n && !complaint && !add_contender(r, &row, (unsigned)groups))
            complaint = "no memory";
    }
    free(line);
    if (!complaint && !r->run.points)
        complaint = "expected a line of a measurement";
    return complaint;
}

static void release(reading *r, int points)
{
    for (int p = 0; p < points; p++) {
        int last = p == points - 1 ? r->room : r->run.count;

        for (int i = 0; i < last; i++)
            free((char *)r->run.point[p].contender[i].word);
        free(r->run.point[p].contender);
    }
    free(r->run.point);
}

int coll_again(const coll_arguments *args)
{
    reading r = {.run = {.comm = MPI_COMM_SELF, .mates = MPI_COMM_NULL}, .args = *args};
    FILE *file = fopen(args->again, "r");
    const char *complaint = file ? read_lines(&r, file) : strerror(errno);
    int bad = complaint != NULL, points = r.run.points;

    if (file)
        fclose(file);
    r.run.args = &r.args;
    r.run.options = r.device;
    if (!complaint) {
        r.run.points -= end_point(&r) != NULL; /* torn */
        coll_report_again(&r.run, stdout);
        if (fflush(stdout) || ferror(stdout))
            complaint = "the report could not be written";
        else if (args->plot)
            complaint = coll_plot(&r.run, args->plot);
    }
    command_fail(MPI_COMM_SELF, complaint != NULL, "coll: --from %s: %s", args->again, complaint ? complaint : "");
    release(&r, points);
    return bad ? COMMAND_BAD_INPUT : complaint ? COMMAND_INTERNAL : COMMAND_OK;
}
