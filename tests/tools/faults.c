/* Preload into a program: calls of the C library and of MPI fail, or clocks jump, if the program itself makes them.
 * Calls by libraries, such as MPI's own, never fail.
 *
 * HSUMMA_FAULT=FUNCTION:N:ERROR:RANK in the environment: call N (from 0) of FUNCTION by this rank fails with ENOSPC,
 * EIO or EINTR. With HSUMMA_FAULT_PATH only calls on files below this directory count, but then those of MPI-IO as
 * well. HSUMMA_FAULT_CLOCK=SEED: jumps of up to 68 minutes, forward and back, that add up. A program can set faults
 * itself: after faults_arm(FUNCTION, N, ERROR) calls count and may fail while faults_on is not 0; faults_disarm returns
 * how many there were. FUNCTION "malloc" stands for all functions that allocate.
 *
 * A failing function of the C library, and of MPI's for messages and requests, has done nothing. MPI's collective
 * functions have done their work before they return the error, since the other ranks would otherwise wait in MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char function[64], path[256];
int faults_on;
static int fail_at = -1, calls, error_number, ready;
static uint64_t clock_state;
static uintptr_t first, last; /* the program's own code */

void faults_arm(const char *name, int at, int error);
int faults_disarm(void);

/* Without effect until faults_on is set. */
void faults_arm(const char *name, int at, int error)
{
    snprintf(function, sizeof function, "%s", name);
    calls = 0;
    error_number = error;
    fail_at = at;
}

int faults_disarm(void)
{
    fail_at = -1;
    function[0] = 0;
    return calls;
}

/* Finds the code of the program, which is the first object. */
static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            last = first + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static int error_of(const char *name)
{
    return !strcmp(name, "ENOSPC") ? ENOSPC : !strcmp(name, "EINTR") ? EINTR : EIO;
}

__attribute__((constructor)) static void prepare(void)
{
    const char *fault = getenv("HSUMMA_FAULT"), *clocks = getenv("HSUMMA_FAULT_CLOCK"),
               *where = getenv("HSUMMA_FAULT_PATH"), *rank = getenv("PMI_RANK");
    char name[64], error[16];
    int at, who;

    dl_iterate_phdr(find_program, NULL);
    rank = rank ? rank : getenv("OMPI_COMM_WORLD_RANK");
    snprintf(path, sizeof path, "%s", where ? where : "");
    if (fault && sscanf(fault, "%63[^:]:%d:%15[^:]:%d", name, &at, error, &who) == 4 && rank && atoi(rank) == who)
        faults_arm(name, at, error_of(error));
    faults_on = fail_at >= 0;
    clock_state = clocks ? strtoull(clocks, NULL, 10) + (rank ? strtoull(rank, NULL, 10) : 0) : 0;
    ready = 1;
}

/* Whether this call fails; sets errno. */
static int fails(const char *name, const void *caller)
{
    uintptr_t at = (uintptr_t)caller;

    if (!ready || !faults_on || strcmp(name, function) != 0 || (!path[0] && (at < first || at >= last)))
        return 0;
    if (calls++ != fail_at)
        return 0;
    if (path[0])
        fprintf(stderr, "injected: %s\n", name);
    errno = error_number;
    return 1;
}

static int is_ours(const char *name)
{
    return !path[0] || !strncmp(name, path, strlen(path));
}

static int fd_is_ours(int fd)
{
    char link[64], target[512];
    ssize_t length;

    if (!path[0] || !faults_on)
        return 1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    return is_ours(target);
}

#define CALLER __builtin_return_address(0)
#define NEXT(result, name, parameters) \
    static result(*next) parameters;   \
    if (!next)                         \
        next = (result(*) parameters)dlsym(RTLD_NEXT, name);

/* --- memory: glibc's own names, because dlsym allocates --------------------------------------------------------- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes)
{
    return fails("malloc", CALLER) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails("malloc", CALLER) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return fails("malloc", CALLER) ? NULL : __libc_realloc(memory, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    void *got = fails("malloc", CALLER) ? NULL : __libc_memalign(alignment, bytes);

    if (got)
        *memory = got;
    return got ? 0 : ENOMEM;
}

char *strdup(const char *text)
{
    char *copy = fails("malloc", CALLER) ? NULL : __libc_malloc(strlen(text) + 1);

    return copy ? strcpy(copy, text) : NULL;
}

/* --- the system --------------------------------------------------------------------------------------------------- */

#define CALL(result, name, parameters, arguments, failed)      \
    result name parameters                                     \
    {                                                          \
        NEXT(result, #name, parameters)                        \
        return fails(#name, CALLER) ? failed : next arguments; \
    }
CALL(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)
CALL(void *, mmap, (void *at, size_t bytes, int prot, int flags, int fd, off_t from),
     (at, bytes, prot, flags, fd, from), MAP_FAILED)
CALL(ssize_t, process_vm_readv,
     (pid_t pid, const struct iovec *to, unsigned long tos, const struct iovec *from, unsigned long froms,
      unsigned long flags),
     (pid, to, tos, from, froms, flags), -1)

/* Calls on files. */
#define FILE_CALL(result, name, parameters, arguments, test, failed)   \
    result name parameters                                             \
    {                                                                  \
        NEXT(result, #name, parameters)                                \
        return test && fails(#name, CALLER) ? failed : next arguments; \
    }
FILE_CALL(int, ftruncate, (int fd, off_t size), (fd, size), fd_is_ours(fd), -1)
FILE_CALL(int, fsync, (int fd), (fd), fd_is_ours(fd), -1)
FILE_CALL(ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes), fd_is_ours(fd), -1)
FILE_CALL(ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at), fd_is_ours(fd),
          -1)
FILE_CALL(ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes), fd_is_ours(fd), -1)
FILE_CALL(ssize_t, pread, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at), fd_is_ours(fd), -1)
FILE_CALL(int, fallocate, (int fd, int mode, off_t from, off_t bytes), (fd, mode, from, bytes), fd_is_ours(fd), -1)
FILE_CALL(int, renameat2, (int dir, const char *from, int into, const char *to, unsigned flags),
          (dir, from, into, to, flags), is_ours(to), -1)
