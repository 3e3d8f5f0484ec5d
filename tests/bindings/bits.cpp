/* Prints the hashes of bits.c, computed through hsumma.hpp. */
#include <hsumma.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

namespace
{

constexpr std::int64_t m = 37, n = 29, k = 41;
constexpr int pad = 3, length = 1000;
int ranks, rank;

template <class T> T element(std::int64_t row, std::int64_t col, int seed)
{
    double re = double(1 + (3 * row + 5 * col + seed) % 17) / double(1 + (7 * row + col) % 13);
    if constexpr (std::is_floating_point_v<T>)
        return static_cast<T>(re);
    else {
        using part = typename T::value_type;
        return {static_cast<part>(re), static_cast<part>(double((2 * row + col + seed) % 11) / 7)};
    }
}

hsumma_desc describe(const hsumma::grid &grid, std::int64_t rows, std::int64_t cols, int mb, int nb)
{
    hsumma_desc desc = grid.desc(rows, cols, mb, nb);
    desc.ld += pad;
    return desc;
}

template <class T> std::vector<T> fill(const hsumma_desc &desc, int seed)
{
    std::vector<T> data(hsumma::local_size(desc));
    for (std::int64_t j = 0; j < hsumma_local_cols(&desc); j++)
        for (std::int64_t i = 0; i < hsumma_local_rows(&desc); i++)
            data[static_cast<std::size_t>(i + j * desc.ld)] =
                element<T>(hsumma_global_row(&desc, i), hsumma_global_col(&desc, j), seed);
    return data;
}

template <class T> std::uint64_t mix(std::uint64_t hash, std::span<const T> data)
{
    using word = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>, std::uint32_t,
                                    std::uint64_t>;
    std::vector<word> words(data.size_bytes() / sizeof(word));
    if (!words.empty())
        std::memcpy(words.data(), data.data(), data.size_bytes());
    for (word one : words)
        hash = (hash << 7 | hash >> 57) ^ one;
    return hash;
}

template <class T> std::uint64_t hash_of(const hsumma_desc &desc, std::span<const T> data)
{
    std::uint64_t hash = 1;
    auto rows = static_cast<std::size_t>(hsumma_local_rows(&desc));
    for (std::int64_t j = 0; j < hsumma_local_cols(&desc) && rows; j++)
        hash = mix<T>(hash, data.subspan(static_cast<std::size_t>(j * desc.ld), rows));
    return hash;
}

void print(char type, const std::string &what, std::uint64_t hash)
{
    std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
    MPI_Gather(&hash, 8, MPI_BYTE, all.data(), 8, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int r = 0; r < ranks && rank == 0; r++)
        std::printf("%c %s %d %016llX\n", type, what.c_str(), r,
                    static_cast<unsigned long long>(all[static_cast<std::size_t>(r)]));
}

template <class T>
void multiply(const hsumma::context &ctx, const hsumma::grid &grid, char type, const std::string &trans)
{
    hsumma_desc a = trans[0] == 'N' ? describe(grid, m + 2, k + 1, 5, 7) : describe(grid, k + 2, m + 1, 7, 5);
    hsumma_desc b = trans[1] == 'N' ? describe(grid, k, n, 7, 4) : describe(grid, n, k, 4, 7);
    hsumma_desc c = describe(grid, m, n, 5, 4), other = describe(grid, m, n, 3, 7);
    std::vector<T> pa = fill<T>(a, 1), pb = fill<T>(b, 2), pc = fill<T>(c, 3), moved(hsumma::local_size(other));
    T alpha = element<T>(1, 2, 4), beta = element<T>(2, 1, 5);
    a.i = 2;
    a.j = 1;
    hsumma::gemm(ctx, trans[0], trans[1], m, n, k, alpha, pa, a, pb, b, beta, pc, c);
    print(type, "gemm " + trans, hash_of<T>(c, pc));
    hsumma::plan<T> plan(ctx, trans[0], trans[1], m, n, k, a, b, c, "stationary=A node=messages");
    plan.execute(alpha, pa, pb, beta, pc);
    print(type, "plan " + trans, hash_of<T>(c, pc));
    hsumma::redistribute(ctx, m, n, pc, c, std::span(moved), other);
    print(type, "redistribute " + trans, hash_of<T>(other, moved));
}

template <class T> void sum(const hsumma::context &ctx, char type)
{
    std::vector<T> x(length), y(length);
    for (int i = 0; i < length; i++)
        x[static_cast<std::size_t>(i)] = element<T>(rank, i, 6);
    hsumma::allreduce(ctx, x, std::span(y), HSUMMA_SUM);
    print(type, "allreduce", mix<T>(1, y));
    hsumma::reduce(ctx, x, std::span(y), HSUMMA_SUM, ranks - 1);
    print(type, "reduce", mix<T>(1, y));
    hsumma::bcast(ctx, std::span(x), ranks / 2);
    print(type, "bcast", mix<T>(1, x));
}

template <class T> void all(const hsumma::context &ctx, const hsumma::grid &grid, char type)
{
    for (const char *trans : {"NN", "TN", "NC", "CT"})
        multiply<T>(ctx, grid, type, trans);
    sum<T>(ctx, type);
}

/* Makes wrong calls, the first three of them only on the last process: hsumma.hpp must report each error on all
 * processes. Then executes a plan that has been moved. */
void refuse(const hsumma::context &ctx, const hsumma::grid &grid)
{
    hsumma_desc desc = grid.desc(m, m, 5, 5);
    std::vector<double> a(hsumma::local_size(desc)), c(a.size(), 7.0);
    auto expect = [&](const char *name, hsumma_status status, const char *text, auto call) {
        int thrown = 0;
        try {
            call();
        } catch (const hsumma::error &error) {
            thrown = error.status == status && (rank != ranks - 1 || std::strstr(error.what(), text));
            if (!thrown)
                std::printf("# rank %d: status %d, %s\n", rank, error.status, error.what());
        }
        MPI_Allreduce(MPI_IN_PLACE, &thrown, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (rank == 0)
            std::printf("refused %s: %s\n", name, thrown ? "yes" : "no");
    };
    auto wrong = std::span(a).first(a.size() - (rank == ranks - 1));
    expect("gemm", HSUMMA_ERR_ARGUMENT, "B has ",
           [&] { hsumma::gemm(ctx, 'N', 'N', m, m, m, 1.0, a, desc, wrong, desc, 0.0, c, desc); });
    hsumma::plan<double> plan(ctx, 'N', 'N', m, m, m, desc, desc, desc), moved = std::move(plan);
    expect("plan", HSUMMA_ERR_ARGUMENT, "A has ", [&] { moved.execute(1.0, wrong, a, 0.0, c); });
    expect("redistribute", HSUMMA_ERR_ARGUMENT, "A has ",
           [&] { hsumma::redistribute(ctx, m, m, wrong, desc, std::span(c), desc); });
    expect("options", HSUMMA_ERR_OPTION, "nonsense", [&] { hsumma::context other(MPI_COMM_WORLD, "nonsense=1"); });
    expect("grid", HSUMMA_ERR_ARGUMENT, "", [&] { hsumma::grid other(ctx, ranks, 2); });
    for (double x : c)
        if (x != 7.0)
            std::printf("C has changed on rank %d\n", rank);
    moved.start(1.0, a, a, 0.0, c);
    while (!moved.test())
        continue;
    moved.wait();
    hsumma_plan_info info;
    hsumma_plan_query(moved, &info);
    if (info.nprow * info.npcol != ranks)
        std::printf("plan on a grid of %d x %d\n", info.nprow, info.npcol);
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        hsumma::context ctx(MPI_COMM_WORLD, "lookahead=1");
        int nprow, npcol;
        hsumma_grid_shape(ranks, &nprow, &npcol);
        hsumma::grid grid(ctx, nprow, npcol, 'C');
        if (argc > 1) {
            refuse(ctx, grid);
        } else {
            all<float>(ctx, grid, 's');
            all<double>(ctx, grid, 'd');
            all<std::complex<float>>(ctx, grid, 'c');
            all<std::complex<double>>(ctx, grid, 'z');
        }
    } catch (const hsumma::error &error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
