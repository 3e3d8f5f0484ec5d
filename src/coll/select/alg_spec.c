/* The text of specs: parsing and writing. */
#include "coll/select/select.h"

#include "base/options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct spec_reading {
    const struct hs_registry *own;
    enum hs_collective collective;
    const char *sayer;
    int names; /* true if an unknown algorithm name is an error */
    struct hs_message *message;
};

static hsumma_status bad(const struct spec_reading *reading, const char *text, size_t length, const char *expected)
{
    return hs_fail(reading->message, HSUMMA_ERR_OPTION, "%s: \"%.*s\": expected %s", reading->sayer,
                   (int)(length < 80 ? length : 80), text, expected);
}

/* Copies a name of `length` characters to `name`. Returns -1 if the text is not a name. */
static int name_text(const char *text, size_t length, char name[HS_NAME_TEXT])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (length == 0 || length >= HS_NAME_TEXT || strspn(text, letters) < length)
        return -1;
    memcpy(name, text, length);
    name[length] = 0;
    return 0;
}

/* Finds the row of the spec's collective or, with `any`, of another one, as stages may be other collectives. */
static hsumma_status find_name(const struct spec_reading *reading, const char *name, int any, const struct hs_alg **alg)
{
    *alg = hs_alg_find_in(reading->own, reading->collective, name);
    for (int c = 0; !*alg && any && c < HS_COLLECTIVES; c++)
        *alg = hs_alg_find_in(reading->own, (enum hs_collective)c, name);
    if (*alg || !reading->names)
        return HSUMMA_OK;
    char known[360];
    hs_alg_names(reading->own, reading->collective, known, sizeof known);
    struct hs_guess guess = hs_guess_of(name, strlen(name));
    char meant[80];
    hs_guess_among(&guess, known);
    hs_guess_text(&guess, "", meant, sizeof meant);
    return hs_fail(reading->message, HSUMMA_ERR_OPTION, "%s: there is no %s algorithm \"%s\"%s%s", reading->sayer,
                   hs_collective_name(reading->collective), name,
                   meant[0] ? meant : "; expected one of: ", meant[0] ? "" : known);
}

enum value_kind { VALUE_NUMBER, VALUE_BYTES, VALUE_WORD, VALUE_NAME }; /* int, int64_t, an enum, struct hs_alg * */
enum { SPEC_WORDS = 4 };
static const struct spec_key {
    const char *name;
    unsigned flag;
    enum value_kind kind;
    size_t at;    /* offset in struct hs_alg_spec */
    int64_t most; /* largest number */
    const char *expected;
    const char *word[SPEC_WORDS]; /* word[i] stands for i; 0 is not written */
} keys[] = {
#define AT(field) offsetof(struct hs_alg_spec, field)
    {"l", HS_USES_LEADERS, VALUE_NUMBER, AT(with.leaders), INT32_MAX, .expected = "l=N with N at least 1"},
    {"k", HS_USES_PIECES, VALUE_NUMBER, AT(with.pieces), 1 << 20, .expected = "k=N with N from 1 to 1048576"},
    {"b", HS_USES_THRESHOLD, VALUE_BYTES, AT(with.threshold), INT64_MAX, .expected = "b=BYTES of at least 1"},
    {"rings", HS_USES_RINGS, VALUE_NUMBER, AT(with.rings), INT32_MAX, .expected = "rings=N with N at least 1"},
    {"rest", HS_USES_RINGS, VALUE_WORD, AT(with.rest),
     .expected = "rest=ring, rest=elimination_32 or rest=elimination_21",
     .word = {[HS_REST_RING] = "ring", [HS_REST_32] = "elimination_32", [HS_REST_21] = "elimination_21"}},
    {"level", HS_USES_LEVEL, VALUE_WORD, AT(with.level), .expected = "level=node or level=socket",
     .word = {[HS_NODE] = "node", [HS_SOCKET] = "socket"}},
    {"outer", HS_USES_OUTER, VALUE_NAME, AT(with.outer), .expected = "outer=NAME"},
    {"inner", HS_USES_INNER, VALUE_NAME, AT(with.inner), .expected = "inner=NAME"},
    {"segment", HS_USES_SEGMENT, VALUE_BYTES, AT(segment), INT64_MAX, .expected = "segment=BYTES of at least 1"},
#undef AT
};
enum { KEYS = sizeof keys / sizeof *keys };

const char *hs_alg_parameters(const struct hs_alg *alg, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int k = 0; k < KEYS; k++)
        if (alg->flags & keys[k].flag && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", keys[k].name);
    return text;
}

/* Sets a parameter of *spec to the value `text`. */
static hsumma_status set(const struct spec_reading *reading, const struct spec_key *key, const char *text,
                         struct hs_alg_spec *spec)
{
    void *field = (char *)spec + key->at;
    char name[HS_NAME_TEXT];
    int64_t number = 0;
    if (key->kind == VALUE_NAME && !name_text(text, strlen(text), name))
        return find_name(reading, name, 1, field);
    for (int i = 0; i < SPEC_WORDS; i++)
        if (key->word[i] && strcmp(text, key->word[i]) == 0) {
            *(int *)field = i;
            return HSUMMA_OK;
        }
    if (hs_size_text(text, 1, &number) || number > key->most) /* most: 0 for words and names */
        return bad(reading, text, strlen(text), key->expected);
    if (key->kind == VALUE_BYTES)
        *(int64_t *)field = number;
    else
        *(int *)field = (int)number;
    return HSUMMA_OK;
}

