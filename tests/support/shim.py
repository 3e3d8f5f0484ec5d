"""What the tests share that preload libhsumma_scalapack.so into programs of others.

Environment: that of launch.py, SANITIZE.
"""
import collections
import os
import re
import shutil
import subprocess
import tempfile

from launch import BUILD, MPI, mpiexec
from tap import ok, skip

SANITIZE = os.environ.get("SANITIZE")
SHIM = os.path.join(BUILD, "libhsumma_scalapack.so")
DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")

Run = collections.namedtuple("Run", "code out err calls")  # code: None if it ran out of time; calls: the shim's log


def run(ranks, limit, folder, program, *args, preload):
    """A run in a folder."""
    log = os.path.join(folder, "calls.log")
    settings = ["OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "HSUMMA_SCALAPACK=on", f"HSUMMA_LOG={log}"]
    command = [*mpiexec(ranks, *settings, preload=[SHIM] * preload), program, *args]
    with open(os.path.join(folder, "stdout"), "w+b") as out, open(os.path.join(folder, "stderr"), "w+b") as err:
        try:
            code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=limit,
                                  cwd=folder).returncode
        except subprocess.TimeoutExpired:
            code = None
        texts = [file.seek(0) or file.read().decode(errors="replace") for file in (out, err)]
    calls = open(log).read().splitlines() if os.path.exists(log) else []
    return Run(code, *texts, calls)


def with_and_without(ranks, limit, fill, program, *args):
    """The runs without and with the shim, each in a folder of its own, which fill(folder) has filled."""
    runs = []
    for preload in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            fill(folder)
            runs.append(run(ranks, limit, folder, program, *args, preload=preload))
    return runs


def ended(process, limit):
    """What is wrong with the end of a run: a list of lines."""
    if process.code is None:
        return [f"no end within {limit} s"]
    return [f"exit code {process.code}"] * (process.code != 0)


def complaints(process):
    """The shim's messages: it has left a call to ScaLAPACK, or worse."""
    return [line for line in process.err.splitlines() if re.match(r"hsumma\b", line)][:5]


def find(program):
    """The path of a program that calls this MPI's ScaLAPACK.  None, after a skipped test: there is none."""
    path = shutil.which(program)
    if not path:
        skip(program, f"there is no {program}")
        return None
    libraries = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    if f"libscalapack-{MPI}." not in libraries:
        skip(program, f"{program} does not use the ScaLAPACK of {MPI}")
        return None
    return path


def same_energy(name, pattern, ranks, limit, fill, program, *args):
    """An application that prints an energy in Hartree (the group of pattern) prints the same, whatever it exits with."""
    plain, ours = with_and_without(ranks, limit, fill, program, *args)
    energies = [re.findall(pattern, process.out)[-1:] for process in (plain, ours)]
    broken = ended(plain, limit) or ["it prints no energy"] * (not energies[0])
    if broken:
        skip(name, f"without the shim: {broken[0]}")
        return
    end = ["exit code " + str(ours.code), *ours.out.splitlines()[-10:], *ours.err.splitlines()[-10:]]
    same = energies[1] and abs(float(energies[0][0]) - float(energies[1][0])) <= 1e-10
    ok(same, f"{name}: the same energy", f"without {energies[0]}, with {energies[1]}", *end)
    ok(ours.calls and not plain.calls and not complaints(ours),
       f"  {len(ours.calls)} calls of p?gemm, none left to ScaLAPACK", *complaints(ours))
