/* hsumma doctor: the MPI that runs, the MPI that the program is built for, and the launcher. */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "doctor/doctor.h"

/* How the file names of MPI libraries begin. */
static const struct {
    const char *file;
    enum hs_mpi_family family;
} libraries[] = {{"libmpi.so.40", HS_MPI_OPENMPI},
                 {"libopen-rte.so", HS_MPI_OPENMPI},
                 {"libmpich.so", HS_MPI_MPICH},
                 {"libmpi.so.12", HS_MPI_MPICH},
                 {"libmpi_cray.so", HS_MPI_MPICH}};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

/* Launchers, by the environment variables that they set. */
static const struct {
    const char *name, *processes, *number;
    enum hs_mpi_family family; /* the MPI whose programs it starts; unknown: any */
    const char *shell;         /* set in the launcher's interactive shells, whose children are not its tasks */
} launchers[] = {{"Open MPI's mpiexec", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", HS_MPI_OPENMPI, .shell = NULL},
                 {"MPICH's mpiexec", "PMI_SIZE", "PMI_RANK", HS_MPI_MPICH, .shell = NULL},
                 {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", HS_MPI_UNKNOWN, .shell = "SLURM_PTY_PORT"}};

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

void doctor_find_launcher(job_mpi *mpi)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *processes = hs_environment(launchers[i].processes), *number = hs_environment(launchers[i].number);

        /* Of several launchers, prefer that of the program's own MPI, probably the innermost; else the first. */
        if (!processes || (mpi->launcher && launchers[i].family != hs_mpi_built()) ||
            (launchers[i].shell && hs_environment(launchers[i].shell)))
            continue;
        mpi->launcher = launchers[i].name;
        mpi->launched = atoi(processes);
        mpi->number = number ? atoi(number) : 0;
    }
}

static void look(doctor_job *j)
{
    char first[sizeof j->mpi.library];

    j->mpi.built = hs_mpi_built();
    j->mpi.runs = hs_mpi_runs(j->mpi.library, sizeof j->mpi.library);
    memcpy(first, j->mpi.library, sizeof first);
    quiet_bcast(first, sizeof first, MPI_CHAR, 0, j->comm);
    j->mpi.unlike = strcmp(first, j->mpi.library) != 0;
    dl_iterate_phdr(note_library, &j->mpi.loaded);
    doctor_find_launcher(&j->mpi);
}

static void tell_mpi(const doctor_job *j, char *text, size_t size)
{
    const job_mpi *mpi = &j->mpi;

    snprintf(text, size, "%s; built for the ABI of %s; %s%s", mpi->library, hs_mpi_family_name[mpi->built],
             mpi->launcher ? "started by " : "no launcher", mpi->launcher ? mpi->launcher : "");
}

int doctor_is_alone(const doctor_job *j)
{
    return j->mpi.launched > 1 && j->ranks == 1;
}

static int mixed(const doctor_job *j, finding *f)
{
    const job_mpi *mpi = &j->mpi;
    const unsigned both = 1U << HS_MPI_MPICH | 1U << HS_MPI_OPENMPI;

    doctor_advises(f,
                   "start the program with the launcher of %s (Debian: %s), or use a build for the other MPI (make "
                   "MPI=mpich|openmpi)",
                   hs_mpi_family_name[mpi->built], mpi->built == HS_MPI_OPENMPI ? "mpiexec.openmpi" : "mpiexec.mpich");
    if (doctor_is_alone(j))
        return doctor_finds(f, "%s has started %d processes, but each runs alone: the program is linked with %s",
                            mpi->launcher, mpi->launched, mpi->library);
    if (mpi->runs && mpi->built && mpi->runs != mpi->built)
        return doctor_finds(f, "the program is built for %s, but runs with %s", hs_mpi_family_name[mpi->built],
                            mpi->library);
    doctor_advises(f, "link everything, ScaLAPACK included, with one MPI (ldd shows which library needs the other)");
    if ((mpi->loaded & both) == both)
        return doctor_finds(f, "libraries of MPICH and of Open MPI are loaded in one process");
    doctor_advises(f, "use the same MPI on all nodes");
    return mpi->unlike && doctor_finds(f, "MPI is %s here, but another one on rank 0", mpi->library);
}

int doctor_refuses(MPI_Comm comm, int *code)
{
    doctor_job j = {.comm = comm};
    finding f = {"", ""};

    MPI_Comm_size(comm, &j.ranks);
    doctor_find_launcher(&j.mpi);
    if (!doctor_is_alone(&j))
        return 0;
    look(&j);
    mixed(&j, &f);
    *code = COMMAND_OK; /* the others must not fail: the launcher would kill the reporting process */
    if (j.mpi.number == 0) {
        fprintf(stderr, "hsumma: %s; %s\n", f.what, f.cure);
        *code = COMMAND_BAD_INPUT;
    }
    return 1;
}

const doctor_subject doctor_mpi = {
    .look = look,
    .facts = {{"MPI", tell_mpi}},
    .checks = {{.name = "mixed-mpi",
                .found = mixed,
                .what = "launcher, program and loaded libraries belong to different MPIs",
                .why = "each process computes the whole product alone, or crashes",
                .cure = "use the launcher, the build (make MPI=mpich|openmpi) and the ScaLAPACK of the same MPI",
                .costly = 1,
                .measure = 1}}};
