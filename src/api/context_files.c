#include "api/context_parts.h"

#include "base/simulator.h"
#include "coll/node/agree_mpi.h"
#include "hsumma/cost/blas_kernels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILE_BYTES = 8 << 20, SHOWN_PATH = 160 };

/* The result of reading the files, which rank 0 broadcasts. */
struct found_files {
    hsumma_status status;
    int length; /* bytes of the tuned file's text, which is broadcast next; 0 if there is no file */
    struct hs_message message;
    struct hs_profile profile;
    int measures; /* 1: no profile describes the network between nodes, so it must be measured */
    int copies;   /* 1: none describes copies inside the node either, and its ranks do not share processors */
    char tuned_file[HS_OPTION_TEXT], note[HS_OPTION_TEXT];
};

/* A file that an option names, or that is looked for in the usual place. */
struct found {
    const char *what, *use;
    int named, may_be_new;
    char path[HS_OPTION_TEXT]; /* "" if no file is wanted, or there is no usual place */
};

static struct found find(const hsumma_context *ctx, enum hs_option option, const char *none, const char *use)
{
    hsumma_option_info info;
    const char *value = option == HS_OPT_TUNED ? ctx->texts.tuned : ctx->texts.profile;
    hsumma_option((int)option, &info);
    struct found found = {.what = info.name, .use = use, .named = strcmp(value, "auto") != 0};
    /* with tune=measure the named file may not exist yet */
    found.may_be_new = option == HS_OPT_TUNED && ctx->options.settings.tune == HS_TUNE_MEASURE;
    if (found.named)
        snprintf(found.path, sizeof found.path, "%s", strcmp(value, none) == 0 ? "" : value);
    else {
        int length = hs_config_path(info.name, found.path, sizeof found.path);
        if (length < 0 || (size_t)length >= sizeof found.path)
            found.path[0] = 0;
    }
    return found;
}

/* Shortens a long path: its end says more than its beginning. */
static const char *shown(const char *path, size_t most)
{
    size_t length = strlen(path);
    return length < most ? path : path + length - most + 1;
}

char *hs_read_file(const struct hs_allocator *memory, const char *path)
{
    void *text = NULL;
    size_t capacity = 0, length = 0;
    int reason = 0;
    struct stat kind;
    FILE *file = NULL;
    if (stat(path, &kind) == 0 && S_ISFIFO(kind.st_mode)) /* opening a pipe would wait for its writer */
        errno = EINVAL;
    else
        file = fopen(path, "r");
    if (!file)
        return NULL;
    while (!reason && !feof(file)) {
        if (hs_grow(memory, &text, 1, &capacity, length + 4096)) {
            reason = ENOMEM;
            break;
        }
        errno = 0;
        size_t more = fread((char *)text + length, 1, capacity - length - 1, file);
        if (ferror(file))
            reason = errno ? errno : EIO;
        for (char *zero; (zero = memchr((char *)text + length, 0, more)) != NULL;)
            *zero = '?';
        length += more;
        if (length > MOST_FILE_BYTES)
            reason = EFBIG;
        ((char *)text)[length] = 0;
    }
    fclose(file);
    if (reason) {
        hs_put(memory, text);
        errno = reason;
        return NULL;
    }
    return text;
}

static void add_note(struct found_files *found_files, const struct found *found, const char *why)
{
    hs_append(found_files->note, sizeof found_files->note, "%s%s %s: %s; %s", found_files->note[0] ? "; " : "",
              found->what, shown(found->path, SHOWN_PATH), why, found->use);
}

static void no_memory(struct found_files *found_files, const struct found *found)
{
    found_files->status =
        hs_fail(&found_files->message, HSUMMA_ERR_MEMORY, "%s: no memory for %s", found->what, found->path);
}

/* The file's text, or NULL. Records an error if memory is exhausted, or if a named file cannot be read, unless it does
 * not exist and may be new; records a note if an unnamed file exists but cannot be read. */
