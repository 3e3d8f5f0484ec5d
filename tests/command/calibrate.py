"""TAP: "hsumma calibrate": the profile of the running job has physically possible values, and contexts read it; the file
is written to the right place, as a whole or not at all; errors.

Environment: that of launch.py. Only ranges of times are checked.
"""
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

from command import BENCH, bench, helps, read, refuses, report_of, said, write
from launch import mpiexec
from tap import ok, run

FORM = "calibrate --quick --seconds 2"

# Ranges that contain the values of any current machine, even under load and with sanitizers.
RANGES = {"alpha_s": (0, 1), "beta_s_per_byte": (0, 1e-4), "rendezvous_alpha_s": (0, 1),
          "rendezvous_beta_s_per_byte": (0, 1e-4), "inject_s_per_byte": (0, 1e-4), "signal_s": (1e-9, 1),
          "copy_s_per_byte": (1e-13, 1e-6), "gamma_s_per_byte": (1e-13, 1e-6), "overlap": (0, 1),
          "flop_s": (1e-15, 1e-6), "c_s": (0, 1e-3), "ab_s": (0, 1e-3), "call_s": (0, 1), "knee": (96, 768),
          "threads": (1, 4096), "slice": (1e6, 1e12)}


def values_of(text):
    """(the numbers of a profile by name, the lines of measurements)."""
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
    """(whether a program uses the profile in this file for plans, the program's process)."""
    process = bench(0, "gemm -m 64 --reps 1", settings=settings or [f"HSUMMA_PROFILE={path}"])
    return process.returncode == 0 and f"; profile: {path}, " in process.stdout, process


def calibrated(scratch, ranks, nodes):
    """Runs hsumma calibrate on virtual nodes; checks its report and file, and returns the file's values."""
    path = os.path.join(scratch, f"profile {ranks}.{nodes}")
    report = report_of(ranks, f"{FORM} --topology nodes:{nodes}", "-o", path)
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
    possible = {"measured.pairs.socket", "measured.overlap.messages", "measured.overlap.gemm"}
    possible |= {"measured.read"} if ranks > nodes else set()  # if the system lets ranks read each other's memory
    ok(kinds - possible == expected,
       "  what there is was measured, and nothing else", kinds, expected)
    ok(report["ranks"] == ranks and report["nodes"] == nodes and report["file"] == path
       and report["profile"]["gemm_double"]["flop_s"] == values["gemm.double.flop_s"]
       and report["profile"]["network"]["alpha_s"] == values["network.alpha_s"]
       and len(report["measured"]) == len(measured)
       and (report["relative_errors"]["network"] is not None) == (nodes > 1)
       and 0 <= report["relative_errors"]["gemm double"]["median"] <= report["relative_errors"]["gemm double"]["worst"],
       "  the report says the same", report)
    pairs = {(int(words[1]), int(words[2])): float(words[3]) for words in measured
             if words[0] == ("measured.pairs.network" if nodes > 1 else "measured.pairs.node")}
    ok(ranks == 1 or {n for n, _ in pairs} >= {1, ranks // 2}, "  one pair alone, and all at once", pairs)
    good, process = taken(path)
    ok(good, "  contexts take it", *said(process))
    return values


def test_runs(scratch):
    """Figures that a run cannot measure keep their built-in values, for example those of the network on one node."""
    alone, two, apart = (calibrated(scratch, ranks, nodes) for ranks, nodes in ((1, 1), (2, 1), (4, 2)))
    ok(all(alone[name] == two[name] for name in alone if name.startswith("network."))
       and alone["node.alpha_s"] != two["node.alpha_s"] and apart["network.alpha_s"] != two["network.alpha_s"],
       "what there is nothing of keeps its built-in value", alone, two)


def test_places(scratch):
    home = os.path.join(scratch, "home")
    process = bench(0, FORM, settings=[f"XDG_CONFIG_HOME={home}/new"])
    path = os.path.join(home, "new", "hsumma", "profile")
    ok(process.returncode == 0 and os.path.exists(path) and path in process.stdout and "Gflop/s" in process.stdout
       and "nan" not in process.stdout, "the default place is made, and the table names it", *said(process))
    good, process = taken(path, [f"XDG_CONFIG_HOME={home}/new", "HSUMMA_PROFILE=auto"])
    ok(good, "  programs find it there", *said(process))
    process = bench(0, FORM, settings=["-u", "XDG_CONFIG_HOME", "-u", "HOME"])
    refuses(process, "without a home: it asks for -o", "HOME")
    process = bench(1, FORM, "-o", "-")
    target = write(process.stdout, scratch, "from stdout")
    ok(process.returncode == 0 and process.stdout.startswith("hsumma profile 1\n")
       and process.stdout.endswith("\nend\n") and taken(target)[0], "-o -: the profile alone",
       *said(process))
    damaged = write("hsumma profile 1\nnonsense\n", scratch, "damaged")
    before, gemm = taken(damaged)
    process = bench(0, FORM, "-o", damaged, settings=[f"HSUMMA_PROFILE={damaged}"])
    ok(not before and process.returncode == 0 and taken(damaged)[0], "a damaged profile that is in use is replaced",
       *said(gemm), *said(process))
    ok(not [name for name in os.listdir(scratch) if name.startswith(".")], "no temporary file is left")


def test_killed(scratch):
    """A killed run leaves nothing, and does not change an existing file."""
    folder = os.path.join(scratch, "killed")
    os.mkdir(folder)
    old = write("something\n", folder, "old")
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
    """Errors: one line on stderr, nothing on stdout, exit status 2, without delay."""
    folder = os.path.join(scratch, "folder")
    os.mkdir(folder)
    for args, word in (("-o /no/such/directory/profile", "/no/such/directory"), (f"-o {folder}", "directory"),
                       ("-o /dev/null", "regular file"), (f"-o {folder}/", "file"),
                       (f"-o {folder}/{'x' * 300}", "too long"), (f"-o {'x' * 5000}", "long"), ("--seconds 0", "1 to 3600"),
                       ("--seconds x", "1 to 3600"), ("--seconds 1e9", "1 to 3600"), ("--format csv", "table or json"),
                       ("operand", "operand"), ("--no-such-option", "no-such-option"), ("--topology nodes:x", "topology")):
        refuses(bench(2, "calibrate -o - " + args), "calibrate " + args[:60], word)
    refuses(bench(2, "calibrate", "-o", ""), "calibrate -o with nothing", "-o")
    ok(not os.listdir(folder), "  and nothing is left behind")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        helps(2, "calibrate", "--quick")
        return run(test_errors, test_runs, test_places, test_killed, args=[scratch])


if __name__ == "__main__":
    sys.exit(main())
