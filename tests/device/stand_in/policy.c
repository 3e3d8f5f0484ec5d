/* Parses HSUMMA_HOST_DEVICE: settings separated by commas. */
#include "device/stand_in/parts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum form { NO_NUMBER, NUMBER, MAY_NUMBER };

static const struct word {
    const char *name;
    enum form form;
    size_t field;
    int64_t least;
} words[] = {
    {"eager", NO_NUMBER, 0, HOST_EAGER},
    {"lazy", NO_NUMBER, 0, HOST_LAZY},
    {"random", MAY_NUMBER, offsetof(struct host_policy, draw), 0},
    {"hold", NUMBER, offsetof(struct host_policy, hold), 0},
    {"devices", NUMBER, offsetof(struct host_policy, devices), 1},
    {"memory", NUMBER, offsetof(struct host_policy, memory), 0},
    {"fail", NUMBER, offsetof(struct host_policy, fail), 1},
    {"event", NUMBER, offsetof(struct host_policy, refuse_event), 1},
    {"noipc", NO_NUMBER, offsetof(struct host_policy, no_ipc), 1},
    {"noevents", NO_NUMBER, offsetof(struct host_policy, no_events), 1},
};
enum { ORDERS = 3, FLAGS = 8, POLICY_WORDS = sizeof words / sizeof *words };

/* Parses a setting: NAME, NAME=NUMBER, or for an order NAME:NUMBER. Returns 0 if the text is a valid setting `word`,
 * else -1. */
static int take(const char *text, size_t length, const struct word *word, int i, struct host_policy *policy)
{
    size_t name = strlen(word->name);
    char *end = NULL;
    int64_t value = word->least;
    if (length < name || memcmp(text, word->name, name) != 0)
        return -1;
    int bare = length == name;
    if (bare ? word->form == NUMBER : word->form == NO_NUMBER || text[name] != (i < ORDERS ? ':' : '='))
        return -1;
    if (!bare) {
        value = strtoll(text + name + 1, &end, 10);
        if (end == text + name + 1 || end != text + length || value < word->least)
            return -1;
    }
    if (i < ORDERS)
        policy->order = (enum host_order)i;
    if (i >= FLAGS)
        *(int *)((char *)policy + word->field) = 1;
    else if (!bare)
        memcpy((char *)policy + word->field, &value, sizeof value);
    return 0;
}

hsumma_status host_policy_read(const char *text, int number, int local_rank, struct host_policy *policy,
                               struct hs_message *message)
{
    *policy = (struct host_policy){.order = HOST_RANDOM, .hold = 200, .devices = 1, .memory = INT64_MAX};
    for (const char *at = text ? text : ""; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        int i = 0;
        while (i < POLICY_WORDS && take(at, length, &words[i], i, policy))
            i++;
        if (i == POLICY_WORDS)
            return hs_fail(message, HSUMMA_ERR_DEVICE,
                           "HSUMMA_HOST_DEVICE=%s: \"%.*s\"; expected eager, lazy or random[:SEED], "
                           "hold=MICROSECONDS, devices=N, memory=BYTES, fail=N, event=N, noipc, noevents",
                           text, (int)length, at);
        at += length;
    }
    /* devices of different numbers, or of different processes of a node, get different states */
    policy->draw = (policy->draw + 1) * 0x9e3779b97f4a7c15u + (uint64_t)(number < 0 ? local_rank : number) * 2 + 1;
    return HSUMMA_OK;
}

uint64_t host_draw(struct host_policy *policy)
{
    uint64_t x = policy->draw ? policy->draw : 1; /* a step of xorshift, which would never leave 0 */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    policy->draw = x;
    return x >> 11;
}
