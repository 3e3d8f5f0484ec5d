/* hsumma coll --list: prints the registry. */
#include <string.h>

#include "coll/command.h"
#include "coll/select/select.h"
#include "report/columns.h"

/* Properties and requirements of an algorithm; words NULL: only in JSON. */
static const struct {
    unsigned flag;
    const char *key, *words;
} facts[] = {
    {HS_KEEPS_ORDER, "keeps_order", "keeps order"},
    {HS_KEEPS_ORDER_IF, "keeps_order_on_blocks", "keeps order if the ranks of each node are consecutive"},
    {HS_UNIFORM, "uniform", "uniform"},
    {HS_EXACT_SUMS, "exact", "exact"},
    {HS_TRUE_ROOT, "true_root", NULL},
    {HS_USES_TOPOLOGY, "topology", "node-aware"},
    {HS_USES_SHARED, "shared", "shared memory"},
    {HS_FOR_DEVICES, "for_devices", "device memory"},
    {HS_ON_HOST, "on_host", "staged"},
    {HS_BY_MPI, "by_mpi", "MPI's own"},
};

enum { FACTS = sizeof facts / sizeof *facts, FACT_GROUPS = 4 };

/* Finds the reasons why an algorithm is unfit for some groups, by asking it about four groups that differ in size,
 * nodes and shared memory. The reasons found come first, then NULL. */
static void find_limits(const struct hs_alg *alg, const char *limit[FACT_GROUPS])
{
    static const struct {
        int size, nodes; /* numbers of ranks and of nodes */
        int64_t shared_bytes;
    } groups[FACT_GROUPS] = {{6, 3, 0}, {8, 1, 0}, {5, 3, 64 << 10}, {8, 1, 64 << 10}};
    int count = 0;

    for (int g = 0; g < FACT_GROUPS; g++) {
        struct hs_topology topology;
        struct hs_shape shape = {.size = groups[g].size, .bytes = 64 * groups[g].size, .unit = 8};
        const char *why;

        limit[g] = NULL;
        if (hs_topology_blocks(&topology, groups[g].size, groups[g].nodes, 1, &hs_heap))
            continue;
        topology.shared_bytes = groups[g].shared_bytes;
        shape.topology = &topology;
        why = hs_alg_unfit(alg, &shape);
        for (int i = 0; why && i < count; i++)
            if (!strcmp(limit[i], why))
                why = NULL;
        if (why)
            limit[count++] = why;
        hs_topology_free(&topology, &hs_heap);
    }
}

static void print_row(const struct hs_alg *alg, FILE *file)
{
    const char *limit[FACT_GROUPS], *between = "        ";
    char text[HS_ALG_SPEC_TEXT];

    hs_alg_parameters(alg, text, sizeof text);
    fprintf(file, "  %s%s%s%s\n        %s\n", alg->name, text[0] ? "(" : "", text, text[0] ? ")" : "", alg->doc);
    for (int i = 0; i < FACTS; i++)
        if (alg->flags & facts[i].flag && facts[i].words) {
            fprintf(file, "%s%s", between, facts[i].words);
            between = ", ";
        }
    find_limits(alg, limit);
    for (int i = 0; i < FACT_GROUPS && limit[i]; i++) {
        fprintf(file, "%snot if %s", between, limit[i]);
        between = ", ";
    }
    if (between[0] == ',')
        fputc('\n', file);
}

static void print_table(const coll_arguments *args, FILE *file)
{
    const struct hs_alg *alg;
    int last = -1;

    for (int i = 0; (alg = hs_alg_at(i)); i++) {
        if (args->collective >= 0 && (int)alg->collective != args->collective)
            continue;
        if ((int)alg->collective != last)
            fprintf(file, "%s%s\n", last < 0 ? "" : "\n", hs_collective_name(alg->collective));
        last = (int)alg->collective;
        print_row(alg, file);
    }
    fputs("\nl: leaders per node; k: pieces in flight, or a tree of radix 2^k; b: bytes up to which vectors are "
          "exchanged\n"
          "whole; rings, rest: rings of odd factors, and the protocol of the remaining one; level: node or socket;\n"
          "outer, inner: algorithms between and inside nodes; segment: bytes\n"
          "keeps order: also for operators that do not commute; uniform: every element is summed in the same order;\n"
          "exact: the same bits for any number of ranks; auto takes it only with bits=anywhere;\n"
          "device memory: auto takes it for device memory only; staged: auto never takes it\n",
          file);
}

static json_t *row_json(const struct hs_alg *alg)
{
    static const report_column columns[] = {
        {"name", REPORT_VALUE(struct hs_alg, name)}, {"doc", REPORT_VALUE(struct hs_alg, doc)}, REPORT_END};
    json_t *object = report_object(columns, alg, REPORT_ALL), *list = json_array();
    const char *limit[FACT_GROUPS];
    char text[HS_ALG_SPEC_TEXT];

    hs_alg_parameters(alg, text, sizeof text);
    json_object_set_new(object, "collective", json_string(hs_collective_name(alg->collective)));
    json_object_set_new(object, "parameters", json_string(text));
    for (int i = 0; i < FACTS; i++)
        json_object_set_new(object, facts[i].key, json_boolean(alg->flags & facts[i].flag));
    find_limits(alg, limit);
    for (int i = 0; i < FACT_GROUPS && limit[i]; i++)
        json_array_append_new(list, json_string(limit[i]));
    json_object_set_new(object, "not_if", list);
    return object;
}

static int print_json(const coll_arguments *args, FILE *file)
{
    json_t *list = json_array();
    const struct hs_alg *alg;

    for (int i = 0; (alg = hs_alg_at(i)); i++)
        if (args->collective < 0 || (int)alg->collective == args->collective)
            json_array_append_new(list, row_json(alg));
    return report_json(json_pack("{s:o}", "algorithms", list), 0, 0, file);
}

int coll_list(const coll_arguments *args)
{
    int good = 1;

    if (args->format == REPORT_JSON)
        good = print_json(args, stdout);
    else
        print_table(args, stdout);
    return command_fail(MPI_COMM_SELF, !good || !report_written(stdout),
                        "the list could not be written to standard output");
}
