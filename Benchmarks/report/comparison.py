"""The comparison with raw LMDB and GRDB, from the result of `bench`."""

import re

from . import data, plot

OURS = "ObjectStore"
# The same store with a model that is stored by key, and the prefix of its targets' rivals.
BY_KEY = "ObjectStore by key"
PREFIX = "by key, "
SAME_LAYOUT = "C hsplit"
LAYOUTS = ["C url", "C hash", "C hidx", "C hsplit"]
RIVALS = {
    "chosen C": SAME_LAYOUT, "statements": "GRDB statements", "Codable": "GRDB Codable",
}

# The groups with a table and a plot each: the starts of the names of their rows.
GROUPS = {
    "reads": ("Reads", ["lookup", "indexed query", "filter", "reader beside"]),
    "writes": ("Writes", ["bulk insert", "1,000 records", "upsert", "1,000 progress"]),
    "commits": ("Commits and changes", ["one durable", "durable commits", "one record changes"]),
    "stores": ("Stores", ["file after", "open"]),
}
TARGET = re.compile(r"(.+): at (least|most) ([\d.]+)( \S+ more|x as fast|x)")


def condense(report):
    """Returns the part of the result of `bench` that is committed."""
    rows = [
        {key: row[key] for key in ("row", "unit", "medians", "targets")} for row in report["rows"]
    ]
    for row in rows:
        row["medians"] = {name: float(f"{value:.4g}") for name, value in row["medians"].items()}
    keys = ("date", "machine", "records")
    versions = {
        name: re.search(r"[\d.]+\d", text)[0] for name, text in sorted(report["versions"].items())
    }
    return {key: report[key] for key in keys} | {"versions": versions, "rows": rows}


def condense_commit(report):
    """Returns what the page says about one durable commit, from a run of `bench`."""
    rows = {row["row"]: row for row in report["rows"]}
    one = rows["one durable commit"]
    shared = rows["durable commits from 64 concurrent tasks, a commit"]
    figures = {
        "raw C": one["medians"][SAME_LAYOUT],
        "ours": one["medians"][OURS],
        "SQLite": one["medians"]["GRDB statements"],
        "64 tasks": shared["medians"][OURS],
    }
    head = {key: report[key] for key in ("date", "machine", "records")}
    return head | {
        "command": "make bench-commit",
        "repetitions": len(one["samples"][OURS]),
    } | {name: float(f"{value:.4g}") for name, value in figures.items()}


def best(row):
    """Returns the fastest of the C layouts and its cost, or `None` twice."""
    found = [(row["medians"][name], name) for name in LAYOUTS if name in row["medians"]]
    cost, name = min(found) if found else (None, None)
    return name, cost


def contenders(row):
    """Returns the contenders that the page shows, with their costs."""
    costs = row["medians"]
    shown = {"ObjectStore": costs[OURS]}
    if BY_KEY in costs:
        shown[BY_KEY] = costs[BY_KEY]
    shown["C, same layout"] = costs.get(SAME_LAYOUT)
    shown["best C"] = best(row)[1]
    shown["GRDB statements"] = costs.get("GRDB statements")
    shown["GRDB Codable"] = costs.get("GRDB Codable")
    return shown


def rows_of(result, group):
    starts = GROUPS[group][1]
    return [row for row in result["rows"] if row["row"].startswith(tuple(starts))]


def head(result):
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    text = f"{result['records']:,} records, {data.source(result)[:-1]}, {versions}."
    return data.prose(text, result.get("note", ""))


def group(result, name):
    """Returns the table of a group: each cost, and its multiple of ours."""
    rows = rows_of(result, name)
    names = list(dict.fromkeys(other for row in rows for other in contenders(row)))
    lines = []
    for row in rows:
        costs = contenders(row)
        cells = [f"{row['row']}, {row['unit']}", data.figure(costs[OURS])]
        for other in names[1:]:
            cost = costs.get(other)
            text = data.figure(cost)
            if cost is not None:
                text += f" ({data.figure(cost / costs[OURS])}×)"
                if other == "best C":
                    text += f" {best(row)[0].removeprefix('C ')}"
            cells.append(text)
        outcomes = [met for *_, met in targets(row)]
        cells.append(f"{sum(outcomes)} of {len(outcomes)}" if outcomes else "–")
        lines.append(cells)
    image = f"![{GROUPS[name][0]}, relative to ObjectStore](images/{name}.svg)"
    return image + "\n\n" + data.table(["cost", *names, "targets met"], lines)


def image(result, name):
    """Returns the plot of a group: each contender's cost as a multiple of ours."""
    groups = []
    for row in rows_of(result, name):
        costs = contenders(row)
        values = []
        for colour, (other, cost) in enumerate(costs.items()):
            if cost:
                text = f"{data.figure(cost / costs[OURS])}× ({data.figure(cost)} {row['unit']})"
                values.append((other, cost / costs[OURS], text, colour))
        groups.append((row["row"], values))
    title = f"{GROUPS[name][0]}: cost relative to ObjectStore; lower is better"
    return plot.dots(title, "× ObjectStore", groups, reference=1)


def targets(row):
    """Returns the targets of a row: (rival, kind, bound, unit, reached, whether it is met)."""
    found = []
    for target in row["targets"]:
        match = TARGET.fullmatch(target["target"])
        if not match:
            raise ValueError(f"the target '{target['target']}' cannot be read")
        rival, kind, bound, unit = match[1], match[2], float(match[3]), match[4]
        found.append((rival, kind, bound, unit, target["reached"], target["isMet"]))
    return found


def missed(result):
    """Returns the number of targets that are met, and a table of the others."""
    outcomes = [(row, target) for row in result["rows"] for target in targets(row)]
    lines = []
    for row, (rival, kind, bound, unit, reached, met) in outcomes:
        if met:
            continue
        costs, by_key = row["medians"], rival.startswith(PREFIX)
        rival_cost = best(row)[1] if rival == "best C" else costs.get(RIVALS.get(rival, rival))
        raw = costs.get(SAME_LAYOUT)
        same = "–"
        if rival != "chosen C" and raw and rival_cost and not unit.endswith("more"):
            same = data.figure(rival_cost / raw if kind == "least" else raw / rival_cost)
        what = {"x as fast": "times as fast as", "x": "times the cost of"}.get(unit, unit.strip())
        rival = rival.removeprefix(PREFIX)
        name = "C, same layout" if rival == "chosen C" else RIVALS.get(rival, rival)
        ours = f"{BY_KEY}, {what}" if by_key else what
        lines.append([
            f"{row['row']}: {ours} {name}", f"at {kind} {data.figure(bound)}",
            reached.removesuffix("x"), same,
        ])
    met = len(outcomes) - len(lines)
    text = f"{met} of {len(outcomes)} targets are met. "
    if not lines:
        return text.strip()
    text += "The last column is what raw C in our layout would reach:\n\n"
    return text + data.table(["missed target", "wanted", "ObjectStore", "raw C"], lines)
