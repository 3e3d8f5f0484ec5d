/* The model's choice: the clock over the rows that fit. */
#include "coll/select/select.h"

/*
 * So that a choice takes milliseconds: of many ranks only the rows with few steps per rank are priced, and nothing for
 * more than MOST_PRICED_RANKS.  The order of the rows does not change any more beyond a number of bytes, and pipelines
 * get long.
 */
enum {
    MOST_PRICED_RANKS = 512,
    ALL_ROWS_RANKS = 64,
    MANY_RANKS = 16,
    MOST_BYTES_OF_FEW = 4 << 20,
    MOST_BYTES_OF_MANY = 1 << 20
};

/* Rows for devices have been tried and priced there alone. */
static int is_candidate(const struct hs_alg *alg, const struct hs_question *question)
{
    if (question->shape->size > ALL_ROWS_RANKS && !(alg->flags & HS_MANY_RANKS))
        return 0;
    unsigned others = HS_BY_MPI | HS_ON_HOST | (question->on_device ? 0u : HS_FOR_DEVICES);
    return alg->collective == question->collective && !(alg->flags & others);
}

/* The question's size, rounded up to a power of two of bytes, in whole elements. */
static int64_t size_class(const struct hs_question *question)
{
    const struct hs_shape *shape = question->shape;
    int64_t most = shape->size > MANY_RANKS ? MOST_BYTES_OF_MANY : MOST_BYTES_OF_FEW, bytes = 1;
    while (bytes < shape->bytes && bytes < most)
        bytes *= 2;
    int64_t elements = (bytes + shape->unit - 1) / shape->unit;
    return shape->bytes ? elements * shape->unit : 0;
}

static const struct hs_price *find(const struct hs_selector *selector, const struct hs_question *question,
                                   int64_t bytes)
{
    for (int i = 0; i < selector->prices; i++) {
        const struct hs_price *price = &selector->price[i];
        if (price->collective == question->collective && price->ordered == question->ordered &&
            price->on_device == question->on_device && price->bytes == bytes && price->unit == question->shape->unit)
            return price;
    }
    return NULL;
}

/* Prices one word; what the clock cannot read is no candidate. */
static hsumma_status try_spec(struct hs_selector *selector, const struct hs_question *question,
                              const struct hs_alg_spec *spec, struct hs_price *price)
{
    struct hs_clock_report report;
    struct hs_shape shape = *question->shape;
    shape.with = spec->with;
    const struct hs_machine *machine =
        question->on_device && selector->device_machine ? selector->device_machine : selector->machine;
    hsumma_status status = hs_clock(spec->alg, &shape, machine, selector->memory, &report);
    if (status == HSUMMA_ERR_MEMORY)
        return status;
    if (status)
        return HSUMMA_OK;
    if (!price->best.alg || report.seconds < price->seconds) {
        price->next = price->best;
        price->next_seconds = price->seconds;
        price->best = *spec;
        price->seconds = report.seconds;
    } else if (!price->next.alg || report.seconds < price->next_seconds) {
        price->next = *spec;
        price->next_seconds = report.seconds;
    }
    return HSUMMA_OK;
}

/* A row with its defaults, and with other numbers of leaders. */
static hsumma_status try_row(struct hs_selector *selector, const struct hs_question *question, const struct hs_alg *alg,
                             struct hs_price *price)
{
    const struct hs_topology *topology = question->shape->topology;
    const struct hs_division *nodes = topology ? &topology->division[HS_NODE] : NULL;
    int ranks = nodes ? hs_division_size(nodes, 0) : 1;
    struct hs_alg_spec spec = {.alg = alg};
    if (hs_alg_spec_unfit(&spec, question))
        return HSUMMA_OK;
    hsumma_status status = try_spec(selector, question, &spec, price);
    for (int l = 2; !status && alg->flags & HS_USES_LEADERS && l <= ranks && l <= 8; l *= 2) {
        spec.with.leaders = l;
        status = try_spec(selector, question, &spec, price);
    }
    return status;
}

hsumma_status hs_select_price(struct hs_selector *selector, const struct hs_question *question,
                              const struct hs_price **result)
{
    struct hs_shape shape = *question->shape;
    struct hs_question asked = *question;
    const struct hs_alg *alg;
    int64_t bytes = size_class(question);
    *result = NULL;
    if (!selector->machine || shape.size > MOST_PRICED_RANKS || (*result = find(selector, question, bytes)) != NULL)
        return HSUMMA_OK;
    struct hs_price price = {.collective = question->collective,
                             .ordered = question->ordered,
                             .on_device = question->on_device,
                             .bytes = bytes,
                             .unit = shape.unit};
    shape.bytes = bytes;
    shape.root = 0;
    shape.part = NULL;
    asked.shape = &shape;
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; !status && (alg = hs_alg_at(i)); i++)
        if (is_candidate(alg, question))
            status = try_row(selector, &asked, alg, &price);
    if (status || !price.best.alg)
        return status;
    void *array = selector->price;
    if (hs_grow(selector->memory, &array, sizeof price, &selector->price_capacity, (size_t)selector->prices + 1))
        return HSUMMA_ERR_MEMORY;
    selector->price = array;
    selector->price[selector->prices] = price;
    *result = &selector->price[selector->prices++];
    return HSUMMA_OK;
}
