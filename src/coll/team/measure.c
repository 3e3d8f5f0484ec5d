/*
 * The prices of copies for broadcasts on one node, measured.
 *
 * Whether a long broadcast is faster through shared memory or by reading the root's memory depends on the processor,
 * the operating system, and where the ranks run: each is twice to four times as fast as the other on some machine
 * (doc/results/collectives.md).  So with the built-in profile the team times both at its first long broadcast, and
 * chooses long broadcasts by these prices from then on; for vectors that do not fit into the caches it does so again.
 * Other collectives keep their prices, because another algorithm may round differently.
 *
 * A process remembers the prices (struct hs_copies), so that its later teams need not measure.
 */
#include "coll/team/parts.h"

#include "base/wait.h"
#include "coll/model/clock.h"

#include <math.h>
#include <string.h>

int hs_copies_recall(struct hs_copies *copies, int class, int ranks, double beta[2])
{
    pthread_mutex_lock(&copies->lock);
    const int known = copies->ranks[class] == ranks;
    memcpy(beta, copies->beta[class], sizeof copies->beta[class]);
    pthread_mutex_unlock(&copies->lock);
    return known;
}

void hs_copies_remember(struct hs_copies *copies, int class, int ranks, const double beta[2])
{
    pthread_mutex_lock(&copies->lock);
    copies->ranks[class] = ranks;
    memcpy(copies->beta[class], beta, sizeof copies->beta[class]);
    pthread_mutex_unlock(&copies->lock);
}

/* For each class of sizes: the bytes that are timed, and the numbers of trials and of calls in each.  The first trial
 * also prepares the call. */
static const struct sample {
    int64_t bytes;
    int trials, calls;
} samples[HS_LONG_BROADCASTS] = {{256 << 10, 3, 2}, {2 << 20, 3, 1}};

/* The class of a call; -1 if it is no long broadcast in host memory. */
static int class_of(const struct hs_team *team, const struct hs_call *call)
{
    const int is_bcast = call->collective == HS_BCAST && !call->on_device;
    return is_bcast ? hs_class_of_broadcast(team->group.size, call->bytes) : -1;
}

int hs_team_must_measure(const struct hs_team *team, const struct hs_call *call)
{
    const struct hs_selector *selector = &team->selector;
    const int class = team->copies ? class_of(team, call) : -1, size = team->group.size;
    return class >= 0 && !selector->broadcast[class].known && !call->algorithm &&
           !hs_rules_find(&selector->coll, HS_BCAST, size, 1, call->bytes) &&
           !hs_rules_find(&selector->tuned, HS_BCAST, size, 1, call->bytes) && team->comm->topology.direct;
}

/* Broadcasts `calls` times; sets *seconds to the time of one call on the slowest rank. */
static hsumma_status time_calls(struct hs_team *team, struct hs_call *call, int calls, double *seconds,
                                struct hs_message *message)
{
    struct hs_verdict verdict = {0};
    hsumma_status status = HSUMMA_OK;
    double begin = hs_now();
    for (int i = 0; i < calls && !status; i++) {
        struct hs_ticket ticket;
        status = hs_team_start(team, call, HSUMMA_OK, HS_CALL_NOTHING, &ticket, message);
        if (!status && !ticket.done && (status = hs_team_wait(team, &ticket)) != HSUMMA_OK)
            hs_team_fail(team, status); /* MPI may still use the ticket and the buffer */
    }
    const int64_t nanoseconds = (int64_t)(1e9 * (hs_now() - begin));
    if (!status)
        status = hs_team_agree(team, (struct hs_vote){.value = nanoseconds}, &verdict, message);
    *seconds = 1e-9 * (double)verdict.value / calls;
    return status;
}

/* Sets link->beta so that the clock gives the measured time of the row.  link: a link of *machine. */
static hsumma_status fit(const struct hs_team *team, const struct hs_chosen *chosen, double seconds,
                         struct hs_machine *machine, struct hs_link *link)
{
    static const double LEAST = 1e-12;
    const double beta = link->beta;
    const struct hs_alg *alg = chosen->answer.spec.alg;
    struct hs_shape shape = chosen->shape;
    double with, without;
    shape.with = chosen->answer.spec.with;
    shape.segment = chosen->answer.spec.segment ? chosen->answer.spec.segment : team->segment;
    hsumma_status status = hs_clock_seconds(alg, &shape, machine, team->memory, &with, NULL);
    link->beta = 0;
    if (!status)
        status = hs_clock_seconds(alg, &shape, machine, team->memory, &without, NULL);
    link->beta = status || with <= without ? beta : fmax(LEAST, beta * (seconds - without) / (with - without));
    return status;
}

