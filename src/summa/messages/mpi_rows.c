#include "summa/messages/mpi_rows.h"

#include "coll/node/agree_mpi.h"

static const hsumma_element element_of[] = {[HSUMMA_S] = HSUMMA_FLOAT,
                                            [HSUMMA_D] = HSUMMA_DOUBLE,
                                            [HSUMMA_C] = HSUMMA_FLOAT_COMPLEX,
                                            [HSUMMA_Z] = HSUMMA_DOUBLE_COMPLEX};

/* Makes the communicator of a level's group.  Tags differ between operands and levels, because processes of one group
 * may already be making the next communicator, with other members. */
static hsumma_status connect_level(struct hs_mover *mover, int level, const struct hs_comm *comm, int *rank)
{
    const struct hs_group *group = &mover->group[level];
    for (int i = 0; i < group->size; i++)
        rank[i] = hs_group_rank(group, i);
    mover->operation = (hsumma_operator){.op = HSUMMA_SUM, .element = element_of[mover->problem->scalar->type]};
    mover->native[level] = (struct hs_native){.comm = MPI_COMM_NULL};
    mover->connected[level] = 1;
    MPI_Group ranks;
    hsumma_status status = hs_mpi_group(comm->comm, group->size, rank, &ranks);
    return status
               ? status
               : hs_mpi_subset(comm->comm, &ranks, mover->operand * HS_LEVELS_MAX + level, &mover->native[level].comm);
}

hsumma_status hs_native_connect(struct hs_mover *mover, const struct hs_comm *comm, int *rank)
{
    hsumma_status first = HSUMMA_OK;
    for (int l = 0; l < mover->levels; l++)
        if (mover->alg[l]->flags & HS_BY_MPI) {
            hsumma_status status = connect_level(mover, l, comm, rank);
            first = first ? first : status;
        }
    return first;
}

void hs_native_disconnect(struct hs_mover *mover)
{
    int finalised = 1;
    MPI_Finalized(&finalised);
    for (int l = 0; l < mover->levels && !finalised; l++)
        if (mover->connected[l] && mover->native[l].comm != MPI_COMM_NULL)
            MPI_Comm_free(&mover->native[l].comm);
}

int hs_native_wanted(const struct hs_spec *spec)
{
    int wanted = 0;
    for (int l = 0; l < spec->levels; l++)
        wanted |= spec->bcast[l]->flags & HS_BY_MPI || spec->reduce[l]->flags & HS_BY_MPI;
    return wanted;
}
