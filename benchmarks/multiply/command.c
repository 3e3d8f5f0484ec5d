#include "multiply/command.h"

#include <stddef.h>

#include "multiply/npy_io.h"

static void print_help(void)
{
    fputs("Usage: mpiexec -n RANKS hsumma multiply A.npy B.npy -o C.npy [options]\n"
          "\n"
          "Computes C = alpha op(A) op(B) + beta C0 of matrices in NumPy files (float32, float64, complex64, "
          "complex128;\n"
          "stored by rows or by columns). Each rank reads and writes only its own part. C.npy appears when it is "
          "complete.\n"
          "\n"
          "  -o, --output FILE     the product, written to FILE\n"
          "  -c, --add FILE        C0, added with the factor beta\n"
          "  --transa N|T|C, --transb N|T|C\n"
          "                        op: as it is, transposed, conjugate transposed (default: N)\n"
          "  --alpha X, --beta X   numbers such as 1.5, 1e-3, 0.5-2i, '(0.5,-2)'\n"
          "                        (default: alpha 1; beta 1 with -c, else 0)\n"
          "  --order C|F           store C by rows or by columns (default: as C0, without C0 as A)\n"
          "  --force               replace an existing C.npy\n"
          "  --grid PxQ            process grid (default: all processes, nearest to a square)\n"
          "  --nb NB|checkerboard  block-cyclic matrices with blocks of NB x NB, or one block per process (default)\n"
          "  --piece BYTES         most bytes that a rank reads or writes in one call, up to 1G (default: 64M)\n"
          "  --progress            show a progress bar even if standard error is not a terminal\n"
          "  -q, --quiet           no summary, no progress on standard error\n"
          "  -h, --help            this text\n"
          "\n"
          "A file by rows holds the transposed matrix by columns, which is how the library sees it: to write C by rows "
          "it\n"
          "computes the transpose of C, with the operands exchanged. The grid, and A and B in the options below, are "
          "meant\n"
          "in its view. Options of the library:\n"
          "\n",
          stdout);
}

static const char ending[] =
    "Examples:\n"
    "  mpiexec -n 4 hsumma multiply A.npy B.npy -o C.npy\n"
    "  mpiexec -n 6 hsumma multiply A.npy A.npy --transa C -o gram.npy --order F --grid 2x3\n"
    "  mpiexec -n 16 hsumma multiply A.npy B.npy --alpha 0.5-2i --beta -1 -c C0.npy -o C.npy --nb 256\n"
    "\n"
    "Exit status: 0 done, 1 no memory or an internal error, 2 the input or a file was wrong. Unless 0, C.npy is not\n"
    "written.\n";

static int read_grid(const argument_given *given, void *at)
{
    multiply_arguments *args = at;

    return parse_grid(given->text, &args->nprow, &args->npcol);
}

static int read_beta(const argument_given *given, void *at)
{
    multiply_arguments *args = at;

    args->has_beta = 1;
    return argument_scalar(given, args->beta);
}

#define AT(member) .field = offsetof(multiply_arguments, member)
static const char number[] = "a number such as 1.5, 1e-3, 0.5-2i or (0.5,-2)";
static const argument own_arguments[] = {
    {"output", 'o', .read = argument_text, AT(out)},
    {"add", 'c', .read = argument_text, AT(c0)},
    {"transa", .read = argument_letter, AT(transa), .words = "NTC", .expected = "N, T or C"},
    {"transb", .read = argument_letter, AT(transb), .words = "NTC", .expected = "N, T or C"},
    {"alpha", .read = argument_scalar, AT(alpha), .expected = number},
    {"beta", .read = read_beta, .expected = number},
    {"order", .read = argument_letter, AT(order), .words = "CF", .expected = "C or F"},
    {"grid", .read = read_grid, .expected = "PxQ with P and Q at least 1, such as 2x3"},
    {"nb", .read = argument_blocking, AT(nb), .words = "checkerboard",
     .expected = "a block size of at least 1, or checkerboard"},
    {"piece", .read = argument_int64, AT(piece), .least = 1, .most = NPY_PIECE_MAX, .expected = "1 to 1G bytes"},
    {"force", .read = argument_flag, AT(force)},
    {"progress", .read = argument_flag, AT(progress)},
    {"quiet", 'q', .read = argument_flag, AT(quiet)},
    {"help", 'h', .read = argument_help},
    {.name = NULL}};

/* Requires A, B and -o, and -c if --beta is not 0; stores the paths of A and B and sets the default of beta. */
static int finish(void *of, command_options *options)
{
    multiply_arguments *args = of;

    if (options->argc - optind != 2)
        return command_refuse(options, "%d operands; expected two files: A.npy B.npy", options->argc - optind);
    if (!args->out)
        return command_refuse(options, "there is no output; give -o C.npy");
    if (!args->c0 && (args->beta[0] != 0 || args->beta[1] != 0))
        return command_refuse(options, "--beta needs C0; give -c C0.npy, or --beta 0");
    args->a = options->argv[optind];
    args->b = options->argv[optind + 1];
    if (args->c0 && !args->has_beta)
        args->beta[0] = 1;
    return 0;
}

const subcommand cmd_multiply = {
    .name = "multiply",
    .summary = "multiply two matrices in NumPy files",
    .help = print_help,
    .ending = ending,
    .hint = " (see hsumma multiply --help)",
    .table = own_arguments,
    .size = sizeof(multiply_arguments),
    .defaults = &(const multiply_arguments){.transa = 'N', .transb = 'N', .alpha = {1, 0}, .piece = NPY_PIECE},
    .finish = finish,
    .run = multiply_run,
};
