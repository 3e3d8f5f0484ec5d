"""TAP: random cases of p?gemm, hsumma's against ScaLAPACK's (tests/mpi/scalapack/fuzz.c), on 1, 2, 4 and 6 ranks.

    tests/programs/fuzz.py [--cases N] [--seconds S] [--seed SEED] [--ranks R,...] [OPTION=VALUE...]

N cases (3,600) in all, or as many as fit into S seconds, in runs of 100 cases. Consecutive runs have the numbers of
ranks in turn; after each round the options of the library change, so that small products use the paths of large ones.
With OPTION=VALUE all runs have these options. A failed case is printed with the command that repeats it. Without
arguments the cases are always the same; otherwise they begin with SEED, or with a new seed.
Environment: BUILD, MPI, MPIEXEC.
"""
import argparse
import os
import subprocess
import sys
import time

from launch import BUILD, mpiexec
from tap import done, ok

PROGRAM = os.path.join(BUILD, "tests", "mpi", "scalapack", "fuzz")
PATIENCE_S = 300  # seconds per run; the program ends a hanging case earlier
RUN = 100  # number of cases in a run
OPTIONS = [[],
           ["stationary=A", "block=7"],
           ["stationary=B", "block=5", "chunk=3", "workspace_limit=64k"],
           ["node=messages"],
           ["stationary=B", "lookahead=3"],
           ["stationary=C", "block=5", "lookahead=2", "bcast=chain", "segment=256"],
           ["lookahead=0", "workspace_limit=64k", "topology=nodes:2"],
           ["stationary=A", "block=7", "lookahead=2", "topology=nodes:2"],
           ["stationary=B", "block=5", "lookahead=0", "topology=nodes:3"],
           ["layers=2", "topology=nodes:2"],
           ["layers=auto", "workspace_limit=1M", "topology=nodes:3"]]


def run(ranks, options, cases, seed):
    """Runs the program and repeats its tests as tests of this script, with its other output as remarks."""
    name = f"{ranks} ranks{''.join(' ' + option for option in options)}"
    command = [*mpiexec(ranks, "OPENBLAS_NUM_THREADS=1"), PROGRAM, str(cases), str(seed), *options]
    try:
        process = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        ok(False, f"{name}: {cases} cases from seed {seed}", f"no end after {PATIENCE_S} s")
        return
    remarks, planned = [], False
    for line in process.stdout.splitlines():
        if line.startswith(("ok ", "not ok ")):
            if not ok(line.startswith("ok "), f"{name}: {line.partition(' - ')[2]}", *remarks):
                remarks = []
        elif line.startswith("1.."):
            planned = True
        else:
            remarks.append(line.lstrip("# "))
    for remark in remarks:  # output after the last test, for example errors of ScaLAPACK
        print("#", remark)
    if not planned or process.returncode not in (0, 1):
        ok(False, f"{name}: {cases} cases from seed {seed}, to the end", f"exit code {process.returncode}",
           *remarks, process.stderr[-2000:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=3600)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=1 if len(sys.argv) == 1 else int(time.time()) * 1000)
    parser.add_argument("--ranks", default="1,2,4,6")
    parser.add_argument("option", nargs="*")
    args = parser.parse_args()
    options = [args.option] if args.option else OPTIONS
    ranks = [int(number) for number in args.ranks.split(",")]
    end = time.monotonic() + (args.seconds or 0)
    turn = first = 0
    while time.monotonic() < end if args.seconds else first < args.cases:
        cases = RUN if args.seconds else min(RUN, args.cases - first)
        run(ranks[turn % len(ranks)], options[turn // len(ranks) % len(options)], cases, args.seed + first)
        turn, first = turn + 1, first + cases
    return done()


if __name__ == "__main__":
    sys.exit(main())
