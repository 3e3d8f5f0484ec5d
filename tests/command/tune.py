"""TAP: "hsumma_bench tune": products and collectives that are measured ahead, the file, and who uses it afterwards.

Environment: that of launch.py. Times are looked at for their form only.
"""
import os
import re
import sys
import tempfile

from command import bench, csv_rows, said
from tap import done, ok

OPS = ["bcast", "reduce", "allreduce", "allgather", "reduce_scatter"]
ROW = re.compile(r"^(chosen|rival) +([\d.]+|-) +([\d.]+|-)  (\S.*)$", re.M)
POINT = re.compile(r"^ +(\d+)  (\S+) +([\d.]+)  (\S+) +([\d.]+|-)  (\S+) +([\d.]+|-)(?:  +(-?[\d.]+))?$", re.M)


def lines_of(path):
    try:
        with open(path) as file:
            return file.read().splitlines()
    except OSError:
        return []


def words(line):
    return dict(word.split("=", 1) for word in line.split())


def test_product(scratch):
    """The table, the file, and the next plan."""
    path, shape = os.path.join(scratch, "new", "tuned"), ["-m", 120, "-n", 100, "-k", 80, "--nb", 16]
    process = bench(2, "tune", *shape, "-o", path)
    rows, lines = ROW.findall(process.stdout), lines_of(path)
    ok(process.returncode == 0 and not process.stderr and len(rows) > 1 and rows[0][0] == "chosen"
       and all(row[0] == "rival" for row in rows[1:]), "tune: the chosen plan and its rivals", *said(process))
    chosen = rows[0] if rows else ("", "0", "0", "")
    ok(all(float(row[2]) > 0 for row in rows) and sum(row[1] != "-" for row in rows) > 1 and
       all(row[1] == "-" or float(row[1]) >= 0.97 * float(chosen[1]) for row in rows), "  predicted and measured times",
       process.stdout)
    good = (len(lines) == 2 and lines[0] == "hsumma tuned 2" and lines[1].startswith("gemm d,NN,120x100x80,1x2,")
            and lines[1].split(" ", 3)[3] == chosen[3])
    ok(good and path in process.stdout, "  a new file, in a new directory, with its line", lines, process.stdout)
    ok(good and abs(float(lines[1].split()[2]) * 1e3 - float(chosen[1])) < 1e-3, "  and its time", lines, chosen)

    process = bench(2, "gemm", *shape, "--tuned", path, "--reps", 1)
    ok(process.returncode == 0 and chosen[3] in process.stdout and "stationary: tuned file" in process.stdout,
       "gemm --tuned takes it", *said(process))
    process = bench(2, "gemm", *shape, "--tuned", path, "--tune", "off", "--reps", 1)
    ok(process.returncode == 0 and "tuned file" not in process.stdout, "  not with --tune off", *said(process))
    process = bench(2, "gemm", *shape, "--tuned", path, "--reps", 1, "--lookahead", 0)
    ok(process.returncode == 0 and "tuned file" not in process.stdout, "  nor with a word on how", *said(process))

    process = bench(2, "tune", *shape, "-o", path)
    ok(process.returncode == 0 and len(lines_of(path)) == 2 and len(ROW.findall(process.stdout)) == len(rows),
       "tune again: measured anew, one line", *said(process), lines_of(path))


def test_places(scratch):
    """Where the file is, if nobody says."""
    own = os.path.join(scratch, "config", "hsumma", "tuned")
    process = bench(2, "tune", "-m", 64, "--nb", 16, settings=[f"XDG_CONFIG_HOME={scratch}/config"])
    ok(process.returncode == 0 and len(lines_of(own)) == 2 and own in process.stdout, "the user's own file",
       *said(process))
    named = os.path.join(scratch, "named")
    process = bench(2, "tune", "-m", 64, "--nb", 16, settings=[f"HSUMMA_TUNED={named}"])
    ok(process.returncode == 0 and len(lines_of(named)) == 2, "HSUMMA_TUNED", *said(process))


