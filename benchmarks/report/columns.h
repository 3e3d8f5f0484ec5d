/* Rows as a table for people, as CSV, or as JSON.  A column says once, as data, what it is called in each form, where
 * its value lies in the structure that is a row, and how it is printed; the three forms follow from that. */
#ifndef HS_BENCHMARKS_REPORT_COLUMNS_H
#define HS_BENCHMARKS_REPORT_COLUMNS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum report_kind {
    REPORT_REAL,   /* double; unknown unless finite */
    REPORT_WIDE,   /* int64_t; unknown if negative */
    REPORT_SIZE,   /* size_t */
    REPORT_INT,    /* int */
    REPORT_FLAG,   /* int: true or false */
    REPORT_TEXT,   /* const char *; unknown if NULL */
    REPORT_CHARS,  /* char[] */
    REPORT_LETTER, /* char */
    REPORT_OBJECT, /* a structure with columns of its own, in JSON alone */
} report_kind;

typedef struct report_column report_column;
struct report_column {
    const char *key; /* in CSV and JSON; NULL: in the table alone */
    report_kind kind;
    size_t at;                  /* where the value lies in the row */
    const report_column *inner; /* of an object */
    unsigned when;              /* present only in rows that have this bit; 0: in all */
    const char *title, *unit;   /* first and second line of the table's head; title NULL: not in the table */
    int width, digits;          /* in the table; a negative width: flush left */
    char style;                 /* of a number in the table: 'f' (0, too), 'g', 'b' for bytes as "12.3 MiB" */
    double factor;              /* of a number in the table; 0: 1, REPORT_TIME: that of the table's unit of time */
    int narrow;                 /* one space before it, not two */
};

#define REPORT_TIME (-1.0)

/* Initialisers of a column's fields; an array ends with REPORT_END.
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

/* A number, or null where it is not finite; an integer, or null where it is negative. */
json_t *report_real(double value);
json_t *report_integer(int64_t value);
json_t *report_reals(const double *values, int count);

/* Adds the columns that the row has to the object; unknown values are null.  The second makes a new object. */
void report_add(json_t *object, const report_column *columns, const void *row, unsigned present);
json_t *report_object(const report_column *columns, const void *row, unsigned present);

/* Prints the object and frees it, in lines or (compact) in one, numbers with so many digits (0: as many as it takes).
 * Returns 0 if writing failed. */
int report_json(json_t *object, int compact, int digits, FILE *file);

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

/* The line of keys, and a row; what is unknown or not present is empty. */
void report_csv_head(const report_column *columns, FILE *file);
void report_csv_row(const report_column *columns, const void *row, unsigned present, FILE *file);

/* Reads a row from a line that report_csv_row has printed; texts then lie in the line, which is cut, and unknown
 * numbers are NaN or -1.  Returns the groups (`when`) of which the line has a value; -1 if it has another number of
 * fields. */
int report_csv_read(const report_column *columns, char *line, void *row);

/* --- the table ---------------------------------------------------------------------------------------------------- */

typedef struct report_table {
    const report_column *columns;
    unsigned shown;    /* the table has the columns of these bits, and those of none */
    double factor;     /* of times: units in a second */
    const char *unit;  /* its name, in place of a unit "s" */
    const char *blank; /* for what is unknown; NULL: "-" */
} report_table;

/* A line of titles, with the note at its end, if there is one; and a line of units, if any column has one. */
void report_table_head(const report_table *table, const char *note, FILE *file);
/* Columns up to the last one that the row has, then the note, if there is one. */
void report_table_row(const report_table *table, const void *row, unsigned present, const char *note, FILE *file);

/* --- units -------------------------------------------------------------------------------------------------------- */

/* "0.123" for the unit that suits the size: the factor from seconds, its name in *unit. */
double report_time_unit(double seconds, const char **unit);
/* "12.3 MiB", or "-" if negative; returns text. */
const char *report_bytes(char *text, size_t size, int64_t bytes);
/* "s", or nothing if there is one. */
const char *report_plural(int64_t count);

/* Whether everything has been written. */
int report_written(FILE *file);

#endif