static char *open_found(const hsumma_context *ctx, const struct found *found, struct found_files *found_files)
{
    char *text = found->path[0] ? hs_read_file(&ctx->memory, found->path) : NULL;
    int reason = errno;
    if (text || !found->path[0])
        return text;
    if (reason == ENOMEM)
        no_memory(found_files, found);
    else if (found->named && !(found->may_be_new && reason == ENOENT))
        found_files->status = hs_fail(&found_files->message, HSUMMA_ERR_OPTION, "%s: cannot read %s: %s", found->what,
                                      found->path, strerror(reason));
    else if (reason != ENOENT && reason != ENOTDIR)
        add_note(found_files, found, strerror(reason));
    return NULL;
}

static void read_profile(const hsumma_context *ctx, struct found_files *found_files)
{
    struct found found = find(ctx, HS_OPT_PROFILE, "builtin", "the built-in one is used");
    struct hs_message why;
    char host[HS_HOST_TEXT], *text = open_found(ctx, &found, found_files);
    if (!text)
        return;
    hs_host_signature(host);
    const char *source = shown(found.path, sizeof found_files->profile.source);
    if (hs_profile_read(text, host, &found_files->profile, &why))
        add_note(found_files, &found, why.text);
    else {
        memcpy(found_files->profile.source, source, strlen(source) + 1);
        found_files->measures = found_files->copies = 0;
    }
    hs_put(&ctx->memory, text);
}

/* Looks up the network that an earlier context measured between the same hosts. */
static void recall_network(const hsumma_context *ctx, const char *tuned, struct found_files *found_files)
{
    struct hs_network network;
    if (!found_files->measures)
        return;
    /* lines of earlier versions lack the local GEMM, and are measured again by programs that have one */
    if ((tuned && hs_network_recall(tuned, ctx->network_key, &network) &&
         (network.gemm > 0 || !hs_gemm_to_measure())) ||
        hs_network_known(ctx->network_key, &network)) {
        hs_network_use(&network, "built-in, network remembered", &found_files->profile);
        found_files->measures = 0;
    }
}

static void forget_tuned(hsumma_context *ctx)
{
    hs_rules_free(&ctx->team.selector.tuned, &ctx->memory);
    hs_tuned_free(&ctx->tuned, &ctx->memory);
}

/* Parses the text twice: for the rules of collective calls and for the lines of products. */
static hsumma_status take_tuned(hsumma_context *ctx, const char *text, struct hs_message *message)
{
    hsumma_status status = hs_rules_read_tuned(&ctx->team.selector.tuned, text, &ctx->memory, message);
    if (!status)
        status = hs_tuned_read(&ctx->tuned, text, &ctx->memory, message);
    if (status)
        forget_tuned(ctx);
    return status;
}

/* Reads the tuned file and applies it to this context. Returns the text; NULL if there is no file or it is damaged. */
static char *read_tuned(hsumma_context *ctx, struct found_files *found_files)
{
    static const char sayer[] = "tuned: ";
    struct found found = find(ctx, HS_OPT_TUNED, "none", "it is not used");
    struct hs_message why = {""};
    char *text = open_found(ctx, &found, found_files);
    memcpy(found_files->tuned_file, found.path, sizeof found.path);
    hsumma_status status = text ? take_tuned(ctx, text, &why) : HSUMMA_OK;
    if (!status) {
        found_files->length = text ? (int)strlen(text) : 0;
        return text;
    }
    hs_put(&ctx->memory, text);
    if (status == HSUMMA_ERR_OPTION && !found.named) {
        add_note(found_files, &found,
                 why.text + (strncmp(why.text, sayer, sizeof sayer - 1) == 0 ? sizeof sayer - 1 : 0));
        return NULL;
    }
    found_files->status = status;
    found_files->message = why;
    if (status == HSUMMA_ERR_MEMORY)
        no_memory(found_files, &found);
    return NULL;
}

/*
 * Broadcasts the text. The reader has applied it already; the other ranks do so here. Collective; every rank returns
 * the same status.
 */
