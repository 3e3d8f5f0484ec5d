"""Faraji, Afsahi, GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014): its figures, by the model and on a GPU.

Rows of kind "gpu" come from results.tar.gz of scripts/run-gpu-checks: GPU_RESULTS names the folder "results" in it.
"""
import csv
import math
import re

from figures import Figure, Run, prices

SIZES = [4 ** i for i in range(1, 13)]  # 4 B to 16 MB, as in the paper
DESIGNS = {"host_staged": "host staging", "shared_buffer": "shared buffer", "binomial": "binomial"}
METHODS = {"MPI_Allreduce": "MPI through the host", **DESIGNS}  # of measured rows
PROFILE = "benchmarks/papers/gpu_ipc_k20m.profile"
# Figure 3: what the model lacks. Seconds to allocate and export the buffer, and to open a handle; assumptions.
ALLOCATION, OPENING = 1e-3, 2e-4


def times(out):
    """{(ranks, bytes): {algorithm: seconds}} of the tables of hsumma explain."""
    found = {}
    heads = list(re.finditer(r"^\w+ of (\d+) bytes over (\d+) processes", out, re.M))
    for head, end in zip(heads, [*(after.start() for after in heads[1:]), len(out)]):
        found[int(head[2]), int(head[1])] = dict(prices(out[head.end():end]))
    return found


def model(ranks, sizes, pick):
    """A run of the model; pick(ranks, bytes, times) yields rows."""
    words = lambda numbers: " ".join(map(str, numbers))
    command = (f"for ranks in {words(ranks)}; do for bytes in {words(sizes)}; do hsumma explain --profile {PROFILE} "
               "--collective allreduce --devices 1 --ranks $ranks --bytes $bytes || exit 1; done; done")
    return Run("model", command, lambda out: (row for at, seconds in times(out).items() for row in pick(*at, seconds)))


def measured(name, pick):
    """Rows of a GPU: pick(row) of the lines of the files whose names match, as many as there are."""
    files = f'"${{GPU_RESULTS:?folder results of run-gpu-checks}}"/{name}.csv'
    rows = lambda out: (line for line in csv.DictReader(out.splitlines()) if line["op"] != "op")
    return Run("gpu", f"cat {files}", lambda out: (row for line in rows(out) if line["algorithm"] in METHODS for row in pick(line)))


def by_size(panel, ranks):
    seconds = lambda _, size, found: ({"bytes": size, "us": f"{1e6 * found[key]:.6g}", "design": name} for key, name in DESIGNS.items())
    of_gpu = lambda line: [{"bytes": line["bytes"], "us": f"{1e6 * float(line['median_s']):.6g}", "design": METHODS[line["algorithm"]]}]
    return Figure(f"gpu_ipc_fig2{panel}", f"Allreduce of device memory, {ranks} processes on one GPU", ("bytes", "bytes"), ("us", "time, us"),
                  ["design"], [model([ranks], SIZES, seconds), measured(f"allreduce-{ranks}", of_gpu)], logx=2, logy=10)


def speed_up(_ranks, _size, found):
    for key, name in list(DESIGNS.items())[1:]:
        yield {"ranks": _ranks, "ratio": f"{found['host_staged'] / found[key]:.4g}", "design": name}


def gpu_speed_up(line):
    if int(line["bytes"]) == SIZES[-1] and line["algorithm"] in list(DESIGNS)[1:]:
        yield {"ranks": line["ranks"], "ratio": line["ratio"], "design": DESIGNS[line["algorithm"]]}


def calls(ranks, size, found):
    """Figure 3: the calls that compensate the setup, in which every other process opens a handle of memory and one of an event."""
    gain = found["host_staged"] - found["shared_buffer"]
    setup = ALLOCATION + OPENING * (ranks - 1) * 2
    if gain > 0:
        yield {"bytes": size, "calls": math.ceil(setup / gain), "processes": ranks}


def gpu_calls(line):
    if line["algorithm"] == "shared_buffer" and line["pays_after_calls"]:
        yield {"bytes": line["bytes"], "calls": line["pays_after_calls"], "processes": line["ranks"]}


FIGURES = [
    *(by_size(panel, ranks) for panel, ranks in zip("abc", (4, 8, 16))),
    Figure("gpu_ipc_ranks", "Speed-up over host staging, 16 MB (on the GPU: over MPI's allreduce of staged vectors)", ("ranks", "processes on one GPU"), ("ratio", "speed-up"), ["design"],
           [model(range(2, 17), SIZES[-1:], speed_up), measured("allreduce-[0-9]*", gpu_speed_up)]),
    Figure("gpu_ipc_fig3", "Calls of the shared buffer that compensate its setup", ("bytes", "bytes"), ("calls", "calls"), ["processes"],
           [model((4, 8, 16), SIZES, calls), measured("allreduce-init-*", gpu_calls)],
           logx=2, logy=10),
]
