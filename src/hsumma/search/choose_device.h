/* Choosing how the processes of a node multiply on devices (summa/node/on_device.h). */
#ifndef HS_HSUMMA_SEARCH_CHOOSE_DEVICE_H
#define HS_HSUMMA_SEARCH_CHOOSE_DEVICE_H

#include "hsumma/search/choose.h"

/*
 * most: bytes of tiles that a grid may have; *bytes: that the choice needs.  A pure function of its arguments.  Errors
 * as of hs_choose.
 */
hsumma_status hs_choose_device(const struct hs_problem *problem, const struct hs_settings *settings, int64_t most,
                               struct hs_choice *choice, int64_t *bytes, struct hs_message *message);

#endif
