/* hsumma redistribute: moves a matrix from one layout into another, by hsumma_redistribute and p?gemr2d in turns. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/moved.h"
#include "hsumma/context/context.h"
#include "measure/simulated.h"
#include "measure/timing.h"
#include "product/generate.h"
#include "product/problem.h"
#include "redistribute/move.h"
#include "report/columns.h"

static const char *const makers[MOVE_MAKERS] = {"hsumma", "ScaLAPACK"};

/* A routine's results. */
typedef struct moved {
    const char *maker;
    spread seconds, over; /* over: this routine's time over hsumma's, by turn */
    double rate;          /* bytes of the matrix per second */
} moved;

static void print_help(void)
{
    fputs("Usage: mpiexec -n RANKS hsumma redistribute [--from PLACE] [--to PLACE] [OPTION...]\n"
          "\n"
          "Times moving an m x n matrix from one grid and layout to another, with hsumma_redistribute and ScaLAPACK's\n"
          "p?gemr2d in turns.\n"
          "\n"
          "  --from, --to PLACE      a grid PxQ, then with commas its layout: checkerboard (one block per process;\n"
          "                          default: blocks of 128) and fields as in --layout of gemm, e.g.\n"
          "                          4x4,mb=64,nb=64,rsrc=1 (default: the grid nearest to a square)\n"
          "  -m, -n SIZE             the matrix (defaults: 2048, m); 4k is 4096\n"
          "  --type s|d|c|z          float, double, and their complex forms (default: d)\n"
          "  --alone                 without ScaLAPACK. It is omitted, too, if p?gemr2d cannot make the move: with\n"
          "                          rsrc or csrc -1, and if imb is not mb or inb is not nb\n"
          "  --reps N                timed repetitions after one warm-up (default: 7)\n"
          "  --check                 check every entry, also those that must not change (not with compute=time)\n"
          "  --seed NUMBER           of the random matrix (default: 1)\n"
          "  --format table|csv|json (default: table)\n"
          "  -q, --quiet             no progress on standard error\n"
          "  -h, --help              this text\n"
          "\n"
          "The context: options of the library\n",
          stdout);
}

/* --- the command line --------------------------------------------------------------------------------------------- */

/* Reads "4x4,checkerboard,rsrc=1". */
static int read_place(const argument_given *given, void *at)
{
    placement *place = at;
    char *copy = strdup(given->text), *rest = copy, *word = copy ? strsep(&rest, ",") : NULL;
    int good = word && parse_grid(word, &place->nprow, &place->npcol);

    while (good && (word = strsep(&rest, ",")) != NULL) {
        if (!strcmp(word, "checkerboard"))
            place->checkerboard = 1;
        else
            good = layout_read(word, place->layout);
    }
    free(copy);
    return good;
}

#define AT(member) .field = offsetof(move_arguments, member)
#define SIZE                                               \
    .read = argument_int64, .least = 0, .most = INT64_MAX, \
    .expected = "a size of at least 0, with k, M or G for powers of 1024"
#define PLACE                                                                \
    .read = read_place, .words = "checkerboard|mb|nb|imb|inb|rsrc|csrc|pad", \
    .expected = "PxQ, then with commas checkerboard and " LAYOUT_EXPECTED
static const argument own_arguments[] = {
    {"from", PLACE, AT(end[0])},
    {"to", PLACE, AT(end[1])},
    {"m", 'm', SIZE, AT(m)},
    {"n", 'n', SIZE, AT(n)},
    {"type", .read = argument_type, AT(type), .expected = "s, d, c, z, float32, float64, complex64 or complex128"},
    {"alone", .read = argument_flag, AT(alone)},
    {"reps", .read = argument_int, AT(reps), .least = 1, .most = 1000000,
     .expected = "a number of repetitions from 1 to 1000000"},
    {"check", .read = argument_flag, AT(check)},
    {"seed", .read = argument_int64, AT(seed), .least = INT64_MIN, .most = INT64_MAX, .expected = "an integer"},
    {"format", .read = argument_word, AT(format), .words = "table|csv|json", .expected = "table, csv or json"},
    {"quiet", 'q', .read = argument_flag, AT(quiet)},
    {"help", 'h', .read = argument_help},
    {.name = NULL}};

static int finish(void *of, command_options *options)
{
    move_arguments *args = of;
    char text[200];
    int ranks;

    if (command_operands(options))
        return 1;
    MPI_Comm_size(options->comm, &ranks);
    if (args->n < 0)
        args->n = args->m;
    for (int e = 0; e < 2; e++) {
        placement *place = &args->end[e];

        if (!place->nprow)
            hsumma_grid_shape(ranks, &place->nprow, &place->npcol);
        if (grid_refused(e ? "to" : "from", place->nprow, place->npcol, ranks, text, sizeof text))
            return command_refuse(options, "%s", text);
        if (place->layout[LAYOUT_RSRC] >= place->nprow || place->layout[LAYOUT_CSRC] >= place->npcol)
            return command_refuse(
                options, "--%s: rsrc is %lld, csrc is %lld; expected less than %d and %d, the grid's rows and columns",
                e ? "to" : "from", (long long)place->layout[LAYOUT_RSRC], (long long)place->layout[LAYOUT_CSRC],
                place->nprow, place->npcol);
    }
    return 0;
}

