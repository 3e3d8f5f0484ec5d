/*
 * The prices of copies for broadcasts on one node, measured.
 *
 * Whether a long broadcast is faster through shared memory or by reading the root's memory depends on the processor,
 * the operating system, and where the ranks run: each is twice to four times as fast as the other on some machine
 * (doc/results/collectives.md).  So without a profile the team times both at its first long broadcast, in about a
 * millisecond, and chooses broadcasts by these prices from then on: by others
 * where vectors do not fit into the caches (hs_class_of_broadcast).  Other collectives keep their prices, because
 * another algorithm may round differently.
 */
#include "coll/team/parts.h"

#include "base/wait.h"
#include "coll/model/clock.h"

#include <math.h>

/* For each class of sizes: the bytes that are timed, and the numbers of trials and of calls in each.  The first trial
 * also prepares the call. */
static const struct sample {
    int64_t bytes;
    int trials, calls;
} samples[HS_LONG_BROADCASTS] = {{256 << 10, 3, 2}, {2 << 20, 3, 1}};

int hs_team_must_measure(const struct hs_team *team, const struct hs_call *call)
{
    const struct hs_topology *topology = &team->comm->topology;
    const int size = call->collective == HS_BCAST && !call->on_device ? hs_class_of_broadcast(call->bytes) : -1;
    return team->measures && size >= 0 && !team->selector.broadcast[size].known && !call->algorithm &&
           !hs_rules_find(&team->selector.coll, HS_BCAST, team->group.size, 1, call->bytes) &&
           !hs_rules_find(&team->selector.tuned, HS_BCAST, team->group.size, 1, call->bytes) && topology->direct;
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
        if (!status && !ticket.done)
            status = hs_team_wait(team, &ticket);
    }
    const int64_t nanoseconds = (int64_t)(1e9 * (hs_now() - begin));
    if (!status)
        status = hs_team_agree(team, (struct hs_vote){.value = nanoseconds}, &verdict, message);
    *seconds = 1e-9 * (double)verdict.value / calls;
    return status;
}

/* Sets link->beta so that the clock gives the measured time of the row. */
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

/* Measures both rows.  Messages inside a node, which are not measured, stay as expensive as before relative to copies
 * through shared memory, by which MPI sends them. */
static hsumma_status measure_rows(struct hs_team *team, const struct sample *sample, char *scratch,
                                  struct hs_machine *machine, struct hs_message *message)
{
    const double before = machine->shm.beta;
    int fits;
    hsumma_status status = measure_row(team, "direct", sample, scratch, machine, &machine->read, &fits, message);
    if (!status && fits)
        status = measure_row(team, "shared", sample, scratch, machine, &machine->shm, &fits, message);
    machine->node.beta *= machine->shm.beta / before;
    machine->socket.beta *= machine->shm.beta / before;
    return status;
}

hsumma_status hs_team_measure(struct hs_team *team, int64_t bytes, struct hs_message *message)
{
    const int size = hs_class_of_broadcast(bytes);
    const struct sample *sample = &samples[size];
    struct hs_prices_of_broadcasts *prices = &team->selector.broadcast[size];
    struct hs_verdict verdict = {0};
    char *scratch = hs_get_zero(team->memory, (size_t)sample->bytes, 1);
    *prices = (struct hs_prices_of_broadcasts){.known = 1, .machine = *team->selector.machine};
    /* a rank without memory for the measurement keeps all ranks from it */
    hsumma_status status = hs_team_agree(team, (struct hs_vote){.value = !scratch}, &verdict, message);
    if (!status && !verdict.value) {
        status = measure_rows(team, sample, scratch, &prices->machine, message);
        hs_team_forget(team, HS_BCAST);
    }
    if (status) { /* the same on all ranks, which go on without */
        prices->machine = *team->selector.machine;
        message->text[0] = 0;
    }
    if (team->broken)
        hs_keep(scratch); /* a peer may still read it */
    else
        hs_put(team->memory, scratch);
    return team->broken ? team->status : HSUMMA_OK;
}
