"""TAP: random input for everything that reads options, words, files, step lists and descriptors (tests/fuzz), by clang's
libFuzzer under AddressSanitizer and UBSan; builds in BUILD/fuzz. "make fuzz-input" is the long form.

    fuzz_input.py [--runs N | --seconds N] [--seed N] [--keep] [TARGET...]

Each target begins with its inputs in tests/fuzz/corpus, one a line: text with the escapes \\\\, \\n and \\xNN; a line that
begins with "##" is a comment. --keep: rewrites these files with the inputs, at most some KB, that reach most code; the
first lines up to the comment "## found by fuzzing" stay. An input that fails is kept in BUILD/fuzz/found.

Environment: BUILD.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from launch import ROOT
from tap import done, ok

CORPUS = os.path.join(ROOT, "tests/fuzz/corpus")
BUILD = os.path.join(os.environ["BUILD"], "fuzz")
FOUND = os.path.join(BUILD, "found")
SHORT_RUNS, MOST_BYTES, MOST_LENGTH, INPUT_SECONDS = 10000, 4096, 4096, 20
KEPT = "## found by fuzzing"
FLAGS = ["CC=" + ("ccache clang" if shutil.which("ccache") else "clang"), "SANITIZE=address,undefined", "CUDA=0", "MPIFC=",
         "CFLAGS=-O1 -g -fsanitize=fuzzer-no-link", f"BUILD={BUILD}"]
PROBE = "int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return data && size ? 0 : 0; }"
# Not enough memory is an answer; the C library's allocations must fail as they do without the sanitizer.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=512",
               "UBSAN_OPTIONS": "print_stacktrace=1"}


def missing():
    """The reason why the targets cannot be built, or None."""
    if not shutil.which("clang"):
        return "there is no clang"
    probe = subprocess.run(["clang", "-fsanitize=fuzzer,address", "-x", "c", "-o", os.devnull, "-"], input=PROBE, text=True,
                           capture_output=True)
    return "clang has no libFuzzer (package libclang-rt-dev)" if probe.returncode else None


def unescape(line):
    return re.sub(rb"\\(\\|n|x[0-9a-f]{2})", lambda m: {b"\\": b"\\", b"n": b"\n"}.get(m[1]) or bytes([int(m[1][1:], 16)]), line)


def escape(data):
    return b"".join(b"\\\\" if c == 92 else b"\\n" if c == 10 else bytes([c]) if 32 <= c < 127 else b"\\x%02x" % c for c in data)


def seeds(target):
    with open(os.path.join(CORPUS, target), "rb") as file:
        return [unescape(line) for line in file.read().split(b"\n") if line and not line.startswith(b"##")]


def write_seeds(target, folder):
    os.makedirs(folder)
    for i, seed in enumerate(seeds(target)):
        with open(os.path.join(folder, f"seed-{i}"), "wb") as file:
            file.write(seed)


def keep(target, folder, scratch):
    """Rewrites the corpus: the lines by hand, then inputs that reach further code, short ones first, up to MOST_BYTES."""
    path = os.path.join(CORPUS, target)
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    by_hand = lines[:lines.index(KEPT.encode())] if KEPT.encode() in lines else [line for line in lines if line]
    merged = os.path.join(scratch, "merged")
    os.mkdir(merged)
    subprocess.run([os.path.join(BUILD, "tests/fuzz", target), "-merge=1", merged, folder], cwd=scratch, env=ENVIRONMENT,
                   capture_output=True, check=True)
    inputs = sorted((open(os.path.join(merged, name), "rb").read() for name in os.listdir(merged)), key=len)
    have, used = {unescape(line) for line in by_hand}, 0
    with open(path, "wb") as file:
        file.write(b"\n".join([*by_hand, KEPT.encode()]) + b"\n")
        for data in inputs:
            line = escape(data)
            if data and data not in have and not line.startswith(b"##") and used + len(line) < MOST_BYTES:
                file.write(line + b"\n")
                used += len(line) + 1


def run_target(target, args):
    """Returns whether the target passed, its line, and remarks."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as scratch:
        folder = os.path.join(scratch, "inputs")
        write_seeds(target, folder)
        amount = f"-max_total_time={args.seconds}" if args.seconds else f"-runs={args.runs}"
        command = [os.path.join(BUILD, "tests/fuzz", target), amount, f"-seed={args.seed}", f"-max_len={MOST_LENGTH}",
                   f"-timeout={INPUT_SECONDS}", f"-artifact_prefix={FOUND}/{target}-", "-print_final_stats=1", folder]
        start = time.monotonic()
        result = subprocess.run(command, cwd=scratch, env=ENVIRONMENT, capture_output=True, text=True, errors="replace")
        seconds = time.monotonic() - start
        if args.keep and not result.returncode:
            keep(target, folder, scratch)
    runs = re.search(r"stat::number_of_executed_units: (\d+)", result.stderr)
    reached = re.findall(r" cov: (\d+) ", result.stderr)
    line = f"{target}: {runs[1] if runs else 'unknown'} inputs, {reached[-1] if reached else 'unknown'} edges, seed {args.seed}"
    enough = runs and int(runs[1]) >= (1 if args.seconds else args.runs)
    return not result.returncode and enough, line, [f"{seconds:.0f} s", *result.stderr.splitlines()[-60:]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=SHORT_RUNS)
    parser.add_argument("--seconds", type=int, default=0, help="of each target, instead of a number of inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("targets", nargs="*")
    args = parser.parse_args()
    why = missing()
    if why:
        print(f"1..0 # SKIP {why}")
        return 0
    args.seed = args.seed or (1 if args.runs == SHORT_RUNS else int(time.time()))
    cores = len(os.sched_getaffinity(0))
    built = subprocess.run(["make", "-C", ROOT, f"-j{cores}", *FLAGS, "fuzz-programs"], capture_output=True, text=True,
                           env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")})
    if not ok(built.returncode == 0, "the targets are built", built.stdout, built.stderr):
        return done()
    os.makedirs(FOUND, exist_ok=True)
    targets = args.targets or sorted(os.listdir(CORPUS))
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        for good, line, remarks in pool.map(lambda target: run_target(target, args), targets):
            ok(good, line, *remarks)
            print("#", remarks[0])
    return done()


sys.exit(main())
