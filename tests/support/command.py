"""The command hsumma for the Python tests: runs it, reads its output, checks refused arguments.

Environment: that of launch.py.
"""
import contextlib
import csv
import functools
import io
import json
import math
import os
import re
import shutil
import subprocess
import tempfile

from launch import BUILD, mpiexec
from tap import must, ok, skip

BENCH = os.path.join(BUILD, "hsumma")
# Without the library's own variables, so that the user's files do not count.
PLAIN = {**{key: value for key, value in os.environ.items() if not key.startswith("HSUMMA_")}, "HSUMMA_PROFILE": "builtin",
         "HSUMMA_PROGRESS": "off", "XDG_CONFIG_HOME": os.path.join(os.devnull, "none")}


def bench(ranks, line, *args, settings=(), path=None, env=None):
    """Runs "hsumma LINE ARGS" and returns the finished process; LINE is split at blanks. ranks = 0: without mpiexec.

    settings: NAME=VALUE of its environment; path: its PATH."""
    launch = mpiexec(ranks, *settings) if ranks else ["/usr/bin/env", *settings]
    if path is not None:
        launch += [f"PATH={path}"]
    return subprocess.run([*launch, BENCH, *line.split(), *map(str, args)], capture_output=True, text=True, timeout=300,
                          env=env)


def said(process):
    return [f"exit code {process.returncode}", process.stdout, process.stderr]


def prints(process, name, good=True, *remarks):
    """A test: the run succeeds with an empty stderr, and `good` holds."""
    return ok(process.returncode == 0 and not process.stderr and good, name, *remarks, *said(process))


def report_of(ranks, line, *args, code=0, env=None):
    """Runs hsumma with --format json; returns the JSON object.

    If there is none, the exit status is not `code`, or stderr is not empty, the test function ends here."""
    process = bench(ranks, line, *args, "--format", "json", env=env)
    found = object_of(process)
    must(process.returncode == code and found is not None and not process.stderr,
         f"{ranks} ranks: {' '.join([line, *map(str, args)])}", *said(process))
    return found


def explain(line="", *args):
    """The JSON object of explain, with the environment PLAIN."""
    return report_of(0, "explain " + line, *args, env=PLAIN)


def table(line="", *args):
    """Runs explain as explain() does, with its usual output, a table; returns the process."""
    return bench(0, "explain " + line, *args, env=PLAIN)


def commands():
    """The names of the commands."""
    return re.findall(r"^  ([a-z]\w*) +\S", bench(0, "--help").stdout.split("hsumma COMMAND --help")[0], re.MULTILINE)


@functools.cache
def has_scalapack():
    return "with ScaLAPACK" in bench(0, "--version").stdout


def helps(ranks, command, *words):
    process = bench(ranks, f"{command} --help")
    prints(process, f"{command} --help prints once", process.stdout.count("Usage") == 1 and
           all(word in process.stdout for word in words))


def words_of(plan):
    """The options of a plan's line: {option: value}."""
    return dict(word.split("=", 1) for word in plan.split() if "=" in word)


def options_of(plan):
    """A plan's line as arguments of a command."""
    return " ".join(f"--{option.replace('_', '-')} {word}" for option, word in words_of(plan).items())


def object_of(process):
    """The JSON object that a process printed, or None."""
    try:
        return json.loads(process.stdout)
    except ValueError:
        return None


def csv_rows(process):
    """The rows of the CSV that a process printed."""
    return list(csv.DictReader(io.StringIO(process.stdout)))


def number(value, least=0):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= least


def positive(value):
    return number(value) and value > 0


def refuses(process, name, *words, head="hsumma: ", lines=1):
    """A test: exit status 2, nothing on stdout, and on stderr `lines` lines that begin with `head`, and all words."""
    said_so = process.stderr.splitlines()
    ok(process.returncode == 2 and len(said_so) == lines and all(line.startswith(head) for line in said_so)
       and not process.stdout and all(word in process.stderr for word in words), f"refused: {name}", *said(process))


def draws(line, words):
    """Tests: --plot on four ranks makes a drawing with these words; without gnuplot in the PATH, --plot is refused."""
    with tempfile.TemporaryDirectory() as scratch:
        drawing = os.path.join(scratch, "it's a plot.svg")
        if shutil.which("gnuplot"):
            process = bench(4, line, "--plot", drawing)
            text = read(drawing) or ""
            prints(process, f"{line} --plot draws", "<svg" in text and "</svg>" in text and
                   all(word in text for word in words), text[-3000:])
        else:
            skip(f"{line} --plot", "no gnuplot")
        if os.path.exists(drawing):
            os.remove(drawing)
        refuses(bench(2, line, "--plot", drawing, path=scratch), f"{line} --plot without gnuplot", "gnuplot")
        ok(not os.path.exists(drawing), "  and nothing is drawn")


@contextlib.contextmanager
def small_disk(path):
    """Mounts a file system of 32 KiB at a new folder; the value: whether that was possible."""
    os.mkdir(path)
    mounted = os.geteuid() == 0 and shutil.which("mount") and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", path], capture_output=True).returncode
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", path])


def write(text, *path):
    """Writes the text to a new file; returns its path."""
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(text)
    return file.name


def read(*path):
    """The contents of a file; None if it does not exist."""
    try:
        with open(os.path.join(*path), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None
