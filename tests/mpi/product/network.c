/*
 * The measurement of the network between nodes when a context is created. All processes get the same result. The
 * measurement takes few messages, happens once per set of hosts, and is left out if the caller or a file describes the
 * network. Nodes are virtual. Times are not checked.
 */
#include "support/failing_memory.h"
#include "support/product/tuned_plan.h"

#include "coll/node/discover.h"
#include "hsumma/network/network.h"

enum { MOST_MESSAGES = 600, MOST_BYTES = 5 << 20, FEWEST_MESSAGES = 64, TEXT = 4096 };
static const double plenty = 1000;

/* nonzero: MPI_Get_processor_name fails on this process */
static int nameless;

int MPI_Get_processor_name(char *name, int *length)
{
    return nameless ? MPI_ERR_OTHER : PMPI_Get_processor_name(name, length);
}

/* Messages and bytes that this process sends, counted by MPI_Isend below, which fails for message number fail_at. */
static int64_t messages, bytes, fail_at = -1;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    int width = 0, code = PMPI_Isend(buffer, count, type, to, tag, comm, request);
    PMPI_Type_size(type, &width);
    bytes += (int64_t)count * width;
    return messages++ == fail_at ? MPI_ERR_OTHER : code;
}

static int64_t sent(void)
{
    int64_t all = world_reduce(messages, MPI_MAX);
    messages = 0;
    return all;
}

static int same_on_all(const void *what, size_t count)
{
    return alike(hash_of(1, what, count));
}

/* Measurements in topologies made by the test. */

enum shape { ONE_EACH, TWO_NODES, UNEQUAL, SCATTERED, SHAPES };
static const char *const shape_names[SHAPES] = {"one rank on each node", "two nodes", "unequal nodes",
                                                "ranks dealt round robin"};

static int make_comm(struct hs_comm *comm, enum shape shape)
{
    int *node = malloc((size_t)size * sizeof *node);
    *comm = (struct hs_comm){.rank = rank, .size = size, .cut = HS_CUT};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm->comm);
    MPI_Comm_set_errhandler(comm->comm, MPI_ERRORS_RETURN);
    for (int r = 0; r < size; r++)
        node[r] = shape == ONE_EACH ? r : shape == TWO_NODES ? r >= size / 2 : shape == UNEQUAL ? r > 0 : r % 2;
    hsumma_status status = hs_topology_make(&comm->topology, size, node, NULL, &hs_heap);
    free(node);
    return everywhere(status == HSUMMA_OK);
}

static void drop_comm(struct hs_comm *comm)
{
    hs_topology_free(&comm->topology, &hs_heap);
    MPI_Comm_free(&comm->comm);
}

static int is_sane(const struct hs_network *network)
{
    const struct hs_link *link = &network->between;
    const double figure[] = {link->alpha,           link->beta,           link->gap,
                             link->alpha_long,      link->beta_long,      network->inject,
                             network->inside.alpha, network->inside.beta, network->gemm};
    for (unsigned i = 0; i < sizeof figure / sizeof *figure; i++)
        if (!isfinite(figure[i]) || figure[i] < 0)
            return 0;
    return link->alpha > 0 && link->gap <= link->alpha && link->eager >= 0;
}

static void test_shapes(void)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        struct hs_comm comm;
        struct hs_network network;
        double seconds = 0;
        if (!make_comm(&comm, shape))
            continue;
        sent();
        bytes = 0;
        hsumma_status status =
            hs_network_measure(&comm, plenty, hs_scalars[HSUMMA_D].gemm, 1 + rank % 3, &hs_heap, &network, &seconds);
        int good = everywhere(status == HSUMMA_OK && is_sane(&network)) && same_on_all(&network, sizeof network) &&
                   same_on_all(&seconds, sizeof seconds);
        int inside =
            everywhere((network.inside.alpha > 0) == (hs_division_largest(&comm.topology.division[HS_NODE]) > 1));
        int64_t most = world_reduce(bytes, MPI_MAX), count = sent();
        inside = inside && everywhere(network.gemm > 0);
        tap_ok(good && inside && count > 20 && count <= MOST_MESSAGES && most > (1 << 20) && most <= MOST_BYTES,
               "%s: good figures, alike on all, by %d messages and %d bytes of a rank", shape_names[shape], (int)count,
               (int)most);
        status = hs_network_measure(&comm, 0, hs_scalars[HSUMMA_D].gemm, 1, &hs_heap, &network, &seconds);
        count = sent();
        good = everywhere(status == HSUMMA_OK && is_sane(&network)) && same_on_all(&network, sizeof network);
        tap_ok(good && count <= FEWEST_MESSAGES, "%s: without a budget %d messages", shape_names[shape], (int)count);
        drop_comm(&comm);
    }
}

