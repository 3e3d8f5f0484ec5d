/*
 * The part of a plan that runs on devices, beside the one of the host: both are there, and each execution takes the one
 * for where its matrices lie (staging.h).
 */
#ifndef HS_HSUMMA_PLAN_PLAN_DEVICE_H
#define HS_HSUMMA_PLAN_PLAN_DEVICE_H

#include "base/options.h"
#include "hsumma/search/search.h"
#include "summa/node/on_device.h"

struct hs_request;

struct hs_plan_device {
    int possible; /* alike on all processes */
    int serves;   /* it has run last, or will, as far as is known */
    struct hs_choice choice;
    struct hs_node_product node;
    int64_t bytes;                /* of tiles */
    struct hs_node_device *tiles; /* of the execution under way */
    double seconds;               /* of the last execution, on this process */
    const char *why_not;          /* NULL: possible, or the context has no device */
    char line[256];
    char reason[HS_OPTION_TEXT]; /* what it may be */
};

/* Local, and possible alike on all processes; errors are of the caller's words, or want of memory. */
hsumma_status hs_plan_device_prepare(hsumma_plan *plan, const struct hs_request *request,
                                     const struct hs_settings *settings, const struct hs_options *options,
                                     struct hs_message *message);
/* Collective over the context, after all have prepared: memory for tiles. */
hsumma_status hs_plan_device_join(hsumma_plan *plan, const struct hs_settings *settings);

#endif
