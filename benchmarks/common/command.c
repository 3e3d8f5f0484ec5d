#include "common/command.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- waiting ---------------------------------------------------------------------------------------------------- */

static void quiet_wait(MPI_Request *request)
{
    for (int done = 0;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        sched_yield();
    }
}

void quiet_barrier(MPI_Comm comm)
{
    MPI_Request request;

    MPI_Ibarrier(comm, &request);
    quiet_wait(&request);
}

void quiet_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    MPI_Request request;

    MPI_Ibcast(buffer, count, type, root, comm, &request);
    quiet_wait(&request);
}

void quiet_allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;

    MPI_Iallreduce(in, out, count, type, op, comm, &request);
    quiet_wait(&request);
}

/* --- failing ---------------------------------------------------------------------------------------------------- */

enum { TEXT = 512, MOST_LINES = 8 };

/* One line: what a file name or a file's content brings along must not steer the terminal. */
static void make_one_line(char *text)
{
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = isspace((unsigned char)*c) ? ' ' : '?';
}

/* Prints each distinct non-empty text of the list once. */
static void print_distinct(char (*texts)[TEXT], int count)
{
    int printed[MOST_LINES], lines = 0, more = 0;

    for (int i = 0; i < count; i++) {
        int known = !texts[i][0];
        for (int j = 0; j < lines && !known; j++)
            known = !strcmp(texts[i], texts[printed[j]]);
        if (known)
            continue;
        if (lines == MOST_LINES) {
            more++;
            continue;
        }
        printed[lines++] = i;
        fprintf(stderr, "hsumma_bench: %s\n", texts[i]);
    }
    if (more)
        fprintf(stderr, "hsumma_bench: (%d more ranks with other messages)\n", more);
}

int command_fail(MPI_Comm comm, int failed_here, const char *format, ...)
{
    int rank, size, mine = failed_here != 0, any = 0;
    char text[TEXT] = "", (*texts)[TEXT] = NULL;
    MPI_Request request;
    va_list args;

    quiet_allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm);
    if (!any)
        return 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (failed_here) {
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        make_one_line(text);
    }
    if (rank == 0)
        texts = malloc((size_t)size * sizeof *texts);
    mine = rank != 0 || texts; /* without memory at the root there is its own text at least */
    quiet_bcast(&mine, 1, MPI_INT, 0, comm);
    if (mine) {
        MPI_Igather(text, TEXT, MPI_CHAR, texts, TEXT, MPI_CHAR, 0, comm, &request);
        quiet_wait(&request);
    }
    if (rank == 0)
        print_distinct(texts ? texts : &text, texts ? size : 1);
    free(texts);
    return 1;
}

int command_code(hsumma_status status)
{
    if (status == HSUMMA_OK)
        return COMMAND_OK;
    return status == HSUMMA_ERR_INTERNAL || status == HSUMMA_ERR_MPI || status == HSUMMA_ERR_DEVICE ? COMMAND_INTERNAL
                                                                                                    : COMMAND_BAD_INPUT;
}

/* --- reading arguments ------------------------------------------------------------------------------------------ */

int parse_int64(const char *text, int64_t *value)
{
    char *end;
    long long number;
    int shift = 0;

    if (!isdigit((unsigned char)text[text[0] == '-']))
        return 0;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno)
        return 0;
    if (*end == 'k' || *end == 'K')
        shift = 10;
    else if (*end == 'M')
        shift = 20;
    else if (*end == 'G')
        shift = 30;
    if (end[shift != 0] || number > INT64_MAX >> shift || number < -(INT64_MAX >> shift))
        return 0;
    *value = (int64_t)number * ((int64_t)1 << shift);
    return 1;
}

int parse_double(const char *text, double *value)
{
    char *end;
    double number;

    if (isspace((unsigned char)text[0]))
        return 0;
    number = strtod(text, &end);
    if (end == text || *end || !isfinite(number))
        return 0;
    *value = number;
    return 1;
}

/* "(re,im)" */
static int parse_pair(const char *text, double value[2])
{
    char *end;

    value[0] = strtod(text + 1, &end);
    if (end == text + 1 || *end != ',')
        return 0;
    text = end;
    value[1] = strtod(text + 1, &end);
    return end != text + 1 && !strcmp(end, ")");
}

/* "i", "+i", "-i", "2i", "-2e3i"; j will do for i. */
static int parse_imaginary(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    if (end == text) {
        *value = *end == '-' ? -1 : 1;
        end += *end == '-' || *end == '+';
    }
    return (*end == 'i' || *end == 'j') && !end[1];
}

int argument_scalar(const argument_given *given, void *at)
{
    const char *text = given->text;
    double number[2] = {0, 0};
    char *end;
    int good;

    if (isspace((unsigned char)text[0]))
        return 0;
    if (text[0] == '(') {
        good = parse_pair(text, number);
    } else if (parse_imaginary(text, &number[1])) {
        good = 1;
    } else {
        number[0] = strtod(text, &end);
        number[1] = 0;
        good = end != text && (!*end || ((*end == '+' || *end == '-') && parse_imaginary(end, &number[1])));
    }
    if (!good || !isfinite(number[0]) || !isfinite(number[1]))
        return 0;
    memcpy(at, number, sizeof number);
    return 1;
}

int argument_blocking(const argument_given *given, void *at)
{
    int64_t number = 0;

    if (strcmp(given->text, "checkerboard") && (!parse_int64(given->text, &number) || number < 1))
        return 0;
    *(int64_t *)at = number;
    return 1;
}

int parse_grid(const char *text, int *rows, int *cols)
{
    char *end;
    long p, q;

    if (!isdigit((unsigned char)text[0]))
        return 0;
    p = strtol(text, &end, 10);
    if ((*end != 'x' && *end != 'X') || !isdigit((unsigned char)end[1]))
        return 0;
    q = strtol(end + 1, &end, 10);
    if (*end || p < 1 || q < 1 || p > INT32_MAX || q > INT32_MAX)
        return 0;
    *rows = (int)p;
    *cols = (int)q;
    return 1;
}

static const struct {
    const char letter, *name;
    size_t size;
} types[] = {
    [HSUMMA_S] = {'s', "float32", 4},
    [HSUMMA_D] = {'d', "float64", 8},
    [HSUMMA_C] = {'c', "complex64", 8},
    [HSUMMA_Z] = {'z', "complex128", 16},
};

int parse_type(const char *text, hsumma_type *type)
{
    for (int i = HSUMMA_S; i <= HSUMMA_Z; i++)
        if ((tolower((unsigned char)text[0]) == types[i].letter && !text[1]) || !strcmp(text, types[i].name)) {
            *type = (hsumma_type)i;
            return 1;
        }
    return 0;
}

const char *type_name(hsumma_type type)
{
    return types[type].name;
}

size_t type_size(hsumma_type type)
{
    return types[type].size;
}

int type_is_complex(hsumma_type type)
{
    return type == HSUMMA_C || type == HSUMMA_Z;
}

void store_scalar(hsumma_type type, const double value[2], void *element)
{
    const float single[2] = {(float)value[0], (float)value[1]};

    if (type == HSUMMA_S || type == HSUMMA_C)
        memcpy(element, single, types[type].size);
    else
        memcpy(element, value, types[type].size);
}
