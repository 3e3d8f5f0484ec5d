/* The parts of context creation. */
#ifndef HS_API_CONTEXT_PARTS_H
#define HS_API_CONTEXT_PARTS_H

#include "hsumma/context/context.h"
#include "hsumma/network/network.h"

/*
 * context_files.c: the options profile and tuned. Rank 0 reads the files and broadcasts them. Returns HSUMMA_ERR_OPTION
 * if a file that the caller named cannot be read, or if a tuned file that the caller named is damaged or of another
 * version. With tune=measure the tuned file may be missing. Any other unusable file (damaged, of another version, the
 * profile of another machine) is ignored, and ctx->note, which plans repeat, says why. Also sets ctx->measures, 1 if
 * the network between nodes has still to be measured. Collective; every rank returns the same status.
 */
hsumma_status hs_files_read(hsumma_context *ctx);

/* Reads a whole file as text; zero bytes become '?', so that none ends the text early. NULL on error, with errno. */
char *hs_read_file(const struct hs_allocator *memory, const char *path);

/*
 * context_fabric.c: the links between nodes, if the option topology describes them: sets comm.fabric and
 * comm.topology.fabric. HSUMMA_ERR_OPTION if the description is wrong or lacks a host. Needs the topology. Collective,
 * if the option is the name of a file; every rank returns the same status.
 */
hsumma_status hs_context_find_fabric(hsumma_context *ctx);

/*
 * context_network.c: if ctx->measures is set and there are several nodes, measures the network between them and
 * remembers it. Needs the topology. Collective; every rank returns the same status.
 */
hsumma_status hs_context_measure_network(hsumma_context *ctx);
/* multiply.c: the local GEMM of doubles; NULL in libhsumma_pmpi.so. */
hs_gemm *hs_gemm_to_measure(void);
/* Returns 1 and the network if an earlier context of this process has measured it between the same hosts. */
int hs_network_known(uint64_t key, struct hs_network *network);

/* register.c: frees the algorithms that the user has registered. */
void hs_own_algorithms_free(struct hs_registry *own, const struct hs_allocator *memory);

/*
 * context_device.c. Opens the device that the option "device" names, on every process or on none. With "auto" it is not
 * an error if some process has no device; the context's note says so. Collective; every rank returns the same status.
 */
hsumma_status hs_context_open_device(hsumma_context *ctx);
/*
 * Sets up device memory for collective calls, after hs_comm_discover. Collective; every rank returns the same status.
 */
hsumma_status hs_context_share_device(hsumma_context *ctx);
/*
 * Ends the use of a context's device, in two steps. hs_context_leave_device waits for the device's work and unmaps the
 * memory of other processes; with `meet` it then waits for all processes, so that no process frees memory that another
 * has mapped. hs_context_close_device is local. In a broken context both do nothing.
 */
void hs_context_leave_device(hsumma_context *ctx, int meet);
void hs_context_close_device(hsumma_context *ctx);

#endif
