"""TAP: "hsumma_bench coll": the list, the schedules against the papers' counts, the proof, the measurement in its three
forms, errors.

Environment: that of launch.py. Times are looked at for their form only.
"""
import json
import math
import os
import re
import shutil
import sys
import tempfile

from command import bench, csv_rows, positive, refuses, said
from tap import done, ok, skip

OPS = ["bcast", "reduce", "allreduce", "allgather", "reduce_scatter"]


def coll(ranks, *args, path=None):
    return bench(ranks, "coll", *args, path=path)


def test_list():
    process = coll(0, "--list", "--format", "json")
    try:
        rows = json.loads(process.stdout)["algorithms"]
    except (ValueError, KeyError):
        rows = []
    names = {(row["collective"], row["name"]): row for row in rows}
    ok(process.returncode == 0 and len(rows) >= 30 and {row["collective"] for row in rows} == set(OPS)
       and len(names) == len(rows), "--list: all collectives, no name twice", *said(process))
    ok(all(row["doc"] and "\n" not in row["doc"] for row in rows), "  every algorithm says what it does")
    dpml = names.get(("allreduce", "dpml"), {})
    ok(dpml.get("parameters", "").startswith("l, k") and dpml.get("shared") is True, "  parameters and flags", dpml)
    ok(any("power of two" in why for why in names[("allreduce", "butterfly")]["not_if"])
       and any("more than one node" in why for why in names[("allreduce", "shared")]["not_if"])
       and not names[("allreduce", "recursive_doubling")]["not_if"], "  what they are not for")
    process = coll(2, "--list", "--op", "reduce")
    ok(process.returncode == 0 and process.stdout.count("\n  binomial\n") == 1 and "butterfly" not in process.stdout
       and not process.stderr, "--list --op: only those, printed once", *said(process))


def dump(*args):
    process = coll(0, "--dump", *args)
    return process if ok(process.returncode == 0 and not process.stderr, f"--dump {' '.join(map(str, args))}",
                         *said(process)) else None


def test_dump():
    """Counts that follow from the papers' formulas."""
    for p in (2, 8, 16):
        rounds = int(math.log2(p))
        process = dump("--op", "allreduce", "--alg", "recursive_doubling", "--ranks", p, "--bytes", "1k")
        if process:
            ok(f"verified: {p * rounds} messages, {1024 * p * rounds} bytes, {rounds} rounds" in process.stdout
               and "the same bits on all ranks" in process.stdout, "  log2 p rounds of p messages", process.stdout)
    process = dump("--op", "allreduce", "--alg", "ring", "--ranks", 5, "--bytes", "5k")
    if process:
        ok(f"verified: {5 * 8} messages, {5 * 8 * 1024} bytes, 8 rounds" in process.stdout, "  2 (p - 1) rounds")
        ok(len(re.findall(r"^rank \d+$", process.stdout, re.M)) == 5, "  the steps of every rank")
    process = dump("--alg", "nap", "--ranks", 8, "--nodes", 4, "--bytes", "8", "--rank", 3)
    if process:
        ok(re.findall(r"^rank (\d+)$", process.stdout, re.M) == ["3"] and "on 4 nodes" in process.stdout,
           "  --rank: its steps alone", process.stdout)
    process = dump("--alg", "shared", "--ranks", 4, "--room", "4k", "--bytes", "64")
    if process:
        ok("verified: 0 messages" in process.stdout and "SIGNAL" in process.stdout, "  shared memory: no messages")
    dump("--alg", "dpml(l=2,k=2,outer=ring)", "--ranks", 8, "--nodes", 2, "--bytes", "4k")
    dump("--op", "bcast", "--alg", "chain(segment=256)", "--ranks", 4, "--root", 2, "--bytes", "1k")


def test_verify():
    process = coll(0, "--verify", "--op", "allreduce", "--alg", "recursive_doubling", "--ranks", 9)
    last = process.stdout.splitlines()[-1:] or [""]
    ok(process.returncode == 0 and re.match(r"[1-9]\d* schedules of 1 algorithms proven, 0 failed", last[0]),
       "--verify of one algorithm", *said(process))
    process = coll(0, "--verify", "--op", "allgather", "--ranks", 5)
    last = process.stdout.splitlines()[-1:] or [""]
    ok(process.returncode == 0 and "0 failed" in last[0] and "MPI's own" in last[0]
       and process.stdout.count("proven\n") == len(process.stdout.splitlines()) - 1, "--verify of a collective",
       *said(process))


def timed(ranks, *args):
    process = coll(ranks, "--repetitions", 2, "--format", "json", *args)
    try:
        report = json.loads(process.stdout)
    except ValueError:
        report = None
    name = f"{ranks} ranks: coll {' '.join(map(str, args))}"
    return report if ok(process.returncode == 0 and report is not None and not process.stderr, name,
                        *said(process)) else None


