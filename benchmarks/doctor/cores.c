/* hsumma doctor: how ranks and their BLAS threads are placed on the cores of a node. */
#include <stdlib.h>
#include <unistd.h>

#include "api/cores.h"
#include "base/threads.h"
#include "common/command.h"
#include "doctor/doctor.h"
#include "report/columns.h"

static const double enough = 0.99; /* the share of a core that a rank needs */

/* Reads "0-3,8" as processors; 0 if it is invalid. */
static int read_cpus(const char *text, struct hs_cpus *cpus)
{
    int first, last, length;

    for (; sscanf(text, "%d%n", &first, &length) == 1; text += *text == ',') {
        last = first;
        text += length;
        if (sscanf(text, "-%d%n", &last, &length) == 1)
            text += length;
        for (int cpu = first; cpu <= last && cpu < HS_CPUS; cpu++)
            CPU_SET_S((size_t)cpu, sizeof *cpus, cpus->part);
    }
    return *text == 0;
}

static int count_cores(const struct hs_core_users *users)
{
    int count = 0;

    for (int cpu = 0; cpu < HS_CPUS; cpu++)
        count += users->of[cpu] > 0;
    return count;
}

static int count_online(const doctor_job *j)
{
    char text[1024];
    struct hs_cpus cpus = {0};
    struct hs_core_users cores;

    if (!doctor_read(j, "/sys/devices/system/cpu/online", text, sizeof text) || !read_cpus(text, &cpus))
        return (int)sysconf(_SC_NPROCESSORS_ONLN);
    hs_cores_of(&cpus, j->root, &cores);
    return count_cores(&cores);
}

static int count_sockets(const doctor_job *j, const struct hs_core_users *cores)
{
    unsigned char is[256] = {0};
    char path[96], text[16];
    int count = 0;

    for (int cpu = 0; cpu < HS_CPUS; cpu++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        if (cores->of[cpu] && doctor_read(j, path, text, sizeof text) && atoi(text) >= 0 && atoi(text) < 256)
            is[atoi(text)] = 1;
    }
    for (int i = 0; i < 256; i++)
        count += is[i];
    return count > 0 ? count : 1;
}

/* The variable that sets the number of BLAS threads; NULL if none is set. */
static const char *chosen_by(void)
{
    static const char *const variables[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "BLIS_NUM_THREADS",
                                            "MKL_NUM_THREADS", "OMP_NUM_THREADS"};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = hs_environment(variables[i]);

        if (value && *value)
            return variables[i];
    }
    return NULL;
}

/* Finds the number of BLAS threads that a product of this context would use. */
static void find_threads(doctor_job *j)
{
    int option = j->ctx ? j->ctx->options.settings.threads : -1, now = hs_threads_now();
    job_cores *cores = &j->cores;

    cores->threads = cores->fit;
    if (hs_threads_overlooked())
        cores->threads = hs_threads_overlooked();
    if (option == 0 || (option < 0 && hs_threads_user_chose()))
        cores->threads = now;
    if (option > 0)
        cores->threads = option;
    cores->chosen = option > 0 ? "option threads" : chosen_by();
    if (now == 0)
        cores->threads = 1;
    quiet_allreduce(&cores->threads, &cores->all_threads, 1, MPI_INT, MPI_SUM, j->node);
}

static void look(doctor_job *j)
{
    struct hs_cpus cpus = {0};
    struct hs_core_users mine, all;
    job_cores *cores = &j->cores;
    unsigned char is[HS_CPUS];

    gethostname(cores->host, sizeof cores->host - 1);
    sched_getaffinity(0, sizeof cpus, cpus.part);
    hs_cores_of(&cpus, j->root, &mine);
    quiet_allreduce(mine.of, all.of, HS_CPUS, MPI_UINT16_T, MPI_SUM, j->node);
    cores->count = count_cores(&mine);
    cores->used = count_cores(&all);
    cores->online = count_online(j);
    cores->sockets = count_sockets(j, &mine);
    cores->quota = hs_cpu_quota(j->root);
    cores->fit = hs_share_of(&mine, &all, cores->quota, j->node_ranks);
    for (int cpu = 0; cpu < HS_CPUS; cpu++) {
        is[cpu] = mine.of[cpu] > 0;
        cores->share += is[cpu] ? 1.0 / all.of[cpu] : 0;
        cores->shared |= is[cpu] && all.of[cpu] > 1;
    }
    doctor_list(is, HS_CPUS, cores->mine, sizeof cores->mine);
    find_threads(j);
}

static void tell_place(const doctor_job *j, char *text, size_t size)
{
    const job_cores *cores = &j->cores;

    snprintf(text, size, "%s, core%s %s of %d%s%s", cores->host, report_plural(cores->count), cores->mine,
             cores->online, cores->sockets > 1 ? ", on several sockets" : "",
             j->node_ranks == 1 ? ""
             : cores->shared    ? ", shared with other ranks"
                                : ", not shared with other ranks");
}

static void tell_threads(const doctor_job *j, char *text, size_t size)
{
    const job_cores *cores = &j->cores;
    int used =
        snprintf(text, size, "%d per rank, set by %s", cores->threads, cores->chosen ? cores->chosen : "the library");

    if (cores->quota > 0)
        snprintf(text + used, size - (size_t)used, "; the control group allows %.3g cores", cores->quota);
}

