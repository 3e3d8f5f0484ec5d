/* Status and its explanation: a failing function returns hs_fail(message, status, "what, its value, what was
 * expected"). */
#ifndef HS_BASE_STATUS_H
#define HS_BASE_STATUS_H

#include <hsumma.h>

struct hs_message {
    char text[480];
};

/* Stores the text (truncated if too long; message may be NULL) and returns status. */
hsumma_status hs_fail(struct hs_message *message, hsumma_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends to a string with room for `size` characters, truncating. */
void hs_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
