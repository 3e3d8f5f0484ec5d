"""TAP: the Python package: its own tests (python/tests, pytest) on one to four processes, compared with C's results; its
examples and wheels.

Environment: that of launch.py. A test passes if it passes on every process.
"""
import os
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import python_venv as venv
from launch import BUILD, mpiexec
from tap import ok, run, skip

REFERENCE = os.path.join(BUILD, "tests", "mpi", "python", "reference")
# For each case: type, operations, m, n, k, block (0: one block per process).
CASES = ["d NN 150 140 160 0", "d NN 61 53 47 4", "s NT 60 70 80 0", "s TN 33 44 55 8", "c CN 50 40 30 0",
         "c TC 35 45 25 3", "z NC 64 32 48 0", "z CT 29 31 37 5"]


def results_of_c(ranks, folder):
    """Writes the C results for python/tests into a folder."""
    for number, case in enumerate(CASES):
        with open(os.path.join(folder, f"{number}.case"), "w", encoding="utf-8") as file:
            file.write(case)
        subprocess.run([*mpiexec(ranks), REFERENCE, "product", *case.split(), os.path.join(folder, str(number))],
                       check=True, timeout=60)
    with open(os.path.join(folder, "layout"), "w", encoding="utf-8") as file:
        subprocess.run([REFERENCE, "layout"], stdout=file, check=True, timeout=60)


def verdicts(path):
    """The results of one process: {test: ("passed", "skipped" or "failed", output)}."""
    found = {}
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname').split('.')[-1]}: {case.get('name')}"
        said = [(part.tag, part.get("message") or "", part.text or "") for part in case
                if part.tag in ("failure", "error", "skipped")]
        found[name] = ("passed", "", "") if not said else ("skipped" if said[0][0] == "skipped" else "failed", *said[0][1:])
    return found


def fakes(folder):
    """Settings that name libraries that must not be loaded: of another version, and of another MPI."""
    source = """void hsumma_version(int *x, int *y, int *z) { *x = MAJOR; *y = 1; (void)z; }
        int MPI_Comm_size(int c, int *n) { return c + (n == 0); }
        int MPI_Get_library_version(char *t, int *n) { const char *s = "another MPI"; *n = 0;
            while ((t[*n] = s[*n])) ++*n; return 0; }"""
    made = []
    for name, major in ("VERSION", 7), ("MPI", 0):
        path = os.path.join(folder, f"libother{major}.so")
        built = subprocess.run([*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", f"-DMAJOR={major}", "-x", "c", "-", "-o",
                                path], input=source, text=True, capture_output=True)
        made += [f"HSUMMA_TEST_OTHER_{name}={path}"] * (built.returncode == 0)
    return made


def test_on(ranks):
    with tempfile.TemporaryDirectory() as folder:
        results_of_c(ranks, folder)
        settings = [*venv.settings(), f"HSUMMA_LIBRARY={venv.LIBRARY}", f"HSUMMA_TEST_REFERENCE={folder}", *fakes(folder)]
        shell = f'exec "$0" "$@" --junitxml={folder}/${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}.xml'
        done = subprocess.run([*mpiexec(ranks, *settings, "PYTHONDONTWRITEBYTECODE=1"), "sh", "-c", shell, venv.PYTHON, "-m",
                               "pytest", "-q", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=60",
                               os.path.join(venv.ROOT, "python", "tests")], capture_output=True, text=True)
        files = [os.path.join(folder, f"{rank}.xml") for rank in range(ranks)]
        if not all(map(os.path.exists, files)):
            return ok(False, f"{ranks} processes: tests end", done.stdout[-3000:], done.stderr[-3000:])
        found = [verdicts(path) for path in files]
    for name in found[0]:
        each = [of.get(name, ("failed", "not run", "")) for of in found]
        failed = [(rank, said) for rank, said in enumerate(each) if said[0] == "failed"]
        if failed or all(said[0] != "skipped" for said in each):
            ok(not failed, f"{ranks} processes, {name}", *(f"process {rank}: {said[1]}\n{said[2]}" for rank, said in failed))
        else:
            skip(f"{ranks} processes, {name}", next(said[1] for said in each if said[0] == "skipped"))
    ok(done.returncode == 0, f"{ranks} processes: they end well", done.stdout[-2000:], done.stderr[-2000:])


