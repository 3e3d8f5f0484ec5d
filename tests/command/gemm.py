"""TAP: "hsumma_bench gemm" and "hsumma_bench sweep": options, the three formats, the checks, the contender, errors.

Environment: that of launch.py. Times are looked at for their form only.
"""
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from command import bench, csv_rows, number, object_of, refuses, said
from launch import BUILD
from tap import done, ok, skip

MPIEXEC = os.environ.get("MPIEXEC", "mpiexec.mpich").split()
FORMS = [(61, 43, 57), (96, 96, 96), (1, 70, 33)]  # m, n, k


def gemm_json(ranks, *args, code=0):
    """The object that a run with --format json prints; None, and a failed test, if it does not."""
    process = bench(ranks, "gemm", "--format", "json", "--reps", "2", *args)
    name = f"{ranks} ranks: gemm {' '.join(map(str, args))}"
    report = object_of(process)
    good = process.returncode == code and report is not None and process.stderr == ""
    return report if ok(good, name, *said(process)) else None


REALS = ["median_s", "min_s", "max_s", "gflops", "fraction_of_gemm_rate", "fraction_min", "fraction_max", "residual"]
OURS = ["bytes_per_rank_max", "messages_per_rank_max", "workspace_bytes", "peak_rss_bytes"]


PHASES = {"comm": "comm_s", "gemm": "gemm_s", "copy": "copy_s", "all": "median_s"}


def phase_complaints(report):
    """Predicted beside measured: the measured numbers are those that stand elsewhere, too, and the ratio is theirs."""
    bad = []
    for name, key in PHASES.items():
        phase = report["phases"][name]
        if not number(phase["predicted_s"]) or not number(phase["measured_s"]):
            bad.append((name, phase))
        elif name != "all" and phase["measured_s"] != report[key]:
            bad.append((name, phase, report[key]))
        elif phase["measured_s"] > 0 and not math.isclose(phase["ratio"] or 0, phase["predicted_s"] / phase["measured_s"],
                                                          rel_tol=1e-6, abs_tol=1e-12):
            bad.append((name, phase))
    if not report["min_s"] <= report["phases"]["all"]["measured_s"] <= report["median_s"]:
        bad.append("the typical round is not later than the median")
    parts = sum(report["phases"][name]["predicted_s"] for name in ("comm", "gemm", "copy"))
    if not math.isclose(parts, report["predicted_s"], rel_tol=1e-6):
        bad.append(("the predicted parts", parts, report["predicted_s"]))
    return bad


def complaints(report):
    """What the keys of a report lack."""
    bad = [key for key in REALS if not number(report.get(key))]
    bad += [key for key in OURS if not (number(report.get(key)) and isinstance(report[key], int))]
    bad += [key for key in ("plan", "why") if not isinstance(report.get(key), str)]
    if not report.get("min_s", 1) <= report.get("median_s", 0) <= report.get("max_s", 0):
        bad.append("min_s <= median_s <= max_s")
    if not 0 <= report.get("comm_share", -1) <= 1:
        bad.append("comm_share")
    rate = report.get("gemm_rate", {})
    bad += [f"gemm_rate.{key}" for key in ("m", "n", "k", "threads", "nodes", "median_s") if not number(rate.get(key))]
    if report.get("passed") is not True:
        bad.append("passed")
    return bad


def test_help():
    for args, word in [(["--help"], "sweep"), (["gemm", "--help"], "--plant-error"), (["gemm", "--help"], "--api"),
                       (["sweep", "--help"], "--plot"), (["--version"], "library")]:
        process = bench(2, *args)
        ok(process.returncode == 0 and process.stdout.count(word) >= 1 and not process.stderr,
           f"hsumma_bench {' '.join(args)} prints once", *said(process))


