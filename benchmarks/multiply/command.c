#include "multiply/command.h"

#include <ctype.h>
#include <string.h>

#include "multiply/npy_io.h"

enum {
    MULTIPLY_TRANSA = 256,
    MULTIPLY_TRANSB,
    MULTIPLY_ALPHA,
    MULTIPLY_BETA,
    MULTIPLY_ORDER,
    MULTIPLY_GRID,
    MULTIPLY_NB,
    MULTIPLY_PIECE,
    MULTIPLY_FORCE,
    MULTIPLY_PROGRESS,
};

static const struct option own_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"add", required_argument, NULL, 'c'},
    {"transa", required_argument, NULL, MULTIPLY_TRANSA},
    {"transb", required_argument, NULL, MULTIPLY_TRANSB},
    {"alpha", required_argument, NULL, MULTIPLY_ALPHA},
    {"beta", required_argument, NULL, MULTIPLY_BETA},
    {"order", required_argument, NULL, MULTIPLY_ORDER},
    {"grid", required_argument, NULL, MULTIPLY_GRID},
    {"nb", required_argument, NULL, MULTIPLY_NB},
    {"piece", required_argument, NULL, MULTIPLY_PIECE},
    {"force", no_argument, NULL, MULTIPLY_FORCE},
    {"progress", no_argument, NULL, MULTIPLY_PROGRESS},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

void multiply_help(FILE *file)
{
    fputs("Usage: mpiexec -n RANKS hsumma_bench multiply A.npy B.npy -o C.npy [options]\n"
          "\n"
          "Computes C = alpha op(A) op(B) + beta C0 of matrices in NumPy files (float32, float64, complex64, "
          "complex128;\n"
          "stored by rows or by columns). Each rank reads and writes its own part only. C.npy appears when it is "
          "complete.\n"
          "\n"
          "  -o, --output FILE     where to write the product\n"
          "  -c, --add FILE        C0, added with the factor beta\n"
          "  --transa N|T|C, --transb N|T|C\n"
          "                        op: as it is, transposed, conjugate transposed (default: N)\n"
          "  --alpha X, --beta X   numbers such as 1.5, 1e-3, 0.5-2i, '(0.5,-2)'\n"
          "                        (default: alpha 1; beta 1 with -c, else 0)\n"
          "  --order C|F           store C by rows or by columns (default: as C0, without C0 as A)\n"
          "  --force               replace an existing C.npy\n"
          "  --grid PxQ            processes (default: all, as square as can be)\n"
          "  --nb NB|checkerboard  matrices in blocks of NB x NB dealt out cyclically, or one block per process "
          "(default)\n"
          "  --piece BYTES         what a rank reads or writes in one call, at most (default: 64M)\n"
          "  --progress            show the progress bar also where standard error is not a terminal\n"
          "  -q, --quiet           no summary\n"
          "  -h, --help            this text\n"
          "\n"
          "A file by rows holds the transposed matrix by columns, which is how the library sees it: to write C by rows "
          "it\n"
          "computes the transpose of C, with the operands exchanged. The grid, and A and B in the options below, are "
          "meant\n"
          "in its view. Options of the library:\n"
          "\n",
          file);
    command_print_options(file);
    fputs("\nExamples:\n"
          "  mpiexec -n 4 hsumma_bench multiply A.npy B.npy -o C.npy\n"
          "  mpiexec -n 6 hsumma_bench multiply A.npy A.npy --transa C -o gram.npy --order F --grid 2x3\n"
          "  mpiexec -n 16 hsumma_bench multiply A.npy B.npy --alpha 0.5-2i --beta -1 -c C0.npy -o C.npy --nb 256\n"
          "\n"
          "Exit status: 0 done, 1 internal failure, 2 bad input (nothing was written).\n",
          file);
}

/* One letter out of `letters`, in either case. */
static int parse_letter(const char *text, const char *letters, char *letter)
{
    int c = toupper((unsigned char)text[0]);

    if (!c || text[1] || !strchr(letters, c))
        return 0;
    *letter = (char)c;
    return 1;
}

