/* The profile's file format: one table of its fields, for reading and writing. */
#include "hsumma/cost/profile.h"

#include "base/plain_numbers.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, SHOWN = 80 };

#define AT(member) offsetof(struct hs_profile, member)
#define TIME(name, member)                   \
    {                                        \
        name, AT(member), FIELD_REAL, 0, 1e6 \
    }
#define LINK(name, link) TIME(name ".alpha_s", link.alpha), TIME(name ".beta_s_per_byte", link.beta)
/* A line NAME.eager_bytes requires the two lines with the costs of longer messages. */
#define MESSAGES(name, link)                                                 \
    LINK(name, link), TIME(name ".gap_s", link.gap),                         \
        {name ".eager_bytes", AT(link.eager), FIELD_WITH_NEXT_TWO, 0, 1e18}, \
        TIME(name ".rendezvous_alpha_s", link.alpha_long), TIME(name ".rendezvous_beta_s_per_byte", link.beta_long)
#define GEMM(name, cost)                                                                                             \
    {name ".flop_s", AT(cost.flop), FIELD_REAL, 1e-30, 1e6}, TIME(name ".c_s", cost.c), TIME(name ".ab_s", cost.ab), \
        TIME(name ".call_s", cost.call)

static const struct profile_field {
    const char *name;
    size_t offset;
    enum {
        FIELD_REAL,
        FIELD_WHOLE,
        FIELD_WITH_NEXT_TWO,
        FIELD_INT
    } kind; /* REAL: double; WHOLE: int64_t; WITH_NEXT_TWO: int64_t that requires the next two rows; INT: int */
    double least, most;
} table[] = {
    MESSAGES("network", machine.network),
    TIME("network.overhead_s", machine.overhead),
    MESSAGES("node", machine.node),
    MESSAGES("socket", machine.socket),
    TIME("exchange.alpha_s", exchange_alpha),
    TIME("inject_s_per_byte", machine.inject),
    LINK("shm", machine.shm),
    LINK("read", machine.read),
    LINK("offload", machine.offload),
    TIME("signal_s", machine.signal),
    TIME("copy_s_per_byte", machine.copy),
    TIME("gamma_s_per_byte", machine.gamma),
    {"ports", AT(machine.ports), FIELD_INT, 0, 4096},
    LINK("device.network", device_machine.network),
    LINK("device.node", device_machine.node),
    LINK("device.shm", device_machine.shm),
    TIME("device.inject_s_per_byte", device_machine.inject),
    TIME("device.signal_s", device_machine.signal),
    TIME("device.turn_s", device_machine.turn),
    TIME("device.copy_s_per_byte", device_machine.copy),
    TIME("device.gamma_s_per_byte", device_machine.gamma),
    {"overlap", AT(overlap), FIELD_REAL, 0, 1},
    {"pipelining", AT(pipelining), FIELD_REAL, 0, 1},
    GEMM("gemm.double", gemm[0]),
    GEMM("gemm.single", gemm[1]),
    {"gemm.threads", AT(threads), FIELD_INT, 1, 4096},
    {"gemm.knee", AT(knee), FIELD_WHOLE, 1, 2147483647},
    {"gemm.slice", AT(slice), FIELD_WHOLE, 1, 1e18},
};
enum { PROFILE_FIELDS = sizeof table / sizeof *table };

/* A substring. */
struct text_part {
    const char *text;
    size_t length;
};

struct profile_reading {
    const char *rest;         /* the text that has not been read yet */
    struct text_part line;    /* the current line without its comment and without blanks at its ends */
    int number;               /* number of the current line */
    int said[PROFILE_FIELDS]; /* number of the line that gave each field; 0 if none has */
    int said_host;            /* number of the line that gave the host; 0 if none has */
    const char *host;
    struct hs_profile profile;
    struct hs_message *message;
};

static const char blanks[] = " \t\r";

