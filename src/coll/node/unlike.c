#include "coll/node/verdict.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LETTERS = 7,     /* letters that fit into hs_vote.value, which is not negative */
    GIVEN_TEXT = 150 /* bytes of a value in the message */
};

/* Copies the text of rank `source` to all ranks. */
static hsumma_status share(const struct hs_voters *voters, int source, char *text, size_t size)
{
    int64_t letters = 0;
    size_t length = voters->rank == source ? strlen(text) : 0;
    for (size_t at = 0; at + LETTERS < size && (at == 0 || letters >> 8 * (LETTERS - 1)); at += LETTERS) {
        letters = 0;
        for (size_t i = 0; i < LETTERS && at + i < length; i++)
            letters |= (int64_t)(unsigned char)text[at + i] << 8 * i;
        struct hs_verdict verdict = voters->agree(voters->state, (struct hs_vote){.value = letters});
        if (verdict.status)
            return verdict.status;
        letters = verdict.value;
        if (voters->rank == source)
            continue;
        for (size_t i = 0; i < LETTERS; i++)
            text[at + i] = (char)(letters >> 8 * i & 255);
        text[at + LETTERS] = 0;
    }
    return HSUMMA_OK;
}

static int64_t key_of(const struct hs_given *given)
{
    const uint64_t key = hs_mix(0, (uint64_t)given->number);
    return (int64_t)(hs_mix_text(key, given->text ? given->text : "") >> 1);
}

static void write_value(const struct hs_given *given, char *text, size_t size)
{
    if (given->text)
        snprintf(text, size, "%s%s%s", given->text[0] ? "" : "\"", given->text, given->text[0] ? "" : "\"");
    else
        snprintf(text, size, "%" PRId64, given->number);
}

/* Finds a rank whose value differs from that of rank `first`, and sets the message to both values. */
static hsumma_status compare(const struct hs_voters *voters, const struct hs_given *given, int first,
                             struct hs_message *message)
{
    char value[2][GIVEN_TEXT];
    const int64_t key = key_of(given);
    struct hs_verdict verdict =
        voters->agree(voters->state, (struct hs_vote){.value = voters->rank == first ? key : 0});
    if (!verdict.status)
        verdict = voters->agree(voters->state,
                                (struct hs_vote){.value = key == verdict.value ? 0 : INT32_MAX - voters->rank});
    const int ranks[2] = {INT32_MAX - (int)verdict.value, first};
    hsumma_status status = verdict.status;
    for (int i = 0; i < 2 && !status; i++) {
        write_value(given, value[i], sizeof value[i]);
        status = share(voters, ranks[i], value[i], sizeof value[i]);
    }
    if (status)
        return hs_fail(message, status, "MPI failed while processes compared their arguments");
    if (!given->name)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "rank %d called %s, rank %d called %s; expected one call on all",
                       ranks[0], value[0], ranks[1], value[1]);
    if (given->chosen)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "rank %d chose %s = %s, rank %d chose %s; expected one choice on all: use one build of hsumma",
                       ranks[0], given->name, value[0], ranks[1], value[1]);
    return hs_fail(message, HSUMMA_ERR_ARGUMENT, "rank %d gave %s%s%s = %s, rank %d gave %s; expected one value on all",
                   ranks[0], given->name, given->of ? " of " : "", given->of ? given->of : "", value[0], ranks[1],
                   value[1]);
}

hsumma_status hs_unlike_explain(const struct hs_voters *voters, const char *call, const struct hs_given *given,
                                int count, struct hs_message *message)
{
    const struct hs_given itself = {NULL, .text = call};
    for (int i = -1; i < count; i++) {
        const struct hs_given *one = i < 0 ? &itself : &given[i];
        struct hs_verdict verdict = voters->agree(voters->state, (struct hs_vote){.hash = key_of(one)});
        if (verdict.status)
            return hs_fail(message, verdict.status, "MPI failed while processes compared their arguments");
        if (!verdict.alike)
            return compare(voters, one, verdict.rank, message);
    }
    return hs_fail(message, HSUMMA_ERR_ARGUMENT, "processes gave different arguments to %s; expected the same on all",
                   call);
}

hsumma_status hs_unlike_report(const struct hs_voters *voters, hsumma_status mine, struct hs_verdict verdict,
                               struct hs_message *message)
{
    struct hs_message theirs = {""};
    if (verdict.status >= HSUMMA_ERR_MPI) /* some ranks may not start another agreement */
        return verdict.status == mine ? mine
                                      : hs_fail(message, verdict.status, "rank %d reports: %s", verdict.rank,
                                                hsumma_status_string(verdict.status));
    if (mine)
        theirs = *message;
    hsumma_status status = share(voters, verdict.rank, theirs.text, sizeof theirs.text);
    if (status)
        return hs_fail(message, status, "rank %d reports: %s, then MPI failed", verdict.rank,
                       hsumma_status_string(verdict.status));
    if (verdict.status != mine)
        hs_fail(message, verdict.status, "rank %d: %.*s", verdict.rank, (int)sizeof theirs.text - 32, theirs.text);
    return verdict.status;
}
