/* The header of .npy files, valid and malicious ones, and output files, which appear only when they are complete. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "multiply/npy.h"
#include "multiply/npy_io.h"
#include "report/output.h"
#include "support/tap.h"

#define F8 "'descr': '<f8'"
#define BY_ROWS "'fortran_order': False"
#define SHAPE "'shape': (3, 4)"

typedef struct bytes {
    unsigned char *data; /* exactly `size` heap bytes, so that a sanitizer detects reads beyond them */
    size_t size;
} bytes;

/* A header whose length field is `length`, or right if `length` is negative. */
static bytes header_bytes(int version, const char *text, long length)
{
    size_t start = version == 1 ? 10 : 12, written = strlen(text);
    bytes b = {malloc(start + written), start + written};

    if (length < 0)
        length = (long)written;
    memcpy(b.data, "\x93NUMPY", 6);
    b.data[6] = (unsigned char)version;
    b.data[7] = 0;
    for (size_t i = 8; i < start; i++)
        b.data[i] = (unsigned char)((unsigned long)length >> 8 * (i - 8));
    memcpy(b.data + start, text, written);
    return b;
}

static void good(const char *text, int version, hsumma_type type, int fortran, int64_t rows, int64_t cols)
{
    bytes b = header_bytes(version, text, -1);
    npy_error error = {""};
    npy_header h;
    int bad = npy_parse(b.data, b.size, &h, &error);

    if (!tap_ok(!bad && h.type == type && h.fortran == fortran && h.rows == rows && h.cols == cols &&
                    h.data == (int64_t)b.size,
                "version %d reads %.80s", version, text))
        tap_diag("%s", bad ? error.text : "another type, order, shape or length");
    free(b.data);
}

static void test_good(void)
{
    good("{" F8 ", " BY_ROWS ", " SHAPE ", }", 1, HSUMMA_D, 0, 3, 4);
    good("{" F8 ", " BY_ROWS ", " SHAPE ", }             \n", 2, HSUMMA_D, 0, 3, 4);
    good(" {\n" SHAPE ",\t'fortran_order':True ,\"descr\" :\"=c8\"}\n", 3, HSUMMA_C, 1, 3, 4);
    good("{'shape':(0,7,),'descr':'|c16','fortran_order':False}", 1, HSUMMA_Z, 0, 0, 7);
    good("{'shape': (3L, 4L), 'descr': 'f4', 'fortran_order': True}", 1, HSUMMA_S, 1, 3, 4);
    good("{'shape': (9223372036854775807, 0), 'descr': 'float32', 'fortran_order': True}", 1, HSUMMA_S, 1, INT64_MAX,
         0);
}

/* Tests that a header is refused with a message that contains `part`. */
static void bad_bytes(bytes b, const char *part, const char *name)
{
    npy_error error = {""};
    npy_header h;
    int bad = npy_parse(b.data, b.size, &h, &error);

    if (!tap_ok(bad && strstr(error.text, part), "refused (%s): %.80s", part, name))
        tap_diag("%s", bad ? error.text : "it was read");
    free(b.data);
}

static void bad(const char *text, const char *part)
{
    bad_bytes(header_bytes(1, text, -1), part, text);
}

static void test_bad_text(void)
{
    bad("", "'{' is missing");
    bad("{" F8 ", " BY_ROWS ", " SHAPE, "',' or '}'");
    bad("{" F8 ", " BY_ROWS " " SHAPE "}", "',' or '}'");
    bad("{" F8 ", " BY_ROWS "}", "'shape' is missing");
    bad("{" BY_ROWS ", " SHAPE "}", "'descr' is missing");
    bad("{" F8 ", " SHAPE "}", "'fortran_order' is missing");
    bad("{}", "is missing");
    bad("{" F8 ", " F8 ", " BY_ROWS ", " SHAPE "}", "occurs twice");
    bad("{" F8 ", " BY_ROWS ", " SHAPE ", 'more': 1}", "unknown key 'more'");
    bad("{" F8 ", " BY_ROWS ", " SHAPE "} x", "text after");
    bad("{" F8 " " BY_ROWS, "',' or '}'");
    bad("{'descr", "is not closed");
    bad("{'descr': '<f8", "is not closed");
    bad("{'descr': '<f8\\x00'}", "too long or contains");
    bad("{'descr': '0123456789012345678901234567890123456789012345678901234567890123456789'}", "too long");
    bad("{descr: '<f8'}", "a quoted string is missing");
    bad("{'fortran_order': 0}", "neither True nor False");
    bad("{'fortran_order': Tru", "neither True nor False");
}

