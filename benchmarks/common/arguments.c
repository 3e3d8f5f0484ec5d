/* Arguments that several commands share. */
#include "common/arguments.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int layout_read(const char *text, int64_t layout[LAYOUT_FIELDS])
{
    static const int least[LAYOUT_FIELDS] = {
        [LAYOUT_MB] = 1, [LAYOUT_NB] = 1, [LAYOUT_IMB] = 1, [LAYOUT_INB] = 1, [LAYOUT_RSRC] = -1, [LAYOUT_CSRC] = -1};
    char *copy = strdup(text), *rest = copy;
    int bad = !copy;

    for (char *word; !bad && (word = strtok_r(rest, ",", &rest));) {
        char *value = strchr(word, '=');
        int64_t number;
        int field = parse_word("m|n|mb|nb|imb|inb|rsrc|csrc|i|j|pad", word, strcspn(word, "="));

        bad = !value || field < 0 || !parse_int64(value + 1, &number) || number < least[field];
        if (!bad)
            layout[field] = number;
    }
    free(copy);
    return !bad;
}

/* Reads a layout into the fields of the matrices row->least to row->most. */
static int read_layouts(const argument_given *given, void *at)
{
    arguments *args = at;
    int good = 1;

    for (int64_t x = given->row->least; x <= given->row->most; x++)
        good &= layout_read(given->text, args->layout[x]);
    return good;
}

static int read_grid(const argument_given *given, void *at)
{
    arguments *args = at;

    return parse_grid(given->text, &args->nprow, &args->npcol);
}

#define AT(member) .field = offsetof(arguments, member)
#define SIZE                                               \
    .read = argument_int64, .least = 0, .most = INT64_MAX, \
    .expected = "a size of at least 0, with k, M or G for powers of 1024"
#define OPERATION .read = argument_letter, .words = "NTC", .expected = "N, T or C"
#define SCALAR .read = argument_scalar, .expected = "a number: 1.5, or for complex types (0.5,-2) or 0.5-2i"
#define LAYOUT(first, last)                                                                     \
    .read = read_layouts, .least = first, .most = last, .words = "mb|nb|imb|inb|rsrc|csrc|pad", \
    .expected = LAYOUT_EXPECTED
const argument arguments_product[] = {
    {"m", 'm', SIZE, AT(m)},
    {"n", 'n', SIZE, AT(n)},
    {"k", 'k', SIZE, AT(k)},
    {"type", .read = argument_type, AT(type), .expected = "s, d, c, z, float32, float64, complex64 or complex128"},
    {"transa", OPERATION, AT(transa)},
    {"transb", OPERATION, AT(transb)},
    {"grid", .read = read_grid, .expected = "PxQ with P and Q at least 1"},
    {"nb", .read = argument_blocking, AT(nb), .words = "checkerboard",
     .expected = "a block size of at least 1, or checkerboard"},
    {"layout", LAYOUT(0, 2)},
    {"layout-a", LAYOUT(0, 0)},
    {"layout-b", LAYOUT(1, 1)},
    {"layout-c", LAYOUT(2, 2)},
    {.name = NULL}};
const argument arguments_values[] = {
    {"order", .read = argument_letter, AT(order), .words = "RCA", .expected = "R, C or A"},
    {"alpha", SCALAR, AT(alpha)},
    {"beta", SCALAR, AT(beta)},
    {"seed", .read = argument_int64, AT(seed), .least = INT64_MIN, .most = INT64_MAX, .expected = "an integer"},
    {.name = NULL}};
static const argument arguments_run[] = {
    {"reps", .read = argument_int, AT(reps), .least = 1, .most = 1000000,
     .expected = "a number of repetitions from 1 to 1000000"},
    {"check", .read = argument_flag, AT(check)},
    {"quiet", 'q', .read = argument_flag, AT(quiet)},
    {"format", .read = argument_word, AT(format), .words = "table|csv|json", .expected = "table, csv or json"},
    {"help", 'h', .read = argument_help},
    {.name = NULL}};
const argument arguments_all[] = {
    {.rows = arguments_product}, {.rows = arguments_values}, {.rows = arguments_run}, {.name = NULL}};

int arguments_finish(arguments *args, command_options *options)
{
    if (command_operands(options))
        return 1;
    if (args->n < 0)
        args->n = args->m;
    if (args->k < 0)
        args->k = args->m;
    if (!type_is_complex(args->type) && (args->alpha[1] != 0 || args->beta[1] != 0))
        return command_refuse(options,
                              "--alpha or --beta is complex, but type %s is real; give real numbers, or --type c or z",
                              type_name(args->type));
    return 0;
}

void arguments_help(void)
{
    fputs("The product C := alpha op(A) op(B) + beta C\n"
          "  -m, -n, -k SIZE         op(A) is m x k, op(B) is k x n (defaults: 1024, m, m); 4k is 4096\n"
          "  --type s|d|c|z          float, double, and their complex forms (default: d); also NumPy's names\n"
          "  --transa, --transb OP   N: as stored, T: transposed, C: conjugate transposed (default: N)\n"
          "  --alpha, --beta NUMBER  1.5, or for the complex types (0.5,-2) or 0.5-2i (defaults: 1, 0)\n"
          "  --seed NUMBER           of the random matrices, entries in [-0.5, 0.5) (default: 1)\n"
          "\n"
          "Processes and distribution\n"
          "  --grid PxQ              process grid, may leave ranks idle (default: all ranks, nearest to a square)\n"
          "  --order R|C|A           ranks fill the grid by rows, by columns, or with a near-square tile for each\n"
          "                          node (default: R)\n"
          "  --nb NB|checkerboard    NB x NB blocks, or one block per process (default: 128)\n"
          "  --layout LIST           fields of the descriptors of A, B and C, e.g. mb=64,nb=32,rsrc=1,i=3,pad=2:\n"
          "                            m, n        the whole matrix (default: it ends with the operand)\n"
          "                            mb, nb      size of a block\n"
          "                            imb, inb    size of the first block (default: mb, nb)\n"
          "                            rsrc, csrc  grid row, column that owns the first block (default: 0); -1: all\n"
          "                                        rows are on every grid row, all columns on every grid column\n"
          "                            i, j        first row, column of the operand (default: 0)\n"
          "                            pad         leading dimension minus local rows (default: 0)\n"
          "  --layout-a, --layout-b, --layout-c LIST\n"
          "                          the same for one matrix; later options override earlier ones\n",
          stdout);
}

void arguments_help_run(const char *reps, const char *check, const char *formats)
{
    printf("\n"
           "Measurement\n"
           "  --reps N                %s\n"
           "  --check                 %s\n"
           "  --format %-14s (default: table)\n"
           "  -q, --quiet             no progress on standard error\n"
           "  -h, --help              this text\n",
           reps, check, formats);
}
