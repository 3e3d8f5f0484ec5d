"""hsumma soak: correct runs pass and repeat exactly, planted faults are found, a failing case can be repeated alone."""
import os
import re
import signal
import subprocess
import sys

from command import BENCH, bench, helps, object_of, refuses, said
from launch import mpiexec
from ranks import marked, ranks_of, wait_for
from tap import must, ok, run, skip

KINDS = ["contexts", "grids", "plans", "products", "collectives", "redistributions", "allocations"]


def soak(ranks, line, code=0, **more):
    """Runs soak; returns its JSON object."""
    process = bench(ranks, f"soak --format json {line}", **more)
    found = object_of(process)
    must(process.returncode == code and found is not None and (code or not process.stderr), f"{ranks} ranks: soak {line}",
         *said(process))
    return found


def test_help():
    helps(1, "soak", "--hours", "--seed", "--plant")


def test_pass():
    cases = 40 if os.environ.get("SANITIZE") else 60  # of 40 no growth is seen: a sanitizer keeps freed memory
    first, again = (soak(4, f"--cases {cases} --seed 1") for _ in range(2))
    ok(first["cases"] == cases and all(first[kind] >= cases for kind in KINDS) and first["refused"] < first["plans"] / 5,
       "all kinds of work are done", first)
    ok(all(first[kind] == again[kind] for kind in KINDS), "the same seed gives the same cases", first, again)
    ok(soak(2, "--cases 30 --seed 2")["products"] != soak(2, "--cases 30 --seed 3")["products"],
       "another seed gives others")
    found = soak(8, "--minutes 0.03 --seed 4")
    ok(found["seconds"] >= 1.8 and found["cases"] >= 1, "--minutes", found)
    found = soak(1, "--cases 3")
    ok(found["result"] == "all cases passed; too few to see growth", "a run that is too short to see growth says so", found)


def test_growth():
    if os.environ.get("SANITIZE"):
        skip("growth", "the sanitizer replaces malloc, and keeps freed memory")
        return
    for fault, name, least in [("descriptor", "descriptors", 20), ("mapping", "mappings", 20), ("memory", "heap in use", 0.5)]:
        found = soak(2, f"--cases 100 --seed 5 --plant {fault}", code=1)
        grown = {row["name"]: row["growth"] for row in found["watched"]}
        others = [other for other in ("descriptors", "mappings") if other != name]
        ok(found["result"] == "failed: growth" and grown[name] > least and all(grown[other] < 12 for other in others),
           f"a leak is found: {fault}", found)


def test_result():
    process = bench(3, "soak --cases 50 --seed 7 --plant result")
    command = re.search(r"mpiexec -n 3 hsumma (soak --seed 7 --first \d+ --cases 1) and the same other options\n", process.stderr)
    must(process.returncode == 1 and "C is wrong" in process.stderr and command, "a wrong result ends the run", *said(process))
    again = bench(3, command[1] + " --plant result")
    ok(again.stderr == process.stderr, "the command in the message repeats the case", *said(process), *said(again))
    ok(bench(3, command[1]).returncode == 0, "and passes without the fault")


def test_crash():
    mark = marked()
    process = subprocess.Popen([*mpiexec(2, mark), BENCH, "soak", "--hours", "1", "--seed", "8"], text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for(lambda: len(ranks_of(mark)) == 2 and all(ranks_of(mark).values()))
    for rank in list(ranks_of(mark))[:1]:
        os.kill(rank, signal.SIGALRM)  # what the time limit of a case sends
    try:
        text = process.communicate(timeout=600)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        text = process.communicate()[1]
    ok(process.returncode not in (0, -signal.SIGKILL) and
       re.search(r"case \d+ crashed.* on rank [01]; to repeat: mpiexec -n 2 hsumma soak --seed 8 --first", text),
       "a case that hangs or crashes is named", process.returncode, text)


def test_wrong():
    for args, words in [("--hours 1 --cases 2", "at most one"), ("--cases 0", "--cases 0"), ("--plant nothing", "descriptor"),
                        ("more", "unexpected operand"), ("--hours 0", "a number above 0")]:
        refuses(bench(2, "soak " + args), args, words)


if __name__ == "__main__":
    sys.exit(run(test_help, test_pass, test_growth, test_result, test_crash, test_wrong))
