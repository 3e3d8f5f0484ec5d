"""TAP: what products send between nodes and inside them: bytes into each node against those that must enter, and messages
that stay inside.

entering.py [--cluster] [--exact] [-n N] [--stationary A|B|C] [MAP...]

--cluster: on scripts/emucluster, as root, where interfaces count bytes too; N is then 2048. Otherwise on virtual nodes
(tests/tools/node_counts.c), with N 256. MAP: a name of MAPS; default: all. With --exact no more may
enter the nodes than must and, without transposed operands, no message may stay inside a node; without --exact only
less is an error. The ratios are printed.

What must enter is a function of the layout alone. The processes of a line (a row or a column of the grid) need the same
part of a moving A or B. If a node has members of the line, the elements of this part that none of its ranks owns must
enter the node once. Of C, a node must receive sums of the elements that it owns and other nodes contribute to; all but
one of the nodes of a line must send their sums. Exactly what "hsumma explain" predicts for the plan enters each node.

Figures are half the differences between runs of three products and of one, which excludes start-up and planning.
Environment: that of launch.py.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile

from command import options_of
from launch import BUILD, MPI, ROOT, mpiexec
from tap import ok, run, skip

# MAPS: for each name the node of each rank.
MAPS = {"4x4": [rank // 4 for rank in range(16)], "2x8": [rank // 8 for rank in range(16)],
        "8x2": [rank // 2 for rank in range(16)], "3+4+5": [0] * 3 + [1] * 4 + [2] * 5,
        "scattered": [rank % 4 for rank in range(16)], "unequal": [0, 1, 2, 2, 1, 2, 0, 2, 1, 2, 2, 1]}
ORDERS = {"R": "rows", "C": "columns", "A": "tiles"}
DIMS = {"A": "mk", "B": "kn", "C": "mn"}  # dimensions of rows and columns, exchanged if the operand is transposed
GRIDS = {16: ["4x4", "2x8", "1x16", "16x1"], 12: ["3x4", "2x6", "1x12", "12x1"]}
EMUCLUSTER = os.path.join(ROOT, "scripts", "emucluster")
COUNTS = os.path.join(BUILD, "tests", "node_counts.so")


def places_of(node_of, grid, order):
    """{(row, column): node} for the places of a grid whose ranks are counted along rows or columns."""
    rows, columns = map(int, grid.split("x"))
    return {(rank // columns, rank % columns) if order == "R" else (rank % rows, rank // rows): node
            for rank, node in enumerate(node_of)}


def must_enter(stationary, ops, node_at, n, block):
    """(bytes that must enter each node, the least total) for square matrices of order n."""
    dims = {x: DIMS[x][::-1] if op == "T" else DIMS[x] for x, op in zip("ABC", ops + "N")}
    extent = [1 + max(at[axis] for at in node_at) for axis in (0, 1)]
    part = [[{index for index in range(n) if index // block % extent[axis] == at} for at in range(extent[axis])]
            for axis in (0, 1)]  # indices that each coordinate owns of a range distributed over this axis of the grid
    busy = [at for at in node_at if part[0][at[0]] and part[1][at[1]]]
    nodes = range(max(node_at.values()) + 1)
    must, total = [0] * len(nodes), 0
    for moving in set("ABC") - {stationary}:
        pinned = next(dim for dim in dims[moving] if dim in dims[stationary])
        want, own = dims[stationary].index(pinned), dims[moving].index(pinned)  # axes of the grid
        for line, needed in enumerate(part[want]):
            cells = {node_at[at] for at in busy if at[want] == line}
            for node in nodes:
                here = [at for at in busy if node_at[at] == node]
                owned = sum(len(needed & part[own][at[own]]) * len(part[1 - own][at[1 - own]]) for at in here)
                if moving != "C" and node in cells:
                    must[node] += 8 * (len(needed) * n - owned)
                    total += 8 * (len(needed) * n - owned)
                elif moving == "C" and cells - {node}:
                    must[node] += 8 * owned
            if moving == "C":
                total += 8 * (len(cells) - 1) * len(needed) * n
    return must, total


class Machine:
    """Virtual nodes: ranks of this machine, divided by NODE_MAP."""

    def __init__(self, node_of):
        self.node_of = node_of
        self.ranks = len(node_of)

    def command(self, file):
        return mpiexec(self.ranks, f"NODE_COUNTS={file}", f"NODE_MAP={','.join(map(str, self.node_of))}",
                       preload=[COUNTS])

    def received(self):
        """Bytes that each node's interface has received so far; None without interfaces."""
        return None


