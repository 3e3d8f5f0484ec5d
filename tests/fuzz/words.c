/*
 * Words of collectives, as "dpml(l=4,outer=ring)", and rules of the option coll. What is read is written and read
 * again; a word whose algorithm fits a shape gives lists that are proved correct.
 *
 * Input: ranks, nodes, sockets, elements, root, shared memory, then the text.
 */
#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"
#include "coll/select/select.h"
#include "fuzz/input.h"

enum { RANKS = 9, ELEMENTS = 40, UNIT = 4, SHARED_BYTES = 1024 };

static void check_lists(const struct hs_alg_spec *spec, struct input *input)
{
    struct hs_topology topology;
    struct hs_verify_report report = {0};
    struct hs_shape shape = {.size = 1 + draw_below(input, RANKS),
                             .unit = UNIT,
                             .segment = spec->segment,
                             .topology = &topology,
                             .with = spec->with};
    int nodes = 1 + draw_below(input, shape.size), sockets = 1 + draw_below(input, 3);
    shape.bytes = UNIT * draw_below(input, ELEMENTS);
    shape.root = spec->alg->collective <= HS_REDUCE_TO ? draw_below(input, shape.size) : 0;
    REQUIRE(hs_topology_blocks(&topology, shape.size, nodes, sockets, &hs_heap) == HSUMMA_OK);
    topology.shared_bytes = draw_byte(input) % 2 ? SHARED_BYTES : 0;
    if (!(spec->alg->flags & HS_BY_MPI) && !hs_alg_unfit(spec->alg, &shape)) {
        struct hs_list *list = NULL;
        hsumma_status status = hs_build_all(spec->alg, &shape, &hs_heap, &list);
        if (!status)
            status = hs_verify_lists(spec->alg->collective, list, &shape, NULL, &hs_heap, &report);
        hs_free_all(&hs_heap, list, list ? shape.size : 0);
        if (status && status != HSUMMA_ERR_UNSUPPORTED) /* a stage may be performed by MPI */
            fprintf(stderr, "%s: %s\n", hsumma_status_string(status), report.text);
        REQUIRE(status == HSUMMA_OK || status == HSUMMA_ERR_UNSUPPORTED);
    }
    hs_topology_free(&topology, &hs_heap);
}

static void check_word(enum hs_collective collective, const char *text, struct input input)
{
    struct hs_alg_spec spec, again;
    struct hs_message message = {""};
    char written[HS_ALG_SPEC_TEXT];
    hsumma_status checked = hs_alg_spec_check(text, strlen(text), "fuzz: ", &message);
    hsumma_status status = hs_alg_spec_read(NULL, collective, text, strlen(text), "fuzz: ", &spec, &message);
    REQUIRE(status == HSUMMA_OK || (status == HSUMMA_ERR_OPTION && strncmp(message.text, "fuzz: ", 6) == 0));
    if (status)
        return;
    REQUIRE(checked == HSUMMA_OK);
    hs_alg_spec_write(&spec, written, sizeof written);
    REQUIRE(hs_alg_spec_read(NULL, collective, written, strlen(written), "fuzz: ", &again, &message) == HSUMMA_OK);
    REQUIRE(again.alg == spec.alg && again.segment == spec.segment && hs_same_parameters(&again.with, &spec.with));
    if (spec.alg)
        check_lists(&spec, &input);
}

static void check_rules(const char *text)
{
    struct hs_rules rules = {0};
    struct hs_message message = {""};
    hsumma_status status = hs_rules_read(&rules, text, &hs_heap, &message);
    REQUIRE(status == HSUMMA_OK || status == HSUMMA_ERR_OPTION);
    for (int c = 0; c < HS_COLLECTIVES; c++)
        hs_rules_find(&rules, (enum hs_collective)c, 8, 2, 1024);
    hs_rules_free(&rules, &hs_heap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD = 6 };
    if (size < HEAD)
        return 0;
    char *text = input_text(data + HEAD, size - HEAD);
    for (int c = 0; c < HS_COLLECTIVES; c++)
        check_word((enum hs_collective)c, text, (struct input){data, HEAD});
    check_rules(text);
    free(text);
    return 0;
}
