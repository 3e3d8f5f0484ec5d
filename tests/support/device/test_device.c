#include "support/device/test_device.h"

static const char *test_device(void)
{
    const char *device = getenv("HSUMMA_TEST_DEVICE");
    return device && *device ? device : "host";
}

int test_device_is_host(void)
{
    return strcmp(test_device(), "host") == 0;
}

const char *on_test_device(char *text, size_t room, const char *options)
{
    snprintf(text, room, "device=%s %s", test_device(), options);
    return text;
}
