/* hsumma calibrate: measures the machine and writes a profile. */
#include "calibrate/command.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/wait.h"
#include "report/output.h"

/* --- arguments --------------------------------------------------------------------------------------------------- */

enum { USUAL_SECONDS = 30, QUICK_SECONDS = 5, LEAST_SECONDS = 1, MOST_SECONDS = 3600 };

static void print_help(void)
{
    printf("Usage: mpiexec -n RANKS hsumma calibrate [-o FILE] [OPTION...]\n"
           "\n"
           "Measures messages, memory and the local GEMM in this job, and writes a profile, by which later plans are\n"
           "chosen. Start it as your programs: as many nodes, as many ranks on each, the same --device.\n"
           "\n"
           "  -o, --output FILE     the profile's file, which is replaced; -: standard output, without a report "
           "(default:\n"
           "                        the file profile in $XDG_CONFIG_HOME/hsumma or ~/.config/hsumma, where programs "
           "look)\n"
           "  --seconds S           approximate duration in seconds, from %d to %d (default: %d)\n"
           "  --quick               fewer sizes and shapes, in about %d seconds unless --seconds is given\n"
           "  --format table|json   form of the printed report (default: table)\n"
           "  --progress            show a progress bar even if standard error is not a terminal\n"
           "  -q, --quiet           no progress on standard error\n"
           "  -h, --help            this text\n"
           "\n"
           "Options of the library; profile and tuned have no effect:\n",
           LEAST_SECONDS, MOST_SECONDS, USUAL_SECONDS, QUICK_SECONDS);
}

static int read_output(const argument_given *given, void *at)
{
    return argument_text(given, at) && *given->text;
}

#define AT(member) .field = offsetof(calibrate_arguments, member)
static const argument own_arguments[] = {
    {"output", 'o', .read = read_output, AT(file), .expected = "the name of a file, or -"},
    {"seconds", .read = argument_double, AT(seconds), .least = LEAST_SECONDS, .most = MOST_SECONDS},
    {"quick", .read = argument_flag, AT(quick)},
    {"format", .read = argument_word, AT(format), .words = "table||json", .expected = "table or json"},
    {"progress", .read = argument_flag, AT(progress)},
    {"quiet", 'q', .read = argument_flag, AT(quiet)},
    {"help", 'h', .read = argument_help},
    {.name = NULL}};

static int finish(void *of, command_options *options)
{
    calibrate_arguments *args = of;

    if (args->seconds == 0)
        args->seconds = args->quick ? QUICK_SECONDS : USUAL_SECONDS;
    return command_operands(options);
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

/* Finds the profile's path and, if it is the default one, creates its directories. Called on rank 0. Fails if there is
 * no path or the file cannot be written. */
static hsumma_status find_file(const char *given, char path[PATH_MAX], struct hs_message *message)
{
    if (given && strlen(given) >= PATH_MAX)
        return hs_fail(message, HSUMMA_ERR_OPTION, "the file name is too long: %zu characters; expected at most %d",
                       strlen(given), PATH_MAX - 1);
    if (given) {
        strcpy(path, given);
        return strcmp(given, "-") ? output_check(path, 1, message) : 0;
    }
    *path = 0;
    if (hs_config_path("profile", path, PATH_MAX) < 0)
        return hs_fail(message, HSUMMA_ERR_OPTION, "neither XDG_CONFIG_HOME nor HOME is set; give -o FILE");
    hsumma_status status = hs_make_directories("", path, message);
    return status ? status : output_check(path, 1, message);
}

static int measure_all(calibration *cal)
{
    static const struct {
        const char *phase;
        int (*measure)(calibration *cal, double budget);
        double share; /* share of the budget */
    } subjects[] = {{"messages", calibrate_network, 0.45}, {"memory", calibrate_memory, 0.08},
                    {"local GEMM", calibrate_gemm, 0.3},   {"exchange", calibrate_exchange, 0.07},
                    {"overlap", calibrate_overlap, 0.1},   {"device", calibrate_device, 0.3}};
    int good = 1, cores = cal->mach.cores;
    double seconds = cal->args->seconds / (cal->ctx->device ? 1.3 : 1);

    cal->profile = hs_profile_builtin;
    cal->crowded = cal->mach.node_ranks > cores;
    for (int f = 0; f < FITS; f++)
        cal->error[f] = (fit_error){NAN, NAN};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && good; i++) {
        cal->phase = subjects[i].phase;
        good = subjects[i].measure(cal, subjects[i].share * seconds);
        while (cal->holds)
            free(cal->held[--cal->holds]);
    }
    return good;
}

