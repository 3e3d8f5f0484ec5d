/*
 * hsumma soak: random cases, each result checked, while the resources of every process are watched.
 *
 * A case is a context over some of the ranks, with grids on which products, collective calls, redistributions and
 * allocations follow each other. All choices of case i are drawn from the seed and i, so a case can be repeated alone.
 */
#ifndef HS_BENCHMARKS_SOAK_SOAK_H
#define HS_BENCHMARKS_SOAK_SOAK_H

#include <mpi.h>
#include <stdint.h>

#include "base/hash.h"
#include "common/command.h"
#include "hsumma_coll.h"
#include "product/problem.h"

/* What a case did. */
enum {
    DID_CONTEXTS,
    DID_GRIDS,
    DID_PLANS,
    DID_PRODUCTS,
    DID_COLLECTIVES,
    DID_MOVES,
    DID_ALLOCATIONS,
    DID_REFUSED,
    DIDS
};

/* The faults of --plant. */
enum { PLANT_NOTHING, PLANT_DESCRIPTOR, PLANT_MAPPING, PLANT_MEMORY, PLANT_RESULT };

enum { SCENE_GRIDS = 3, SOAK_RANKS = 256 }; /* SOAK_RANKS: the most ranks that a run may have */

/* A running case. */
typedef struct soak_scene {
    MPI_Comm comm; /* the ranks of the case */
    int rank, size;
    uint64_t draws; /* state of the generator, the same on all ranks of the case */
    int plant;
    hsumma_context *ctx;
    hsumma_grid *grid[SCENE_GRIDS];
    int grids;
    int64_t did[DIDS];
} soak_scene;

/* A random number from 0 to below - 1, or from least to most; the same on all ranks of the case. */
static inline int64_t scene_draw(soak_scene *s, int64_t below)
{
    return (int64_t)(hs_random(&s->draws) % (uint64_t)below);
}
static inline int64_t scene_draw_from(soak_scene *s, int64_t least, int64_t most)
{
    return least + scene_draw(s, most - least + 1);
}

/* Runs case `number`; options: the library's, added to those of the case. Collective over comm, of which some ranks may
 * be idle. Adds to did[]. Returns an exit status, after an error was printed; it may differ between the ranks. */
int soak_case(uint64_t seed, int64_t number, int plant, const char *options, MPI_Comm comm, int64_t did[DIDS]);

/* The actions of a case. Collective over s->comm; an exit status, the same on all its ranks, after printing an error.
 */
int soak_product(soak_scene *s);
int soak_collectives(soak_scene *s);
int soak_move(soak_scene *s);
int soak_allocations(soak_scene *s);

/* The name of the i-th algorithm of a collective; NULL if there are fewer. */
const char *soak_algorithm(const soak_scene *s, hsumma_collective collective, int i);

#endif
