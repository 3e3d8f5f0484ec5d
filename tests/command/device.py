"""TAP: "hsumma gemm" and "hsumma coll" on the stand-in for a GPU: places of matrices and vectors, comparisons, bits, CSV
that is read back, errors.

Environment: that of launch.py. Only the format of times is checked.
"""
import math
import os
import shutil
import sys
import tempfile

from command import bench, csv_rows, positive, prints, read, refuses, report_of, said, write
from tap import ok, run, skip


def gemm(ranks, line="", code=0):
    return report_of(ranks, "gemm --device host -m 61 -n 43 -k 57 --nb 8 --reps 2 " + line, code=code)


# --- gemm ----------------------------------------------------------------------------------------------------------


def test_memory():
    """C is right whether A, B and C are in device or host memory; the check covers every row of C."""
    places = {"device": ["device"] * 3, "host": ["host"] * 3, "mixed": ["device", "host", "device"]}
    for i, (memory, where) in enumerate(places.items()):
        for ranks in (1, 2, 4):
            found = gemm(ranks, f"--memory {memory} --check --type {'sdcz'[(i + ranks) % 4]} --beta {i % 2 and 0.5}"
                         f" --transa {'NTC'[i]}")
            ok(found["memory"] == where and found["device"] and found["check"]["passed"]
               and found["check"]["row_error"] <= 1 and ("resident" in found["contenders"]) == (memory != "device"),
               "  they lie there, C is right", found)
    for guard in ("", " --guard product"):  # the last process owns nothing, but takes part in the agreements of each execution
        found = report_of(3, f"gemm --device host -m 64 --nb 37 --grid 1x3 --memory host --check --reps 3{guard}")
        ok(found["check"]["passed"], f"a process without a part, three executions{guard}", found["check"])
    found = gemm(2)
    ok(found["memory"] == ["device"] * 3, "the device's memory unless told otherwise", found)
    found = gemm(2, "--memory device --plant-error 1@3,4 --check", code=1)
    ok(found["passed"] is False and (found["check"]["row"], found["check"]["col"]) == (3, 4),
       "an error in C on the device is found", found)
    found = report_of(2, "gemm -m 40 --reps 1")
    ok("device" not in found, "without a device none is named", found)


def test_compare():
    found = gemm(2, "--compare device --check")
    alone = found["contenders"]["device"]
    ratios = [alone["times_s"][i] / found["times_s"][i] for i in range(2)]
    ok(alone["check"]["passed"] and alone["check"]["row_error"] <= 1 and math.isclose(alone["fraction_of_gemm_rate"], 1)
       and math.isclose(found["fraction_of_gemm_rate"], sum(ratios) / 2, rel_tol=1e-6)
       and math.isclose(alone["ratio"], sum(ratios) / 2, rel_tol=1e-6),
       "one process alone: right, and the ratio is that of the rounds", found)
    found = gemm(4, "--compare device,shared --memory host --groups 1x2 --lookahead 1")
    floor, rounds = found["floor"], range(2)
    larger = [max(floor["copy_s"]["min"], found["contenders"]["resident"]["times_s"][i]) for i in rounds]
    ok(set(found["contenders"]) == {"device", "resident"}
       and all(positive(floor[key]["median"]) for key in ("copy_s", "compute_s", "ratio", "in_s", "out_s",
                                                          "own_pages_in_s", "own_pages_out_s"))
       and math.isclose(floor["compute_s"]["median"], found["contenders"]["resident"]["median_s"], rel_tol=1e-6)
       and floor["ratio"]["max"] <= max(found["times_s"][i] / larger[i] for i in rounds) * (1 + 1e-6)
       and floor["copy_s"]["min"] >= floor["in_s"]["min"] + floor["out_s"]["min"] - 1e-9,
       "the floor of host-resident matrices: copies, the product itself, and the ratio", found)
    found = gemm(2, "--memory mixed")
    ok(found["floor"]["out_s"]["median"] < found["floor"]["in_s"]["median"],
       "mixed: only B is copied, and nothing comes back", found["floor"])
    process = bench(2, "gemm --device host -m 64 --reps 2 --memory host --compare device")
    lines = process.stdout.splitlines()
    ok(process.returncode == 0 and any(line.startswith("memory     A host, B host, C host; device: ") for line in lines)
       and any(line.startswith("floor      copies ") for line in lines)
       and sum(line.startswith("ratio ") for line in lines) == 3 and not [line for line in lines if "nan" in line]
       and not [line for line in lines if line.startswith("GEMM   ") and "threads" in line], "the table", *said(process))


