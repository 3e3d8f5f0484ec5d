"""TAP: faults at random moments. After each: no hang, no wrong result presented as right, nothing left behind.

    tests/programs/faults.py [--trials N] [--seed SEED] [--first I] [--every N] [KIND=N...]

Kinds: kill (a rank, by signal 9), stop (SIGSTOP, later SIGCONT), slow (a rank gets 1 % of its time), files (a profile,
a tuned file or a topology with flipped bits, or cut), output (calls of multiply on its files fail), clock (clocks jump), calls
(calls of the system and of MPI fail: tests/mpi/product/faults.c). KIND=N makes N trials of this kind; without kinds,
--trials N makes N of kill, and a share of N of each other kind. The choices of a trial follow from SEED and its number;
times, and the measured profile of `files`, do not. A failed one is printed with the command that repeats it. A correct product follows each N-th trial (--every). As root, the script
has /dev/shm to itself and finds everything that is left there; else only the library's own names. What happens after a kill is the launcher's: MPICH's ends all ranks.
Environment: BUILD, MPI, MPIEXEC.
"""
import argparse
import array
import collections
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from command import BENCH
from launch import BUILD, mpiexec
from ranks import marked, ranks_of
from tap import done, ok, skip

PATIENCE_S = 90
SHIM = os.path.join(BUILD, "tests", "faults.so")
CALLS = os.path.join(BUILD, "tests", "mpi", "product", "faults")
SHM = "/dev/shm"
PRIVATE = "HSUMMA_TEST_PRIVATE_SHM"
PLACES = [[], ["--topology", "nodes:2"]]
OPTIONS = [*PLACES, ["--node", "messages"], ["--stationary", "A"],
           ["--topology", "nodes:2", "--wait", "block"], ["--topology", "nodes:2", "--lookahead", "2"],
           ["--topology", "nodes:3", "--stationary", "B"], ["--direct", "off"]]
ENDLESS = ["gemm -m 300 --reps 1000000", "gemm -m 40 --reps 1000000", "gemm -m 300 --reps 1000000 --compare shared",
           "soak --hours 1 --seed {seed}", "coll --op allreduce --repetitions 1000",
           "redistribute -m 500 --alone --reps 1000000"]
FINITE = ["gemm -m 200 --reps 30 --check", "gemm -m 64 --nb 16 --type z --reps 100 --check", "soak --cases 8 --seed {seed}",
          "redistribute -m 200 --alone --reps 30 --check"]
NAMES_OF_MPI = ("mpich_", "ucx_", "vader_", "sm_segment", "psm")
FILES = ("tuned", "profile", "tuned.lock", "damaged.lock")
PRODUCT = "gemm -m 64 --reps 1 --check"


class Bad(Exception):
    """A trial has failed, for this reason."""


class Trial:
    """One fault: a directory of its own, random choices, and a run of hsumma."""

    def __init__(self, kind, seed):
        self.kind, self.draw = kind, random.Random(seed)
        self.where = tempfile.mkdtemp(prefix="hsumma-faults-")
        for name in ("tmp", "config", "target"):
            os.mkdir(os.path.join(self.where, name))
        self.before = set(os.listdir(SHM))
        self.process, self.line, self.mark, self.program = None, "", marked(), BENCH
        self.counts = collections.Counter()

    def path(self, *names):
        return os.path.join(self.where, *names)

    def start(self, ranks, line, *options, settings=(), preload=(), program=BENCH):
        self.program = program
        self.line = " ".join([f"{ranks} ranks:", line, *options, *settings])
        environment = [f"TMPDIR={self.path('tmp')}", f"XDG_CONFIG_HOME={self.path('config')}", "OPENBLAS_NUM_THREADS=1"]
        self.output = open(self.path("output"), "w+", errors="replace")
        self.process = subprocess.Popen([*mpiexec(ranks, self.mark, *environment, *settings, preload=preload), program,
                                         *line.split(), *options], stdout=self.output, stderr=subprocess.STDOUT)

    def said(self):
        self.output.seek(0)
        return self.output.read()

    def ranks(self):
        return sorted(ranks_of(self.mark, self.program))

    def wait(self, condition, patience=PATIENCE_S):
        """Waits until a condition holds or the run has ended; returns whether the condition holds."""
        end = time.monotonic() + patience * max(1, os.getloadavg()[0] / os.cpu_count())
        while not condition():
            if self.process.poll() is not None:
                return condition()
            if time.monotonic() > end:
                raise Bad("a hang")
            time.sleep(0.01)
        return True

    def end(self, patience=PATIENCE_S):
        """Waits for the end of the run and of its ranks; returns the exit status."""
        self.wait(lambda: self.process.poll() is not None, patience)
        end = time.monotonic() + PATIENCE_S
        while self.ranks():
            if time.monotonic() > end:
                raise Bad("ranks are left")
            time.sleep(0.01)
        return self.process.returncode

    def passes(self, *statuses):
        code = self.end()
        if code not in (statuses or (0,)):
            raise Bad(f"exit status {code}")
        return code

    def look(self):
        """Raises Bad if something of ours is left; returns whether a name of MPI's own is left in /dev/shm."""
        new = set(os.listdir(SHM)) - self.before
        names = new if os.environ.get(PRIVATE) else set()
        others = {name for name in names if name.startswith(NAMES_OF_MPI)}
        left = [*names - others, *(name for name in new - names if "hsumma" in name)]
        for folder in ("tmp", "target"):
            left += os.listdir(self.path(folder))
        left += [name for _, _, names in os.walk(self.path("config")) for name in names if name not in FILES]
        if left:
            raise Bad(f"left: {' '.join(left)}")
        return bool(others)

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pid in self.ranks():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.where)


