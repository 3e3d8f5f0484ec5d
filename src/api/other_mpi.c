#include "api/other_mpi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "hsumma/context/mpi_family.h"

/* A symbol that each MPI of the family exports; the folder of hsumma's build for the family, and the value of make's
 * variable MPI that makes this build. */
static const struct {
    const char *symbol, *folder, *option;
} families[HS_MPI_FAMILIES] = {
    [HS_MPI_MPICH] = {"MPIR_Dup_fn", "build", "mpich"},
    [HS_MPI_OPENMPI] = {"ompi_mpi_comm_world", "build/openmpi", "openmpi"},
};

/* Whether the process has rank 0 according to its launcher, or the launcher is unknown; MPI is not initialised yet. */
static int is_first(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (hs_environment(names[i]))
            return atoi(hs_environment(names[i])) == 0;
    return 1;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Removes the file from LD_PRELOAD. Returns 0 if it is not there or stays there: another start would change nothing. */
static int remove_from_preload(const char *file)
{
    const char *preload = hs_environment("LD_PRELOAD");
    char *words = preload ? strdup(preload) : NULL, *rest = preload ? calloc(1, strlen(preload) + 1) : NULL;
    int found = 0;

    for (char *state, *word = words && rest ? strtok_r(words, " :", &state) : NULL; word;
         word = strtok_r(NULL, " :", &state))
        if (!strcmp(last_part(word), last_part(file)))
            found = 1;
        else
            strcat(strcat(rest, *rest ? ":" : ""), word);
    found = found && !setenv("LD_PRELOAD", rest, 1);
    free(words);
    free(rest);
    return found;
}

void hs_leave_other_mpi(const char *consequence, const char *library, char **argv)
{
    const int built = (int)hs_mpi_built(), other = built == HS_MPI_MPICH ? HS_MPI_OPENMPI : HS_MPI_MPICH;
    Dl_info self;

    if (!built || !dlsym(RTLD_DEFAULT, families[other].symbol) || !dladdr(families, &self))
        return;
    int preloaded = remove_from_preload(self.dli_fname);
    if (is_first())
        fprintf(stderr, "%s: the program runs with %s, but %s is built with %s; %s %s/%s of \"make MPI=%s\"\n",
                preloaded ? consequence : "hsumma", hs_mpi_family_name[other], self.dli_fname,
                hs_mpi_family_name[built], preloaded ? "preload" : "link the program with", families[other].folder,
                library, families[other].option);
    if (preloaded)
        execv("/proc/self/exe", argv);
}
