/* Communicators and their contexts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmpi/pmpi.h"

struct pmpi_state pmpi_state = {.keyval = MPI_KEYVAL_INVALID, .self = MPI_COMM_NULL};

/* The attribute of all communicators whose calls are passed on. */
static struct pmpi_comm none;

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
    if (record == &none)
        return MPI_SUCCESS;
    unlink_record(record);
    pmpi_state.inside++;
    hsumma_free(&record->ctx);
    pmpi_state.inside--;
    free(record);
    return MPI_SUCCESS;
}

/* A duplicate would run the program's attribute callbacks. */
static void make_self(void)
{
    MPI_Group group;

    PMPI_Comm_group(MPI_COMM_SELF, &group);
    PMPI_Comm_create(MPI_COMM_SELF, group, &pmpi_state.self);
    PMPI_Group_free(&group);
    PMPI_Comm_set_errhandler(pmpi_state.self, MPI_ERRORS_RETURN);
}

static int make_keyval(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    int made = MPI_KEYVAL_INVALID;

    pthread_mutex_lock(&lock);
    if (pmpi_state.keyval == MPI_KEYVAL_INVALID) {
        make_self();
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, NULL);
        pmpi_state.keyval = made;
    }
    pthread_mutex_unlock(&lock);
    return pmpi_state.keyval;
}

MPI_Comm pmpi_self(void)
{
    if (pmpi_state.keyval == MPI_KEYVAL_INVALID)
        make_keyval();
    return pmpi_state.self;
}

int pmpi_is_word(const char *word)
{
    const char *said = getenv("HSUMMA_PMPI");

    return said && !strcmp(said, word);
}

/* Each record uses one of MPICH's some 2,000 communicators, and shared memory. */
enum { MOST_RECORDS = 64 };

void pmpi_warn(const char *why)
{
    if (!pmpi_state.warned)
        fprintf(stderr, "hsumma_pmpi: calls are passed on to MPI: %s\n", why);
    pmpi_state.warned = 1;
}

/* Whether this process can serve calls. */
static int is_willing(void)
{
    int level = MPI_THREAD_MULTIPLE;

    PMPI_Query_thread(&level);
    return level < MPI_THREAD_MULTIPLE && !pmpi_is_word("off") && pmpi_state.records < MOST_RECORDS;
}

/* A record with a context if all processes are willing and the context can be created, else `none`; the same on all. */
static struct pmpi_comm *make_record(MPI_Comm comm)
{
    struct pmpi_comm *record = calloc(1, sizeof *record);
    int mine = record && is_willing(), all = 0;
    char text[400] = "";

    if (PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) || !all) {
        free(record);
        return &none;
    }
    record->comm = comm;
    PMPI_Comm_rank(comm, &record->rank);
    PMPI_Comm_size(comm, &record->size);
    pmpi_state.inside++;
    mine = hsumma_create(comm, NULL, &record->ctx, text, sizeof text) == HSUMMA_OK;
    pmpi_state.inside--;
    if (mine) {
        link_record(record);
        return record;
    }
    if (record->rank == 0)
        pmpi_warn(text);
    free(record);
    return &none;
}

struct pmpi_comm *pmpi_comm_of(MPI_Comm comm)
{
    struct pmpi_comm *record = &none;
    int found = 0, inter = 1, size = 1, key = pmpi_state.keyval;

    if (key == MPI_KEYVAL_INVALID)
        key = make_keyval();
    if (PMPI_Comm_get_attr(comm, key, &record, &found))
        return NULL;
    if (!found) {
        record = &none;
        if (PMPI_Comm_test_inter(comm, &inter) || PMPI_Comm_size(comm, &size))
            return NULL;
        if (!inter && size > 1)
            record = make_record(comm);
        PMPI_Comm_set_attr(comm, key, record);
    }
    return record == &none ? NULL : record;
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
