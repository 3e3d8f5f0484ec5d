"""TAP: the simulated time of collectives and plans equals the clock's (coll/model/clock.h), within 1 % (2 % on 2048
ranks; more for the algorithms of TOGETHER, FROM_ALL, TWO_WAYS and HELD_UP).

tests/sim/clock.c measures both on a machine of Hockney's model, without shared links, or on a ring.
    sim_clock.py RANKS COLLECTIVE[:BYTES,...]...    every algorithm of these
    sim_clock.py RANKS plans    SUMMA and HSUMMA on 128, 1024 or 2048 ranks
    sim_clock.py RANKS ring    pipelines along the links of a ring
    sim_clock.py RANKS box    trees of dimensions in a torus
    sim_clock.py RANKS priced    every algorithm, with a cost of sums and copies
Environment: that of launch.py.
"""
import os
import sys
import tempfile

from command import said, write
from launch import BUILD
from simulator import lacks, simulate
from tap import done, ok, skip

CLOCK = os.path.join(BUILD, "sim", "tests", "sim", "clock")
SIZES = (1024, 65536, 1048576)
# Algorithms whose root sends to all ranks at once. The clock's port sends one message after the other, so the price for
# these algorithms is that of a machine whose messages share a rank's link.
AT_ONCE = ("flat",)
# Tolerances in per cent for algorithms in which a rank may send or receive two messages at a time if the number of
# ranks is not a power of two. The clock's ports take one after the other, at full bandwidth and with a latency each; in
# the simulator the messages share the link and their latencies overlap.
TOGETHER = {"bcast bidirectional_chain": 8, "reduce rabenseifner_traff": 10, "reduce_scatter rabenseifner_traff": 6,
            "reduce_scatter recursive_halving": 2, "allreduce elimination_21": 4,
            **{f"allreduce {name}": 14 for name in ("elimination_32", "elimination_32_21", "smp", "dpml")}}
# The same for any number of ranks: the root receives the parts of the sum from all ranks at once.
FROM_ALL = {"reduce exact": 50}
# The same for pipelines in two directions, and for plans with one; on a ring each direction has its own link (ring).
TWO_WAYS = {"bcast bidirectional_chain": 3, "bcast torus": 3}
# Tolerances in per cent for algorithms in which a rank that copies or sums starts no message meanwhile; the clock's
# ports need no processor.
HELD_UP = {"allgather bruck": 3, **{f"reduce_scatter {name}": 2 for name in ("pairwise", "node_aware", "host_staged")}}
COST = "hsumma profile 1\ncopy_s_per_byte 2e-10\ngamma_s_per_byte 3e-10\n"
SUMMA = "lookahead=0+groups=1x1+block=512+bcast="
HSUMMA = "lookahead=0+workspace_limit=64M+groups="
PLANS = {128: [("8x16", 8192, 512, plan) for plan in [
             *(SUMMA + name for name in ("chain", "bidirectional_chain", "van_de_geijn", "binomial", "flat")),
             HSUMMA + "2x4+outer=512+block=128+bcast=van_de_geijn",
             HSUMMA + "4x2+outer=512+block=256+bcast=outer=binomial,inner=chain",
             HSUMMA + "2x2+outer=512+block=512+bcast=outer=chain,inner=binary_tree"]],
         1024: [("32x32", 16384, 512, SUMMA + "chain"),
                ("32x32", 16384, 512, HSUMMA + "4x8+outer=512+block=256+bcast=binomial")],
         2048: [("32x64", 16384, 256, HSUMMA + "4x8+outer=256+block=256+bcast=binomial")]}


def measure(ranks, line, gemm="free", timeout=600, network="hockney:nodes={},lat=100us"):
    """Runs tests/sim/clock; returns its rows [(what, simulated, clock, clock of shared links)], and {what: reason} for
    measurements that were left out."""
    process = simulate(f"--platform {network.format(ranks)},bw=125MBps --gemm {gemm} coll {line}",
                       HSUMMA_SIM_BENCH=CLOCK, timeout=timeout)
    timed, left = [], {}
    for word, *words in (line.split() for line in process.stdout.splitlines()):
        if word == "timed":
            timed.append((" ".join(words[:-3]), *map(float, words[-3:])))
        elif word == "left":
            left[" ".join(words[:2])] = " ".join(words[3:])
    if process.returncode or not timed:
        ok(False, f"{ranks} ranks: {line}", *said(process))
    return timed, left


