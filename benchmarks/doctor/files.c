/* hsumma doctor: the profile and the tuned file, which rank 0 reads for all. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "coll/select/select.h"
#include "common/command.h"
#include "doctor/doctor.h"
#include "report/columns.h"

/* Finds the path where contexts look for the file. */
static void find_path(const char *option, const char *none, const char *name, job_file *file)
{
    int length = (int)strlen(option);

    if (!strcmp(option, none))
        return;
    if (strcmp(option, "auto"))
        snprintf(file->path, sizeof file->path, "%s", option);
    else
        length = hs_config_path(name, file->path, sizeof file->path);
    if (length < 0 || (size_t)length >= sizeof file->path)
        file->path[0] = 0;
}

/* The file's text, which the caller frees; NULL if it cannot be used, and file->state then says why. */
static char *read_whole(job_file *file)
{
    char *text = NULL;
    size_t size = 0;
    struct stat is;
    FILE *from = NULL;

    if (!file->path[0])
        return NULL;
    if (!stat(file->path, &is) && !S_ISREG(is.st_mode))
        errno = EINVAL;
    else
        from = fopen(file->path, "r");
    if (from && getdelim(&text, &size, 0, from) >= 0) {
        file->days = difftime(time(NULL), is.st_mtime) / 86400;
        file->state = FILE_GOOD;
    } else if (from || (errno != ENOENT && errno != ENOTDIR)) {
        file->state = FILE_BAD;
        snprintf(file->why, sizeof file->why, "%s", from ? "the file is empty" : strerror(errno));
    }
    if (from)
        fclose(from);
    if (file->state == FILE_GOOD)
        return text;
    free(text);
    return NULL;
}

/* Whether the library that has the function was built after the file was written. */
static int is_older(const job_file *file, const char *function)
{
    void *symbol = dlsym(RTLD_DEFAULT, function);
    Dl_info place;
    struct stat is, library;

    return symbol && dladdr(symbol, &place) && place.dli_fname && !stat(place.dli_fname, &library) &&
           !stat(file->path, &is) && is.st_mtime < library.st_mtime;
}

static void look_at_profile(job_file *file)
{
    struct hs_profile profile = hs_profile_builtin;
    struct hs_message why;
    char here[HS_HOST_TEXT], *text = read_whole(file), *there;

    if (!text)
        return;
    hs_host_signature(here);
    if (hs_profile_read(text, NULL, &profile, &why)) {
        file->state = FILE_BAD;
        snprintf(file->why, sizeof file->why, "%.*s", (int)sizeof file->why - 1, why.text);
    } else if (hs_profile_read(text, here, &profile, &why)) {
        file->state = FILE_FOREIGN;
        there = strstr(text, "\nhost ");
        there = there ? there + strlen("\nhost ") : "";
        snprintf(file->why, sizeof file->why, "%.*s", (int)strcspn(there, "\n"), there);
    }
    file->older = is_older(file, "cblas_dgemm") || is_older(file, "MPI_Init");
    free(text);
}

static void look_at_tuned(job_file *file)
{
    struct hs_tuned tuned = {0};
    struct hs_rules rules = {0};
    struct hs_message why = {""};
    char *text = read_whole(file);

    if (text && (hs_rules_read_tuned(&rules, text, &hs_heap, &why) || hs_tuned_read(&tuned, text, &hs_heap, &why))) {
        file->state = FILE_BAD;
        snprintf(file->why, sizeof file->why, "%.*s", (int)sizeof file->why - 1, why.text);
    }
    hs_rules_free(&rules, &hs_heap);
    hs_tuned_free(&tuned, &hs_heap);
    free(text);
}

/* Whether a file cannot be replaced. A new file is renamed over the old one, so its directory must be writable; or, if
 * that does not exist yet, the nearest parent that does. */
static int is_locked(const char *path)
{
    char directory[PATH_MAX], *slash;

    if (!realpath(path, directory))
        snprintf(directory, sizeof directory, "%s%s", *path == '/' ? "" : "./", path);
    do {
        slash = strrchr(directory, '/');
        if (!slash)
            return 0;
        slash[slash == directory] = 0;
    } while (slash != directory && access(directory, F_OK) && errno == ENOENT);
    return faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) != 0;
}

