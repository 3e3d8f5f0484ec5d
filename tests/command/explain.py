"""TAP: "hsumma explain" against independent computations: messages, the receivers of each panel, the papers' formulas,
the counts of a real run, errors; and the pictures of doc/algorithms.md.

Environment: that of launch.py.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

from command import PLAIN, bench, explain, options_of, prints, refuses, report_of, said, table
from launch import BUILD, ROOT
from tap import ok, run



# --- trees, made independently of the library's builders --------------------------------------------------------------

def binomial(size):
    """(round, from, to) of a binomial broadcast from 0; a process sends one message at a time.

    At distance d = ..., 4, 2, 1 every multiple of 2d that has the vector sends."""
    busy, messages, distance = {0: 0}, [], 1
    while distance < size:
        distance *= 2
    while distance > 1:
        distance //= 2
        for rank in range(0, size, 2 * distance):
            if rank + distance < size:
                busy[rank] += 1
                busy[rank + distance] = busy[rank]
                messages.append((busy[rank], rank, rank + distance))
    return messages


def flat(size):
    return [(1, 0, peer) for peer in range(1, size)]


def hsumma_messages(tree, grid, groups, line_axis, owner):
    """{level: [(round, from, to)]} of the broadcast of one panel along the lines of a grid, HSUMMA with two levels.

    Section III of the HSUMMA paper: first between the groups, among the processes with the owner's place in their
    groups, then inside each."""
    size, outer = grid[line_axis], groups[line_axis]
    inner = size // outer
    found = {1: [], 2: []}
    for across in range(grid[1 - line_axis]):
        def process(place, across=across):
            return (across, place) if line_axis == 1 else (place, across)
        group, place = divmod(owner, inner)
        for step, a, b in tree(outer):
            found[1].append((step, process((a + group) % outer * inner + place),
                             process((b + group) % outer * inner + place)))
        for g in range(outer):
            for step, a, b in tree(inner):
                found[2].append((step, process(g * inner + (a + place) % inner),
                                 process(g * inner + (b + place) % inner)))
    return {level: sorted(messages) for level, messages in found.items()}


def test_messages():
    trees = {"binomial": binomial, "flat": flat}
    for grid, groups in [((4, 4), (2, 2)), ((4, 4), (2, 4)), ((8, 8), (2, 4)), ((6, 6), (2, 3)), ((4, 6), (4, 1)),
                         ((3, 5), (1, 1))]:
        for name, tree in trees.items():
            n = 240
            report = explain(f"-m {n} --grid %dx%d --groups %dx%d" % (*grid, *groups) + " --nb checkerboard --block 4"
                             f" --outer 8 --bcast {name} --lookahead 0 --stationary C --panels 99")
            bad = []
            for picture in report["pictures"]:
                line_axis = 1 if picture["operand"] == "A" else 0
                want = hsumma_messages(tree, grid, groups, line_axis, picture["owner"])
                got = {1: [], 2: []}
                for stage in picture["stages"]:
                    level = stage["level"] if report["levels"][1:] else 2
                    got[level] += [(m[0], (m[1], m[2]), (m[3], m[4])) for m in stage["messages"]]
                    length = n // grid[1 - line_axis]
                    bad += [m for m in stage["messages"] if m[5] != stage["width"] * length * 8]
                got = {level: sorted(messages) for level, messages in got.items()}
                if got != want:
                    bad.append((picture["operand"], picture["pair"], got, want))
            pairs = math.lcm(*grid)
            ok(not bad and len(report["pictures"]) == 2 * min(pairs, report["pairs"]),
               f"messages on {grid}, groups {groups}, {name}", *bad[:3])


# --- who gets what ----------------------------------------------------------------------------------------------------

DIMS = {"A": "mk", "B": "kn", "C": "mn"}


def owned(extent, nb, processes):
    """The owner of each index of a block-cyclic dimension."""
    return [i // nb % processes for i in range(extent)]


class Case:
    """A product on a grid; finds the owners of its elements by brute force over the indices."""

    def __init__(self, sizes, grid, nb, stationary, ops):
        self.sizes, self.grid, self.nb, self.stationary = sizes, grid, nb, stationary
        self.ops = dict(zip("ABC", ops + "N"))
        self.looped = (set("mnk") - set(DIMS[stationary])).pop()

    def axis(self, operand, dim):
        """The axis of the grid on which a dimension of an operand lies."""
        place = DIMS[operand].index(dim)
        return place if self.ops[operand] == "N" else 1 - place

    def pinned(self, operand):
        return (set(DIMS[operand]) - {self.looped}).pop()

    def places(self, operand):
        """The grid axes of the pinned dimension: (in the operand, in the stationary operand)."""
        dim = self.pinned(operand)
        return self.axis(operand, dim), self.axis(self.stationary, dim)

    def held(self, operand, axis, process):
        """The indices of the operand's pinned dimension that a process has if the dimension lies on this grid axis."""
        owners = owned(self.sizes[self.pinned(operand)], self.nb, self.grid[axis])
        return {i for i, owner in enumerate(owners) if owner == process[axis]}


def complaints(case, picture):
    """The errors in one picture: each process must receive the panel (C: send its sum) once, on the level that the map
    gives."""
    operand, width, bad = picture["operand"], picture["width"], []
    own_axis, want_axis = case.places(operand)
    outward = operand == "C"
    if (own_axis != want_axis) != any(stage["level"] == 0 for stage in picture["stages"]):
        bad.append("exchange")
    for i in range(case.grid[0]):
        for j in range(case.grid[1]):
            here, cell = [i, j], picture["map"][i][j]
            length = len(case.held(operand, want_axis, here))
            per_level = {}
            for stage in picture["stages"]:
                mine = [m[5] for m in stage["messages"] if (m[1:3] if outward else m[3:5]) == here]
                if stage["level"] and mine:
                    per_level[stage["level"]] = per_level.get(stage["level"], 0) + sum(mine) * stage["panels"]
                    if len(mine) > 1 and stage["algorithm"] in ("binomial", "flat"):
                        bad.append((here, "more than one message", stage))
            digit = cell[0] if cell[0].isdigit() else None
            if digit and per_level != {int(digit): width * length * 8}:
                bad.append((here, cell, per_level, width * length * 8))
            if not digit and per_level:
                bad.append((here, cell, per_level))
            if (cell[0] == "-") != (length == 0):
                bad.append((here, cell, length))
    return bad + exchange_complaints(case, picture, own_axis, want_axis)


def exchange_complaints(case, picture, own_axis, want_axis):
    """The errors in an exchange: each holder must send one message to the root of each line (of C: receive one from
    it), with the elements that both have."""
    stages = [stage for stage in picture["stages"] if stage["level"] == 0]
    if not stages:
        return []
    operand, width, want = picture["operand"], picture["width"], {}
    everyone = [[i, j] for i in range(case.grid[0]) for j in range(case.grid[1])]
    holders = [p for p in everyone if p[1 - own_axis] == picture["owner"]]
    takers = [p for p in everyone if picture["map"][p[0]][p[1]][0] == "*"]
    for holder in holders:
        for taker in takers:
            both = case.held(operand, own_axis, holder) & case.held(operand, want_axis, taker)
            if both and holder != taker:
                ends = (*taker, *holder) if operand == "C" else (*holder, *taker)
                want[ends] = len(both) * width * 8
    got = {tuple(m[1:5]): m[5] for m in stages[0]["messages"]}
    marked = [p for p in everyone if "x" in picture["map"][p[0]][p[1]]]
    bad = [] if got == want else [("exchange", got, want)]
    return bad + [("holders", marked)] * any(p not in holders for p in marked)