def off(simulated, clock):
    return 100 * (simulated / clock - 1)


def agrees(ranks, what, rows, shared, limit=1):
    """A test: all rows agree with the clock."""
    worst = max((off(simulated, both if shared else alone) for _, simulated, alone, both in rows), key=abs)
    ok(abs(worst) <= limit, f"{ranks} ranks, {what}: {worst:+.3f} % off the clock at most, allowed {limit} %"
       f"{', ways out shared' if shared else ''}", *rows)


def limit_of(ranks, what, limit, priced):
    if ranks & (ranks - 1):
        limit = max(limit, TOGETHER.get(what, 0))
    limit = max(limit, FROM_ALL.get(what, 0), TWO_WAYS.get(what, 0))
    return max(limit, HELD_UP.get(what, 0)) if priced else limit


def collectives(ranks, names, sizes, limit=1, **more):
    """Runs each size in a separate simulation: SimGrid 3.32 slows down with the number of messages that a rank has
    had."""
    found, skipped = {}, {}
    for name in names:
        for size in sizes:
            many = " --leave van_de_geijn" if ranks > 1024 else ""  # it sends a message for each pair of ranks
            timed, left = measure(ranks, f"--only {name}{many} --bytes {size}", **more)
            skipped.update(left)
            for row in timed:
                found.setdefault(" ".join(row[0].split()[:2]), []).append(row)
    for what, rows in found.items():
        agrees(ranks, what, rows, what.split()[1] in AT_ONCE, limit_of(ranks, what, limit, "gemm" in more))
    for what, reason in skipped.items():
        skip(f"{ranks} ranks, {what}", reason)


def plans(ranks, rows, limit=1, **more):
    for grid, n, nb, plan in rows:
        timed, _ = measure(ranks, f"--grid {grid} --n {n} --nb {nb} --plan {plan}", **more)
        if timed:
            agrees(ranks, f"{grid}, n={n}, nb={nb} {plan.replace('+', ' ')}", timed,
                   any(name in plan for name in AT_ONCE),
                   max([limit, *(most for what, most in TWO_WAYS.items() if what.split()[1] in plan)]))


def ring(ranks):
    """Pipelines along the links of a ring; almost without latency, since the profile's is that of a mean distance."""
    for name in ("chain", "bidirectional_chain"):
        for size in SIZES[1:]:
            timed, _ = measure(ranks, f"--only bcast --alg {name} --bytes {size}", network="torus:{},lat=1ns")
            agrees(ranks, f"bcast {name}, a ring of links, {size} bytes", timed, False)


def boxes(ranks):
    """Trees of dimensions, whose nodes send over several links at a time, by the clock of a machine that shares a rank's
    way out among messages, as a host of this platform does."""
    for box in (f"{ranks}", f"{ranks // 8},8", f"{ranks // 16},4,4"):
        for size in (1024, 65520, 1048560):  # whole segments with the 16 bytes by which the second clock's are longer
            timed, _ = measure(ranks, f"--box {box} --bytes {size}")
            agrees(ranks, f"bcast torus, box {box}, {size} bytes", timed, True, TWO_WAYS["bcast torus"])


def main(words):
    reason = lacks(CLOCK)
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    ranks, limit = int(words[0]), 2 if words[0] == "2048" else 1
    for word in words[1:]:
        name, _, sizes = word.partition(":")
        sizes = [int(size) for size in sizes.split(",")] if sizes else SIZES
        if word == "plans":
            plans(ranks, PLANS[ranks], limit)
        elif word == "box":
            boxes(ranks)
        elif word == "ring":
            ring(ranks)
        elif word == "priced":
            with tempfile.TemporaryDirectory() as folder:
                costs = write(COST, folder, "costs")
                collectives(ranks, ["bcast", "reduce", "allreduce", "allgather", "reduce_scatter"], SIZES, gemm=costs)
        else:
            collectives(ranks, [name], sizes, limit)
    return done()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
