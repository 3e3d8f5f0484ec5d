"""Contexts and grids.

A communicator's own context is an attribute of it. Closing is collective, but the garbage collector runs at different
times on different processes and in any thread, so it never frees library objects: it lists them in their context, which
frees plans locally at its next call, and shared memory once all processes have dropped it.
"""
import atexit
import ctypes as ct
import itertools
import os
import weakref

import numpy as np
from mpi4py import MPI

from ._library import comm_handle, error, lib

_open = {}  # contexts by number, in order of creation
_numbers = itertools.count()


class Grid:
    """nprow x npcol processes of a context; made by Context.grid, freed with the context.

    row, col: this process's coordinates, -1 outside the grid."""

    def __init__(self, context, handle):
        values = [ct.c_int() for _ in range(4)]
        lib.hsumma_grid_info(handle, *map(ct.byref, values))
        self.context, self._handle = context, handle
        self.nprow, self.npcol, self.row, self.col = (value.value for value in values)

    @property
    def shape(self):
        return self.nprow, self.npcol

    def rank(self, row, col):
        """The rank of the process at (row, col); -1 if there is none. Local."""
        return lib.hsumma_grid_rank(self._handle, row, col)

    def __repr__(self):
        return f"<hsumma.Grid {self.nprow} x {self.npcol}>"


class Context:
    """The library's state for a communicator: a duplicate of it, options, workspace, grids. Collective over comm.

    Context(comm, "device=cuda check=always") makes one with its own options; pass it in place of a communicator.
    Matrices, plans and collective calls on a plain communicator share its own context, hsumma.context(comm), which is
    closed with the communicator. Any context is closed by close(), a with statement, or at exit; collective."""

    def __init__(self, comm, options=None):
        if not isinstance(comm, MPI.Intracomm) or comm == MPI.COMM_NULL:
            raise TypeError(f"comm is {comm!r}; expected an intracommunicator of mpi4py")
        handle, message = ct.c_void_p(), ct.create_string_buffer(1024)
        status = lib.hsumma_create(comm_handle(MPI._handleof(comm)), (options or "").encode(), ct.byref(handle), message,
                                   len(message))
        if status:
            raise error(status, message.value.decode())
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self.options = options or ""
        self._handle = handle.value
        self._grids = {}
        self._plans = weakref.WeakSet()
        self._running = set()  # plans and requests in progress, which keep their arrays alive
        self._dead = []  # handles of garbage-collected plans
        self._shared, self._shared_numbers = {}, itertools.count()  # addresses of blocks of hsumma_malloc, by number
        self._dropped = []  # numbers of garbage-collected blocks
        self._stream = None
        self._number = next(_numbers)
        _open[self._number] = self

    @property
    def closed(self):
        return self._handle is None

    @property
    def handle(self):
        """The hsumma_context, for calls through ctypes. Local."""
        if self._handle is None:
            raise ValueError("this hsumma context has been closed, by close() or with its communicator; create a new "
                             "one")
        while self._dead:
            plan = ct.c_void_p(self._dead.pop())
            lib.hsumma_plan_free(ct.byref(plan))
        return self._handle

    def check(self, status):
        if status:
            raise error(status, lib.hsumma_message(self._handle).decode("utf-8", "replace"))

    def grid(self, nprow=None, npcol=None, order="A", ranks=None):
        """A grid of this shape, created once. Collective. Default: all processes, as nearly square as possible.

        order: 'R' or 'C' numbers processes along rows or columns; 'A': the library chooses (tiles for nodes).
        ranks: nprow * npcol ranks in that order, default the first ones."""
        if nprow is None or npcol is None:
            rows, cols = ct.c_int(), ct.c_int()
            lib.hsumma_grid_shape(self.size, ct.byref(rows), ct.byref(cols))
            nprow, npcol = rows.value, cols.value
        key = int(nprow), int(npcol), order, None if ranks is None else tuple(ranks)
        if key not in self._grids:
            listed = None if ranks is None else (ct.c_int * len(key[3]))(*key[3])
            if listed is not None and len(listed) != key[0] * key[1]:
                raise ValueError(f"ranks has {len(listed)} elements for a grid of {nprow} x {npcol}; expected "
                                 f"{key[0] * key[1]}")
            made = ct.c_void_p()
            self.check(lib.hsumma_grid_create(self.handle, key[0], key[1], order.encode(), listed, ct.byref(made)))
            self._grids[key] = Grid(self, made.value)
        return self._grids[key]

    @property
    def checks_always(self):
        """Whether every collective call is checked across all processes (option check=always)."""
        return "check=always" in self.options or \
            "check=" not in self.options and os.environ.get("HSUMMA_CHECK") == "always"

    @property
    def device(self):
        """The name of this process's device, or "none". Local."""
        return lib.hsumma_device(self.handle).decode()

    @property
    def stream(self):
        """The stream for device work, as an integer (cudaStream_t); None without a device. Local.

        Assign a stream (cupy_stream.ptr), which must outlive the context or the next assignment; None restores the
        context's own."""
        return lib.hsumma_stream(self.handle)

    @stream.setter
    def stream(self, value):
        self.check(lib.hsumma_set_stream(self.handle, value))
        self._stream = value

    def synchronize(self):
        """Waits for this process's device work, and raises its errors. Local."""
        self.check(lib.hsumma_synchronize(self.handle))

    def trace_write(self):
        """Writes the timeline of the option trace=FILE so far. Collective."""
        self.check(lib.hsumma_trace_write(self.handle))

    def _shared_array(self, shape, dtype):
        """Memory for a block that the node's other processes can read; device memory if the context has a device.

        Collective. First frees blocks that have been garbage-collected on all processes."""
        dropped = agree(self, lambda: list(self._dropped))
        for number in sorted(set(dropped[0]).intersection(*dropped[1:])):
            self._dropped.remove(number)
            lib.hsumma_mfree(self.handle, self._shared.pop(number))
        memory = ct.c_void_p()
        self.check(lib.hsumma_malloc(self.handle, shape[0] * shape[1] * dtype.itemsize, ct.byref(memory)))
        number = next(self._shared_numbers)
        self._shared[number] = memory.value
        owner = _Shared(self, number, memory.value, shape, dtype)
        return owner if self.device != "none" else np.asarray(owner)

    def close(self):
        """Waits for work in progress, frees plans, grids and shared memory, then the context. Collective."""
        if self._handle is None:
            return
        for work in list(self._running):
            work.wait()
        for plan in list(self._plans):
            plan.close()
        handle = ct.c_void_p(self.handle)  # reading self.handle frees garbage-collected plans
        for grid in self._grids.values():
            lib.hsumma_grid_free(ct.byref(ct.c_void_p(grid._handle)))
            grid._handle = None
        self._handle = None
        self._grids.clear()
        _open.pop(self._number, None)
        lib.hsumma_free(ct.byref(handle))

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()

    def __repr__(self):
        return f"<hsumma.Context on {self.size} processes{', closed' if self.closed else ''}>"