__attribute__((format(printf, 2, 3))) static hsumma_status refuse(const struct profile_reading *reading,
                                                                  const char *format, ...)
{
    char expected[320];
    va_list args;
    va_start(args, format);
    vsnprintf(expected, sizeof expected, format, args);
    va_end(args);
    size_t length = reading->line.length;
    return hs_fail(reading->message, HSUMMA_ERR_OPTION, "line %d, \"%.*s\": %s", reading->number,
                   (int)(length < SHOWN ? length : SHOWN), reading->line.text, expected);
}

static int is(struct text_part part, const char *text)
{
    return strlen(text) == part.length && memcmp(part.text, text, part.length) == 0;
}

static int begins(struct text_part part, const char *text)
{
    return part.length > strlen(text) && memcmp(part.text, text, strlen(text)) == 0;
}

/* Reads the next line.  A line without a newline is refused, because it may have been truncated in a number. */
static hsumma_status next_line(struct profile_reading *reading)
{
    const char *text = reading->rest;
    size_t whole = strcspn(text, "\n"), length = strcspn(text, "#\n");
    while (length && strchr(blanks, text[length - 1]))
        length--;
    size_t blank = strspn(text, blanks);
    blank = blank < length ? blank : length;
    reading->line = (struct text_part){text + blank, length - blank};
    reading->number++;
    if (!text[whole])
        return refuse(reading, "the file ends here; expected \"end\" as the last line (truncated?); write a new "
                               "file with hsumma calibrate");
    reading->rest = text + whole + 1;
    return HSUMMA_OK;
}

static hsumma_status read_head(struct profile_reading *reading)
{
    static const char head[] = "hsumma profile ", *order[] = {"older", "later"};
    char expected[32];
    snprintf(expected, sizeof expected, "%s%d", head, VERSION);
    if (is(reading->line, expected))
        return HSUMMA_OK;
    size_t digits = begins(reading->line, head) ? reading->line.length - (sizeof head - 1) : 0;
    const char *version = digits ? reading->line.text + sizeof head - 1 : "";
    long number = digits && strspn(version, "0123456789") == digits ? strtol(version, NULL, 10) : VERSION;
    if (number == VERSION)
        return refuse(reading, "expected \"%s\"", expected);
    return refuse(reading, "a version %s than this library's; expected \"%s\": run hsumma calibrate",
                  order[number > VERSION], expected);
}

/* Reads the value of a field into the profile.  Returns 0, or -1 if the value is not a number or out of range. */
static int read_number(const struct profile_field *row, struct text_part value, struct hs_profile *profile)
{
    char text[64], *end, *at = (char *)profile + row->offset;
    if (value.length == 0 || value.length >= sizeof text)
        return -1;
    memcpy(text, value.text, value.length);
    text[value.length] = 0;
    if (strspn(text, row->kind == FIELD_REAL ? "+-.eE0123456789" : "0123456789") != value.length)
        return -1;
    double real = strtod(text, &end);
    if (*end || !(real >= row->least && real <= row->most))
        return -1;
    if (row->kind == FIELD_REAL)
        *(double *)at = real;
    else if (row->kind == FIELD_INT)
        *(int *)at = (int)real;
    else
        *(int64_t *)at = strtoll(text, NULL, 10);
    return 0;
}

static hsumma_status read_host(struct profile_reading *reading, struct text_part value)
{
    if (reading->said_host)
        return refuse(reading, "already given on line %d", reading->said_host);
    reading->said_host = reading->number;
    if (reading->host && !is(value, reading->host))
        return refuse(reading, "measured on another machine; expected \"%s\": run hsumma calibrate", reading->host);
    return HSUMMA_OK;
}

