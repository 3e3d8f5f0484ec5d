/*
 * hsumma_p?gemm_ and ScaLAPACK's p?gemm_ report the same errors for wrong arguments; products on grids of several
 * kinds, and between the program's own BLACS messages. fuzz.c compares random products.
 */
#include "support/captured.h"
#include "support/scalapack/pgemm_call.h"

/* Puts a random wrong value into a random argument. */
static void spoil(struct pgemm_call *call, uint64_t *seed, const int contexts[4], int nprow)
{
    static const char letters[] = "NTCntcX 1";
    static const int extents[] = {-1, 0, 1, 9, 13, -100}, firsts[] = {0, -1, 1, 4, 13}, types[] = {0, 1, 2, 3, -1};
    static const int entries[] = {-2, -1, 0, 1, 5, 11};
    int what = draw_of(seed, 11);
    if (what < 2) {
        call->trans[what] = letters[draw_of(seed, 9)];
    } else if (what < 5) {
        call->extent[what - 2] = extents[draw_of(seed, 6)];
    } else if (what < 8) {
        call->first[what - 5][draw_of(seed, 2)] = firsts[draw_of(seed, 5)];
    } else {
        int *desc = call->desc[what - 8], entry = draw_of(seed, PGEMM_DESC), value = entries[draw_of(seed, 6)];
        int other = contexts[draw_of(seed, 4)], type = types[draw_of(seed, 5)];
        int alone = draw_of(seed, size), everyone = draw_of(seed, 2);
        if (entry == DTYPE)
            desc[DTYPE] = type;
        else if (entry == CTXT)
            desc[CTXT] = other;
        else if (entry != LLD || everyone || alone == rank)
            desc[entry] = entry == RSRC && value == 5 ? nprow : value;
    }
}

/* Random wrong arguments. With alpha = 0 and beta = 1 nothing is computed on processes that find no error. */
static void test_arguments(int context, int other, int nprow)
{
    enum { CASES = 4000 };
    int exited = blacs_context_of(1, size, "R"), codes = 0, seen[64] = {0}, bad = 0, wrong = 0;
    Cblacs_gridexit(exited);
    const int contexts[4] = {other, exited, -1, 4711};
    uint64_t seed = 7;
    for (int i = 0; i < CASES; i++) {
        struct pgemm_call call =
            pgemm_call_of(context, "NTC"[i % 3], "NTC"[i / 3 % 3], 12, 12, 12, 1 + draw_of(&seed, 5));
        call.alpha[0] = 0;
        call.beta[0] = 1;
        for (int x = 0; x < 3; x++) {
            call.desc[x][IMB] = 1 + draw_of(&seed, 6);
            if (draw_of(&seed, 4) == 0) /* one process column has all columns, so LLD matters only there */
                call.desc[x][INB] = 12;
        }
        int mistakes = draw_of(&seed, 4), info[2] = {0, 0}, count[2];
        for (int s = 0; s < mistakes; s++)
            spoil(&call, &seed, contexts, nprow);
        for (int x = 0; x < 3; x++)
            if (draw_of(&seed, 2) && call.desc[x][DTYPE] == 2)
                pgemm_shorten(call.desc[x]);
        for (int who = 0; who < 2; who++) {
            memset(&pgemm_aborted, 0, sizeof pgemm_aborted);
            pgemm_run((who ? pgemm_ours : pgemm_theirs)[i % 4], i % 4, &call, pgemm_matrix[0], pgemm_matrix[1],
                      pgemm_matrix[2]);
            count[who] = pgemm_aborted.count;
            info[who] = pgemm_aborted.info;
        }
        char name[8] = {'P', "SDCZ"[i % 4], 'G', 'E', 'M', 'M'};
        int good =
            info[0] == info[1] && count[0] == count[1] &&
            (!count[1] || (strcmp(pgemm_aborted.routine, name) == 0 && pgemm_aborted.context == call.desc[0][CTXT]));
        if (!good && !bad++)
            printf("# rank %d: case %d: info %d, ScaLAPACK %d\n", rank, i, info[1], info[0]);
        wrong += info[0] != 0;
        int known = 0;
        for (int s = 0; s < codes; s++)
            known |= seen[s] == info[0];
        if (!known && codes < 64)
            seen[codes++] = info[0];
    }
    tap_ok(everywhere(bad == 0), "%d calls, %d of them wrong: the verdicts of ScaLAPACK, %d codes", CASES, wrong,
           codes);
    tap_ok(everywhere(codes == 45), "all codes have been met, and 0: %d", codes);
}

