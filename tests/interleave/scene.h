/*
 * A case: jobs on overlapping grids, which all ranks execute in turns; each rank is an object of this process. A rank
 * starts its next execution when it is done with the last, so ranks may be several executions apart.
 */
#ifndef HS_TESTS_INTERLEAVE_SCENE_H
#define HS_TESTS_INTERLEAVE_SCENE_H

#include "coll/run/agree.h"
#include "interleave/job.h"
#include "interleave/pool.h"
#include "summa/messages/loop.h"
#include "summa/node/node.h"

enum { GRIDS_MOST = 2, JOBS_MOST = 3, TURNS_MOST = 5, SCENE_TEXT = 2000 };

/* A counter of the directory that is raised one step early, so that a rank which should wait for it does not. */
struct scene_lie {
    int lies;
    int counter;
};

/* A process of a job's grid: its engines, one per spec. */
struct seat {
    struct hs_problem problem;
    struct hs_loop loop[2];
    struct hs_node_product node;
};

struct scene_grid {
    int extent[2], rank[PROCESSES_MOST];
    int votes_in_memory; /* agreements use the directories of nodes */
};

/* The phase of a rank in a turn. */
enum rank_phase { RANK_BEFORE, RANK_AGREES, RANK_AGREED, RANK_MULTIPLIES };

struct rank_state {
    struct hs_comm comm;
    struct hs_product_memory memory[GRIDS_MOST];
    struct hs_agreement agreement[GRIDS_MOST];
    int mate[PROCESSES_MOST];
    struct hs_region region, *regions;
    double *matrix[3]; /* of the current execution, in the region */
    char *buffers;
    int turn;
    enum rank_phase phase;
    int span;      /* of an execution in two spans */
    uint64_t told; /* last value of the falsified counter */
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
        int agrees;                         /* starts with an agreement */
        int refuses, differs;               /* the rank that votes against it, or has a different hash; -1: none */
        unsigned in_region[PROCESSES_MOST]; /* operands that others may read in place */
    } turn[TURNS_MOST];
    struct rank_state rank[PROCESSES_MOST];
    char *part[PROCESSES_MOST]; /* by rank, node by node: its matrices */
    struct scene_lie lie;
    char fault[200]; /* "": none */
};

/* Draws and makes a case with its memory; `cells`: no job is done by messages only. 0 without memory. */
int scene_make(struct scene *scene, int cells, uint64_t *random);
void scene_free(struct scene *scene);
/* The agreements of a grid; scene_agree progresses the one at the start of a turn until *done. */
int scene_agreements_make(struct scene *scene, int grid);
hsumma_status scene_agree(struct scene *scene, int rank, int *worked, int *done);
/* Resets all ranks to their first turn, before an interleaving. */
void scene_rewind(struct scene *scene);
/* Advances a rank; *done: it has completed all turns. */
hsumma_status scene_step(struct scene *scene, int rank, int *worked, int *done);
/* scene_sleeps: whether an idle rank would sleep until counters change, and which. scene_has_come: whether one of them
 * has. */
int scene_sleeps(const struct scene *scene, int rank, struct scene_awaited *until);
int scene_has_come(const struct scene_awaited *awaited);
void scene_describe_awaited(const struct scene_awaited *awaited, char *text, size_t room);
/* Describe the case, and what a rank does and waits for. */
void scene_describe(const struct scene *scene, char *text, size_t room);
void scene_describe_rank(const struct scene *scene, int rank, char *text, size_t room);

#endif
