/* hsumma coll: the report as a table, CSV or JSON. */
#include <math.h>
#include <string.h>

#include "coll/time.h"
#include "report/columns.h"

const char *coll_label(const coll_run *run, const coll_contender *contender)
{
    const coll_case c = {.call.collective = (hsumma_collective)run->args->collective};

    return contender->word ? contender->word : coll_case_mpi_name(&c);
}

static const char *mpi_version(char text[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int length;

    MPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = 0;
    for (char *c = text; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    return text;
}

static const char *collective(const coll_run *run)
{
    return hs_collective_name((enum hs_collective)run->args->collective);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

const report_column coll_columns[] = {
    {"op", REPORT_VALUE(coll_contender, op), .when = COLL_LINE},
    {"element", REPORT_VALUE(coll_contender, element), .when = COLL_LINE},
    {"ranks", REPORT_VALUE(coll_contender, ranks), .when = COLL_LINE},
    {"bytes", REPORT_VALUE(coll_contender, bytes), REPORT_SHOWN("bytes", 10, 0), .when = COLL_LINE},
    {"algorithm", REPORT_VALUE(coll_contender, label), REPORT_SHOWN("algorithm", -28, 0)},
    {"calls", REPORT_VALUE(coll_contender, calls), REPORT_SHOWN("calls", 6, 0), .narrow = 1, .when = COLL_RAN},
    {"median_s", REPORT_VALUE(coll_contender, time.median), REPORT_SHOWN("median us", 10, 2), .factor = 1e6,
     .when = COLL_RAN},
    {"lower_s", REPORT_VALUE(coll_contender, time.lower), REPORT_SHOWN("lower", 10, 2), .factor = 1e6,
     .when = COLL_RAN},
    {"upper_s", REPORT_VALUE(coll_contender, time.upper), REPORT_SHOWN("upper", 10, 2), .factor = 1e6,
     .when = COLL_RAN},
    {"ratio", REPORT_VALUE(coll_contender, ratio.median), REPORT_SHOWN("MPI/it", 7, 3), .when = COLL_RATIO},
    {"ratio_lower", REPORT_VALUE(coll_contender, ratio.lower), REPORT_SHOWN("lower", 7, 3), .when = COLL_RATIO},
    {"ratio_upper", REPORT_VALUE(coll_contender, ratio.upper), REPORT_SHOWN("upper", 7, 3), .when = COLL_RATIO},
    {"right", REPORT_TRUTH(coll_contender, right), .when = COLL_RAN},
    {"repetitions", REPORT_VALUE(coll_contender, reps), .when = COLL_LINE},
    {"device", REPORT_VALUE(coll_contender, device), .when = COLL_LINE},
    {"bytes_per_s", REPORT_VALUE(coll_contender, bandwidth), REPORT_SHOWN("GB/s", 7, 4), .style = 'g', .factor = 1e-9,
     .when = COLL_PLACED},
    {.title = "of copy", REPORT_VALUE(coll_contender, of_copy), .width = 7, .digits = 3, .when = COLL_PLACED},
    {"copy_bytes_per_s", REPORT_VALUE(coll_contender, copy_rate), .when = COLL_LINE},
    {"bits", REPORT_VALUE(coll_contender, bits), REPORT_SHOWN("bits", -16, 0), .when = COLL_BITS},
    {"same_on_all_ranks", REPORT_TRUTH(coll_contender, same), .when = COLL_BITS},
    {"context_s", REPORT_VALUE(coll_contender, created), .when = COLL_INIT},
    {"first_call_s", REPORT_VALUE(coll_contender, first), .when = COLL_INIT},
    {"pays_after_calls", REPORT_VALUE(coll_contender, pays_after), .when = COLL_INIT},
    {.title = "context, first call; pays after", REPORT_VALUE(coll_contender, init), .width = -1, .when = COLL_INIT},
    {"note", REPORT_VALUE(coll_contender, note), .when = COLL_LINE},
    REPORT_END};

static unsigned options_of(const coll_run *run)
{
    return (run->placed ? COLL_PLACED : 0U) | (run->args->bits ? COLL_BITS : 0U) | (run->args->init ? COLL_INIT : 0U);
}

/* The number of calls after which the contender has recovered its setup cost; -1: never, or unknown. */
static int64_t pays_after(const coll_contender *x, const coll_contender *mpi)
{
    double gain = mpi->time.median - x->time.median, spent = x->created + x->first - x->time.median;

    return x->first > 0 && gain > 0 ? (int64_t)fmax(1, ceil(spent / gain)) : -1;
}

/* Fills in the columns that are derived from the measurement. */
static void complete(const coll_run *run, coll_contender *x, const coll_contender *mpi)
{
    x->op = collective(run);
    x->element = coll_element_of(run->args->element).name;
    x->label = coll_label(run, x);
    x->device = run->mates != MPI_COMM_NULL ? hsumma_device(run->ctx) : NULL;
    x->note = x->why[0] ? x->why : x->chosen;
    x->bits = x->checksum;
    x->ranks = run->size;
    x->reps = run->args->reps;
    x->pays_after = x->why[0] ? -1 : pays_after(x, mpi);
    x->bandwidth = (double)x->traffic / x->time.median;
    x->copy_rate = run->placed && !x->why[0] ? run->copy_rate : NAN;
    if (!x->why[0])
        x->present = COLL_RAN | COLL_RATIO | (options_of(run) & ~(x->first > 0 ? 0U : COLL_INIT));
}

/* --- json --------------------------------------------------------------------------------------------------------- */

static json_t *row_json(const coll_contender *row, int is_mpi)
{
    json_t *object = report_object(coll_columns, row, row->present & ~(is_mpi ? COLL_RATIO : 0U));

    if (row->note[0])
        json_object_set_new(object, row->present & COLL_RAN ? "chosen" : "left_out", json_string(row->note));
    return object;
}

static json_t *point_json(const coll_contender *row, int count)
{
    json_t *list = json_array();

    for (int i = 1; i < count; i++)
        json_array_append_new(list, row_json(&row[i], 0));
    return json_pack("{s:I,s:o,s:o}", "bytes", (json_int_t)row->bytes, "mpi", row_json(row, 1), "algorithms", list);
}

static json_t *device_json(const coll_run *run)
{
    return json_pack("{s:s,s:s,s:f,s:f,s:I}", "name", hsumma_device(run->ctx), "memory",
                     run->placed ? "device" : "host", "context_s", run->created, "copy_bytes_per_s", run->copy_rate,
                     "copied_bytes", (json_int_t)run->copied);
}

static int end_json(coll_run *run, FILE *file)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    json_t *object =
        json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:s,s:s,s:O}", "command", "coll", "op", collective(run), "element",
                  coll_element_of(run->args->element).name, "ranks", run->size, "nodes", run->mach.nodes,
                  "cores_per_node", run->mach.cores, "repetitions", run->args->reps, "root", run->args->root, "options",
                  run->options, "mpi", mpi_version(mpi), "sizes", run->sizes);
    if (run->mates != MPI_COMM_NULL)
        json_object_set_new(object, "device", device_json(run));
    return report_json(object, 0, 9, file);
}