def test_coverage():
    sizes = {"m": 70, "n": 52, "k": 91}
    for grid, levels, nb in [((2, 3), "1x1", 5), ((4, 4), "2x2", 7), ((4, 2), "2x2", 3), ((3, 4), "3x2", 8),
                             ((1, 4), "1x2", 10), ((8, 8), "2x2,2x2", 4), ((2, 6), "1x3", 40)]:
        for stationary in "ABC":
            for ops, alg in [("NN", "flat"), ("TN", "binomial"), ("NT", "van_de_geijn"), ("TT", "binomial")]:
                case = Case(sizes, grid, nb, stationary, ops)
                bad = []
                for widths in ("--block 4096", "--block 4 --outer 4096"):
                    report = explain("-m {m} -n {n} -k {k}".format(**sizes) + f" --grid {grid[0]}x{grid[1]} --nb {nb}"
                                     f" --levels {levels} --stationary {stationary} --bcast {alg} --transa {ops[0]}"
                                     f" --transb {ops[1]} --panels 99 --workspace-limit 1G {widths}")
                    covered = {}
                    for picture in report["pictures"]:
                        bad += complaints(case, picture)
                        covered[picture["operand"]] = covered.get(picture["operand"], 0) + picture["width"]
                    if "outer" not in widths and set(covered.values()) != {sizes[case.looped]}:
                        bad.append(("not all indices", covered))
                    if len(covered) != 2 or {p["looped"] for p in report["pictures"]} != {case.looped}:
                        bad.append(("operands", covered))
                ok(not bad, f"each panel once: {grid}, levels {levels}, stationary {stationary}, {ops}, {alg}",
                   *bad[:3])


# --- moves ------------------------------------------------------------------------------------------------------------

def test_moves():
    """The movement reported for each operand agrees with the messages."""
    for grid, stationary, args, want in [
            ("2x2", "C", "--layout-a mb=7,i=3", ["exchanged and broadcast", "broadcast", "stays"]),
            ("2x2", "B", "--layout-a mb=7,i=3 --exchange root", ["exchanged and broadcast", "stays", "reduced"]),
            ("2x2", "A", "--layout-c nb=9,csrc=1 --exchange root", ["stays", "exchanged and broadcast", "reduced"]),
            ("2x2", "A", "--layout-c imb=3,rsrc=1", ["stays", "exchanged and broadcast", "reduced and exchanged"]),
            ("2x2", "C", "--transa T", ["exchanged and broadcast", "broadcast", "stays"]),
            ("1x2", "C", "", ["broadcast", "local", "stays"]),
            ("1x1", "C", "", ["local", "local", "stays"])]:
        report = explain(f"-m 70 -k 50 --grid {grid} --nb 5 --stationary {stationary} --panels 9999 {args}")
        found = [report["operands"][x]["how"] for x in "abc"]
        exchanged = {x: {} for x in "ABC"}
        for picture in report["pictures"]:
            total = exchanged[picture["operand"]]
            for stage in picture["stages"]:
                for m in stage["messages"] if stage["level"] == 0 else []:
                    for end in (tuple(m[1:3]), tuple(m[3:5])):
                        total[end] = total.get(end, 0) + m[5] * stage["panels"]
        most = [max(exchanged[x].values(), default=0) for x in "ABC"]
        said_so = [report["operands"][x]["exchange_bytes"] for x in "abc"]
        ok(found == want, f"how A, B and C move: {grid}, stationary {stationary}, {args}", found)
        ok(most == said_so, "  the process that exchanges most: as many bytes as in its messages", most, said_so)
    report = explain("-m 96 -n 700 --grid 2x3 --nb 5")
    times = report["predicted_stationary_s"]
    ok(set(times) == {"a", "b", "c"} and min(times.values()) == times[report["stationary"].lower()] ==
       report["predicted_s"], "the stationary operand of least modelled time is taken", times, report["plan"])
    process = table("-m 96 --grid 2x2 --layout-b mb=7,nb=9")
    lines = [line for line in process.stdout.splitlines() if line.startswith("moves ")]
    prints(process, "one line of the table says it, too", len(lines) == 1 and "exchanged and" in lines[0] and
           "stays" in lines[0] and "modelled ms with stationary A, B, C: " in lines[0])


# --- the machine --------------------------------------------------------------------------------------------------------

def profile_text(**values):
    """The text of a profile of an imaginary machine; __ in keywords stands for the point in names."""
    lines = [f"{name.replace('__', '.')} {value!r}" for name, value in values.items()]
    return "\n".join(["hsumma profile 1", "host a machine that is nowhere", *lines, "end", ""])


