#include "coll/select/select.h"

#include <stdio.h>
#include <string.h>

static int keeps_order(const struct hs_alg *alg, const struct hs_question *question, enum hs_division_kind level)
{
    const struct hs_topology *topology = question->shape->topology;
    if (alg->collective == HS_BCAST || alg->collective == HS_ALLGATHER || alg->flags & HS_KEEPS_ORDER)
        return 1;
    return alg->flags & HS_KEEPS_ORDER_IF && (!topology || topology->division[level].contiguous);
}

static int by_mpi(const struct hs_alg *alg)
{
    return alg && alg->flags & HS_BY_MPI;
}

int hs_alg_spec_by_mpi(const struct hs_alg_spec *spec)
{
    return by_mpi(spec->alg) || by_mpi(spec->with.outer) || by_mpi(spec->with.inner);
}

int hs_alg_spec_by_function(const struct hs_alg_spec *spec)
{
    const struct hs_alg *row[] = {spec->alg, spec->with.outer, spec->with.inner};
    return (row[0] && row[0]->performer) || (row[1] && row[1]->performer) || (row[2] && row[2]->performer);
}

const char *hs_alg_spec_unfit(const struct hs_alg_spec *spec, const struct hs_question *question)
{
    const struct hs_alg *alg = spec->alg;
    struct hs_shape shape = *question->shape;
    shape.with = spec->with;
    const struct hs_alg *row[] = {alg, spec->with.outer, spec->with.inner};
    for (int i = 0; i < 3; i++)
        if (by_mpi(row[i]) && !row[i]->performer && question->no_mpi)
            return question->no_mpi;
    if (alg->flags & HS_EXACT_SUMS && question->own_operator)
        return "the operator is user-defined";
    if (question->ordered) {
        if (!keeps_order(alg, question, spec->with.level))
            return alg->flags & HS_KEEPS_ORDER_IF
                       ? "the operator does not commute and the ranks of a node are not consecutive"
                       : "the operator does not commute";
        if ((spec->with.outer && !keeps_order(spec->with.outer, question, spec->with.level)) ||
            (spec->with.inner && !keeps_order(spec->with.inner, question, spec->with.level)))
            return "the operator does not commute, and a stage does not keep the order of ranks";
    }
    return hs_alg_unfit(alg, &shape);
}

/* Replaces a spec that cannot serve the call by the fallback of its row or, if that does not fit, by the safe row. */
static void reroute(const struct hs_question *question, struct hs_answer *answer, const char *why)
{
    struct hs_alg_spec kin = {.alg = answer->spec.alg->fallback, .with = {.level = answer->spec.with.level}};
    if (!kin.alg || hs_alg_spec_unfit(&kin, question))
        kin = (struct hs_alg_spec){.alg = hs_alg_safe(question->collective)};
    answer->asked = answer->spec;
    answer->why_not = why;
    answer->spec = kin;
}

/* Sets spec and by from the first of call, option and tuned file that names an algorithm; else spec.alg stays NULL. */
static hsumma_status said(const struct hs_selector *selector, const struct hs_question *question,
                          struct hs_answer *answer, struct hs_message *message)
{
    static const char *const sayer[] = {"the call's algorithm", "coll", "tuned"};
    const struct hs_shape *shape = question->shape;
    int nodes = hs_nodes_of(shape->topology, shape->size);
    const char *text[] = {
        question->spec,
        hs_rules_find(&selector->coll, question->collective, shape->size, nodes, shape->bytes),
        hs_rules_find(&selector->tuned, question->collective, shape->size, nodes, shape->bytes),
    };
    for (int i = 0; i < 3; i++) {
        if (!text[i])
            continue;
        hsumma_status status = hs_alg_spec_read(selector->own, question->collective, text[i], strlen(text[i]), sayer[i],
                                                &answer->spec, message);
        answer->by = (enum hs_chosen_by)i;
        if (status || answer->spec.alg)
            return status;
    }
    return HSUMMA_OK;
}

/* True for a stage by MPI or by a function of the caller, and for a row whose bits others cannot give. */
static int is_never_replaced(const struct hs_alg_spec *spec)
{
    return spec->alg->flags & HS_EXACT_SUMS || (hs_alg_spec_by_mpi(spec) && !by_mpi(spec->alg));
}

/* Replaces an answer that nobody or a tuned file has given by row "exact"; the caller's must be this row. */
static hsumma_status demand_exact(const struct hs_selector *selector, const struct hs_question *question,
                                  struct hs_answer *answer, struct hs_message *message)
{
    static const char name[] = "exact";
    if (answer->spec.alg && answer->spec.alg->flags & HS_EXACT_SUMS)
        return HSUMMA_OK;
    if (answer->spec.alg && answer->by != HS_CHOSEN_BY_TUNED)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "bits=anywhere: %s algorithm %s rounds partial results; expected exact or auto",
                       hs_collective_name(question->collective), answer->spec.alg->name);
    answer->by = HS_CHOSEN_BY_BITS;
    return hs_alg_spec_read(selector->own, question->collective, name, sizeof name - 1, "bits=anywhere", &answer->spec,
                            message);
}

