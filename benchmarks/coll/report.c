/* The three forms of the report on collectives. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "coll/time.h"
#include "gemm/report.h"

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

/* Bytes that a call must read and write in the device's memory, per second. */
static double bandwidth(const coll_point *point, const coll_contender *x)
{
    return (double)point->traffic / x->time.median;
}

/* --- json --------------------------------------------------------------------------------------------------------- */

static void add_quartiles(json_t *object, const char *const key[3], quartiles q)
{
    json_object_set_new(object, key[0], report_real(q.median));
    json_object_set_new(object, key[1], report_real(q.lower));
    json_object_set_new(object, key[2], report_real(q.upper));
}

static json_t *contender_json(const coll_run *run, const coll_point *point, const coll_contender *x)
{
    json_t *object = json_pack("{s:s}", "algorithm", coll_label(run, x));

    if (x->why[0]) {
        json_object_set_new(object, "left_out", json_string(x->why));
        return object;
    }
    json_object_set_new(object, "calls", json_integer(x->calls));
    add_quartiles(object, (const char *const[]){"median_s", "lower_s", "upper_s"}, x->time);
    if (x->word)
        add_quartiles(object, (const char *const[]){"ratio", "ratio_lower", "ratio_upper"}, x->ratio);
    if (x->chosen[0])
        json_object_set_new(object, "chosen", json_string(x->chosen));
    json_object_set_new(object, "right", json_boolean(x->right));
    if (run->args->bits) {
        char text[20];

        snprintf(text, sizeof text, "%016" PRIx64, x->bits);
        json_object_set_new(object, "bits", json_string(text));
        json_object_set_new(object, "same_on_all_ranks", json_boolean(x->same));
    }
    if (run->placed)
        json_object_set_new(object, "bytes_per_s", report_real(bandwidth(point, x)));
    if (run->args->init && x->first > 0) {
        double calls = coll_pays_after(point, x);

        json_object_set_new(object, "context_s", report_real(x->created));
        json_object_set_new(object, "first_call_s", report_real(x->first));
        json_object_set_new(object, "pays_after_calls",
                            isfinite(calls) ? json_integer((json_int_t)calls) : json_null());
    }
    return object;
}

static json_t *point_json(const coll_run *run, const coll_point *point)
{
    json_t *list = json_array();

    for (int i = 1; i < run->count; i++)
        json_array_append_new(list, contender_json(run, point, &point->contender[i]));
    return json_pack("{s:I,s:o,s:o}", "bytes", (json_int_t)point->bytes, "mpi",
                     contender_json(run, point, &point->contender[0]), "algorithms", list);
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
    int failed = json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));

    fputc('\n', file);
    json_decref(object);
    return !failed;
}

/* --- csv ---------------------------------------------------------------------------------------------------------- */

/* What only some runs have. */
static void extras_csv(const coll_run *run, const coll_point *point, const coll_contender *x, FILE *file)
{
    int in = !x->why[0], init = in && run->args->init && x->first > 0;
    double calls = init ? coll_pays_after(point, x) : HUGE_VAL;

    fprintf(file, ",%d,", run->args->reps);
    if (run->mates != MPI_COMM_NULL)
        report_csv_text(file, hsumma_device(run->ctx));
    if (in && run->placed)
        fprintf(file, ",%.9g,%.9g,", bandwidth(point, x), run->copy_rate);
    else
        fputs(",,,", file);
    if (in && run->args->bits)
        fprintf(file, "%016" PRIx64 ",%s,", x->bits, x->same ? "true" : "false");
    else
        fputs(",,", file);
    if (init)
        fprintf(file, "%.9g,%.9g,", x->created, x->first);
    else
        fputs(",,", file);
    if (isfinite(calls))
        fprintf(file, "%.0f", calls);
    fputc(',', file);
}

static void point_csv(const coll_run *run, const coll_point *point, FILE *file)
{
    for (int i = 0; i < run->count; i++) {
        const coll_contender *x = &point->contender[i];

        fprintf(file, "%s,%s,%d,%lld,", collective(run), coll_element_of(run->args->element).name, run->size,
                (long long)point->bytes);
        report_csv_text(file, coll_label(run, x));
        if (x->why[0])
            fputs(",,,,,,,,", file);
        else
            fprintf(file, ",%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s", x->calls, x->time.median, x->time.lower,
                    x->time.upper, x->ratio.median, x->ratio.lower, x->ratio.upper, x->right ? "true" : "false");
        extras_csv(run, point, x, file);
        report_csv_text(file, x->why[0] ? x->why : x->chosen);
        fputc('\n', file);
    }
}

/* --- table -------------------------------------------------------------------------------------------------------- */

static void table_columns(const coll_run *run, FILE *file)
{
    fprintf(file, "medians and quartiles of %d repetition%s in turns; ratio above 1: faster than MPI\n\n",
            run->args->reps, run->args->reps > 1 ? "s" : "");
    fprintf(file, "%10s  %-28s %6s  %10s  %10s  %10s  %7s  %7s  %7s", "bytes", "algorithm", "calls", "median us",
            "lower", "upper", "MPI/it", "lower", "upper");
    fprintf(file, "%s%s%s\n", run->placed ? "     GB/s  of copy" : "", run->args->bits ? "  bits            " : "",
            run->args->init ? "  context, first call; pays after" : "");
}

