/*
 * The choice of a plan is the same on every process, whatever was asked before, and keeps the limits. It follows the
 * caller's options, or the options are refused with a list of alternatives. Grids and machines are random
 * (tests/support/product/plan_question.c); there is no MPI.
 */
#include "support/product/plan_question.h"
#include "support/tap.h"

#include <stdlib.h>

static int same_choice(const struct hs_choice *a, const struct hs_choice *b)
{
    const struct hs_spec *s = &a->spec, *t = &b->spec;
    int same = s->stationary == t->stationary && s->levels == t->levels && s->segment == t->segment &&
               s->lookahead == t->lookahead && s->owners == t->owners && s->spread == t->spread &&
               s->slice == t->slice && s->node == t->node;
    for (int l = 0; same && l < s->levels; l++)
        same = s->width[l] == t->width[l] && s->bcast[l] == t->bcast[l] && s->reduce[l] == t->reduce[l] &&
               s->factors[0].size[l] == t->factors[0].size[l] && s->factors[1].size[l] == t->factors[1].size[l];
    return same;
}

static int same_price(const struct hs_choice *a, const struct hs_choice *b)
{
    int same = a->prediction.seconds == b->prediction.seconds && a->prediction.comm == b->prediction.comm &&
               a->prediction.gemm == b->prediction.gemm && a->prediction.copy == b->prediction.copy &&
               a->workspace_bytes == b->workspace_bytes && a->by_rule[0] == b->by_rule[0] &&
               a->by_rule[1] == b->by_rule[1];
    for (int x = 0; x < 3; x++)
        same &= strcmp(a->prediction.operand[x].how, b->prediction.operand[x].how) == 0 &&
                a->prediction.operand[x].exchange_bytes == b->prediction.operand[x].exchange_bytes &&
                a->prediction.operand[x].exchange_seconds == b->prediction.operand[x].exchange_seconds;
    return same;
}

static int same_ranking(const struct hs_ranking *a, const struct hs_ranking *b)
{
    int same = a->count == b->count && a->considered == b->considered && a->workspace_limit == b->workspace_limit;
    for (int x = 0; x < 3; x++)
        same &= a->stationary[x] == b->stationary[x];
    for (int i = 0; same && i < a->count; i++)
        same = same_choice(&a->choice[i], &b->choice[i]) && same_price(&a->choice[i], &b->choice[i]);
    return same;
}

/* What orders the ranking: the seconds, with 1 % for each level. */
static double standing(const struct hs_choice *choice)
{
    return choice->prediction.seconds * (1 + 0.01 * choice->spec.levels);
}

static void show(const struct plan_question *q, const struct hs_message *message)
{
    char text[600];
    plan_question_describe(q, text, sizeof text);
    tap_diag("%s: %s", text, message->text);
}

static void the_same_for_all(int cases)
{
    static struct hs_clock_memo warm;
    static struct hs_profile profile;
    int ranks = 0, memos = 0, order = 0, twice = 0, first = 0, failed = 0;
    draw_seed(1);
    for (int i = 0; i < cases; i++) {
        struct plan_question q = plan_question_draw(8);
        struct hs_ranking outside, inside, known;
        struct hs_message message;
        if (i % 64 == 0) { /* one machine for 64 questions: many shapes are memoised and dropped */
            profile = q.profile;
            hs_clock_memo_begin(&warm, &profile, &hs_heap);
        }
        profile.one_node = q.profile.one_node;
        q.profile = profile;
        failed += plan_ask(&q, NULL, &outside, &message) != HSUMMA_OK;
        struct plan_question here = q;
        for (int r = 0; r < q.product.extent[0] * q.product.extent[1]; r += i % 8 ? 5 : 1) {
            here.product.coord[0] = r / q.product.extent[1];
            here.product.coord[1] = r % q.product.extent[1];
            failed += plan_ask(&here, &warm, &inside, &message) != HSUMMA_OK;
            ranks += !same_ranking(&outside, &inside);
        }
        failed += plan_ask(&q, &warm, &known, &message) != HSUMMA_OK;
        if (!same_ranking(&outside, &known) && !memos++)
            show(&q, &message);
        for (int a = 0; a < outside.count; a++) {
            const struct hs_choice *choice = outside.choice;
            order += a && standing(&choice[a]) < standing(&choice[a - 1]) * (1 - 1e-8);
            for (int b = 0; b < a; b++)
                twice += same_choice(&choice[a], &choice[b]);
        }
        const struct hs_choice *best = &outside.choice[0];
        first += outside.count < 1 || outside.stationary[best->spec.stationary] != best->prediction.seconds;
        for (int x = 0; x < 3; x++)
            first += outside.stationary[x] >= 0 && standing(&outside.of_operand[x]) < standing(best) * (1 - 1e-8);
    }
    tap_ok(!failed, "%d drawn products: a plan for each (%d without)", cases, failed);
    tap_ok(!ranks, "choice and ranking do not depend on the rank: %d do", ranks);
    tap_ok(!memos, "nor on what has been asked before, to the last bit: %d do", memos);
    tap_ok(!order && !twice,
           "the ranking ascends, with 1 %% for each level (%d do not), and nothing is in it twice (%d are)", order,
           twice);
    tap_ok(!first, "the first is the best of the stationary operands: %d are not", first);
}

