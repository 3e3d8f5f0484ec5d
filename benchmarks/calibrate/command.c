/* hsumma_bench calibrate: measures the machine and writes a profile. */
#include "calibrate/command.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/wait.h"
#include "calibrate/file.h"
#include "commands.h"

/* --- arguments ------------------------------------------------------------------------------------------------------
 */

enum { CALIBRATE_OPTION_SECONDS = 0x100, CALIBRATE_OPTION_QUICK, CALIBRATE_OPTION_FORMAT, CALIBRATE_OPTION_PROGRESS };

static const double usual_seconds = 30, quick_seconds = 5, least_seconds = 1, most_seconds = 3600;

static void print_help(void)
{
    printf("Usage: mpiexec -n RANKS hsumma_bench calibrate [-o FILE] [OPTION...]\n\n"
           "Measures messages, memory and the local GEMM in the job that runs, and writes a profile, by which plans\n"
           "choose. Start it as products will be started: as many ranks on each node, on as many nodes, with the\n"
           "same --device.\n\n"
           "  -o, --output FILE     where to write it; - is standard output (default: the file profile in\n"
           "                        $XDG_CONFIG_HOME/hsumma or ~/.config/hsumma, where programs look for it)\n"
           "  --seconds S           about how long it may take, from %g to %g (default: %g)\n"
           "  --quick               fewer sizes and shapes, in about %g seconds\n"
           "  --format table|json   what is printed (default: table)\n"
           "  --progress            show the progress bar also where standard error is not a terminal\n"
           "  -h, --help            this text\n\nOptions of the library:\n",
           least_seconds, most_seconds, usual_seconds, quick_seconds);
    command_print_options(stdout);
    printf("\nExit status: 0 done, 1 it failed, 2 the input was wrong.\n");
}

static int take(calibrate_arguments *args, command_options *options, int opt)
{
    char expected[80];

    switch (opt) {
    case 'o':
        args->file = optarg;
        return *optarg ? 0 : command_bad_value(options, "output", optarg, "the name of a file, or -");
    case CALIBRATE_OPTION_SECONDS:
        if (parse_double(optarg, &args->seconds) && args->seconds >= least_seconds && args->seconds <= most_seconds)
            return 0;
        snprintf(expected, sizeof expected, "a number from %g to %g", least_seconds, most_seconds);
        return command_bad_value(options, "seconds", optarg, expected);
    case CALIBRATE_OPTION_QUICK:
        return !(args->quick = 1);
    case CALIBRATE_OPTION_FORMAT:
        args->format = strcmp(optarg, "json") ? REPORT_TABLE : REPORT_JSON;
        return !strcmp(optarg, "json") || !strcmp(optarg, "table")
                   ? 0
                   : command_bad_value(options, "format", optarg, "table or json");
    case CALIBRATE_OPTION_PROGRESS:
        return !(args->progress = 1);
    default:
        args->help = 1;
        return opt != 'h';
    }
}

