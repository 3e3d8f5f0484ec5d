/*
 * Random cases of p?gemr2d: hsumma's routines compared with ScaLAPACK's, to the bit, and both with a map that counts
 * blocks one by one.
 *
 *     gemr2d [CASES [SEED]] [OPTION=VALUE...]
 *
 * With libhsumma_scalapack.so preloaded, ScaLAPACK's names lead to that library; with gemr2d=hsumma it serves the calls
 * itself, otherwise it passes them on to ScaLAPACK.
 */
#include "support/entry.h"
#include "support/product/spread_case.h"
#include "support/scalapack/pgemm_call.h"

enum { GRIDS = 6, WHOLE = GRIDS, LETTERS = 5 };

static hsumma_pgemr2d *const ours[] = {hsumma_psgemr2d_, hsumma_pdgemr2d_, hsumma_pcgemr2d_, hsumma_pzgemr2d_,
                                       hsumma_pigemr2d_};

/* Counts the calls of ScaLAPACK's routines: a call that hsumma passes on to them does not test hsumma. */
static int theirs_count;
#define COUNTED(name)                                                                                          \
    __attribute__((visibility("default"))) void name(const int *m, const int *n, const void *a, const int *ia, \
                                                     const int *ja, const int *desca, void *b, const int *ib,  \
                                                     const int *jb, const int *descb, const int *context)      \
    {                                                                                                          \
        hsumma_pgemr2d *next;                                                                                  \
        void *found = dlsym(RTLD_NEXT, #name);                                                                 \
        memcpy(&next, &found, sizeof next);                                                                    \
        theirs_count++;                                                                                        \
        next(m, n, a, ia, ja, desca, b, ib, jb, descb, context);                                               \
    }
COUNTED(psgemr2d_)
COUNTED(pdgemr2d_)
COUNTED(pcgemr2d_)
COUNTED(pzgemr2d_)
COUNTED(pigemr2d_)
static hsumma_pgemr2d *const theirs[] = {psgemr2d_, pdgemr2d_, pcgemr2d_, pzgemr2d_, pigemr2d_};

/* Counts the calls of MPI_Iallgather, which hsumma's p?gemr2d makes and ScaLAPACK's does not; without those that gather
 * the hosts of a new context, whose communicator is made by MPI_Comm_idup. */
static int gathered, gathered_by_theirs;
__attribute__((visibility("default"))) int MPI_Iallgather(const void *in, int count, MPI_Datatype type, void *out,
                                                          int counts, MPI_Datatype types, MPI_Comm comm,
                                                          MPI_Request *request)
{
    gathered++;
    return PMPI_Iallgather(in, count, type, out, counts, types, comm, request);
}

__attribute__((visibility("default"))) int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request)
{
    gathered--;
    return PMPI_Comm_idup(comm, copy, request);
}

/* Checks that the options decide which routine ScaLAPACK's name leads to. */
static void test_whose(int calls)
{
    Dl_info info;
    void *found = dlsym(RTLD_NEXT, "pdgemr2d_");
    const char *word = getenv("HSUMMA_GEMR2D");
    int preloaded = found && dladdr(found, &info) && strstr(info.dli_fname, "hsumma") != NULL;
    int hsummas = preloaded && word && strcmp(word, "hsumma") == 0;
    tap_ok(everywhere(gathered_by_theirs == (hsummas ? calls : 0)), "%s preloaded, %s: by ScaLAPACK's name %s served",
           preloaded ? "the shim" : "nothing", word ? word : "no word", hsummas ? "hsumma" : "ScaLAPACK");
}

struct pool {
    struct spread_matrix on[GRIDS + 1];
    int context[GRIDS + 1]; /* the last context has all processes, in another order */
};

static int map_context(const struct spread_matrix *on)
{
    int context, map[SPREAD_RANKS];
    for (int i = 0; i < on->extent[0]; i++)
        for (int j = 0; j < on->extent[1]; j++)
            map[i + j * on->extent[0]] = on->ranks[i * on->extent[1] + j];
    Cblacs_get(-1, 0, &context);
    Cblacs_gridmap(&context, map, on->extent[0], on->extent[0], on->extent[1]);
    return context;
}

static void make_pool(struct pool *pool)
{
    memset(pool, 0, sizeof *pool);
    for (int g = 0; g < GRIDS; g++)
        spread_draw_grid(&pool->on[g]);
    pool->on[WHOLE].extent[0] = 1;
    pool->on[WHOLE].extent[1] = size;
    for (int i = 0; i < size; i++)
        pool->on[WHOLE].ranks[i] = size - 1 - i;
    for (int g = 0; g <= GRIDS; g++)
        pool->context[g] = map_context(&pool->on[g]);
}

static void drop_pool(struct pool *pool)
{
    for (int g = 0; g <= GRIDS; g++)
        if (pool->context[g] >= 0)
            Cblacs_gridexit(pool->context[g]);
}

/* Draws a layout that a descriptor of DTYPE 1 can express. */
static void draw_part(struct spread_matrix *matrix, int letter, const int64_t length[2])
{
    matrix->type = letter < LETTERS - 1 ? (hsumma_type)letter : HSUMMA_S;
    matrix->pad = draw(3);
    matrix->seed = 1 + draw_bits() / 2;
    for (int a = 0; a < 2; a++) {
        struct spread_side *side = &matrix->side[a];
        spread_draw_side(side, length[a], matrix->extent[a]);
        side->first = side->block;
        side->source = side->source < 0 ? 0 : side->source;
    }
}

