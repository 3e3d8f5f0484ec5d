"""SUMMA, HSUMMA with two and three levels, and the plan that is chosen, on 4 to 256 nodes of a fat tree."""
from figures import Figure, Run, read_json
from hsumma import count

TREE = "fattree:2;16,16;1,16;1,1,bw=12.5GBps,lat=1us,ppn=4"  # 256 nodes, full bisection bandwidth
GRIDS = ("4x4", "8x8", "16x16", "32x32")
SUMMA = ("--lookahead", 0, "--groups", "1x1")
TWO = {"4x4": "2x1", "8x8": "2x2", "16x16": "4x4", "32x32": "4x8"}  # groups that do not cut through nodes
THREE = {"8x8": "2x1,2x2", "16x16": "2x2,4x2", "32x32": "2x2,4x4"}
FREE = ("--best", "--layers", "auto", "--workspace-limit", "400%")  # the library chooses layouts and layers
SAMPLED = ("--steps", 16)  # 1,024 ranks with large matrices
SHAPES = {"square": (8192, 8192, 8192), "large k": (2048, 2048, 131072), "flat": (32768, 32768, 512)}


def simulated(grid, extent, words, row, read):
    m, n, k = extent
    given = () if "--best" in words else ("--grid", grid, "--nb", 256)
    return Run("simulated", ["scripts/hsumma_sim", "--platform", TREE, "--ranks", count(grid), "--gemm", "profile", "--quiet", "gemm",
                             "-m", m, "-n", n, "-k", k, *given, "--format", "json", *words],
               read_json(read), row, limit=3000)


def algorithms(grid):
    yield "SUMMA", SUMMA
    yield "HSUMMA", ("--lookahead", 0, "--groups", TWO[grid])
    if grid in THREE:
        yield "three levels", ("--lookahead", 0, "--levels", THREE[grid])
    yield "chosen", ()


def seconds(report, name):
    yield {"s": report["simulated_s"]}
    if name == "chosen" and "gemm_s" in report:  # not of a sample
        yield {"algorithm": "its GEMM", "s": report["gemm_s"]}


def scaling(sizes):
    return [simulated(grid, (n, n, n), words + (SAMPLED if n > 16384 else ()), {"p": count(grid), "algorithm": name}, lambda report, name=name: seconds(report, name))
            for grid, n in zip(GRIDS, sizes) for name, words in algorithms(grid)]


def shapes():
    """16 nodes; bytes into a node's ranks, and the lower bound for even parts."""
    def read(report, name):
        yield {"of": f"{name}, s", "value": report["simulated_s"]}
        if name == "free layouts":
            yield {"of": f"{name}, MiB on a node's busiest link, per rank", "value": report["busiest_link"]["bytes"] / 4 / 2 ** 20}
            return
        yield {"of": f"{name}, MiB into a rank", "value": report["floors"]["node_bytes"] / 4 / 2 ** 20}
        if name == "chosen":
            yield {"of": "bound, MiB", "value": report["floors"]["theory_bytes"] / 4 / 2 ** 20}
            yield {"of": "its GEMM, s", "value": report["gemm_s"]}
    return [simulated("8x8", extent, words, {"shape": f"{shape}: {'x'.join(map(str, extent))}"}, lambda report, name=name: read(report, name))
            for shape, extent in SHAPES.items()
            for name, words in (("SUMMA", SUMMA + ("--stationary", "C")), ("chosen", ()), ("free layouts", FREE))]


SECONDS = ("s", "seconds")
FIGURES = [
    Figure("fat_tree_strong", "Strong scaling on a fat tree: n = 8192", ("p", "ranks p"), SECONDS, ["algorithm"],
           lambda: scaling((8192,) * 4), logx=2, logy=2),
    Figure("fat_tree_weak", "Weak scaling on a fat tree: n = 1024 sqrt(p)", ("p", "ranks p"), SECONDS, ["algorithm"],
           lambda: scaling((4096, 8192, 16384, 32768)), logx=2),
    Figure("fat_tree_shapes", "Products of three shapes on 16 nodes of a fat tree", ("shape", "m x n x k"), ("value", "seconds and MiB"),
           ["of"], shapes, plot=False),
]