class Cluster(Machine):
    """The nodes of scripts/emucluster."""

    def __init__(self, node_of, state):
        super().__init__(node_of)
        self.shim = os.path.join(state, "libshim.so")
        self.environment = dict(os.environ, EMU_DIR=state, EMU_MAP=",".join(map(str, node_of)))
        per_node = ",".join(str(node_of.count(node)) for node in range(max(node_of) + 1))
        self.up = self.control("up", str(max(node_of) + 1), per_node, "none")

    def control(self, *words):
        return subprocess.run([EMUCLUSTER, *words], env=self.environment, capture_output=True, text=True, timeout=120)

    def command(self, file):
        return ["/usr/bin/env", *(f"{name}={self.environment[name]}" for name in ("EMU_DIR", "EMU_MAP")), EMUCLUSTER,
                "run", str(self.ranks), "env", f"NODE_COUNTS={file}", f"LD_PRELOAD={COUNTS}:{self.shim}"]

    def received(self):
        lines = self.control("counters").stdout.splitlines()
        column = lines[0].split().index("eth0_rx_bytes")
        table = {line.split()[0]: int(line.split()[column]) for line in lines[1:]}
        return [table[f"node{node}"] for node in range(max(self.node_of) + 1)]


def minus(after, before, share):
    """The difference of two numbers, or of nested lists elementwise, divided by share."""
    if isinstance(after, list):
        return [minus(x, y, share) for x, y in zip(after, before)]
    return (after - before) / share


def counts_of_run(machine, line, products):
    """The counts of a run: the object that node_counts.c writes, figures of hsumma's report, and bytes that the
    interfaces received."""
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        file = os.path.join(scratch, "counts")
        before = machine.received()
        process = subprocess.run([*machine.command(file), os.path.join(BUILD, "hsumma"), "gemm", *line.split(),
                                  "--reps", str(products), "--link", "1gbit", "--format", "json"], capture_output=True, text=True, timeout=300)
        after = machine.received()
        if process.returncode:
            raise RuntimeError(process.stdout + process.stderr)
        with open(file, encoding="utf-8") as counted:
            counts = json.load(counted)
    report = json.loads(process.stdout)
    counts["must"] = report["link"]["must_enter_bytes"]
    counts["plan"] = report["plan"]
    counts["bounds"] = {key: report[key] for key in ("process_layout_bytes", "node_layout_bytes", "node_received_bytes")}
    counts["received"] = before and minus(after, before, 1)
    return counts


def counts_of_product(machine, line):
    """Figures of one product: bytes into each node, as payloads and by the interface; messages inside nodes; bytes that must
    enter, by hsumma; its bounds; and the plan."""
    one, three = (counts_of_run(machine, line, products) for products in (1, 3))
    sent, messages = (minus(three[key], one[key], 2) for key in ("bytes", "messages"))
    number = list(dict.fromkeys(machine.node_of))  # node_counts.c numbers nodes by their lowest ranks
    nodes = range(len(number))
    entered = [sum(sent[x][number.index(node)] for x in nodes if number[x] != node) for node in nodes]
    received = one["received"] and minus(three["received"], one["received"], 2)
    says = [one["must"][number.index(node)] for node in nodes]
    return entered, received, sum(messages[x][x] for x in nodes), says, one["bounds"], one["plan"]


def explained(machine, line):
    """The predictions of hsumma explain: bytes into each node, and the node of each place of the grid."""
    process = subprocess.run([os.path.join(BUILD, "hsumma"), "explain", *line.split(), "--map",
                              ",".join(map(str, machine.node_of)), "--format", "json", "--panels", "0"],
                             capture_output=True, text=True, timeout=60)
    if process.returncode:
        raise RuntimeError(process.stdout + process.stderr)
    report, number = json.loads(process.stdout), list(dict.fromkeys(machine.node_of))
    enters = [report["enters_bytes"][number.index(node)] for node in range(len(number))]
    return enters, {(i, j): number[node] for i, row in enumerate(report["node_of_place"]) for j, node in enumerate(row)}


