/*
 * MPI steps, in which MPI or the network performs a stage: the proof finds steps that do not belong together, and the
 * clock's price is a closed form.
 */
#include "coll/schedule/lists.h"
#include "support/coll/sweep.h"
#include "support/tap.h"

#include <math.h>

enum { NODES = 3, MEMBERS = 4, RANKS = NODES * MEMBERS };

static struct hs_topology topology;

static struct hs_shape shape_of(enum hs_collective collective, int64_t bytes)
{
    return (struct hs_shape){.size = RANKS,
                             .bytes = bytes,
                             .unit = 8,
                             .topology = &topology,
                             .with = {.outer = hs_alg_find(collective, "mpi")}};
}

static int all_joints(const struct hs_list *list, int size)
{
    int joints = 0;
    for (int r = 0; r < RANKS; r++)
        for (int j = 0; j < list[r].joints; j++) {
            const struct hs_joint *joint = &list[r].joint[j];
            for (int i = 0; i < joint->size; i++)
                joints -= 1000 * (joint->size != size || hs_joint_rank(joint, i) / MEMBERS != i);
            joints++;
        }
    return joints;
}

/* What a planted error changes on the last leader of the first group of leaders. */
enum fault { NONE, SHORTER, LATER, ALONE, EARLY, FAULTS };

static void plant(struct hs_list *list, enum fault fault)
{
    int first = -1, second = -1;
    struct hs_list *mine = &list[RANKS - MEMBERS];
    for (int i = mine->steps - 1; i >= 0; i--)
        if (mine->step[i].kind == HS_MPI) {
            second = first;
            first = i;
        }
    if (fault == SHORTER)
        mine->step[first].count -= 8;
    if (fault == LATER) { /* the two pieces in the other order */
        struct hs_step swap = mine->step[first];
        mine->step[first].left = mine->step[second].left;
        mine->step[first].dst = mine->step[second].dst;
        mine->step[second].left = swap.left;
        mine->step[second].dst = swap.dst;
    }
    if (fault == ALONE) /* dst and left stay unused */
        mine->step[first].kind = HS_JOIN;
    if (fault == EARLY)
        mine->step[first].deps = 0;
}

static void test_proof(int64_t room)
{
    static const char *const names[FAULTS] = {"right", "a shorter step", "steps in another order",
                                              "a step without mate", "a step that waits for nothing"};
    topology = topology_blocks(RANKS, NODES, 1, room, 0);
    for (enum fault fault = NONE; fault < FAULTS; fault++) {
        struct hs_shape shape = shape_of(HS_ALLREDUCE, 16 * 8 * RANKS);
        const struct hs_alg *dpml = hs_alg_find(HS_ALLREDUCE, "dpml");
        struct hs_verify_report report;
        struct hs_list *list;
        shape.with.leaders = shape.with.pieces = 2;
        hsumma_status status = hs_build_all(dpml, &shape, &hs_heap, &list);
        int joints = status ? 0 : all_joints(list, NODES);
        if (!status)
            plant(list, fault);
        if (!status)
            status = hs_verify_lists(HS_ALLREDUCE, list, &shape, NULL, &hs_heap, &report);
        tap_ok(joints == 2 * NODES && (fault ? status == HSUMMA_ERR_INTERNAL : status == HSUMMA_OK),
               "dpml(outer=mpi) with %d bytes of shared memory, %s: %d groups of leaders, %s", (int)room, names[fault],
               joints, report.text);
        hs_free_all(&hs_heap, list, RANKS);
    }
    hs_topology_free(&topology, &hs_heap);
}

/* The clock of a row with its stage between nodes by MPI, on a machine on which nothing else costs anything. */
static double seconds(enum hs_collective collective, const char *name, struct hs_parameters with, int64_t bytes,
                      const struct hs_machine *machine, hsumma_status *status)
{
    struct hs_shape shape = shape_of(collective, bytes);
    struct hs_clock_report report = {.seconds = NAN};
    with.outer = shape.with.outer;
    shape.with = with;
    *status = hs_clock(hs_alg_find(collective, name), &shape, machine, &hs_heap, &report);
    return report.seconds;
}

static void test_clock(void)
{
    const struct hs_machine offload = {.offload = {.alpha = 3e-6, .beta = 1e-9}}, none = {.alpha = 1e-6};
    const int64_t bytes = 8 * 960;
    const double a = offload.offload.alpha, b = (double)bytes * offload.offload.beta;
    const struct hs_parameters of[] = {{.leaders = 1}, {.leaders = 4}, {.leaders = 2, .pieces = 3}};
    const double want[] = {a + b, a + b / 4, 3 * a + b / 2};
    hsumma_status status;
    topology = topology_blocks(RANKS, NODES, 1, 1 << 20, 0);
    for (int i = 0; i < 3; i++) {
        double took = seconds(HS_ALLREDUCE, "dpml", of[i], bytes, &offload, &status);
        tap_ok(!status && fabs(took / want[i] - 1) < 1e-12,
               "dpml(l=%d,k=%d) through an offload link: %g s, expected %g", of[i].leaders, of[i].pieces, took,
               want[i]);
    }
    static const struct {
        enum hs_collective collective;
        const char *name;
    } rows[] = {{HS_ALLREDUCE, "smp"}, {HS_REDUCE_TO, "smp"}, {HS_BCAST, "hierarchical"}};
    for (int i = 0; i < 3; i++) {
        double took = seconds(rows[i].collective, rows[i].name, (struct hs_parameters){0}, bytes, &offload, &status);
        tap_ok(!status && fabs(took / (a + b) - 1) < 1e-12, "%s %s: %g s, expected %g",
               hs_collective_name(rows[i].collective), rows[i].name, took, a + b);
    }
    seconds(HS_ALLREDUCE, "smp", (struct hs_parameters){0}, bytes, &none, &status);
    tap_ok(status == HSUMMA_ERR_UNSUPPORTED, "no price without one in the machine");
    /* Only a rank that comes late delays the others: sums on the first node of a lone leader cost nothing. */
    const struct hs_machine sums = {.offload = offload.offload, .gamma = 1e-9};
    double took = seconds(HS_ALLREDUCE, "dpml", of[1], bytes, &sums, &status);
    double reduced = (MEMBERS - 1) * (double)bytes / 4 * sums.gamma;
    tap_ok(!status && fabs(took / (a + b / 4 + reduced) - 1) < 1e-12,
           "after the sums inside the nodes: %g s, expected %g", took, a + b / 4 + reduced);
    hs_topology_free(&topology, &hs_heap);
}

int main(void)
{
    test_proof(0);
    test_proof(1 << 20);
    test_clock();
    return tap_done();
}
