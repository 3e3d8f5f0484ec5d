#include "api/context_parts.h"

#include "coll/node/agree_mpi.h"
#include "dist/fabric_file.h"

#include <errno.h>
#include <string.h>

/* Reads "torus:8x8x8" or another fabric; there must be a position for each node. */
static hsumma_status read_word(const char *word, int nodes, struct hs_fabric *fabric, struct hs_message *message)
{
    const char *at = strchr(word, ':') + 1;
    if (hs_fabric_read(word, &at, fabric) || *at)
        return hs_fail(message, HSUMMA_ERR_OPTION, "topology: \"%.100s\": expected " HS_FABRIC_EXPECTED, word);
    if (fabric->positions < nodes)
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "topology: %.100s has %d positions; expected at least %d, one for each node", word,
                       fabric->positions, nodes);
    return HSUMMA_OK;
}

/* Sets *text to the contents of the file, read by rank 0. Collective; every rank returns the same status. */
static hsumma_status spread_file(hsumma_context *ctx, const char *path, char **text)
{
    int64_t length = 0; /* negative: the error with which reading failed */
    const struct hs_comm *comm = &ctx->comm;
    if (comm->rank == 0) {
        *text = hs_read_file(&ctx->memory, path);
        length = *text ? (int64_t)strlen(*text) : -(int64_t)errno;
    }
    hsumma_status status = hs_mpi_bcast(&length, sizeof length, 0, comm->comm, comm->watch);
    if (status)
        return hs_fail(&ctx->message, status, "MPI_Ibcast of the topology failed");
    if (length < 0)
        return hs_fail(&ctx->message, length == -ENOMEM ? HSUMMA_ERR_MEMORY : HSUMMA_ERR_OPTION,
                       "topology: cannot read %.300s: %s", path, strerror((int)-length));
    if (comm->rank > 0)
        *text = hs_get(&ctx->memory, (size_t)length + 1, 1);
    status = hs_agreed(comm->comm, *text ? HSUMMA_OK : HSUMMA_ERR_MEMORY, comm->watch);
    if (!status)
        status = hs_mpi_bcast(*text, (size_t)length + 1, 0, comm->comm, comm->watch);
    return status ? hs_fail(&ctx->message, status, "topology: cannot broadcast %.300s", path) : HSUMMA_OK;
}

/* Gathers the positions of the nodes from their ranks. Collective; every rank returns the same status. */
static hsumma_status gather_positions(hsumma_context *ctx, int position)
{
    struct hs_comm *comm = &ctx->comm;
    const struct hs_division *node = &comm->topology.division[HS_NODE];
    int *all = hs_get(&ctx->memory, (size_t)comm->size, sizeof *all), is_order = 1;
    comm->fabric.at = hs_get(&ctx->memory, (size_t)node->parts, sizeof *comm->fabric.at);
    hsumma_status status = hs_agreed(comm->comm, all && comm->fabric.at ? HSUMMA_OK : HSUMMA_ERR_MEMORY, comm->watch);
    if (!status)
        status = hs_mpi_allgather(&position, sizeof position, all, comm->comm, comm->watch);
    for (int i = 0; !status && i < node->parts; i++) {
        comm->fabric.at[i] = all[hs_part_rank(node, i, 0)];
        is_order &= comm->fabric.at[i] == i;
    }
    hs_put(&ctx->memory, all);
    if (status || is_order) {
        hs_put(&ctx->memory, comm->fabric.at);
        comm->fabric.at = NULL;
    }
    return status ? hs_fail(&ctx->message, status, "topology: cannot gather the positions of the nodes") : HSUMMA_OK;
}

static hsumma_status read_file(hsumma_context *ctx, const char *path)
{
    struct hs_comm *comm = &ctx->comm;
    char *text = NULL, host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    struct hs_message why = {""};
    int length = 0, position = -1;
    hsumma_status status = spread_file(ctx, path, &text);
    if (!status) {
        MPI_Get_processor_name(host, &length);
        status = hs_fabric_parse(text, host, &comm->fabric, &position, &why);
        if (status)
            hs_fail(&ctx->message, status, "topology: %.200s: %s", path, why.text);
        else if (position < 0)
            status =
                hs_fail(&ctx->message, HSUMMA_ERR_OPTION, "topology: %.200s does not have host %.100s", path, host);
        status = hs_agreed(comm->comm, status, comm->watch);
    }
    hs_put(&ctx->memory, text);
    return status || comm->topology.size == 0 ? status : gather_positions(ctx, position);
}

hsumma_status hs_context_find_fabric(hsumma_context *ctx)
{
    struct hs_comm *comm = &ctx->comm;
    struct hs_nodes nodes;
    hs_topology_text(ctx->texts.topology, &nodes);
    if (!*nodes.fabric)
        return HSUMMA_OK;
    int parts = comm->topology.size ? comm->topology.division[HS_NODE].parts : 1;
    hsumma_status status = hs_is_fabric(nodes.fabric) ? read_word(nodes.fabric, parts, &comm->fabric, &ctx->message)
                                                      : read_file(ctx, nodes.fabric);
    if (!status && parts > 1)
        comm->topology.fabric = &comm->fabric;
    return status;
}
