/* The text of specs: parsing and writing. */
#include "coll/select/select.h"

#include "base/options.h"

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

enum key {
    KEY_LEADERS,
    KEY_PIECES,
    KEY_THRESHOLD,
    KEY_RINGS,
    KEY_REST,
    KEY_LEVEL,
    KEY_OUTER,
    KEY_INNER,
    KEY_SEGMENT,
    KEYS
};
static const struct {
    const char *name;
    unsigned flag;
    int64_t most; /* largest value of a number; 0 if the value is a number of bytes or a name */
    const char *expected;
} keys[KEYS] = {
    [KEY_LEADERS] = {"l", HS_USES_LEADERS, INT32_MAX, "l=N with N at least 1"},
    [KEY_PIECES] = {"k", HS_USES_PIECES, 1 << 20, "k=N with N from 1 to 1048576"},
    [KEY_THRESHOLD] = {"b", HS_USES_THRESHOLD, 0, "b=BYTES of at least 1"},
    [KEY_RINGS] = {"rings", HS_USES_RINGS, INT32_MAX, "rings=N with N at least 1"},
    [KEY_REST] = {"rest", HS_USES_RINGS, 0, "rest=ring, rest=elimination_32 or rest=elimination_21"},
    [KEY_LEVEL] = {"level", HS_USES_LEVEL, 0, "level=node or level=socket"},
    [KEY_OUTER] = {"outer", HS_USES_OUTER, 0, "outer=NAME"},
    [KEY_INNER] = {"inner", HS_USES_INNER, 0, "inner=NAME"},
    [KEY_SEGMENT] = {"segment", HS_USES_SEGMENT, 0, "segment=BYTES of at least 1"},
};

const char *hs_alg_parameters(const struct hs_alg *alg, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int k = 0; k < KEYS; k++)
        if (alg->flags & keys[k].flag && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", keys[k].name);
    return text;
}

static const char *const rests[] = {
    [HS_REST_CHOSEN] = "", [HS_REST_RING] = "ring", [HS_REST_32] = "elimination_32", [HS_REST_21] = "elimination_21"};

/* Sets a parameter of *spec to the value `text`. */
static hsumma_status set(const struct spec_reading *reading, enum key key, const char *text, struct hs_alg_spec *spec)
{
    int64_t number = 0;
    if (key == KEY_LEVEL) {
        spec->with.level = strcmp(text, "socket") == 0 ? HS_SOCKET : HS_NODE;
        return spec->with.level == HS_SOCKET || strcmp(text, "node") == 0
                   ? HSUMMA_OK
                   : bad(reading, text, strlen(text), keys[key].expected);
    }
    if (key == KEY_REST) {
        for (int i = HS_REST_RING; i <= HS_REST_21; i++)
            if (strcmp(text, rests[i]) == 0)
                spec->with.rest = (enum hs_rest)i;
        return spec->with.rest ? HSUMMA_OK : bad(reading, text, strlen(text), keys[key].expected);
    }
    if (key == KEY_OUTER || key == KEY_INNER) {
        char name[HS_NAME_TEXT];
        if (name_text(text, strlen(text), name))
            return bad(reading, text, strlen(text), keys[key].expected);
        return find_name(reading, name, 1, key == KEY_OUTER ? &spec->with.outer : &spec->with.inner);
    }
    if (hs_size_text(text, 1, &number) || (keys[key].most && number > keys[key].most))
        return bad(reading, text, strlen(text), keys[key].expected);
    if (key == KEY_LEADERS)
        spec->with.leaders = (int)number;
    else if (key == KEY_PIECES)
        spec->with.pieces = (int)number;
    else if (key == KEY_RINGS)
        spec->with.rings = (int)number;
    else
        *(key == KEY_THRESHOLD ? &spec->with.threshold : &spec->segment) = number;
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
        return set(reading, (enum key)k, value, spec);
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

static int value_of(const struct hs_alg_spec *spec, enum key key, char *text, size_t size)
{
    const struct hs_alg *alg = key == KEY_OUTER ? spec->with.outer : spec->with.inner;
    int64_t number[KEYS] = {[KEY_LEADERS] = spec->with.leaders,
                            [KEY_PIECES] = spec->with.pieces,
                            [KEY_THRESHOLD] = spec->with.threshold,
                            [KEY_RINGS] = spec->with.rings,
                            [KEY_SEGMENT] = spec->segment};
    if (key == KEY_REST)
        snprintf(text, size, "%s", rests[spec->with.rest]);
    else if (key == KEY_LEVEL)
        snprintf(text, size, "%s", spec->with.level == HS_SOCKET ? "socket" : "");
    else if (key == KEY_OUTER || key == KEY_INNER)
        snprintf(text, size, "%s", alg ? alg->name : "");
    else if (number[key])
        hs_size_write(number[key], text, size);
    else
        text[0] = 0;
    return text[0] != 0;
}

void hs_alg_spec_write(const struct hs_alg_spec *spec, char *text, size_t size)
{
    char value[HS_NAME_TEXT];
    int used = snprintf(text, size, "%s", spec->alg ? spec->alg->name : "auto"), first = 1;
    for (int k = 0; spec->alg && k < KEYS; k++)
        if (spec->alg->flags & keys[k].flag && value_of(spec, (enum key)k, value, sizeof value) &&
            (size_t)used < size) {
            used += snprintf(text + used, size - (size_t)used, "%s%s=%s", first ? "(" : ",", keys[k].name, value);
            first = 0;
        }
    if (!first && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ")");
}
