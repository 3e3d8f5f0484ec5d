#include "coll/pattern/node_map.h"

int hs_node_map(struct hs_node_map *map, struct hs_builder *builder, const struct hs_shape *shape)
{
    const struct hs_topology *topology =
        shape->topology ? shape->topology : hs_topology_of(builder, NULL, NULL, shape->size, 0);
    *map = (struct hs_node_map){.shape = shape};
    map->begin = hs_builder_get(builder, (size_t)shape->size + 1, sizeof *map->begin);
    if (!topology || !map->begin)
        return 1;
    map->division = &topology->division[shape->with.level];
    map->shared_bytes = topology->shared_bytes;
    map->nodes = map->division->parts;
    map->node = hs_part_of(map->division, shape->rank);
    map->member = hs_part_ranks(builder, map->division, map->node);
    map->members = hs_division_size(map->division, map->node);
    map->me = hs_place_in_part(map->division, shape->rank);
    map->waves = (map->nodes - 1 + map->members - 1) / map->members;
    for (int i = 0; i < shape->size; i++)
        map->begin[i + 1] = map->begin[i] + hs_part_bytes(shape, hs_rank_by_part(map->division, i));
    return !map->member;
}

struct hs_node_step hs_node_step(const struct hs_node_map *map, int wave, int place)
{
    int64_t step = (int64_t)wave * map->members + place + 1;
    struct hs_node_step result = {-1, -1, -1, -1};
    if (step < map->nodes) {
        result.to = (int)((map->node + step) % map->nodes);
        result.from = (int)((map->node - step + map->nodes) % map->nodes);
        result.to_rank =
            hs_part_rank(map->division, result.to, (int)((step - 1) % hs_division_size(map->division, result.to)));
        result.from_rank =
            hs_part_rank(map->division, result.from, (int)((step - 1) % hs_division_size(map->division, result.from)));
    }
    return result;
}

int hs_copy_node(struct hs_builder *builder, const struct hs_node_map *map, int node, int pack, struct hs_ref vector,
                 struct hs_ref packed, int after)
{
    const struct hs_division *division = map->division;
    for (int i = hs_ranks_before(division, node); i < hs_ranks_before(division, node + 1);) {
        int run = i + 1; /* consecutive ranks need one copy */
        while (run < hs_ranks_before(division, node + 1) &&
               hs_rank_by_part(division, run) == hs_rank_by_part(division, run - 1) + 1)
            run++;
        struct hs_ref in_vector = hs_plus(vector, hs_part_at(map->shape, hs_rank_by_part(division, i)));
        struct hs_ref in_packed = hs_plus(packed, map->begin[i] - hs_node_span(map, node).at);
        int copy = hs_emit_copy(builder, pack ? in_packed : in_vector, pack ? in_vector : in_packed,
                                map->begin[run] - map->begin[i], after);
        if (copy >= 0)
            after = copy;
        i = run;
    }
    return after;
}
