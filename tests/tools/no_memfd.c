/* Preload to imitate a system without memfd_create, such as an old kernel or a strict seccomp profile. */
#include <errno.h>

int memfd_create(const char *name, unsigned flags)
{
    (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
}