static hsumma_status read_line(struct profile_reading *reading)
{
    struct text_part name = reading->line, value = name;
    name.length = 0;
    while (name.length < value.length && !strchr(blanks, name.text[name.length]))
        name.length++;
    value.text += name.length;
    value.length -= name.length;
    for (; value.length && strchr(blanks, *value.text); value.length--)
        value.text++;
    if (value.length == 0)
        return refuse(reading, "expected NAME VALUE");
    if (begins(name, "measured.")) /* for human readers only */
        return HSUMMA_OK;
    if (is(name, "host"))
        return read_host(reading, value);
    for (int i = 0; i < PROFILE_FIELDS; i++) {
        const struct profile_field *row = &table[i];
        if (!is(name, row->name))
            continue;
        if (reading->said[i])
            return refuse(reading, "already given on line %d", reading->said[i]);
        reading->said[i] = reading->number;
        return read_number(row, value, &reading->profile)
                   ? refuse(reading, "expected a %snumber from %.10g to %.10g", row->kind == FIELD_REAL ? "" : "whole ",
                            row->least, row->most)
                   : HSUMMA_OK;
    }
    struct hs_guess guess = hs_guess_of(name.text, name.length);
    char meant[80];
    for (int i = 0; i < PROFILE_FIELDS; i++)
        hs_guess_try(&guess, table[i].name, strlen(table[i].name));
    return refuse(reading, "unknown name in version %d; expected one that hsumma calibrate writes%s", VERSION,
                  hs_guess_text(&guess, "", meant, sizeof meant));
}

static hsumma_status read_end(struct profile_reading *reading)
{
    for (int i = 0; i < PROFILE_FIELDS; i++)
        for (int j = 1; table[i].kind == FIELD_WITH_NEXT_TWO && reading->said[i] && j < 3; j++)
            if (!reading->said[i + j])
                return refuse(reading, "%s is missing; line %d with %s requires it", table[i + j].name,
                              reading->said[i], table[i].name);
    if (!*reading->rest)
        return HSUMMA_OK;
    reading->number++;
    reading->line = (struct text_part){reading->rest, strcspn(reading->rest, "\r\n")};
    return refuse(reading, "expected nothing after the line \"end\"");
}

static hsumma_status read_all(struct profile_reading *reading)
{
    hsumma_status status = next_line(reading);
    if (!status)
        status = read_head(reading);
    while (!status) {
        status = next_line(reading);
        if (!status && is(reading->line, "end"))
            return read_end(reading);
        if (!status && reading->line.length)
            status = read_line(reading);
    }
    return status;
}

hsumma_status hs_profile_read(const char *text, const char *host, struct hs_profile *profile,
                              struct hs_message *message)
{
    struct profile_reading reading = {.rest = text, .host = host, .profile = hs_profile_builtin, .message = message};
    struct hs_plain_numbers numbers = hs_plain_numbers_begin();
    hsumma_status status = read_all(&reading);
    hs_plain_numbers_end(numbers);
    if (status)
        return status;
    reading.profile.one_node = profile->one_node;
    memcpy(reading.profile.source, profile->source, sizeof profile->source);
    *profile = reading.profile;
    return HSUMMA_OK;
}

struct writing {
    char *text;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void add(struct writing *writing, const char *format, ...)
{
    size_t left = writing->length < writing->size ? writing->size - writing->length : 0;
    va_list args;
    va_start(args, format);
    int more = vsnprintf(left ? writing->text + writing->length : NULL, left, format, args);
    va_end(args);
    writing->length += more > 0 ? (size_t)more : 0;
}

/* Writes the fewest digits that read back as the same value. */
static void add_real(struct writing *writing, double value)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    add(writing, "%s", text);
}

int hs_profile_write(const struct hs_profile *profile, const char *host, char *text, size_t size)
{
    struct writing writing = {.text = text, .size = size};
    struct hs_plain_numbers numbers = hs_plain_numbers_begin();
    add(&writing, "hsumma profile %d\n", VERSION);
    if (host && *host)
        add(&writing, "host %s\n", host);
    for (int i = 0; i < PROFILE_FIELDS; i++) {
        const char *at = (const char *)profile + table[i].offset;
        add(&writing, "%s ", table[i].name);
        if (table[i].kind == FIELD_REAL)
            add_real(&writing, *(const double *)at);
        else
            add(&writing, "%lld", table[i].kind == FIELD_INT ? *(const int *)at : (long long)*(const int64_t *)at);
        add(&writing, "\n");
    }
    add(&writing, "end\n");
    hs_plain_numbers_end(numbers);
    return (int)writing.length;
}
