#!/usr/bin/env python3
"""Draws the figures and tables of the papers in doc/results/papers from kept data, and measures them again on request.

    figures.py [--fresh KIND,...] [--only REGEX] [--check] [--list]

Without --fresh, draws PAPER_FIGURE.svg for each PAPER_FIGURE.csv and updates the blocks "<!-- figure: NAME -->" to
"<!-- end -->" of the pages; nothing is measured. --fresh first runs the commands of these kinds and replaces their rows:
    model       the cost model: hsumma explain and unit tests; seconds
    simulated   scripts/hsumma_sim (make sim); minutes
    large       simulations that can take more than five minutes each, after make sim; an hour
    node        ranks on this machine
    emulated    scripts/emucluster, as root
    gpu         a machine with a GPU
    all         all of these but large
Rows of kind "paper" are points that the paper's own text gives; rows of kind "large" are shown as simulated. A run that fails
or cannot be made here is reported, and all rows of its kind are kept; a large run keeps only its own. --only selects figures
by name; --check changes nothing and fails if a page or a figure is not up to date.
The exit status is 1 if a run failed.

Each paper has a module beside this one, with a list FIGURES. Environment: BUILD (default: build).
"""
import argparse
import collections
import concurrent.futures
import csv
import datetime
import glob
import importlib
import io
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGES = os.path.join(ROOT, "doc", "results", "papers")
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
KINDS = ("paper", "model", "simulated", "large", "node", "emulated", "gpu")
SHOWN = {"large": "simulated"}  # how plots, tables and commands name a kind, if not by its own name
WORKERS = {"model": os.cpu_count(), "simulated": os.cpu_count()}  # runs at a time; others, which take time or memory for themselves: 1
LIMITS = {"large": 6 * 3600}  # seconds of a run without a limit of its own; other kinds: 1800
BLOCK = re.compile(r"<!-- figure: (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)
COLOURS = ("#2a86b5", "#cf5b36", "#3b9a66", "#a568bf", "#b98d12", "#77868f", "#c6568f", "#4f9fa0")  # on white and on black
DASHES = {"paper": 0, "model": 2}  # dash types of lines; paper: points alone
STYLE = ("<style>svg{color:#222;background:#fff}@media(prefers-color-scheme:dark){svg{color:#ddd;background:#111}}"
         "</style>")

# A command and how its output becomes rows. kind: one of KINDS. command: a list of words, or a string for sh, run in the
# top directory; "hsumma" and "build/..." are those of BUILD. read(stdout): yields a dict of columns for each row. row: columns that all
# of its rows share, and of a large run no other row. rows: for the kind "paper", the rows themselves. limit: in seconds.
Run = collections.namedtuple("Run", "kind command read row rows limit", defaults=(None, None, {}, (), None))

# A figure or table. name: PAPER_FIGURE. title: one line. x, y: (column, label). lines: the columns that name a line of the
# plot or a column of the table. runs: a list of Run, or a function that returns one. logx, logy: base of a logarithmic axis,
# or 0. plot: False for a table only. table: False for a plot only. style: "linespoints" or "bars". digits: in tables.
Figure = collections.namedtuple("Figure", "name title x y lines runs logx logy plot table style digits",
                                defaults=(0, 0, True, True, "linespoints", 4))


class Failed(Exception):
    """A run failed or cannot be made here; the text is a one-line reason."""


# --- data ------------------------------------------------------------------------------------------------------------

def path_of(figure, suffix):
    return os.path.join(PAGES, figure.name + suffix)


def runs_of(figure):
    return figure.runs() if callable(figure.runs) else figure.runs


def kept(figure):
    """The comments ({kind: text}) and rows of the figure's file."""
    try:
        with open(path_of(figure, ".csv"), encoding="utf-8") as file:
            text = file.read().splitlines()
    except FileNotFoundError:
        return {}, []
    notes = dict(line[2:].split(": ", 1) for line in text if line.startswith("# "))
    return notes, list(csv.DictReader(line for line in text if not line.startswith("#")))


def keep(figure, notes, rows):
    columns = ["kind", *figure.lines, figure.x[0], figure.y[0]]
    columns += [name for row in rows for name in row if name not in columns]
    columns = list(dict.fromkeys(columns))
    out = io.StringIO()
    for kind in KINDS:
        if kind in notes:
            out.write(f"# {kind}: {notes[kind]}\n")
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with open(path_of(figure, ".csv"), "w", encoding="utf-8") as file:
        file.write(out.getvalue())


def words_of(run):
    """The command of a run as text, as a reader would type it."""
    return run.command if isinstance(run.command, str) else shlex.join(map(str, run.command))


def emulated(cluster, command, settings=""):
    """The words of a command on an emulated cluster of its own. cluster: NODES PPN RATE DELAY_US of emucluster up; command: a
    subcommand of emucluster; settings: further variables of its environment."""
    return (f"export EMU_DIR=$(mktemp -d)/emu EMU_SCHED=group{settings and ' ' + settings}; scripts/emucluster up {cluster} >&2 && "
            f"scripts/emucluster {command}; result=$?; scripts/emucluster down >&2; exit $result")


def execute(run):
    """The rows of a run."""
    if run.kind == "emulated" and os.geteuid():
        raise Failed("needs root")
    command = re.sub(r"(?<![\w/-])(hsumma(?= )|build/)", lambda match: os.path.join(BUILD, match[1].removeprefix("build/")),
                     words_of(run))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HSUMMA_")}
    environment.update(BUILD=BUILD, HSUMMA_TUNED="none", HSUMMA_SIM_BENCH=os.path.join(BUILD, "sim", "hsumma"))
    limit = run.limit or LIMITS.get(run.kind, 1800)
    try:
        process = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True,
                                 timeout=limit, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Failed(f"stopped after {limit} s: {words_of(run)}") from None
    if process.returncode:
        raise Failed(f"{words_of(run)}: {(process.stderr.strip().splitlines() or ['exit code %d' % process.returncode])[-1]}")
    return [{"kind": run.kind, **run.row, **row} for row in run.read(process.stdout)]


def clocks():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def since(began):
    return "{:.0f} s, {:.0f} s of processor time".format(*(now - then for now, then in zip(clocks(), began)))


def attempt(figure, run):
    """The rows of a run; None if it failed."""
    print(f"  {figure.name}: {words_of(run)}", file=sys.stderr, flush=True)
    try:
        return execute(run)
    except (Failed, ValueError, KeyError, IndexError) as error:
        print(f"figures: {figure.name}, {run.kind}: {error if isinstance(error, Failed) else repr(error)}", file=sys.stderr)
        return None


def measure(figure, kinds):
    """Replaces the rows of these kinds; returns the number of failed runs."""
    notes, rows = kept(figure)
    failed = 0
    for kind in dict.fromkeys(run.kind for run in runs_of(figure)):
        mine = [run for run in runs_of(figure) if run.kind == kind]
        if kind == "paper":
            new = [{"kind": kind, **run.row, **row} for run in mine for row in run.rows]
        elif kind in kinds:
            new, began, missing = [], clocks(), 0
            with concurrent.futures.ThreadPoolExecutor(WORKERS.get(kind, 1)) as pool:
                results = list(pool.map(lambda run: attempt(figure, run), mine))
            for run, made in zip(mine, results):
                missing += made is None
                if made is None and kind == "large":
                    made = [row for row in rows if row["kind"] == kind and all(row[name] == str(run.row[name]) for name in run.row)]
                new += made or []
            failed += missing
            if missing and (kind != "large" or missing == len(mine)):
                continue
            notes[kind] = datetime.date.today().isoformat() + (", rows of failed runs earlier" if missing else "")
            print(f"figures: {figure.name}, {kind}: {since(began)}", file=sys.stderr, flush=True)
        else:
            continue
        rows = [row for row in rows if row["kind"] != kind] + new
    if rows:
        rows.sort(key=lambda row: KINDS.index(row["kind"]))
        keep(figure, notes, rows)
    return failed


# --- drawing ---------------------------------------------------------------------------------------------------------

def lines_of(figure, rows):
    """{(kind as shown, name): [(x, y)]} in the order of the rows; name: the values of the columns that name a line."""
    lines = {}
    for row in rows:
        if row[figure.x[0]] != "" and row[figure.y[0]] != "":
            name = ", ".join(row[column] for column in figure.lines if row.get(column))
            lines.setdefault((SHOWN.get(row["kind"], row["kind"]), name), []).append((row[figure.x[0]], float(row[figure.y[0]])))
    return lines


def label_of(figure, lines, kind, name):
    kinds = {kind for kind, _ in lines}
    return ", ".join(filter(None, [name, kind if len(kinds) > 1 or not name else ""]))


def draw(figure, lines):
    """The SVG of a figure."""
    quoted = lambda text: "'" + text.replace("'", "''") + "'"
    names = list(dict.fromkeys(name for _, name in lines))
    script = ["set terminal svg size 820,500 font 'sans-serif,13'", f"set title {quoted(figure.title)} noenhanced",
              f"set xlabel {quoted(figure.x[1])} noenhanced", f"set ylabel {quoted(figure.y[1])} noenhanced",
              "set border 3", "set tics nomirror", "set grid ytics lt 1 lc rgb '#88888855'", "set key outside right top noenhanced",
              "set datafile separator ','"]
    for axis, base in (("x", figure.logx), ("y", figure.logy)):
        script += [f"set logscale {axis} {base}"] if base else []
    if figure.logx == 2:
        script += ["set format x '%.0b%B'" if "byte" in figure.x[1] else "set format x '%.0f'"]
    if not figure.logy:
        script += ["set yrange [0:*]"]
    parts = []
    bars = figure.style == "bars"
    ticks = list(dict.fromkeys(x for points in lines.values() for x, _ in points))
    if bars:
        script += ["set style fill solid 0.8", f"set xtics ({', '.join(f'{quoted(x)} {i}' for i, x in enumerate(ticks))})",
                   f"set xrange [-0.6:{len(ticks) - 0.4}]"]
    for i, ((kind, name), points) in enumerate(lines.items()):
        colour = COLOURS[names.index(name) % len(COLOURS)]
        if bars:
            width = 0.8 / len(lines)
            data = [f"{ticks.index(x) + (i + 0.5) * width - 0.4},{y},{width * 0.9}" for x, y in points]
            how = f"using 1:2:3 with boxes lc rgb '{colour}'" + (" fs pattern 2" if kind == "paper" else "")
        else:
            data = [f"{x},{y}" for x, y in sorted(points, key=lambda point: float(point[0]))]
            how = (f"using 1:2 with points pt 7 ps 1.2 lc rgb '{colour}'" if kind == "paper" else
                   f"using 1:2 with linespoints pt {4 + names.index(name) % 10} ps 0.5 lw 2 dt {DASHES.get(kind, 1)} lc rgb '{colour}'")
        script += [f"$line{i} << EOD", *data, "EOD"]
        parts.append(f"$line{i} {how} title {quoted(label_of(figure, lines, kind, name))}")
    script += ["plot " + ", ".join(parts)]
    try:
        drawn = subprocess.run(["gnuplot"], input="\n".join(script) + "\n", capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("figures: gnuplot was not found; install it (scripts/deps --tests)")
    if drawn.returncode or "<svg" not in drawn.stdout:
        sys.exit(f"figures: {figure.name}: gnuplot: {drawn.stderr.strip()}")
    text = re.sub(r"<desc>.*?</desc>", "", drawn.stdout, flags=re.DOTALL)  # gnuplot's version
    text = text.replace("<title>Gnuplot</title>", f"<title>{figure.title.replace('&', '&amp;').replace('<', '&lt;')}</title>{STYLE}", 1)
    text = re.sub(r"""(stroke|fill)=(["'])black\2""", r'\1="currentColor"', text.replace('color="black"', ""))
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


def cell(value, digits):
    return f"{value:.{digits}g}" if abs(value) < 10 ** digits else f"{value:.0f}"


def table(figure, lines, rows):
    """The Markdown table of a figure: a row for each x, in the order of the rows, and a column for each line."""
    found = {x for points in lines.values() for x, _ in points}
    xs = [x for x in dict.fromkeys(row[figure.x[0]] for row in rows) if x in found]
    if all(re.fullmatch(r"[-+.\deE]+", x) for x in xs):
        xs.sort(key=float)
    head = [figure.x[1], *(label_of(figure, lines, *line) for line in lines)]
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for x in xs:
        values = [dict(points).get(x) for points in lines.values()]
        out.append("| " + " | ".join([x, *("" if value is None else cell(value, figure.digits) for value in values)]) + " |")
    return "\n".join(out)


def block(figure, notes, rows):
    """The text of a page for a figure: the drawing, the table, and when and how it was made."""
    lines = lines_of(figure, rows)
    parts = [f"![{figure.title}]({figure.name}.svg)"] if figure.plot else []
    if figure.table:
        parts.append(("" if figure.plot else f"**{figure.title}.** ") + f"{figure.y[1]}:\n\n" + table(figure, lines, rows))
    commands = {}
    for run in runs_of(figure):
        if run.kind != "paper" and run.kind in notes:
            commands.setdefault(run.kind, words_of(run))  # one of each kind; the module has all
    if commands:
        parts.append("```\n" + "\n".join(f"{command}    # {SHOWN.get(kind, kind)}, {notes[kind]}" for kind, command in commands.items()) + "\n```")
    return "\n\n".join(parts)


def put(path, text, check):
    """Writes a file if it changes; returns whether it did, or would."""
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return False
    except FileNotFoundError:
        pass
    if check:
        print(f"figures: {os.path.relpath(path, ROOT)} is not up to date: run make figures", file=sys.stderr)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return True


def same_drawing(path, text):
    """Whether a drawing has these words; versions of gnuplot place them differently."""
    words = lambda svg: re.findall(r">([^<>\n]+)</tspan>", svg)
    try:
        with open(path, encoding="utf-8") as file:
            return words(file.read()) == words(text)
    except FileNotFoundError:
        return False


def publish(figures, check):
    """Draws figures and updates the pages; returns the number of files that changed."""
    changed, blocks = 0, {}
    for figure in figures:
        notes, rows = kept(figure)
        if not rows:
            print(f"figures: {figure.name}: no data yet", file=sys.stderr)
            changed += check
            continue
        blocks[figure.name] = block(figure, notes, rows)
        if figure.plot:
            drawing = draw(figure, lines_of(figure, rows))
            if not (check and same_drawing(path_of(figure, ".svg"), drawing)):
                changed += put(path_of(figure, ".svg"), drawing, check)
    shown = set()
    for path in sorted(glob.glob(os.path.join(PAGES, "*.md"))):
        with open(path, encoding="utf-8") as file:
            old = file.read()
        shown.update(name for name, _ in BLOCK.findall(old))
        new = BLOCK.sub(lambda match: f"<!-- figure: {match[1]} -->\n{blocks[match[1]]}\n<!-- end -->"
                        if match[1] in blocks else match[0], old)
        changed += put(path, new, check)
    for name in sorted(set(blocks) - shown):
        print(f"figures: no page shows {name}", file=sys.stderr)
        changed += check
    return changed


# --- command line ----------------------------------------------------------------------------------------------------

def read_json(pick):
    """A reader of a command that prints one JSON object: pick(object) yields rows."""
    return lambda out: pick(json.loads(out))


def read_csv(pick):
    """A reader of a command that prints CSV with a header: pick(row) returns the columns to keep, or None."""
    return lambda out: filter(None, map(pick, csv.DictReader(out.splitlines())))


def prices(out):
    """[(algorithm, seconds)] of the tables in the output of hsumma explain --collective."""
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    return [(name, float(number) * unit[of])
            for name, number, of in re.findall(r"^(\w+) .* ([\d.e+-]+) (ns|us|ms|s)(?: |$)", out, re.M)]


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip(), add_help=True)
    options.add_argument("--fresh", default="")
    options.add_argument("--only", default="")
    options.add_argument("--check", action="store_true")
    options.add_argument("--list", action="store_true")
    args = options.parse_args()
    kinds = set(filter(None, args.fresh.split(",")))
    kinds = kinds - {"all"} | (set(KINDS[1:]) - {"large"} if "all" in kinds else set())
    if kinds - set(KINDS[1:]):
        options.error(f"--fresh {args.fresh}: expected kinds from {', '.join(KINDS[1:])}, all, separated by commas")
    sys.path.insert(0, HERE)
    papers = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(HERE, "*.py")))
    every = [figure for paper in papers if paper != "figures" for figure in importlib.import_module(paper).FIGURES]
    figures = [figure for figure in every if re.search(args.only, figure.name)]
    if not figures:
        options.error(f"--only {args.only}: no figure has such a name; see --list")
    if args.list:
        for figure in figures:
            counts = collections.Counter(run.kind for run in runs_of(figure))
            print(f"{figure.name:28} {figure.title} ({', '.join(f'{n} {kind}' for kind, n in counts.items())})")
        return 0
    began = clocks()
    failed = 0 if args.check else sum(measure(figure, kinds) for figure in figures)
    if kinds:
        print(f"figures: all: {since(began)}", file=sys.stderr)
    changed = publish(figures, args.check)
    return 1 if failed or (args.check and changed) else 0


if __name__ == "__main__":
    sys.modules["figures"] = sys.modules["__main__"]  # for the modules of the papers
    sys.exit(main())
