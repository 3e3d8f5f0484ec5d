"""Distributed matrices: construction, views, copies, gathering."""
import os

import numpy as np
import pytest
from conftest import random

import hsumma
from hsumma._matrix import axis_indices


@pytest.mark.parametrize("block", [None, 3, (4, 2)])
def test_a_global_array_is_spread_and_gathered(comm, everywhere, block):
    a = random((17, 13))
    A = hsumma.Matrix(comm, a, block=block)
    assert A.shape == (17, 13) and A.dtype == a.dtype and everywhere(np.array_equal(A.local, a[np.ix_(A.rows, A.cols)]))
    assert comm.allreduce(A.local.size) == a.size
    for root in range(comm.size):
        found = A.gather(root)
        assert everywhere(np.array_equal(found, a) if comm.rank == root else found is None)
    assert everywhere(np.array_equal(A.gather(None), a))


def test_one_process_has_the_array(comm, everywhere):
    a, root = random((9, 11), np.complex64), comm.size - 1
    A = hsumma.Matrix(comm, a if comm.rank == root else None, root=root, block=2)
    assert everywhere(np.array_equal(A.gather(None), a))


def test_indices_are_those_of_the_library(comm, everywhere):
    A = hsumma.Matrix.zeros(comm, (23, 31), block=(3, 4))
    assert everywhere(A.local.shape == (len(A.rows), len(A.cols)))
    for n, block, parts in ((10, 3, 2), (3, 5, 4), (0, 1, 3)):
        owned = np.concatenate([axis_indices(n, block, parts, place) for place in range(parts)])
        assert sorted(owned.tolist()) == list(range(n))


def test_views_of_parts_and_transposes(comm, everywhere):
    a = random((12, 15), np.complex128)
    A = hsumma.Matrix(comm, a, block=2)
    for view, expected in ((A[3:9, 1:], a[3:9, 1:]), (A.T[2:, :5], a.T[2:, :5]), (A[4:], a[4:]), (A[..., :3], a[..., :3]),
                           (A.H[1:4], a.conj().T[1:4]), (A.T.T, a), (A.H.H, a), (A[5:5], a[5:5]), (A[3:9][1:3], a[4:6])):
        assert view.shape == expected.shape and everywhere(np.array_equal(view.gather(None), expected))
    part = A[3:9, 1:].T
    assert everywhere(np.array_equal(part.local, a[3:9, 1:].T[np.ix_(part.rows, part.cols)]))
    part.local[...] = 0
    assert everywhere(not A.gather(None)[3:9, 1:].any()) and everywhere(np.shares_memory(A.T.local, A.local))


def test_local_arrays_are_not_copied(comm, everywhere):
    A = hsumma.Matrix(comm, random((10, 12)))
    rows, cols = A.local.shape
    room = np.zeros((rows + 3, cols + 1), order="F")
    for local in (np.asfortranarray(A.local), room[2:2 + rows, :cols]):
        local[...] = A.local
        B = hsumma.Matrix.from_local(comm, local, A.shape)
        assert everywhere(B.local is local and np.array_equal(B.gather(None), A.gather(None)))
        assert everywhere(np.array_equal((B.T @ B).gather(None), (A.T @ A).gather(None)))
    C = hsumma.Matrix.from_local(comm, room[:rows, :cols])
    assert C.shape == A.shape


def test_results_go_into_a_part_of_a_larger_array(comm, everywhere):
    a = random((10, 12))
    A, like = hsumma.Matrix(comm, a), hsumma.Matrix.zeros(comm, (10, 10))
    rows, cols = like.local.shape
    room = np.full((rows + 2, cols), 7.0, order="F")
    C = hsumma.Matrix.from_local(comm, room[:rows], (10, 10))
    hsumma.matmul(A, A.T, out=C)
    assert everywhere(np.array_equal(room[:rows], (A @ A.T).local) and (room[rows:] == 7).all())


def test_arrays_that_do_not_fit_are_refused_everywhere(comm, refused):
    one = comm.rank == comm.size - 1
    a = random((6, 8))
    where = f"process {comm.size - 1}: "
    refused(TypeError, ["int64"], hsumma.Matrix, comm, np.ones((2, 2), np.int64))
    refused(TypeError, [where, "int64"], hsumma.Matrix, comm, np.ones((6, 8), np.int64) if one else a)
    refused(ValueError, [where, "dimensions"], hsumma.Matrix, comm, a[0] if one else a)
    refused(ValueError, [where, "None"], hsumma.Matrix, comm, None if one else a)
    if comm.size > 1:
        refused(ValueError, [where, "(5, 8)"], hsumma.Matrix, comm, a[:5] if one else a)
    refused(ValueError, ["root is 99"], hsumma.Matrix, comm, a, root=99)
    good = hsumma.Matrix(comm, a).local
    by_rows = np.zeros((good.shape[0] * 2, good.shape[1] * 2))[::2, ::2]
    refused(ValueError, [where, "strides", "order=\"F\""], hsumma.Matrix.from_local, comm, by_rows if one else good, (6, 8))
    refused(ValueError, [where, "expected"], hsumma.Matrix.from_local, comm, good[1:] if one else good, (6, 8))
    refused(TypeError, [where, "list"], hsumma.Matrix.from_local, comm, [1] if one else good, (6, 8))
    refused(TypeError, ["dtype"], hsumma.Matrix.from_local, comm, good.astype(">f8"), (6, 8))
    refused(TypeError, ["comm is 3"], hsumma.Matrix, 3, a)
    refused(ValueError, ["block"], hsumma.Matrix, comm, a, block=0)
    refused(ValueError, ["nprow is 0, npcol is 1"], hsumma.Matrix, comm, a, grid=(0, 1))
    refused(IndexError, ["step"], lambda: hsumma.Matrix(comm, a)[::2])
    refused(TypeError, ["gather"], np.asarray, hsumma.Matrix(comm, a))


