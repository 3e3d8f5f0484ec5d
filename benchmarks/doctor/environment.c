/* hsumma doctor: environment variables meant for hsumma, and errors from creating a context with them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "doctor/doctor.h"

extern char **environ;

enum { LONGEST_NAME = 48, CLOSE = 2 };

/* Known variables that are no options: of programs and tests, of module systems and CMake. */
static const char *const others[] = {
    "HSUMMA_PMPI",        "HSUMMA_SIM_LINKS", "HSUMMA_SIM_BENCH", "HSUMMA_PROGRESS", "HSUMMA_HOST_DEVICE_LIBRARY",
    "HSUMMA_HOST_DEVICE", "HSUMMA_LIBRARY",   "HSUMMA_ROOT",      "HSUMMA_DIR",      "HSUMMA_HOME"};

static const char *known(int i)
{
    hsumma_option_info info;
    int options = HS_OPTIONS;

    if (i < options)
        return hsumma_option(i, &info) ? info.environment : "";
    i -= options;
    return i < (int)(sizeof others / sizeof *others) ? others[i] : NULL;
}

/* Whether a name is near a known one, or begins as ours do, and is itself unknown. */
static int is_misspelt(const char *name, size_t length, struct hs_guess *guess)
{
    const char *other;

    *guess = hs_guess_of(name, length);
    for (int i = 0; length < LONGEST_NAME && (other = known(i)) != NULL; i++)
        hs_guess_try(guess, other, strlen(other));
    return guess->name[0] && (strlen(guess->name) != length || strncmp(guess->name, name, length) != 0) &&
           ((guess->far <= CLOSE && strlen(guess->name) <= length + CLOSE) || !strncasecmp(name, "HSUMMA_", 7));
}

static int misspelt(const doctor_job *j, finding *f)
{
    const char *head = "hsumma does not read ";
    size_t used = 0, advised = 0;

    (void)j;
    for (char **variable = environ; *variable; variable++) {
        size_t length = strcspn(*variable, "=");
        struct hs_guess guess;

        if (!is_misspelt(*variable, length, &guess) || used + 2 * LONGEST_NAME > sizeof f->what ||
            advised + 2 * LONGEST_NAME > sizeof f->cure)
            continue;
        used += (size_t)snprintf(f->what + used, sizeof f->what - used, "%s%.*s", used ? ", " : head, (int)length,
                                 *variable);
        if (guess.far <= 2 * CLOSE)
            advised += (size_t)snprintf(f->cure + advised, sizeof f->cure - advised, "%sdid you mean %s?",
                                        advised ? " " : "", guess.name);
    }
    return used > 0;
}

static int refused(const doctor_job *j, finding *f)
{
    return !j->ctx && doctor_finds(f, "%s", j->refused);
}

const doctor_subject doctor_environment = {
    .checks = {
        {.name = "no-context",
         .found = refused,
         .what = "no context can be made: an option is wrong, or a file or device that was asked for is not there",
         .why = "nothing of hsumma runs",
         .cure = "correct what the message names",
         .costly = 1},
        {.name = "misspelt-variable",
         .found = misspelt,
         .what = "a variable of the environment looks like hsumma's, but is none",
         .why = "it has no effect",
         .cure = "hsumma gemm --help lists options; the variable of an option is HSUMMA_ and its name in capitals"}}};
