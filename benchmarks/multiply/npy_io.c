#include "multiply/npy_io.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"

/* One dimension of a file and this rank's blocks in it: `local` elements in blocks of `nb`, which start at `first` and
 * lie `stride` apart. */
typedef struct axis {
    int64_t n, nb, first, stride, local;
} axis;

/* A rank's part of a file. Elements are adjacent in the file along `fast`. */
typedef struct file_part {
    axis fast, slow;
    MPI_Offset data; /* bytes before the first element */
    size_t element;  /* bytes of an element */
} file_part;

/* How much a rank knows about a failure; WELL: there is none. MPI-IO reports the cause only to the rank that wrote for
 * others; the others learn only that something failed. */
enum { WELL, VAGUE, CERTAIN };

static int certain(npy_error *error, const char *what, const char *cause)
{
    npy_fail(error, "%s: %s", what, cause);
    return CERTAIN;
}

/* Explains a status of MPI-IO. The error class is not enough: ROMIO reports a full disk as "other I/O error", followed
 * by the system's message. */
static int check(int status, const char *what, npy_error *error)
{
    static const int causes[] = {ENOSPC, EDQUOT, EFBIG, EIO, EROFS, EACCES, ESTALE};
    char text[MPI_MAX_ERROR_STRING];
    int class, length;

    if (status == MPI_SUCCESS)
        return WELL;
    MPI_Error_class(status, &class);
    MPI_Error_string(status, text, &length);
    if (class == MPI_ERR_NO_SPACE)
        return certain(error, what, strerror(ENOSPC));
    if (class == MPI_ERR_QUOTA)
        return certain(error, what, strerror(EDQUOT));
    if (class == MPI_ERR_NO_SUCH_FILE)
        return certain(error, what, "not every rank sees the file (is the file system shared?)");
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (strstr(text, strerror(causes[i])))
            return certain(error, what, strerror(causes[i]));
    npy_fail(error, "%s: %s", what, text);
    return VAGUE;
}

static int no_memory(int failed, npy_error *error)
{
    return failed ? certain(error, "no memory for a buffer of MPI-IO", "give a smaller --piece") : WELL;
}

/* Agrees whether a rank has failed: 0, or -1. If any rank's explanation is certain, vague ones are erased. */
static int agree(MPI_Comm comm, int known, npy_error *error)
{
    int best = 0;

    quiet_allreduce(&known, &best, 1, MPI_INT, MPI_MAX, comm);
    if (known < best)
        error->text[0] = 0;
    return best ? -1 : 0;
}

/* --- the layout ------------------------------------------------------------------------------------------------- */

int npy_check_layout(const hsumma_desc *desc, npy_error *error)
{
    if (desc->m > INT_MAX || desc->n > INT_MAX)
        return npy_fail(
            error, "%" PRId64 " x %" PRId64 ": matrices of more than 2^31-1 rows or columns cannot be read or written",
            desc->m, desc->n);
    if (desc->i || desc->j || desc->rsrc || desc->csrc || desc->imb != desc->mb || desc->inb != desc->nb)
        return npy_fail(error, "a layout with an offset, a source or another first block cannot be read or written");
    return 0;
}

static file_part part_of(const npy_header *header, const hsumma_desc *desc, int flip)
{
    int nprow, npcol;
    axis row = {desc->m, desc->mb, 0, 0, hsumma_local_rows(desc)};
    axis col = {desc->n, desc->nb, 0, 0, hsumma_local_cols(desc)};

    hsumma_grid_info(desc->grid, &nprow, &npcol, NULL, NULL);
    if (row.local && col.local) {
        row.first = hsumma_global_row(desc, 0);
        col.first = hsumma_global_col(desc, 0);
    } else {
        row.local = col.local = 0;
    }
    /* with one block the stride is unused, and must not overflow */
    row.stride = row.local > row.nb ? row.nb * nprow : row.n;
    col.stride = col.local > col.nb ? col.nb * npcol : col.n;
    return (file_part){flip ? col : row, flip ? row : col, header->data, type_size(header->type)};
}

