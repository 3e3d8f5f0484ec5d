/* hsumma doctor: the MPI that runs, the MPI that the program is built for, and the launcher. */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "doctor/doctor.h"

/* MPICH's derivatives have its ABI. */
#if defined OPEN_MPI
static const mpi_family built = FAMILY_OPENMPI;
#elif defined MPICH_VERSION || defined I_MPI_VERSION || defined MVAPICH2_VERSION || defined CRAY_MPICH_VERSION
static const mpi_family built = FAMILY_MPICH;
#else
static const mpi_family built = FAMILY_UNKNOWN;
#endif

static const char *const family_name[] = {
    [FAMILY_UNKNOWN] = "an MPI of unknown ABI", [FAMILY_MPICH] = "MPICH", [FAMILY_OPENMPI] = "Open MPI"};

/* Version strings of libraries, and names of their files. */
static const struct {
    const char *says, *file;
    mpi_family family;
} libraries[] = {{"Open MPI", "libmpi.so.40", FAMILY_OPENMPI},
                 {"Open MPI", "libopen-rte.so", FAMILY_OPENMPI},
                 {"MPICH", "libmpich.so", FAMILY_MPICH},
                 {"Intel(R) MPI", "libmpi.so.12", FAMILY_MPICH},
                 {"MVAPICH", "libmpi_cray.so", FAMILY_MPICH}};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

/* Launchers, by the environment variables that they set. */
static const struct {
    const char *name, *processes, *number;
} launchers[] = {{"Open MPI's mpiexec", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                 {"MPICH's mpiexec", "PMI_SIZE", "PMI_RANK"},
                 {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

static int note_library(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *slash = strrchr(info->dlpi_name, '/'), *file = slash ? slash + 1 : info->dlpi_name;
    unsigned *loaded = data;

    (void)size;
    for (int i = 0; i < LIBRARIES; i++)
        if (!strncmp(file, libraries[i].file, strlen(libraries[i].file)))
            *loaded |= 1U << libraries[i].family;
    return 0;
}

/* "MPICH Version:\t4.0.2" becomes "MPICH 4.0.2". */
static void shorten(char *text)
{
    char *cut = strstr(text, " Version:");

    text[strcspn(text, "\n,")] = 0;
    if (cut)
        memmove(cut, cut + strlen(" Version:"), strlen(cut + strlen(" Version:")) + 1);
    for (char *c = text; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
}

void doctor_find_launcher(job_mpi *mpi)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && !mpi->launcher; i++) {
        const char *processes = getenv(launchers[i].processes), *number = getenv(launchers[i].number);

        if (!processes)
            continue;
        mpi->launcher = launchers[i].name;
        mpi->launched = atoi(processes);
        mpi->number = number ? atoi(number) : 0;
    }
}

static void look(doctor_job *j)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", first[sizeof j->mpi.library];
    int length;

    MPI_Get_library_version(text, &length);
    shorten(text);
    snprintf(j->mpi.library, sizeof j->mpi.library, "%.*s", (int)sizeof j->mpi.library - 1, text);
    memcpy(first, j->mpi.library, sizeof first);
    quiet_bcast(first, sizeof first, MPI_CHAR, 0, j->comm);
    j->mpi.unlike = strcmp(first, j->mpi.library) != 0;
    j->mpi.built = built;
    for (int i = LIBRARIES - 1; i >= 0; i--)
        if (strstr(text, libraries[i].says))
            j->mpi.runs = libraries[i].family;
    dl_iterate_phdr(note_library, &j->mpi.loaded);
    doctor_find_launcher(&j->mpi);
}

static void tell_mpi(const doctor_job *j, char *text, size_t size)
{
    const job_mpi *mpi = &j->mpi;

    snprintf(text, size, "%s; built for the ABI of %s; %s%s", mpi->library, family_name[mpi->built],
             mpi->launcher ? "started by " : "no launcher", mpi->launcher ? mpi->launcher : "");
}

int doctor_is_alone(const doctor_job *j)
{
    return j->mpi.launched > 1 && j->ranks == 1;
}

static int mixed(const doctor_job *j, finding *f)
{
    const job_mpi *mpi = &j->mpi;
    const unsigned both = 1U << FAMILY_MPICH | 1U << FAMILY_OPENMPI;

    doctor_advises(f, "start it with the launcher of %s, or use a build for the other MPI (make MPI=mpich|openmpi)",
                   family_name[mpi->built]);
    if (doctor_is_alone(j))
        return doctor_finds(f, "%s has started %d processes, but each runs alone: the program is linked with %s",
                            mpi->launcher, mpi->launched, mpi->library);
    if (mpi->runs && mpi->built && mpi->runs != mpi->built)
        return doctor_finds(f, "the program is built for %s, but runs with %s", family_name[mpi->built], mpi->library);
    doctor_advises(f, "link everything, ScaLAPACK included, with one MPI (ldd shows who brings the other)");
    if ((mpi->loaded & both) == both)
        return doctor_finds(f, "libraries of MPICH and of Open MPI are loaded in one process");
    doctor_advises(f, "use one MPI on all nodes");
    return mpi->unlike && doctor_finds(f, "MPI is %s here, but another one on rank 0", mpi->library);
}

const doctor_subject doctor_mpi = {
    .look = look,
    .facts = {{"MPI", tell_mpi}},
    .checks = {{.name = "mixed-mpi",
                .found = mixed,
                .what = "launcher, program and loaded libraries are not of one MPI",
                .why = "processes run alone, each with the whole product, or crash",
                .cure = "use the launcher, the build (make MPI=mpich|openmpi) and the ScaLAPACK of one MPI",
                .costly = 1,
                .measure = 1}}};
