#include "hsumma/cost/blas_kernels.h"

#include "base/threads.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Names not listed are never a reason to act. */
static const struct {
    const char *name;
    enum hs_vectors vectors;
} known[] = {
    {"Prescott", HS_VECTORS_SSE},     {"Core2", HS_VECTORS_SSE},         {"Penryn", HS_VECTORS_SSE},
    {"Dunnington", HS_VECTORS_SSE},   {"Nehalem", HS_VECTORS_SSE},       {"Atom", HS_VECTORS_SSE},
    {"Katmai", HS_VECTORS_SSE},       {"Coppermine", HS_VECTORS_SSE},    {"Northwood", HS_VECTORS_SSE},
    {"Banias", HS_VECTORS_SSE},       {"Athlon", HS_VECTORS_SSE},        {"Opteron", HS_VECTORS_SSE},
    {"Opteron_SSE3", HS_VECTORS_SSE}, {"Barcelona", HS_VECTORS_SSE},     {"Bobcat", HS_VECTORS_SSE},
    {"Nano", HS_VECTORS_SSE},         {"Generic", HS_VECTORS_SSE},       {"Sandybridge", HS_VECTORS_AVX},
    {"Bulldozer", HS_VECTORS_AVX},    {"Piledriver", HS_VECTORS_AVX},    {"Steamroller", HS_VECTORS_AVX},
    {"Excavator", HS_VECTORS_AVX},    {"Haswell", HS_VECTORS_AVX2},      {"Zen", HS_VECTORS_AVX2},
    {"SkylakeX", HS_VECTORS_AVX512},  {"Cooperlake", HS_VECTORS_AVX512}, {"SapphireRapids", HS_VECTORS_AVX512},
    {"penryn", HS_VECTORS_SSE},       {"generic", HS_VECTORS_SSE},       {"sandybridge", HS_VECTORS_AVX},
    {"haswell", HS_VECTORS_AVX2},     {"zen", HS_VECTORS_AVX2},          {"zen2", HS_VECTORS_AVX2},
    {"zen3", HS_VECTORS_AVX2},        {"knl", HS_VECTORS_AVX512},        {"skx", HS_VECTORS_AVX512},
};

int hs_blas_find(const char *name, void *function)
{
    void *gemm = dlsym(RTLD_DEFAULT, "cblas_dgemm");
    Dl_info place;
    const char *file = gemm && dladdr(gemm, &place) ? place.dli_fname : NULL;
    void *library = file ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = dlsym(library ? library : RTLD_DEFAULT, name); /* the program itself has no such handle */
    memcpy(function, &symbol, sizeof symbol);
    if (library)
        dlclose(library);
    return symbol != NULL;
}

struct hs_blas_kernels hs_blas_kernels(void)
{
    struct hs_blas_kernels kernels = {.name = ""};
    const char *library = hs_threads_library(), *name = "";
    const int openblas = strcmp(library, "OpenBLAS") == 0;
    char *(*core)(void);
    int (*id)(void);
    const char *(*text)(int);
    if (openblas && hs_blas_find("openblas_get_corename", &core))
        name = core();
    else if (strcmp(library, "BLIS") == 0 && hs_blas_find("bli_arch_query_id", &id) &&
             hs_blas_find("bli_arch_string", &text))
        name = text(id());
    snprintf(kernels.name, sizeof kernels.name, "%s", name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(kernels.name, known[i].name) == 0)
            kernels.vectors = known[i].vectors;
    kernels.small = openblas && kernels.vectors == HS_VECTORS_AVX512;
    return kernels;
}

void hs_profile_adapt(struct hs_profile *profile, const struct hs_blas_kernels *kernels, int crowded)
{
    /* OpenBLAS 0.3.21; doc/results/node.md, "Small matrices" */
    enum { UNPACKED = 1000000 };
    static const struct {
        const char *name;
        double slower;
    } of[] = {[HS_VECTORS_SSE] = {"SSE", 4}, [HS_VECTORS_AVX] = {"AVX", 2}, [HS_VECTORS_AVX512] = {"", 1}};
    profile->unpacked = kernels->small ? UNPACKED : 0;
    if (strcmp(profile->source, hs_profile_builtin.source) != 0)
        return;
    profile->crowded = crowded;
    if (of[kernels->vectors].slower <= 1)
        return;
    for (int i = 0; i < 2; i++)
        profile->gemm[i].flop *= of[kernels->vectors].slower;
    snprintf(profile->source, sizeof profile->source, "built-in, %s kernels of the BLAS", of[kernels->vectors].name);
}
