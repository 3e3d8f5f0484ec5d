"""TAP: products with real data in the simulator, with one or several ranks per host: right results, wrong ones reported;
refusals; a sample of a product's panels.

Environment: that of launch.py.
"""
import json
import os
import sys
import tempfile

from command import bench, object_of, said
from launch import BUILD
from simulator import BENCH, lacks, simulate
from tap import must, ok, run

MEMORY = os.path.join(BUILD, "sim", "tests", "sim", "memory")
NETWORK = "bw=1GBps,lat=10us"
EACH = {ranks: f"hockney:nodes={ranks},{NETWORK}" for ranks in (16, 36)}
FOURS = {ranks: f"hockney:nodes={ranks // 4},ppn=4,{NETWORK}" for ranks in (16, 36)}
ONE = {ranks: f"hockney:nodes=1,ppn={ranks},{NETWORK}" for ranks in (16, 36)}
ODD_A, ODD_B, ODD_C = ("mb=33,nb=20,imb=7,rsrc=1", "mb=20,nb=17,i=5,j=2", "mb=33,nb=17,imb=7,rsrc=1,pad=3")
ODD = f"--layout-a {ODD_A} --layout-b {ODD_B} --layout-c {ODD_C}"
ALIKE = "--layout-a mb=33,nb=20 --layout-b mb=20,nb=17 --layout-c mb=33,nb=17"

# For each product: platform, and options of gemm.
PRODUCTS = [
    (EACH[16], "-m 300 --type d --beta 0.5"),
    (EACH[16], "-m 250 -n 300 -k 270 --type z --stationary A --transa C --alpha (0.5,-2)"),
    (EACH[16], f"-m 220 -n 260 -k 240 --type c {ALIKE} --groups 2x2 --outer 40 --block 20 --bcast chain"),
    (EACH[16], f"-m 220 -n 260 -k 240 {ODD}"),
    (EACH[36], "-m 400 --type s --stationary B --nb 32"),
    (EACH[36], f"-m 310 -n 290 -k 270 {ALIKE} --groups 3x2 --outer 40 --block 20 --lookahead 0 --bcast van_de_geijn"),
    (EACH[36], f"-m 310 -n 290 -k 270 --stationary A {ODD} --groups 2x3 --lookahead 2"),
    (FOURS[16], "-m 300 --type d --stationary C --lookahead 1"),
    (FOURS[16], f"-m 220 -n 260 -k 240 --type s --stationary B --bcast binary_tree {ODD}"),
    (FOURS[36], "-m 360 --type z --nb 24 --groups 3x3"),
    (FOURS[36], "-m 300 --type c --stationary A --lookahead 0 --transb T"),
    (ONE[16], "-m 300 --type d --node shared --beta 1"),
    (ONE[16], f"-m 220 -n 260 -k 240 --type z --node shared --stationary A {ODD}"),
    (ONE[16], "-m 300 --type s --node messages"),
    (ONE[36], f"-m 310 -n 290 -k 270 --type c --node shared --stationary B {ALIKE}"),
    (ONE[36], f"-m 310 -n 290 -k 270 --node messages --groups 2x2 {ODD}")]


def test_products():
    for platform, options in PRODUCTS:
        process = simulate(f"--platform {platform} --real gemm {options} --check")
        ok(process.returncode == 0 and process.stdout.startswith("platform ") and not process.stderr,
           f"{platform}: gemm {options}", *said(process))


def test_timeline():
    """In the simulator only GEMM, copies and waits take time, so they make up all of a product on every rank."""
    for platform, options in ((FOURS[16], "--lookahead 1"), (FOURS[16], "--stationary A"), (EACH[16], "--lookahead 0"),
                              (ONE[16], "--node shared"), (ONE[16], "--stationary B")):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            process = simulate(f"--platform {platform} --real gemm -m 512 --reps 1 {options} --trace {path}")
            found = object_of(bench(0, f"trace {path} --format json")) or {"ranks": []}
        rests = [abs(r["all_s"] - r["gemm_s"] - r["copy_s"] - r["wait_s"]) / r["all_s"] for r in found["ranks"]]
        ok(process.returncode == 0 and len(rests) == 16 and max(rests) < 1e-4, f"{platform}: the timeline of gemm {options}",
           rests, *said(process))


def test_passed_on():
    """A process passes a panel on before it multiplies it: a product of one panel takes as long with a lookahead."""
    for bcast in ("chain", "binomial", "flat"):
        seconds = []
        for lookahead in (0, 1):
            process = simulate(f"--platform hockney:nodes=12,bw=3GBps,lat=1us gemm -m 4096 -n 256 -k 256 --grid 6x2 --nb 256 "
                               f"--stationary C --bcast {bcast} --lookahead {lookahead} --block 256 --format json")
            found = object_of(process) or {"simulated_s": 0, "gemm_s": 0}
            seconds.append(found["simulated_s"])
        ok(0 < seconds[1] < seconds[0] + 0.1 * found["gemm_s"], f"one panel by {bcast}, without and with lookahead", seconds,
           *said(process))


