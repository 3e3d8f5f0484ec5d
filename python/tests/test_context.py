"""Contexts and their communicators, the collectives, the GIL, the mirrored structures, device memory."""
import ctypes
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import close, random
from mpi4py import MPI

import hsumma
from hsumma import _library


def test_structures_are_those_of_c(everywhere):
    folder = os.environ.get("HSUMMA_TEST_REFERENCE")
    if not folder:
        pytest.skip("HSUMMA_TEST_REFERENCE: no results of the C program")
    found = {}
    for line in open(os.path.join(folder, "layout")):
        *name, value = line.split()
        found[tuple(name)] = int(value)
    mirrored = {"hsumma_desc": _library.Desc, "hsumma_level": _library.Level, "hsumma_movement": _library.Movement,
                "hsumma_rival": _library.Rival, "hsumma_plan_info": _library.PlanInfo,
                "hsumma_operator": _library.Operator, "hsumma_coll": _library.Coll}
    expected = {("MPI_Comm",): ctypes.sizeof(_library.comm_handle)}
    for name, structure in mirrored.items():
        expected[name,] = ctypes.sizeof(structure)
        for field, _ in structure._fields_:
            expected[name, field.rstrip("_")] = getattr(structure, field).offset
    assert everywhere(found == expected)


def test_one_context_for_a_communicator(comm, everywhere):
    other = comm.Dup()
    where = hsumma.context(other)
    assert hsumma.context(other) is where and hsumma.context(comm) is not where
    A = hsumma.Matrix(other, random((5, 5)))
    plan = hsumma.Plan(A, A)
    other.Free()
    assert where.closed and everywhere(A.local.size == A.local.size)
    for use in (plan.execute, lambda: A @ A, plan.explain):
        with pytest.raises(ValueError, match="closed"):
            use()
    gc.collect()


def test_a_context_with_options(comm, refused):
    with hsumma.Context(comm, "lookahead=1") as where:
        A = hsumma.Matrix(where, random((8, 8)), block=2)
        assert A.comm is comm and "lookahead: context" in hsumma.Plan(A, A).info.why
    assert where.closed
    refused(hsumma.OptionError, ["nonsense"], hsumma.Context, comm, "nonsense=1")
    refused(hsumma.OptionError, ["lookahead", "soon"], hsumma.Context, comm, "lookahead=soon")
    refused(TypeError, ["comm"], hsumma.Context, MPI.COMM_NULL)


def test_parts_of_the_world(comm, everywhere):
    a = random((9, 9))
    half = comm.Split(comm.rank % 2)
    A = hsumma.Matrix(half, a)
    assert everywhere(close((A @ A).gather(None), a @ a))
    half.Free()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128, np.int32, np.int64])
def test_collectives(comm, everywhere, dtype):
    parts = [(random((3, 4), dtype, 10 + rank) if np.dtype(dtype).kind != "i" else
              np.arange(12, dtype=dtype).reshape(3, 4) * (rank + 1)) for rank in range(comm.size)]
    mine, total = parts[comm.rank], sum(parts)
    right = (lambda x, y: np.array_equal(x, y)) if np.dtype(dtype).kind == "i" else close
    assert everywhere(right(hsumma.allreduce(comm, mine), total))
    out = np.empty_like(mine)
    assert hsumma.allreduce(comm, mine, out=out) is out and everywhere(right(out, total))
    same = mine.copy()
    assert everywhere(right(hsumma.allreduce(comm, same, out=same, algorithm="ring"), total))
    assert everywhere(right(hsumma.iallreduce(comm, mine[:, ::2]).wait(), total[:, ::2]))
    if np.dtype(dtype).kind != "c":
        assert everywhere(np.array_equal(hsumma.allreduce(comm, mine, "max"), np.max(parts, axis=0)))
        assert everywhere(np.array_equal(hsumma.allreduce(comm, mine, "min"), np.min(parts, axis=0)))
    root = comm.size - 1
    found = hsumma.reduce(comm, mine, root=root)
    assert everywhere(right(found, total) if comm.rank == root else found is None)
    values = mine.copy()
    assert hsumma.bcast(comm, values, root) is values and everywhere(np.array_equal(values, parts[root]))
    assert everywhere(np.array_equal(hsumma.allgather(comm, mine), parts))
    stacked = np.array([(rank + 1) * mine for rank in range(comm.size)])
    assert everywhere(right(hsumma.reduce_scatter(comm, stacked), (comm.rank + 1) * total))
    values = mine.copy()
    started = [hsumma.ibcast(comm, values, 0), hsumma.iallgather(comm, mine), hsumma.ireduce(comm, mine),
               hsumma.ireduce_scatter(comm, stacked)]
    while not started[0].test():
        pass
    results = [request.wait() for request in started]
    assert everywhere(np.array_equal(results[0], parts[0]) and np.array_equal(results[1], parts))
    assert everywhere((right(results[2], total) if comm.rank == 0 else results[2] is None)
                      and right(results[3], (comm.rank + 1) * total))


