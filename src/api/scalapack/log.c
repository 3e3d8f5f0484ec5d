/* HSUMMA_LOG: writes each call as the hsumma command that repeats it. */
#include "api/scalapack/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct log_line {
    char text[1536]; /* longer than any line */
};
#define ADD(line, ...) hs_append((line)->text, sizeof(line)->text, __VA_ARGS__)

int hs_log_open(void)
{
    hsumma_option_info info;
    hsumma_option(HS_OPT_LOG, &info);
    const char *name = hs_environment(info.environment);
    if (!name || !*name || strcmp(name, "none") == 0)
        return -1;
    int file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 && hs_shim_first_time(HS_NO_LOG))
        fprintf(stderr, "hsumma: %s: cannot write %s: %s; calls are not recorded\n", info.environment, name,
                strerror(errno));
    return file;
}

static void add_scalar(struct log_line *line, const char *name, hsumma_type type, const void *value)
{
    const float *f = value;
    const double *d = value;
    int single = type == HSUMMA_S || type == HSUMMA_C;
    if (type == HSUMMA_S || type == HSUMMA_D)
        ADD(line, " --%s %.17g", name, single ? (double)*f : *d);
    else
        ADD(line, " --%s \"(%.17g,%.17g)\"", name, single ? (double)f[0] : d[0], single ? (double)f[1] : d[1]);
}

static void add_layout(struct log_line *line, const struct hs_arguments *args, int x)
{
    static const char *const names[] = {"", "", "m", "n", "imb", "inb", "mb", "nb", "rsrc", "csrc"};
    const struct hs_matrix_argument *matrix = &args->matrix[x];
    struct hs_axis rows = hs_argument_axis(args, x, 0);
    int64_t local = hs_axis_count(&rows, args->coord[0]), pad = matrix->entry[HS_LLD] - (local > 1 ? local : 1);
    ADD(line, " --layout-%c ", "abc"[x]);
    for (int e = HS_ROWS; e < HS_LLD; e++)
        ADD(line, "%s=%d,", names[e], matrix->entry[e]);
    ADD(line, "i=%" PRId64 ",j=%" PRId64 ",pad=%" PRId64, matrix->first[0], matrix->first[1], pad > 0 ? pad : 0);
}

void hs_log_call(int file, const struct hs_pgemm *call, const struct hs_arguments *args)
{
    struct log_line line;
    line.text[0] = 0;
    ADD(&line, "mpiexec -n %d hsumma gemm", args->shape[0] * args->shape[1]);
    for (int d = 0; d < 3; d++)
        ADD(&line, " -%c %" PRId64, "mnk"[d], args -> extent[d]);
    ADD(&line, " --type %c --transa %c --transb %c", "sdcz"[call->type], args -> op[0], args -> op[1]);
    add_scalar(&line, "alpha", call->type, call->alpha);
    add_scalar(&line, "beta", call->type, call->beta);
    ADD(&line, " --grid %dx%d", args->shape[0], args->shape[1]);
    for (int x = 0; x < 3; x++)
        add_layout(&line, args, x);
    ADD(&line, "\n");
    ssize_t written = write(file, line.text, strlen(line.text)); /* in one write: other processes may append too */
    (void)written;                                               /* a full disk must not fail the multiplication */
}
