/* Contexts with a device, what the device does, and memory of each kind, for the tests of collectives on devices. */
#ifndef HS_TESTS_SUPPORT_COLL_DEVICE_H
#define HS_TESTS_SUPPORT_COLL_DEVICE_H

#include "hsumma/context/context.h"
#include "support/coll_data.h"
#include "support/quiet.h"
#include "support/tap.h"
#include "support/test_device.h"

#include <inttypes.h>

static int rank, size;
static hsumma_context *ctx;
static int64_t combined; /* elements that the user's operator has seen */
static char said[120];   /* the environment's HSUMMA_HOST_DEVICE */

/* What devices that are opened from now on do: the environment's words, or some where it has none, and more. */
static void policy(const char *words, const char *more)
{
    char text[240];
    const char *first = *said ? said : words;
    snprintf(text, sizeof text, "%s%s%s", first, *first && *more ? "," : "", more);
    setenv("HSUMMA_HOST_DEVICE", text, 1);
}

/* Where a buffer lies: in memory of the host, in what hsumma_malloc has given, in other device memory. */
enum where { HOST, SHARED, OWN, WHERES };
static const char *const wheres[] = {"host", "shared", "own"};
enum { ARENA = 1 << 20 };
static char *arena[WHERES][2]; /* for in and out */

static const char *const names[] = {"bcast", "reduce", "allreduce", "allgather", "reduce_scatter"};

/* A context alone. */
static hsumma_status create(const char *options, char *text, size_t room)
{
    char words[200];
    return hsumma_create(MPI_COMM_WORLD, on_test_device(words, sizeof words, options), &ctx, text, room);
}

/* And memory of each kind. */
static int open_context(const char *options)
{
    char text[400] = "";
    hsumma_status status = create(options, text, sizeof text);
    if (!tap_ok(quiet_worst(status) == 0, "a context with \"%s\" %s", options, text))
        return 0;
    for (int which = 0; which < 2; which++) {
        void *memory[2] = {NULL, NULL};
        arena[HOST][which] = malloc(ARENA);
        status |= hsumma_malloc(ctx, ARENA, &memory[0]);
        status |= ctx->device->kind->get(ctx->device, ARENA, &memory[1]);
        arena[SHARED][which] = memory[0];
        arena[OWN][which] = memory[1];
    }
    if (status)
        printf("# rank %d: %d %s; %s\n", rank, (int)status, hsumma_message(ctx), ctx->device->message.text);
    return tap_ok(quiet_worst(status) == 0, "memory in it");
}

static void close_context(void)
{
    for (int which = 0; which < 2; which++) {
        free(arena[HOST][which]);
        hsumma_mfree(ctx, arena[SHARED][which]);
        ctx->device->kind->put(ctx->device, arena[OWN][which]);
    }
    hsumma_free(&ctx);
}

static int start_tests(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(said, sizeof said, "%s", getenv("HSUMMA_HOST_DEVICE") ? getenv("HSUMMA_HOST_DEVICE") : "");
    tap_begin(rank == 0);
    return size;
}

#endif
