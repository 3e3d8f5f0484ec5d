/* hsumma doctor: the BLAS, and the kernels that it says it has chosen. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/threads.h"
#include "doctor/doctor.h"

/* The names of an extension, and of kernels for it in OpenBLAS and BLIS. */
static const struct {
    const char *name, *openblas, *blis;
} levels[] = {[HS_VECTORS_UNKNOWN] = {"unknown vector extension", "", ""},
              [HS_VECTORS_SSE] = {"SSE", "Nehalem", "penryn"},
              [HS_VECTORS_AVX] = {"AVX", "Sandybridge", "sandybridge"},
              [HS_VECTORS_AVX2] = {"AVX2", "Haswell", "haswell"},
              [HS_VECTORS_AVX512] = {"AVX-512", "SkylakeX", "skx"}};

static int has_flag(const char *flags, const char *flag)
{
    const size_t length = strlen(flag);

    for (const char *at = flags; (at = strstr(at, flag)) != NULL; at += length)
        if (at[-1] == ' ' && strchr(" \n", at[length]))
            return 1;
    return 0;
}

/* The first family of AMD's processors with units of 512 bits (Zen 5). Those of Zen 4 have 256, so there kernels for
 * AVX2 are as fast as those for AVX-512. The units of some Zen 5 laptops, too, have 256. */
enum { AMD_WIDE_FAMILY = 26 };

/* The processor's vector extension; AVX-512 only if its units have 512 bits. */
static enum hs_vectors processor_level(const doctor_job *j)
{
    char *line = NULL;
    size_t size = 0;
    int amd = 0, family = 0;
    enum hs_vectors level = HS_VECTORS_UNKNOWN;
    FILE *file = doctor_open(j, "/proc/cpuinfo");

    while (file && level == HS_VECTORS_UNKNOWN && getline(&line, &size, file) > 0) {
        amd |= !strncmp(line, "vendor_id", 9) && strstr(line, "AuthenticAMD");
        sscanf(line, "cpu family : %d", &family);
        if (strncmp(line, "flags", 5))
            continue;
        level = !has_flag(line, "avx")                              ? HS_VECTORS_SSE
                : !has_flag(line, "avx2") || !has_flag(line, "fma") ? HS_VECTORS_AVX
                : (amd && family < AMD_WIDE_FAMILY) || !has_flag(line, "avx512f") || !has_flag(line, "avx512dq") ||
                        !has_flag(line, "avx512bw") || !has_flag(line, "avx512vl")
                    ? HS_VECTORS_AVX2
                    : HS_VECTORS_AVX512;
    }
    free(line);
    if (file)
        fclose(file);
    return level;
}

static void ask_openblas(job_blas *blas)
{
    char *(*config)(void);
    const char *word = "";
    size_t name;

    if (hs_blas_find("openblas_get_config", &config))
        word = config();
    blas->chooses = strstr(word, "DYNAMIC_ARCH") != NULL;
    name = strcspn(word, " "); /* "OpenBLAS 0.3.21 ..." */
    name += strspn(word + name, " ");
    snprintf(blas->version, sizeof blas->version, "%.*s", (int)(name + strcspn(word + name, " ")), word);
}

static void ask_blis(job_blas *blas)
{
    const char *(*version)(void);

    if (hs_blas_find("bli_info_get_version_str", &version))
        snprintf(blas->version, sizeof blas->version, "BLIS %.40s", version());
    blas->chooses = 1;
}

static void look(doctor_job *j)
{
    job_blas *blas = &j->blas;
    const char *library = hs_threads_library();
    Dl_info place;
    void *gemm = dlsym(RTLD_DEFAULT, "cblas_dgemm");

    if (gemm && dladdr(gemm, &place) && place.dli_fname && !realpath(place.dli_fname, blas->file))
        blas->file[0] = 0;
    if (!strcmp(library, "OpenBLAS"))
        ask_openblas(blas);
    else if (!strcmp(library, "BLIS"))
        ask_blis(blas);
    blas->kernels = hs_blas_kernels();
    blas->processor = processor_level(j);
}

