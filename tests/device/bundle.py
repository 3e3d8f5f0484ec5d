"""TAP: scripts/bundle: the size of the bundle; that it needs no libraries of this machine but those of C and gcc; that
run-gpu-checks reports what passes and fails, with the stand-in as the device.

Environment: BUILD (with the command and the tests), MPI.
"""
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from command import said
from launch import BUILD, ROOT
from tap import done, ok, skip

LARGEST = 60e6
SYSTEM = re.compile(r"linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|util)\.so|libgcc_s|libstdc\+\+")
CLEAN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}


def run(*command, cwd="/", env=None, seconds=300):
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, cwd=cwd, env=env or CLEAN)


def why_not():
    """The reason why a bundle cannot be made here; None if it can."""
    if os.environ.get("MPI", "mpich") != "mpich":
        return "a bundle is of MPICH"
    for tool in ("mpiexec.hydra", "hydra_pmi_proxy", "ldd", "strip", "gzip"):
        if not shutil.which(tool):
            return f"no {tool}"
    return "a build with sanitizers" if os.environ.get("SANITIZE") else None


def test_foreign_libraries(bundle):
    """With the bundle's directory first, only the C library and gcc's own libraries come from elsewhere."""
    programs = [os.path.join(bundle, where, name) for where in ("bin", "tests")
                for name in os.listdir(os.path.join(bundle, where))]
    foreign = set()
    for program in programs:
        process = run("ldd", program, env={**CLEAN, "LD_LIBRARY_PATH": os.path.join(bundle, "lib")})
        foreign |= {line.strip() for line in process.stdout.splitlines()
                    if not SYSTEM.search(line) and f"=> {bundle}/lib/" not in line}
    ok(len(programs) >= 4 and not foreign, "programs find their libraries in the bundle", programs, foreign)


def test_help_and_errors(bundle):
    checks = os.path.join(bundle, "run-gpu-checks")
    process = run(checks, "--help")
    ok(process.returncode == 0 and "--device cuda|host" in process.stdout, "run-gpu-checks --help", *said(process))
    for args in (["--device", "gpu"], ["--minutes", "x"], ["--what"]):
        process = run(checks, *args)
        ok(process.returncode == 2 and not process.stdout and len(process.stderr.splitlines()) == 1,
           "refused: run-gpu-checks " + " ".join(args), *said(process))


