#include "coll/node/mapping.h"

#include "base/memory.h"
#include "base/simulator.h"
#include "coll/node/agree_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The file as other processes find it: by the creator's pid and descriptor. Device and inode verify that it is the same
 * file, since a pid may denote another process in another container.
 */
struct mapped_file {
    int64_t process, descriptor, device, inode;
};

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 8U
#endif

/* Some systems refuse files in memory that could be executed (vm.memfd_noexec=2); older ones do not know the flag. */
static int open_memory(void)
{
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int file = memfd_create("hsumma", flags | MFD_NOEXEC_SEAL);
    return file < 0 && errno == EINVAL ? memfd_create("hsumma", flags) : file;
}

/* The file is for this user only, and sealed: if something cut it short, other processes would fail with SIGBUS. */
static int make_file(size_t bytes, int reserve, struct mapped_file *shared_file)
{
    struct stat is;
    /* If the file exceeded this limit, ftruncate would send SIGXFSZ, which ends the process, instead of failing. */
    struct rlimit limit;
    int file = open_memory();
    int made = file >= 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
               (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) && ftruncate(file, (off_t)bytes) == 0 &&
               (!reserve || posix_fallocate(file, 0, (off_t)bytes) == 0) && fchmod(file, 0600) == 0 &&
               fstat(file, &is) == 0;
    if (made) /* a system without seals shares memory all the same */
        (void)fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    *shared_file = (struct mapped_file){.descriptor = -1};
    if (made)
        *shared_file = (struct mapped_file){
            .process = getpid(), .descriptor = file, .device = (int64_t)is.st_dev, .inode = (int64_t)is.st_ino};
    return file;
}

/* Opens the file through the creator's descriptor. */
static int open_file(const struct mapped_file *shared_file)
{
    char path[64];
    struct stat is;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)shared_file->process,
             (long long)shared_file->descriptor);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 &&
        (fstat(file, &is) || (int64_t)is.st_dev != shared_file->device || (int64_t)is.st_ino != shared_file->inode)) {
        close(file);
        return -1;
    }
    return file;
}

/* Maps memory for a process without mates, which needs no file. */
static void *map_alone(size_t bytes, enum hs_mapping_fault *fault)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *fault = base == MAP_FAILED ? HS_NOT_MAPPED : HS_MAPPED;
    return base == MAP_FAILED ? NULL : base;
}

/* In a simulator all ranks are one process and share plain memory, preceded by a reference count. */
static void *make_plain(MPI_Comm mates, size_t bytes, enum hs_mapping_fault *fault)
{
    int64_t base = 0;
    int me, users;
    MPI_Comm_rank(mates, &me);
    MPI_Comm_size(mates, &users);
    int *memory = me == 0 ? map_alone(bytes + HS_PAGE, fault) : NULL;
    if (memory) {
        *memory = users;
        base = (int64_t)(intptr_t)memory + HS_PAGE;
    }
    MPI_Bcast(&base, 1, MPI_INT64_T, 0, mates);
    *fault = base ? HS_MAPPED : HS_NOT_MAPPED;
    return (void *)(intptr_t)base;
}

static void free_plain(char *base, size_t bytes)
{
    int *users = (int *)(base - HS_PAGE);
    if (--*users == 0)
        munmap(users, bytes + HS_PAGE);
}

const char *hs_mapping_fault_text(enum hs_mapping_fault fault)
{
    static const char *const text[] = {
        [HS_MAPPED] = "nothing has failed",
        [HS_NOT_MAPPED] = "a process cannot map it (limited address space? see ulimit -v)",
        [HS_NOT_OPENED] = "a process cannot open another's memory through /proc (different users or containers?)",
        [HS_NOT_MADE] = "its file in memory could not be made (limits on memory or files? see ulimit -n and -f)"};
    return text[fault];
}

/* Maps the file that the first of the mates creates. Returns MAP_FAILED on failure, with the reason in *fault. */
static void *map_file(MPI_Comm mates, int me, size_t bytes, int reserve, const struct hs_watch *watch, int *file,
                      enum hs_mapping_fault *fault)
{
    struct mapped_file shared_file = {.descriptor = -1};
    *file = -1;
    if (me == 0)
        *file = make_file(bytes, reserve, &shared_file);
    if (hs_mpi_bcast(&shared_file, sizeof shared_file, 0, mates, watch))
        shared_file.descriptor = -1;
    if (me > 0 && shared_file.descriptor >= 0)
        *file = open_file(&shared_file);
    *fault = shared_file.descriptor < 0 ? HS_NOT_MADE : *file < 0 ? HS_NOT_OPENED : HS_MAPPED;
    if (*fault)
        return MAP_FAILED;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *file, 0);
    *fault = base == MAP_FAILED ? HS_NOT_MAPPED : HS_MAPPED;
    return base;
}

static void *map_together(MPI_Comm mates, size_t bytes, int reserve, const struct hs_watch *watch,
                          enum hs_mapping_fault *fault)
{
    enum hs_mapping_fault own;
    int me, file;
    MPI_Comm_rank(mates, &me);
    void *base = map_file(mates, me, bytes, reserve, watch, &file, &own);
    /* When this agreement ends, every mate has opened the file or failed to. */
    struct hs_verdict verdict = hs_agree_by_mpi(
        mates, (struct hs_vote){.status = own ? HSUMMA_ERR_UNSUPPORTED : HSUMMA_OK, .about = (int)own}, watch);
    *fault = hs_status_is_final(verdict.status) ? HS_NOT_MADE : (enum hs_mapping_fault)verdict.about;
    if (file >= 0)
        close(file);
    if (*fault && base != MAP_FAILED)
        munmap(base, bytes);
    return *fault ? NULL : base;
}

void *hs_mapping_make(MPI_Comm mates, size_t bytes, int reserve, const struct hs_watch *watch,
                      enum hs_mapping_fault *fault)
{
    enum hs_mapping_fault unsaid;
    int ranks;
    fault = fault ? fault : &unsaid;
    MPI_Comm_size(mates, &ranks);
    void *base = hs_simulator()         ? make_plain(mates, bytes, fault)
                 : ranks > 1 || reserve ? map_together(mates, bytes, reserve, watch, fault)
                                        : map_alone(bytes, fault);
    if (base && !reserve && !hs_simulator()) /* most of its pages may never be touched, so core dumps exclude it */
        madvise(base, bytes, MADV_DONTDUMP);
    return base;
}

void hs_mapping_free(void *base, size_t bytes)
{
    if (base && hs_simulator())
        free_plain(base, bytes);
    else if (base)
        munmap(base, bytes);
}
