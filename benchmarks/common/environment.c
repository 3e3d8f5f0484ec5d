/* Finds misspelt environment variables that were meant for hsumma. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/command.h"

extern char **environ;

enum { LONGEST_NAME = 48, CLOSE = 2 };

/* Known variables besides those of the library's options: of programs and tests, of module systems and CMake. */
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

int environment_is_misspelt(const char *name, size_t length, struct hs_guess *guess)
{
    const char *other;

    *guess = hs_guess_of(name, length);
    for (int i = 0; length < LONGEST_NAME && (other = known(i)) != NULL; i++)
        hs_guess_try(guess, other, strlen(other));
    return guess->name[0] && (strlen(guess->name) != length || strncmp(guess->name, name, length) != 0) &&
           ((guess->far <= CLOSE && strlen(guess->name) <= length + CLOSE) || !strncasecmp(name, "HSUMMA_", 7));
}

void environment_warn(void)
{
    for (char **variable = environ; *variable; variable++) {
        size_t length = strcspn(*variable, "=");
        struct hs_guess guess;
        char meant[80];

        if (environment_is_misspelt(*variable, length, &guess) && hs_guess_is_near(&guess))
            fprintf(stderr, "hsumma: warning: %.*s in the environment has no effect%s\n", (int)length, *variable,
                    hs_guess_text(&guess, "", meant, sizeof meant));
    }
}