static void test_grids(void)
{
    int map[64], context, good = 1, half = rank < size / 2, first = half ? 0 : size / 2;
    int members = half ? size / 2 : size - size / 2;
    for (int i = 0; i < size; i++)
        map[i] = size - 1 - i;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridmap(&context, map, size, size, 1); /* processes in reverse order */
    good &= pgemm_multiplies(context, 13, 11, 9, 2);
    Cblacs_gridexit(context);
    tap_ok(everywhere(good), "a grid that maps the processes in reverse");

    for (int i = 0; i < members; i++)
        map[i] = first + (i + 1) % members;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridmap(&context, map, 1, 1, members);
    for (int i = 0; i < (half ? 3 : 6); i++) /* a different number of calls in the two contexts */
        good &= pgemm_multiplies(context, 13 - i, 11, half ? 9 : 8, 2);
    Cblacs_gridexit(context);
    tap_ok(everywhere(good), "two contexts on parts of the processes");

    int two[2] = {blacs_context_of(1, size, "R"), blacs_context_of(size, 1, "C")};
    for (int i = 0; i < 6; i++)
        good &= pgemm_multiplies(two[i % 2], 10, 11, 12 - i / 2, 3);
    Cblacs_gridexit(two[0]);
    good &= pgemm_multiplies(two[1], 10, 11, 12, 3);
    Cblacs_gridexit(two[1]);
    tap_ok(everywhere(good), "two contexts on all of them, in turns, one outlives the other");
}

/* BLACS messages that are sent before a call can be received after it. */
static void test_traffic(int context, int npcol)
{
    int nprow, row, col, good = 1;
    double sent[6], got[6] = {0};
    Cblacs_gridinfo(context, &nprow, &npcol, &row, &col);
    int me = row * npcol + col, to = (me + 1) % size, from = (me + size - 1) % size;
    for (int i = 0; i < 6; i++)
        sent[i] = 10 * me + i;
    Cdgesd2d(context, 2, 3, sent, 2, to / npcol, to % npcol);
    good &= pgemm_multiplies(context, 20, 21, 22, 3);
    Cdgerv2d(context, 2, 3, got, 2, from / npcol, from % npcol);
    for (int i = 0; i < 6; i++)
        good &= got[i] == 10 * from + i;
    tap_ok(everywhere(good), "messages of BLACS that are under way meanwhile");
}

/* With HSUMMA_CHECK=always: calls whose arguments differ between processes end with PBLAS's error exit on all of them,
 * whether they would compute something or not; others are served, also when repeated. */
static void test_unlike(int nprow)
{
    enum { M, K, ALPHA, BETA, UNLIKE };
    static const char *const name[UNLIKE] = {"m", "k", "alpha", "beta"};
    setenv("HSUMMA_CHECK", "always", 1);
    int context = blacs_context_of(nprow, size / nprow, "R"), mine = rank == size - 1 && size > 1;
    for (int i = 0; i < UNLIKE; i++) {
        char text[1000], word[40];
        struct pgemm_call call = pgemm_call_of(context, 'N', 'N', 12, 12, 12, 3);
        call.extent[0] = i == M && mine ? 9 : 12;
        call.extent[2] = i == K && mine ? 0 : 12;
        call.alpha[0] = i == ALPHA && mine ? 0 : 1;
        call.beta[0] = i == BETA && mine ? 3 : 1;
        memset(&pgemm_aborted, 0, sizeof pgemm_aborted);
        struct captured captured = captured_begin();
        pgemm_run(pgemm_ours[HSUMMA_D], HSUMMA_D, &call, pgemm_matrix[0], pgemm_matrix[1], pgemm_matrix[2]);
        captured_end(&captured, text, sizeof text);
        int ended = pgemm_aborted.count == 1 && pgemm_aborted.info == -2000 - (int)HSUMMA_ERR_ARGUMENT;
        snprintf(word, sizeof word, "rank %d gave %s = ", size - 1, name[i]);
        ended = ended && (i || rank || strstr(text, word)); /* only the first such error is printed */
        tap_ok(everywhere(ended == (size > 1)), "HSUMMA_CHECK=always, another %s on the last process: info = %d %s",
               name[i], pgemm_aborted.info, text);
    }
    int good = pgemm_multiplies(context, 12, 13, 14, 3) && pgemm_multiplies(context, 12, 13, 14, 3) &&
               pgemm_multiplies(context, 0, 13, 14, 3) && pgemm_multiplies(context, 12, 13, 0, 3);
    tap_ok(everywhere(good), "HSUMMA_CHECK=always: equal arguments");
    Cblacs_gridexit(context);
    unsetenv("HSUMMA_CHECK");
}

int main(int argc, char **argv)
{
    pgemm_begin(&argc, &argv);
    int nprow = size % 2 ? 1 : 2, npcol = size / nprow;
    int context = blacs_context_of(nprow, npcol, "C"), other = blacs_context_of(1, size, "R");
    test_arguments(context, other, nprow);
    test_arguments(other, context, 1);
    test_grids();
    test_traffic(context, npcol);
    test_unlike(nprow);
    Cblacs_gridexit(other); /* MPI_Finalize frees the first context */
#ifdef __SANITIZE_ADDRESS__
    Cblacs_gridexit(context); /* the sanitizer would report memory of MPI and BLACS as leaked */
#endif
    return world_end();
}
