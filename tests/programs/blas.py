"""TAP: the installed builds of OpenBLAS and BLIS, each preloaded in place of the linked one: right products, threads set
and restored, users' settings, and the choice between several loaded libraries.

Environment: that of launch.py.
"""
import glob
import os
import re
import subprocess
import sys

from launch import BUILD, mpiexec
from tap import done, ok, skip

PROGRAM = os.path.join(BUILD, "tests", "unit", "product", "threads")
BENCH = os.path.join(BUILD, "hsumma")
MKL = os.path.join(BUILD, "tests", "mkl_threads.so")
VARIABLES = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS")
# For each variant: Debian's directory and library, the library's name, the variables that it reads besides
# OMP_NUM_THREADS.
VARIANTS = [(f"{directory}-{build}", file, name, variables, build)
            for directory, file, name, variables in [
                ("openblas", "libopenblas.so.0", "OpenBLAS", ["OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS"]),
                ("blis", "libblis.so.4", "BLIS", ["BLIS_NUM_THREADS"])]
            for build in ("pthread", "openmp", "serial")]


def launch(ranks, preload, *command, settings=()):
    unset = [part for name in VARIABLES for part in ("-u", name)]
    head = mpiexec(ranks, preload=preload)
    at = head.index("env") + 1
    return subprocess.run([*head[:at], *unset, *head[at:], *settings, *command], capture_output=True, text=True,
                          timeout=60)


def passes(what, ranks, preload, *args, settings=()):
    """A test: unit/product/threads passes with these libraries; its failed tests are printed."""
    process = launch(ranks, preload, PROGRAM, *args, settings=settings)
    failed = [line for line in process.stdout.splitlines() if not line.startswith("ok ")]
    ok(process.returncode == 0 and re.search(r"^1\.\.\d+$", process.stdout, re.M), what,
       f"exit code {process.returncode}", *failed, process.stderr[-2000:])


def test_variant(directory, file, name, variables, build):
    found = glob.glob(f"/usr/lib/*/{directory}/{file}") + glob.glob(f"/usr/lib/{directory}/{file}")
    if not found:
        skip(directory, f"{directory} is not installed")
        return
    library, kind = found[:1], "serial" if build == "serial" else "threads"
    path = [f"LD_LIBRARY_PATH={os.path.dirname(found[0])}"]  # ScaLAPACK's libblas.so.3 must be of the same build
    for ranks in (1, 2):
        passes(f"{directory}: {ranks} ranks, the share of each", ranks, library, name, kind)
    process = launch(2, library, BENCH, "gemm", "-m", "200", "-n", "150", "-k", "170", "--check", "--reps", "1",
                     settings=path)
    ok(process.returncode == 0 and f"{name} thread" in process.stdout, f"{directory}: hsumma, checked",
       process.stdout, process.stderr)
    if build == "serial":
        return
    for variable in [*variables, "OMP_NUM_THREADS"]:
        overlooked = ["overlooked"] * (directory == "openblas-openmp" and variable != "OMP_NUM_THREADS")
        passes(f"{directory}: {variable}=1", 1, library, name, kind, "1", *overlooked, settings=[f"{variable}=1"])
    passes(f"{directory}: OMP_NUM_THREADS without a value", 1, library, name, kind, settings=["OMP_NUM_THREADS="])
    other = "BLIS_NUM_THREADS" if name == "OpenBLAS" else "OPENBLAS_NUM_THREADS"
    passes(f"{directory}: {other}, which it does not read", 1, library, name, kind, settings=[f"{other}=1"])


def main():
    for variant in VARIANTS:
        test_variant(*variant)
    passes("MKL's calls: the share", 1, [MKL], "MKL", "threads")
    passes("MKL's calls: MKL_NUM_THREADS=2", 1, [MKL], "MKL", "threads", "2", settings=["MKL_NUM_THREADS=2"])
    return done()


if __name__ == "__main__":
    sys.exit(main())
