/* The choice of algorithms: parsing of algorithms and rules, precedence of settings, algorithms that do not fit and
 * their replacements; without MPI. */
#include "coll/select/select.h"
#include "support/tap.h"

#include <math.h>
#include <string.h>

static const struct hs_machine machine = {.alpha = 1e-6, .beta = 1e-10, .gamma = 2e-10, .copy = 1e-10, .signal = 2e-7};

/* Algorithms as text, and their canonical form; NULL: the text must be refused with a message that contains `says`. */
static void test_words(void)
{
    static const struct {
        enum hs_collective collective;
        const char *text, *written, *says;
    } words[] = {
        {HS_BCAST, "chain", "chain", NULL},
        {HS_BCAST, "auto", "auto", NULL},
        {HS_BCAST, "chain(segment=64k)", "chain(segment=64k)", NULL},
        {HS_BCAST, "chain(segment=1000)", "chain(segment=1000)", NULL},
        {HS_ALLREDUCE, "dpml(l=4,k=2,level=socket,outer=ring)", "dpml(l=4,k=2,level=socket,outer=ring)", NULL},
        {HS_ALLREDUCE, "dpml(outer=ring,level=node,k=2,l=4)", "dpml(l=4,k=2,outer=ring)", NULL},
        {HS_ALLREDUCE, "rabenseifner_traff(b=8K)", "rabenseifner_traff(b=8k)", NULL},
        {HS_ALLREDUCE, "rabenseifner_traff(rest=elimination_21,rings=15)",
         "rabenseifner_traff(rings=15,rest=elimination_21)", NULL},
        {HS_ALLREDUCE, "rabenseifner_traff(rest=butterfly)", NULL, "rest=ring, rest=elimination_32"},
        {HS_ALLREDUCE, "small_ring(rings=3)", NULL, "the parameters of small_ring are b"},
        {HS_ALLREDUCE, "smp(outer=nap,inner=shared)", "smp(outer=nap,inner=shared)", NULL},
        {HS_ALLREDUCE, "reduce_bcast(outer=chain,inner=binomial)", "reduce_bcast(outer=chain,inner=binomial)", NULL},
        {HS_BCAST, "ring", NULL, "there is no bcast algorithm \"ring\"; expected one of: flat, binomial"},
        {HS_ALLREDUCE, "chain", NULL, "recursive_doubling"},
        {HS_BCAST, "", NULL, "NAME"},
        {HS_BCAST, "chain(", NULL, "NAME(l=4,outer=NAME)"},
        {HS_BCAST, "chain)", NULL, "NAME"},
        {HS_BCAST, "chain()", NULL, "the parameters of chain are segment"},
        {HS_BCAST, "chain(l=2)", NULL, "the parameters of chain are segment"},
        {HS_ALLREDUCE, "rabenseifner_traff(rest=ring,rest=butterfly)", NULL, "rest is given twice"},
        {HS_ALLREDUCE, "dpml(l=4,l=8)", NULL, "l is given twice"},
        {HS_BCAST, "flat(l=2)", NULL, "flat has no parameters"},
        {HS_BCAST, "chain(segment=0)", NULL, "segment=BYTES"},
        {HS_BCAST, "chain(segment=64x)", NULL, "segment=BYTES"},
        {HS_BCAST, "chain(segment=64k,)", NULL, "parameters"},
        {HS_BCAST, "chain(segment)", NULL, "parameters"},
        {HS_ALLREDUCE, "dpml(l=0)", NULL, "l=N"},
        {HS_ALLREDUCE, "dpml(l=4294967297)", NULL, "l=N"},
        {HS_ALLREDUCE, "dpml(k=2000000)", NULL, "k=N"},
        {HS_ALLREDUCE, "dpml(level=rack)", NULL, "level=node or level=socket"},
        {HS_ALLREDUCE, "dpml(outer=)", NULL, "outer=NAME"},
        {HS_ALLREDUCE, "dpml(outer=none)", NULL, "\"none\""},
        {HS_ALLREDUCE, "dpml(q=1)", NULL, "l, k, level, outer"},
        {HS_ALLREDUCE, "a b", NULL, "NAME"},
        {HS_ALLREDUCE, "a2345678901234567890123456789012", NULL, "NAME"},
    };
    int wrong = 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        struct hs_alg_spec word;
        struct hs_message message = {""};
        char text[HS_ALG_SPEC_TEXT] = "";
        hsumma_status status =
            hs_alg_spec_read(NULL, words[i].collective, words[i].text, strlen(words[i].text), "test", &word, &message);
        if (!status)
            hs_alg_spec_write(&word, text, sizeof text);
        int right = words[i].written ? !status && strcmp(text, words[i].written) == 0
                                     : status == HSUMMA_ERR_OPTION && strstr(message.text, words[i].says) &&
                                           strncmp(message.text, "test: ", 6) == 0;
        wrong += !right;
        if (!right)
            tap_diag("%s: %d, \"%s\", %s", words[i].text, (int)status, text, message.text);
    }
    tap_ok(wrong == 0, "%zu words: %d wrong", sizeof words / sizeof *words, wrong);
}

