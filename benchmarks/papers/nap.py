"""Bienz, Olson, Gropp, Node-Aware Improvements to Allreduce (2019): its figures."""
import csv
import os

from figures import ROOT, Figure, Run, emulated, prices, read_csv

PROFILES = ((8000, "benchmarks/papers/blue_waters.profile"), (float("inf"), "benchmarks/papers/blue_waters_long.profile"))
PROTOCOLS = {"short": (0, 500), "eager": (500, 8000), "rendezvous": (8000, float("inf"))}  # the sizes of messages in bytes
NAMES = {"recursive_doubling": "RD", "smp": "SMP", "smp(outer=recursive_doubling)": "SMP", "nap": "NAP", "MPI_Allreduce": "MPI_Allreduce"}
LARGE = (512, 1024)  # nodes of 16 ranks of kind large
NODES = tuple(2 ** i for i in range(3, 13))
SIZES = tuple(8 * 4 ** i for i in range(8))
TIME = ("us", "time, us")
AT_NODES, AT_BYTES = ("nodes", "nodes"), ("bytes", "bytes")


def profile_of(size):
    """The profile that has the prices of messages of this size."""
    return next(name for above, name in PROFILES if size < above)


def machine(size):
    """The prices of a message of this size, as text: alpha, beta, inject, gamma, and alpha and beta inside a node."""
    with open(os.path.join(ROOT, profile_of(size)), encoding="utf-8") as file:
        line = dict(words for words in map(str.split, file) if len(words) == 2)
    price = lambda link, name: line[f"{link}.{'rendezvous_' if size > int(line[f'{link}.eager_bytes']) else ''}{name}"]
    return [price("network", "alpha_s"), price("network", "beta_s_per_byte"), line["inject_s_per_byte"], line["gamma_s_per_byte"],
            price("node", "alpha_s"), price("node", "beta_s_per_byte")]


def platform(count, ppn, size):
    """The machine for the simulator, which adds the time of a header of 16 bytes to each message."""
    alpha, beta, inject, _, node_alpha, node_beta = map(float, machine(size))
    return (f"hockney:nodes={count},ppn={ppn},bw={1e-9 / inject:.4g}GBps,flow={1e-9 / beta:.4g}GBps,lat={1e9 * (alpha - 16 * beta):.1f}ns,"
            f"node_bw={1e-6 / node_beta:.4g}MBps,node_lat={1e9 * (node_alpha - 16 * node_beta):.1f}ns")


def explained(names):
    """A reader of hsumma explain --collective: the time of each algorithm."""
    return lambda out: [{"algorithm": names[name], "us": f"{seconds * 1e6:.6g}"} for name, seconds in prices(out) if name in names]


MODELS = "build/tests/unit/coll/models --nap"


def by_clock(row):
    return {"algorithm": row["algorithm"], "us": row["us"]} if row["by"] == "clock" else None


def model(count, ppn, size, **row):
    """The clock of allreduces with messages inside the nodes, as in the paper."""
    return Run("model", " ".join(map(str, [MODELS, count, ppn, size, *machine(size)])), read_csv(by_clock), row)


def timed(row):
    return {"algorithm": NAMES[row["algorithm"]], "bytes": row["bytes"], "us": f"{float(row['median_s']) * 1e6:.6g}"}


def in_simulator(row):  # MPI_Allreduce is SMPI's there
    return None if row["algorithm"] == "MPI_Allreduce" else timed(row)


def simulated(count, ppn, first, last=None, read=read_csv(in_simulator), **row):
    """Sizes from first to last, by a factor of 4: messages of one protocol."""
    sizes = [first] if last is None else [f"{first}..{last}", "--factor", 4]
    kind = "large" if ppn == 16 and count in LARGE else "simulated"
    return Run(kind, ["scripts/hsumma_sim", "--platform", platform(count, ppn, first), "--gemm", profile_of(first), "--quiet",
                      "coll", "--op", "allreduce", "--alg", "nap,smp(outer=recursive_doubling),recursive_doubling", "--bytes", *sizes,
                      "--shared", 0, "--format", "csv"], read, row)


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


def link(where, nodes, sockets):
    rows = lambda size: lambda out: [{"where": where, "bytes": size, "us": row["us"]} for row in explained({"binomial": "one"})(out)]
    return [Run("model", ["hsumma", "explain", "--collective", "bcast", "--ranks", 2, "--nodes", nodes, "--sockets", sockets, "--bytes", size,
                          "--shared", 0, "--profile", profile_of(size)], rows(size)) for size in SIZES]


def ratios(count, ppn, times):
    return [{"ppn": ppn, "nodes": count, "algorithm": f"{ppn} per node: {name} / NAP", "gain": f"{times[name] / times['NAP']:.4g}"}
            for name in ("RD", "SMP")]


def ratio(count, ppn):
    read = lambda out: ratios(count, ppn, {row["algorithm"]: float(row["us"]) for row in read_csv(by_clock)(out)})
    return Run("model", " ".join(map(str, [MODELS, count, ppn, 8, *machine(8)])), read)


def simulated_ratio(count, ppn):
    return simulated(count, ppn, 8, read=lambda out: ratios(count, ppn, {row["algorithm"]: float(row["us"]) for row in read_csv(in_simulator)(out)}))


