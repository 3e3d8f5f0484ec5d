/* hsumma calibrate: the file, the table, and JSON. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/command.h"

static const char *const fit_names[FITS] = {"network",
                                            "node",
                                            "socket",
                                            "shm",
                                            "read",
                                            "exchange",
                                            "gemm double",
                                            "gemm float",
                                            "device",
                                            "device.staged",
                                            "device.staged network"};

/* --- the file ---------------------------------------------------------------------------------------------------- */

static void write_sample(FILE *file, const calibrate_sample *s)
{
    fprintf(file, "measured.%s", s->name);
    for (int i = 0; i < s->numbers; i++)
        fprintf(file, " %lld", (long long)s->number[i]);
    fprintf(file, " %.4g\n", s->seconds);
}

/* Writes the profile, with the samples inserted before its last line, which marks the file as complete. */
static int write_all(FILE *file, const calibration *cal, const char *profile)
{
    const char *last = strstr(profile, "\nend\n");
    int before = last ? (int)(last + 1 - profile) : (int)strlen(profile);

    fprintf(file, "%.*s", before, profile);
    fprintf(file, "# Seconds: pairs.WHERE PAIRS BYTES, stream.network PAIRS BYTES, exchange OTHERS BYTES,\n"
                  "# copy BYTES, sum BYTES, shared BYTES, read BYTES, signal, gemm TYPE M N K, overlap.WHAT AMOUNT,\n"
                  "# device.copy BYTES, device.sum BYTES, device.gemm TYPE N, device.hop, device.turn,\n"
                  "# device.staged.WHERE BYTES.\n");
    for (int i = 0; i < cal->samples; i++)
        write_sample(file, &cal->sample[i]);
    fputs(profile + before, file);
    return !ferror(file);
}

