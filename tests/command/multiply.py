"""TAP: "hsumma multiply" against NumPy, which writes the files, reads them back, and multiplies.

Environment: that of launch.py. The product is right if it differs from NumPy's, computed in double precision, by no more
than the rounding of sums of k products.
"""
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from command import BENCH, prints, small_disk, write
from launch import MPI, mpiexec
from tap import ok, run, skip

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP this Python has no NumPy")
    sys.exit(0)

TYPES = [np.float32, np.float64, np.complex64, np.complex128]

rng = np.random.default_rng(20)


def multiply(ranks, *args, preload=()):
    """Runs multiply on `ranks` ranks with these arguments; returns the finished process."""
    leaks = ["LSAN_OPTIONS=detect_leaks=0"] * bool(preload)  # MPICH's MPI-IO leaks a little after an error
    return subprocess.run([*mpiexec(ranks, *leaks, preload=preload), BENCH, "multiply", *map(str, args)],
                          capture_output=True, text=True, timeout=120)


def matrix(rows, cols, dtype):
    values = rng.standard_normal((rows, cols))
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * rng.standard_normal((rows, cols))
    return values.astype(dtype)


def save(path, values, order="C", version=(1, 0)):
    """Saves a .npy file as NumPy does, but in the given order even if the matrix has one row or column."""
    with open(path, "wb") as file:
        if values.flags.c_contiguous and values.flags.f_contiguous and order == "F":
            header = {"descr": values.dtype.str, "fortran_order": True, "shape": values.shape}
            np.lib.format.write_array_header_1_0(file, header)
            file.write(values.tobytes(order))
        else:
            np.lib.format.write_array(file, np.asarray(values, order=order), version=version)


def stored_by_columns(path):
    with open(path, "rb") as file:
        return b"'fortran_order': True" in file.read(128)


def op(values, how):
    return {"N": values, "T": values.T, "C": values.conj().T}[how]


def left_over(directory):
    return [name for name in os.listdir(directory) if ".part-" in name]


def check_product(name, result, out, expected, scale, k, dtype, by_columns):
    """A test: the result equals NumPy's matrix and has the right order and type; no other file is left beside it."""
    if result.returncode or not os.path.exists(out):
        return ok(False, name, f"exit status {result.returncode}", result.stderr, result.stdout)
    found = np.load(out)
    distance = np.linalg.norm(found.astype(expected.dtype) - expected) if found.shape == expected.shape else np.inf
    bound = 4 * (k + 4) ** 0.5 * np.finfo(dtype).eps * scale
    found_faults = [
        (f"type {found.dtype}", found.dtype != dtype),
        (f"shape {found.shape} instead of {expected.shape}", found.shape != expected.shape),
        (f"distance {distance:.3g}, at most {bound:.3g}", not distance <= bound),
        ("the other order", stored_by_columns(out) != by_columns),
        (f"left over: {left_over(os.path.dirname(out))}", left_over(os.path.dirname(out))),
        (f"on standard error: {result.stderr}", result.stderr),
        (f"on standard output: {result.stdout}", len(result.stdout.splitlines()) != 1),
    ]
    faults = [fault for fault, there in found_faults if there]
    ok(not faults, name, *faults)


