#!/usr/bin/env python3
"""Writes the generated parts of docs/performance.md, and its plots, from the committed results.

Every table, plot and sentence with a measured figure comes from a file in Benchmarks/results or
from Benchmarks/instructions.json, and stands between two comments in the page. The rest of the
page is written by hand, and has no measured figures.

    Benchmarks/performance.py --write              writes the page and the plots
    Benchmarks/performance.py --check              fails if they do not agree with the results
    Benchmarks/performance.py --take NAME FILE     takes the output of a benchmark as a result
"""

import datetime
import json
import os
import pathlib
import platform
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from report import comparison, data, sections  # noqa: E402

PAGE = data.ROOT / "docs/performance.md"
IMAGES = data.ROOT / "docs/images"
MISSING = "No result is committed yet: "

# How to make a result that is not committed yet.
COMMANDS = {
    "comparison": "make bench", "commit": "make bench-commit", "commands": "make bench-engine",
    "engine": "make bench-engine", "transfers": "make bench-engine",
    "connections": "make bench-engine", "scale": "make bench-scale",
    "migrations": "make bench-migrations", "completions": "make bench-completions",
    "completions-memory": "make bench-completions", "scale-more": "make bench-scale N=10000000",
}


def parts():
    """Returns the text of each generated part of the page, and each plot."""
    result = data.load("comparison")
    texts = {
        "comparison": comparison.head(result),
        "missed targets": comparison.missed(result),
        "instructions": sections.instructions(),
        "commit mark": sections.mark(data.load("commit-mark")),
    }
    images = {}
    for name in comparison.GROUPS:
        texts[name] = comparison.group(result, name)
        images[name] = comparison.image(result, name)
    names = (
        "commit", "commands", "engine", "transfers", "connections", "scale", "completions",
        "migrations",
    )
    for name in names:
        result = data.load(name)
        if name == "scale" and result:
            result = sections.with_more(result, data.load("scale-more"))
        texts[name] = (
            getattr(sections, name)(result) if result else f"{MISSING}`{COMMANDS[name]}`."
        )
        if name == "scale" and result:
            images["memory"] = sections.memory(result)
    return texts, {f"{name}.svg": image for name, image in images.items()}


def render(page, texts):
    """Returns the page with its generated parts replaced."""
    for name, text in texts.items():
        start, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
        if page.count(start) != 1 or page.count(end) != 1:
            sys.exit(f"{PAGE}: there is no place for the part '{name}'")
        before, rest = page.split(start)
        _, after = rest.split(end)
        page = f"{before}{start}\n{text}\n\n{end}{after}"
    return page


def write():
    texts, images = parts()
    PAGE.write_text(render(PAGE.read_text(), texts))
    for name, image in images.items():
        (IMAGES / name).write_text(image)


def check():
    texts, images = parts()
    page = PAGE.read_text()
    wrong = [] if render(page, texts) == page else [PAGE]
    for name, image in images.items():
        file = IMAGES / name
        if not file.exists() or file.read_text() != image:
            wrong.append(file)
    linked = set(re.findall(r"\(images/([\w-]+\.svg)\)", page))
    if linked != images.keys():
        sys.exit(f"{PAGE}: the plots are {sorted(images)}, but the page shows {sorted(linked)}")
    if wrong:
        names = ", ".join(str(file.relative_to(data.ROOT)) for file in wrong)
        sys.exit(f"{names}: not what the results say: run Benchmarks/performance.py --write")


def take(name, file):
    if name not in COMMANDS:
        sys.exit(f"the results are {', '.join(COMMANDS)}")
    report = json.loads(pathlib.Path(file).read_text())
    result = {
        "date": datetime.date.today().isoformat(), "command": COMMANDS[name], "machine": machine(),
    }
    condense = {"comparison": comparison.condense, "commit": comparison.condense_commit}
    result |= condense[name](report) if name in condense else report
    data.save(name, result)
    write()


def machine():
    """Returns the number of processors and the name of their model."""
    names = re.findall(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return f"{os.cpu_count()} cores, {names[0] if names else platform.machine()}"


def main():
    arguments = sys.argv[1:]
    if arguments == ["--write"]:
        write()
    elif arguments == ["--check"]:
        check()
    elif len(arguments) == 3 and arguments[0] == "--take":
        take(*arguments[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
