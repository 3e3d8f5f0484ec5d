/* The operations of the stand-in's streams. */
#include "base/operators.h"
#include "device/stand_in/parts.h"

#include <inttypes.h>
#include <string.h>

/* Bytes from the first to the last element of a matrix. */
static int64_t span(hsumma_type type, int64_t rows, int64_t cols, int64_t ld)
{
    return rows > 0 && cols > 0 ? ((cols - 1) * ld + rows) * (int64_t)hs_scalars[type].size : 0;
}

static hsumma_status check_copy(const struct host_device *own, const struct host_piece *piece,
                                struct hs_message *message)
{
    int64_t columns = (int64_t)piece->copy.columns, bytes = (int64_t)piece->copy.bytes;
    hsumma_status status = host_copies(own, "copy's dst", piece->copy.dst,
                                       (columns - 1) * (int64_t)piece->copy.dst_pitch + bytes, message);
    return status ? status
                  : host_copies(own, "copy's src", piece->copy.src,
                                (columns - 1) * (int64_t)piece->copy.src_pitch + bytes, message);
}

static hsumma_status check_combine(const struct host_device *own, const struct host_piece *piece,
                                   struct hs_message *message)
{
    int64_t bytes = piece->combine.bytes;
    hsumma_status status = host_reaches(own, "combine's dst", piece->combine.dst, bytes, message);
    for (int i = 0; i < piece->combine.operands && !status; i++)
        status = host_reaches(own, "combine's operand", piece->combine.operand[i], bytes, message);
    return status;
}

static hsumma_status check_update(const struct host_device *own, const struct host_piece *piece,
                                  struct hs_message *message)
{
    hsumma_type type = piece->update.type;
    int64_t rows = piece->update.rows, cols = piece->update.cols;
    hsumma_status status =
        host_reaches(own, "update's C", piece->update.c, span(type, rows, cols, piece->update.ldc), message);
    if (piece->update.s && !status)
        status = host_reaches(own, "update's S", piece->update.s, span(type, rows, cols, piece->update.lds), message);
    return status;
}

static hsumma_status check_gemm(const struct host_device *own, const struct host_piece *piece,
                                struct hs_message *message)
{
    hsumma_type type = piece->gemm.type;
    int64_t m = piece->gemm.m, n = piece->gemm.n, k = hs_scalars[type].is_zero(&piece->gemm.alpha) ? 0 : piece->gemm.k;
    int turned_a = piece->gemm.transa != 'N', turned_b = piece->gemm.transb != 'N';
    int64_t a = span(type, turned_a ? k : m, turned_a ? m : k, piece->gemm.lda);
    int64_t b = span(type, turned_b ? n : k, turned_b ? k : n, piece->gemm.ldb);
    hsumma_status status = host_reaches(own, "gemm's C", piece->gemm.c, span(type, m, n, piece->gemm.ldc), message);
    if (!status)
        status = host_reaches(own, "gemm's A", piece->gemm.a, m && n ? a : 0, message);
    return status ? status : host_reaches(own, "gemm's B", piece->gemm.b, m && n ? b : 0, message);
}

static void do_copy(const struct host_piece *piece)
{
    for (size_t j = 0; j < piece->copy.columns; j++)
        memmove(piece->copy.dst + j * piece->copy.dst_pitch, piece->copy.src + j * piece->copy.src_pitch,
                piece->copy.bytes);
}

/* Combines part by part through a buffer, because dst may be any of the operands. */
static void do_combine(const struct host_piece *piece)
{
    _Alignas(HS_ALIGN) char part[4096];
    int64_t most = (int64_t)sizeof part;
    for (int64_t at = 0; at < piece->combine.bytes; at += most) {
        int64_t some = piece->combine.bytes - at < most ? piece->combine.bytes - at : most;
        memcpy(part, piece->combine.operand[0] + at, (size_t)some);
        for (int i = 1; i < piece->combine.operands; i++)
            piece->combine.function(part, part, piece->combine.operand[i] + at, some, NULL);
        memcpy(piece->combine.dst + at, part, (size_t)some);
    }
}

static void do_update(const struct host_piece *piece)
{
    hs_scalars[piece->update.type].update(piece->update.rows, piece->update.cols, &piece->update.beta, piece->update.c,
                                          piece->update.ldc, piece->update.s, piece->update.lds);
}

static void do_gemm(const struct host_piece *piece)
{
    hs_scalars[piece->gemm.type].gemm(piece->gemm.transa, piece->gemm.transb, piece->gemm.m, piece->gemm.n,
                                      piece->gemm.k, &piece->gemm.alpha, piece->gemm.a, piece->gemm.lda, piece->gemm.b,
                                      piece->gemm.ldb, &piece->gemm.beta, piece->gemm.c, piece->gemm.ldc);
}