char *calibrate_text(const calibration *cal)
{
    char host[HS_HOST_TEXT], *text = NULL, *profile;
    int length, good;
    size_t size = 0;
    FILE *file;

    hs_host_signature(host);
    length = hs_profile_write(&cal->profile, host, NULL, 0);
    profile = length >= 0 ? malloc((size_t)length + 1) : NULL;
    file = profile ? open_memstream(&text, &size) : NULL;
    good = file && !cal->out_of_memory;
    if (file) {
        hs_profile_write(&cal->profile, host, profile, (size_t)length + 1);
        good = write_all(file, cal, profile) && good;
        good = !fclose(file) && good;
    }
    free(profile);
    if (good)
        return text;
    free(text);
    return NULL;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

/* Prints one row: name, values, and the errors of the fit. */
__attribute__((format(printf, 4, 5))) static void row(FILE *file, const char *what, const fit_error *error,
                                                      const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (error && !isnan(error->worst))
        fprintf(file, "%-15s %-72s %4.0f %% %4.0f %%\n", what, text, 100 * error->median, 100 * error->worst);
    else
        fprintf(file, "%-15s %s\n", what, text);
}

static const char *line_text(char text[80], double alpha, double beta)
{
    if (beta > 0)
        snprintf(text, 80, "%.3g us + n / %.4g MB/s", 1e6 * alpha, 1e-6 / beta);
    else
        snprintf(text, 80, "%.3g us", 1e6 * alpha);
    return text;
}

static void link_row(FILE *file, const char *what, const calibration *cal, enum calibrate_fit fit,
                     const struct hs_link *link)
{
    char low[80], high[80];

    if (isnan(cal->error[fit].worst))
        row(file, what, NULL, "not measured: this job has no such ranks");
    else if (link->eager > 0)
        row(file, what, &cal->error[fit], "%s; above %lld bytes %s", line_text(low, link->alpha, link->beta),
            (long long)link->eager, line_text(high, link->alpha_long, link->beta_long));
    else
        row(file, what, &cal->error[fit], "%s", line_text(low, link->alpha, link->beta));
}

static void gemm_row(FILE *file, const char *what, const fit_error *error, const struct hs_gemm_cost *cost)
{
    row(file, what, error, "%.4g Gflop/s; call %.3g us, C %.3g ns, A and B %.3g ns per element", 1e-9 / cost->flop,
        1e6 * cost->call, 1e9 * cost->c, 1e9 * cost->ab);
}

static void device_rows(const calibration *cal, FILE *file)
{
    const struct hs_machine *m = &cal->profile.device_machine;

    fprintf(file, "\ndevice: %s\n", cal->ctx->device->name);
    link_row(file, "copies inside", cal, FIT_DEVICE, &m->shm);
    row(file, "copy, sum", NULL, "%.4g GB/s, %.4g GB/s of the result, for long vectors", 1e-9 / m->copy,
        1e-9 / m->gamma);
    row(file, "signal", NULL, "%.3g us, an event between two streams and a flag", 1e6 * m->signal);
    if (!cal->device_turned)
        row(file, "turn", NULL, "not measured: no two processes on one device that can wait for each other's events");
    else
        row(file, "turn", NULL, "%.3g us more when the device switches to another process", 1e6 * m->turn);
    link_row(file, "staged, node", cal, FIT_STAGED, &m->node);
    if (!isnan(cal->error[FIT_STAGED_NETWORK].worst))
        link_row(file, "staged, network", cal, FIT_STAGED_NETWORK, &m->network);
    row(file, "GEMM", NULL, "%.4g Gflop/s in double, %.4g in single precision", 1e-9 * cal->device_rate[0],
        1e-9 * cal->device_rate[1]);
}

static int is_first(const calibration *cal, int sample, int which)
{
    const calibrate_sample *s = &cal->sample[sample];

    for (int i = 0; i < sample; i++)
        if (!strcmp(cal->sample[i].name, s->name) && (which < 0 || cal->sample[i].number[which] == s->number[which]))
            return 0;
    return 1;
}

/* The measured seconds of a message of `bytes` bytes if `pairs` pairs send at once; NaN if not measured. */
static double seconds_of(const calibration *cal, const char *name, int64_t pairs, int64_t bytes)
{
    for (int i = 0; i < cal->samples; i++) {
        const calibrate_sample *s = &cal->sample[i];

        if (!strcmp(s->name, name) && s->number[0] == pairs && s->number[1] == bytes)
            return s->seconds;
    }
    return NAN;
}

/* Prints MB/s of all pairs together, by size and number of pairs (DPML, Section 3). */
static void print_throughput(FILE *file, const calibration *cal, const char *name)
{
    int most = 0;

    for (int i = 0; i < cal->samples; i++)
        if (!strcmp(cal->sample[i].name, name))
            most = cal->sample[i].number[0] > most ? (int)cal->sample[i].number[0] : most;
    fprintf(file, "\n%s, MB/s together  ", name);
    for (int n = 1; n <= most; n = n < most && 2 * n > most ? most : 2 * n)
        fprintf(file, "%10d%s", n, n == most ? " at once\n" : "");
    for (int i = 0; i < cal->samples; i++) {
        const calibrate_sample *s = &cal->sample[i];

        if (strcmp(s->name, name) || !is_first(cal, i, 1))
            continue;
        fprintf(file, "%*lld bytes", (int)strlen(name) + 12, (long long)s->number[1]);
        for (int n = 1; n <= most; n = n < most && 2 * n > most ? most : 2 * n) {
            double seconds = seconds_of(cal, name, n, s->number[1]);

            if (isnan(seconds))
                fprintf(file, "%10s", "-");
            else
                fprintf(file, "%10.4g", 1e-6 * n * (double)s->number[1] / seconds);
        }
        fprintf(file, "\n");
    }
}

int calibrate_table(const calibration *cal, const char *path, FILE *file)
{
    const struct hs_profile *p = &cal->profile;
    const struct hs_machine *m = &p->machine;
    int several = cal->ctx->comm.topology.division[HS_NODE].parts > 1;

    fprintf(file, "%d rank%s on %d node%s, %d BLAS thread%s each, measured in %.1f s\nprofile %s\n\n", cal->size,
            report_plural(cal->size), cal->ctx->comm.topology.division[HS_NODE].parts,
            report_plural(cal->ctx->comm.topology.division[HS_NODE].parts), p->threads, report_plural(p->threads),
            cal->took, path);
    fprintf(file, "%-15s %-72s %6s %6s\n", "", "fitted", "median", "worst");
    link_row(file, "between nodes", cal, FIT_NETWORK, &m->network);
    if (several && m->inject > 0)
        row(file, "out of a node", NULL, "%.4g MB/s", 1e-6 / m->inject);
    else if (several)
        row(file, "out of a node", NULL, "no common limit of its ranks");
    link_row(file, "inside a node", cal, FIT_NODE, &m->node);
    link_row(file, "inside a socket", cal, FIT_SOCKET, &m->socket);
    link_row(file, "all to all", cal, FIT_EXCHANGE, &(struct hs_link){.alpha = p->exchange_alpha});
    link_row(file, "shared memory", cal, FIT_SHM, &m->shm);
    link_row(file, "peer's memory", cal, FIT_READ, &m->read);
    if (!isnan(cal->error[FIT_SHM].worst))
        row(file, "signal", NULL, "%.3g us", 1e6 * m->signal);
    row(file, "copy, sum", NULL, "%.4g GB/s, %.4g GB/s of the result, each rank with all at once", 1e-9 / m->copy,
        1e-9 / m->gamma);
    if (several)
        row(file, "overlap", NULL, "%.2f of the shorter of messages and GEMM runs beside the other", p->overlap);
    gemm_row(file, "GEMM, double", &cal->error[FIT_GEMM_D], &p->gemm[0]);
    gemm_row(file, "GEMM, float", &cal->error[FIT_GEMM_S], &p->gemm[1]);
    row(file, "panel width", NULL, "full GEMM rate from k = %lld", (long long)p->knee);
    if (cal->ctx->device)
        device_rows(cal, file);
    for (int i = 0; i < cal->samples; i++)
        if (!strncmp(cal->sample[i].name, "pairs.", 6) && is_first(cal, i, -1))
            print_throughput(file, cal, cal->sample[i].name);
    return report_written(file);
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

static const report_column link_columns[] = {{"alpha_s", REPORT_VALUE(struct hs_link, alpha)},
                                             {"beta_s_per_byte", REPORT_VALUE(struct hs_link, beta)},
                                             {"eager_bytes", REPORT_VALUE(struct hs_link, eager)},
                                             {"alpha_long_s", REPORT_VALUE(struct hs_link, alpha_long)},
                                             {"beta_long_s_per_byte", REPORT_VALUE(struct hs_link, beta_long)},
                                             REPORT_END};

static const report_column gemm_columns[] = {{"flop_s", REPORT_VALUE(struct hs_gemm_cost, flop)},
                                             {"c_s", REPORT_VALUE(struct hs_gemm_cost, c)},
                                             {"ab_s", REPORT_VALUE(struct hs_gemm_cost, ab)},
                                             {"call_s", REPORT_VALUE(struct hs_gemm_cost, call)},
                                             REPORT_END};

/* Values of report_column.when: columns shown only for host memory, or only for device memory. */
enum { OF_HOST = 1, OF_DEVICE = 2 };

static const report_column machine_columns[] = {
    {"network", REPORT_INNER(struct hs_machine, network, link_columns)},
    {"node", REPORT_INNER(struct hs_machine, node, link_columns)},
    {"socket", REPORT_INNER(struct hs_machine, socket, link_columns), .when = OF_HOST},
    {"inject_s_per_byte", REPORT_VALUE(struct hs_machine, inject), .when = OF_HOST},
    {"shm", REPORT_INNER(struct hs_machine, shm, link_columns)},
    {"read", REPORT_INNER(struct hs_machine, read, link_columns), .when = OF_HOST},
    {"signal_s", REPORT_VALUE(struct hs_machine, signal)},
    {"copy_s_per_byte", REPORT_VALUE(struct hs_machine, copy)},
    {"gamma_s_per_byte", REPORT_VALUE(struct hs_machine, gamma)},
    REPORT_END};

static const report_column profile_columns[] = {{"exchange_alpha_s", REPORT_VALUE(struct hs_profile, exchange_alpha)},
                                                {"overlap", REPORT_VALUE(struct hs_profile, overlap)},
                                                {"gemm_double", REPORT_INNER(struct hs_profile, gemm[0], gemm_columns)},
                                                {"gemm_float", REPORT_INNER(struct hs_profile, gemm[1], gemm_columns)},
                                                {"threads", REPORT_VALUE(struct hs_profile, threads)},
                                                {"knee", REPORT_VALUE(struct hs_profile, knee)},
                                                {"slice", REPORT_VALUE(struct hs_profile, slice)},
                                                REPORT_END};

static json_t *profile_json(const struct hs_profile *p)
{
    json_t *object = report_object(machine_columns, &p->machine, OF_HOST);

    report_add(object, profile_columns, p, REPORT_ALL);
    return object;
}

static json_t *device_json(const calibration *cal)
{
    const struct hs_machine *m = &cal->profile.device_machine;
    json_t *object = report_object(machine_columns, m, OF_DEVICE);

    json_object_update_new(object,
                           json_pack("{s:s,s:o,s:f,s:f}", "name", cal->ctx->device->name, "turn_s",
                                     cal->device_turned ? report_real(m->turn) : json_null(), "gemm_double_flop_per_s",
                                     cal->device_rate[0], "gemm_float_flop_per_s", cal->device_rate[1]));
    return object;
}

static json_t *sample_json(const calibrate_sample *s)
{
    json_t *numbers = json_array();

    for (int i = 0; i < s->numbers; i++)
        json_array_append_new(numbers, json_integer(s->number[i]));
    return json_pack("{s:s,s:o,s:f}", "name", s->name, "numbers", numbers, "seconds", s->seconds);
}

int calibrate_json(const calibration *cal, const char *path, FILE *file)
{
    json_t *errors = json_object(), *samples = json_array(), *root;

    for (int f = 0; f < FITS; f++)
        json_object_set_new(errors, fit_names[f],
                            isnan(cal->error[f].worst)
                                ? json_null()
                                : json_pack("{s:f,s:f}", "median", cal->error[f].median, "worst", cal->error[f].worst));
    for (int i = 0; i < cal->samples; i++)
        json_array_append_new(samples, sample_json(&cal->sample[i]));
    root = json_pack("{s:s,s:i,s:i,s:f,s:o,s:o,s:o}", "file", path, "ranks", cal->size, "nodes",
                     cal->ctx->comm.topology.division[HS_NODE].parts, "seconds", cal->took, "profile",
                     profile_json(&cal->profile), "relative_errors", errors, "measured", samples);
    if (root && cal->ctx->device)
        json_object_set_new(root, "device", device_json(cal));
    return report_json(root, 0, 0, file);
}
