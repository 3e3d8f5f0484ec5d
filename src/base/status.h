/* A failing function returns hs_fail(message, status, "what, its value, what was expected"). */
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

/* True for errors after which messages may be left in flight, so the context can only be freed. */
static inline int hs_status_is_final(hsumma_status status)
{
    return status == HSUMMA_ERR_MPI || status == HSUMMA_ERR_PEER;
}

/* Appends to a string with room for `size` characters, truncating. */
void hs_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes the allowed range of a number, "at least 1" or "1 to 64", and returns text. */
const char *hs_range_text(int64_t least, int64_t most, char *text, size_t size);

/* A spelling guess: of the names tried, the one nearest to a misspelt word. */
struct hs_guess {
    const char *word;
    size_t length;
    char name[48]; /* the nearest name so far */
    int far; /* edit distance, ignoring case and '_' against '-'; 1 if it begins with the word (3 letters or more) */
};
struct hs_guess hs_guess_of(const char *word, size_t length);
void hs_guess_try(struct hs_guess *guess, const char *name, size_t length);
/* Tries each name in a text; names consist of letters, digits, '_' and '-'. */
void hs_guess_among(struct hs_guess *guess, const char *names);
/* Whether the nearest name was probably meant: at most two letters of the word, and fewer than half, are wrong; or the
 * word is the beginning of the name, three letters or more. */
int hs_guess_is_near(const struct hs_guess *guess);
/* Writes "; did you mean BEFORE+NAME?", or "" if no name is near, and returns text. */
const char *hs_guess_text(const struct hs_guess *guess, const char *before, char *text, size_t size);

#endif
