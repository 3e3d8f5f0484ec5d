/* The common arguments of the benchmark commands. */
#include "common/arguments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const layout_names[LAYOUT_FIELDS] = {"m", "n", "mb", "nb", "imb", "inb", "rsrc", "csrc", "i", "j", "pad"};

void arguments_init(arguments *args)
{
    memset(args, 0, sizeof *args);
    args->type = HSUMMA_D;
    args->transa = args->transb = 'N';
    args->m = 1024;
    args->n = args->k = -1;
    args->alpha[0] = 1;
    args->order = 'R';
    args->nb = 128;
    args->seed = 1;
    args->reps = 5;
    for (int x = 0; x < 3; x++)
        for (int f = 0; f < LAYOUT_FIELDS; f++)
            args->layout[x][f] = f < LAYOUT_RSRC ? -1 : 0;
}

/* "mb=64,inb=3" into the layouts first..last. */
static int take_layout(arguments *args, command_options *options, const char *name, int first, int last)
{
    static const char expected[] = "FIELD=NUMBER,... with the fields m n mb nb imb inb rsrc csrc i j pad; "
                                   "mb nb imb inb at least 1, rsrc csrc at least -1, the others at least 0";
    static const int least[LAYOUT_FIELDS] = {
        [LAYOUT_MB] = 1, [LAYOUT_NB] = 1, [LAYOUT_IMB] = 1, [LAYOUT_INB] = 1, [LAYOUT_RSRC] = -1, [LAYOUT_CSRC] = -1};
    char *copy = strdup(optarg), *rest = copy;
    int bad = !copy;

    for (char *word; !bad && (word = strtok_r(rest, ",", &rest));) {
        char *value = strchr(word, '=');
        int64_t number;
        int field = 0;

        if (value)
            *value++ = 0;
        while (field < LAYOUT_FIELDS && strcmp(word, layout_names[field]))
            field++;
        bad = !value || field == LAYOUT_FIELDS || !parse_int64(value, &number) || number < least[field];
        for (int x = first; !bad && x <= last; x++)
            args->layout[x][field] = number;
    }
    free(copy);
    return bad ? command_bad_value(options, name, optarg, expected), -1 : 1;
}

static int take_size(int64_t *value, command_options *options, const char *name)
{
    int64_t number;

    if (!parse_int64(optarg, &number) || number < 0)
        return command_bad_value(options, name, optarg, "a size of at least 0"), -1;
    *value = number;
    return 1;
}

static int take_letter(char *value, command_options *options, const char *name, const char *letters,
                       const char *expected)
{
    int c = toupper((unsigned char)optarg[0]);

    if (!c || optarg[1] || !strchr(letters, c))
        return command_bad_value(options, name, optarg, expected), -1;
    *value = (char)c;
    return 1;
}

static int take_reps(arguments *args, command_options *options)
{
    int64_t number;

    if (!parse_int64(optarg, &number) || number < 1 || number > 1000000)
        return command_bad_value(options, "reps", optarg, "a number of repetitions from 1 to 1000000"), -1;
    args->reps = (int)number;
    return 1;
}

static int take_seed(arguments *args, command_options *options)
{
    int64_t number;

    if (!parse_int64(optarg, &number))
        return command_bad_value(options, "seed", optarg, "an integer"), -1;
    args->seed = (uint64_t)number;
    return 1;
}

static int parse_format(const char *text, report_format *format)
{
    static const char *const names[] = {[REPORT_TABLE] = "table", [REPORT_CSV] = "csv", [REPORT_JSON] = "json"};

    for (int i = REPORT_TABLE; i <= REPORT_JSON; i++)
        if (!strcmp(text, names[i])) {
            *format = (report_format)i;
            return 1;
        }
    return 0;
}

/* What command_next's caller needs of a good or a bad value. */
static int taken(int good, command_options *options, const char *name, const char *expected)
{
    return good ? 1 : (command_bad_value(options, name, optarg, expected), -1);
}

