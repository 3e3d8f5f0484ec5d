/* The cores of a node, divided among the processes that run there. */
#ifndef HS_API_CORES_H
#define HS_API_CORES_H

#include <mpi.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

enum { HS_CPUS = 4096 }; /* more than a node has today */

/* Processors, any number of them: a cpu_set_t ends at 1024. */
struct hs_cpus {
    cpu_set_t part[HS_CPUS / CPU_SETSIZE];
};

/* How many processes may run on a core, counted at the core's first processor. */
struct hs_core_users {
    uint16_t of[HS_CPUS];
};

/*
 * BLAS threads of this process: its share of the cores of its node, at least 1; what the user has chosen if he has; 1
 * if the BLAS has no threads.  *ranks: how many processes of comm are on the node.  Collective.
 */
int hs_share_of_node(MPI_Comm comm, int *ranks);

/* Its parts.  `root` goes before the paths of /proc and /sys: "", or a test's directory. */

/* Marks the cores of which a process may use some processor: with two hardware threads, two processors are one core. */
void hs_cores_of(const struct hs_cpus *cpus, const char *root, struct hs_core_users *mine);

/* A core that several may use is divided among them.  The quota, if it is not 0, is for all ranks together. */
int hs_share_of(const struct hs_core_users *mine, const struct hs_core_users *all, double quota, int ranks);

/* Cores' worth of time that the control group may use (cpu.max, of version 2), the least of it and those above; 0: any.
 */
double hs_cpu_quota(const char *root);

#endif
