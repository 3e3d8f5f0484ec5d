"""TAP: "hsumma tune": measures products and collectives, writes the file, and later runs use it.

Environment: that of launch.py. Only the format of times is checked.
"""
import os
import re
import sys
import tempfile

from command import bench, csv_rows, helps, prints, read, refuses, said, write
from tap import ok, run

OPS = ["bcast", "reduce", "allreduce", "allgather", "reduce_scatter"]
ROW = re.compile(r"^(chosen|rival) +([\d.]+|-) +([\d.]+|-)  (\S.*)$", re.M)
POINT = re.compile(r"^ +(\d+)  (\S+) +([\d.]+)  (\S+) +([\d.]+|-)  (\S+) +([\d.]+|-)(?:  +(-?[\d.]+))?$", re.M)


def lines_of(path):
    return (read(path) or "").splitlines()


def test_product(scratch):
    """The printed table, the file, and a later plan that uses the file."""
    path, shape = os.path.join(scratch, "new", "tuned"), "-m 120 -n 100 -k 80 --nb 16"
    process = bench(2, "tune " + shape, "-o", path)
    rows, lines = ROW.findall(process.stdout), lines_of(path)
    prints(process, "tune: the chosen plan and its rivals",
           len(rows) > 1 and rows[0][0] == "chosen" and all(row[0] == "rival" for row in rows[1:]))
    chosen = rows[0] if rows else ("", "0", "0", "")
    ok(all(float(row[2]) > 0 for row in rows) and sum(row[1] != "-" for row in rows) > 1 and
       all(row[1] == "-" or float(row[1]) >= 0.97 * float(chosen[1]) for row in rows), "  predicted and measured times",
       process.stdout)
    good = (len(lines) == 2 and lines[0] == "hsumma tuned 2" and lines[1].startswith("gemm d,NN,120x100x80,1x2,")
            and lines[1].split(" ", 3)[3] == chosen[3])
    ok(good and path in process.stdout, "  a new file, in a new directory, with its line", lines, process.stdout)
    ok(good and abs(float(lines[1].split()[2]) * 1e3 - float(chosen[1])) < 1e-3, "  and its time", lines, chosen)

    process = bench(2, f"gemm {shape} --reps 1", "--tuned", path)
    ok(process.returncode == 0 and chosen[3] in process.stdout and "stationary: tuned file" in process.stdout,
       "gemm --tuned takes it", *said(process))
    for words in ("--tune off", "--lookahead 0", "--guard messages"):  # --lookahead fixes the plan
        process = bench(2, f"gemm {shape} --reps 1 {words}", "--tuned", path)
        ok(process.returncode == 0 and "tuned file" not in process.stdout, f"  not with {words}", *said(process))

    process = bench(2, "tune " + shape, "-o", path)
    ok(process.returncode == 0 and len(lines_of(path)) == 2 and len(ROW.findall(process.stdout)) == len(rows),
       "tune again: measured anew, one line", *said(process), lines_of(path))


def test_places(scratch):
    """The places of the file if -o is not given."""
    for setting, place in (("XDG_CONFIG_HOME", "config/hsumma/tuned"), ("HSUMMA_TUNED", "named")):
        path = os.path.join(scratch, place)
        process = bench(2, "tune -m 64 --nb 16", settings=[f"{setting}={path.removesuffix('/hsumma/tuned')}"])
        ok(process.returncode == 0 and len(lines_of(path)) == 2 and path in process.stdout, f"the place by {setting}",
           *said(process))


def test_cases(scratch):
    path = os.path.join(scratch, "with blanks")
    cases = write("# three\n\n-m 64 -n 48 -k 200 --nb 16 --type z --transa C\n-m 60 # another\n--layout-a mb=8\n",
                  scratch, "cases")
    process = bench(3, "tune -m 96 --nb 32 --grid 1x2", "--cases", cases, "-o", path)
    keys = [line.split()[1].split(",layout")[0] for line in lines_of(path)[1:]]
    ok(process.returncode == 0 and [key.split(",")[:4] for key in keys] ==
       [["z", "CN", "64x48x200", "1x2"], ["d", "NN", "60x60x60", "1x2"], ["d", "NN", "96x96x96", "1x2"]],
       "--cases: each with its own words and those of the command line; a rank outside the grid", *said(process), keys)
    process = bench(1, "tune -m 64 --nb 16", "-o", path)
    ok(process.returncode == 0 and len(lines_of(path)) == 4 + ("not written" not in process.stdout),
       "one rank; what was there stays", *said(process), lines_of(path))


