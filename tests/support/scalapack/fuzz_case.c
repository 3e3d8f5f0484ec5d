#include "support/scalapack/fuzz_case.h"

static int fuzz_between(uint64_t *state, int least, int most)
{
    return least + draw_of(state, most - least + 1);
}

static int fuzz_chance(uint64_t *state, int percent)
{
    return fuzz_between(state, 0, 99) < percent;
}

int fuzz_complex(const struct fuzz_case *c)
{
    return c->type == 'c' || c->type == 'z';
}

int fuzz_single(const struct fuzz_case *c)
{
    return c->type == 's' || c->type == 'c';
}

char fuzz_op(const struct fuzz_case *c, int x)
{
    return x == FUZZ_C ? 'N' : (char)(c->trans[x] & ~0x20);
}

/* The index in (m, n, k) of the dimension on one side of operand x. */
static int fuzz_dimension(const struct fuzz_case *c, int x, int side)
{
    static const int untransposed[3][2] = {{0, 2}, {2, 1}, {0, 1}};
    return untransposed[x][side ^ (fuzz_op(c, x) != 'N')];
}

int fuzz_total(const struct fuzz_side *s)
{
    return s->offset + s->length + s->extra;
}

static void fuzz_draw_extents(struct fuzz_case *c, uint64_t *state)
{
    static const struct {
        int percent, most_mn, most_k;
    } shape[] = {{1, 700, 700}, {12, 130, 8}, {12, 24, 400}, {25, 20, 20}, {50, 130, 130}};
    int draw = fuzz_between(state, 0, 99), row = 0;
    while (draw >= shape[row].percent)
        draw -= shape[row++].percent;
    for (int i = 0; i < 3; i++)
        c->extent[i] = fuzz_between(state, 0, i < 2 ? shape[row].most_mn : shape[row].most_k);
}

static void fuzz_draw_scalar(const struct fuzz_case *c, uint64_t *state, double value[2])
{
    static const double exact[] = {2, -3, 0.5, -0.25};
    static const double plain[] = {0, 1, -1};
    int draw = fuzz_between(state, 0, 99);
    value[0] = value[1] = 0;
    if (draw < 65) {
        value[0] = plain[(draw >= 12) + (draw >= 45)];
        return;
    }
    for (int i = 0; i < 1 + fuzz_complex(c); i++) /* multiples of 1/1024 are exact in single precision */
        value[i] = c->exact ? exact[fuzz_between(state, 0, 3)] : fuzz_between(state, -2048, 2048) / 1024.0;
}

/* Draws the offset, blocks and source of a side; the block size is `block` unless that is 0. */
static struct fuzz_side fuzz_draw_side(uint64_t *state, int block)
{
    struct fuzz_side s = {0};
    s.block = block ? block : fuzz_chance(state, 50) ? fuzz_between(state, 1, 64) : 1 << fuzz_between(state, 0, 6);
    s.first = fuzz_chance(state, 70) ? s.block : fuzz_between(state, 1, 64);
    s.offset = fuzz_chance(state, 50) ? 0 : fuzz_between(state, 0, 80);
    s.source = fuzz_chance(state, 50) ? 0 : fuzz_between(state, 0, 59);
    return s;
}

static void fuzz_draw_sources(struct fuzz_case *c, uint64_t *state)
{
    for (int x = FUZZ_A; x <= FUZZ_C; x++)
        for (int side = 0; side < 2; side++)
            c->x[x].side[side].source = fuzz_chance(state, 5) ? -1 : c->x[x].side[side].source % c->grid[side];
}

static void fuzz_draw_layouts(struct fuzz_case *c, uint64_t *state)
{
    static const int alignments[] = {100, 100, 50, 0};
    /* percentage of the sides that use the layout shared by all sides of their dimension (m, n or k) */
    int aligned = alignments[fuzz_between(state, 0, 3)];
    int block = fuzz_chance(state, 40) ? fuzz_between(state, 1, 64) : 0;
    struct fuzz_side shared[3];
    for (int i = 0; i < 3; i++)
        shared[i] = fuzz_draw_side(state, block);
    for (int x = FUZZ_A; x <= FUZZ_C; x++) {
        struct fuzz_matrix *matrix = &c->x[x];
        int first = 0; /* nonzero: first blocks have another size than the others */
        for (int side = 0; side < 2; side++) {
            struct fuzz_side *s = &matrix->side[side], own = fuzz_draw_side(state, block);
            *s = fuzz_chance(state, aligned) ? shared[fuzz_dimension(c, x, side)] : own;
            s->length = c->extent[fuzz_dimension(c, x, side)];
            s->extra = fuzz_chance(state, 50) ? 0 : fuzz_between(state, 0, 40);
            first |= s->first != s->block;
        }
        matrix->dtype = first || fuzz_chance(state, 30) ? 2 : 1;
        matrix->pad = fuzz_chance(state, 50) ? 0 : fuzz_between(state, 1, 9);
    }
    fuzz_draw_sources(c, state);
}

