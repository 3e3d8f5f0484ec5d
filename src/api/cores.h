/* The cores of a node, divided among the processes that run there. */
#ifndef HS_API_CORES_H
#define HS_API_CORES_H

#include "coll/node/comm.h"

#include <sched.h>
#include <stdint.h>

enum { HS_CPUS = 4096 }; /* more than any node has */

/* A set of processors; a single cpu_set_t has room for only 1024. */
struct hs_cpus {
    cpu_set_t part[HS_CPUS / CPU_SETSIZE];
};

/* How many processes may run on each core, indexed by the core's first processor. */
struct hs_core_users {
    uint16_t of[HS_CPUS];
};

/*
 * The number of BLAS threads for this process: its share of its host's cores (hs_comm.host), at least 1; or the number
 * that the user has set; 1 if the BLAS has no threads, or in the simulator. Collective over comm->host.
 */
int hs_share_of_node(const struct hs_comm *comm);

/* The parts of hs_share_of_node. `root` is prefixed to the paths of /proc and /sys: "", or a directory of a test. */

/* Marks the cores of which a process may use at least one processor; two hardware threads are one core. */
void hs_cores_of(const struct hs_cpus *cpus, const char *root, struct hs_core_users *mine);

/* A process's share of the node, in cores: each core in `mine` is divided among its users, counted in `all`. A nonzero
 * quota, in cores, limits all ranks together. */
int hs_share_of(const struct hs_core_users *mine, const struct hs_core_users *all, double quota, int ranks);

/* The processor quota of the control group in cores (cpu.max, cgroup v2): the smallest of the group and its ancestors;
 * 0 if there is none. */
double hs_cpu_quota(const char *root);

#endif
