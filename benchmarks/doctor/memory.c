/* hsumma doctor: memory that the ranks of a node share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/command.h"
#include "doctor/doctor.h"
#include "report/columns.h"

/* UCX takes 4 MiB of /dev/shm for each rank when MPICH starts; the checks want twice as much. */
enum { PROBE_BYTES = 1 << 16, SHM_OF_RANK = 8 << 20 };

static int64_t least_limit(void)
{
    static const int which[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_FSIZE};
    struct rlimit limit;
    int64_t least = -1;

    for (size_t i = 0; i < sizeof which / sizeof *which; i++)
        if (!getrlimit((__rlimit_resource_t)which[i], &limit) && limit.rlim_cur != RLIM_INFINITY &&
            (least < 0 || (int64_t)limit.rlim_cur < least))
            least = (int64_t)limit.rlim_cur;
    return least;
}

static void look_at_shm(const doctor_job *j, job_memory *memory)
{
    struct statvfs is;
    char path[PATH_MAX];

    memory->shm_size = memory->shm_free = -1;
    if ((size_t)snprintf(path, sizeof path, "%s/dev/shm", j->root) >= sizeof path || statvfs(path, &is))
        return;
    memory->shm_size = (int64_t)is.f_blocks * (int64_t)is.f_frsize;
    memory->shm_free = (int64_t)is.f_bavail * (int64_t)is.f_frsize;
}

void doctor_before_mpi(void)
{
    doctor_job j = {.root = ""};
    char text[32];

    doctor_find_launcher(&j.mpi);
    look_at_shm(&j, &j.memory);
    if (j.mpi.number == 0 && j.memory.shm_free < SHM_OF_RANK) /* the number of ranks on the node is not known yet */
        fprintf(stderr,
                "hsumma: doctor: /dev/shm has %s free: MPI may fail to start; remove files there, or enlarge it "
                "(docker --shm-size)\n",
                j.memory.shm_size < 0 ? "no space" : report_bytes(text, sizeof text, j.memory.shm_free));
}

/* Yama's limit on reading the memory of other processes; CAP_SYS_PTRACE lifts it, up to scope 2. */
static int find_ptrace_scope(const doctor_job *j)
{
    enum { CAP_SYS_PTRACE_BIT = 19 };
    char text[16], *line = NULL;
    size_t size = 0;
    unsigned long long capabilities = 0;
    int scope = doctor_read(j, "/proc/sys/kernel/yama/ptrace_scope", text, sizeof text) ? atoi(text) : 0;
    FILE *file = scope ? doctor_open(j, "/proc/self/status") : NULL;

    while (file && getline(&line, &size, file) > 0)
        sscanf(line, "CapEff: %llx", &capabilities);
    free(line);
    if (file)
        fclose(file);
    return capabilities >> CAP_SYS_PTRACE_BIT & 1 && scope < 3 ? 0 : scope;
}

/* Finds the word in brackets of "always [madvise] never". */
static void find_choice(const doctor_job *j, const char *path, char *word, size_t size)
{
    char text[128];
    const char *begin = doctor_read(j, path, text, sizeof text) ? strchr(text, '[') : NULL;

    snprintf(word, size, "%.*s", begin ? (int)strcspn(begin + 1, "]") : 7, begin ? begin + 1 : "unknown");
}

static void look(doctor_job *j)
{
    job_memory *memory = &j->memory;
    int file = memfd_create("hsumma-doctor", MFD_CLOEXEC);

    memory->no_memfd = file < 0 ? errno : 0;
    if (file >= 0)
        close(file);
    hs_mapping_free(hs_mapping_make(j->node, PROBE_BYTES, 1, NULL, &memory->fault), PROBE_BYTES);
    look_at_shm(j, memory);
    memory->address_limit = least_limit();
    memory->product_memory = j->ctx ? (int64_t)j->ctx->tile_bytes : 0;
    memory->ptrace_scope = find_ptrace_scope(j);
    find_choice(j, "/sys/kernel/mm/transparent_hugepage/enabled", memory->huge, sizeof memory->huge);
    find_choice(j, "/sys/kernel/mm/transparent_hugepage/shmem_enabled", memory->huge_shared,
                sizeof memory->huge_shared);
}

