/* hsumma doctor: misspelt environment variables, and the error if no context can be created. */
#include <string.h>

#include "common/command.h"
#include "doctor/doctor.h"

enum { NAME_ROOM = 48 };

static int misspelt(const doctor_job *j, finding *f)
{
    const char *head = "hsumma does not read ";
    size_t used = 0, advised = 0;
    struct hs_guess guess;
    const char *variable;

    (void)j;
    for (int at = 0; (variable = hs_environment_misspelt(&at, &guess)) != NULL;) {
        size_t length = strcspn(variable, "=");

        if (used + 2 * NAME_ROOM > sizeof f->what || advised + 2 * NAME_ROOM > sizeof f->cure)
            continue;
        used += (size_t)snprintf(f->what + used, sizeof f->what - used, "%s%.*s", used ? ", " : head, (int)length,
                                 variable);
        if (guess.far <= 4)
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
         .what = "no context can be created: an option is wrong, or a requested file or device is missing",
         .why = "hsumma cannot run",
         .cure = "correct the option, file or device that the message names",
         .costly = 1},
        {.name = "misspelt-variable",
         .found = misspelt,
         .what = "an environment variable looks like one of hsumma's, but hsumma does not read it",
         .why = "it has no effect",
         .cure =
             "see hsumma gemm --help for the options; the variable of an option is HSUMMA_ and its name in capitals"}}};