static int read_arguments(calibrate_arguments *args, command_options *options, int argc, char **argv)
{
    static const struct option own[] = {{"output", required_argument, NULL, 'o'},
                                        {"seconds", required_argument, NULL, CALIBRATE_OPTION_SECONDS},
                                        {"quick", no_argument, NULL, CALIBRATE_OPTION_QUICK},
                                        {"format", required_argument, NULL, CALIBRATE_OPTION_FORMAT},
                                        {"progress", no_argument, NULL, CALIBRATE_OPTION_PROGRESS},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
    int bad, opt;

    *args = (calibrate_arguments){.format = REPORT_TABLE};
    bad = command_options_init(options, own);
    while (!bad && (opt = command_next(options, argc, argv)) != -1)
        bad = opt == '?' || take(args, options, opt);
    if (!bad && optind < argc) {
        snprintf(options->error, sizeof options->error, "%s: no operand is expected", argv[optind]);
        bad = 1;
    }
    if (args->seconds == 0)
        args->seconds = args->quick ? quick_seconds : usual_seconds;
    return bad;
}

/* --- the run --------------------------------------------------------------------------------------------------------
 */

/* Where the profile goes, on rank 0; nonzero, with an error, if it cannot go there. */
static int find_file(const char *given, char path[PATH_MAX], npy_error *error)
{
    if (given && strlen(given) >= PATH_MAX)
        return npy_fail(error, "the name is too long");
    if (given) {
        strcpy(path, given);
        return strcmp(given, "-") ? calibrate_file_check(path, error) : 0;
    }
    *path = 0;
    if (hs_config_path("profile", path, PATH_MAX) < 0)
        return npy_fail(error, "neither XDG_CONFIG_HOME nor HOME is set; expected -o FILE");
    return calibrate_file_directories(path, error) || calibrate_file_check(path, error);
}

/* With the built-in profile and without remembered choices: what is there may be what is to be replaced. */
static hsumma_status make_context(calibration *cal, const char *options, char *message, size_t size)
{
    static const char ours[] = " profile=builtin tuned=none";
    char *all = malloc(strlen(options) + sizeof ours);
    hsumma_status status;

    if (command_fail(cal->comm, !all, "calibrate: no memory"))
        status = HSUMMA_ERR_MEMORY;
    else
        status = hsumma_create(cal->comm, strcat(strcpy(all, options), ours), &cal->ctx, message, size);
    free(all);
    return status;
}

static int measure_all(calibration *cal)
{
    static const struct {
        int (*measure)(calibration *cal, double budget);
        double share; /* of the time */
    } subjects[] = {{calibrate_network, 0.45},  {calibrate_memory, 0.08}, {calibrate_gemm, 0.3},
                    {calibrate_exchange, 0.07}, {calibrate_overlap, 0.1}, {calibrate_device, 0.3}};
    int good = 1, cores = cal->mach.cores;
    double seconds = cal->args->seconds / (cal->ctx->device ? 1.3 : 1);

    cal->profile = hs_profile_builtin;
    cal->crowded = cal->mach.node_ranks > cores;
    for (int f = 0; f < FITS; f++)
        cal->error[f] = (fit_error){NAN, NAN};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && good; i++)
        good = subjects[i].measure(cal, subjects[i].share * seconds);
    return good;
}

/* The file, and the report; rank 0's complaint, NULL if there is none. */
static const char *publish(const calibration *cal, const char *path, npy_error *error)
{
    char *text = calibrate_text(cal);
    int written;

    if (!text)
        return "no memory for the profile";
    if (!strcmp(path, "-")) {
        written = fputs(text, stdout) >= 0 && !fflush(stdout);
        free(text);
        return written ? NULL : "the profile could not be written";
    }
    written = !calibrate_file_write(path, text, error);
    free(text);
    if (!written)
        return error->text;
    written = cal->args->format == REPORT_JSON ? calibrate_json(cal, path, stdout) : calibrate_table(cal, path, stdout);
    return written ? NULL : "the report could not be written";
}

static int carry_out(calibration *cal, const char *options)
{
    char path[PATH_MAX] = "", message[512] = "";
    const char *complaint = NULL;
    npy_error error = {""};
    hsumma_status status;
    int bad = cal->rank == 0 && find_file(cal->args->file, path, &error);

    if (command_fail(cal->comm, bad, "calibrate: %s: %s", path[0] ? path : "-o", error.text))
        return COMMAND_BAD_INPUT;
    status = make_context(cal, options, message, sizeof message);
    if (command_fail(cal->comm, status != HSUMMA_OK, "calibrate: %s", message))
        return command_code(status);
    cal->begun = hs_now();
    if (cal->rank == 0)
        progress_begin(&cal->bar, cal->args->progress);
    if (!measure_all(cal))
        return COMMAND_INTERNAL;
    cal->took = hs_now() - cal->begun;
    progress_end(&cal->bar);
    if (cal->rank == 0)
        complaint = publish(cal, path, &error);
    if (command_fail(cal->comm, complaint != NULL, "calibrate: %s: %s", path, complaint ? complaint : ""))
        return COMMAND_INTERNAL;
    return COMMAND_OK;
}

int cmd_calibrate(int argc, char **argv, MPI_Comm comm)
{
    calibrate_arguments args;
    command_options options;
    calibration cal = {.args = &args, .comm = comm};
    int bad, code = COMMAND_OK;

    MPI_Comm_rank(comm, &cal.rank);
    MPI_Comm_size(comm, &cal.size);
    bad = read_arguments(&args, &options, argc, argv);
    if (command_fail(comm, bad, "calibrate: %s", options.error)) {
        code = COMMAND_BAD_INPUT;
    } else if (args.help) {
        if (cal.rank == 0)
            print_help();
    } else {
        machine_init(&cal.mach, comm);
        code = carry_out(&cal, options.text);
        progress_end(&cal.bar);
        free(cal.sample);
        hsumma_free(&cal.ctx);
        machine_free(&cal.mach);
    }
    command_options_free(&options);
    return code;
}