static const char *const bcast_rows[] = {"flat",        "binomial", "van_de_geijn", "chain", "bidirectional_chain",
                                         "binary_tree", "mpi"};
static const char *const reduce_rows[] = {"binomial", "mpi"};

/* Draws valid options, and the settings that they make. */
static void draw_words(struct plan_question *q, struct hs_settings *said)
{
    char *text = q->words;
    size_t size = sizeof q->words, used = 0;
#define SAY(...) used += (size_t)snprintf(text + used, size - used, __VA_ARGS__)
    if (draw(3) == 0)
        SAY(" stationary=%c", "ABC"[draw(3)]);
    if (draw(3) == 0)
        SAY(" groups=%dx%d", draw_divisor(q->product.extent[0]), draw_divisor(q->product.extent[1]));
    int64_t block = draw(3) ? 0 : draw_size(1, 1000);
    if (block)
        SAY(" block=%d", (int)block);
    if (block && draw(2))
        SAY(" outer=%d", (int)block * draw_divisor(12));
    if (draw(4) == 0)
        SAY(draw(2) ? " turn=all" : " turn=%d", block ? 12 * (int)block : 4 * (int)draw_size(1, 300));
    if (draw(3) == 0)
        SAY(" lookahead=%d", draw(4));
    else if (draw(4) == 0)
        SAY(" owners=%d", 1 + draw(4));
    if (draw(3) == 0)
        SAY(draw(2) ? " bcast=%s" : " bcast=outer=%s,inner=%s", bcast_rows[draw(7)], bcast_rows[draw(7)]);
    if (draw(3) == 0)
        SAY(draw(2) ? " reduce=%s" : " reduce=outer=%s,inner=%s", reduce_rows[draw(2)], reduce_rows[draw(2)]);
    if (draw(3) == 0)
        SAY(" segment=%d", (int)draw_size(1, 1 << 20));
    if (draw(3) == 0)
        SAY(" exchange=%s", draw(2) ? "root" : "all");
    if (draw(3) == 0)
        SAY(draw(2) ? " workspace_limit=%d%%" : " workspace_limit=%dk", (int)draw_size(1, 20000));
#undef SAY
    struct hs_message message;
    if (plan_read_words(q->words, said, &message))
        tap_ok(0, "%s: %s", q->words, message.text);
}

static int names_obeyed(const struct hs_names *names, const struct hs_alg *const *row, int levels)
{
    for (int l = 0; names->count && l < levels; l++) {
        int at = names->outer_inner ? l == levels - 1 : names->count == 1 ? 0 : l;
        if (strcmp(row[l]->name, names->name[at]) != 0)
            return 0;
    }
    return 1;
}

