"""TAP: "hsumma_bench gemm" and "hsumma_bench coll" on the stand-in for a GPU: where matrices and vectors lie, what is compared, bits, csv that is read again, errors.

Environment: that of launch.py. Times are looked at for their form only.
"""
import json
import math
import os
import shutil
import sys
import tempfile

from command import bench, csv_rows, object_of, positive, refuses, said
from tap import done, ok, skip


def report(ranks, *args, code=0):
    process = bench(ranks, *args, "--format", "json")
    found = object_of(process)
    good = ok(process.returncode == code and found is not None and not process.stderr,
              f"{ranks} ranks: {' '.join(map(str, args))}", *said(process))
    return found if good else None


def gemm(ranks, *args, code=0):
    return report(ranks, "gemm", "--device", "host", "-m", 61, "-n", 43, "-k", 57, "--nb", 8, "--reps", 2, *args,
                  code=code)


# --- gemm ----------------------------------------------------------------------------------------------------------


def test_memory():
    """Right wherever A, B and C lie: the check looks at every row of C as it comes back."""
    places = {"device": ["device"] * 3, "host": ["host"] * 3, "mixed": ["device", "host", "device"]}
    for i, (memory, where) in enumerate(places.items()):
        for ranks in (1, 2, 4):
            found = gemm(ranks, "--memory", memory, "--check", "--type", "sdcz"[(i + ranks) % 4], "--beta",
                         i % 2 and 0.5, "--transa", "NTC"[i])
            if found:
                ok(found["memory"] == where and found["device"] and found["check"]["passed"]
                   and found["check"]["row_error"] <= 1 and ("resident" in found["contenders"]) == (memory != "device"),
                   "  they lie there, C is right", found)
    found = gemm(2)
    ok(found and found["memory"] == ["device"] * 3, "the device's memory unless told otherwise", found)
    found = gemm(2, "--memory", "device", "--plant-error", "1@3,4", "--check", code=1)
    ok(found and found["passed"] is False and (found["check"]["row"], found["check"]["col"]) == (3, 4),
       "an error in C on the device is found", found)
    process = bench(2, "gemm", "-m", 40, "--reps", 1, "--format", "json")
    ok(process.returncode == 0 and "device" not in json.loads(process.stdout), "without a device none is named",
       *said(process))


def test_compare():
    found = gemm(2, "--compare", "device", "--check")
    if found:
        alone = found["contenders"]["device"]
        ratios = [alone["times_s"][i] / found["times_s"][i] for i in range(2)]
        ok(alone["check"]["passed"] and alone["check"]["row_error"] <= 1 and math.isclose(alone["fraction_of_gemm_rate"], 1)
           and math.isclose(found["fraction_of_gemm_rate"], sum(ratios) / 2, rel_tol=1e-6)
           and math.isclose(alone["ratio"], sum(ratios) / 2, rel_tol=1e-6),
           "one process alone: right, and the ratio is that of the rounds", found)
    found = gemm(4, "--compare", "device,shared", "--memory", "host", "--groups", "1x2", "--lookahead", 1)
    if found:
        floor, rounds = found["floor"], range(2)
        larger = [max(floor["copy_s"]["min"], found["contenders"]["resident"]["times_s"][i]) for i in rounds]
        ok(set(found["contenders"]) == {"device", "resident"}
           and all(positive(floor[key]["median"]) for key in ("copy_s", "compute_s", "ratio", "in_s", "out_s",
                                                              "own_pages_in_s", "own_pages_out_s"))
           and math.isclose(floor["compute_s"]["median"], found["contenders"]["resident"]["median_s"],
                             rel_tol=1e-6)
           and floor["ratio"]["max"] <= max(found["times_s"][i] / larger[i] for i in rounds) * (1 + 1e-6)
           and floor["copy_s"]["min"] >= floor["in_s"]["min"] + floor["out_s"]["min"] - 1e-9,
           "the floor of host-resident matrices: copies, the product itself, and the ratio", found)
    found = gemm(2, "--memory", "mixed")
    ok(found and found["floor"]["out_s"]["median"] < found["floor"]["in_s"]["median"],
       "mixed: only B is copied, and nothing comes back", found and found["floor"])
    process = bench(2, "gemm", "--device", "host", "-m", 64, "--reps", 2, "--memory", "host", "--compare", "device")
    lines = process.stdout.splitlines()
    ok(process.returncode == 0 and any(line.startswith("memory     A host, B host, C host; device: ") for line in lines)
       and any(line.startswith("floor      copies ") for line in lines)
       and sum(line.startswith("ratio ") for line in lines) == 3 and not [line for line in lines if "nan" in line]
       and not [line for line in lines if line.startswith("GEMM   ") and "threads" in line], "the table", *said(process))


