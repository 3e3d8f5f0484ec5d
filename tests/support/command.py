"""hsumma_bench for the Python tests: a run, what it has printed, arguments that it refuses.

Environment: that of launch.py.
"""
import csv
import io
import json
import math
import os
import subprocess

from launch import BUILD, mpiexec
from tap import ok

BENCH = os.path.join(BUILD, "hsumma_bench")


def bench(ranks, *args, settings=(), path=None, env=None):
    """The finished process; ranks = 0: without mpiexec.  settings: NAME=VALUE for it; path: its PATH."""
    launch = mpiexec(ranks, *settings) if ranks else ["/usr/bin/env", *settings]
    if path is not None:
        launch += [f"PATH={path}"]
    return subprocess.run([*launch, BENCH, *map(str, args)], capture_output=True, text=True, timeout=300, env=env)


def said(process):
    return [f"exit code {process.returncode}", process.stdout, process.stderr]


def object_of(process):
    """The JSON object that it has printed, or None."""
    try:
        return json.loads(process.stdout)
    except ValueError:
        return None


def csv_rows(process):
    """The rows of the CSV that it has printed."""
    return list(csv.DictReader(io.StringIO(process.stdout)))


def number(value, least=0):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= least


def positive(value):
    return number(value) and value > 0


def refuses(process, name, *words, head="hsumma_bench: "):
    """A test: one line on stderr that has these words, nothing on stdout, exit code 2."""
    lines = process.stderr.splitlines()
    ok(process.returncode == 2 and len(lines) == 1 and lines[0].startswith(head) and not process.stdout
       and all(word in lines[0] for word in words), f"refused: {name}", *said(process))