/* --- the matrices ------------------------------------------------------------------------------------------------- */

static void describe(const move *m, move_end *end, const placement *place)
{
    const int64_t *layout = place->layout;
    int64_t rows = layout[LAYOUT_M] < 0 ? layout[LAYOUT_I] + m->args->m : layout[LAYOUT_M],
            cols = layout[LAYOUT_N] < 0 ? layout[LAYOUT_J] + m->args->n : layout[LAYOUT_N];

    layout_describe(&end->desc, end->grid, rows, cols, place->checkerboard ? 0 : 128, layout);
    end->desc.ld = hsumma_local_rows(&end->desc) + layout[LAYOUT_PAD];
    end->desc.ld = end->desc.ld < 1 ? 1 : end->desc.ld;
    end->bytes = (size_t)hs_bytes_of(end->desc.ld, hsumma_local_cols(&end->desc), (int64_t)type_size(m->args->type));
}

static int create(move *m, const move_arguments *args, const char *options, MPI_Comm comm)
{
    char message[400] = "";
    hsumma_status status;
    int good = 1;

    *m = (move){.args = args, .comm = comm};
    MPI_Comm_rank(comm, &m->rank);
    MPI_Comm_size(comm, &m->ranks);
    if (m->rank == 0)
        progress_begin(&m->bar, 0, args->quiet);
    progress_update(&m->bar, "filling A", 0);
    status = hsumma_create(comm, options, &m->ctx, message, sizeof message);
    if (command_fail(comm, status != HSUMMA_OK, "%s", message[0] ? message : hsumma_status_string(status)))
        return command_code(status) ? command_code(status) : COMMAND_INTERNAL;
    for (int e = 0; e < 2; e++) {
        move_end *end = &m->end[e];

        status = hsumma_grid_create(m->ctx, args->end[e].nprow, args->end[e].npcol, 'R', NULL, &end->grid);
        if (command_fail(comm, status != HSUMMA_OK, "%s", hsumma_message(m->ctx)))
            return COMMAND_INTERNAL;
        describe(m, end, &args->end[e]);
        if (end->bytes)
            good &= (end->local = hs_get(&m->ctx->bulk, end->bytes, 1)) != NULL;
        if (end->local && e == 0 && !is_timed_only(m->ctx))
            generate_local(args->type, args->seed, MATRIX_A, &end->desc, end->local);
    }
    return command_fail(comm, !good, "no memory for the matrices of a rank; give smaller -m, -n, or start more ranks")
               ? COMMAND_BAD_INPUT
               : COMMAND_OK;
}

static void release(move *m)
{
    for (int e = 0; e < 2 && m->ctx; e++) {
        hs_put(&m->ctx->bulk, m->end[e].local);
        hsumma_grid_free(&m->end[e].grid);
    }
    hsumma_free(&m->ctx);
}

/* --- turns -------------------------------------------------------------------------------------------------------- */

/* Runs one turn; *seconds: the time of the slowest rank. Returns an exit status. */
static int take_turn(const move *m, const gemr2d *g, move_maker maker, double *seconds)
{
    const move_arguments *args = m->args;
    hsumma_status status = HSUMMA_OK;
    int64_t wrong;

    if (args->check && m->end[1].local)
        generate_nan(args->type, &m->end[1].desc, m->end[1].local);
    quiet_barrier(m->comm);
    double begin = MPI_Wtime();
    if (maker == MOVE_HSUMMA)
        status = hsumma_redistribute(m->ctx, args->type, args->m, args->n, m->end[0].local, &m->end[0].desc,
                                     m->end[1].local, &m->end[1].desc);
    else
        gemr2d_run(g, m);
    begin = MPI_Wtime() - begin;
    quiet_allreduce(&begin, seconds, 1, MPI_DOUBLE, MPI_MAX, m->comm);
    if (command_fail(m->comm, status != HSUMMA_OK, "%s", hsumma_message(m->ctx)))
        return command_code(status) ? command_code(status) : COMMAND_INTERNAL;
    wrong = args->check ? check_moved(args->type, args->seed, args->m, args->n, &m->end[0].desc, &m->end[1].desc,
                                      m->end[1].local)
                        : 0;
    return command_fail(m->comm, wrong > 0, "%s: %lld entries are wrong on rank %d", makers[maker], (long long)wrong,
                        m->rank);
}

static const report_column columns[] = {
    {"maker", REPORT_VALUE(moved, maker), .title = "", .width = -10},
    {"median_s", REPORT_VALUE(moved, seconds.median), REPORT_TIMES("median")},
    {"min_s", REPORT_VALUE(moved, seconds.min), REPORT_TIMES("min")},
    {"max_s", REPORT_VALUE(moved, seconds.max), REPORT_TIMES("max")},
    {"bytes_per_s", REPORT_VALUE(moved, rate), REPORT_SHOWN("GB/s", 7, 2), .factor = 1e-9},
    {"over", REPORT_VALUE(moved, over.median), REPORT_SHOWN("/ hsumma", 8, 2)},
    {"over_min", REPORT_VALUE(moved, over.min), REPORT_SHOWN("min", 6, 2)},
    {"over_max", REPORT_VALUE(moved, over.max), REPORT_SHOWN("max", 6, 2)},
    REPORT_END};

