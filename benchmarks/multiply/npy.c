#include "multiply/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/command.h"

/* A 2-D array's header needs some 120 bytes. It may be padded, but one longer than this is damaged or malicious. */
enum { LONGEST_HEADER = 1 << 20, WORD = 64 };

int npy_fail(npy_error *error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return -1;
}

/* --- the dictionary ---------------------------------------------------------------------------------------------- */

typedef struct scanner {
    const char *at, *end;
    npy_error *error;
} scanner;

/* Skips white space and returns the next character, 0 at the end. */
static int peek(scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r'))
        s->at++;
    return s->at < s->end ? (unsigned char)*s->at : 0;
}

/* Consumes the next character if it is c. */
static int take(scanner *s, char c)
{
    if (peek(s) != c)
        return 0;
    s->at++;
    return 1;
}

static int expect(scanner *s, char c)
{
    return take(s, c) ? 0 : npy_fail(s->error, "damaged .npy header: '%c' is missing", c);
}

/* Scans a quoted string; valid headers have no escapes in it. */
static int scan_string(scanner *s, char word[WORD])
{
    int quote = peek(s), length = 0;

    if (quote != '\'' && quote != '"')
        return npy_fail(s->error, "damaged .npy header: a quoted string is missing");
    for (s->at++; s->at < s->end && *s->at != quote; s->at++) {
        if (length == WORD - 1 || *s->at == '\\' || *s->at == '\n')
            return npy_fail(s->error,
                            "damaged .npy header: a quoted string is too long or contains '\\' or a line break");
        word[length++] = *s->at;
    }
    if (s->at == s->end)
        return npy_fail(s->error, "damaged .npy header: a quoted string is not closed");
    s->at++;
    word[length] = 0;
    return 0;
}

static int scan_truth(scanner *s, int *truth)
{
    static const char *const words[] = {"False", "True"};

    peek(s);
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= length && !memcmp(s->at, words[i], length)) {
            s->at += length;
            *truth = i;
            return 0;
        }
    }
    return npy_fail(s->error, "damaged .npy header: 'fortran_order' is neither True nor False");
}

static int scan_size(scanner *s, int64_t *size)
{
    int64_t value = 0;
    int c = peek(s);

    if (c == '-')
        return npy_fail(s->error, "damaged .npy header: a negative number in the shape");
    if (c < '0' || c > '9')
        return npy_fail(s->error, "damaged .npy header: the shape is not a tuple of numbers");
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        int digit = *s->at - '0';
        if (value > (INT64_MAX - digit) / 10)
            return npy_fail(s->error, "damaged .npy header: a number in the shape does not fit 64 bits");
        value = 10 * value + digit;
    }
    if (s->at < s->end && *s->at == 'L') /* written by Python 2 */
        s->at++;
    *size = value;
    return 0;
}

/* Scans "(3, 4)"; further dimensions are counted for the message. */
static int scan_shape(scanner *s, npy_header *header)
{
    int64_t size[2] = {0, 0}, other;
    int count = 0;

    if (expect(s, '('))
        return -1;
    while (!take(s, ')')) {
        if (scan_size(s, count < 2 ? &size[count] : &other))
            return -1;
        count++;
        if (!take(s, ',') && (peek(s) != ')' || count == 1)) /* (3) is not a tuple */
            return npy_fail(s->error, "damaged .npy header: the shape is not a tuple of numbers");
    }
    if (count != 2)
        return npy_fail(s->error,
                        "the array has %d dimension%s; expected 2: save it as a matrix, e.g. a.reshape(-1, 1)", count,
                        count == 1 ? "" : "s");
    header->rows = size[0];
    header->cols = size[1];
    return 0;
}

/* --- the type --------------------------------------------------------------------------------------------------- */

#define SUPPORTED "expected float32, float64, complex64 or complex128: convert it, e.g. a.astype('float64')"

