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

/* A value of a row: a real, an integer or a text. */
typedef struct cell {
    enum { CELL_REAL, CELL_INTEGER, CELL_TEXT } form;
    int known;
    double real;
    int64_t integer;
    const char *text;
    char letter[2]; /* storage for the text of a letter */
} cell;

static void read_cell(const report_column *column, const void *row, cell *to)
{
    const char *at = (const char *)row + column->at;

    *to = (cell){.form = CELL_TEXT};
    switch (column->kind) {
    case REPORT_REAL:
        to->form = CELL_REAL;
        to->real = *(const double *)at;
        break;
    case REPORT_WIDE:
        to->form = CELL_INTEGER;
        to->integer = *(const int64_t *)at;
        break;
    case REPORT_SIZE:
        to->form = CELL_INTEGER;
        to->integer = (int64_t) * (const size_t *)at;
        break;
    case REPORT_INT:
        to->form = CELL_INTEGER;
        to->integer = *(const int *)at;
        break;
    case REPORT_FLAG:
        to->text = *(const int *)at ? "true" : "false";
        break;
    case REPORT_TEXT:
        to->text = *(const char *const *)at;
        break;
    case REPORT_CHARS:
        to->text = at;
        break;
    case REPORT_LETTER:
        to->letter[0] = *at;
        to->text = to->letter;
        break;
    case REPORT_OBJECT:
        break;
    }
    to->known = to->form == CELL_REAL      ? isfinite(to->real)
                : to->form == CELL_INTEGER ? to->integer >= 0 || column->kind == REPORT_INT
                                           : to->text != NULL;
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
    cell value;

    if (column->kind == REPORT_OBJECT)
        return report_object(column->inner, (const char *)row + column->at, REPORT_ALL);
    if (column->kind == REPORT_FLAG)
        return json_boolean(*(const int *)((const char *)row + column->at));
    read_cell(column, row, &value);
    if (!value.known)
        return json_null();
    return value.form == CELL_REAL      ? json_real(value.real)
           : value.form == CELL_INTEGER ? json_integer(value.integer)
                                        : json_string(value.text);
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

int report_json(json_t *object, int compact, int digits, FILE *file)
{
    size_t flags = (compact ? JSON_COMPACT : JSON_INDENT(2)) | JSON_REAL_PRECISION(digits);
    int failed = !object || json_dumpf(object, file, flags);

    fputc('\n', file);
    json_decref(object);
    return !failed && report_written(file);
}

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

/* Writes text in quotation marks unless it is a plain word. */
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
    cell value;

    read_cell(column, row, &value);
    if (!value.known)
        return;
    if (value.form == CELL_REAL)
        fprintf(file, "%.9g", value.real);
    else if (value.form == CELL_INTEGER)
        fprintf(file, "%lld", (long long)value.integer);
    else
        csv_text(value.text, file);
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

/* Splits one field off the line, without quotation marks; NULL after the last. */
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

/* Returns a value as text for the table; `text` is storage for it. */
static const char *cell_text(const report_table *table, const report_column *column, const cell *value, char *text)
{
    double factor = column->factor == REPORT_TIME ? table->factor : column->factor != 0 ? column->factor : 1;

    if (value->form == CELL_INTEGER && column->style == 'b')
        return report_bytes(text, VALUE_TEXT, value->integer);
    if (value->form == CELL_REAL && isinf(value->real))
        return "inf";
    if (!value->known)
        return "-";
    if (value->form == CELL_TEXT)
        return value->text;
    if (value->form == CELL_INTEGER)
        snprintf(text, VALUE_TEXT, "%lld", (long long)value->integer);
    else
        snprintf(text, VALUE_TEXT, column->style == 'g' ? "%.*g" : "%.*f", column->digits, value->real * factor);
    return text;
}

static int is_shown(const report_table *table, const report_column *column)
{
    return column->title && is_present(column, table->shown);
}

/* Prints a cell. *due: number of pending spaces, which are written only if more text follows on the line. */
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
    cell value;

    for (; !is_end(column); column++)
        if (is_shown(table, column) && is_present(column, present))
            end = column + 1;
    for (column = table->columns; column < end; column++) {
        if (!is_shown(table, column))
            continue;
        const char *shown = "";

        if (is_present(column, present)) {
            read_cell(column, row, &value);
            shown = cell_text(table, column, &value, text);
        }
        print_cell(column, first, shown, &due, file);
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

void report_seconds(FILE *file, const char *before, double seconds, int digits)
{
    const char *unit;
    double scale = report_time_unit(seconds, &unit);

    fprintf(file, "%s%.*g %s", before, digits, seconds * scale, unit);
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
