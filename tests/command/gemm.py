"""TAP: "hsumma gemm" and "hsumma sweep": options, the three formats, the checks, the contender, errors.

Environment: that of launch.py. Only the format of times is checked.
"""
import math
import os
import shlex
import subprocess
import sys
import tempfile

from command import (bench, csv_rows, draws, has_scalapack, helps, number, options_of, prints, read, refuses, report_of, said,
                     words_of, write)
from launch import BUILD, MPIEXEC
from tap import must, ok, run, skip

FORMS = [(61, 43, 57), (96, 96, 96), (1, 70, 33)]  # m, n, k


def gemm(ranks, line="", *args, code=0):
    """Runs gemm with two repetitions; returns the report."""
    return report_of(ranks, "gemm --reps 2 " + line, *args, code=code)


REALS = ["median_s", "min_s", "max_s", "gflops", "fraction_of_gemm_rate", "fraction_min", "fraction_max", "residual"]
OURS = ["bytes_per_rank_max", "messages_per_rank_max", "workspace_bytes", "peak_rss_bytes"]


PHASES = {"comm": "comm_s", "gemm": "gemm_s", "copy": "copy_s", "all": "median_s"}


def phase_complaints(report):
    """The errors in the phases: measured figures must equal others in the report, and ratios must fit the figures."""
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
    """The keys that a report lacks, or whose values have wrong types."""
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
    for command, word in (("", "sweep"), ("gemm", "--plant-error"), ("gemm", "--api"), ("sweep", "--plot")):
        helps(2, command, word)
    process = bench(2, "--version")
    prints(process, "hsumma --version prints once", process.stdout.count("library") >= 1)


def test_products():
    """Four types, three operations, ranks, layouts: all pass the strict check."""
    for ranks in (1, 2, 3, 4):
        for i, kind in enumerate("sdcz"):
            m, n, k = FORMS[(i + ranks) % len(FORMS)]
            ta, tb = ["NN", "TN", "NC", "CT"][(i + ranks) % 4]
            report = gemm(ranks, f"-m {m} -n {n} -k {k} --type {kind} --transa {ta} --transb {tb} --check --alpha 0.7",
                          "--nb", [8, "checkerboard", 5][(i + ranks) % 3], "--beta", [0, -1.5][i % 2])
            bad = complaints(report)
            ok(not bad and report["check"]["entries"] > 0 and report["type"] == kind, "  its keys, its check", bad)
    report = gemm(2, "-m 40 --type z --alpha (0.5,-2) --beta (0,1) --check")
    ok(report["alpha"] == [0.5, -2] and report["passed"], "  complex scalars", report)
    gemm(4, "-m 50 --order C --grid 2x2 --seed 7 --check --layout mb=8,nb=8,i=8,j=8,pad=3")
    gemm(3, "-m 30 --grid 1x2 --check")  # one rank is not in the grid
    gemm(2, "-m 0 -n 10 -k 5 --check")
    gemm(2, "-m 10 -k 0 --beta 2 --check")


def test_planted():
    """An error of 1e-9 in one entry of C is found wherever it is; with k = 1000 the residual alone misses it."""
    for ranks, n, kind, places in [(1, 100, "d", ["0,0", "99,99"]), (2, 300, "d", ["299,0", "17,150"]),
                                   (4, 200, "z", ["0,199", "101,99"]), (2, 1000, "d", ["0,0", "999,999", "512,77"])]:
        for place in places:
            report = gemm(ranks, f"-m {n} --type {kind} --check --plant-error 1e-9@{place}", code=1)
            is_found(report, place, f"at {place} (residual {report['residual']:.2g})")
    gemm(2, "-m 1000 --check")  # the product passes without the error
    report = gemm(2, "-m 100 --plant-error 1@5,5", code=1)
    ok(report["residual"] >= 16, "  a gross error is seen without --check", report)


def is_found(report, place, where):
    """Checks that the planted wrong entry is reported."""
    check = report["check"]
    ok(report["passed"] is False and [check.get("row"), check.get("col")] == [int(x) for x in place.split(",")],
       f"  a wrong entry is found {where}", check)