def test_calls():
    found = gemm(2, "--memory", "device", "--calls", 3, "--beta", 0.5, "--check")
    ok(found and found["check"]["row_error"] <= 1, "several calls in a row on one C", found)
    found = gemm(2, "--memory", "device", "--api", "call", "--check")
    ok(found and found["check"]["row_error"] <= 1, "the one-call routine", found)


# --- coll ----------------------------------------------------------------------------------------------------------

OPS = ["bcast", "reduce", "allreduce", "allgather", "reduce_scatter"]


def coll(ranks, *args):
    return report(ranks, "coll", "--device", "host", "--repetitions", 2, *args)


def test_coll():
    for i, op in enumerate(OPS):
        for ranks in (1, 2, 3):
            found = coll(ranks, "--op", op, "--alg", "auto,nccl", "--bytes", "8..4k", "--factor", 64, "--verify-bits",
                         "--root", ranks - 1, "--element", ["double", "float", "int32", "float_complex"][(i + ranks) % 4])
            if not found:
                continue
            rows = [(size["mpi"], size["algorithms"][0], size["algorithms"][1]) for size in found["sizes"]]
            device = found["device"]
            ok(all(mpi["right"] and auto["right"] and auto["same_on_all_ranks"] and positive(auto["ratio"])
                   and positive(auto["bytes_per_s"]) and "GPU" in nccl["left_out"] for mpi, auto, nccl in rows)
               and device["memory"] == "device" and positive(device["copy_bytes_per_s"]) and positive(device["context_s"]),
               "  right, the same bits on all ranks, and why not NCCL", found)
    found = coll(2, "--memory", "host", "--alg", "auto", "--bytes", 64)
    ok(found and found["device"]["memory"] == "host" and found["sizes"][0]["algorithms"][0]["right"]
       and "bytes_per_s" not in found["sizes"][0]["mpi"], "vectors on the host, in a context with a device", found)
    for op in ("allreduce", "bcast"):
        found = coll(3, "--op", op, "--alg", "auto", "--bytes", "24k")
        if found:  # what a call must read and write: 3 vectors each way; one, and those of two others
            point = found["sizes"][0]
            traffic = point["mpi"]["bytes_per_s"] * point["mpi"]["median_s"]
            ok(math.isclose(traffic, point["bytes"] * {"allreduce": 6, "bcast": 3}[op], rel_tol=1e-6),
               f"  {op}: bandwidth counts each contribution and each result once", traffic, point)


def test_bits():
    """Bits tell orders of sums apart, and are a function of the algorithm, not of the run or of the memory."""
    def bits(*args, ranks=4):
        found = report(ranks, "coll", "--repetitions", 1, "--bytes", "512..4k", "--factor", 8, "--verify-bits", "--alg",
                       "ring,recursive_doubling", *args)
        return found and [[row["bits"] for row in size["algorithms"]] for size in found["sizes"]]
    first, again, without = bits("--device", "host"), bits("--device", "host"), bits()
    ok(first and first == again == without and all(a != b for a, b in first),
       "bits: the same in each run and memory, not the same of two orders", first, again, without)
    whole = bits("--device", "host", "--element", "int64")
    ok(whole and all(a == b for a, b in whole), "bits: integers have one sum", whole)