def hidden(command):
    """The command with this machine's MPICH, OpenBLAS and what they load made unreadable, and True; where that is not
    possible, the unchanged command and False."""
    places = [os.path.join(where, name) for where in {os.path.realpath(path) for path in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64")}
              if os.path.isdir(where) for name in sorted(os.listdir(where))
              if re.match(r"lib(mpich|openblas|ucp|uct|ucs|jansson|hwloc|scalapack-mpich)\.so\.", name)]
    places = sorted({os.path.realpath(place) for place in places})
    script = "".join(f"mount --bind /dev/null '{place}' && " for place in places) + 'exec "$@"'
    if run("unshare", "-m", "sh", "-c", script, "sh", "true").returncode == 0 and places:
        return ["unshare", "-m", "sh", "-c", script, "sh", *command], True
    return command, False


def test_checks(bundle, scratch):
    with open(os.path.join(bundle, "suite"), "w") as file:  # the other tests have their own lines in the suite
        file.write("0 120 device_unit_device\n")
    out = os.path.join(scratch, "with space", "out")
    command, alone = hidden([os.path.join(bundle, "run-gpu-checks"), "--device", "host", "--only",
                             "tests,allreduce,gemm,calibrate", "--minutes", "12", out])
    process = run(*command, cwd=scratch, seconds=750)
    files = sorted(os.listdir(out)) if os.path.isdir(out) else []
    summary = open(os.path.join(out, "summary.md")).read() if "summary.md" in files else ""
    last = summary.strip().splitlines()[-1:] or [""]
    ok(process.returncode == 0 and re.match(r"[1-9]\d* steps passed, 0 failed, \d+ not run", last[0]),
       "run-gpu-checks --device host" + (", with no MPICH nor OpenBLAS but the bundle's" if alone else ""),
       *said(process), summary[-4000:])
    ok({"summary.md", "log.txt", "results.tar.gz", "profile"} <= set(files) and len(files) <= 8
       and all(os.path.getsize(os.path.join(out, name)) < 16e6 for name in files), "  few files, and small", files)
    rows = dict(re.findall(r"^\| (\S+) \| ([^|]*) \|", summary, re.M))
    ok(rows.get("device_unit_device", "").startswith("passed") and {"allreduce-4", "gemm-double-2", "gemm-float-4", "calibrate"} <=
       set(rows), "  every step has its line", rows)
    ok("MPI_Allreduce" in summary and "floor      copies" in summary and "GEMM, double" in summary,
       "  figures are in the summary", summary)
    if not alone:
        skip("  without this machine's libraries", "no mount namespaces here")


def test_failures(bundle, scratch):
    """A test that fails or does not end is reported, and the following steps still run."""
    copy = os.path.join(scratch, "copy")
    shutil.copytree(bundle, copy, symlinks=True)
    for name, text in (("device_unit_device", "echo '1..2'; echo 'ok 1'; echo 'not ok 2 - it is wrong'; exit 1"),
                       ("unit_slow", "sleep 60"), ("unit_crash", "kill -SEGV $$"),
                       ("unit_skip", "echo '1..0 # SKIP nothing here'")):
        path = os.path.join(copy, "tests", name)
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
    with open(os.path.join(copy, "suite"), "w") as file:
        file.write("0 9 device_unit_device\n0 2 unit_slow\n0 9 unit_crash\n0 9 unit_skip\n0 9 device_unit_device again\n")
    out = os.path.join(scratch, "failures")
    process = run(os.path.join(copy, "run-gpu-checks"), "--device", "host", "--only", "tests", out)
    summary = open(os.path.join(out, "summary.md")).read()
    rows = dict(re.findall(r"^\| (\S+) \| ([^|]*) \|", summary, re.M))
    ok(process.returncode == 1 and rows.get("device_unit_device", "").startswith("FAILED: 1 of 2")
       and rows.get("unit_slow", "").startswith("FAILED: stopped after") and rows.get("unit_crash", "").startswith("FAILED: exit")
       and rows.get("unit_skip") == "skipped: nothing here" and rows.get("device_unit_device-again", "").startswith("FAILED")
       and "1 steps passed, 4 failed, 1 not run" in summary, "failures are told, and stop nothing", *said(process), summary)
    ok("it is wrong" in open(os.path.join(out, "log.txt")).read(), "  the log has what was printed")


def main():
    reason = why_not()
    if reason:
        skip("the bundle", reason)
        return done()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = os.path.realpath(scratch)
        archive = os.path.join(scratch, "b.tar.gz")
        process = run(os.path.join(ROOT, "scripts", "bundle"), "--build", BUILD, "-o", archive, env=dict(os.environ))
        size = os.path.getsize(archive) if os.path.exists(archive) else 0
        if not ok(process.returncode == 0 and 0 < size < LARGEST, "a bundle of less than 60 MB", size, *said(process)):
            return done()
        with tarfile.open(archive) as tar:
            tar.extractall(scratch)
        bundle = os.path.join(scratch, "bundle")
        test_foreign_libraries(bundle)
        test_help_and_errors(bundle)
        test_checks(bundle, scratch)
        test_failures(bundle, scratch)
        process = run(os.path.join(ROOT, "scripts", "bundle"), "--build", scratch, "-o", archive, env=dict(os.environ))
        ok(process.returncode == 2 and len(process.stderr.splitlines()) == 1, "refused: no build", *said(process))
    return done()


if __name__ == "__main__":
    sys.exit(main())
