"""TAP: the build with CUDA: kernels for every requested GPU; binaries that start without CUDA and export none of it; the
preloaded library without it.

Environment: that of launch.py.
"""
import glob
import os
import re
import struct
import subprocess
import sys

from launch import BUILD
from tap import done, ok, skip

KERNELS = os.path.join(BUILD, "obj", "src", "gpu", "kernels.o")
STAMP = os.path.join(BUILD, "obj", "nvcc.stamp")
FATBIN = struct.pack("<I", 0xBA55ED50)
PTX, ELF = 1, 2


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def code_in(path):
    """The kinds of code in the fat binaries of a file: {"sm_80", "compute_90"...}."""
    data, found, at = open(path, "rb").read(), set(), 0
    while (at := data.find(FATBIN, at)) >= 0:
        _, header, size = struct.unpack_from("<HHQ", data, at + 4)
        end, at = at + header + size, at + header
        while at < end:
            kind, _, header, size = struct.unpack_from("<HHIQ", data, at)
            arch = struct.unpack_from("<I", data, at + 28)[0]
            found.add({PTX: "compute", ELF: "sm"}.get(kind, f"kind {kind}") + f"_{arch}")
            at += header + size
    return found


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", tool("readelf", "-d", path))


def test_code():
    wanted = {re.sub("[a-z]$", "", name) for name in re.findall(r"code=(\w+)", open(STAMP).read())}
    found = code_in(KERNELS)
    ok(wanted and found == wanted, f"the kernels hold {' '.join(sorted(found))}", f"asked for: {sorted(wanted)}")
    for path in (os.path.join(BUILD, "libhsumma.so"), os.path.join(BUILD, "hsumma")):
        found = code_in(path)
        ok(wanted <= found, f"so does {os.path.basename(path)}", sorted(found))


def test_starts_anywhere():
    for path in sorted(glob.glob(os.path.join(BUILD, "*.so"))) + [os.path.join(BUILD, "hsumma")]:
        libraries = [name for name in needed(path) if re.search("cuda|cublas|nv|stdc", name)]
        ok(not libraries, f"{os.path.basename(path)} starts without CUDA", f"it needs {libraries}")


def test_shows_nothing():
    for path in sorted(glob.glob(os.path.join(BUILD, "*.so"))):
        shown = [line.split()[-1] for line in tool("nm", "-D", "--defined-only", path).splitlines()]
        cuda = [name for name in shown if re.search("cu(da|blas|rt)|hs_|^_Z|fatbin", name)]
        ok(shown and not cuda, f"{os.path.basename(path)} shows nothing of CUDA", cuda[:20])


def test_preloaded():
    path = os.path.join(BUILD, "libhsumma_pmpi.so")
    ok(not code_in(path) and b"cudaGetDeviceCount" not in open(path, "rb").read(), "libhsumma_pmpi.so is without CUDA")


def main():
    if not os.path.exists(KERNELS):
        skip("kernels", "this library has been built without CUDA (there is no nvcc, or CUDA=0)")
        return done()
    test_code()
    test_starts_anywhere()
    test_shows_nothing()
    if not os.environ.get("SANITIZE"):  # sanitizers keep unused code
        test_preloaded()
    return done()


sys.exit(main())
