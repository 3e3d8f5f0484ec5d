"""TAP: "hsumma coll": the list, the schedules against the papers' counts, the proof, the measurement in all three formats,
errors.

Environment: that of launch.py. Only the format of times is checked.
"""
import math
import re
import sys

from command import bench, csv_rows, draws, helps, positive, prints, refuses, report_of
from tap import ok, run

OPS = ["bcast", "reduce", "allreduce", "allgather", "reduce_scatter"]


def test_list():
    rows = report_of(0, "coll --list")["algorithms"]
    names = {(row["collective"], row["name"]): row for row in rows}
    ok(len(rows) >= 30 and {row["collective"] for row in rows} == set(OPS) and len(names) == len(rows),
       "--list: all collectives, no name twice", rows)
    ok(all(row["doc"] and "\n" not in row["doc"] for row in rows), "  every algorithm says what it does")
    dpml = names[("allreduce", "dpml")]
    ok(dpml["parameters"].startswith("l, k") and dpml["shared"] is True, "  parameters and flags", dpml)
    ok(any("power of two" in why for why in names[("allreduce", "butterfly")]["not_if"])
       and any("more than one node" in why for why in names[("allreduce", "shared")]["not_if"])
       and not names[("allreduce", "recursive_doubling")]["not_if"], "  what they are not for")
    process = bench(2, "coll --list --op reduce")
    prints(process, "--list --op: only those, printed once",
           process.stdout.count("\n  binomial\n") == 1 and "butterfly" not in process.stdout)


def dump(line):
    process = bench(0, "coll --dump " + line)
    prints(process, "--dump " + line)
    return process.stdout


def test_dump():
    """The counts of messages, bytes and rounds follow the papers' formulas."""
    for p in (2, 8, 16):
        rounds = int(math.log2(p))
        text = dump(f"--op allreduce --alg recursive_doubling --ranks {p} --bytes 1k")
        ok(f"verified: {p * rounds} messages, {1024 * p * rounds} bytes, {rounds} rounds" in text
           and "the same bits on all ranks" in text, "  log2 p rounds of p messages", text)
    text = dump("--op allreduce --alg ring --ranks 5 --bytes 5k")
    ok(f"verified: {5 * 8} messages, {5 * 8 * 1024} bytes, 8 rounds" in text, "  2 (p - 1) rounds")
    ok(len(re.findall(r"^rank \d+$", text, re.M)) == 5, "  the steps of every rank")
    text = dump("--alg nap --ranks 8 --nodes 4 --bytes 8 --rank 3")
    ok(re.findall(r"^rank (\d+)$", text, re.M) == ["3"] and "on 4 nodes" in text, "  --rank: its steps alone", text)
    text = dump("--alg shared --ranks 4 --room 4k --bytes 64")
    ok("verified: 0 messages" in text and "SIGNAL" in text, "  shared memory: no messages")
    dump("--alg dpml(l=2,k=2,outer=ring) --ranks 8 --nodes 2 --bytes 4k")
    dump("--op bcast --alg chain(segment=256) --ranks 4 --root 2 --bytes 1k")


def test_verify():
    process = bench(0, "coll --verify --op allreduce --alg recursive_doubling --ranks 9")
    last = process.stdout.splitlines()[-1]
    prints(process, "--verify of one algorithm", re.match(r"[1-9]\d* schedules of 1 algorithms proven, 0 failed", last))
    process = bench(0, "coll --verify --op allgather --ranks 5")
    *proofs, last = process.stdout.splitlines()
    prints(process, "--verify of a collective", "0 failed" in last and "MPI's own" in last and
           process.stdout.count("proven\n") == len(proofs))


