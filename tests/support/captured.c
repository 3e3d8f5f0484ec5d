#include "support/captured.h"

#include <unistd.h>

struct captured captured_begin(void)
{
    struct captured captured = {tmpfile(), dup(STDERR_FILENO)};
    fflush(stderr);
    if (captured.file)
        dup2(fileno(captured.file), STDERR_FILENO);
    return captured;
}

void captured_end(struct captured *captured, char *text, size_t room)
{
    fflush(stderr);
    dup2(captured->screen, STDERR_FILENO);
    close(captured->screen);
    text[0] = 0;
    if (!captured->file)
        return;
    rewind(captured->file);
    text[fread(text, 1, room - 1, captured->file)] = 0;
    fclose(captured->file);
}