/* Writes the profile and, unless it goes to standard output, prints the report. Called on rank 0. Returns an error
 * message or NULL. */
static const char *publish(const calibration *cal, const char *path, struct hs_message *message)
{
    char *text = calibrate_text(cal);
    output out;
    int written;

    if (!text)
        return "no memory for the profile";
    if (!strcmp(path, "-")) {
        written = fputs(text, stdout) >= 0 && !fflush(stdout);
        free(text);
        return written ? NULL : "the profile could not be written";
    }
    written = !output_open(&out, path, text, strlen(text), (int64_t)strlen(text), 1, message) &&
              !output_finish(&out, message);
    output_close(&out);
    free(text);
    if (!written)
        return message->text;
    written = cal->args->format == REPORT_JSON ? calibrate_json(cal, path, stdout) : calibrate_table(cal, path, stdout);
    return written ? NULL : "the report could not be written";
}

static int carry_out(calibration *cal, const char *options)
{
    char path[PATH_MAX] = "", message[512] = "", *all;
    const char *complaint = NULL;
    struct hs_message why = {""};
    hsumma_status status;
    int bad = cal->rank == 0 && find_file(cal->args->file, path, &why);

    if (command_fail(cal->comm, bad, "calibrate: %s: %s", path[0] ? path : "-o", why.text))
        return COMMAND_BAD_INPUT;
    /* ignore an existing profile, which this run may replace, and the tuned file */
    bad = asprintf(&all, "%s profile=builtin tuned=none", options) < 0;
    if (command_fail(cal->comm, bad, "calibrate: no memory"))
        return COMMAND_BAD_INPUT;
    status = hsumma_create(cal->comm, all, &cal->ctx, message, sizeof message);
    free(all);
    if (command_fail(cal->comm, status != HSUMMA_OK, "calibrate: %s", message))
        return command_code(status);
    cal->begun = hs_now();
    if (cal->rank == 0)
        progress_begin(&cal->bar, cal->args->progress, cal->args->quiet);
    if (!measure_all(cal))
        return COMMAND_INTERNAL;
    cal->took = hs_now() - cal->begun;
    progress_end(&cal->bar);
    if (cal->rank == 0)
        complaint = publish(cal, path, &why);
    return command_fail(cal->comm, complaint != NULL, "calibrate: %s: %s", path, complaint);
}

static int run(const void *args, const char *options, MPI_Comm comm)
{
    calibration cal = {.args = args, .comm = comm};
    int code;

    MPI_Comm_rank(comm, &cal.rank);
    MPI_Comm_size(comm, &cal.size);
    machine_init(&cal.mach, comm);
    code = carry_out(&cal, options);
    progress_end(&cal.bar);
    hs_put(&hs_heap, cal.sample);
    hsumma_free(&cal.ctx);
    machine_free(&cal.mach);
    return code;
}

const subcommand cmd_calibrate = {
    .name = "calibrate",
    .summary = "measure the machine and write the profile that plans are chosen by",
    .help = print_help,
    .ending = "Exit status: 0 done, 1 it failed, 2 the input was wrong.\n",
    .table = own_arguments,
    .size = sizeof(calibrate_arguments),
    .defaults = &(const calibrate_arguments){.format = REPORT_TABLE},
    .finish = finish,
    .run = run,
};
