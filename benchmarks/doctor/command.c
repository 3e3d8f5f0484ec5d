/* hsumma doctor: finds what may slow down products in the running job, and says how to fix it. */
#include <stddef.h>

#include "common/command.h"
#include "doctor/doctor.h"
#include "measure/simulated.h"

typedef struct doctor_arguments {
    int format, quiet, list;
    const char *root;
} doctor_arguments;

static void print_help(void)
{
    fputs("Usage: [mpiexec -n RANKS] hsumma doctor [OPTION...]\n"
          "\n"
          "Examines this job: MPI, cores and binding, the BLAS and its kernels, shared memory, the network between\n"
          "nodes, GPUs, profile and tuned file, the environment. Prints what is wrong, why it matters and what to do. "
          "Start it\n"
          "as your program.\n"
          "\n"
          "  -q, --quiet           print only findings, no facts; as a table nothing if there are no findings\n"
          "  --list                list all checks\n"
          "  --format table|csv|json (default: table)\n"
          "  --root DIR            for tests: read /proc, /sys and /dev below DIR\n"
          "  -h, --help            this text\n"
          "\n"
          "Options of the library:\n",
          stdout);
}

#define AT(member) .field = offsetof(doctor_arguments, member)
static const argument own_arguments[] = {
    {"quiet", 'q', .read = argument_flag, AT(quiet)},
    {"list", .read = argument_flag, AT(list)},
    {"format", .read = argument_word, AT(format), .words = "table|csv|json", .expected = "table, csv or json"},
    {"root", .read = argument_text, AT(root)},
    {"help", 'h', .read = argument_help},
    {.name = NULL}};

static int finish(void *of, command_options *options)
{
    (void)of;
    return command_operands(options) ||
           (is_simulated() && command_refuse(options, "doctor examines a real machine; run it outside the simulator"));
}

/* Whether this process prints. If the launcher belongs to another MPI, each process is rank 0, and only the first
 * prints. */
static int is_speaker(const doctor_job *j)
{
    return j->rank == 0 && !(doctor_is_alone(j) && j->mpi.number > 0);
}

static int run(const void *of, const char *options, MPI_Comm comm)
{
    const doctor_arguments *args = of;
    doctor_job j = {.node = MPI_COMM_NULL, .root = args->root, .options = options};
    doctor_rows rows;
    int rank, bad, code;

    MPI_Comm_rank(comm, &rank);
    if (args->list)
        return command_fail(comm, rank == 0 && !doctor_report_checks(args->format, stdout),
                            "the list could not be written");
    doctor_look(&j, comm, NULL);
    bad = doctor_gather(&j, &rows);
    code = bad || rows.costly ? COMMAND_INTERNAL : COMMAND_OK;
    if (!bad && command_fail(comm, is_speaker(&j) && !doctor_report(&j, &rows, args->format, args->quiet, stdout),
                             "the report could not be written"))
        code = COMMAND_INTERNAL;
    hs_put(&hs_heap, rows.row);
    doctor_free(&j);
    return code;
}

const subcommand cmd_doctor = {
    .name = "doctor",
    .summary = "find what makes products slow in this job, and how to fix it",
    .help = print_help,
    .ending =
        "Exit status: 0 nothing costs more than 10 %, 1 something does or doctor failed, 2 the input was wrong.\n",
    .quiet_environment = 1,
    .hint = " (see hsumma doctor --help)",
    .table = own_arguments,
    .size = sizeof(doctor_arguments),
    .defaults = &(const doctor_arguments){.format = DOCTOR_TABLE},
    .finish = finish,
    .run = run,
};
