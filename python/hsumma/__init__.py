"""Distributed dense matrix products over MPI (SUMMA and hierarchical SUMMA): libhsumma for NumPy and mpi4py.

    from mpi4py import MPI
    import hsumma, numpy as np

    A = hsumma.Matrix(MPI.COMM_WORLD, np.random.default_rng(1).random((1000, 500)))
    C = A @ A.T                                 # on all processes
    c = C.gather()                              # a numpy.ndarray on process 0

doc/python.md is the tutorial. Every call on a communicator or a matrix is collective unless documented as local.
"""
from ._coll import (Request, allgather, allreduce, bcast, iallgather, iallreduce, ibcast, ireduce, ireduce_scatter,
                    reduce, reduce_scatter)
from ._context import Context, Grid, context
from ._library import (ArgumentError, BusyError, DataError, DeviceError, Error, MPIError, OptionError, OutOfMemoryError,
                       PeerError, UnsupportedError, WorkspaceError)
from ._matrix import Matrix
from ._product import Plan, matmul

__version__ = "0.1.0"
__all__ = ["ArgumentError", "BusyError", "Context", "DataError", "DeviceError", "Error", "Grid", "MPIError", "Matrix",
           "OptionError", "OutOfMemoryError", "PeerError", "Plan", "Request", "UnsupportedError", "WorkspaceError",
           "allgather", "allreduce", "bcast", "context", "iallgather", "iallreduce", "ibcast", "ireduce",
           "ireduce_scatter", "matmul", "reduce", "reduce_scatter"]

for _name in __all__:  # tracebacks and help() then show the package, not its private modules
    globals()[_name].__module__ = __name__
