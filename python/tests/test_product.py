"""Products against NumPy and, bit for bit, against the C interface."""
import itertools
import os

import numpy as np
import pytest
from conftest import close, random

import hsumma

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def op(values, trans):
    return {"N": values, "T": values.T, "H": values.conj().T}[trans]


def view(matrix, trans):
    return {"N": matrix, "T": matrix.T, "H": matrix.H}[trans]


@pytest.mark.parametrize("dtype", DTYPES)
def test_against_numpy(comm, everywhere, dtype):
    m, n, k = 19, 14, 23
    for (ta, tb), block in zip(itertools.product("NTH", repeat=2), itertools.cycle((None, 3, (4, 2)))):
        a, b = random((m, k) if ta == "N" else (k, m), dtype), random((k, n) if tb == "N" else (n, k), dtype, 2)
        A, B = hsumma.Matrix(comm, a, block=block), hsumma.Matrix(comm, b, block=block)
        product = op(a, ta) @ op(b, tb)
        C = view(A, ta) @ view(B, tb)
        assert C.shape == (m, n) and C.dtype == dtype and everywhere(close(C.gather(None), product))
        c = random((m, n), dtype, 3)
        C = hsumma.Matrix(comm, c, block=block)
        alpha, beta = (2 - 1j, 0.5j) if np.dtype(dtype).kind == "c" else (2, -0.5)
        found = hsumma.matmul(view(A, ta), view(B, tb), out=C, alpha=alpha, beta=beta)
        assert found is C and everywhere(close(C.gather(None), alpha * product + beta * c))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_a_transposed_result(comm, everywhere, dtype):
    a, b, c = random((8, 6), dtype), random((6, 9), dtype, 2), random((9, 8), dtype, 3)
    alpha, beta = (1 + 2j, 3 - 1j) if np.dtype(dtype).kind == "c" else (2, 3)
    A, B = hsumma.Matrix(comm, a), hsumma.Matrix(comm, b)
    for trans in "TH":
        C = hsumma.Matrix(comm, c)
        hsumma.matmul(A, B, out=view(C, trans), alpha=alpha, beta=beta)
        assert everywhere(close(C.gather(None), op(alpha * a @ b + beta * op(c, trans), trans)))
        C = hsumma.Matrix(comm, c)
        hsumma.Plan(A, B, view(C, trans)).execute(alpha, beta)
        assert everywhere(close(C.gather(None), op(alpha * a @ b + beta * op(c, trans), trans)))


def test_parts(comm, everywhere):
    a = random((20, 18))
    A = hsumma.Matrix(comm, a, block=3)
    C = hsumma.Matrix(comm, np.ones((20, 20)), block=3)
    hsumma.matmul(A[2:9, 1:], A[5:, 1:].T, out=C[3:10, 4:19])
    expected = np.ones((20, 20))
    expected[3:10, 4:19] = a[2:9, 1:] @ a[5:, 1:].T
    assert everywhere(close(C.gather(None), expected))


def test_other_layouts_and_shapes(comm, everywhere):
    a, b = random((9, 16)), random((16, 7), seed=2)
    A, B = hsumma.Matrix(comm, a, block=2), hsumma.Matrix(comm, b)
    assert everywhere(close((A @ B).gather(None), a @ b))
    C = hsumma.Matrix.zeros(comm, (9, 7), block=(5, 1))
    assert everywhere(close(hsumma.matmul(A, B, out=C, options="lookahead=1").gather(None), a @ b))
    for m, n, k in ((0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1)):
        a, b = random((m, k)), random((k, n), seed=2)
        assert everywhere(np.allclose((hsumma.Matrix(comm, a) @ hsumma.Matrix(comm, b)).gather(None), a @ b))


def test_fewer_processes_than_the_communicator_has(comm, everywhere):
    a = random((12, 12))
    A = hsumma.Matrix(comm, a, grid=(1, max(1, comm.size - 1)))
    assert everywhere(close((A @ A).gather(None), a @ a))


def element(row, col, seed):
    return ((row * 37 + col * 101 + seed) % 251 - 125) / 3.0


def known(comm, shape, dtype, block, seed):
    """A matrix with the elements that tests/mpi/python/reference.c generates."""
    def values(i, j):
        found = element(i, j, seed)
        return found + 1j * element(i, j, seed + 7) if np.dtype(dtype).kind == "c" else found
    return hsumma.Matrix.from_function(comm, values, shape, dtype, block=block)


@pytest.mark.parametrize("case", range(8))
def test_the_bits_of_c(comm, everywhere, case):
    """Compares bits with results of a C program, which tests/programs/python.py has run before."""
    folder = os.environ.get("HSUMMA_TEST_REFERENCE")
    if not folder:
        pytest.skip("HSUMMA_TEST_REFERENCE: no results of the C program")
    letter, ops, m, n, k, nb = open(os.path.join(folder, f"{case}.case")).read().split()
    m, n, k, dtype, block = int(m), int(n), int(k), DTYPES["sdcz".index(letter)], int(nb) or None
    A = known(comm, (m, k) if ops[0] == "N" else (k, m), dtype, block, 1)
    B = known(comm, (k, n) if ops[1] == "N" else (n, k), dtype, block, 2)
    A, B = (view(matrix, trans.replace("C", "H")) for matrix, trans in zip((A, B), ops))
    expected = open(os.path.join(folder, f"{case}.{comm.rank}"), "rb").read()
    for how in ("matmul", "execute", "start"):
        C = known(comm, (m, n), dtype, block, 3)
        if how == "matmul":
            hsumma.matmul(A, B, out=C, alpha=2, beta=-1)
        elif how == "execute":
            hsumma.Plan(A, B, C).execute(2, -1)
        else:
            hsumma.Plan(A, B, C).start(2, -1).wait()
        assert everywhere(C.local.tobytes("F") == expected), how


