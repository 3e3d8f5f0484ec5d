/* Parses values: numbers, sizes, grids, types, scalars. */
#include "common/command.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scalar.h"

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

/* Parses "(re,im)". */
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

/* Parses "i", "+i", "-i", "2i", "-2e3i"; j may stand for i. */
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

const char *grid_refused(const char *option, int rows, int cols, int ranks, char *text, size_t size)
{
    long long needed = (long long)rows * cols;

    if (needed <= ranks)
        return NULL;
    snprintf(text, size, "--%s %dx%d needs %lld ranks, there %s %d; start with mpiexec -n %lld, or give a smaller --%s",
             option, rows, cols, needed, ranks > 1 ? "are" : "is", ranks, needed, option);
    return text;
}

static const char *const type_names[] = {
    [HSUMMA_S] = "float32", [HSUMMA_D] = "float64", [HSUMMA_C] = "complex64", [HSUMMA_Z] = "complex128"};

int parse_type(const char *text, hsumma_type *type)
{
    for (int i = HSUMMA_S; i <= HSUMMA_Z; i++)
        if ((tolower((unsigned char)text[0]) == hs_scalars[i].letter && !text[1]) || !strcmp(text, type_names[i])) {
            *type = (hsumma_type)i;
            return 1;
        }
    return 0;
}

int argument_type(const argument_given *given, void *at)
{
    return parse_type(given->text, at);
}

const char *type_name(hsumma_type type)
{
    return type_names[type];
}

size_t type_size(hsumma_type type)
{
    return hs_scalars[type].size;
}

int type_is_complex(hsumma_type type)
{
    return hs_scalars[type].complex_type;
}

void store_scalar(hsumma_type type, const double value[2], void *element)
{
    for (int i = 0; i <= type_is_complex(type); i++)
        set_real(type, element, i, value[i]);
}
