"""TAP: a rank is killed with signal 9 while the others multiply with it, in shared memory, by messages or asleep: the
program ends within seconds, and leaves neither a process nor a name in /dev/shm.

Environment: that of launch.py.
"""
import os
import signal
import subprocess
import sys
import time

from command import BENCH
from launch import mpiexec
from ranks import marked, ranks_of, wait_for
from tap import done, ok

LINE = "gemm -m 300 --reps 1000000 --grid {}"


def test(ranks, grid, *options):
    mark = marked()
    name = f"{ranks} ranks, {' '.join(options) or 'one node'}"
    names = set(os.listdir("/dev/shm"))
    process = subprocess.Popen([*mpiexec(ranks, mark), BENCH, *LINE.format(grid).split(), *options],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        shares = "messages" not in options
        began = wait_for(lambda: len(ranks_of(mark)) == ranks and (not shares or all(ranks_of(mark).values())))
        time.sleep(1)
        running = process.poll() is None
        victims = sorted(ranks_of(mark))
        if victims:
            os.kill(victims[len(victims) // 2], signal.SIGKILL)
        ended = wait_for(lambda: process.poll() is not None and not ranks_of(mark))
    finally:
        process.kill()
        for left in ranks_of(mark):
            os.kill(left, signal.SIGKILL)
        process.wait()
    left = [name for name in set(os.listdir("/dev/shm")) - names if "hsumma" in name]
    ok(began is not None and running and ended is not None and process.returncode != 0 and not left,
       f"{name}: one is killed, the others end", f"began after {began} s, was running: {running}, ended after {ended} s",
       f"exit code {process.returncode}, left {left}")


def main():
    test(4, "2x2")
    test(4, "2x2", "--topology", "nodes:2")
    test(4, "1x4", "--topology", "nodes:2", "--wait", "block")
    test(6, "2x3", "--topology", "nodes:3", "--stationary", "A")
    test(4, "2x2", "--node", "messages")
    return done()


if __name__ == "__main__":
    sys.exit(main())