/* Translates a type code such as "i8" to NumPy's name, for messages. */
static void name_type(const char *code, char *name, size_t size)
{
    static const struct {
        char kind;
        const char *name;
    } kinds[] = {{'i', "int"}, {'u', "uint"}, {'f', "float"}, {'c', "complex"}};
    char *end = NULL;
    long bytes = code[0] ? strtol(code + 1, &end, 10) : 0;

    snprintf(name, size, "the type %s", code);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == code[0] && bytes > 0 && bytes <= 64 && !*end)
            snprintf(name, size, "%s%ld", kinds[i].name, 8 * bytes);
    if (!strcmp(code, "b1"))
        snprintf(name, size, "bool");
}

static int read_type(const char *word, npy_header *header, npy_error *error)
{
    static const char *const codes[] = {"f4", "f8", "c8", "c16"}; /* in the order of hsumma_type */
    const char *code = word + (strchr("<>=|", word[0]) && word[0]);
    char name[WORD + 16];

    if (code[0] == 'O')
        return npy_fail(error, "object data (Python objects, '%s'); " SUPPORTED, word);
    for (int i = 0; i < 4; i++)
        if (!strcmp(code, codes[i])) {
            /* '=' is native byte order and '|' none: both are read as little-endian, this machine's order */
            if (word[0] == '>')
                return npy_fail(error, "big-endian data ('%s'); expected little-endian: save it with a.astype('<f8')",
                                word);
            header->type = (hsumma_type)i;
            return 0;
        }
    if (code == word && strlen(word) > 1 && parse_type(word, &header->type)) /* a type name, which NumPy accepts too */
        return 0;
    name_type(code, name, sizeof name);
    return npy_fail(error, "%s data ('%s'); " SUPPORTED, name, word);
}

static int scan_type(scanner *s, npy_header *header)
{
    char word[WORD];
    int c = peek(s);

    if (c == '[' || c == '(')
        return npy_fail(s->error, "structured data (records); " SUPPORTED);
    return scan_string(s, word) ? -1 : read_type(word, header, s->error);
}

/* --- the header -------------------------------------------------------------------------------------------------- */

static int scan_entry(scanner *s, npy_header *header, unsigned *seen)
{
    char word[WORD];
    int key;

    if (scan_string(s, word) || expect(s, ':'))
        return -1;
    key = parse_word("descr|fortran_order|shape", word, strlen(word));
    if (key < 0)
        return npy_fail(s->error, "damaged .npy header: unknown key '%s'", word);
    if (*seen & 1u << key)
        return npy_fail(s->error, "damaged .npy header: the key '%s' occurs twice", word);
    *seen |= 1u << key;
    return key == 0 ? scan_type(s, header) : key == 1 ? scan_truth(s, &header->fortran) : scan_shape(s, header);
}

static int scan_dictionary(scanner *s, npy_header *header)
{
    unsigned seen = 0;

    if (expect(s, '{'))
        return -1;
    while (!take(s, '}')) {
        if (scan_entry(s, header, &seen))
            return -1;
        if (!take(s, ',') && peek(s) != '}')
            return npy_fail(s->error, "damaged .npy header: ',' or '}' is missing in the dictionary");
    }
    if (seen != 7)
        return npy_fail(s->error, "damaged .npy header: '%s' is missing",
                        !(seen & 1)   ? "descr"
                        : !(seen & 2) ? "fortran_order"
                                      : "shape");
    peek(s);
    return s->at == s->end ? 0 : npy_fail(s->error, "damaged .npy header: text after the dictionary");
}

int64_t npy_header_size(const unsigned char *bytes, size_t size, npy_error *error)
{
    int64_t length, start;

    if (size < 6 || memcmp(bytes, "\x93NUMPY", 6))
        return npy_fail(error, "not a .npy file; numpy.save writes one");
    if (size < 10 || (bytes[6] > 1 && size < NPY_PREFIX))
        return npy_fail(error, "cut short: %zu bytes are shorter than any header", size);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return npy_fail(error,
                        "version %d.%d of the .npy format; expected 1.0, 2.0 or 3.0: save it again with numpy.save",
                        bytes[6], bytes[7]);
    start = bytes[6] == 1 ? 10 : 12;
    length = bytes[8] | bytes[9] << 8;
    if (start == 12)
        length |= (int64_t)bytes[10] << 16 | (int64_t)bytes[11] << 24;
    if (length > LONGEST_HEADER)
        return npy_fail(error, "damaged .npy header: its length is %" PRId64 " bytes", length);
    return start + length;
}

