/*
 * The part of a plan that runs on devices, beside that of the host.  Each execution uses the one that suits the places
 * of its matrices (staging.h).
 */
#ifndef HS_HSUMMA_PLAN_PLAN_DEVICE_H
#define HS_HSUMMA_PLAN_PLAN_DEVICE_H

#include "base/options.h"
#include "hsumma/search/search.h"
#include "summa/node/on_device.h"

struct hs_request;

struct hs_plan_device {
    int possible; /* the same on all processes */
    int serves;   /* it ran last, or is expected to */
    struct hs_choice choice;
    struct hs_node_product node;
    int64_t bytes;                /* of the tiles */
    struct hs_node_device *tiles; /* of the current execution */
    double seconds;               /* of the last execution, on this process */
    const char *why_not;          /* NULL: possible, or the context has no device */
    char line[256];
    char reason[HS_OPTION_TEXT]; /* memory for why_not */
};

/* Local, but `possible` is the same on all processes.  Fails on contradicting options, or for lack of memory. */
hsumma_status hs_plan_device_prepare(hsumma_plan *plan, const struct hs_request *request,
                                     const struct hs_settings *settings, const struct hs_options *options,
                                     struct hs_message *message);
/* Allocates memory for tiles.  Collective over the context, after all have prepared. */
hsumma_status hs_plan_device_join(hsumma_plan *plan, const struct hs_settings *settings);

#endif
