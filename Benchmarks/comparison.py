#!/usr/bin/env python3
"""Compares the figures of the first table of docs/performance.md, for the targets that were missed.

`Benchmarks/comparison.py --write` writes the comparison into the page; `--check` fails if it does
not agree with the table.
"""

import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/performance.md"
START = "<!-- Written by Benchmarks/comparison.py. -->\n"
END = "<!-- End of what Benchmarks/comparison.py writes. -->\n"
LAYOUTS = ["C url", "C hash", "C hidx", "C hsplit"]
CONTENDERS = {"statements": "GRDB statements", "Codable": "GRDB Codable", "chosen C": "C hsplit"}
TARGET = re.compile(r"(.+?): at (least|most) ([\d.]+)x(?: as fast)?: [\d.]+x ✗")


def table(text):
    """Returns the rows of the first table with targets, each as a dictionary by column."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    first = next(index for index, line in enumerate(lines) if line.endswith("| targets |"))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[first:]]
    names = cells[0]
    return [
        dict(zip(names, row))
        for row in cells[2:]
        if len(row) == len(names)
    ], names[0]


def number(text):
    return None if text == "–" else float(text)


def comparison(text):
    """Returns the missed targets with our figures and those of raw C in our layout."""
    rows, name = table(text)
    met, missed = (sum(row["targets"].count(mark) for row in rows) for mark in "✓✗")
    result = [
        f"Of {met + missed} targets {met} are met. The others, from the figures of the table:",
        "",
        "| missed target | wanted | ObjectStore | raw C in our layout |",
        "| --- | --- | --- | --- |",
    ]
    for row in rows:
        for part in row["targets"].split(";"):
            match = TARGET.fullmatch(part.strip())
            if not match:
                continue
            who, kind, wanted = match.groups()
            best = min(number(row[layout]) for layout in LAYOUTS)
            other = best if who == "best C" else number(row[CONTENDERS[who]])

            def reached(column):
                value = number(row[column])
                ratio = other / value if kind == "least" else value / other
                return f"{ratio:.2f}"

            against = "GRDB " + who if who in ("statements", "Codable") else who
            if kind == "least":
                against, unit = f"{against}, times as fast", f"at least {wanted}"
            else:
                against, unit = f"{against}, times its cost", f"at most {wanted}"
            ours = reached("ObjectStore")
            layout = "–" if who == "chosen C" else reached("C hsplit")
            result.append(f"| {row[name]}; {against} | {unit} | {ours} | {layout} |")
    if len(result) != missed + 4:
        sys.exit("a target of the table cannot be read: has its form changed?")
    return "\n".join(result) + "\n"


def main():
    text = PAGE.read_text()
    if START not in text or END not in text:
        sys.exit(f"{PAGE}: there is no place for the comparison")
    before, rest = text.split(START, 1)
    written, after = rest.split(END, 1)
    new = comparison(before)
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(before + START + "\n" + new + "\n" + END + after)
    elif sys.argv[1:] == ["--check"]:
        if written.strip() != new.strip():
            sys.exit(f"{PAGE}: the comparison is not that of the table: Benchmarks/comparison.py --write")
    else:
        sys.exit("usage: comparison.py --write | --check")


if __name__ == "__main__":
    main()
