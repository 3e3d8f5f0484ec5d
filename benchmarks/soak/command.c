/* hsumma soak: the loop over random cases, and its report. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "measure/simulated.h"
#include "report/columns.h"
#include "report/progress.h"
#include "soak/soak.h"
#include "soak/watch.h"

typedef struct soak_arguments {
    double hours, minutes; /* 0: not given */
    int64_t cases, first;  /* cases: 0: not given */
    int64_t seed;          /* -1: from the clock */
    int patience, plant, quiet;
    report_format format;
} soak_arguments;

static const soak_arguments defaults = {.seed = -1, .patience = 600};
static const double default_hours = 1.0 / 6;

static void print_help(void)
{
    fputs(
        "Usage: mpiexec -n RANKS hsumma soak [--hours H | --minutes M | --cases N] [OPTION...]\n"
        "\n"
        "Runs random cases for a long time and checks every result. A case is a context over some of the ranks, often\n"
        "with virtual nodes, in which products (all types, layouts, transpositions, options), collective calls,\n"
        "redistributions and allocations follow each other. Between cases every rank's memory, file descriptors and\n"
        "mappings are counted. After a warm-up of a quarter of the run, the rest is divided into four parts; growth\n"
        "is reported if the least value of each part is above that of the part before.\n"
        "\n"
        "  --hours H, --minutes M  length of the run (default: 10 minutes)\n"
        "  --cases N               the run ends after N cases\n"
        "  --seed NUMBER           of all random choices (default: from the clock; it is printed)\n"
        "  --first I               number of the first case (default: 0); a failing case is printed with the options\n"
        "                          that repeat it: --seed S --first I --cases 1\n"
        "  --patience SECONDS      a case that takes longer counts as hanging, and ends the run (default: 600)\n"
        "  --plant FAULT           a fault that the run must find, to test this command: descriptor, mapping or "
        "memory\n"
        "                          (a leak in every case), or result (C is changed before it is checked)\n"
        "  --format table|csv|json (default: table)\n"
        "  -q, --quiet             no progress on standard error\n"
        "  -h, --help              this text\n"
        "\n"
        "Options of the library, for the contexts of all cases:\n"
        "\n",
        stdout);
}

#define AT(member) .field = offsetof(soak_arguments, member)
#define NUMBER(from) .read = argument_int64, .least = from, .most = INT64_MAX
#define DURATION .read = argument_seconds, .expected = "a number above 0"
static const argument own_arguments[] = {
    {"hours", DURATION, AT(hours)},
    {"minutes", DURATION, AT(minutes)},
    {"cases", NUMBER(1), AT(cases)},
    {"first", NUMBER(0), AT(first)},
    {"seed", NUMBER(0), AT(seed)},
    {"patience", .read = argument_int, .least = 1, .most = 1000000, AT(patience)},
    {"plant", .read = argument_word, .words = "none|descriptor|mapping|memory|result", AT(plant)},
    {"format", .read = argument_word, AT(format), .words = "table|csv|json", .expected = "table, csv or json"},
    {"quiet", 'q', .read = argument_flag, AT(quiet)},
    {"help", 'h', .read = argument_help},
    {.name = NULL}};

static int finish(void *of, command_options *options)
{
    soak_arguments *args = of;
    int ranks;

    if (command_operands(options))
        return 1;
    if ((args->hours > 0) + (args->minutes > 0) + (args->cases > 0) > 1)
        return command_refuse(options, "of --hours, --minutes and --cases at most one may be given");
    MPI_Comm_size(options->comm, &ranks);
    if (ranks > SOAK_RANKS)
        return command_refuse(options, "there are %d ranks; expected at most %d", ranks, SOAK_RANKS);
    if (is_simulated())
        return command_refuse(options, "not in the simulator, where all ranks are one process");
    args->hours += args->minutes / 60;
    if (!args->hours && !args->cases)
        args->hours = default_hours;
    return 0;
}

/* --- a case that crashes or hangs --------------------------------------------------------------------------------- */

/* Written by the handler: the current case and the command that repeats it. */
static char crash_text[512];

static void on_crash(int number)
{
    ssize_t written = write(STDERR_FILENO, crash_text, strlen(crash_text));

    (void)written;
    signal(number, SIG_DFL);
    raise(number);
}

static void repeat_text(const soak_arguments *args, const char *options, int64_t number, int ranks, char *text,
                        size_t size)
{
    snprintf(text, size, "to repeat: mpiexec -n %d hsumma soak --seed %lld --first %lld --cases 1%s", ranks,
             (long long)args->seed, (long long)number, args->plant || *options ? " and the same other options" : "");
}

