/* What the commands of hsumma share: agreed failures, polite waiting, reading of arguments, and the options
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
 * differ between ranks. If any rank failed, rank 0 prints "hsumma: text" on stderr, one line for each distinct
 * text in the order of the ranks (newlines become spaces, a text is cut after some 500 bytes, and so is a list of more
 * than 8), and all ranks return 1; else all return 0 and nothing is printed:
 *
 *     if (command_fail(comm, !buffer, "no memory for %zu bytes", size))
 *         return COMMAND_INTERNAL;
 */
int command_fail(MPI_Comm comm, int failed_here, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The exit status that a status of the library comes to. */
int command_code(hsumma_status status);

/* Writes the timeline (option --trace) of a context, if it has one; the exit status of a command that has come to
 * `code` so far. Collective. */
int command_trace(MPI_Comm comm, hsumma_context *ctx, int code);

/* --- waiting ---------------------------------------------------------------------------------------------------- */

/* A barrier, a broadcast, a reduction to all and a gathering on rank 0 that give the processor away between tests:
 * MPICH's blocking calls never do, which is slow with more ranks than processors. */
void quiet_barrier(MPI_Comm comm);
void quiet_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
void quiet_allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
void quiet_gather(const void *mine, void *all, int count, MPI_Datatype type, MPI_Comm comm);

/* --- reading arguments -------------------------------------------------------------------------------------------- */

/* Each returns 1 if the whole text was a value of its kind, else 0 and leaves *value alone. */

/* An integer, also with k, M or G for 2^10, 2^20, 2^30: "4k" is 4096. */
int parse_int64(const char *text, int64_t *value);

/* A finite real number. */
int parse_double(const char *text, double *value);

/* "2x3", both at least 1. */
int parse_grid(const char *text, int *rows, int *cols);

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
 * The options of a subcommand: its own, which are a table of rows, and all of the library's, whose values are collected
 * in `text`. A '_' in a name of the library is a '-' on the command line. An own option hides one of the library with
 * the same name. Operands, which are argv[optind..argc-1] then, and options may be mixed.
 */
typedef struct command_options {
    char *text;      /* "name=value name=value" of the library's options seen so far; NULL without memory */
    int help;        /* --help was given */
    char error[512]; /* what is wrong; "" if nothing is */
} command_options;

/* Puts the library's options into the environment, for contexts that somebody else makes later. Returns nonzero, with
 * error set, if that failed. Local. */
int command_options_export(command_options *options);

/* Sets error, and returns 1; the second sets it to "--name TEXT: expected WHAT". */
int command_refuse(command_options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));
int command_bad_value(command_options *options, const char *name, const char *text, const char *expected);

/*
 * A command's own options are a table of rows; an empty row ends it:
 *
 *     static const argument table[] = {
 *         {"size", 's', argument_int, offsetof(my_arguments, size), .least = 1, .most = 64}, {.name = NULL}};
 *     bad = command_read(&options, table, &args, argc, argv);
 */
typedef struct argument argument;
/* An option on the command line; text: its value, NULL without one. */
typedef struct argument_given {
    const argument *row;
    const char *text;
    command_options *options;
} argument_given;
/* Reads a value into its place; returns 0 if it is none.  options->error may say why, else the row's expected does. */
typedef int argument_reader(const argument_given *given, void *at);
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
argument_reader argument_letter;   /* a char of .words, in either case */
argument_reader argument_scalar;   /* double[2]: "1.5", "1e-3", "(0.5,-2)", "0.5-2i", "2i", "-i" */
argument_reader argument_blocking; /* int64_t: a block size of at least 1, or "checkerboard", which gives 0 */
argument_reader argument_seconds;  /* a double above 0 */
argument_reader argument_refused;  /* not for this command: .expected is the message */
argument_reader argument_help;     /* sets options->help */

/* Reads all options of a command line into arguments; returns nonzero, with error set, at the first bad one. Nothing is
 * printed. Local. */
int command_read(command_options *options, const argument *table, void *arguments, int argc, char **argv);
/* Nonzero, with error set, if there is an operand. */
int command_operands(command_options *options, int argc, char **argv);

void command_options_free(command_options *options);

/* --- the commands ------------------------------------------------------------------------------------------------ */

/* A subcommand: what command_run does with it. */
typedef struct subcommand {
    const char *name, *summary; /* for hsumma --help */
    void (*help)(void);         /* prints, on rank 0, what comes before the library's options */
    const char *ending;         /* what comes after them */
    const char *hint;           /* at the end of a complaint about the command line */
    const argument *table;
    size_t size;          /* of the structure with its arguments */
    const void *defaults; /* what is in it at first */
    /* What depends on several arguments; the rest of the command line.  Nonzero, with options->error set, if they do
     * not fit together.  Not called with --help.  Collective. */
    int (*finish)(void *arguments, command_options *options, int argc, char **argv, MPI_Comm comm);
    /* Does it; options: the library's.  Collective, and the same exit status on all ranks. */
    int (*run)(const void *arguments, const char *options, MPI_Comm comm);
    void (*release)(void *arguments); /* NULL: there is nothing to free */
} subcommand;

/* Reads the arguments (argv[0] is the name), and does what they ask for.  Collective; returns the exit status of the
 * program, on every rank. */
int command_run(const subcommand *what, int argc, char **argv, MPI_Comm comm);

#endif
