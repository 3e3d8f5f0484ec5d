"""Compiles programs that test the language bindings against the library in BUILD, and runs them.

Environment: that of launch.py, and SANITIZE (the sanitizers of the library's build).
"""
import os
import shutil
import subprocess
import tempfile

from launch import BUILD, MPI, ROOT, mpiexec
from tap import must, ok

SANITIZE = os.environ.get("SANITIZE", "")
SCRATCH = tempfile.TemporaryDirectory(prefix="hsumma-bindings-")


def scratch(name):
    return os.path.join(SCRATCH.name, name)


def source(*parts):
    return os.path.join(ROOT, *parts)


def wrapper(name):
    """The path of this MPI's mpicc, mpicxx or mpifort, or None."""
    return shutil.which(f"{name}.{MPI}") or shutil.which(name)


def compiled(what, command, *settings, flags=("-Wall", "-Wextra", "-Wpedantic")):
    """A test: a program compiles without warnings.

    command: compiler, source and extra flags; the program becomes scratch(what)."""
    sanitize = [f"-fsanitize={SANITIZE}"] * bool(SANITIZE)
    line = [*command, *flags, *sanitize, "-I", source("include"), "-I", BUILD, "-o", scratch(what), "-L", BUILD,
            "-lhsumma", f"-Wl,-rpath,{BUILD}"]
    process = subprocess.run(["env", *settings, *line], capture_output=True, text=True, cwd=SCRATCH.name, timeout=120)
    must(process.returncode == 0 and not process.stderr, f"{what} compiles without a warning", " ".join(line),
         process.stderr)


def expanded(name):
    """Expands tests/bindings/NAME.in with fortran/expand.awk; returns the path of the file."""
    with open(scratch(name), "w", encoding="utf-8") as file:
        subprocess.run(["awk", "-f", source("fortran", "expand.awk"), source("tests", "bindings", name + ".in")],
                       stdout=file, check=True)
    return scratch(name)


def launched(ranks, what, *args, settings=()):
    return subprocess.run([*mpiexec(ranks, *settings), scratch(what), *args], capture_output=True, text=True,
                          timeout=120)


def test_same_bits(what, numbers=(1, 2, 4)):
    """A test: `what` prints the same lines as bits.c."""
    for ranks in numbers:
        right, mine = launched(ranks, "bits_c"), launched(ranks, what)
        ok(right.returncode == 0 and mine.returncode == 0 and len(right.stdout.splitlines()) == 60 * ranks
           and right.stdout == mine.stdout, f"{what}: on {ranks} ranks the same bits as in C", right.stderr,
           mine.stderr, *[f"{c} in C, {other}" for c, other in zip(right.stdout.splitlines(), mine.stdout.splitlines())
                          if c != other][:10])


def compile_reference():
    compiled("bits_c", [wrapper("mpicc"), source("tests", "bindings", "bits.c"), "-O2"])
