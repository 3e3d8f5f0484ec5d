/*
 * A random case of p?gemm, from its seed and the number of processes alone.
 *
 * ScaLAPACK 2.2 itself takes all of it: sources of -1 (every process row or column has all rows or columns) on either
 * side of A, B and C; first blocks larger than the others; a null pointer where a process has no entries.
 */
#ifndef HS_TESTS_SUPPORT_FUZZ_CASE_H
#define HS_TESTS_SUPPORT_FUZZ_CASE_H

#include <stdint.h>
#include <stdio.h>

enum { FUZZ_A, FUZZ_B, FUZZ_C, FUZZ_MOST_PROCESSES = 8 };

/* Where the matrices are: each in memory of its own; A and B the same one; all three disjoint parts of one matrix, as
 * in a step of the LU factorisation: B above C, A to the left of C. */
enum fuzz_store { FUZZ_APART, FUZZ_TWINS, FUZZ_PARTS };

/* Rows or columns of a matrix; sub(X) has `length` of them, after `offset` others and before `extra` others. */
struct fuzz_side {
    int length, offset, extra;
    int first, block, source; /* IMB, MB, RSRC or INB, NB, CSRC */
};

struct fuzz_matrix {
    struct fuzz_side side[2];
    int dtype; /* 1 or 2 */
    int pad;   /* LLD beyond the local rows */
};

struct fuzz_case {
    uint64_t seed;
    char type, trans[2];
    int extent[3]; /* m, n, k */
    double alpha[2], beta[2];
    int exact;   /* entries are small integers: nothing is rounded, in whatever order it is added */
    int grid[2]; /* P, Q */
    char order;  /* of the processes in the grid: by row, by column, X: the last ones, backwards */
    enum fuzz_store store;
    int null;                /* pointers to no entries are null */
    int twice;               /* called again, with new copies of the same data */
    int fresh;               /* in a context made for this case and left after it */
    struct fuzz_matrix x[3]; /* A, B, C */
};

static inline uint64_t fuzz_mix(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline int fuzz_between(uint64_t *state, int least, int most)
{
    *state = fuzz_mix(*state);
    return least + (int)(*state % (uint64_t)(most - least + 1));
}

static inline int fuzz_chance(uint64_t *state, int percent)
{
    return fuzz_between(state, 0, 99) < percent;
}

static inline int fuzz_complex(const struct fuzz_case *c)
{
    return c->type == 'c' || c->type == 'z';
}

static inline int fuzz_single(const struct fuzz_case *c)
{
    return c->type == 's' || c->type == 'c';
}

/* 'N', 'T' or 'C' of A and B; C is not transposed. */
static inline char fuzz_op(const struct fuzz_case *c, int x)
{
    return x == FUZZ_C ? 'N' : (char)(c->trans[x] & ~0x20);
}

/* Which of m, n, k runs along a side. */
static inline int fuzz_dimension(const struct fuzz_case *c, int x, int side)
{
    static const int untransposed[3][2] = {{0, 2}, {2, 1}, {0, 1}};
    return untransposed[x][side ^ (fuzz_op(c, x) != 'N')];
}

static inline int fuzz_total(const struct fuzz_side *s)
{
    return s->offset + s->length + s->extra;
}

static inline void fuzz_draw_extents(struct fuzz_case *c, uint64_t *state)
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

static inline void fuzz_draw_scalar(const struct fuzz_case *c, uint64_t *state, double value[2])
{
    static const double exact[] = {2, -3, 0.5, -0.25};
    static const double plain[] = {0, 1, -1};
    int draw = fuzz_between(state, 0, 99);
    value[0] = value[1] = 0;
    if (draw < 65) {
        value[0] = plain[(draw >= 12) + (draw >= 45)];
        return;
    }
    for (int i = 0; i < 1 + fuzz_complex(c); i++) /* in single precision without rounding */
        value[i] = c->exact ? exact[fuzz_between(state, 0, 3)] : fuzz_between(state, -2048, 2048) / 1024.0;
}

/* Offset, blocks and source of a side; block: 0 draws one. */
static inline struct fuzz_side fuzz_draw_side(uint64_t *state, int block)
{
    struct fuzz_side s = {0};
    s.block = block ? block : fuzz_chance(state, 50) ? fuzz_between(state, 1, 64) : 1 << fuzz_between(state, 0, 6);
    s.first = fuzz_chance(state, 70) ? s.block : fuzz_between(state, 1, 64);
    s.offset = fuzz_chance(state, 50) ? 0 : fuzz_between(state, 0, 80);
    s.source = fuzz_chance(state, 50) ? 0 : fuzz_between(state, 0, 59);
    return s;
}

static inline void fuzz_draw_sources(struct fuzz_case *c, uint64_t *state)
{
    for (int x = FUZZ_A; x <= FUZZ_C; x++)
        for (int side = 0; side < 2; side++)
            c->x[x].side[side].source = fuzz_chance(state, 5) ? -1 : c->x[x].side[side].source % c->grid[side];
}

static inline void fuzz_draw_layouts(struct fuzz_case *c, uint64_t *state)
{
    static const int alignments[] = {100, 100, 50, 0};
    int aligned = alignments[fuzz_between(state, 0, 3)]; /* percent of the sides that are laid out as their dimension */
    int block = fuzz_chance(state, 40) ? fuzz_between(state, 1, 64) : 0;
    struct fuzz_side shared[3];
    for (int i = 0; i < 3; i++)
        shared[i] = fuzz_draw_side(state, block);
    for (int x = FUZZ_A; x <= FUZZ_C; x++) {
        struct fuzz_matrix *matrix = &c->x[x];
        int first = 0; /* blocks of another size? */
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

/* All three in one matrix, laid out as C: (. B; A C), the corner of k x k entries. */
static inline void fuzz_make_parts(struct fuzz_case *c)
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

static inline void fuzz_draw_store(struct fuzz_case *c, uint64_t *state)
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

static inline struct fuzz_case fuzz_draw(uint64_t seed, int processes)
{
    struct fuzz_case c = {.seed = seed};
    uint64_t state = fuzz_mix(seed);
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

static inline void fuzz_print(const struct fuzz_case *c, char *text, size_t size)
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

#endif
