/*
 * One call of p?gemr2d. A process outside the context of a matrix knows neither that matrix's grid nor its descriptor,
 * so all processes of the context that covers both matrices exchange what they know.
 */
#include "api/scalapack/shim.h"

#include "coll/node/agree_mpi.h"

#include <string.h>

#pragma weak psgemr2d_
#pragma weak pdgemr2d_
#pragma weak pcgemr2d_
#pragma weak pzgemr2d_
#pragma weak pigemr2d_

/* The entries of a descriptor of DTYPE 1, the only one that p?gemr2d accepts. */
enum { DTYPE_1, CTXT_1, M_1, N_1, MB_1, NB_1, RSRC_1, CSRC_1, LLD_1, ENTRIES_1 };

/* One process's knowledge of one matrix. coord is -1 outside the matrix's grid; the other members are then 0. */
struct whereabouts {
    int coord[2], shape[2], desc[ENTRIES_1];
};

/* One matrix, as all processes know it after the exchange. */
struct known {
    hsumma_grid grid;
    hsumma_desc desc;
    int *rank; /* ranks of its grid, row by row; has as many entries as the communicator has ranks */
};

static const char *name_of(const struct hs_pgemr2d *call)
{
    static const char *const names[] = {"PSGEMR2D", "PDGEMR2D", "PCGEMR2D", "PZGEMR2D", "PIGEMR2D"};
    return names[call->letter];
}

static hsumma_pgemr2d *original_of(const struct hs_pgemr2d *call)
{
    static const char *const names[] = {"psgemr2d_", "pdgemr2d_", "pcgemr2d_", "pzgemr2d_", "pigemr2d_"};
    static hsumma_pgemr2d *const named[] = {psgemr2d_, pdgemr2d_, pcgemr2d_, pzgemr2d_, pigemr2d_};
    hsumma_pgemr2d *routine = named[call->letter];
    if (call->interposed)
        hs_next_routine(call->caller, names[call->letter], &routine);
    return routine;
}

/* Calls ScaLAPACK's routine; 0 if the program has none. */
static int call_original_move(const struct hs_pgemr2d *call)
{
    hsumma_pgemr2d *routine = original_of(call);
    if (routine)
        routine(call->extent[0], call->extent[1], call->data[0], call->first[0][0], call->first[0][1], call->desc[0],
                (void *)call->data[1], call->first[1][0], call->first[1][1], call->desc[1], call->context);
    return routine != NULL;
}

/* Reads HSUMMA_GEMR2D, which must be the same on all processes. It is needed before a communicator exists, so the
 * processes cannot agree on it. */
static int wants_original(void)
{
    hsumma_option_info info;
    hsumma_option(HS_OPT_GEMR2D, &info);
    const char *word = hs_environment(info.environment);
    return !word || !*word || strcmp(word, info.default_value) == 0;
}

static struct whereabouts tell(const int *desc)
{
    struct whereabouts mine = {.coord = {-1, -1}};
    int shape[2], coord[2];
    if (desc[CTXT_1] < 0 || !hs_blacs_grid(desc[CTXT_1], shape, coord) || coord[0] < 0)
        return mine;
    for (int a = 0; a < 2; a++) {
        mine.coord[a] = coord[a];
        mine.shape[a] = shape[a];
    }
    memcpy(mine.desc, desc, sizeof mine.desc);
    mine.desc[CTXT_1] = mine.desc[LLD_1] = 0; /* these two may differ between processes */
    return mine;
}

/* Returns a text about the first difference between the descriptors or grids of matrix e on two processes. */
static const char *name_difference(hsumma_context *ctx, const struct whereabouts *told, int one, int other, int e)
{
    static const char *const name[] = {[M_1] = "M",       [N_1] = "N",       [MB_1] = "MB",      [NB_1] = "NB",
                                       [RSRC_1] = "RSRC", [CSRC_1] = "CSRC", [DTYPE_1] = "DTYPE"};
    const struct whereabouts *a = &told[2 * one + e], *b = &told[2 * other + e];
    unsigned f = 0;
    while (f < sizeof name / sizeof *name && (!name[f] || a->desc[f] == b->desc[f]))
        f++;
    if (f == sizeof name / sizeof *name)
        hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT, "rank %d gave a %d x %d grid for %c, rank %d gave %d x %d", one,
                a->shape[0], a->shape[1], "AB"[e], other, b -> shape[0], b -> shape[1]);
    else
        hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT, "rank %d gave %s = %d in the descriptor of %c, rank %d gave %d",
                one, name[f], a->desc[f], "AB"[e], other, b -> desc[f]);
    return ctx->message.text;
}