static void print_place(const placement *place, const hsumma_desc *desc)
{
    printf("%dx%d in blocks of %lld x %lld", place->nprow, place->npcol, (long long)desc->mb, (long long)desc->nb);
}

static int report(const move *m, const moved *rows, int count, const char *refused)
{
    const move_arguments *args = m->args;
    report_table table = {.columns = columns};

    if (args->format == REPORT_CSV)
        report_csv_head(columns, stdout);
    if (args->format == REPORT_TABLE) {
        printf("hsumma redistribute: %lld x %lld %s, ", (long long)args->m, (long long)args->n, type_name(args->type));
        print_place(&args->end[0], &m->end[0].desc);
        printf(" -> ");
        print_place(&args->end[1], &m->end[1].desc);
        printf(", %d ranks, %d repetitions in turns%s\n", m->ranks, args->reps, args->check ? ", checked" : "");
        if (refused)
            printf("without ScaLAPACK: %s\n", refused);
        table.factor = report_time_unit(rows[0].seconds.median, &table.unit);
        report_table_head(&table, NULL, stdout);
    }
    for (int r = 0; r < count; r++) {
        if (args->format == REPORT_JSON)
            report_json(report_object(columns, &rows[r], REPORT_ALL), 1, 0, stdout);
        else if (args->format == REPORT_CSV)
            report_csv_row(columns, &rows[r], REPORT_ALL, stdout);
        else
            report_table_row(&table, &rows[r], REPORT_ALL, NULL, stdout);
    }
    return report_written(stdout);
}

/* Runs all rounds of turns; the first round is a warm-up. */
static int measure(move *m, const gemr2d *g, int count, double *seconds, moved *rows)
{
    int reps = m->args->reps, code = COMMAND_OK;
    char phase[40];
    double ignored, bytes = (double)m->args->m * (double)m->args->n * (double)type_size(m->args->type);

    for (int r = -1; r < reps && !code; r++)
        for (int who = 0; who < count && !code; who++) {
            snprintf(phase, sizeof phase, "round %d of %d", r + 1, reps);
            progress_update(&m->bar, r < 0 ? "warm-up" : phase, (r + 1 + (double)who / count) / (reps + 1));
            code = take_turn(m, g, (move_maker)who, r < 0 ? &ignored : &seconds[who * reps + r]);
        }
    progress_end(&m->bar);
    for (int who = 0; who < count && !code; who++) {
        rows[who] = (moved){.maker = makers[who],
                            .seconds = spread_of(seconds + who * reps, reps),
                            .over = spread_of_ratio(seconds + who * reps, seconds, reps)};
        rows[who].rate = bytes / rows[who].seconds.median;
    }
    return code;
}

static int run(const void *given, const char *options, MPI_Comm comm)
{
    const move_arguments *args = given;
    const char *refused = NULL;
    int count = 1, code;
    moved rows[MOVE_MAKERS];
    double *seconds = malloc((size_t)args->reps * MOVE_MAKERS * sizeof *seconds);
    gemr2d g = {.made = 0};
    move m;

    code = create(&m, args, options, comm);
    if (!code)
        code = command_fail(comm, !seconds, "no memory for the times of --reps %d; give a smaller number", args->reps);
    if (!code && command_fail(comm, args->check && is_timed_only(m.ctx),
                              "--check: not allowed with compute=time, where matrices have no contents; omit one"))
        code = COMMAND_BAD_INPUT;
    if (!code && !args->alone)
        refused = gemr2d_refuses(&m);
    if (!code && !args->alone && !refused)
        count = MOVE_MAKERS;
    if (!code && count > 1)
        gemr2d_create(&g, &m);
    if (!code)
        code = measure(&m, &g, count, seconds, rows);
    if (!code)
        code = command_fail(comm, m.rank == 0 && !report(&m, rows, count, refused), "the report could not be written");
    progress_end(&m.bar);
    gemr2d_free(&g);
    release(&m);
    free(seconds);
    return code;
}

#define ANYWHERE             \
    {                        \
        .layout = { -1, -1 } \
    }
const subcommand cmd_redistribute = {
    .name = "redistribute",
    .summary = "time moving a matrix into another layout, compared with p?gemr2d",
    .help = print_help,
    .ending = "Exit status: 0 done, 1 a check or the run failed, 2 the input was wrong.\n",
    .hint = " (see hsumma redistribute --help)",
    .table = own_arguments,
    .size = sizeof(move_arguments),
    .defaults = &(
        const move_arguments){.type = HSUMMA_D, .m = 2048, .n = -1, .end = {ANYWHERE, ANYWHERE}, .seed = 1, .reps = 7},
    .finish = finish,
    .run = run,
};