class _Shared:
    """The owner of a block of shared memory, which NumPy sees as an array in column-major order."""

    def __init__(self, where, number, address, shape, dtype):
        self._context, self._number = where, number
        said = {"data": (address, False), "shape": shape, "typestr": dtype.str, "version": 3,
                "strides": (dtype.itemsize, dtype.itemsize * max(1, shape[0]))}
        setattr(self, "__array_interface__" if where.device == "none" else "__cuda_array_interface__", said)

    def __del__(self):
        self._context._dropped.append(self._number)


def _close_with_comm(comm, keyval, held):
    held.close()


def _close_all(*_):
    for number in sorted(_open):
        if number in _open and not MPI.Is_finalized():
            _open[number].close()


_keyval = None


def context(comm):
    """The context of a communicator, made at its first use with the environment's options; that use is collective.

    A Context is returned as it is."""
    global _keyval
    if isinstance(comm, Context):
        return comm
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm is {comm!r}; expected a communicator of mpi4py or an hsumma.Context")
    if _keyval is None:
        _keyval = MPI.Comm.Create_keyval(delete_fn=_close_with_comm)
        MPI.COMM_SELF.Set_attr(MPI.Comm.Create_keyval(delete_fn=_close_all), None)  # deleted first in MPI_Finalize
    held = comm.Get_attr(_keyval)
    if held is None or held.closed:
        held = Context(comm)
        comm.Set_attr(_keyval, held)
    return held


atexit.register(_close_all)


def agree(context, prepare):
    """Calls prepare() on every process; returns all results by rank, or raises on all if it raises on one.

    Collective; for constructors, whose arguments differ between processes."""
    try:
        mine = None, prepare()
    except Exception as failure:
        mine = failure, None
    everyone = context.comm.allgather((mine[0] and (type(mine[0]), str(mine[0])), mine[1]))
    for rank, (failure, _) in enumerate(everyone):
        if failure:
            kind, said = failure
            raise (kind if kind in (TypeError, ValueError, IndexError, OSError, FileNotFoundError, MemoryError) else
                   ValueError)(f"process {rank}: {said}") from mine[0]
    return [value for _, value in everyone]