static void test_rules(void)
{
    static const char *const bad[] = {
        "",
        "ring",
        "allreduce",
        "allreduce:",
        "alltoall:ring",
        "allreduce:2k:ring",
        "allreduce:0-:ring",
        "allreduce:3-2:ring",
        "allreduce:0-2k:",
        "allreduce:ring;",
        "allreduce:a(l=1",
        "allreduce:ring,,ring",
        "allreduce:0-1x:ring",
        "allreduce:-1-2:ring",
    };
    int wrong = 0;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hs_rules rules = {0};
        struct hs_message message = {""};
        hsumma_status status = hs_rules_read(&rules, bad[i], &hs_heap, &message);
        wrong += status != HSUMMA_ERR_OPTION || strncmp(message.text, "coll: ", 6) != 0;
        if (status != HSUMMA_ERR_OPTION)
            tap_diag("\"%s\" is accepted", bad[i]);
        hs_rules_free(&rules, &hs_heap);
    }
    tap_ok(wrong == 0, "%zu texts that are no rules: %d wrong", sizeof bad / sizeof *bad, wrong);

    static const struct {
        enum hs_collective collective;
        int64_t bytes;
        const char *word;
    } cases[] = {
        {HS_ALLREDUCE, 0, "nap"},
        {HS_ALLREDUCE, 2048, "nap"},
        {HS_ALLREDUCE, 2049, "dpml(l=4,k=2)"},
        {HS_ALLREDUCE, INT64_MAX, "dpml(l=4,k=2)"},
        {HS_BCAST, 1, "chain"},
        {HS_REDUCE_TO, 1, NULL},
        {HS_ALLGATHER, 10, NULL},
        {HS_ALLGATHER, 11, "ring"},
        {HS_ALLGATHER, 13, NULL},
    };
    struct hs_rules rules = {0};
    wrong = hs_rules_read(&rules, "allreduce:0-2k:nap,2k-inf:dpml(l=4,k=2);bcast:chain;allgather:11-12:ring", &hs_heap,
                          NULL) != HSUMMA_OK;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *word = hs_rules_find(&rules, cases[i].collective, 8, 2, cases[i].bytes);
        wrong += cases[i].word ? !word || strcmp(word, cases[i].word) != 0 : word != NULL;
    }
    hs_rules_free(&rules, &hs_heap);
    tap_ok(wrong == 0, "rules by collective and size: %d wrong", wrong);
}

#define RULES "# a comment\n\nallreduce 8 2 0-1k nap # here as well\nallreduce\t8  4 0-1k ring\r\nallreduce * * * smp\n"
#define LAST "bcast 16 * 0-inf chain(segment=4k)"

