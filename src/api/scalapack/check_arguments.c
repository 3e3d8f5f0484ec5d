/*
 * The check of p?gemm's arguments, with PBLAS's results; each process checks by itself. Of all errors the one with the
 * smallest position is reported: entry e (from 1) of the descriptor that is argument p has position 100 p + e, a scalar
 * argument p has 100 p.
 */
#include "api/scalapack/shim.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Positions of the arguments of p?gemm. */
enum {
    ARG_TRANSA = 1,
    ARG_TRANSB,
    ARG_M,
    ARG_N,
    ARG_K,
    ARG_DESCA = 10,
    ARG_DESCB = 14,
    ARG_DESCC = 19,
    SCALE = 100,
    NOTHING_WRONG = INT_MAX
};
static const int position_of_desc[3] = {ARG_DESCA, ARG_DESCB, ARG_DESCC};

/* Maps an entry of DTYPE 2 to the short descriptor of DTYPE 1. */
static const int short_entry[HS_ENTRIES] = {0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8};

static void read_desc(const int *desc, int *entry)
{
    static const int harmless[HS_ENTRIES] = {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1};
    if (desc[HS_DTYPE] == 2) {
        memcpy(entry, desc, HS_ENTRIES * sizeof *entry);
        return;
    }
    if (desc[HS_DTYPE] == 1) {
        for (int e = 0; e < HS_ENTRIES; e++)
            entry[e] = desc[short_entry[e]];
        entry[HS_DTYPE] = 2;
        return;
    }
    memcpy(entry, harmless, sizeof harmless); /* of an unknown descriptor only type and context are read */
    entry[HS_DTYPE] = desc[HS_DTYPE];
    entry[HS_CTXT] = desc[HS_CTXT];
}

/* The error with the smallest position so far, and what it says: VALUE; expected WORDS BOUND. */
struct complaint {
    int least;
    int64_t value, bound;
    const char *expected;
};

static void note(struct complaint *found, int wrong, int position, int64_t value, const char *expected, int64_t bound)
{
    if (wrong && position < found->least)
        *found = (struct complaint){position, value, bound, expected};
}

/* Says the error in words; PBLAS's error exit shows the position only. */
static void say(const struct hs_pgemm *call, const struct complaint *found, char *text)
{
    static const char *const argument[] = {"TRANSA", "TRANSB", "M",     "N",  "K",    "ALPHA", "A",
                                           "IA",     "JA",     "DESCA", "B",  "IB",   "JB",    "DESCB",
                                           "BETA",   "C",      "IC",    "JC", "DESCC"};
    static const char *const entry[HS_ENTRIES] = {"DTYPE_", "CTXT_", "M_",    "N_",    "IMB_", "INB_",
                                                  "MB_",    "NB_",   "RSRC_", "CSRC_", "LLD_"};
    const int number = found->least / SCALE, place = found->least % SCALE;
    char name[32];
    int e = place - 1;
    for (int x = 0; x < 3; x++) /* a short descriptor has no first blocks of its own */
        if (number == position_of_desc[x] && *call->desc[x] == 1 && (e == HS_IMB || e == HS_INB))
            e += HS_MB - HS_IMB;
    snprintf(name, sizeof name, place ? "%s[%s]" : "%s", argument[number - 1], place ? entry[e] : "");
    if (number <= ARG_TRANSB && isprint((unsigned char)found->value))
        snprintf(text, HS_COMPLAINT, "%s = '%c'; expected %s", name, (char)found->value, found->expected);
    else if (number <= ARG_TRANSB)
        snprintf(text, HS_COMPLAINT, "%s = byte %d; expected %s", name, (unsigned char)found->value, found->expected);
    else
        snprintf(text, HS_COMPLAINT, "%s = %" PRId64 "; expected %s %" PRId64, name, found->value, found->expected,
                 found->bound);
}

struct hs_axis hs_argument_axis(const struct hs_arguments *args, int x, int axis)
{
    const int *entry = args->matrix[x].entry;
    return hs_axis_make(entry[HS_ROWS + axis], entry[HS_MB + axis], entry[HS_IMB + axis], entry[HS_RSRC + axis],
                        args->shape[axis]);
}

/* The least valid leading dimension: the number of local rows if this process stores columns, else 1. Returns 1 without
 * counting columns if the given leading dimension already covers the local rows. */
static int64_t least_ld(const struct hs_arguments *args, int x)
{
    struct hs_axis rows = hs_argument_axis(args, x, 0), cols = hs_argument_axis(args, x, 1);
    int64_t count = hs_axis_count(&rows, args->coord[0]);
    return count > args->matrix[x].entry[HS_LLD] && hs_axis_count(&cols, args->coord[1]) > 0 ? count : 1;
}

