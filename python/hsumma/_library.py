"""libhsumma: finds and loads it, checks it against mpi4py's MPI, and mirrors its C interface with ctypes.

Calls through ctypes release the GIL. The structures below repeat hsumma.h and hsumma_coll.h; python/tests compares
their sizes and offsets with the C compiler's.
"""
import ctypes as ct
import os
import shutil
import subprocess
import sys

from mpi4py import MPI

MAJOR, MINOR = 0, 1  # the version of the structures below
_NAME = f"libhsumma.so.{MAJOR}"

pointer, text, i64 = ct.c_void_p, ct.c_char_p, ct.c_int64
comm_handle = ct.c_int if MPI._sizeof(MPI.Comm) == ct.sizeof(ct.c_int) else pointer


class Desc(ct.Structure):
    _fields_ = [("grid", pointer), ("m", i64), ("n", i64), ("mb", i64), ("nb", i64), ("imb", i64), ("inb", i64),
                ("rsrc", ct.c_int), ("csrc", ct.c_int), ("i", i64), ("j", i64), ("ld", i64)]


class Level(ct.Structure):
    _fields_ = [("rows", ct.c_int), ("cols", ct.c_int), ("block", i64), ("bcast", text), ("reduce", text)]


class Movement(ct.Structure):
    _fields_ = [("how", text), ("exchange_bytes", ct.c_size_t), ("exchange_seconds", ct.c_double)]


class Rival(ct.Structure):
    _fields_ = [("line", text), ("seconds", ct.c_double), ("measured", ct.c_double)]


class PlanInfo(ct.Structure):
    _fields_ = [
        ("line", text), ("why", text), ("stationary", ct.c_char), ("nprow", ct.c_int), ("npcol", ct.c_int),
        ("nlevels", ct.c_int), ("level", Level * 6), ("lookahead", ct.c_int), ("segment", i64), ("threads", ct.c_int),
        ("panels", i64), ("node", text), ("chunk", i64), ("workspace_bytes", ct.c_size_t),
        ("workspace_bytes_max", ct.c_size_t), ("workspace_limit_bytes", ct.c_size_t),
        ("predicted_seconds", ct.c_double), ("predicted_comm_seconds", ct.c_double),
        ("predicted_gemm_seconds", ct.c_double), ("predicted_copy_seconds", ct.c_double),
        ("predicted_bytes_sent", i64), ("predicted_messages_sent", i64), ("lower_bound_bytes", ct.c_double),
        ("profile", text), ("tuned", text), ("nrivals", ct.c_int), ("rival", Rival * 5),
        ("predicted_stationary", ct.c_double * 3), ("operand", Movement * 3), ("seconds", ct.c_double),
        ("gemm_seconds", ct.c_double), ("copy_seconds", ct.c_double), ("comm_seconds", ct.c_double),
        ("wait_seconds", ct.c_double), ("bytes_sent", i64), ("messages_sent", i64), ("local", text),
        ("steps", ct.c_int), ("steps_run", ct.c_int),
        ("guard_checked", ct.c_int64), ("guard_found", ct.c_int64), ("guard_repaired", ct.c_int64),
        ("guard_unchecked", ct.c_int64), ("guard_seconds", ct.c_double)]


class Operator(ct.Structure):
    _fields_ = [("op", ct.c_int), ("element", ct.c_int), ("combine", pointer), ("state", pointer),
                ("size", ct.c_size_t), ("commutative", ct.c_int)]


class Coll(ct.Structure):
    _fields_ = [("collective", ct.c_int), ("in_", pointer), ("out", pointer), ("count", i64), ("counts", pointer),
                ("size", ct.c_size_t), ("op", Operator), ("root", ct.c_int), ("algorithm", text)]


class Error(RuntimeError):
    """A call of libhsumma failed, on all processes. `status` is its hsumma_status."""
    status = None


class ArgumentError(Error, ValueError):
    """An argument is out of range."""


class OptionError(Error, ValueError):
    """An option is unknown, or its value is invalid."""


class UnsupportedError(Error, NotImplementedError):
    """A valid request that the library cannot serve."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed, on this process or another."""


class WorkspaceError(Error):
    """More workspace is needed than the option workspace_limit allows."""


class BusyError(Error):
    """Another plan of the context has been started and not waited for."""


class MPIError(Error):
    """MPI returned an error; the context can only be closed."""


class DeviceError(Error):
    """A device returned an error, or cannot do what was requested."""


class PeerError(Error):
    """Another process has ended, or has freed its context; the context can only be freed."""


class DataError(Error):
    """A result failed its check and could not be repaired (option guard)."""


_ERRORS = [None, ArgumentError, OptionError, UnsupportedError, OutOfMemoryError, WorkspaceError, BusyError, MPIError,
           Error, DeviceError, PeerError, DataError]


def error(status, message):
    """The exception for a status of the library, with this message."""
    made = (_ERRORS[status] if status < len(_ERRORS) else Error)(message)
    made.status = status
    return made


