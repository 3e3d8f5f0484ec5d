#include <stddef.h>
#include <string.h>

#include "report/columns.h"
#include "trace/trace.h"

static void print_help(void)
{
    fputs("Usage: hsumma trace FILE [--svg FILE] [options]\n"
          "\n"
          "Prints what each rank does and which ranks it waits for, from a timeline written by the library's option\n"
          "trace=FILE (--trace of gemm, multiply, coll). The same file opens in https://ui.perfetto.dev.\n"
          "\n"
          "  --svg FILE            also draw the timeline\n"
          "  --product N|last|all  the product to report (default: last)\n"
          "  --top N               number of causes of waits listed for each rank (default: 3)\n"
          "  --format table|csv|json (default: table)\n"
          "  -h, --help            this text\n"
          "\n"
          "waits: time without work. Causes: a panel of A or B or a sum of C, with the rank that owns it; room, a "
          "buffer\n"
          "that another rank still reads; a send; the start of the other ranks. rest: time in the library and in MPI\n"
          "other than waits. Options of the library have no effect on this command:\n"
          "\n",
          stdout);
}

static int read_product(const argument_given *given, void *at)
{
    int64_t *product = at;

    *product = -1;
    if (!strcmp(given->text, "all"))
        return 1;
    *product = 0;
    return !strcmp(given->text, "last") || (parse_int64(given->text, product) && *product >= 1);
}

#define AT(member) .field = offsetof(trace_arguments, member)
static const argument own_arguments[] = {
    {"svg", .read = argument_text, AT(svg)},
    {"product", .read = read_product, AT(product), .expected = "last, all or a number of at least 1"},
    {"top", .read = argument_int, AT(top), .least = 1, .most = 1000, .expected = "a number from 1 to 1000"},
    {"format", .read = argument_word, AT(format), .words = "table|csv|json", .expected = "table, csv or json"},
    {"help", 'h', .read = argument_help},
    {.name = NULL}};

static int finish(void *of, command_options *options)
{
    trace_arguments *args = of;

    if (options->argc - optind != 1)
        return command_refuse(options, "%d operands; expected one file, written by the option trace=FILE",
                              options->argc - optind);
    args->path = options->argv[optind];
    return 0;
}

static int run(const void *of, const char *options, MPI_Comm comm)
{
    const trace_arguments *args = of;
    char error[512] = "";
    trace_file trace = {.span = NULL};
    int code, bad;

    (void)options;
    bad = trace_read(&trace, args, error, sizeof error) ||
          (args->svg && trace_draw(&trace, args->svg, error, sizeof error));
    if (command_fail(comm, bad, "trace: %s", error))
        code = COMMAND_BAD_INPUT;
    else
        code = command_fail(comm, !trace_report(&trace, args, stdout), "the report could not be written");
    trace_free(&trace);
    return code;
}

const subcommand cmd_trace = {
    .name = "trace",
    .summary = "print what each rank does and which ranks it waits for, from a file of --trace",
    .help = print_help,
    .ending = "Examples:\n"
              "  mpiexec -n 4 hsumma gemm -m 2048 --trace product.json\n"
              "  hsumma trace product.json --svg product.svg\n\n"
              "Exit status: 0 done, 1 it failed, 2 the input was wrong.\n",
    .hint = " (see hsumma trace --help)",
    .table = own_arguments,
    .size = sizeof(trace_arguments),
    .defaults = &(const trace_arguments){.top = 3},
    .finish = finish,
    .alone = 1,
    .run = run,
};