def complaints(size):
    bad = [key for key in ("median_s", "lower_s", "upper_s", "calls") if not positive(size["mpi"].get(key))]
    if not size["mpi"]["right"]:
        bad.append("MPI's result")
    for row in size["algorithms"]:
        if "left_out" in row:
            bad += [] if row["left_out"] else [f"{row['algorithm']}: no reason"]
            continue
        bad += [f"{row['algorithm']}: {key}" for key in ("median_s", "ratio", "ratio_lower", "ratio_upper", "calls")
                if not positive(row.get(key))]
        if row["right"] is not True or not row["lower_s"] <= row["median_s"] <= row["upper_s"]:
            bad.append(row["algorithm"])
    return bad


def test_measurement():
    elements = ["double", "float", "int32", "int64", "float_complex", "double_complex"]
    for i, op in enumerate(OPS):
        for ranks in (1, 2, 3):
            report = timed(ranks, "--op", op, "--bytes", "8..4k", "--factor", 64, "--element", elements[(i + ranks) % 6],
                           "--root", ranks - 1)
            if not report:
                continue
            bad = [text for size in report["sizes"] for text in complaints(size)]
            sizes = [size["bytes"] for size in report["sizes"]]
            names = [row["algorithm"] for row in report["sizes"][0]["algorithms"]]
            ok(not bad and report["op"] == op and sizes == sorted(set(sizes)) and "auto" in names and "mpi" in names,
               "  every result right, every number there", bad, names, sizes)
    report = timed(3, "--alg", "butterfly,auto", "--bytes", 64)
    if report:
        butterfly, auto = report["sizes"][0]["algorithms"]
        ok("power of two" in butterfly.get("left_out", "") and auto["chosen"], "  what was left out, what was chosen",
           butterfly, auto)
    report = timed(4, "--alg", "dpml(l=2),nap", "--bytes", "8k", "--topology", "nodes:2")
    if report:
        ok([row["algorithm"] for row in report["sizes"][0]["algorithms"]] == ["dpml(l=2)", "nap"]
           and report["options"] == "topology=nodes:2" and not complaints(report["sizes"][0]), "  virtual nodes", report)


def test_formats():
    process = coll(2, "--alg", "auto,recursive_doubling", "--bytes", "8..64", "--repetitions", 2, "--format", "csv")
    rows = csv_rows(process)
    ok(process.returncode == 0 and len(rows) == 6 and all(None not in row and row["right"] == "true" for row in rows)
       and [row["algorithm"] for row in rows[:3]] == ["MPI_Allreduce", "auto", "recursive_doubling"], "csv",
       *said(process))
    process = coll(2, "--op", "bcast", "--alg", "binomial", "--bytes", 8, "--repetitions", 2)
    ok(process.returncode == 0 and "MPI_Bcast" in process.stdout and "binomial" in process.stdout
       and "nan" not in process.stdout, "the table", *said(process))


def test_plot():
    with tempfile.TemporaryDirectory() as scratch:
        drawing = os.path.join(scratch, "it's a plot.svg")
        args = ["--op", "reduce_scatter", "--alg", "auto,pairwise", "--bytes", "8..1k", "--repetitions", 2, "--plot",
                drawing]
        if not shutil.which("gnuplot"):
            skip("--plot", "no gnuplot")
        else:
            process = coll(2, *args)
            text = open(drawing).read() if os.path.exists(drawing) else ""
            ok(process.returncode == 0 and "<svg" in text and "</svg>" in text and "pairwise" in text
               and "reduce_scatter" in text and not process.stderr, "--plot draws", *said(process))
        if os.path.exists(drawing):
            os.remove(drawing)
        process = coll(2, *args, path=scratch)
        ok(process.returncode == 2 and "gnuplot" in process.stderr and not process.stdout
           and not os.path.exists(drawing), "--plot without gnuplot: refused", *said(process))


def test_errors():
    """One line on stderr, nothing on stdout, exit code 2."""
    for args in (["--op", "scan"], ["--alg", "no_such"], ["--alg", "dpml(l=0)"], ["--alg", "dpml(x=1)"],
                 ["--bytes", "9..8"], ["--bytes", "x"], ["--bytes", "8G"], ["--factor", "1"], ["--element", "half"],
                 ["--root", "7"], ["--root", "-1"], ["--repetitions", "0"], ["--format", "xml"], ["--list", "--dump"],
                 ["--list", "--format", "csv"], ["--dump"], ["--dump", "--alg", "mpi"], ["--dump", "--alg", "auto"],
                 ["--dump", "--alg", "butterfly", "--ranks", "6"], ["--dump", "--alg", "ring", "--rank", "8"],
                 ["--dump", "--alg", "ring", "--ranks", "4", "--nodes", "5"], ["--verify", "--alg", "no_such"],
                 ["--verify", "--format", "json"], ["--plot", "/no/such/directory/x.svg"], ["operand"],
                 ["--coll", "allreduce:no_such"], ["--topology", "nodes:x"]):
        refuses(coll(2, *args), "coll " + " ".join(args))


def main():
    process = coll(2, "--help")
    ok(process.returncode == 0 and process.stdout.count("--verify") >= 1 and process.stdout.count("Usage") == 1
       and not process.stderr, "--help prints once", *said(process))
    for test in (test_list, test_dump, test_verify, test_errors, test_measurement, test_formats, test_plot):
        test()
    return done()


if __name__ == "__main__":
    sys.exit(main())