static hsumma_status spread_tuned(hsumma_context *ctx, char **text, int length)
{
    struct hs_message message = {""};
    int reader = *text != NULL;
    if (!reader)
        *text = hs_get(&ctx->memory, (size_t)length + 1, 1);
    hsumma_status status = hs_agreed(ctx->comm.comm, *text ? HSUMMA_OK : HSUMMA_ERR_MEMORY, ctx->comm.watch);
    if (!status)
        status = hs_mpi_bcast(*text, (size_t)length + 1, 0, ctx->comm.comm, ctx->comm.watch);
    if (!status)
        status = hs_agreed(ctx->comm.comm, reader ? HSUMMA_OK : take_tuned(ctx, *text, &message), ctx->comm.watch);
    return status ? hs_fail(&ctx->message, status, "tuned: cannot broadcast %s: %s", ctx->tuned_file,
                            hsumma_status_string(status))
                  : HSUMMA_OK;
}

/* Whether the first long broadcasts are to measure copies, unless a profile is found. */
static int is_to_measure_copies(const hsumma_context *ctx)
{
    return ctx->comm.size > 1 && !ctx->comm.crowded && !hs_simulator() && strcmp(ctx->texts.profile, "builtin") != 0;
}

/* Computes the key of this context's hosts, if the network between them may have to be measured. */
static hsumma_status find_network_key(hsumma_context *ctx)
{
    struct hs_nodes nodes;
    hs_topology_text(ctx->texts.topology, &nodes);
    int several = nodes.count ? nodes.count > 1 : !ctx->profile.one_node;
    if (!several || ctx->comm.size == 1 || hs_simulator() || strcmp(ctx->texts.profile, "builtin") == 0)
        return HSUMMA_OK;
    hsumma_status status = hs_network_key(ctx->comm.comm, ctx->comm.host.count, nodes.count, nodes.sockets,
                                          ctx->comm.watch, &ctx->network_key);
    return status ? hs_fail(&ctx->message, status, "MPI failed while the names of the hosts were gathered") : HSUMMA_OK;
}

hsumma_status hs_files_read(hsumma_context *ctx)
{
    struct found_files found_files;
    char *text = NULL;
    memset(&found_files, 0, sizeof found_files);
    hsumma_status status = find_network_key(ctx);
    if (status)
        return status;
    if (ctx->comm.rank == 0) {
        found_files.profile = ctx->profile;
        found_files.measures = ctx->network_key != 0;
        found_files.copies = is_to_measure_copies(ctx);
        hs_environment_misspelt_text(found_files.note, sizeof found_files.note);
        read_profile(ctx, &found_files);
        if (!found_files.status)
            text = read_tuned(ctx, &found_files);
        recall_network(ctx, text, &found_files);
        if (!hs_simulator() && strcmp(ctx->texts.profile, "builtin") != 0) { /* both promise the same plans anywhere */
            const struct hs_blas_kernels kernels = hs_blas_kernels();
            const int crowded = ctx->comm.crowded ? (int)sysconf(_SC_NPROCESSORS_ONLN) : 0; /* asked by one rank */
            hs_profile_adapt(&found_files.profile, &kernels, crowded);
        }
    }
    status = hs_mpi_bcast(&found_files, sizeof found_files, 0, ctx->comm.comm, ctx->comm.watch);
    if (status)
        hs_fail(&ctx->message, status, "MPI_Ibcast of the profile and the tuned file failed");
    else if (found_files.status)
        status = hs_fail(&ctx->message, found_files.status, "%s", found_files.message.text);
    else {
        ctx->profile = found_files.profile;
        ctx->measures = found_files.measures;
        ctx->measures_copies = found_files.copies;
        memcpy(ctx->tuned_file, found_files.tuned_file, sizeof found_files.tuned_file);
        memcpy(ctx->note, found_files.note, sizeof found_files.note);
        status = found_files.length ? spread_tuned(ctx, &text, found_files.length) : HSUMMA_OK;
    }
    if (status)
        forget_tuned(ctx);
    hs_put(&ctx->memory, text);
    return status;
}
