#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

hsumma_status hs_fail(struct hs_message *message, hsumma_status status, const char *format, ...)
{
    if (message) {
        va_list args;
        va_start(args, format);
        vsnprintf(message->text, sizeof message->text, format, args);
        va_end(args);
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
    };
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}
