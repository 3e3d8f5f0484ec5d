"""Ways in which a program ends or frees a communicator: mpiexec -n 2 python endings.py HOW. Each prints "end"."""
import gc
import sys
import threading

import numpy as np
from mpi4py import MPI

import hsumma
from hsumma import _context

comm, how = MPI.COMM_WORLD, sys.argv[1]
ones = np.ones((20, 20))
A = hsumma.Matrix(comm, ones)
plan = hsumma.Plan(A, A)
plan.execute()
if how == "finalize":  # the program calls it while objects are still open
    MPI.Finalize()
    assert not _context._open
elif how == "trace":  # closing the context writes the file
    B = hsumma.Matrix(hsumma.Context(comm, f"trace={sys.argv[2]}"), ones)
    C = B @ B
elif how == "started":
    plan.start()
    request = hsumma.iallreduce(comm, np.ones(3))
elif how == "threads":  # the garbage collector runs concurrently with calls of the library
    dropped = [hsumma.Plan(A, A) for _ in range(30)]
    thread = threading.Thread(target=lambda: (dropped.clear(), gc.collect()))
    thread.start()
    for _ in range(300):
        plan.execute()
    thread.join()
    plan.execute()
    assert not A.context._dead
elif how == "freed":  # frees communicators that still have matrices, plans and requests
    for _ in range(3):
        other = comm.Dup()
        B = hsumma.Matrix(other, ones)
        kept, request = hsumma.Plan(B, B), hsumma.iallreduce(other, np.ones(4))
        shared = hsumma.Matrix.zeros(other, (9, 9), shared=True)
        other.Free()
    del kept, shared
    gc.collect()
print("end")
