/* What the subcommands of hsumma_bench share: agreed failures, polite waiting, reading of arguments, and the options
 * that the library lists by hsumma_option(). */
#ifndef HS_BENCHMARKS_COMMON_COMMAND_H
#define HS_BENCHMARKS_COMMON_COMMAND_H

#include <getopt.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hsumma.h"

/* What a subcommand returns, on every rank: the exit status of the program. */
enum { COMMAND_OK = 0, COMMAND_INTERNAL = 1, COMMAND_BAD_INPUT = 2 };

/* --- failing ---------------------------------------------------------------------------------------------------- */

/*
 * Agrees whether any rank has failed. Collective over comm; the text is read only where failed_here is nonzero and may
 * differ between ranks. If any rank failed, rank 0 prints "hsumma_bench: text" on stderr, one line for each distinct
 * text in the order of the ranks (newlines become spaces, a text is cut after some 500 bytes, and so is a list of more
 * than 8), and all ranks return 1; else all return 0 and nothing is printed:
 *
 *     if (command_fail(comm, !buffer, "no memory for %zu bytes", size))
 *         return COMMAND_INTERNAL;
 */
int command_fail(MPI_Comm comm, int failed_here, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The exit status that a status of the library comes to. */
int command_code(hsumma_status status);

/* --- waiting ---------------------------------------------------------------------------------------------------- */

/* Completes a request, giving the processor away between tests: MPICH's blocking calls never do, which is slow with
 * more ranks than processors. */
void quiet_wait(MPI_Request *request);

/* A barrier, a broadcast and a reduction to all that wait like this. */
void quiet_barrier(MPI_Comm comm);
void quiet_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
void quiet_allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* --- reading arguments: each returns 1 if the whole text was a value of its kind, else 0 and leaves *value alone
 * --------- */

/* An integer, also with k, M or G for 2^10, 2^20, 2^30: "4k" is 4096. */
int parse_int64(const char *text, int64_t *value);

/* A finite real number. */
int parse_double(const char *text, double *value);

/* A real or complex number: "1.5", "1e-3", "(0.5,-2)", "0.5-2i", "2i", "-i"; value[0] is the real part. */
int parse_scalar(const char *text, double value[2]);

/* "2x3", both at least 1. */
int parse_grid(const char *text, int *rows, int *cols);

/* A block size of at least 1, or "checkerboard", which gives 0. */
int parse_blocking(const char *text, int64_t *nb);

/* "s", "d", "c", "z" in either case, or NumPy's names "float32", "float64", "complex64", "complex128". */
int parse_type(const char *text, hsumma_type *type);

/* NumPy's name of a type, and the bytes of one element. */
const char *type_name(hsumma_type type);
size_t type_size(hsumma_type type);

/* Whether elements have an imaginary part. */
int type_is_complex(hsumma_type type);

/* Stores value as one element of the type (at most 16 bytes), as hsumma_plan_execute wants alpha and beta. */
void store_scalar(hsumma_type type, const double value[2], void *element);

/* --- options ------------------------------------------------------------------------------------------------------ */

/*
 * The options of a subcommand: its own (name, has_arg and val as for getopt_long) and all of the library's, whose
 * values are collected in `text`. A '_' in a name of the library is a '-' on the command line. An own option hides one
 * of the library with the same name. A val that is a letter is the short option, too ('s' makes -s); others are 256 or
 * more, below COMMAND_LIBRARY. Operands and options may be mixed.
 *
 *     static const struct option own[] = {{"size", required_argument, NULL, 's'}, {NULL, 0, NULL, 0}};
 *     command_options options;
 *     int bad = command_options_init(&options, own), opt;
 *     while (!bad && (opt = command_next(&options, argc, argv)) != -1) {
 *         if (opt == '?')
 *             bad = 1;                  -- options.error says why
 *         else if (opt == 's')
 *             bad = !parse_int64(optarg, &size) && command_bad_value(&options, "size", optarg, "a number");
 *     }
 *     if (command_fail(comm, bad, "%s: %s", argv[0], options.error)) ...
 *     -- operands are argv[optind..argc-1]; hsumma_create(comm, options.text, ...)
 *     command_options_free(&options);
 */
typedef struct command_options {
    struct option *all; /* own, then the library's, then the end mark */
    char *text;         /* "name=value name=value" of the library's options seen so far; never NULL after init */
    size_t size;        /* bytes allocated for text */
    char error[512];    /* why command_next returned '?'; "" if it did not */
} command_options;

/* The val of the library's option i is COMMAND_LIBRARY + i. */
enum { COMMAND_LIBRARY = 0x1000 };

/* Starts a scan of the command line (it resets getopt). Returns nonzero, with error set, if there is no memory. Local.
 */
int command_options_init(command_options *options, const struct option *own);

/* The val of the next own option (its argument is in optarg), -1 after the last, '?' for a bad one. Options of the
 * library are collected and not returned. Nothing is printed. */
int command_next(command_options *options, int argc, char **argv);

/* Puts the library's options into the environment, for contexts that somebody else makes later. Returns nonzero, with
 * error set, if that failed. Local. */
int command_options_export(command_options *options);

/* Sets error to "--name TEXT: expected WHAT" and returns 1. */
int command_bad_value(command_options *options, const char *name, const char *text, const char *expected);

/*
 * A command's own options are a table of rows; an empty row ends it:
 *
 *     static const argument table[] = {
 *         {"size", 's', argument_int, offsetof(my_arguments, size), .least = 1, .most = 64}, {.name = NULL}};
 *     bad = command_read(&options, table, &args, argc, argv);
 */
typedef struct argument argument;
/* Reads a value into its place; returns 0 if it is none.  options->error may say why, else the row's expected does. */
typedef int argument_reader(const argument *row, command_options *options, const char *text, void *at);
struct argument {
    const char *name;
    int letter; /* the short option; 0: none */
    argument_reader *read;
    size_t field; /* of the command's arguments: `at` */
    int64_t least, most;
    const char *words;    /* of argument_word: "table|csv|json" are least, least + 1, ... */
    const char *expected; /* what the value may be; NULL: a number from least to most */
    enum { WITH_VALUE, WITHOUT_VALUE, MAY_HAVE_VALUE } value;
    const argument *rows; /* a row without a name: these rows, for a structure at its field */
};
argument_reader argument_int, argument_int64, argument_double, argument_text, argument_flag, argument_word;
argument_reader argument_letter;                    /* a char of .words, in either case */
argument_reader argument_scalar, argument_blocking; /* parse_scalar, parse_blocking */
argument_reader argument_seconds;                   /* a double above 0 */
argument_reader argument_refused;                   /* not for this command: .expected is the message */

/* Reads all options of a command line into arguments; returns nonzero, with error set, at the first bad one. */
int command_read(command_options *options, const argument *table, void *arguments, int argc, char **argv);
/* Nonzero, with error set, if there is an operand. */
int command_operands(command_options *options, int argc, char **argv);

void command_options_free(command_options *options);

/* Prints the library's options for --help, one per paragraph: "  --name VALUE   help (default: ...)". Call it on rank
 * 0. */
void command_print_options(FILE *file);

#endif