def loaded(*settings):
    """The path of the library that a process loads, or its error."""
    done = subprocess.run(["env", "-u", "HSUMMA_LIBRARY", *venv.settings(), *settings, venv.PYTHON, "-c",
                           "import hsumma._library; print(hsumma._library.lib._name)"], capture_output=True, text=True,
                          cwd=tempfile.gettempdir())
    return (done.stdout or done.stderr).strip()


def test_places():
    """Tests the places where the package searches for the library, and their order."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "hsumma.pc"), "w", encoding="utf-8") as file:
            file.write(f"libdir={BUILD}\nName: hsumma\nDescription: hsumma\nVersion: 0\n")
        path, prefix = venv.settings() or ["LD_LIBRARY_PATH="], f"PKG_CONFIG_PATH={folder}"
        loader = f"{path[0]}:{BUILD}"
        name = "libhsumma.so.0"
        ok(loaded(prefix) == os.path.join(BUILD, name), "found by pkg-config", loaded(prefix))
        ok(loaded(loader, "PKG_CONFIG_LIBDIR=/nowhere") == name, "found by the loader", loaded(loader))
        carried = venv.wheel(folder, carries=True)
        ok("none-any" not in carried, "a wheel that carries the library is for this kind of machine", carried)
        venv.install(carried, "--target", os.path.join(folder, "site"))
        inside, site = os.path.join(folder, "site", "hsumma", name), f"PYTHONPATH={folder}/site"
        ok(loaded(prefix, site) == inside, "found beside the package", loaded(prefix, site))
        named = f"HSUMMA_LIBRARY={venv.LIBRARY}"
        ok(loaded(prefix, site, named) == venv.LIBRARY, "found by HSUMMA_LIBRARY", loaded(prefix, site, named))


def test_endings():
    with tempfile.TemporaryDirectory() as folder:
        timeline = os.path.join(folder, "timeline")
        for how in ["plain"], ["finalize"], ["trace", timeline], ["started"], ["threads"], ["freed"]:
            done = subprocess.run([*mpiexec(2, *venv.settings(), f"HSUMMA_LIBRARY={venv.LIBRARY}"), venv.PYTHON,
                                   os.path.join(venv.ROOT, "python", "tests", "endings.py"), *how], capture_output=True, text=True)
            ok(done.returncode == 0 and done.stdout.count("end") == 2 and not done.stderr, f"a program ends: {how[0]}",
               done.stdout, done.stderr)
        ok(os.path.exists(timeline) and os.path.getsize(timeline), "  and its timeline is there")


def test_example():
    script = os.path.join(venv.ROOT, "python", "examples", "first.py")
    for ranks in 1, 4:
        done = subprocess.run([*mpiexec(ranks, *venv.settings(), f"HSUMMA_LIBRARY={venv.LIBRARY}"), venv.PYTHON, script],
                              capture_output=True, text=True, cwd=tempfile.gettempdir())
        ok(done.returncode == 0 and "right" in done.stdout and not done.stderr, f"python/examples/first.py on {ranks}",
           done.stdout, done.stderr)


def main():
    try:
        venv.make()
        with tempfile.TemporaryDirectory() as folder:
            venv.install(venv.wheel(folder))
    except venv.Missing as why:
        print(f"1..0 # SKIP {why}")
        return 0
    return run(*(lambda ranks=ranks: test_on(ranks) for ranks in (1, 2, 3, 4)), test_places, test_endings, test_example)


if __name__ == "__main__":
    sys.exit(main())
