/* Contexts with a device, what the device does, and memory of each kind, for the tests of collectives on devices. */
#ifndef HS_TESTS_SUPPORT_DEVICE_COLL_DEVICE_H
#define HS_TESTS_SUPPORT_DEVICE_COLL_DEVICE_H

#include "hsumma/context/context.h"
#include "support/coll/data.h"
#include "support/device/test_device.h"
#include "support/tap.h"
#include "support/world.h"

#include <inttypes.h>

extern hsumma_context *ctx;

/* What devices that are opened from now on do: the environment's words, or some where it has none, and more. */
void coll_device_policy(const char *words, const char *more);

/* Where a buffer lies: in memory of the host, in what hsumma_malloc has given, in other device memory. */
enum where { IN_HOST, IN_SHARED, IN_OWN, COLL_WHERES };

extern const char *const coll_memory_names[];

enum { ARENA = 1 << 20 };

extern char *coll_arena[COLL_WHERES][2]; /* for in and out */

/* A context alone. */
hsumma_status coll_device_create(const char *options, char *text, size_t room);

/* And memory of each kind. */
int coll_device_open(const char *options);
void coll_device_close(void);
int coll_device_start(int *argc, char ***argv);

#endif
