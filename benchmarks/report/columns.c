#include "report/columns.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_TEXT = 64 };

static int is_end(const report_column *column)
{
    return !column->key && !column->title;
}

static int is_present(const report_column *column, unsigned present)
{
    return !column->when || column->when & present;
}

/* A number, as the widest of its kind; 0 if it is unknown, or the column holds no number. */
static int real_of(const report_column *column, const void *row, double *value)
{
    const char *at = (const char *)row + column->at;

    if (column->kind == REPORT_REAL)
        *value = *(const double *)at;
    return column->kind == REPORT_REAL;
}

static int integer_of(const report_column *column, const void *row, int64_t *value)
{
    const char *at = (const char *)row + column->at;

    switch (column->kind) {
    case REPORT_WIDE:
        *value = *(const int64_t *)at;
        return 1;
    case REPORT_SIZE:
        *value = (int64_t) * (const size_t *)at;
        return 1;
    case REPORT_INT:
        *value = *(const int *)at;
        return 1;
    default:
        return 0;
    }
}

/* A text, or the name of a truth value; a letter goes to `letter`.  NULL: unknown. */
static const char *text_of(const report_column *column, const void *row, char letter[2])
{
    const char *at = (const char *)row + column->at;

    switch (column->kind) {
    case REPORT_FLAG:
        return *(const int *)at ? "true" : "false";
    case REPORT_TEXT:
        return *(const char *const *)at;
    case REPORT_CHARS:
        return at;
    case REPORT_LETTER:
        letter[0] = *at;
        letter[1] = 0;
        return letter;
    default:
        return NULL;
    }
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

json_t *report_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_integer(int64_t value)
{
    return value >= 0 ? json_integer(value) : json_null();
}

json_t *report_reals(const double *values, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(list, report_real(values[i]));
    return list;
}

static json_t *value_json(const report_column *column, const void *row)
{
    const char *text;
    char letter[2];
    int64_t integer;
    double real;

    if (column->kind == REPORT_OBJECT)
        return report_object(column->inner, (const char *)row + column->at, REPORT_ALL);
    if (column->kind == REPORT_FLAG)
        return json_boolean(*(const int *)((const char *)row + column->at));
    if (real_of(column, row, &real))
        return report_real(real);
    if (integer_of(column, row, &integer))
        return column->kind == REPORT_INT ? json_integer(integer) : report_integer(integer);
    text = text_of(column, row, letter);
    return text ? json_string(text) : json_null();
}

void report_add(json_t *object, const report_column *columns, const void *row, unsigned present)
{
    for (; !is_end(columns); columns++)
        if (columns->key && is_present(columns, present))
            json_object_set_new(object, columns->key, value_json(columns, row));
}

json_t *report_object(const report_column *columns, const void *row, unsigned present)
{
    json_t *object = json_object();

    report_add(object, columns, row, present);
    return object;
}

json_t *report_list(const report_column *columns, const void *rows, size_t size, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(list, report_object(columns, (const char *)rows + (size_t)i * size, REPORT_ALL));
    return list;
}

int report_json(json_t *object, int compact, int digits, FILE *file)
{
    size_t flags = (compact ? JSON_COMPACT : JSON_INDENT(2)) | JSON_REAL_PRECISION(digits);
    int failed = !object || json_dumpf(object, file, flags);

    fputc('\n', file);
    json_decref(object);
    return !failed && report_written(file);
}

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

/* In quotation marks unless it is a plain word. */
static void csv_text(const char *text, FILE *file)
{
    size_t plain = 0;

    while (isalnum((unsigned char)text[plain]) || (text[plain] && strchr("_.+-", text[plain])))
        plain++;
    if (!text[plain]) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void csv_value(const report_column *column, const void *row, FILE *file)
{
    const char *text;
    char letter[2];
    int64_t integer;
    double real;

    if (real_of(column, row, &real)) {
        if (isfinite(real))
            fprintf(file, "%.9g", real);
    } else if (integer_of(column, row, &integer)) {
        if (integer >= 0 || column->kind == REPORT_INT)
            fprintf(file, "%lld", (long long)integer);
    } else if ((text = text_of(column, row, letter))) {
        csv_text(text, file);
    }
}

void report_csv_head(const report_column *columns, FILE *file)
{
    for (const char *between = ""; !is_end(columns); columns++)
        if (columns->key) {
            fprintf(file, "%s%s", between, columns->key);
            between = ",";
        }
    fputc('\n', file);
}

void report_csv_row(const report_column *columns, const void *row, unsigned present, FILE *file)
{
    for (const char *between = ""; !is_end(columns); columns++)
        if (columns->key) {
            fputs(between, file);
            if (is_present(columns, present))
                csv_value(columns, row, file);
            between = ",";
        }
    fputc('\n', file);
}

/* Takes one field off the line, without its quotation marks; NULL after the last. */
static char *next_field(char **line)
{
    char *from = *line, *to = from, *field = from;

    if (!from)
        return NULL;
    if (*from == '"')
        for (from++; *from && (*from != '"' || *++from == '"');)
            *to++ = *from++;
    else
        while (*from && *from != ',')
            *to++ = *from++;
    *line = *from == ',' ? from + 1 : NULL;
    *to = 0;
    return field;
}

static void read_value(const report_column *column, const char *field, void *row)
{
    char *at = (char *)row + column->at;

    switch (column->kind) {
    case REPORT_REAL:
        *(double *)at = *field ? strtod(field, NULL) : NAN;
        break;
    case REPORT_WIDE:
        *(int64_t *)at = *field ? strtoll(field, NULL, 10) : -1;
        break;
    case REPORT_INT:
        *(int *)at = atoi(field);
        break;
    case REPORT_FLAG:
        *(int *)at = !strcmp(field, "true");
        break;
    case REPORT_TEXT:
        *(const char **)at = field;
        break;
    default:
        break;
    }
}

int report_csv_read(const report_column *columns, char *line, void *row)
{
    unsigned groups = 0;

    for (; !is_end(columns); columns++) {
        char *field = columns->key ? next_field(&line) : "";

        if (!field)
            return -1;
        if (columns->key)
            read_value(columns, field, row);
        groups |= *field ? columns->when : 0;
    }
    return line ? -1 : (int)groups;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static const char *number_text(const report_table *table, const report_column *column, double value, char *text)
{
    double factor = column->factor == REPORT_TIME ? table->factor : column->factor != 0 ? column->factor : 1;

    if (!isfinite(value))
        return isinf(value) ? "inf" : table->blank ? table->blank : "-";
    snprintf(text, VALUE_TEXT, column->style == 'g' ? "%.*g" : "%.*f", column->digits, value * factor);
    return text;
}

/* A value as the table shows it. */
static const char *cell_text(const report_table *table, const report_column *column, const void *row, char *text)
{
    const char *found;
    int64_t integer;
    double real;

    if (real_of(column, row, &real))
        return number_text(table, column, real, text);
    if (integer_of(column, row, &integer)) {
        if (column->style == 'b')
            return report_bytes(text, VALUE_TEXT, integer);
        if (integer < 0 && column->kind != REPORT_INT)
            return table->blank ? table->blank : "-";
        snprintf(text, VALUE_TEXT, "%lld", (long long)integer);
        return text;
    }
    found = text_of(column, row, text);
    return found ? found : table->blank ? table->blank : "-";
}

static int is_shown(const report_table *table, const report_column *column)
{
    return column->title && is_present(column, table->shown);
}

/* The widths of columns that the row has not, and the spaces before a column, are due until something is printed. */
static void print_cell(const report_column *column, int first, const char *text, int *due, FILE *file)
{
    int width = column->width < 0 ? -column->width : column->width, length = (int)strlen(text);
    int fill = width > length ? width - length : 0;

    *due += first ? 0 : column->narrow ? 1 : 2;
    if (!length) {
        *due += width;
        return;
    }
    fprintf(file, "%*s%s", *due + (column->width < 0 ? 0 : fill), "", text);
    *due = column->width < 0 ? fill : 0;
}

void report_table_head(const report_table *table, const char *note, FILE *file)
{
    int units = 0;

    for (int line = 0; line < 1 + units; line++) {
        int due = 0, first = 1;

        for (const report_column *column = table->columns; !is_end(column); column++) {
            const char *unit = column->factor == REPORT_TIME ? table->unit : column->unit;

            if (!is_shown(table, column))
                continue;
            print_cell(column, first, line == 0 ? column->title : unit ? unit : "", &due, file);
            units |= unit != NULL;
            first = 0;
        }
        fprintf(file, "%s\n", line == 0 && note ? note : "");
    }
}

void report_table_row(const report_table *table, const void *row, unsigned present, const char *note, FILE *file)
{
    const report_column *column = table->columns, *end = column;
    int due = 0, first = 1;
    char text[VALUE_TEXT];

    for (; !is_end(column); column++)
        if (is_shown(table, column) && is_present(column, present))
            end = column + 1;
    for (column = table->columns; column < end; column++)
        if (is_shown(table, column)) {
            print_cell(column, first, is_present(column, present) ? cell_text(table, column, row, text) : "", &due,
                       file);
            first = 0;
        }
    if (note && *note)
        fprintf(file, "%*s%s", due, "", note);
    fputc('\n', file);
}

/* --- units -------------------------------------------------------------------------------------------------------- */

double report_time_unit(double seconds, const char **unit)
{
    int at = seconds >= 1 ? 0 : seconds >= 1e-3 ? 1 : 2;

    *unit = (const char *[]){"s", "ms", "us"}[at];
    return (double[]){1, 1e3, 1e6}[at];
}

const char *report_bytes(char *text, size_t size, int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    int unit = 0;

    for (; value >= 1023.5 && unit < 5; unit++)
        value /= 1024;
    if (bytes < 0)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%.*f %s", unit && value < 99.5 ? 1 : 0, value, units[unit]);
    return text;
}

const char *report_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

int report_written(FILE *file)
{
    return fflush(file) == 0 && !ferror(file);
}
