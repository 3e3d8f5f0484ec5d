/* Draws a timeline as SVG, in colours readable on light and dark backgrounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hsumma/context/new_file.h"
#include "trace/trace.h"

enum { PAGE = 1100, LEFT = 80, RIGHT = 20, TOP = 50, WORK = 16, WAY = 5, LANE = 30, NODE = 8, BOTTOM = 40 };

static const struct {
    const char *name, *colour;
} kinds[] = {[TRACE_GEMM] = {"GEMM", "#4a86c8"},
             [TRACE_COPY] = {"copies, sums", "#9a72c0"},
             [TRACE_WAIT] = {"waits", "#e0902f"},
             [TRACE_SEND] = {"sends", "#3aa57a"},
             [TRACE_RECEIVE] = {"receives", "#c45a80"}};

typedef struct drawing {
    const trace_file *trace;
    FILE *file;
    int *lane; /* indexed by rank, counted from the top; ranks of a node are adjacent */
    double per_second;
} drawing;

static double x_of(const drawing *d, double time)
{
    return LEFT + (time - d->trace->begin) * d->per_second;
}

static double y_of(const drawing *d, int rank)
{
    return TOP + d->lane[rank] * LANE + d->trace->rank[rank].node * NODE;
}

static int place_ranks(drawing *d)
{
    const trace_file *trace = d->trace;
    int next = 0;

    d->lane = calloc((size_t)trace->ranks, sizeof *d->lane);
    for (int n = 0; d->lane && n < trace->nodes; n++)
        for (int r = 0; r < trace->ranks; r++)
            if (trace->rank[r].node == n)
                d->lane[r] = next++;
    return d->lane != NULL;
}

static void draw_legend(const drawing *d)
{
    double x = LEFT;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++, x += 110)
        fprintf(d->file,
                "<rect x=\"%g\" y=\"12\" width=\"14\" height=\"14\" fill=\"%s\"/><text x=\"%g\" y=\"24\">%s</text>\n",
                x, kinds[i].colour, x + 20, kinds[i].name);
}

static void draw_axis(const drawing *d, double bottom)
{
    double all = (d->trace->end - d->trace->begin) * 1e3, step = pow(10, floor(log10(all > 0 ? all / 5 : 1)));

    step *= all / step > 25 ? 5 : all / step > 10 ? 2 : 1;
    for (double at = 0; at <= all * 1.0001; at += step) {
        double x = LEFT + at * 1e-3 * d->per_second;

        fprintf(
            d->file,
            "<path d=\"M%.1f %d V%.1f\" class=\"g\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n", x,
            TOP - 6, bottom, x, bottom + 16, at);
    }
    fprintf(d->file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">ms</text>\n", LEFT - 16, bottom + 16);
}

static void draw_names(const drawing *d)
{
    const trace_file *trace = d->trace;

    for (int r = 0; r < trace->ranks; r++) {
        double y = y_of(d, r);

        fprintf(d->file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s%d</text>\n", LEFT - 8, y + 13,
                trace->ranks > 16 ? "" : "rank ", r);
        if (trace->nodes > 1 && (r == 0 || trace->rank[r].node != trace->rank[r - 1].node))
            fprintf(d->file, "<text x=\"4\" y=\"%.1f\" class=\"n\">%d</text>\n", y + 13, trace->rank[r].node);
    }
}

/* Writes the tooltip of an entry. */
static void describe(const trace_span *span, char *text, size_t size)
{
    double ms = (span->end - span->begin) * 1e3;
    char what[40];

    trace_say(span->awaited, span->what, what, sizeof what);
    if (span->kind == TRACE_WAIT)
        snprintf(text, size, "wait for %s of rank %d: %.3f ms", what, span->peer, ms);
    else if (span->kind == TRACE_SEND || span->kind == TRACE_RECEIVE)
        snprintf(text, size, "%s %s %s rank %d, %lld bytes: %.3f ms", span->kind == TRACE_SEND ? "send" : "receive",
                 span->what, span->kind == TRACE_SEND ? "to" : "from", span->peer, (long long)span->bytes, ms);
    else
        snprintf(text, size, "%s %s panel %lld: %.3f ms", kinds[span->kind].name, span->what, (long long)span->panel,
                 ms);
}