/* --- table -------------------------------------------------------------------------------------------------------- */

static report_table table_of(const coll_run *run)
{
    return (report_table){.columns = coll_columns, .shown = COLL_LINE | COLL_RAN | COLL_RATIO | options_of(run)};
}

static void table_columns(const coll_run *run, FILE *file)
{
    report_table table = table_of(run);

    fprintf(file, "medians and quartiles of %d repetition%s in turns; ratio above 1: faster than MPI\n\n",
            run->args->reps, report_plural(run->args->reps));
    report_table_head(&table, NULL, file);
}

static void begin_table(const coll_run *run, FILE *file)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    const machine *mach = &run->mach;

    fprintf(file, "hsumma coll: %s of %s%s; %d rank%s, %d node%s, %d core%s per node\n", collective(run),
            coll_element_of(run->args->element).name,
            run->args->collective == HS_BCAST || run->args->collective == HS_ALLGATHER ? "" : ", sum", run->size,
            report_plural(run->size), mach->nodes, report_plural(mach->nodes), mach->cores, report_plural(mach->cores));
    fprintf(file, "MPI: %s%s%s\n", mpi_version(mpi), run->options[0] ? "; options: " : "", run->options);
    if (run->mates != MPI_COMM_NULL)
        fprintf(file,
                "device: %s, vectors on the %s; a copy of %lld bytes inside it by one process: %.4g GB/s (read and "
                "written)\n%s",
                hsumma_device(run->ctx), run->placed ? "device" : "host", (long long)run->copied, run->copy_rate * 1e-9,
                run->placed ? "MPI gets them by copies to pinned memory of the host, and back\n" : "");
    if (run->args->init)
        fprintf(file, "context: %.4g ms, including the start of the device\n", run->created * 1e3);
    if (mach->node_ranks > mach->cores)
        fprintf(file,
                "note: %d ranks share %d core%s: MPI's blocking calls may keep a core that another rank needs;\n"
                "      scripts/compare-coll compares with the faster of MPI as it is and MPI that yields\n",
                mach->node_ranks, mach->cores, report_plural(mach->cores));
    table_columns(run, file);
}