def test_collectives_of_other_arrays(comm, everywhere):
    words = np.array([b"abc", b"de"], dtype="S3") if comm.rank == 0 else np.zeros(2, dtype="S3")
    assert everywhere(hsumma.bcast(comm, words)[0] == b"abc")
    assert everywhere(hsumma.allreduce(comm, np.array(2.0)) == 2 * comm.size)
    assert hsumma.allgather(comm, np.zeros((0, 3))).shape == (comm.size, 0, 3)


def test_collectives_refuse(comm, refused):
    x = np.zeros((4, 3))
    refused(ValueError, ["op is 'product'"], hsumma.allreduce, comm, x, "product")
    refused(TypeError, ["int16"], hsumma.allreduce, comm, x.astype(np.int16))
    refused(ValueError, ["strides"], hsumma.bcast, comm, x.T)
    refused(ValueError, ["out has shape"], hsumma.allreduce, comm, x, out=np.zeros(12))
    refused(ValueError, ["read-only"], hsumma.allreduce, comm, x, out=_read_only(x))
    refused(ValueError, ["one part for each process"], hsumma.reduce_scatter, comm, np.zeros((comm.size + 1, 2)))
    refused(hsumma.ArgumentError, ["root is 99"], hsumma.bcast, comm, x, 99)
    refused(hsumma.OptionError, ["nonsense"], hsumma.allreduce, comm, x, algorithm="nonsense")
    refused(hsumma.ArgumentError, ["max", "complex"], hsumma.allreduce, comm, x + 0j, "max")


def _read_only(x):
    made = x.copy()
    made.flags.writeable = False
    return made


def test_a_wrong_array_on_one_process_where_all_is_checked(comm, everywhere):
    with hsumma.Context(comm, "check=always") as where:
        x = np.ones(5)
        for _ in range(2):
            hsumma.allreduce(where, x)
            raised = None
            try:
                hsumma.allreduce(where, x, out=np.ones(4) if comm.rank == 0 else None)
            except ValueError as failure:
                raised = failure
            assert everywhere(raised)
        assert everywhere((hsumma.allreduce(where, x) == comm.size).all())


def test_the_gil_is_released(comm, everywhere):
    """A second thread of process 0 waits in a call, which the other processes make only after a message from the main
    thread of process 0."""
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        pytest.skip("MPI without THREAD_MULTIPLE")
    if comm.size == 1:
        pytest.skip("one process")
    other = comm.Dup()
    hsumma.allreduce(other, np.ones(1))
    comm.barrier()
    if comm.rank == 0:
        entered, result = threading.Event(), []

        def call():
            entered.set()
            result.append(hsumma.allreduce(other, np.ones(1)))

        thread = threading.Thread(target=call)
        thread.start()
        entered.wait()
        for rank in range(1, comm.size):
            comm.send("go", rank)
        thread.join()
    else:
        comm.recv(source=0)
        result = [hsumma.allreduce(other, np.ones(1))]
    assert everywhere(result[0][0] == comm.size)
    other.Free()