def with_profile(call, text, line=""):
    """The result of call(line) with a profile of this text; call: explain or table."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix="-elsewhere") as file:
        file.write(text)
        file.flush()
        return call(f"--profile {file.name} {line}")


def test_profile():
    """The profile of another machine is accepted, and its numbers enter the paper's formula.

    SUMMA with van de Geijn broadcasts on 8 x 8 processes: (log2 q + q - 1) alpha and 2 (1 - 1/q) m beta on each axis, for
    each of 64 panels."""
    for alpha, beta in [(1e-4, 8e-9), (3e-6, 1e-9)]:
        text = profile_text(network__alpha_s=alpha, network__beta_s_per_byte=beta, node__alpha_s=alpha / 8,
                            node__beta_s_per_byte=beta / 3)
        network, node = (2 * 64 * (10 * a + 2 * 7 / 8 * 64 * 512 * 8 * b) for a, b in ((alpha, beta), (alpha / 8, beta / 3)))
        for nodes, want, what in [(64, network, "by the network's alpha and beta"), (1, node, "by the node's"),
                                  (8, (network + node) / 2, "rows in a node each by its own, columns by the network's")]:
            report = with_profile(explain, text, "--node messages --grid 8x8 -m 4096 --nb checkerboard --groups 1x1 --block 64 --bcast "
                                  f"van_de_geijn --stationary C --lookahead 0 --panels 0 --nodes {nodes}")
            machine = report["machine"]
            ok(math.isclose(report["predicted_comm_s"], want, rel_tol=1e-9) and machine["profile"].endswith("elsewhere")
               and [machine["alpha_s"], machine["beta_s_per_byte"]] == [alpha, beta],
               f"another machine's profile: alpha {alpha}, {nodes} nodes: {what}", report["predicted_comm_s"], want, machine)
    for text in ("hsumma profile 1\nnetwork.alpha_s much\nend\n", "hsumma profile 9\nend\n", "", "no profile\n",
                 "hsumma profile 1\nnetwork.alpha_s 1e-6\n"):
        refuses(with_profile(table, text), f"a profile {text[:30]!r}", "elsewhere")


def test_condition():
    """The paper's condition for groups: figures as computed here, the verdict from the model's communication times."""
    graphene = profile_text(network__alpha_s=1e-4, network__beta_s_per_byte=8e-9)
    line = "--grid 8x16 -m 8192 --nb checkerboard --block 64 --nodes 128 --panels 0"
    found = with_profile(explain, graphene, line)["condition"]
    ok([found[key] for key in ("n", "b", "p", "threshold", "minimum_per_byte", "minimum_per_element")] ==
       [8192, 64, 128, 8192, True, False] and math.isclose(found["alpha_beta_per_byte"], 12500) and
       math.isclose(found["alpha_beta_per_element"], 1562.5), "the condition on Graphene: per element and per byte", found)
    process = with_profile(table, graphene, line)
    prints(process, "  in the table, too", all(words in process.stdout for words in (
        "alpha/beta = 1562 with beta per element, 12500 per byte;", "2nb/p = 8192 compares with the former:",
        "at G = sqrt(p) is a maximum (", "the latter\n            would give a minimum")))
    report = explain("-m 4096 -n 64 --grid 8x8 --panels 0")
    ok(report["condition"] is None, "  not of a product that is far from square", report["condition"])
    for alpha, beta, n, b, kind in [(1e-5, 1e-9, 2048, 32, "d"), (1e-6, 1e-9, 4096, 64, "d"),
                                    (3e-6, 1e-9, 2048, 32, "d"), (6e-6, 1e-9, 2048, 32, "z"),
                                    (6e-6, 1e-9, 2048, 32, "d")]:
        report = with_profile(explain, profile_text(network__alpha_s=alpha, network__beta_s_per_byte=beta),
                              f"--grid 16x16 -m {n} --type {kind} --nb checkerboard --block {b} --outer {b} --bcast "
                              "van_de_geijn --stationary C --lookahead 0 --nodes 256 --all --workspace-limit 1G --panels 0")
        times = {tuple(h["groups"]): h["predicted_comm_s"] for h in report["hierarchies"]}
        ok(report["condition"]["minimum_per_element"] == (times[4, 4] < times[1, 1]) ==
           (alpha / beta / (16 if kind == "z" else 8) > 2 * n * b / 256),
           f"  alpha {alpha}, n {n}, b {b}, {kind}: the model agrees on G = sqrt(p)", report["condition"],
           times[4, 4], times[1, 1])


# --- what was chosen ----------------------------------------------------------------------------------------------------

def lower_bound(m, n, k, p):
    """The number of elements that some process must receive if matrices are evenly distributed.

    Al Daas, Ballard, Grigori, Kumar, Rouse (SPAA 2022), theorem on three regimes."""
    long, middle, short = sorted((m, n, k), reverse=True)
    held = (long * middle + middle * short + long * short) / p
    if p <= long / middle:
        need = (long * middle + long * short) / p + middle * short
    elif p <= long * middle / short ** 2:
        need = 2 * math.sqrt(long * middle * short ** 2 / p) + long * middle / p
    else:
        need = 3 * (long * middle * short / p) ** (2 / 3)
    return need - held


def test_bound():
    """All three regimes of the bound, compared with what is sent."""
    for m, n, k, grid in [(512, 512, 131072, "1x16"), (65536, 256, 256, "16x1"), (4096, 4096, 256, "4x4"),
                          (4096, 4096, 256, "8x8"), (2048, 2048, 2048, "4x4"), (2048, 2048, 2048, "16x16"),
                          (4096, 1024, 2048, "4x8"), (256, 256, 256, "1x1")]:
        for kind, size in (("d", 8), ("c", 8), ("s", 4)):
            p = math.prod(map(int, grid.split("x")))
            report = explain(f"-m {m} -n {n} -k {k} --grid {grid} --nb checkerboard --type {kind} --panels 0")
            want = lower_bound(m, n, k, p) * size
            ok(math.isclose(report["lower_bound_bytes"], want, rel_tol=1e-9, abs_tol=1e-6) and
               math.isclose(report["process_theory_bytes"], want, rel_tol=1e-9, abs_tol=1e-6),
               f"the lower bound: {m} x {n} x {k} on {grid}, {kind}", report["lower_bound_bytes"], want)
            # stationary C: each process receives what it does not own of a row of A and a column of B
            rows, cols = map(int, grid.split("x"))
            if " stationary=C " in " " + report["plan"] and not (m % rows or n % cols or k % rows or k % cols):
                layout = (m // rows * (k - k // cols) + n // cols * (k - k // rows)) * size
                ok([report["process_received_bytes"], report["process_layout_bytes"]] == [layout, layout] and
                   (p == 1 or math.isclose(report["process_to_theory"], layout / want) and report["process_to_layout"] == 1),
                   "  and what the layout asks for", report["process_received_bytes"], report["process_layout_bytes"], layout)
    report = explain("-m 2048 --grid 4x4 --nb checkerboard --panels 0")
    text = table("-m 2048 --grid 4x4 --nb checkerboard --show plan").stdout
    ok("\nprocess     receives at most 12.0 MiB in " in text and f"{report['process_to_theory']:.2f} times the 9.1 MiB required by any layout" in text and
       f"\nlimited by  {report['limited_by']}: " in text, "  in the table", text)


def test_memory_bound():
    """The bound for limited memory. The memory of a process is its parts of A, B and C and its workspace. For the bound
    of a node, the node counts as one process with the memory of all its processes."""
    decides = set()
    for m, grid, nodes, words in [(2048, "32x32", 1, "--lookahead 0 --block 8"), (2048, "4x4", 4, ""), (900, "6x6", 3, "")]:
        p = math.prod(map(int, grid.split("x")))
        report = explain(f"-m {m} --grid {grid} --nodes {nodes} --nb 16 --panels 0 --type s {words}")
        memory = 3 * m * m / p + report["workspace_bytes_max"] / 4
        ok(math.isclose(report["memory_elements"], memory), f"memory: {m} on {grid}, {nodes} nodes", report["memory_elements"])
        for side, count in (("process", p), ("node", nodes)):
            limited = 2 * m ** 3 / (count * math.sqrt(memory * p / count)) - 3 * m * m / count
            want = 4 * max(lower_bound(m, m, m, count), limited)
            ok(math.isclose(report[side + "_theory_bytes"], want, abs_tol=1e-3), f"  the bound of a {side}",
               report[side + "_theory_bytes"], want, limited)
            decides.add(limited > lower_bound(m, m, m, count))
    ok(decides == {True, False}, "  with and without memory deciding", decides)


def test_limit():
    """The reported limit of the speed is the part of the work that takes longest by the profile's figures."""
    slow = {"node__alpha_s": 0, "node__beta_s_per_byte": 0, "inject_s_per_byte": 0}
    found = {}
    for name, alpha, beta in (("bytes", 1e-9, 1e-6), ("messages", 1e-1, 1e-12), ("cores", 1e-12, 1e-15)):
        profile = profile_text(network__alpha_s=alpha, network__beta_s_per_byte=beta, **slow)
        report = with_profile(explain, profile, "-m 512 --nb 64 --grid 4x4 --nodes 16 --stationary C --panels 0 --bcast binomial")
        found[name] = report["limited_by"]
        ok(math.isclose(report["limit_bytes_s"], report["node_received_bytes"] * beta) and
           math.isclose(report["limit_messages_s"], report["node_received_messages"] * alpha) and
           math.isclose(report["limit_cores_s"], report["predicted_gemm_s"] + report["predicted_copy_s"]) and
           report["process_received_bytes"] == report["node_received_bytes"] > 0, f"  seconds of the parts: {name}", report)
    ok(found == {name: name for name in found}, "limited by", found)


