"""The memory of arrays: NumPy's, and those with __cuda_array_interface__ (CuPy, PyTorch, Numba) or __dlpack__."""
import ctypes as ct
import math
import sys

import numpy as np

DTYPES = {np.dtype(kind): code for code, kind in enumerate((np.float32, np.float64, np.complex64, np.complex128))}


def type_code(dtype):
    """The hsumma_type of a NumPy dtype; raises TypeError if there is none."""
    try:
        return DTYPES[dtype]
    except KeyError:
        raise TypeError(f"dtype is {dtype}; expected float32, float64, complex64 or complex128 in native byte order") \
            from None


class _DLTensor(ct.Structure):
    _fields_ = [("data", ct.c_void_p), ("device_type", ct.c_int32), ("device_id", ct.c_int32), ("ndim", ct.c_int32),
                ("code", ct.c_uint8), ("bits", ct.c_uint8), ("lanes", ct.c_uint16), ("shape", ct.POINTER(ct.c_int64)),
                ("strides", ct.POINTER(ct.c_int64)), ("byte_offset", ct.c_uint64)]


_DLPACK_HOST, _DLPACK_CUDA = 1, (2, 3, 13)  # DLPack's device types; CUDA's include pinned and managed memory
_DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 5: "c"}
_tensor_of = ct.pythonapi.PyCapsule_GetPointer
_tensor_of.restype, _tensor_of.argtypes = ct.c_void_p, [ct.py_object, ct.c_char_p]


class Memory:
    """The memory of an array: pointer, shape, strides in bytes, dtype, writeable, on_device; keep: the object that owns
    it."""

    def __init__(self, array, stream=None):
        self.keep = array
        self.on_device = False
        if isinstance(array, np.ndarray):
            self.pointer, self.shape, self.strides = array.ctypes.data, array.shape, array.strides
            self.dtype, self.writeable = array.dtype, array.flags.writeable
        elif hasattr(array, "__cuda_array_interface__"):
            self._read_cuda(array.__cuda_array_interface__)
        elif hasattr(array, "__dlpack__"):
            self._read_dlpack(array, stream)
        else:
            raise TypeError(f"array is a {type(array).__name__}; expected a numpy.ndarray, or an array with "
                            "__cuda_array_interface__ or __dlpack__")

    def _read_cuda(self, said):
        self.on_device = True
        self.pointer, self.writeable = said["data"][0] or 0, not said["data"][1]
        self.shape, self.dtype = tuple(said["shape"]), np.dtype(said["typestr"])
        self.strides = said.get("strides") or _strides_by_rows(self.shape, self.dtype.itemsize)

    def _read_dlpack(self, array, stream):
        device = int(array.__dlpack_device__()[0])
        if device != _DLPACK_HOST and device not in _DLPACK_CUDA:
            raise TypeError(f"array is on DLPack device type {device}; expected the host (1) or CUDA (2, 3, 13)")
        self.on_device = device != _DLPACK_HOST
        capsule = array.__dlpack__(stream=stream) if self.on_device else array.__dlpack__()
        self.keep = array, capsule  # the capsule's destructor releases the tensor
        tensor = _DLTensor.from_address(_tensor_of(capsule, b"dltensor"))
        if tensor.lanes != 1 or tensor.code not in _DLPACK_KINDS:
            raise TypeError(f"array has DLPack type code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes; "
                            "expected a plain integer, real or complex type")
        self.dtype = np.dtype(f"{_DLPACK_KINDS[tensor.code]}{tensor.bits // 8}")
        self.pointer, self.writeable = (tensor.data or 0) + tensor.byte_offset, True
        self.shape = tuple(tensor.shape[:tensor.ndim])
        self.strides = tuple(step * self.dtype.itemsize for step in tensor.strides[:tensor.ndim]) if tensor.strides \
            else _strides_by_rows(self.shape, self.dtype.itemsize)

    @property
    def size(self):
        return math.prod(self.shape)

    def is_by_rows(self):
        """Whether the array is contiguous in row-major order."""
        usual = _strides_by_rows(self.shape, self.dtype.itemsize)
        return self.size <= 1 or all(step == expected or n == 1
                                     for step, expected, n in zip(self.strides, usual, self.shape))

    def leading_dimension(self):
        """The leading dimension of a local block; raises ValueError unless its columns are contiguous."""
        if len(self.shape) != 2:
            raise ValueError(f"the local array has {len(self.shape)} dimensions; expected 2")
        (rows, cols), (down, along), item = self.shape, self.strides, self.dtype.itemsize
        least = max(1, rows)
        if not rows or not cols or cols == 1 and down == item or rows == cols == 1:
            return least
        if rows > 1 and down != item or cols > 1 and (along % item or along // item < least):
            raise ValueError(f"the local array of {rows} x {cols} has strides {self.strides} bytes; expected "
                             f"contiguous columns, ({item}, at least {item * least}): create it with order=\"F\", or "
                             "pass numpy.asfortranarray(array)")
        return along // item if cols > 1 else least


def _strides_by_rows(shape, item):
    strides = []
    for n in reversed(shape):
        strides.insert(0, item)
        item *= n
    return tuple(strides)


def current_stream(array):
    """The stream of a device array's library, by __cuda_array_interface__; None: unknown."""
    return getattr(array, "__cuda_array_interface__", {}).get("stream")


def empty_like(array, shape, dtype, order="F"):
    """A new array of the library that made `array` (NumPy, CuPy, ...)."""
    if isinstance(array, np.ndarray):
        return np.empty(shape, dtype, order)
    module = sys.modules.get(type(array).__module__.partition(".")[0])
    try:
        return module.empty(shape, dtype=dtype, order=order)
    except (AttributeError, TypeError):
        raise TypeError(f"cannot allocate a result of type {type(array).__name__}; pass one as out=") from None
