/* The model's choice: of the rows that fit, the one that the clock finds fastest. */
#include "coll/select/select.h"

#include <math.h>

/*
 * Vectors are priced up to these lengths, which depend on whether there are more than MANY_RANKS ranks. Beyond them the
 * ranking of rows no longer changes, but the lists of pipelines get long. Vectors of more than LONG_ON_DEVICES bytes on
 * the devices of one node are priced up to MOST_BYTES_ON_DEVICES, because turns do not grow with the bytes; for these
 * vectors only rows that use the node's memory without stages, and without segments, have short lists, and are
 * considered.
 */
enum { MANY_RANKS = 16, MOST_BYTES_OF_FEW = 4 << 20, MOST_BYTES_OF_MANY = 1 << 20 };
enum { LONG_ON_DEVICES = 256 << 10, MOST_BYTES_ON_DEVICES = 1 << 30 };

/*
 * Limits of the parameters that are tried. Leaders: powers of two up to MOST_TRIED_LEADERS, and all ranks of the node
 * or socket. The others: pieces of a leader's partition, bytes of a segment.
 */
enum { MOST_TRIED_LEADERS = 16, MOST_TRIED_PIECES = 8, LEAST_SEGMENT = 16 << 10, MOST_SEGMENT = 256 << 10 };
/* The row of the stage between nodes is varied up to this number of ranks, where all lists are short. */
enum { MOST_RANKS_FOR_STAGES = 64 };

static int is_long_on_devices(const struct hs_question *question)
{
    const struct hs_shape *shape = question->shape;
    return question->on_device && shape->topology && shape->topology->division[HS_NODE].parts == 1 &&
           shape->bytes > LONG_ON_DEVICES;
}

/* True if the model may choose the row: HS_FOR_DEVICES and HS_ON_HOST compete for device memory only. */
static int is_candidate(const struct hs_alg *alg, const struct hs_question *question)
{
    const unsigned others = HS_BY_MPI | HS_EXACT_SUMS | (question->on_device ? 0u : HS_FOR_DEVICES | HS_ON_HOST),
                   staged = HS_USES_LEVEL | HS_USES_LEADERS | HS_USES_OUTER;
    if (is_long_on_devices(question) && (!(alg->flags & HS_KNOWS_NODES) || alg->flags & staged))
        return 0;
    return alg->collective == question->collective && !(alg->flags & others);
}

/* The bytes rounded up to a power of two, up to `most`. */
static int64_t rounded_up(int64_t bytes, int64_t most)
{
    int64_t power = 1;
    while (power < bytes && power < most)
        power *= 2;
    return power;
}

static int64_t most_bytes(int ranks)
{
    return ranks > MANY_RANKS ? MOST_BYTES_OF_MANY : MOST_BYTES_OF_FEW;
}

/* The bytes rounded up to a power of two, up to the longest vector that is priced, in whole elements. */
static int64_t size_class(const struct hs_question *question)
{
    const struct hs_shape *shape = question->shape;
    int64_t bytes =
        rounded_up(shape->bytes, is_long_on_devices(question) ? MOST_BYTES_ON_DEVICES : most_bytes(shape->size));
    int64_t elements = (bytes + shape->unit - 1) / shape->unit;
    return shape->bytes ? elements * shape->unit : 0;
}

