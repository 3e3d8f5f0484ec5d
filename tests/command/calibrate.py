"""TAP: "hsumma_bench calibrate": a profile of the running job, in ranges that physics allows, which contexts read; where
it is written, and that it is written whole or not at all; errors.

Environment: that of launch.py. Times are looked at for their ranges only.
"""
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

from command import BENCH, bench, refuses, said
from launch import mpiexec
from tap import done, ok

FORM = ["--quick", "--seconds", "2"]

# What a figure may be on any machine that this century has built, also under load and a sanitizer.
RANGES = {"alpha_s": (0, 1), "beta_s_per_byte": (0, 1e-4), "rendezvous_alpha_s": (0, 1),
          "rendezvous_beta_s_per_byte": (0, 1e-4), "inject_s_per_byte": (0, 1e-4), "signal_s": (1e-9, 1),
          "copy_s_per_byte": (1e-13, 1e-6), "gamma_s_per_byte": (1e-13, 1e-6), "overlap": (0, 1),
          "flop_s": (1e-15, 1e-6), "c_s": (0, 1e-3), "ab_s": (0, 1e-3), "call_s": (0, 1), "knee": (96, 768),
          "threads": (1, 4096), "slice": (1e6, 1e12)}


def read(path):
    with open(path) as file:
        return file.read()


def values_of(text):
    """The profile's numbers by name, and the measured lines."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    plain = {words[0]: float(words[1]) for words in lines
             if len(words) == 2 and words[0] != "end" and not words[0].startswith("measured.")}
    return plain, [words for words in lines if words[0].startswith("measured.")]


def out_of_range(values):
    bad = []
    for name, value in values.items():
        least, most = RANGES.get(name.split(".")[-1], (0, math.inf))
        if not least <= value <= most:
            bad.append(f"{name} = {value}")
    return bad


def taken(path, settings=None):
    """Whether a program that finds the file plans by it; and the program's process."""
    process = bench(0, "gemm", "-m", "64", "--reps", "1", settings=settings or [f"HSUMMA_PROFILE={path}"])
    return process.returncode == 0 and f"; profile: {path}, " in process.stdout, process


