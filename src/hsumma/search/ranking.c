/* The ranking: the best candidate of each kind. */
#include "hsumma/search/candidate.h"

#include <math.h>
#include <string.h>

/* Whether two specs have hierarchies and algorithms of the same effect.  A level on which no line has two members has
 * no effect. */
static int same_way(const struct hs_spec *x, const struct hs_spec *y)
{
    for (int axis = 0; axis < 2; axis++) {
        int i = 0, j = 0;
        for (;; i++, j++) {
            while (i < x->levels && x->factors[axis].size[i] == 1)
                i++;
            while (j < y->levels && y->factors[axis].size[j] == 1)
                j++;
            if (i == x->levels || j == y->levels)
                break;
            if (x->factors[axis].size[i] != y->factors[axis].size[j] || x->bcast[i] != y->bcast[j] ||
                x->reduce[i] != y->reduce[j])
                return 0;
        }
        if (i < x->levels || j < y->levels)
            return 0;
    }
    return 1;
}

/* Whether two candidates are of one kind.  Both must have the same stationary operand, `node` and `cells`.  Over
 * messages they must also have the same hierarchy and algorithms (same_way), or the same innermost width, lookahead,
 * owners and exchange with equal predicted communication.  Inside a node they must have the same panel width.  Only the
 * best of a kind is ranked, so that rivals are worth measuring. */
static int same_kind(const struct hs_choice *a, const struct hs_choice *b)
{
    const struct hs_spec *x = &a->spec, *y = &b->spec;
    if (x->stationary != y->stationary || x->node != y->node || x->cells != y->cells)
        return 0;
    if (x->node != HS_NODE_MESSAGES)
        return x->width[0] == y->width[0];
    int alike = x->width[x->levels - 1] == y->width[y->levels - 1] && x->lookahead == y->lookahead &&
                x->owners == y->owners && x->spread == y->spread &&
                fabs(a->prediction.comm - b->prediction.comm) <= 1e-9 * a->prediction.comm;
    return alike || same_way(x, y);
}

int hs_is_better(const struct hs_choice *choice, const struct hs_choice *other)
{
    static const double LEVEL = 0.01;
    double mine = choice->prediction.seconds * (1 + LEVEL * choice->spec.levels);
    return mine < other->prediction.seconds * (1 + LEVEL * other->spec.levels) * (1 - 1e-9);
}

void hs_rank(struct hs_ranking *ranking, const struct hs_choice *choice)
{
    int at = ranking->count, end = ranking->count, operand = choice->spec.stationary;
    ranking->considered++;
    if (ranking->stationary[operand] < 0 || hs_is_better(choice, &ranking->of_operand[operand])) {
        ranking->stationary[operand] = choice->prediction.seconds;
        ranking->of_operand[operand] = *choice;
    }
    /* on a tie the earlier candidate stays ahead, because simple candidates come first */
    while (at > 0 && hs_is_better(choice, &ranking->choice[at - 1]))
        at--;
    for (int i = 0; i < ranking->count; i++) {
        if (!same_kind(&ranking->choice[i], choice))
            continue;
        if (i < at)
            return;
        end = i; /* choice i is replaced */
    }
    if (end == HS_RANKED)
        end--;
    if (at > end)
        return;
    memmove(&ranking->choice[at + 1], &ranking->choice[at], (size_t)(end - at) * sizeof *choice);
    ranking->choice[at] = *choice;
    ranking->count = end < ranking->count ? ranking->count : end + 1;
}

/* The last candidate whose stationary operand is also that of another candidate in the ranking; -1 if there is none. */
static int last_of_several(const struct hs_ranking *ranking)
{
    int count[3] = {0, 0, 0}, last = ranking->count;
    for (int i = 0; i < ranking->count; i++)
        count[ranking->choice[i].spec.stationary]++;
    while (--last >= 0 && count[ranking->choice[last].spec.stationary] == 1)
        ;
    return last;
}

void hs_rank_operands(struct hs_ranking *ranking)
{
    for (int x = 0; x < 3; x++) {
        int there = 0, last;
        for (int i = 0; i < ranking->count; i++)
            there |= ranking->choice[i].spec.stationary == x;
        if (there || ranking->stationary[x] < 0 || ranking->count < HS_RANKED || (last = last_of_several(ranking)) < 1)
            continue;
        memmove(&ranking->choice[last], &ranking->choice[last + 1],
                (size_t)(ranking->count - 1 - last) * sizeof ranking->choice[0]);
        ranking->count--;
        int at = ranking->count;
        while (at > 1 && hs_is_better(&ranking->of_operand[x], &ranking->choice[at - 1]))
            at--;
        memmove(&ranking->choice[at + 1], &ranking->choice[at],
                (size_t)(ranking->count - at) * sizeof ranking->choice[0]);
        ranking->choice[at] = ranking->of_operand[x];
        ranking->count++;
    }
}