def test_other_grids_and_blocks(comm, everywhere):
    a = random((14, 9), np.float32)
    A = hsumma.Matrix(comm, a, grid=(comm.size, 1), block=(2, 9))
    B = A.redistribute(grid=(1, comm.size), block=1)
    assert B.grid.shape == (1, comm.size) and everywhere(np.array_equal(B.gather(None), a))
    assert everywhere(np.array_equal(A.T.redistribute(block=(3, 1)).gather(None), a.T))
    assert everywhere(np.array_equal(A.copy().gather(None), a) and not np.shares_memory(A.copy().local, A.local))
    assert everywhere(np.array_equal(A[2:5].copy().gather(None), a[2:5]))
    assert A.astype(np.float64).dtype == np.float64
    one = hsumma.Matrix(comm, a, grid=(1, 1))
    assert comm.allgather(one.local.size) == [a.size] + [0] * (comm.size - 1)
    assert everywhere(np.array_equal(one.gather(None), a))


def test_from_function(comm, everywhere):
    A = hsumma.Matrix.from_function(comm, lambda i, j: 10 * i + j, (7, 5), block=2)
    assert everywhere(np.array_equal(A.gather(None), np.fromfunction(lambda i, j: 10 * i + j, (7, 5))))


def test_shared_memory_comes_back_when_all_have_dropped_it(comm, everywhere):
    where = hsumma.Context(comm)
    first = hsumma.Matrix.zeros(where, (20, 20), shared=True)
    first.local[...] = 1
    assert everywhere(((first @ first).gather(None) == 20).all())
    second = hsumma.Matrix.zeros(where, (20, 20), shared=True)
    kept = first.local if comm.rank == 0 else None
    del first
    third = hsumma.Matrix.zeros(where, (20, 20), shared=True)
    assert everywhere(len(where._shared) == 3) and everywhere(kept is None or (kept == 1).all())
    del kept
    fourth = hsumma.Matrix.zeros(where, (20, 20), shared=True)
    assert everywhere(len(where._shared) == 3 and not fourth.local.any() and not second.local.any() and third.shape)
    where.close()


@pytest.mark.parametrize("order", "FC")
def test_files(comm, everywhere, refused, folder, order):
    path = os.path.join(folder, "a b:c.npy")
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        a = random((11, 14), dtype)
        hsumma.Matrix(comm, a, block=3).to_npy(path, order)
        found = np.load(path)
        comm.barrier()
        assert everywhere(np.array_equal(found, a) and found.dtype == a.dtype and found.flags.f_contiguous == (order == "F"))
        hsumma.Matrix(comm, a).T.to_npy(path, order)
        assert everywhere(np.array_equal(np.load(path), a.T))
        comm.barrier()
        if comm.rank == 0:
            np.save(path, np.asarray(a, dtype=np.dtype(dtype).newbyteorder(), order=order))
        comm.barrier()
        assert everywhere(np.array_equal(hsumma.Matrix.from_npy(comm, path, block=2).gather(None), a))
    hsumma.Matrix(comm, np.zeros((0, 5))).to_npy(path, order)
    assert hsumma.Matrix.from_npy(comm, path).shape == (0, 5)
    hsumma.Matrix(comm, np.ones((2, 1))).to_npy(path, order)
    if comm.rank == 0:
        os.truncate(path, os.path.getsize(path) - 1)
        np.save(path + "1", np.zeros(3))
        with open(path + "2", "wb") as file:
            file.write(b"not a matrix")
    comm.barrier()
    refused(ValueError, [path, "cut short"], hsumma.Matrix.from_npy, comm, path)
    refused(ValueError, [path, "1 dim"], hsumma.Matrix.from_npy, comm, path + "1.npy")
    refused(ValueError, [path + "2", ".npy"], hsumma.Matrix.from_npy, comm, path + "2")
    refused(OSError, ["No such file"], hsumma.Matrix.from_npy, comm, path + "3")
    refused(OSError, [f"cannot write {os.path.join(folder, 'no', 'x.npy')}", "no directory"],
            hsumma.Matrix.zeros(comm, (2, 2)).to_npy, os.path.join(folder, "no", "x.npy"))
    refused(ValueError, ["order is 'X'"], hsumma.Matrix.zeros(comm, (2, 2)).to_npy, path, "X")
    assert everywhere(not [name for name in os.listdir(folder) if ".part-" in name])
