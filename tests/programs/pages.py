"""TAP: README.md and the pages of doc/: their commands run, their links and figures exist, each page names its reader.

A block of commands after "<!-- run REGEX -->" runs from the top of a tree, in the order of the page; its output must
match. mpiexec.mpich and mpicc.mpich in it stand for those of the tested MPI; programs get at most four ranks, and
measurements of a machine one.
Environment: that of launch.py.
"""
import functools
import glob
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import python_venv
from command import commands, has_scalapack, read, said
from launch import BUILD, MPI, MPIEXEC, ROOT
from tap import ok, run, skip

BLOCK = re.compile(r"^<!-- run ?([^\n]*?) ?-->\n```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
WRAPPERS = {
    "mpiexec.mpich": """n=$2; shift 2
[ "$1" != -ppn ] || shift 2
[ "$n" -le 4 ] || n=4
case "$*" in *"hsumma calibrate"*) n=1; set -- "$@" --quick ;; esac
preload=$LD_PRELOAD; unset LD_PRELOAD
[ ! -e "$YIELD" ] || preload=${preload:+$preload:}$YIELD
exec $LAUNCHER -n "$n" env ${preload:+LD_PRELOAD=$preload} "$@"
""",
    "mpicc.mpich": f'exec {shutil.which("mpicc." + MPI) or "mpicc"} "$@"\n',
    "mpifort.mpich": f"""for word; do # another MPI has a ScaLAPACK of its own
    shift; case $word in -lscalapack-mpich) word=-lscalapack-{MPI} ;; esac; set -- "$@" "$word"; done
exec {shutil.which("mpifort." + MPI) or "mpifort"} "$@"
""",
    "pip": f'exec {python_venv.PYTHON} -m pip "$@"\n',
    "your_program": 'exec build/hsumma gemm --api scalapack -m 256 --check --explain 1\n',
}


def page(name):
    return read(ROOT, name)


def pages():
    return ["README.md", "CONTRIBUTING.md", *sorted(os.path.relpath(path, ROOT) for path in
                                                    glob.glob(os.path.join(ROOT, "doc", "**", "*.md"), recursive=True))]


def script(text, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
        os.fchmod(file.fileno(), stat.S_IRWXU)


def tree(scratch):
    """Makes the files that the commands of pages need: the tree, the build, two matrices, a ScaLAPACK program."""
    for name in ("examples", "include", "fortran", "scripts"):
        if os.path.exists(os.path.join(ROOT, name)):
            os.symlink(os.path.join(ROOT, name), os.path.join(scratch, name))
    shutil.copytree(os.path.join(ROOT, "python"), os.path.join(scratch, "python"))  # pip writes there
    os.symlink(BUILD, os.path.join(scratch, "build"))
    os.mkdir(os.path.join(scratch, "bin"))
    for name, text in WRAPPERS.items():
        script(text, scratch, name if name == "your_program" else os.path.join("bin", name))
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (8, 8), }".ljust(117) + "\n"
    for name in ("A.npy", "B.npy"):
        with open(os.path.join(scratch, name), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(8 * 8 * 8))


def lacks_scalapack():
    return "" if has_scalapack() else "no ScaLAPACK"


def lacks_fortran():
    return "" if os.path.exists(os.path.join(BUILD, "hsumma.mod")) else "built without gfortran"


def lacks_python():
    try:
        python_venv.make()
    except python_venv.Missing as error:
        return str(error)
    WRAPPERS["python3"] = f'exec env {" ".join(python_venv.settings())} {python_venv.PYTHON} "$@"\n'
    return ""


# Requirements of blocks that match an expression; the costly ones are checked only once.
NEEDS = {re.compile("scalapack"): lacks_scalapack, re.compile("mpifort"): lacks_fortran,
         re.compile(r"\b(?:python3|pip)\b"): functools.cache(lacks_python)}


def test_commands():
    settings = {"YIELD": os.path.join(BUILD, "tests", "mpich_yield.so") if MPI == "mpich" else "",
                "LAUNCHER": " ".join([shutil.which(MPIEXEC[0]), *MPIEXEC[1:]])}
    for name in pages():
        blocks = BLOCK.findall(page(name))
        if not blocks:
            continue
        needs = {word: why() for word, why in NEEDS.items() if any(word.search(commands) for _, commands in blocks)}
        with tempfile.TemporaryDirectory() as scratch:
            tree(scratch)
            environment = {**os.environ, **settings, "PATH": f"{scratch}/bin:{os.environ['PATH']}",
                           "XDG_CONFIG_HOME": f"{scratch}/config"}
            for expected, commands in blocks:
                first = commands.splitlines()[0]
                lacking = [reason for word, reason in needs.items() if reason and word.search(commands)]
                if lacking:
                    skip(f"{name}: {first}", lacking[0])
                    continue
                process = subprocess.run(["bash", "-e", "-c", commands], cwd=scratch, env=environment,
                                         capture_output=True, text=True)
                ok(process.returncode == 0 and re.search(expected, process.stdout + process.stderr, re.MULTILINE),
                   f"{name}: {first}", f"expected {expected}", *said(process))


def anchors(name):
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)", FENCE.sub("", page(name)), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_anchors():
    lost = []
    for name in pages():
        for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", FENCE.sub("", page(name))):
            path = os.path.normpath(os.path.join(os.path.dirname(name), target)) if target else name
            if path.endswith(".md") and anchor not in anchors(path):
                lost.append(f"{name}: {target}#{anchor}")
    ok(not lost, "links to headings find them", *lost)


