"""TAP: the option --trace of hsumma_bench, and what its file holds; "hsumma_bench trace" on such files.

Environment: that of launch.py. Times are looked at for their form only.
"""
import collections
import json
import os
import sys
import tempfile

from command import bench, read, report_of, said
from tap import ok, run


def load(path):
    """The file's object, {} if it is none."""
    try:
        return json.loads(read(path) or "")
    except ValueError:
        return {}


def slices(trace):
    return [event for event in trace.get("traceEvents", []) if event["ph"] == "X"]


def nests(events):
    """Whether of any two events of a thread one lies in the other, or they do not meet; times are given to 1 ns."""
    open_until = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        end = event["ts"] + event["dur"]
        while open_until and open_until[-1] <= event["ts"] + 0.002:
            open_until.pop()
        if open_until and end > open_until[-1] + 0.002:
            return False
        open_until.append(end)
    return True


def check_form(trace, ranks):
    events, threads = slices(trace), collections.defaultdict(list)
    for event in events:
        threads[event["tid"]].append(event)
    other = trace.get("otherData", {})
    ok(events and other.get("ranks") == ranks and other.get("lost") == 0 and 0 <= other.get("clock_error_us", -1) < 1e6 and
       all(event["dur"] >= 0 for event in events), "  its form", other)
    ok(all(nests(events) for events in threads.values()), "  events of a thread nest")
    named = {event["tid"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    ok(named >= set(threads) and set(range(ranks)) <= named, "  every thread has a name")
    flows = {phase: collections.Counter(event["id"] for event in trace["traceEvents"] if event["ph"] == phase)
             for phase in "sf"}
    ok(flows["s"] == flows["f"] and set(flows["s"].values()) <= {1}, "  every message has one sender and one receiver")
    sends = {"s": [], "f": []}
    for event in events:
        if event["cat"] == "message":
            rank, peer = event["tid"] % ranks, event["args"]["peer"]
            way = (rank, peer) if event["args"]["kind"] == "send" else (peer, rank)
            sends["s" if way[0] == rank else "f"].append((way, event["name"].split()[1], event["args"]["bytes"]))
    ok(sorted(sends["s"]) == sorted(sends["f"]), "  with the same operand and bytes")
    return events


def test_gemm(scratch):
    path = os.path.join(scratch, "gemm.json")
    for ranks, words in ((2, "--node messages"), (4, "--topology nodes:2 --stationary A"), (3, ""), (1, "")):
        reps = 2
        line = f"gemm -m 96 -n 80 -k 128 --nb 16 --reps {reps} {words}"
        found = report_of(ranks, line, "--trace", path)
        ok("residual" in str(found), f"{ranks} ranks {words}: gemm --trace")
        events = check_form(load(path), ranks)
        products = [event for event in events if event["cat"] == "product"]
        flops = sum(event["args"]["flops"] for event in events if event["cat"] == "gemm")
        ok(len(products) >= ranks * reps and flops * ranks == sum(e["args"]["flops"] for e in products),
           "  as many flops as its products have", flops, len(products))


def test_others(scratch):
    path = os.path.join(scratch, "coll.json")
    process = bench(2, "coll --op allreduce --bytes 1M..4M --alg auto --repetitions 3", "--trace", path)
    calls = [event for event in check_form(load(path), 2) if event["cat"] == "call"]
    ok(process.returncode == 0 and {event["args"]["bytes"] for event in calls} >= {1 << 20, 4 << 20} and
       all(event["name"] == "allreduce" for event in calls), "coll --trace", *said(process))


def test_errors(scratch):
    process = bench(2, "gemm -m 64 --reps 1", "--trace", os.path.join(scratch, "missing", "x"))
    ok(process.returncode == 2 and "trace: cannot make" in process.stderr, "a folder that is not there", *said(process))
    link, target = os.path.join(scratch, "link"), os.path.join(scratch, "target")
    os.symlink("target", link)
    process = bench(2, "gemm -m 64 --reps 1", "--trace", link)
    ok(process.returncode == 0 and os.path.islink(link) and slices(load(target)), "a symbolic link is followed",
       *said(process))
    ok(sorted(os.listdir(scratch)) == sorted({"link", "target"} | (set(os.listdir(scratch)) & {"gemm.json", "coll.json"})),
       "nothing else is left", os.listdir(scratch))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        return run(test_gemm, test_others, test_errors, args=[scratch])


if __name__ == "__main__":
    sys.exit(main())
