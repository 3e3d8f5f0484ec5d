"""Quintin, Hasanov, Lastovetsky, Hierarchical Parallel Matrix Multiplication (ICPP 2013): its figures and tables."""
from figures import Figure, Run, read_json

GROUPS = ("1x1", "1x2", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16")  # of an 8 x 16 grid


def simulated(report):
    yield {"s": report["simulated_s"]}


def grouped(platform, n, grid, block, bcast, groups, more=()):
    """A simulated run of HSUMMA with blocking broadcasts and free computation."""
    rows, columns = map(int, groups.split("x"))
    return Run("simulated", ["scripts/hsumma_sim", "--platform", platform, "--gemm", "free", "--quiet", "gemm", "-m", n, "--grid", grid,
                             "--nb", block, "--block", block, "--lookahead", 0, "--stationary", "C", "--groups", groups,
                             "--bcast", bcast, "--format", "json", *more],
               read_json(simulated), {"broadcast": bcast, "G": rows * columns})


FIGURES = [
    Figure("hsumma_fig6", "HSUMMA by the number of groups: 128 ranks, 1 Gbit/s, 100 us, n = 8192, b = 512", ("G", "groups G"),
           ("s", "communication, s"), ["broadcast"],
           [grouped("graphene", 8192, "8x16", 512, bcast, groups) for bcast in ("van_de_geijn", "binomial") for groups in GROUPS],
           logx=2),
]
