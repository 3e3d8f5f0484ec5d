/*
 * The part of a plan that runs on devices, beside the part that runs on the host.  The location of an execution's
 * matrices decides which part runs (staging.h).
 */
#ifndef HS_HSUMMA_PLAN_PLAN_DEVICE_H
#define HS_HSUMMA_PLAN_PLAN_DEVICE_H

#include "base/options.h"
#include "hsumma/search/search.h"
#include "summa/node/on_device.h"

struct hs_request;

struct hs_plan_device {
    int possible; /* 1 if the plan can run on devices; equal on all processes */
    int serves;   /* 1 if the device part ran last, or is expected to run */
    struct hs_choice choice;
    struct hs_node_product node;
    int64_t bytes;                /* bytes of the tiles */
    struct hs_node_device *tiles; /* tiles of the current execution */
    double seconds;               /* seconds of the last execution on this process */
    const char *why_not;          /* why the plan cannot run on devices; NULL if it can, or without a device */
    char line[256];
    char reason[HS_OPTION_TEXT]; /* memory for why_not */
};

/* Prepares the device part.  Local, but sets `possible` to the same value on all processes.  Fails if the option
 * node=device cannot be obeyed, or for lack of memory. */
hsumma_status hs_plan_device_prepare(hsumma_plan *plan, const struct hs_request *request,
                                     const struct hs_settings *settings, const struct hs_options *options,
                                     struct hs_message *message);
/* Allocates memory for tiles.  If that is impossible, the plan runs on the host; only with node=device it is an error.
 * Collective over the context, after hs_plan_device_prepare on all processes, with the same status on all. */
hsumma_status hs_plan_device_join(hsumma_plan *plan, const struct hs_settings *settings);

#endif
