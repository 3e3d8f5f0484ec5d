/* hsumma coll --verify: proves the algorithms of the registry. */
#include <string.h>

#include "coll/command.h"
#include "coll/proof/prove.h"
#include "report/progress.h"

/* State of the progress bar: the number of algorithms that are done, and of all. */
struct shown {
    progress bar;
    const struct hs_prove_range *range;
    int done, count;
};

static int is_proven(const struct hs_prove_range *range, const struct hs_alg *alg)
{
    return !(alg->flags & HS_BY_MPI) && (!range->collectives || range->collectives >> alg->collective & 1);
}

static void show(struct shown *shown, int done)
{
    const struct hs_alg *alg;
    int number = 0;

    shown->done = done;
    for (int i = 0; (alg = hs_alg_at(i)); i++)
        if (is_proven(shown->range, alg) && number++ == done)
            progress_update(&shown->bar, alg->name, (double)done / shown->count);
}

static void print_row(void *state, const struct hs_prove_row *row)
{
    struct shown *shown = state;

    progress_end(&shown->bar);
    printf("%-15s %-20s %8lld runs up to %4d ranks  %s", hs_collective_name(row->alg->collective), row->alg->name,
           (long long)row->runs, row->largest, row->failures ? "" : "proven\n");
    if (row->failures)
        printf("%lld FAILED\n    %s\n", (long long)row->failures, row->text);
    fflush(stdout);
    show(shown, shown->done + 1);
}

/* Limits the groups to --ranks. */
static void limit(struct hs_prove_range *range, int64_t ranks)
{
    int side = 1;

    while (side * side < ranks)
        side++;
    range->ranks = (int)ranks;
    range->mores = 0;
    range->nodes = range->per_node = side;
}

/* Proves all algorithms, or those of --op and --alg. Sets the message if no algorithm matches. */
static hsumma_status prove(const coll_arguments *args, struct hs_prove_report *sum, struct hs_message *message)
{
    struct hs_prove_range range = hs_prove_everything;
    hsumma_status status = HSUMMA_OK;
    struct hs_prove_report report;
    const struct hs_alg *alg;
    int found = 0;

    if (args->ranks)
        limit(&range, args->ranks);
    range.collectives = args->collective < 0 ? 0 : 1U << args->collective;
    if (!args->algorithm || !strcmp(args->algorithm, "all")) {
        struct shown shown = {.range = &range};

        for (int i = 0; (alg = hs_alg_at(i)); i++)
            shown.count += is_proven(&range, alg);
        progress_begin(&shown.bar, 0, args->quiet);
        show(&shown, 0);
        status = hs_prove(&range, print_row, &shown, &hs_heap, sum);
        progress_end(&shown.bar);
        return status;
    }
    for (int i = 0; (alg = hs_alg_at(i)) && status != HSUMMA_ERR_MEMORY; i++) {
        if (strcmp(alg->name, args->algorithm) || (args->collective >= 0 && (int)alg->collective != args->collective))
            continue;
        found = 1;
        range.alg = alg;
        range.collectives = 0;
        struct shown shown = {.range = &range, .count = 1};

        progress_begin(&shown.bar, 0, args->quiet);
        progress_update(&shown.bar, alg->name, 0);
        if (hs_prove(&range, print_row, &shown, &hs_heap, &report) == HSUMMA_ERR_MEMORY)
            status = HSUMMA_ERR_MEMORY;
        progress_end(&shown.bar);
        sum->rows += report.rows;
        sum->foreign += report.foreign;
        sum->runs += report.runs;
        sum->failures += report.failures;
    }
    if (!found)
        return hs_fail(message, HSUMMA_ERR_OPTION, "--alg %s: no such algorithm; hsumma coll --list prints all",
                       args->algorithm);
    return status ? status : sum->failures ? HSUMMA_ERR_INTERNAL : HSUMMA_OK;
}

int coll_verify(const coll_arguments *args)
{
    struct hs_message message = {""};
    struct hs_prove_report report = {0};
    hsumma_status status = prove(args, &report, &message);

    if (status == HSUMMA_OK || status == HSUMMA_ERR_INTERNAL) {
        printf("%lld schedules of %d algorithms proven, %lld failed", (long long)(report.runs - report.failures),
               report.rows, (long long)report.failures);
        if (report.foreign)
            printf("; %d algorithm%s MPI's own", report.foreign, report.foreign > 1 ? "s are" : " is");
        putchar('\n');
        if (command_fail(MPI_COMM_SELF, fflush(stdout) || ferror(stdout),
                         "the result of the proof could not be written to standard output"))
            return COMMAND_INTERNAL;
        return status ? COMMAND_INTERNAL : COMMAND_OK;
    }
    command_fail(MPI_COMM_SELF, 1, "coll: %s", message.text[0] ? message.text : hsumma_status_string(status));
    return status == HSUMMA_ERR_OPTION ? COMMAND_BAD_INPUT : COMMAND_INTERNAL;
}
