/* A case of hsumma soak: draws the ranks, the context and the grids, then runs actions. */
#include <string.h>

#include "base/status.h"
#include "soak/soak.h"

enum { MOST_ACTIONS = 8 };

/* Sets s->comm to a communicator of some ranks in random order; MPI_COMM_NULL on the others. */
static void draw_ranks(soak_scene *s, MPI_Comm comm)
{
    int rank, size, mine = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    s->size = (int)(scene_draw(s, 3) ? size : scene_draw_from(s, 1, size));
    for (int left = size, wanted = s->size, r = 0; r < size; r++, left--) {
        int taken = scene_draw(s, left) < wanted;

        wanted -= taken;
        mine |= taken && r == rank;
    }
    MPI_Comm_split(comm, mine ? 0 : MPI_UNDEFINED, scene_draw(s, 2) ? rank : size - rank, &s->comm);
    if (mine)
        MPI_Comm_rank(s->comm, &s->rank);
}

static void draw_options(soak_scene *s, const char *given, char *text, size_t size)
{
    static const char *const more[] = {"direct=off", "shared=0", "shared=8k", "check=always", "wait=block"};

    hs_append(text, size, "profile=builtin tuned=none");
    if (scene_draw(s, 2))
        hs_append(text, size, " topology=nodes:%d", (int)scene_draw_from(s, 1, s->size));
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if ((i == 2 && strstr(text, "shared=0")) || scene_draw(s, 6))
            continue;
        else
            hs_append(text, size, " %s", more[i]);
    hs_append(text, size, " %s", given);
}

static int make_grid(soak_scene *s)
{
    int P = (int)scene_draw_from(s, 1, s->size), Q = (int)scene_draw_from(s, 1, s->size / P), ranks[SOAK_RANKS];
    char order = "RCA"[scene_draw(s, 3)];
    hsumma_status status;

    if (scene_draw(s, 4)) /* mostly all ranks */
        hsumma_grid_shape(s->size, &P, &Q);
    for (int i = 0; i < s->size; i++) {
        int at = (int)scene_draw(s, i + 1);

        ranks[i] = ranks[at];
        ranks[at] = i;
    }
    status =
        hsumma_grid_create(s->ctx, P, Q, order, order == 'A' || scene_draw(s, 2) ? NULL : ranks, &s->grid[s->grids]);
    if (command_fail(s->comm, status != HSUMMA_OK, "%d x %d grid: %s", P, Q, hsumma_message(s->ctx)))
        return COMMAND_INTERNAL;
    s->grids++;
    s->did[DID_GRIDS]++;
    return COMMAND_OK;
}

static int run_actions(soak_scene *s)
{
    static int (*const actions[])(soak_scene *) = {soak_product, soak_product, soak_product,    soak_collectives,
                                                   soak_move,    soak_move,    soak_allocations};
    int code = COMMAND_OK, count = (int)scene_draw_from(s, 1, MOST_ACTIONS);

    for (int i = (int)scene_draw_from(s, 1, SCENE_GRIDS); i > 0 && !code; i--)
        code = make_grid(s);
    for (int i = 0; i < count && !code; i++)
        code = actions[scene_draw(s, (int64_t)(sizeof actions / sizeof *actions))](s);
    return code;
}

int soak_case(uint64_t seed, int64_t number, int plant, const char *options, MPI_Comm comm, int64_t did[DIDS])
{
    soak_scene s = {.draws = hs_scrambled(hs_scrambled(seed) + (uint64_t)number), .plant = plant};
    char text[1024] = "", message[400] = "";
    hsumma_status status;
    int code;

    draw_ranks(&s, comm);
    if (s.comm == MPI_COMM_NULL)
        return COMMAND_OK;
    draw_options(&s, options, text, sizeof text);
    status = hsumma_create(s.comm, text, &s.ctx, message, sizeof message);
    s.did[DID_CONTEXTS]++;
    code = command_fail(s.comm, status != HSUMMA_OK, "context with %s: %s", text,
                        message[0] ? message : hsumma_status_string(status))
               ? COMMAND_INTERNAL
               : run_actions(&s);
    if (code)
        command_fail(s.comm, s.rank == 0, "the case has %d ranks and a context with %s", s.size, text);
    for (int i = 0; i < s.grids; i++)
        hsumma_grid_free(&s.grid[i]);
    hsumma_free(&s.ctx);
    for (int i = 0; i < DIDS && s.rank == 0; i++)
        did[i] += s.did[i];
    MPI_Comm_free(&s.comm);
    return code;
}
