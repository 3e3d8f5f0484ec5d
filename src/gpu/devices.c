#include "gpu/devices.h"

#include "base/options.h"

#include <dlfcn.h>
#include <string.h>

/* The environment variable with a library whose symbol hs_stand_in_device is the kind "host" (tests/device). */
#define STAND_IN "HSUMMA_HOST_DEVICE_LIBRARY"

static const struct hs_device_kind *load_stand_in(struct hs_message *why)
{
    const char *file = hs_environment(STAND_IN);
    if (!file || !*file) {
        hs_fail(why, HSUMMA_ERR_DEVICE,
                STAND_IN " is not set; \"host\" is a stand-in for a GPU, for hsumma's tests only: run \"make "
                         "everything\" and set it to BUILD/tests/libstand_in_device.so");
        return NULL;
    }
    /* RTLD_NODELETE: contexts and tests still hold the table when the library is closed. */
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const struct hs_device_kind *kind = library ? dlsym(library, "hs_stand_in_device") : NULL;
    if (!kind) {
        const char *reason = dlerror();
        hs_fail(why, HSUMMA_ERR_DEVICE,
                STAND_IN "=%s: %s; expected libstand_in_device.so, which \"make everything\" builds in BUILD/tests",
                file, reason ? reason : "it has no device");
    }
    if (library)
        dlclose(library);
    return kind;
}

const struct hs_device_kind *hs_device_kind_find(const char *name, struct hs_message *why)
{
    if (strcmp(name, "host") == 0)
        return load_stand_in(why);
#if HSUMMA_HAVE_CUDA
    if (strcmp(name, "cuda") == 0)
        return &hs_device_cuda;
#endif
    hs_fail(why, HSUMMA_ERR_DEVICE, "this library has been built without CUDA (make CUDA=1)");
    return NULL;
}
