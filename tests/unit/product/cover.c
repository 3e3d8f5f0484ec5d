/* The cover (the consecutive processes that own any index), compared with a search over all runs of processes. */
#include "dist/cover.h"
#include "support/random.h"
#include "support/tap.h"

enum { AXES = 3, N_MAX = 14, PROCS_MAX = 5 };

/* Whether every index of every axis belongs to a process of the cover. */
static int covers(struct hs_cover cover, const struct hs_axis *axis, int nprocs)
{
    for (int i = 0; i < AXES; i++)
        for (int64_t g = 0; g < axis[i].n; g++) {
            if (axis[i].nprocs != nprocs && cover.length < nprocs)
                return 0;
            if (axis[i].nprocs == nprocs && hs_cover_index(&cover, nprocs, hs_axis_owner(&axis[i], g)) < 0)
                return 0;
        }
    return 1;
}

/* Checks that over its cover an axis has the same owners, by their grid coordinate, and the same local indices. */
static int wrong_axis(struct hs_cover cover, const struct hs_axis *axis, int nprocs)
{
    struct hs_axis part = hs_cover_axis(&cover, axis);
    int wrong = 0;
    for (int64_t g = 0; g < axis->n; g++) {
        int owner = hs_axis_owner(axis, g), place = hs_cover_index(&cover, nprocs, owner);
        wrong += hs_axis_owner(&part, g) != place;
        wrong += hs_axis_before(&part, place, g) != hs_axis_before(axis, owner, g);
    }
    for (int proc = 0; proc < nprocs; proc++) {
        int place = hs_cover_index(&cover, nprocs, proc);
        wrong += (place < 0 ? 0 : hs_axis_count(&part, place)) != hs_axis_count(axis, proc);
    }
    return wrong;
}

static void draw_axis(struct hs_axis *axis, int nprocs)
{
    *axis = (struct hs_axis){draw(N_MAX), 2 + draw(7), 1 + draw(12), draw(nprocs), nprocs};
}

int main(void)
{
    int wrong = 0, longer = 0, smaller = 0;
    for (int draws = 0; draws < 20000; draws++) {
        struct hs_axis axis[AXES];
        int nprocs = 1 + draws % PROCS_MAX;
        for (int i = 0; i < AXES; i++)
            draw_axis(&axis[i], nprocs);
        const struct hs_axis *const all[AXES] = {&axis[0], &axis[1], &axis[2]};
        struct hs_cover cover = hs_cover_make(all, AXES, nprocs);
        wrong += !covers(cover, axis, nprocs) || cover.length < 1;
        for (int start = 0; start < nprocs; start++)
            for (int length = 1; length < cover.length; length++)
                longer += covers((struct hs_cover){start, length}, axis, nprocs);
        smaller += cover.length < nprocs;
        for (int i = 0; cover.length < nprocs && i < AXES; i++)
            wrong += wrong_axis(cover, &axis[i], nprocs);
    }
    tap_ok(wrong == 0 && smaller > 1000, "covers hold all indices, in place: %d wrong, %d smaller than the line", wrong,
           smaller);
    tap_ok(longer == 0, "and no shorter one does: %d", longer);
    struct hs_axis whole = {7, 2, 2, 0, 4}, one = {3, 5, 5, 2, 4}, replicated = {3, 5, 5, 0, 1}, none = {0, 1, 1, 3, 4};
    const struct hs_axis *const many[2] = {&whole, &one}, *const two[2] = {&one, &none},
                                *const copies[2] = {&one, &replicated};
    struct hs_cover cover = hs_cover_make(two, 2, 4);
    tap_ok(hs_cover_make(many, 2, 4).length == 4 && hs_cover_make(copies, 2, 4).length == 4,
           "a full line, and a replicated axis, are on all processes");
    tap_ok(cover.start == 2 && cover.length == 1 && hs_cover_axis(&cover, &none).src == 0,
           "an empty axis asks for nobody");
    return tap_done();
}
