"""Bayatpour, Chakraborty, Subramoni, Lu, Panda, Scalable Reduction Collectives with Data Partitioning-based Multi-Leader
Design (SC17): its figures. The paper's text gives no costs of its machines; the profiles beside this module have assumptions."""
import csv
import functools
import re
import statistics

from figures import Figure, Run, emulated, prices, read_csv

LEADERS = (1, 2, 4, 8, 16)
SIZES = (8, 512, 8 * 1024, 64 * 1024, 512 * 1024, 1024 * 1024)  # bytes; the range of the paper
SHARED = "2M"  # shared memory of a rank: room for whole vectors, as in the paper; by default vectors above 76 KiB pass in chunks

MACHINES = {"Xeon, InfiniBand": "infiniband", "Xeon, Omni-Path": "omnipath", "KNL, Omni-Path": "knl"}


def profile(machine):
    return f"benchmarks/papers/dpml_{MACHINES[machine]}.profile"


def predicted(out):
    """The time of the only algorithm in the output of explain --collective, in us."""
    yield {"us": f"{prices(out)[0][1] * 1e6:.5g}"}


def explained(machine, algorithm, ranks, nodes, size, row):
    """The model's time of an allreduce."""
    return Run("model", ["hsumma", "explain", "--collective", "allreduce", "--alg", algorithm, "--ranks", ranks, "--nodes", nodes, "--bytes",
                         size, "--shared", SHARED, "--profile", profile(machine)], predicted, row)


def leaders(machine, ranks, nodes):
    """Figures 4 to 7: dpml by the number of leaders."""
    return [explained(machine, dpml(l), ranks, nodes, size, {"leaders": f"l = {l}", "bytes": size})
            for l in LEADERS for size in SIZES]


# The machines of the profiles for the simulator, by messages; costs of copies and sums come from the profile.
SIMULATED = {"Xeon, InfiniBand": "bw=11.5GBps,lat=1.3us,node_bw=6GBps,node_lat=200ns",
             "Xeon, Omni-Path": "bw=11.5GBps,lat=1.1us,node_bw=6GBps,node_lat=200ns",
             "KNL, Omni-Path": "bw=10GBps,lat=3.5us,node_bw=2GBps,node_lat=700ns"}


def dpml(l, outer="recursive_doubling"):
    return f"dpml(l={l},outer={outer})"


def timed(row):
    """A row of hsumma coll: l of dpml, or the MPI library's own allreduce."""
    name = row["algorithm"]
    return {"leaders": "l = " + name.split("l=")[1].split(",")[0] if "l=" in name else name, "bytes": row["bytes"],
            "us": f"{1e6 * float(row['median_s']):.5g}"}


def simulated_leaders(machine, nodes, ppn, counts, first, last, factor, kind="simulated", row=None):
    """The same in the simulator."""
    return Run(kind, ["scripts/hsumma_sim", "--platform", f"hockney:nodes={nodes},ppn={ppn},{SIMULATED[machine]}", "--gemm",
                      profile(machine), "--quiet", "coll", "--op", "allreduce", "--element", "float", "--alg", ",".join(map(dpml, counts)),
                      "--bytes", f"{first}..{last}", "--factor", factor, "--shared", SHARED, "--repetitions", 1, "--format", "csv"],
               read_csv(lambda row: timed(row) if "l=" in row["algorithm"] else None), row or {})


# by figure: leaders, sizes FROM, TO by FACTOR
SOME = [((1, 4, 16), "8", "8k", 1024), ((1, 4, 16), "512k", "512k", 2, "large", {"bytes": 512 * 1024})]
IN_SIMULATOR = {4: [(LEADERS, "8", "8k", 1024), ((1, 4, 16), "512", "512k", 1024)], 5: SOME, 6: SOME, 7: SOME}