def test_run(ranks, nodes, scratch):
    """One job: the file, the report about it."""
    path = os.path.join(scratch, f"profile {ranks}.{nodes}")
    process = bench(ranks, "calibrate", *FORM, "-o", path, "--topology", f"nodes:{nodes}", "--format", "json")
    good = ok(process.returncode == 0 and not process.stderr and os.path.exists(path),
              f"{ranks} ranks on {nodes} nodes: calibrate", *said(process))
    if not good:
        return None
    text = read(path)
    values, measured = values_of(text)
    bad = out_of_range(values)
    ok(text.startswith("hsumma profile 1\n") and text.endswith("\nend\n") and values and not bad,
       "  a profile, in ranges of physics", bad, text)
    ok(all(float(words[-1]) > 0 and all(float(word) >= 0 for word in words[1:] if word not in ("double", "float"))
           for words in measured), "  every measured time is positive", text)
    kinds = {words[0] for words in measured}
    expected = {"measured.gemm", "measured.copy", "measured.sum"}
    expected |= {"measured.exchange"} if ranks > 1 else set()
    expected |= {"measured.pairs.network", "measured.stream.network", "measured.overlap.both"} if nodes > 1 else set()
    expected |= {"measured.pairs.node", "measured.shared", "measured.signal"} if ranks > nodes else set()
    ok(kinds - {"measured.pairs.socket", "measured.overlap.messages", "measured.overlap.gemm"} == expected,
       "  what there is was measured, and nothing else", kinds, expected)
    report = json.loads(process.stdout)
    ok(report["ranks"] == ranks and report["nodes"] == nodes and report["file"] == path
       and report["profile"]["gemm_double"]["flop_s"] == values["gemm.double.flop_s"]
       and report["profile"]["network"]["alpha_s"] == values["network.alpha_s"]
       and len(report["measured"]) == len(measured)
       and (report["relative_errors"]["network"] is not None) == (nodes > 1)
       and 0 <= report["relative_errors"]["gemm double"]["median"] <= report["relative_errors"]["gemm double"]["worst"],
       "  the report says the same", process.stdout)
    pairs = {(int(words[1]), int(words[2])): float(words[3]) for words in measured
             if words[0] == ("measured.pairs.network" if nodes > 1 else "measured.pairs.node")}
    ok(ranks == 1 or {n for n, _ in pairs} >= {1, ranks // 2}, "  one pair alone, and all at once", pairs)
    good, process = taken(path)
    ok(good, "  contexts take it", *said(process))
    return values


def test_built_in(scratch, values):
    """What could not be measured stays as it is built in: a file that says nothing is the built-in profile."""
    values_alone, _ = values_of(read(os.path.join(scratch, "profile 1.1")))
    same = [name for name in values_alone if name.startswith(("network.", "node.", "shm.", "signal"))]
    two, _ = values_of(read(os.path.join(scratch, "profile 2.1")))
    ok(all(values_alone[name] == two[name] for name in same if name.startswith("network."))
       and values_alone["node.alpha_s"] != two["node.alpha_s"] and values["network.alpha_s"] != two["network.alpha_s"],
       "what there is nothing of keeps its built-in value", values_alone, two)


def test_places(scratch):
    home = os.path.join(scratch, "home")
    process = bench(0, "calibrate", *FORM, settings=[f"XDG_CONFIG_HOME={home}/new"])
    path = os.path.join(home, "new", "hsumma", "profile")
    ok(process.returncode == 0 and os.path.exists(path) and path in process.stdout and "Gflop/s" in process.stdout
       and "nan" not in process.stdout, "the default place is made, and the table names it", *said(process))
    good, process = taken(path, [f"XDG_CONFIG_HOME={home}/new"])
    ok(good, "  programs find it there", *said(process))
    process = bench(0, "calibrate", *FORM, settings=["-u", "XDG_CONFIG_HOME", "-u", "HOME"])
    ok(process.returncode == 2 and "HOME" in process.stderr and len(process.stderr.splitlines()) == 1,
       "without a home: it asks for -o", *said(process))
    process = bench(1, "calibrate", *FORM, "-o", "-")
    target = os.path.join(scratch, "from stdout")
    with open(target, "w") as file:
        file.write(process.stdout)
    ok(process.returncode == 0 and process.stdout.startswith("hsumma profile 1\n")
       and process.stdout.endswith("\nend\n") and taken(target)[0], "-o -: the profile alone",
       *said(process))
    damaged = os.path.join(scratch, "damaged")
    with open(damaged, "w") as file:
        file.write("hsumma profile 1\nnonsense\n")
    before, gemm = taken(damaged)
    process = bench(0, "calibrate", *FORM, "-o", damaged, settings=[f"HSUMMA_PROFILE={damaged}"])
    ok(not before and process.returncode == 0 and taken(damaged)[0], "a damaged profile that is in use is replaced",
       *said(gemm), *said(process))
    ok(not [name for name in os.listdir(scratch) if name.startswith(".")], "no temporary file is left")


def test_killed(scratch):
    """Nothing of a run that did not come to its end, and what was there stays."""
    folder = os.path.join(scratch, "killed")
    os.mkdir(folder)
    old = os.path.join(folder, "old")
    with open(old, "w") as file:
        file.write("something\n")
    for name in ("new", "old"):
        process = subprocess.Popen([*mpiexec(2), BENCH, "calibrate", "--seconds", "60", "-o", os.path.join(folder, name)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        running = process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        ok(running and os.listdir(folder) == ["old"] and read(old) == "something\n",
           f"killed: {'what was there stays' if name == 'old' else 'no file'}", os.listdir(folder))


def test_errors(scratch):
    """One line on stderr, nothing on stdout, exit code 2, and at once."""
    folder = os.path.join(scratch, "folder")
    os.mkdir(folder)
    for args, word in ((["-o", "/no/such/directory/profile"], "/no/such/directory"), (["-o", folder], "directory"),
                       (["-o", "/dev/null"], "plain file"), (["-o", ""], "-o"), (["-o", folder + "/"], "file"),
                       (["-o", os.path.join(folder, "x" * 300)], "too long"), (["-o", "x" * 5000], "long"),
                       (["--seconds", "0"], "1 to 3600"), (["--seconds", "x"], "1 to 3600"),
                       (["--seconds", "1e9"], "1 to 3600"), (["--format", "csv"], "table or json"), (["operand"], "operand"),
                       (["--no-such-option"], "no-such-option"), (["--topology", "nodes:x"], "topology")):
        refuses(bench(2, "calibrate", "-o", "-", *args), "calibrate " + " ".join(args)[:60], word)
    ok(not os.listdir(folder), "  and nothing is left behind")


def main():
    process = bench(2, "calibrate", "--help")
    ok(process.returncode == 0 and process.stdout.count("Usage") == 1 and "--quick" in process.stdout
       and not process.stderr, "--help prints once", *said(process))
    with tempfile.TemporaryDirectory() as scratch:
        test_errors(scratch)
        runs = [test_run(ranks, nodes, scratch) for ranks, nodes in ((1, 1), (2, 1), (4, 2))]
        if all(runs):
            test_built_in(scratch, runs[-1])
        test_places(scratch)
        test_killed(scratch)
    return done()


if __name__ == "__main__":
    sys.exit(main())
