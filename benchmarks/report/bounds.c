/* Prints bytes moved and lower bounds. */
#include "report/bounds.h"

#include <math.h>

static void print_ratio(FILE *file, const char *before, double ratio, int64_t bound, const char *after)
{
    char text[32];

    fputs(before, file);
    if (isfinite(ratio))
        fprintf(file, "%.2f times the ", ratio);
    fprintf(file, "%s %s", report_bytes(text, sizeof text, bound), after);
}

static void print_side(const bound_side *side, const char *label, int width, FILE *file)
{
    char text[32];

    fprintf(file, "%-*s", width, label);
    if (side->bytes < 0) {
        fputs("received bytes not counted", file);
    } else {
        fprintf(file, "receives at most %s in %lld messages: ", report_bytes(text, sizeof text, side->bytes),
                (long long)side->messages);
        print_ratio(file, "", side->to_layout, side->layout, "required by this layout");
        if (side->bytes < side->layout)
            fputs(" (the rest through its node's memory)", file);
    }
    print_ratio(file, side->bytes < 0 ? "; " : ", ", side->to_theory, (int64_t)side->theory,
                "required by any layout\n");
}

void report_bounds(const product_bounds *b, int width, FILE *file)
{
    if (!isfinite(b->process.theory) || (b->process.theory <= 0 && b->process.layout <= 0))
        return;
    print_side(&b->process, "process", width, file);
    if (b->nodes > 1)
        print_side(&b->node, "node", width, file);
    fprintf(
        file,
        "%*sany layout: Al Daas et al., SPAA 2022; for limited memory Kwasniewski et al., SC19, here %.3g elements per "
        "process\n",
        width, "", b->memory);
    if (!b->limit)
        return;
    fprintf(file, "%-*s%s:", width, "limited by", b->limit);
    report_seconds(file, " bytes ", b->bytes_s, 3);
    fprintf(file, " at %.4g MB/s,", 1e-6 / b->byte);
    report_seconds(file, " messages ", b->messages_s, 3);
    report_seconds(file, " (", b->message, 3);
    report_seconds(file, " each), cores ", b->cores_s, 3);
    fprintf(file, " (modelled for a %s, each alone)\n", b->nodes > 1 ? "node" : "process");
}
