/* The fake's state: ordered errors, counts, contexts. */
#include "device/fake_cuda/fake.h"
#include "device/stand_in/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_cuda fake_cuda;
static struct hs_device *host;
static int current = -1; /* the GPU whose primary context is current */
static int contexts[FAKE_DEVICES];

void fake_cuda_reset(void)
{
    fake_cuda = (struct fake_cuda){.devices = 1, .driver = 13000, .shares_events = 1, .peers = 1};
    current = -1;
}

int64_t fake_cuda_out(void)
{
    const struct fake_cuda *f = &fake_cuda;
    return f->memory + f->pinned + f->mapped + f->events + f->streams + f->handles + f->libraries + (f->last != 0);
}

void fake_cuda_end(void)
{
    hs_stand_in_device.close(host);
    host = NULL;
}

int fake_cuda_current(void)
{
    return current;
}

void fake_cuda_choose(int device)
{
    current = device;
}

void fake_fault(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (fake_cuda.faults++ == 0)
        vsnprintf(fake_cuda.fault, sizeof fake_cuda.fault, format, args);
    va_end(args);
    if (fake_cuda.fatal) {
        fprintf(stderr, "the fake of CUDA: %s\n", fake_cuda.fault);
        abort();
    }
}

int fake_hit(const char *name, int error)
{
    int once = fake_cuda.which > 0;
    fake_cuda.calls++;
    if (!fake_cuda.fail || (strcmp(fake_cuda.fail, "*") != 0 && strcmp(fake_cuda.fail, name) != 0))
        return 0;
    if (fake_cuda.which > 0 && --fake_cuda.which > 0)
        return 0;
    if (fake_cuda.which == 0 && once)
        fake_cuda.fail = NULL;
    fake_cuda.failed = name;
    return fake_cuda.error ? fake_cuda.error : error;
}

struct hs_device *fake_host(void)
{
    struct hs_message message;
    if (!host && hs_stand_in_device.open(-1, 0, &hs_heap, &host, &message)) {
        fprintf(stderr, "the fake of CUDA has no stand-in: %s\n", message.text);
        abort();
    }
    return host;
}

/* The driver's functions. A context is represented by the address of its use count. */
static int device_get(int *device, int number)
{
    int error = fake_hit("cuDeviceGet", cudaErrorUnknown);
    *device = number;
    return error ? error : number < 0 || number >= fake_cuda.devices ? 101 : 0;
}

static int retain(void **context, int device)
{
    int error = fake_hit("cuDevicePrimaryCtxRetain", cudaErrorUnknown);
    if (error)
        return error;
    contexts[device]++;
    *context = &contexts[device];
    return 0;
}

static int get_current(void **context)
{
    int error = fake_hit("cuCtxGetCurrent", cudaErrorUnknown);
    if (error)
        return error;
    *context = current < 0 ? NULL : &contexts[current];
    return 0;
}

static int set_current(void *context)
{
    int error = fake_hit("cuCtxSetCurrent", cudaErrorUnknown);
    if (error)
        return error;
    if (context && (context < (void *)contexts || context >= (void *)(contexts + FAKE_DEVICES)))
        fake_fault("cuCtxSetCurrent: no context at %p", context);
    else
        current = context ? (int)((int *)context - contexts) : -1;
    return 0;
}

int fake_driver_symbol(const char *name, void **function)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } symbols[] = {{"cuDeviceGet", (void (*)(void))device_get},
                   {"cuDevicePrimaryCtxRetain", (void (*)(void))retain},
                   {"cuCtxGetCurrent", (void (*)(void))get_current},
                   {"cuCtxSetCurrent", (void (*)(void))set_current}};
    *function = NULL;
    for (unsigned i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(symbols[i].name, name) == 0 && (!fake_cuda.no_symbol || strcmp(fake_cuda.no_symbol, name) != 0))
            memcpy(function, &symbols[i].function, sizeof *function);
    return *function != NULL;
}