/* --- findings ----------------------------------------------------------------------------------------------------- */

static int oversubscribed(const doctor_job *j, finding *f)
{
    doctor_advises(f, "start at most %d ranks on a node", j->cores.online);
    return j->node_ranks > j->cores.online && doctor_finds(f, "%d ranks on a node with %d core%s", j->node_ranks,
                                                           j->cores.online, report_plural(j->cores.online));
}

/* Advises the launcher's options that bind each rank to its own cores. */
static void advise_binding(const doctor_job *j, finding *f)
{
    int each = j->cores.online / j->node_ranks > 1 ? j->cores.online / j->node_ranks : 1;

    if (j->mpi.runs == HS_MPI_OPENMPI)
        doctor_advises(f, "bind each rank to its own cores: mpiexec --map-by slot:PE=%d --bind-to core", each);
    else
        doctor_advises(
            f, "bind each rank to its own cores: mpiexec -bind-to core:%d (MPICH) or srun --cpu-bind=cores -c %d", each,
            each);
}

static int bound_together(const doctor_job *j, finding *f)
{
    const job_cores *cores = &j->cores;

    if (cores->share >= enough || j->node_ranks > cores->online)
        return 0;
    advise_binding(j, f);
    return doctor_finds(f, "%d ranks may use %d of the node's %d cores: some ranks have less than one core each",
                        j->node_ranks, cores->used, cores->online);
}

static int unbound(const doctor_job *j, finding *f)
{
    advise_binding(j, f);
    return j->cores.share >= enough && j->cores.shared &&
           doctor_finds(f, "ranks are not bound: several ranks may use the same cores");
}

static int too_many_threads(const doctor_job *j, finding *f)
{
    const job_cores *cores = &j->cores;

    if (cores->threads <= cores->fit)
        return 0;
    if (cores->chosen)
        doctor_advises(f, "set %s to %d, or leave it unset", cores->chosen, cores->fit);
    return doctor_finds(f, "%d BLAS threads in a rank with %d core%s (set by %s)", cores->threads, cores->fit,
                        report_plural(cores->fit), cores->chosen ? cores->chosen : "the BLAS itself");
}

static int idle_cores(const doctor_job *j, finding *f)
{
    const job_cores *cores = &j->cores;
    int busy = cores->all_threads < cores->used ? cores->all_threads : cores->used;
    double most = cores->quota > 0 && cores->quota < cores->online ? cores->quota : cores->online;

    return cores->share >= enough && !doctor_is_alone(j) && busy < 0.9 * most &&
           doctor_finds(f, "%d rank%s of the node use%s %d of its %d cores", j->node_ranks,
                        report_plural(j->node_ranks), j->node_ranks == 1 ? "s" : "", busy, cores->online);
}

static int short_quota(const doctor_job *j, finding *f)
{
    return j->cores.quota > 0 && j->cores.quota < enough * j->node_ranks &&
           doctor_finds(f, "the control group's CPU quota is %.3g cores for %d rank%s", j->cores.quota, j->node_ranks,
                        report_plural(j->node_ranks));
}

const doctor_subject doctor_cores = {
    .look = look,
    .facts = {{"place", tell_place}, {"threads", tell_threads}},
    .checks = {
        {.name = "oversubscribed",
         .found = oversubscribed,
         .what = "a node has more ranks than cores",
         .why = "ranks take turns on the cores and wait for each other; measured times are unreliable",
         .cure = "start at most as many ranks on a node as it has cores",
         .costly = 1},
        {.name = "bound-together",
         .found = bound_together,
         .what = "ranks are bound to the same cores while other cores are idle",
         .why = "ranks that share a core take turns: with n ranks on a core a product takes n times as long",
         .cure = "bind ranks to cores: mpiexec -bind-to core (MPICH), mpiexec --bind-to core (Open MPI) or srun "
                 "--cpu-bind=cores; request one core per rank from the batch system",
         .costly = 1,
         .measure = 1},
        {.name = "unbound",
         .found = unbound,
         .what = "ranks are not bound to cores",
         .why =
             "the kernel may run two polling ranks on one core for a while, and may move ranks away from their memory",
         .cure = "bind ranks to cores: mpiexec -bind-to core (MPICH), mpiexec --bind-to core (Open MPI) or srun "
                 "--cpu-bind=cores"},
        {.name = "threads",
         .found = too_many_threads,
         .what = "a rank has more BLAS threads than cores",
         .why = "BLAS threads spin while they wait for each other: products become several times slower",
         .cure = "leave OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and threads=N unset: the library then gives each rank "
                 "its share",
         .costly = 1,
         .measure = 1},
        {.name = "quota",
         .found = short_quota,
         .what = "the control group's CPU quota is less than one core per rank",
         .why = "the kernel suspends the ranks for part of each scheduling period",
         .cure = "start fewer ranks, or raise the quota of the container or job (cpu.max)",
         .costly = 1,
         .measure = 1},
        {.name = "idle-cores",
         .found = idle_cores,
         .what = "some of the node's cores are idle",
         .why = "a product could use them",
         .cure = "start more ranks, or use more threads per rank: bind each rank to several cores and leave "
                 "OMP_NUM_THREADS unset"}}};
