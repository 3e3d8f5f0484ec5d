/*
 * A case: some jobs on grids that overlap, which all ranks execute in turns, each rank an object of this process.  A
 * rank begins its next execution as soon as it is done with the one before, so ranks may be several executions apart.
 */
#ifndef HS_TESTS_INTERLEAVE_SCENE_H
#define HS_TESTS_INTERLEAVE_SCENE_H

#include "coll/run/agree.h"
#include "interleave/job.h"
#include "interleave/pool.h"
#include "summa/messages/loop.h"
#include "summa/node/node.h"

enum { GRIDS_MOST = 2, JOBS_MOST = 3, TURNS_MOST = 5, SCENE_TEXT = 2000 };

/* A word of the directory that is raised a step before its time: whoever should wait for it does not. */
struct scene_lie {
    int lies;
    int counter;
};

/* A process of a job's grid: its engines, one for each spec. */
struct seat {
    struct hs_problem problem;
    struct hs_loop loop[2];
    struct hs_node_product node;
};

struct scene_grid {
    int extent[2], rank[PROCESSES_MOST];
    int votes_in_memory; /* agreements use the directories of nodes */
};

/* Where a rank is in a turn. */
enum rank_phase { RANK_BEFORE, RANK_AGREES, RANK_AGREED, RANK_MULTIPLIES };

struct rank_state {
    struct hs_comm comm;
    struct hs_product_memory memory[GRIDS_MOST];
    struct hs_agreement agreement[GRIDS_MOST];
    int mate[PROCESSES_MOST];
    struct hs_region region, *regions;
    double *matrix[3]; /* of the execution under way, in the region */
    char *buffers;
    int turn;
    enum rank_phase phase;
    int span;      /* of an execution in two spans */
    uint64_t told; /* the last value of the word that is lied about */
};

/* What a rank waits for in a directory. */
struct scene_awaited {
    const struct hs_directory_entry *entry;
    struct hs_awaited word[HS_AWAITED];
    int words;
};

struct scene {
    int ranks, grids;
    struct scene_grid grid[GRIDS_MOST];
    int nodes, node[PROCESSES_MOST]; /* of each rank */
    struct hs_topology topology;
    int jobs, turns, grid_of[JOBS_MOST];
    struct job job[JOBS_MOST];
    struct seat *seat[JOBS_MOST];
    struct {
        int job, set, spans;
        int agrees;                         /* an agreement comes first, ... */
        int refuses, differs;               /* ... in which a rank votes against it, or has another hash; -1: none */
        unsigned in_region[PROCESSES_MOST]; /* operands that others may read in place */
    } turn[TURNS_MOST];
    struct rank_state rank[PROCESSES_MOST];
    char *part[PROCESSES_MOST]; /* of each rank, node by node: its matrices */
    struct scene_lie lie;
    char fault[200]; /* "": none */
};

/* Draws and makes a case with its memory; with `cells` nobody only sends messages.  0: there is no memory. */
int scene_make(struct scene *scene, int cells, uint64_t *random);
void scene_free(struct scene *scene);
/* The agreements of a grid; one at the start of a turn, until it is done (*done). */
int scene_agreements_make(struct scene *scene, int grid);
hsumma_status scene_agree(struct scene *scene, int rank, int *worked, int *done);
/* Before an interleaving: all ranks at their first turn. */
void scene_rewind(struct scene *scene);
/* Moves a rank forward; *done: it has had all its turns. */
hsumma_status scene_step(struct scene *scene, int rank, int *worked, int *done);
/* Whether a rank that finds nothing to do would sleep until words change, and which; and whether one of them has. */
int scene_sleeps(const struct scene *scene, int rank, struct scene_awaited *until);
int scene_has_come(const struct scene_awaited *awaited);
void scene_describe_awaited(const struct scene_awaited *awaited, char *text, size_t room);
/* The case, and what a rank is at and waits for. */
void scene_describe(const struct scene *scene, char *text, size_t room);
void scene_describe_rank(const struct scene *scene, int rank, char *text, size_t room);

#endif