FILE_CALL(int, rename, (const char *from, const char *to), (from, to), is_ours(to), -1)
FILE_CALL(FILE *, fopen, (const char *name, const char *mode), (name, mode), is_ours(name), NULL)

int posix_fallocate(int fd, off_t from, off_t bytes)
{
    NEXT(int, "posix_fallocate", (int, off_t, off_t))
    return fd_is_ours(fd) && fails("posix_fallocate", CALLER) ? errno : next(fd, from, bytes);
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN_CALL(function)                                                           \
    int function(const char *name, int flags, ...)                                    \
    {                                                                                 \
        NEXT(int, #function, (const char *, int, ...))                                \
        va_list args;                                                                 \
        va_start(args, flags);                                                        \
        mode_t mode = mode_of(flags, args);                                           \
        va_end(args);                                                                 \
        return is_ours(name) && fails("open", CALLER) ? -1 : next(name, flags, mode); \
    }

OPEN_CALL(open)
OPEN_CALL(open64)

/* The library uses syscall for futexes only. */
long syscall(long number, ...)
{
    NEXT(long, "syscall", (long, ...))
    va_list args;
    va_start(args, number);
    long a[6];
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    return number == SYS_futex && fails("futex", CALLER) ? -1 : next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int clock_gettime(clockid_t which, struct timespec *time)
{
    NEXT(int, "clock_gettime", (clockid_t, struct timespec *))
    static int64_t offset;
    uintptr_t at = (uintptr_t)CALLER;
    int result = next(which, time);

    if (!clock_state || at < first || at >= last)
        return result;
    clock_state = clock_state * 6364136223846793005u + 1442695040888963407u;
    if (clock_state >> 58 == 0) { /* at one call in 64, at random */
        int64_t least = -(int64_t)time->tv_sec + 1;

        offset += (int64_t)(clock_state >> 33 & 8191) - 4096;
        offset = offset < least ? least : offset;
    }
    time->tv_sec += offset;
    return result;
}

/* --- MPI ---------------------------------------------------------------------------------------------------------- */

#define MPI_CALL(name, parameters, arguments)                                       \
    int MPI_##name parameters                                                       \
    {                                                                               \
        return fails("MPI_" #name, CALLER) ? MPI_ERR_OTHER : PMPI_##name arguments; \
    }
MPI_CALL(Isend, (const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
         (from, count, type, to, tag, comm, request))
MPI_CALL(Irecv, (void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
         (at, count, type, from, tag, comm, request))
MPI_CALL(Recv, (void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status),
         (at, count, type, from, tag, comm, status))
MPI_CALL(Test, (MPI_Request * request, int *done, MPI_Status *status), (request, done, status))
MPI_CALL(Testsome, (int n, MPI_Request all[], int *count, int which[], MPI_Status statuses[]),
         (n, all, count, which, statuses))
MPI_CALL(Testall, (int n, MPI_Request all[], int *done, MPI_Status statuses[]), (n, all, done, statuses))
MPI_CALL(Wait, (MPI_Request * request, MPI_Status *status), (request, status))
MPI_CALL(Waitany, (int n, MPI_Request all[], int *which, MPI_Status *status), (n, all, which, status))
MPI_CALL(Waitall, (int n, MPI_Request all[], MPI_Status statuses[]), (n, all, statuses))
MPI_CALL(Iprobe, (int from, int tag, MPI_Comm comm, int *found, MPI_Status *status), (from, tag, comm, found, status))
#define MPI_COLLECTIVE(name, parameters, arguments)                 \
    int MPI_##name parameters                                       \
    {                                                               \
        int error = PMPI_##name arguments;                          \
        return fails("MPI_" #name, CALLER) ? MPI_ERR_OTHER : error; \
    }
MPI_COLLECTIVE(Allreduce, (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (in, out, count, type, op, comm))
MPI_COLLECTIVE(Allgather, (const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype to, MPI_Comm comm),
               (in, n, type, out, m, to, comm))
MPI_COLLECTIVE(Bcast, (void *at, int count, MPI_Datatype type, int root, MPI_Comm comm), (at, count, type, root, comm))
MPI_COLLECTIVE(Iallreduce,
               (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request),
               (in, out, count, type, op, comm, request))
MPI_COLLECTIVE(Comm_idup, (MPI_Comm comm, MPI_Comm *to, MPI_Request *request), (comm, to, request))
MPI_COLLECTIVE(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *to), (comm, color, key, to))
MPI_COLLECTIVE(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *to),
               (comm, type, key, info, to))
MPI_COLLECTIVE(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *to), (comm, group, tag, to))
MPI_COLLECTIVE(Comm_group, (MPI_Comm comm, MPI_Group *group), (comm, group))
MPI_COLLECTIVE(Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *to), (group, n, ranks, to))
MPI_COLLECTIVE(Comm_free, (MPI_Comm * comm), (comm))
