"""TAP: the Fortran module: structures as in C, the same bits, every call, its errors. (pages.py runs the examples
of doc/fortran.md.)"""
import os
import re
import shutil
import subprocess
import sys

from bindings import (SANITIZE, compile_reference, compiled, expanded, launched, scratch, source, test_same_bits,
                      wrapper)
from launch import BUILD, MPI
from tap import done, ok, run, skip

FORTRAN = wrapper("mpifort")


def test_structures():
    """Offsets and sizes of each component are equal for both compilers."""
    with open(source("fortran", "hsumma.F90.in"), encoding="utf-8") as file:
        types = re.findall(r"type, bind\(C\), public :: (\w+)\n(.*?)end type", file.read(), re.S)
    fields = [(kind, name) for kind, body in types for line in body.splitlines() if "::" in line
              for name in re.findall(r"\w+", re.sub(r"=[^,]*|\(\w+\)", "", line.split("::")[1]))]
    kinds = [kind for kind, _ in types]
    ok(len(kinds) == 5 and len(fields) > 60, "five structures", kinds, fields)
    lines = "".join(f'    printf("{k} {f} %zu\\n", offsetof({k}, {f}));\n' for k, f in fields)
    lines += "".join(f'    printf("{k} %zu\\n", sizeof({k}));\n' for k in kinds)
    with open(scratch("offsets.c"), "w", encoding="utf-8") as file:
        file.write(f"#include <hsumma.h>\n#include <stdio.h>\nint main(void)\n{{\n{lines}}}\n")
    lines = "".join(f"    type({k}), target :: x_{k}\n" for k in kinds)
    lines += "".join(f"    call show('{k} {f}', c_loc(x_{k}), c_loc(x_{k}%{f}{'(1)' * is_array(types, k, f)}))\n"
                     for k, f in fields)
    lines += "".join(f"    print '(a,1x,i0)', '{k}', c_sizeof(x_{k})\n" for k in kinds)
    with open(scratch("offsets.f90"), "w", encoding="utf-8") as file:
        file.write("program offsets\n    use, intrinsic :: iso_c_binding\n    use hsumma\n    implicit none\n" + lines +
                   "contains\n    subroutine show(name, from, to)\n        character(*), intent(in) :: name\n"
                   "        type(c_ptr), intent(in) :: from, to\n        print '(a,1x,i0)', name, "
                   "transfer(to, 0_c_intptr_t) - transfer(from, 0_c_intptr_t)\n    end subroutine\nend program\n")
    compiled("offsets_c", [wrapper("mpicc"), scratch("offsets.c")])
    compiled("offsets_f", [FORTRAN, scratch("offsets.f90")], flags=["-ffree-line-length-none"])
    of_c, of_fortran = launched(1, "offsets_c"), launched(1, "offsets_f")
    ok(of_c.stdout == of_fortran.stdout and len(of_c.stdout.splitlines()) == len(fields) + len(kinds),
       f"{len(fields)} components and {len(kinds)} sizes as in C", of_c.stdout, of_fortran.stdout, of_fortran.stderr)
    with open(source("include", "hsumma.h"), encoding="utf-8") as file:
        header = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for kind in kinds:
        body = re.search(rf"typedef struct {kind} {{(.*?)\n}}", header, re.S).group(1)
        of_header = [re.search(r"(\w+)\s*(?:\[\w+\])?$", part.strip()).group(1)
                     for line in body.split(";") if line.strip() for part in line.split(",")]
        ok(of_header == [f for k, f in fields if k == kind], f"{kind} has the components of the header, in their order",
           of_header)


def is_array(types, kind, field):
    return bool(re.search(rf"\b{field}\(", dict(types)[kind]))


def test_no_library():
    """The module in the library needs nothing from the compiler's run-time library."""
    found = subprocess.run(["nm", os.path.join(BUILD, "obj", "fortran", "hsumma.o")], capture_output=True, text=True)
    ok("hsumma_MOD_" in found.stdout and "_gfortran_" not in found.stdout, "no symbol of libgfortran",
       *[line for line in found.stdout.splitlines() if "_gfortran_" in line], found.stderr)


def test_bits():
    compile_reference()
    compiled("bits_f", [FORTRAN, expanded("bits.f90"), "-std=f2008", "-O2"])
    test_same_bits("bits_f")


def test_calls():
    compiled("calls", [FORTRAN, source("tests", "bindings", "calls.f90"), "-std=f2008", "-g"],
             flags=["-Wall", "-Wextra", "-Wno-compare-reals", "-Wno-integer-division",
                    "-Wno-function-elimination"])
    for ranks in (1, 3, 4):
        process = launched(ranks, "calls")
        lines = [line for line in process.stdout.splitlines() if not line.startswith("#")]
        ok(process.returncode == 0 and len(lines) == 48 and all(line.startswith("ok ") for line in lines[:-1]),
           f"calls on {ranks} ranks", process.stdout, process.stderr)


def test_source():
    """Compiles the installed source together with a program, without module mpi_f08, as users of other compilers do."""
    compiled("from_source", [FORTRAN, os.path.join(BUILD, "fortran", "hsumma.F90"),
                             source("tests", "bindings", "calls.f90"), "-DHSUMMA_NO_MPI_F08", "-J", scratch("")],
             flags=[])
    process = launched(2, "from_source")
    ok(process.returncode == 0 and "not ok" not in process.stdout, "the source with a program, without mpi_f08",
       process.stdout, process.stderr)


def test_flang():
    """Compiles with LLVM's flang, for which there is no MPI module, so the program includes mpif.h."""
    flang = next((path for name in ("flang", "flang-new", "flang-new-16", "flang-new-19") if (path := shutil.which(name))), None)
    if not flang or MPI != "mpich" or SANITIZE:
        return skip("flang", "no flang, another MPI than MPICH, or a sanitizer")
    with open(source("tests", "bindings", "calls.f90"), encoding="utf-8") as file:
        text = file.read().replace("    use mpi\n", "").replace("implicit none\n", "implicit none\n    include 'mpif.h'\n", 1)
    with open(scratch("calls_flang.F90"), "w", encoding="utf-8") as file:
        file.write(text)
    said = subprocess.run([FORTRAN, "-show"], capture_output=True, text=True).stdout
    words = [word for word in said.split() if re.match(r"-[IL]/|-lmpi", word)]
    experimental = ["-flang-experimental-exec"] * flang.endswith("-16")
    compiled("calls_flang", [flang, *experimental, "-cpp", "-DHSUMMA_NO_MPI_F08", os.path.join(BUILD, "fortran", "hsumma.F90"),
                             scratch("calls_flang.F90")], flags=words)
    process = launched(3, "calls_flang")
    ok(process.returncode == 0 and "not ok" not in process.stdout and "1..47" in process.stdout, "flang: calls on 3 ranks",
       process.stdout, process.stderr)


if not os.path.exists(os.path.join(BUILD, "hsumma.mod")):
    skip("the module", "this library has been built without gfortran, or its MPI has no module mpi_f08")
    sys.exit(done())
sys.exit(run(test_structures, test_no_library, test_bits, test_calls, test_source, test_flang))
