"""Distributed matrices: blocks of a stored matrix on a grid, and views of them."""
import ctypes as ct
import operator

import numpy as np

from . import _npy
from ._arrays import Memory, empty_like, type_code
from ._context import Grid, agree, context
from ._library import Desc, lib


def axis_indices(n, block, processes, place):
    """The ascending global indices of the rows or columns of the process at `place`, a grid coordinate."""
    if place < 0:
        return np.empty(0, np.int64)
    first = np.arange(place * block, n, block * processes, dtype=np.int64)
    found = (first[:, None] + np.arange(min(block, max(n, 1)), dtype=np.int64)).ravel()
    return found[found < n]


class _Stored:
    """A whole matrix as stored: this process's part, and the layout, which is equal on all processes."""

    def __init__(self, grid, block, shape, dtype):
        self.context, self.grid, self.dtype = grid.context, grid, np.dtype(dtype)
        self.code = type_code(self.dtype)
        self.shape = tuple(operator.index(n) for n in shape)
        if len(self.shape) != 2 or min(self.shape) < 0:
            raise ValueError(f"shape is {shape}; expected (rows, columns), neither negative")
        self.whole = block is None  # one block per process
        if self.whole:
            self.block = tuple(max(1, -(-n // parts)) for n, parts in zip(self.shape, grid.shape))
        else:
            self.block = (block, block) if np.ndim(block) == 0 else tuple(block)
            self.block = tuple(operator.index(n) for n in self.block)
            if len(self.block) != 2 or min(self.block) < 1:
                raise ValueError(f"block is {block}; expected a positive integer, or a pair (rows, columns) of them")
        self.desc = Desc()
        lib.hsumma_desc_init(ct.byref(self.desc), grid._handle, *self.shape, *self.block)
        self.local_shape = lib.hsumma_local_rows(ct.byref(self.desc)), lib.hsumma_local_cols(ct.byref(self.desc))
        self.lds = None  # leading dimensions on all processes; None: the default ones
        self._indices = [None, None]

    def hold(self, array, stream=None):
        """Sets the memory of this process's part to that of `array`."""
        memory = Memory(array, stream)
        if memory.dtype != self.dtype:
            raise TypeError(f"the local array has dtype {memory.dtype}; expected {self.dtype}")
        if memory.shape != self.local_shape:
            raise ValueError(f"the local array is {_by(memory.shape)}; expected {_by(self.local_shape)}, this process's "
                             f"part of {_by(self.shape)} in blocks of {_by(self.block)} on {_by(self.grid.shape)} "
                             "processes")
        self.desc.ld = memory.leading_dimension()
        self.array, self.memory = array, memory
        self.pointer, self.on_device = memory.pointer, memory.on_device
        self.writeable = memory.writeable
        return self

    def indices(self, axis):
        if self._indices[axis] is None:
            place = (self.grid.row, self.grid.col)[axis]
            self._indices[axis] = axis_indices(self.shape[axis], self.block[axis], self.grid.shape[axis], place)
        return self._indices[axis]

    def layout(self):
        """The properties of the matrix on which a plan depends."""
        return self.grid, self.shape, self.block, self.dtype, self.lds


def _by(pair):
    return " x ".join(map(str, pair))


def _layout_of(where, grid, block, like):
    """The (grid, block size) for a constructor's arguments."""
    if like is not None:
        stored = like._stored
        if block is None and not stored.whole:
            block = stored.block
        grid = stored.grid if grid is None else grid
    if isinstance(grid, Grid):
        return grid, block
    return where.grid(*(grid or ())), block


def _refuse_factor(other):
    raise TypeError(f"the other factor is a {type(other).__name__}; expected an hsumma.Matrix, such as "
                    "hsumma.Matrix(comm, array)")


class Matrix:
    """A distributed matrix of float32, float64, complex64 or complex128; or a view of one (A.T, A.H, A[2:5, :]).

    Matrix(comm, array) copies each process's part of a global array. Either all processes pass the same array, or one
    does: Matrix(comm, array, root=0), where the others may pass None. Collective, as all constructors are.

    comm: a communicator of mpi4py, or an hsumma.Context.
    dtype: the elements' type, to which the array is converted; default: the array's.
    grid: (rows, columns) of processes, or an hsumma.Grid; default: all processes, as nearly square as possible.
    block: rows and columns of a ScaLAPACK block, one number or a pair; default: one block per process.
    like: another matrix, whose grid and blocks replace a grid or block that is not given.

    An error on one process raises on all. Matrix.from_local wraps arrays without a copy."""

    __slots__ = ("_stored", "_part", "_trans", "shape", "_desc", "_at", "__weakref__")
    __array_ufunc__ = None  # NumPy leaves operators to this class
    __hash__ = object.__hash__

    def __new__(cls, comm, array=None, *, root=None, dtype=None, grid=None, block=None, like=None):
        where = context(comm)
        if root is not None and not 0 <= operator.index(root) < where.size:
            raise ValueError(f"root is {root}; expected 0 to {where.size - 1}")

        def prepare():
            if root is not None and root != where.rank:
                return None
            if array is None:
                raise ValueError("array is None; expected the global array (pass root= if only one process has it)")
            given = np.asarray(array, dtype)
            type_code(given.dtype)
            if given.ndim != 2:
                raise ValueError(f"array has {given.ndim} dimensions; expected 2")
            return given.shape, given.dtype.str

        given = agree(where, prepare)
        common = given[root or 0]
        for rank, other in enumerate(given if root is None else []):
            if other != common:
                raise ValueError(f"process {rank}: array has shape {other[0]} and dtype {other[1]}, that of process 0 "
                                 f"has {common[0]} and {common[1]}; expected the same global array on all processes")
        made = cls.zeros(where, common[0], common[1], grid=grid, block=block, like=like)
        if root is None:
            made.local[...] = _pick(np.asarray(array, dtype), made.rows, made.cols)
            return made
        source = _Stored(where.grid(1, 1, "R", [root]), None, common[0], common[1])
        source.hold(np.asfortranarray(array, dtype) if where.rank == root else np.empty(source.local_shape, source.dtype, "F"))
        _copy(_view(source), made)
        return made

    @classmethod
    def from_local(cls, comm, local, shape=None, *, grid=None, block=None, like=None):
        """A matrix whose blocks are the processes' own arrays, without a copy: changes to either show in the other.

        local: this process's block, with contiguous columns (order="F", or a part of such an array): a NumPy array, or
        one in device memory with __cuda_array_interface__ or __dlpack__; None if the process owns no part.
        shape: of the whole matrix; default: the sum of the blocks, one per process."""
        where = context(comm)
        place, block = _layout_of(where, grid, block, like)

        def look():
            if local is None:
                return None
            memory = Memory(local)
            if len(memory.shape) != 2:
                raise ValueError(f"the local array has {len(memory.shape)} dimensions; expected 2")
            return memory.shape, memory.dtype.str

        blocks = agree(where, look)
        kinds = sorted({given[1] for given in blocks if given})
        if len(kinds) != 1:
            raise TypeError(f"local arrays have dtypes {kinds}; expected one dtype, and an array on at least one "
                            "process")
        if shape is None:
            if block is not None:
                raise ValueError("block is given without shape; pass the shape of the whole matrix, too")
            at = [[blocks[place.rank(row, col)] or ((0, 0),) for col in range(place.npcol)]
                  for row in range(place.nprow)]
            shape = sum(line[0][0][0] for line in at), sum(given[0][1] for given in at[0])
        stored = _Stored(place, block, shape, kinds[0])

        def hold():
            nothing = np.empty(stored.local_shape if 0 in stored.local_shape else (0, 0), stored.dtype, "F")
            stored.hold(nothing if local is None else local, lib.hsumma_stream(where.handle))
            return stored.desc.ld, stored.desc.ld == max(1, stored.local_shape[0]), stored.writeable, stored.on_device

        lds, usual, writeable, on_device = zip(*agree(where, hold))
        stored.lds = None if all(usual) else lds
        stored.writeable, stored.on_device = all(writeable), any(on_device)
        return _view(stored)

    @classmethod
    def zeros(cls, comm, shape, dtype=np.float64, *, grid=None, block=None, like=None, shared=False):
        """Zeros. shared: in memory that the node's other processes read in place (hsumma_malloc).

        If the context has a device, shared memory is the device's, and not initialised. Do not use it after the context
        is closed."""
        where = context(comm)
        stored = _Stored(*_layout_of(where, grid, block, like), shape, dtype)
        if shared:
            return _view(stored.hold(where._shared_array(stored.local_shape, stored.dtype)))
        return _allocated(stored, np.zeros)

    @classmethod
    def empty(cls, comm, shape, dtype=np.float64, *, grid=None, block=None, like=None):
        """A matrix that is not initialised."""
        where = context(comm)
        return _allocated(_Stored(*_layout_of(where, grid, block, like), shape, dtype), np.empty)

    @classmethod
    def from_function(cls, comm, function, shape, dtype=np.float64, *, grid=None, block=None, like=None):
        """function(i, j) for each element, called once per process with arrays of its global indices.

        As numpy.fromfunction does."""
        made = cls.zeros(comm, shape, dtype, grid=grid, block=block, like=like)

        def fill():
            made.local[...] = function(made.rows[:, None], made.cols[None, :])

        agree(made.context, fill)
        return made

    @classmethod
    def from_npy(cls, comm, path, *, grid=None, block=None, like=None):
        """The matrix in a .npy file, of which each process reads one contiguous piece."""
        where = context(comm)
        shape, dtype, by_columns, offset = _npy.read_header(where, path)
        pieces = cls.empty(where, shape, dtype.newbyteorder("="), grid=_npy.grid_of(where, by_columns))
        _npy.read(pieces._stored, path, dtype, by_columns, offset)
        return pieces.redistribute(grid=grid, block=block, like=like)

    def to_npy(self, path, order="F"):
        """Writes a .npy file, each process one contiguous piece. order: 'F' or 'C', the order of elements in the file.

        An existing file is replaced only when the new one is complete."""
        if order not in ("F", "C"):
            raise ValueError(f"order is {order!r}; expected 'F' or 'C'")
        if self._trans == "C":
            raise NotImplementedError("A.H cannot be written: write A, or a conjugated copy")
        # a transpose in one order has the same bytes as the stored matrix in the other
        by_columns = (order == "F") == (self._trans == "N")
        pieces = self._plain().redistribute(grid=_npy.grid_of(self.context, by_columns))
        _npy.write(pieces._stored, path, self.shape, order == "F", by_columns)

    @property
    def dtype(self):
        return self._stored.dtype

    @property
    def context(self):
        return self._stored.context

    @property
    def comm(self):
        return self._stored.context.comm

    @property
    def grid(self):
        return self._stored.grid

    @property
    def block(self):
        """Rows and columns of a block, of the matrix as shown: for A.T those of A exchanged."""
        return self._stored.block if self._trans == "N" else self._stored.block[::-1]

    @property
    def ndim(self):
        return 2

    @property
    def size(self):
        return self.shape[0] * self.shape[1]

    @property
    def T(self):
        """The transpose, a view."""
        if self._trans == "C":
            raise NotImplementedError("A.H.T, a conjugate without transpose, cannot be a view: conjugate A.local")
        i, j, m, n = self._part
        return _view(self._stored, (i, j, m, n), "T" if self._trans == "N" else "N")

    @property
    def H(self):
        """The conjugate transpose, a view."""
        if self.dtype.kind != "c":
            return self.T
        if self._trans == "T":
            raise NotImplementedError("A.T.H, a conjugate without transpose, cannot be a view: conjugate A.local")
        return _view(self._stored, self._part, "C" if self._trans == "N" else "N")

    def __getitem__(self, key):
        """A[i0:i1, j0:j1], a view; steps must be 1."""
        if self._trans == "T":
            return self.T[key[::-1] if isinstance(key, tuple) and len(key) == 2 else (slice(None), key)].T
        if self._trans == "C":
            return self.H[key[::-1] if isinstance(key, tuple) and len(key) == 2 else (slice(None), key)].H
        key = key if isinstance(key, tuple) else (key,)
        key = tuple(slice(None) if part is Ellipsis else part for part in key) + (slice(None),) * (2 - len(key))
        if len(key) != 2 or not all(isinstance(part, slice) and part.step in (None, 1) for part in key):
            raise IndexError(f"index {key}; expected slices with step 1, such as A[2:5, :] (for elements see A.local)")
        (i0, i1, _), (j0, j1, _) = (part.indices(n) for part, n in zip(key, self.shape))
        i, j, _, _ = self._part
        return _view(self._stored, (i + i0, j + j0, max(0, i1 - i0), max(0, j1 - j0)))

    def _range(self, axis):
        """The slice of this process's stored rows (axis 0) or columns that belong to the view."""
        held, first, count = self._stored.indices(axis), self._part[axis], self._part[2 + axis]
        return slice(*np.searchsorted(held, (first, first + count)).tolist())

    def _global(self, axis):
        axis = axis if self._trans == "N" else 1 - axis
        return self._stored.indices(axis)[self._range(axis)] - self._part[axis]

    @property
    def rows(self):
        """Global indices of the rows of A.local."""
        return self._global(0)

    @property
    def cols(self):
        """Global indices of the columns of A.local."""
        return self._global(1)

    @property
    def local(self):
        """This process's part, as an array without a copy: A.local[x, y] is A[A.rows[x], A.cols[y]]. Local."""
        if self._trans == "C":
            raise NotImplementedError("A.H.local would need a copy: use A.local.conj().T")
        held = self._stored.array
        if self._part != (0, 0, *self._stored.shape):
            held = held[self._range(0), self._range(1)]
        return held if self._trans == "N" else held.T

    def gather(self, root=0):
        """The whole matrix as a NumPy array on root, None on others; root=None: on all processes. Collective."""
        where, (_, _, m, n) = self.context, self._part
        if root is None:
            target = _Stored(where.grid(1, where.size, "R"), (max(m, 1), max(n, 1)), (m, n), self.dtype)
            target.desc.rsrc = target.desc.csrc = -1  # every process owns all elements
            target.local_shape = m, n
        else:
            if not 0 <= operator.index(root) < where.size:
                raise ValueError(f"root is {root}; expected 0 to {where.size - 1}, or None")
            target = _Stored(where.grid(1, 1, "R", [root]), None, (m, n), self.dtype)
        _copy(self._plain(), _allocated(target, np.empty))
        if root is not None and root != where.rank:
            return None
        return {"N": target.array, "T": target.array.T}[self._trans] if self._trans != "C" else target.array.conj().T

    def redistribute(self, *, grid=None, block=None, like=None):
        """A copy on another grid or in other blocks; default: one block per process on all processes. Collective."""
        if self._trans == "C":
            raise NotImplementedError("A.H cannot be redistributed: redistribute A, and take .H of the result")
        if self._trans == "T":
            if block is not None and np.ndim(block):
                block = tuple(block)[::-1]
            return self.T.redistribute(grid=grid, block=block, like=like).T
        made = Matrix.zeros(self.context, self.shape, self.dtype, grid=grid, block=block, like=like)
        _copy(self, made)
        return made

    def copy(self):
        """A copy on the same grid, in blocks of the same size or one per process. Collective for a part of a matrix."""
        return self.astype(self.dtype)

    def astype(self, dtype):
        """A copy with another element type. Collective if this is a part of a matrix."""
        whole = self._whole()
        stored = whole._stored
        made = _Stored(stored.grid, None if stored.whole else stored.block, stored.shape, dtype)
        local = empty_like(stored.array, made.local_shape, made.dtype)
        local[...] = stored.array
        return _view(made.hold(local), None, whole._trans)

    def __matmul__(self, other):
        from ._product import matmul
        return matmul(self, other) if isinstance(other, Matrix) else _refuse_factor(other)

    def __rmatmul__(self, other):
        _refuse_factor(other)

    def __array__(self, *_, **__):
        raise TypeError("a distributed matrix is not an array: A.local is this process's part, A.gather() the whole")

    def __repr__(self):
        part = "" if self._part == (0, 0, *self._stored.shape) else f", part of {_by(self._stored.shape)}"
        trans = {"N": "", "T": ", transposed", "C": ", conjugate transposed"}[self._trans]
        blocks = "one block per process" if self._stored.whole else f"blocks of {_by(self._stored.block)}"
        return f"<hsumma.Matrix {_by(self.shape)} {self.dtype}, {blocks} on {_by(self.grid.shape)} processes{part}{trans}>"

    def _plain(self):
        """A view of the same part of the matrix without transposition."""
        return _view(self._stored, self._part) if self._trans != "N" else self

    def _whole(self):
        """The matrix itself if it is a view of all stored elements, else a copy of the part."""
        if self._part == (0, 0, *self._stored.shape):
            return self
        copied = self._plain().redistribute(like=self)
        return _view(copied._stored, None, self._trans)


def _allocated(stored, allocate):
    """A matrix in new memory. Collective: if one process lacks memory, all raise."""
    agree(stored.context, lambda: stored.hold(allocate(stored.local_shape, stored.dtype, order="F")) and None)
    return _view(stored)


def _pick(array, rows, cols):
    """array[rows, cols] for ascending indices; a view without a copy if both are ranges."""
    if len(rows) and len(cols) and rows[-1] - rows[0] == len(rows) - 1 and cols[-1] - cols[0] == len(cols) - 1:
        return array[rows[0]:rows[-1] + 1, cols[0]:cols[-1] + 1]
    return array[np.ix_(rows, cols)]


def _view(stored, part=None, trans="N"):
    made = object.__new__(Matrix)
    made._stored, made._trans = stored, trans
    made._part = part or (0, 0, *stored.shape)
    made.shape = made._part[2:] if trans == "N" else made._part[:1:-1]
    made._desc = Desc.from_buffer_copy(stored.desc)
    made._desc.i, made._desc.j = made._part[:2]
    made._at = ct.addressof(made._desc)
    return made


def _copy(source, target):
    """Copies a matrix into another of the same shape, whatever their layouts. Collective."""
    where = source.context
    where.check(lib.hsumma_redistribute(where.handle, source._stored.code, *source.shape, source._stored.pointer or None,
                                        source._at, target._stored.pointer or None, target._at))
