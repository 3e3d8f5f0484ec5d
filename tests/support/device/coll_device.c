#include "support/device/coll_device.h"

hsumma_context *ctx;

static char said[120]; /* value of HSUMMA_HOST_DEVICE at the start of the program */

void coll_device_policy(const char *words, const char *more)
{
    char text[240];
    const char *first = *said ? said : words;
    snprintf(text, sizeof text, "%s%s%s", first, *first && *more ? "," : "", more);
    setenv("HSUMMA_HOST_DEVICE", text, 1);
}

const char *const coll_memory_names[] = {"host", "shared", "own"};

char *coll_arena[COLL_WHERES][2]; /* memory by kind; [0] for IN, [1] for OUT */

hsumma_status coll_device_create(const char *options, char *text, size_t room)
{
    char words[200];
    return hsumma_create(MPI_COMM_WORLD, on_test_device(words, sizeof words, options), &ctx, text, room);
}

int coll_device_open(const char *options)
{
    char text[400] = "";
    hsumma_status status = coll_device_create(options, text, sizeof text);
    if (!tap_ok(world_worst(status) == 0, "a context with \"%s\" %s", options, text))
        return 0;
    for (int which = 0; which < 2; which++) {
        void *memory[2] = {NULL, NULL};
        coll_arena[IN_HOST][which] = malloc(ARENA);
        status |= hsumma_malloc(ctx, ARENA, &memory[0]);
        status |= ctx->device->kind->get(ctx->device, ARENA, &memory[1]);
        coll_arena[IN_SHARED][which] = memory[0];
        coll_arena[IN_OWN][which] = memory[1];
    }
    if (status)
        printf("# rank %d: %d %s; %s\n", rank, (int)status, hsumma_message(ctx), ctx->device->message.text);
    return tap_ok(world_worst(status) == 0, "memory in it");
}

void coll_device_close(void)
{
    for (int which = 0; which < 2; which++) {
        free(coll_arena[IN_HOST][which]);
        hsumma_mfree(ctx, coll_arena[IN_SHARED][which]);
        ctx->device->kind->put(ctx->device, coll_arena[IN_OWN][which]);
    }
    hsumma_free(&ctx);
}

int coll_device_start(int *argc, char ***argv)
{
    world_begin(argc, argv);
    snprintf(said, sizeof said, "%s", getenv("HSUMMA_HOST_DEVICE") ? getenv("HSUMMA_HOST_DEVICE") : "");
    return size;
}
