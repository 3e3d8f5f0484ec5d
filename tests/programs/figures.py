"""TAP: benchmarks/papers/figures.py: pages and drawings follow the kept data; models are computed anew; changes and wrong
calls are found.

Environment: that of launch.py.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from launch import BUILD, ROOT
from tap import ok, run, skip

TOOL = os.path.join("benchmarks", "papers", "figures.py")
DATA = os.path.join("doc", "results", "papers")


def figures(tree, *arguments):
    return subprocess.run([sys.executable, "-B", os.path.join(tree, TOOL), *arguments], capture_output=True, text=True, timeout=500,
                          env={**os.environ, "BUILD": BUILD})


def change(path, old, new):
    """Replaces the first match of a pattern in a file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(old, new, text, count=1))


def main():
    if not shutil.which("gnuplot"):
        skip("figures of the papers", "gnuplot is not installed")
        return
    checked = figures(ROOT, "--check")
    ok(checked.returncode == 0, "pages and drawings follow the kept data", checked.stderr)
    with tempfile.TemporaryDirectory() as tree:
        for path in (os.path.dirname(TOOL), DATA, "scripts", "tests"):
            if path in ("scripts", "tests"):
                os.symlink(os.path.join(ROOT, path), os.path.join(tree, path))
            else:
                shutil.copytree(os.path.join(ROOT, path), os.path.join(tree, path))
        fresh = figures(tree, "--fresh", "model")
        ok(fresh.returncode == 0, "figures of models are computed anew",
           *(line for line in fresh.stderr.splitlines() if line.startswith("figures: ")))
        data = os.path.join(tree, DATA)
        name = sorted(name for name in os.listdir(data) if name.endswith(".csv"))[0]
        change(os.path.join(data, name), r"(?m)^((?!#).*,)([\d.e+-]+)$", r"\g<1>123.4")
        found = figures(tree, "--check")
        ok(found.returncode == 1 and "not up to date" in found.stderr, "a changed figure is found", found.stderr)
    for arguments, says in ((["--fresh", "guess"], "expected kinds"), (["--only", "none_of_them"], "no figure has such a name")):
        said = figures(ROOT, *arguments)
        ok(said.returncode == 2 and says in said.stderr, f"{' '.join(arguments)} is refused", said.stderr)


sys.exit(run(main))