static int obeyed(const struct hs_spec *spec, const struct hs_settings *said)
{
    int good =
        (said->stationary < 0 || spec->stationary == said->stationary) &&
        (!said->block || spec->width[spec->levels - 1] == said->block) && (!said->turn || spec->turn == said->turn) &&
        (said->lookahead < 0 || spec->lookahead == said->lookahead) &&
        (said->owners < 2 || (spec->owners == said->owners && spec->lookahead == 0)) &&
        (!said->segment || spec->segment == said->segment) && (said->exchange < 0 || spec->spread == said->exchange);
    int groups = said->levels > 0 && (said->factor[0][0] > 1 || said->factor[0][1] > 1);
    if (said->levels >= 0)
        good &= spec->levels == 1 + groups;
    if (groups)
        for (int a = 0; a < 2; a++)
            good &= spec->factors[a].size[0] == said->factor[0][a];
    for (int l = 0; said->outer.count && l < spec->levels - 1; l++)
        good &= spec->width[l] == said->outer.width[l < said->outer.count ? l : said->outer.count - 1];
    return good && names_obeyed(&said->bcast, spec->bcast, spec->levels) &&
           names_obeyed(&said->reduce, spec->reduce, spec->levels);
}

static int64_t limit_of(const struct plan_question *q, const struct hs_settings *said)
{
    double bytes = 0;
    struct hs_problem problem = model_problem(&q->product);
    if (said->workspace.bytes)
        return said->workspace.bytes;
    for (int x = 0; x < 3; x++)
        bytes += (double)(hs_axis_count_max(&problem.view[x].axis[0]) * hs_axis_count_max(&problem.view[x].axis[1])) *
                 (double)problem.scalar->size * said->workspace.share;
    return bytes < 8 << 20 ? 8 << 20 : (int64_t)bytes;
}

static void limits_and_words(int cases)
{
    int above = 0, wrong_bytes = 0, disobeyed = 0, refused = 0, unnamed = 0, other = 0, hasty = 0;
    draw_seed(2);
    for (int i = 0; i < cases; i++) {
        struct plan_question q = plan_question_draw(6);
        struct hs_settings said;
        struct hs_ranking ranking;
        struct hs_message message;
        draw_words(&q, &said);
        hsumma_status status = plan_ask(&q, NULL, &ranking, &message);
        int64_t limit = limit_of(&q, &said), bytes = -1;
        if (status == HSUMMA_ERR_WORKSPACE) {
            struct plan_question least = q;
            struct hs_message ignored;
            refused++;
            unnamed += !strstr(message.text, "need") || !strstr(message.text, "workspace_limit");
            char *need = strstr(message.text, "need ");
            unnamed += need && strtoll(need + 5, NULL, 10) <= limit;
            snprintf(least.words + strlen(least.words), sizeof least.words - strlen(least.words), "%s%s",
                     said.block ? "" : " block=1", said.lookahead >= 0 ? "" : " lookahead=0");
            if (plan_ask(&least, NULL, &ranking, &ignored) != HSUMMA_ERR_WORKSPACE && !hasty++)
                show(&q, &message);
            continue;
        }
        if (status) {
            other++;
            show(&q, &message);
            continue;
        }
        for (int r = 0; r < ranking.count; r++) {
            const struct hs_choice *choice = &ranking.choice[r];
            plan_cost_of(&q, &choice->spec, &bytes);
            above += bytes > limit;
            wrong_bytes += bytes != choice->workspace_bytes;
            if (!obeyed(&choice->spec, &said) && !disobeyed++)
                show(&q, &message);
        }
    }
    tap_ok(!above && !wrong_bytes,
           "%d products with drawn words: panel buffers within the limit (%d are not), and as many as said (%d wrong)",
           cases, above, wrong_bytes);
    tap_ok(refused > cases / 100 && !unnamed, "or an error that names the need and the limit (%d; %d do not)", refused,
           unnamed);
    tap_ok(!hasty, "and then the narrowest panels without lookahead need more as well: %d do not", hasty);
    tap_ok(!disobeyed && !other, "all words are obeyed: %d are not; nothing else is refused: %d", disobeyed, other);
}

