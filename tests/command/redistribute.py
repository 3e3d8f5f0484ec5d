"""hsumma redistribute: consistency of its figures, its formats, its errors."""
import json
import sys

from command import bench, csv_rows, has_scalapack, helps, positive, prints, refuses, said
from tap import ok, run

MOVE = "redistribute -m 90 -n 70 --from 2x2,mb=8,nb=4,rsrc=1 --to 1x3,checkerboard,i=3,pad=2 --check --reps 3"


def makers():
    return ["hsumma"] + ["ScaLAPACK"] * has_scalapack()


def test_forms():
    helps(2, "redistribute", "--from", "--to", "checkerboard")
    process = bench(4, MOVE)
    prints(process, "a table", "90 x 70 float64, 2x2 in blocks of 8 x 4 -> 1x3" in process.stdout and
           all(f"\n{maker} " in process.stdout for maker in makers()) and "checked" in process.stdout)
    rows = csv_rows(bench(4, MOVE, "--format", "csv"))
    ok([row["maker"] for row in rows] == makers() and float(rows[0]["over"]) == 1, "CSV", rows)
    process = bench(4, MOVE, "--format", "json")
    for found in map(json.loads, process.stdout.splitlines()):
        good = 0 < found["min_s"] <= found["median_s"] <= found["max_s"] and positive(found["bytes_per_s"])
        ok(good and abs(found["bytes_per_s"] * found["median_s"] - 90 * 70 * 8) < 1 and
           found["over_min"] <= found["over"] <= found["over_max"], f"JSON of {found['maker']}", *said(process))


def test_alone():
    for args, reason in [("--alone", ""), ("--to 2x2,rsrc=-1", "rsrc or csrc"), ("--from 2x2,imb=3", "imb = mb")]:
        process = bench(4, f"redistribute -m 64 --reps 2 --check {args}")
        prints(process, f"{args}: without ScaLAPACK", "\nScaLAPACK " not in process.stdout and
               (reason in process.stdout or "without it" in process.stdout))
    process = bench(4, "redistribute -m 64 --reps 1 --check --from 2x2,imb=128 --format csv")
    ok([row["maker"] for row in csv_rows(process)] == makers(), "a first block of the default size is compared", *said(process))
    prints(bench(2, "redistribute -m 0 --reps 1 --check"), "nothing to move")
    prints(bench(3, "redistribute -m 50 --type c --from 1x1 --to 3x1 --workspace-limit 4k --check"), "many rounds")


def test_wrong():
    for args, words in [("--from 3x3", "--from 3x3"), ("--to 2", "--to 2:"), ("--to 2x2,mb=0", "mb nb imb inb at least 1"),
                        ("--from 2x2,rsrc=2", "rsrc is 2, csrc is 0; expected less than 2 and 2"),
                        ("--from 4x4", "needs 16 ranks, there are 4"), ("--type q", "s, d, c, z, float32"), ("more", "unexpected operand"),
                        ("--from 2x2,m=10", "A has 10 rows"), ("--workspace-limit 8", "workspace_limit allows 8")]:
        refuses(bench(4, "redistribute -m 64 --reps 1 " + args), args, words)


if __name__ == "__main__":
    sys.exit(run(test_forms, test_alone, test_wrong))
