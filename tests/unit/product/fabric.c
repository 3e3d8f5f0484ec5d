/*
 * Fabrics: hops against a breadth-first search, routes against conservation of flow, the order of nodes against a walk
 * of unit steps, and the files that describe them.
 */
#include "dist/fabric.h"
#include "base/options.h"
#include "dist/fabric_file.h"
#include "support/product/torus.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 512 };

static const char *const tori[] = {"1",     "2",     "5",     "4x4",     "3x5",        "2x2x2",
                                   "4x4x4", "8x8x8", "3x1x4", "2x3x2x3", "2x2x2x2x2x2"};
enum { TORI = sizeof tori / sizeof *tori };

/* The position that is `step` further along a dimension. */
static int neighbour(const struct hs_fabric *fabric, int position, int dim, int step)
{
    int stride = 1;
    for (int d = 0; d < dim; d++)
        stride *= fabric->extent[d];
    int extent = fabric->extent[dim], here = position / stride % extent;
    return position + ((here + step + extent) % extent - here) * stride;
}

/* Sets distance[] to the number of links from a position, by a breadth-first search. */
static void search(const struct hs_fabric *fabric, int from, int *distance)
{
    int queue[MOST], first = 0, behind = 1;
    for (int i = 0; i < fabric->positions; i++)
        distance[i] = -1;
    queue[0] = from;
    distance[from] = 0;
    while (first < behind) {
        int at = queue[first++];
        for (int link = 0; link < 2 * fabric->dims; link++) {
            int next = neighbour(fabric, at, link / 2, link % 2 ? -1 : 1);
            if (distance[next] < 0) {
                distance[next] = distance[at] + 1;
                queue[behind++] = next;
            }
        }
    }
}

/* The violations of a route: what leaves each position minus what enters it, and the number of links. */
static int wrong_route(const struct hs_fabric *fabric, int from, int to)
{
    static double load[2 * HS_FABRIC_DIMS * MOST]; /* of one thread */
    static int link[2 * HS_FABRIC_DIMS * MOST];
    struct hs_fabric_traffic traffic = {load, link, 0};
    double surplus[MOST] = {0}, links = 0;
    int wrong = 0;
    memset(load, 0, sizeof load);
    hs_fabric_route(fabric, from, to, 0.25, &traffic);
    hs_fabric_route(fabric, from, to, 0.25, &traffic);
    for (int i = 0; i < traffic.links; i++)
        wrong += load[link[i]] != 0.5;
    for (int i = 0; i < hs_fabric_links(fabric); i++) {
        int at = i / 2 / fabric->dims, next = neighbour(fabric, at, i / 2 % fabric->dims, i % 2 ? -1 : 1);
        surplus[at] += load[i];
        surplus[next] -= load[i];
        links += load[i] / 0.5;
        wrong += load[i] != 0 && load[i] != 0.5;
    }
    for (int i = 0; i < fabric->positions; i++)
        wrong += surplus[i] != (from == to ? 0 : i == from ? 0.5 : i == to ? -0.5 : 0);
    return wrong + (links != hs_fabric_hops(fabric, from, to)) + (links != traffic.links);
}

static void routes(void)
{
    for (int t = 0; t < TORI; t++) {
        struct hs_fabric fabric = torus_of(tori[t]);
        int distance[MOST], wrong = 0;
        for (int from = 0; from<fabric.positions; from += fabric.positions> 100 ? 37 : 1) {
            search(&fabric, from, distance);
            for (int to = 0; to < fabric.positions; to++)
                wrong += hs_fabric_hops(&fabric, from, to) != distance[to] || wrong_route(&fabric, from, to);
        }
        tap_ok(wrong == 0, "torus %s: routes are connected, and as short as a breadth-first search finds them",
               tori[t]);
    }
}

static int is_permutation(const int *order, int count)
{
    unsigned char seen[MOST] = {0};
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += order[i] < 0 || order[i] >= count || seen[order[i]]++;
    return wrong == 0;
}

static int hops_around(const struct hs_fabric *fabric, const int *position, const int *order, int count)
{
    int hops = 0;
    for (int i = 0; i < count; i++)
        hops += hs_fabric_hops(fabric, position[order ? order[i] : i],
                               position[order ? order[(i + 1) % count] : (i + 1) % count]);
    return hops;
}