def test_replicated():
    """With rows or columns on every process each copy of C is checked, and a wrong entry in one of them is found."""
    apis = ["plan", "call"] + (["pdgemm", "scalapack"] if has_scalapack() else [])
    for i, layout in enumerate(["--layout-c rsrc=-1", "--layout-c csrc=-1", "--layout rsrc=-1,csrc=-1",
                                "--layout-a rsrc=-1,i=3 --layout-b csrc=-1,pad=2 --layout-c csrc=-1"]):
        for api in apis[i % 2::2]:
            report = gemm(4, f"-m 45 -n 38 -k 27 --nb 8 --beta -0.5 --check --api {api} {layout}")
            of_c = report["layout"]["c"]
            copies = (2 if of_c["rsrc"] < 0 else 1) * (2 if of_c["csrc"] < 0 else 1)
            ok(copies > 1 and report["check"]["entries"] == copies * 64 * (4 // copies),
               "  every copy was looked at", report["layout"], report["check"])
    for layout, copied in [("rsrc=-1", "rows"), ("csrc=-1", "columns"), ("rsrc=-1,csrc=-1", "both")]:
        report = gemm(4, f"-m 40 --nb 8 --check --layout-c {layout} --plant-error 1e-9@3,39", code=1)
        is_found(report, "3,39", f"in the last copy: {copied}")


def test_calls():
    """Several consecutive calls: C is the result of one call, and times are per call."""
    for api, beta, plant in [("plan", 0, 0), ("plan", -1, 0), ("call", 0.5, 0), ("plan", 0, 1), ("call", 1, 1)]:
        report = gemm(2, f"-m 48 -k 30 --nb 8 --api {api} --beta {beta} --calls 4 --check " +
                      plant * "--plant-error 1e-9@7,7", code=plant)
        ok(report["calls"] == 4 and report["api"] == api and report["passed"] is not bool(plant)
           and number(report["median_s"]), "  its keys, its check", report)
    one, many = (gemm(1, f"-m 256 --threads 1 --calls {calls}") for calls in (1, 40))
    ok(many["min_s"] < 8 * one["min_s"], "40 calls: the time is of one", one, many)
    text = bench(2, "gemm -m 64 --reps 2 --calls 3 --api call").stdout
    ok("\ncalls      3 consecutive" in text and "\napi        hsumma_dgemm;" in text, "the table says so", text)


def test_api():
    """The drop-in routine, ScaLAPACK's own and the one-call routines, with the same arguments."""
    for i, (ranks, api) in enumerate([(1, "call"), (4, "call"), (1, "pdgemm"), (2, "pdgemm"), (4, "pdgemm"),
                                      (2, "scalapack"), (4, "scalapack")]):
        if api in ("pdgemm", "scalapack") and not has_scalapack():
            refuses(bench(ranks, f"gemm --api {api}"), f"--api {api} without ScaLAPACK")
            continue
        for kind in "sdcz"[i % 2::2]:
            report = gemm(ranks, f"-m 61 -n 43 -k 57 --type {kind} --transa {'NTC'[i % 3]} --transb {'CNT'[i % 3]} --nb 8"
                          f" --alpha -0.5 --beta 0.5 --check --api {api} --layout-a mb=5,i=3,pad=1"
                          f" --layout-c nb=9,inb=2,rsrc={int(ranks == 4)}" + has_scalapack() * " --compare scalapack")
            bad = [key for key in REALS if not number(report.get(key))]
            other = report["contenders"].get("scalapack", {"api": "scalapack", "passed": True})
            ok(not bad and report["api"] == api and report["passed"] and isinstance(report["plan"], str)
               and other["api"] == "scalapack" and other["passed"]
               and 0 < report["matrices_bytes"] < report["peak_rss_bytes"], "  its keys", bad, report)


def test_replay():
    """A call recorded by the drop-in routine runs again from its line, with the same arguments."""
    if not has_scalapack():
        skip("a recorded call runs again", "no ScaLAPACK")
        return
    for ranks, line in [(2, "-m 30 -n 21 -k 17 --nb 4"),
                        (4, "-m 30 -n 20 -k 10 --type z --transa C --alpha (1,2) --beta (0,-1) --layout-b csrc=-1,mb=5 "
                            "--layout-c m=50,n=60,mb=4,nb=7,imb=3,inb=2,rsrc=1,i=2,j=33,pad=3"),
                        (4, "-m 17 --type s --transb T --alpha 1e-3 --beta 0.1 --grid 1x4 "
                            "--layout-a mb=3,nb=2,imb=7,csrc=3,j=5")]:
        with tempfile.TemporaryDirectory() as scratch:
            log = os.path.join(scratch, "calls")
            first = report_of(ranks, f"gemm {line} --reps 1 --api pdgemm --check", "--log", log)
            lines = (read(log) or "").splitlines()
        must(len(lines) == 2 and len(set(lines)) == 1, "  the warm-up and one repetition are recorded", lines)
        words = shlex.split(lines[0])
        ok(words[:2] == ["mpiexec", "-n"] and words[3:5] == ["hsumma", "gemm"], "  as a command line", lines[0])
        again = gemm(int(words[2]), "--check", *words[5:])
        keys = ["m", "n", "k", "type", "transa", "transb", "alpha", "beta", "grid", "layout"]
        different = [(key, first[key], again[key]) for key in keys if first[key] != again[key]]
        if first["type"] == "s":  # 0.1 is rounded to single precision
            different = [d for d in different if d[0] not in ("alpha", "beta") or not math.isclose(d[1], d[2],
                                                                                                   rel_tol=1e-7)]
        ok(not different, "  the same product", different)


def test_formats():
    process = bench(2, "gemm -m 64 --reps 2 --format csv")
    row, *others = csv_rows(process)
    prints(process, "csv: a header and one row", row["contender"] == "hsumma" and None not in row and not others and
           float(row["median_s"]) > 0 and row["plan"] and [row["api"], row["calls"]] == ["plan", "1"])
    process = bench(2, "gemm -m 64 --reps 2")
    text = process.stdout
    prints(process, "the table", "GFLOP/s" in text and "passed" in text and "nan" not in text)


def test_phases():
    """After a run the report has predicted and measured phases."""
    for ranks, line in [(1, ""), (2, "--node messages --lookahead 0"), (2, "--lookahead 2"), (2, ""),
                        (4, "--stationary A --node messages")]:
        report = gemm(ranks, "-m 200 --nb 16 " + line)
        bad = phase_complaints(report)
        ok(not bad, "  communication, GEMM, copies and all: predicted, measured, and the ratio", *bad, report["phases"])
    report = gemm(2, "-m 64 --nb 16 --api call")
    ok(report["phases"]["gemm"]["measured_s"] is None and number(report["phases"]["all"]["ratio"]),
       "  of a call only all of it was measured", report["phases"])
    text = bench(2, "gemm -m 64 --reps 2 --nb 16").stdout
    rows = {line.split()[0]: line.split()[1:4] for line in text[text.find("\nphase "):].splitlines()[3:7]}
    ok(list(rows) == ["communication", "GEMM", "copies", "all"] and all(len(row) == 3 for row in rows.values()),
       "  as a table", text)


def test_link():
    """--link: the bytes that must enter the nodes, and times relative to the link plus the GEMM alone."""
    line = "-m 64 -n 48 -k 32 --nb 8 --grid 2x2 --stationary C --link 100kbit --topology nodes:"
    for nodes, args, bytes_of_nodes in [
            (2, "", [2 * 24 * 16 * 8] * 2),  # half of B, because a node has a row of the grid
            (2, "--order C --type z", [2 * 32 * 16 * 16] * 2),  # half of A
            (4, "--api call", [(24 + 32) * 16 * 8] * 4), (1, "", [0])]:
        report = gemm(4, line + str(nodes), *args.split(), "--compare", "plan")
        link, other = report["link"], report["contenders"]["plan"]
        ok(link["must_enter_bytes"] == bytes_of_nodes and math.isclose(link["link_s"], max(bytes_of_nodes) * 8 / 1e5)
           and len(link["link_and_gemm_s"]) == 2 and min(link["link_and_gemm_s"]) > link["link_s"],
           f"  what must enter {nodes} nodes, and the time of that", link)
        for one in (report, other):
            ratios = [time / least for time, least in zip(one["times_s"], link["link_and_gemm_s"])]
            ok(math.isclose(one["of_link"], sum(ratios) / 2, rel_tol=1e-6) and math.isclose(
                one["of_link_min"], min(ratios), rel_tol=1e-6), "  times over it", one["of_link"], ratios)
    report = gemm(3, "-m 3 --nb 1 --grid 2x1 --link 1mbit")  # one rank is not in the grid
    ok(number(report["of_link"]), "  of a part of the ranks", report["link"])
    report = gemm(2, "-m 40")
    ok("link" not in report and "of_link" not in report, "  only if asked", report)
    rows = csv_rows(bench(2, "gemm -m 64 --reps 2 --link 1gbit --format csv"))
    ok(float(rows[0]["of_link"]) > 0, "  as csv", rows)
    text = bench(2, "gemm -m 64 --reps 2 --link 1gbit --topology nodes:2").stdout
    ok("  of link " in text and " must enter the busiest node: " in text, "  as a table", text)


def test_plan():
    """The plan's line as options gives the same plan."""
    report = gemm(4, "-m 96 --nb 8 --groups 1x2 --block 8 --outer 16 --lookahead 0")
    again = gemm(4, "-m 96 --nb 8 " + options_of(report["plan"]))
    ok(again["plan"] == report["plan"], "  the same plan", report["plan"], again["plan"])


def test_scalapack():
    if not has_scalapack():
        refuses(bench(2, "gemm --compare scalapack"), "--compare scalapack without ScaLAPACK")
        return
    for ranks, line in [(1, "--type s"), (2, "--type z --transa C"), (3, "--grid 2x1"), (4, "--nb checkerboard --beta 1"),
                        (4, "--layout mb=8,nb=8,i=8,j=8 --order C")]:
        report = gemm(ranks, "-m 64 -k 80 --nb 8 --compare scalapack --check " + line)
        other = report["contenders"]["scalapack"]
        bad = [key for key in REALS + ["ratio", "ratio_min", "ratio_max"] if not number(other.get(key))]
        ok(not bad and other["passed"] and isinstance(other["plan"], str) and other["ratio"] == report["ratio"]
           and other["ratio_min"] <= other["ratio"] <= other["ratio_max"], "  the contender's block and the ratio", bad,
           other)
    process = bench(2, "gemm -m 64 --reps 2 --compare scalapack --format csv")
    ok([row["contender"] for row in csv_rows(process)] == ["hsumma", "scalapack"], "csv: a row for each contender",
       *said(process))


def test_compare():
    """Several contenders in one run: the rounds of each, the shares of time, and the GEMM rate as requested."""
    names = ["plan", "call", "shared"] + (["pdgemm", "scalapack"] if has_scalapack() else [])
    for ranks, line in [(1, ""), (2, "--type c --calls 3"), (4, "--beta 0.5 --calls 2"), (3, "--grid 2x1 --api call")]:
        report = gemm(ranks, f"-m 61 -n 43 -k 57 --nb 8 --check --compare {','.join(names)} --gemm-threads 3 {line}")
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
    rate = gemm(2, "-m 60 -n 40 -k 30 --nb 10 --gemm-local --grid 2x1")["gemm_rate"]
    ok([rate[key] for key in ("m", "n", "k", "threads")] == [30, 40, 30, 1], "  the GEMM rate of a part", rate)
    text = bench(2, "gemm -m 64 --reps 2 --compare shared,call").stdout
    ok(text.count("% of the ranks' time") == 2 and "\nratio      shared / hsumma" in text, "the table says so", text)


def compare_node(build, mpiexec, *args):
    return subprocess.run([sys.executable, os.path.join("scripts", "compare-node"), "--build", build, "--mpiexec",
                           mpiexec, *args], capture_output=True, text=True, timeout=300)


def test_compare_node():
    """scripts/compare-node: its tables; its exit status if a result is wrong, and if a run fails."""
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
            for name, text in [("mpiexec", 'shift 2\nexec "$@"'), ("hsumma", f"echo '{output}'")]:
                os.chmod(write(f"#!/bin/sh\n{text}\n", scratch, name), 0o755)
            process = compare_node(scratch, os.path.join(scratch, "mpiexec"), "--ranks", "1", "--rows", "256", "--parts",
                                "table")
            ok(process.returncode == 1 and word in process.stdout, f"compare-node fails: {word}", *said(process))


def test_errors():
    """Errors: one line on stderr, nothing on stdout, exit status 2."""
    for args in ("--grid 2x2", "--grid 0x2", "--nb 0", "--nb -3", "--bcast no-such-algorithm", "--groups 1x3", "--groups 3",
                 "--block 0", "--stationary D", "--no-such-option", "--type", "--type q", "--transa X", "--reps 0",
                 "--api fast", "--calls 0", "--calls 2 --beta 1.5", "--layout-c rsrc=-2", "--layout-a i=-1", "-m -1",
                 "--compare plan,,other", "--compare=", "--gemm-threads 0", "--alpha (1,2)", "--compare other",
                 "--format xml", "--link 1", "--link 0gbit", "--link 1gbits", "--layout imb=0", "--layout-a rsrc=5", "--layout depth=1", "--plant-error 1e-9",
                 "-m 8 --plant-error 1@8,0", "operand", "-m 100G"):
        refuses(bench(2, "gemm -m 64 " + args), "gemm " + args)
    for args, words in (("--layot mb=64", "no option --layot; did you mean --layout?"), ("--best=1 --lay mb=64", "no value"),
                        ("--layout- mb=3", "short for several options: --layout-a, --layout-b, --layout-c"),
                        ("--bcast van_de_gejn", "did you mean van_de_geijn?"), ("--format jsn", "did you mean json?"),
                        ("--node shard", "did you mean shared?"), ("--nb checkerbord", "did you mean checkerboard?"),
                        ("--layout mb=64,imbb=3", "did you mean imb?"), ("--layout-a mb=0", "the others at least 0\n"),
                        ("--type doubel", "expected"), ("--transa NTT", "--transa NTT: expected N, T or C\n"),
                        ("--compare plan,sharde", "did you mean shared?"), ("--calls 2 --beta 1.5", "|beta| = 1.5"),
                        ("--layout-a rsrc=5", "--layout of A: rsrc=5: expected -1 to 0"),
                        ("--layout-b m=60,i=3", "--layout of B: m=60: expected at least 67"), ("--grid 3x2", "needs 6 ranks, there are 2; start with mpiexec -n 6"),
                        ("--reps 0", "expected"), ("-m -1", "at least 0"), ("--block 0", "1 to 2^31 - 1")):
        refuses(bench(2, "gemm -m 64 " + args), "gemm " + args, words)
    process = bench(2, "gemm -m 64 --reps 1", env={**os.environ, "HSUMMA_LOKAHEAD": "2", "HSUMMA_LOOKAHEAD": "1", "HSUMMA_OF_MINE": "3"})
    ok(process.returncode == 0 and process.stderr.splitlines() ==
       ["hsumma: warning: HSUMMA_LOKAHEAD in the environment has no effect; did you mean HSUMMA_LOOKAHEAD?"],
       "a misspelt variable: said once, where a known one is meant", *said(process))
    refuses(bench(2, "gem -m 64"), "hsumma gem", "unknown command gem; did you mean gemm?")
    for line in ("sweep --groups 1x1", "sweep -m 8 --first 9", "sweep --first 0", "sweep --levels 1x1", "sweep --plot /no/such/directory/x.svg", "no-such-command", ""):
        refuses(bench(2, line), "hsumma " + line)


def groupings(rows, cols):
    return sorted(f"{i}x{j}" for i in range(1, rows + 1) for j in range(1, cols + 1) if rows % i == 0 and cols % j == 0)


def chosen_groups(plan):
    """The groups in the line of a plan or candidate; "1x1" for SUMMA."""
    words = words_of(plan["plan"])
    return words.get("levels", words.get("groups", "1x1"))


def test_sweep():
    for ranks, grid in [(1, (1, 1)), (2, (1, 2)), (3, (3, 1)), (4, (2, 2)), (4, (1, 4))]:
        report = report_of(ranks, "sweep -m 64 --nb 8 --reps 2 --check --grid %dx%d" % grid)
        found = sorted(c["groups"] for c in report["hsumma"])
        every = [report["summa"], *report["hsumma"]]
        good = all(number(c[key]) for c in every for key in ("median_s", "comm_s", "ratio", "predicted_s",
                                                             "predicted_comm_s")) and all(c["passed"] for c in every)
        least = {c["g"]: min(other["median_s"] for other in report["hsumma"] if other["g"] == c["g"]) for c in every[1:]}
        good = good and [c["median_s"] for c in every[1:] if c["best_of_g"]] == [least[g] for g in sorted(least)]
        good = good and [c["median_s"] for c in every[1:] if c["best"]] == [min(least.values())]
        good = good and [chosen_groups(c) for c in every if c["chosen"]] == [chosen_groups(report["automatic"])]
        ok(good and found == groupings(*grid),
           "sweep of a %d x %d grid: every grouping once, the best of each G marked" % grid, found, report)
    with tempfile.TemporaryDirectory() as scratch:  # messages are expensive: van de Geijn in two steps of two is best
        profile = write("hsumma profile 1\nnode.alpha_s 1e-3\nnetwork.alpha_s 1e-3\nend\n", scratch, "profile")
        report = report_of(4, "sweep -m 64 --nb 8 --reps 1 --grid 1x4 --bcast van_de_geijn --block 8 --outer 8 "
                           "--lookahead 0 --stationary C", "--profile", profile)
    every = [report["summa"], *report["hsumma"]]
    times = {chosen_groups(c): c["predicted_comm_s"] for c in every}
    found = [c.get("groups") for c in every if c["chosen"]]
    # log2(q) + q - 1 messages for each of 8 panels; the time for their bytes is negligible
    ok(found == ["1x2"] and all(math.isclose(times[groups], 8 * messages * 1e-3, rel_tol=1e-3)
                                for groups, messages in (("1x1", 5), ("1x2", 4))),
       "the row of the automatic choice is marked", found, times, report)
    # the first 32 of 256 indices: the panels, and so the messages, of an eighth of the product; the result is checked
    line = "sweep -m 64 -k 256 --nb checkerboard --reps 1 --grid 2x2 --block 4 --outer 16 --lookahead 0 --bcast flat --node messages --stationary C"
    whole, part = report_of(4, line), report_of(4, line + " --check --first 32")
    ok(part["k"] == 32 and all(one["passed"] for one in part["hsumma"]) and
       [8 * row["messages_per_rank_max"] for row in part["hsumma"]] == [2 * row["messages_per_rank_max"] for row in whole["hsumma"]],
       "sweep --first 32: the panels of the first owners", part, whole)
    process = bench(2, "sweep -m 32 --nb 8 --reps 1")
    rows = [line for line in process.stdout.splitlines() if ["1x2", "2"] in (line.split()[:2], line.split()[1:3])]
    prints(process, "sweep as a table", len(rows) == 1 and process.stdout.count("<- chosen") == 1 and
           "\nautomatic " in process.stdout)
    process = bench(2, "sweep -m 32 --nb 8 --reps 1 --format csv")
    rows = csv_rows(process)
    prints(process, "sweep as csv", [row["candidate"] for row in rows] == ["SUMMA", "HSUMMA", "HSUMMA"] and
           all(None not in row and None not in row.values() and float(row["predicted_s"]) > 0 for row in rows) and
           [row["chosen"] for row in rows].count("true") == 1)


def test_plot():
    draws("sweep -m 48 --nb 8 --reps 2", ("HSUMMA, communication", "model, total", "model, communication",
                                          "automatic choice"))


TESTS = (test_help, test_errors, test_products, test_planted, test_replicated, test_calls, test_api, test_replay,
         test_formats, test_phases, test_link, test_plan, test_scalapack, test_compare, test_compare_node, test_sweep, test_plot)

if __name__ == "__main__":
    sys.exit(run(*TESTS, names=sys.argv[1:]))