/* Combines the knowledge of all processes about matrix e. Returns NULL or the error, the same on all processes. */
static const char *learn(const struct hs_pgemr2d *call, struct hs_shim *shim, const struct whereabouts *told, int e,
                         struct known *known)
{
    int size = shim->ctx->comm.size, first = 0, members = 0;
    while (first < size && told[2 * first + e].coord[0] < 0)
        first++;
    if (first == size)
        return e ? "no process of the call's context is in the context of B"
                 : "no process of the call's context is in the context of A";
    const struct whereabouts *sample = &told[2 * first + e];
    const int *shape = sample->shape, *desc = sample->desc;
    for (int r = 0; r < size; r++) {
        const struct whereabouts *one = &told[2 * r + e];
        if (one->coord[0] < 0)
            continue;
        if (memcmp(one->shape, shape, sizeof one->shape) != 0 || memcmp(one->desc, desc, sizeof one->desc) != 0)
            return name_difference(shim->ctx, told, r, first, e);
        members++;
    }
    if ((int64_t)shape[0] * shape[1] != members) {
        hs_fail(&shim->ctx->message, HSUMMA_ERR_ARGUMENT,
                "the context of the call has only %d processes of the %d x %d grid of %c; expected all", members,
                shape[0], shape[1], "AB"[e]);
        return shim->ctx->message.text;
    }
    for (int r = 0; r < size; r++) {
        const struct whereabouts *one = &told[2 * r + e];
        if (one->coord[0] >= 0)
            known->rank[one->coord[0] * shape[1] + one->coord[1]] = r;
    }
    if (desc[DTYPE_1] != 1 || desc[RSRC_1] < 0 || desc[CSRC_1] < 0) {
        hs_fail(
            &shim->ctx->message, HSUMMA_ERR_ARGUMENT,
            "the descriptor of %c has DTYPE = %d, RSRC = %d and CSRC = %d; expected DTYPE = 1 and sources of 0 or more",
            "AB"[e], desc[DTYPE_1], desc[RSRC_1], desc[CSRC_1]);
        return shim->ctx->message.text;
    }
    const struct whereabouts *mine = &told[2 * shim->ctx->comm.rank + e];
    known->grid = (hsumma_grid){
        .ctx = shim->ctx,
        .number = -1, /* not one of the context's own grids */
        .grid = {.extent = {shape[0], shape[1]}, .coord = {mine->coord[0], mine->coord[1]}, .rank = known->rank}};
    known->desc = (hsumma_desc){.grid = &known->grid,
                                .m = desc[M_1],
                                .n = desc[N_1],
                                .mb = desc[MB_1],
                                .nb = desc[NB_1],
                                .imb = desc[MB_1],
                                .inb = desc[NB_1],
                                .rsrc = desc[RSRC_1],
                                .csrc = desc[CSRC_1],
                                .i = *call->first[e][0] - 1,
                                .j = *call->first[e][1] - 1,
                                .ld = mine->coord[0] < 0 ? 1 : call->desc[e][LLD_1]};
    return NULL;
}

/* The knowledge of all processes about both matrices, and a table of ranks for each matrix. */
struct gathered {
    struct whereabouts *told;
    int *rank[2];
};

/* Allocates the arrays of *room. Returns the same status on all processes. */
static hsumma_status make_room(struct hs_shim *shim, struct gathered *room)
{
    hsumma_context *ctx = shim->ctx;
    size_t size = (size_t)ctx->comm.size;
    room->told = hs_get(&ctx->memory, size, 2 * (sizeof *room->told + sizeof *room->rank[0]));
    for (int e = 0; e < 2 && room->told; e++)
        room->rank[e] = (int *)(room->told + 2 * size) + (size_t)e * size;
    return hs_agree(&ctx->agreement, (struct hs_vote){.status = room->told ? HSUMMA_OK : HSUMMA_ERR_MEMORY}).status;
}

/* Gathers through MPI, because the shim's contexts have no team for the library's collectives. */
static hsumma_status gather(hsumma_context *ctx, const struct whereabouts mine[2], struct whereabouts *all)
{
    hsumma_status status = hs_mpi_allgather(mine, 2 * sizeof *mine, all, ctx->comm.comm, ctx->comm.watch);
    ctx->broken |= status != HSUMMA_OK;
    return status ? hs_context_ended_early(ctx, status, "p?gemr2d") : HSUMMA_OK;
}

static hsumma_status move_part(const struct hs_pgemr2d *call, struct hs_shim *shim, const struct gathered *room,
                               const char **why)
{
    hsumma_context *ctx = shim->ctx;
    struct whereabouts mine[2];
    struct known known[2] = {{.rank = room->rank[0]}, {.rank = room->rank[1]}};
    const char *wrong = NULL;
    for (int e = 0; e < 2; e++)
        mine[e] = tell(call->desc[e]);
    hsumma_status status = gather(ctx, mine, room->told);
    for (int e = 0; e < 2 && !status && !wrong; e++)
        wrong = learn(call, shim, room->told, e, &known[e]);
    *why = wrong;
    if (wrong)
        return HSUMMA_ERR_ARGUMENT;
    if (!status) { /* integers are only copied, so only the element size matters */
        hsumma_type type = call->letter == HS_LETTER_I ? HSUMMA_S : (hsumma_type)call->letter;
        status = hsumma_redistribute(ctx, type, *call->extent[0], *call->extent[1], call->data[0], &known[0].desc,
                                     (void *)call->data[1], &known[1].desc);
    }
    *why = hsumma_message(ctx);
    return status;
}

void hs_pgemr2d(const struct hs_pgemr2d *call)
{
    int shape[2], coord[2], context = *call->context;
    const char *why = NULL;
    if (call->interposed && wants_original() && call_original_move(call))
        return;
    hs_blacs_find(call->caller, name_of(call));
    if (*call->extent[0] == 0 || *call->extent[1] == 0 || !hs_blacs_grid(context, shape, coord) || coord[0] < 0)
        return;
    MPI_Comm comm = hs_blacs_comm(context);
    struct hs_shim *shim = hs_shim_of(comm);
    hsumma_status status = hs_shim_connect(shim, comm, shape);
    if (!status) {
        struct gathered room;
        status = make_room(shim, &room);
        why = hsumma_status_string(status);
        if (!status)
            status = move_part(call, shim, &room, &why);
        hs_put(&shim->ctx->memory, room.told);
    }
    if (!status)
        return;
    int all = hs_shim_is_of_all(status);
    if (why && shim->reports && hs_shim_first_time(HS_NO_MOVE))
        hs_shim_complain(name_of(call), why, all && original_of(call), status);
    if (!all || !call_original_move(call))
        hs_blacs_abort(context, name_of(call), -(HS_INFO + (int)status));
}