/* Options that cannot be followed, and the text expected in the message. */
static void what_is_possible(void)
{
    static const struct {
        const char *words;
        hsumma_status status;
        const char *says[3];
    } rows[] = {
        {"groups=3x2", HSUMMA_ERR_ARGUMENT, {"3x2", "4x6", "1x2, 1x3, 1x6, 2x1"}},
        {"groups=4x4", HSUMMA_ERR_ARGUMENT, {"4x4", "divide", "4x3"}},
        {"levels=2x2,4x1", HSUMMA_ERR_ARGUMENT, {"4x6", "divide", "expected one of: 1x1"}},
        {"bcast=magic", HSUMMA_ERR_OPTION, {"magic", "binomial", "van_de_geijn"}},
        {"reduce=magic", HSUMMA_ERR_OPTION, {"magic", "binomial", "expected one of"}},
        {"groups=2x2 bcast=outer=flat,inner=none", HSUMMA_ERR_OPTION, {"none", "chain", "expected one of"}},
        {"groups=2x2 block=64 outer=100", HSUMMA_ERR_ARGUMENT, {"100", "64", "multiple"}},
        {"levels=2x2,2x3 block=32 outer=96,64", HSUMMA_ERR_ARGUMENT, {"96", "64", "multiple"}},
        {"groups=1x1 block=64 turn=100", HSUMMA_ERR_ARGUMENT, {"100", "64", "multiple"}},
        {"groups=2x2 block=64 outer=256 turn=128", HSUMMA_ERR_ARGUMENT, {"128", "256", "multiple"}},
        {"levels=2x2,2x3 bcast=flat,chain", HSUMMA_ERR_OPTION, {"bcast", "2 algorithms", "3 levels"}},
        {"groups=2x2 outer=64,32", HSUMMA_ERR_ARGUMENT, {"outer", "2 widths", "1 outer"}},
        {"block=1000 lookahead=8 workspace_limit=100k", HSUMMA_ERR_WORKSPACE, {"1000", "102400", "smaller block"}},
        {"owners=4 lookahead=2",
         HSUMMA_ERR_ARGUMENT,
         {"owners=4: allowed only with lookahead=0", "lookahead is 2", "lookahead=3"}},
        {"workspace_limit=1", HSUMMA_ERR_WORKSPACE, {"need", "allows 1", "larger workspace_limit"}},
        {"node=shared", HSUMMA_ERR_UNSUPPORTED, {"node=shared", "processes of a node", "share memory"}},
        {"node=shared bcast=flat", HSUMMA_ERR_ARGUMENT, {"node=shared", "messages", "bcast"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan_question q = {.product = model_product_square(4000, 4), .profile = hs_profile_builtin};
        struct hs_ranking ranking;
        struct hs_message message;
        q.product.extent[1] = 6;
        snprintf(q.words, sizeof q.words, "%s", rows[i].words);
        hsumma_status status = plan_ask(&q, NULL, &ranking, &message);
        int says = 0;
        for (int s = 0; s < 3; s++)
            says += strstr(message.text, rows[i].says[s]) != NULL;
        if (!tap_ok(status == rows[i].status && says == 3, "%s: an error that says what would do", rows[i].words))
            tap_diag("status %d: %s", (int)status, message.text);
    }
}

static int ask_simply(struct plan_question *q, const char *words, struct hs_ranking *ranking)
{
    struct hs_message message;
    snprintf(q->words, sizeof q->words, "%s", words);
    return plan_ask(q, NULL, ranking, &message) == HSUMMA_OK;
}

/*
 * m = n = 512, k = 131,072: C is small and cheap to sum, but panels of the long operands need memory. Narrow panels
 * are fast enough on a network of 1 Gbit/s; inside a node only wide ones are.
 */
static void much_k(void)
{
    static const struct {
        int extent[2], one_node;
        const char *words;
    } rows[] = {{{2, 2}, 0, ""},
                {{4, 4}, 0, ""},
                {{1, 8}, 0, ""},
                {{4, 4}, 1, "workspace_limit=200%"},
                {{1, 8}, 1, "workspace_limit=200%"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan_question q = {.product = model_product_square(512, 1), .profile = hs_profile_builtin};
        struct hs_ranking ranking, stays;
        char words[100];
        memcpy(q.product.extent, rows[i].extent, sizeof q.product.extent);
        q.product.size[HS_K] = 131072;
        q.product.op[HS_B] = 'T'; /* A and B have k along grid rows: no exchange */
        q.profile.one_node = rows[i].one_node;
        if (!rows[i].one_node)
            q.profile.machine.network = (struct hs_link){.alpha = 5e-5, .beta = 8e-9};
        snprintf(words, sizeof words, "stationary=C %s", rows[i].words);
        int good = ask_simply(&q, rows[i].words, &ranking) && ask_simply(&q, words, &stays);
        double best = ranking.choice[0].prediction.seconds, with_c = stays.choice[0].prediction.seconds;
        tap_ok(good && ranking.choice[0].spec.stationary != HS_C && best < with_c,
               "512 x 512 x 131072 on %d x %d, %s: %c stays (%.3f s, with C %.3f s) %s", rows[i].extent[0],
               rows[i].extent[1], rows[i].one_node ? "one node" : "1 Gbit/s", "ABC"[ranking.choice[0].spec.stationary],
               best, with_c, rows[i].words);
    }
}

/* No plan multiplies faster than the profile's rate, whatever its panels and slices leave over. */
static void multiplications(void)
{
    struct plan_question q = {.product = model_product_square(4096, 16), .profile = hs_profile_builtin};
    struct hs_ranking ranking;
    double seconds = 2 * pow(4096, 3) / 256 * 2e-10;
    int wrong = 0, asked = 0;
    q.profile.one_node = 0;
    q.profile.machine.network = (struct hs_link){.alpha = 1e-6, .beta = 1e-9};
    q.profile.gemm[0] = q.profile.gemm[1] = (struct hs_gemm_cost){.flop = 2e-10};
    for (int x = HS_A; x <= HS_C; x++)
        for (int block = 7; block < 40; block++) {
            char words[100];
            snprintf(words, sizeof words, "stationary=%c block=%d turn=%d lookahead=1 slice=none", "ABC"[x], block,
                     block);
            asked += ask_simply(&q, words, &ranking);
            wrong += ranking.choice[0].prediction.gemm < seconds * (1 - 1e-9);
        }
    tap_ok(asked == 3 * 33 && !wrong, "no multiplication beats the rate: %d of %d do", wrong, asked);
}

/* Where the BLAS multiplies small matrices without packing, panels are cut for that, unless they would be narrow.  The
 * price does not rise. */
static void without_packing(void)
{
    static const struct {
        int64_t size, width;
    } rows[] = {{96, 96}, {128, 64}, {152, 80}, {160, 160}, {192, 192}, {256, 256}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan_question q = {
            .product = model_product_square(rows[i].size, 1), .profile = hs_profile_builtin, .shared = 1 << 30};
        struct hs_ranking ranking, whole;
        char words[100];
        q.product.extent[1] = 2;
        q.profile.one_node = 1;
        q.profile.unpacked = 1e6;
        snprintf(words, sizeof words, "stationary=C block=%d", (int)rows[i].size);
        int good = ask_simply(&q, words, &whole) && ask_simply(&q, "stationary=C", &ranking);
        const struct hs_choice *best = &ranking.choice[0];
        tap_ok(good && best->spec.node == HS_NODE_SHARED && best->spec.width[0] == rows[i].width &&
                   best->prediction.seconds <= whole.choice[0].prediction.seconds,
               "%d cubed on 1 x 2: panels of %d (%d, %.1f us, whole %.1f)", (int)rows[i].size, (int)rows[i].width,
               (int)best->spec.width[0], 1e6 * best->prediction.seconds, 1e6 * whole.choice[0].prediction.seconds);
    }
}

/* With fewer processors than processes an even division multiplies in turns, one process alone does not.  Whoever has
 * part of C is counted: `first` rows and columns are in the first block of C, the others in blocks of nb. */
static void crowded(void)
{
    static const struct {
        int64_t size, first, nb;
        int processors, even;
    } rows[] = {{128, 128, 8, 0, 1},       {128, 128, 8, 4, 1}, {128, 128, 8, 2, 0}, {128, 128, INT64_MAX, 2, 0},
                {224, 8, INT64_MAX, 2, 1}, {512, 512, 8, 2, 1}, {512, 512, 8, 1, 0}, {512, 16, 496, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan_question q = {.product = model_product_square(rows[i].size, 2),
                                  .profile = hs_profile_builtin,
                                  .shared = 1 << 30,
                                  .divides = 1};
        struct hs_ranking ranking;
        q.profile.one_node = 1;
        q.profile.crowded = rows[i].processors;
        for (int x = 0; x < 3; x++)
            q.product.block[x][0] = q.product.block[x][1] = x == HS_C ? rows[i].nb : rows[i].size;
        q.first = rows[i].first;
        int good = ask_simply(&q, "", &ranking), even = ranking.choice[0].spec.node == HS_NODE_EVEN;
        tap_ok(good && even == rows[i].even, "%d cubed, %d in the first block, %d processors: %s", (int)rows[i].size,
               (int)rows[i].first, rows[i].processors, even ? "even" : "not even");
    }
}

/* Reductions of a moving C whose panels are as large as those of A follow one another, whatever the lookahead. */
static void reductions(void)
{
    struct plan_question q = {.product = model_product_square(4096, 16), .profile = hs_profile_builtin};
    struct hs_ranking ranking;
    double seconds[2] = {1, 0};
    q.profile.one_node = 0;
    q.profile.pipelining = 1;
    q.profile.machine.network = (struct hs_link){.alpha = 1e-6, .beta = 1e-9};
    for (int i = 0; i < 2; i++)
        if (ask_simply(&q,
                       i ? "stationary=B block=64 turn=64 lookahead=7 bcast=chain exchange=root"
                         : "stationary=B block=64 turn=64 lookahead=0 bcast=chain exchange=root",
                       &ranking))
            seconds[i] = ranking.choice[0].prediction.comm;
    tap_ok(seconds[1] > 0.5 * seconds[0] && seconds[1] < seconds[0],
           "B stays: with lookahead 7 messages take %.2f of the time", seconds[1] / seconds[0]);
}

static void rules(void)
{
    struct plan_question q = {.product = model_product_square(4096, 4), .profile = hs_profile_builtin};
    struct hs_rules coll = {0}, tuned = {0};
    struct hs_ranking ranking;
    struct hs_message message;
    const struct hs_choice *best = &ranking.choice[0];
    int good = ask_simply(&q, "groups=1x1", &ranking) && !best->by_rule[0] && !best->by_rule[1];
    good &= strcmp(best->spec.bcast[0]->name, "binary_tree") != 0 && strcmp(best->spec.bcast[0]->name, "chain") != 0;
    tap_ok(good, "without rules: %s, by the model", best->spec.bcast[0]->name);
    good =
        !hs_rules_read(&coll, "bcast:binary_tree", &hs_heap, &message) &&
        !hs_rules_read_tuned(&tuned, "hsumma tuned 2\nbcast 4 * * chain\nreduce * * * binomial\n", &hs_heap, &message);
    q.tuned = &tuned;
    good &= ask_simply(&q, "groups=1x1", &ranking) && best->by_rule[0] == 1;
    tap_ok(good && strcmp(best->spec.bcast[0]->name, "chain") == 0, "the tuned file is obeyed: %s", message.text);
    tap_ok(ask_simply(&q, "groups=1x1 tune=off", &ranking) && !best->by_rule[0], "but not with tune=off");
    tap_ok(ask_simply(&q, "groups=2x2", &ranking) && !best->by_rule[0], "nor on lines of 2, of which it says nothing");
    q.coll = &coll;
    tap_ok(ask_simply(&q, "groups=2x2", &ranking) && best->by_rule[0] == 1 &&
               strcmp(best->spec.bcast[0]->name, "binary_tree") == 0 &&
               strcmp(best->spec.bcast[1]->name, "binary_tree") == 0,
           "the option coll is, on both levels");
    tap_ok(ask_simply(&q, "groups=1x1", &ranking) && strcmp(best->spec.bcast[0]->name, "binary_tree") == 0,
           "and before the tuned file");
    tap_ok(ask_simply(&q, "groups=1x1 bcast=binomial", &ranking) && !best->by_rule[0] &&
               strcmp(best->spec.bcast[0]->name, "binomial") == 0,
           "a product's own word before both");
    hs_rules_free(&coll, &hs_heap);
    hs_rules_free(&tuned, &hs_heap);
}

int main(void)
{
    the_same_for_all(800);
    limits_and_words(2500);
    what_is_possible();
    much_k();
    multiplications();
    without_packing();
    crowded();
    reductions();
    rules();
    return tap_done();
}
