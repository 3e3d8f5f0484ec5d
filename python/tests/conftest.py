"""Every process runs the tests: mpiexec -n 4 python -m pytest python/tests.

Tests assert only conditions that are equal on all processes, so that none continues alone while others wait."""
import os

import numpy as np
import pytest
from mpi4py import MPI

import hsumma


@pytest.fixture
def comm():
    return MPI.COMM_WORLD


@pytest.fixture
def everywhere(comm):
    """everywhere(condition): whether the condition holds on all processes."""
    return lambda condition: all(comm.allgather(bool(condition)))


@pytest.fixture
def refused(comm):
    """refused(kind, words, call, *args): asserts that all processes raise `kind`, at least one of them with a message
    that contains all words."""

    def check(kind, words, call, *args, **options):
        try:
            call(*args, **options)
            said = None
        except kind as failure:
            said = str(failure)
        everyone = comm.allgather(said)
        assert all(everyone) and any(all(word in said for word in words) for said in everyone), everyone

    return check


@pytest.fixture
def folder(comm, tmp_path):
    """The path of a temporary folder that all processes use."""
    return comm.bcast(str(tmp_path))


def random(shape, dtype=np.float64, seed=1):
    """A random global array, equal on all processes."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def close(found, expected):
    return np.allclose(found, expected, rtol=0, atol=200 * np.finfo(found.dtype).eps * max(1, np.abs(expected).max()))