/* Makes a datatype of this rank's blocks in one line along the fast dimension, the first at displacement 0. */
static int make_line(const file_part *p, MPI_Datatype element, MPI_Datatype *line)
{
    const axis *f = &p->fast;
    int64_t whole = f->local / f->nb, rest = f->local % f->nb;
    MPI_Aint stride = (MPI_Aint)(f->stride * (int64_t)p->element), places[2] = {0, (MPI_Aint)whole * stride};
    MPI_Datatype types[2] = {MPI_DATATYPE_NULL, element};
    int lengths[2] = {1, (int)rest}, status;

    if (!whole)
        return MPI_Type_contiguous((int)rest, element, line);
    if (f->local == f->n)
        return MPI_Type_contiguous((int)f->n, element, line);
    status = MPI_Type_create_hvector((int)whole, (int)f->nb, stride, element, rest ? &types[0] : line);
    if (status || !rest)
        return status;
    status = MPI_Type_create_struct(2, lengths, places, types, line);
    MPI_Type_free(&types[0]);
    return status;
}

/*
 * Makes the file type of a view: the lines of one block of the slow dimension, with an extent up to the next block, so
 * that MPI-IO repeats it for every block. Its size is independent of the slow dimension. The last block may be
 * narrower; elements behind it are never accessed.
 */
static int make_view(const file_part *p, MPI_Datatype element, MPI_Datatype *view)
{
    const axis *f = &p->fast, *s = &p->slow;
    int lines = (int)(s->local < s->nb ? s->local : s->nb), status;
    MPI_Aint pitch = (MPI_Aint)(f->n * (int64_t)p->element), extent = (MPI_Aint)s->stride * pitch;
    MPI_Datatype line, block;

    if (!s->local)
        status = MPI_Type_dup(element, view);
    else if (f->local == f->n && s->local == s->n) /* the whole file: let MPI-IO see that it is contiguous */
        status = MPI_Type_dup(element, view);
    else {
        status = make_line(p, element, &line);
        if (status)
            return status;
        if (f->local == f->n)
            status = MPI_Type_contiguous(lines, line, &block);
        else
            status = MPI_Type_create_hvector(lines, 1, pitch, line, &block);
        MPI_Type_free(&line);
        if (status)
            return status;
        status = MPI_Type_create_resized(block, 0, extent, view);
        MPI_Type_free(&block);
    }
    return status ? status : MPI_Type_commit(view);
}

/* --- the transfer ----------------------------------------------------------------------------------------------- */

/* Hints that make MPI-IO merge noncontiguous parts before writing; otherwise it may read, modify and write back ranges
 * of the file under locks. */
static MPI_Info hints(void)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_ds_write", "disable");
    return info;
}

/* The file name for MPI-IO. ROMIO, unlike Open MPI, reads text before a colon as a file system type. */
static char *file_name(const char *path)
{
    size_t size = strlen(path) + 5;
    char *name = malloc(size);
#ifdef OMPI_MAJOR_VERSION
    const char *kind = "";
#else
    const char *kind = strchr(path, ':') ? "ufs:" : "";
#endif

    if (name)
        snprintf(name, size, "%s%s", kind, path);
    return name;
}

static int open_file(const npy_transfer *t, const char *path, int mode, MPI_File *file, npy_error *error)
{
    char *name = file_name(path);
    MPI_Info info = hints();
    int bad = agree(t->comm, no_memory(!name, error), error), status;

    if (!bad) {
        status = MPI_File_open(t->comm, name, mode, info, file);
        /* a rank that opened the file while others failed keeps its handle: closing is collective */
        bad = agree(t->comm, check(status, "cannot open", error), error);
    }
    MPI_Info_free(&info);
    free(name);
    return bad;
}

static int set_view(const npy_transfer *t, const file_part *p, MPI_File file, MPI_Datatype *element, MPI_Datatype *view,
                    npy_error *error)
{
    MPI_Offset start = p->data + (MPI_Offset)((p->slow.first * p->fast.n + p->fast.first) * (int64_t)p->element);
    int bad;

    MPI_Type_contiguous((int)p->element, MPI_BYTE, element);
    MPI_Type_commit(element);
    bad = agree(t->comm, check(make_view(p, *element, view), "cannot describe the layout", error), error);
    if (!bad)
        bad = agree(t->comm,
                    check(MPI_File_set_view(file, start, *element, *view, "native", MPI_INFO_NULL),
                          "cannot set the view", error),
                    error);
    return bad;
}

/* Moves elements first..first+count-1 of this rank's part in file order, to or from `buffer`. */
static int move_piece(MPI_File file, int writes, int64_t first, int count, MPI_Datatype element, void *buffer,
                      npy_error *error)
{
    MPI_Status status;
    int code, got = 0;

    if (writes)
        code = MPI_File_write_at_all(file, first, buffer, count, element, &status);
    else
        code = MPI_File_read_at_all(file, first, buffer, count, element, &status);
    if (code != MPI_SUCCESS)
        return check(code, writes ? "cannot write" : "cannot read", error);
    MPI_Get_count(&status, element, &got);
    if (got == count)
        return WELL;
    npy_fail(error,
             writes ? "wrote %d elements instead of %d: no space left?" : "cut short: read %d elements instead of %d",
             got, count);
    return CERTAIN;
}

