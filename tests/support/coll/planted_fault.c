#include "support/coll/planted_fault.h"

#include "coll/schedule/lists.h"
#include "support/coll/sweep.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

/* The schedule into which a fault is planted. */
struct patient {
    struct hs_shape shape;
    struct hs_topology topology;
    struct hs_verify_options options;
    struct hs_list *list;
};

/* Removes step `dep` from the dependencies of another step. */
static void forget(struct hs_list *list, struct hs_step *step, int dep)
{
    int *deps = list->dep + step->first_dep, kept = 0;
    for (int d = 0; d < step->deps; d++)
        if (deps[d] != dep)
            deps[kept++] = deps[d];
    step->deps = kept;
}

static void take_out(struct hs_list *list, int i)
{
    list->steps--;
    for (int s = i; s < list->steps; s++)
        list->step[s] = list->step[s + 1];
    for (int s = 0; s < list->steps; s++) {
        struct hs_step *step = &list->step[s];
        forget(list, step, i);
        for (int d = 0; d < step->deps; d++)
            list->dep[step->first_dep + d] -= list->dep[step->first_dep + d] > i;
    }
}

static void set_ref(struct hs_ref *ref, int field, int64_t value)
{
    if (field == 0)
        ref->slot = (enum hs_slot)value;
    else if (field == 1)
        ref->of = (int)value;
    else
        ref->at = value;
}

static void edit_step(struct hs_list *list, const struct planted_fault *fault)
{
    struct hs_step *step = &list->step[fault->step];
    int value = (int)fault->value, deps = step->deps;
    if (step->kind != fault->kind)
        exit(98);
    if (fault->edit == SET_COUNT)
        step->count = fault->value;
    else if (fault->edit == SET_PEER)
        step->peer = value;
    else if (fault->edit == SET_KIND)
        step->kind = (enum hs_kind)value;
    else if (fault->edit <= SET_DST_AT)
        set_ref(&step->dst, fault->edit - SET_DST_SLOT, fault->value);
    else if (fault->edit <= SET_LEFT_AT)
        set_ref(&step->left, fault->edit - SET_LEFT_SLOT, fault->value);
    else if (fault->edit <= SET_RIGHT_AT)
        set_ref(&step->right, fault->edit - SET_RIGHT_SLOT, fault->value);
    else if (fault->edit == SET_DEP)
        list->dep[step->first_dep] = value;
    else if (fault->edit == SET_DEPS)
        step->deps = value;
    else if (fault->edit == TAKE_OUT)
        take_out(list, fault->step);
    else
        forget(list, step, value);
    if (fault->edit == FORGET && step->deps == deps)
        exit(97);
}

static void move_away(struct patient *patient, int rank)
{
    int node[8] = {0};
    struct hs_topology apart;
    node[rank] = 1;
    if (hs_topology_make(&apart, patient->shape.size, node, NULL, &hs_heap))
        exit(99);
    apart.shared_bytes = patient->topology.shared_bytes;
    hs_topology_free(&patient->topology, &hs_heap);
    patient->topology = apart;
}

static void edit(struct patient *patient, const struct planted_fault *fault)
{
    struct hs_list *list = &patient->list[fault->rank];
    if (fault->edit == SET_ROOM)
        patient->topology.shared_bytes = fault->value;
    else if (fault->edit == SET_DIRECT)
        patient->topology.direct = (int)fault->value;
    else if (fault->edit == MOVE_AWAY)
        move_away(patient, fault->rank);
    else if (fault->edit == SET_WINDOW)
        patient->options.window = (int)fault->value;
    else if (fault->edit == SET_EAGER)
        patient->options.eager = (int)fault->value;
    else if (fault->edit == CUT_LIST)
        list->steps = (int)fault->value;
    else if (fault->edit == SET_EXTENT)
        list->extent[fault->step] = fault->value;
    else if (fault->edit == SET_EXPOSED)
        list->exposed = (unsigned)fault->value;
    else
        edit_step(list, fault);
}

/* Plants one fault and tests that hs_verify_lists finds it; returns the fault's last row. */
static const struct planted_fault *plant(const struct planted_fault *fault, int64_t room)
{
    struct patient patient = {.topology = topology_blocks(fault->size, 1, 1, room, 1)};
    struct hs_verify_report report;
    const struct planted_fault *last = fault;
    patient.shape = (struct hs_shape){.size = fault->size, .bytes = PLANT_BYTES, .unit = PLANT_UNIT};
    patient.shape.segment = room ? 0 : 2 * PLANT_UNIT;
    patient.shape.topology = room ? &patient.topology : NULL;
    if (hs_build_all(fault->alg, &patient.shape, &hs_heap, &patient.list))
        exit(99);
    for (edit(&patient, last); !last->words; edit(&patient, last))
        last++;
    hsumma_status status =
        hs_verify_lists(fault->alg->collective, patient.list, &patient.shape, &patient.options, &hs_heap, &report);
    if (!tap_ok(status == HSUMMA_ERR_INTERNAL && strstr(report.text, last->words), "%s: \"%s\"", fault->what,
                report.text))
        tap_diag("status %d, expected the words \"%s\"", (int)status, last->words);
    hs_free_all(&hs_heap, patient.list, fault->size);
    hs_topology_free(&patient.topology, &hs_heap);
    return last;
}

void plant_faults(const struct planted_fault *fault, size_t rows, int64_t room)
{
    for (const struct planted_fault *end = fault + rows; fault < end; fault++)
        fault = plant(fault, room);
}
