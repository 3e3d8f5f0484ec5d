"""TAP: ScaLAPACK's own testers with libhsumma_scalapack.so preloaded: the same tests pass, fail and are skipped as without
it, and the shim's log has calls of the tester's type.

    scalapack_testers.py          our own inputs (tests/data/scalapack), seconds each
    scalapack_testers.py --all    these, and all testers that call p?gemm with their own inputs
    scalapack_testers.py --nodes N [TESTER...]
                                  our inputs on 8 ranks in N virtual nodes; some products must share their memory;
                                  TESTER: suffix of the testers to run, as lu or zpb3tst

Cholesky never calls p?gemm. Environment: that of launch.py, SANITIZE.
"""
import argparse
import collections
import glob
import os
import re
import shutil
import sys

from launch import MPI, scalapack_testers
from shim import DATA, SANITIZE, complaints, ended, with_and_without
from tap import done, ok, skip

RANKS, RANKS_ON_NODES = 4, 8
GRIDS_ON_NODES = {"P": "2 4 3 1", "Q": "4 2 2 8"}
# For each tester: its name without the type's letter, and the types.
OURS = [("PBLAS/{}pb3tst", "sdcz"), ("x{}lu", "sdcz"), ("x{}inv", "sdcz"), ("x{}ls", "sdcz"), ("x{}hrd", "sdcz"),
        ("x{}brd", "sdcz"), ("x{}svd", "sd"), ("x{}sep", "sdcz")]
THEIRS = OURS + [("x{}gsep", "sdcz"), ("x{}trd", "sdcz"), ("x{}nep", "sdcz"), ("x{}hseqr", "sd"), ("x{}evc", "cz"),
                 ("x{}syevr", "sd"), ("x{}heevr", "cz")]
SCALARS = {"S": ("2.0", "-3.0"), "D": ("2.0D0", "-3.0D0"), "C": ("(2.0,-1.5)", "(-0.5,3.0)"),
           "Z": ("(2.0D0,-1.5D0)", "(-0.5D0,3.0D0)")}
WRONG = r"ERROR CODE RETURNED|memory overwrite|\bnan\b|On entry to|error code:"
WANTED = r"hsumma: P[SDCZ]GEMM on process \(-?\d,-?\d\): [][A-Z_]+ = \S+; expected "  # errors that PBLAS's tester makes


def verdicts(text):
    """The results that a tester prints, without times: counts of passed, failed and skipped, and its summary."""
    words = collections.Counter(word.lower() for word in re.findall(r"\b(?:passed|failed|skipped)\b", text, re.I))
    lines = [" ".join(line.split()) for line in text.splitlines()
             if re.search(r"\d tests? (completed|skipped)|^Finished +\d|^ *\| +P[SDCZ]", line)]
    return [*lines, *(f"{word}: {n} times" for word, n in sorted(words.items()))]


def remarks(process, limit):
    """The errors of a run, before it is compared with another one."""
    text = process.out + process.err
    return ended(process, limit) + [line for line in text.splitlines() if re.search(WRONG, line, re.I)][:5]


def compare(name, program, fill, letter, limit, nodes):
    settings = [f"HSUMMA_TOPOLOGY=nodes:{nodes}", "HSUMMA_EXPLAIN=1"] if nodes else []
    plain, ours = with_and_without(RANKS_ON_NODES if nodes else RANKS, limit, fill, program, settings=settings)
    expected = verdicts(plain.out)
    broken = remarks(plain, limit) or [f"{program} says nothing"] * (not expected)
    if broken:
        skip(name, f"without the shim: {broken[0]}")
        return
    faults = remarks(ours, limit) + complaints(ours, *[WANTED] * program.endswith("pb3tst"))
    if verdicts(ours.out) != expected:
        faults += ["without: " + "; ".join(expected), "with: " + "; ".join(verdicts(ours.out)),
                   *[line for line in ours.out.splitlines() if "failed" in line.lower()][:10]]
    calls = sum(f"--type {letter} " in line for line in ours.calls)
    if not calls or plain.calls:
        faults.append(f"{calls} calls recorded with the shim, {len(plain.calls)} without")
    shared = ours.err.count(" node=shared ")
    if nodes and not shared:
        faults.append("no product has shared memory")
    ok(not faults, f"{name}: {calls} calls" + f", {shared} plans in shared memory" * (nodes > 0), *faults,
       *ours.err.splitlines()[-5:])


def on_nodes(text):
    """An input file whose grids are replaced by as many others, of 6 or 8 ranks, for runs on several nodes."""
    def grids(line):
        return " ".join(GRIDS_ON_NODES[line[2]].split()[:len(line[1].split())]) + "  " + line[2]
    return re.sub(r"(?m)^([\d ]+) ([PQ])$", grids, text)


def ours(letter, nodes):
    """A function that fills a folder with our inputs for one type."""
    def fill(folder):
        upper = letter.upper()
        for path in glob.glob(os.path.join(DATA, "scalapack", "*.dat")):
            text, name = open(path).read(), os.path.basename(path)
            if name == "PBLAS3.dat":
                name = f"P{upper}BLAS3TST.dat"
                for mark, value in zip(("@ALPHA", "@BETA", "P@"), (*SCALARS[upper], "P" + upper)):
                    text = text.replace(mark, value)
            with open(os.path.join(folder, name), "w") as file:
                file.write(on_nodes(text) if nodes else text)
    return fill


def theirs(place):
    """A function that fills a folder with the inputs that come with the testers."""
    def fill(folder):
        for path in glob.glob(os.path.join(place, "*.dat")):
            shutil.copy(path, folder)
    return fill


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--nodes", type=int, default=0)
    parser.add_argument("tester", nargs="*", default=[""])
    args = parser.parse_args()
    found = scalapack_testers()
    if SANITIZE or not found:
        skip("ScaLAPACK's testers", "a program without the sanitizer cannot load the library" if SANITIZE
             else f"there is no package scalapack-mpi-test with testers for {MPI}")
        return done()
    runs = [("our input", 60, OURS)] + [("its own input", 300, THEIRS)] * args.all
    for what, limit, testers in runs:
        for pattern, letter in ((pattern, letter) for pattern, letters in testers for letter in letters):
            program = os.path.join(found, pattern.format(letter))
            if not program.endswith(tuple(args.tester)):
                continue
            name = f"{pattern.format(letter)}, {what}"
            if not os.path.exists(program):
                skip(name, "not in the package")
                continue
            fill = ours(letter, args.nodes) if testers is OURS else theirs(os.path.dirname(program))
            compare(name, program, fill, letter, limit, args.nodes)
    return done()


if __name__ == "__main__":
    sys.exit(main())
