"""Products: one call, like numpy.matmul, and plans."""
import ctypes as ct
import types

import numpy as np

from . import _explain
from ._arrays import DTYPES, current_stream, empty_like
from ._library import PlanInfo, lib
from ._matrix import Matrix, _Stored, _view

_GEMM = [getattr(lib, f"hsumma_{letter}gemm") for letter in "sdcz"]
_REALS = ct.c_float, ct.c_double, ct.c_float, ct.c_double
_TRANS = {"N": b"N", "T": b"T", "C": b"C"}


def _number(code, value):
    """A ctypes object with a scalar of the hsumma_type `code`."""
    if code < 2:
        return _REALS[code](value)
    value = complex(value)
    return (_REALS[code] * 2)(value.real, value.imag)


_KNOWN = {(code, value): _number(code, value) for code in range(4) for value in (0, 1)}


def _scalar(code, value, name):
    try:
        return _KNOWN[code, value]
    except (KeyError, TypeError):
        pass
    try:
        return _number(code, value)
    except TypeError:
        kind = next(dtype for dtype, known in DTYPES.items() if known == code)
        raise TypeError(f"{name} is {value!r}; expected a number that fits {kind}") from None


def _oriented(A, B, out, alpha, beta):
    """The product in the library's form, which has no transposed C: C^T = A B becomes C = B^T A^T."""
    for name, operand in ("A", A), ("B", B), ("out", out):
        if not isinstance(operand, Matrix):
            raise TypeError(f"{name} is a {type(operand).__name__}; expected an hsumma.Matrix")
    a, b, c = A._stored, B._stored, out._stored
    if a.dtype != b.dtype or a.dtype != c.dtype:
        raise TypeError(f"A, B and out are of {a.dtype}, {b.dtype} and {c.dtype}; expected one type (see astype)")
    (m, k), (inner, n) = A.shape, B.shape
    if k != inner or out.shape != (m, n):
        raise ValueError(f"A is {m} x {k}, B {inner} x {n} and out {out.shape[0]} x {out.shape[1]}; expected m x k, "
                         "k x n and m x n")
    if a.context is not c.context or b.context is not c.context:
        raise ValueError("A, B and out belong to different contexts; expected matrices of one communicator or Context")
    if not c.writeable:
        raise ValueError("out is read-only on some process; expected a writeable array")
    if a is c or b is c:
        raise ValueError("out shares its memory with A or B; expected a separate matrix, such as A.copy()")
    if out._trans == "T":
        return B.T, A.T, out.T, alpha, beta
    if out._trans == "C":
        return B.H, A.H, out.H, np.conj(alpha), np.conj(beta)
    return A, B, out, alpha, beta


