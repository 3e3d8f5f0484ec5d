"""TAP: hsumma.hpp with g++ and clang++: no warnings, the same bits as in C, exceptions on all processes."""
import shutil
import sys

from bindings import SANITIZE, compile_reference, compiled, launched, source, test_same_bits, wrapper
from launch import MPI
from tap import ok, run, skip

FLAGS = ["-std=c++20", "-O1", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX"]


def test_header():
    with open(source("include", "hsumma.hpp"), encoding="utf-8") as file:
        lines = len(file.readlines())
    ok(lines <= 200, f"{lines} lines, at most 200")


def test_compiler(compiler):
    if not shutil.which(compiler) or not wrapper("mpicxx") or SANITIZE and compiler != "g++":
        return skip(compiler, f"no {compiler}, no mpicxx, or sanitizers of another compiler")
    what = f"bits_{compiler}"
    compiled(what, [wrapper("mpicxx"), source("tests", "bindings", "bits.cpp"), *FLAGS],
             f"{'MPICH' if MPI == 'mpich' else 'OMPI'}_CXX={compiler}")
    test_same_bits(what)
    for ranks in (1, 3):
        process = launched(ranks, what, "refuse")
        lines = process.stdout.splitlines()
        ok(process.returncode == 0 and len(lines) == 5 and all(line.endswith("yes") for line in lines),
           f"{what}: on {ranks} ranks errors are thrown on all", process.stdout, process.stderr)


def test_gcc():
    test_compiler("g++")


def test_clang():
    test_compiler("clang++")


sys.exit(run(test_header, compile_reference, test_gcc, test_clang))
