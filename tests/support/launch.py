"""Starting MPI programs from the Python tests: with MPICH's launcher or Open MPI's.

Environment: BUILD, MPI (mpich or openmpi), MPIEXEC; tests/run sets them.
"""
import glob
import os

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
MPI = os.environ.get("MPI", "mpich")
MPIEXEC = os.environ.get("MPIEXEC", f"mpiexec.{MPI}").split()
_YIELD = os.path.join(BUILD, "tests", "mpich_yield.so")


def mpiexec(ranks, *settings, preload=()):
    """The head of a command line: so many ranks, with these libraries before all others and these NAME=VALUE.  Both are
    for the ranks alone, whatever the launcher passes on.  More ranks than processors are the rule here: MPICH's calls
    are made to yield, Open MPI's do so themselves."""
    libraries = [*preload] + [_YIELD] * (MPI == "mpich" and os.path.exists(_YIELD))
    preloaded = [f"LD_PRELOAD={':'.join(libraries)}",
                 f"ASAN_OPTIONS={os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"] * bool(libraries)
    return [*MPIEXEC, "-n", str(ranks), "env", *preloaded, *settings]


def scalapack_testers():
    """The directory with the testers of Debian's scalapack-mpi-test for this MPI, or None."""
    return next(iter(glob.glob(f"/usr/lib/*/scalapack/{MPI}-tests") + glob.glob(f"/usr/lib/scalapack/{MPI}-tests")), None)