/* Whole tori, of which each step of the order is one link if an extent is even, except perhaps the last. */
static void whole(void)
{
    static const char *const even[] = {"2", "8", "4x4", "4x6", "2x2x2", "4x4x4", "8x8x8", "4x3x2", "2x2x2x2x2x2"};
    for (size_t t = 0; t < sizeof even / sizeof *even; t++) {
        struct hs_fabric fabric = torus_of(even[t]);
        int position[MOST], order[MOST], scratch[MOST];
        for (int i = 0; i < fabric.positions; i++)
            position[i] = (i * 5 + 3) % fabric.positions; /* the order must not depend on that of the list */
        int is_mixed = fabric.positions % 5 != 0, hops = 0;
        for (int line = 0; line < 4; line++) {
            hs_fabric_order(&fabric, position, fabric.positions, (struct hs_fabric_line){line, 4, line}, order,
                            scratch);
            hops +=
                is_permutation(order, fabric.positions) ? hops_around(&fabric, position, order, fabric.positions) : 0;
        }
        tap_ok(is_mixed && hops == 4 * fabric.positions, "torus %s: four walks around it take %d steps; expected %d",
               even[t], hops, 4 * fabric.positions);
    }
}

/* Lists of positions at random: never worse than their own order. */
static void parts(void)
{
    int wrong = 0, longer = 0, lists = 0;
    for (; lists < 2000; lists++) {
        struct hs_fabric fabric = torus_of(tori[draw(TORI)]);
        int position[MOST], order[MOST], scratch[MOST], count = 1 + draw(40);
        for (int i = 0; i < count; i++)
            position[i] = draw(fabric.positions); /* may repeat */
        hs_fabric_order(&fabric, position, count, (struct hs_fabric_line){draw(100), 4, draw(4)}, order, scratch);
        wrong += !is_permutation(order, count);
        longer += hops_around(&fabric, position, order, count) > hops_around(&fabric, position, NULL, count);
    }
    tap_ok(wrong == 0, "the order of %d random lists is a permutation", lists);
    tap_ok(longer < lists / 20, "and seldom has more hops than the list: %d have", longer);
}

/* Adds half of a panel each way round the nodes of a line: from `first` on, `step` apart. */
static void go_round(const struct hs_fabric *fabric, int first, int step, int count, struct hs_fabric_line line,
                     double panel, double *load)
{
    struct hs_fabric_traffic traffic = {.load = load};
    int position[64], order[64], scratch[64];
    for (int i = 0; i < count; i++)
        position[i] = first + step * i;
    hs_fabric_order(fabric, position, count, line, order, scratch);
    for (int i = 0; i < count; i++) {
        int at = position[order[i]], next = position[order[(i + 1) % count]];
        hs_fabric_route(fabric, at, next, panel / 2, &traffic);
        hs_fabric_route(fabric, next, at, panel / 2, &traffic);
    }
}

/*
 * The rows and columns of a grid in row order on nodes with 4 processes each.  Four columns are on the same nodes, so
 * with all of them along the same dimension a link carries half of each column's panel, 2 panels.
 *
 * 8x8x8 nodes: a column is on every other plane of the nodes of one x.  If all columns turned at the same node, a link
 * between planes would carry all panels of eight columns.  A row's panel is twice as long.  4x4x4 nodes: a column is
 * on a whole plane; two columns go through each dimension and two turn, one of them at a time.
 */
static void turns(const char *torus, int rows, int columns, double panel_of_row, double limit)
{
    struct hs_fabric fabric = torus_of(torus);
    double *load = calloc((size_t)hs_fabric_links(&fabric), sizeof *load), most = 0;
    for (int c = 0; load && c < columns; c++)
        go_round(&fabric, c / 4, columns / 4, rows, (struct hs_fabric_line){c, 4, c % 4}, 1, load);
    for (int r = 0; load && r < rows; r++)
        go_round(&fabric, r * columns / 4, 1, columns / 4, (struct hs_fabric_line){r, 1, 0}, panel_of_row, load);
    for (int i = 0; load && i < hs_fabric_links(&fabric); i++)
        most = load[i] > most ? load[i] : most;
    tap_ok(load && most <= limit, "%d x %d on %s: the busiest link carries %g panels; limit %g", rows, columns, torus,
           most, limit);
    free(load);
}