def test_cases(scratch):
    cases, path = os.path.join(scratch, "cases"), os.path.join(scratch, "with blanks")
    with open(cases, "w") as file:
        file.write("# three\n\n-m 64 -n 48 -k 200 --nb 16 --type z --transa C\n-m 60 # another\n--layout-a mb=8\n")
    process = bench(3, "tune", "--cases", cases, "-m", 96, "--nb", 32, "--grid", "1x2", "-o", path)
    keys = [line.split()[1].split(",layout")[0] for line in lines_of(path)[1:]]
    ok(process.returncode == 0 and [key.split(",")[:4] for key in keys] ==
       [["z", "CN", "64x48x200", "1x2"], ["d", "NN", "60x60x60", "1x2"], ["d", "NN", "96x96x96", "1x2"]],
       "--cases: each with its own words and those of the command line; a rank outside the grid", *said(process), keys)
    process = bench(1, "tune", "-m", 64, "--nb", 16, "-o", path)
    ok(process.returncode == 0 and len(lines_of(path)) == 4 + ("not written" not in process.stdout),
       "one rank; what was there stays", *said(process), lines_of(path))


def overlap(rules):
    """Sizes that two rules of a collective claim, or that none between the first and the last does."""
    factor = {"k": 1024, "M": 1 << 20}
    at, bad = None, []
    for rule in rules:
        ends = [float("inf") if end == "inf" else int(end.rstrip("kM")) * factor.get(end[-1], 1)
                for end in rule[3].split("-")]
        if (at is not None and ends[0] != at + 1) or ends[1] < ends[0]:
            bad.append(" ".join(rule))
        at = ends[1]
    return bad


