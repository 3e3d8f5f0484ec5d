"""A Python environment in the build directory for the tests of python/: mpi4py for libhsumma's MPI, pytest, and the
package, installed as a user would. If something is unavailable, the tests are skipped.

Environment: that of launch.py.
"""
import fcntl
import os
import re
import shutil
import subprocess
import sys

from launch import BUILD, ROOT

HOME = os.path.join(BUILD, "python")
PYTHON = os.path.join(HOME, "bin", "python")
LIBRARY = os.path.join(BUILD, "libhsumma.so")


class Missing(Exception):
    """The reason why the environment cannot be made."""


def run(*command, **environment):
    """Runs a command that may need the network; returns the finished process or raises Missing."""
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
        raise Missing(f"{' '.join(map(os.path.basename, command[:4]))} failed: {lines[-1][:200]}")
    return done


def settings():
    """NAME=VALUE for processes that import PyPI's mpi4py.

    mpi4py looks for libmpi.so.12, MPICH's own name, and else takes Open MPI; Debian's name is libmpich.so.12."""
    said = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True).stdout
    found = re.search(r"libmpich\.so\.12 => (\S+)", said)
    if not found:
        return []
    folder = os.path.join(HOME, "mpi")
    os.makedirs(folder, exist_ok=True)
    link = os.path.join(folder, "libmpi.so.12")
    if not os.path.exists(link):
        os.symlink(os.path.realpath(found[1]), link)
    return [f"LD_LIBRARY_PATH={folder}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":"), "MPI4PY_MPIABI=mpich"]


def make_with(home, *packages):
    """Makes an environment with packages of PyPI in a directory, once for all tests that need it."""
    done = os.path.join(home, "complete")
    with open(home + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(done):
            shutil.rmtree(home, ignore_errors=True)
            run(sys.executable, "-m", "venv", "--system-site-packages", home)
            run(os.path.join(home, "bin", "python"), "-m", "pip", "install", "-q", "--ignore-installed", *packages)
            with open(done, "w", encoding="utf-8"):
                pass


def make():
    """Makes the environment of the tests of python/."""
    make_with(HOME, "mpi4py", "pytest")
    environment = dict(setting.split("=", 1) for setting in settings())
    run(PYTHON, "-c", "from mpi4py import MPI", **environment)


def wheel(folder, carries=False):
    """The path of the package's wheel, built from a copy of python/; carries: includes the library."""
    source = os.path.join(folder, "python")
    shutil.copytree(os.path.join(ROOT, "python"), source,
                    ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info", "libhsumma*"))
    if carries:
        shutil.copy(LIBRARY, os.path.join(source, "hsumma", "libhsumma.so.0"))
    run(PYTHON, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, source)
    return next(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".whl"))


def install(path, *options):
    run(PYTHON, "-m", "pip", "install", "-q", "--no-deps", *(options or ["--force-reinstall"]), path)