class Device:
    """An array with CuPy's interface, in device memory: from hsumma_malloc, in a context with the stand-in device."""

    def __init__(self, where, values):
        self.owner = where._shared_array(values.shape, values.dtype)
        self.__cuda_array_interface__ = dict(self.owner.__cuda_array_interface__)
        self.where, self.shape, self.dtype = where, values.shape, values.dtype
        self.copy(values, True)

    def copy(self, values, to_device):
        pointer, address = self.__cuda_array_interface__["data"][0], values.ctypes.data
        copy = _library.lib.hsumma_copy
        copy.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t]
        self.where.check(copy(self.where.handle, *((pointer, address) if to_device else (address, pointer)), values.nbytes))
        return values

    def values(self):
        return self.copy(np.empty(self.shape, self.dtype, order="F"), False)


@pytest.mark.skipif(not os.path.exists(os.environ.get("HSUMMA_HOST_DEVICE_LIBRARY", "")), reason="no stand-in device")
def test_device_memory(comm, everywhere, refused):
    with hsumma.Context(comm, "device=host") as where:
        assert where.device != "none"
        a, b = random((12, 10)), random((10, 8), seed=2)
        parts = [hsumma.Matrix(where, values) for values in (a, b, np.zeros((12, 8)))]
        arrays = [Device(where, np.asfortranarray(part.local)) for part in parts]
        A, B, C = (hsumma.Matrix.from_local(where, array, part.shape) for array, part in zip(arrays, parts))
        assert C.local is arrays[2]
        hsumma.matmul(A, B, out=C)
        assert everywhere(close(arrays[2].values(), (parts[0] @ parts[1]).local))
        hsumma.Plan(A, B, C).execute(2, 1)
        assert everywhere(close(arrays[2].values(), 3 * (parts[0] @ parts[1]).local))
        refused(TypeError, ["out="], lambda: A @ B)
        x = Device(where, np.full((3, 1), comm.rank + 1.0))
        hsumma.allreduce(where, x, out=x)
        where.synchronize()
        assert everywhere((x.values() == comm.size * (comm.size + 1) / 2).all())
        del arrays, A, B, C, x
    gc.collect()


class Packed:
    """An array that has only the DLPack interface."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_dlpack(comm, everywhere):
    a = random((12, 10), np.complex64)
    A = hsumma.Matrix(comm, a)
    room = np.zeros((A.local.shape[0] + 2, A.local.shape[1] + 1), np.complex64, order="F")[:-2, 1:]
    room[...] = A.local
    B = hsumma.Matrix.from_local(comm, Packed(room), A.shape)
    D = hsumma.Matrix.zeros(comm, (10, 10), np.complex64)
    found = hsumma.matmul(B.H, B, out=D).gather(None)
    assert everywhere(close(found, a.conj().T @ a) and B._stored.pointer == room.ctypes.data)
    C = hsumma.Matrix.zeros(comm, (12, 12), np.complex64)
    out = np.zeros(C.local.shape, np.complex64, order="F")
    hsumma.matmul(A, A.H, out=hsumma.Matrix.from_local(comm, Packed(out), C.shape))
    assert everywhere(np.array_equal(out, (A @ A.H).local))


def test_messages_of_loading(comm, tmp_path):
    if comm.rank:
        return
    # without the MPI launcher's variables the children are singletons
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "HYD", "MPI_", "MPIR_", "OMPI"))}

    def run(**environment):
        return subprocess.run([sys.executable, "-c", "import hsumma"], env={**clean, **environment}, text=True,
                              capture_output=True).stderr.strip().splitlines()[-1:]

    assert run() == []
    said = run(HSUMMA_LIBRARY=str(tmp_path / "nothing.so"))[0]
    assert "nothing.so" in said and "HSUMMA_LIBRARY" in said and "python.md" in said
    fake = os.environ.get("HSUMMA_TEST_OTHER_VERSION")
    if fake:
        assert "version 7.1" in run(HSUMMA_LIBRARY=fake)[0]
    foreign = os.environ.get("HSUMMA_TEST_OTHER_MPI")
    if foreign:
        said = run(HSUMMA_LIBRARY=foreign)[0]
        assert "another MPI" in said and "mpi4py" in said and "doc/python.md" in said