def test_init():
    found = coll(2, "--alg", "auto", "--bytes", 64, "--init")
    if found:
        row, mpi = found["sizes"][0]["algorithms"][0], found["sizes"][0]["mpi"]
        gain = mpi["median_s"] - row["median_s"]
        calls = row["pays_after_calls"]
        spent = row["context_s"] + row["first_call_s"] - row["median_s"]
        ok(positive(row["context_s"]) and positive(row["first_call_s"])
           and (calls is None if gain <= 0 else calls == max(1, math.ceil(spent / gain - 1e-6)) or
                abs(calls - spent / gain) <= 1 + 1e-6 * calls), "--init: what it costs to begin, and when that is paid",
           found)


def test_again():
    args = ["coll", "--device", "host", "--alg", "auto,ring,butterfly,nccl", "--bytes", "4..4k", "--factor", 32,
            "--repetitions", 2, "--element", "float", "--verify-bits", "--init"]
    process = bench(3, *args, "--format", "csv")
    rows = csv_rows(process)
    ok(process.returncode == 0 and len(rows) == 15 and all(None not in row for row in rows)
       and all((row["right"] == "true") == bool(row["bits"]) == bool(row["bytes_per_s"]) for row in rows), "csv",
       *said(process))
    with tempfile.TemporaryDirectory() as scratch:
        kept, torn, drawing = (os.path.join(scratch, name) for name in ("kept.csv", "torn.csv", "drawing.svg"))
        with open(kept, "w") as file:
            file.write(process.stdout)
        with open(torn, "w") as file:
            file.write("".join(process.stdout.splitlines(True)[:9]) + "allreduce,flo")
        again = bench(0, "coll", "--from", kept)
        table = again.stdout
        ok(again.returncode == 0 and not again.stderr and all(row["bits"] in table for row in rows)
           and table.count("left out: ") == 6 and f" {float(rows[1]['median_s']) * 1e6:.2f} " in table
           and "allreduce of float; 3 ranks" in table and "nan" not in table, "--from: the table of a run", *said(again))
        again = bench(0, "coll", "--from", torn)
        ok(again.returncode == 0 and "MPI_Allreduce" in again.stdout and f"{rows[5]['bytes']:>10}  " not in again.stdout,
           "--from: a run that was stopped has its whole sizes", *said(again))
        if shutil.which("gnuplot"):
            again = bench(0, "coll", "--from", kept, "--plot", drawing)
            text = open(drawing).read() if os.path.exists(drawing) else ""
            ok(again.returncode == 0 and "</svg>" in text and "ring" in text and "nccl" not in text,
               "--from --plot draws", *said(again))
        else:
            skip("--from --plot draws", "no gnuplot")
        for name, text in (("empty", ""), ("other", "a,b\n1,2\n"), ("head", process.stdout.splitlines()[0] + "\n"),
                           ("mixed", process.stdout + rows_of(process.stdout, 1).replace("allreduce,", "bcast,"))):
            path = os.path.join(scratch, name)
            with open(path, "w") as file:
                file.write(text)
            again = bench(0, "coll", "--from", path)
            ok(again.returncode == 2 and len(again.stderr.splitlines()) == 1 and path in again.stderr and not again.stdout,
               f"--from: refused: {name}", *said(again))


def rows_of(text, number):
    return text.splitlines(True)[number]


# --- calibrate -----------------------------------------------------------------------------------------------------


