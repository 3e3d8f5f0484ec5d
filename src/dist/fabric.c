#include "dist/fabric.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* --- links -------------------------------------------------------------------------------------------------------- */

/* Number of links from a level of a tree up to the next. */
static double links_up(const struct hs_fabric *fabric, int level)
{
    double links = fabric->positions;
    for (int l = 0; l <= level; l++)
        links *= fabric->parents[l] / (l < level ? (double)fabric->extent[l] : 1);
    return links;
}

static double count_links(const struct hs_fabric *fabric)
{
    const int *extent = fabric->extent;
    double links = 0;
    switch (fabric->kind) {
    case HS_TORUS:
        return 2.0 * fabric->dims * fabric->positions;
    case HS_SWITCH_TREE:
        for (int l = 0; l < fabric->dims; l++)
            links += 2 * links_up(fabric, l);
        return links;
    case HS_DRAGONFLY:
        links = (double)extent[0] * extent[1] * extent[2];
        return 2.0 * fabric->positions + links * (extent[2] + extent[1]) + (double)extent[0] * extent[0];
    case HS_HOST_ROW:
        break;
    }
    return 0;
}

int hs_fabric_links(const struct hs_fabric *fabric)
{
    return (int)count_links(fabric);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Reads "4x4x2" into number[], at most HS_FABRIC_DIMS of them; returns how many, or -1. */
static int read_numbers(const char **text, int number[HS_FABRIC_DIMS])
{
    const char *at = *text;
    int count = 0;
    do {
        char *end;
        if (*at < '1' || *at > '9' || count == HS_FABRIC_DIMS)
            return -1;
        long read = strtol(at, &end, 10);
        if (read > HS_FABRIC_POSITIONS)
            return -1;
        number[count++] = (int)read;
        at = end;
    } while (*at++ == 'x');
    *text = at - 1;
    return count;
}

/* Reads "/2x1" with `expected` numbers, which are 1 if there is no '/'; -1 if it is wrong. */
static int read_more(const char **text, int expected, int number[HS_FABRIC_DIMS])
{
    for (int i = 0; i < HS_FABRIC_DIMS; i++)
        number[i] = 1;
    if (**text != '/')
        return 0;
    ++*text;
    return read_numbers(text, number) == expected ? 0 : -1;
}

size_t hs_fabric_name(const char *text, enum hs_fabric_kind *kind)
{
    static const char *const names[] = {[HS_TORUS] = "torus", [HS_SWITCH_TREE] = "tree", [HS_DRAGONFLY] = "dragonfly"};
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(text, names[i], length) == 0) {
            *kind = (enum hs_fabric_kind)i;
            return length;
        }
    return 0;
}

int hs_fabric_read(const char *name, const char **shape, struct hs_fabric *fabric)
{
    enum { CHASSIS_DIMS = 4, LINK_DIMS = 3 };
    const char *at = *shape;
    *fabric = (struct hs_fabric){.positions = 1};
    if (!hs_fabric_name(name, &fabric->kind) || (fabric->dims = read_numbers(&at, fabric->extent)) < 0)
        return -1;
    for (int d = 0; d < fabric->dims; d++) {
        if (fabric->extent[d] > HS_FABRIC_POSITIONS / fabric->positions)
            return -1;
        fabric->positions *= fabric->extent[d];
    }
    if (fabric->kind == HS_SWITCH_TREE &&
        (read_more(&at, fabric->dims, fabric->parents) || read_more(&at, fabric->dims, fabric->cables)))
        return -1;
    if (fabric->kind == HS_DRAGONFLY && (fabric->dims != CHASSIS_DIMS || fabric->extent[0] > fabric->extent[2] ||
                                         read_more(&at, LINK_DIMS, fabric->cables)))
        return -1;
    *shape = at;
    return count_links(fabric) > HS_FABRIC_LINKS ? -1 : 0;
}

uint64_t hs_fabric_hash(uint64_t hash, const struct hs_fabric *fabric)
{
    hash = hs_mix(hash, (uint64_t)fabric->kind);
    for (int d = 0; d < fabric->dims; d++)
        hash = hs_mix(hs_mix(hs_mix(hash, (uint64_t)fabric->extent[d]), (uint64_t)fabric->parents[d]),
                      (uint64_t)fabric->cables[d]);
    return hash;
}

int hs_fabric_link_kind(const struct hs_fabric *fabric, int link, int *count)
{
    const int *extent = fabric->extent;
    if (fabric->kind == HS_TORUS) {
        *count = fabric->positions;
        return link % (2 * fabric->dims);
    }
    if (fabric->kind == HS_SWITCH_TREE) {
        int level = 0;
        while (link >= 2 * (*count = (int)links_up(fabric, level))) {
            link -= 2 * *count;
            level++;
        }
        return 2 * level + link % 2;
    }
    int routers = extent[0] * extent[1] * extent[2];
    int last[] = {2 * fabric->positions, routers * extent[2], routers * extent[1], extent[0] * extent[0]};
    int kinds[] = {fabric->positions, routers * (extent[2] - 1), routers * (extent[1] - 1),
                   extent[0] * (extent[0] - 1)}; /* no router is linked to itself */
    int kind = 0;
    while (kind < 3 && link >= last[kind])
        link -= last[kind++];
    *count = kinds[kind];
    return kind == 0 ? link % 2 : kind + 1;
}

