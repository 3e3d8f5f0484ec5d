/* The load of the links between nodes, if the fabric is known, when all lines of a kind run a collective. */
#ifndef HS_HSUMMA_COST_LINKS_H
#define HS_HSUMMA_COST_LINKS_H

#include "coll/model/clock.h"
#include "hsumma/cost/lines.h"

/* An algorithm on all lines that `line` represents, for vectors of elements of `unit` bytes. */
struct hs_line_use {
    struct hs_line line;
    const struct hs_alg *alg;
    struct hs_parameters with;
    int64_t unit, segment; /* segment: only for hs_price, hs_poll_rounds and hs_few_pieces */
    int pieces;            /* number of segments of a vector, if there are few (hs_few_pieces); 0: many */
    double seconds;        /* for hs_links_together: the work of the busiest link */
};

/* Whether the links between nodes are known, and those that a line uses: lists over cells need a topology, which lists
 * over nodes lack. */
static inline int hs_fabric_known(const struct hs_line_table *lines)
{
    return lines->topology && lines->topology->fabric && hs_fabric_links(lines->topology->fabric) > 0;
}
static inline int hs_links_known(const struct hs_line_table *lines, const struct hs_line *line)
{
    return hs_fabric_known(lines) && line->cells;
}

/* Finds the boxes of a torus that the cells of lines fill (hs_link_table.box), and shares the torus's dimensions among
 * both axes.  Only with cells.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_find_boxes(struct hs_line_table *lines, const struct hs_allocator *memory);

/* The number of segments of a vector, if the algorithm uses segments and they are so few, at most 3, that they may load
 * links otherwise than many; else 0.  use->segment 0: of 64 KiB. */
int hs_few_pieces(const struct hs_line_use *use, int64_t bytes);

/*
 * Sets most[i] to the bytes of the busiest link per collective and byte of it, if i + 1 collectives of each line are in
 * flight, with consecutive roots (hs_clock_load).  Sets *alone to those of the busiest link if there were only the
 * first of the lines, and one collective.  Errors: those of hs_build.
 */
hsumma_status hs_link_loads(const struct hs_line_table *lines, const struct hs_line_use *use,
                            const struct hs_allocator *memory, double most[HS_LOAD_ROOTS], double *alone);

/*
 * The work, in seconds, of the busiest link if several uses are in progress together.  It is less than the sum of
 * use[].seconds if their busiest links are not the same.  uses: at most HS_LINKS_TOGETHER.  Errors: those of hs_build.
 */
enum { HS_LINKS_TOGETHER = 3 * HS_LEVELS_MAX };
hsumma_status hs_links_together(const struct hs_line_table *lines, const struct hs_line_use *use, int uses,
                                const struct hs_allocator *memory, double *seconds);

/* Memory for the loads of all links, without loads, so that the work does not grow with unused links; the caller clears
 * it after use.  NULL if there is no memory. */
struct hs_fabric_traffic *hs_link_scratch(const struct hs_line_table *lines, const struct hs_allocator *memory);
/* The largest load; 0 if there is none. */
double hs_busiest_link(const struct hs_fabric_traffic *traffic);
/* The load of the busiest link if the loads are those of a sample of the traffic among `nodes` nodes: they are assumed
 * to be even among the links of one kind around the nodes. */
double hs_even_link(const struct hs_fabric_traffic *traffic, const struct hs_fabric *fabric, int nodes);
/* Sets all loads to 0. */
void hs_link_clear(struct hs_fabric_traffic *traffic);

/* table: NULL, or the links of a line table. */
void hs_link_table_free(struct hs_link_table *table, const struct hs_allocator *memory);

#endif
