"""Prints seconds per call from Python, as "reference overhead" (tests/mpi/python/reference.c) does for C:

mpiexec -n 2 python overhead.py M CALLS. scripts/compare-python runs both."""
import sys
from time import perf_counter

import numpy as np
from mpi4py import MPI

import hsumma


def median(call, calls):
    seconds = []
    for _ in range(calls):
        began = perf_counter()
        call()
        seconds.append(perf_counter() - began)
    return sorted(seconds)[calls // 2]


def main():
    size, calls = int(sys.argv[1]), int(sys.argv[2])
    comm = MPI.COMM_WORLD
    A, B, C = (hsumma.Matrix.zeros(comm, (size, size)) for _ in range(3))
    plan = hsumma.Plan(A, B, C)
    x, y = np.zeros(1), np.zeros(1)
    timed = {"matmul": lambda: hsumma.matmul(A, B, out=C), "execute": plan.execute,
             "allreduce": lambda: hsumma.allreduce(comm, x, out=y), "A@B": lambda: A @ B}
    for name, call in timed.items():
        seconds = median(call, calls)
        if comm.rank == 0:
            print(f"{name} {seconds:.9f}")


main()
