/*
 * The communicator of a context: the caller's attributes, error handler and hints; intercommunicators; hosts, whose
 * ranks need not be consecutive.
 *
 *   communicator
 */
#include "support/product/gemm_case.h"
#include "support/product/virtual_hosts.h"

#include "hsumma/context/context.h"

enum callback { COPIES, REFUSES, FAILS };

static int copied, deleted;

static int copy(MPI_Comm comm, int keyval, void *behaviour, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval;
    copied++;
    *(void **)out = in;
    *flag = *(enum callback *)behaviour == COPIES;
    return *(enum callback *)behaviour == FAILS ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int keyval, void *attribute, void *behaviour)
{
    (void)comm, (void)keyval, (void)attribute, (void)behaviour;
    deleted++;
    return MPI_SUCCESS;
}

/* A callback that fails is an error of hsumma_create on all processes, which the caller's error handler does not see.
 */
static void test_attributes(void)
{
    static const char *const name[] = {"copies", "refuses", "fails"};
    for (enum callback behaviour = COPIES; behaviour <= FAILS; behaviour++) {
        char said[256] = "";
        MPI_Comm comm;
        MPI_Errhandler handler;
        hsumma_context *ctx = NULL;
        int keyval, fails = behaviour == FAILS;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* its handler ends the program */
        MPI_Comm_create_keyval(copy, drop, &keyval, &behaviour);
        MPI_Comm_set_attr(comm, keyval, &keyval);
        copied = deleted = 0;
        hsumma_status status = hsumma_create(comm, NULL, &ctx, said, sizeof said);
        int good = fails ? status == HSUMMA_ERR_MPI && !ctx && strstr(said, "MPI_Comm_idup") : status == HSUMMA_OK;
        MPI_Comm_get_errhandler(comm, &handler);
        good &= copied == 1 && handler == MPI_ERRORS_ARE_FATAL;
        hsumma_free(&ctx);
        tap_ok(everywhere(good && deleted == (behaviour == COPIES)), "a copy callback that %s: %s", name[behaviour],
               said);
        MPI_Comm_free(&comm);
        MPI_Comm_free_keyval(&keyval);
    }
}

/* Hints would let the library's messages overtake each other, or forbid its MPI_ANY_SOURCE. */
static void test_hints(void)
{
    static const char *const hint[] = {"mpi_assert_allow_overtaking", "mpi_assert_no_any_source"};
    hsumma_context *ctx = NULL;
    MPI_Info info;
    MPI_Comm comm;
    int good;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info_create(&info);
    for (int i = 0; i < 2; i++)
        MPI_Info_set(info, hint[i], "true");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    good = hsumma_create(comm, NULL, &ctx, NULL, 0) == HSUMMA_OK;
    MPI_Comm_free(&comm);
    MPI_Comm_get_info(ctx->comm.comm, &info);
    for (int i = 0; i < 2 && good; i++) {
        char value[16] = "";
        int found = 0;
        MPI_Info_get(info, hint[i], sizeof value - 1, value, &found);
        good &= !found || strcmp(value, "false") == 0;
    }
    MPI_Info_free(&info);
    hsumma_free(&ctx);
    tap_ok(everywhere(good), "the hints of the caller's communicator do not apply");
}

static void test_intercommunicator(void)
{
    char said[256] = "";
    MPI_Comm half, both;
    hsumma_context *ctx = NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
    hsumma_status status = hsumma_create(both, NULL, &ctx, said, sizeof said);
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && !ctx && strstr(said, "intercommunicator")), "%s", said);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Ranks on `hosts` hosts, in blocks or in turn: hosts and nodes are found, and the ranks of a node share memory. */
static void test_hosts(int hosts, int round_robin)
{
    hsumma_context *ctx = NULL;
    virtual_hosts(hosts, round_robin);
    int good = hsumma_create(MPI_COMM_WORLD, "profile=builtin", &ctx, NULL, 0) == HSUMMA_OK;
    virtual_hosts(0, 0);
    const int each = (size + hosts - 1) / hosts;
    const struct hs_host *host = good ? &ctx->comm.host : NULL;
    const struct hs_division *node = good ? &ctx->comm.topology.division[HS_NODE] : NULL;
    int members = 0, mates = 0;
    for (int r = 0; r < size && good; r++) {
        int first = round_robin ? r % hosts : r / each * each;
        good &= hs_part_rank(&host->all.division[HS_NODE], hs_part_of(&host->all.division[HS_NODE], r), 0) == first &&
                hs_part_of(node, r) == hs_part_of(node, first) && (first == r) == (hs_place_in_part(node, r) == 0);
        members += first == (round_robin ? rank % hosts : rank / each * each);
    }
    if (good) {
        MPI_Comm_size(host->comm, &mates);
        good = host->count == members && mates == members && ctx->comm.mates.count == members;
        good &= !ctx->comm.shm == (hs_division_largest(node) == 1);
    }
    tap_ok(everywhere(good), "%d hosts, ranks %s", hosts, round_robin ? "in turn" : "in blocks");
    hsumma_free(&ctx);
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    test_attributes();
    test_hints();
    if (size > 1)
        test_intercommunicator();
    for (int hosts = 1; hosts <= size; hosts++)
        for (int round_robin = 0; round_robin < 2; round_robin++)
            test_hosts(hosts, round_robin);
    return world_end();
}