def ratios(counted, must):
    return " ".join(f"{got / least:.3f}" if least else f"{got:.0f}/0" for got, least in zip(counted, must))


def one_case(name, machine, grid, order, ops, asked):
    n, block, stationary = asked.n, asked.n // 16, asked.stationary
    layout = f"-m {n} --nb {block} --grid {grid} --order {order} --transa {ops[0]} --transb {ops[1]} --profile builtin "
    entered, received, inside, says, bounds, plan = counts_of_product(machine, layout + f"--stationary {stationary}")
    enters, node_at = explained(machine, layout + options_of(plan))
    good = order == "A" or node_at == places_of(machine.node_of, grid, order)
    must, total = must_enter(stationary, ops, node_at, n, block)
    alone, _ = must_enter(stationary, ops, {at: rank for rank, at in enumerate(node_at)}, n, block)
    good = good and bounds == {"process_layout_bytes": max(alone), "node_layout_bytes": max(must),
                               "node_received_bytes": max(enters)}
    small = 8192 * len(must)  # bytes of the agreement at the start and, on the cluster, of messages of the command
    good = good and all(got >= least for got, least in zip(entered, must)) and sum(entered) >= total and says == must
    good = good and all(0 <= got - told <= small for got, told in zip(entered, enters))
    text = f"{name} ranks, {ops}, {stationary} stationary, grid {grid} by {ORDERS[order]}: "
    text += f"entered / explained {ratios(entered, enters)}, / must {ratios(entered, must)}, all {ratios([sum(entered)], [total])}"
    if asked.exact:
        good = good and sum(entered) <= total + small and (not inside or ops != "NN")
    if received:
        good = good and all(got >= least for got, least in zip(received, must))
        good = good and (not asked.exact or sum(received) <= 1.03 * total + small)
        good = good and all(told <= got <= 1.03 * told + small for got, told in zip(received, enters))
        text += f"; by the interfaces {ratios(received, must)}, all {ratios([sum(received)], [total])}"
    ok(good, f"{text}; messages inside: {inside:g}", f"must {must}, all {total}; says {says}", f"entered {entered}",
       f"received {received}", f"explained {enters}", bounds, f"{max(alone)} for a process", plan)
    return total


def test_map(name, machine, asked):
    for grid in GRIDS[machine.ranks]:
        total = {order: one_case(name, machine, grid, order, "NN", asked)
                 for order in ("R" if "1" in grid.split("x") else "RCA")}
        if grid in ("4x4", "3x4"):  # square matrices then have square parts, or nearly
            ok(total["A"] <= min(total.values()), f"{name} ranks, grid {grid}: no more enters tiles than rows or columns",
               total)
        if name == "4x4" and grid == "4x4" and asked.stationary == "C":
            ok(3 * total["A"] == 2 * total["R"], "  but a third less", total)
    if machine.ranks == 16 and asked.stationary == "C":
        for ops in ("TN", "NT", "TT"):
            for order in "RCA":
                one_case(name, machine, "4x4", order, ops, asked)


def test_cluster(name, asked):
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        machine = Cluster(MAPS[name], os.path.join(scratch, "state"))
        try:
            if machine.up.returncode:
                skip(name, "no emulated cluster: " + (machine.up.stderr.splitlines() or [""])[-1])
            else:
                test_map(name, machine, asked)
        finally:
            machine.control("down")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--stationary", choices=DIMS, default="C")
    parser.add_argument("-n", type=int)
    parser.add_argument("map", nargs="*", default=list(MAPS))
    asked = parser.parse_args()
    asked.n = asked.n or (2048 if asked.cluster else 256)
    if not asked.cluster:
        return run(*[lambda name=name: test_map(name, Machine(MAPS[name]), asked) for name in asked.map])
    if MPI != "mpich" or os.geteuid():
        skip("the emulated cluster", "needs MPICH" if MPI != "mpich" else "needs root")
        return run()
    return run(*[lambda name=name: test_cluster(name, asked) for name in asked.map])


signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # exits normally, which takes the cluster down
sys.exit(main())