/* Rules of a tuned file, which may contain lines of products. */
static void test_tuned(const char *text)
{
    static const char *const bad[] = {"",
                                      "hsumma tuned\n",
                                      "hsumma tuned 0\n",
                                      "hsumma tuned 3\n",
                                      "hsumma tuned 2x\n",
                                      "hsumma tuned 2\rallreduce 8 2 0-1k nap",
                                      "hsumma tuned 1\nallreduce 8 2 0-1k nap\n",
                                      "hsumma tuned 2\nGEMM key 1 block=2\n",
                                      "hsumma tuned 2\ngemmm key 1 block=2\n",
                                      "hsumma tuned 2\nallreduce 8 2 0-1k\n",
                                      "allreduce 8 2 0-1k nap\n",
                                      "hsumma tuned 2\nallreduce 8 2 0-1k\n",
                                      "hsumma tuned 2\nallreduce 8 2 0-1k nap more\n",
                                      "hsumma tuned 2\nallreduce 0 2 0-1k nap\n",
                                      "hsumma tuned 2\nall 8 2 0-1k nap\n",
                                      "hsumma tuned 2\nallreduce 8 2 1k nap\n",
                                      "hsumma tuned 2\n\nallreduce 8 2 0-1k nap(\n"};
    struct hs_rules rules = {0};
    struct hs_message message = {""};
    int wrong = hs_rules_read_tuned(&rules, text, &hs_heap, &message) != HSUMMA_OK || rules.count != 4;
    const char *found[] = {hs_rules_find(&rules, HS_ALLREDUCE, 8, 2, 1024),
                           hs_rules_find(&rules, HS_ALLREDUCE, 8, 4, 5),
                           hs_rules_find(&rules, HS_ALLREDUCE, 8, 2, 1025), hs_rules_find(&rules, HS_BCAST, 16, 3, 9),
                           hs_rules_find(&rules, HS_BCAST, 15, 3, 9)};
    wrong += !found[0] || strcmp(found[0], "nap") != 0;
    wrong += !found[1] || strcmp(found[1], "ring") != 0;
    wrong += !found[2] || strcmp(found[2], "smp") != 0;
    wrong += !found[3] || strcmp(found[3], "chain(segment=4k)") != 0 || found[4];
    hs_rules_free(&rules, &hs_heap);
    tap_ok(wrong == 0, "a tuned file: %d wrong %s", wrong, message.text);
    wrong = 0;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        wrong += hs_rules_read_tuned(&rules, bad[i], &hs_heap, &message) != HSUMMA_ERR_OPTION ||
                 strncmp(message.text, "tuned: ", 7) != 0;
        hs_rules_free(&rules, &hs_heap);
    }
    tap_ok(wrong == 0 && strstr(message.text, "line 3: \"nap(\""), "%zu files that are none, the last: %s",
           sizeof bad / sizeof *bad, message.text);
    hs_rules_read_tuned(&rules, bad[3], &hs_heap, &message);
    tap_ok(strstr(message.text, "version 3") && strstr(message.text, "reads version 2"), "%s", message.text);
}

/* Asks for an algorithm. In the line that describes the answer, the text after ": " must begin with `begins`, and the
 * line must contain `has`. */
static void chosen(struct hs_selector *selector, const struct hs_question *question, const char *begins,
                   const char *has)
{
    struct hs_answer answer;
    struct hs_message message = {""};
    char line[400] = "", *word;
    hsumma_status status = hs_select(selector, question, &answer, &message);
    if (!status)
        hs_answer_write(question, &answer, line, sizeof line);
    word = strstr(line, ": ");
    tap_ok(!status && word && strncmp(word + 2, begins, strlen(begins)) == 0 && strstr(line, has), "%s%s", line,
           message.text);
}

