/* Random questions for hs_choose, about imagined machines and grids. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_PLAN_QUESTION_H
#define HS_TESTS_SUPPORT_PRODUCT_PLAN_QUESTION_H

#include "hsumma/search/search.h"
#include "support/product/model_product.h"
#include "support/random.h"
#include <stdio.h>

/* Draws a size from least to most: `least`, increased by about 1 % up to 999 times, but never above `most`. */
int64_t draw_size(int64_t least, int64_t most);

struct plan_question {
    struct model_product product;
    char words[400];
    struct hs_profile profile;
    int nodes, turn; /* nodes: 0 if there is no topology; turn: nonzero if ranks are dealt out to nodes round-robin */
    int divides;     /* nonzero to compare an even division with the other choices, too */
    int64_t first;   /* rows and columns of the first block of C; 0: like the others */
    int64_t shared;  /* bytes of shared memory of a node */
    const struct hs_rules *coll, *tuned;
};

hsumma_status plan_read_words(const char *words, struct hs_settings *settings, struct hs_message *message);

/* Asks hs_choose. memo may be NULL. */
hsumma_status plan_ask(const struct plan_question *q, struct hs_clock_memo *memo, struct hs_ranking *ranking,
                       struct hs_message *message);

/* The price of a spec on the question's machine in seconds, infinite if it is impossible; *bytes: its workspace. */
double plan_cost_of(const struct plan_question *q, const struct hs_spec *spec, int64_t *bytes);
/* Bytes of a node's shared memory that the spec uses; -1 if unknown. */
int64_t plan_shared_bytes(const struct plan_question *q, const struct hs_spec *spec);
struct plan_question plan_question_draw(int most);
void plan_question_describe(const struct plan_question *q, char *text, size_t size);

#endif