def parts(n, count):
    return [n // count + (i < n % count) for i in range(count)]


def received(m, n, k, p, q, layers):
    """Elements that the busiest process of p x q x layers receives, with cuts as even as possible.

    C is cut along rows or columns, whichever costs less."""
    most = [0, 0]
    for i, rows in enumerate(parts(m, p)):
        for j, cols in enumerate(parts(n, q)):
            for layer, width in enumerate(parts(k, layers)):
                inward = rows * (width - parts(width, q)[j]) + cols * (width - parts(width, p)[i])
                for cut, piece in enumerate((parts(rows, layers)[layer] * cols, rows * parts(cols, layers)[layer])):
                    most[cut] = max(most[cut], inward + (layers - 1) * piece)
    return min(most)


def test_free():
    """The grids of --free are compared with a search over all grids."""
    shapes, counts = [(60, 60, 60), (31, 17, 500), (500, 8, 8), (100, 90, 5)], (7, 12, 32, 33)
    line = "--free " + ",".join(map(str, counts)) + " --shapes " + ",".join("x".join(map(str, s)) for s in shapes)
    report = explain(line)
    rows = iter(report["free"])
    for m, n, k in shapes:
        for count in counts:
            row = next(rows)
            grids = [(p, q, layers) for p in range(1, min(m, count) + 1) for q in range(1, min(n, count // p) + 1)
                     for layers in range(1, min(k, count // p // q) + 1) if p * q * layers >= count - count // 32]
            bound = lower_bound(m, n, k, count)
            for kind, most in (("one_layer", 1), ("layers", k)):
                want = min(received(m, n, k, *grid) for grid in grids if grid[2] <= most)
                own = received(m, n, k, *map(int, row[kind + "_grid"].split(" x ")))
                ok(row[kind + "_bytes"] == 8 * want == 8 * own and math.isclose(row[kind + "_to_bound"], want / bound) and
                   row["bound_bytes"] == int(8 * bound), f"free: {m} x {n} x {k} on {count}, {kind}", row, want, bound)
    memory = 40000
    row = explain(f"--free 32 -m 300 --memory {memory} --type s")["free"][0]
    bound = 2 * 300 ** 3 / (32 * math.sqrt(memory // 4)) - 3 * 300 ** 2 / 32
    ok(row["bound_limited_by"] == "processes" and bound < lower_bound(300, 300, 300, 32) and
       0 < row["layers_memory_bytes"] <= memory, "  within the memory", row)
    row = explain("--free 4096 -m 1024 --memory 10000")["free"][0]
    bound = 2 * 1024 ** 3 / (4096 * math.sqrt(1250)) - 3 * 1024 ** 2 / 4096
    ok(row["bound_limited_by"] == "memory" and row["bound_bytes"] == int(8 * bound), "  which sets the bound", row, bound)
    row = explain("--free 4 -m 1024 --memory 10000")["free"][0]
    ok(row["layers_grid"] == "none" and row["layers_bytes"] is None, "  none that fits", row)
    # shapes of COSMA's paper (SC19): square, large k, large m, flat
    shapes = "16kx16kx16k,17408x17408x3735552,3735552x17408x17408,128kx128kx512"
    report = explain(f"--free 128,256,512,1024,2304,4608,9216,18432 --shapes {shapes}")
    worst = max(row["layers_to_bound"] for row in report["free"])
    ok(len(report["free"]) == 32 and worst <= 1.1, "  at most 1.1 times the bound", worst)
    process = table("--free 128,18432 -m 16k")
    prints(process, "  as a table", "26 x 27 x 26" in process.stdout or "27 x 31 x 22" in process.stdout)


def test_entering():
    """The bytes that must enter the nodes, compared with values computed by hand."""
    for args, most, every in [("--grid 4x4 --nodes 4", 24 << 20, 96 << 20), ("--grid 2x8 --nodes 2", 16 << 20, 32 << 20),
                              ("--grid 4x4 --nodes 1", 0, 0), ("--grid 1x16 --nodes 4", 24 << 20, 96 << 20)]:
        report = explain(f"-m 2048 --nb checkerboard --stationary C --panels 0 {args}")
        ok([report["node_layout_bytes"], report["must_enter_bytes"]] == [most, every], f"what must enter: {args}",
           report["node_layout_bytes"], report["must_enter_bytes"])
        ok(report["node_received_bytes"] == max(report["enters_bytes"] or [0]), "  and what enters", report["enters_bytes"])
    text = table("-m 2048 --nb checkerboard --stationary C --show plan --grid 4x4 --nodes 4").stdout
    ok("\nnode        receives at most 24.0 MiB in " in text and " 1.00 times the 24.0 MiB required by this layout" in text and
       "\nentering    at most 24.0 MiB into a node, 96.0 MiB into all, in " in text and
       "\neach node   24.0 MiB, 24.0 MiB, 24.0 MiB, 24.0 MiB\n" in text and "96.0 MiB into all, this order; predicted " in text and
       "at most 16.0 MiB into a node, 64.0 MiB into all, 33.3 % less; predicted " in text, "  in the table", text)


def test_torus():
    """The columns of a grid whose nodes are two links apart share the links of a ring."""
    line = "-m 4800 --grid 8x8 --nodes 16 --block 64 --turn all --bcast chain --lookahead 3 --model alpha=1e-6,beta=1e-9"
    alone, ring, torus = (explain(line + more)["predicted_s"] for more in ("", " --topology torus:16", " --topology torus:2x8"))
    ok(ring > 1.5 * torus and torus >= alone, "a product on a ring of nodes, and on a torus", alone, ring, torus)
    line = "-m 4096 --grid 4x4 --nodes 16 --groups 1x1 --stationary C --coll bcast:torus"
    without, used = (explain(line + more)["plan"] for more in ("", " --topology torus:4x4"))
    ok("bcast=torus" in used and "bcast=torus" not in without, "a rule that needs a torus is used on one only", without, used)
    refuses(table("-m 4096 --grid 4x4 --nodes 16 --topology torus:4x4 --node messages --bcast torus"),
            "trees of dimensions without cells", "fill a box of a torus", "topology and node", head="hsumma: ")


def test_scattered_cells():
    """Nodes with whole lines beside nodes with parts of lines: some processes take no part in a transfer that others have."""
    for line in ("-m 1 -n 1 -k 5000 --grid 3x4 --map 0,0,0,1,1,0,0,0,0,1,0,1",
                 "-m 5000 -n 1000 -k 1000 --lookahead 5 --grid 8x2 --map 0,1,0,2,2,3,1,0,1,2,1,0,2,0,2,2"):
        report = explain(line)
        ok(report["predicted_s"] > 0 and len(report["enters_bytes"]) > 1, f"explain {line}", report["enters_bytes"])


def test_switches():
    """Few links between switches make broadcasts dearer that send much over them, and groups below one switch worth while."""
    line = "-m 4800 --grid 8x8 --nodes 64 --block 96 --model alpha=1e-6,beta=1e-9 --lookahead 3"
    words = ("", " --topology tree:8x8/1x8", " --topology tree:8x8", " --topology dragonfly:4x4x4x1")
    for bcast, least in (("van_de_geijn", 2), ("chain", 1)):
        alone, full, few, dragonfly = (explain(f"{line} --groups 1x1 --bcast {bcast}{word}")["predicted_s"] for word in words)
        ok(alone * 0.999 <= full < 1.5 * alone and few > least * full and dragonfly > full * 0.999,
           f"{bcast} with as many links up as down, with few, in a dragonfly", alone, full, few, dragonfly)
    report = explain(line.replace(" --lookahead 3", "") + " --topology tree:8x8")
    forced = explain(line.replace(" --lookahead 3", "") + " --groups 1x1 --bcast van_de_geijn --topology tree:8x8")
    ok(report["predicted_s"] < 0.8 * forced["predicted_s"], "the choice avoids them", report["predicted_s"], forced["predicted_s"])
    refuses(table("-m 480 --nodes 16 --grid 4x4 --topology tree:2x2"), "explain with fewer positions than nodes", "4 positions for 16 nodes",
            head="hsumma: ")


def test_orders():
    """The savings by other orders of the grid, and the printed placement of nodes."""
    for args, nodes in [("--grid 4x4 --nodes 4", 4), ("--grid 3x4 --map 2,0,1,0,2,1,1,0,2,2,1,0", 3),
                        ("--grid 2x6 --nodes 5 --stationary A", 5), ("--grid 4x4 --nodes 4 --transb T --stationary B", 4)]:
        line = f"-m 480 --nb 20 --panels 0 {args}"
        reports = {order: explain(f"{line} --order {order}") for order in "RCA"}
        said_of = {order: {one["order"]: (one["bytes_max"], one["bytes"], one["predicted_s"]) for one in report["orders"]}
                   for order, report in reports.items()}
        own = {order: (max(report["enters_bytes"]), sum(report["enters_bytes"]), report["predicted_s"])
               for order, report in reports.items()}
        ok(all(said_so == own for said_so in said_of.values()) and len(reports["A"]["enters_bytes"]) == nodes,
           f"orders: {args}: as if each had been asked for", own, said_of)
        by_rows, by_columns = (reports[order]["node_of_place"] for order in "RC")
        rows, cols = len(by_rows), len(by_rows[0])
        ranks = [node for row in by_rows for node in row]
        ok([by_columns[r % rows][r // rows] for r in range(rows * cols)] == ranks and
           sorted(node for row in reports["A"]["node_of_place"] for node in row) == sorted(ranks),
           "  which node has which place", by_rows, by_columns, reports["A"]["node_of_place"])
    report = explain("-m 480 --grid 4x4 --nodes 4 --order A --panels 0")
    tiles = [{report["node_of_place"][i + a][j + b] for a in (0, 1) for b in (0, 1)} for i in (0, 2) for j in (0, 2)]
    ok(all(len(tile) == 1 for tile in tiles), "tiles of 2 x 2", report["node_of_place"])
    report = explain("-m 512 --grid 4x4 --nodes 4 --nb checkerboard --stationary C --block 16 --lookahead 0 --panels 0")
    when, eighth = report["enters_bytes_of_spans"], 512 * 512 * 8 // 8  # a node has a grid row: B enters by rows
    ok(len(when) == 8 and all(when[s][node] == (0 if node == s // 2 else eighth) for s in range(8) for node in range(4)) and
       [sum(into) for into in zip(*when)] == report["enters_bytes"], "what enters when", when, report["enters_bytes"])
    process = table("-m 480 --grid 4x4 --map 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3 --show map")
    prints(process, "the places in the table", "    3   0  1  2  3\n" in process.stdout)
    report = explain("-m 480 --ranks 16 --nodes 4 --panels 0")
    ok(report["order"] == "A" and report["whole_grid"] == [4, 4], "a grid that is chosen is in the order A", report)
    report = explain("-m 480 --grid 4x4 --nodes 4 --bcast mpi --panels 0")
    ok(report["enters_bytes"] is None and report["must_enter_bytes"] > 0 and report["messages"] is None,
       "what MPI sends itself is not counted", report)
    process = table("-m 480 --grid 4x4 --bcast mpi --show plan,messages")
    prints(process, "  nor drawn", "\nsent        not counted: the plan uses collectives of MPI\n" in process.stdout and
           "A, level 1, mpi, 128 k:\n  not known: MPI sends them\n" in process.stdout)


def test_cells():
    """Nodes share panels: no messages inside nodes, each node gets a panel once, and all its processes read it."""
    for args, nodes in [("--grid 4x4", 4), ("--grid 2x8", 4), ("--grid 8x2", 4), ("--grid 3x4", 5), ("--grid 6x6", 7),
                        ("--grid 2x8 --groups 2x2", 4), ("--grid 8x4 --levels 2x1,2x1", 8)]:
        for bcast in ("binomial", "chain"):
            report = explain(f"-m 500 -n 400 -k 300 --nb 20 --stationary C --bcast {bcast} --nodes {nodes} {args}")
            rows, cols = report["grid"]
            each, longer = divmod(rows * cols, nodes)

            def node_of(i, j):
                rank = i * cols + j
                return rank // (each + 1) if rank < longer * (each + 1) else longer + (rank - longer * (each + 1)) // each

            inside = [message for picture in report["pictures"] for stage in picture["stages"]
                      for message in stage["messages"] if node_of(*message[1:3]) == node_of(*message[3:5])]
            name = f"{args} on {nodes} nodes, {bcast}"
            ok(" node=shared " in report["plan"] and not inside, f"{name}: no message inside a node", report["plan"], inside)
            ok(report["bytes"] == report["must_enter_bytes"], "  and no more between them than must enter",
               report["bytes"], report["must_enter_bytes"])
            marks = {}  # marks of the map, by operand, line and node
            for picture in report["pictures"]:
                for i, row in enumerate(picture["map"]):
                    for j, mark in enumerate(row):
                        line = i if picture["operand"] == "A" else j
                        marks.setdefault((picture["operand"], line, node_of(i, j)), []).append(mark)
            ok(all(len(cell) - cell.count("r") == 1 for cell in marks.values()),
               "  of each cell one process has or gets a panel, the others read it", marks)
            again = explain(f"-m 500 -n 400 -k 300 --nb 20 --nodes {nodes} --panels 0 {args.split(' --groups')[0].split(' --levels')[0]} "
                            + options_of(report["plan"]))
            ok(again["plan"] == report["plan"], "  its line gives the plan again", report["plan"], again["plan"])
    line = "-m 500 --nb 20 --stationary C --grid 4x4 --nodes 4"
    report = explain(f"{line} --node messages")
    ok(" node=messages " in report["plan"] and report["bytes"] > report["must_enter_bytes"], "messages if that is said",
       report["plan"], report["bytes"])
    report = explain(f"{line} --groups 1x2")
    ok("node=" not in report["plan"] and "cut through nodes" in report["why"], "groups that cut through nodes",
       report["plan"], report["why"])
    text = table(f"{line} --show map").stdout
    ok("r: reads it" in text and "    0  *  r  r  r " in text, "who reads, in the map", text)
    for args, says in [("--node shared --groups 1x2", "cuts through node 0"), ("--node shared --bcast mpi", "bcast=mpi"),
                       ("--node shared --bcast hierarchical", "are node-aware")]:
        process = table(f"{line} {args}")
        ok(process.returncode != 0 and says in process.stderr, f"{args} is refused", *said(process))


def test_rivals():
    """The rivals are in order, none is better than the choice, and each has the price that it has when requested."""
    for args in ("-m 1000 --grid 4x4", "-m 400 -k 40000 --grid 2x4 --nodes 2",
                 "-m 3000 -n 500 --grid 8x8 --nb checkerboard --nodes 4 --transb T"):
        report = explain(args, "--panels", 0)
        times = [report["predicted_s"], *(rival["predicted_s"] for rival in report["rivals"])]
        lines = [report["plan"], *(rival["plan"] for rival in report["rivals"])]
        ok(len(times) > 1 and times == sorted(times) and len(set(lines)) == len(lines), "rivals of " + args, times, *lines)
        for line, seconds in zip(lines, times):
            again = explain(f"{args} --panels 0 {options_of(line)}")
            ok(math.isclose(again["predicted_s"], seconds, rel_tol=1e-9), f"  {line}", seconds, again["predicted_s"])
        text = table(args, "--show", "plan").stdout
        first = [line for line in text.splitlines() if line.startswith("not chosen  ")]
        shown = first[0][12:].split(": ")[0].split() if first else []
        ok(bool(first) and "slower" in first[0] and set(shown) == set(lines[1].split()) - set(lines[0].split()),
           "  in the table by the words that differ", *lines[:2], text)


def test_phases():
    for args in ("-m 900 --grid 4x4 --lookahead 0", "-m 900 --stationary A --lookahead 0"):
        report = explain(args, "--panels", 0)
        parts = [report[key] for key in ("predicted_comm_s", "predicted_gemm_s", "predicted_copy_s")]
        ok(min(parts) >= 0 and math.isclose(report["predicted_s"], sum(parts), rel_tol=1e-9),
           "without overlap the phases add up: " + args, report["predicted_s"], parts)


def test_ranks():
    """The chosen grid is as good as the best of all possible ones."""
    for args, p in [("-m 1000", 12), ("-m 200 -k 20000 --nb 32", 8), ("-m 3000 -n 100 --nb checkerboard", 6),
                    ("-m 8", 16)]:
        report = explain(f"{args} --ranks {p} --panels 0")
        rows, cols = report["whole_grid"]
        every = {(i, j): explain(f"{args} --grid {i}x{j} --panels 0")["predicted_s"]
                 for i in range(1, p + 1) for j in range(1, p // i + 1)}
        ok((rows, cols) in every and report["ranks"] == p and
           every[rows, cols] <= min(every.values()) * (1 + 1e-9),
           f"the grid of up to {p} processes: {args}", (rows, cols), every)
        chosen = explain(f"{args} --ranks {p} --nodes 3 --panels 0")["predicted_s"]
        every = {(i, p // i): explain(f"{args} --grid {i}x{p // i} --nodes 3 --order A --panels 0")["predicted_s"]
                 for i in range(1, p + 1) if p % i == 0}
        ok(chosen <= min(every.values()) * (1 + 1e-9), "  on 3 nodes: with tiles", chosen, every)
        text = table(f"{args} --ranks {p} --show plan").stdout
        ok(f"{rows} x {cols} grid chosen for up to {p} processes" in text, "  the table says so", text)


def test_timing():
    found = explain("--grid 8x8 --panels 0 --timing 3")["planning"]
    ok(found["plans"] == 3 and all(0 < found[how]["min_s"] <= found[how]["median_s"] <= found[how]["max_s"] < 10
                                   for how in ("cold", "warm")), "planning is timed", found)
    ok(found["warm"]["min_s"] < found["cold"]["max_s"], "  warm no slower than cold", found)
    text = table("--show plan --timing 2").stdout
    ok("\nplanning    cold " in text and ", warm " in text and "2 plans each" in text, "  in the table", text)


def test_all():
    report = explain("-m 1024 --grid 8x4 --nodes 32 --nb checkerboard --all --block 16 --outer 16 --lookahead 0"
                     " --stationary C --bcast van_de_geijn --panels 0")
    found = {tuple(h["groups"]): h for h in report["hierarchies"]}
    want = {(i, j) for i in (1, 2, 4, 8) for j in (1, 2, 4)}
    times = {groups: h["predicted_comm_s"] for groups, h in found.items()}
    marked = [groups for groups, h in found.items() if h["least_communication"]]
    ok(set(found) == want and len(marked) == 1 and times[marked[0]] <= min(times.values()) * (1 + 1e-9) < times[1, 1],
       "--all: every grid of groups, the least marked", times, marked)
    ok(math.isclose(times[1, 1], times[8, 4], rel_tol=1e-12), "  G = 1 and G = p cost the same", times)
    ok(report["predicted_comm_s"] <= min(times.values()) * (1 + 0.01), "  the choice of the library is the least, or within 1 % of it",
       report["plan"], times)
    process = table("-m 8192 --grid 8x4 --all --panels 0")
    prints(process, "--all as a table", process.stdout.count("<- least") == 1)


def test_run():
    """A real run sends and allocates what explain predicts."""
    for nodes, args in ((1, "--grid 2x2 -m 70 --nb 8 --groups 1x2 --block 8 --outer 16"),
                        (1, "--grid 2x2 -m 64 -k 90 --nb 5 --stationary A --transb T --block 16"),
                        (1, "--grid 1x4 -m 96 -n 40 --nb checkerboard --stationary B --levels 1x2 --block 12 --transa T"),
                        (1, "--grid 4x1 -m 80 --nb 7 --stationary C --bcast chain --segment 512"),
                        (2, "--grid 2x2 -m 70 --nb 8 --stationary C --block 8"),
                        (2, "--grid 4x1 -m 64 -k 90 --nb 5 --stationary A --transb T --block 16"),
                        (3, "--grid 1x4 -m 96 -n 40 --nb checkerboard --stationary B --block 12 --transa T"),
                        (2, "--grid 1x4 -m 80 --nb 7 --stationary C --node messages")):
        expected = explain(f"{args} --nodes {nodes} --lookahead 1")
        virtual = f"--topology nodes:{nodes} " if nodes > 1 else ""
        real = report_of(4, f"gemm --reps 1 --lookahead 1 {virtual}{args}", env=PLAIN)
        pairs = [(expected["messages_per_process_max"], real["messages_per_rank_max"]),
                 (expected["bytes_per_process_max"], real["bytes_per_rank_max"]),
                 (expected["workspace_bytes_max"], real["workspace_bytes"])]
        ok(all(said_so == is_so for said_so, is_so in pairs) and expected["plan"].split(" slice=")[0] in real["plan"],
           f"as in a run: {args}, {nodes} nodes", *pairs, expected["plan"], real["plan"])
        keys = [key for key in real if key.startswith(("process_", "node_t", "node_l", "node_received", "limit", "must_enter", "memory_el"))]
        seconds = ("limited_by", "limit_cores_s")  # a run uses this machine's processors
        ok(len(keys) == 18 and all(real[key] == expected[key] or math.isclose(real[key], expected[key], rel_tol=1e-8)
                                   for key in keys if key not in seconds), "  and the bounds",
           {key: (expected[key], real[key]) for key in keys})


# --- the rest ---------------------------------------------------------------------------------------------------------

def prices(line):
    """{algorithm: seconds} of a collective."""
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
    found = {}
    for words in map(str.split, table("--collective allreduce --ranks 16 " + line).stdout.splitlines()):
        at = next((i for i in range(5, len(words)) if words[i] in units), 0)
        if at and words[1].lstrip("-").isdigit():
            found[words[0]] = float(words[at - 1]) * units[words[at]]
    return found


def test_devices():
    """One device for 16 processes, with the built-in figures: what its queue executes, one piece of work after another."""
    launch, turn, seen, copy, add = 4e-6, 1.4e-4, 9e-7, 5e-13, 7.4e-13
    for size in (4, 1 << 24):
        found, host = prices(f"--devices 1 --bytes {size}"), prices(f"--bytes {size}")
        piece = launch + size * copy
        buffer = 15 * piece + 14 * turn + seen + turn + launch + 15 * size * add + max(piece, seen) + 15 * (turn + piece)
        staged = host["shared"] + 36e-6 + 16 * (size * (1.3e-10 - 1.2e-10) + (turn if size < 65536 else 0))
        ok(abs(found["shared_buffer"] - buffer) < 1e-3 * buffer, f"shared_buffer of {size} bytes: {buffer:.4g} s", found)
        ok(abs(found["host_staged"] - staged) < 1e-3 * staged and "host_staged" not in host,
           f"host staging: {staged:.4g} s", (found, host))
        ok(found["shared_buffer"] < found["binomial"], "  binomial takes longer", found)
    apart = prices("--devices 16 --bytes 1M")
    ok(apart["shared_buffer"] < prices("--devices 1 --bytes 1M")["shared_buffer"], "a device each is faster", apart)


def test_collective():
    for size in (2, 5, 8):
        process = table(f"--collective bcast --alg binomial --ranks {size} --nodes {size} --bytes 64")
        rounds = {}
        for step, a, b in binomial(size):
            rounds.setdefault(step, []).append((a, b))
        want = [f"{step}: " + " ".join(f"{a}>{b}" for a, b in sorted(pairs)) + " (64 each)"
                for step, pairs in sorted(rounds.items())]
        got = [line for line in process.stdout.splitlines() if ">" in line]
        prints(process, f"rounds of a binomial broadcast over {size}", got == want, want)
    for name in ("bcast", "reduce", "allreduce", "allgather"):
        process = table(f"--collective {name} --ranks 7 --bytes 70k")
        prints(process, f"the algorithms of {name}", len(process.stdout.splitlines()) > 4)
    for where, word in (("--ranks 256 --nodes 16", "nap"), ("--ranks 256 --nodes 256", "recursive_doubling"),
                        ("--ranks 8 --map 0,0,1,1,0,0,1,1", "dpml"), ("--ranks 16384 --nodes 1024", "nap"),
                        ("--ranks 256 --nodes 16 --coll allreduce:smp", "smp")):
        process = table(f"--collective allreduce --bytes 8 {where}")
        marked = [line.split()[0] for line in process.stdout.splitlines() if line.endswith("<- auto")]
        prints(process, f"allreduce, {where}: auto takes {word}", marked == [word] and f": {word}" in process.stdout
               and "recursive_doubling " in process.stdout)
    process = table("--collective bcast --ranks 1024 --nodes 64 --timing 2")
    prints(process, "choosing is timed", "choosing: cold " in process.stdout)


def test_layers():
    """Layers over k on processes that share nothing: a redistribution costs its bytes and messages, and copies its
    elements twice."""
    beta, copy, alpha, m, k, p = 1e-8, 1e-10, 1e-6, 64, 65536, 16
    lines = f"hsumma profile 1\nnetwork.alpha_s {alpha}\nnetwork.beta_s_per_byte {beta}\ninject_s_per_byte 0\ncopy_s_per_byte {copy}\nend\n"
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile")
        with open(profile, "w", encoding="ascii") as file:
            file.write(lines)
        line = f"-m {m} -n {m} -k {k} --grid 4x4 --nb checkerboard --panels 0 --profile {profile}"
        rows = {row["layers"]: row for row in explain(line + " --nodes 16")["layers"]}
        ok(sorted(rows) == [2, 4, 8, 16], "layers that divide the processes", sorted(rows))
        # With one process per layer: a layer's part of A, m x k / 16, lies on 4 processes, which send a quarter of it
        # each. Of C each process receives its own 16 x 16 from all other processes; it has one term itself.
        part, piece = m * k // p * 8, m * m // p * 8
        want = {"a_s": part * beta + 4 * alpha, "b_s": part * beta + 4 * alpha, "c_s": (p - 1) * piece * beta + (p - 1) * alpha}
        for key, seconds in want.items():
            found = rows[16][key]
            ok(0.7 * seconds <= found <= 1.2 * seconds, f"  16 layers, {key}", found, seconds)
        best = min(rows.values(), key=lambda row: row["predicted_s"])
        ok(all(math.isclose(row["predicted_s"], row["a_s"] + row["b_s"] + row["c_s"] + row["product_s"]) for row in rows.values()),
           "  predicted together", rows)
        ok(rows[16]["workspace_bytes"] >= 2 * part + m * m * 8, "  workspace", rows[16]["workspace_bytes"])
        alone, one = explain(line + " --nodes 16"), explain(line + " --nodes 1")
        text = table(line + " --nodes 16 --show plan").stdout
        ok(alone["layers_taken"] == best["layers"] and best["predicted_s"] < 0.9 * alone["predicted_s"], "  a plan takes the best", alone["layers_taken"], best)
        ok(f"\nlayers      a plan takes layers={best['layers']} of {best['nprow']} x {best['npcol']}: " in text, "  in the table", text)
        ok(not alone["plan"].startswith("layers") and "without layers, as with layers=1" in text, "  the explained plan has none", alone["plan"])
        small = line + " --nodes 16 --workspace-limit 64k"
        text = table(small + " --show plan").stdout
        ok(explain(small)["layers_taken"] == 1 and f"\nlayers      best layers={best['layers']} of " in text and
           f"\n            layers={best['layers']} workspace_limit=" in text, "  with little memory a plan takes none; the options that do", text)
        ok(explain(line + " --nodes 16 --lookahead 1")["layers_taken"] == 1, "  none if other options describe the product")
        ok(one["layers"] == [] and one["layers_taken"] == 1, "  none on one node")
        for settings, taken in (("HSUMMA_LAYERS=1", 1), ("HSUMMA_LAYERS=3", 3)):
            process = bench(0, "explain " + line + " --nodes 16 --format json", settings=[settings])
            ok(process.returncode == 0 and json.loads(process.stdout)["layers_taken"] == taken, f"  {settings}", *said(process))
        four = f"-m {m} -n {m} -k {k} --grid 2x2 --nb 16 --workspace-limit 1G --profile {profile}"
        taken = explain(four + " --nodes 4")["layers_taken"]
        ran = report_of(4, "gemm " + four + " --topology nodes:4")
        ok(taken > 1 and ran["plan"].startswith(f"layers={taken} "), "  as many as a plan has in the same place", taken, ran["plan"])


def test_more_memory():
    """What a larger workspace would save: the figures of the plan with that limit."""
    for line, worth in (("--grid 32x32 --nodes 64 -m 65536 --nb 64", True), ("--grid 4x4 --nodes 4 -m 8192", False)):
        report, roomy = explain(line), explain(line + " --workspace-limit 100%")
        found = report["with_memory"]
        ok(found["predicted_s"] == roomy["predicted_s"] and found["lookahead"] == roomy["lookahead"] and
           (found["predicted_s"] < 0.99 * report["predicted_s"]) == worth, f"explain {line}: with more memory", found)
        ok(0.8 < found["workspace_bytes"] / roomy["workspace_bytes_max"] < 1.25, "  its workspace", found, roomy["workspace_bytes_max"])
        ok(roomy["with_memory"] is None, "  none with that limit", roomy["with_memory"])
        text = table(line + " --show plan").stdout
        ok(("\n            with workspace_limit=100%: about " in text) == worth, "  in the table if it saves a hundredth", text)


def test_within_limit():
    """Panels stay within the limit where lines differ in their cells, and so in the reductions of C in flight."""
    for nodes in ("0,1,2,3,4,5,6,7,8,8,9,9,10,10,11,11", "0,1,0,1,2,3,2,3,8,8,9,9,10,10,11,11"):
        for limit in (1000000, 3000000):
            report = explain("-m 2000 -n 1000 -k 3000 --nb 10 --grid 2x8 --stationary A --lookahead 1 --groups 1x2 "
                             f"--workspace-limit {limit} --map {nodes}")
            ok(0 < report["workspace_bytes_max"] <= limit, f"workspace within {limit} bytes on nodes {nodes}",
               report["workspace_bytes_max"], report["plan"])


def test_table():
    for line in ("", "-m 16k --grid 8x8 --nodes 4", "-m 64k --ranks 1024 --nodes 64"):
        process = table(line)
        lines = process.stdout.splitlines()
        prints(process, f"explain {line}: one screen", 15 <= len(lines) <= 40 and lines[-1].startswith("more ")
               and "--all" in lines[-1] and "--show" in lines[-1], process.stdout)
    process = table("--groups 2x2 --block 64 --lookahead 0 --stationary C --all")
    prints(process, "--all: a picture", "(0,0)>(0,2)" in process.stdout and "  0  *  2  1  2" in process.stdout)
    for args in ("--grid 16x16", "--grid 16x16 --all", "--grid 64x64", "-m 0", "-m 10 -k 0", "--grid 1x1", "-m 3 --grid 4x4 --nb 1",
                 "-m 64k --grid 2x2 --nb checkerboard", "--show cuts,groups",
                 "-m 40 --layout mb=4,nb=4,imb=3,i=2 --show plan,cuts,map", "--type z --transa C --stationary C", "--help"):
        process = table(args)
        prints(process, "explain " + args, process.stdout)
    process = bench(2, "explain -m 64 --nb 8", env=PLAIN)
    prints(process, "on two ranks one prints", process.stdout.count("predicted") == 1)


def test_errors():
    for args in ("--grid 0x2", "--grid 100000x100000", "--nb 0", "--bcast none", "--groups 3x1", "--groups x",
                 "--block 10 --outer 15 --groups 2x2", "--no-such-option", "--ranks 0", "--ranks 4 --grid 2x2",
                 "--ranks 4 --nodes 5", "--timing 0", "--profile /no/such/file", "--panels -1", "--show all", "--show=",
                 "--nodes 0", "--nodes 17", "--format csv", "--layout imb=0", "--layout-a rsrc=9", "--layout-b m=3",
                 "--block 512 --workspace-limit 100", "operand", "--alg flat", "-m -1", "--layout-b rsrc=4294967296",
                 "--layout i=9000000000000000000", "--collective scatter", "--collective bcast --alg none",
                 "--order X", "--ranks 4 --order C", "--map 0,1", "--map 0,1 --nodes 2", "--grid 1x2 --map 0,1x",
                 "--grid 1x2 --map 0,-1", "--grid 1x2 --map 0,1,", "--collective bcast --map 0,1", "--collective bcast --ranks 2 --map 0,1,1", "--collective bcast --root 8", "--collective bcast --ranks 0", "--collective bcast --grid 2x2", "--collective bcast --order R", "--collective bcast --ranks 4 --nodes 5", "--collective bcast --format json", "--devices 1", "--collective bcast --devices 0",
                 "--free 0", "--free 4,", "--free 4x4", "--free 4 --shapes 4x4", "--free 4 --shapes 4x4x0",
                 "--free 4 --shapes 4x4x4x4", "--free 4 --ranks 4", "--free 4 --grid 2x2", "--free 4 -m 0",
                 "--free 4 --collective bcast", "--shapes 4x4x4", "--memory 100", "--free 4 --memory 0",
                 "--free 4 --format csv", "--topology nodes:4", "--nodes 16 --grid 8x8 --topology torus:3x5",
                 "--topology /no/such/file"):
        refuses(table(args), "explain " + args, head="hsumma: explain: ")
    for args, name in (("--show cuts,mesages", "messages"), ("--show grops", "groups")):
        refuses(table(args), "explain " + args, f"did you mean {name}?", head="hsumma: explain: ")


def test_document():
    process = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "doc-pictures"), "--check"],
                             capture_output=True, text=True, timeout=120, env={**PLAIN, "BUILD": BUILD})
    ok(process.returncode == 0, "the pictures in doc/ are those that the program prints", *said(process))


if __name__ == "__main__":
    sys.exit(run(test_messages, test_coverage, test_moves, test_profile, test_condition, test_bound, test_memory_bound, test_limit, test_free, test_layers, test_more_memory, test_within_limit, test_entering, test_orders, test_torus, test_scattered_cells, test_switches, test_cells,
                 test_rivals, test_phases, test_ranks, test_timing, test_all, test_run, test_collective, test_devices, test_table,
                 test_errors, test_document, names=sys.argv[1:]))