def test_products():
    """Four types, three operations, ranks, layouts: every one passes the strict check."""
    for ranks in (1, 2, 3, 4):
        for i, kind in enumerate("sdcz"):
            m, n, k = FORMS[(i + ranks) % len(FORMS)]
            ta, tb = ["NN", "TN", "NC", "CT"][(i + ranks) % 4]
            report = gemm_json(ranks, "-m", m, "-n", n, "-k", k, "--type", kind, "--transa", ta, "--transb", tb,
                               "--nb", [8, "checkerboard", 5][(i + ranks) % 3], "--alpha", "0.7",
                               "--beta", [0, -1.5][i % 2], "--check")
            if report:
                bad = complaints(report)
                ok(not bad and report["check"]["entries"] > 0 and report["type"] == kind, "  its keys, its check", bad)
    report = gemm_json(2, "-m", 40, "--type", "z", "--alpha", "(0.5,-2)", "--beta", "(0,1)", "--check")
    ok(bool(report) and report["alpha"] == [0.5, -2] and report["passed"], "  complex scalars", report)
    gemm_json(4, "-m", 50, "--order", "C", "--grid", "2x2", "--seed", 7, "--check",
              "--layout", "mb=8,nb=8,i=8,j=8,pad=3")
    gemm_json(3, "-m", 30, "--grid", "1x2", "--check")  # a rank is left over
    gemm_json(2, "-m", 0, "-n", 10, "-k", 5, "--check")
    gemm_json(2, "-m", 10, "-k", 0, "--beta", 2, "--check")


def test_planted():
    """1e-9 in one entry of C is found, wherever it is; with k = 1000 the residual alone does not see it."""
    for ranks, n, kind, places in [(1, 100, "d", ["0,0", "99,99"]), (2, 300, "d", ["299,0", "17,150"]),
                                   (4, 200, "z", ["0,199", "101,99"]), (2, 1000, "d", ["0,0", "999,999", "512,77"])]:
        for place in places:
            report = gemm_json(ranks, "-m", n, "--type", kind, "--check", "--plant-error", f"1e-9@{place}", code=1)
            if report:
                found = [report["check"].get("row"), report["check"].get("col")]
                ok(report["passed"] is False and found == [int(x) for x in place.split(",")],
                   f"  is found at {place} (residual {report['residual']:.2g})", report["check"])
    gemm_json(2, "-m", 1000, "--check")  # and without it the same product passes
    report = gemm_json(2, "-m", 100, "--plant-error", "1@5,5", code=1)
    ok(bool(report) and report["residual"] >= 16, "  a gross error is seen without --check", report)


def has_scalapack():
    return "with ScaLAPACK" in bench(1, "--version").stdout


