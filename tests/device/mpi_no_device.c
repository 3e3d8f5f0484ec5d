/*
 * device=cuda without a visible GPU is the same error on all processes. The message names the failed call and CUDA's
 * error, or says that the library was built without CUDA. device=auto continues without a device; its message gives the
 * reason.
 */
#include "support/tap.h"
#include "support/world.h"

#include <hsumma.h>

#include <stdlib.h>
#include <string.h>

#ifndef HSUMMA_HAVE_CUDA
#define HSUMMA_HAVE_CUDA 0
#endif

/* Whether the text gives the reason why there is no device. */
static int says_why(const char *text)
{
    return !HSUMMA_HAVE_CUDA ? strstr(text, "built without CUDA") != NULL
                             : strstr(text, "cudaGetDeviceCount: cudaErrorNoDevice (") ||
                                   strstr(text, "cudaGetDeviceCount: cudaErrorInsufficientDriver (");
}

static void test_refused(const char *options)
{
    char message[512] = "";
    hsumma_context *ctx = NULL;
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, message, sizeof message);
    tap_ok(everywhere(status == HSUMMA_ERR_DEVICE && !ctx && strstr(message, options) && says_why(message)), "%s: %s",
           options, message);
    hsumma_free(&ctx);
}

static void test_without(void)
{
    char message[512] = "";
    hsumma_context *ctx = NULL;
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, "device=auto", &ctx, message, sizeof message);
    if (!status) /* save the message before another call replaces it */
        snprintf(message, sizeof message, "%s", hsumma_message(ctx));
    int good = !status && strstr(message, "no device") && says_why(message) &&
               strcmp(hsumma_device(ctx), "none") == 0 && !hsumma_stream(ctx) &&
               hsumma_synchronize(ctx) == HSUMMA_ERR_UNSUPPORTED;
    tap_ok(everywhere(good), "device=auto: %s", message);
    hsumma_free(&ctx);
}

int main(int argc, char **argv)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1); /* hides this machine's GPUs */
    world_begin(&argc, &argv);
    test_refused("device=cuda");
    test_refused("device=cuda:1");
    test_without();
    return world_end();
}