static void test_failures(void)
{
    struct hs_comm comm;
    struct hs_network network;
    double seconds;
    int bad = 0;
    if (!make_comm(&comm, TWO_NODES))
        return;
    for (int victim = 0; victim < size; victim += size - 1)
        for (int call = 0; call < 2; call++) {
            struct failing_memory scarce = {0, rank == victim ? call : -1, 0, 0};
            struct hs_allocator memory = {failing_memory_get, failing_memory_put, &scarce};
            hsumma_status status =
                hs_network_measure(&comm, 0, hs_scalars[HSUMMA_D].gemm, 1, &memory, &network, &seconds);
            bad += !everywhere(status == HSUMMA_ERR_MEMORY && scarce.out == 0);
        }
    tap_ok(bad == 0, "memory fails on one rank: the same status on all, nothing left behind");
    bad = 0;
    sent();
    hs_network_measure(&comm, 0, hs_scalars[HSUMMA_D].gemm, 1, &hs_heap, &network, &seconds);
    int64_t all = messages;
    MPI_Bcast(&all, 1, MPI_INT64_T, size - 1, MPI_COMM_WORLD);
    for (int64_t at = 0; at < all; at += 3) {
        messages = 0;
        fail_at = rank == size - 1 ? at : -1;
        bad += !everywhere(hs_network_measure(&comm, 0, hs_scalars[HSUMMA_D].gemm, 1, &hs_heap, &network, &seconds) ==
                           HSUMMA_ERR_MPI);
    }
    fail_at = -1;
    tap_ok(bad == 0, "MPI reports an error to one rank for each third of %d messages: the same status on all",
           (int)all);
    drop_comm(&comm);
}

/* Contexts. */

/* Sets the directory in which process 0 looks for files; the other processes get a missing one. */
static void look_in(const char *name)
{
    setenv("XDG_CONFIG_HOME", rank == 0 ? tuned_path(name) : "/nowhere", 1);
}

static void read_remembered(const char *name, char text[TEXT])
{
    memset(text, 0, TEXT);
    FILE *file = rank == 0 ? fopen(tuned_path(name), "r") : NULL;
    if (file) {
        size_t length = fread(text, 1, TEXT - 1, file);
        text[length] = 0;
        fclose(file);
    }
    MPI_Bcast(text, TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static int lines_of(const char *text, const char *first)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, first)) != NULL; at++)
        count += at == text || at[-1] == '\n';
    return count;
}

/* Creates a context; checks how its profile's source begins, and whether the creation sent messages. */
static hsumma_context *made(const char *options, const char *source, int sends, const char *what)
{
    hsumma_context *ctx = NULL;
    char text[512] = "";
    sent();
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, text, sizeof text);
    int64_t count = sent();
    int good =
        everywhere(status == HSUMMA_OK && strncmp(ctx->profile.source, source, strlen(source)) == 0 && !ctx->note[0] &&
                   (source[8] || !ctx->profile.source[8] || strstr(ctx->profile.source, "kernels of the BLAS")));
    good = good && (count > 0) == sends && same_on_all(&ctx->profile.machine, sizeof ctx->profile.machine) &&
           same_on_all(ctx->profile.source, sizeof ctx->profile.source);
    tap_ok(good, "%s: %s, %d messages%s", what, status ? text : ctx->profile.source, (int)count,
           status ? "" : ctx->note);
    return ctx;
}

