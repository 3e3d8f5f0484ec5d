"""TAP: "hsumma explain --model": the machine of the HSUMMA paper (ICPP 2013) against its formulas, up to 2^20 processes.

Environment: that of launch.py.
"""
import math
import sys

from command import explain, prints, refuses, table
from tap import ok, run

PAPER = "--nb checkerboard --bcast van_de_geijn --lookahead 0 --stationary C --panels 0"


def lines_cost(q, steps, block, n, p, alpha, beta):
    """One operand's broadcasts along lines of q processes, by Table II; beta per element."""
    return steps * ((math.log2(q) + q - 1) * alpha + 2 * (1 - 1 / q) * n * block / math.sqrt(p) * beta) if q > 1 else 0


def hsumma(n, p, side, block, outer, alpha, beta):
    """Communication with side x side groups, by Table II; side = 1: SUMMA."""
    return 2 * (lines_cost(side, n / outer, outer, n, p, alpha, beta) +
                lines_cost(math.sqrt(p) / side, n / block, block, n, p, alpha, beta))


def test_table():
    for n, p, block, outer, alpha, beta, per in [(8192, 64, 64, 64, 1e-4, 1e-9, "element_"), (8192, 64, 64, 256, 1e-4, 1e-9, ""),
                                                 (65536, 1024, 256, 1024, 3e-6, 1e-9, "element_"),
                                                 (65536, 16384, 256, 256, 3e-6, 1e-9, "element_")]:
        q = math.isqrt(p)
        report = explain(f"--model alpha={alpha},{per}beta={beta},gamma=2e-10 -m {n} --grid {q}x{q} --block {block} --outer {outer} "
                         f"--workspace-limit 4G --show groups {PAPER}")
        element = beta if per else 8 * beta
        off = [h["groups"] for h in report["hierarchies"] if h["groups"][0] == h["groups"][1] and not math.isclose(
            h["predicted_comm_s"], hsumma(n, p, h["groups"][0], block, outer, alpha, element), rel_tol=1e-9)]
        ok(not off and len(report["hierarchies"]) > 9, f"Table II: n {n}, p {p}, b {block}, B {outer}, beta per "
           f"{'element' if per else 'byte'}", off)
        ok(math.isclose(report["predicted_gemm_s"], 2e-10 * n ** 3 / p, rel_tol=1e-9) and report["nodes"] == p and
           report["predicted_copy_s"] == 0, "  gamma n^3/p for the multiplications", report["predicted_gemm_s"])
        found = report["condition"]
        ok(math.isclose(found["alpha_beta_per_element"], alpha / element) and found["threshold"] == 2 * n * block / p and
           found["minimum_per_element"] == (alpha / element > 2 * n * block / p), "  the condition", found)


def test_exascale():
    """Section V-C, in as many seconds as the time limit of this test allows."""
    for beta, element in (("beta", 8e-11), ("element_beta", 1e-11)):  # 100 GB/s, and 1e-11 s per element
        line = f"--model alpha=500e-9,{beta}=1e-11,gamma=2e-12 -m 4M --grid 1024x1024 --block 256 {PAPER}"
        for groups, side in (("1x1", 1), ("32x32", 32)):
            is_now = explain(f"{line} --groups {groups}")["predicted_comm_s"]
            want = hsumma(1 << 22, 1 << 20, side, 256, 256, 500e-9, element)
            ok(math.isclose(is_now, want, rel_tol=1e-9), f"2^20 processes, {beta}, {groups} groups: {want:.3f} s", is_now)
    report = explain(f"--model alpha=500e-9,beta=1e-11 -m 4M --ranks 1048576 --block 256 {PAPER}")
    ok(report["whole_grid"] == [1024, 1024] and report["predicted_gemm_s"] == 0 and
       report["machine"]["flops"] is None, "--ranks 2^20 chooses a square grid", report["whole_grid"])


def test_output():
    line = f"--model alpha=1e-4,beta=1e-9 -m 8192 --grid 8x16 --block 64 {PAPER} --show "
    shown = [table(line + parts) for parts in ("groups", "plan,groups")]
    for process in shown:
        prints(process, "the condition is printed once", process.stdout.count("alpha/beta = 12500 with beta per element, 100000 per byte") == 1 and
               process.stdout.count("2nb/p = 8192 compares") == 1)
    prints(shown[1], "the model is named, and GEMM takes no time", "profile --model alpha=1e-4,beta=1e-9: " in shown[1].stdout
           and "GEMM takes no time" in shown[1].stdout)
    process = table("--collective allreduce --alg recursive_doubling --ranks 8 --bytes 1000 --model alpha=1,beta=1e-3,gamma=1e-2")
    prints(process, "a collective: 3 messages and 3 sums", "36 s" in process.stdout)


def test_refused():
    for model in ("alpha=1", "beta=1", "alpha=1,beta=1,element_beta=1", "alpha=1,beta=-1", "alpha=1,beta=x", "alpha=1,beta=",
                  "alpha=1,beta=1,", "alpha=1,alpha=2,beta=1", "alpha=1,delta=1", "", "alpha=1,beta=1e-9x", "alpha=inf,beta=1"):
        refuses(table(f"--model={model}"), f"--model {model!r}", head="hsumma: explain: ")
    refuses(table("--model alpha=1,beta=1 --profile builtin"), "--model with --profile", "--profile")


if __name__ == "__main__":
    sys.exit(run(test_table, test_exascale, test_output, test_refused, names=sys.argv[1:]))