def overlap(rules):
    """The rules of a collective that are empty, or do not begin just after the end of the rule before them."""
    factor = {"k": 1024, "M": 1 << 20}
    at, bad = None, []
    for rule in rules:
        ends = [float("inf") if end == "inf" else int(end.rstrip("kM")) * factor.get(end[-1], 1)
                for end in rule[3].split("-")]
        if (at is not None and ends[0] != at + 1) or ends[1] < ends[0]:
            bad.append(" ".join(rule))
        at = ends[1]
    return bad


def collectives(scratch, ranks, nodes):
    path, options = os.path.join(scratch, f"coll-{ranks}"), f"--topology nodes:{nodes}" if nodes > 1 else ""
    process = bench(ranks, f"tune --coll --sizes 8-128k --seconds 4 {options}", "-o", path)
    rules = [line.split() for line in lines_of(path)[1:]]
    points = POINT.findall(process.stdout)
    prints(process, f"{ranks} ranks: tune --coll {options}: rules and tables for all",
           {rule[0] for rule in rules} == set(OPS)
           and [re.findall(rf"^{op}$", process.stdout, re.M) for op in OPS] == [[op] for op in OPS], rules)
    ok(all(len(rule) == 5 and rule[1:3] == [str(ranks), str(nodes)] for rule in rules), "  for these ranks and nodes", rules)
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
        report = bench(ranks, f"coll --op {op} --alg auto --bytes 8..128k --repetitions 1 --format csv {options}",
                       "--tuned", path)
        wrong += said(report) if report.returncode else []
        chosen = {int(row["bytes"]): row["note"] for row in csv_rows(report)}
        for size, word in table.get(op, []):  # parameters that the file leaves open are completed by the profile
            name, given = re.fullmatch(r"([^(]*)(?:\((.*)\))?", word).groups()
            found = re.search(rf" {name}(?:\(([^)]*)\))?, by the tuned file", chosen.get(size, ""))
            if not found or not (found[1] or "").startswith(given or ""):
                wrong.append(f"{op} {size}: {word}: {chosen.get(size)}")
    ok(not wrong, "  a context with the file uses these words, at these sizes", wrong[:8])


def test_collectives(scratch):
    collectives(scratch, 2, 1)
    collectives(scratch, 3, 2)


def test_products_by_rules(scratch):
    """Plans by messages use rules of the tuned file for their lines of processes."""
    path = os.path.join(scratch, "rules")
    process = bench(2, "tune --coll bcast reduce --sizes 64-64k --seconds 2 --shared 0", "-o", path)
    rules = [line for line in lines_of(path) if line.startswith(("bcast 2 ", "reduce 2 "))]
    ok(process.returncode == 0 and len(rules) >= 2, "tune --coll without shared memory", *said(process), lines_of(path))
    for word in ("flat", "binary_tree"):  # independent of which was the fastest above
        write(f"hsumma tuned 2\nbcast 2 1 * {word}\n", path)
        process = bench(2, "gemm -m 64 --nb 32 --node messages --stationary C --reps 1", "--tuned", path)
        found = re.search(r" bcast=(\S+)", process.stdout)
        ok(process.returncode == 0 and "bcast: rules for collectives" in process.stdout and found
           and found.group(1) == word, f"  a product by messages uses such a rule: {word}", *said(process))


def test_errors(scratch):
    directory, unused = os.path.join(scratch, "directory"), os.path.join(scratch, "unused")
    os.mkdir(directory)
    damaged = write("this is no tuned file\n", scratch, "damaged")
    cases = write("-m 64\n-m 64 --reps 3\n", scratch, "bad-cases")
    for args in ("-m x", "operand", "--reps 3", "--format json", "--check", "--cases /no/such/file", f"--cases {cases}",
                 "--coll scan", "--coll=scan", "--coll --sizes 8", "--coll --sizes 9-8", "--coll --seconds 0",
                 f"--coll --cases {cases}", "-o none", "--grid 5x5", f"-m 64 -o {damaged}", f"-m 64 -o {directory}",
                 f"-m 64 -o {damaged}/x"):
        refuses(bench(2, f"tune -o {unused} {args}"), "tune " + args)
    refuses(bench(2, "tune", "-o", ""), "tune -o with nothing")
    process = bench(2, "tune --coll bcast --sizes 8-8", "-o", damaged)
    ok(process.returncode != 0 and "tuned" in process.stderr and lines_of(damaged) == ["this is no tuned file"],
       "--coll into a file that is none: refused, left alone", *said(process))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        helps(2, "tune", "--coll")
        return run(test_product, test_places, test_cases, test_collectives, test_products_by_rules, test_errors,
                   args=[scratch])


if __name__ == "__main__":
    sys.exit(main())