def _candidates():
    """Candidates for the library's path, in order, each with its origin for messages."""
    named = os.environ.get("HSUMMA_LIBRARY")
    if named:
        yield named, "HSUMMA_LIBRARY"
        return  # there is no fallback for the user's choice
    bundled = os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAME)
    if os.path.exists(bundled):
        yield bundled, "beside the package"
    if shutil.which("pkg-config"):
        asked = subprocess.run(["pkg-config", "--variable=libdir", "hsumma"], capture_output=True, text=True)
        if asked.returncode == 0 and asked.stdout.strip():
            yield os.path.join(asked.stdout.strip(), _NAME), "pkg-config"
    yield _NAME, "the loader's path"


def _load():
    failed = []
    for path, reason in _candidates():
        try:
            return ct.CDLL(path)
        except OSError as why:  # the loader's message, if there is a file to load
            failed.append(f"{path}: {why}" if os.path.exists(path) else path if "/" in path else reason)
    raise ImportError(f"hsumma: cannot load {_NAME} (tried: {', '.join(failed)}); set HSUMMA_LIBRARY=/path/to/{_NAME}, "
                      "or see doc/python.md") from None


def _mpi_of(library):
    """The MPI that a loaded library calls: its address and its name. Works before MPI_Init."""
    buffer, length = ct.create_string_buffer(max(MPI.MAX_LIBRARY_VERSION_STRING, 8192)), ct.c_int()
    library.MPI_Get_library_version(buffer, ct.byref(length))
    name = " ".join(buffer.value.decode("utf-8", "replace").split()[:3]).rstrip(",")  # "MPICH Version: 4.0.2"
    return ct.cast(library.MPI_Comm_size, pointer).value, name


def _check(library):
    major, minor = ct.c_int(), ct.c_int()
    library.hsumma_version(ct.byref(major), ct.byref(minor), None)
    if (major.value, minor.value) != (MAJOR, MINOR):
        raise ImportError(f"hsumma: {library._name} is version {major.value}.{minor.value}, but this package needs "
                          f"{MAJOR}.{MINOR}: install both from the same source")
    (ours, name), (theirs, other) = _mpi_of(library), _mpi_of(ct.CDLL(MPI.__file__))
    if ours != theirs:
        raise ImportError(f"hsumma: {library._name} uses MPI \"{name}\", but mpi4py uses \"{other}\" "
                          f"({MPI.__file__}): build both with the same MPI (see doc/python.md)")


_status = ct.c_int
_PROTOTYPES = {
    "hsumma_version": (None, [pointer] * 3),
    "hsumma_status_string": (text, [ct.c_int]),
    "hsumma_create": (_status, [comm_handle, text, pointer, text, ct.c_size_t]),
    "hsumma_free": (None, [pointer]),
    "hsumma_trace_write": (_status, [pointer]),
    "hsumma_message": (text, [pointer]),
    "hsumma_set_stream": (_status, [pointer, pointer]),
    "hsumma_stream": (pointer, [pointer]),
    "hsumma_synchronize": (_status, [pointer]),
    "hsumma_device": (text, [pointer]),
    "hsumma_grid_create": (_status, [pointer, ct.c_int, ct.c_int, ct.c_char, pointer, pointer]),
    "hsumma_grid_free": (None, [pointer]),
    "hsumma_grid_info": (None, [pointer] * 5),
    "hsumma_grid_rank": (ct.c_int, [pointer, ct.c_int, ct.c_int]),
    "hsumma_grid_shape": (None, [ct.c_int, pointer, pointer]),
    "hsumma_desc_init": (None, [pointer, pointer, i64, i64, i64, i64]),
    "hsumma_local_rows": (i64, [pointer]),
    "hsumma_local_cols": (i64, [pointer]),
    "hsumma_plan_create": (_status, [pointer, ct.c_int, ct.c_char, ct.c_char, i64, i64, i64, pointer, pointer, pointer,
                                     text, pointer]),
    "hsumma_plan_query": (None, [pointer, pointer]),
    "hsumma_plan_execute": (_status, [pointer] * 6),
    "hsumma_plan_start": (_status, [pointer] * 6),
    "hsumma_plan_test": (_status, [pointer, pointer]),
    "hsumma_plan_wait": (_status, [pointer]),
    "hsumma_plan_free": (None, [pointer]),
    "hsumma_malloc": (_status, [pointer, ct.c_size_t, pointer]),
    "hsumma_mfree": (None, [pointer, pointer]),
    "hsumma_redistribute": (_status, [pointer, ct.c_int, i64, i64] + [pointer] * 4),
    "hsumma_coll_run": (_status, [pointer, pointer]),
    "hsumma_coll_start": (_status, [pointer, pointer, pointer]),
    "hsumma_coll_test": (_status, [pointer, pointer]),
    "hsumma_coll_wait": (_status, [pointer]),
    "hsumma_coll_describe": (_status, [pointer, pointer, text, ct.c_size_t]),
}
for _letter, _scalar in zip("sdcz", (ct.c_float, ct.c_double, pointer, pointer)):
    _PROTOTYPES[f"hsumma_{_letter}gemm"] = (_status, [pointer, ct.c_char, ct.c_char, i64, i64, i64, _scalar, pointer,
                                                      pointer, pointer, pointer, _scalar, pointer, pointer])

if sys.platform != "linux":
    raise ImportError(f"hsumma: the platform is {sys.platform}; libhsumma runs only on Linux")
lib = _load()
_check(lib)
for _call, (_result, _arguments) in _PROTOTYPES.items():
    getattr(lib, _call).restype = _result
    getattr(lib, _call).argtypes = _arguments
