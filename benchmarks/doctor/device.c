/* hsumma doctor: GPUs, and whether ranks can share memory on them. */
#include <dirent.h>

#include "coll/run/device_comm.h"
#include "doctor/doctor.h"
#include "report/columns.h"

/* The number of NVIDIA GPUs that the driver lists. */
static int count_gpus(const doctor_job *j)
{
    char path[PATH_MAX];
    int count = 0;
    DIR *directory = NULL;

    if ((size_t)snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus", j->root) < sizeof path)
        directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

/* The reason why device memory is not shared; "" if it is shared, or if there is no device. */
static const char *not_shared_because(const doctor_job *j)
{
    return j->ctx && j->ctx->comm.device ? j->ctx->comm.device->note.text : "";
}

static void tell_device(const doctor_job *j, char *text, size_t size)
{
    int gpus = count_gpus(j);

    if (j->ctx && j->ctx->device)
        snprintf(text, size, "%s; memory %s", hsumma_device(j->ctx),
                 not_shared_because(j)[0] ? "not shared" : "shared");
    else if (gpus > 0)
        snprintf(text, size, "none in use; %d GPU%s on the node (option device=cuda%s)", gpus, report_plural(gpus),
                 HSUMMA_HAVE_CUDA ? "" : "; this library is built without CUDA");
}

static int not_shared(const doctor_job *j, finding *f)
{
    const char *why = not_shared_because(j);

    return why[0] && doctor_finds(f, "ranks cannot share device memory: %.300s", why);
}

const doctor_subject doctor_device = {
    .facts = {{"device", tell_device}},
    .checks = {{.name = "device-memory",
                .found = not_shared,
                .what = "ranks cannot share GPU memory",
                .why = "ranks exchange GPU data through host memory",
                .cure = "run all ranks of a node in one container with --ipc=host, and make all GPUs visible to each "
                        "rank (the same CUDA_VISIBLE_DEVICES)",
                .costly = 1,
                .measure = 1}}};
