"""TAP: libhsumma_pmpi.so preloaded into programs that use only MPI: one of our own with known results, and ScaLAPACK's
testers, whose summaries must be the same with and without it.

Environment: that of launch.py, SANITIZE (if set, nothing is preloaded: skipped).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from command import said
from launch import BUILD, MPI, MPIEXEC, mpiexec, scalapack_testers
from tap import done, ok, skip

PMPI = os.path.join(BUILD, "libhsumma_pmpi.so")
CALLS = os.path.join(BUILD, "tests", "mpi", "product", "calls")
MANY = os.path.join(BUILD, "tests", "mpi", "product", "many_communicators")
SESSIONS = os.path.join(BUILD, "tests", "mpi", "product", "sessions")
WRONG_CALLS = os.path.join(BUILD, "tests", "mpi", "product", "wrong_calls")


def launch(ranks, program, *args, preload=True, settings=(), cwd=None):
    """Runs a program; returns the finished process."""
    command = [*mpiexec(ranks, *settings, preload=[PMPI] * preload), program, *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)


def counts(text):
    """{function: (calls served, bytes served, calls passed on, bytes passed on)} of HSUMMA_PMPI=verbose."""
    found = re.findall(r"hsumma_pmpi: (MPI_\w+) +(\d+) calls, +(\d+) bytes served; +(\d+) calls, +(\d+) bytes passed on",
                       text)
    return {name: tuple(map(int, numbers)) for name, *numbers in found}


def rows(text):
    """[(function, limit, algorithm, calls)] of HSUMMA_PMPI=verbose; a limit is "at most 1k"."""
    found = re.findall(r"hsumma_pmpi: (MPI_\w+) +(\d+) calls of (at most \w+|more than \w+) bytes served by (\w+)\n", text)
    return [(name, limit, algorithm, int(calls)) for name, calls, limit, algorithm in found]


def test_link():
    needed = subprocess.run(["ldd", PMPI], capture_output=True, text=True).stdout
    direct = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", PMPI], capture_output=True,
                                                           text=True).stdout)
    ok(needed and not any("blas" in name or "hsumma" in name for name in direct), "needs neither a BLAS nor libhsumma",
       direct)
    symbols = subprocess.run(["nm", "-D", "--defined-only", PMPI], capture_output=True, text=True).stdout.split("\n")
    names = sorted(line.split()[-1] for line in symbols if line)
    ok("MPI_Allreduce" in names and all(name.startswith("MPI_") for name in names), "shows nothing but MPI's names",
       names)


def test_calls():
    for ranks in (1, 2, 4):
        plain = launch(ranks, CALLS, preload=False)
        ok(plain.returncode == 0 and plain.stdout.startswith("ok "), f"{ranks} ranks: the calls, plain", *said(plain))
        process = launch(ranks, CALLS, settings=["HSUMMA_PMPI=verbose"])
        ok(process.returncode == 0 and process.stdout == plain.stdout, f"{ranks} ranks: the same, preloaded",
           *said(process))
        numbers = counts(process.stderr)
        served = [numbers.get(name, (-1,))[0] for name in ("MPI_Allreduce", "MPI_Reduce", "MPI_Bcast")]
        ok(all(n > 20 for n in served) if ranks > 1 else served == [0, 0, 0], "  what was served", process.stderr)
    process = launch(2, CALLS)
    ok(process.returncode == 0 and not process.stderr, "silent without HSUMMA_PMPI=verbose", *said(process))
    for settings in (["HSUMMA_COLL=allreduce:rabenseifner_traff;reduce:binomial;bcast:chain"], ["HSUMMA_SHARED=0"],
                     ["HSUMMA_TOPOLOGY=nodes:2"]):
        process = launch(4, CALLS, settings=settings)
        ok(process.returncode == 0 and process.stdout.startswith("ok "), f"4 ranks: {settings[0]}", *said(process))


def test_passed_on():
    """With these settings the library serves no call, and results are equal."""
    for what, args, settings in [("HSUMMA_PMPI=off", [], ["HSUMMA_PMPI=off"]),
                                 ("MPI_THREAD_MULTIPLE", ["multiple"], []),
                                 ("an option that is none", [], ["HSUMMA_TOPOLOGY=nonsense"])]:
        process = launch(2, CALLS, *args, settings=settings)
        ok(process.returncode == 0 and process.stdout.startswith("ok "), f"2 ranks: {what}", *said(process))
    for args, settings in [(["multiple"], []), ([], ["HSUMMA_TOPOLOGY=nonsense"])]:
        process = launch(2, CALLS, *args, settings=["HSUMMA_PMPI=verbose", *settings])
        numbers = counts(process.stderr)
        ok(len(numbers) == 3 and all(n[0] == 0 and n[2] > 0 for n in numbers.values()), "  all was passed on",
           process.stderr)
    # if one process must not use the library, no process does
    verbose, off = (mpiexec(1, f"HSUMMA_PMPI={what}", preload=[PMPI]) for what in ("verbose", "off"))
    command = [*verbose, CALLS, ":", *off[len(MPIEXEC):], CALLS]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    numbers = counts(process.stderr)
    ok(process.returncode == 0 and len(numbers) == 3 and all(n[0] == 0 for n in numbers.values()),
       "off on one process is off on all", *said(process))


def test_wrong_calls():
    """Calls that MPI refuses, on one rank or on all, end as they do without the library."""
    for warm in ("0", "100"):
        plain = launch(2, WRONG_CALLS, warm, preload=False)
        process = launch(2, WRONG_CALLS, warm)
        ok(plain.returncode == process.returncode == 0 and plain.stdout.count("\n") > 12
           and process.stdout == plain.stdout, f"the same errors after {warm} correct calls",
           *said(process), "without:", *said(plain))
    process = launch(2, WRONG_CALLS, "100", "unlike")
    ok(process.returncode == 0 and process.stdout == "class MPI_ERR_ARG, handled 1: hsumma: rank 1 gave count = 8, "
       "rank 0 gave 4; expected one value on all\n", "an error of hsumma's has its class and its text", *said(process))


def test_algorithms():
    """The counts of algorithms follow HSUMMA_COLL and add up to the calls served."""
    process = launch(4, CALLS, settings=[
        "HSUMMA_PMPI=verbose", "HSUMMA_COLL=allreduce:0-64:nap,65-1k:ring,recursive_doubling;reduce:binomial;bcast:chain"])
    found, served = rows(process.stderr), {name: n[0] for name, n in counts(process.stderr).items()}
    ok(process.returncode == 0 and len(served) == 3
       and all(sum(row[3] for row in found if row[0] == name) == n > 0 for name, n in served.items()),
       "the calls of all algorithms are those served", *said(process))
    ok({row[2] for row in found if row[0] == "MPI_Reduce"} == {"binomial"}
       and {row[2] for row in found if row[0] == "MPI_Bcast"} == {"chain"}
       and [row[2] for row in found if row[0] == "MPI_Allreduce"][:3] == ["nap", "ring", "recursive_doubling"],
       "  by size and function", found)
    process = launch(2, CALLS, settings=["HSUMMA_COLL=bcast:shared", "HSUMMA_SHARED=0"])
    lines = process.stderr.splitlines()
    ok(process.returncode == 0 and len(lines) == 1 and "instead of shared" in lines[0] and "no shared memory" in lines[0],
       "a replaced algorithm is said once", *said(process))
    process = launch(2, CALLS, settings=["HSUMMA_PMPI=verbos"])
    lines = process.stderr.splitlines()
    ok(process.returncode == 0 and len(lines) == 1 and '"verbos"' in lines[0] and "did you mean verbose?" in lines[0],
       "so is a value of HSUMMA_PMPI that does not exist", *said(process))


def test_communicators():
    """The library serves no call on a communicator, and maps no memory for it, until 16 calls have been made on it or
    their bytes reach 1 MiB; it then maps the roster of the ranks and the memory of collectives."""
    for number, calls, size, served in [(60, 16, 4, 0), (3, 17, 4, 1), (3, 1, 960 << 10, 0), (3, 1, 1 << 20, 1),
                                        (3, 4, 256 << 10, 1), (3, 20, 4, 4)]:
        process = launch(2, MANY, str(number), str(calls), str(size), settings=["HSUMMA_PMPI=verbose"])
        all_served, _, passed, _ = counts(process.stderr).get("MPI_Allreduce", (-1, 0, -1, 0))
        ok(process.returncode == 0 and process.stdout == f"{2 * number if served else 0} mappings, 0 wrong\n"
           and (all_served, passed) == (number * served, number * (calls - served)),
           f"{number} communicators of {calls} calls of {size} bytes: {served} served on each", *said(process))
    process = launch(2, MANY, "3", "20", "4", "attribute", settings=["HSUMMA_PMPI=verbose"])
    served = counts(process.stderr).get("MPI_Allreduce", (-1,))[0]
    ok(process.returncode == 0 and process.stdout == "6 mappings, 0 wrong\n" and served == 12,
       "copy callbacks of the program's attributes do not run", *said(process))


def test_sessions():
    """Where MPI_COMM_SELF does not exist, calls are passed on."""
    for when in ("alone", "later"):
        process = launch(3, SESSIONS, when)
        if process.stdout.startswith("no sessions"):
            skip("sessions", "this MPI has none")
            return
        ok(process.returncode == 0 and process.stdout == "0 0 0 wrong\n",
           f"a session {'without MPI_Init' if when == 'alone' else 'that ends after MPI_Finalize'}", *said(process))


# Programs of an MPI, by the name of its compiler's wrapper.
SUM = {"mpicc": ("sum.c", """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d\\n", argv[1], sum);
    MPI_Finalize();
    return 0;
}
"""), "mpif90": ("sum.f90", """
program sum_of_ones
    use mpi
    integer :: rank, total, error
    character(len=8) :: word
    call get_command_argument(1, word)
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (rank == 0) print '(a,1x,i0)', trim(word), total
    call MPI_Finalize(error)
