/* Status and its explanation: a function that fails returns hs_fail(message, status, "what, its value, what was
 * expected"). */
#ifndef HS_BASE_STATUS_H
#define HS_BASE_STATUS_H

#include <hsumma.h>

struct hs_message {
    char text[480];
};

/* Stores the text (cut where it does not fit; message may be NULL) and returns status. */
hsumma_status hs_fail(struct hs_message *message, hsumma_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds to a text that has room for `size` letters, cut where it does not fit. */
void hs_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
