"""TAP: programs that load libraries themselves (Python through ctypes, as PyScalapack and scalapack4py do), with
libhsumma_scalapack.so preloaded or loaded, too: right products, and whether hsumma or ScaLAPACK computes them.

Environment: that of launch.py, and SANITIZE (if set, nothing is preloaded: skipped).
"""
import ctypes
import os
import re
import subprocess
import sys
from ctypes import byref, c_char, c_double, c_int

from launch import MPI, mpiexec, scalapack_testers
from shim import SANITIZE, SHIM
from tap import done, ok, skip

SCALAPACK = f"libscalapack-{MPI}.so"
RANKS, ORDER, BLOCK = 2, 24, 5


def multiply(*steps):
    """One process: loads libraries in this order (NAME: with RTLD_GLOBAL, -NAME: with RTLD_LOCAL, "all": the program's
    global symbols) and calls pdgemm_ of the last one. BLACS is taken from the last one that has it."""
    handles = [ctypes.CDLL(None if name == "all" else name.lstrip("-"),
                           mode=ctypes.RTLD_LOCAL if name[0] == "-" else ctypes.RTLD_GLOBAL) for name in steps]
    blacs = [handle for handle in handles if hasattr(handle, "blacs_get_")][-1]
    me, all_, context, rows, cols, row, col = (c_int() for _ in range(7))
    blacs.blacs_pinfo_(byref(me), byref(all_))
    blacs.blacs_get_(byref(c_int(-1)), byref(c_int(0)), byref(context))
    blacs.blacs_gridinit_(byref(context), byref(c_char(b"R")), byref(c_int(1)), byref(all_))
    blacs.blacs_gridinfo_(byref(context), byref(rows), byref(cols), byref(row), byref(col))
    mine = [j for j in range(ORDER) if j // BLOCK % all_.value == col.value]
    desc = (c_int * 9)(1, context.value, ORDER, ORDER, BLOCK, BLOCK, 0, 0, int(os.environ.get("LOADED_LLD", ORDER)))
    a, b, c = ((c_double * (ORDER * len(mine)))(*[f(i, j) for j in mine for i in range(ORDER)])
               for f in (lambda i, j: i - j, lambda i, j: 2 * i + j, lambda i, j: i + 3 * j))
    n, one = byref(c_int(ORDER)), byref(c_int(1))
    handles[-1].pdgemm_(byref(c_char(b"N")), byref(c_char(b"T")), n, n, n, byref(c_double(2)), a, one, one, desc, b, one,
                        one, desc, byref(c_double(-1)), c, one, one, desc)
    right = [2 * sum((i - l) * (2 * j + l) for l in range(ORDER)) - (i + 3 * j) for j in mine for i in range(ORDER)]
    os.write(1, f"error {max(abs(x - y) for x, y in zip(c, right))}\n".encode())  # in one piece: both ranks write
    blacs.blacs_gridexit_(byref(context))
    blacs.blacs_exit_(byref(c_int(0)))


def run(*steps, preload=True, settings=()):
    return subprocess.run([*mpiexec(RANKS, "HSUMMA_EXPLAIN=1", "OPENBLAS_NUM_THREADS=1", *settings, preload=[SHIM] * preload),
                           sys.executable, os.path.abspath(__file__), *steps], capture_output=True, text=True, timeout=60)


def run_until_it_says(*steps, **how):
    """run, again if nothing is said: on a busy machine mpiexec may lose what a failing rank has written."""
    for _ in range(5):
        process = run(*steps, **how)
        if process.stderr:
            break
    return process


def serves(server, what, *steps, **how):
    process = run(*steps, **how)
    said = re.findall(r"^hsumma: PDGEMM m=.* grid=1x2 (ScaLAPACK)?", process.stderr, re.M)
    totals = re.findall(r"^hsumma: rank 0: calls of p\?gemm served by hsumma: (\d) in .* left to ScaLAPACK: (\d) in ",
                        process.stderr, re.M)
    expected = {"hsumma": ([""], [("1", "0")]), "ScaLAPACK, called by hsumma": (["ScaLAPACK"], [("0", "1")]),
                "ScaLAPACK": ([], [])}[server]
    ok(process.returncode == 0 and process.stdout.count("error 0.0\n") == RANKS and (said, totals) == expected, f"{what}: {server}",
       f"exit code {process.returncode}", process.stdout, process.stderr)


def test_other_mpi():
    """A ScaLAPACK tester of the other MPI runs as without the library, and one line says why nothing is served."""
    other, name = ("openmpi", "Open MPI") if MPI == "mpich" else ("mpich", "MPICH")
    tester = os.path.join(scalapack_testers(other) or "", "xdlu")
    libraries = subprocess.run(["ldd", tester], capture_output=True, text=True).stdout if os.path.exists(tester) else ""
    if not libraries or "not found" in libraries:
        skip(f"a program of {name}", f"there is no xdlu of scalapack-mpi-test for {name}")
        return
    plain, ours = (subprocess.run(["env", *preload, tester], capture_output=True, text=True, timeout=60, cwd=os.path.dirname(tester),
                                  stdin=subprocess.DEVNULL) for preload in ([], [f"LD_PRELOAD={SHIM}"]))
    line = rf"hsumma: p\?gemm is left to ScaLAPACK: the program runs with {name}, but .* preload .*MPI={other}\"\n"
    counts = [re.findall(r"\d+ tests .*", process.stdout) for process in (plain, ours)]
    ok(ours.returncode == plain.returncode and counts[0] and counts[0] == counts[1], f"a program of {name} runs as without the library",
       *counts, ours.stderr)
    ok(len(re.findall("hsumma: .*\n", ours.stderr)) == 1 and re.search(line, ours.stderr), "  one line", ours.stderr)


def main():
    try:
        ctypes.CDLL(SCALAPACK)
    except OSError as error:
        skip("libraries loaded by the program", str(error))
        return done()
    if SANITIZE:
        skip("libraries loaded by the program", "sanitizers are not preloaded")
        return done()
    serves("hsumma", "the routine from what is visible to all", SCALAPACK, "all")
    serves("hsumma", "the routine from hsumma's handle", SCALAPACK, SHIM)
    serves("ScaLAPACK", "the routine from ScaLAPACK's handle", SCALAPACK)
    serves("ScaLAPACK, called by hsumma", "HSUMMA_SCALAPACK=off", SCALAPACK, "all", settings=["HSUMMA_SCALAPACK=off"])
    serves("hsumma", "hsumma loaded, not preloaded", SHIM, SCALAPACK, "all", preload=False)
    process = run_until_it_says(SCALAPACK, "all", settings=["LOADED_LLD=10"])
    ok(process.returncode != 0 and re.search(r"^hsumma: PDGEMM on process \(0,[01]\): DESCA\[LLD_\] = 10; expected at least 24$",
                                             process.stderr, re.M), "a wrong argument: its name, its value, what is allowed",
       f"exit code {process.returncode}", process.stdout, process.stderr)
    process = run(SCALAPACK, "all", settings=["HSUMMA_GAURD=product", "HSUMMA_OF_MINE=1"])
    said = [line for line in process.stderr.splitlines() if line.startswith("hsumma: HSUMMA_")]
    ok(process.returncode == 0 and said == ["hsumma: HSUMMA_GAURD in the environment has no effect; did you mean HSUMMA_GUARD?"],
       "a misspelt variable is said once", *said, process.stderr)
    process = run_until_it_says("-" + SCALAPACK, SHIM)
    ok(process.returncode != 0 and process.stderr.count("RTLD_GLOBAL") in (1, RANKS), "ScaLAPACK loaded privately: a message",
       f"exit code {process.returncode}", process.stdout, process.stderr)
    test_other_mpi()
    return done()


if __name__ == "__main__":
    sys.exit(multiply(*sys.argv[1:]) if len(sys.argv) > 1 else main())