def test_collectives(scratch, ranks, *options):
    path = os.path.join(scratch, f"coll-{ranks}-{len(options)}")
    process = bench(ranks, "tune", "--coll", "--sizes", "8-128k", "--seconds", 4, "-o", path, *options)
    rules = [line.split() for line in lines_of(path)[1:]]
    points = POINT.findall(process.stdout)
    name = " ".join(["tune --coll", *map(str, options)])
    ok(process.returncode == 0 and not process.stderr and {rule[0] for rule in rules} == set(OPS)
       and [re.findall(rf"^{op}$", process.stdout, re.M) for op in OPS] == [[op] for op in OPS],
       f"{ranks} ranks: {name}: rules and tables for all", *said(process), rules)
    nodes = options[-1].split(":")[1] if "nodes:" in " ".join(options) else "1"
    ok(all(len(rule) == 5 and rule[1:3] == [str(ranks), nodes] for rule in rules), "  for these ranks and nodes", rules)
    bad = [text for op in OPS for text in overlap([rule for rule in rules if rule[0] == op])]
    ok(not bad, "  ranges that follow each other", bad, rules)
    asked = [8 * 4**i for i in range(8)]
    sizes = {unit: {max(unit, size // unit * unit) for size in asked} for unit in (8, 8 * ranks)}
    ok(len(points) == 3 * len(sizes[8]) + 2 * len(sizes[8 * ranks]) and all(float(point[2]) > 0 for point in points),
       "  a line for each size", len(points), process.stdout)
    ok(all(point[1] != point[3] for point in points) and
       all(point[4] == "-" or float(point[2]) <= 1.04 * float(point[4]) for point in points),
       "  the chosen word is the fastest but for noise", process.stdout)

    table, op = {}, None
    for line in process.stdout.splitlines():
        op = line if line in OPS else op
        for point in POINT.findall(line):
            table.setdefault(op, []).append((int(point[0]), point[1]))
    wrong = []
    for op in OPS:
        report = bench(ranks, "coll", "--op", op, "--alg", "auto", "--bytes", "8..128k", "--repetitions", 1, "--format",
                       "csv", "--tuned", path, *options)
        wrong += said(report) if report.returncode else []
        chosen = {int(row["bytes"]): row["note"] for row in csv_rows(report)}
        wrong += [f"{op} {size}: {word}: {chosen.get(size)}" for size, word in table.get(op, [])
                  if f" {word}, by the tuned file" not in chosen.get(size, "")]
    ok(not wrong, "  a context with the file uses these words, at these sizes", wrong[:8])
    return rules


def test_products_by_rules(scratch):
    """Plans by messages take words for their lines of processes from the same file."""
    path = os.path.join(scratch, "rules")
    process = bench(2, "tune", "--coll", "bcast", "reduce", "--sizes", "64-64k", "--seconds", 2, "--shared", 0, "-o",
                    path)
    rules = [line for line in lines_of(path) if line.startswith(("bcast 2 ", "reduce 2 "))]
    ok(process.returncode == 0 and len(rules) >= 2, "tune --coll without shared memory", *said(process), lines_of(path))
    for word in ("flat", "binary_tree"):  # whichever was the fastest above
        with open(path, "w") as file:
            file.write(f"hsumma tuned 2\nbcast 2 1 * {word}\n")
        process = bench(2, "gemm", "-m", 64, "--nb", 32, "--node", "messages", "--stationary", "C", "--tuned", path,
                        "--reps", 1)
        found = re.search(r" bcast=(\S+)", process.stdout)
        ok(process.returncode == 0 and "bcast: rules for collectives" in process.stdout and found
           and found.group(1) == word, f"  a product by messages uses such a rule: {word}", *said(process))


def test_errors(scratch):
    missing = os.path.join(scratch, "no", "cases")
    damaged, directory = os.path.join(scratch, "damaged"), os.path.join(scratch, "directory")
    cases = os.path.join(scratch, "bad-cases")
    os.mkdir(directory)
    with open(damaged, "w") as file:
        file.write("this is no tuned file\n")
    with open(cases, "w") as file:
        file.write("-m 64\n-m 64 --reps 3\n")
    for args, status in ((["-m", "x"], 2), (["operand"], 2), (["--reps", 3], 2), (["--format", "json"], 2),
                         (["--check"], 2),
                         (["--cases", missing], 2), (["--cases", cases], 2), (["--coll", "scan"], 2),
                         (["--coll=scan"], 2), (["--coll", "--sizes", "8"], 2), (["--coll", "--sizes", "9-8"], 2),
                         (["--coll", "--seconds", 0], 2), (["--coll", "--cases", cases], 2), (["-o", "none"], 2),
                         (["-o", ""], 2), (["-m", 64, "-o", damaged], 2), (["-m", 64, "-o", directory], 2),
                         (["-m", 64, "-o", os.path.join(damaged, "x")], 2), (["--grid", "5x5"], 2)):
        process = bench(2, "tune", *([] if "-o" in args else ["-o", os.path.join(scratch, "unused")]), *args)
        text = process.stderr.splitlines()
        ok(process.returncode == status and len(text) == 1 and text[0].startswith("hsumma_bench: ")
           and not process.stdout,
           "refused: tune " + " ".join(map(str, args)), *said(process))
    process = bench(2, "tune", "--coll", "bcast", "--sizes", "8-8", "-o", damaged)
    ok(process.returncode != 0 and "tuned" in process.stderr and lines_of(damaged) == ["this is no tuned file"],
       "--coll into a file that is none: refused, left alone", *said(process))


def main():
    process = bench(2, "tune", "--help")
    ok(process.returncode == 0 and process.stdout.count("Usage") == 1 and "--coll" in process.stdout
       and not process.stderr, "--help prints once", *said(process))
    with tempfile.TemporaryDirectory() as scratch:
        test_product(scratch)
        test_places(scratch)
        test_cases(scratch)
        test_collectives(scratch, 2)
        test_collectives(scratch, 3, "--topology", "nodes:2")
        test_products_by_rules(scratch)
        test_errors(scratch)
    return done()


if __name__ == "__main__":
    sys.exit(main())
