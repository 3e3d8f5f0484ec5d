"""A tour of hsumma for NumPy users: mpiexec -n 4 python first.py. The cells (# %%) also run in a notebook."""
# %% A distributed matrix: each process keeps its own part of a global array
from mpi4py import MPI
import numpy as np
import hsumma

comm = MPI.COMM_WORLD
rng = np.random.default_rng(1)  # the same numbers on all processes
a, b = rng.random((400, 300)), rng.random((300, 200))
A, B = hsumma.Matrix(comm, a), hsumma.Matrix(comm, b)

# %% A matrix too large for one process: from its indices
M = hsumma.Matrix.from_function(comm, lambda i, j: 1 / (1 + i + j), (400, 300))
M.local[M.rows == 0, :] = 0  # this process's part, a NumPy array; M.rows and M.cols are its global indices

# %% Products, transposes and parts are views, as in NumPy
C = A @ B
G = A.T @ M
hsumma.matmul(A[:100, :], B, out=C[300:, :], alpha=2, beta=1)  # C[300:] += 2 A[:100] B

# %% Many products of one shape: a plan, which can explain itself. In a notebook the last line shows a picture
plan = hsumma.Plan(A, B, C)
for _ in range(3):
    plan.execute(alpha=0.5, beta=0)
if comm.rank == 0:
    print(plan.explain())
plan

# %% Results: gathered on one process, or in a file
c, g = C.gather(), G.gather()
if comm.rank == 0:
    m = np.fromfunction(lambda i, j: 1 / (1 + i + j), (400, 300))
    m[0] = 0
    right = np.allclose(c, 0.5 * a @ b) and np.allclose(g, a.T @ m)
    print("right" if right else "wrong")

# %% Vectors: sums over all processes
norm = hsumma.allreduce(comm, np.array([np.sum(C.local**2)]))[0]**0.5
