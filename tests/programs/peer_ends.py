"""TAP: a process ends, or frees its context, while the others need it (tests/mpi/product/peer.c): each of the others
gets HSUMMA_ERR_PEER in every kind of call, with a message that names the process; it can then free everything.

Each rank is run by a shell that outlives it, since mpiexec ends all processes when one of its own has been killed.

Environment: that of launch.py.
"""
import os
import signal
import subprocess
import sys
import time

from launch import BUILD, mpiexec
from ranks import marked, ranks_of
from tap import done, ok, skip

PATIENCE_S = 120
PEER = 10  # HSUMMA_ERR_PEER
PROGRAM = os.path.join(BUILD, "tests", "mpi", "product", "peer")
SHELL = ["sh", "-c", '"$0" "$@"; exec sleep 200', PROGRAM]
ENDS = {"killed": "has ended", "exits": "has freed its context", "stays": "has freed its context"}


def test(ranks, call, how, *options):
    mark = marked()
    process = subprocess.Popen([*mpiexec(ranks, mark), *SHELL, call, how, *options],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    os.set_blocking(process.stdout.fileno(), False)
    text, start = "", time.monotonic()
    try:
        while time.monotonic() - start < PATIENCE_S and text.count("freed\n") < ranks - 1 and "cannot" not in text:
            time.sleep(0.05)
            text += (process.stdout.read() or b"").decode()
    finally:
        for left in ranks_of(mark, None):
            try:
                os.kill(left, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.kill()
        process.wait()
        process.stdout.close()
    lines = text.splitlines()
    good = text.count("freed\n") == ranks - 1
    for rank in range(ranks - 1):
        first = [line for line in lines if line.startswith(f"rank {rank}: {PEER} after ")]
        good &= len(first) == 1 and f"rank {ranks - 1} {ENDS[how]}; its last call was " in first[0]
        good &= f"rank {rank}: then {PEER}" in lines
    ok(good, f"{ranks} ranks, {call}, the last one {how} {' '.join(options)}", text)


def test_time_namespace():
    """Two ranks whose clocks since the machine's start differ; each looks at the other during waits of a second."""
    what = "a rank in another time namespace is not taken for one that has ended"
    own = ["unshare", "--time", "--boottime", "100000"]
    if subprocess.run([*own, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
        skip(what, "this system or user cannot make a time namespace")
        return
    inside = ["sh", "-c", 'test "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 && exec "$@"; exec ' + " ".join(own) + ' "$@"', "sh"]
    late = os.path.join(BUILD, "tests", "mpi", "product", "timeout")
    ran = subprocess.run(["timeout", str(PATIENCE_S), *mpiexec(2, marked()), *inside, late], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False, text=True)
    ok(ran.returncode == 0 and "not ok" not in ran.stdout and "1.." in ran.stdout, what, ran.stdout)


def main():
    for call in ("multiply", "test", "sum", "testsum", "grid", "plan", "malloc", "redistribute"):
        test(3, call, "killed")
    for call in ("multiply", "sum", "testsum", "malloc"):
        test(2, call, "exits")
        test(2, call, "stays")
    for call in ("multiply", "sum", "grid"):
        test(3, call, "killed", "wait=block")
        test(3, call, "killed", "node=messages", "shared=0", "timeout=off")
    for wait in ("poll", "block"):
        test(3, "sum", "killed", "coll=allreduce:mpi", f"wait={wait}")
        test(3, "multiply", "killed", "node=messages", "bcast=mpi", f"wait={wait}")
    # the ranks of the first node receive a notice of the second
    for call in ("multiply", "test", "sum", "grid", "malloc"):
        test(4, call, "killed", "topology=nodes:2")
    for call in ("multiply", "sum", "grid"):
        test(4, call, "killed", "topology=nodes:2", "device=host")
    test(4, "multiply", "killed", "topology=nodes:2", "wait=block")
    test(4, "sum", "killed", "topology=nodes:2", "wait=block")
    test_time_namespace()
    return done()


if __name__ == "__main__":
    sys.exit(main())
