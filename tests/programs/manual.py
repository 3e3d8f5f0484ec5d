"""TAP: make man and make doc: a page for each command, each option, each page of doc/ and each public declaration.

Environment: that of launch.py.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from command import bench, commands, read, said
from launch import BUILD, ROOT
from tap import must, ok, run, skip


def manual(kind, where, tree=ROOT):
    """Runs scripts/manual KIND WHERE of a tree."""
    return subprocess.run([sys.executable, os.path.join(tree, "scripts", "manual"), kind, where], capture_output=True,
                          text=True, env={**os.environ, "BUILD": BUILD})


def plain(page):
    """A man page without roff's escapes."""
    return page.replace("\\-", "-").replace("\\e", "\\")


def test_man():
    with tempfile.TemporaryDirectory() as where:
        process = manual("man", where)
        must(process.returncode == 0, "man pages are built", *said(process))
        names = commands()
        missing = [name for name in names if not read(where, "man1", f"hsumma-{name}.1")]
        ok(names and not missing and read(where, "man1", "hsumma.1"), "there is one for each command", *missing)
        for name in names:
            page = plain(read(where, "man1", f"hsumma-{name}.1"))
            own = bench(0, f"{name} --help").stdout.split("options of the library")[0].split("Options of the library")[0]
            lines = re.findall(r"^  (-\S+(?:, --?\S+)*)", own, re.MULTILINE)
            missing = [line for line in lines if f".B {line}" not in page]
            ok(lines and not missing and ".SH SYNOPSIS" in page and ".SH EXIT STATUS" in page and "(null)" not in page,
               f"hsumma-{name} has the options of --help and the exit status", *missing)
        page = plain(read(where, "man7", "hsumma-options.7"))
        names = re.findall(r'OPTION\(\s*\w+, \.name = "(\w+)"', read(ROOT, "src", "base", "options.inc"))
        missing = [name for name in names if f".B {name}=" not in page or f"HSUMMA_{name.upper()}" not in page]
        ok(len(names) > 30 and not missing, "hsumma-options has all options and their variables", *missing)
        names = re.findall(r"^    (HSUMMA_(?:OK|ERR_\w+))", read(ROOT, "include", "hsumma.h"), re.MULTILINE)
        missing = [name for i, name in enumerate(names) if f".B {name} ({i})" not in page]
        ok(len(names) > 8 and not missing, "and all statuses with their numbers", *missing)
        if not shutil.which("groff"):
            skip("groff has no complaint", "no groff")
            return
        for page in sorted(glob.glob(os.path.join(where, "man?", "*"))):
            process = subprocess.run(["groff", "-man", "-Tutf8", "-wmac", "-wfont", "-z", page], capture_output=True, text=True)
            ok(process.returncode == 0 and not process.stderr, f"groff has no complaint about {os.path.basename(page)}",
               *said(process))


def test_headers():
    """Everything that the library exports is declared, and each header has a file comment, without which Doxygen skips
    it."""
    headers = {name: read(name) for name in glob.glob(os.path.join(ROOT, "include", "*.h"))}
    process = subprocess.run(["nm", "-D", "--defined-only", os.path.join(BUILD, "libhsumma.so")], capture_output=True, text=True)
    names = re.findall(r" [TD] (hsumma_\w+)", process.stdout)
    missing = [name for name in names if not any(re.search(rf"\b{name}\(", text) for text in headers.values())]
    ok(names and not missing, "every exported function is declared in include/", *missing)
    missing = [name for name, text in headers.items() if "@file" not in text]
    ok(headers and not missing, "every header says what it is", *missing)


def test_html():
    if not shutil.which("doxygen"):
        skip("the manual in HTML", "no doxygen")
        return
    with tempfile.TemporaryDirectory() as where:
        tree = os.path.join(where, "tree")
        for name in ("doc", "include", "scripts"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(tree, name))
        os.makedirs(os.path.join(tree, "src", "base"))
        for name in ("CONTRIBUTING.md", "src/base/status.c"):
            shutil.copy(os.path.join(ROOT, name), os.path.join(tree, name))
        process = manual("html", os.path.join(where, "doc"), tree)
        must(process.returncode == 0 and not process.stderr, "Doxygen builds the manual without a warning", *said(process))
        html = {os.path.basename(name): read(name) for name in glob.glob(os.path.join(where, "doc", "html", "*.html"))}
        titles = [re.match(r"# (.*)", read(name)).group(1) for name in
                  glob.glob(os.path.join(ROOT, "doc", "**", "*.md"), recursive=True)]
        tree_of_pages = "".join(map(read, glob.glob(os.path.join(where, "doc", "html", "*.js"))))
        missing = [title for title in titles if f'"{title}"' not in tree_of_pages.replace("&amp;", "&")]
        ok(len(titles) > 10 and not missing, "its navigation has all pages of doc/", *missing)
        broken = [f"{name}: {target}" for name, text in html.items() for target in re.findall(r'href="([^"#:]+\.html)', text)
                  if target not in html]
        ok(not broken, "no link is broken", *broken[:20])
        left = [name for name, text in html.items() if re.search(r"@(?:ref|subpage) page_|\]\([\w./]*\.md", text)]
        ok(not left, "all links of the pages have been made links", *left)
        names = re.findall(r"^(?!typedef).*\b(hsumma_\w+)\(", read(ROOT, "include", "hsumma.h"), re.MULTILINE)
        missing = [name for name in names if f"{name}()" not in html["hsumma_8h.html"]]
        ok(len(names) > 30 and not missing, "the functions of hsumma.h are there", *missing)
        ok(os.path.exists(os.path.join(where, "doc", "html", "search", "search.js")), "it has a search")

        with open(os.path.join(tree, "include", "hsumma_new.h"), "w", encoding="utf-8") as file:
            file.write("/** @file\n * New. */\nint hsumma_new(int);\n")
        process = manual("html", os.path.join(where, "doc"), tree)
        ok(process.returncode != 0 and "hsumma_new" in process.stderr, "a declaration without a comment is an error",
           *said(process))


if __name__ == "__main__":
    sys.exit(run(test_man, test_headers, test_html))
