#include "api/cores.h"

#include "base/simulator.h"
#include "base/threads.h"
#include "coll/node/agree_mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a file of /proc or /sys, truncated to `size`; 0 if it cannot be read. */
static int read_text(const char *root, const char *path, char *text, size_t size)
{
    char name[PATH_MAX];
    size_t length = 0;
    FILE *file = (size_t)snprintf(name, sizeof name, "%s%s", root, path) < sizeof name ? fopen(name, "r") : NULL;
    if (file) {
        length = fread(text, 1, size - 1, file);
        fclose(file);
    }
    text[length] = 0;
    return length > 0;
}

/* Reads the kernel's files: hwloc would discover the whole machine in every process. */
void hs_cores_of(const struct hs_cpus *cpus, const char *root, struct hs_core_users *mine)
{
    memset(mine, 0, sizeof *mine);
    for (int cpu = 0; cpu < HS_CPUS; cpu++) {
        char path[96], text[32];
        if (!CPU_ISSET_S((size_t)cpu, sizeof *cpus, cpus->part))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        int first = read_text(root, path, text, sizeof text) ? atoi(text) : cpu; /* for example "0,64" or "0-1" */
        mine->of[first >= 0 && first < HS_CPUS ? first : cpu] = 1;
    }
}

int hs_share_of(const struct hs_core_users *mine, const struct hs_core_users *all, double quota, int ranks)
{
    double share = 0;
    for (int cpu = 0; cpu < HS_CPUS; cpu++)
        if (mine->of[cpu] && all->of[cpu])
            share += 1.0 / all->of[cpu];
    if (quota > 0 && share > quota / ranks)
        share = quota / ranks;
    return share < 1 ? 1 : (int)(share + 1e-6); /* 1e-6: three shares of 1/3 make 1 */
}

double hs_cpu_quota(const char *root)
{
    static const char line[] = "0::/", mount[] = "/sys/fs/cgroup";
    char text[PATH_MAX], path[PATH_MAX], file[PATH_MAX + 64], limit[64];
    double quota = 0, most, period;
    if (!read_text(root, "/proc/self/cgroup", text, sizeof text))
        return 0;
    const char *begin = strncmp(text, line, sizeof line - 1) == 0 ? text : strstr(text, "\n0::/");
    if (!begin)
        return 0;
    begin = strchr(begin, '/');
    snprintf(path, sizeof path, "%.*s", (int)strcspn(begin, "\n"), begin);
    for (char *end = path + strlen(path); end; end = strrchr(path, '/')) { /* the control group and its ancestors */
        *end = 0;
        snprintf(file, sizeof file, "%s%s/cpu.max", mount, path);
        if (read_text(root, file, limit, sizeof limit) && sscanf(limit, "%lf %lf", &most, &period) == 2 && period > 0 &&
            (quota == 0 || most / period < quota))
            quota = most / period;
    }
    return quota;
}

int hs_share_of_node(const struct hs_comm *comm)
{
    const struct hs_host *host = &comm->host;
    struct hs_cpus cpus;
    struct hs_core_users mine, all;
    int share = 1;
    if (hs_simulator()) /* in the simulator each process has one core */
        return 1;
    memset(&cpus, 0, sizeof cpus);
    sched_getaffinity(0, sizeof cpus, cpus.part);
    hs_cores_of(&cpus, "", &mine);
    all = mine;
    if (!hs_mpi_allreduce(all.of, HS_CPUS, MPI_UINT16_T, MPI_SUM, host->comm, comm->watch))
        share = hs_share_of(&mine, &all, hs_cpu_quota(""), host->count);
    if (hs_threads_now() == 0) /* the BLAS has no threads */
        return 1;
    if (hs_threads_user_chose())
        return hs_threads_now();
    return hs_threads_overlooked() ? hs_threads_overlooked() : share;
}