static void announce(const soak_arguments *args, const char *options, int64_t number, int rank, int ranks)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM};
    char repeat[200];

    repeat_text(args, options, number, ranks, repeat, sizeof repeat);
    snprintf(crash_text, sizeof crash_text, "hsumma: soak: case %lld crashed, or took more than %d s, on rank %d; %s\n",
             (long long)number, args->patience, rank, repeat);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_crash);
    alarm((unsigned)args->patience);
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

typedef struct soak {
    const soak_arguments *args;
    const char *options;
    MPI_Comm comm;
    int rank, ranks;
    double begun, seconds;
    int64_t cases, did[DIDS];
    watch watch;
    progress bar;
} soak;

/* Leaks what --plant asks for. */
static void plant(int fault)
{
    enum { LEAK = 20000 };

    if (fault == PLANT_DESCRIPTOR && dup(STDERR_FILENO) < 0)
        perror("--plant descriptor");
    if (fault == PLANT_MAPPING && mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        perror("--plant mapping");
    if (fault == PLANT_MEMORY) {
        char *volatile lost = calloc(1, LEAK);

        (void)lost;
    }
}

/* The fraction of the run that is complete, the same on all ranks. */
static double done(soak *s)
{
    const soak_arguments *args = s->args;
    double fraction;

    s->seconds = MPI_Wtime() - s->begun;
    fraction = args->cases ? (double)s->cases / (double)args->cases : s->seconds / (3600 * args->hours);
    quiet_bcast(&fraction, 1, MPI_DOUBLE, 0, s->comm);
    return fraction;
}

static int run_cases(soak *s)
{
    const soak_arguments *args = s->args;
    double fraction = 0;
    char text[200];
    int code, worst = COMMAND_OK;

    while (fraction < 1 && !worst) {
        int64_t number = args->first + s->cases;

        snprintf(text, sizeof text, "case %lld", (long long)number);
        progress_update(&s->bar, text, fraction);
        announce(args, s->options, number, s->rank, s->ranks);
        code = soak_case((uint64_t)args->seed, number, args->plant, s->options, s->comm, s->did);
        plant(args->plant);
        quiet_allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, s->comm);
        alarm(0);
        s->cases++;
        fraction = done(s);
        watch_sample(&s->watch, fraction);
        repeat_text(args, s->options, number, s->ranks, text, sizeof text);
        if (worst)
            progress_end(&s->bar);
        command_fail(s->comm, worst && s->rank == 0, "soak: case %lld failed; %s", (long long)number, text);
    }
    progress_end(&s->bar);
    return worst;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

typedef struct soak_sum {
    int ranks;
    int64_t seed, cases;
    double seconds;
    int64_t did[DIDS];
    const char *result;
} soak_sum;

/* A resource, on the rank where it has grown most. */
typedef struct soak_row {
    const char *name;
    int rank;
    int64_t least[WATCH_PARTS], growth;
    double unit; /* bytes of a MiB, or 1 for counts */
    double shown[WATCH_PARTS], shown_growth;
} soak_row;

#define DID(key, which)                                                                     \
    {                                                                                       \
        key, .kind = REPORT_WIDE, .at = offsetof(soak_sum, did) + (which) * sizeof(int64_t) \
    }
static const report_column sum_columns[] = {{"ranks", REPORT_VALUE(soak_sum, ranks)},
                                            {"seed", REPORT_VALUE(soak_sum, seed)},
                                            {"seconds", REPORT_VALUE(soak_sum, seconds)},
                                            {"cases", REPORT_VALUE(soak_sum, cases)},
                                            DID("contexts", DID_CONTEXTS),
                                            DID("grids", DID_GRIDS),
                                            DID("plans", DID_PLANS),
                                            DID("products", DID_PRODUCTS),
                                            DID("collectives", DID_COLLECTIVES),
                                            DID("redistributions", DID_MOVES),
                                            DID("allocations", DID_ALLOCATIONS),
                                            DID("refused", DID_REFUSED),
                                            {"result", REPORT_VALUE(soak_sum, result)},
                                            REPORT_END};
#define PART(key, i, head)                                                                                          \
    {                                                                                                               \
        key, .kind = REPORT_REAL, .at = offsetof(soak_row, shown) + (i) * sizeof(double), REPORT_SHOWN(head, 10, 2) \
    }
static const report_column row_columns[] = {
    {"name", REPORT_VALUE(soak_row, name), .title = "least", .width = -14},
    {"rank", REPORT_VALUE(soak_row, rank), REPORT_SHOWN("rank", 5, 0)},
    PART("part_1", 0, "part 1"),
    PART("part_2", 1, "part 2"),
    PART("part_3", 2, "part 3"),
    PART("part_4", 3, "part 4"),
    {"growth", REPORT_VALUE(soak_row, shown_growth), REPORT_SHOWN("growth", 9, 2)},
    REPORT_END};

/* Finds the first rank whose resource has grown most, and its values. Collective. */
static soak_row row_of(const soak *s, watched which)
{
    soak_row row = {.name = watch_names[which], .unit = watch_is_count(which) ? 1 : 1 << 20};
    int64_t mine = watch_growth(&s->watch, which), most;

    quiet_allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, s->comm);
    int who = mine == most ? s->rank : INT32_MAX;
    quiet_allreduce(&who, &row.rank, 1, MPI_INT, MPI_MIN, s->comm);
    memcpy(row.least, s->watch.least[which], sizeof row.least);
    row.growth = watch_growth(&s->watch, which);
    quiet_bcast(row.least, WATCH_PARTS, MPI_INT64_T, row.rank, s->comm);
    quiet_bcast(&row.growth, 1, MPI_INT64_T, row.rank, s->comm);
    for (int part = 0; part < WATCH_PARTS; part++)
        row.shown[part] = row.least[part] < 0 ? NAN : (double)row.least[part] / row.unit;
    row.shown_growth = row.growth < 0 ? NAN : (double)row.growth / row.unit;
    return row;
}

