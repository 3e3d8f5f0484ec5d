/* For tests of collectives on devices: contexts with a device, the device's policy, and memory of each kind. */
#ifndef HS_TESTS_SUPPORT_DEVICE_COLL_DEVICE_H
#define HS_TESTS_SUPPORT_DEVICE_COLL_DEVICE_H

#include "hsumma/context/context.h"
#include "support/coll/data.h"
#include "support/device/test_device.h"
#include "support/tap.h"
#include "support/world.h"

#include <inttypes.h>

extern hsumma_context *ctx;

/* Sets the policy of devices opened from now on: the environment's, or `words` if it has none, plus `more`. */
void coll_device_policy(const char *words, const char *more);

/* Where a buffer lies: host memory, memory of hsumma_malloc, other device memory. */
enum where { IN_HOST, IN_SHARED, IN_OWN, COLL_WHERES };

extern const char *const coll_memory_names[];

enum { ARENA = 1 << 20 };

extern char *coll_arena[COLL_WHERES][2]; /* for in and out */

/* Creates a context only. */
hsumma_status coll_device_create(const char *options, char *text, size_t room);

/* Creates a context and memory of each kind. */
int coll_device_open(const char *options);
void coll_device_close(void);
int coll_device_start(int *argc, char ***argv);

#endif