static void texts(void)
{
    static const char *const wrong[] = {"", "0", "x", "4x", "4x0", "-4", "4x4x4x4x4x4x4", "1048577", "1024x1025", " 4"};
    struct hs_fabric fabric;
    int accepted = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *text = wrong[i];
        accepted += hs_fabric_read("torus", &text, &fabric) == 0;
    }
    tap_ok(accepted == 0, "wrong extents are refused");
    const char *text = "8x3x2,x";
    int status = hs_fabric_read("torus", &text, &fabric);
    tap_ok(!status && fabric.dims == 3 && fabric.positions == 48 && fabric.extent[1] == 3 && strcmp(text, ",x") == 0,
           "8x3x2 is read up to the comma");
}

/* Reads "tree:4x4" and the like. */
static struct hs_fabric fabric_of(const char *word)
{
    struct hs_fabric fabric;
    const char *shape = strchr(word, ':') + 1;
    if (hs_fabric_read(word, &shape, &fabric) || *shape)
        tap_ok(0, "%s is read", word);
    return fabric;
}

/* The loads of one message of amount 1: their number, sum, and the largest. */
struct loads {
    int links;
    double sum, most;
};
static struct loads loads_of(const struct hs_fabric *fabric, int from, int to)
{
    static double load[1 << 12]; /* of one thread */
    static int link[1 << 12];
    struct hs_fabric_traffic traffic = {load, link, 0};
    struct loads found = {0};
    memset(load, 0, sizeof load);
    hs_fabric_route(fabric, from, to, 1, &traffic);
    found.links = traffic.links;
    for (int i = 0; i < traffic.links; i++) {
        found.links += link[i] < 0 || link[i] >= hs_fabric_links(fabric) ? 1000 : 0;
        found.sum += load[link[i]];
        found.most = load[link[i]] > found.most ? load[link[i]] : found.most;
    }
    return found;
}

/* Trees and dragonflies: lengths of routes, cables, and messages that share links.  SimGrid confirms the links
 * (tests/sim/links.c). */