def send(pid, number):
    """Sends a signal to a rank; returns whether it existed."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def begin(trial, lines, latest=1.5, settings=(), preload=()):
    """Starts a run with random options; returns one of its ranks after up to `latest` s, or None if it has ended."""
    draw, ranks = trial.draw, trial.draw.choice([3, 4])
    line = draw.choice(lines).format(seed=draw.randrange(10**6))
    options = draw.choice(OPTIONS if line.startswith("gemm") else PLACES)
    trial.start(ranks, line, *options, settings=settings, preload=preload)
    trial.wait(lambda: len(trial.ranks()) == ranks)
    time.sleep(draw.random() ** 2 * latest)
    left = trial.ranks()
    return draw.choice(left) if left else None


def fault_kill(trial):
    if trial.draw.random() < 0.1:
        return kill_multiply(trial)
    victim = begin(trial, ENDLESS)
    if victim is None or not send(victim, signal.SIGKILL):
        raise Bad(f"ended by itself with status {trial.process.poll()}")
    return "ended" if trial.end() else "status 0"  # 0: a finite run ended just before


def make_matrices(trial, n):
    """Writes A and B, n x n matrices of ones; every element of their product is n."""
    for name in "AB":
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {n}), }}"
        header += " " * ((-len(header) - 11) % 64) + "\n"
        with open(trial.path(f"{name}.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
            file.write(array.array("d", [1]) * (n * n))


def is_product(path, n):
    with open(path, "rb") as file:
        file.seek(128)
        return file.read() == (array.array("d", [n]) * (n * n)).tobytes()


def kill_multiply(trial):
    """A rank of multiply is killed: either the whole file is there, or none of this name."""
    make_matrices(trial, 700)
    target = trial.path("target", "C.npy")
    trial.start(3, "multiply", trial.path("A.npy"), trial.path("B.npy"), "-o", target)
    trial.wait(lambda: len(trial.ranks()) == 3)
    time.sleep(trial.draw.random() * 0.8)
    ranks = trial.ranks()
    if ranks:
        send(trial.draw.choice(ranks), signal.SIGKILL)
    trial.end()
    names = os.listdir(trial.path("target"))
    for name in names:  # doc/command.md: killed by signal 9, multiply leaves its unfinished output
        if not name.startswith(".C.npy.part-") and (name != "C.npy" or not is_product(target, 700)):
            raise Bad(f"in the target's folder: {name}")
        os.remove(trial.path("target", name))
    return "multiply: " + ("unfinished file" if any(name.startswith(".") for name in names) else "no file" if not names else "whole file")


def fault_stop(trial):
    victim = begin(trial, FINITE)
    stopped = victim is not None and send(victim, signal.SIGSTOP)
    time.sleep(trial.draw.uniform(0.3, 3))
    if stopped:
        send(victim, signal.SIGCONT)
    trial.passes()
    return "passed" if stopped else "too late"


def fault_slow(trial):
    victim = begin(trial, [PRODUCT, "soak --cases 1 --seed {seed}", "redistribute -m 50 --alone --reps 2 --check"], latest=0.1)
    deadline = time.monotonic() + 10 * PATIENCE_S
    while victim is not None and trial.process.poll() is None and send(victim, signal.SIGSTOP):
        time.sleep(0.05)
        send(victim, signal.SIGCONT)
        if time.monotonic() > deadline:
            raise Bad("a hang")
        time.sleep(0.0005)
    trial.passes()
    return "passed" if victim is not None else "too late"


def damaged(draw, text):
    """The bytes with one to four flipped bits or bytes replaced, cut, or repeated."""
    data = bytearray(text)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(max(1, len(data)))
        how = draw.randrange(5)
        if how == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif how == 1:
            data[at] = draw.choice(b"0123456789.-+e\n# \0\xff=,")
        elif how == 2:
            del data[at:]
        elif how == 3:
            del data[at:at + draw.randrange(1, 40)]
        else:
            data[at:at] = data[at:at + draw.randrange(1, 200)]
        data = data or bytearray(b"\n")
    return bytes(data)


def run_quietly(*words, **more):
    return subprocess.run(words, capture_output=True, timeout=300, **more)


def make_files(folder):
    """A profile, and a tuned file with products, collectives and a network."""
    profile, tuned = os.path.join(folder, "profile"), os.path.join(folder, "tuned")
    quick = [*mpiexec(2, f"XDG_CONFIG_HOME={folder}", "HSUMMA_PROFILE=auto"), BENCH]
    run_quietly(*quick, "calibrate", "--quick", "-q", "--output", profile)
    run_quietly(*quick, "tune", "-q", "-m", "96", "--tuned", tuned)
    run_quietly(*quick, "tune", "-q", "--coll", "--bytes", "8..64k", "--tuned", tuned)
    run_quietly(*quick, "gemm", "-q", "-m", "64", "--reps", "1", "--topology", "nodes:2", "--tuned", tuned)
    return [open(name, "rb").read() for name in (profile, tuned) if os.path.exists(name)]


def topology(draw):
    """A file of the option topology that has this host: a torus, or the output of scontrol show topology."""
    host = socket.gethostname()
    return draw.choice([f"# 4 of 4\ntorus 2x2\n{host}\nother[00-02]\n",
                        f"SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes={host},node[00-02]\n"
                        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=node[03-15]\n"
                        f"SwitchName=top Level=1 LinkSpeed=1 Nodes={host},node[00-15] Switches=leaf[0-1]\n"]).encode()


def fault_files(trial, kept={}):
    if not kept:
        folder = tempfile.mkdtemp(prefix="hsumma-faults-")
        kept["files"] = make_files(folder)
        shutil.rmtree(folder)
    if len(kept["files"]) < 2:
        raise Bad("no profile or no tuned file was made")
    which = trial.draw.randrange(3)
    name = trial.path("config", "damaged")
    option = ["profile", "tuned", "topology"][which]
    with open(name, "wb") as file:
        file.write(damaged(trial.draw, [*kept["files"], topology(trial.draw)][which]))
    ranks = trial.draw.choice([1, 2, 2])
    trial.start(ranks, PRODUCT, f"--{option}={name}", *(["--topology", f"nodes:{ranks}"] if option != "topology" else []))
    code = trial.passes(0, 2)
    os.remove(name)
    if code and "hsumma:" not in trial.said():
        raise Bad("refused without a reason")
    return f"{['profile', 'tuned file', 'topology'][which]} " + ("refused" if code else "used or ignored, product right")


def fault_output(trial):
    make_matrices(trial, 60)
    draw, target = trial.draw, trial.path("target", "C.npy")
    function = draw.choice(["open", "read", "write", "pread", "pwrite", "fallocate", "fsync", "renameat2"])
    error = draw.choice(["ENOSPC", "EIO"])
    fault = f"{function}:{draw.choice([0, 0, 0, 1, 2, 3])}:{error}:{draw.choice([0, 0, 1, 2])}"
    trial.start(3, "multiply", trial.path("A.npy"), trial.path("B.npy"), "-o", target, preload=[SHIM],
                settings=[f"HSUMMA_FAULT={fault}", f"HSUMMA_FAULT_PATH={trial.where}"])
    code = trial.end()
    there = os.path.exists(target)
    if there:
        if not is_product(target, 60):
            raise Bad(f"a wrong file, status {code}")
        os.remove(target)
    if code not in (0, 1, 2) or there != (code == 0):
        raise Bad(f"exit status {code}, {'a' if there else 'no'} file")
    if code and "hsumma:" not in trial.said():
        raise Bad("refused without a reason")
    if "injected" not in trial.said():
        return "not reached, file right"
    return f"{function} fails: " + ("file right" if there else "no file, a message")


def fault_clock(trial):
    begin(trial, FINITE + ["gemm -m 96 --reps 3 --check --tune measure", "gemm -m 96 --reps 3 --check --profile auto"], preload=[SHIM],
          settings=[f"HSUMMA_FAULT_CLOCK={trial.draw.randrange(1, 10**6)}"])
    trial.passes()
    return "passed"


def fault_calls(trial, batch=120):
    """One run of tests/mpi/product/faults.c, with many trials of its own."""
    ranks, first = trial.draw.choice([2, 3, 4]), trial.draw.randrange(10**6)
    trial.start(ranks, str(batch), str(first), program=CALLS, preload=[SHIM], settings=["UCX_MEM_MMAP_HOOK_MODE=none"])
    code = trial.end(patience=600)
    said = trial.said()
    for line in said.splitlines():
        match = re.match(r"ok \d+ - (\w+) fails: \d+ trials, (.*)", line)
        for count in match[2].split(", ") if match else []:
            what, _, times = count.rpartition(" ")
            trial.counts[f"{match[1]} {what}"] += int(times)
    if code or "not ok" in said:
        raise Bad(f"exit status {code}")
    return "runs"


KINDS = {"kill": (fault_kill, 1), "stop": (fault_stop, 0.1), "slow": (fault_slow, 0.05), "files": (fault_files, 0.3),
         "output": (fault_output, 0.3), "clock": (fault_clock, 0.1), "calls": (fault_calls, 0.03)}  # shares of --trials


def follow(kind, seed):
    """The run after a fault."""
    trial = Trial(kind, seed)
    try:
        trial.start(4, PRODUCT, *trial.draw.choice(OPTIONS))
        trial.passes()
        trial.look()
    except Bad as reason:
        raise Bad(f"the run after it: {reason}; {trial.line}\n{trial.said()[-3000:]}") from reason
    finally:
        trial.close()


def trials(kind, args, count):
    """Runs the trials of a kind and reports them as one test."""
    found, bad, began = collections.Counter(), [], time.monotonic()
    for number in range(args.first, args.first + count):
        trial = Trial(kind, f"{args.seed} {kind} {number}")
        try:
            what = KINDS[kind][0](trial)
            found[what + ", MPI left its own shared memory" * trial.look()] += 1
            found += trial.counts
            if number % args.every == 0:
                follow(kind, f"{args.seed} {kind} {number} next")
        except Bad as reason:
            bad += [f"{kind} {number}: {reason}; {trial.line}", trial.said()[-3000:] if trial.process else "",
                    f"again: tests/run --script programs/faults.py --seed {args.seed} --first {number} {kind}=1"]
            found["FAILED"] += 1
            print("#", *bad[-3:], sep="\n# ", flush=True)
        finally:
            trial.close()
    counts = ", ".join(f"{word} {times}" for word, times in sorted(found.items()))
    ok(not bad, f"{kind}: {count} trials: {counts}", *bad)
    print(f"# {kind}: {(time.monotonic() - began) / count:.2f} s per trial", flush=True)


def private_shm():
    """Starts this script again with a /dev/shm of its own, if the system allows that."""
    if PRIVATE in os.environ or not shutil.which("unshare"):
        return
    script = f"mount -t tmpfs tmpfs {SHM} && exec env {PRIVATE}=1 \"$0\" \"$@\""
    if subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs tmpfs {SHM}"], capture_output=True).returncode == 0:
        os.execvp("unshare", ["unshare", "-m", "sh", "-c", script, sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("kind", nargs="*")
    args = parser.parse_args()
    private_shm()
    for word in args.kind or KINDS:
        kind, _, count = word.partition("=")
        if kind in ("output", "clock", "calls") and os.environ.get("SANITIZE"):
            skip(kind, "the preloaded library replaces malloc, as sanitizers do")
            continue
        trials(kind, args, int(count or max(1, args.trials * KINDS[kind][1])))
    return done()


if __name__ == "__main__":
    sys.exit(main())