/* Times a row and fits its price.  Sets *fits to 0 if the row cannot serve the call. */
static hsumma_status measure_row(struct hs_team *team, const char *row, const struct sample *sample, char *scratch,
                                 struct hs_machine *machine, struct hs_link *link, int *fits,
                                 struct hs_message *message)
{
    const hsumma_coll from = {
        .collective = HSUMMA_BCAST, .out = scratch, .count = sample->bytes, .size = 1, .algorithm = row};
    struct hs_signature_maker maker = hs_team_maker(team);
    struct hs_verdict verdict = {0};
    struct hs_chosen chosen;
    struct hs_call call;
    int about;
    double least = HUGE_VAL;
    hsumma_status status = hs_call_read(&from, team->group.me, team->group.size, &call, &about, message);
    if (!status)
        status = hs_signature_choose(&maker, &call, &chosen, message);
    const struct hs_vote vote = {.status = status, .value = !status && chosen.answer.asked.alg};
    status = hs_team_agree(team, vote, &verdict, message);
    *fits = !status && !verdict.value;
    for (int i = 0; i < sample->trials && !status && *fits; i++) {
        double seconds;
        status = time_calls(team, &call, sample->calls, &seconds, message);
        least = fmin(least, seconds);
    }
    if (status || !*fits)
        return status;
    status = fit(team, &chosen, least, machine, link);
    return hs_team_agree(team, (struct hs_vote){.status = status}, &verdict, message);
}

/* Sets the prices of copies.  Messages inside a node, which are not measured, stay as expensive as before relative to
 * copies through shared memory, so that none is chosen because of a figure of another machine. */
static void set_prices(struct hs_machine *machine, const double beta[2])
{
    const double slower = beta[1] / machine->shm.beta;
    machine->read.beta = beta[0];
    machine->shm.beta = beta[1];
    machine->node.beta *= slower;
    machine->socket.beta *= slower;
}

/* Measures both rows, and sets beta[0] of direct reads and beta[1] of copies through shared memory. */
static hsumma_status measure_rows(struct hs_team *team, const struct sample *sample, double beta[2],
                                  struct hs_message *message)
{
    struct hs_machine machine = *team->selector.machine;
    struct hs_verdict verdict = {0};
    char *scratch = hs_get_zero(team->memory, (size_t)sample->bytes, 1);
    int fits = 0;
    /* a rank without memory for the measurement keeps all ranks from it */
    hsumma_status status = hs_team_agree(team, (struct hs_vote){.value = !scratch}, &verdict, message);
    if (!status && !verdict.value)
        status = measure_row(team, "direct", sample, scratch, &machine, &machine.read, &fits, message);
    if (!status && fits)
        status = measure_row(team, "shared", sample, scratch, &machine, &machine.shm, &fits, message);
    beta[0] = machine.read.beta;
    beta[1] = machine.shm.beta;
    if (team->broken)
        hs_keep(scratch); /* a peer may still read it */
    else
        hs_put(team->memory, scratch);
    return status || fits ? status : HSUMMA_ERR_UNSUPPORTED;
}

/* Agrees on the prices that the processes remember: the largest of each.  A price is a positive double, whose bits are
 * ordered like the prices. */
static hsumma_status recall(struct hs_team *team, const double remembered[2], double beta[2],
                            struct hs_message *message)
{
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; i < 2 && !status; i++) {
        struct hs_vote vote = {.status = HSUMMA_OK};
        struct hs_verdict verdict = {0};
        memcpy(&vote.value, &remembered[i], sizeof vote.value);
        status = hs_team_agree(team, vote, &verdict, message);
        memcpy(&beta[i], &verdict.value, sizeof beta[i]);
    }
    return status;
}

/* What a rank needs before a long broadcast; the largest need of all ranks counts. */
enum { NOTHING, TO_MEASURE, TO_WAIT };

hsumma_status hs_team_measure(struct hs_team *team, const struct hs_call *call, int64_t hash, int *alike,
                              struct hs_message *message)
{
    const int class = class_of(team, call);
    struct hs_prices_of_broadcasts *prices = &team->selector.broadcast[class];
    struct hs_verdict verdict = {0};
    double beta[2], remembered[2];
    const int knows = hs_copies_recall(team->copies, class, team->group.size, remembered);
    const int64_t need = team->first || team->engaged ? TO_WAIT : knows ? NOTHING : TO_MEASURE;
    hsumma_status status = hs_team_agree(team, (struct hs_vote){.value = need, .hash = hash}, &verdict, message);
    *alike = verdict.alike;
    if (status || !verdict.alike || verdict.value == TO_WAIT)
        return status;
    *prices = (struct hs_prices_of_broadcasts){.known = 1, .machine = *team->selector.machine};
    if (verdict.value == NOTHING)
        status = recall(team, remembered, beta, message);
    else
        status = measure_rows(team, &samples[class], beta, message);
    if (!status) {
        set_prices(&prices->machine, beta);
        hs_copies_remember(team->copies, class, team->group.size, beta);
    }
    if (team->broken)
        return hs_fail(message, team->status, "%s",
                       team->failure.text[0] ? team->failure.text : hsumma_status_string(team->status));
    hs_team_forget(team, HS_BCAST);
    message->text[0] = 0; /* without memory all ranks go on by the built-in prices */
    return HSUMMA_OK;
}
