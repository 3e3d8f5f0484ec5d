"""For tests that preload libhsumma_scalapack.so into other projects' programs.

Environment: that of launch.py, SANITIZE.
"""
import collections
import os
import re
import subprocess
import tempfile

from launch import BUILD, mpiexec

SANITIZE = os.environ.get("SANITIZE")
SHIM = os.path.join(BUILD, "libhsumma_scalapack.so")
DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")

Run = collections.namedtuple("Run", "code out err calls")  # code: None after a timeout; calls: lines of the shim's log


def run(ranks, limit, folder, program, *args, preload, settings=()):
    """Runs a program in a folder, with NAME=VALUE settings in its environment; returns a Run."""
    log = os.path.join(folder, "calls.log")
    settings = ["OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "HSUMMA_SCALAPACK=on", f"HSUMMA_LOG={log}", *settings]
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


def with_and_without(ranks, limit, fill, program, *args, settings=()):
    """Runs a program without and with the shim, each in its own folder prepared by fill(folder)."""
    runs = []
    for preload in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            fill(folder)
            runs.append(run(ranks, limit, folder, program, *args, preload=preload, settings=settings))
    return runs


def ended(process, limit):
    """A list of lines: the errors with which a run ended (exit status, timeout)."""
    if process.code is None:
        return [f"no end within {limit} s"]
    return [f"exit code {process.code}"] * (process.code != 0)


def complaints(process, wanted=r"$."):
    """The shim's first messages about calls that it left to ScaLAPACK and about errors, not those of HSUMMA_EXPLAIN and those that
    match `wanted`."""
    return [line for line in process.err.splitlines() if re.match(r"hsumma\b(?!: P[SDCZ]GEMM m=|: rank \d+: calls of p\?gemm)", line)
            and not re.match(wanted, line)][:5]
