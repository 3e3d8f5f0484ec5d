#include "summa/panels.h"

#include <string.h>

/* Adds the interval [at, end) to its pair of owners. */
static void add_interval(struct hs_pairs *pairs, int32_t *index, const int owner[2], int64_t at, int64_t end)
{
    if (*index < 0) {
        *index = pairs->count;
        pairs->pair[pairs->count++] = (struct hs_pair){
            .owner = {owner[0], owner[1]},
            .at = at,
            .local = {hs_axis_before(pairs->axis[0], owner[0], at), hs_axis_before(pairs->axis[1], owner[1], at)}};
    }
    struct hs_pair *pair = &pairs->pair[*index];
    for (int i = 0; i < 2; i++)
        if (hs_axis_before(pairs->axis[i], owner[i], at) != pair->local[i] + pair->width)
            pairs->in_place[i] = 0;
    pair->width += end - at;
    pairs->width_max = pair->width > pairs->width_max ? pair->width : pairs->width_max;
}

/* The end of the interval that begins at `at`. */
static int64_t interval_end(const struct hs_pairs *pairs, int64_t at)
{
    return hs_min(hs_axis_block_end(pairs->axis[0], at), hs_axis_block_end(pairs->axis[1], at));
}

/* Collects all intervals in ascending order; pairs are numbered by first occurrence.  ordered: as in hs_pairs_make. */
static void collect_pairs(struct hs_pairs *pairs, int ordered, int32_t *place)
{
    const struct hs_axis *x = pairs->axis[0], *y = pairs->axis[1];
    for (int64_t at = 0; at < x->n;) {
        int64_t end = interval_end(pairs, at);
        int owner[2] = {hs_axis_owner(x, at), hs_axis_owner(y, at)};
        int32_t *index = &place[(int64_t)owner[0] * y->nprocs + owner[1]];
        if (ordered && *index != pairs->count - 1)
            *index = -1;
        add_interval(pairs, index, owner, at, end);
        at = end;
    }
    for (int i = 0; i < pairs->count; i++)
        for (int o = 0; o < 2; o++)
            pairs->changes[o] += pairs->pair[i].owner[o] != pairs->pair[i ? i - 1 : pairs->count - 1].owner[o];
}

static void count_widths(struct hs_pairs *pairs)
{
    for (int i = 0, w; i < pairs->count && pairs->widths <= HS_WIDTHS; i++) {
        for (w = 0; w < pairs->widths && pairs->of_width[w].width != pairs->pair[i].width;)
            w++;
        if (w == pairs->widths && pairs->widths++ == HS_WIDTHS)
            return;
        pairs->of_width[w].width = pairs->pair[i].width;
        pairs->of_width[w].count++;
    }
}

/* At least the number of blocks. */
static int64_t blocks(const struct hs_axis *axis)
{
    return axis->n / axis->nb + 2;
}

hsumma_status hs_pairs_make(const struct hs_axis *x, const struct hs_axis *y, int ordered,
                            const struct hs_allocator *memory, struct hs_pairs *pairs)
{
    size_t owners = (size_t)x->nprocs * (size_t)y->nprocs, most = (size_t)(blocks(x) + blocks(y)); /* intervals */
    most = ordered || most < owners ? most : owners;
    *pairs = (struct hs_pairs){.axis = {x, y}, .in_place = {1, 1}};
    int32_t *place = hs_get(memory, owners, sizeof *place);
    pairs->pair = most > INT32_MAX ? NULL : hs_get(memory, most + 1, sizeof *pairs->pair);
    if (place && pairs->pair) {
        memset(place, -1, owners * sizeof *place);
        collect_pairs(pairs, ordered, place);
        count_widths(pairs);
    }
    int failed = !place || !pairs->pair;
    hs_put(memory, place);
    if (failed)
        hs_pairs_free(memory, pairs);
    return failed ? HSUMMA_ERR_MEMORY : HSUMMA_OK;
}

enum { FAR = 8, AHEAD = 64 };

