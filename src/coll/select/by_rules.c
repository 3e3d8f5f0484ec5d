/* Rules: specs by collective and size, from the option "coll" or a tuned file. */
#include "base/options.h"
#include "coll/select/select.h"

#include <stdio.h>
#include <string.h>

static int collective_of(const char *text, size_t length)
{
    for (int c = 0; c < HS_COLLECTIVES; c++) {
        const char *name = hs_collective_name((enum hs_collective)c);
        if (strlen(name) == length && memcmp(name, text, length) == 0)
            return c;
    }
    return -1;
}

int hs_bytes_text(const char *text, size_t length, int64_t *bytes)
{
    char value[HS_NAME_TEXT];
    if (length == 0 || length >= sizeof value)
        return -1;
    memcpy(value, text, length);
    value[length] = 0;
    *bytes = INT64_MAX;
    return strcmp(value, "inf") == 0 ? 0 : hs_size_text(value, 0, bytes);
}

/* Parses a range FROM-TO into rule->from and rule->to. Returns -1 if it is invalid. */
static int range_text(const char *text, size_t length, struct hs_rule *rule)
{
    const char *dash = memchr(text, '-', length);
    return !dash || hs_bytes_text(text, (size_t)(dash - text), &rule->from) ||
                   hs_bytes_text(dash + 1, length - (size_t)(dash + 1 - text), &rule->to) || rule->from > rule->to
               ? -1
               : 0;
}

static hsumma_status append(struct hs_rules *rules, const struct hs_rule *rule, const struct hs_allocator *memory)
{
    void *array = rules->rule;
    if (hs_grow(memory, &array, sizeof *rule, &rules->capacity, (size_t)rules->count + 1))
        return HSUMMA_ERR_MEMORY;
    rules->rule = array;
    rules->rule[rules->count++] = *rule;
    return HSUMMA_OK;
}

static hsumma_status set_spec(struct hs_rule *rule, const char *text, size_t length, const char *sayer,
                              struct hs_message *message)
{
    hsumma_status status = hs_alg_spec_check(text, length, sayer, message);
    if (status)
        return status;
    memcpy(rule->spec, text, length);
    rule->spec[length] = 0;
    return HSUMMA_OK;
}

/* The number of characters before the first comma outside parentheses. */
static size_t to_comma(const char *text, size_t length)
{
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (text[i] == ',' && depth == 0)
            return i;
    }
    return length;
}

/* Parses RANGE:ALGORITHM or ALGORITHM into *rule. */
static hsumma_status read_rule(struct hs_rule *rule, const char *text, size_t length, struct hs_message *message)
{
    const char *colon = memchr(text, ':', length);
    rule->from = 0;
    rule->to = INT64_MAX;
    if (colon && range_text(text, (size_t)(colon - text), rule))
        return hs_fail(message, HSUMMA_ERR_OPTION, "coll: \"%.*s\": expected a range such as 0-2k or 2k-inf",
                       (int)(colon - text), text);
    const char *word = colon ? colon + 1 : text;
    return set_spec(rule, word, length - (size_t)(word - text), "coll", message);
}

/* Parses COLLECTIVE:rule,rule,... and appends the rules. */
static hsumma_status read_collective(struct hs_rules *rules, const char *text, size_t length,
                                     const struct hs_allocator *memory, struct hs_message *message)
{
    const char *colon = memchr(text, ':', length);
    int collective = colon ? collective_of(text, (size_t)(colon - text)) : -1;
    if (collective < 0)
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "coll: \"%.*s\": expected COLLECTIVE:NAME or COLLECTIVE:RANGE:NAME,... with bcast, reduce, "
                       "allreduce, allgather or reduce_scatter",
                       (int)length, text);
    struct hs_rule rule = {.collective = (enum hs_collective)collective};
    const char *end = text + length;
    for (const char *at = colon + 1; at <= end;) {
        size_t part = to_comma(at, (size_t)(end - at));
        hsumma_status status = read_rule(&rule, at, part, message);
        if (!status)
            status = append(rules, &rule, memory);
        if (status)
            return status;
        at += part + 1;
    }
    return HSUMMA_OK;
}

hsumma_status hs_rules_read(struct hs_rules *rules, const char *text, const struct hs_allocator *memory,
                            struct hs_message *message)
{
    hsumma_status status = HSUMMA_OK;
    if (strcmp(text, "auto") == 0)
        return HSUMMA_OK;
    while (!status) {
        size_t length = strcspn(text, ";");
        status = read_collective(rules, text, length, memory, message);
        text += length;
        if (!*text++)
            break;
    }
    return status;
}

static int count_text(const char *text, size_t length, int *count)
{
    int64_t number = 0;
    *count = 0;
    if (length == 1 && *text == '*')
        return 0;
    if (hs_bytes_text(text, length, &number) || number < 1 || number > INT32_MAX)
        return -1;
    *count = (int)number;
    return 0;
}

/* Appends the rule in line `number` of a tuned file. */
static hsumma_status tuned_rule(struct hs_rules *rules, const struct hs_tuned_fields *line, int number,
                                const struct hs_allocator *memory, struct hs_message *message)
{
    const char *const *word = line->text;
    const size_t *size = line->size;
    struct hs_rule rule = {.to = INT64_MAX};
    int collective = collective_of(word[0], size[0]);
    rule.collective = (enum hs_collective)collective;
    if (line->count != HS_TUNED_FIELDS || collective < 0 || count_text(word[1], size[1], &rule.ranks) ||
        count_text(word[2], size[2], &rule.nodes) ||
        (!hs_tuned_is(line, 3, "*", 1) && range_text(word[3], size[3], &rule))) {
        size_t length = (size_t)(line->end - word[0]);
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "tuned: line %d, \"%.*s\": expected COLLECTIVE RANKS NODES RANGE NAME", number,
                       (int)(length < 80 ? length : 80), word[0]);
    }
    char sayer[32];
    snprintf(sayer, sizeof sayer, "tuned: line %d", number);
    hsumma_status status = set_spec(&rule, word[4], size[4], sayer, message);
    return status ? status : append(rules, &rule, memory);
}

hsumma_status hs_rules_read_tuned(struct hs_rules *rules, const char *text, const struct hs_allocator *memory,
                                  struct hs_message *message)
{
    int number = 1;
    struct hs_tuned_fields line;
    hsumma_status status = hs_tuned_check_head(text, message);
    hs_tuned_split(text, &line);
    for (text = line.next; !status && *text; text = line.next) {
        hs_tuned_split(text, &line);
        number++;
        if (hs_tuned_is_rule(&line))
            status = tuned_rule(rules, &line, number, memory, message);
    }
    return status;
}

void hs_rules_free(struct hs_rules *rules, const struct hs_allocator *memory)
{
    hs_put(memory, rules->rule);
    *rules = (struct hs_rules){0};
}

const char *hs_rules_find(const struct hs_rules *rules, enum hs_collective collective, int ranks, int nodes,
                          int64_t bytes)
{
    for (int i = 0; i < rules->count; i++) {
        const struct hs_rule *rule = &rules->rule[i];
        if (rule->collective == collective && (!rule->ranks || rule->ranks == ranks) &&
            (!rule->nodes || rule->nodes == nodes) && rule->from <= bytes && bytes <= rule->to)
            return rule->spec;
    }
    return NULL;
}