static void switches(void)
{
    static const struct {
        const char *word;
        int from, to, links;
        double sum;
    } rows[] = {
        {"tree:4x4", 0, 0, 0, 0},
        {"tree:4x4", 0, 3, 2, 2},
        {"tree:4x4", 0, 4, 4, 4},
        {"tree:4x4/1x2", 15, 2, 4, 4},
        {"tree:4x4/1x2/1x4", 15, 2, 4, 2.5},
        {"tree:2x3x2/1x2x2", 0, 11, 6, 6},
        {"tree:2x3x2/1x2x2", 6, 11, 4, 4},
        {"dragonfly:3x4x4x2", 0, 0, 0, 0},
        {"dragonfly:3x4x4x2", 0, 1, 2, 2},            /* one router */
        {"dragonfly:3x4x4x2", 0, 7, 3, 3},            /* routers 0 and 3 of a chassis */
        {"dragonfly:3x4x4x2", 0, 8, 3, 3},            /* router 0 of two chassis */
        {"dragonfly:3x4x4x2", 0, 31, 4, 4},           /* and another one */
        {"dragonfly:3x4x4x2", 2, 32, 3, 3},           /* both routers have the link between groups 0 and 1 */
        {"dragonfly:3x4x4x2", 31, 95, 7, 7},          /* two links before, two behind */
        {"dragonfly:3x4x4x2/2x4x8", 31, 95, 7, 3.25}, /* 2 + 1/2 + 2/4 + 2/8 */
        {"dragonfly:3x4x4x2/2x4x8", 95, 31, 7, 3.25},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hs_fabric fabric = fabric_of(rows[i].word);
        struct loads found = loads_of(&fabric, rows[i].from, rows[i].to);
        if (!tap_ok(found.links == rows[i].links && found.sum == rows[i].sum, "%s: from %d to %d", rows[i].word,
                    rows[i].from, rows[i].to))
            tap_diag("%d links, %g in all; expected %d, %g", found.links, found.sum, rows[i].links, rows[i].sum);
    }
    /* all nodes of a leaf to the next leaf: a link up carries 4 messages, or 2 of 2 parents, or 1 of 4 */
    for (int parents = 1; parents <= 4; parents *= 2) {
        char word[40];
        snprintf(word, sizeof word, "tree:4x4/1x%d", parents);
        struct hs_fabric fabric = fabric_of(word);
        double *load = calloc((size_t)hs_fabric_links(&fabric), sizeof *load), most = 0;
        for (int i = 0; load && i < 4; i++)
            hs_fabric_route(&fabric, i, 4 + i, 1, &(struct hs_fabric_traffic){.load = load});
        for (int i = 0; load && i < hs_fabric_links(&fabric); i++)
            most = load[i] > most ? load[i] : most;
        tap_ok(most == 4.0 / parents, "%s: the busiest link has %g of 4 messages", word, most);
        free(load);
    }
    static const char *const kinds[] = {"torus:4x3x2", "tree:2x3x2/1x2x2", "tree:5", "dragonfly:3x4x4x2",
                                        "dragonfly:1x1x1x3"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct hs_fabric fabric = fabric_of(kinds[i]);
        int links = hs_fabric_links(&fabric), met[HS_FABRIC_LINK_KINDS] = {0}, wrong = 0, count;
        for (int l = 0; l < links; l++)
            met[hs_fabric_link_kind(&fabric, l, &count)]++;
        for (int l = 0; l < links; l++) { /* a dragonfly numbers links of routers to themselves, which do not exist */
            int kind = hs_fabric_link_kind(&fabric, l, &count);
            wrong += fabric.kind == HS_DRAGONFLY && kind > 1 ? met[kind] <= count : met[kind] != count;
        }
        tap_ok(!wrong, "%s: kinds of %d links", kinds[i], links);
    }
    struct hs_fabric fabric = fabric_of("tree:4x4");
    int position[MOST], order[MOST], scratch[MOST], sorted = 1;
    for (int i = 0; i < MOST; i++)
        position[i] = i * 7 % 16;
    hs_fabric_order(&fabric, position, MOST, (struct hs_fabric_line){0, 1, 0}, order, scratch);
    for (int i = 1; i < MOST; i++)
        sorted &= position[order[i - 1]] < position[order[i]] ||
                  (position[order[i - 1]] == position[order[i]] && order[i - 1] < order[i]);
    tap_ok(sorted && is_permutation(order, MOST), "nodes below one switch are neighbours");
    static const char *const wrong[] = {"tree:4x4/1",      "tree:4x4/1x2x1",
                                        "tree:4x4/1x2/1",  "tree:4x4/",
                                        "dragonfly:3x4x4", "dragonfly:5x4x4x2",
                                        "tree:4x4/1x0",    "dragonfly:3x4x4x2/1x1",
                                        "torus:4x4/1x1",   "dragonfly:3x4x4x2/1x1x1/1",
                                        "trees:4x4",       "tree:1024x1024/1024x1024"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *shape = strchr(wrong[i], ':') + 1;
        tap_ok(hs_fabric_read(wrong[i], &shape, &fabric) || *shape, "%s is refused", wrong[i]);
    }
    static const char *const names[] = {"torus:", "tree:", "dragonfly:", "ring:", "tori:", "trees:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        enum hs_fabric_kind kind;
        tap_ok((hs_fabric_name(names[i], &kind) > 0) == (i < 3) && hs_is_fabric(names[i]) == (i < 3),
               "%s is %sa fabric, for the option topology, too", names[i], i < 3 ? "" : "not ");
    }
    const struct hs_fabric trees[] = {fabric_of("tree:4x4"), fabric_of("tree:4x4/1x2"), fabric_of("tree:4x4/1x4")};
    tap_ok(hs_fabric_hash(1, &trees[0]) != hs_fabric_hash(1, &trees[1]) &&
               hs_fabric_hash(1, &trees[0]) != hs_fabric_hash(1, &trees[2]) &&
               hs_fabric_hash(1, &trees[1]) != hs_fabric_hash(1, &trees[2]),
           "trees with other links have other hashes");
}

