/* Communicators and their contexts. */
#include <pthread.h>
#include <stdlib.h>

#include "pmpi/pmpi.h"

struct pmpi_state pmpi_state = {.keyval = MPI_KEYVAL_INVALID, .self = MPI_COMM_NULL};

/* The attribute of all communicators whose calls are always passed on. */
static struct pmpi_comm none;

/*
 * A context costs about a millisecond and megabytes of shared memory, which a communicator of a few small calls never
 * repays. MPI therefore serves the first calls: each weighs 1, and 1 more per 64 KB, until ENOUGH is exceeded. Calls
 * and bytes are the same on all processes, so all create the context in the same call. Until then the attribute is the
 * weight so far, as an odd number, which is never the address of a record.
 */
enum { BYTES_PER_WEIGHT = 64 * 1024, ENOUGH = 16 };

static void *attribute_of(int weight)
{
    return (void *)(uintptr_t)(2 * weight + 1);
}

static int is_weight(const void *attribute)
{
    return (uintptr_t)attribute % 2;
}

/* The weight after one more call. */
static int weight_after(const void *attribute, MPI_Count bytes)
{
    MPI_Count more = bytes / BYTES_PER_WEIGHT;

    return (int)((uintptr_t)attribute / 2) + 1 + (int)(more < ENOUGH ? more : ENOUGH);
}

static void unlink_record(struct pmpi_comm *record)
{
    pmpi_state.records--;
    *(record->previous ? &record->previous->next : &pmpi_state.first) = record->next;
    *(record->next ? &record->next->previous : &pmpi_state.last) = record->previous;
}

static void link_record(struct pmpi_comm *record)
{
    record->previous = pmpi_state.last;
    pmpi_state.records++;
    *(pmpi_state.last ? &pmpi_state.last->next : &pmpi_state.first) = record;
    pmpi_state.last = record;
}

/* Called by MPI when it frees the communicator. */
static int forget(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    struct pmpi_comm *record = attribute;

    (void)comm, (void)keyval, (void)extra;
    if (record == &none || is_weight(record))
        return MPI_SUCCESS;
    unlink_record(record);
    pmpi_state.inside++;
    hsumma_free(&record->ctx);
    pmpi_state.inside--;
    free(record);
    return MPI_SUCCESS;
}

/* A communicator of the same processes without the program's attributes; MPI_Comm_dup would run their callbacks. */
static MPI_Comm without_attributes(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group;

    PMPI_Comm_group(comm, &group);
    PMPI_Comm_create(comm, group, &made);
    PMPI_Group_free(&group);
    return made;
}

static void make_self(void)
{
    pmpi_state.self = without_attributes(MPI_COMM_SELF);
    PMPI_Comm_set_errhandler(pmpi_state.self, MPI_ERRORS_RETURN);
}

/* Whether MPI_COMM_SELF exists: a program that only uses sessions never calls MPI_Init. */
static int is_in_world(void)
{
    int begun = 0, over = 0;

    PMPI_Initialized(&begun);
    PMPI_Finalized(&over);
    return begun && !over;
}

static void make_keyval(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    int made = MPI_KEYVAL_INVALID;

    pthread_mutex_lock(&lock);
    if (pmpi_state.keyval == MPI_KEYVAL_INVALID) {
        make_self();
        pmpi_state.mode = pmpi_read_mode();
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, NULL);
        pmpi_state.keyval = made;
    }
    pthread_mutex_unlock(&lock);
}

MPI_Comm pmpi_self(void)
{
    if (pmpi_state.keyval == MPI_KEYVAL_INVALID && is_in_world())
        make_keyval();
    return pmpi_state.self;
}

/* Each record uses shared memory and a communicator, of which MPICH has some 2,000. */
enum { MOST_RECORDS = 64 };

/* Whether this process can serve one more communicator. */
static int is_willing(void)
{
    int level = MPI_THREAD_MULTIPLE;

    PMPI_Query_thread(&level);
    return level < MPI_THREAD_MULTIPLE && pmpi_state.mode != PMPI_OFF && pmpi_state.records < MOST_RECORDS;
}

/* A record with a context if all processes are willing and the context can be created, else `none`; the same on all. */
static struct pmpi_comm *make_record(MPI_Comm comm)
{
    struct pmpi_comm *record = calloc(1, sizeof *record);
    int mine[] = {record && is_willing(), !pmpi_state.copies}, all[] = {0, 0}, good;
    MPI_Comm plain = comm;
    char text[400] = "";

    if (PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, comm) || !all[0]) {
        free(record);
        return &none;
    }
    record->comm = comm;
    PMPI_Comm_rank(comm, &record->rank);
    PMPI_Comm_size(comm, &record->size);
    pmpi_state.inside++;
    if (!all[1]) /* hsumma_create duplicates its communicator */
        plain = without_attributes(comm);
    good = hsumma_create(plain, NULL, &record->ctx, text, sizeof text) == HSUMMA_OK;
    if (plain != comm && plain != MPI_COMM_NULL)
        PMPI_Comm_free(&plain);
    pmpi_state.inside--;
    if (good) {
        link_record(record);
        return record;
    }
    if (record->rank == 0)
        pmpi_warn(PMPI_PASSED_ON, text);
    free(record);
    return &none;
}

struct pmpi_comm *pmpi_comm_of(MPI_Comm comm, MPI_Count bytes)
{
    struct pmpi_comm *record = &none;
    int found = 0, inter = 1, size = 1, weight, key = pmpi_state.keyval;

    if (PMPI_Comm_get_attr(comm, key, &record, &found))
        return NULL;
    if (!found) {
        if (PMPI_Comm_test_inter(comm, &inter) || PMPI_Comm_size(comm, &size))
            return NULL;
        record = inter || size == 1 ? &none : attribute_of(0);
        PMPI_Comm_set_attr(comm, key, record);
    }
    if (is_weight(record)) {
        weight = weight_after(record, bytes);
        record = weight > ENOUGH ? make_record(comm) : attribute_of(weight);
        PMPI_Comm_set_attr(comm, key, record);
    }
    return record == &none || is_weight(record) ? NULL : record;
}

void pmpi_comms_free(void)
{
    while (pmpi_state.first) {
        struct pmpi_comm *record = pmpi_state.first;
        if (PMPI_Comm_delete_attr(record->comm, pmpi_state.keyval) && pmpi_state.first == record)
            unlink_record(record); /* its memory is freed at process exit */
    }
    if (pmpi_state.self != MPI_COMM_NULL)
        PMPI_Comm_free(&pmpi_state.self);
}
