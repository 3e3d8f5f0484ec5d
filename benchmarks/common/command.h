/* Code that the commands share: collective error reports, waiting that yields the processor, argument parsing, and the
 * options that the library lists by hsumma_option(). */
#ifndef HS_BENCHMARKS_COMMON_COMMAND_H
#define HS_BENCHMARKS_COMMON_COMMAND_H

#include <getopt.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/options.h"
#include "hsumma.h"

/* Exit statuses of a command, the same on every rank. */
enum { COMMAND_OK = 0, COMMAND_INTERNAL = 1, COMMAND_BAD_INPUT = 2 };

/* --- failing ---------------------------------------------------------------------------------------------------- */

/*
 * Agrees whether any rank has failed. Collective over comm; the text is read only where failed_here is nonzero and may
 * differ between ranks. If a rank failed, rank 0 prints "hsumma: text" on stderr, one line for each distinct text in
 * rank order, and all ranks return COMMAND_INTERNAL; else all return COMMAND_OK and nothing is printed. Control
 * characters become spaces or '?'; texts are truncated to some 500 bytes and the list to 8 lines:
 *
 *     if ((code = command_fail(comm, !buffer, "no memory for %zu bytes", size)))
 *         return code;
 */
int command_fail(MPI_Comm comm, int failed_here, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The exit status of a command for a status of the library. */
int command_code(hsumma_status status);

/* If `code`, the command's exit status so far, is COMMAND_OK: writes the context's timeline (option --trace), if it has
 * one. Returns `code`, or COMMAND_INTERNAL if writing failed. Collective. */
int command_trace(MPI_Comm comm, hsumma_context *ctx, int code);

/* --- waiting ---------------------------------------------------------------------------------------------------- */

/* A wait for requests, a barrier, a broadcast, an allreduce and a gather on rank 0 that yield the processor between
 * tests. MPICH's blocking calls never yield, which is slow with more ranks than processors. In the simulator these are
 * MPI's blocking calls. */
void quiet_wait(int count, MPI_Request *request);
void quiet_barrier(MPI_Comm comm);
void quiet_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
void quiet_allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
void quiet_gather(const void *mine, void *all, int count, MPI_Datatype type, MPI_Comm comm);

/* --- reading arguments -------------------------------------------------------------------------------------------- */

/* The parse_ functions return 1 if the whole text is a value of their kind; else 0, without storing anything. */

/* An integer, optionally with k, M or G for 2^10, 2^20, 2^30: "4k" is 4096. */
int parse_int64(const char *text, int64_t *value);

/* A finite real number. */
int parse_double(const char *text, double *value);

/* "2x3", both at least 1. */
int parse_grid(const char *text, int *rows, int *cols);

/* The position of a text of `length` characters in "table|csv|json"; -1 if it is not there. */
int parse_word(const char *words, const char *text, size_t length);

/* A list such as "csv,table" of at most 31 of these words: bit i for the word at position i; -1 if one is not there. */
int parse_words(const char *words, const char *text);

/* NULL if `ranks` ranks can form the grid; otherwise the reason why not, written to `text`. */
const char *grid_refused(const char *option, int rows, int cols, int ranks, char *text, size_t size);

/* "s", "d", "c", "z" in either case, or NumPy's names "float32", "float64", "complex64", "complex128". */
int parse_type(const char *text, hsumma_type *type);

/* NumPy's name of a type, and the bytes of one element. */
const char *type_name(hsumma_type type);
size_t type_size(hsumma_type type);

/* Whether the type is complex; whether it is of single precision. */
int type_is_complex(hsumma_type type);
static inline int type_is_single(hsumma_type type)
{
    return type == HSUMMA_S || type == HSUMMA_C;
}

/* The i-th of an array of reals of the type's precision; a complex element is two reals. */
static inline double real_at(hsumma_type type, const void *reals, int64_t i)
{
    return type_is_single(type) ? (double)((const float *)reals)[i] : ((const double *)reals)[i];
}
static inline void set_real(hsumma_type type, void *reals, int64_t i, double value)
{
    if (type_is_single(type))
        ((float *)reals)[i] = (float)value;
    else
        ((double *)reals)[i] = value;
}

/* Stores `value` as one element of the type (at most 16 bytes), as hsumma_plan_execute takes alpha and beta. */
void store_scalar(hsumma_type type, const double value[2], void *element);

/* --- options ------------------------------------------------------------------------------------------------------ */

/*
 * The options of a command: its own, from a table of rows, and the library's, which are collected in `text`. A '_' in a
 * name of the library is a '-' on the command line. A command's own option hides the library's option of that name.
 * Operands and options may be mixed; after parsing the operands are options->argv[optind..options->argc-1].
 */
typedef struct command_options {
    char *text;      /* "name=value name=value" of the library's options read so far; NULL: out of memory */
    int help;        /* --help was given */
    char error[512]; /* the error message, or "" */
    int argc;        /* the command line */
    char **argv;
    MPI_Comm comm; /* set by command_run: the ranks that run the command */
} command_options;

/* Exports the library's options in `text` to the environment, for contexts that other code creates later. Returns
 * nonzero, with error set, on failure. Local. */
int command_options_export(command_options *options);

/* Set error and return 1; command_bad_value sets it to "--name TEXT: expected WHAT". */
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
/* An option on the command line; text is its value, NULL if it has none. */
typedef struct argument_given {
    const argument *row;
    const char *text;
    command_options *options;
} argument_given;
/* Reads a value into `at`. Returns 0 if it is invalid. The message is then the reader's, in options->error, or, if that
 * is empty, is made from the row's `expected`. */
typedef int argument_reader(const argument_given *given, void *at);
struct argument {
    const char *name;
    int letter; /* short option; 0: none */
    argument_reader *read;
    size_t field; /* offset of `at` in the command's arguments */
    int64_t least, most;
    const char *words; /* argument_word: "table|csv|json" means least, least + 1, ...; argument_letter: the letters;
                          other readers: words for spelling guesses */
    const char
        *expected; /* describes valid values; NULL: one of .words, or without these a number from least to most */
    enum { WITH_VALUE, WITHOUT_VALUE, MAY_HAVE_VALUE } value;
    const argument *rows; /* in a row without a name: the rows of a nested structure at `field` */
};
argument_reader argument_int, argument_int64, argument_double, argument_text, argument_flag, argument_word;
argument_reader argument_letter;   /* a char of .words, in either case */
argument_reader argument_scalar;   /* double[2]: "1.5", "1e-3", "(0.5,-2)", "0.5-2i", "2i", "-i" */
argument_reader argument_blocking; /* int64_t: a block size of at least 1, or "checkerboard", which gives 0 */
argument_reader argument_type;     /* hsumma_type, as parse_type reads it */
argument_reader argument_seconds;  /* a positive double */
argument_reader argument_refused;  /* rejected by this command: .expected is the message */
argument_reader argument_help;     /* sets options->help */

/* Reads all options of a command line: the command's into `arguments`, the library's into options->text. Returns
 * nonzero, with error set, at the first invalid one. Prints nothing. Local. */
int command_read(command_options *options, const argument *table, void *arguments, int argc, char **argv);
/* Nonzero, with error set, if there is an operand. */
int command_operands(command_options *options);

void command_options_free(command_options *options);

/* --- the commands ------------------------------------------------------------------------------------------------ */

/* A command, for command_run. */
typedef struct subcommand {
    const char *name, *summary; /* name and one-line summary, for hsumma --help */
    void (*help)(void);         /* prints the help text before the library's options; called on rank 0 */
    const char *ending;         /* the help text after the library's options */
    int quiet_environment;      /* 1: no warnings about misspelt environment variables */
    const char *hint;           /* appended to an error about the command line */
    const argument *table;
    size_t size;          /* bytes of the structure of arguments */
    const void *defaults; /* initial value of that structure */
    /* Checks combinations of arguments and reads the operands. Nonzero, with options->error set, on error. Not called
     * with --help. Collective. */
    int (*finish)(void *arguments, command_options *options);
    int alone; /* 1: only rank 0 runs the command, with MPI_COMM_SELF; the others wait */
    /* Runs the command; options: the library's. Collective; the same exit status on all ranks. */
    int (*run)(const void *arguments, const char *options, MPI_Comm comm);
    void (*release)(void *arguments); /* NULL: nothing to free */
} subcommand;

extern const subcommand cmd_calibrate, cmd_coll, cmd_doctor, cmd_explain, cmd_gemm, cmd_multiply, cmd_redistribute,
    cmd_regret, cmd_soak, cmd_sweep, cmd_trace, cmd_tune;

/* Reads the arguments (argv[0] is the name) and runs the command. Collective; returns the program's exit status on
 * every rank. */
int command_run(const subcommand *what, int argc, char **argv, MPI_Comm comm);

#endif
