/**
 * @file
 * hsumma.h for C++20: objects that free their C handles, spans for local matrices, and exceptions.
 *
 *     hsumma::context ctx(MPI_COMM_WORLD, "lookahead=2");
 *     hsumma::grid grid(ctx, nprow, npcol);
 *     hsumma_desc desc = grid.desc(n, n, 64, 64);
 *     std::vector<double> a(hsumma::local_size(desc)), b(a.size()), c(a.size());
 *     hsumma::gemm(ctx, 'N', 'N', n, n, n, 1.0, a, desc, b, desc, 0.0, c, desc);
 *
 * hsumma.h documents which calls are collective, ownership, and errors. Errors are thrown as hsumma::error, those of a
 * collective call on all processes, even if only one process passes a span that is too short for its descriptor.
 * Objects convert to C handles; pass the status of other C calls to hsumma::check. Free all objects before
 * MPI_Finalize, in any order that is the same on all processes.
 */
#ifndef HSUMMA_HPP
#define HSUMMA_HPP
#include <hsumma_coll.h>
#include <complex>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

/** The C++ interface of hsumma. */
namespace hsumma {
/** The status of a failed call, with its hsumma_message as what(). */
struct error : std::runtime_error {
    error(hsumma_status why, const std::string &message) : std::runtime_error(message), status(why) {} /**< sets both */
    hsumma_status status; /**< the status of the call, never HSUMMA_OK */
};

/** Throws hsumma::error unless status is HSUMMA_OK, with the text `why` or, if empty, the context's message. */
inline void check(hsumma_context *ctx, hsumma_status status, const std::string &why = "")
{
    if (status)
        throw error(status, why.empty() ? hsumma_message(ctx) : why);
}

/** @cond internal */
template <class T> inline constexpr int type_code = -1;
template <> inline constexpr int type_code<float> = HSUMMA_FLOAT;
template <> inline constexpr int type_code<double> = HSUMMA_DOUBLE;
template <> inline constexpr int type_code<std::complex<float>> = HSUMMA_FLOAT_COMPLEX;
template <> inline constexpr int type_code<std::complex<double>> = HSUMMA_DOUBLE_COMPLEX;
template <> inline constexpr int type_code<int32_t> = HSUMMA_INT32;
template <> inline constexpr int type_code<int64_t> = HSUMMA_INT64;

/* element: a type that reductions accept; scalar: a type that matrices may have. */
template <class T> concept element = type_code<T> >= 0;
template <class T> concept scalar = element<T> && !std::integral<T>;
template <scalar T> inline constexpr auto matrix_type = static_cast<hsumma_type>(type_code<T>);
template <element T> inline constexpr auto element_type = static_cast<hsumma_element>(type_code<T>);

/* Owns a C object; frees it with `release`. */
template <class T, void (*release)(T **)> struct handle {
    template <class Make> explicit handle(Make make)
    {
        T *made = nullptr;
        make(&made);
        held.reset(made);
    }
    operator T *() const { return held.get(); }
    struct releases {
        void operator()(T *object) const { release(&object); }
    };
    std::unique_ptr<T, releases> held;
};

/* Checks the spans of one call: a span that is too short becomes a null pointer, an error on all processes. */
struct bounds {
    template <class T> T *operator()(const char *name, std::span<T> data, std::size_t least)
    {
        if (data.size() >= least)
            return data.data();
        why = name + (" has " + std::to_string(data.size()) + " elements on this process; expected at least ") +
              std::to_string(least);
        return nullptr;
    }
    std::string why;
};
/** @endcond */

/** A read-only span, to which vectors and arrays convert; another argument determines the element type. */
template <class T> using in = std::span<const std::type_identity_t<T>>;
template <class T> using out = std::span<std::type_identity_t<T>>; /**< a span like `in` for results */

/** hsumma_create, hsumma_free. */
struct context : handle<hsumma_context, hsumma_free> {
    explicit context(MPI_Comm comm, const std::string &options = "") : handle([&](hsumma_context **made) {
        char text[480] = "";
        if (hsumma_status status = hsumma_create(comm, options.c_str(), made, text, sizeof text))
            throw error(status, text);
    }) {} /**< collective */
};

/** hsumma_grid_create, hsumma_grid_free. */
struct grid : handle<hsumma_grid, hsumma_grid_free> {
    grid(const context &ctx, int nprow, int npcol, char order = 'R', const int *ranks = nullptr)
        : handle([&](hsumma_grid **made) { check(ctx, hsumma_grid_create(ctx, nprow, npcol, order, ranks, made)); }) {}
    /**< collective */
    hsumma_desc desc(int64_t m, int64_t n, int64_t mb, int64_t nb) const
    {
        hsumma_desc made;
        hsumma_desc_init(&made, *this, m, n, mb, nb);
        return made;
    } /**< hsumma_desc_init */
};

/** The number of elements from the beginning of the local part to the last element of its last column. */
inline std::size_t local_size(const hsumma_desc &desc)
{
    int64_t rows = hsumma_local_rows(&desc), cols = hsumma_local_cols(&desc);
    return rows && cols ? static_cast<std::size_t>((cols - 1) * desc.ld + rows) : 0;
}

/** hsumma_sgemm, hsumma_dgemm, hsumma_cgemm or hsumma_zgemm. */
template <scalar T>
void gemm(const context &ctx, char transa, char transb, int64_t m, int64_t n, int64_t k, T alpha,
          in<T> a, const hsumma_desc &desca, in<T> b, const hsumma_desc &descb, std::type_identity_t<T> beta, out<T> c,
          const hsumma_desc &descc)
{
    bounds fit;
    auto call = [&](auto routine, auto first, auto second) {
        check(ctx, routine(ctx, transa, transb, m, n, k, first, fit("A", a, local_size(desca)), &desca,
                           fit("B", b, local_size(descb)), &descb, second, fit("C", c, local_size(descc)), &descc),
              fit.why);
    };
    if constexpr (std::same_as<T, float>)
        call(hsumma_sgemm, alpha, beta);
    else if constexpr (std::same_as<T, double>)
        call(hsumma_dgemm, alpha, beta);
    else
        call(std::same_as<T, std::complex<float>> ? hsumma_cgemm : hsumma_zgemm, &alpha, &beta);
}

/** hsumma_plan_create, hsumma_plan_free. */
template <scalar T> struct plan : handle<hsumma_plan, hsumma_plan_free> {
    plan(const context &ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
         const hsumma_desc &a, const hsumma_desc &b, const hsumma_desc &c, const std::string &options = "")
        : handle([&](hsumma_plan **made) {
              check(ctx, hsumma_plan_create(ctx, matrix_type<T>, transa, transb, m, n, k, &a, &b, &c, options.c_str(),
                                            made));
          }), owner(ctx), least{local_size(a), local_size(b), local_size(c)} {} /**< collective */
    /** hsumma_plan_execute */
    void execute(T alpha, in<T> a, in<T> b, T beta, out<T> c) { run(hsumma_plan_execute, alpha, a, b, beta, c); }
    /** hsumma_plan_start: a, b and c must not be touched until wait has returned or test has returned true. */
    void start(T alpha, in<T> a, in<T> b, T beta, out<T> c) { run(hsumma_plan_start, alpha, a, b, beta, c); }
    /** hsumma_plan_test */
    bool test()
    {
        int done = 0;
        check(owner, hsumma_plan_test(*this, &done));
        return done;
    }
    void wait() { check(owner, hsumma_plan_wait(*this)); } /**< hsumma_plan_wait */

private:
    void run(decltype(hsumma_plan_execute) routine, T alpha, in<T> a, in<T> b, T beta, out<T> c)
    {
        bounds fit;
        check(owner, routine(*this, &alpha, fit("A", a, least[0]), fit("B", b, least[1]), &beta,
                             fit("C", c, least[2])), fit.why);
    }
    hsumma_context *owner; /* kept alive by the plan */
    std::size_t least[3];  /* minimum elements of the spans of A, B and C */
};

/** hsumma_redistribute. */
template <scalar T>
void redistribute(const context &ctx, int64_t m, int64_t n, in<T> a, const hsumma_desc &desca, std::span<T> b,
                  const hsumma_desc &descb)
{
    bounds fit;
    check(ctx, hsumma_redistribute(ctx, matrix_type<T>, m, n, fit("A", a, local_size(desca)), &desca,
                                   fit("B", b, local_size(descb)), &descb), fit.why);
}

/** hsumma_bcast. */
template <element T> void bcast(const context &ctx, std::span<T> data, int root)
{
    check(ctx, hsumma_bcast(ctx, data.data(), static_cast<int64_t>(data.size_bytes()), root));
}

/** hsumma_reduce: on the root, result has the size of data and may be the same span as data. */
template <element T> void reduce(const context &ctx, in<T> data, std::span<T> result, hsumma_op op, int root)
{
    check(ctx, hsumma_reduce(ctx, data.data(), result.size() < data.size() ? nullptr : result.data(), std::ssize(data),
                             element_type<T>, op, root));
}

/** hsumma_allreduce: result has the size of data and may be the same span as data. */
template <element T> void allreduce(const context &ctx, in<T> data, std::span<T> result, hsumma_op op)
{
    check(ctx, hsumma_allreduce(ctx, data.data(), result.size() < data.size() ? nullptr : result.data(),
                                std::ssize(data), element_type<T>, op));
}

} // namespace hsumma
#endif
