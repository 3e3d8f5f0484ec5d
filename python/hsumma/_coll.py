"""Collectives of libhsumma on contiguous arrays, of NumPy or in device memory.

Each has a nonblocking form that starts the call and returns a Request: iallreduce and so on."""
import ctypes as ct

import numpy as np

from ._arrays import Memory, empty_like
from ._context import context
from ._library import Coll, Operator, lib

_COLLECTIVES = {"bcast": 0, "reduce": 1, "allreduce": 2, "allgather": 3, "reduce_scatter": 4}
_ELEMENTS = {np.dtype(kind): code for code, kind in
             enumerate((np.float32, np.float64, np.complex64, np.complex128, np.int32, np.int64))}
_OPERATORS = {"sum": 0, "max": 1, "min": 2}


class Request:
    """A collective that has been started; do not touch its arrays until test() is true or wait() has returned.

    A request that is dropped continues, and is completed when its context closes."""

    def __init__(self, where, call, result, held):
        self._context, self._result, self._held = where, result, (call, held)
        self._handle = ct.c_void_p()
        where.check(lib.hsumma_coll_start(where.handle, ct.byref(call), ct.byref(self._handle)))
        where._running.add(self)

    def test(self):
        """Progresses the call; true once it is complete."""
        if self._held is None:
            return True
        done = ct.c_int()
        self._context.check(lib.hsumma_coll_test(self._handle, ct.byref(done)))
        if done.value:
            self.wait()
        return bool(done.value)

    def wait(self):
        """Waits for completion and returns the result of the blocking call."""
        if self._held is not None:
            self._context._running.discard(self)
            try:
                self._context.check(lib.hsumma_coll_wait(ct.byref(self._handle)))
            finally:
                self._held = None
        return self._result


def _by_rows(array, name, copy):
    """The array's memory, contiguous by rows. With `copy` other NumPy arrays are copied, otherwise they are refused."""
    if isinstance(array, np.ndarray):
        by_rows = array.flags.c_contiguous
        if copy and not by_rows:
            array, by_rows = np.array(array, order="C"), True
        memory = Memory(array)
    else:
        memory = Memory(array)
        by_rows = memory.is_by_rows()
    if not by_rows:
        raise ValueError(f"{name} of shape {memory.shape} has strides {memory.strides}; expected a contiguous array "
                         "in row-major order (order=\"C\")")
    return memory


def _prepare(where, name, array, op, root, out):
    """(the library's call structure, the result of the call, the Memory objects that it uses)."""
    parts = where.size
    call = Coll(collective=_COLLECTIVES[name], root=root)
    if op is not None and op not in _OPERATORS:
        raise ValueError(f"op is {op!r}; expected one of {', '.join(_OPERATORS)}")
    has_out = name != "reduce" or where.rank == root
    source = _by_rows(array, "array", copy=name != "bcast" and out is not array)
    if name == "reduce_scatter" and source.shape[:1] != (parts,):
        raise ValueError(f"array has shape {source.shape}; expected ({parts}, ...), one part for each process")
    shape = {"allgather": (parts, *source.shape), "reduce_scatter": source.shape[1:]}.get(name, source.shape)
    if name == "bcast":
        out, target = array, source
    elif not has_out:
        out, target = None, None
    else:
        out = empty_like(array, shape, source.dtype, "C") if out is None else out
        target = _by_rows(out, "out", copy=False)
        if target.shape != shape or target.dtype != source.dtype:
            raise ValueError(f"out has shape {target.shape} and dtype {target.dtype}; expected {shape} and {source.dtype}")
    if target is not None and not target.writeable and not (name == "bcast" and where.rank == root):
        raise ValueError("the result array is read-only; expected a writeable array")
    call.count = source.size // parts if name == "reduce_scatter" else source.size
    call.size = source.dtype.itemsize
    call.out = target and target.pointer
    if name != "bcast":
        call.in_ = source.pointer
    if op is not None:
        if source.dtype not in _ELEMENTS:
            raise TypeError(f"dtype is {source.dtype}; expected one of {', '.join(map(str, _ELEMENTS))}")
        call.op = Operator(op=_OPERATORS[op], element=_ELEMENTS[source.dtype])
    return call, out, (source, target)


def _do(comm, collective, array, op=None, root=0, out=None, algorithm=None, start=False):
    where = context(comm)
    handle = where.handle
    try:
        call, result, held = _prepare(where, collective, array, op, root, out)
        call.algorithm = algorithm and algorithm.encode()
    except Exception:
        if where.checks_always:  # an invalid call: makes the other processes' calls fail, too
            lib.hsumma_coll_run(handle, ct.byref(Coll(collective=_COLLECTIVES[collective], count=-1, root=root)))
        raise
    if start:
        return Request(where, call, result, held)
    status = lib.hsumma_coll_run(handle, ct.byref(call))
    if status:
        where.check(status)
    return result


_OP = '''    op: "sum", "max" or "min" of float32, float64, int32 or int64; of complex64 or complex128 only "sum".
'''
_ALGORITHM = '''    algorithm: such as "ring" or "dpml(l=4)"; default: the library's choice.  Collective.
    Arrays are contiguous by rows; a noncontiguous NumPy array that is only read is copied.  An error in one process's
    array is raised on that process only; with the context's option check=always on all processes.'''


def bcast(comm, array, root=0, *, algorithm=None):
    """Broadcasts root's array to every process, in place; any dtype."""
    return _do(comm, "bcast", array, None, root, None, algorithm)


def reduce(comm, array, op="sum", root=0, *, out=None, algorithm=None):
    """Reduces all processes' arrays by op on root, into out or a new array; returns None on other processes."""
    return _do(comm, "reduce", array, op, root, out, algorithm)


def allreduce(comm, array, op="sum", *, out=None, algorithm=None):
    """Reduces all processes' arrays by op, on every process into out (which may be array itself) or a new array."""
    return _do(comm, "allreduce", array, op, 0, out, algorithm)


def allgather(comm, array, *, out=None, algorithm=None):
    """Gathers all processes' arrays, of equal shape, stacked: shape (processes, *array.shape); any dtype."""
    return _do(comm, "allgather", array, None, 0, out, algorithm)


def reduce_scatter(comm, array, op="sum", *, out=None, algorithm=None):
    """Reduces arrays of shape (processes, ...) by op; each process receives the result of part array[rank]."""
    return _do(comm, "reduce_scatter", array, op, 0, out, algorithm)


def ibcast(comm, array, root=0, *, algorithm=None):
    return _do(comm, "bcast", array, None, root, None, algorithm, start=True)


def ireduce(comm, array, op="sum", root=0, *, out=None, algorithm=None):
    return _do(comm, "reduce", array, op, root, out, algorithm, start=True)


def iallreduce(comm, array, op="sum", *, out=None, algorithm=None):
    return _do(comm, "allreduce", array, op, 0, out, algorithm, start=True)


def iallgather(comm, array, *, out=None, algorithm=None):
    return _do(comm, "allgather", array, None, 0, out, algorithm, start=True)


def ireduce_scatter(comm, array, op="sum", *, out=None, algorithm=None):
    return _do(comm, "reduce_scatter", array, op, 0, out, algorithm, start=True)


for _function in (bcast, reduce, allreduce, allgather, reduce_scatter):
    _started = globals()["i" + _function.__name__]
    _started.__doc__ = f"Starts {_function.__name__} and returns a Request, whose wait() returns its result.  Collective."
    _function.__doc__ += "\n\n" + _OP * ("op" in _function.__code__.co_varnames) + _ALGORITHM