static void tell_blas(const doctor_job *j, char *text, size_t size)
{
    const job_blas *blas = &j->blas;
    int used = snprintf(text, size, "%s", blas->version[0] ? blas->version : hs_threads_library());

    if (blas->kernels.name[0])
        used += snprintf(text + used, size - (size_t)used, "; kernels %s (%s)", blas->kernels.name,
                         levels[blas->kernels.vectors].name);
    if (blas->processor)
        used += snprintf(text + used, size - (size_t)used, "; processor with %s", levels[blas->processor].name);
    if (blas->file[0])
        snprintf(text + used, size - (size_t)used, "; %.150s", blas->file);
}

/* --- findings ----------------------------------------------------------------------------------------------------- */

/* Writes the value of BLIS_ARCH_TYPE for kernels: BLIS 0.9 accepts only numbers, which depend on its version. */
static void name_for_blis(const char *kernels, char *text, size_t size)
{
    const char *(*name)(int);
    int id = 0;

    snprintf(text, size, "%s", kernels);
    if (!hs_blas_find("bli_arch_string", &name))
        return;
    while (strcmp(name(id), kernels) && strcmp(name(id), "generic")) /* the last one */
        id++;
    if (!strcmp(name(id), kernels))
        snprintf(text, size, "%d (%s)", id, kernels);
}

static int slow_kernels(const doctor_job *j, finding *f)
{
    const job_blas *blas = &j->blas;
    int blis = !strcmp(hs_threads_library(), "BLIS");
    const char *variable = blis ? "BLIS_ARCH_TYPE" : "OPENBLAS_CORETYPE", *set = hs_environment(variable);
    char better[32];

    if (!blas->kernels.vectors || blas->kernels.vectors >= blas->processor)
        return 0;
    if (blis)
        name_for_blis(levels[blas->processor].blis, better, sizeof better);
    else
        snprintf(better, sizeof better, "%s", levels[blas->processor].openblas);
    if (set)
        doctor_advises(f, "unset %s (now %.40s), or set it to %s, for all ranks", variable, set, better);
    else if (blas->chooses)
        doctor_advises(f, "set %s=%s for all ranks, or use a newer %s", variable, better, hs_threads_library());
    else
        doctor_advises(f, "use a %s built for this processor, or one that selects kernels at run time (DYNAMIC_ARCH)",
                       hs_threads_library());
    return doctor_finds(f, "%s runs its %s kernels (%s) on a processor with %s", hs_threads_library(),
                        blas->kernels.name, levels[blas->kernels.vectors].name, levels[blas->processor].name);
}

/* Whether the BLAS is netlib's reference, or GSL's, by its file name. */
static int reference(const doctor_job *j, finding *f)
{
    static const char *const names[] = {"/blas/libblas.so", "/libcblas.so", "/librefblas.so", "/libgslcblas.so"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(j->blas.file, names[i]))
            return doctor_finds(f, "the BLAS is a reference implementation: %.200s", j->blas.file);
    return 0;
}

static int serial(const doctor_job *j, finding *f)
{
    return hs_threads_now() == 0 && j->cores.fit > 1 && j->blas.version[0] &&
           doctor_finds(f, "the BLAS is single-threaded, but a rank has %d cores", j->cores.fit);
}

const doctor_subject doctor_blas = {
    .look = look,
    .facts = {{"BLAS", tell_blas}},
    .checks = {
        {.name = "kernels",
         .found = slow_kernels,
         .what = "the BLAS runs kernels for an older processor",
         .why = "the local GEMM reaches only a quarter to a half of the processor's speed",
         .cure =
             "set OPENBLAS_CORETYPE=SkylakeX (AVX-512) or Haswell (AVX2), or for BLIS 0.9 BLIS_ARCH_TYPE=0 (skx) or 3 "
             "(haswell); or use a newer BLAS. Debian's OpenBLAS 0.3.21 falls back to Prescott on processors newer than "
             "itself",
         .costly = 1,
         .measure = 1},
        {.name = "reference-blas",
         .found = reference,
         .what = "the BLAS is a reference implementation",
         .why = "it is at least ten times slower than an optimised BLAS",
         .cure = "install OpenBLAS or BLIS (Debian: libopenblas0-pthread; update-alternatives --config "
                 "libblas.so.3-x86_64-linux-gnu)",
         .costly = 1,
         .measure = 1},
        {.name = "serial-blas",
         .found = serial,
         .what = "the BLAS is single-threaded, but a rank has several cores",
         .why = "all but one of the rank's cores are idle",
         .cure = "start one rank per core, or use a multithreaded BLAS (Debian: libopenblas0-pthread)",
         .costly = 1,
         .measure = 1}}};
