/*
 * The memory that the ranks of a node share: for this user only, sealed against another size, and closed in programs
 * that a rank starts. The library's calls of memfd_create come here, so that the file can be examined.
 */
#include "coll/node/mapping.h"
#include "support/process.h"
#include "support/tap.h"
#include "support/world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOEXEC_SEAL = 8, SEAL_EXEC = 0x20 }; /* since Linux 6.3 */

static int kept = -1, flags_of_made, is_old; /* is_old: the system does not know NOEXEC_SEAL */

int memfd_create(const char *name, unsigned flags)
{
    if (is_old && (flags & NOEXEC_SEAL)) {
        errno = EINVAL;
        return -1;
    }
    int file = (int)syscall(SYS_memfd_create, name, flags);
    flags_of_made = file < 0 ? 0 : fcntl(file, F_GETFD);
    kept = file < 0 ? -1 : dup(file);
    return file;
}

int main(int argc, char **argv)
{
    enum { BYTES = 1 << 16 };
    enum hs_mapping_fault fault;
    struct stat found = {0};

    world_begin(&argc, &argv);
    int shm = process_entries("/dev/shm", "hsumma");
    for (int i = 0; i < 4; i++) {
        int reserve = i & 1;
        is_old = i > 1;
        char *base = hs_mapping_make(MPI_COMM_WORLD, BYTES, reserve, NULL, &fault);
        tap_ok(everywhere(base != NULL && (rank > 0) == (kept < 0)), "mapped: %s", hs_mapping_fault_text(fault));
        if (base) {
            base[rank] = (char)(rank + 1);
            MPI_Barrier(MPI_COMM_WORLD);
            tap_ok(everywhere(base[size - 1 - rank] == size - rank), "and shared");
        }
        const int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
        int seals = kept < 0 ? 0 : fcntl(kept, F_GET_SEALS);
        tap_ok(everywhere(rank > 0 || (seals & wanted) == wanted), "seals: %x", seals);
        int probe = (int)syscall(SYS_memfd_create, "probe", NOEXEC_SEAL), knows = probe >= 0 && !is_old;
        tap_ok(everywhere(kept < 0 || (seals & SEAL_EXEC) == (knows ? SEAL_EXEC : 0)), "%s",
               knows ? "nothing makes it a program" : "as on a system without MFD_NOEXEC_SEAL");
        if (probe >= 0)
            close(probe);
        int refused = kept < 0 || (ftruncate(kept, 0) && errno == EPERM);
        tap_ok(everywhere(refused && (kept < 0 || (ftruncate(kept, 2 * BYTES) && errno == EPERM))),
               "nothing makes it shorter or longer");
        tap_ok(everywhere(kept < 0 || (fstat(kept, &found) == 0 && (found.st_mode & 0777) == 0600)),
               "only this user may open it");
        tap_ok(everywhere(kept < 0 || flags_of_made & FD_CLOEXEC), "programs that a rank starts do not inherit it");
        if (kept >= 0)
            close(kept);
        kept = -1;
        hs_mapping_free(base, BYTES);
    }
    tap_ok(everywhere(process_entries("/dev/shm", "hsumma") == shm), "it has no name in /dev/shm");
    return world_end();
}
