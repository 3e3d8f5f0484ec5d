"""TAP: NWChem with libhsumma_scalapack.so preloaded computes the same energy of water.  Its eigensolver calls pdgemm.
"""
import os
import shutil
import sys

from launch import MPI
from shim import DATA, SANITIZE, find, same_energy
from tap import done, skip


def fill(folder):
    shutil.copy(os.path.join(DATA, "nwchem", "water.nw"), folder)


def main():
    if SANITIZE:
        skip("NWChem", "a program without the sanitizer cannot load the library")
        return done()
    program = find(f"nwchem.{MPI}")
    if program:
        same_energy("NWChem, water", r"Total DFT energy = +(-?[0-9.]+)", 2, 120, fill, program, "water.nw")
    return done()


if __name__ == "__main__":
    sys.exit(main())
