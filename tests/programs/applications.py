"""TAP: applications with libhsumma_scalapack.so preloaded compute the same energy of water.

NWChem's eigensolver calls pdgemm; CP2K calls it directly and through ScaLAPACK's eigensolver. CP2K's exit status says
little: with a wrong pdgemm it converges, too."""
import os
import re
import shutil
import subprocess
import sys

from launch import MPI
from shim import DATA, SANITIZE, complaints, ended, with_and_without
from tap import done, ok, skip

# For each application: name, program, pattern of the energy (Hartree) in the output, input file, leading arguments.
APPLICATIONS = [("NWChem", f"nwchem.{MPI}", r"Total DFT energy = +(-?[0-9.]+)", "nwchem/water.nw", []),
                ("CP2K", "cp2k.psmp", r"ENERGY\| Total FORCE_EVAL .*: +(-?[0-9.]+)", "cp2k/water.inp", ["-i"])]
RANKS, LIMIT = 2, 120


def why_not(program):
    """The reason why an application cannot be tested; None if it can."""
    path = shutil.which(program)
    if SANITIZE:
        return "a program without the sanitizer cannot load the library"
    if not path:
        return f"there is no {program}"
    libraries = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    return None if f"libscalapack-{MPI}." in libraries else f"{program} does not use the ScaLAPACK of {MPI}"


def same_energy(name, program, pattern, data, args):
    """A test: the energy is equal with and without the shim, whatever the exit status."""
    plain, ours = with_and_without(RANKS, LIMIT, lambda folder: shutil.copy(os.path.join(DATA, data), folder),
                                   shutil.which(program), *args, os.path.basename(data))
    energies = [re.findall(pattern, process.out)[-1:] for process in (plain, ours)]
    broken = ended(plain, LIMIT) or ["it prints no energy"] * (not energies[0])
    if broken:
        skip(name, f"without the shim: {broken[0]}")
        return
    end = ["exit code " + str(ours.code), *ours.out.splitlines()[-10:], *ours.err.splitlines()[-10:]]
    same = energies[1] and abs(float(energies[0][0]) - float(energies[1][0])) <= 1e-10
    ok(same, f"{name}: the same energy", f"without {energies[0]}, with {energies[1]}", *end)
    ok(ours.calls and not plain.calls and not complaints(ours),
       f"  {len(ours.calls)} calls of p?gemm, none left to ScaLAPACK", *complaints(ours))


def main():
    for name, program, *how in APPLICATIONS:
        reason = why_not(program)
        if reason:
            skip(name, reason)
        else:
            same_energy(name, program, *how)
    return done()


if __name__ == "__main__":
    sys.exit(main())
