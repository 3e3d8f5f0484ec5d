""".npy files. Each process reads or writes one piece of the file, whole columns or rows; hsumma_redistribute converts
between those pieces and the matrix's layout."""
import os

import numpy as np

from ._arrays import type_code
from ._context import agree


def read_header(where, path):
    """(shape, dtype, whether it is stored by columns, offset of the first element), read by process 0.

    Collective."""

    def look():
        if where.rank:
            return None
        try:
            with open(path, "rb") as file:
                version = np.lib.format.read_magic(file)
                reader = {(1, 0): "read_array_header_1_0", (2, 0): "read_array_header_2_0"}.get(version)
                if reader is None:
                    raise ValueError(f"format version {version}; expected 1.0 or 2.0")
                shape, by_columns, dtype = getattr(np.lib.format, reader)(file)
                offset = file.tell()
        except ValueError as why:
            raise ValueError(f"{path} cannot be read as a .npy file: {why}") from None
        if len(shape) != 2:
            raise ValueError(f"{path} holds an array of {len(shape)} dimensions; expected 2")
        type_code(dtype.newbyteorder("="))
        expected = offset + shape[0] * shape[1] * dtype.itemsize
        if os.path.getsize(path) < expected:
            raise ValueError(f"{path} is cut short: {os.path.getsize(path)} bytes; expected {expected}")
        return shape, dtype, by_columns, offset

    return agree(where, look)[0]


def grid_of(where, by_columns):
    """The grid on which a layout of one block per process has one contiguous piece of the file per process."""
    return where.grid(1, where.size, "R") if by_columns else where.grid(where.size, 1, "R")


def _place(stored, by_columns, offset):
    """The offset of this process's piece in the file, in bytes."""
    axis = 1 if by_columns else 0
    place = stored.grid.col if by_columns else stored.grid.row
    return offset + min(place * stored.block[axis], stored.shape[axis]) * stored.shape[1 - axis] * stored.dtype.itemsize


def read(stored, path, dtype, by_columns, offset):
    """Reads this process's piece of the file into `stored`, a matrix on the grid of grid_of. Collective."""

    def fill():
        found = np.fromfile(path, dtype, stored.array.size, offset=_place(stored, by_columns, offset))
        stored.array[...] = found.reshape(stored.array.shape, order="F" if by_columns else "C")

    agree(stored.context, fill)


def write(stored, path, shape, fortran_order, by_columns):
    """Writes a header with shape and fortran_order, then the pieces. Collective.

    The file appears, or replaces an existing one, when it is complete."""
    where, path = stored.context, os.path.abspath(os.fspath(path))
    folder, name = os.path.split(path)

    def begin():
        if where.rank:
            return None
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"cannot write {path}: there is no directory {folder}; make it first")
        part = os.path.join(folder, f".{name}.part-{os.getpid()}")
        with open(part, "wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": stored.dtype.str, "fortran_order": fortran_order,
                                                        "shape": shape})
            return part, file.tell()

    def put():
        with open(part, "r+b") as file:
            file.seek(_place(stored, by_columns, offset))
            (stored.array.T if by_columns else np.ascontiguousarray(stored.array)).tofile(file)
            file.flush()
            os.fsync(file.fileno())

    part, offset = agree(where, begin)[0]
    try:
        agree(where, put)
        agree(where, lambda: where.rank or os.replace(part, path))
    finally:
        if where.rank == 0 and os.path.exists(part):
            os.remove(part)