static int print(const soak_arguments *args, const soak_sum *sum, const soak_row rows[WATCHES])
{
    report_table table = {.columns = row_columns};
    json_t *object, *list;

    if (args->format == REPORT_JSON) {
        object = report_object(sum_columns, sum, REPORT_ALL);
        list = json_array();
        for (int i = 0; i < WATCHES; i++)
            json_array_append_new(list, report_object(row_columns, &rows[i], REPORT_ALL));
        json_object_set_new(object, "watched", list);
        return report_json(object, 1, 0, stdout) && report_written(stdout);
    }
    if (args->format == REPORT_CSV) {
        report_csv_head(row_columns, stdout);
        for (int i = 0; i < WATCHES; i++)
            report_csv_row(row_columns, &rows[i], REPORT_ALL, stdout);
        return report_written(stdout);
    }
    printf("hsumma soak: %d ranks, seed %lld, %lld case%s in %.0f s\n", sum->ranks, (long long)sum->seed,
           (long long)sum->cases, report_plural(sum->cases), sum->seconds);
    for (int i = 4; sum_columns[i].kind == REPORT_WIDE; i++)
        printf("%-15s %lld\n", sum_columns[i].key, (long long)sum->did[i - 4]);
    report_table_head(&table, "  (MiB, or number)", stdout);
    for (int i = 0; i < WATCHES && rows[i].growth >= 0; i++)
        report_table_row(&table, &rows[i], REPORT_ALL, rows[i].growth > watch_allowed((watched)i) ? "  GROWS" : NULL,
                         stdout);
    printf("%s\n", sum->result);
    return report_written(stdout);
}

static int report(soak *s, int code)
{
    soak_sum sum = {.ranks = s->ranks, .seed = s->args->seed, .cases = s->cases, .seconds = s->seconds};
    soak_row rows[WATCHES];
    int grown = 0, known = 1;

    quiet_allreduce(s->did, sum.did, DIDS, MPI_INT64_T, MPI_SUM, s->comm);
    for (int i = 0; i < WATCHES; i++) {
        rows[i] = row_of(s, (watched)i);
        grown |= rows[i].growth > watch_allowed((watched)i);
        known &= rows[i].growth >= 0;
    }
    sum.result = code     ? "failed: a case"
                 : !known ? "all cases passed; too few to see growth"
                 : grown  ? "failed: growth"
                          : "all cases passed, no growth";
    if (command_fail(s->comm, s->rank == 0 && !print(s->args, &sum, rows), "the report could not be written"))
        return COMMAND_INTERNAL;
    return code ? code : grown ? COMMAND_INTERNAL : COMMAND_OK;
}

static int run(const void *given, const char *options, MPI_Comm comm)
{
    soak_arguments args = *(const soak_arguments *)given;
    soak s = {.args = &args, .options = options, .comm = comm, .begun = MPI_Wtime()};
    int code;

    MPI_Comm_rank(comm, &s.rank);
    MPI_Comm_size(comm, &s.ranks);
    if (args.seed < 0)
        args.seed = (int64_t)time(NULL);
    quiet_bcast(&args.seed, 1, MPI_INT64_T, 0, comm);
    watch_init(&s.watch);
    if (s.rank == 0)
        progress_begin(&s.bar, 0, args.quiet);
    code = run_cases(&s);
    return report(&s, code);
}

const subcommand cmd_soak = {
    .name = "soak",
    .summary = "run random products, collective calls and redistributions for hours, check them, and watch for leaks",
    .help = print_help,
    .ending = "Exit status: 0 all results are right and nothing grows, 1 otherwise, 2 the input was "
              "wrong.\n",
    .table = own_arguments,
    .size = sizeof(soak_arguments),
    .defaults = &defaults,
    .finish = finish,
    .run = run};
