"""TAP: CP2K with libhsumma_scalapack.so preloaded computes the same energy of two molecules of water.  It calls pdgemm
itself, and through ScaLAPACK's eigensolver.  What it exits with says little: with a wrong pdgemm it converges, too."""
import os
import shutil
import sys

from shim import DATA, SANITIZE, find, same_energy
from tap import done, skip


def fill(folder):
    shutil.copy(os.path.join(DATA, "cp2k", "water.inp"), folder)


def main():
    if SANITIZE:
        skip("CP2K", "a program without the sanitizer cannot load the library")
        return done()
    program = find("cp2k.psmp")
    if program:
        same_energy("CP2K, water", r"ENERGY\| Total FORCE_EVAL .*: +(-?[0-9.]+)", 2, 120, fill, program, "-i",
                    "water.inp")
    return done()


if __name__ == "__main__":
    sys.exit(main())
