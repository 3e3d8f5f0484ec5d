/* The parts that the reports of several commands share; declared in report.h. */
#include <math.h>
#include <string.h>

#include "common/command.h"
#include "gemm/report.h"

void report_csv_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; text && *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

json_t *report_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_integer(int64_t value)
{
    return value >= 0 ? json_integer(value) : json_null();
}

double report_time_unit(double seconds, const char **unit)
{
    int at = seconds >= 1 ? 0 : seconds >= 1e-3 ? 1 : 2;

    *unit = (const char *[]){"s", "ms", "us"}[at];
    return (double[]){1, 1e3, 1e6}[at];
}

const char *report_bytes(char *text, size_t size, int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    int unit = 0;

    for (; value >= 1023.5 && unit < 5; unit++)
        value /= 1024;
    if (bytes < 0)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%.*f %s", unit && value < 99.5 ? 1 : 0, value, units[unit]);
    return text;
}

static void print_scalar(FILE *file, hsumma_type type, const double value[2])
{
    if (type_is_complex(type))
        fprintf(file, "(%g,%g)", value[0], value[1]);
    else
        fprintf(file, "%g", value[0]);
}

static const char *op_mark(char trans)
{
    return trans == 'N' ? "" : trans == 'T' ? "^T" : "^H";
}

/* Milliseconds, or '-' for what the model was not asked for. */
static void print_modelled(FILE *file, double seconds)
{
    if (seconds >= 0)
        fprintf(file, "%.3g", seconds * 1e3);
    else
        fputc('-', file);
}

void report_moves(const hsumma_plan_info *info, const char *label, FILE *file)
{
    const char *unit;
    char text[32];

    if (!info->operand[0].how)
        return;
    fputs(label, file);
    for (int x = 0; x < 3; x++) {
        const hsumma_movement *o = &info->operand[x];

        fprintf(file, "%s%c %s", x ? ", " : "", "ABC"[x], o -> how);
        if (o->exchange_bytes) {
            double scale = report_time_unit(o->exchange_seconds, &unit);

            fprintf(file, " (%s, %.2g %s)", report_bytes(text, sizeof text, (int64_t)o->exchange_bytes),
                    o->exchange_seconds * scale, unit);
        }
    }
    fputs("; modelled ms with stationary A, B, C: ", file);
    for (int x = 0; x < 3; x++) {
        fputs(x ? ", " : "", file);
        print_modelled(file, info->predicted_stationary[x]);
    }
    fputc('\n', file);
}

void report_moves_json(const hsumma_plan_info *info, json_t *object)
{
    static const char *const name[3] = {"a", "b", "c"};
    json_t *operands = json_object(), *stationary = json_object();

    for (int x = 0; x < 3; x++) {
        const hsumma_movement *o = &info->operand[x];
        double seconds = info->predicted_stationary[x];

        json_object_set_new(operands, name[x],
                            json_pack("{s:s?,s:I,s:f}", "how", o->how, "exchange_bytes", (json_int_t)o->exchange_bytes,
                                      "exchange_s", o->exchange_seconds));
        json_object_set_new(stationary, name[x], seconds >= 0 ? report_real(seconds) : json_null());
    }
    json_object_set_new(object, "operands", operands);
    json_object_set_new(object, "predicted_stationary_s", stationary);
}

void report_head(const problem *p, const char *command, FILE *file)
{
    const arguments *args = p->args;
    int used = p->nprow * p->npcol;

    fprintf(file, "hsumma_bench %s: C := ", command);
    print_scalar(file, args->type, args->alpha);
    fprintf(file, " A%s B%s + ", op_mark(args->transa), op_mark(args->transb));
    print_scalar(file, args->type, args->beta);
    fprintf(file, " C, m = %lld, n = %lld, k = %lld, %s\n", (long long)args->m, (long long)args->n, (long long)args->k,
            type_name(args->type));
    fprintf(file, "%d x %d grid, ", p->nprow, p->npcol);
    if (args->nb)
        fprintf(file, "%lld x %lld blocks", (long long)p->c.desc.mb, (long long)p->c.desc.nb);
    else
        fprintf(file, "one block per process");
    fprintf(file, "; %d rank%s", p->ranks, p->ranks > 1 ? "s" : "");
    if (used < p->ranks)
        fprintf(file, " (%d idle)", p->ranks - used);
    fprintf(file, ", %d node%s, %d core%s per node\n", p->mach.nodes, p->mach.nodes > 1 ? "s" : "", p->mach.cores,
            p->mach.cores > 1 ? "s" : "");
    if (p->mach.node_ranks > p->mach.cores)
        fprintf(file, "note: %d ranks share %d core%s: times say little about either\n", p->mach.node_ranks,
                p->mach.cores, p->mach.cores > 1 ? "s" : "");
}

static json_t *scalar_json(hsumma_type type, const double value[2])
{
    return type_is_complex(type) ? json_pack("[f,f]", value[0], value[1]) : json_real(value[0]);
}

/* ld is that of this process. */
static json_t *layout_json(const operand *x)
{
    const hsumma_desc *d = &x->desc;

    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:i,s:i,s:I,s:I,s:I}", "m", (json_int_t)d->m, "n", (json_int_t)d->n,
                     "mb", (json_int_t)d->mb, "nb", (json_int_t)d->nb, "imb", (json_int_t)d->imb, "inb",
                     (json_int_t)d->inb, "rsrc", d->rsrc, "csrc", d->csrc, "i", (json_int_t)d->i, "j", (json_int_t)d->j,
                     "ld", (json_int_t)d->ld);
}

json_t *report_head_json(const problem *p, const char *command)
{
    const arguments *args = p->args;
    const char letter[2] = {"sdcz"[args->type], 0}, ta[2] = {args->transa, 0}, tb[2] = {args->transb, 0};
    char version[48];
    int major, minor, patch;

    hsumma_version(&major, &minor, &patch);
    snprintf(version, sizeof version, "%d.%d.%d", major, minor, patch);
    return json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:s,s:s,s:o,s:o,s:[i,i],s:{s:o,s:o,s:o},s:i,s:i,s:i,s:i,s:I}", "command",
                     command, "version", version, "type", letter, "m", (json_int_t)args->m, "n", (json_int_t)args->n,
                     "k", (json_int_t)args->k, "transa", ta, "transb", tb, "alpha",
                     scalar_json(args->type, args->alpha), "beta", scalar_json(args->type, args->beta), "grid",
                     p->nprow, p->npcol, "layout", "a", layout_json(&p->a), "b", layout_json(&p->b), "c",
                     layout_json(&p->c), "ranks", p->ranks, "nodes", p->mach.nodes, "cores_per_node", p->mach.cores,
                     "reps", args->reps, "seed", (json_int_t)args->seed);
}