def test_calls():
    for line, what in (("--calls 3 --beta 0.5", "several calls in a row on one C"), ("--api call", "the one-call routine")):
        found = gemm(2, f"--memory device --check {line}")
        ok(found["check"]["row_error"] <= 1, what, found)


# --- coll ----------------------------------------------------------------------------------------------------------

OPS = ["bcast", "reduce", "allreduce", "allgather", "reduce_scatter"]


def coll(ranks, line):
    return report_of(ranks, "coll --device host --repetitions 2 " + line)


def test_coll():
    elements = ["double", "float", "int32", "float_complex"]
    for i, op in enumerate(OPS):
        for ranks in (1, 2, 3):
            found = coll(ranks, f"--op {op} --alg auto,nccl --bytes 8..4k --factor 64 --verify-bits --root {ranks - 1}"
                         f" --element {elements[(i + ranks) % 4]}")
            rows = [(size["mpi"], size["algorithms"][0], size["algorithms"][1]) for size in found["sizes"]]
            device = found["device"]
            ok(all(mpi["right"] and auto["right"] and auto["same_on_all_ranks"] and positive(auto["ratio"])
                   and positive(auto["bytes_per_s"]) and "GPU" in nccl["left_out"] for mpi, auto, nccl in rows)
               and device["memory"] == "device" and positive(device["copy_bytes_per_s"]) and positive(device["context_s"]),
               "  right, the same bits on all ranks, and why not NCCL", found)
    found = coll(2, "--memory host --alg auto --bytes 64")
    ok(found["device"]["memory"] == "host" and found["sizes"][0]["algorithms"][0]["right"]
       and "bytes_per_s" not in found["sizes"][0]["mpi"], "vectors on the host, in a context with a device", found)
    for op, vectors in (("allreduce", 6), ("bcast", 3)):  # vectors read and written: 3 and 3, 1 and 2
        point = coll(3, f"--op {op} --alg auto --bytes 24k")["sizes"][0]
        traffic = point["mpi"]["bytes_per_s"] * point["mpi"]["median_s"]
        ok(math.isclose(traffic, point["bytes"] * vectors, rel_tol=1e-6),
           f"  {op}: bandwidth counts each contribution and each result once", traffic, point)


def test_bits():
    """Bits depend on the order of sums, and are determined by the algorithm, not by the run or the memory."""
    def bits(line=""):
        found = report_of(4, "coll --repetitions 1 --bytes 512..4k --factor 8 --verify-bits --alg ring,recursive_doubling "
                          + line)
        return [[row["bits"] for row in size["algorithms"]] for size in found["sizes"]]
    first, again, without = bits("--device host"), bits("--device host"), bits()
    ok(first and first == again == without and all(a != b for a, b in first),
       "bits: the same in each run and memory, not the same of two orders", first, again, without)
    whole = bits("--device host --element int64")
    ok(whole and all(a == b for a, b in whole), "bits: integers have one sum", whole)


def test_init():
    size = coll(2, "--alg auto --bytes 64 --init")["sizes"][0]
    row = size["algorithms"][0]
    gain = size["mpi"]["median_s"] - row["median_s"]
    calls = row["pays_after_calls"]
    spent = row["context_s"] + row["first_call_s"] - row["median_s"]
    ok(positive(row["context_s"]) and positive(row["first_call_s"])
       and (calls is None if gain <= 0 else calls == max(1, math.ceil(spent / gain - 1e-6)) or
            abs(calls - spent / gain) <= 1 + 1e-6 * calls), "--init: what it costs to begin, and when that is paid", size)


