/* The tuned file of the command. */
#include <stdlib.h>
#include <string.h>

#include "hsumma/tuned/tuned.h"
#include "tune/command.h"

/* NULL, or what is wrong. */
static const char *find(const tune_arguments *args, char path[TUNE_PATH])
{
    const char *said = args->file ? args->file : getenv("HSUMMA_TUNED");
    int length;

    if (said && (args->file || (*said && strcmp(said, "auto"))))
        length = snprintf(path, TUNE_PATH, "%s", said);
    else
        length = hs_config_path("tuned", path, TUNE_PATH);
    if (length < 0)
        return "neither XDG_CONFIG_HOME nor HOME is set; expected -o FILE";
    if (length >= TUNE_PATH)
        return "the name is too long";
    if (!length || strchr(path, '"') || !strcmp(path, "none") || !strcmp(path, "auto"))
        return "expected the name of a file, without quotation marks, and not none or auto (./none is one)";
    return NULL;
}

int tune_find_file(const tune_arguments *args, char path[TUNE_PATH], MPI_Comm comm)
{
    const char *complaint = NULL;
    int rank;

    memset(path, 0, TUNE_PATH);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        complaint = find(args, path);
    if (command_fail(comm, complaint != NULL, "tune: -o \"%s\": %s", path, complaint ? complaint : ""))
        return COMMAND_BAD_INPUT;
    quiet_bcast(path, TUNE_PATH, MPI_CHAR, 0, comm);
    return COMMAND_OK;
}

char *tune_options(const char *options, const char *path, const char *more)
{
    size_t size = strlen(options) + strlen(path) + strlen(more) + sizeof " tuned=\"\" ";
    char *text = malloc(size);

    if (text)
        snprintf(text, size, "%s tuned=\"%s\" %s", options, path, more);
    return text;
}