static void describe(const struct spread_matrix *matrix, int context, int desc[9], int first[2])
{
    const struct spread_side *rows = &matrix->side[0], *cols = &matrix->side[1];
    const int fields[9] = {1,
                           matrix->coord[0] < 0 ? -1 : context,
                           (int)(rows->offset + rows->length + rows->extra),
                           (int)(cols->offset + cols->length + cols->extra),
                           (int)rows->block,
                           (int)cols->block,
                           rows->source,
                           cols->source,
                           (int)matrix->ld};
    memcpy(desc, fields, sizeof fields);
    for (int e = 2; matrix->coord[0] < 0 && e < 9; e++)
        desc[e] = -7; /* these entries are never read */
    first[0] = (int)rows->offset + 1;
    first[1] = (int)cols->offset + 1;
}

/* Runs one case by `routine`; returns 1 if B is right. */
static int is_right(hsumma_pgemr2d *routine, const struct pool *pool, const struct spread_matrix *a,
                    const struct spread_matrix *like, int g, int h, char **bytes)
{
    struct spread_matrix b = *like;
    int m = (int)a->side[0].length, n = (int)a->side[1].length, desc[2][9], first[2][2];
    double nothing[2] = {0, 0};
    spread_make(&b);
    describe(a, pool->context[g], desc[0], first[0]);
    describe(&b, pool->context[h], desc[1], first[1]);
    routine(&m, &n, a->data ? a->data : (char *)nothing, &first[0][0], &first[0][1], desc[0],
            b.data ? b.data : (char *)nothing, &first[1][0], &first[1][1], desc[1], &pool->context[WHOLE]);
    int good = spread_wrong(&b, 0, a, 1) == 0;
    *bytes = b.data;
    b.data = NULL;
    spread_drop(&b);
    return everywhere(good);
}

static int same(const struct pool *pool, int *wrong_of_theirs)
{
    int g = draw(GRIDS + 1), h = draw(GRIDS + 1), letter = draw(LETTERS);
    const int64_t length[2] = {1 + draw(80), 1 + draw(60)};
    struct spread_matrix a = pool->on[g], b = pool->on[h];
    char *bytes[2];
    draw_part(&a, letter, length);
    draw_part(&b, letter, length);
    spread_make(&a);
    spread_make(&b); /* only the shape and the size of b are used */
    int before = theirs_count;
    int good = is_right(ours[letter], pool, &a, &b, g, h, &bytes[0]);
    good &= everywhere(theirs_count == before);
    int of_ours = gathered;
    *wrong_of_theirs += !is_right(theirs[letter], pool, &a, &b, g, h, &bytes[1]);
    gathered_by_theirs += gathered - of_ours;
    size_t size_of_b = b.data ? (size_t)(b.ld * b.count[1]) * gemm_element_size(b.type) : 0;
    good = everywhere(good && memcmp(bytes[0] ? bytes[0] : "", bytes[1] ? bytes[1] : "", size_of_b) == 0);
    if (!good) {
        tap_diag("letter %c", "sdczi"[letter]);
        spread_print(&a, "A");
        spread_print(&b, "B");
    }
    free(bytes[0]);
    free(bytes[1]);
    spread_drop(&a);
    spread_drop(&b);
    return good;
}

/* Overlapping parts of one array: hsumma_redistribute refuses them on all processes, so all leave the call to
 * ScaLAPACK. */
static void test_left(const struct pool *pool)
{
    double x[16] = {1, 2, 3, 4};
    int m = 2, n = 1, one = 1, two = 2, before = theirs_count, desc[9] = {1, pool->context[WHOLE], 4, 1, 4, 4, 0, 0, 4};
    hsumma_pdgemr2d_(&m, &n, x, &one, &one, desc, x, &two, &one, desc, &pool->context[WHOLE]);
    tap_ok(everywhere(theirs_count == before + 1 && pgemm_aborted.count == 0),
           "parts of one array that overlap are left to ScaLAPACK on all processes");
    before = theirs_count;
    m = 0;
    hsumma_pdgemr2d_(&m, &n, x, &one, &one, desc, x, &two, &one, desc, &pool->context[WHOLE]);
    tap_ok(everywhere(theirs_count == before && pgemm_aborted.count == 0), "m = 0 does nothing");
}

int main(int argc, char **argv)
{
    struct pool pool;
    int bad = 0, wrong_of_theirs = 0;
    pgemm_begin(&argc, &argv);
    int cases = argc > 1 && atoi(argv[1]) ? atoi(argv[1]) : 100;
    draw_seed(argc > 2 && atoi(argv[2]) ? strtoull(argv[2], NULL, 10) : 1);
    for (int i = 0; i < cases && bad < 3; i++) {
        if (i % 50 == 0) { /* renews the contexts */
            if (i)
                drop_pool(&pool);
            make_pool(&pool);
        }
        bad += !same(&pool, &wrong_of_theirs);
    }
    tap_ok(bad == 0, "%d cases are as ScaLAPACK's to the bit", cases);
    test_whose(cases);
    tap_diag("ScaLAPACK's own was wrong in %d cases", wrong_of_theirs);
    test_left(&pool);
    drop_pool(&pool);
    return world_end();
}
