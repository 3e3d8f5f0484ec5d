"""Functions of all comparison scripts: runs of a program, figures over rounds, Markdown, the command line."""
import argparse
import json
import os
import shlex
import signal
import statistics
import subprocess


class Failed(Exception):
    """A run failed; the text is a one-line reason."""


# --- runs ------------------------------------------------------------------------------------------------------------

def launch(command, ranks, preload=None, mpiexec="mpiexec.mpich", env=None, limit=None):
    """Runs a program on `ranks` ranks; returns (exit status, stdout, first line of stderr).

    A program that runs longer than `limit` seconds is killed with its process group."""
    command = [*mpiexec.split(), "-n", str(ranks), *(["env", f"LD_PRELOAD={preload}"] if preload else []),
               *map(str, command)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                          start_new_session=True) as process:
        try:
            out, said = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            raise Failed(f"stopped after {limit} s: {shlex.join(command)}") from None
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    return process.returncode, out, (said.strip().splitlines() or [f"exit code {process.returncode}"])[0]


def gemm(bench, ranks, *options, **how):
    """Runs `hsumma gemm` and returns its JSON object; fails if a result is wrong."""
    code, out, said = launch([bench, "gemm", "--format", "json", *options], ranks, **how)
    try:
        report = json.loads(out)
    except ValueError:
        raise Failed(said) from None
    wrong = [name for name, one in {report["api"]: report, **report["contenders"]}.items() if not one["passed"]]
    if wrong or code:
        raise Failed("wrong result: " + ", ".join(wrong) if wrong else said)
    return report


def is_crowded(ranks):
    """Whether there are more ranks than cores, so that MPICH's blocking calls cost time slices."""
    return ranks > len(os.sched_getaffinity(0))


def grid_of(ranks):
    """(rows, columns) of the most nearly square grid, with no more rows than columns."""
    rows = max(i for i in range(1, ranks + 1) if i * i <= ranks and ranks % i == 0)
    return rows, ranks // rows


# --- figures ---------------------------------------------------------------------------------------------------------

class Spread:
    """The median and the range of the ratios over[i] / under[i]."""

    def __init__(self, over, under):
        values = [a / b for a, b in zip(over, under)]
        self.median, self.least, self.most = statistics.median(values), min(values), max(values)

    def __str__(self):
        return f"{self.median:.2f} ({self.least:.2f} - {self.most:.2f})"


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


# --- Markdown --------------------------------------------------------------------------------------------------------

def head(*columns, title=None):
    """Prints the head of a table."""
    print((f"\n{title}\n\n" if title else "\n") + f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def line(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


# --- the command line ------------------------------------------------------------------------------------------------

def parser(doc, mpiexec="mpiexec.mpich", **defaults):
    """A parser of the options of all scripts, and of those named by keywords, whose types are those of the defaults."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--build", default="build", help="the build directory (default: build)")
    made.add_argument("--mpiexec", default=mpiexec, help=f"the launcher, with its options (default: {mpiexec})")
    for name, value in defaults.items():
        made.add_argument(f"--{name}", default=value, type=type(value), help=f"(default: {value})")
    return made


def choose(args, usual, quick):
    """Sets options that were not given: to the values of --quick if that was given, else to the usual ones."""
    for key, value in (quick if args.quick else usual).items():
        if getattr(args, key) is None:
            setattr(args, key, value)


def check_names(made, option, given, known):
    for unknown in set(given) - set(known):
        made.error(f"--{option} {unknown}: expected one or more of {', '.join(known)}, with commas between")


def find(made, *paths):
    """The absolute paths of files; exits with a message if one has not been built. None stays None."""
    for path in paths:
        if path and not os.path.exists(path):
            made.error(f"{path} does not exist; run make everything, or give --build DIR")
    return [path and os.path.abspath(path) for path in paths]
