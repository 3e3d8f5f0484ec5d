"""scripts/hsumma_sim for the Python tests.

Environment: that of launch.py.
"""
import os
import shutil
import subprocess

from launch import BUILD

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SCRIPT = os.path.join(ROOT, "scripts", "hsumma_sim")
BENCH = os.path.join(BUILD, "sim", "hsumma")


def simulate(line, *args, timeout=200, **env):
    """The finished process of "hsumma_sim LINE ARGS", which ends a simulation that takes too long."""
    return subprocess.run([SCRIPT, "--timeout", str(timeout), *line.split(), *args], capture_output=True, text=True,
                          env={**os.environ, "HSUMMA_SIM_BENCH": "", **env})


def lacks(program=BENCH):
    """Why a program for the simulator cannot run; None: it can."""
    if not shutil.which("smpirun"):
        return "no SimGrid"
    return None if os.access(program, os.X_OK) else "nothing built for the simulator (make sim)"