/* Parses KEY=VALUE, `length` characters, into *spec; `name` is the algorithm's, for messages. given: a bit per key. */
static hsumma_status parameter(const struct spec_reading *reading, const char *text, size_t length,
                               struct hs_alg_spec *spec, const char *name, unsigned *given)
{
    const char *equals = memchr(text, '=', length);
    char value[HS_ALG_SPEC_TEXT], list[80];
    for (int k = 0; equals && k < KEYS; k++) {
        size_t more = length - (size_t)(equals + 1 - text);
        if (strlen(keys[k].name) != (size_t)(equals - text) || memcmp(keys[k].name, text, (size_t)(equals - text)) != 0)
            continue;
        if (spec->alg && !(spec->alg->flags & keys[k].flag))
            break;
        if (*given & 1u << k)
            return hs_fail(reading->message, HSUMMA_ERR_OPTION, "%s: \"%.*s\": %s is given twice", reading->sayer,
                           (int)length, text, keys[k].name);
        *given |= 1u << k;
        memcpy(value, equals + 1, more);
        value[more] = 0;
        return set(reading, &keys[k], value, spec);
    }
    if (spec->alg && !hs_alg_parameters(spec->alg, list, sizeof list)[0])
        return hs_fail(reading->message, HSUMMA_ERR_OPTION, "%s: \"%.*s\": %s has no parameters", reading->sayer,
                       (int)length, text, name);
    return hs_fail(reading->message, HSUMMA_ERR_OPTION, "%s: \"%.*s\": the parameters of %s are %s", reading->sayer,
                   (int)length, text, name, spec->alg ? list : "l, k, b, rings, rest, level, outer, inner, segment");
}

static hsumma_status read_spec(const struct spec_reading *reading, const char *text, size_t length,
                               struct hs_alg_spec *spec)
{
    char name[HS_NAME_TEXT];
    unsigned given = 0;
    *spec = (struct hs_alg_spec){0};
    if (length == 4 && memcmp(text, "auto", 4) == 0)
        return HSUMMA_OK;
    const char *open = memchr(text, '(', length), *end = text + length;
    if (length >= HS_ALG_SPEC_TEXT || name_text(text, open ? (size_t)(open - text) : length, name) ||
        (open && end[-1] != ')'))
        return bad(reading, text, length, "NAME, or NAME with parameters such as NAME(l=4,outer=NAME)");
    hsumma_status status = find_name(reading, name, 0, &spec->alg);
    for (const char *at = open ? open + 1 : end; !status && at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - 1 - at));
        const char *stop = comma ? comma : end - 1;
        status = parameter(reading, at, (size_t)(stop - at), spec, name, &given);
        at = stop + 1;
    }
    return status;
}

hsumma_status hs_alg_spec_read(const struct hs_registry *own, enum hs_collective collective, const char *text,
                               size_t length, const char *sayer, struct hs_alg_spec *spec, struct hs_message *message)
{
    struct spec_reading reading = {own, collective, sayer, 1, message};
    return read_spec(&reading, text, length, spec);
}

hsumma_status hs_alg_spec_check(const char *text, size_t length, const char *sayer, struct hs_message *message)
{
    struct spec_reading reading = {NULL, HS_COLLECTIVES, sayer, 0, message};
    struct hs_alg_spec spec;
    return read_spec(&reading, text, length, &spec);
}

static int value_of(const struct hs_alg_spec *spec, const struct spec_key *key, char *text, size_t size)
{
    const void *field = (const char *)spec + key->at;
    const struct hs_alg *alg = key->kind == VALUE_NAME ? *(const struct hs_alg *const *)field : NULL;
    int64_t number = key->kind == VALUE_BYTES  ? *(const int64_t *)field
                     : key->kind != VALUE_NAME ? *(const int *)field
                                               : 0;
    text[0] = 0;
    if (alg || (number && key->kind == VALUE_WORD))
        snprintf(text, size, "%s", alg ? alg->name : key->word[number]);
    else if (number)
        hs_size_write(number, text, size);
    return text[0] != 0;
}

void hs_alg_spec_write(const struct hs_alg_spec *spec, char *text, size_t size)
{
    char value[HS_NAME_TEXT];
    int used = snprintf(text, size, "%s", spec->alg ? spec->alg->name : "auto"), first = 1;
    for (int k = 0; spec->alg && k < KEYS; k++)
        if (spec->alg->flags & keys[k].flag && value_of(spec, &keys[k], value, sizeof value) && (size_t)used < size) {
            used += snprintf(text + used, size - (size_t)used, "%s%s=%s", first ? "(" : ",", keys[k].name, value);
            first = 0;
        }
    if (!first && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ")");
}