static void begin_table(const coll_run *run, FILE *file)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    const machine *mach = &run->mach;

    fprintf(file, "hsumma_bench coll: %s of %s%s; %d rank%s, %d node%s, %d core%s per node\n", collective(run),
            coll_element_of(run->args->element).name,
            run->args->collective == HS_BCAST || run->args->collective == HS_ALLGATHER ? "" : ", sum", run->size,
            run->size > 1 ? "s" : "", mach->nodes, mach->nodes > 1 ? "s" : "", mach->cores, mach->cores > 1 ? "s" : "");
    fprintf(file, "MPI: %s%s%s\n", mpi_version(mpi), run->options[0] ? "; options: " : "", run->options);
    if (run->mates != MPI_COMM_NULL)
        fprintf(file,
                "device: %s, vectors on the %s; a copy of %lld bytes inside it by one process: %.4g GB/s (read and "
                "written)\n%s",
                hsumma_device(run->ctx), run->placed ? "device" : "host", (long long)run->copied, run->copy_rate * 1e-9,
                run->placed ? "MPI gets them by copies to pinned memory of the host, and back\n" : "");
    if (run->args->init)
        fprintf(file, "context: %.4g ms, with what the device itself needs to start\n", run->created * 1e3);
    if (mach->node_ranks > mach->cores)
        fprintf(file,
                "note: %d ranks share %d core%s: MPI's blocking calls may keep a core that another rank needs;\n"
                "      scripts/compare-coll compares with the faster of MPI as it is and MPI that yields\n",
                mach->node_ranks, mach->cores, mach->cores > 1 ? "s" : "");
    table_columns(run, file);
}

/* What only some runs show. */
static void extras_table(const coll_run *run, const coll_point *point, const coll_contender *x, FILE *file)
{
    if (run->placed)
        fprintf(file, "%*s  %7.4g  %7.3f", x->word ? 0 : 27, "", bandwidth(point, x) * 1e-9,
                bandwidth(point, x) / run->copy_rate);
    if (run->args->bits)
        fprintf(file, "  %016" PRIx64 "%s", x->bits, x->same ? "" : " NOT THE SAME ON ALL RANKS");
    if (run->args->init && x->first > 0) {
        double calls = coll_pays_after(point, x);

        fprintf(file, "  %.3g ms, %.3g ms; ", x->created * 1e3, x->first * 1e3);
        if (isfinite(calls))
            fprintf(file, "%.0f call%s", calls, calls > 1 ? "s" : "");
        else
            fputs("never", file);
    }
}

static void point_table(const coll_run *run, const coll_point *point, FILE *file)
{
    for (int i = 0; i < run->count; i++) {
        const coll_contender *x = &point->contender[i];

        fprintf(file, "%10lld  %-28s ", (long long)point->bytes, coll_label(run, x));
        if (x->why[0]) {
            fprintf(file, "left out: %s\n", x->why);
            continue;
        }
        fprintf(file, "%6d  %10.2f  %10.2f  %10.2f", x->calls, x->time.median * 1e6, x->time.lower * 1e6,
                x->time.upper * 1e6);
        if (x->word)
            fprintf(file, "  %7.3f  %7.3f  %7.3f", x->ratio.median, x->ratio.lower, x->ratio.upper);
        extras_table(run, point, x, file);
        fprintf(file, "%s%s%s\n", x->right ? "" : "  WRONG RESULT", x->chosen[0] ? "  " : "", x->chosen);
    }
    fputc('\n', file);
}

/* --- any ---------------------------------------------------------------------------------------------------------- */

void coll_report_begin(coll_run *run, FILE *file)
{
    if (run->args->format == REPORT_JSON)
        run->sizes = json_array();
    else if (run->args->format == REPORT_TABLE)
        begin_table(run, file);
    else
        fputs("op,element,ranks,bytes,algorithm,calls,median_s,lower_s,upper_s,ratio,ratio_lower,ratio_upper,right,"
              "repetitions,device,bytes_per_s,copy_bytes_per_s,bits,same_on_all_ranks,context_s,first_call_s,"
              "pays_after_calls,note\n",
              file);
}

void coll_report_again(const coll_run *run, FILE *file)
{
    fprintf(file, "hsumma_bench coll: %s of %s; %d rank%s; read from %s\n", collective(run),
            coll_element_of(run->args->element).name, run->size, run->size > 1 ? "s" : "", run->args->again);
    if (run->placed)
        fprintf(file, "device: %s; a copy inside it by one process: %.4g GB/s (read and written)\n", run->options,
                run->copy_rate * 1e-9);
    table_columns(run, file);
    for (int p = 0; p < run->points; p++)
        point_table(run, &run->point[p], file);
}

void coll_report_point(coll_run *run, const coll_point *point, FILE *file)
{
    if (run->args->format == REPORT_JSON)
        json_array_append_new(run->sizes, point_json(run, point));
    else if (run->args->format == REPORT_TABLE)
        point_table(run, point, file);
    else
        point_csv(run, point, file);
    fflush(file);
}

int coll_report_end(coll_run *run, FILE *file)
{
    int good = run->args->format != REPORT_JSON || end_json(run, file);

    return good && fflush(file) == 0 && !ferror(file);
}