def round_trip(directory, ranks, shape, dtype, orders="CC", trans="NN", versions=((1, 0), (1, 0)), alpha=None, beta=None,
               c0=None, order=None, options=""):
    """A test of one product of files. orders: orders of the elements in the files of A and B; c0: in the file of C0, or
    None without C0."""
    m, n, k = shape
    a = matrix(*((m, k) if trans[0] == "N" else (k, m)), dtype)
    b = matrix(*((k, n) if trans[1] == "N" else (n, k)), dtype)
    paths = {name: os.path.join(directory, name + ".npy") for name in ("A", "B", "C0", "C")}
    save(paths["A"], a, orders[0], versions[0])
    save(paths["B"], b, orders[1], versions[1])
    asked = {"transa": trans[0].strip("N"), "transb": trans[1].strip("N"), "alpha": alpha, "beta": beta, "order": order}
    args = [paths["A"], paths["B"], "-o", paths["C"], *options.split(),
            *(word for option, value in asked.items() if value for word in ("--" + option, value))]
    wide = np.result_type(dtype, np.float64)
    factor = number(alpha, 1)
    expected = factor * (op(a, trans[0]).astype(wide) @ op(b, trans[1]).astype(wide))
    scale = abs(factor) * np.linalg.norm(a) * np.linalg.norm(b)
    if c0:
        old = matrix(m, n, dtype)
        save(paths["C0"], old, c0)
        args += ["-c", paths["C0"]]
        expected = expected + number(beta, 1) * old.astype(wide)
        scale += abs(number(beta, 1)) * np.linalg.norm(old)
    name = f"{ranks} ranks: {m}x{n}x{k} {np.dtype(dtype).name} stored {orders}{c0 or ''} " + " ".join(args[4:])
    name = re.sub(r"\S*/", "", name)
    check_product(name, multiply(ranks, *args), paths["C"], expected, scale, k, dtype, (order or c0 or orders[0]) == "F")
    if os.path.exists(paths["C"]):
        os.remove(paths["C"])


def number(text, default):
    """The value of --alpha or --beta."""
    if text is None:
        return default
    if text.startswith("("):
        return complex(*map(float, text[1:-1].split(",")))
    value = complex(text.replace("i", "j"))
    return value if value.imag else value.real


