"""The processes of a running hsumma, for tests that stop or kill them."""
import glob
import os
import time

from command import BENCH

PATIENCE_S = 200
_MARK = "HSUMMA_TEST_RANKS"


def marked():
    """A setting NAME=VALUE for the environment of a run, by which ranks_of finds its processes."""
    return f"{_MARK}={os.getpid()}-{time.monotonic()}"


def ranks_of(mark, program=BENCH):
    """The processes of a program (None: of any) with this mark in their environment: {pid: whether it has mapped
    product memory}."""
    found = {}
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            if mark.encode() not in open(f"{folder}/environ", "rb").read().split(b"\0"):
                continue
            if program is None or os.path.basename(os.readlink(f"{folder}/exe")) == os.path.basename(program):
                found[int(os.path.basename(folder))] = "memfd:hsumma" in open(f"{folder}/maps").read()
        except OSError:  # the process has ended
            pass
    return found


def wait_for(condition, patience=PATIENCE_S):
    """Waits for a condition; returns the seconds, or None after `patience` seconds."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > patience:
            return None
        time.sleep(0.05)
    return time.monotonic() - start