static void draw_span(const drawing *d, const trace_span *span)
{
    double begin = fmax(span->begin, d->trace->begin), end = fmin(span->end, d->trace->end);
    double x = x_of(d, begin), width = x_of(d, end) - x, y = y_of(d, span->rank);
    int message = span->kind == TRACE_SEND || span->kind == TRACE_RECEIVE;
    char text[160];

    if (end < begin || span->kind == TRACE_PRODUCT || width < 0.02)
        return;
    if (message)
        y += WORK + (span->kind == TRACE_RECEIVE ? WAY : 0);
    describe(span, text, sizeof text);
    fprintf(d->file,
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"%s><title>%s</title></rect>\n", x, y,
            width, message ? WAY - 1 : WORK, kinds[span->kind].colour, message ? " fill-opacity=\"0.6\"" : "", text);
    if (span->kind == TRACE_WAIT && width > 30 && span->peer >= 0)
        fprintf(d->file, "<text x=\"%.1f\" y=\"%.1f\" class=\"w\">%s %d</text>\n", x + width / 2, y + 12,
                !strcmp(span->awaited, "data") ? span->what : span->awaited, span->peer);
}

/* Draws a lane below all ranks: the product as the plan's model predicts it, from the beginning of the timeline. */
static void draw_prediction(const drawing *d, double y)
{
    const trace_file *trace = d->trace;
    const double *seconds = trace->predicted;
    const double part[] = {seconds[1], seconds[2], seconds[0] - seconds[1] - seconds[2]};
    static const trace_kind kind[] = {TRACE_GEMM, TRACE_COPY, TRACE_WAIT};
    double begin = trace->begin;

    fprintf(d->file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">model</text>\n", LEFT - 8, y + 13);
    for (int i = 0; i < 3; i++) {
        if (part[i] <= 0)
            continue;
        double x = x_of(d, begin), end = x_of(d, begin + part[i]), most = PAGE - RIGHT;

        if (x < most)
            fprintf(d->file,
                    "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\">"
                    "<title>predicted: %s %.3f ms of %.3f ms</title></rect>\n",
                    x, y, fmin(end, most) - x, WORK, kinds[kind[i]].colour, kinds[kind[i]].name, part[i] * 1e3,
                    seconds[0] * 1e3);
        begin += part[i];
    }
}

static void draw_all(const drawing *d)
{
    const trace_file *trace = d->trace;
    int predicted = trace->predicted[0] > 0;
    double below = TOP + trace->ranks * LANE + trace->nodes * NODE, bottom = below + predicted * (LANE - NODE);

    fprintf(d->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%g\" viewBox=\"0 0 %d %g\">\n"
            "<style>text{font:12px sans-serif;fill:#333}.g{stroke:#8888;stroke-width:.5}.n{font-weight:bold}"
            ".w{font-size:11px;fill:#222;text-anchor:middle}"
            "@media(prefers-color-scheme:dark){text{fill:#ddd}.w{fill:#111}}</style>\n"
            "<title>Timeline: work and waits of each rank, and its messages below them</title>\n",
            PAGE, bottom + BOTTOM, PAGE, bottom + BOTTOM);
    draw_legend(d);
    draw_axis(d, bottom);
    draw_names(d);
    for (int i = 0; i < trace->spans; i++)
        draw_span(d, &trace->span[i]);
    if (predicted)
        draw_prediction(d, below);
    fputs("</svg>\n", d->file);
}

int trace_draw(const trace_file *trace, const char *path, char *error, size_t size)
{
    struct hs_message message = {""};
    struct hs_new_file file;
    drawing d = {.trace = trace};
    char *text = NULL;
    size_t length = 0;
    double all = trace->end - trace->begin;

    d.per_second = (PAGE - LEFT - RIGHT) / (all > 0 ? all : 1);
    d.file = place_ranks(&d) ? open_memstream(&text, &length) : NULL;
    if (d.file)
        draw_all(&d);
    int bad = !d.file || ferror(d.file);
    bad |= d.file && fclose(d.file);
    snprintf(message.text, sizeof message.text, "no memory for the drawing");
    hsumma_status status = bad ? HSUMMA_ERR_MEMORY : hs_new_file_find(&file, "svg: ", path, &message);
    if (!status)
        status = hs_new_file_open(&file, &message);
    if (!status)
        status = hs_new_file_write(&file, text, length, &message);
    if (!bad)
        status = hs_new_file_end(&file, status, &message);
    free(text);
    free(d.lane);
    snprintf(error, size, "%s", message.text);
    return status ? -1 : 0;
}