def test_round_trips(directory):
    """All pairs of operations, all orders of the files, all types and layouts, each in turn or drawn at random."""
    draw = random.Random(13)
    layouts = [(1, ""), (2, "--nb 3"), (3, "--nb checkerboard"), (4, "--grid 2x2 --nb 16"), (4, "--grid 4x1"),
               (6, "--grid 2x3 --nb 3"), (6, "--grid 3x2"), (6, "--grid 3x2 --topology nodes:2"), (2, "--grid 1x1")]
    shapes = [(37, 41, 53), (16, 48, 32), (7, 100, 5), (64, 3, 97), (31, 31, 31)]
    ops = list(itertools.product("NTC", "NTC"))
    orders = list(itertools.product("CF", "CF", "CF"))
    for i in range(28):
        dtype = TYPES[(i + i // 4) % 4]
        is_complex = np.issubdtype(dtype, np.complexfloating)
        ranks, options = layouts[i % len(layouts)]
        a, b, c = orders[i % len(orders)] if i < 8 else draw.choice(orders)
        adds = i % 3 == 2
        round_trip(directory, ranks, draw.choice(shapes), dtype, a + b, "".join(ops[i % len(ops)]),
                   ((draw.randint(1, 3), 0), (draw.randint(1, 3), 0)),
                   alpha=draw.choice([None, "-1.5", "1e-3"] + 3 * ["(0.5,-2)", "0.5-2i", "2i"][:is_complex * 3]),
                   beta=draw.choice([None, "-0.5"] + ["1+i"] * is_complex) if adds else None,
                   c0=draw.choice("CF") if adds else None, order=draw.choice([None, c]), options=options)


def test_conjugates(directory):
    """Both operations are C, in each order of files and output."""
    for a, b, c in itertools.product("CF", "CF", "CF"):
        round_trip(directory, 2, (11, 6, 9), np.complex128, a + b, "CC", order=c, options="--nb 4")


def test_odd_shapes(directory):
    round_trip(directory, 4, (1, 29, 13), np.float64, "FC")
    round_trip(directory, 4, (29, 1, 13), np.complex64, "CF", options="--nb 3")
    round_trip(directory, 3, (1, 1, 101), np.float64, "FF", options="--nb 16")
    round_trip(directory, 6, (13, 17, 1), np.float32, "CC", "TT")
    round_trip(directory, 4, (5, 6, 0), np.float64, "CF")
    round_trip(directory, 2, (5, 6, 0), np.complex128, "CF", beta="2i", c0="F", order="C")
    round_trip(directory, 4, (0, 6, 5), np.float64, "FC", options="--nb 3")
    round_trip(directory, 2, (4, 0, 3), np.float32, "CC")
    # Pieces of a few elements, also of a C0 in the other order.
    round_trip(directory, 4, (23, 19, 17), np.complex64, "CF", c0="C", order="F", options="--nb 3 --piece 80")


# --- what must be refused ---------------------------------------------------------------------------------------------


def with_header(path, text, data=b"", version=1):
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data)


def bad_files(d):
    """Writes files with one error each; returns their names, and the words expected in the message."""
    good = matrix(8, 8, np.float64)
    save(f"{d}/good.npy", good)
    with open(f"{d}/good.npy", "rb") as file:
        content = file.read()
    for name, data, pattern in [
            ("short", content[:-8], r"cut short: 632 bytes.* 640"), ("stub", content[:50], "cut short: 50 bytes"),
            ("empty", b"", "not a .npy file"), ("long", content + b"12345678", "too long"),
            ("text", b"1 2 3\n4 5 6\n", "not a .npy file"),
            ("single", good.astype(np.float32), "good.npy is float64.*single.npy is float32"),
            ("object", good.astype(object), "object"), ("big", good.astype(">f8"), "big-endian.*>f8"),
            ("int", good.astype(np.int64), "int64.*expected float32"), ("vector", good[0], "1 dimension;"),
            ("cube", good.reshape(2, 4, 8), "3 dimensions"),
            ("record", np.zeros((8, 8), [("x", "f8"), ("y", "i4")]), "structured"),
            ("narrow", good[:5], r"8 x 8 and op\(B\) is 5 x 8")]:
        if isinstance(data, bytes):
            with open(f"{d}/{name}.npy", "wb") as file:
                file.write(data)
        else:
            np.save(f"{d}/{name}.npy", data)
        yield name, pattern
    with_header(f"{d}/huge.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }")
    os.mkdir(f"{d}/directory.npy")
    yield from (("huge", "more bytes than a file"), ("directory", "directory"), ("missing", "No such file"))


def refused(name, result, out, pattern, lines=1, keep=None):
    """A test: exit status 2, `lines` lines on stderr, and an unchanged output file: none, or the contents `keep`."""
    there = open(out, "rb").read() if os.path.isfile(out) else None
    said = result.stderr.splitlines()
    directory = os.path.dirname(out)
    left = left_over(directory) if os.path.isdir(directory) else []
    good = (result.returncode == 2 and len(said) == lines and all(s.startswith("hsumma: ") for s in said)
            and re.search(pattern, result.stderr) and not result.stdout and there == keep and not left)
    ok(bool(good), f"refused: {name}", f"exit status {result.returncode}", f"expected: {pattern}", result.stderr,
       result.stdout, f"left over: {left}, output there: {there is not None}")


def test_bad_files(d):
    for name, pattern in bad_files(d):
        result = multiply(2, f"{d}/good.npy", f"{d}/{name}.npy", "-o", f"{d}/C.npy")
        refused(f"{name}.npy", result, f"{d}/C.npy", pattern)
    result = multiply(2, f"{d}/missing.npy", f"{d}/short.npy", "-o", f"{d}/C.npy")
    refused("two bad files, two messages", result, f"{d}/C.npy", "missing.npy: .*\n.*short.npy: ", lines=2)


def test_bad_arguments(d):
    good, out = f"{d}/good.npy", f"{d}/C.npy"
    for ranks, args, pattern in [
            (2, "--nb 0", "--nb 0"), (2, "--block 0", "block"), (4, "--grid 2x2 --groups 3x1", "3x1|group"),
            (2, "--grid 2x2", "needs 4 ranks"), (2, "--grid 2", "--grid 2:"), (2, "--alpha 1i", "imaginary"),
            (2, "--alpha one", "--alpha one"), (2, "--beta 2", "-c C0.npy"), (2, "--transa X", "--transa X"),
            (2, "--nonsense", "--nonsense"), (2, f"-c {d}/narrow.npy", "narrow.npy is 5 x 8"), (2, "-o", "-o needs a value"),
            (2, good, "two files")]:
        refused(args.replace(d + "/", ""), multiply(ranks, good, good, "-o", out, *args.split()), out, pattern)
    refused("no output", multiply(1, good, good), out, "-o C.npy")


def test_output_names(d):
    good, out, nowhere = f"{d}/good.npy", f"{d}/C.npy", f"{d}/nowhere/C.npy"
    refused("no such directory", multiply(2, good, good, "-o", nowhere), nowhere, "no directory")
    refused("the output is a directory", multiply(2, good, good, "-o", f"{d}/directory.npy", "--force"),
            f"{d}/directory.npy", "is a directory")
    write("precious", out)
    refused("an existing file", multiply(2, f"{d}/missing.npy", good, "-o", out), out, "C.npy: exists.*\n.*missing",
            lines=2, keep=b"precious")
    a = np.load(good)
    check_product("--force replaces it", multiply(2, good, good, "-o", out, "--force"), out, a @ a, np.linalg.norm(a) ** 2,
                  8, np.float64, False)
    result = multiply(1, good, good, "-o", out, "--force", "--quiet")
    prints(result, "--quiet says nothing", not result.stdout)
    result = multiply(1, good, good, "-o", f"{d}/a:b \u00e9.npy", "-q", "--progress")
    ok(result.returncode == 0 and os.path.exists(f"{d}/a:b \u00e9.npy") and "multiplying" in result.stderr,
       "a name with a colon, a forced progress bar", result.stdout, result.stderr)
    result = multiply(3, "--help")
    prints(result, "--help, once", result.stdout.count("Usage:") == 1)


def test_full_disk(d):
    """On a file system of a few pages either the reservation of space fails, or the writing."""
    names = ["refused: a full disk", "refused: a full disk that is found by writing"]
    disk = f"{d}/disk"
    with small_disk(disk) as mounted:
        if not mounted:
            for name in names:
                skip(name, "needs root and the right to mount a tmpfs")
            return
        save(f"{d}/large.npy", matrix(100, 100, np.float64))
        args = (2, f"{d}/large.npy", f"{d}/large.npy", "-o", f"{disk}/C.npy")
        refused("a full disk", multiply(*args), f"{disk}/C.npy", "No space left")
        shim = no_fallocate(d)
        if shim:
            result = multiply(*args, preload=[shim])
            ours = [line for line in result.stderr.splitlines() if line.startswith("hsumma: ")]
            if MPI == "openmpi":  # Open MPI's MPI-IO prints a line of its own and returns no error: each rank finds out by itself
                result.stderr = "\n".join(ours)
            refused("a full disk that is found by writing", result, f"{disk}/C.npy", "(?i)no space left",
                    lines=len(ours) if MPI == "openmpi" else 1)
        else:
            skip(names[1], "needs a C compiler")
        ok(not os.listdir(disk), "nothing is left on the full disk", os.listdir(disk))


def no_fallocate(d):
    """A library that imitates a file system that cannot reserve space; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    write("#include <errno.h>\n#include <sys/types.h>\n"
          "int fallocate(int f, int m, off_t o, off_t n) { errno = EOPNOTSUPP; return f + m + o + n ? -1 : -1; }\n"
          "int fallocate64(int f, int m, off_t o, off_t n) { return fallocate(f, m, o, n); }\n", d, "shim.c")
    made = compiler and not subprocess.run([compiler, "-shared", "-fPIC", "-o", f"{d}/shim.so", f"{d}/shim.c"]).returncode
    return f"{d}/shim.so" if made else None


def test_interrupt(d):
    """One rank without mpiexec reads in tiny pieces; a signal during that removes the unfinished file."""
    save(f"{d}/slow.npy", matrix(700, 700, np.float64))
    process = subprocess.Popen([BENCH, "multiply", f"{d}/slow.npy", f"{d}/slow.npy", "-o", f"{d}/stopped.npy", "--piece", "8"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               # a shell's background job inherits an ignored SIGINT, which the command leaves ignored
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    deadline = time.monotonic() + 30
    while not left_over(d) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    seen = left_over(d)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    status = process.wait(timeout=60)
    ok(seen and status and not left_over(d) and not os.path.exists(f"{d}/stopped.npy"), "an interrupt leaves nothing",
       f"seen: {seen}, exit status {status}, left over: {left_over(d)}")


def main():
    with tempfile.TemporaryDirectory() as directory:
        return run(test_round_trips, test_conjugates, test_odd_shapes, test_bad_files, test_bad_arguments, test_output_names,
                   test_full_disk, test_interrupt, args=[directory])


sys.exit(main())