def test_in_flight():
    """With a lookahead, exchanges of panels of several owners use all links at once, and reductions of narrow panels of
    C, and two of wide ones between two cells, do not wait for one another: simulated communication takes less than
    `most` of its time with lookahead 0."""
    for platform, options, most in (
            ("hockney:nodes=4,ppn=4,bw=125MBps,lat=10us",
             "-m 1024 --nb 64 --transa T --stationary C --exchange all --block 64 --turn 64", 0.4),
            ("hockney:nodes=16,bw=10GBps,lat=2ms",
             "-m 256 -n 256 -k 8192 --nb 16 --stationary B --exchange root --block 8 --turn 8", 0.25),
            ("hockney:nodes=8,ppn=2,bw=1GBps,lat=10us",
             "-m 8192 -n 512 -k 256 --nb 32 --stationary A --exchange root --block 32 --turn 32", 0.54)):
        seconds = []
        for lookahead in (0, 3):
            process = simulate(f"--platform {platform} --gemm free gemm --grid 4x4 --groups 1x1 --bcast binomial "
                               f"--reduce binomial --workspace-limit 1G --lookahead {lookahead} {options} --format json")
            seconds.append((object_of(process) or {}).get("comm_s", 0))
        ok(0 < seconds[1] < most * seconds[0], f"several panels in flight: gemm {options}", seconds, *said(process))


def test_wrong_results():
    for ranks in (2, 4, 7):  # tests bells to ranks that never block for long
        process = simulate(f"--platform cluster:nodes=1,ppn={ranks},bw=1GBps,lat=1us coll --op allreduce --bytes 64k")
        ok(process.returncode == 0, f"{ranks} ranks of one host: every allreduce", *said(process))
    for platform in (EACH[16], FOURS[16], ONE[16]):
        process = simulate(f"--platform {platform} --real gemm -m 200 --plant-error 0.001@130,7 --check")
        ok(process.returncode == 1 and process.stderr.startswith("hsumma_sim: ") and process.stderr.count("\n") == 1 and
           "row 130, column 7" in process.stderr, f"{platform}: a wrong entry of C is reported", *said(process))


def test_refusals():
    for options, *words in [("--real gemm -m 200 --wait poll", "wait=poll", "block"),
                            ("--real gemm -m 200 --steps 2", "steps=2", "compute=time")]:
        process = simulate(f"--platform {EACH[16]} {options}")
        ok(process.returncode and process.stderr.count("\n") == 1 and all(word in process.stderr for word in words),
           f"refused: {options}", *said(process))


def test_samples():
    """The time of a whole product extrapolated from four panels of the outermost level and from two.

    Without overlapping panels it is exact, because all of them take the same time."""
    for options in ("--lookahead 0 --groups 1x1 --block 64 --bcast binomial",
                    "--lookahead 0 --groups 2x2 --outer 128 --block 64 --bcast van_de_geijn"):
        found = {}
        for steps in ("", " --steps 4"):
            line = f"--platform {EACH[16]} gemm -m 4096 --nb 128 {options} --format json{steps}"
            process = simulate(line)
            must(process.returncode == 0, f"gemm {options}{steps}", *said(process))
            found[steps] = json.loads(process.stdout)
        whole, sample = (found[steps]["simulated_s"] for steps in ("", " --steps 4"))
        steps = found[" --steps 4"]["bench"]["simulated"]
        ok(steps["steps"] == 4 and steps["steps_total"] > 8, "  is a sample", steps)
        ok(abs(sample / whole - 1) < 0.001, f"  extrapolated within 0.1 %: {100 * (sample / whole - 1):+.4f} %", whole,
           sample)


def test_collectives():
    for platform in (EACH[16], FOURS[16], ONE[16]):
        for name in ("bcast", "allreduce", "reduce_scatter"):
            process = simulate(f"--platform {platform} coll --op {name} --bytes 10k --alg auto")
            ok(process.returncode == 0, f"{platform}: coll --op {name}", *said(process))


def test_redistribution():
    """All links are busy from the first round to the last, with or without data.

    The time is that of the bytes that must leave each node: 12 of 16 parts of its quarter of the matrix."""
    floor = 2048 * 2048 * 8 / 4 * 12 / 16 / 125e6
    for real in ("--real", ""):
        process = simulate("--platform cluster:nodes=4,bw=125MBps,lat=10us,ppn=4 " + real + " redistribute --format csv "
                           "--from 16x1,mb=64,nb=64 --to 1x16,mb=32,nb=32" + " --check" * bool(real))
        rows = [line.split(",") for line in process.stdout.splitlines() if line.startswith("hsumma,")]
        seconds = float(rows[0][1]) if rows else 0
        ok(process.returncode == 0 and 1 <= seconds / floor < 1.05, f"{real or 'no'} data: {seconds / floor:.3f} of the links' time",
           *said(process))


def test_memory():
    """From 128 to 256 ranks, what a rank's context and grid hold grows by less than a number for each further rank if each
    node has consecutive ranks, and otherwise by a few; a plan grows by its lists."""
    for order, most, plan in (("block", 3, 32), ("cyclic", 18, 32)):
        process = simulate(f"--platform hockney:nodes=64,ppn=4,{NETWORK} --map {order} coll", HSUMMA_SIM_BENCH=MEMORY)
        rows = [[float(word) for word in line.split()[1:]] for line in process.stdout.splitlines() if line.startswith("held ")]
        must(process.returncode == 0 and len(rows) == 2, f"memory per rank, map {order}", *said(process))
        (few, *less), (many, *more) = rows
        grown = [(y - x) / (many - few) for x, y in zip(less, more)]
        ok(max(grown[:2]) <= most and grown[2] - grown[1] <= plan,
           f"map {order}: {max(grown[:2]):.1f} bytes per rank and further rank, allowed {most}", rows)


def main():
    reason = lacks(BENCH) or lacks(MEMORY)
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    return run(test_products, test_timeline, test_passed_on, test_in_flight, test_wrong_results, test_refusals, test_samples,
               test_collectives, test_redistribution, test_memory)


if __name__ == "__main__":
    sys.exit(main())