def crossing(name, count, protocol, inject=None):
    """No row if NAP is faster for all sizes of the protocol."""
    least, above = PROTOCOLS[protocol]
    price = machine(least)
    price[2] = inject or price[2]

    def read(out):
        size = max(least, int(next(csv.DictReader(out.splitlines()))["bytes"]))
        return [{"bytes": size}] if size < min(above, 1 << 24) else []
    return Run("model", " ".join(map(str, [MODELS, count, 16, "crossing", *price])), read, {"machine": name, "nodes": f"{count} nodes"})


def in_sockets(count, algorithm, name):
    """Two sockets on each node."""
    command = ["hsumma", "explain", "--collective", "allreduce", "--alg", algorithm, "--ranks", 16 * count, "--nodes", count, "--sockets", 2,
               "--bytes", 8, "--shared", 0, "--profile", profile_of(8)]
    return Run("model", command, lambda out: [{"us": f"{seconds * 1e6:.6g}"} for _, seconds in prices(out)], {"algorithm": name, "nodes": count})


ON_SOCKETS = {"recursive_doubling": "RD", "smp(outer=recursive_doubling)": "SMP", "smp(level=socket,outer=recursive_doubling)": "SMP of sockets",
              "nap": "NAP", "nap(level=socket)": "NAP of sockets"}
CROSSINGS = (("short", "short", None), ("eager", "eager", None), ("rendezvous", "rendezvous", None),
             ("eager, R_N 1.22 GB/s", "eager", "8.2e-10"))
SOME, FEW = (2, 4, 8, 15, 16, 17, 32, 64, 128, 256), (2, 3, 4, 5, 6, 9)
GAIN = ("gain", "time / time of NAP")

FIGURES = [
    Figure("nap_fig5", "One message inside a socket, between sockets and between nodes", AT_BYTES, TIME, ["where"],
           link("inside a socket", 1, 1) + link("between sockets", 1, 2) + link("between nodes", 2, 1), logx=2, logy=10),
    Figure("nap_fig10", "Allreduce of 8 bytes, 16 ranks per node, by the model", AT_NODES, TIME, ["algorithm"],
           [model(nodes, 16, 8, nodes=nodes) for nodes in NODES], logx=2),
    Figure("nap_fig11", "Allreduce on 2,048 nodes of 16 ranks by size, by the model", AT_BYTES, TIME, ["algorithm"],
           [model(2048, 16, 8 << i, bytes=8 << i) for i in range(12)], logx=2, logy=10),
    Figure("nap_fig12", "Allreduce of 8 bytes, 16 ranks per node, simulated and by the model", AT_NODES, TIME, ["algorithm"],
           [simulated(nodes, 16, 8, nodes=nodes) for nodes in SOME + LARGE] +
           [model(nodes, 16, 8, nodes=nodes) for nodes in SOME + LARGE], logx=2),
    Figure("nap_fig13", "Gain of NAP, 8 bytes, 16 ranks per node, simulated and by the model", AT_NODES, GAIN, ["algorithm"],
           gains("nap_fig12")("model", "simulated", "large"), logx=2),
    Figure("nap_fig14", "Allreduce on 64 nodes of 16 ranks by size, simulated and by the model", AT_BYTES, TIME, ["algorithm"],
           [simulated(64, 16, 8, 128), simulated(64, 16, 512, 2048), simulated(64, 16, 8192, 131072)] +
           [model(64, 16, size, bytes=size) for size in SIZES], logx=2, logy=10),
    Figure("nap_fig15", "Gain of NAP on 64 nodes of 16 ranks by size, simulated and by the model", AT_BYTES, GAIN, ["algorithm"],
           gains("nap_fig14")("model", "simulated"), logx=2),
    Figure("nap_ppn", "Gain of NAP, 8 bytes, 4, 16 and 28 ranks per node, simulated and by the model", AT_NODES, GAIN, ["algorithm"],
           [ratio(nodes, ppn) for ppn in (4, 16, 28) for nodes in (2, 4, 8, 16, 17, 28, 29, 64, 256, 512, 784, 1024)] +
           [simulated_ratio(nodes, 4) for nodes in (2, 4, 8, 16, 17, 28, 29, 64, 256, 512, 1024)] +
           [simulated_ratio(nodes, 28) for nodes in (2, 4, 8, 16, 17, 28, 29, 64)], logx=2),
    Figure("nap_sockets", "Allreduce of 8 bytes, 16 ranks per node in two sockets, by the model", AT_NODES, TIME, ["algorithm"],
           [in_sockets(nodes, *of) for of in ON_SOCKETS.items() for nodes in (4, 8, 16, 32, 64, 128, 256)], logx=2),
    Figure("nap_crossing", "Bytes from which SMP is faster than NAP, 16 ranks per node", ("machine", "prices"),
           ("bytes", "crossing, bytes"), ["nodes"],
           [crossing(name, nodes, *of) for name, *of in CROSSINGS for nodes in (16, 64, 256, 1024, 2048)], plot=False, digits=6),
    Figure("nap_fig16", "Allreduce of 8 bytes, 4 ranks per node, emulated nodes", AT_NODES, TIME, ["algorithm"],
           [on_emulated(nodes, 4, 8, nodes=nodes) for nodes in FEW]),
    Figure("nap_fig17", "Allreduce on 9 emulated nodes of 4 ranks by size", AT_BYTES, TIME, ["algorithm"],
           [on_emulated(9, 4, "8..32k")], logx=2, logy=10),
]
