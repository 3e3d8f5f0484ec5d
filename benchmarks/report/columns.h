/* Prints rows as a table, as CSV, or as JSON. A column is data: its name in each form, the offset of its value in the
 * row's structure, and its format; the three forms follow from that. */
#ifndef HS_BENCHMARKS_REPORT_COLUMNS_H
#define HS_BENCHMARKS_REPORT_COLUMNS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum report_kind {
    REPORT_REAL,   /* double; unknown if not finite */
    REPORT_WIDE,   /* int64_t; unknown if negative */
    REPORT_SIZE,   /* size_t */
    REPORT_INT,    /* int */
    REPORT_FLAG,   /* int as a boolean */
    REPORT_TEXT,   /* const char *; unknown if NULL */
    REPORT_CHARS,  /* char[] */
    REPORT_LETTER, /* char */
    REPORT_OBJECT, /* structure with columns of its own; JSON only */
} report_kind;

typedef struct report_column report_column;
struct report_column {
    const char *key; /* name in CSV and JSON; NULL: only in the table */
    report_kind kind;
    size_t at;                  /* offset of the value in the row */
    const report_column *inner; /* columns of an object */
    unsigned when;              /* present only in rows with this bit; 0: in all rows */
    const char *title, *unit;   /* first and second line of the table's head; title NULL: not in the table */
    int width, digits;          /* in the table; negative width: left-aligned */
    char style;                 /* number format in the table: 'f' (default), 'g', or 'b' for bytes as "12.3 MiB" */
    double factor; /* multiplies a real in the table; 0 stands for 1, REPORT_TIME for the table's unit of time */
    int narrow;    /* preceded by one space, not two */
};

#define REPORT_TIME (-1.0)

/* Initialisers for a column; an array ends with REPORT_END.
 *
 *     {"median_s", REPORT_VALUE(result, seconds.median), REPORT_TIMES("median")}, */
#define REPORT_VALUE(row, member) \
    .kind = _Generic(((row *)0)->member,     \
                     double: REPORT_REAL,    \
                     int64_t: REPORT_WIDE,   \
                     size_t: REPORT_SIZE,    \
                     int: REPORT_INT,        \
                     const char *: REPORT_TEXT, \
                     char *: REPORT_CHARS,   \
                     char: REPORT_LETTER),   \
    .at = offsetof(row, member)
#define REPORT_TRUTH(row, member) .kind = REPORT_FLAG, .at = offsetof(row, member)
#define REPORT_INNER(row, member, columns) .kind = REPORT_OBJECT, .at = offsetof(row, member), .inner = (columns)
#define REPORT_SHOWN(head, wide, decimals) .title = (head), .width = (wide), .digits = (decimals)
#define REPORT_TIMES(head) REPORT_SHOWN(head, 9, 3), .factor = REPORT_TIME
#define REPORT_END  \
    {               \
        .key = NULL \
    }

enum { REPORT_ALL = ~0 };

/* --- JSON --------------------------------------------------------------------------------------------------------- */

/* A number, null if not finite; an integer, null if negative. */
json_t *report_real(double value);
json_t *report_integer(int64_t value);
json_t *report_reals(const double *values, int count);

/* Adds the row's columns to the object; unknown values become null. report_object makes a new object. */
void report_add(json_t *object, const report_column *columns, const void *row, unsigned present);
json_t *report_object(const report_column *columns, const void *row, unsigned present);

/* Prints the object, on one line if `compact`, else on several, and frees it. Reals have `digits` digits (0: as many as
 * needed). Returns 0 if writing failed or the object is NULL. */
int report_json(json_t *object, int compact, int digits, FILE *file);

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

/* Print the line of keys, and a row; unknown or absent values are empty. */
void report_csv_head(const report_column *columns, FILE *file);
void report_csv_row(const report_column *columns, const void *row, unsigned present, FILE *file);

/* Reads a row from a line of report_csv_row. Texts point into the line, which is modified; empty fields become NaN
 * (double), -1 (int64_t) or 0 (int). Values of type size_t, char or char[] are not set. Returns the bits (`when`) of
 * columns with a value; -1 for a wrong number of fields. */
int report_csv_read(const report_column *columns, char *line, void *row);

/* --- the table ---------------------------------------------------------------------------------------------------- */

typedef struct report_table {
    const report_column *columns;
    unsigned shown;   /* bits whose columns the table has, besides those without a bit */
    double factor;    /* time units per second */
    const char *unit; /* unit of time, below the titles of REPORT_TIME columns */
} report_table;

/* Prints a line of titles, with the note at its end if there is one, and a line of units if any column has one. */
void report_table_head(const report_table *table, const char *note, FILE *file);
/* Prints columns up to the last one that the row has, then the note if there is one. */
void report_table_row(const report_table *table, const void *row, unsigned present, const char *note, FILE *file);

/* --- units -------------------------------------------------------------------------------------------------------- */

/* Chooses s, ms or us for times of about `seconds`: returns the number of units per second; *unit: the unit's name. */
double report_time_unit(double seconds, const char **unit);
/* Prints `before`, then the time in the unit of report_time_unit, with this number of significant digits. */
void report_seconds(FILE *file, const char *before, double seconds, int digits);
/* "12.3 MiB", or "-" if negative; returns text. */
const char *report_bytes(char *text, size_t size, int64_t bytes);
/* "s", or "" for one. */
const char *report_plural(int64_t count);

/* Whether all output was written. */
int report_written(FILE *file);

#endif
