/*
 * A case: jobs on overlapping grids, which all ranks execute in a sequence of turns; each rank is an object of this
 * process. A rank starts its next turn as soon as it has finished its part in the current one, so ranks may be several
 * turns apart.
 */
#ifndef HS_TESTS_INTERLEAVE_SCENE_H
#define HS_TESTS_INTERLEAVE_SCENE_H

#include "coll/run/agree.h"
#include "interleave/job.h"
#include "interleave/pool.h"
#include "summa/messages/loop.h"
#include "summa/node/node.h"

enum { GRIDS_MOST = 2, JOBS_MOST = 3, TURNS_MOST = 5, SCENE_TEXT = 2000 };

/* Falsifies a counter of the directory: if `lies` is set, ranks raise the counter one step early, so other ranks stop
 * waiting too early. */
struct scene_lie {
    int lies;
    int counter;
};

/* The state of one process in a job: a loop over messages for each spec, or the product inside one node. */
struct seat {
    struct hs_problem problem;
    struct hs_loop loop[2];
    struct hs_node_product node;
};

struct scene_grid {
    int extent[2], rank[PROCESSES_MOST];
    int votes_in_memory; /* nonzero: agreements use the directories of nodes; 0: messages */
};

/* The phases of a rank within one turn, in order. */
enum rank_phase { RANK_BEFORE, RANK_AGREES, RANK_AGREED, RANK_MULTIPLIES };

struct rank_state {
    struct hs_comm comm;
    struct hs_product_memory memory[GRIDS_MOST];
    struct hs_agreement agreement[GRIDS_MOST];
    int mate[PROCESSES_MOST]; /* the ranks of its node */
    struct hs_region region, *regions;
    double *matrix[3]; /* A, B and C of the current execution, in the region */
    char *buffers;
    int turn;
    enum rank_phase phase;
    int span;      /* 0 or 1: the current span of an execution in two spans */
    uint64_t told; /* last value of the falsified counter, one above the true value */
};

/* The directory counters that a rank waits for. */
struct scene_awaited {
    const struct hs_directory_entry *entry;
    struct hs_awaited word[HS_AWAITED];
    int words;
};

struct scene {
    int ranks, grids;
    struct scene_grid grid[GRIDS_MOST];
    int nodes, node[PROCESSES_MOST]; /* node[r]: the node of rank r */
    struct hs_topology topology;
    int jobs, turns, grid_of[JOBS_MOST];
    struct job job[JOBS_MOST];
    struct seat *seat[JOBS_MOST];
    struct {
        int job, set, spans;
        int agrees;           /* nonzero: the turn starts with an agreement */
        int refuses, differs; /* refuses: a rank that votes no; differs: a rank whose hash differs; -1: none */
        unsigned in_region[PROCESSES_MOST]; /* per rank: mask of the operands that others read in place */
    } turn[TURNS_MOST];
    struct rank_state rank[PROCESSES_MOST];
    /* The memory for the matrices of each rank, node by node: that of rank member[i] of the topology's division is
     * part[i]. */
    char *part[PROCESSES_MOST];
    struct scene_lie lie;
    char fault[200]; /* the first error; "" if there is none */
};

/* Draws a case and allocates its memory. With `cells` there is one grid, and in every job the members of a cell share
 * panels. Returns 0 if memory is exhausted. */
int scene_make(struct scene *scene, int cells, uint64_t *random);
void scene_free(struct scene *scene);
/* scene_agreements_make prepares the agreements of a grid. scene_agree progresses a rank's agreement at the start of
 * its turn; *done is set when it is complete. */
int scene_agreements_make(struct scene *scene, int grid);
hsumma_status scene_agree(struct scene *scene, int rank, int *worked, int *done);
/* Resets all ranks to their first turn; called before each interleaving. */
void scene_rewind(struct scene *scene);
/* Advances a rank by one step; *done is set when it has completed all turns. */
hsumma_status scene_step(struct scene *scene, int rank, int *worked, int *done);
/* scene_sleeps: whether an idle rank would sleep until counters change; lists these counters in *until. scene_has_come:
 * whether one of the listed counters has reached its awaited value. */
int scene_sleeps(const struct scene *scene, int rank, struct scene_awaited *until);
int scene_has_come(const struct scene_awaited *awaited);
void scene_describe_awaited(const struct scene_awaited *awaited, char *text, size_t room);
/* Describe the case, and the state of one rank. */
void scene_describe(const struct scene *scene, char *text, size_t room);
void scene_describe_rank(const struct scene *scene, int rank, char *text, size_t room);

#endif
