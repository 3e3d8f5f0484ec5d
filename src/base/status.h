/* Status and its explanation: a failing function returns hs_fail(message, status, "what, its value, what was
 * expected"). */
#ifndef HS_BASE_STATUS_H
#define HS_BASE_STATUS_H

#include <hsumma.h>
#include <stddef.h>
#include <stdint.h>

struct hs_message {
    char text[480];
};

/* Stores the text (truncated if too long; message may be NULL) and returns status. */
hsumma_status hs_fail(struct hs_message *message, hsumma_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends to a string with room for `size` characters, truncating. */
void hs_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "at least 1", or "1 to 64": what a number may be. */
const char *hs_range_text(int64_t least, int64_t most, char *text, size_t size);

/* The name that was meant by a misspelt one: the nearest of all that are tried. */
struct hs_guess {
    const char *word;
    size_t length;
    char name[48]; /* the nearest so far */
    int far;       /* letters to add, remove or change in it, whatever the case */
};
struct hs_guess hs_guess_of(const char *word, size_t length);
void hs_guess_try(struct hs_guess *guess, const char *name, size_t length);
/* Each name of a text: letters, digits, '_' and '-', with anything else between. */
void hs_guess_among(struct hs_guess *guess, const char *names);
/* Whether the nearest can have been meant: up to two letters are wrong, but not most of them, or some are missing at
 * the end. */
int hs_guess_is_near(const struct hs_guess *guess);
/* "; did you mean before+name?", or "" where none is near. */
const char *hs_guess_text(const struct hs_guess *guess, const char *before, char *text, size_t size);

#endif