def test_links():
    """Relative links and pictures lead to files; an index links every page of doc/."""
    linked = set()
    for name in pages():
        text = re.sub(r"^```.*?^```", "", page(name), flags=re.DOTALL | re.MULTILINE)
        targets = [target for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in target]
        targets = [os.path.normpath(os.path.join(os.path.dirname(name), target)) for target in targets]
        if name.endswith("README.md"):
            linked.update(targets)
        missing = [target for target in targets if not os.path.exists(os.path.join(ROOT, target))]
        ok(not missing, f"links of {name}", *missing)
    unlisted = [name for name in pages() if name not in linked and name != "README.md"]
    ok(not unlisted, "README.md, doc/README.md and doc/results/README.md link to all pages", *unlisted)


def test_readers():
    text = page("README.md")
    ok(len(text.splitlines()) <= 120, "README.md has at most 120 lines")
    silent = [name for name in pages() if not re.match(r"# .*\n\n\*For .*?\*\n\n", page(name))]
    ok(not silent, "all pages name their readers in the first line, *For ...*", *silent)


def test_figure():
    process = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "plot-pdgemm"), "--check"],
                             capture_output=True, text=True, timeout=60)
    ok(process.returncode == 0, "README.md's figure is drawn from the table", process.stdout, process.stderr)


def test_complete():
    """Lists written by hand are complete."""
    missing = [name for name in commands() if f"`hsumma {name}`" not in page("doc/command.md")]
    ok(commands() and not missing, "doc/command.md has all commands", *missing)
    sources = glob.glob(os.path.join(ROOT, "src", "**", "*.[ch]"), recursive=True)
    sources += glob.glob(os.path.join(ROOT, "benchmarks", "**", "*.c"), recursive=True)
    names = {name for source in sources for name in re.findall(r'hs_environment\("(\w+)"\)', page(source))}
    missing = [name for name in names if f"`{name}`" not in page("doc/reference.md")]
    ok(names and not missing, "doc/reference.md has all variables of the environment", *missing)
    targets = set(re.findall(r"^([a-z][a-z-]*):", page("Makefile"), re.MULTILINE))
    asked = set()
    for name in pages():
        code = re.findall(r"`(make [^`\n]*)`", page(name))
        code += [line for block in FENCE.findall(page(name)) for line in block.splitlines() if line.startswith("make ")]
        words = [word for line in code for word in line.split("#")[0].split()[1:] if re.fullmatch(r"[a-z][a-z-]*", word)]
        asked.update((name, word) for word in words)
    missing = [f"{name}: make {target}" for name, target in sorted(asked) if target not in targets]
    ok(asked and not missing, "targets of make that pages name", *missing)


if __name__ == "__main__":
    sys.exit(run(test_commands, test_links, test_anchors, test_readers, test_figure, test_complete))
