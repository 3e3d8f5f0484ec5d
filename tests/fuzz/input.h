/*
 * For the fuzz targets of this folder. A target is one function, LLVMFuzzerTestOneInput, which libFuzzer calls with
 * input after input. A fault is what the sanitizers report, or a REQUIRE that does not hold.
 *
 * A text target reads the whole input as text. The others draw numbers from its bytes; when these are used up, they
 * draw zeros.
 */
#ifndef HS_TESTS_FUZZ_INPUT_H
#define HS_TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                           \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                 \
        }                                                                            \
    } while (0)

/* The input as text, which the caller frees. It has exactly its own memory, so that reading beyond it is found. */
static inline char *input_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    REQUIRE(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    return text;
}

struct input {
    const uint8_t *at;
    size_t left;
};

static inline unsigned draw_byte(struct input *input)
{
    if (!input->left)
        return 0;
    input->left--;
    return *input->at++;
}

/* 0 to below - 1, below <= 256. */
static inline int draw_below(struct input *input, int below)
{
    return (int)(draw_byte(input) % (unsigned)below);
}

/* Mostly a small number; some times one of the numbers at which arithmetic goes wrong. */
static inline int64_t draw_number(struct input *input)
{
    static const int64_t odd[] = {INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, -1, 1ll << 32, 1ll << 62, INT64_MAX / 2};
    unsigned byte = draw_byte(input);
    int64_t value = 0;

    if (byte < 200)
        return byte;
    if (byte < 216)
        return odd[byte % 8];
    if (byte < 240)
        return (int64_t)byte * draw_byte(input);
    for (int i = 0; i < 8; i++)
        value = (int64_t)((uint64_t)value << 8 | draw_byte(input));
    return value;
}

#endif
