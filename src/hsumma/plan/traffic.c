#include "hsumma/plan/traffic.h"

#include "hsumma/plan/plan.h"

#include <math.h>

static void count(const struct hs_list *list, int64_t *bytes, int64_t *messages)
{
    for (int i = 0; i < list->steps; i++)
        if (list->step[i].kind == HS_SEND) {
            *bytes += list->step[i].count;
            ++*messages;
        }
}

/* All instances of a channel: runs of panels have the same list. */
static void count_stream(const struct hs_loop *loop, const struct hs_channel *channel, int64_t *bytes,
                         int64_t *messages)
{
    int64_t once[2] = {0, 0};
    for (int o = 0, last = -1; o < loop->panels.tier[channel->tier].count; o++) {
        int at = channel->list[o];
        if (at < 0)
            continue;
        if (at != last) {
            once[0] = once[1] = 0;
            count(&loop->lists.list[at], &once[0], &once[1]);
            last = at;
        }
        *bytes += once[0];
        *messages += once[1];
    }
}

void hs_plan_traffic(const hsumma_plan *plan, int64_t *bytes, int64_t *messages)
{
    const struct hs_loop *loop = &plan->loop;
    *bytes = *messages = 0;
    if (plan->by_node || !plan->member)
        return;
    for (int f = 0; f < loop->feeds; f++)
        for (int s = 0; s < loop->feed[f].channels; s++)
            count_stream(loop, &loop->feed[f].channel[s], bytes, messages);
    for (int s = 0; loop->drains && s < loop->drain.channels; s++)
        count_stream(loop, &loop->drain.channel[s], bytes, messages);
}

double hs_lower_bound(const struct hs_problem *problem)
{
    double d[3], p = (double)problem->grid.extent[0] * problem->grid.extent[1];
    for (int i = 0; i < 3; i++) { /* descending */
        int at = i;
        double x = (double)problem->extent[i];
        for (; at > 0 && d[at - 1] < x; at--)
            d[at] = d[at - 1];
        d[at] = x;
    }
    double m = d[0], n = d[1], k = d[2], held = (m * n + m * k + n * k) / p, touched;
    if (p <= m / n)
        touched = (m * n + m * k) / p + n * k;
    else if (p * k * k <= m * n)
        touched = 2 * sqrt(m * n * k * k / p) + m * n / p;
    else
        touched = 3 * pow(m * n * k / p, 2.0 / 3);
    return k > 0 && touched > held ? (touched - held) * (double)problem->scalar->size : 0;
}
