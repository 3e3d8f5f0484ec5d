"""Tables for the pages of doc/, from the command and the sources; scripts/doc-pictures inserts them.

BUILD: where the command hsumma is (default: build).

"""
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
# An option of the library at the end of each command's help: "  --name VALUES", and a description on the next line.
OPTION = re.compile(r"^  --([a-z0-9-]+) (\S+)\n        (\S.*?)(?: \(default: (\S+)\))?$", re.MULTILINE)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def help_of(*command):
    """The output of "hsumma COMMAND --help"."""
    return subprocess.run([os.path.join(BUILD, "hsumma"), *command, "--help"], check=True, capture_output=True, text=True,
                          encoding="utf-8").stdout


def commands():
    """A list of (name, summary) for each command of hsumma."""
    return re.findall(r"^  ([a-z]\w*) +(\S.*)$", help_of().split("hsumma COMMAND --help")[0], re.MULTILINE)


def options():
    """A list of (name, values, help, default) for each option of the library."""
    return [(name.replace("-", "_"), *rest) for name, *rest in OPTION.findall(help_of("coll"))]


def environment(option):
    return "HSUMMA_" + option.upper()


def statuses():
    """A list of (name, short text, comment) for each hsumma_status."""
    texts = dict(re.findall(r'\[(HSUMMA_\w+)\] = "(.*?)"', read("src/base/status.c")))
    enum = re.search(r"typedef enum hsumma_status \{(.*?)\} hsumma_status;", read("include/hsumma.h"), re.DOTALL).group(1)
    rows = re.findall(r"(HSUMMA_\w+)(?: = 0)?,?(?: */\*+<? *(.*?) *\*/)?", enum, re.DOTALL)
    return [(name, texts[name], re.sub(r"\s+\*? *", " ", comment)) for name, comment in rows]


def table(head, rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def option_table():
    return table(["option", "values", "default", "environment", "what it is"],
                 [[f"`{name}`", ", ".join(f"`{value}`" for value in values.split("|")), f"`{default}`" if default else "",
                   f"`{environment(name)}`", words.replace("|", "\\|")] for name, values, words, default in options()])


def status_table():
    return table(["status", "value", "hsumma_status_string", "meaning"],
                 [[f"`{name}`", str(value), text, comment] for value, (name, text, comment) in enumerate(statuses())])


def finding_table():
    said = subprocess.run([os.path.join(BUILD, "hsumma"), "doctor", "--list", "--format", "json"], check=True,
                          capture_output=True, text=True, encoding="utf-8").stdout
    return table(["finding", "", "what", "why it matters", "what to do"],
                 [[f"`{row['name']}`", ">" * row["costly"], row["what"], row["why"], row["do"].replace("|", "\\|")]
                  for row in json.loads(said)["checks"]])


TABLES = {"findings": finding_table, "options": option_table, "statuses": status_table}
