/* Element-wise kernels, bitwise equal to base/operators.c and scalar.inc: same order, no fused multiply-add. */
#include "gpu/kernels.h"
#include "gpu/launch.h"

#include <string.h>

extern "C" const char hs_kernels_archs[] = HSUMMA_CUDA_ARCHS;

namespace
{

enum {
    THREADS = 256, /* threads per block */
    RESIDENT = 4,  /* least number of blocks per multiprocessor: limits the registers of a thread */
    CHUNKS = 2,    /* chunks of an operand that a thread has in flight */
    BATCH = 4      /* operands that a thread has in flight */
};

struct plus {
    template <class T> static __device__ T of(T l, T r)
    {
        return l + r;
    }
};
struct larger {
    template <class T> static __device__ T of(T l, T r)
    {
        return l > r ? l : r;
    }
};
struct smaller {
    template <class T> static __device__ T of(T l, T r)
    {
        return l < r ? l : r;
    }
};

struct operands {
    const void *at[HS_KERNEL_MOST];
    int count;
};

/* Elements of type T, accessed as type A: several elements per access, or several accesses per element. */
template <class T, class A> struct chunk {
    enum {
        PER_ACCESS = sizeof(A) > sizeof(T) ? sizeof(A) / sizeof(T) : 1,
        ACCESSES = PER_ACCESS * sizeof(T) / sizeof(A)
    };
    T value[PER_ACCESS];

    __device__ void load(const void *base, int64_t i)
    {
        A access[ACCESSES];
        for (int a = 0; a < ACCESSES; a++)
            access[a] = static_cast<const A *>(base)[i * ACCESSES + a];
        memcpy(value, access, sizeof value);
    }
    __device__ void store(void *base, int64_t i) const
    {
        A access[ACCESSES];
        memcpy(access, value, sizeof value);
        for (int a = 0; a < ACCESSES; a++)
            static_cast<A *>(base)[i * ACCESSES + a] = access[a];
    }
    template <class Op> __device__ void combine(const chunk &right)
    {
        for (int e = 0; e < PER_ACCESS; e++)
            value[e] = Op::of(value[e], right.value[e]);
    }
};

/* Combines chunks i, i + stride, ... below `end`, at most CHUNKS; chunk 0 begins `offset` bytes into each operand. */
template <class T, class Op, class A>
__device__ void combine_chunks(void *dst, const operands &from, int64_t offset, int64_t i, int64_t stride, int64_t end)
{
    chunk<T, A> sum[CHUNKS], next[BATCH][CHUNKS];
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        if (i + c * stride < end)
            sum[c].load(static_cast<const char *>(from.at[0]) + offset, i + c * stride);
    for (int k = 1; k < from.count; k += BATCH) {
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (k + b < from.count) {
#pragma unroll
                for (int c = 0; c < CHUNKS; c++)
                    if (i + c * stride < end)
                        next[b][c].load(static_cast<const char *>(from.at[k + b]) + offset, i + c * stride);
            }
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (k + b < from.count) {
#pragma unroll
                for (int c = 0; c < CHUNKS; c++)
                    if (i + c * stride < end)
                        sum[c].template combine<Op>(next[b][c]);
            }
    }
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        if (i + c * stride < end)
            sum[c].store(static_cast<char *>(dst) + offset, i + c * stride);
}

/* Combines `head` elements, then `chunks` chunks, then `tail` elements; head and tail together have fewer elements than
 * a block has threads. */
template <class T, class Op, class A>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    combine(void *dst, const __grid_constant__ operands from, int64_t head, int64_t chunks, int64_t tail)
{
    int64_t thread = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    int64_t threads = static_cast<int64_t>(gridDim.x) * THREADS;
    if (thread < head + tail) {
        int64_t i = thread < head ? thread : thread + chunks * chunk<T, A>::PER_ACCESS;
        T value = static_cast<const T *>(from.at[0])[i];
#pragma unroll 4
        for (int k = 1; k < from.count; k++)
            value = Op::of(value, static_cast<const T *>(from.at[k])[i]);
        static_cast<T *>(dst)[i] = value;
    }
    for (int64_t i = thread; i < chunks; i += CHUNKS * threads)
        combine_chunks<T, Op, A>(dst, from, head * static_cast<int64_t>(sizeof(T)), i, threads, chunks);
}

struct call {
    const hs_kernels *kernels;
    cudaStream_t stream;
    void *dst;
    operands from;
    int64_t count;
};

int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

template <class T, class Op, class A> cudaError_t combine_by(const call &is, int64_t head)
{
    const int64_t each = chunk<T, A>::PER_ACCESS;
    int64_t chunks = (is.count - head) / each, tail = is.count - head - chunks * each;
    int64_t blocks = least((chunks + THREADS - 1) / THREADS, is.kernels->combine_blocks);
    return launch(&combine<T, Op, A>, dim3(static_cast<unsigned>(blocks > 0 ? blocks : 1)), dim3(THREADS), is.stream,
                  is.dst, is.from, head, chunks, tail);
}

/* Uses 16-byte accesses if all addresses are equal modulo 16, else accesses of one element; accesses of one byte if
 * elements are misaligned. */
template <class T, class Op> cudaError_t combine_as(const call &is)
{
    uintptr_t dst = reinterpret_cast<uintptr_t>(is.dst), differ = 0;
    for (int k = 0; k < is.from.count; k++)
        differ |= dst ^ reinterpret_cast<uintptr_t>(is.from.at[k]);
    if ((differ | dst) % sizeof(T) != 0)
        return combine_by<T, Op, unsigned char>(is, 0);
    if (differ % sizeof(uint4) != 0)
        return combine_by<T, Op, T>(is, 0);
    return combine_by<T, Op, uint4>(is, least(static_cast<int64_t>(-dst % sizeof(uint4) / sizeof(T)), is.count));
}

/* S is the type for sums: unsigned for integers, so that they wrap. */
template <class T, class S> cudaError_t combine_op(const call &is, hs_kernel_op op)
{
    return op == HS_KERNEL_SUM   ? combine_as<S, plus>(is)
           : op == HS_KERNEL_MAX ? combine_as<T, larger>(is)
                                 : combine_as<T, smaller>(is);
}

template <class R> struct alignas(2 * sizeof(R)) complex {
    R x, y;
};

template <class R> __device__ R times(R l, R r)
{
    return l * r;
}
template <class R> __device__ R sum_of(R l, R r)
{
    return l + r;
}
template <class R> __device__ complex<R> sum_of(complex<R> l, complex<R> r)
{
    return {l.x + r.x, l.y + r.y};
}

/* Maps an infinity to 1 and anything else to 0, keeping the sign. */
template <class R> __device__ R boxed(R a)
{
    return copysign(isinf(a) ? R(1) : R(0), a);
}
template <class R> __device__ R number(R a)
{
    return isnan(a) ? copysign(R(0), a) : a;
}

/* As in C (annex G): an infinite factor gives an infinite product, unless the other factor is zero. */
template <class R> __device__ complex<R> times(complex<R> l, complex<R> r)
{
    R a = l.x, b = l.y, c = r.x, d = r.y, ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    complex<R> product = {ac - bd, ad + bc};
    if (!isnan(product.x) || !isnan(product.y))
        return product;
    bool again = isinf(a) || isinf(b) || isinf(c) || isinf(d);
    if (isinf(a) || isinf(b)) {
        a = boxed(a), b = boxed(b);
        c = number(c), d = number(d);
    }
    if (isinf(c) || isinf(d)) {
        c = boxed(c), d = boxed(d);
        a = number(a), b = number(b);
    }
    if (!again && (isinf(ac) || isinf(bd) || isinf(ad) || isinf(bc))) {
        a = number(a), b = number(b), c = number(c), d = number(d);
        again = true;
    }
    const R infinity = R(1) / R(0);
    return again ? complex<R>{infinity * (a * c - b * d), infinity * (a * d + b * c)} : product;
}

/* The kind of beta: whether C is read, and whether it is multiplied. */
enum factor { ZERO, ONE, OTHER };

template <class T> struct block {
    enum { THREAD_ROWS = sizeof(T) > 8 ? 2 : 4 }; /* rows that a thread has in flight */
    int64_t rows, cols, ldc, lds;
    T *c;
    const T *s;
    T beta;
    int factor;
};

/* Threads of a block: x along rows, y along columns. */
template <class T> __global__ void __launch_bounds__(THREADS, RESIDENT) update(const __grid_constant__ block<T> is)
{
    enum { THREAD_ROWS = block<T>::THREAD_ROWS };
    int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    int64_t column = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    for (int64_t j = column; j < is.cols; j += static_cast<int64_t>(gridDim.y) * blockDim.y)
        for (int64_t i = first; i < is.rows; i += THREAD_ROWS * stride) {
            T *c = is.c + j * is.ldc + i;
            const T *s = is.s ? is.s + j * is.lds + i : nullptr;
            T old[THREAD_ROWS], add[THREAD_ROWS];
#pragma unroll
            for (int u = 0; u < THREAD_ROWS; u++) {
                bool inside = i + u * stride < is.rows;
                add[u] = inside && s ? s[u * stride] : T();
                old[u] = inside && is.factor != ZERO ? c[u * stride] : T();
            }
#pragma unroll
            for (int u = 0; u < THREAD_ROWS; u++)
                if (i + u * stride < is.rows)
                    c[u * stride] = is.factor == ZERO  ? add[u]
                                    : is.factor == ONE ? sum_of(old[u], add[u])
                                                       : sum_of(times(is.beta, old[u]), add[u]);
        }
}

template <class R> int factor_of(R beta)
{
    return beta == R(0) ? ZERO : beta == R(1) ? ONE : OTHER;
}
template <class R> int factor_of(complex<R> beta)
{
    return beta.y != R(0) ? OTHER : factor_of(beta.x);
}

template <class T>
cudaError_t update_as(const hs_kernels *kernels, cudaStream_t stream, int64_t rows, int64_t cols, const void *beta,
                      void *c, int64_t ldc, const void *s, int64_t lds)
{
    block<T> is = {rows, cols, ldc, lds, static_cast<T *>(c), static_cast<const T *>(s), T(), 0};
    memcpy(&is.beta, beta, sizeof is.beta);
    is.factor = factor_of(is.beta);
    if (rows <= 0 || cols <= 0 || (!s && is.factor == ONE))
        return cudaSuccess;
    if ((reinterpret_cast<uintptr_t>(c) | reinterpret_cast<uintptr_t>(s)) % sizeof(T) != 0)
        return cudaErrorMisalignedAddress;
    if (ldc == rows && (!s || lds == rows)) { /* contiguous */
        is.rows = rows * cols;
        is.cols = 1;
    }
    unsigned wide = 1;
    while (wide < THREADS && wide < is.rows)
        wide *= 2;
    dim3 threads(wide, THREADS / wide);
    const int64_t most = kernels->update_blocks, each = static_cast<int64_t>(wide) * block<T>::THREAD_ROWS;
    int64_t x = least((is.rows + each - 1) / each, most);
    int64_t y = least((is.cols + threads.y - 1) / threads.y, least((most + x - 1) / x, 65535));
    return launch(&update<T>, dim3(static_cast<unsigned>(x), static_cast<unsigned>(y)), threads, stream, is);
}

} // namespace

