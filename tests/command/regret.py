"""hsumma regret: its candidates, consistency of its figures, its file of cases."""
import json
import sys
import tempfile

from command import bench, prints, refuses, said, words_of, write
from tap import must, ok, run

CASES = """# a comment

-m 96   --nb 16     # another
-m 64 -n 48 -k 200 --nb 16 --type z --transa C --layout-b mb=24
"""
TEXTS = ["-m 96 --nb 16", "-m 64 -n 48 -k 200 --nb 16 --type z --transa C --layout-b mb=24"]


def objects(line, *args):
    """The JSON objects on the lines of a run."""
    process = bench(2, "regret --format json " + line, *args)
    must(prints(process, "prints objects", process.stdout), "  to be looked at")
    return [json.loads(text) for text in process.stdout.splitlines()]


MARKS = {"la": "lookahead", "b": "block"}


def forced(candidate):
    """Whether a candidate's plan agrees with the options in its name."""
    found, parts = words_of(candidate["plan"]), candidate["name"].split("/")
    good = found["stationary"] == parts[0] and candidate["node"] == parts[1]
    for mark, option in MARKS.items():
        for part in parts[2:]:
            value = part[len(mark):]
            if part.startswith(mark) and value.isdigit() and option in found:
                good &= int(found[option]) <= int(value)  # the plan's width is at most the requested one
                good &= option != "lookahead" or found[option] == value
    return good


def check_case(found, reps, measure):
    """Checks one object: candidates, finalists, verdicts."""
    lines = [candidate["plan"] for candidate in found["candidates"]]
    names = [candidate["name"] for candidate in found["candidates"]]
    ok(0 < len(lines) <= 40 and len(set(lines)) == len(lines) and len(set(names)) == len(names),
       f"  at most 40 candidates, none twice ({len(lines)})", lines)
    ok(all(map(forced, found["candidates"])) and {words_of(line)["stationary"] for line in lines} == set("ABC"),
       "  their plans are what their names say", *zip(names, lines))
    ok(all(x["shortest_s"] > 0 and x["predicted_s"] > 0 and x["turns"] > 0 and x["comm_s"] >= 0
           for x in found["candidates"] + found["final"]), "  times and predictions")
    final = {x["name"]: x for x in found["final"]}
    automatic = final["automatic"]
    ok(1 < len(final) <= 4 + measure and all(x["min_s"] <= x["median_s"] <= x["max_s"] for x in final.values())
       and automatic["in_set"] == (automatic["plan"] in lines), "  the final", final)
    if not measure:  # finalists: the choice, and the three other candidates with the shortest time before the final
        best = sorted((x for x in found["candidates"] if x["plan"] != automatic["plan"]), key=lambda x: x["shortest_s"])
        ok(set(final) == {"automatic", *(x["name"] for x in best[:3])}, "  has the best three", final, best[:3])
    for which in ["estimate"] + ["measure"] * measure:
        check_verdict(found[which], final, which)
    ok(found["seconds"] > 0 and found["reps"] == reps and found["calls"] >= 1, "  what it took", found["seconds"])


def check_verdict(verdict, final, which):
    others = [x for x in final.values() if x["in_set"] and x["name"] != verdict["name"]]
    best = min(others, key=lambda x: x["median_s"])
    ok(verdict["best"] == best["name"] and verdict["best_plan"] == best["plan"], f"  {which}: against the best",
       verdict)
    ok(0 < verdict["ratio_lower"] <= verdict["ratio"] <= verdict["ratio_upper"] and
       abs(verdict["regret"] - verdict["ratio"] + 1) < 1e-4 and verdict["loss"] == (verdict["ratio_lower"] > 1),
       f"  {which}: ratio {verdict['ratio']:.2f}, regret, loss", verdict)
    if which == "measure":
        ok(0 < verdict["executions"] <= 64 and verdict["tuning_s"] > 0, "  measure: executions", verdict)


def test_cases(directory):
    path = write(CASES, directory, "cases")
    found = objects("--reps 3", "--cases", path)
    ok([one["case"] for one in found] == TEXTS and [one["line"] for one in found] == [3, 4] and
       [one["type"] for one in found] == ["d", "z"] and found[1]["layout"]["b"]["mb"] == 24, "  the cases", found)
    for one in found:
        check_case(one, 3, False)
    blocks = {words_of(x["plan"])["block"] for x in found[1]["candidates"] if x["node"] == "shared"}
    ok("192" in blocks and len(blocks) > 1, "  several blocks, of k = 200", blocks)
    found = objects("-m 60 --nb 16 --measure --reps 3 --sweep-reps 1 --check")
    ok(len(found) == 1 and found[0]["passed"] is True, "  one case, of the command line, checked", found)
    check_case(found[0], 3, True)
    found = objects("-m 64 --nb 8 --node messages --reps 1")
    blocking = found[0]["blocking"]
    ok(all(x["node"] == "messages" for x in found[0]["candidates"]), "  words for all plans", found)
    ok(words_of(blocking["plan"])["lookahead"] == "0" and blocking["median_comm_s"] > 0 and
       blocking["predicted_comm_s"] > 0, "  the blocking plan", blocking)


def test_table(directory):
    path = write(CASES, directory, "cases")
    process = bench(2, "regret --reps 1 --sweep-reps 1", "--cases", path)
    ok(process.returncode == 0 and process.stdout.count("estimate  automatic / ") == 2 and
       "\n2 cases\n" in process.stdout, "a table", process.stdout, process.stderr)
    process = bench(2, "regret --reps 1 --sweep-reps 1 --seconds 0.02", "--cases", path)
    ok(process.returncode == 0 and "\n1 case, 1 skipped: --seconds reached\n" in process.stdout,
       "no case begins too late", process.stdout, process.stderr)


def test_wrong(directory):
    for text, complaint in [("-m 32\n-m 32 --nb x\n", ":2: --nb x"),
                            ("\n\n-m 32 --wrong 1\n", ":3: there is no option"),
                            ("-m 32 --reps 3\n", ":1: --help, --format"), ("-m 32 more", ":1: more: unexpected operand"),
                            ("# nothing\n", "has no case"), ("", "the file is empty"),
                            ("-m 1 " * 40, ":1: expected at most 63")]:
        refuses(bench(2, "regret --cases", write(text, directory, "wrong")), repr(text[:20]), complaint)
    for args, complaint in [(f"--cases {directory}/none", "No such file"), ("--format csv", "table or"),
                            ("--sweep-reps 0", "--sweep-reps 0"), ("--cap 0.5", "--cap 0.5"),
                            ("--seconds 0", "--seconds 0")]:
        refuses(bench(2, "regret " + args), args, complaint)
    process = bench(2, "regret -m 8 --grid 9x9")
    ok(process.returncode == 2 and "--grid 9x9" in process.stderr, "a case that cannot be: refused", *said(process))


def main():
    with tempfile.TemporaryDirectory() as directory:
        return run(test_cases, test_table, test_wrong, args=[directory])


if __name__ == "__main__":
    sys.exit(main())
