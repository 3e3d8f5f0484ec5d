/* Counts of calls, and what the library prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsumma/context/context.h"
#include "pmpi/pmpi.h"

/* --- the environment ---------------------------------------------------------------------------------------------- */

static int is_first(void)
{
    int rank = 1;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

enum pmpi_mode pmpi_read_mode(void)
{
    static const char *const words[PMPI_MODES] = {[PMPI_OFF] = "off", [PMPI_VERBOSE] = "verbose"};
    const char *given = hs_environment("HSUMMA_PMPI");
    struct hs_guess guess = hs_guess_of(given ? given : "", given ? strlen(given) : 0);
    char meant[80];

    if (!given || !*given)
        return PMPI_SERVE;
    for (int mode = PMPI_OFF; mode < PMPI_MODES; mode++) {
        if (!strcmp(given, words[mode]))
            return (enum pmpi_mode)mode;
        hs_guess_try(&guess, words[mode], strlen(words[mode]));
    }
    if (is_first())
        fprintf(stderr, "hsumma_pmpi: HSUMMA_PMPI is \"%.80s\" and is ignored; expected off or verbose%s\n", given,
                hs_guess_text(&guess, "", meant, sizeof meant));
    return PMPI_SERVE;
}

void pmpi_warn(enum pmpi_warning warning, const char *why)
{
    static const char *const about[PMPI_WARNINGS] = {
        [PMPI_PASSED_ON] = "calls are passed on to MPI",
        [PMPI_REPLACED] = "some calls are served by an algorithm other than the one given"};

    if (!pmpi_state.warned[warning])
        fprintf(stderr, "hsumma_pmpi: %s: %s\n", about[warning], why);
    pmpi_state.warned[warning] = 1;
}

/* --- counts ------------------------------------------------------------------------------------------------------- */

/* Calls of one function and size class that one algorithm has served. */
struct pmpi_row {
    struct pmpi_row *next;
    enum pmpi_function function;
    int size_class;
    const struct hs_alg *alg;
    long long calls;
};

/* The largest number of bytes in each size class; one more class follows, without a limit. */
static const long long most_bytes[] = {64, 1 << 10, 16 << 10, 256 << 10, 4 << 20};
enum { LIMITED = sizeof most_bytes / sizeof *most_bytes };

static int size_class_of(long long bytes)
{
    int size_class = 0;

    while (size_class < LIMITED && bytes > most_bytes[size_class])
        size_class++;
    return size_class;
}

static void count_call(struct pmpi_count *count, long long bytes)
{
    count->calls++;
    count->bytes += bytes;
}

/* Adds a row at the head of the list. On rank 0, warns if the algorithm stands in for one that the user has given. */
static struct pmpi_row *make_row(const struct pmpi_comm *record, const hsumma_coll *call)
{
    struct pmpi_row *row = malloc(sizeof *row);
    char text[400];

    if (!row)
        return NULL;
    row->next = pmpi_state.rows;
    pmpi_state.rows = row;
    if (record->rank == 0 && record->ctx->team.signature->replaced &&
        !hsumma_coll_describe(record->ctx, call, text, sizeof text))
        pmpi_warn(PMPI_REPLACED, text);
    return row;
}

static void count_row(const struct pmpi_comm *record, const hsumma_coll *call, enum pmpi_function function,
                      int size_class)
{
    const struct hs_alg *alg = record->ctx->team.signature->chosen.alg; /* of the latest call */
    struct pmpi_row *row = pmpi_state.rows;

    while (row && (row->alg != alg || row->function != function || row->size_class != size_class))
        row = row->next;
    if (!row && (row = make_row(record, call)) != NULL) {
        row->function = function;
        row->size_class = size_class;
        row->alg = alg;
        row->calls = 0;
    }
    if (row)
        row->calls++;
}

void pmpi_count_served(const struct pmpi_comm *record, const hsumma_coll *call, enum pmpi_function function,
                       long long bytes, int well)
{
    count_call(&pmpi_state.served[function], bytes);
    if (well)
        count_row(record, call, function, size_class_of(bytes));
}

int pmpi_count_passed(enum pmpi_function function, MPI_Count count, MPI_Datatype type, int error)
{
    MPI_Count size = 0;

    if (pmpi_state.inside)
        return error;
    if (error || count < 1 || PMPI_Type_size_x(type, &size))
        size = 0;
    count_call(&pmpi_state.passed[function], count * size);
    return error;
}

static void print_rows(enum pmpi_function function, const char *name)
{
    for (int i = 0; i <= LIMITED; i++)
        for (const struct pmpi_row *row = pmpi_state.rows; row; row = row->next) {
            char limit[32];

            if (row->function != function || row->size_class != i)
                continue;
            hs_size_write(most_bytes[i < LIMITED ? i : LIMITED - 1], limit, sizeof limit);
            fprintf(stderr, "hsumma_pmpi: %-13s %10lld calls of %s %s bytes served by %s\n", name, row->calls,
                    i < LIMITED ? "at most" : "more than", limit, row->alg->name);
        }
}

void pmpi_print_counts(void)
{
    static const char *const names[PMPI_FUNCTIONS] = {"MPI_Allreduce", "MPI_Reduce", "MPI_Bcast"};

    pmpi_self(); /* reads the mode if no call has */
    for (int f = 0; f < PMPI_FUNCTIONS && pmpi_state.mode == PMPI_VERBOSE && is_first(); f++) {
        fprintf(stderr, "hsumma_pmpi: %-13s %10lld calls, %14lld bytes served; %10lld calls, %14lld bytes passed on\n",
                names[f], pmpi_state.served[f].calls, pmpi_state.served[f].bytes, pmpi_state.passed[f].calls,
                pmpi_state.passed[f].bytes);
        print_rows((enum pmpi_function)f, names[f]);
    }
    while (pmpi_state.rows) {
        struct pmpi_row *next = pmpi_state.rows->next;
        free(pmpi_state.rows);
        pmpi_state.rows = next;
    }
}