extern "C" cudaError_t hs_kernels_prepare(int device, struct hs_kernels *kernels)
{
    int processors = 0, combining = 0, updating = 0;
    cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = resident(&combine<double, plus, uint4>, THREADS, &combining);
    if (error == cudaSuccess)
        error = resident(&update<double>, THREADS, &updating);
    kernels->combine_blocks = static_cast<int64_t>(combining > 0 ? combining : 1) * processors;
    kernels->update_blocks = static_cast<int64_t>(updating > 0 ? updating : 1) * processors;
    return error;
}

extern "C" cudaError_t hs_kernels_combine(const struct hs_kernels *kernels, cudaStream_t stream, void *dst,
                                          const void *const *operand, int operands, int64_t count,
                                          enum hs_kernel_real real, enum hs_kernel_op op)
{
    call is = {kernels, stream, dst, {}, count};
    if (count <= 0)
        return cudaSuccess;
    if (operands < 1 || operands > HS_KERNEL_MOST)
        return cudaErrorInvalidValue;
    is.from.count = operands;
    memcpy(is.from.at, operand, static_cast<size_t>(operands) * sizeof *operand);
    switch (real) {
    case HS_KERNEL_FLOAT:
        return combine_op<float, float>(is, op);
    case HS_KERNEL_DOUBLE:
        return combine_op<double, double>(is, op);
    case HS_KERNEL_INT32:
        return combine_op<int32_t, uint32_t>(is, op);
    default:
        return combine_op<int64_t, uint64_t>(is, op);
    }
}

extern "C" cudaError_t hs_kernels_update(const struct hs_kernels *kernels, cudaStream_t stream,
                                         enum hs_kernel_scalar scalar, int64_t rows, int64_t cols, const void *beta,
                                         void *c, int64_t ldc, const void *s, int64_t lds)
{
    switch (scalar) {
    case HS_KERNEL_S:
        return update_as<float>(kernels, stream, rows, cols, beta, c, ldc, s, lds);
    case HS_KERNEL_D:
        return update_as<double>(kernels, stream, rows, cols, beta, c, ldc, s, lds);
    case HS_KERNEL_C:
        return update_as<complex<float>>(kernels, stream, rows, cols, beta, c, ldc, s, lds);
    default:
        return update_as<complex<double>>(kernels, stream, rows, cols, beta, c, ldc, s, lds);
    }
}