static int take_piece(multiply_arguments *args, command_options *options)
{
    int64_t piece;

    if (!parse_int64(optarg, &piece) || piece < 1 || piece > NPY_PIECE_MAX)
        return command_bad_value(options, "piece", optarg, "1 to 1G bytes");
    args->piece = piece;
    return 0;
}

/* An option that has a value. */
static int take_value(multiply_arguments *args, command_options *options, int opt, int *has_beta)
{
    static const char op[] = "N, T or C", number[] = "a number such as 1.5, 1e-3, 0.5-2i or (0.5,-2)";

    switch (opt) {
    case 'o':
        args->out = optarg;
        return 0;
    case 'c':
        args->c0 = optarg;
        return 0;
    case MULTIPLY_TRANSA:
        return !parse_letter(optarg, "NTC", &args->transa) && command_bad_value(options, "transa", optarg, op);
    case MULTIPLY_TRANSB:
        return !parse_letter(optarg, "NTC", &args->transb) && command_bad_value(options, "transb", optarg, op);
    case MULTIPLY_ALPHA:
        return !parse_scalar(optarg, args->alpha) && command_bad_value(options, "alpha", optarg, number);
    case MULTIPLY_BETA:
        *has_beta = 1;
        return !parse_scalar(optarg, args->beta) && command_bad_value(options, "beta", optarg, number);
    case MULTIPLY_ORDER:
        return !parse_letter(optarg, "CF", &args->order) && command_bad_value(options, "order", optarg, "C or F");
    case MULTIPLY_GRID:
        return !parse_grid(optarg, &args->nprow, &args->npcol) &&
               command_bad_value(options, "grid", optarg, "rows x columns, such as 2x3");
    case MULTIPLY_NB:
        return !parse_blocking(optarg, &args->nb) &&
               command_bad_value(options, "nb", optarg, "a block size of at least 1, or checkerboard");
    default:
        return take_piece(args, options);
    }
}

static int take(multiply_arguments *args, command_options *options, int opt, int *has_beta)
{
    switch (opt) {
    case '?':
        return 1;
    case MULTIPLY_FORCE:
        return !(args->force = 1);
    case MULTIPLY_PROGRESS:
        return !(args->progress = 1);
    case 'q':
        return !(args->quiet = 1);
    case 'h':
        return !(args->help = 1);
    default:
        return take_value(args, options, opt, has_beta);
    }
}

/* What must be there, and what must not. */
static int take_operands(multiply_arguments *args, command_options *options, int count, char **operands, int has_beta)
{
    const char *wrong = NULL;

    if (count != 2)
        wrong = "two files are needed: A.npy B.npy";
    else if (!args->out)
        wrong = "an output is needed: -o C.npy";
    else if (!args->c0 && (args->beta[0] != 0 || args->beta[1] != 0))
        wrong = "--beta needs -c C0.npy";
    if (wrong) {
        snprintf(options->error, sizeof options->error, "%s", wrong);
        return 1;
    }
    args->a = operands[0];
    args->b = operands[1];
    if (args->c0 && !has_beta)
        args->beta[0] = 1;
    return 0;
}

int multiply_parse(multiply_arguments *args, command_options *options, int argc, char **argv)
{
    int bad, opt, has_beta = 0;

    *args = (multiply_arguments){.transa = 'N', .transb = 'N', .alpha = {1, 0}, .piece = NPY_PIECE};
    bad = command_options_init(options, own_options);
    while (!bad && (opt = command_next(options, argc, argv)) != -1)
        bad = take(args, options, opt, &has_beta);
    if (bad || args->help)
        return bad;
    return take_operands(args, options, argc - optind, argv + optind, has_beta);
}

int cmd_multiply(int argc, char **argv, MPI_Comm comm)
{
    multiply_arguments args;
    command_options options;
    int rank, status, bad = multiply_parse(&args, &options, argc, argv);

    MPI_Comm_rank(comm, &rank);
    if (command_fail(comm, bad, "multiply: %s (see hsumma_bench multiply --help)", options.error)) {
        status = COMMAND_BAD_INPUT;
    } else if (args.help) {
        if (rank == 0)
            multiply_help(stdout);
        status = COMMAND_OK;
    } else {
        status = multiply_run(&args, options.text, comm);
    }
    command_options_free(&options);
    return status;
}
