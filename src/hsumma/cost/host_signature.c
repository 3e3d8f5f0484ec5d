#include "hsumma/cost/profile.h"

#include "base/threads.h"

#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Appends up to `most` characters of a text, up to the first comma or the end of the line.  Runs of blanks become one
 * blank; '#' is dropped, because it would begin a comment. */
static void add(char signature[HS_HOST_TEXT], const char *text, size_t most)
{
    size_t at = strlen(signature), begin = at;
    for (; *text && !strchr(",\r\n", *text) && at - begin < most && at < HS_HOST_TEXT - 1; text++) {
        int blank = isspace((unsigned char)*text);
        if (blank ? at > begin && signature[at - 1] != ' ' : *text != '#' && isprint((unsigned char)*text))
            signature[at++] = blank ? ' ' : *text;
    }
    while (at > begin && signature[at - 1] == ' ')
        at--;
    signature[at] = 0;
}

static void add_processor(char signature[HS_HOST_TEXT])
{
    static const char key[] = "model name";
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !*signature && fgets(line, sizeof line, file)) {
        const char *colon = strncmp(line, key, sizeof key - 1) == 0 ? strchr(line, ':') : NULL;
        if (colon)
            add(signature, colon + 1, 80);
    }
    if (file)
        fclose(file);
    struct utsname machine;
    if (!*signature && uname(&machine) == 0)
        add(signature, machine.machine, 80);
}

void hs_host_signature(char text[HS_HOST_TEXT])
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "", cores[32];
    int length = 0;
    memset(text, 0, HS_HOST_TEXT);
    add_processor(text);
    snprintf(cores, sizeof cores, "; %ld cores; ", sysconf(_SC_NPROCESSORS_ONLN));
    strcat(text, cores);
    MPI_Get_library_version(mpi, &length);
    add(text, mpi, 40);
    strcat(text, "; ");
    add(text, hs_threads_library(), 40);
}
