/* A user's C++ program: C := A A by hsumma.hpp, checked against direct sums. */
#include <hsumma.hpp>

#include <cstdio>
#include <vector>

static double entry(std::int64_t i, std::int64_t j)
{
    return double(i - 2 * j % 7);
}

int main()
{
    constexpr std::int64_t n = 37;
    int size, rank, wrong = 0, all;

    MPI_Init(nullptr, nullptr);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        hsumma::context ctx(MPI_COMM_WORLD);
        hsumma::grid grid(ctx, 1, size);
        hsumma_desc desc = grid.desc(n, n, 5, 5);
        std::vector<double> a(hsumma::local_size(desc)), c(a.size());
        auto at = [&](std::int64_t i, std::int64_t j) { return std::size_t(i + j * desc.ld); };
        for (std::int64_t j = 0; j < hsumma_local_cols(&desc); j++)
            for (std::int64_t i = 0; i < n; i++)
                a[at(i, j)] = entry(i, hsumma_global_col(&desc, j));
        hsumma::gemm(ctx, 'N', 'N', n, n, n, 1.0, a, desc, a, desc, 0.0, c, desc);
        for (std::int64_t j = 0; j < hsumma_local_cols(&desc); j++)
            for (std::int64_t i = 0; i < n; i++) {
                double sum = 0.0;
                for (std::int64_t k = 0; k < n; k++)
                    sum += entry(i, k) * entry(k, hsumma_global_col(&desc, j));
                wrong += sum != c[at(i, j)];
            }
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%d entries are wrong\n", all);
    MPI_Finalize();
}