static void test_choice(void)
{
    struct hs_selector selector = {.memory = &hs_heap, .machine = &machine};
    struct hs_topology even, uneven, single, scattered;
    const int node[] = {0, 1, 0, 1, 0, 1};
    hs_topology_blocks(&even, 6, 2, 1, &hs_heap);
    hs_topology_blocks(&uneven, 5, 2, 1, &hs_heap);
    hs_topology_blocks(&single, 3, 2, 1, &hs_heap);
    hs_topology_make(&scattered, 6, node, NULL, &hs_heap);
    struct hs_shape shape = {.size = 6, .bytes = 1000, .unit = 8};
    struct hs_question question = {.collective = HS_ALLREDUCE, .shape = &shape};

    chosen(&selector, &question, "", "by the model: ");
    hs_rules_read_tuned(&selector.tuned, "hsumma tuned 2\nallreduce * * 0-2k elimination_21\n", &hs_heap, NULL);
    chosen(&selector, &question, "elimination_21, by the tuned file", "allreduce of 1000 bytes on 6 processes: ");
    hs_rules_read(&selector.coll, "allreduce:ring", &hs_heap, NULL);
    chosen(&selector, &question, "ring, by the option coll", "");
    question.spec = "small_ring(b=1k)";
    chosen(&selector, &question, "small_ring(b=1k), by the call", "");
    question.spec = "rabenseifner_traff"; /* the plan depends on the machine */
    chosen(&selector, &question, "rabenseifner_traff(b=1k,rings=1,rest=ring), by the call", "");
    selector.machine = &(struct hs_machine){.alpha = 1e-9, .beta = 1e-6};
    chosen(&selector, &question, "rabenseifner_traff(b=1,rings=1,rest=ring), by the call", "");
    selector.machine = &machine;
    question.spec = "auto";
    chosen(&selector, &question, "ring, by the option coll", "");
    shape.bytes = 65536;
    hs_rules_free(&selector.coll, &hs_heap);
    chosen(&selector, &question, "", "allreduce of 64 KiB");

    question.spec = "butterfly";
    chosen(&selector, &question, "recursive_doubling instead of butterfly (by the call): ", "not a power of two");
    question.spec = "shared";
    shape.topology = &even;
    chosen(&selector, &question, "recursive_doubling instead of shared", "(2 nodes): ");
    question.spec = "nap";
    chosen(&selector, &question, "nap, by the call", "");
    shape.topology = &uneven;
    shape.size = 5;
    chosen(&selector, &question, "nap, by the call", "");
    shape.topology = &single;
    shape.size = 3;
    chosen(&selector, &question, "smp instead of nap", "a node has one rank and another has more");
    shape.topology = &uneven;
    shape.size = 5;
    question.ordered = 1;
    question.spec = "ring";
    chosen(&selector, &question, "recursive_doubling instead of ring", "does not commute");
    question.spec = "smp";
    chosen(&selector, &question, "smp, by the call", "");
    question.spec = "smp(outer=ring)";
    chosen(&selector, &question, "recursive_doubling instead of smp(outer=ring)", "a stage");
    shape.topology = &scattered;
    shape.size = 6;
    question.spec = "smp";
    chosen(&selector, &question, "recursive_doubling instead of smp", "not consecutive");
    question.spec = "mpi";
    question.no_mpi = "MPI is away";
    chosen(&selector, &question, "recursive_doubling instead of mpi", "MPI is away");
    question.spec = NULL;
    hs_rules_free(&selector.tuned, &hs_heap);
    chosen(&selector, &question, "", "by the model");

    struct hs_answer answer;
    struct hs_message message = {""};
    question.spec = "nonsense";
    tap_ok(hs_select(&selector, &question, &answer, &message) == HSUMMA_ERR_OPTION &&
               strstr(message.text, "nonsense") && strstr(message.text, "dpml"),
           "%s", message.text);
    hs_selector_free(&selector);
    hs_topology_free(&even, &hs_heap);
    hs_topology_free(&uneven, &hs_heap);
    hs_topology_free(&single, &hs_heap);
    hs_topology_free(&scattered, &hs_heap);
}

/* The model makes one choice for all sizes between two powers of two; without a model each collective has a default. */
static void test_model(void)
{
    struct hs_selector selector = {.memory = &hs_heap, .machine = &machine};
    struct hs_topology topology;
    hs_topology_blocks(&topology, 16, 4, 1, &hs_heap);
    int wrong = 0, asked = 0;
    for (int c = 0; c < HS_COLLECTIVES; c++)
        for (int64_t bytes = 0; bytes < (int64_t)1 << 40; bytes = bytes * 5 + 24, asked++) {
            struct hs_shape shape = {.size = 16, .bytes = bytes, .unit = 8, .topology = &topology};
            struct hs_question question = {.collective = (enum hs_collective)c, .shape = &shape};
            struct hs_answer answer;
            wrong += hs_select(&selector, &question, &answer, NULL) || answer.by != HS_CHOSEN_BY_MODEL ||
                     !answer.spec.alg || answer.seconds > answer.next_seconds;
        }
    tap_ok(wrong == 0, "the model answers %d questions: %d wrong", asked, wrong);
    int before = selector.prices;
    for (int64_t bytes = 4104; bytes <= 8192; bytes += 8) {
        struct hs_shape shape = {.size = 16, .bytes = bytes, .unit = 8, .topology = &topology};
        struct hs_question question = {.collective = HS_BCAST, .shape = &shape};
        struct hs_answer answer;
        wrong += hs_select(&selector, &question, &answer, NULL);
    }
    tap_ok(wrong == 0 && selector.prices <= before + 1, "and remembers: %d prices more for 512 sizes",
           selector.prices - before);
    struct hs_selector none = {.memory = &hs_heap};
    struct hs_shape shape = {.size = 16, .bytes = 8000, .unit = 8};
    struct hs_question question = {.collective = HS_REDUCE_SCATTER, .shape = &shape};
    chosen(&none, &question, "pairwise, by default", "16 processes");
    hs_selector_free(&selector);
    hs_topology_free(&topology, &hs_heap);
}