static void tell_shared(const doctor_job *j, char *text, size_t size)
{
    const job_memory *memory = &j->memory;
    char free_bytes[32], limit[32];

    snprintf(text, size, "memfd %s; /dev/shm %s free; per-process limit %s; ptrace_scope %d",
             memory->no_memfd ? "refused" : "works", report_bytes(free_bytes, sizeof free_bytes, memory->shm_free),
             memory->address_limit < 0 ? "none" : report_bytes(limit, sizeof limit, memory->address_limit),
             memory->ptrace_scope);
}

static void tell_pages(const doctor_job *j, char *text, size_t size)
{
    snprintf(text, size, "transparent: %s; in shared memory: %s", j->memory.huge, j->memory.huge_shared);
}

/* --- findings ----------------------------------------------------------------------------------------------------- */

static int not_shared(const doctor_job *j, finding *f)
{
    const job_memory *memory = &j->memory;

    if (memory->no_memfd) {
        doctor_advises(f, "allow memfd_create (Linux 3.17 or later; check the container's seccomp profile)");
        return doctor_finds(f, "memfd_create failed: %s", strerror(memory->no_memfd));
    }
    return memory->fault && j->node_ranks > 1 &&
           doctor_finds(f, "ranks of a node cannot map shared memory: %s", hs_mapping_fault_text(memory->fault));
}

static int small_shm(const doctor_job *j, finding *f)
{
    const int64_t wanted = (int64_t)SHM_OF_RANK * j->node_ranks;
    char size[32], most[32], least[32];

    if (j->memory.shm_size < 0)
        return doctor_finds(f, "there is no /dev/shm");
    doctor_advises(
        f,
        "enlarge it to %s (docker --shm-size, mount -o remount,size=), or remove files that dead jobs have left there",
        report_bytes(least, sizeof least, wanted));
    return j->memory.shm_free < wanted && doctor_finds(f, "/dev/shm has %s of %s free, for %d rank%s",
                                                       report_bytes(size, sizeof size, j->memory.shm_free),
                                                       report_bytes(most, sizeof most, j->memory.shm_size),
                                                       j->node_ranks, report_plural(j->node_ranks));
}

static int limited(const doctor_job *j, finding *f)
{
    char size[32], most[32];

    return j->memory.address_limit >= 0 && j->memory.address_limit < j->memory.product_memory && j->node_ranks > 1 &&
           doctor_finds(f, "a process may map only %s (ulimit -v, -d, -f), but a grid maps up to %s",
                        report_bytes(size, sizeof size, j->memory.address_limit),
                        report_bytes(most, sizeof most, j->memory.product_memory));
}

static int restricted(const doctor_job *j, finding *f)
{
    return j->memory.ptrace_scope && j->node_ranks > 1 &&
           doctor_finds(f, "kernel.yama.ptrace_scope is %d: ranks cannot read each other's memory",
                        j->memory.ptrace_scope);
}

const doctor_subject doctor_memory = {
    .look = look,
    .facts = {{"shared", tell_shared}, {"huge pages", tell_pages}},
    .checks = {
        {.name = "shared-memory",
         .found = not_shared,
         .what = "ranks of a node cannot share memory",
         .why = "they exchange panels by messages instead of reading them from shared memory",
         .cure = "run all ranks of a node as one user, in one container, with /proc mounted and memfd_create allowed",
         .costly = 1,
         .measure = 1},
        {.name = "dev-shm",
         .found = small_shm,
         .what = "/dev/shm has less than 8 MiB free for each rank",
         .why =
             "MPI keeps its shared memory there: without space it uses a slower transport, or SIGBUS kills the program",
         .cure =
             "enlarge it (docker --shm-size, mount -o remount,size=), or remove files that dead jobs have left there",
         .costly = 1,
         .measure = 1},
        {.name = "limits",
         .found = limited,
         .what = "a process may map less memory than a grid needs",
         .why = "panels are narrower, or products fall back to messages",
         .cure = "ulimit -v unlimited; ulimit -d unlimited; ulimit -f unlimited"},
        {.name = "yama",
         .found = restricted,
         .what = "ranks cannot read each other's memory (kernel.yama.ptrace_scope)",
         .why = "collective calls inside a node, and MPI's own messages, copy data twice; products are not affected",
         .cure = "sysctl kernel.yama.ptrace_scope=0 (as root)"}}};
