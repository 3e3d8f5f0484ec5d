#include "base/operators.h"
#include "gpu/cuda.h"

hsumma_status hs_cuda_copy(struct hs_device *device, struct hs_stream *stream, void *dst, const void *src, size_t bytes)
{
    if (!bytes || dst == src)
        return HSUMMA_OK;
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaMemcpyAsync, dst, src, bytes, cudaMemcpyDefault, stream->stream);
    return hs_cuda_leave(&visit);
}

/* Copies column by column, for pitches that cudaMemcpy2DAsync does not accept. */
static hsumma_status copy_columns(struct hs_cuda *cuda, struct hs_stream *stream, char *dst, size_t dst_pitch,
                                  const char *src, size_t src_pitch, size_t bytes, size_t columns)
{
    hsumma_status status = HSUMMA_OK;
    for (size_t j = 0; j < columns && !status; j++)
        status = HS_CUDA_TRY(cuda, cudaMemcpyAsync, dst + j * dst_pitch, src + j * src_pitch, bytes, cudaMemcpyDefault,
                             stream->stream);
    return status;
}

hsumma_status hs_cuda_copy_block(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                                 const void *src, size_t src_pitch, size_t bytes, size_t columns)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    size_t narrow = dst_pitch < src_pitch ? dst_pitch : src_pitch, wide = dst_pitch + src_pitch - narrow;
    if (!bytes || !columns)
        return HSUMMA_OK;
    if (columns == 1 || (dst_pitch == bytes && src_pitch == bytes))
        return hs_cuda_copy(device, stream, dst, src, bytes * columns);
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    if (!visit.status && (narrow < bytes || wide > cuda->pitch_most))
        visit.status = copy_columns(cuda, stream, dst, dst_pitch, src, src_pitch, bytes, columns);
    else if (!visit.status)
        visit.status = HS_CUDA_TRY(cuda, cudaMemcpy2DAsync, dst, dst_pitch, src, src_pitch, bytes, columns,
                                   cudaMemcpyDefault, stream->stream);
    return hs_cuda_leave(&visit);
}

/* The real type of an element's parts, and the number of parts. */
static const struct {
    enum hs_kernel_real real;
    int each;
} reals[HS_ELEMENTS] = {
    [HSUMMA_FLOAT] = {HS_KERNEL_FLOAT, 1},         [HSUMMA_DOUBLE] = {HS_KERNEL_DOUBLE, 1},
    [HSUMMA_FLOAT_COMPLEX] = {HS_KERNEL_FLOAT, 2}, [HSUMMA_DOUBLE_COMPLEX] = {HS_KERNEL_DOUBLE, 2},
    [HSUMMA_INT32] = {HS_KERNEL_INT32, 1},         [HSUMMA_INT64] = {HS_KERNEL_INT64, 1},
};
static const enum hs_kernel_op ops[HS_OPS] = {
    [HSUMMA_SUM] = HS_KERNEL_SUM, [HSUMMA_MAX] = HS_KERNEL_MAX, [HSUMMA_MIN] = HS_KERNEL_MIN};

_Static_assert((int)HS_COMBINE_MOST == (int)HS_KERNEL_MOST, "the kernel takes as many operands as a call of combine");

hsumma_status hs_cuda_combine(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                              int operands, int64_t count, hsumma_element element, hsumma_op op)
{
    if (!hs_operator_of(element, op))
        return hs_fail(&device->message, HSUMMA_ERR_UNSUPPORTED, "no %s for %s", hs_op_name(op),
                       hs_element_name(element));
    if (count <= 0)
        return HSUMMA_OK;
    if (operands == 1)
        return hs_cuda_copy(device, stream, dst, operand[0], (size_t)count * hs_element_size(element));
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, hs_kernels_combine, &visit.cuda->kernels, stream->stream, dst, operand, operands,
                 count * reals[element].each, reals[element].real, ops[op]);
    return hs_cuda_leave(&visit);
}

hsumma_status hs_cuda_update(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                             int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds)
{
    static const enum hs_kernel_scalar scalars[] = {
        [HSUMMA_S] = HS_KERNEL_S, [HSUMMA_D] = HS_KERNEL_D, [HSUMMA_C] = HS_KERNEL_C, [HSUMMA_Z] = HS_KERNEL_Z};
    if (rows <= 0 || cols <= 0)
        return HSUMMA_OK;
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, hs_kernels_update, &visit.cuda->kernels, stream->stream, scalars[type], rows, cols, beta, c,
                 ldc, s, lds);
    return hs_cuda_leave(&visit);
}