/* The least time of dpml over all numbers of leaders and pieces. */
static double best_dpml(struct hs_shape shape, const struct hs_machine *on, int leaders)
{
    double best = HUGE_VAL;
    for (int l = 1; l <= leaders; l *= 2)
        for (int k = 1; k <= 16; k *= 2) {
            struct hs_clock_estimate estimate;
            shape.with = (struct hs_parameters){.leaders = l, .pieces = k};
            if (!hs_clock_estimate(hs_alg_find(HS_ALLREDUCE, "dpml"), &shape, on, &hs_heap, HUGE_VAL, &estimate))
                best = fmin(best, estimate.seconds);
        }
    return best;
}

/*
 * Leaders and pieces of dpml that the model chooses one after the other are as good as the best combination: one piece
 * for short vectors, and several for long ones, more of them if the network takes the next message early (gap).
 */
static void test_pieces(void)
{
    enum { NODES = 8, MEMBERS = 4 };
    const int64_t sizes[] = {2048, 32768, 524288};
    int most[2] = {0}, least[2] = {99, 99};
    struct hs_topology topology;
    hs_topology_blocks(&topology, NODES * MEMBERS, NODES, 1, &hs_heap);
    topology.shared_bytes = 1 << 20;
    for (int gap = 0; gap < 2; gap++) {
        const struct hs_machine on = {.network = {.alpha = 1.2e-6, .beta = 1 / 3.0e9, .gap = gap * 2e-7},
                                      .gamma = gap ? 1 / 2.0e9 : 1 / 4.0e9,
                                      .shm = {.alpha = 2e-7, .beta = 1 / 6.0e9}};
        struct hs_selector selector = {.memory = &hs_heap, .machine = &on};
        for (int i = 0; i < 3; i++) {
            struct hs_shape shape = {.size = NODES * MEMBERS, .bytes = sizes[i], .unit = 8, .topology = &topology};
            const struct hs_question question = {.collective = HS_ALLREDUCE, .shape = &shape};
            struct hs_answer answer;
            char text[HS_ALG_SPEC_TEXT] = "";
            hsumma_status status = hs_select(&selector, &question, &answer, NULL);
            double best = best_dpml(shape, &on, MEMBERS);
            if (!status)
                hs_alg_spec_write(&answer.spec, text, sizeof text);
            int k = status || answer.spec.with.pieces < 2 ? 1 : answer.spec.with.pieces;
            most[gap] = k > most[gap] ? k : most[gap];
            least[gap] = k < least[gap] ? k : least[gap];
            tap_ok(!status && strncmp(text, "dpml(", 5) == 0 && answer.seconds <= 1.02 * best,
                   "%lld bytes, gap %d: %s takes %.4g us, the best l and k %.4g", (long long)sizes[i], gap, text,
                   1e6 * answer.seconds, 1e6 * best);
        }
        hs_selector_free(&selector);
    }
    tap_ok(least[0] == 1 && most[0] > 1 && most[1] > most[0], "pieces: %d to %d, with a gap %d to %d", least[0],
           most[0], least[1], most[1]);
    hs_topology_free(&topology, &hs_heap);
}

int main(void)
{
    test_words();
    test_rules();
    test_tuned("hsumma tuned 2\r\n" RULES LAST);
    test_tuned("hsumma tuned 2\n" RULES "gemm k 1 block=2\n\tgemm any thing at all # here\n" LAST);
    test_choice();
    test_model();
    test_pieces();
    return tap_done();
}