end program
""")}


def test_other_mpi():
    """A program of the other MPI runs as it would without the library, and one line says why nothing is served."""
    other = {"mpich": "openmpi", "openmpi": "mpich"}[MPI]
    names = {"mpich": "MPICH", "openmpi": "Open MPI"}
    launcher = f"mpiexec.{other}"
    with tempfile.TemporaryDirectory() as scratch:
        for wrapper, (source, text) in SUM.items():
            path, program = os.path.join(scratch, source), os.path.join(scratch, wrapper)
            with open(path, "w") as file:
                file.write(text)
            compiler = f"{wrapper}.{other}"
            if not (shutil.which(launcher) and shutil.which(compiler)
                    and subprocess.run([compiler, path, "-o", program], capture_output=True).returncode == 0):
                skip(f"a program of {names[other]} ({wrapper})", f"no {launcher} and {compiler} that work")
                continue
            process = subprocess.run([launcher, "-n", "2", "env", f"LD_PRELOAD={PMPI}", program, "word"],
                                     capture_output=True, text=True, timeout=60)
            lines = [line for line in process.stderr.splitlines() if "hsumma" in line]
            ok(process.returncode == 0 and process.stdout == "word 2\n", f"a program of {names[other]} ({wrapper}) runs",
               *said(process))
            ok(len([line for line in lines if f"runs with {names[other]}" in line and names[MPI] in line
                    and f"MPI={other}" in line]) == 1, "  one line names both and the file to use", *said(process))


# Testers that run for seconds, with their data file beside them. Without xdllt: on 4 processes Debian's may hang in
# pdlacon, under plain MPICH as well.
TESTERS = ["xdlu", "xdqr", "PBLAS/dpb1tst"]


def summary(text):
    """A tester's summary of its results, without times."""
    return [line.strip() for line in text.splitlines()
            if re.search(r"tests? (completed|passed|failed|skipped|PASSED|FAILED)|threshold|PASSED|FAILED", line)
            and not re.match(r"WALL|CPU", line.strip())]



