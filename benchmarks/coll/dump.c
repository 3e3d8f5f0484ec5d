/* hsumma coll --dump: prints one schedule, without running its ranks. */
#include <string.h>

#include "coll/command.h"
#include "coll/costs.h"
#include "coll/proof/verify.h"
#include "coll/schedule/dump.h"
#include "coll/schedule/lists.h"
#include "coll/select/select.h"
#include "hsumma/cost/profile.h"
#include "report/columns.h"

enum { DUMPED = 8 };

static void print_head(const struct hs_alg *alg, const struct hs_shape *shape, const coll_arguments *args)
{
    printf("%s of %lld bytes over %d ranks", hs_collective_name(alg->collective), (long long)shape->bytes, shape->size);
    if (shape->topology)
        printf(" on %d node%s of %lld socket%s, %lld bytes of shared memory per rank",
               shape->topology->division[HS_NODE].parts, shape->topology->division[HS_NODE].parts > 1 ? "s" : "",
               (long long)args->sockets, args->sockets > 1 ? "s" : "", (long long)shape->topology->shared_bytes);
    printf(", elements of %lld bytes, root %d\n%s: %s\n\n", (long long)shape->unit, shape->root, alg->name, alg->doc);
}

static int breaks_order(const struct hs_alg *stage)
{
    return stage &&
           (stage->collective == HS_REDUCE_TO || stage->collective == HS_ALLREDUCE ||
            stage->collective == HS_REDUCE_SCATTER) &&
           !(stage->flags & HS_KEEPS_ORDER);
}

enum { MOST_CELLS = 4 << 20 }; /* limit on ranks times elements: verifying them takes a few seconds and about 100 MB */

/* Verifies the schedule and prints the findings. Given a stage that does not keep the order of sums, the algorithm need
 * not keep it either, whatever its flags promise. */
static hsumma_status print_proof(const struct hs_alg *alg, const struct hs_shape *shape, struct hs_message *message)
{
    struct hs_alg promising = *alg;
    struct hs_verify_report report;
    hsumma_status status;

    if (shape->bytes / shape->unit > MOST_CELLS / shape->size) {
        puts("not verified: too many ranks and elements; give fewer --bytes or --ranks\n");
        return HSUMMA_OK;
    }
    if (breaks_order(shape->with.outer) || breaks_order(shape->with.inner))
        promising.flags &= ~(unsigned)(HS_KEEPS_ORDER | HS_KEEPS_ORDER_IF | HS_UNIFORM);
    status = hs_verify(&promising, shape, NULL, &hs_heap, &report);

    if (status)
        return hs_fail(message, status, "the schedule of %s is wrong: %s", alg->name, report.text);
    printf("verified: %lld messages, %lld bytes, %d rounds; sent by a rank: at most %lld messages, at most %lld bytes",
           (long long)report.messages, (long long)report.bytes, report.rounds, (long long)report.messages_rank_max,
           (long long)report.bytes_rank_max);
    if (alg->collective == HS_ALLREDUCE)
        printf("; %s on all ranks", report.same_bits ? "the same bits" : "NOT the same bits");
    if (alg->collective == HS_REDUCE_TO || alg->collective == HS_ALLREDUCE || alg->collective == HS_REDUCE_SCATTER)
        printf("; sums %s", report.exact ? "exact" : report.keeps_order ? "in the order of the ranks" : "in any order");
    puts("\n");
    return HSUMMA_OK;
}

static hsumma_status print_steps(const struct hs_alg *alg, const struct hs_shape *shape, const coll_arguments *args)
{
    int from = args->rank < 0 ? 0 : (int)args->rank, to = args->rank < 0 ? shape->size : from + 1;
    struct hs_list *list;
    hsumma_status status = hs_build_all(alg, shape, &hs_heap, &list);

    if (status)
        return status;
    for (int r = from; r < to && r < from + DUMPED; r++) {
        printf("\nrank %d\n", r);
        hs_dump_list(stdout, &list[r]);
    }
    if (to - from > DUMPED)
        printf("\n(%d more ranks: --rank R)\n", to - from - DUMPED);
    hs_free_all(&hs_heap, list, shape->size);
    return HSUMMA_OK;
}

static hsumma_status print_all(const struct hs_alg *alg, const struct hs_shape *shape, const coll_arguments *args,
                               struct hs_message *message)
{
    const char *why = hs_alg_unfit(alg, shape);
    hsumma_status status;

    if (alg->flags & HS_BY_MPI)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "--alg %s: MPI's own algorithm has no schedule to print; give another one", alg->name);
    if (why)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED, "--alg %s: not possible here: %s", alg->name, why);
    print_head(alg, shape, args);
    coll_costs_heading(stdout, shape);
    status = coll_costs_line(stdout, alg, shape, &hs_profile_builtin.machine, NULL, 0);
    if (!status)
        status = print_proof(alg, shape, message);
    if (!status)
        status = hs_dump_rounds(stdout, alg, shape, &hs_heap);
    return status ? status : print_steps(alg, shape, args);
}

static hsumma_status dump(const coll_arguments *args, struct hs_message *message)
{
    enum hs_collective collective = (enum hs_collective)args->collective;
    int64_t unit = (int64_t)coll_element_of(args->element).size;
    int nodes = args->nodes ? (int)args->nodes : args->shared_bytes > 0 || args->sockets > 1;
    struct hs_topology topology;
    struct hs_alg_spec word;
    hsumma_status status =
        hs_alg_spec_read(NULL, collective, args->algorithm, strlen(args->algorithm), "--alg", &word, message);

    if (!status && !word.alg)
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "--alg %s: expected the name of an algorithm; hsumma coll --list prints all", args->algorithm);
    if (status ||
        (nodes && (status = hs_topology_blocks(&topology, (int)args->ranks, nodes, (int)args->sockets, &hs_heap))))
        return status;
    struct hs_shape shape = {.size = (int)args->ranks,
                             .root = args->root,
                             .bytes = args->to - args->to % unit,
                             .unit = unit,
                             .segment = word.segment,
                             .topology = nodes ? &topology : NULL,
                             .with = word.with};
    topology.shared_bytes = args->shared_bytes;
    hs_alg_spec_complete(&word, &shape, &hs_profile_builtin.machine);
    shape.with = word.with;
    status = print_all(word.alg, &shape, args, message);
    if (nodes)
        hs_topology_free(&topology, &hs_heap);
    return status;
}

int coll_dump(const coll_arguments *args)
{
    struct hs_message message = {""};
    hsumma_status status = dump(args, &message);

    if (command_fail(MPI_COMM_SELF, status != HSUMMA_OK, "coll: %s",
                     message.text[0] ? message.text : hsumma_status_string(status)))
        return status == HSUMMA_ERR_OPTION || status == HSUMMA_ERR_UNSUPPORTED ? COMMAND_BAD_INPUT : COMMAND_INTERNAL;
    return command_fail(MPI_COMM_SELF, !report_written(stdout), "coll: the schedule could not be written");
}
