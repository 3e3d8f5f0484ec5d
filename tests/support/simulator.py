"""Runs scripts/hsumma_sim for the Python tests.

Environment: that of launch.py.
"""
import os
import shutil
import subprocess

from launch import BUILD, ROOT

SCRIPT = os.path.join(ROOT, "scripts", "hsumma_sim")
BENCH = os.path.join(BUILD, "sim", "hsumma")


def simulate(line, *args, timeout=200, **env):
    """Runs "hsumma_sim LINE ARGS", with a time limit, and returns the finished process."""
    return subprocess.run([SCRIPT, "--timeout", str(timeout), *line.split(), *args], capture_output=True, text=True,
                          env={**os.environ, "HSUMMA_SIM_BENCH": "", "HSUMMA_SIM_EXPLAIN": os.path.join(BUILD, "hsumma"), **env})


def lacks(program=BENCH):
    """The reason why a program cannot run in the simulator; None if it can."""
    if not shutil.which("smpirun"):
        return "no SimGrid"
    return None if os.access(program, os.X_OK) else "nothing built for the simulator (make sim)"
