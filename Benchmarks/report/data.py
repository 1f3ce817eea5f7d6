"""Reads and writes the committed results, and formats their figures."""

import json
import pathlib
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "Benchmarks/results"


def load(name):
    """Returns a committed result; `None` if there is none."""
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else None


def save(name, result):
    """Writes a result with one line per element of its lists."""
    lines = []
    for key, value in result.items():
        if isinstance(value, list):
            rows = ",\n".join("    " + json.dumps(one, ensure_ascii=False) for one in value)
            text = f"[\n{rows}\n  ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(key)}: {text}")
    (RESULTS / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def figure(value):
    """Returns a figure with about three significant digits."""
    if value is None:
        return "–"
    size = abs(value)
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 3
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def table(head, rows):
    """Returns a table in Markdown: the first column is text, the others are figures."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def prose(*sentences):
    """Returns a paragraph of lines of at most 100 columns."""
    text = " ".join(sentences)
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def source(result):
    """Returns the date, the command and the machine of a result, as a sentence."""
    parts = [result["date"], f"`{result['command']}`", result.get("machine")]
    return ", ".join(part for part in parts if part) + "."