static void test_bad_shapes(void)
{
    bad("{'shape': (-3, 4)}", "negative");
    bad("{'shape': (3, -4)}", "negative");
    bad("{'shape': (9223372036854775808, 1)}", "does not fit 64 bits");
    bad("{'shape': (1, 99999999999999999999999999)}", "does not fit 64 bits");
    bad("{" F8 ", " BY_ROWS ", 'shape': (4294967296, 4294967296)}", "more bytes than");
    bad("{" F8 ", " BY_ROWS ", 'shape': (1152921504606846976, 1)}", "more bytes than");
    bad("{'shape': ()}", "0 dimensions");
    bad("{'shape': (3,)}", "1 dimension;");
    bad("{'shape': (3, 4, 5)}", "3 dimensions");
    bad("{'shape': (3)}", "not a tuple");
    bad("{'shape': 3}", "'(' is missing");
    bad("{'shape': [3, 4]}", "'(' is missing");
    bad("{'shape': (3.5, 4)}", "not a tuple");
    bad("{'shape': (, )}", "not a tuple");
    bad("{'shape': (3, 4", "not a tuple");
}

static void test_bad_types(void)
{
    bad("{'descr': '>f8'}", "big-endian data ('>f8')");
    bad("{'descr': '>c16'}", "big-endian");
    bad("{'descr': '|O'}", "object");
    bad("{'descr': 'O'}", "object");
    bad("{'descr': '<i8'}", "int64");
    bad("{'descr': '<f2'}", "float16");
    bad("{'descr': '<f16'}", "float128");
    bad("{'descr': '|b1'}", "bool");
    bad("{'descr': '<U5'}", "U5");
    bad("{'descr': ''}", "expected float32");
    bad("{'descr': '<'}", "expected float32");
    bad("{'descr': [('x', '<f8'), ('y', '<i4')]}", "structured");
    bad("{'descr': ('<f8', (2,))}", "structured");
    bad("{'descr': None}", "a quoted string is missing");
}

static void test_bad_lengths(void)
{
    static const char text[] = "{" F8 ", " BY_ROWS ", " SHAPE "}";
    bytes b;

    bad_bytes(header_bytes(1, text, 65535), "cut short", "a length of 65535");
    bad_bytes(header_bytes(2, text, 0xffffffffL), "length is 4294967295", "a length of 2^32-1");
    bad_bytes(header_bytes(3, text, 0x7fffffffL), "length is 2147483647", "a length of 2^31-1");
    bad_bytes(header_bytes(1, text, 10), "damaged", "a length in the middle of a word");
    bad_bytes(header_bytes(1, text, 0), "'{' is missing", "a length of 0");
    bad_bytes(header_bytes(4, text, -1), "version 4.0", "version 4");
    bad_bytes(header_bytes(0, text, -1), "version 0.0", "version 0");
    b = header_bytes(1, text, -1);
    b.data[7] = 1;
    bad_bytes(b, "version 1.1", "version 1.1");
    b = header_bytes(1, text, -1);
    b.data[0] = 'N';
    bad_bytes(b, "not a .npy file", "another first byte");
    for (size_t size = 0; size <= 11; size++) {
        b = header_bytes(2, text, -1);
        b.data = realloc(b.data, size ? size : 1);
        b.size = size;
        bad_bytes(b, size < 6 ? "not a .npy file" : "cut short", "the first bytes only");
    }
}

/* Every header with one byte changed, or truncated anywhere, is read or refused without accesses beyond its bytes. */
static void test_damage(void)
{
    static const char text[] = " {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n";
    npy_error error;
    npy_header h;
    int read = 0, refused = 0;

    for (size_t i = 0; i < 10 + strlen(text); i++)
        for (int c = 0; c < 256; c++) {
            bytes b = header_bytes(1, text, -1);
            b.data[i] = (unsigned char)c;
            *(npy_parse(b.data, b.size, &h, &error) ? &refused : &read) += 1;
            free(b.data);
        }
    for (size_t i = 0; i < strlen(text); i++) {
        char *part = strndup(text, i);
        bytes b = header_bytes(1, part, -1);
        refused += npy_parse(b.data, b.size, &h, &error) != 0;
        free(b.data);
        free(part);
    }
    tap_ok(read > 0 && refused > 10000, "damaged anywhere: %d headers read, %d refused", read, refused);
}

