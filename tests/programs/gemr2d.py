"""TAP: random cases of p?gemr2d, hsumma's against ScaLAPACK's (tests/mpi/scalapack/gemr2d.c), and which of the two serves
ScaLAPACK's name with libhsumma_scalapack.so preloaded.

    tests/programs/gemr2d.py [CASES]

CASES (2,000) in all on 1 to 8 ranks, some on several virtual nodes, some in many rounds.
Environment: BUILD, MPI, MPIEXEC, SANITIZE (if set, nothing is preloaded: skipped).
"""
import os
import subprocess
import sys

from launch import BUILD, mpiexec
from shim import SHIM
from tap import done, ok, skip

PROGRAM = os.path.join(BUILD, "tests", "mpi", "scalapack", "gemr2d")
RUNS = [(1, []), (2, []), (3, []), (4, []), (6, []), (8, []), (4, ["workspace_limit=4k"]), (8, ["topology=nodes:3"])]


def passes(name, ranks, cases, seed, *options, preload=()):
    command = [*mpiexec(ranks, preload=preload), PROGRAM, str(cases), str(seed), *options]
    process = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=250)
    text = process.stdout
    if "# SKIP" in text:
        skip(name, "built without ScaLAPACK")
        return None
    ok(process.returncode == 0 and "\n1..4\n" in text and "not ok" not in text, name, text, process.stderr)
    return text


def main():
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for i, (ranks, options) in enumerate(RUNS):
        passes(f"{ranks} ranks {' '.join(options)}", ranks, -(-cases // len(RUNS)), 1 + i, *options)
    for options, served in [([], "ScaLAPACK"), (["gemr2d=scalapack"], "ScaLAPACK"), (["gemr2d=hsumma"], "hsumma")]:
        name = f"preloaded, {' '.join(options) or 'no word'}: {served} serves"
        if os.environ.get("SANITIZE"):
            skip(name, "sanitizers are not preloaded")
            continue
        text = passes(name, 4, 30, 20, *options, preload=[SHIM])
        ok(text is None or "the shim preloaded" in text and f"name {served} served" in text, "  as the test itself says", text)
    return done()


if __name__ == "__main__":
    sys.exit(main())