def result_of(A, B):
    """A new matrix for A B: on A's grid, with the block sizes of A's rows and B's columns.

    Never raises on one process alone: without memory the pointer is None, which the library refuses on all."""
    if not isinstance(A, Matrix) or not isinstance(B, Matrix):
        raise TypeError(f"operands are {type(A).__name__} and {type(B).__name__}; expected two hsumma.Matrix objects")
    a, b = A._stored, B._stored
    block = None
    if not (a.whole and b.whole):
        block = tuple(max(1, -(-n // parts)) if stored.whole else size for n, parts, stored, size in
                      zip((A.shape[0], B.shape[1]), a.grid.shape, (a, b), (A.block[0], B.block[1])))
    made = _Stored(a.grid, block, (A.shape[0], B.shape[1]), a.dtype)
    try:
        made.hold(empty_like(a.array, made.local_shape, made.dtype))
    except MemoryError:
        made.array, made.pointer, made.writeable, made.on_device = None, None, True, False
    return _view(made)


def _run(where, operands, call, *arguments):
    """Calls the library; returns whether the caller must still synchronize.

    Device work is enqueued on the stream that the user has set, else on that of the arrays' own library. If there is no
    such stream, or several, the caller must synchronize."""
    a, b, c = operands
    wait = False
    if a.on_device or b.on_device or c.on_device:
        streams = {current_stream(stored.array) for stored in operands if stored.on_device} - {None}
        if where._stream is None and len(streams) == 1:
            where.check(lib.hsumma_set_stream(where.handle, streams.pop()))
        else:
            wait = where._stream is None
    status = call(*arguments)
    if status:
        where.check(status)
    return wait


def matmul(A, B, out=None, *, alpha=1, beta=0, options=None):
    """out = alpha A B + beta out, and returns out. Collective.

    A, B, out: matrices, views of them, or their transposes (A.T, A.H); out=None makes a new one. out must not overlap
    A or B. beta = 0 never reads out.
    options: "name=value ..." for this product alone, which is then planned anew; for many use an hsumma.Plan.
    Without options the context keeps the plan for the next call with the same shapes and layouts."""
    if out is None:
        out, beta = result_of(A, B), 0
    if options is not None:
        with Plan(A, B, out, options) as plan:
            plan.execute(alpha, beta)
        return out
    A, B, C, alpha, beta = _oriented(A, B, out, alpha, beta)
    a, b, c = A._stored, B._stored, C._stored
    where, code = c.context, c.code
    alpha, beta = _scalar(code, alpha, "alpha"), _scalar(code, beta, "beta")
    if _run(where, (a, b, c), _GEMM[code], where.handle, _TRANS[A._trans], _TRANS[B._trans], C.shape[0], C.shape[1],
            A.shape[1], alpha, a.pointer, A._at, b.pointer, B._at, beta, c.pointer, C._at):
        where.synchronize()
    return out


def _plain(value):
    """Converts a ctypes value to Python's."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, ct.Structure):
        return types.SimpleNamespace(**{name: _plain(getattr(value, name)) for name, *_ in value._fields_})
    if isinstance(value, ct.Array):
        return [_plain(item) for item in value]
    return value


class Plan:
    """One product C = alpha A B + beta C, checked, chosen and sized, to be executed any number of times.

    Plan(A, B, C, "lookahead=2 groups=auto") is collective; C=None makes a matrix for the result, plan.out.
    A notebook shows a plan as a picture; print(plan.explain()) prints text.
    Freed by close(), a with statement, the garbage collector (at the context's next call), or the context."""

    def __init__(self, A, B, C=None, options=None):
        self._handle = None
        self.out = result_of(A, B) if C is None else C
        self._given = A, B, self.out
        self._flip = self.out._trans if isinstance(self.out, Matrix) else "N"
        self._operands = A, B, C = _oriented(A, B, self.out, 1, 0)[:3]
        self.context, self._code = C.context, C._stored.code
        self._layouts = [self._key(operand) for operand in self._operands]
        handle = ct.c_void_p()
        where = self.context
        where.check(lib.hsumma_plan_create(where.handle, self._code, _TRANS[A._trans], _TRANS[B._trans], *C.shape,
                                           A.shape[1], A._at, B._at, C._at, options and options.encode(),
                                           ct.byref(handle)))
        self._handle = handle.value
        self._busy = None  # operands of the execution in progress, else None
        where._plans.add(self)

    @staticmethod
    def _key(operand):
        return operand._stored.layout() + (operand._part, operand._trans)

    @property
    def handle(self):
        if self._handle is None:
            raise ValueError("this plan has been closed, by close() or with its context; create a new one")
        return self._handle

    def _arguments(self, alpha, beta, A, B, C):
        if A is None and B is None and C is None:
            operands = self._operands
            if self._flip == "C":
                alpha, beta = np.conj(alpha), np.conj(beta)
        else:
            A, B, C = (given if new is None else new for given, new in zip(self._given, (A, B, C)))
            *operands, alpha, beta = _oriented(A, B, C, alpha, beta)
            for name, operand, layout in zip("ABC", operands, self._layouts):
                if self._key(operand) != layout:
                    raise ValueError(f"{name} is {operand!r}; expected the layout that the plan was created for")
        alpha, beta = _scalar(self._code, alpha, "alpha"), _scalar(self._code, beta, "beta")
        a, b, c = (operand._stored for operand in operands)
        return (self.handle, ct.byref(alpha), a.pointer, b.pointer, ct.byref(beta), c.pointer), (a, b, c, alpha, beta)

    def execute(self, alpha=1, beta=0, A=None, B=None, C=None):
        """C = alpha A B + beta C, and returns C; on other matrices of the same layouts if given. Collective."""
        arguments, held = self._arguments(alpha, beta, A, B, C)
        where = self.context
        where.handle  # reading the handle frees garbage-collected plans
        if _run(where, held[:3], lib.hsumma_plan_execute, *arguments):
            where.synchronize()
        return self.out if C is None else C

    def start(self, alpha=1, beta=0, A=None, B=None, C=None):
        """Starts an execution; test() or wait() complete it. Collective.

        Until then the matrices must not be touched, and no other plan of the context can run."""
        arguments, held = self._arguments(alpha, beta, A, B, C)
        where = self.context
        where.handle
        wait = _run(where, held[:3], lib.hsumma_plan_start, *arguments)
        self._busy = held, self.out if C is None else C, wait
        where._running.add(self)
        return self

    def test(self):
        """Progresses an execution that was started; true once it is complete. Local."""
        if self._busy is None:
            return True
        done = ct.c_int()
        self._ended(lib.hsumma_plan_test(self.handle, ct.byref(done)), done.value)
        return self._busy is None

    def wait(self):
        """Waits for an execution that was started, and returns C."""
        result = self._busy[1] if self._busy else self.out
        if self._busy:
            self._ended(lib.hsumma_plan_wait(self.handle), True)
        return result

    def _ended(self, status, done):
        wait = self._busy[2]
        if status or done:
            self._busy = None
            self.context._running.discard(self)
        self.context.check(status)
        if done and wait:
            self.context.synchronize()

    @property
    def info(self):
        """hsumma_plan_info: what was chosen and why, predicted seconds and bytes, times of the last execution.
        Local."""
        info = PlanInfo()
        lib.hsumma_plan_query(self.handle, ct.byref(info))
        found = _plain(info)
        found.level, found.rival = found.level[:found.nlevels], found.rival[:found.nrivals]
        return found

    def explain(self):
        """The plan as text: what it does, why, and the predicted cost. Local."""
        return _explain.as_text(self)

    def _repr_svg_(self):
        return _explain.as_svg(self)

    def close(self):
        """Frees the plan; waits for an execution in progress."""
        if self._handle is not None:
            handle, self._handle = ct.c_void_p(self._handle), None
            self._busy = None
            self.context._running.discard(self)
            lib.hsumma_plan_free(ct.byref(handle))

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            self.context._dead.append(self._handle)

    def __repr__(self):
        return "<hsumma.Plan, closed>" if self._handle is None else f"<hsumma.Plan {self.info.line}>"