int hs_class_of_broadcast(int ranks, int64_t bytes)
{
    /* as many bytes as are priced, but for less than one element */
    int64_t priced = rounded_up(bytes, most_bytes(ranks));
    return priced < 32 << 10 ? -1 : priced > 1 << 20;
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

const struct hs_machine *hs_select_machine(const struct hs_selector *selector, const struct hs_question *question)
{
    const struct hs_shape *shape = question->shape;
    const int is_bcast = question->collective == HS_BCAST && !question->on_device;
    if (question->machine)
        return question->machine;
    const int class = is_bcast ? hs_class_of_broadcast(shape->size, shape->bytes) : -1;
    if (class >= 0 && selector->broadcast[class].known)
        return &selector->broadcast[class].machine;
    return question->on_device && selector->device_machine ? selector->device_machine : selector->machine;
}

static double seconds_of(const struct hs_entrant *entrant)
{
    return entrant->spec.alg ? entrant->seconds : HUGE_VAL;
}

/* Seconds from which on a row is of no interest: it is neither the best nor the second best.  A row that takes
 * FAR_BEHIND times as long as the best so far is not priced further: its other parameters do not save as much. */
static double too_long(const struct hs_price *price)
{
    enum { FAR_BEHIND = 4 };
    return fmin(seconds_of(&price->next), FAR_BEHIND * seconds_of(&price->best));
}

/* Estimates the time of a row, including copies to and from host memory if the row works there (HS_ON_HOST). */
static hsumma_status estimate(struct hs_selector *selector, const struct hs_question *question,
                              const struct hs_alg *alg, const struct hs_shape *shape, double enough,
                              struct hs_clock_estimate *result)
{
    const struct hs_machine *machine = hs_select_machine(selector, question);
    struct hs_shape priced = *shape;
    double staging = 0, times = 1;
    if (alg->flags & HS_ON_HOST) {
        staging = hs_staging_seconds(machine, selector->machine, shape->topology, shape->bytes);
        machine = selector->machine;
        for (; priced.bytes > MOST_BYTES_OF_MANY && priced.bytes % (2 * shape->unit) == 0; priced.bytes /= 2)
            times *= 2;
    }
    hsumma_status status =
        hs_clock_estimate(alg, &priced, machine, selector->memory, fmax(enough - staging, 0) / times, result);
    selector->lists += result->lists;
    result->seconds = result->seconds * times + staging;
    return status;
}

/* Prices a spec if the clock can; it becomes *best if it is faster than *best and price->next. */
static hsumma_status try_spec(struct hs_selector *selector, const struct hs_question *question,
                              const struct hs_alg_spec *spec, const struct hs_price *price, struct hs_entrant *best)
{
    struct hs_clock_estimate result;
    struct hs_shape shape = *question->shape;
    double enough = fmin(seconds_of(best), too_long(price));
    struct hs_alg_spec complete = *spec;
    hs_alg_spec_complete(&complete, &shape, hs_select_machine(selector, question));
    shape.with = complete.with;
    shape.segment = spec->segment ? spec->segment : shape.segment;
    if (hs_alg_spec_unfit(spec, question))
        return HSUMMA_OK;
    hsumma_status status = estimate(selector, question, spec->alg, &shape, enough, &result);
    if (!status && result.seconds < enough)
        *best = (struct hs_entrant){*spec, result.seconds};
    return status == HSUMMA_ERR_MEMORY ? status : HSUMMA_OK;
}

/* Tries a spec with the segment that the caller specified, or with the row's default and several others. */
static hsumma_status try_segments(struct hs_selector *selector, const struct hs_question *question,
                                  struct hs_alg_spec spec, const struct hs_price *price, struct hs_entrant *best)
{
    hsumma_status status = try_spec(selector, question, &spec, price, best);
    int varies = spec.alg->flags & HS_USES_SEGMENT && !question->shape->segment && !is_long_on_devices(question);
    for (int64_t segment = LEAST_SEGMENT;
         !status && varies && segment <= MOST_SEGMENT && segment < question->shape->bytes; segment *= 4) {
        spec.segment = segment;
        status = try_spec(selector, question, &spec, price, best);
    }
    return status;
}

/* True if some node has several ranks. Otherwise a row with a stage between nodes is equivalent to that stage's row. */
static int has_stages(const struct hs_shape *shape)
{
    return shape->topology && hs_division_largest(&shape->topology->division[HS_NODE]) > 1;
}

/* Tries the default row between nodes and, if ranks are few and some share a node, each that ignores nodes. */
static hsumma_status try_outer(struct hs_selector *selector, const struct hs_question *question,
                               struct hs_alg_spec spec, const struct hs_price *price, struct hs_entrant *best)
{
    const unsigned others = HS_BY_MPI | HS_ON_HOST | HS_EXACT_SUMS | HS_FOR_DEVICES | HS_KNOWS_NODES;
    const struct hs_alg *row;
    hsumma_status status = try_segments(selector, question, spec, price, best);
    if (question->shape->size > MOST_RANKS_FOR_STAGES || !has_stages(question->shape))
        return status;
    for (int i = 0; !status && spec.alg->flags & HS_USES_OUTER && (row = hs_alg_at(i)); i++)
        if (row->collective == spec.alg->collective && !(row->flags & others)) {
            spec.with.outer = row;
            status = try_segments(selector, question, spec, price, best);
        }
    return status;
}

/*
 * Tries a row at the level of nodes or sockets: several numbers of leaders; with the best of them, several numbers of
 * pieces; with the best of these, several rows between nodes. If none is fast enough (try_spec), the last number
 * tried is kept.
 */
static hsumma_status try_level(struct hs_selector *selector, const struct hs_question *question,
                               struct hs_alg_spec spec, const struct hs_price *price, struct hs_entrant *best)
{
    const struct hs_topology *topology = question->shape->topology;
    int ranks = topology ? hs_division_largest(&topology->division[spec.with.level]) : 1, leads = 0;
    struct hs_entrant here = {.spec = {.alg = NULL}};
    hsumma_status status = HSUMMA_OK;
    while (!status && leads < ranks) {
        leads = leads == 0 ? 1 : leads < MOST_TRIED_LEADERS && 2 * leads < ranks ? 2 * leads : ranks;
        spec.with.leaders = spec.alg->flags & HS_USES_LEADERS ? leads : 0;
        status = try_spec(selector, question, &spec, price, &here);
        if (!spec.with.leaders)
            break;
    }
    if (here.spec.alg)
        spec = here.spec;
    for (int k = 2; !status && spec.with.leaders && spec.alg->flags & HS_USES_PIECES && k <= MOST_TRIED_PIECES;
         k *= 2) {
        spec.with.pieces = k;
        status = try_spec(selector, question, &spec, price, &here);
    }
    if (here.spec.alg)
        spec = here.spec;
    if (!status)
        status = try_outer(selector, question, spec, price, &here);
    if (here.spec.alg && here.seconds < seconds_of(best))
        *best = here;
    return status;
}

/* Tries a row with different parameters, and updates price->best and price->next. */
static hsumma_status try_row(struct hs_selector *selector, const struct hs_question *question, const struct hs_alg *alg,
                             struct hs_price *price)
{
    const struct hs_topology *topology = question->shape->topology;
    struct hs_entrant best = {.spec = {.alg = NULL}};
    struct hs_alg_spec spec = {.alg = alg};
    hsumma_status status = try_level(selector, question, spec, price, &best);
    spec.with.level = HS_SOCKET;
    if (!status && alg->flags & HS_USES_LEVEL && topology &&
        topology->division[HS_SOCKET].parts > topology->division[HS_NODE].parts)
        status = try_level(selector, question, spec, price, &best);
    if (status || !best.spec.alg)
        return status;
    if (best.seconds < seconds_of(&price->best)) {
        price->next = price->best;
        price->best = best;
    } else if (best.seconds < seconds_of(&price->next)) {
        price->next = best;
    }
    return HSUMMA_OK;
}

/* The index of the untried row with the smallest lower bound, -1 if none is left. */
static int most_promising(const struct hs_entrant *row, int rows)
{
    int first = -1;
    for (int i = 0; i < rows; i++)
        if (row[i].spec.alg && (first < 0 || row[i].seconds < row[first].seconds))
            first = i;
    return first;
}

/* Tries rows in ascending order of a lower bound on their time, so that most of the later ones need not be tried. */
static hsumma_status try_rows(struct hs_selector *selector, const struct hs_question *question, struct hs_entrant *row,
                              struct hs_price *price)
{
    const struct hs_alg *alg;
    hsumma_status status = HSUMMA_OK;
    int rows = 0, i;
    for (; !status && (alg = hs_alg_at(rows)); rows++) {
        struct hs_clock_estimate least = {.seconds = 0};
        struct hs_alg_spec spec = {.alg = alg};
        row[rows] = (struct hs_entrant){.spec = {.alg = NULL}};
        if (!is_candidate(alg, question) || hs_alg_spec_unfit(&spec, question))
            continue;
        struct hs_shape shape = *question->shape;
        hs_alg_spec_complete(&spec, &shape, hs_select_machine(selector, question));
        shape.with = spec.with;
        status = estimate(selector, question, alg, &shape, 0, &least);
        if (!status)
            row[rows] = (struct hs_entrant){spec, least.seconds};
        status = status == HSUMMA_ERR_MEMORY ? status : HSUMMA_OK;
    }
    while (!status && (i = most_promising(row, rows)) >= 0) {
        alg = row[i].spec.alg;
        row[i].spec.alg = NULL;
        /* the row is tried if its lower bound is small enough, or if other parameters may make it faster */
        if (alg->flags & (HS_USES_LEVEL | HS_USES_SEGMENT) || row[i].seconds < too_long(price))
            status = try_row(selector, question, alg, price);
    }
    return status;
}

hsumma_status hs_select_price(struct hs_selector *selector, const struct hs_question *question,
                              const struct hs_price **result)
{
    struct hs_shape shape = *question->shape;
    struct hs_question asked = *question;
    int64_t bytes = size_class(question);
    int rows = 0;
    *result = NULL;
    if (!selector->machine || (*result = find(selector, question, bytes)) != NULL)
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
    asked.machine = hs_select_machine(selector, question); /* of the bytes before they are rounded up */
    while (hs_alg_at(rows))
        rows++;
    struct hs_entrant *row = hs_get(selector->memory, (size_t)rows, sizeof *row);
    hsumma_status status = row ? try_rows(selector, &asked, row, &price) : HSUMMA_ERR_MEMORY;
    hs_put(selector->memory, row);
    if (status || !price.best.spec.alg)
        return status;
    void *array = selector->price;
    if (hs_grow(selector->memory, &array, sizeof price, &selector->price_capacity, (size_t)selector->prices + 1))
        return HSUMMA_ERR_MEMORY;
    selector->price = array;
    selector->price[selector->prices] = price;
    *result = &selector->price[selector->prices++];
    return HSUMMA_OK;
}