static void files(void)
{
    static const struct {
        const char *text, *host;
        int position, positions; /* -1: the host is not there */
    } rows[] = {
        {"torus 2x2\na b c d\n", "c", 2, 4},
        {"torus 2x2\na,b\nc\n", "c", 2, 4},
        {"# a machine\n\ntorus 4x2 # links\nn[0-3],n[10-12] # hosts\nlogin\n", "n11", 5, 8},
        {"torus 4x2\nn[0-3],n[10-12]\nlogin", "login", 7, 8},
        {"torus 16\nn[08-11]-ib,m[1,3,5-6]x", "n09-ib", 1, 16},
        {"torus 16\nn[08-11]-ib,m[1,3,5-6]x", "m5x", 6, 16},
        {"torus 16\nn[08-11]", "n9", -1, 16},
        {"torus 2\na.example.org,b.example.org", "b", 1, 2},
        {"torus 2\na,b", "b.example.org", 1, 2},
        {"torus 2\na,b", "bb", -1, 2},
        {"torus 3\ra\tb\rc", "c", 2, 3},
        {"torus 3\na , b,\nc", "c", 2, 3},
        {"tree 4x2/1x2\nn[0-7]", "n5", 5, 8},
        {"dragonfly\t2x2x2x1/1x1x1 # links\nn[0-7]", "n5", 5, 8},
        {"SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-3]\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[4-7]\n"
         "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-7] Switches=s[0-1]\n",
         "n5", 5, 8},
        {"SwitchName=top Level=1 Nodes=n[0-3] Switches=s[0-1]\nSwitchName=s0 Nodes=n[2-3]\nSwitchName=s1 Nodes=n[0-1]",
         "n0", 2, 4},
    };
    static const struct {
        const char *text, *word;
    } wrong[] = {
        {"", "line 1"},
        {"ring 4\na", "line 1, \"ring 4\""},
        {"torus\n", "expected a fabric such as torus:8x8x8"},
        {"torus 4xx\na", "expected a fabric such as torus:8x8x8"},
        {"tree 4x2/1\na", "expected a fabric such as torus:8x8x8"},
        {"dragonfly 4x2\na", "expected a fabric such as torus:8x8x8"},
        {"trees 4x2\na", "line 1, \"trees 4x2\""},
        {"torus 4\nb\ntree 2\nc", "line 3, \"tree 2\""},
        {"torus 2\na b c", "has 3 hosts; expected at most 2"},
        {"torus 4\n", "no hosts"},
        {"torus 4\na\nb[1-", "line 3, \"b[1-\""},
        {"torus 4\nb[2-1]", "names of hosts"},
        {"torus 4\nb[]", "names of hosts"},
        {"torus 4\nb[1-2]c[3]", "names of hosts"},
        {"torus 4\nb[0-]", "names of hosts"},
        {"torus 4\nb[1-+2]", "names of hosts"},
        {"torus 4\nb[1-\n2]", "names of hosts"},
        {"torus 4\nb\ntorus 2\nc", "line 3, \"torus 2\""},
        {"torus 4\nb SwitchName=c", "names of hosts"},
        {"SwitchName=s0 Nodes=(null)", "Nodes=HOSTS"},
        {"torus 4\na b a", "host a twice"},
        {"SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c,a", "host a twice"},
        {"SwitchName=s0 Nodes=b[0-1048576]", "more than 1048576"},
        {"torus 4\n,b", "names of hosts"},
        {"torus 4\nb[1-2x]", "names of hosts"},
        {"torus 4\nb[0-99999999999]", "names of hosts"},
        {"SwitchName=s0 Level=0\n", "line 1"},
        {"SwitchName=s0 Nodes=\n", "line 1"},
        {"SwitchName=s0 Nodes=a\nrubbish\n", "line 2, \"rubbish\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hs_fabric fabric = {0};
        struct hs_message message = {""};
        int position = -2;
        hsumma_status status = hs_fabric_parse(rows[i].text, rows[i].host, &fabric, &position, &message);
        if (!tap_ok(!status && position == rows[i].position && fabric.positions == rows[i].positions,
                    "file %d: host %s", (int)i, rows[i].host))
            tap_diag("position %d of %d: %s", position, fabric.positions, message.text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct hs_fabric fabric = {0};
        struct hs_message message = {""};
        int position = -2;
        hsumma_status status = hs_fabric_parse(wrong[i].text, "a", &fabric, &position, &message);
        if (!tap_ok(status == HSUMMA_ERR_OPTION && strstr(message.text, wrong[i].word), "wrong file %d says %s", (int)i,
                    wrong[i].word))
            tap_diag("status %d: %s", (int)status, message.text);
    }
}

int main(void)
{
    routes();
    whole();
    parts();
    turns("8x8x8", 32, 64, 2, 2);
    turns("4x4x4", 16, 16, 1, 1.5);
    texts();
    switches();
    files();
    return tap_done();
}
