"""Bienz, Olson, Gropp, Node-Aware Improvements to Allreduce (2019): its figures."""
import csv

from figures import Figure, Run, emulated, prices, read_csv

PROFILE = "benchmarks/papers/blue_waters.profile"
NODE = "bw=6GBps,flow=2GBps,lat=2.5us,node_bw=5GBps,node_lat=500ns"  # the same machine for the simulator
NAMES = {"recursive_doubling": "RD", "smp": "SMP", "smp(outer=recursive_doubling)": "SMP", "nap": "NAP", "MPI_Allreduce": "MPI_Allreduce"}
NODES = (2, 4, 8, 15, 16, 17, 32, 64, 128, 256, 512, 1024)
SIZES = tuple(8 * 4 ** i for i in range(8))
TIME = ("us", "time, us")
AT_NODES, AT_BYTES = ("nodes", "nodes"), ("bytes", "bytes")


def explained(names):
    """A reader of hsumma explain --collective: the time of each algorithm."""
    return lambda out: [{"algorithm": names[name], "us": f"{seconds * 1e6:.6g}"} for name, seconds in prices(out) if name in names]


MODELS = "build/tests/unit/coll/models --nap"


def by_clock(row):
    return {"algorithm": row["algorithm"], "us": row["us"]} if row["by"] == "clock" else None


def model(count, ppn, size, **row):
    """The clock of allreduces with messages inside the nodes, as in the paper."""
    return Run("model", f"{MODELS} {count} {ppn} {size}", read_csv(by_clock), row)


def timed(row):
    return {"algorithm": NAMES[row["algorithm"]], "bytes": row["bytes"], "us": f"{float(row['median_s']) * 1e6:.6g}"}


def in_simulator(row):  # MPI_Allreduce is SMPI's there
    return None if row["algorithm"] == "MPI_Allreduce" else timed(row)


def simulated(count, ppn, sizes, **row):
    return Run("simulated", ["scripts/hsumma_sim", "--platform", f"hockney:nodes={count},ppn={ppn},{NODE}", "--gemm", PROFILE,
                             "--quiet", "coll", "--op", "allreduce", "--alg", "nap,smp(outer=recursive_doubling),recursive_doubling", "--bytes", sizes,
                             "--shared", 0, "--format", "csv"], read_csv(in_simulator), row)


def on_emulated(count, ppn, sizes, **row):
    """A cluster of 9 nodes, of which the first ones are used; all algorithms in turns, 15 repetitions."""
    return Run("emulated", emulated(f"9 {ppn} 1gbit 300", f"run {count * ppn} hsumma coll --op allreduce --alg nap,smp,recursive_doubling "
                                    f"--bytes {sizes} --shared 0 --repetitions 15 --format csv", f"EMU_NODES={count}"), read_csv(timed), row)


def gains(figure):
    """The times of another figure divided by those of NAP: runs that read its file."""
    def of(kind):
        def read(out):
            times = list(csv.DictReader(line for line in out.splitlines() if not line.startswith("#")))
            at = lambda row: [row.get(key) for key in ("kind", "ppn", "nodes", "bytes")]
            nap = [(at(row), float(row["us"])) for row in times if row["algorithm"] == "NAP"]
            for row in times:
                for place, us in nap:
                    if row["kind"] == kind and row["algorithm"] != "NAP" and at(row) == place:
                        yield {**row, "algorithm": f"{row['algorithm']} / NAP", "us": "", "gain": f"{float(row['us']) / us:.4g}"}
        return read
    return lambda *kinds: [Run(kind, f"cat doc/results/papers/{figure}.csv", of(kind)) for kind in kinds]


def link(nodes, where):
    rows = lambda size: lambda out: [{"where": where, "bytes": size, "us": row["us"]} for row in explained({"binomial": "one"})(out)]
    return [Run("model", ["hsumma", "explain", "--collective", "bcast", "--ranks", 2, "--nodes", nodes, "--bytes", size, "--shared", 0,
                          "--profile", PROFILE], rows(size)) for size in SIZES]


