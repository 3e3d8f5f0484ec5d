"""Quintin, Hasanov, Lastovetsky, Hierarchical Parallel Matrix Multiplication (ICPP 2013): its figures and tables."""
import math

from figures import Figure, Run, read_json

GROUPS = ("1x1", "1x2", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16")  # of an 8 x 16 grid
BROADCASTS = ("van_de_geijn", "binomial")
HOSTS_OF_4 = "graphene:nodes=32,ppn=4"
TORUS = "torus:8x8x8,ppn=4,bw=425MBps,lat=1us"
GRAPHENE = "alpha=1e-4,beta=8e-9"  # the simulated platform: 1 Gbit/s
PAPER = "alpha=1e-4,element_beta=1e-9"  # Section V-A
BLUEGENE = {"beta per element": "alpha=3e-6,element_beta=1e-9", "beta per byte": "alpha=3e-6,beta=1e-9"}  # Section V-B
EXASCALE = {"beta per byte": "alpha=500e-9,beta=1e-11", "beta per element": "alpha=500e-9,element_beta=1e-11"}  # Section V-C


def grouped(platform, n, grid, block, bcast, groups, row, nb=None, outer=None, sim=(), more=(), kind="simulated"):
    """A simulated run of HSUMMA with blocking broadcasts and free computation."""
    return Run(kind, ["scripts/hsumma_sim", "--platform", platform, *sim, "--gemm", "free", "--quiet", "gemm", "-m", n, "--grid", grid,
                      "--nb", nb or block, "--block", block, *(["--outer", outer or block] if groups != "1x1" else []), "--lookahead", 0,
                      "--stationary", "C", "--groups", groups, "--bcast", bcast, "--workspace-limit", "64G", "--format", "json", *more],
               read_json(lambda report: [{"s": report["simulated_s"]}]), row)


def count(groups):
    return math.prod(map(int, groups.split("x")))


def modelled(machine, n, grid, block, bcast, pick, row, outer=None):
    """The model of all group grids; pick({G: communication with the squarest I x J of G}) yields rows."""
    def read(report):
        squarest = {}
        for group in report["hierarchies"]:
            i, j = group["groups"]
            if group.get("predicted_comm_s") is not None and i <= j and i / j >= squarest.get(i * j, (0, 0))[0]:
                squarest[i * j] = i / j, group["predicted_comm_s"]
        return pick({groups: seconds for groups, (_, seconds) in squarest.items()})
    return Run("model", ["hsumma", "explain", "--quiet", "--model", machine, "-m", n, "--grid", grid, "--nb", "checkerboard",
                         "--block", block, "--outer", outer or block, "--workspace-limit", "64G", "--bcast", bcast, "--lookahead", 0,
                         "--stationary", "C", "--panels", 0, "--show", "groups", "--format", "json"], read_json(read), row)


def million(beta, bcast, groups):
    """Figure 10: one group grid, since all of them take long."""
    return Run("model", ["hsumma", "explain", "--quiet", "--model", EXASCALE[beta], "-m", 1 << 22, "--grid", "1024x1024", "--nb", "checkerboard",
                         "--block", 256, "--groups", groups, *(["--outer", 256] if groups != "1x1" else []), "--bcast", bcast,
                         "--lookahead", 0, "--stationary", "C", "--panels", 0, "--format", "json"],
               read_json(lambda report: [{"s": report["predicted_comm_s"]}]), {"broadcast": bcast, "beta": beta, "G": count(groups)})


def every(squarest):
    return [{"G": g, "s": seconds} for g, seconds in sorted(squarest.items())]


def sweep(block):
    """Figures 5 and 6: the platform simulated and modelled, and the model with the paper's parameters."""
    return [*(grouped("graphene", 8192, "8x16", block, bcast, groups, {"broadcast": bcast, "G": count(groups)})
              for bcast in BROADCASTS for groups in GROUPS),
            modelled(GRAPHENE, 8192, "8x16", block, "van_de_geijn", every, {"broadcast": "van_de_geijn"}),
            modelled(PAPER, 8192, "8x16", block, "van_de_geijn", every, {"broadcast": "van_de_geijn, beta per element"})]


def hosts():
    """Figures 5 and 6 with four ranks per host: groups as square as possible, and those of one row."""
    return [grouped(HOSTS_OF_4, 8192, "8x16", block, bcast, groups, {"broadcast": f"{bcast}, b = {block}{label}", "G": count(groups)},
                    more=("--node", "messages"))
            for block in (64, 512)
            for bcast, label, some in (("van_de_geijn", "", GROUPS), ("van_de_geijn", ", 1 x G", ("1x4", "1x8", "1x16")),
                                       ("binomial", ", 1 x G", ("1x1", "1x2", "1x4", "1x8", "1x16"))) for groups in some]


def scaling():
    """Figure 7: SUMMA and HSUMMA with about sqrt(p) groups, by the number of ranks."""
    runs = []
    for grid, groups in (("4x4", "2x2"), ("4x8", "2x4"), ("8x8", "4x2"), ("8x16", "4x4")):
        largest = 8192 // max(map(int, grid.split("x")))
        for label, block in (("largest b", largest), ("b = 64", 64)):
            runs += [grouped(f"graphene:nodes={count(grid)}", 8192, grid, block, "van_de_geijn", how,
                             {"algorithm": f"{name}, {label}", "p": count(grid)})
                     for name, how in (("SUMMA", "1x1"), ("HSUMMA", groups))]
    return runs


def bluegene_scaling():
    """Figure 9: the best number of groups by the model, for both units of beta; SimGrid's torus, extrapolated from 2 steps."""
    runs = []
    for grid in ("16x32", "32x32", "32x64", "64x64", "64x128", "128x128"):
        for label, machine in BLUEGENE.items():
            def pick(squarest, p=count(grid), label=label):
                return [{"p": p, "algorithm": f"SUMMA, {label}", "s": squarest[1]},
                        {"p": p, "algorithm": f"HSUMMA, {label}", "s": min(squarest.values())}]
            runs.append(modelled(machine, 65536, grid, 256, "van_de_geijn", pick, {}))
    both = ("SUMMA", "HSUMMA, about sqrt(p) groups")
    return runs + [grouped(f"bgp:{mesh}", 65536, grid, 256, "van_de_geijn", "1x1" if name == "SUMMA" else most,
                           {"algorithm": name, "p": count(grid)}, more=("--steps", 2, "--node", "messages"), kind=kind)
                   for kind, mesh, grid, most, names in (
                       ("simulated", "8x4x4", "16x32", "4x4", both), ("simulated", "8x8x4", "32x32", "4x8", both),
                       ("simulated", "8x8x8", "32x64", "4x8", both), ("large", "8x8x16", "64x64", "8x8", both),
                       ("large", "8x16x16", "64x128", "8x8", both), ("large", "16x16x16", "128x128", "8x16", both[1:])) for name in names]


def torus():
    """Figure 8 on a smaller torus: ranks fill one node after the other, or (map XYZT) neighbouring ranks are on neighbouring nodes."""
    squarest = ("1x1", "1x2", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16", "16x32", "32x32")
    return [grouped(TORUS, 65536, "32x64", 256, bcast, groups, {"broadcast": f"{bcast}, {label}", "G": count(groups)}, sim=sim,
                    more=("--steps", 2, "--node", node))
            for bcast, node, label, sim, some in (
                ("van_de_geijn", "messages", "messages", (), squarest),
                ("van_de_geijn", "messages", "messages, map XYZT", ("--map", "XYZT"), ("1x1", "8x8", "32x32")),
                ("van_de_geijn", "messages", "messages, 1 x G", (), ("1x16",)),
                ("binomial", "messages", "messages", (), ("1x1", "32x32")),
                ("van_de_geijn", "auto", "auto", (), ("1x1",)), ("binomial", "auto", "auto", (), ("1x1",))) for groups in some]


def closed_form(bcast, n, p, groups, block, outer):
    """Tables I and II: the factors of alpha and of beta, with beta per element."""
    def factors(q):
        return ((math.log2(q), math.log2(q)) if bcast == "binomial" else (math.log2(q) + q - 1, 2 * (1 - 1 / q)))
    side, inner = math.sqrt(groups), math.sqrt(p / groups)
    latency = 2 * (factors(side)[0] * n / outer + factors(inner)[0] * n / block)
    return {"latency": latency, "bandwidth": 2 * (factors(side)[1] + factors(inner)[1]) * n * n / math.sqrt(p)}


def tables(bcast):
    """The factors of Tables I and II by the paper's formulas, and by the model with beta or alpha 0."""
    runs, n, p, block = [], 65536, 1024, 256
    for case, groups, outer in (("SUMMA", 1, 256), ("HSUMMA, G = 4, B = b", 4, 256), ("HSUMMA, G = 256, B = b", 256, 256),
                                ("HSUMMA, G = 4, B = 4 b", 4, 1024), ("HSUMMA, G = 16, B = 4 b", 16, 1024)):
        for term, machine in (("latency", "alpha=1,beta=0"), ("bandwidth", "alpha=0,element_beta=1")):
            def read(report, groups=groups, outer=outer, term=term):
                side = math.isqrt(groups)
                model = next(g["predicted_comm_s"] for g in report["hierarchies"] if g["groups"] == [side, side])
                return [{"factor": f"{term}, formula", "value": closed_form(bcast, n, p, groups, block, outer)[term]},
                        {"factor": f"{term}, model", "value": model}]
            run = modelled(machine, n, "32x32", block, bcast, None, {"case": case}, outer)
            runs.append(run._replace(read=read_json(read)))
    return runs


def wide():
    """B > b: 16 groups, b = 64."""
    return [grouped("graphene", 8192, "8x16", 64, bcast, "4x4", {"broadcast": bcast, "B": outer}, nb=512, outer=outer)
            for bcast in BROADCASTS for outer in (64, 128, 256, 512)] + \
           [modelled(GRAPHENE, 8192, "8x16", 64, bcast, lambda squarest, outer=outer: [{"B": outer, "s": squarest[16]}],
                     {"broadcast": bcast}, outer) for bcast in BROADCASTS for outer in (64, 128, 256, 512)]


SECONDS = ("s", "communication, s")
FIGURES = [
    Figure("hsumma_fig5", "Communication by the number of groups: 128 ranks, n = 8192, b = 64", ("G", "groups G"), SECONDS,
           ["broadcast"], lambda: sweep(64), logx=2),
    Figure("hsumma_fig6", "Communication by the number of groups: 128 ranks, n = 8192, b = 512", ("G", "groups G"), SECONDS,
           ["broadcast"], lambda: sweep(512), logx=2),
    Figure("hsumma_hosts", "Communication by the number of groups: 32 hosts of 4 ranks, n = 8192", ("G", "groups G"), SECONDS,
           ["broadcast"], hosts, logx=2),
    Figure("hsumma_fig7", "Communication by the number of ranks: 1 Gbit/s, 100 us, n = 8192", ("p", "ranks p"), SECONDS,
           ["algorithm"], scaling, logx=2),
    Figure("hsumma_fig8", "BlueGene/P, 16,384 cores, n = 65536, b = B = 256, by the model", ("G", "groups G"), SECONDS, ["beta"],
           lambda: [modelled(machine, 65536, "128x128", 256, "van_de_geijn", every, {"beta": label})
                    for label, machine in BLUEGENE.items()], logx=2),
    Figure("hsumma_fig8_torus", "A torus of 512 nodes of 4 ranks, n = 65536, b = B = 256", ("G", "groups G"), SECONDS, ["broadcast"],
           torus, logx=2),
    Figure("hsumma_fig9", "BlueGene/P by the number of cores, n = 65536, b = B = 256", ("p", "cores p"), SECONDS,
           ["algorithm"], bluegene_scaling, logx=2, logy=10),
    Figure("hsumma_fig10", "Exascale: 2^20 processes, n = 2^22, b = B = 256, by the model", ("G", "groups G"), SECONDS,
           ["broadcast", "beta"],
           [million(beta, bcast, groups) for beta in EXASCALE for bcast in BROADCASTS
            for groups in (("1x1", "2x2", "4x4", "8x8", "16x16", "32x32", "64x64", "128x128", "256x256", "512x512", "1024x1024")
                           if bcast == "van_de_geijn" else ("1x1", "32x32", "1024x1024"))], logx=2),
    Figure("hsumma_table1", "Table I: binomial broadcasts, n = 65536, p = 1024, b = 256", ("case", "algorithm"),
           ("value", "factor of alpha (latency) and of beta per element (bandwidth)"), ["factor"], lambda: tables("binomial"),
           plot=False, digits=7),
    Figure("hsumma_table2", "Table II: van de Geijn's broadcasts, n = 65536, p = 1024, b = 256", ("case", "algorithm"),
           ("value", "factor of alpha (latency) and of beta per element (bandwidth)"), ["factor"], lambda: tables("van_de_geijn"),
           plot=False, digits=7),
    Figure("hsumma_outer", "Outer panels wider than inner ones: 128 ranks, 16 groups, n = 8192, b = 64", ("B", "outer panel B"), SECONDS,
           ["broadcast"], wide, logx=2),
]