def timed(ranks, line):
    return report_of(ranks, "coll --repetitions 2 " + line)


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
            report = timed(ranks, f"--op {op} --bytes 8..4k --factor 64 --element {elements[(i + ranks) % 6]}"
                           f" --root {ranks - 1}")
            bad = [text for size in report["sizes"] for text in complaints(size)]
            sizes = [size["bytes"] for size in report["sizes"]]
            names = [row["algorithm"] for row in report["sizes"][0]["algorithms"]]
            ok(not bad and report["op"] == op and sizes == sorted(set(sizes)) and "auto" in names and "mpi" in names,
               "  every result right, every number there", bad, names, sizes)
    butterfly, auto = timed(3, "--alg butterfly,auto --bytes 64")["sizes"][0]["algorithms"]
    ok("power of two" in butterfly.get("left_out", "") and auto["chosen"], "  what was left out, what was chosen",
       butterfly, auto)
    report = timed(4, "--alg dpml(l=2),nap --bytes 8k --topology nodes:2")
    ok([row["algorithm"] for row in report["sizes"][0]["algorithms"]] == ["dpml(l=2)", "nap"]
       and report["options"] == "topology=nodes:2" and not complaints(report["sizes"][0]), "  virtual nodes", report)


def test_pairs():
    """--pairs: every number of pairs at every size; throughputs that belong to the times; the relation to one pair."""
    report = report_of(5, "coll --pairs --bytes 8..512 --factor 8 --repetitions 2")
    rows = report["rows"]
    ok([(row["bytes"], row["pairs"]) for row in rows] == [(size, pairs) for size in (8, 64, 512) for pairs in (1, 2)]
       and all(row["where"] == "inside nodes" for row in rows), "--pairs: the rows", rows)
    bad = [row for i, row in enumerate(rows)
           if not math.isclose(row["messages_per_s"], row["pairs"] / row["message_s"], rel_tol=1e-6)
           or not math.isclose(row["bytes_per_s"], row["messages_per_s"] * row["bytes"], rel_tol=1e-6)
           or not math.isclose(row["relative"], row["messages_per_s"] / rows[i - i % 2]["messages_per_s"], rel_tol=1e-6)]
    ok(not bad, "  its throughputs", bad)
    rows = csv_rows(bench(4, "coll --pairs --bytes 64 --repetitions 2 --format csv",
                          settings=("MPIR_CVAR_NUM_CLIQUES=2", "MPIR_CVAR_CLIQUES_BY_BLOCK=1")))
    ok([(row["where"], row["pairs"]) for row in rows] == [("between nodes", "1"), ("between nodes", "2")],
       "  between two nodes", rows)


def test_formats():
    process = bench(2, "coll --alg auto,recursive_doubling --bytes 8..64 --repetitions 2 --format csv")
    rows = csv_rows(process)
    prints(process, "csv", len(rows) == 6 and all(None not in row and row["right"] == "true" for row in rows)
           and [row["algorithm"] for row in rows[:3]] == ["MPI_Allreduce", "auto", "recursive_doubling"])
    process = bench(2, "coll --op bcast --alg binomial --bytes 8 --repetitions 2")
    prints(process, "the table", "MPI_Bcast" in process.stdout and "binomial" in process.stdout
           and "nan" not in process.stdout)


def test_plot():
    draws("coll --op reduce_scatter --alg auto,pairwise --bytes 8..1k --repetitions 2", ("pairwise", "reduce_scatter"))


def test_errors():
    """Errors: one line on stderr, nothing on stdout, exit status 2."""
    for args in ("--op scan", "--alg no_such", "--alg dpml(l=0)", "--alg dpml(x=1)", "--bytes 9..8", "--bytes x",
                 "--bytes 8G", "--factor 1", "--element half", "--root 7", "--root -1", "--repetitions 0", "--format xml",
                 "--list --dump", "--list --pairs", "--pairs --bytes 5M", "--list --format csv", "--dump", "--dump --alg mpi", "--dump --alg auto",
                 "--dump --alg butterfly --ranks 6", "--dump --alg ring --rank 8", "--dump --alg ring --ranks 4 --nodes 5",
                 "--verify --alg no_such", "--verify --format json", "--plot /no/such/directory/x.svg", "operand",
                 "--coll allreduce:no_such", "--topology nodes:x"):
        refuses(bench(2, "coll " + args), "coll " + args)


def test_help():
    helps(2, "coll", "--verify")


if __name__ == "__main__":
    sys.exit(run(test_help, test_list, test_dump, test_verify, test_errors, test_measurement, test_pairs, test_formats,
                 test_plot))