/* --- routes ------------------------------------------------------------------------------------------------------- */

/* A link of a tree is its lower end's, up [0] and down [1]. */
static void route_in_tree(const struct hs_fabric *fabric, int from, int to, double amount,
                          struct hs_fabric_traffic *traffic)
{
    int below = 1, ways = 1, first = 0; /* ways: number of switches of the level above the same nodes */
    for (int l = 0; l < fabric->dims && from / below != to / below; l++) {
        int parents = fabric->parents[l], parent = to / ways % parents;
        int up = (from / below * ways + to % ways) * parents + parent;
        int down = (to / below * ways + to % ways) * parents + parent;
        hs_fabric_add(traffic, first + 2 * up, amount / fabric->cables[l]);
        hs_fabric_add(traffic, first + 2 * down + 1, amount / fabric->cables[l]);
        first += 2 * (fabric->positions / below * ways * parents);
        below *= fabric->extent[l];
        ways *= parents;
    }
}

/* A router of a dragonfly. */
struct router {
    int group, chassis, number;
};

/* Goes from a router to another one of its group: to that number in its chassis, then to that chassis. */
static void go_to(const struct hs_fabric *fabric, struct router from, int chassis, int number, double amount,
                  struct hs_fabric_traffic *traffic)
{
    int all = fabric->extent[1], routers = fabric->extent[2], green = 2 * fabric->positions,
        black = green + fabric->extent[0] * all * routers * routers;
    if (from.number != number)
        hs_fabric_add(traffic, green + ((from.group * all + from.chassis) * routers + from.number) * routers + number,
                      amount / fabric->cables[2]);
    if (from.chassis != chassis)
        hs_fabric_add(traffic, black + ((from.group * routers + number) * all + from.chassis) * all + chassis,
                      amount / fabric->cables[1]);
}

static struct router router_of(const struct hs_fabric *fabric, int position)
{
    const int *extent = fabric->extent;
    int router = position / extent[3];
    return (struct router){router / extent[2] / extent[1], router / extent[2] % extent[1], router % extent[2]};
}

/* Links of a dragonfly: up from and down to each node, then those between routers of a chassis, between chassis, and
 * between groups. */
static void route_in_dragonfly(const struct hs_fabric *fabric, int from, int to, double amount,
                               struct hs_fabric_traffic *traffic)
{
    const int *extent = fabric->extent;
    int blue = 2 * fabric->positions + extent[0] * extent[1] * extent[2] * (extent[2] + extent[1]);
    struct router at = router_of(fabric, from), end = router_of(fabric, to);
    if (from == to)
        return;
    hs_fabric_add(traffic, 2 * from, amount);
    hs_fabric_add(traffic, 2 * to + 1, amount);
    if (at.group != end.group) {
        go_to(fabric, at, 0, end.group, amount, traffic);
        hs_fabric_add(traffic, blue + at.group * extent[0] + end.group, amount / fabric->cables[0]);
        at = (struct router){end.group, 0, at.group};
    }
    go_to(fabric, at, end.chassis, end.number, amount, traffic);
}

int hs_fabric_coordinate(const struct hs_fabric *fabric, int dim, int position)
{
    for (int d = 0; d < dim; d++)
        position /= fabric->extent[d];
    return position % fabric->extent[dim];
}

/* The distance from one coordinate to another, with its sign; half of the ring counts as forward. */
static int distance(int extent, int from, int to)
{
    int forward = to < from ? to - from + extent : to - from;
    return 2 * forward <= extent ? forward : forward - extent;
}

int hs_fabric_hops(const struct hs_fabric *fabric, int from, int to)
{
    int hops = 0;
    for (int d = 0; d < fabric->dims; d++)
        hops += abs(
            distance(fabric->extent[d], hs_fabric_coordinate(fabric, d, from), hs_fabric_coordinate(fabric, d, to)));
    return hops;
}

static void route_in_torus(const struct hs_fabric *fabric, int from, int to, double amount,
                           struct hs_fabric_traffic *traffic)
{
    int stride = 1, source = from, target = to; /* their coordinates from d on */
    for (int d = 0; d < fabric->dims; d++) {
        int extent = fabric->extent[d], here = source % extent;
        int left = distance(extent, here, target % extent), step = left < 0 ? -1 : 1;
        for (; left != 0; left -= step) {
            hs_fabric_add(traffic, 2 * (from * fabric->dims + d) + (step < 0), amount);
            int next = here + step == extent ? 0 : here + step < 0 ? extent - 1 : here + step;
            from += (next - here) * stride;
            here = next;
        }
        stride *= extent;
        source /= extent;
        target /= extent;
    }
}

void hs_fabric_route(const struct hs_fabric *fabric, int from, int to, double amount, struct hs_fabric_traffic *traffic)
{
    if (fabric->kind == HS_TORUS)
        route_in_torus(fabric, from, to, amount, traffic);
    else if (fabric->kind == HS_SWITCH_TREE)
        route_in_tree(fabric, from, to, amount, traffic);
    else if (fabric->kind == HS_DRAGONFLY)
        route_in_dragonfly(fabric, from, to, amount, traffic);
}