/* Turns A, B and C into parts of one matrix with the layout of C: (. B; A C), with a corner of k x k entries. */
static void fuzz_make_parts(struct fuzz_case *c)
{
    struct fuzz_matrix whole = c->x[FUZZ_C];
    for (int x = FUZZ_A; x <= FUZZ_C; x++) {
        c->x[x] = whole;
        for (int side = 0; side < 2; side++) {
            struct fuzz_side *s = &c->x[x].side[side];
            int dimension = fuzz_dimension(c, x, side), all = fuzz_total(s) + c->extent[2];
            s->length = c->extent[dimension];
            s->offset += dimension == 2 ? 0 : c->extent[2];
            s->extra = all - s->offset - s->length;
        }
    }
}

static void fuzz_draw_store(struct fuzz_case *c, uint64_t *state)
{
    int draw = fuzz_between(state, 0, 99);
    c->store = draw < 80 ? FUZZ_APART : draw < 88 ? FUZZ_TWINS : FUZZ_PARTS;
    if (c->store == FUZZ_TWINS) {
        c->extent[1] = c->extent[0];
        if ((fuzz_op(c, FUZZ_A) == 'N') == (fuzz_op(c, FUZZ_B) == 'N'))
            c->trans[1] = fuzz_op(c, FUZZ_A) == 'N' ? 'T' : 'N';
    } else if (c->store == FUZZ_PARTS) {
        c->trans[0] = c->trans[1] = 'N';
    }
    fuzz_draw_layouts(c, state);
    if (c->store == FUZZ_TWINS)
        c->x[FUZZ_B] = c->x[FUZZ_A];
    else if (c->store == FUZZ_PARTS)
        fuzz_make_parts(c);
}

struct fuzz_case fuzz_draw(uint64_t seed, int processes)
{
    struct fuzz_case c = {.seed = seed};
    uint64_t state = seed;
    c.type = "sdcz"[fuzz_between(&state, 0, 3)];
    for (int i = 0; i < 2; i++)
        c.trans[i] = "NNNTTCntc"[fuzz_between(&state, 0, 8)];
    c.exact = fuzz_chance(&state, 50);
    fuzz_draw_extents(&c, &state);
    fuzz_draw_scalar(&c, &state, c.alpha);
    fuzz_draw_scalar(&c, &state, c.beta);
    c.grid[0] = fuzz_between(&state, 1, processes);
    c.grid[1] = fuzz_between(&state, 1, processes / c.grid[0]);
    c.order = "RRCX"[fuzz_between(&state, 0, 3)];
    c.fresh = fuzz_chance(&state, 5);
    c.null = fuzz_chance(&state, 20);
    c.twice = fuzz_chance(&state, 20);
    fuzz_draw_store(&c, &state);
    return c;
}

void fuzz_print(const struct fuzz_case *c, char *text, size_t size)
{
    static const char *const store[] = {"", " B=A", " A,B,C=parts"};
    int at = snprintf(text, size, "p%cgemm %c%c m=%d n=%d k=%d alpha=(%g,%g) beta=(%g,%g) grid=%dx%d order=%c", c->type,
                      c->trans[0], c->trans[1], c->extent[0], c->extent[1], c->extent[2], c->alpha[0], c->alpha[1],
                      c->beta[0], c->beta[1], c->grid[0], c->grid[1], c->order);
    at += snprintf(text + at, size - (size_t)at, "%s%s%s%s%s", c->exact ? " integers" : "", c->fresh ? " fresh" : "",
                   c->twice ? " twice" : "", c->null ? " null" : "", store[c->store]);
    for (int x = FUZZ_A; x <= FUZZ_C; x++) {
        const struct fuzz_side *r = &c->x[x].side[0], *s = &c->x[x].side[1];
        at += snprintf(text + at, size - (size_t)at, " %c: %dx%d at (%d,%d) dtype=%d imb=%d inb=%d mb=%d nb=%d",
                       "ABC"[x], fuzz_total(r), fuzz_total(s), r -> offset + 1, s -> offset + 1, c -> x[x].dtype,
                       r->first, s->first, r->block, s->block);
        at += snprintf(text + at, size - (size_t)at, " rsrc=%d csrc=%d pad=%d;", r->source, s->source, c->x[x].pad);
    }
}
