/* For tests of collectives on devices: contexts with a device, the policy of the stand-in, and memory of each kind. */
#ifndef HS_TESTS_SUPPORT_DEVICE_COLL_DEVICE_H
#define HS_TESTS_SUPPORT_DEVICE_COLL_DEVICE_H

#include "hsumma/context/context.h"
#include "support/coll/data.h"
#include "support/device/test_device.h"
#include "support/tap.h"
#include "support/world.h"

#include <inttypes.h>

extern hsumma_context *ctx;

/* Sets the policy of devices that are opened later: HSUMMA_HOST_DEVICE as the program found it, or `words` if it was
 * not set, followed by `more`. */
void coll_device_policy(const char *words, const char *more);

/* The memory in which a buffer lies: host memory, device memory of hsumma_malloc, other device memory. */
enum where { IN_HOST, IN_SHARED, IN_OWN, COLL_WHERES };

extern const char *const coll_memory_names[];

enum { ARENA = 4 << 20 }; /* enough for an allgather of the largest vectors on 16 ranks */

extern char *coll_arena[COLL_WHERES][2]; /* memory by kind; [0] for IN, [1] for OUT */

/* Creates a context without test memory. */
hsumma_status coll_device_create(const char *options, char *text, size_t room);

/* Creates a context and test memory of each kind. */
int coll_device_open(const char *options);
void coll_device_close(void);
int coll_device_start(int *argc, char ***argv);

#endif