def test_scalapack():
    found = scalapack_testers()
    if not found:
        skip("ScaLAPACK's testers", "there is no package scalapack-mpi-test")
        return
    for name in TESTERS:
        place, program = os.path.split(os.path.join(found, name))
        if not os.path.exists(os.path.join(place, program)):
            skip(f"ScaLAPACK's {name}", "not in the package")
            continue
        try:
            plain = launch(4, os.path.join(place, program), preload=False, cwd=place)
            process = launch(4, os.path.join(place, program), settings=["HSUMMA_PMPI=verbose"], cwd=place)
        except subprocess.TimeoutExpired as error:
            ok(False, f"ScaLAPACK's {name} in time", error)
            continue
        numbers = counts(process.stderr)
        ok(plain.returncode == 0 and process.returncode == 0 and summary(plain.stdout)
           and summary(plain.stdout) == summary(process.stdout), f"ScaLAPACK's {name}: the same summary",
           *said(process), "without:", *said(plain))
        ok(sum(n[0] for n in numbers.values()) > 0, "  with calls served", process.stderr)


def main():
    if os.environ.get("SANITIZE"):
        skip("libhsumma_pmpi.so", "a program without the sanitizer cannot load it")
        return done()
    for test in (test_link, test_calls, test_passed_on, test_wrong_calls, test_algorithms, test_communicators,
                 test_sessions, test_other_mpi, test_scalapack):
        test()
    return done()


if __name__ == "__main__":
    sys.exit(main())
