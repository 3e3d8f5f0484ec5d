/* Questions to hs_choose, on machines and grids that are not there: seeded, and asked with words. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_PLAN_QUESTION_H
#define HS_TESTS_SUPPORT_PRODUCT_PLAN_QUESTION_H

#include "hsumma/search/search.h"
#include "support/product/model_product.h"
#include "support/random.h"
#include <stdio.h>

/* From least to most, small ones as often as large ones. */
int64_t draw_size(int64_t least, int64_t most);

struct plan_question {
    struct model_product product;
    char words[400];
    struct hs_profile profile;
    int nodes, turn; /* 0: no topology; ranks are dealt out in turn */
    int64_t shared;  /* bytes of memory that the ranks of a node share */
    const struct hs_rules *coll, *tuned;
};

hsumma_status plan_read_words(const char *words, struct hs_settings *settings, struct hs_message *message);

/* memo: NULL: nothing is remembered. */
hsumma_status plan_ask(const struct plan_question *q, struct hs_clock_memo *memo, struct hs_ranking *ranking,
                       struct hs_message *message);

/* What a spec costs on the question's machine, infinity if that cannot be said; *bytes: workspace. */
double plan_cost_of(const struct plan_question *q, const struct hs_spec *spec, int64_t *bytes);
/* What it takes of a node's shared memory; -1 if that cannot be said. */
int64_t plan_shared_bytes(const struct plan_question *q, const struct hs_spec *spec);
struct plan_question plan_question_draw(int most);
void plan_question_describe(const struct plan_question *q, char *text, size_t size);

#endif