def test_replicated():
    """Rows or columns that every process has: each copy of C is checked, and a wrong entry in one of them is found."""
    apis = ["plan", "call"] + (["pdgemm", "scalapack"] if has_scalapack() else [])
    for i, layout in enumerate([["--layout-c", "rsrc=-1"], ["--layout-c", "csrc=-1"], ["--layout", "rsrc=-1,csrc=-1"],
                                ["--layout-a", "rsrc=-1,i=3", "--layout-b", "csrc=-1,pad=2", "--layout-c", "csrc=-1"]]):
        for api in apis[i % 2::2]:
            report = gemm_json(4, "-m", 45, "-n", 38, "-k", 27, "--nb", 8, "--beta", -0.5, "--check", "--api", api,
                               *layout)
            if report:
                of_c = report["layout"]["c"]
                copies = (2 if of_c["rsrc"] < 0 else 1) * (2 if of_c["csrc"] < 0 else 1)
                ok(copies > 1 and report["check"]["entries"] == copies * 64 * (4 // copies),
                   "  every copy was looked at", report["layout"], report["check"])
    for layout, copied in [("rsrc=-1", "rows"), ("csrc=-1", "columns"), ("rsrc=-1,csrc=-1", "both")]:
        report = gemm_json(4, "-m", 40, "--nb", 8, "--check", "--layout-c", layout, "--plant-error", "1e-9@3,39",
                           code=1)
        if report:
            ok(report["passed"] is False and [report["check"].get("row"), report["check"].get("col")] == [3, 39],
               f"  a wrong entry in the last copy: {copied}", report["check"])


def test_calls():
    """Several calls in a row: C after them is that of one; the times are of one."""
    for api, beta, plant in [("plan", 0, 0), ("plan", -1, 0), ("call", 0.5, 0), ("plan", 0, 1), ("call", 1, 1)]:
        report = gemm_json(2, "-m", 48, "-k", 30, "--nb", 8, "--api", api, "--beta", beta, "--calls", 4, "--check",
                           *(["--plant-error", "1e-9@7,7"] if plant else []), code=plant)
        if report:
            ok(report["calls"] == 4 and report["api"] == api and report["passed"] is not bool(plant)
               and number(report["median_s"]), "  its keys, its check", report)
    one, many = (gemm_json(1, "-m", 256, "--threads", 1, "--calls", calls) for calls in (1, 40))
    ok(one and many and many["min_s"] < 8 * one["min_s"], "40 calls: the time is of one", one, many)
    text = bench(2, "gemm", "-m", "64", "--reps", "2", "--calls", 3, "--api", "call").stdout
    ok("\ncalls      3 in a row" in text and "\napi        hsumma_dgemm;" in text, "the table says so", text)


def test_api():
    """The drop-in routine, ScaLAPACK's own and the one-call routines, with the same arguments."""
    for i, (ranks, api) in enumerate([(1, "call"), (4, "call"), (1, "pdgemm"), (2, "pdgemm"), (4, "pdgemm"),
                                      (2, "scalapack"), (4, "scalapack")]):
        if api in ("pdgemm", "scalapack") and not has_scalapack():
            process = bench(ranks, "gemm", "--api", api)
            ok(process.returncode == 2 and process.stderr.count("\n") == 1, f"--api {api} is refused without ScaLAPACK",
               *said(process))
            continue
        for kind in "sdcz"[i % 2::2]:
            report = gemm_json(ranks, "-m", 61, "-n", 43, "-k", 57, "--type", kind, "--transa", "NTC"[i % 3],
                               "--transb", "CNT"[i % 3], "--nb", 8, "--alpha", -0.5, "--beta", 0.5, "--check",
                               "--api", api, "--layout-a", "mb=5,i=3,pad=1",
                               "--layout-c", f"nb=9,inb=2,rsrc={int(ranks == 4)}",
                               *(["--compare", "scalapack"] if has_scalapack() else []))
            if report:
                bad = [key for key in REALS if not number(report.get(key))]
                other = report["contenders"].get("scalapack", {"api": "scalapack", "passed": True})
                ok(not bad and report["api"] == api and report["passed"] and isinstance(report["plan"], str)
                   and other["api"] == "scalapack" and other["passed"]
                   and 0 < report["matrices_bytes"] < report["peak_rss_bytes"],
                   "  its keys", bad, report)


def test_replay():
    """A call that the drop-in routine has recorded runs again from its line, with the same arguments."""
    if not has_scalapack():
        skip("a recorded call runs again", "no ScaLAPACK")
        return
    for ranks, args in [(2, ["-m", 30, "-n", 21, "-k", 17, "--nb", 4]),
                        (4, ["-m", 30, "-n", 20, "-k", 10, "--type", "z", "--transa", "C", "--alpha", "(1,2)", "--beta",
                             "(0,-1)", "--layout-b", "csrc=-1,mb=5", "--layout-c",
                             "m=50,n=60,mb=4,nb=7,imb=3,inb=2,rsrc=1,i=2,j=33,pad=3"]),
                        (4, ["-m", 17, "--type", "s", "--transb", "T", "--alpha", "1e-3", "--beta", "0.1", "--grid",
                             "1x4", "--layout-a", "mb=3,nb=2,imb=7,csrc=3,j=5"])]:
        with tempfile.TemporaryDirectory() as scratch:
            log = os.path.join(scratch, "calls")
            first = gemm_json(ranks, *args, "--reps", 1, "--api", "pdgemm", "--log", log, "--check")
            lines = open(log).read().splitlines() if os.path.exists(log) else []
        if not ok(len(lines) == 2 and len(set(lines)) == 1, "  the warm-up and one repetition are recorded", lines):
            continue
        words = shlex.split(lines[0])
        ok(words[:2] == ["mpiexec", "-n"] and words[3:5] == ["hsumma_bench", "gemm"], "  as a command line", lines[0])
        again = gemm_json(int(words[2]), *words[5:], "--check")
        keys = ["m", "n", "k", "type", "transa", "transb", "alpha", "beta", "grid", "layout"]
        different = [(key, first[key], again[key]) for key in keys if first and again and first[key] != again[key]]
        if first and again and first["type"] == "s":  # 0.1 was rounded to single precision
            different = [d for d in different if d[0] not in ("alpha", "beta") or not math.isclose(d[1], d[2],
                                                                                                   rel_tol=1e-7)]
        ok(first and again and not different, "  the same product", different)


def test_formats():
    process = bench(2, "gemm", "-m", "64", "--reps", "2", "--format", "csv")
    rows = csv_rows(process)
    ok(process.returncode == 0 and len(rows) == 1 and rows[0]["contender"] == "hsumma" and None not in rows[0]
       and float(rows[0]["median_s"]) > 0 and rows[0]["plan"] and
       [rows[0]["api"], rows[0]["calls"]] == ["plan", "1"], "csv: a header and one row", *said(process))
    process = bench(2, "gemm", "-m", "64", "--reps", "2")
    text = process.stdout
    ok(process.returncode == 0 and "GFLOP/s" in text and "passed" in text and "nan" not in text, "the table",
       *said(process))


def test_phases():
    """After a run: predicted beside measured."""
    for ranks, args in [(1, []), (2, ["--node", "messages", "--lookahead", 0]), (2, ["--lookahead", 2]), (2, []),
                        (4, ["--stationary", "A", "--node", "messages"])]:
        report = gemm_json(ranks, "-m", 200, "--nb", 16, *args)
        if report:
            bad = phase_complaints(report)
            ok(not bad, "  communication, GEMM, copies and all: predicted, measured, and the ratio", *bad, report["phases"])
    report = gemm_json(2, "-m", 64, "--nb", 16, "--api", "call")
    if report:
        ok(report["phases"]["gemm"]["measured_s"] is None and number(report["phases"]["all"]["ratio"]),
           "  of a call only all of it was measured", report["phases"])
    text = bench(2, "gemm", "-m", 64, "--reps", 2, "--nb", 16).stdout
    rows = {line.split()[0]: line.split()[1:4] for line in text[text.find("\nphase "):].splitlines()[3:7]}
    ok(list(rows) == ["communication", "GEMM", "copies", "all"] and all(len(row) == 3 for row in rows.values()),
       "  as a table", text)


def test_plan():
    """The plan's line gives the same plan again."""
    report = gemm_json(4, "-m", 96, "--nb", 8, "--groups", "1x2", "--block", 8, "--outer", 16, "--lookahead", 0)
    if not report:
        return
    options = [word for pair in report["plan"].split() if "=" in pair
               for word in ("--" + pair.split("=", 1)[0].replace("_", "-"), pair.split("=", 1)[1])]
    again = gemm_json(4, "-m", 96, "--nb", 8, *options)
    ok(bool(again) and again["plan"] == report["plan"], "  the same plan", report["plan"], again and again["plan"])


def test_scalapack():
    if not has_scalapack():
        process = bench(2, "gemm", "--compare", "scalapack")
        ok(process.returncode == 2 and process.stderr.count("\n") == 1, "refused without ScaLAPACK", *said(process))
        return
    for ranks, args in [(1, ["--type", "s"]), (2, ["--type", "z", "--transa", "C"]), (3, ["--grid", "2x1"]),
                        (4, ["--nb", "checkerboard", "--beta", "1"]),
                        (4, ["--layout", "mb=8,nb=8,i=8,j=8", "--order", "C"])]:
        report = gemm_json(ranks, "-m", 64, "-k", 80, "--nb", 8, "--compare", "scalapack", "--check", *args)
        if not report:
            continue
        other = report["contenders"]["scalapack"]
        bad = [key for key in REALS + ["ratio", "ratio_min", "ratio_max"] if not number(other.get(key))]
        ok(not bad and other["passed"] and isinstance(other["plan"], str) and other["ratio"] == report["ratio"]
           and other["ratio_min"] <= other["ratio"] <= other["ratio_max"], "  the contender's block and the ratio", bad,
           other)
    process = bench(2, "gemm", "-m", "64", "--reps", "2", "--compare", "scalapack", "--format", "csv")
    rows = csv_rows(process)
    ok([row["contender"] for row in rows] == ["hsumma", "scalapack"], "csv: a row for each contender", *said(process))


def test_compare():
    """Several contenders in one run, the rounds of each, where the time goes, and the GEMM rate that was asked for."""
    names = ["plan", "call", "shared"] + (["pdgemm", "scalapack"] if has_scalapack() else [])
    for ranks, args in [(1, []), (2, ["--type", "c", "--calls", 3]), (4, ["--beta", 0.5, "--calls", 2]),
                        (3, ["--grid", "2x1", "--api", "call"])]:
        report = gemm_json(ranks, "-m", 61, "-n", 43, "-k", 57, "--nb", 8, "--check", "--compare", ",".join(names),
                           "--gemm-threads", 3, *args)
        if not report:
            continue
        found = report["contenders"]
        ok(set(found) == set(names) and all(one["passed"] for one in found.values()) and
           all(len(one["times_s"]) == 2 and one["min_s"] == min(one["times_s"])
               for one in [report, report["gemm_rate"], *found.values()]), "  every contender, and its rounds", found)
        plan = found["plan"]
        shares = [plan[key] for key in ("gemm_share", "copy_share", "wait_share", "library_share")]
        ok(all(number(share, -1e-9) for share in shares) and math.isclose(sum(shares), 1, rel_tol=1e-6)
           and 0 < plan["timed_share"] < 1.02 and found["call"]["gemm_share"] is None
           and plan["workspace_bytes"] >= 0 and math.isclose(plan["comm_share"], shares[2] + shares[3], abs_tol=1e-3),
           "  where the plan's time goes", shares, plan)
        ok(report["gemm_rate"]["threads"] == 3 and report["gemm_rate"]["m"] == 61, "  the threads of the GEMM rate",
           report["gemm_rate"])
    report = gemm_json(2, "-m", 60, "-n", 40, "-k", 30, "--nb", 10, "--gemm-local", "--grid", "2x1")
    ok(bool(report) and [report["gemm_rate"][key] for key in ("m", "n", "k", "threads")] == [30, 40, 30, 1],
       "  the GEMM rate of a part", report and report["gemm_rate"])
    text = bench(2, "gemm", "-m", 64, "--reps", 2, "--compare", "shared,call").stdout
    ok(text.count("% of the ranks' time") == 2 and "\nratio      shared / hsumma" in text, "the table says so", text)


def compare_node(build, mpiexec, *args):
    return subprocess.run([sys.executable, os.path.join("scripts", "compare-node"), "--build", build, "--mpiexec",
                           mpiexec, *args], capture_output=True, text=True, timeout=300)


def test_compare_node():
    """The benchmark of one node: its tables; its exit code when a result is wrong, and when a run fails."""
    if has_scalapack():
        process = compare_node(BUILD, " ".join(MPIEXEC), "--ranks", "2", "--rows", "256", "--reps", "1", "--quick",
                            "--parts", "table,types,small,memory")
        lines = process.stdout.splitlines()
        ok(process.returncode == 0 and sum(line.startswith("| 256 cubed | 64 |") for line in lines) == 2
           and "| 256 cubed | s |" in process.stdout and "## Summary" in lines and "failed" not in process.stdout,
           "compare-node prints its tables", *said(process))
    for output, word in [('{"api": "plan", "passed": false, "contenders": {}}', "wrong result: plan"), ("", "exit code 0"),
                         ('{"api": "plan", "passed": true, "contenders": {"call": {"passed": false}}}', "result: call")]:
        with tempfile.TemporaryDirectory() as scratch:
            for name, text in [("mpiexec", 'shift 2\nexec "$@"'), ("hsumma_bench", f"echo '{output}'")]:
                with open(os.path.join(scratch, name), "w") as file:
                    file.write(f"#!/bin/sh\n{text}\n")
                os.chmod(os.path.join(scratch, name), 0o755)
            process = compare_node(scratch, os.path.join(scratch, "mpiexec"), "--ranks", "1", "--rows", "256", "--parts",
                                "table")
            ok(process.returncode == 1 and word in process.stdout, f"compare-node fails: {word}", *said(process))


def test_errors():
    """One line on stderr, nothing on stdout, exit code 2."""
    for args in (["gemm", "--grid", "2x2"], ["gemm", "--grid", "0x2"], ["gemm", "--nb", "0"], ["gemm", "--nb", "-3"],
                 ["gemm", "--bcast", "no-such-algorithm"], ["gemm", "--groups", "1x3"], ["gemm", "--groups", "3"],
                 ["gemm", "--block", "0"], ["gemm", "--stationary", "D"], ["gemm", "--no-such-option"],
                 ["gemm", "--type"], ["gemm", "--type", "q"], ["gemm", "--transa", "X"], ["gemm", "--reps", "0"],
                 ["gemm", "--api", "fast"], ["gemm", "--calls", "0"], ["gemm", "--calls", "2", "--beta", "1.5"],
                 ["gemm", "--layout-c", "rsrc=-2"], ["gemm", "--layout-a", "i=-1"],
                 ["gemm", "-m", "-1"],
                 ["gemm", "--compare", "plan,,other"], ["gemm", "--compare", ""], ["gemm", "--gemm-threads", "0"],
                 ["gemm", "--alpha", "(1,2)"], ["gemm", "--compare", "other"], ["gemm", "--format", "xml"],
                 ["gemm", "--layout", "imb=0"], ["gemm", "--layout-a", "rsrc=5"], ["gemm", "--layout", "depth=1"],
                 ["gemm", "--plant-error", "1e-9"], ["gemm", "-m", "8", "--plant-error", "1@8,0"], ["gemm", "operand"],
                 ["gemm", "-m", "100G"], ["sweep", "--groups", "1x1"], ["sweep", "--levels", "1x1"],
                 ["sweep", "--plot", "/no/such/directory/x.svg"], ["no-such-command"], []):
        process = bench(2, *args[:1], *(["-m", "64"] if args[:1] == ["gemm"] else []), *args[1:])
        refuses(process, "hsumma_bench " + " ".join(args))


def groupings(rows, cols):
    return sorted(f"{i}x{j}" for i in range(1, rows + 1) for j in range(1, cols + 1) if rows % i == 0 and cols % j == 0)


def chosen_groups(plan):
    """The groups that the line of a plan, or of a candidate, says; "1x1": SUMMA."""
    words = dict(word.split("=", 1) for word in plan["plan"].split() if "=" in word)
    return words.get("levels", words.get("groups", "1x1"))


def test_sweep():
    for ranks, grid in [(1, (1, 1)), (2, (1, 2)), (3, (3, 1)), (4, (2, 2)), (4, (1, 4))]:
        process = bench(ranks, "sweep", "-m", "64", "--nb", "8", "--reps", "2", "--grid", "%dx%d" % grid, "--check",
                        "--format", "json")
        try:
            report = json.loads(process.stdout)
            found = sorted(c["groups"] for c in report["hsumma"])
            good = all(number(c["median_s"]) and number(c["comm_s"]) and number(c["ratio"]) and c["passed"]
                       for c in [report["summa"], *report["hsumma"]])
            groups = {c["g"] for c in report["hsumma"]}
            best = [sum(c["best_of_g"] for c in report["hsumma"] if c["g"] == g) for g in groups]
            good = good and set(best) == {1} and sum(c["best"] for c in report["hsumma"]) == 1
            every = [report["summa"], *report["hsumma"]]
            good = good and all(number(c["predicted_s"]) and number(c["predicted_comm_s"]) for c in every)
            good = good and [chosen_groups(c) for c in every if c["chosen"]] == [chosen_groups(report["automatic"])]
        except (ValueError, KeyError) as error:
            found, good = [repr(error)], False
        ok(process.returncode == 0 and good and found == groupings(*grid),
           "sweep of a %d x %d grid: every grouping once, the best of each G marked" % grid, found, *said(process))
    with tempfile.TemporaryDirectory() as scratch:  # where a message is dear: van de Geijn in two steps of two is best
        profile = os.path.join(scratch, "profile")
        with open(profile, "w", encoding="utf-8") as file:
            file.write("hsumma profile 1\nnode.alpha_s 1e-3\nnetwork.alpha_s 1e-3\nend\n")
        process = bench(4, "sweep", "-m", 64, "--nb", 8, "--reps", 1, "--grid", "1x4", "--bcast", "van_de_geijn",
                        "--block", 8, "--outer", 8, "--lookahead", 0, "--stationary", "C", "--format", "json",
                        "--profile", profile)
    try:
        report = json.loads(process.stdout)
        every = [report["summa"], *report["hsumma"]]
        times = {chosen_groups(c): c["predicted_comm_s"] for c in every}
        found = [c.get("groups") for c in every if c["chosen"]]
        # log2(q) + q - 1 messages for each of 8 panels; what they hold takes no time worth the name
        good = all(math.isclose(times[groups], 8 * messages * 1e-3, rel_tol=1e-3)
                   for groups, messages in (("1x1", 5), ("1x2", 4)))
    except (ValueError, KeyError) as error:
        found, times, good = [repr(error)], {}, False
    ok(good and found == ["1x2"], "the row of the automatic choice is marked", found, times, *said(process))
    process = bench(2, "sweep", "-m", "32", "--nb", "8", "--reps", "1")
    rows = [line for line in process.stdout.splitlines() if line.split()[:2] == ["1x2", "2"] or
            line.split()[1:3] == ["1x2", "2"]]
    ok(process.returncode == 0 and len(rows) == 1 and process.stdout.count("<- chosen") == 1 and
       "\nautomatic " in process.stdout, "sweep as a table", *said(process))
    process = bench(2, "sweep", "-m", "32", "--nb", "8", "--reps", "1", "--format", "csv")
    rows = csv_rows(process)
    ok([row["candidate"] for row in rows] == ["SUMMA", "HSUMMA", "HSUMMA"] and
       all(None not in row and None not in row.values() and float(row["predicted_s"]) > 0 for row in rows) and
       [row["chosen"] for row in rows].count("true") == 1,
       "sweep as csv", *said(process))


def test_plot():
    with tempfile.TemporaryDirectory() as scratch:
        drawing = os.path.join(scratch, "it's a sweep.svg")
        args = ["sweep", "-m", "48", "--nb", "8", "--reps", "2", "--plot", drawing]
        if not shutil.which("gnuplot"):
            skip("sweep --plot", "no gnuplot")
        else:
            process = bench(4, *args)
            text = open(drawing).read() if os.path.exists(drawing) else ""
            ok(process.returncode == 0 and "<svg" in text and "</svg>" in text and not process.stderr and
               all(word in text for word in ("HSUMMA, communication", "model, total", "model, communication",
                                             "automatic choice")), "sweep --plot draws", *said(process), text[-3000:])
        if os.path.exists(drawing):
            os.remove(drawing)
        process = bench(2, *args, path=scratch)
        ok(process.returncode == 2 and "gnuplot" in process.stderr and process.stderr.count("\n") == 1 and
           not process.stdout and not os.path.exists(drawing), "sweep --plot without gnuplot: refused", *said(process))


def main():
    for test in (test_help, test_errors, test_products, test_planted, test_replicated, test_calls, test_api,
                 test_replay, test_formats, test_phases, test_plan, test_scalapack,
                 test_compare, test_compare_node, test_sweep, test_plot):
        if len(sys.argv) == 1 or test.__name__[len("test_"):] in sys.argv[1:]:
            test()
    return done()


if __name__ == "__main__":
    sys.exit(main())