def test_calibrate():
    """What a device adds to a profile, in ranges of physics; without one it keeps what is built in."""
    with tempfile.TemporaryDirectory() as scratch:
        profiles = {}
        for name, ranks, device in (("with", 2, ["--device", "host"]), ("alone", 1, ["--device", "host"]), ("without", 2, [])):
            path = os.path.join(scratch, name)
            process = bench(ranks, "calibrate", "--quick", "--seconds", 2, "-o", path, *device, "--format", "json")
            if not ok(process.returncode == 0 and not process.stderr, f"calibrate {name} a device", *said(process)):
                return
            with open(path) as file:
                lines = [line.split() for line in file if not line.startswith("#")]
            profiles[name] = ({words[0]: float(words[1]) for words in lines if words[0].startswith("device.")},
                              {words[0] for words in lines if words[0].startswith("measured.device.")},
                              json.loads(process.stdout).get("device"))
        values, measured, said_too = profiles["with"]
        built_in, nothing, none = profiles["without"]
        ok(none is None and not nothing and set(values) == set(built_in) and
           {name for name in values if values[name] == built_in[name]} ==
           {"device.network.alpha_s", "device.network.beta_s_per_byte", "device.inject_s_per_byte"},
           "all but what lies between nodes is measured", values, built_in)
        ok(all(0 <= value < 1 for value in values.values()) and all(1e-13 < values[f"device.{name}_s_per_byte"] < 1e-5
                                                                  for name in ("copy", "gamma"))
           and measured == {"measured.device." + name for name in ("copy", "sum", "gemm", "hop", "turn", "staged.node")},
           "  in ranges of physics", values, measured)
        ok(said_too["turn_s"] is not None and math.isclose(said_too["shm"]["alpha_s"], values["device.shm.alpha_s"],
                                                           rel_tol=1e-6)
           and positive(said_too["gemm_double_flop_per_s"]) and profiles["alone"][2]["turn_s"] is None
           and "measured.device.staged.node" not in profiles["alone"][1], "  the report says the same", profiles)
        process = bench(2, "coll", "--device", "host", "--alg", "auto", "--bytes", 64, "--repetitions", 1, "--profile",
                        os.path.join(scratch, "with"))
        ok(process.returncode == 0, "  contexts take it", *said(process))


# --- errors ----------------------------------------------------------------------------------------------------------


def refused(word, ranks, *args, settings=()):
    refuses(bench(ranks, *args, settings=settings), " ".join(map(str, [*settings, *args])), word)


def test_stand_in():
    """Where its library is not named, or cannot be had, device=host says what it is and what is missing."""
    how = 'build it with "make everything" and set HSUMMA_HOST_DEVICE_LIBRARY=BUILD/tests/libstand_in_device.so'
    for file, word in (("", how), ("/no/such.so", "No such file"), (__file__, "libstand_in_device.so"),
                       ("libm.so.6", "hs_stand_in_device")):
        refused(word, 2, "gemm", "--device", "host", "-m", 8, settings=[f"HSUMMA_HOST_DEVICE_LIBRARY={file}"])


def test_errors():
    device = ["--device", "host"]
    for args, word in ((["gemm", "-m", 8, "--memory", "device"], "--device"),
                       (["gemm", "-m", 8, "--compare", "device"], "--device"),
                       (["gemm", "-m", 8, *device, "--memory", "gpu"], "host, device or mixed"),
                       (["gemm", "-m", 8, *device, "--api", "scalapack"], ""),
                       (["gemm", "-m", 8, "--device", "nothing"], "nothing"),
                       (["coll", "--memory", "host", "--bytes", 8], "--device"),
                       (["coll", "--init", "--bytes", 8], "--device"),
                       (["coll", *device, "--memory", "shared"], "device or host"),
                       (["coll", *device, "--memory", "host", "--init"], "--init"),
                       (["coll", "--from", "/no/such/file"], "/no/such/file"),
                       (["coll", "--from", "x", "--list"], "--from"),
                       (["coll", "--from", "x", "--format", "json"], "table"),
                       (["calibrate", "-o", "-", "--device", "nothing"], "nothing")):
        refused(word, 2, *args)


def main():
    for test in (test_errors, test_stand_in, test_memory, test_compare, test_calls, test_coll, test_bits, test_init, test_again,
                 test_calibrate):
        test()
    return done()


if __name__ == "__main__":
    sys.exit(main())