static void test_format(void)
{
    unsigned char text[NPY_WRITTEN];
    npy_error error = {""};
    int right = 1;

    for (int type = HSUMMA_S; type <= HSUMMA_Z; type++)
        for (int fortran = 0; fortran < 2; fortran++) {
            npy_header h = {(hsumma_type)type, fortran, INT64_MAX / 16 / 7 - 100, 7, 0}, back;
            size_t size = npy_format(&h, text);
            right = right && size % 64 == 0 && (int64_t)size == h.data && text[size - 1] == '\n' &&
                    !npy_parse(text, size, &back, &error) && !memcmp(&back, &h, sizeof h);
        }
    tap_ok(right, "what is written is read back, for all types and orders: %s", error.text);
}

static void test_sizes(void)
{
    npy_header h = {HSUMMA_Z, 0, 3, 4, 128};
    npy_error error;

    tap_ok(!npy_check_size(&h, 128 + 192, &error), "a file of the right size");
    tap_ok(npy_check_size(&h, 128 + 191, &error) && strstr(error.text, "cut short: 319") && strstr(error.text, "320"),
           "a file that is cut short, with both numbers");
    tap_ok(npy_check_size(&h, 128 + 193, &error) && strstr(error.text, "too long"), "a file that is too long");
}

/* Output files. */

static int exists(const char *path)
{
    struct stat status;

    return !lstat(path, &status);
}

static void put(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (file < 0 || write(file, "mine", 4) != 4 || close(file))
        tap_diag("cannot write %s: %s", path, strerror(errno));
}

static int64_t size_of(const char *path)
{
    struct stat status;

    return stat(path, &status) ? -1 : status.st_size;
}

static void test_output(const char *directory)
{
    npy_header h = {HSUMMA_D, 1, 5, 6, 0};
    npy_error error = {""};
    char path[300], temporary[sizeof(output)];
    output out;

    snprintf(path, sizeof path, "%s/C.npy", directory);
    tap_ok(!output_check(path, 0, &error), "a new name may be written: %s", error.text);
    tap_ok(!npy_create(&out, path, &h, 0, &error) && !exists(path) && exists(out.file.name),
           "it is not there before it is complete: %s", error.text);
    snprintf(temporary, sizeof temporary, "%s", out.file.name);
    tap_ok(!output_finish(&out, &error) && size_of(path) == h.data + 240 && !exists(temporary),
           "it is there afterwards: %s", error.text);
    tap_ok(output_check(path, 0, &error) && !output_check(path, 1, &error), "an existing file only by force");
    unlink(path);

    npy_create(&out, path, &h, 0, &error);
    put(path);
    tap_ok(output_finish(&out, &error) && strstr(error.text, "meantime") && size_of(path) == 4 && !exists(temporary),
           "a file that has appeared in the meantime is left alone: %s", error.text);
    npy_create(&out, path, &h, 1, &error);
    tap_ok(!output_finish(&out, &error) && size_of(path) > 4, "force replaces it");
    unlink(path);

    npy_create(&out, path, &h, 0, &error);
    truncate(out.file.name, 100) ? tap_diag("cannot truncate") : (void)0;
    tap_ok(output_finish(&out, &error) && strstr(error.text, "instead of") && !exists(path) && !exists(temporary),
           "a file of the wrong size does not get the name: %s", error.text);
    npy_create(&out, path, &h, 0, &error);
    output_close(&out);
    tap_ok(!exists(path) && !exists(temporary), "giving up leaves nothing");
}

static void test_output_names(const char *directory)
{
    npy_error error;
    char path[300];

    tap_ok(output_check(directory, 1, &error) && strstr(error.text, "directory"), "a directory is no output");
    tap_ok(output_check("", 1, &error) && strstr(error.text, "expected the name"), "nor is nothing");
    tap_ok(output_check("/dev/null", 1, &error) && strstr(error.text, "regular"), "nor is a device");
    snprintf(path, sizeof path, "%s/none/C.npy", directory);
    tap_ok(output_check(path, 1, &error) && strstr(error.text, "no directory"), "a directory that does not exist");
    snprintf(path, sizeof path, "%s/", directory);
    tap_ok(output_check(path, 1, &error), "a name that ends with a slash");
}

int main(void)
{
    char directory[] = "/tmp/hsumma-npy-XXXXXX";

    test_good();
    test_bad_text();
    test_bad_shapes();
    test_bad_types();
    test_bad_lengths();
    test_damage();
    test_format();
    test_sizes();
    if (mkdtemp(directory)) {
        test_output(directory);
        test_output_names(directory);
        rmdir(directory);
    } else {
        tap_skip(13, "no temporary directory");
    }
    return tap_done();
}