static const struct {
    const char *name;
    hsumma_status (*check)(const struct host_device *own, const struct host_piece *piece, struct hs_message *message);
    void (*act)(const struct host_piece *piece);
} work[] = {[HOST_COPY] = {"copy", check_copy, do_copy},
            [HOST_COMBINE] = {"combine", check_combine, do_combine},
            [HOST_UPDATE] = {"update", check_update, do_update},
            [HOST_GEMM] = {"gemm", check_gemm, do_gemm}};

/* Does a piece of work. Checks its memory again, which may have been freed since it was enqueued. */
static void do_work(struct host_device *own, const struct host_piece *piece)
{
    if (own->wrong)
        return;
    if (++own->worked == own->policy.fail)
        own->wrong =
            hs_fail(&own->why, HSUMMA_ERR_DEVICE, "work %" PRId64 " on its streams (%s) has failed (fail=%" PRId64 ")",
                    own->worked, work[piece->kind].name, own->policy.fail);
    else
        own->wrong = work[piece->kind].check(own, piece, &own->why);
    if (!own->wrong)
        work[piece->kind].act(piece);
}

/* Marks a generation as complete, unless a later generation with the same entry of done[], recorded on another stream,
 * is complete already. */
static void do_record(const struct host_piece *piece)
{
    uint64_t generation = piece->event.generation;
    _Atomic uint64_t *done = &piece->event.event->slot->done[generation % HOST_DONE];
    uint64_t before = atomic_load(done);
    while (before < generation && !atomic_compare_exchange_weak(done, &before, generation))
        continue;
}

void host_do(struct host_device *own, struct host_piece *piece)
{
    if (piece->kind == HOST_RECORD)
        do_record(piece);
    else if (piece->kind != HOST_WAIT)
        do_work(own, piece);
    if (piece->kind == HOST_RECORD || piece->kind == HOST_WAIT)
        piece->event.event->uses--;
}

/* Enqueues a piece of work if its operands are in the device's memory. */
static hsumma_status put_work(struct hs_device *device, struct hs_stream *stream, const struct host_piece *is)
{
    struct host_device *own = host_enter(device);
    struct host_piece *piece = NULL;
    hsumma_status status = own->wrong;
    if (!status)
        status = work[is->kind].check(own, is, &device->message);
    if (!status)
        status = host_piece(own, stream, is->kind, &piece);
    if (!status) {
        *piece = *is;
        host_enqueue(own, stream, piece);
    }
    return host_leave(own, status);
}

hsumma_status host_copy_block(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                              const void *src, size_t src_pitch, size_t bytes, size_t columns)
{
    struct host_piece piece = {.kind = HOST_COPY, .copy = {dst, src, dst_pitch, src_pitch, bytes, columns}};
    return bytes && columns ? put_work(device, stream, &piece) : HSUMMA_OK;
}

hsumma_status host_copy(struct hs_device *device, struct hs_stream *stream, void *dst, const void *src, size_t bytes)
{
    return host_copy_block(device, stream, dst, bytes, src, bytes, bytes, 1);
}

hsumma_status host_combine(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                           int operands, int64_t count, hsumma_element element, hsumma_op op)
{
    int64_t bytes = count * (int64_t)hs_element_size(element);
    struct host_piece piece = {
        .kind = HOST_COMBINE,
        .combine = {.dst = dst, .operands = operands, .bytes = bytes, .function = hs_operator_of(element, op)}};
    if (!piece.combine.function)
        return hs_fail(&device->message, HSUMMA_ERR_UNSUPPORTED, "no %s for %s", hs_op_name(op),
                       hs_element_name(element));
    if (operands < 1 || operands > HS_COMBINE_MOST)
        return hs_fail(&device->message, HSUMMA_ERR_DEVICE, "combine: operands is %d; expected 1 to %d", operands,
                       HS_COMBINE_MOST);
    for (int i = 0; i < operands; i++)
        piece.combine.operand[i] = operand[i];
    return bytes > 0 ? put_work(device, stream, &piece) : HSUMMA_OK;
}

hsumma_status host_update(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                          int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds)
{
    struct host_piece piece = {.kind = HOST_UPDATE, .update = {type, rows, cols, ldc, lds, {0}, c, s}};
    memcpy(&piece.update.beta, beta, hs_scalars[type].size);
    return put_work(device, stream, &piece);
}

hsumma_status host_gemm(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa, char transb,
                        int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, const void *b,
                        int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    struct host_piece piece = {.kind = HOST_GEMM,
                               .gemm = {type, transa, transb, m, n, k, lda, ldb, ldc, {0}, {0}, a, b, c}};
    memcpy(&piece.gemm.alpha, alpha, hs_scalars[type].size);
    memcpy(&piece.gemm.beta, beta, hs_scalars[type].size);
    return put_work(device, stream, &piece);
}
