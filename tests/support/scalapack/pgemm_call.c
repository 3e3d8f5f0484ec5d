#include "support/scalapack/pgemm_call.h"

#include "support/entry.h"

struct pgemm_aborted pgemm_aborted;

int pgemm_theirs_count;

#define SEEN_BY_LIBRARIES __attribute__((visibility("default")))

SEEN_BY_LIBRARIES void PB_Cabort(int context, char *routine, int info);

SEEN_BY_LIBRARIES void PB_Cwarn(int context, int line, char *routine, char *format, ...);

/* Replaces PBLAS's error exit, which ScaLAPACK's routines and ours call; records the call. */
void PB_Cabort(int context, char *routine, int info)
{
    pgemm_aborted.count++;
    pgemm_aborted.context = context;
    pgemm_aborted.info = info;
    snprintf(pgemm_aborted.routine, sizeof pgemm_aborted.routine, "%s", routine);
}

void PB_Cwarn(int context, int line, char *routine, char *format, ...)
{
    (void)context, (void)line, (void)routine, (void)format;
}

#define COUNTED(name)                                                                                              \
    void name(const char *transa, const char *transb, const int *m, const int *n, const int *k, const void *alpha, \
              const void *a, const int *ia, const int *ja, const int *desca, const void *b, const int *ib,         \
              const int *jb, const int *descb, const void *beta, void *c, const int *ic, const int *jc,            \
              const int *descc)                                                                                    \
    {                                                                                                              \
        hsumma_pgemm *next;                                                                                        \
        void *found = dlsym(RTLD_NEXT, #name);                                                                     \
        memcpy(&next, &found, sizeof next);                                                                        \
        pgemm_theirs_count++;                                                                                      \
        next(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc, descc);          \
    }
COUNTED(psgemm_)
COUNTED(pdgemm_)
COUNTED(pcgemm_)
COUNTED(pzgemm_)

hsumma_pgemm *const pgemm_theirs[4] = {psgemm_, pdgemm_, pcgemm_, pzgemm_};

hsumma_pgemm *const pgemm_ours[4] = {hsumma_psgemm_, hsumma_pdgemm_, hsumma_pcgemm_, hsumma_pzgemm_};

int blacs_context_of(int nprow, int npcol, const char *order)
{
    int context;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, order, nprow, npcol);
    return context;
}

struct pgemm_call pgemm_call_of(int context, char ta, char tb, int m, int n, int k, int nb)
{
    struct pgemm_call call = {{ta, tb}, {m, n, k}, {{1, 1}, {1, 1}, {1, 1}}, {{0}}, {2, 0}, {-1, 0}};
    int plain_a = ta == 'N' || ta == 'n', plain_b = tb == 'N' || tb == 'n';
    int shape[3][2] = {{plain_a ? m : k, plain_a ? k : m}, {plain_b ? k : n, plain_b ? n : k}, {m, n}};
    for (int x = 0; x < 3; x++) {
        const int desc[PGEMM_DESC] = {2, context, shape[x][0], shape[x][1], nb, nb, nb, nb, 0, 0, PGEMM_LD};
        memcpy(call.desc[x], desc, sizeof desc);
    }
    return call;
}

void pgemm_shorten(int desc[PGEMM_DESC])
{
    desc[DTYPE] = 1;
    memmove(&desc[IMB], &desc[MB], (PGEMM_DESC - MB) * sizeof *desc);
}

int pgemm_run(hsumma_pgemm *routine, int type, const struct pgemm_call *call, const void *a, const void *b, void *c)
{
    const float single[4] = {(float)call->alpha[0], (float)call->alpha[1], (float)call->beta[0], (float)call->beta[1]};
    const struct pgemm_call before = *call;
    float passed[4];
    memcpy(passed, single, sizeof passed);
    int real = type == 0 || type == 2;
    routine(&call->trans[0], &call->trans[1], &call->extent[0], &call->extent[1], &call->extent[2],
            real ? (const void *)&passed[0] : call->alpha, a, &call->first[0][0], &call->first[0][1], call->desc[0], b,
            &call->first[1][0], &call->first[1][1], call->desc[1], real ? (const void *)&passed[2] : call->beta, c,
            &call->first[2][0], &call->first[2][1], call->desc[2]);
    return memcmp(passed, single, sizeof single) == 0 && memcmp(call, &before, sizeof before) == 0;
}

/* Fills an array with small integers, so that sums are exact in any order. */
static void fill(hsumma_type word, double *at, uint64_t seed)
{
    for (int i = 0; i < PGEMM_WORDS; i++)
        gemm_store(word, at, i, draw_of(&seed, 7) - 3);
}

double pgemm_matrix[3][PGEMM_WORDS];

int pgemm_same(int type, const struct pgemm_call *call, hsumma_pgemm *other)
{
    int no_product = (call->alpha[0] == 0 && call->alpha[1] == 0) || call->extent[2] == 0, good = 1;
    int no_c = call->beta[0] == 0 && call->beta[1] == 0;
    static double reference[PGEMM_WORDS];
    const hsumma_type word = type % 2 ? HSUMMA_D : HSUMMA_S; /* of real and imaginary parts; a complex entry is two */
    double *a = pgemm_matrix[0], *b = pgemm_matrix[1], *c = pgemm_matrix[2];
    fill(word, a, (uint64_t)rank + 1);
    fill(word, b, (uint64_t)rank + 11);
    fill(word, c, (uint64_t)rank + 21);
    memcpy(reference, c, sizeof reference);
    pgemm_run(pgemm_theirs[type], type, call, a, b, reference);
    for (int i = 0; i < PGEMM_WORDS; i++) {
        if (no_c && gemm_load(word, reference, i) != gemm_load(word, c, i))
            gemm_store(word, c, i, NAN);
        if (no_product) {
            gemm_store(word, a, i, NAN);
            gemm_store(word, b, i, NAN);
        }
    }
    pgemm_run(other, type, call, a, b, c);
    for (int i = 0; i < PGEMM_WORDS; i++)
        good &= gemm_load(word, c, i) == gemm_load(word, reference, i);
    return good;
}

int pgemm_multiplies(int context, int m, int n, int k, int nb)
{
    struct pgemm_call call = pgemm_call_of(context, 'N', 'N', m, n, k, nb);
    return pgemm_same(HSUMMA_D, &call, pgemm_ours[HSUMMA_D]);
}

void pgemm_begin(int *argc, char ***argv)
{
    hsumma_option_info info;
    for (int i = 0; hsumma_option(i, &info); i++)
        unsetenv(info.environment);
    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], "node=", 5) == 0)
            setenv("HSUMMA_NODE", (*argv)[i] + 5, 1);
    world_begin(argc, argv);
}
