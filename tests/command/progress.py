"""TAP: progress of the commands on stderr, which under the launcher is no terminal: a long step prints lines without
being asked, -q prints none, and stdout does not change.

Environment: that of launch.py.
"""
import os
import re
import subprocess
import sys
import tempfile
import threading

from command import BENCH, said
from launch import mpiexec
from tap import ok, run

LINE = re.compile(r"^hsumma: .+(, \d+ %)?, \d+ s$", re.MULTILINE)
LONG = "--reps 1000000"
COMMANDS = (f"gemm -m 64 {LONG}", f"sweep -m 64 {LONG}", f"regret -m 64 --sweep-reps 1000 {LONG}", "calibrate -o - --seconds 600",
            "tune --coll --seconds 600 --sizes 1M-64M", "coll --op bcast --alg all --repetitions 100000 --bytes 1M",
            "coll --verify --op allreduce", "explain --grid 64x64 -m 100000 --nodes 64 --timing 100000", "redistribute -m 512 --from 1x2 --to 2x1 --alone --reps 1000000")


def started(scratch, line):
    environment = {key: value for key, value in os.environ.items() if key != "HSUMMA_PROGRESS"}
    environment["XDG_CONFIG_HOME"] = scratch
    return subprocess.Popen([*mpiexec(2), BENCH, *line.split()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            text=True, env=environment)


def test_lines(scratch):
    """Each command runs until it has printed its line."""
    for line in COMMANDS:
        process = started(scratch, line)
        watch = threading.Timer(120, process.terminate)
        watch.start()
        first = process.stderr.readline()
        watch.cancel()
        process.terminate()
        process.communicate()
        ok(LINE.match(first), f"{line.split()[0]}: progress comes", first)


def test_quiet(scratch):
    process = started(scratch, f"gemm -m 64 -q {LONG}")
    try:
        process.wait(6)  # longer than the others need for their first line; a slow machine makes the test easier
    except subprocess.TimeoutExpired:
        process.terminate()
    text = process.communicate()[1]
    ok(not LINE.search(text), "-q: none", text)
    done = subprocess.run([*mpiexec(2), BENCH, "gemm", "-m", "64", "--reps", "1", "-q"], capture_output=True, text=True,
                          timeout=120)
    ok(done.returncode == 0 and "GFLOP/s" in done.stdout and not done.stderr, "  and the report is there", *said(done))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        return run(test_lines, test_quiet, args=[scratch])


if __name__ == "__main__":
    sys.exit(main())
