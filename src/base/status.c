#include "base/status.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The bytes of the UTF-8 character at `at`; 0 if it is not valid or a control character, except for \n and \t. */
static int width_of(const unsigned char *at)
{
    if (*at < 0x80)
        return (*at >= ' ' && *at != 127) || *at == '\n' || *at == '\t';
    int width = *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf5 ? 4 : 0;
    for (int i = 1; i < width; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return *at == 0xc2 && at[1] < 0xa0 ? 0 : width;
}

/* Messages may quote damaged files. */
static void make_printable(char *text)
{
    while (*text) {
        int width = width_of((const unsigned char *)text);
        if (!width)
            *text = '?';
        text += width ? width : 1;
    }
}

hsumma_status hs_fail(struct hs_message *message, hsumma_status status, const char *format, ...)
{
    if (message) {
        va_list args;
        va_start(args, format);
        vsnprintf(message->text, sizeof message->text, format, args);
        va_end(args);
        make_printable(message->text);
    }
    return status;
}

void hs_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

const char *hs_range_text(int64_t least, int64_t most, char *text, size_t size)
{
    if (most >= INT64_MAX)
        snprintf(text, size, "at least %" PRId64, least);
    else if (most == INT32_MAX)
        snprintf(text, size, "%" PRId64 " to 2^31 - 1", least);
    else
        snprintf(text, size, "%" PRId64 " to %" PRId64, least, most);
    return text;
}

struct hs_guess hs_guess_of(const char *word, size_t length)
{
    return (struct hs_guess){.word = word, .length = length, .far = INT_MAX};
}

static int is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b) || (a == '_' && b == '-') || (a == '-' && b == '_');
}

/* The number of letters to add, remove or change until `a` equals `b`; row has room for `n` + 1 numbers. */
static int distance(const char *a, size_t length, const char *b, size_t n, int *row)
{
    for (size_t k = 0; k <= n; k++)
        row[k] = (int)k;
    for (size_t i = 0; i < length; i++) {
        int before = row[0];
        row[0] = (int)i + 1;
        for (size_t k = 0; k < n; k++) {
            int changed = before + !is_same(a[i], b[k]), more = 1 + (row[k] < row[k + 1] ? row[k] : row[k + 1]);
            before = row[k + 1];
            row[k + 1] = changed < more ? changed : more;
        }
    }
    return row[n];
}

void hs_guess_try(struct hs_guess *guess, const char *name, size_t length)
{
    int row[sizeof guess->name];
    if (length == 0 || length >= sizeof guess->name || guess->length >= sizeof guess->name)
        return;
    int far = distance(guess->word, guess->length, name, length, row);
    if (guess->length >= 3 && guess->length < length &&
        distance(guess->word, guess->length, name, guess->length, row) == 0)
        far = 1;
    if (far > guess->far || (far == guess->far && length <= strlen(guess->name))) /* the longer name wins a tie */
        return;
    guess->far = far;
    snprintf(guess->name, sizeof guess->name, "%.*s", (int)length, name);
}

void hs_guess_among(struct hs_guess *guess, const char *names)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    for (size_t length; *(names += strcspn(names, letters)); names += length) {
        length = strspn(names, letters);
        hs_guess_try(guess, names, length);
    }
}

int hs_guess_is_near(const struct hs_guess *guess)
{
    return guess->far <= 2 && 2 * (size_t)guess->far < guess->length && strlen(guess->name) > 1;
}

const char *hs_guess_text(const struct hs_guess *guess, const char *before, char *text, size_t size)
{
    text[0] = 0;
    if (hs_guess_is_near(guess))
        snprintf(text, size, "; did you mean %s%s?", before, guess->name);
    return text;
}

const char *hsumma_status_string(hsumma_status status)
{
    static const char *const names[] = {
        [HSUMMA_OK] = "success",
        [HSUMMA_ERR_ARGUMENT] = "invalid argument",
        [HSUMMA_ERR_OPTION] = "invalid option",
        [HSUMMA_ERR_UNSUPPORTED] = "not supported",
        [HSUMMA_ERR_MEMORY] = "out of memory",
        [HSUMMA_ERR_WORKSPACE] = "workspace limit exceeded",
        [HSUMMA_ERR_BUSY] = "another plan is running",
        [HSUMMA_ERR_MPI] = "MPI error",
        [HSUMMA_ERR_INTERNAL] = "internal error",
        [HSUMMA_ERR_DEVICE] = "device error",
        [HSUMMA_ERR_PEER] = "another process has ended",
        [HSUMMA_ERR_DATA] = "wrong result",
    };
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}
