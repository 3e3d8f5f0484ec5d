/* The command line of hsumma_bench regret, and its file of cases. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "regret/command.h"

void regret_help(void)
{
    printf("Usage: mpiexec -n RANKS hsumma_bench regret [OPTION...]\n\n"
           "How good is what the library chooses?  For each case: the automatic plan; a sweep over at most %d other\n"
           "plans, forced by options; then the best %d of them and the automatic plan in turns.  Regret is how much\n"
           "longer the automatic plan takes than the best of the others, as the median of the rounds' ratios; a loss\n"
           "is a regret whose quartiles do not include 1.  Communication is predicted for every plan that runs, and\n"
           "the automatic one is timed once more with lookahead 0, where communication hides behind nothing.\n\n",
           REGRET_CANDIDATES, REGRET_BEST);
    arguments_help(stdout);
    printf("  --cases FILE            cases, one on a line: options of the product, of processes and distribution and\n"
           "                          of the library, beyond those of the command line; # begins a comment.  Without\n"
           "                          it there is the one case of the command line\n"
           "  --measure               also the plan that tune=measure ends with\n"
           "  --sweep-reps N          turns of each candidate, of which the shortest counts (default: 2)\n"
           "  --cap FACTOR            a candidate whose first turn takes FACTOR times the best so far has no other\n"
           "                          (default: 3)\n"
           "  --seconds S             begin no case later than S seconds after the start (default: no limit)\n"
           "--reps counts the rounds of the last comparison (default: 7); --format: table, or json, one line per case\n"
           "\nThe candidates: rows of cross products, refused ones and those that give the plan of another left out\n");
    regret_candidates_help(stdout);
    printf("  largest, others: of op(A), op(B), C; each: all group grids if they are four, else the squarest of each\n"
           "  number of groups, nearest to the root of the processes first; middle: the first of these\n"
           "\nThe plan: options of the library, for all plans; tuned is none unless it is given\n");
    command_print_options(stdout);
    printf("\nExit status: 0 done, 1 a check or a case failed, 2 the input was wrong.\n");
}

/* --- the command line -------------------------------------------------------------------------------------------- */

#define AT(member) .field = offsetof(regret_arguments, member)
static const argument own_arguments[] = {
    {.rows = arguments_all, AT(set.common)},
    {"cases", .read = argument_text, AT(set.file)},
    {"measure", .read = argument_flag, AT(measure)},
    {"sweep-reps", .read = argument_int, AT(sweep_reps), .least = 1, .most = 1000,
     .expected = "a number of turns from 1 to 1000"},
    {"cap", .read = argument_double, AT(cap), .least = 1, .most = INT64_MAX, .expected = "a factor of at least 1"},
    {"seconds", .read = argument_seconds, AT(seconds), .expected = "a number of seconds above 0"},
    {.name = NULL}};

int regret_arguments_read(regret_arguments *args, command_options *options, int argc, char **argv, MPI_Comm comm)
{
    memset(args, 0, sizeof *args);
    arguments_init(&args->set.common);
    args->set.common.reps = 7;
    args->sweep_reps = 2;
    args->cap = 3;
    if (command_read(options, own_arguments, args, argc, argv))
        return 1;
    if (args->set.common.format == REPORT_CSV)
        return command_bad_value(options, "format", "csv", "table or json");
    if (args->set.common.help)
        return 0;
    return cases_read(&args->set, "tuned=none", options, argc, argv, comm);
}
