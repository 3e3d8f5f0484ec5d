/* The parts that reports on products share: the head, and how the operands move. */
#include "report/product.h"

#include "report/columns.h"

static void print_scalar(FILE *file, hsumma_type type, const double value[2])
{
    if (type_is_complex(type))
        fprintf(file, "(%g,%g)", value[0], value[1]);
    else
        fprintf(file, "%g", value[0]);
}

const char *report_op_mark(char trans)
{
    return trans == 'N' ? "" : trans == 'T' ? "^T" : "^H";
}

void report_moves(const hsumma_plan_info *info, const char *label, FILE *file)
{
    char text[32];

    if (!info->operand[0].how)
        return;
    fputs(label, file);
    for (int x = 0; x < 3; x++) {
        const hsumma_movement *o = &info->operand[x];

        fprintf(file, "%s%c %s", x ? ", " : "", "ABC"[x], o -> how);
        if (o->exchange_bytes) {
            fprintf(file, " (%s", report_bytes(text, sizeof text, (int64_t)o->exchange_bytes));
            report_seconds(file, ", ", o->exchange_seconds, 2);
            fputc(')', file);
        }
    }
    fputs("; modelled ms with stationary A, B, C: ", file);
    for (int x = 0; x < 3; x++)
        if (info->predicted_stationary[x] >= 0)
            fprintf(file, "%s%.3g", x ? ", " : "", info->predicted_stationary[x] * 1e3);
        else /* a case that the model did not price */
            fputs(x ? ", -" : "-", file);
    fputc('\n', file);
}

void report_moves_json(const hsumma_plan_info *info, json_t *object)
{
    static const report_column columns[] = {{"how", REPORT_VALUE(hsumma_movement, how)},
                                            {"exchange_bytes", REPORT_VALUE(hsumma_movement, exchange_bytes)},
                                            {"exchange_s", REPORT_VALUE(hsumma_movement, exchange_seconds)},
                                            REPORT_END};
    static const char *const name[3] = {"a", "b", "c"};
    json_t *operands = json_object(), *stationary = json_object();

    for (int x = 0; x < 3; x++) {
        double seconds = info->predicted_stationary[x];

        json_object_set_new(operands, name[x], report_object(columns, &info->operand[x], REPORT_ALL));
        json_object_set_new(stationary, name[x], seconds >= 0 ? report_real(seconds) : json_null());
    }
    json_object_set_new(object, "operands", operands);
    json_object_set_new(object, "predicted_stationary_s", stationary);
}

void report_head(const problem *p, const char *command, FILE *file)
{
    const arguments *args = p->args;
    int used = p->nprow * p->npcol;

    fprintf(file, "hsumma %s: C := ", command);
    print_scalar(file, args->type, args->alpha);
    fprintf(file, " A%s B%s + ", report_op_mark(args->transa), report_op_mark(args->transb));
    print_scalar(file, args->type, args->beta);
    fprintf(file, " C, m = %lld, n = %lld, k = %lld, %s\n", (long long)args->m, (long long)args->n, (long long)args->k,
            type_name(args->type));
    fprintf(file, "%d x %d grid, ", p->nprow, p->npcol);
    if (args->nb)
        fprintf(file, "%lld x %lld blocks", (long long)p->c.desc.mb, (long long)p->c.desc.nb);
    else
        fprintf(file, "one block per process");
    fprintf(file, "; %d rank%s", p->ranks, report_plural(p->ranks));
    if (used < p->ranks)
        fprintf(file, " (%d idle)", p->ranks - used);
    fprintf(file, ", %d node%s, %d core%s per node\n", p->mach.nodes, report_plural(p->mach.nodes), p->mach.cores,
            report_plural(p->mach.cores));
    if (p->mach.node_ranks > p->mach.cores)
        fprintf(file, "note: %d ranks share %d core%s: times are not representative\n", p->mach.node_ranks,
                p->mach.cores, report_plural(p->mach.cores));
}

static json_t *scalar_json(hsumma_type type, const double value[2])
{
    return type_is_complex(type) ? json_pack("[f,f]", value[0], value[1]) : json_real(value[0]);
}

json_t *report_arguments_json(const arguments *args, const char *command)
{
    static const report_column columns[] = {
        {"m", REPORT_VALUE(arguments, m)},           {"n", REPORT_VALUE(arguments, n)},
        {"k", REPORT_VALUE(arguments, k)},           {"transa", REPORT_VALUE(arguments, transa)},
        {"transb", REPORT_VALUE(arguments, transb)}, REPORT_END};
    json_t *object =
        json_pack("{s:s,s:s}", "command", command, "type", (const char[]){hs_scalars[args->type].letter, 0});

    report_add(object, columns, args, REPORT_ALL);
    return object;
}

json_t *report_head_json(const problem *p, const char *command)
{
    /* ld is that of this process */
    static const report_column layout[] = {
        {"m", REPORT_VALUE(hsumma_desc, m)},       {"n", REPORT_VALUE(hsumma_desc, n)},
        {"mb", REPORT_VALUE(hsumma_desc, mb)},     {"nb", REPORT_VALUE(hsumma_desc, nb)},
        {"imb", REPORT_VALUE(hsumma_desc, imb)},   {"inb", REPORT_VALUE(hsumma_desc, inb)},
        {"rsrc", REPORT_VALUE(hsumma_desc, rsrc)}, {"csrc", REPORT_VALUE(hsumma_desc, csrc)},
        {"i", REPORT_VALUE(hsumma_desc, i)},       {"j", REPORT_VALUE(hsumma_desc, j)},
        {"ld", REPORT_VALUE(hsumma_desc, ld)},     REPORT_END};
    const arguments *args = p->args;
    json_t *object = report_arguments_json(args, command);
    char version[48];
    int major, minor, patch;

    hsumma_version(&major, &minor, &patch);
    snprintf(version, sizeof version, "%d.%d.%d", major, minor, patch);
    json_object_update_new(
        object, json_pack("{s:s,s:o,s:o,s:[i,i],s:{s:o,s:o,s:o},s:i,s:i,s:i,s:i,s:I}", "version", version, "alpha",
                          scalar_json(args->type, args->alpha), "beta", scalar_json(args->type, args->beta), "grid",
                          p->nprow, p->npcol, "layout", "a", report_object(layout, &p->a.desc, REPORT_ALL), "b",
                          report_object(layout, &p->b.desc, REPORT_ALL), "c",
                          report_object(layout, &p->c.desc, REPORT_ALL), "ranks", p->ranks, "nodes", p->mach.nodes,
                          "cores_per_node", p->mach.cores, "reps", args->reps, "seed", (json_int_t)args->seed));
    return object;
}