static void test_contexts(void)
{
    static const char two[] = "topology=nodes:2", three[] = "topology=nodes:3";
    static const char measured[] = "built-in, network measured in ", remembered[] = "built-in, network remembered";
    char text[TEXT];
    look_in("config");
    hsumma_context *first = made(two, measured, 1, "no profile, no tuned file");
    read_remembered("config/hsumma/tuned", text);
    tap_ok(lines_of(text, "network ") == 1, "it is remembered: %s", strchr(text, '\n') ? strchr(text, '\n') + 1 : text);
    hsumma_context *second = made(two, remembered, 0, "again");
    double was = first->profile.machine.network.alpha, is = second->profile.machine.network.alpha;
    tap_ok(fabs(was / is - 1) < 1e-5 && is != hs_profile_builtin.machine.network.alpha &&
               second->profile.machine.gamma == hs_profile_builtin.machine.gamma,
           "the same figures, %g and %g s, the rest built in", was, is);
    hsumma_free(&first), hsumma_free(&second);

    hsumma_context *ctx = made("topology=nodes:2 profile=builtin", "built-in", 0, "profile=builtin");
    tap_ok(ctx->profile.machine.network.alpha == hs_profile_builtin.machine.network.alpha, "as it is built in");
    hsumma_free(&ctx);
    ctx = made("topology=nodes:1", "built-in", 0, "one node");
    hsumma_free(&ctx);
    ctx = made("topology=nodes:2 tuned=none", remembered, 0, "without a file the process still knows");
    hsumma_free(&ctx);

    ctx = made("topology=nodes:3 tune=off", measured, 1, "other nodes, tune=off");
    hsumma_free(&ctx);
    read_remembered("config/hsumma/tuned", text);
    tap_ok(lines_of(text, "network ") == 1, "tune=off leaves the file alone");
    ctx = made(three, remembered, 0, "but the process knows");
    hsumma_free(&ctx);
}

/* A set of hosts has one key, independent of the order of ranks; other placements have other keys. */
static void test_key(void)
{
    uint64_t key[4];
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    hsumma_status status = hs_network_key(MPI_COMM_WORLD, 2, 0, 0, NULL, &key[0]);
    status = status ? status : hs_network_key(reversed, 2, 0, 0, NULL, &key[1]);
    status = status ? status : hs_network_key(MPI_COMM_WORLD, 3, 0, 0, NULL, &key[2]);
    status = status ? status : hs_network_key(MPI_COMM_WORLD, 2, 2, 1, NULL, &key[3]);
    MPI_Bcast(&key[1], 1, MPI_UINT64_T, 0, reversed);
    MPI_Comm_free(&reversed);
    int good = rank > 0 || (key[0] && key[0] == key[1] && key[0] != key[2] && key[0] != key[3] && key[2] != key[3]);
    tap_ok(everywhere(status == HSUMMA_OK && good), "keys of hosts");
    hsumma_context *ctx = NULL;
    nameless = rank == size - 1;
    status = hsumma_create(MPI_COMM_WORLD, "topology=nodes:2", &ctx, NULL, 0);
    nameless = 0;
    tap_ok(everywhere(status == HSUMMA_ERR_MPI && !ctx), "one rank cannot say its host: no context on any");
    hsumma_free(&ctx);
}

/* A line of the file for these hosts is used, whichever program wrote it. */
static void test_file(void)
{
    static const struct hs_network slow = {
        .between = {.alpha = 0.5, .beta = 0.25, .gap = 0.125}, .inject = 0.0625, .gemm = 1};
    char line[512], text[TEXT], options[256];
    hsumma_context *ctx = made("topology=nodes:2", "built-in, network remembered", 0, "the hosts' key");
    hs_network_write(ctx->network_key, &slow, line, sizeof line);
    hsumma_free(&ctx);
    int length = snprintf(text, sizeof text, "hsumma tuned 2\n%s\n", line);
    tuned_put("slow", text, (size_t)length);
    snprintf(options, sizeof options, "topology=nodes:2 tuned=%s", tuned_path("slow"));
    ctx = made(options, "built-in, network remembered", 0, "a line of the file");
    const struct hs_machine *m = &ctx->profile.machine;
    tap_ok(m->network.alpha == 0.5 && m->network.beta == 0.25 && m->network.gap == 0.125 && m->inject == 0.0625 &&
               m->node.alpha == hs_profile_builtin.machine.node.alpha,
           "its figures decide; inside nodes those that are built in");
    hsumma_free(&ctx);
    static const char damaged[] = "hsumma tuned 2\nnetwork 0123456789abcdef eager=0 alpha=fast\n";
    tuned_put("damaged", damaged, sizeof damaged - 1);
    snprintf(options, sizeof options, "tuned=%s", tuned_path("damaged"));
    char message[512] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, message, sizeof message);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && strstr(message, "line 2") != NULL), "damaged: %s", message);
    hsumma_free(&ctx);
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    unsetenv("HSUMMA_PROFILE");
    if (size < 2)
        tap_skip(1, "needs two ranks");
    else if (everywhere(tuned_directory_make())) {
        test_shapes();
        test_failures();
        test_contexts();
        test_key();
        test_file();
        tuned_directory_drop();
    }
    return world_end();
}