def test_again():
    process = bench(3, "coll --device host --alg auto,ring,butterfly,nccl --bytes 4..4k --factor 32 --repetitions 2"
                    " --element float --verify-bits --init --format csv")
    rows, lines = csv_rows(process), process.stdout.splitlines(True)
    ok(process.returncode == 0 and len(rows) == 15 and all(None not in row for row in rows)
       and all((row["right"] == "true") == bool(row["bits"]) == bool(row["bytes_per_s"]) for row in rows), "csv",
       *said(process))
    with tempfile.TemporaryDirectory() as scratch:
        kept = write(process.stdout, scratch, "kept.csv")
        torn = write("".join(lines[:9]) + "allreduce,flo", scratch, "torn.csv")
        again = bench(0, "coll --from", kept)
        table = again.stdout
        prints(again, "--from: the table of a run", all(row["bits"] in table for row in rows)
               and table.count("left out: ") == 6 and f" {float(rows[1]['median_s']) * 1e6:.2f} " in table
               and "allreduce of float; 3 ranks" in table and "nan" not in table)
        again = bench(0, "coll --from", torn)
        ok(again.returncode == 0 and "MPI_Allreduce" in again.stdout and f"{rows[5]['bytes']:>10}  " not in again.stdout,
           "--from: a run that was stopped has its whole sizes", *said(again))
        if shutil.which("gnuplot"):
            drawing = os.path.join(scratch, "drawing.svg")
            again = bench(0, "coll --from", kept, "--plot", drawing)
            text = read(drawing) or ""
            ok(again.returncode == 0 and "</svg>" in text and "ring" in text and "nccl" not in text,
               "--from --plot draws", *said(again))
        else:
            skip("--from --plot draws", "no gnuplot")
        for name, text in (("empty", ""), ("other", "a,b\n1,2\n"), ("head", lines[0]),
                           ("mixed", process.stdout + lines[1].replace("allreduce,", "bcast,")),
                           ("half", process.stdout.replace(",float,", ",half,"))):
            path = write(text, scratch, name)
            refuses(bench(0, "coll --from", path), f"--from: {name}", path)


# --- calibrate -----------------------------------------------------------------------------------------------------


def test_calibrate():
    """The device's figures in a profile have physically possible values; without a device they are the built-in
    ones."""
    with tempfile.TemporaryDirectory() as scratch:
        profiles = {}
        for name, ranks, device in (("with", 2, "--device host"), ("alone", 1, "--device host"), ("without", 2, "")):
            path = os.path.join(scratch, name)
            found = report_of(ranks, "calibrate --quick --seconds 2 " + device, "-o", path)
            lines = [line.split() for line in read(path).splitlines() if line and not line.startswith("#")]
            profiles[name] = ({words[0]: float(words[1]) for words in lines if words[0].startswith("device.")},
                              {words[0] for words in lines if words[0].startswith("measured.device.")},
                              found.get("device"))
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
        process = bench(2, "coll --device host --alg auto --bytes 64 --repetitions 1", "--profile",
                        os.path.join(scratch, "with"))
        ok(process.returncode == 0, "  contexts take it", *said(process))


# --- errors ----------------------------------------------------------------------------------------------------------


def test_stand_in():
    """If the stand-in's library is not named or cannot be loaded, device=host reports what is missing."""
    how = 'HSUMMA_HOST_DEVICE_LIBRARY is not set; "host" is a stand-in for a GPU, for hsumma\'s tests only: run "make everything"'
    for file, word in (("", how), ("/no/such.so", "No such file"), (__file__, "libstand_in_device.so"),
                       ("libm.so.6", "hs_stand_in_device")):
        process = bench(2, "gemm --device host -m 8", settings=[f"HSUMMA_HOST_DEVICE_LIBRARY={file}"])
        refuses(process, f"library {file}", word)


def test_errors():
    for line, word in (("gemm -m 8 --memory device", "--device"), ("gemm -m 8 --compare device", "--device"),
                       ("gemm -m 8 --device host --memory gpu", "host, device or mixed"),
                       ("gemm -m 8 --device host --api scalapack", ""), ("gemm -m 8 --device nothing", "nothing"),
                       ("coll --memory host --bytes 8", "--device"), ("coll --init --bytes 8", "--device"),
                       ("coll --device host --memory shared", "device or host"),
                       ("coll --device host --memory host --init", "--init"),
                       ("coll --from /no/such/file", "/no/such/file"), ("coll --from x --list", "--from"),
                       ("coll --from x --format json", "table"), ("calibrate -o - --device nothing", "nothing")):
        refuses(bench(2, line), line, word)


if __name__ == "__main__":
    sys.exit(run(test_errors, test_stand_in, test_memory, test_compare, test_calls, test_coll, test_bits, test_init,
                 test_again, test_calibrate))
