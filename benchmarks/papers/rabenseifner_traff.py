"""Rabenseifner, Traeff, More Efficient Reduction Algorithms for Non-power-of-two Number of Processors (EuroPVM/MPI 2004):
its Table 1, and its algorithms by ranks and size."""
import re

from figures import Figure, Run, emulated, prices, read_csv

RANKS = (3, 5, 6, 7, 11, 12, 13, 15, 24)
ROWS = ("recursive_doubling", "ring", "elimination_21", "elimination_32", "elimination_32_21", "small_ring", "rabenseifner_traff")
SIZES = (("8", 8), ("8k", 8 << 10), ("512k", 512 << 10))
TABLE = "build/tests/unit/coll/rabenseifner_traff --table"
PROFILE = "benchmarks/papers/hockney_1gb.profile"  # of PLATFORM
PLATFORM = "hockney:nodes={},bw=1GBps,lat=10us"


def timed(row):
    return {"algorithm": row["algorithm"], "ranks": row["ranks"], "bytes": row["bytes"], "us": f"{float(row['median_s']) * 1e6:.5g}"}


def coll(size, most=None, repetitions=1):
    sizes = f"{size}..{most}" if most else size
    return ["coll", "--op", "allreduce", "--alg", ",".join(ROWS), "--bytes", sizes, "--factor", 4, "--repetitions", repetitions,
            "--format", "csv", "--quiet"]


def simulated(ranks, *sizes):
    return Run("simulated", ["scripts/hsumma_sim", "--platform", PLATFORM.format(ranks), "--quiet", *coll(*sizes)], read_csv(timed))


def modelled(ranks, size):
    def read(out):
        for name, seconds in prices(out):
            if name in ROWS[1:]:
                yield {"algorithm": name, "us": f"{seconds * 1e6:.5g}"}
    return Run("model", ["hsumma", "explain", "--collective", "allreduce", "--ranks", ranks, "--nodes", ranks, "--bytes", size,
                         "--profile", PROFILE], read, {"ranks": ranks, "bytes": size})


def on_a_node(ranks, size):
    return Run("node", ["mpiexec.mpich", "-n", ranks, "env", "LD_PRELOAD=build/tests/mpich_yield.so", "build/hsumma",
                        *coll(size, repetitions=5)], read_csv(timed))


def on_emulated(ranks, size):
    """8 nodes of up to 3 ranks."""
    return Run("emulated", emulated("8 3 1gbit 300", f"run {ranks} hsumma {' '.join(map(str, coll(size, repetitions=5)))}"), read_csv(timed))


def by_ranks(where, what, runs, sizes):
    return [Figure(f"rabenseifner_traff_{where}_{name}", f"Allreduce of {size:,} bytes by ranks, {what}", ("ranks", "ranks"),
                   ("us", "time, us"), ["algorithm"], [run(ranks, size) for run in runs for ranks in RANKS])
            for name, size in sizes]


def table_1(out):
    """The lines "table,CASE,PROTOCOL,SOURCE,VALUE" of the unit test."""
    for table, case, protocol, source, value in re.findall(r"^(\w+),(.*?),(.*?),(.*?),(.*)$", out, re.M):
        yield {"table": table, "case": case, "protocol": protocol, "source": source, "alphas": value}


def table(name, title, unit="time, multiples of alpha"):
    return Figure(f"rabenseifner_traff_{name}", title, ("case", "p, m"), ("alphas", unit), ["protocol", "source"],
                  [Run("model", f"{TABLE} {name}", table_1)], plot=False)


FIGURES = [
    table("table1", "Table 1: the printed cells, the formulas of Section 3.5, and the schedules by the clock"),
    table("combination", "Table 1's machine: the best protocol of the table, the rows, and the combination"),
    table("saving", "Long vectors, alpha = 0", "time, multiples of 2 m beta + m gamma"),
    *by_ranks("simulated", "10 us, 1 GB/s", [modelled, simulated], SIZES),
    *(Figure(f"rabenseifner_traff_{ranks}_ranks", f"Allreduce on {ranks} ranks by size, simulated, 10 us, 1 GB/s",
             ("bytes", "vector, bytes"), ("us", "time, us"), ["algorithm"], [simulated(ranks, 8, "2M")], logx=2, logy=10)
      for ranks in (15, 24)),
    *by_ranks("node", "ranks of one node with 2 cores", [on_a_node], SIZES[::2]),
    *by_ranks("emulated", "8 emulated nodes, 1 Gbit/s, 300 us", [on_emulated], SIZES[::2]),
]
