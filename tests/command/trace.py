"""TAP: the option --trace of commands, and the contents of its file; "hsumma trace" on such files.

Environment: that of launch.py. Only the format of times is checked.
"""
import collections
import json
import os
import re
import sys
import tempfile
from xml.etree import ElementTree

from command import bench, csv_rows, helps, prints, read, refuses, report_of, said, small_disk, write
from tap import ok, run, skip


def load(path):
    """The JSON object in a file, {} if there is none."""
    try:
        return json.loads(read(path) or "")
    except ValueError:
        return {}


def slices(trace):
    return [event for event in trace.get("traceEvents", []) if event["ph"] == "X"]


def nests(events):
    """Whether any two events of a thread are nested or disjoint; times have a resolution of 1 ns."""
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
    ok(process.returncode == 2 and "trace: cannot create" in process.stderr, "a folder that is not there", *said(process))
    link, target = os.path.join(scratch, "link"), os.path.join(scratch, "target")
    os.symlink("target", link)
    process = bench(2, "gemm -m 64 --reps 1", "--trace", link)
    ok(process.returncode == 0 and os.path.islink(link) and slices(load(target)), "a symbolic link is followed",
       *said(process))
    ok(sorted(os.listdir(scratch)) == sorted({"link", "target"} | (set(os.listdir(scratch)) & {"gemm.json", "coll.json"})),
       "nothing else is left", os.listdir(scratch))


def test_full_disk(scratch):
    """If the timeline does not fit the file system, the product is still computed."""
    disk = os.path.join(scratch, "disk")
    with small_disk(disk) as mounted:
        if not mounted:
            skip("a full disk", "needs root and the right to mount a tmpfs")
            return
        process = bench(2, "gemm -m 96 --nb 8 --node messages --reps 20", "--trace", os.path.join(disk, "x"))
        ok(process.returncode == 1 and "trace: cannot write" in process.stderr and "No space left" in process.stderr and
           len(process.stderr.splitlines()) == 1 and "hsumma   " in process.stdout and not os.listdir(disk),
           "a full disk: said, the report is there, and nothing is left", *said(process))


def seconds_of(events, rank, category, begin, end):
    """Seconds between begin and end covered by a rank's events of a category."""
    return sum(max(0, min(event["ts"] + event["dur"], end) - max(event["ts"], begin)) for event in events
               if event["tid"] == rank and event["cat"] == category) * 1e-6


def test_tables(scratch):
    """The sums of "hsumma trace" against sums over the file's events."""
    path, drawing = os.path.join(scratch, "gemm.json"), os.path.join(scratch, "drawing.svg")
    gemm = report_of(4, "gemm -m 96 -n 80 -k 128 --nb 16 --reps 3 --topology nodes:2", "--trace", path)
    events = slices(load(path))
    for words, number in (("", -1), ("--product 1", 0), ("--product 2", 1)):
        found = report_of(0, f"trace {path} {words}", "--svg", drawing)
        products = [sorted((e for e in events if e["cat"] == "product" and e["tid"] == r), key=lambda e: e["ts"])[number]
                    for r in range(4)]
        begin, end = min(p["ts"] for p in products), max(p["ts"] + p["dur"] for p in products)
        good = found["nodes"] == 2 and abs(found["seconds"] - (end - begin) * 1e-6) < 1e-8
        for row in found["ranks"]:
            for key, category in (("gemm_s", "gemm"), ("copy_s", "copy"), ("wait_s", "wait"), ("all_s", "product")):
                wanted = seconds_of(events, row["rank"], category, begin, end)
                good &= abs(row[key] - wanted) < 1e-8
            good &= abs(row["all_s"] - row["gemm_s"] - row["copy_s"] - row["wait_s"] - row["rest_s"]) < 1e-8
            waits = sum(debt["wait_s"] for debt in found["waits_of_ranks"] if debt["waiter"] == f"rank {row['rank']}")
            good &= abs(waits - row["wait_s"]) < 1e-8
        good &= abs(sum(debt["wait_s"] for debt in found["waits_of_nodes"]) -
                    sum(row["wait_s"] for row in found["ranks"])) < 1e-7
        ok(good, f"trace {words}: seconds of each rank are those of the events, and waits add up", found)
        nodes = {e["tid"] % 4: e["pid"] for e in events}
        for node in (0, 1):
            wanted = sum(e["args"]["bytes"] for e in events if e["cat"] == "message" and e["pid"] == node and
                         e["args"]["kind"] == "receive" and nodes[e["args"]["peer"]] != node and
                         begin <= e["ts"] + e["dur"] <= end)
            tenths = found["entering_bytes_per_s"][node]
            ok(len(tenths) == 10 and abs(sum(tenths) * found["seconds"] / 10 - wanted) < 1e-3 * wanted + 1,
               f"  what has come to node {node}", tenths, wanted)
        ok(abs(sum(found["multiplying"]) * found["seconds"] / 10 - sum(row["gemm_s"] for row in found["ranks"])) < 1e-7,
           "  how many multiply", found["multiplying"])
        picture = ElementTree.fromstring(read(drawing) or "<none/>")
        ok(picture.tag.endswith("svg") and len(list(picture.iter())) > 30 and
           all(word in read(drawing) for word in ("GEMM", "rank 3", "ms")), "  and drawn")
        wanted = [gemm["predicted_s"]] + [gemm["phases"][name]["predicted_s"] for name in ("gemm", "copy")]
        given = [found[key] for key in ("predicted_s", "predicted_gemm_s", "predicted_copy_s")]
        ok(all(abs(a - b) < 1e-6 * b + 1e-8 for a, b in zip(given, wanted)) and
           f"predicted: GEMM {wanted[1] * 1e3:.3f} ms of {wanted[0] * 1e3:.3f} ms" in read(drawing),
           "  beside what gemm had predicted", given, wanted)
    process = bench(0, f"trace {path} --top 2")
    prints(process, "trace as a table", "Waits by cause" in process.stdout and "product 4 of 4" in process.stdout)
    rows = csv_rows(bench(0, f"trace {path} --format csv --product all"))
    ok([row["rank"] for row in rows] == ["0", "1", "2", "3"] and [row["node"] for row in rows] == ["0", "0", "1", "1"],
       "  as csv", rows)


def test_refused(scratch):
    helps(2, "trace", "--svg", "--product")
    empty, path = write("{}", scratch, "none"), os.path.join(scratch, "gemm.json")
    refuses(bench(0, "trace"), "trace without a file", "expected one file")
    refuses(bench(0, f"trace {scratch}/missing"), "a file that is not there", "missing")
    refuses(bench(0, f"trace {empty}"), "a file that is no timeline", "option trace")
    for pid in -1, 10 ** 6:
        odd = write(re.sub(r'"pid": ?\d+', f'"pid": {pid}', read(path), count=1), scratch, "odd.json")
        refuses(bench(0, f"trace {odd}"), f"a timeline whose node is {pid}", "option trace")
    refuses(bench(2, f"trace {path} --product 99"), "a product that is not there", "expected 1 to")
    refuses(bench(0, f"trace {path} --product 0"), "no product", "last, all or a number")
    refuses(bench(0, f"trace {path} --svg {scratch}/missing/x.svg"), "a drawing in no folder", "cannot create")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        return run(test_gemm, test_others, test_errors, test_full_disk, test_tables, test_refused, args=[scratch])


if __name__ == "__main__":
    sys.exit(main())
