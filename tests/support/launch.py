"""Starts MPI programs for the Python tests, with MPICH's launcher or Open MPI's.

Environment: BUILD, MPI (mpich or openmpi), MPIEXEC; tests/run sets them.
"""
import glob
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
MPI = os.environ.get("MPI", "mpich")
MPIEXEC = os.environ.get("MPIEXEC", f"mpiexec.{MPI}").split()
_YIELD = os.path.join(BUILD, "tests", "mpich_yield.so")


def mpiexec(ranks, *settings, preload=()):
    """The start of a command line that runs `ranks` ranks, with preloaded libraries and NAME=VALUE settings.

    Both apply to the ranks only, whatever the launcher passes on. Tests often have more ranks than processors: MPICH's
    calls are made to yield by a preloaded library, Open MPI's yield themselves."""
    libraries = [*preload] + [_YIELD] * (MPI == "mpich" and os.path.exists(_YIELD))
    return [*MPIEXEC, "-n", str(ranks), "env", *[f"LD_PRELOAD={':'.join(libraries)}"] * bool(libraries), *settings]


def scalapack_testers(mpi=MPI):
    """The directory of Debian's scalapack-mpi-test programs for an MPI, or None."""
    return next(iter(glob.glob(f"/usr/lib/*/scalapack/{mpi}-tests") + glob.glob(f"/usr/lib/scalapack/{mpi}-tests")), None)