int npy_parse(const unsigned char *bytes, size_t size, npy_header *header, npy_error *error)
{
    int64_t whole = npy_header_size(bytes, size, error), elements, most;
    npy_header found = {.type = HSUMMA_D};
    scanner s = {.error = error};

    if (whole < 0)
        return -1;
    if ((int64_t)size < whole)
        return npy_fail(error, "cut short: %zu bytes of a header of %" PRId64, size, whole);
    s.at = (const char *)bytes + (bytes[6] == 1 ? 10 : 12);
    s.end = (const char *)bytes + whole;
    if (scan_dictionary(&s, &found))
        return -1;
    found.data = whole;
    most = (INT64_MAX - whole) / (int64_t)type_size(found.type);
    if (__builtin_mul_overflow(found.rows, found.cols, &elements) || elements > most)
        return npy_fail(error,
                        "damaged .npy header: the shape (%" PRId64 ", %" PRId64 ") has more bytes than a file can have",
                        found.rows, found.cols);
    *header = found;
    return 0;
}

size_t npy_format(npy_header *header, unsigned char bytes[NPY_WRITTEN])
{
    static const char *const descr[] = {"<f4", "<f8", "<c8", "<c16"};
    char text[NPY_WRITTEN];
    size_t length, whole;

    length = (size_t)snprintf(text, sizeof text,
                              "{'descr': '%s', 'fortran_order': %s, 'shape': (%" PRId64 ", %" PRId64 "), }",
                              descr[header->type], header->fortran ? "True" : "False", header->rows, header->cols);
    whole = (10 + length + 1 + 63) / 64 * 64;
    memset(bytes, ' ', whole);
    memcpy(bytes, "\x93NUMPY\x01", 8); /* the string's terminating zero is the minor version */
    bytes[8] = (unsigned char)((whole - 10) & 255);
    bytes[9] = (unsigned char)((whole - 10) >> 8);
    memcpy(bytes + 10, text, length);
    bytes[whole - 1] = '\n';
    header->data = (int64_t)whole;
    return whole;
}

int64_t npy_data_size(const npy_header *header)
{
    return header->rows * header->cols * (int64_t)type_size(header->type);
}

int npy_check_size(const npy_header *header, int64_t file_size, npy_error *error)
{
    int64_t wanted = header->data + npy_data_size(header);

    if (file_size < wanted)
        return npy_fail(error, "cut short: %" PRId64 " bytes, its header announces %" PRId64 "; copy or save it again",
                        file_size, wanted);
    if (file_size > wanted)
        return npy_fail(error, "too long: %" PRId64 " bytes, its header announces %" PRId64 "; copy or save it again",
                        file_size, wanted);
    return 0;
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

/* Reads up to `size` bytes from the start of the file; returns the number read, or -1 on error. */
static ssize_t read_start(int file, unsigned char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pread(file, bytes + done, size - done, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int read_open_header(int file, npy_header *header, npy_error *error)
{
    unsigned char prefix[NPY_PREFIX], *bytes;
    struct stat status;
    ssize_t got;
    int64_t whole;
    int result;

    if (fstat(file, &status))
        return npy_fail(error, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return npy_fail(error, S_ISDIR(status.st_mode) ? "is a directory" : "not a regular file");
    got = read_start(file, prefix, sizeof prefix);
    if (got < 0)
        return npy_fail(error, "%s", strerror(errno));
    whole = npy_header_size(prefix, (size_t)got, error);
    if (whole < 0)
        return -1;
    bytes = malloc((size_t)whole);
    if (!bytes)
        return npy_fail(error, "no memory for a header of %" PRId64 " bytes", whole);
    got = read_start(file, bytes, (size_t)whole);
    result = got < 0 ? npy_fail(error, "%s", strerror(errno)) : npy_parse(bytes, (size_t)got, header, error);
    free(bytes);
    return result ? result : npy_check_size(header, status.st_size, error);
}

int npy_read_header(const char *path, npy_header *header, npy_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result; /* opening a pipe must not wait for its writer */

    if (file < 0)
        return npy_fail(error, "%s", strerror(errno));
    result = read_open_header(file, header, error);
    close(file);
    return result;
}