static void check_matrix(const struct hs_arguments *args, int x, const int position[2], struct complaint *found)
{
    const struct hs_matrix_argument *matrix = &args->matrix[x];
    const int *entry = matrix->entry, desc = position_of_desc[x] * SCALE, first_entry = desc + 1;
    int empty = matrix->part[0] == 0 || matrix->part[1] == 0;
    for (int axis = 0; axis < 2; axis++) {
        note(found, matrix->part[axis] < 0, position[axis] * SCALE, matrix->part[axis], "at least", 0);
        note(found, matrix->first[axis] < 0, desc - (2 - axis) * SCALE, matrix->first[axis] + 1, "at least", 1);
    }
    note(found, entry[HS_DTYPE] != 2, first_entry + HS_DTYPE, entry[HS_DTYPE], "1 or", 2);
    if (entry[HS_DTYPE] != 2)
        return;
    note(found, entry[HS_CTXT] != args->context, first_entry + HS_CTXT, entry[HS_CTXT], "that of DESCA, which is",
         args->context);
    if (entry[HS_CTXT] != args->context)
        return;
    for (int axis = 0; axis < 2; axis++) {
        int64_t all = entry[HS_ROWS + axis], first = matrix->first[axis], part = matrix->part[axis];
        int src = entry[HS_RSRC + axis];
        note(found, all < (empty ? 0 : 1), first_entry + HS_ROWS + axis, all, "at least", empty ? 0 : 1);
        note(found, entry[HS_IMB + axis] < 1, first_entry + HS_IMB + axis, entry[HS_IMB + axis], "at least", 1);
        note(found, entry[HS_MB + axis] < 1, first_entry + HS_MB + axis, entry[HS_MB + axis], "at least", 1);
        note(found, src < -1 || src >= args->shape[axis], first_entry + HS_RSRC + axis, src, "-1 to",
             args->shape[axis] - 1);
        note(found, !empty && entry[HS_ROWS] >= 1 && entry[HS_COLS] >= 1 && first + part > all,
             desc - (2 - axis) * SCALE, first + 1, "an operand that ends within the matrix: at most", all - part + 1);
    }
    int64_t ld = empty || found->least != NOTHING_WRONG ? 1 : least_ld(args, x);
    note(found, entry[HS_LLD] < ld, first_entry + HS_LLD, entry[HS_LLD], "at least", ld);
}

static int is_op(char op)
{
    return op == 'N' || op == 'T' || op == 'C';
}

/* Copies all arguments, valid or not. */
static void read_all(const struct hs_pgemm *call, struct hs_arguments *args)
{
    args->op[0] = hs_upper(*call->trans[0]);
    args->op[1] = hs_upper(*call->trans[1]);
    args->op[2] = 'N';
    for (int d = 0; d < 3; d++)
        args->extent[d] = *call->extent[d];
    for (int x = 0; x < 3; x++) {
        struct hs_matrix_argument *matrix = &args->matrix[x];
        read_desc(call->desc[x], matrix->entry);
        for (int axis = 0; axis < 2; axis++)
            matrix->first[axis] = (int64_t)*call->first[x][axis] - 1;
    }
    args->context = args->matrix[0].entry[HS_CTXT];
}

int hs_arguments_read(const struct hs_pgemm *call, struct hs_arguments *args, char *complaint)
{
    /* The dimensions of op(A), op(B) and C. */
    static const int dims[3][2] = {{ARG_M, ARG_K}, {ARG_K, ARG_N}, {ARG_M, ARG_N}};
    struct complaint found = {.least = NOTHING_WRONG};
    read_all(call, args);
    if (!hs_blacs_grid(args->context, args->shape, args->coord)) {
        snprintf(complaint, HS_COMPLAINT, "DESCA[CTXT_] = %d; expected a context of the BLACS", args->context);
        return -(ARG_DESCA * SCALE + 1 + HS_CTXT);
    }
    for (int x = 0; x < 2; x++)
        note(&found, !is_op(args->op[x]), (ARG_TRANSA + x) * SCALE, args->op[x], "N, T or C", 0);
    for (int x = 0; x < 3; x++) {
        struct hs_matrix_argument *matrix = &args->matrix[x];
        int flip = args->op[x] != 'N';
        const int position[2] = {dims[x][flip], dims[x][!flip]};
        for (int axis = 0; axis < 2; axis++)
            matrix->part[axis] = args->extent[position[axis] - ARG_M];
        check_matrix(args, x, position, &found);
    }
    if (found.least == NOTHING_WRONG)
        return 0;
    say(call, &found, complaint);
    return -(found.least % SCALE ? found.least : found.least / SCALE);
}

struct hs_view hs_argument_view(const struct hs_arguments *args, int x)
{
    const struct hs_matrix_argument *matrix = &args->matrix[x];
    struct hs_axis rows = hs_argument_axis(args, x, 0), cols = hs_argument_axis(args, x, 1);
    return hs_view_make(&rows, &cols, matrix->first[0], matrix->first[1], matrix->part[0], matrix->part[1], args->coord,
                        matrix->entry[HS_LLD], args->op[x]);
}