def test_errors_on_all_processes(comm, refused, everywhere):
    A, B = hsumma.Matrix(comm, random((6, 4))), hsumma.Matrix(comm, random((4, 5)))
    C = hsumma.Matrix(comm, np.full((6, 5), 3.0))
    refused(ValueError, ["6 x 4", "5 x 4"], hsumma.matmul, A, B.T)
    refused(TypeError, ["float64", "float32"], hsumma.matmul, A, B.astype(np.float32))
    refused(ValueError, ["out shares"], hsumma.matmul, A @ A.T, A, out=A)
    refused(TypeError, ["out is a ndarray"], hsumma.matmul, A, B, out=np.zeros((6, 5)))
    refused(TypeError, ["alpha is 1j"], hsumma.matmul, A, B, out=C, alpha=1j)
    refused(hsumma.OptionError, ["nonsense"], hsumma.matmul, A, B, out=C, options="nonsense=1")
    refused(hsumma.OptionError, ["lookahead"], hsumma.Plan, A, B, C, "lookahead=fast")
    refused(ValueError, ["contexts"], hsumma.matmul, A, hsumma.Matrix(hsumma.Context(comm), random((4, 5))), out=C)
    local = C.local
    local.flags.writeable = comm.rank != 0
    fixed = hsumma.Matrix.from_local(comm, local, C.shape)
    refused(ValueError, ["read-only"], hsumma.matmul, A, B, out=fixed)
    # a NULL pointer on one process, as after a failed allocation
    C._stored.pointer = None if comm.rank == comm.size - 1 else C._stored.pointer
    refused(hsumma.ArgumentError, ["NULL"], hsumma.matmul, A, B, out=C)
    assert everywhere((C.local == 3).all())
    with pytest.raises(TypeError):
        A @ np.zeros((4, 4))
    with pytest.raises(TypeError):
        np.zeros((4, 6)) @ A
    assert everywhere(close((A @ B).gather(None), random((6, 4)) @ random((4, 5))))


def test_no_memory_for_a_result_on_one_process(comm, refused, monkeypatch):
    A = hsumma.Matrix(comm, random((6, 6)))

    def fail(*_):
        raise MemoryError

    if comm.rank == 0:
        monkeypatch.setattr("hsumma._product.empty_like", fail)
    refused(hsumma.ArgumentError, ["NULL"], lambda: A @ A)


def test_plans(comm, everywhere, refused):
    a, b = random((30, 20)), random((20, 25), seed=2)
    A, B = hsumma.Matrix(comm, a, block=4), hsumma.Matrix(comm, b, block=4)
    plan = hsumma.Plan(A, B, options="lookahead=1")
    C = plan.execute()
    assert C is plan.out and everywhere(close(C.gather(None), a @ b))
    assert everywhere(close(plan.execute(2, 1).gather(None), 3 * (a @ b)))
    info = plan.info
    assert info.nprow * info.npcol == comm.size and info.predicted_seconds > 0 and "lookahead" in info.why
    assert info.seconds > 0 and len(info.operand) == 3 and len(info.level) == info.nlevels
    B2, C2 = hsumma.Matrix(comm, 2 * b, block=4), hsumma.Matrix.zeros(comm, (30, 25), block=4)
    assert plan.execute(B=B2, C=C2) is C2 and everywhere(close(C2.gather(None), 2 * (a @ b)))
    refused(ValueError, ["B is <hsumma.Matrix", "layout"], plan.execute, B=hsumma.Matrix(comm, b))
    last = comm.rank == comm.size - 1
    wider = np.zeros((C2.local.shape[0] + last, C2.local.shape[1]), order="F")[:C2.local.shape[0]]
    refused(ValueError, ["C is <hsumma.Matrix", "layout"], plan.execute,
            C=hsumma.Matrix.from_local(comm, wider, (30, 25), block=4))
    again = hsumma.Plan(A, B, C, info.line)
    assert again.info.line == info.line
    again.start(1, 0)
    refused(hsumma.BusyError, ["is running"], plan.execute)
    while not again.test():
        pass
    assert again.test() and again.wait() is C and everywhere(close(C.gather(None), a @ b))
    again.close()
    again.close()
    with pytest.raises(ValueError):
        again.execute()


def test_plans_are_explained(comm, everywhere):
    from xml.etree import ElementTree
    A = hsumma.Matrix(comm, random((64, 64)), block=8)
    plan = hsumma.Plan(A, A.T)
    for _ in range(2):
        text, picture = plan.explain(), plan._repr_svg_()
        assert everywhere(plan.info.line in text and "B^T" in text and ElementTree.fromstring(picture).tag.endswith("svg"))
        assert everywhere("GEMM" in picture and plan.info.line.split()[0] in picture)
        plan.execute()
    assert everywhere("last run" in text and repr(plan).startswith("<hsumma.Plan "))


def test_a_plan_that_one_process_drops(comm, everywhere):
    a = random((10, 10))
    A = hsumma.Matrix(comm, a)
    plans = [hsumma.Plan(A, A) for _ in range(3)]
    if comm.rank == 0:
        del plans[1]
    assert everywhere(close((A @ A).gather(None), a @ a)) and not hsumma.context(comm)._dead
    del plans
    where = hsumma.Context(comm)
    B = hsumma.Matrix(where, a)
    busy = hsumma.Plan(B, B)
    busy.start()
    result = busy.out
    if comm.rank == 0:
        del busy  # the request continues, because the context refers to it
    where.close()
    assert everywhere(where.closed and close(result.local, A.__matmul__(A).local))