static void look_alone(doctor_job *j)
{
    find_path(j->ctx->texts.profile, "builtin", "profile", &j->profile);
    find_path(j->ctx->texts.tuned, "none", "tuned", &j->tuned);
    look_at_profile(&j->profile);
    look_at_tuned(&j->tuned);
    j->tuned.locked = j->tuned.path[0] && is_locked(j->tuned.path);
}

static void look(doctor_job *j)
{
    if (!j->ctx)
        return;
    if (j->rank == 0)
        look_alone(j);
    quiet_bcast(&j->profile, sizeof j->profile, MPI_BYTE, 0, j->comm);
    quiet_bcast(&j->tuned, sizeof j->tuned, MPI_BYTE, 0, j->comm);
}

static void tell(const doctor_job *j, const job_file *file, const char *without, char *text, size_t size)
{
    static const char *const states[] = {"none", "used", "not used: measured on another machine", "not used: damaged"};

    if (!j->ctx)
        return;
    if (file->state == FILE_NONE)
        snprintf(text, size, "%s", without);
    else if (file->state == FILE_BAD) /* without its age, which is unknown if the file cannot be read */
        snprintf(text, size, "%.250s; %s", file->path, states[file->state]);
    else
        snprintf(text, size, "%.250s, %.0f day%s old; %s", file->path, file->days, report_plural((int64_t)file->days),
                 states[file->state]);
}

static void tell_profile(const doctor_job *j, char *text, size_t size)
{
    tell(j, &j->profile, j->ctx ? j->ctx->profile.source : "", text, size);
}

static void tell_tuned(const doctor_job *j, char *text, size_t size)
{
    tell(j, &j->tuned, "none yet", text, size);
}

/* --- findings ----------------------------------------------------------------------------------------------------- */

static int foreign_profile(const doctor_job *j, finding *f)
{
    return j->profile.state == FILE_FOREIGN &&
           doctor_finds(f, "%.150s was measured on another machine (%.150s)", j->profile.path, j->profile.why);
}

static int damaged_profile(const doctor_job *j, finding *f)
{
    return j->profile.state == FILE_BAD && doctor_finds(f, "%.150s: %.200s", j->profile.path, j->profile.why);
}

static int old_profile(const doctor_job *j, finding *f)
{
    return j->profile.state == FILE_GOOD && j->profile.older &&
           doctor_finds(f, "%.150s is %.0f days old, older than the BLAS or the MPI library", j->profile.path,
                        j->profile.days);
}

static int damaged_tuned(const doctor_job *j, finding *f)
{
    return j->tuned.state == FILE_BAD && doctor_finds(f, "%.150s: %.200s", j->tuned.path, j->tuned.why);
}

static int locked_tuned(const doctor_job *j, finding *f)
{
    return j->tuned.locked && doctor_finds(f, "%.250s cannot be written", j->tuned.path);
}

const doctor_subject doctor_files = {
    .look = look,
    .facts = {{"profile", tell_profile}, {"tuned file", tell_tuned}},
    .checks = {{.name = "foreign-profile",
                .found = foreign_profile,
                .what = "the profile was measured on another machine (processor, number of cores, MPI or BLAS)",
                .why = "it is ignored; plans are chosen by the built-in profile",
                .cure = "run hsumma calibrate here, with as many ranks per node as your program; or set HSUMMA_PROFILE "
                        "to a different file on each machine",
                .costly = 1},
               {.name = "damaged-profile",
                .found = damaged_profile,
                .what = "the profile cannot be read",
                .why = "it is ignored; plans are chosen by the built-in profile",
                .cure = "run hsumma calibrate, which replaces it",
                .costly = 1},
               {.name = "old-profile",
                .found = old_profile,
                .what = "the profile is older than the BLAS or the MPI library",
                .why = "its measurements may no longer be right",
                .cure = "run hsumma calibrate"},
               {.name = "damaged-tuned",
                .found = damaged_tuned,
                .what = "the tuned file cannot be read",
                .why = "it is ignored, and so are the measurements in it",
                .cure = "correct the line that the message names, or remove the file"},
               {.name = "locked-tuned",
                .found = locked_tuned,
                .what = "the tuned file cannot be written",
                .why = "a job's measurements (network, HSUMMA_TUNE=measure) are not saved: the next job measures again",
                .cure = "make its directory writable, or set HSUMMA_TUNED=FILE to a file in a writable directory"}}};
