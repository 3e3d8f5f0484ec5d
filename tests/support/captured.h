/* What a program writes to standard error. */
#ifndef HS_TESTS_SUPPORT_CAPTURED_H
#define HS_TESTS_SUPPORT_CAPTURED_H

#include <stdio.h>

struct captured {
    FILE *file; /* receives standard error; NULL if that is impossible */
    int screen; /* the former standard error */
};

struct captured captured_begin(void);
/* Restores standard error. text: at most room - 1 bytes of what was written since captured_begin. */
void captured_end(struct captured *captured, char *text, size_t room);

#endif
