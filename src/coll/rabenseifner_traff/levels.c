/* Plans: the groups that form each cluster of a level, and the ranks that are their members. */
#include "coll/rabenseifner_traff/rt.h"

void rt_exchange(struct rt_plan *plan, int ways)
{
    if (plan->groups == 1 || ways == 1)
        return;
    plan->level[plan->levels++] = (struct rt_level){.kind = RT_EXCHANGE, .groups = plan->groups, .ways = ways};
    plan->groups /= ways;
}

void rt_eliminate(struct rt_plan *plan, int skip, int pairs)
{
    if (pairs == 0)
        return;
    plan->level[plan->levels++] =
        (struct rt_level){.kind = RT_ELIMINATE, .groups = plan->groups, .ways = 1, .skip = skip, .pairs = pairs};
    plan->groups -= pairs;
}

void rt_halve_while_even(struct rt_plan *plan)
{
    while (plan->groups % 2 == 0)
        rt_exchange(plan, 2);
}

void rt_halve(struct rt_plan *plan)
{
    while (plan->groups > 1)
        rt_exchange(plan, 2);
}

/* 1 if the level begins with a cluster of three: an exchange in pairs among an odd number of groups. */
static int odd_one(const struct rt_level *level)
{
    return level->ways == 2 && level->groups % 2;
}

int rt_cluster(const struct rt_level *level, int group, int *place)
{
    int cluster;
    if (level->kind == RT_ELIMINATE)
        cluster = group < level->skip                      ? group
                  : group < level->skip + 2 * level->pairs ? level->skip + (group - level->skip) / 2
                                                           : group - level->pairs;
    else
        cluster = odd_one(level) && group < 3 ? 0 : (group - odd_one(level)) / level->ways;
    *place = group - rt_first(level, cluster);
    return cluster;
}

int rt_first(const struct rt_level *level, int cluster)
{
    if (level->kind == RT_EXCHANGE)
        return cluster * level->ways + (odd_one(level) && cluster > 0);
    int before = cluster - level->skip; /* clusters after the skipped groups and before this one */
    return before <= 0 ? cluster : cluster + (before < level->pairs ? before : level->pairs);
}

int rt_rank(const struct rt_plan *plan, int z, int group, int index)
{
    while (z-- > 0) {
        const struct rt_level *level = &plan->level[z];
        group = rt_first(level, group) + index % level->ways;
        index /= level->ways;
    }
    return group;
}