int arguments_take(arguments *args, command_options *options, int opt)
{
    static const char trans[] = "N, T or C", scalar[] = "a number: 1.5, or (0.5,-2) for complex types";

    switch (opt) {
    case 'm':
        return take_size(&args->m, options, "m");
    case 'n':
        return take_size(&args->n, options, "n");
    case 'k':
        return take_size(&args->k, options, "k");
    case ARGUMENT_TYPE:
        return taken(parse_type(optarg, &args->type), options, "type", "s, d, c or z");
    case ARGUMENT_GRID:
        return taken(parse_grid(optarg, &args->nprow, &args->npcol), options, "grid", "PxQ, both at least 1");
    case ARGUMENT_ORDER:
        return take_letter(&args->order, options, "order", "RC", "R or C");
    case ARGUMENT_NB:
        return taken(parse_blocking(optarg, &args->nb), options, "nb", "a block size of at least 1, or checkerboard");
    case ARGUMENT_LAYOUT:
        return take_layout(args, options, "layout", 0, 2);
    case ARGUMENT_LAYOUT_A:
        return take_layout(args, options, "layout-a", 0, 0);
    case ARGUMENT_LAYOUT_B:
        return take_layout(args, options, "layout-b", 1, 1);
    case ARGUMENT_LAYOUT_C:
        return take_layout(args, options, "layout-c", 2, 2);
    case ARGUMENT_TRANSA:
        return take_letter(&args->transa, options, "transa", "NTC", trans);
    case ARGUMENT_TRANSB:
        return take_letter(&args->transb, options, "transb", "NTC", trans);
    case ARGUMENT_ALPHA:
        return taken(parse_scalar(optarg, args->alpha), options, "alpha", scalar);
    case ARGUMENT_BETA:
        return taken(parse_scalar(optarg, args->beta), options, "beta", scalar);
    case ARGUMENT_SEED:
        return take_seed(args, options);
    case ARGUMENT_REPS:
        return take_reps(args, options);
    case ARGUMENT_CHECK:
        return args->check = 1;
    case ARGUMENT_FORMAT:
        return taken(parse_format(optarg, &args->format), options, "format", "table, csv or json");
    case 'h':
        return args->help = 1;
    default:
        return 0;
    }
}

int arguments_finish(arguments *args, command_options *options, int argc, char **argv)
{
    if (optind < argc) {
        snprintf(options->error, sizeof options->error, "%s: no operand is expected", argv[optind]);
        return 1;
    }
    if (args->n < 0)
        args->n = args->m;
    if (args->k < 0)
        args->k = args->m;
    if (!type_is_complex(args->type) && (args->alpha[1] != 0 || args->beta[1] != 0)) {
        snprintf(options->error, sizeof options->error, "--alpha or --beta is complex, but type %s is real",
                 type_name(args->type));
        return 1;
    }
    return 0;
}

void arguments_help(FILE *file)
{
    fputs("The product C := alpha op(A) op(B) + beta C\n"
          "  -m, -n, -k SIZE         op(A) is m x k, op(B) is k x n (defaults: 1024, m, m); 4k is 4096\n"
          "  --type s|d|c|z          float, double, and their complex forms (default: d)\n"
          "  --transa, --transb OP   N: as stored, T: transposed, C: conjugate transposed (default: N)\n"
          "  --alpha, --beta NUMBER  1.5, or (0.5,-2) for the complex types (defaults: 1, 0)\n"
          "  --seed NUMBER           of the random matrices, entries in [-0.5, 0.5) (default: 1)\n"
          "\n"
          "Processes and distribution\n"
          "  --grid PxQ              process grid, may leave ranks idle (default: nearest to a square)\n"
          "  --order R|C             the grid counts the ranks along its rows or its columns (default: R)\n"
          "  --nb NB|checkerboard    NB x NB blocks, or one block per process (default: 128)\n"
          "  --layout LIST           fields of all three descriptors, e.g. mb=64,nb=32,rsrc=1,i=3,pad=2:\n"
          "                            m, n        the whole matrix (default: the operand and what precedes it)\n"
          "                            mb, nb      a block\n"
          "                            imb, inb    the first block (default: as mb, nb)\n"
          "                            rsrc, csrc  the owner of the first block (default: 0), or -1: every\n"
          "                                        grid row has all rows, every grid column all columns\n"
          "                            i, j        where the operand begins (default: 0)\n"
          "                            pad         ld beyond the local rows (default: 0)\n"
          "  --layout-a, --layout-b, --layout-c LIST\n"
          "                          the same for one matrix; the last word counts\n"
          "\n"
          "Measurement\n"
          "  --reps N                timed repetitions after one warm-up (default: 5)\n"
          "  --check                 also check single entries and, with a strict bound, every row of C\n"
          "  --format table|csv|json (default: table)\n"
          "  -h, --help              this text\n",
          file);
}