def figure_4_to_7(number, machine, ranks, nodes):
    return leaders(machine, ranks, nodes) + [simulated_leaders(machine, nodes, ranks // nodes, *which) for which in IN_SIMULATOR[number]]


# 4 emulated nodes of 8 ranks on 2 cores, and the MPI libraries' own allreduce for Figure 9
def on_emulated(mpi, counts, row):
    run = {"MPICH": "run 32 hsumma", "Open MPI": "ompi 32 build/openmpi/hsumma"}[mpi]
    return Run("emulated", emulated("4 8 1gbit", f"{run} coll --op allreduce --element float --alg '{','.join(map(dpml, counts))}' "
                                    "--bytes 8..512k --factor 4 --repetitions 9 --format csv"), read_csv(row))


def beside(mpi):
    """Figure 9: an MPI library's own allreduce, and dpml by the messages of the same library."""
    def read(row):
        found = timed(row)
        return {"algorithm": f"{mpi}, {'dpml, ' if 'l=' in row['algorithm'] else ''}{found['leaders']}", "bytes": found["bytes"], "us": found["us"]}
    return on_emulated(mpi, (1, 4), read)


def pairs(kind, command):
    """Figure 1: throughput of several pairs relative to one."""
    def read(out):
        for row in csv.DictReader(out.splitlines()):
            yield {"bytes": f"{row['bytes']} bytes, {row['where']}", "pairs": row["pairs"], "relative": f"{float(row['relative']):.4g}"}
    return Run(kind, command, read)


# Section 4.2: the number of pieces, on the machine of Figure 6.
def pieces():
    return [explained("Xeon, Omni-Path", f"dpml(l={l},k={k},outer=recursive_doubling)", 1792, 64, size,
                      {"leaders": f"{size_of(size)}, l = {l}", "pieces": k})
            for size in (64 * 1024, 512 * 1024) for l in (1, 4, 16) for k in (1, 2, 4, 8)]


# Section 6.4 by the model: clusters (machine, ranks, nodes, sockets) and algorithms; of dpml the best number of leaders.
CLUSTERS = {"A, 448": ("Xeon, InfiniBand", 448, 16, 2), "B, 1,792": ("Xeon, InfiniBand", 1792, 64, 2),
            "C, 1,792": ("Xeon, Omni-Path", 1792, 64, 2), "D, 1,024": ("KNL, Omni-Path", 1024, 32, 1),
            "D, 10,240": ("KNL, Omni-Path", 10240, 160, 1)}
HOST = "smp(outer=recursive_doubling)"  # host-based: the design of MPI libraries for short vectors
ON_CLUSTERS = {"recursive doubling": ["recursive_doubling"], "smp": [HOST], "rabenseifner_traff": ["rabenseifner_traff"],
               "dpml, best l": [dpml(l) for l in LEADERS],
               "dpml, best l, outer=rabenseifner_traff": [dpml(l, "rabenseifner_traff") for l in LEADERS]}


def clusters():
    def best(names):
        def read(out):
            times = [float(next(predicted(part))["us"]) for part in re.split(r"^allreduce of ", out, flags=re.M)[1:]]
            yield {"us": f"{min(times):.5g}", "fastest": names[times.index(min(times))]}
        return read
    for cluster, (machine, ranks, nodes, sockets) in CLUSTERS.items():
        for size in (8, 8 * 1024, 512 * 1024):
            for name, algorithms in ON_CLUSTERS.items():
                command = " && ".join(
                    f"hsumma explain --collective allreduce --alg '{algorithm}' --ranks {ranks} --nodes {nodes} --sockets {sockets} "
                    f"--bytes {size} --shared {SHARED} --profile {profile(machine)}" for algorithm in algorithms)
                yield Run("model", command, best(algorithms), {"algorithm": name, "where": f"{cluster}; {size_of(size)}"})


def size_of(size):
    return f"{size // 1024} KB" if size >= 1024 else f"{size} bytes"


# Figure 8: 16 nodes of two sockets; speed-up over the host-based allreduce, for small messages.
OFFLOADED = {"node leader": "smp(outer=mpi)", "socket leader": "smp(level=socket,outer=mpi)"}
PAPER_FIG8 = [("node leader", 1, 2.5), ("node leader", 4, 1.8), ("socket leader", 4, 2.0), ("node leader", 28, 1.46),
              ("socket leader", 28, 1.73)]


def offload_runs():
    runs = [Run("paper", None, rows=[{"design": d, "ppn": ppn, "speedup": s} for d, ppn, s in PAPER_FIG8])]
    for ppn in (1, 4, 28):
        for design, algorithm in OFFLOADED.items():
            if ppn == 1 and design != "node leader":
                continue
            sockets = min(ppn, 2)
            both = " && ".join(
                f"hsumma explain --collective allreduce --alg '{name}' --ranks {16 * ppn} --nodes 16 --sockets {sockets} "
                f"--bytes 8 --shared 0 --profile {profile('Xeon, InfiniBand')}" for name in (HOST, algorithm))
            runs.append(Run("model", both, speedup, {"design": design, "ppn": ppn}))
    return runs


def speedup(out):
    first, second = [part for part in out.split("allreduce of 8 bytes over") if part.strip()]
    times = [float(next(predicted(part))["us"]) for part in (first, second)]
    yield {"speedup": f"{times[0] / times[1]:.3g}"}


# Sections 6.5 and 6.6: proxies of HPCG and miniAMR on 4 emulated nodes of 4 processes, with MPI's own allreduce and with
# the library preloaded. Medians of three runs in turns.
ALGORITHMS = {"MPICH": "mpi", "the library's choice": "auto", "dpml(l=4)": "allreduce:dpml(l=4)", "nap": "allreduce:nap"}


def application(program):
    def read(out):
        rows = [line.split() for line in out.splitlines() if "allreduce_us" in line]
        for name, word in ALGORITHMS.items():
            times = [float(row[row.index("allreduce_us") + 1]) for row in rows if row[0] == word]
            yield {"algorithm": name, "us": f"{statistics.median(times):.5g}"}
    run = f'exec $BUILD/examples/{program}'
    return Run("emulated", "scripts/emucluster up 4 4 1gbit > /dev/null && for i in 1 2 3; do for a in "
               + " ".join(f"'{word}'" for word in ALGORITHMS.values()) + "; do c=$a; p=$BUILD/libhsumma_pmpi.so; "
               "[ $a != mpi ] || { c=auto; p=; }; echo \"$a $(HSUMMA_COLL=$c P=$p scripts/emucluster run 16 sh -c "
               f"'LD_PRELOAD=\"$LD_PRELOAD $P\" {run}' | tail -1)\"; done; done; scripts/emucluster down > /dev/null", read,
               {"program": program})


US = ("us", "time, us")

FIGURES = [
    Figure("dpml_fig1", "Messages of concurrent pairs: throughput relative to one pair", ("pairs", "pairs of processes"),
           ("relative", "relative throughput"), ["bytes"],
           [pairs("simulated", ["scripts/hsumma_sim", "--platform", "cluster:nodes=2,ppn=16,bw=11.5GBps,lat=1us,overhead=0.4us", "--gemm",
                                "free", "--quiet", "coll", "--pairs", "--bytes", "8..512k", "--factor", 64, "--format", "csv"])],
           logx=2, logy=2),
    *(Figure(f"dpml_fig{number}", f"DPML by the number of leaders: {machine}, {ranks} processes on {nodes} nodes", ("bytes", "bytes"),
             US, ["leaders"], functools.partial(figure_4_to_7, number, machine, ranks, nodes), logx=2, logy=10)
      for number, machine, ranks, nodes in ((4, "Xeon, InfiniBand", 448, 16), (5, "Xeon, InfiniBand", 1792, 64),
                                            (6, "Xeon, Omni-Path", 1792, 64), (7, "KNL, Omni-Path", 1024, 32))),
    Figure("dpml_pieces", "DPML-Pipelined by the number of pieces: Xeon, Omni-Path, 1792 processes on 64 nodes", ("pieces", "pieces, k"), US,
           ["leaders"], pieces, logx=2, logy=10),
    Figure("dpml_clusters", "Figure 9 by the model", ("where", "cluster, processes; size"), US, ["algorithm"], lambda: list(clusters()), plot=False),
    Figure("dpml_fig8", "Reduction in the network (SHArP), 8 bytes, 16 nodes: speed-up over the host-based allreduce",
           ("ppn", "processes per node"), ("speedup", "speed-up"), ["design"], offload_runs, style="bars"),
    Figure("dpml_emulated", "DPML by the number of leaders: 4 emulated nodes of 8 processes, 1 Gbit/s", ("bytes", "bytes"), US, ["leaders"],
           [on_emulated("MPICH", (1, 2, 4, 8), timed)], logx=2, logy=10),
    Figure("dpml_fig9", "DPML beside MPI libraries: 4 emulated nodes of 8 processes, 1 Gbit/s", ("bytes", "bytes"), US, ["algorithm"],
           [beside("MPICH"), beside("Open MPI")], logx=2, logy=10),
    Figure("dpml_applications", "Proxies of HPCG and miniAMR on 4 emulated nodes of 4 processes, 1 Gbit/s", ("program", "program and arguments"),
           ("us", "us in MPI_Allreduce per iteration"), ["algorithm"],
           [application(program) for program in ("proxy_cg 8 400", "proxy_amr 8192 200", "proxy_amr 262144 60")], style="bars"),
]
