"""A program outside the tree: hsumma's product against NumPy's."""
from mpi4py import MPI
import numpy as np
import hsumma

comm = MPI.COMM_WORLD
a = np.arange(37.0 * 29).reshape(37, 29) % 11
b = np.arange(29.0 * 23).reshape(29, 23) % 13
c = (hsumma.Matrix(comm, a) @ hsumma.Matrix(comm, b)).gather(None)
if comm.rank == 0:
    print(int((c != a @ b).sum()), "entries are wrong")