/* Number of pairs since the node of a pair's owner last had a turn, at most FAR. */
static int idle(const struct hs_pair *pair, int operand, const int mates[2], int *const last[2], int now)
{
    int ago = now - last[operand][pair->owner[operand] / mates[operand]];
    return ago < FAR ? ago : FAR;
}

/* Among the next AHEAD pairs from i on, the first whose two nodes have been idle longest: the shorter idle time
 * decides, then the longer. */
static int longest_idle(const struct hs_pairs *pairs, int i, const int mates[2], int *const last[2], int now)
{
    int best = i, most = 0;
    for (int j = i; j < pairs->count && j < i + AHEAD && most < FAR * FAR + FAR; j++) {
        int a = idle(&pairs->pair[j], 0, mates, last, now), b = idle(&pairs->pair[j], 1, mates, last, now);
        int score = a < b ? a * FAR + b : b * FAR + a;
        best = score > most ? j : best;
        most = score > most ? score : most;
    }
    return best;
}

hsumma_status hs_pairs_alternate(struct hs_pairs *pairs, const int mates[2], const struct hs_allocator *memory)
{
    int *last[2];
    for (int o = 0; o < 2; o++)
        last[o] = hs_get_zero(memory, (size_t)pairs->axis[o]->nprocs, sizeof *last[o]);
    int failed = !last[0] || !last[1];
    for (int i = 0; !failed && i < pairs->count; i++) {
        int now = FAR + i, at = longest_idle(pairs, i, mates, last, now);
        struct hs_pair next = pairs->pair[at];
        memmove(&pairs->pair[i + 1], &pairs->pair[i], (size_t)(at - i) * sizeof next);
        pairs->pair[i] = next;
        for (int o = 0; o < 2; o++)
            last[o][next.owner[o] / mates[o]] = now;
    }
    for (int o = 0; o < 2; o++)
        hs_put(memory, last[o]);
    return failed ? HSUMMA_ERR_MEMORY : HSUMMA_OK;
}

void hs_pairs_free(const struct hs_allocator *memory, struct hs_pairs *pairs)
{
    hs_put(memory, pairs->pair);
    pairs->pair = NULL;
    pairs->count = 0;
}

/* A pair of owners that still has `left` indices to cut into panels. */
struct rest {
    struct hs_overlap walk;
    int64_t left;
    int pair;
};

/* Cuts one turn of a pair into innermost panels, from panel t on; returns one past the last of these panels. */
static int cut_turn(struct hs_panels *panels, struct rest *rest, int64_t turn, int t)
{
    for (int64_t wanted = rest->left < turn ? rest->left : turn; wanted > 0; t++) {
        int64_t width = wanted < panels->width ? wanted : panels->width;
        int64_t begin, length, got = 0;
        panels->panel[t] = (struct hs_panel){.at = -1, .width = (int32_t)width, .pair = rest->pair};
        while (got < width && hs_overlap_next(&rest->walk, width - got, &begin, &length)) {
            if (got == 0)
                panels->panel[t].at = begin;
            got += length;
        }
        rest->left -= width;
        wanted -= width;
    }
    return t;
}

/* Cuts all pairs into innermost panels, one turn of each pair per round. */
static hsumma_status cut_pairs(struct hs_panels *panels, int64_t turn, const struct hs_allocator *memory)
{
    const struct hs_pairs *pairs = &panels->pairs;
    int open = pairs->count;
    struct rest *rest = hs_get(memory, (size_t)open + 1, sizeof *rest);
    if (!rest)
        return HSUMMA_ERR_MEMORY;
    for (int i = 0; i < open; i++) {
        const struct hs_pair *pair = &pairs->pair[i];
        rest[i] = (struct rest){.walk = hs_overlap_begin(pairs->axis[0], pair->owner[0], pairs->axis[1], pair->owner[1],
                                                         pair->at, pairs->axis[0]->n),
                                .left = pair->width,
                                .pair = i};
    }
    while (open > 0) {
        int kept = 0;
        for (int i = 0; i < open; i++) {
            panels->count = cut_turn(panels, &rest[i], turn, panels->count);
            if (rest[i].left > 0)
                rest[kept++] = rest[i];
        }
        open = kept;
    }
    hs_put(memory, rest);
    return HSUMMA_OK;
}