static hsumma_status select_spec(struct hs_selector *selector, const struct hs_question *question,
                                 struct hs_answer *answer, struct hs_message *message)
{
    *answer = (struct hs_answer){.by = HS_CHOSEN_BY_DEFAULT};
    hsumma_status status = said(selector, question, answer, message);
    if (!status && selector->anywhere && question->rounds)
        status = demand_exact(selector, question, answer, message);
    if (status)
        return status;
    if (answer->spec.alg) {
        const char *why = hs_alg_spec_unfit(&answer->spec, question);
        if (why && is_never_replaced(&answer->spec)) {
            char text[HS_ALG_SPEC_TEXT];
            hs_alg_spec_write(&answer->spec, text, sizeof text);
            return hs_fail(message, HSUMMA_ERR_UNSUPPORTED, "%s algorithm %s cannot serve this call: %s",
                           hs_collective_name(question->collective), text, why);
        }
        if (why)
            reroute(question, answer, why);
        return HSUMMA_OK;
    }
    const struct hs_price *price;
    status = hs_select_price(selector, question, &price);
    if (status)
        return hs_fail(message, status, "no memory for choosing an algorithm");
    if (price && !hs_alg_spec_unfit(&price->best.spec, question)) {
        answer->by = HS_CHOSEN_BY_MODEL;
        answer->spec = price->best.spec;
        answer->next = price->next.spec;
        /* Beyond the longest priced vector, time is assumed to be proportional to length. */
        double times =
            question->shape->bytes > price->bytes ? (double)question->shape->bytes / (double)price->bytes : 1;
        answer->seconds = price->best.seconds * times;
        answer->next_seconds = price->next.seconds * times;
        return HSUMMA_OK;
    }
    answer->by = HS_CHOSEN_BY_DEFAULT;
    answer->spec = (struct hs_alg_spec){.alg = hs_alg_safe(question->collective)};
    return HSUMMA_OK;
}

void hs_alg_spec_complete(struct hs_alg_spec *spec, const struct hs_shape *shape, const struct hs_machine *machine)
{
    const struct hs_topology *topology = shape->topology;
    if (!spec->alg->complete || !machine)
        return;
    const struct hs_link *link = &machine->network;
    if (topology && topology->division[HS_NODE].parts == 1 && hs_is_priced(&machine->node))
        link = &machine->node;
    if (topology && topology->division[HS_SOCKET].parts == 1 && hs_is_priced(&machine->socket))
        link = &machine->socket;
    struct hs_prices prices = {.alpha = {link->alpha, link->alpha_long},
                               .beta = {link->beta, link->beta_long},
                               .eager = link->eager,
                               .gamma = machine->gamma,
                               .copy = machine->copy};
    spec->alg->complete(shape, &prices, &spec->with);
}

hsumma_status hs_select(struct hs_selector *selector, const struct hs_question *question, struct hs_answer *answer,
                        struct hs_message *message)
{
    hsumma_status status = select_spec(selector, question, answer, message);
    if (!status)
        hs_alg_spec_complete(&answer->spec, question->shape, hs_select_machine(selector, question));
    return status;
}

void hs_selector_free(struct hs_selector *selector)
{
    hs_rules_free(&selector->coll, selector->memory);
    hs_rules_free(&selector->tuned, selector->memory);
    hs_put(selector->memory, selector->price);
    selector->price = NULL;
    selector->prices = 0;
    selector->price_capacity = 0;
}

void hs_select_forget(struct hs_selector *selector, enum hs_collective collective)
{
    int kept = 0;
    for (int i = 0; i < selector->prices; i++)
        if (selector->price[i].collective != collective)
            selector->price[kept++] = selector->price[i];
    selector->prices = kept;
}

static void write_size(int64_t bytes, char *text, size_t size)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB"};
    double value = (double)bytes;
    int i = 0;
    for (; i < 3 && value >= 1024; i++)
        value /= 1024;
    snprintf(text, size, i ? "%.4g %s" : "%.0f %s", value, unit[i]);
}

static void write_seconds(double seconds, char *text, size_t size)
{
    if (seconds < 1e-3)
        snprintf(text, size, "%.3g us", seconds * 1e6);
    else
        snprintf(text, size, seconds < 1 ? "%.3g ms" : "%.3g s", seconds < 1 ? seconds * 1e3 : seconds);
}

void hs_answer_write(const struct hs_question *question, const struct hs_answer *answer, char *text, size_t size)
{
    static const char *const by[] = {"by the call",        "by the option coll", "by the tuned file",
                                     "by the option bits", "by the model",       "by default"};
    const struct hs_shape *shape = question->shape;
    char bytes[32], nodes[32] = "", spec[HS_ALG_SPEC_TEXT], more[HS_ALG_SPEC_TEXT + 160] = "", other[HS_ALG_SPEC_TEXT],
                    seconds[2][32];
    write_size(shape->bytes, bytes, sizeof bytes);
    if (shape->topology)
        snprintf(nodes, sizeof nodes, " (%d node%s)", shape->topology->division[HS_NODE].parts,
                 shape->topology->division[HS_NODE].parts == 1 ? "" : "s");
    hs_alg_spec_write(&answer->spec, spec, sizeof spec);
    if (answer->asked.alg) {
        hs_alg_spec_write(&answer->asked, other, sizeof other);
        snprintf(more, sizeof more, " instead of %s (%s): %s", other, by[answer->by], answer->why_not);
    } else {
        snprintf(more, sizeof more, ", %s", by[answer->by]);
    }
    int used = snprintf(text, size, "%s of %s on %d process%s%s: %s%s", hs_collective_name(question->collective), bytes,
                        shape->size, shape->size == 1 ? "" : "es", nodes, spec, more);
    if (answer->by != HS_CHOSEN_BY_MODEL || used < 0 || (size_t)used >= size)
        return;
    write_seconds(answer->seconds, seconds[0], sizeof seconds[0]);
    used += snprintf(text + used, size - (size_t)used, ": %s", seconds[0]);
    if (!answer->next.alg || (size_t)used >= size)
        return;
    hs_alg_spec_write(&answer->next, other, sizeof other);
    write_seconds(answer->next_seconds, seconds[1], sizeof seconds[1]);
    snprintf(text + used, size - (size_t)used, "; %s %s", other, seconds[1]);
}