/* A copy of the row with the columns that combine others filled in; `text` holds one of them. */
static coll_contender shown(const coll_contender *row, char text[80])
{
    coll_contender r = *row;

    r.of_copy = row->bandwidth / row->copy_rate;
    r.init = text;
    if (row->pays_after >= 0)
        snprintf(text, 80, "%.3g ms, %.3g ms; %lld call%s", row->created * 1e3, row->first * 1e3,
                 (long long)row->pays_after, report_plural(row->pays_after));
    else
        snprintf(text, 80, "%.3g ms, %.3g ms; never", row->created * 1e3, row->first * 1e3);
    return r;
}

static void point_table(const coll_run *run, const coll_contender *row, FILE *file)
{
    report_table table = table_of(run);

    for (int i = 0; i < run->count; i++, row++) {
        char note[400], text[80];
        const coll_contender r = shown(row, text);

        if (!(row->present & COLL_RAN))
            snprintf(note, sizeof note, " left out: %s", row->note);
        else
            snprintf(note, sizeof note, "%s%s%s%s", run->args->bits && !row->same ? " NOT THE SAME ON ALL RANKS" : "",
                     row->right ? "" : "  WRONG RESULT", row->note[0] ? "  " : "", row->note);
        report_table_row(&table, &r, COLL_LINE | (row->present & ~(i ? 0U : COLL_RATIO)), note, file);
    }
    fputc('\n', file);
}

/* --- all formats ------------------------------------------------------------------------------------------------- */

void coll_report_begin(coll_run *run, FILE *file)
{
    if (run->args->format == REPORT_JSON)
        run->sizes = json_array();
    else if (run->args->format == REPORT_TABLE)
        begin_table(run, file);
    else
        report_csv_head(coll_columns, file);
}

void coll_report_again(const coll_run *run, FILE *file)
{
    fprintf(file, "hsumma coll: %s of %s; %d rank%s; read from %s\n", collective(run),
            coll_element_of(run->args->element).name, run->size, report_plural(run->size), run->args->again);
    if (run->placed)
        fprintf(file, "device: %s; a copy inside it by one process: %.4g GB/s (read and written)\n", run->options,
                run->copy_rate * 1e-9);
    table_columns(run, file);
    for (int p = 0; p < run->points; p++)
        point_table(run, &run->row[p * run->count], file);
}

void coll_report_point(coll_run *run, int point, FILE *file)
{
    coll_contender *row = &run->row[point * run->count];

    for (int i = 0; i < run->count; i++)
        complete(run, &row[i], &row[0]);
    if (run->args->format == REPORT_JSON)
        json_array_append_new(run->sizes, point_json(row, run->count));
    else if (run->args->format == REPORT_TABLE)
        point_table(run, row, file);
    else
        for (int i = 0; i < run->count; i++)
            report_csv_row(coll_columns, &row[i], COLL_LINE | row[i].present, file);
    fflush(file);
}

int coll_report_end(coll_run *run, FILE *file)
{
    int good = run->args->format != REPORT_JSON || end_json(run, file);

    return good && report_written(file);
}