static hsumma_status make_tier(struct hs_panels *panels, struct hs_tier *tier, int64_t width,
                               const struct hs_allocator *memory)
{
    int64_t ratio = width / panels->width;
    int64_t most = 0;
    for (int i = 0; i < panels->pairs.count; i++)
        most += hs_cuts(panels->pairs.pair[i].width, width);
    tier->first = hs_get(memory, (size_t)most + 1, sizeof *tier->first);
    tier->of = hs_get(memory, (size_t)panels->count + 1, sizeof *tier->of);
    if (!tier->first || !tier->of)
        return HSUMMA_ERR_MEMORY;
    int64_t inside = 0;
    for (int t = 0; t < panels->count; t++, inside++) {
        if (t == 0 || panels->panel[t].pair != panels->panel[t - 1].pair || inside == ratio) {
            tier->first[tier->count++] = t;
            inside = 0;
        }
        tier->of[t] = tier->count - 1;
    }
    tier->first[tier->count] = panels->count;
    tier->of[panels->count] = tier->count; /* the end of the innermost panels maps to the end of the tier */
    return HSUMMA_OK;
}

hsumma_status hs_panels_make(struct hs_pairs *pairs, int tiers, const int64_t *width, int64_t turn,
                             const struct hs_allocator *memory, struct hs_panels *panels)
{
    memset(panels, 0, sizeof *panels);
    panels->pairs = *pairs;
    pairs->pair = NULL;
    panels->tiers = tiers;
    panels->width = width[tiers - 1];
    int64_t count = 0;
    for (int i = 0; i < panels->pairs.count; i++)
        count += hs_cuts(panels->pairs.pair[i].width, panels->width);
    hsumma_status status = HSUMMA_OK;
    if (count > INT32_MAX - 1 || !(panels->panel = hs_get(memory, (size_t)count + 1, sizeof *panels->panel)))
        status = HSUMMA_ERR_MEMORY;
    if (!status)
        status = cut_pairs(panels, turn, memory);
    for (int l = 0; !status && l < tiers; l++)
        status = make_tier(panels, &panels->tier[l], width[l], memory);
    panels->run = panels->count;
    if (status)
        hs_panels_free(memory, panels);
    return status;
}

void hs_panels_free(const struct hs_allocator *memory, struct hs_panels *panels)
{
    for (int l = 0; l < panels->tiers; l++) {
        hs_put(memory, panels->tier[l].first);
        hs_put(memory, panels->tier[l].of);
    }
    hs_put(memory, panels->panel);
    hs_pairs_free(memory, &panels->pairs);
    memset(panels, 0, sizeof *panels);
}

int64_t hs_tier_width(const struct hs_panels *panels, int tier, int o)
{
    int last = panels->tier[tier].first[o + 1] - 1;
    return hs_tier_offset(panels, tier, last) + panels->panel[last].width;
}

int64_t hs_tier_width_max(const struct hs_panels *panels, int tier)
{
    int64_t most = 0;
    for (int o = 0; o < panels->tier[tier].count; o++) {
        int64_t width = hs_tier_width(panels, tier, o);
        most = width > most ? width : most;
    }
    return most;
}

int64_t hs_tier_offset(const struct hs_panels *panels, int tier, int t)
{
    const struct hs_tier *of = &panels->tier[tier];
    return (t - of->first[of->of[t]]) * panels->width;
}

int hs_batch_end(const struct hs_panels *panels, int owners, int t)
{
    const struct hs_tier *outer = &panels->tier[0];
    int next = outer->of[t] / owners * owners + owners;
    return outer->first[next < outer->count ? next : outer->count];
}

struct hs_overlap hs_panel_walk(const struct hs_panels *panels, int t)
{
    const struct hs_pairs *pairs = &panels->pairs;
    const struct hs_pair *who = &pairs->pair[panels->panel[t].pair];
    return hs_overlap_begin(pairs->axis[0], who->owner[0], pairs->axis[1], who->owner[1], panels->panel[t].at,
                            pairs->axis[0]->n);
}