/* Copies elements of a part, in the order of a file by rows, to their places in the local matrix by columns. */
static void scatter(const file_part *p, int64_t first, int count, const char *piece, char *local)
{
    int64_t ld = p->slow.local, col = first % p->fast.local, row = first / p->fast.local;

    for (int i = 0; i < count; i++) {
        memcpy(local + (size_t)(row + col * ld) * p->element, piece + (size_t)i * p->element, p->element);
        if (++col == p->fast.local) {
            col = 0;
            row++;
        }
    }
}

/* Moves the part in rounds of collective calls, as many as the rank with most elements needs. */
static int move_all(const npy_transfer *t, const file_part *p, MPI_File file, int writes, int flip,
                    MPI_Datatype element, char *local, npy_error *error)
{
    int64_t piece = (t->piece < (int64_t)p->element ? (int64_t)p->element : t->piece) / (int64_t)p->element;
    int64_t mine = p->fast.local * p->slow.local, most = 0;
    char *buffer = NULL;
    int bad;

    quiet_allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, t->comm);
    if (flip)
        buffer = malloc((size_t)(mine < piece ? mine : piece) * p->element + 1);
    bad = agree(t->comm, no_memory(flip && !buffer, error), error);
    for (int64_t first = 0; first < most && !bad; first += piece) {
        int64_t left = mine - first;
        int count = (int)(left < 0 ? 0 : left < piece ? left : piece);
        char *target = flip || !count ? buffer : local + (size_t)first * p->element;
        bad = move_piece(file, writes, count ? first : 0, count, element, target, error);
        if (flip && count && !bad)
            scatter(p, first, count, buffer, local);
        bad = agree(t->comm, bad, error);
        if (t->progress && !bad)
            t->progress(t->context, (double)(first + piece < most ? first + piece : most) / (double)most);
    }
    free(buffer);
    return bad;
}

static int move_file(const npy_transfer *t, const file_part *p, MPI_File file, int writes, int flip, void *local,
                     npy_error *error)
{
    MPI_Datatype element = MPI_DATATYPE_NULL, view = MPI_DATATYPE_NULL;
    int bad = set_view(t, p, file, &element, &view, error);

    if (!bad)
        bad = move_all(t, p, file, writes, flip, element, local, error);
    if (!bad && writes)
        bad = agree(t->comm, check(MPI_File_sync(file), "cannot write", error), error);
    if (view != MPI_DATATYPE_NULL)
        MPI_Type_free(&view);
    MPI_Type_free(&element);
    return bad;
}

static int transfer_file(const npy_transfer *t, const char *path, const npy_header *header, const hsumma_desc *desc,
                         int writes, int flip, void *local, npy_error *error)
{
    file_part p = part_of(header, desc, flip);
    MPI_File file;
    int bad;

    error->text[0] = 0;
    if (npy_check_layout(desc, error))
        return -1;
    if (npy_data_size(header) == 0)
        return 0;
    if (open_file(t, path, writes ? MPI_MODE_RDWR : MPI_MODE_RDONLY, &file, error))
        return -1;
    bad = move_file(t, &p, file, writes, flip, local, error);
    if (bad) {
        MPI_File_close(&file); /* report the first failure */
        return bad;
    }
    return agree(t->comm, check(MPI_File_close(&file), "cannot close", error), error);
}

int npy_read(const npy_transfer *transfer, const char *path, const npy_header *header, const hsumma_desc *desc,
             int flip, void *local, npy_error *error)
{
    return transfer_file(transfer, path, header, desc, 0, flip, local, error);
}

int npy_write(const npy_transfer *transfer, const char *path, const npy_header *header, const hsumma_desc *desc,
              const void *local, npy_error *error)
{
    return transfer_file(transfer, path, header, desc, 1, 0, (void *)local, error);
}

int npy_create(output *out, const char *path, npy_header *header, int force, npy_error *error)
{
    unsigned char head[NPY_WRITTEN];
    size_t length = npy_format(header, head);

    return output_open(out, path, head, length, (int64_t)length + npy_data_size(header), force, error) ? -1 : 0;
}