def ratio(count, ppn):
    def read(out):
        time = {row["algorithm"]: float(row["us"]) for row in csv.DictReader(out.splitlines()) if row["by"] == "clock"}
        return [{"ppn": ppn, "nodes": count, "algorithm": f"{ppn} per node: {name} / NAP", "gain": f"{time[name] / time['NAP']:.4g}"}
                for name in ("RD", "SMP")]
    return Run("model", f"{MODELS} {count} {ppn} 8", read)


def crossing(name, count, ppn, *prices):
    return Run("model", " ".join(map(str, [MODELS, count, ppn, "crossing", *prices])), read_csv(dict), {"machine": name, "nodes": f"{count} nodes"})


A, B, R, G = "2.5e-6", "5e-10", "1.6667e-10", "5e-10"  # the assumed machine: alpha, 1 / R_b, 1 / R_N, gamma
MACHINES = (("as assumed", ()), ("R_N 3.1 GB/s", (A, B, "3.2e-10")), ("R_b = R_N = 6 GB/s", (A, R, R)),
            ("alpha 0.95 us", ("0.95e-6", B, R)), ("0.75 GB/s inside a node", (A, B, R, G, "5e-7", "1.34e-9")))
SOME, FEW = (2, 4, 8, 15, 16, 17, 32, 64, 128, 256, 512), (2, 3, 4, 5, 6, 9)
GAIN = ("gain", "time / time of NAP")

FIGURES = [
    Figure("nap_fig5", "One message inside a node and between nodes (max-rate model)", AT_BYTES, TIME, ["where"],
           link(1, "inside a node") + link(2, "between nodes"), logx=2, logy=10),
    Figure("nap_fig10", "Allreduce of 8 bytes, 16 ranks per node, by the model", AT_NODES, TIME, ["algorithm"],
           [model(nodes, 16, 8, nodes=nodes) for nodes in NODES], logx=2),
    Figure("nap_fig11", "Allreduce on 1,024 nodes of 16 ranks by size, by the model", AT_BYTES, TIME, ["algorithm"],
           [model(1024, 16, size, bytes=size) for size in SIZES], logx=2, logy=10),
    Figure("nap_fig12", "Allreduce of 8 bytes, 16 ranks per node, simulated and by the model", AT_NODES, TIME, ["algorithm"],
           [simulated(nodes, 16, 8, nodes=nodes) for nodes in SOME] + [model(nodes, 16, 8, nodes=nodes) for nodes in SOME], logx=2),
    Figure("nap_fig13", "Gain of NAP, 8 bytes, 16 ranks per node, simulated and by the model", AT_NODES, GAIN, ["algorithm"],
           gains("nap_fig12")("model", "simulated"), logx=2),
    Figure("nap_fig14", "Allreduce on 16 nodes of 16 ranks by size, simulated and by the model", AT_BYTES, TIME, ["algorithm"],
           [simulated(16, 16, "8..128k")] + [model(16, 16, size, bytes=size) for size in SIZES], logx=2, logy=10),
    Figure("nap_fig15", "Gain of NAP on 16 nodes of 16 ranks by size, simulated and by the model", AT_BYTES, GAIN, ["algorithm"],
           gains("nap_fig14")("model", "simulated"), logx=2),
    Figure("nap_ppn", "Gain of NAP, 8 bytes, 4, 16 and 28 ranks per node, by the model", AT_NODES, GAIN, ["algorithm"],
           [ratio(nodes, ppn) for ppn in (4, 16, 28) for nodes in (2, 4, 8, 16, 17, 28, 29, 64, 256, 512, 1024)], logx=2),
    Figure("nap_crossing", "Bytes from which SMP is faster than NAP, 16 ranks per node", ("machine", "machine"),
           ("bytes", "crossing, bytes"), ["nodes"],
           [crossing(name, nodes, 16, *prices) for name, prices in MACHINES for nodes in (16, 256, 1024)], plot=False),
    Figure("nap_fig16", "Allreduce of 8 bytes, 4 ranks per node, emulated nodes", AT_NODES, TIME, ["algorithm"],
           [on_emulated(nodes, 4, 8, nodes=nodes) for nodes in FEW]),
    Figure("nap_fig17", "Allreduce on 9 emulated nodes of 4 ranks by size", AT_BYTES, TIME, ["algorithm"],
           [on_emulated(9, 4, "8..32k")], logx=2, logy=10),
]
