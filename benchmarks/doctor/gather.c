/* hsumma doctor: examines a job, and gathers the findings of its ranks. */
#include <string.h>

#include "common/command.h"
#include "doctor/doctor.h"
#include "measure/machine.h"

/* --- examination ------------------------------------------------------------------------------------------------- */

static void make_context(doctor_job *j)
{
    quiet_barrier(j->comm);
    double begin = hs_now();
    hsumma_status status = hsumma_create(j->comm, j->options, &j->ctx, j->refused, sizeof j->refused);

    j->startup.first = hs_now() - begin;
    quiet_allreduce(MPI_IN_PLACE, &j->startup.first, 1, MPI_DOUBLE, MPI_MAX, j->comm);

    if (status && !j->refused[0])
        snprintf(j->refused, sizeof j->refused, "%s", hsumma_status_string(status));
    j->own = j->ctx != NULL;
}

/* Whether a subject has a check that concerns measurements. */
static int is_of_measurements(const doctor_subject *subject)
{
    for (int i = 0; i < DOCTOR_CHECKS && subject->checks[i].found; i++)
        if (subject->checks[i].measure)
            return 1;
    return 0;
}

void doctor_look(doctor_job *j, MPI_Comm comm, hsumma_context *ctx)
{
    machine mach;

    j->comm = comm;
    j->ctx = ctx;
    j->root = j->root ? j->root : "";
    MPI_Comm_rank(comm, &j->rank);
    MPI_Comm_size(comm, &j->ranks);
    machine_init(&mach, comm);
    j->node = mach.node;
    j->nodes = mach.nodes;
    MPI_Comm_size(j->node, &j->node_ranks);
    if (!ctx)
        make_context(j);
    for (int s = 0; doctor_subjects[s]; s++)
        if (doctor_subjects[s]->look && (!ctx || is_of_measurements(doctor_subjects[s])))
            doctor_subjects[s]->look(j);
}

void doctor_free(doctor_job *j)
{
    if (j->own)
        hsumma_free(&j->ctx);
    if (j->node != MPI_COMM_NULL)
        MPI_Comm_free(&j->node);
}

/* --- gathering --------------------------------------------------------------------------------------------------- */

/* Lists the ranks with the same text as rank `first`, and marks them in `said`. */
static void list_ranks(const finding *all, int ranks, int first, unsigned char *said, unsigned char *in,
                       doctor_row *row)
{
    for (int r = 0; r < ranks; r++) {
        in[r] =
            r >= first && !said[r] && !strcmp(all[r].what, all[first].what) && !strcmp(all[r].cure, all[first].cure);
        said[r] |= in[r];
    }
    doctor_list(in, ranks, row->ranks, sizeof row->ranks);
}

/* Adds a row for each distinct text, on rank 0; all[r] is the finding of rank r. Returns nonzero if out of memory. */
static int add_rows(doctor_rows *rows, const doctor_row *row, const finding *all, int ranks, unsigned char *said)
{
    void *array = rows->row;

    memset(said, 0, (size_t)ranks);
    for (int r = 0; r < ranks; r++) {
        if (said[r] || !all[r].what[0])
            continue;
        if (hs_grow(&hs_heap, &array, sizeof *rows->row, &rows->capacity, (size_t)rows->count + 1))
            return 1;
        rows->row = array;
        doctor_row *to = &rows->row[rows->count++];

        *to = *row;
        list_ranks(all, ranks, r, said, said + ranks, to);
        memcpy(to->what, all[r].what, sizeof to->what);
        if (all[r].cure[0])
            memcpy(to->cure, all[r].cure, sizeof to->cure);
    }
    return 0;
}

/* Gathers the ranks' findings of one fact or check on rank 0. */
static int collect(const doctor_job *j, doctor_rows *rows, const doctor_row *row, const finding *mine, finding *all,
                   unsigned char *said)
{
    int any = mine->what[0] != 0;

    quiet_allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, j->comm);
    if (!any)
        return 0;
    rows->costly += !strcmp(row->kind, "costly");
    quiet_gather(mine, all, sizeof *mine, MPI_BYTE, j->comm);
    return j->rank == 0 && add_rows(rows, row, all, j->ranks, said);
}

static int collect_all(const doctor_job *j, doctor_rows *rows, finding *all, unsigned char *said)
{
    static const char *const kinds[] = {"advice", "costly"};
    int bad = 0;

    for (int s = 0; doctor_subjects[s]; s++)
        for (const doctor_fact *fact = doctor_subjects[s]->facts; fact < doctor_subjects[s]->facts + DOCTOR_FACTS;
             fact++) {
            finding mine = {"", ""};

            if (!fact->tell)
                break;
            fact->tell(j, mine.what, sizeof mine.what);
            bad |= collect(j, rows, &(doctor_row){.kind = "fact", .name = fact->name, .why = ""}, &mine, all, said);
        }
    for (int costly = 1; costly >= 0; costly--)
        for (int s = 0; doctor_subjects[s]; s++)
            for (int i = 0; i < DOCTOR_CHECKS && doctor_subjects[s]->checks[i].found; i++) {
                const doctor_check *check = &doctor_subjects[s]->checks[i];
                doctor_row row = {.kind = kinds[costly], .name = check->name, .why = check->why};
                finding mine = {"", ""};

                if (check->costly != costly)
                    continue;
                if (!check->found(j, &mine))
                    mine.what[0] = 0;
                snprintf(row.cure, sizeof row.cure, "%s", check->cure);
                bad |= collect(j, rows, &row, &mine, all, said);
            }
    return bad;
}

int doctor_gather(const doctor_job *j, doctor_rows *rows)
{
    size_t ranks = j->rank == 0 ? (size_t)j->ranks : 1;
    finding *all = hs_get(&hs_heap, ranks, sizeof *all);
    unsigned char *said = hs_get(&hs_heap, ranks, 2);
    int bad = !all || !said;

    *rows = (doctor_rows){.row = NULL};
    if (!command_fail(j->comm, bad, "doctor: no memory for the findings of %d ranks", j->ranks))
        bad = command_fail(j->comm, collect_all(j, rows, all, said), "doctor: no memory for the report");
    else
        bad = 1;
    hs_put(&hs_heap, all);
    hs_put(&hs_heap, said);
    return bad;
}

/* Finds the first problem on this rank that disturbs measurements; returns its number among all checks, or `none`. */
static int find_first(const doctor_job *j, finding *f, int none)
{
    int number = 0;

    for (int s = 0; doctor_subjects[s]; s++)
        for (int i = 0; i < DOCTOR_CHECKS && doctor_subjects[s]->checks[i].found; i++, number++) {
            const doctor_check *check = &doctor_subjects[s]->checks[i];

            if (check->measure && check->found(j, f))
                return number;
        }
    return none;
}

void doctor_warn(MPI_Comm comm, hsumma_context *ctx, char *text, size_t size)
{
    doctor_job j = {.node = MPI_COMM_NULL};
    finding f = {"", ""};
    struct {
        int number, rank;
    } mine, first;

    doctor_look(&j, comm, ctx);
    mine.number = find_first(&j, &f, INT_MAX);
    mine.rank = j.rank;
    quiet_allreduce(&mine, &first, 1, MPI_2INT, MPI_MINLOC, comm);
    if (first.number == INT_MAX)
        f.what[0] = 0;
    else
        quiet_bcast(f.what, sizeof f.what, MPI_CHAR, first.rank, comm);
    snprintf(text, size, "%s", f.what);
    doctor_free(&j);
}
