"""The other generated parts of the page, each from its own result."""

import json

from . import data, plot


def instructions():
    """Returns the table of the accepted instruction counts."""
    counts = json.loads((data.ROOT / "Benchmarks/instructions.json").read_text())
    rows = [[name, f"{count:,}"] for name, count in counts.items()]
    return data.table(["operation", "instructions"], rows)


def commit(result):
    """Returns what one durable commit costs, and what sharing it gives."""
    ours, raw, shared = result["ours"], result["raw C"], result["64 tasks"]
    figure = data.figure
    lines = [
        data.prose(
            data.source(result), f"Medians of {result['repetitions']} alternating commits of each.",
        ),
        "",
        data.table(["commit", "µs", "× raw C"], [
            ["raw C, the same layout", figure(raw), "1"],
            ["ObjectStore", figure(ours), f"{ours / raw:.2f}"],
            ["SQLite, GRDB statements", figure(result["SQLite"]), f"{result['SQLite'] / raw:.2f}"],
            ["ObjectStore, 64 tasks that share commits", figure(shared), f"{shared / raw:.2f}"],
        ]),
        "",
        data.prose(
            f"The target of 1.1 times raw C is {'met' if ours / raw <= 1.1 else 'missed'}.",
            f"When 64 tasks commit concurrently, the time per commit is {ours / shared:.0f} times",
            "shorter than for one alone.",
        ),
    ]
    return "\n".join(lines)


def mark(result):
    """Returns what the mark of checked pages adds to a commit, by file system."""
    rows = []
    for row in result["rows"]:
        ratio, without = row["ours"] / row["raw C"], row["ours without"] / row["raw C without"]
        rows.append([
            row["file system"], data.figure(row["raw C"]), data.figure(row["ours"]),
            f"{ratio:.2f}", f"{without:.2f}",
        ])
    head = ["file system", "raw C, µs", "ObjectStore, µs", "× raw C", "× raw C without the mark"]
    text = data.prose("Measured once:", data.source(result), result["note"])
    return text + "\n\n" + data.table(head, rows)


def commands(result):
    """Returns the table of the latency of commands to an engine."""
    rows = [
        [f"{row['observers']}", *(f"{row[key]:.2f}" for key in ("median", "p99", "maximum"))]
        for row in result["rows"]
    ]
    head = ["observing processes", "median, ms", "99th percentile, ms", "maximum, ms"]
    text = data.prose(data.source(result), f"{result['commands']:,} commands each.")
    return text + "\n\n" + data.table(head, rows)


def engine(result):
    """Returns the table of an engine's start and of the pages of its checkpoints."""
    alone, beside, pages = result["ready"], result["readyBesideFinished"], result["pages"]
    active, finished = f"{result['active']:,}", f"{result['finished']:,}"
    rows = [
        [f"ready with {active} active downloads, ms", f"{alone:.1f}", ""],
        [f"the same beside {finished} completed ones, ms", f"{beside:.1f}", ""],
        ["ratio", f"{beside / alone:.2f}", "at most 1.2"],
        [f"pages that a checkpoint of {active} downloads changes", f"{pages}", "at most 100"],
    ]
    return data.source(result) + "\n\n" + data.table(["what", "figure", "target"], rows)


def transfers(result):
    """Returns a table per workload of transfers.py."""
    parts = [data.source(result)]
    for workload in result["workloads"]:
        lines = []
        for name, row in workload["contenders"].items():
            outcomes = [one for one in workload["targets"] if one["contender"] == name]
            met = sum(one["met"] for one in outcomes)
            lines.append([
                name,
                *(data.figure(row[key]) if key in row else "–" for key in ("seconds", "processor")),
                f"{row['memory'] / 1e6:.1f}",
                f"{met} of {len(outcomes)}" if outcomes else "–",
            ])
        head = [workload["title"], "time, s", "processor time, s", "memory, MB", "targets met"]
        parts.append(data.table(head, lines))
    missed = [
        missed_target(workload, target)
        for workload in result["workloads"] for target in workload["targets"] if not target["met"]
    ]
    if missed:
        parts.append(data.table(["missed target", "wanted", "reached"], missed))
    return "\n\n".join(parts)


def connections(result):
    """Returns a table per workload of connections.py, and the bytes that were sent."""
    rows = [
        [f"{workload['title']}, {name}", f"{figures['bytes']:.3f}"]
        for workload in result["workloads"] for name, figures in workload["contenders"].items()
    ]
    sent = data.table(["what the server sent", "times the file"], rows)
    return transfers(result) + "\n\n" + sent


# What the figures of the migrations should be: at least or at most a value.
MIGRATION_TARGETS = {
    "reads beside an index build: rate": ("at least", 0.8),
    "writes beside an index build: rate": ("at least", 0.8),
    "change of type: rate": ("at least", 0.5),
    "change of type: anonymous memory": ("at most", 100),
    "change of type when read: open": ("at most", 2),
    "lookup of an old object": ("at most", 2),
}


def migrations(result):
    """Returns the table of what changes of a schema cost, and the missed targets."""
    figures = {}
    for row in result["rows"]:
        figures.setdefault((row["name"], row["unit"]), {})[row["contender"]] = row["value"]
    rows, missed = [], []
    for (name, unit), values in figures.items():
        kind, bound = MIGRATION_TARGETS.get(name, (None, None))
        if unit == "ms" and max(values.values()) < 0.01:
            unit, values = "µs", {contender: value * 1e3 for contender, value in values.items()}
        ours = values.get("ObjectStore")
        if kind and (ours < bound if kind == "at least" else ours > bound):
            missed.append(name)
        rows.append([
            f"{name}, {unit}", data.figure(ours), data.figure(values.get("GRDB")),
            f"{kind} {bound:g}" if kind else "",
        ])
    text = data.prose(
        data.source(result), f"{result['count']:,} objects of about 150 bytes, one run.",
        f"Missed: {', '.join(missed)}." if missed else "All targets are met.",
    )
    return text + "\n\n" + data.table(["what", "ObjectStore", "GRDB", "target"], rows)


def missed_target(workload, target):
    """Returns a row about a missed target of transfers.py."""
    names = {
        "seconds": "time", "processor": "processor time", "memory": "memory", "sent": "bytes sent",
    }
    what = f"{workload['title']}, {target['contender']}: {names[target['measured']]}"
    if target["reference"]:
        bound, value = (f"{target[key]:.2f}" for key in ("at most", "value"))
        what += f", times that of {target['reference']}"
    else:
        bound, value = (f"{target[key] / 1e6:.0f}" for key in ("at most", "value"))
        what += ", MB"
    return [what, f"at most {bound}", value]


def rate_text(rate):
    """Returns what the page says about the files per second of a row."""
    if "beside" not in rate:
        first, last = (rate["tenths"][part]["rate"] for part in (0, -1))
        return f"{first:,} files per second in the first tenth, {last:,} in the last"
    return (
        f"{rate['beside']:,.0f} files per second, {rate['alone']:,.0f} without, medians of "
        f"{len(rate['samples']['alone'])}"
    )


def with_more(result, more):
    """Adds the numbers of downloads that only another run has, with a note."""
    if not more or set(more["counts"]) <= set(result["counts"]):
        return result
    others = [count for count in more["counts"] if count not in result["counts"]]
    merged = result | {"counts": result["counts"] + others}
    for part in ("rows", "library"):
        figures = {row["row"]: row["figures"] for row in more[part]}
        merged[part] = [
            row | {"figures": figures.get(row["row"], {}) | row["figures"]} for row in result[part]
        ]
    numbers = ", ".join(f"{count:,}" for count in others)
    return merged | {"note": f"{numbers}: another run, {data.source(more)}"}


def scale(result):
    """Returns the table of commands at different numbers of downloads, and the plot's link."""
    counts = result["counts"]
    head = ["command"]
    for count in counts:
        head += [f"{count:,}: s", "MB"]
    lines = []
    for row in result["rows"]:
        cells = [row["row"]]
        for count in counts:
            figures = row["figures"].get(str(count), {})
            cells += [data.figure(figures.get("seconds")), data.figure(figures.get("memory"))]
        lines.append(cells)
    image = "![Peak memory of commands by the number of downloads](images/memory.svg)"
    rates = [
        f"- {row['row']}: {rate_text(row['rate'])}." for row in result["rows"] if "rate" in row
    ]
    library = [
        [row["row"], *(data.figure(row["figures"].get(str(count))) for count in counts)]
        for row in result["library"]
    ]
    sources = data.prose(data.source(result), *([result["note"]] if "note" in result else []))
    parts = [sources, image, data.table(head, lines)]
    if rates:
        parts.append("\n".join(rates))
    if library:
        names = ["in process", *(f"{count:,}" for count in counts)]
        parts.append(data.table(names, library))
    return "\n\n".join(parts)


def completions(result):
    """Returns the tables of many small files that one engine downloads."""
    parts = [data.source(result)]
    disk = tenths(result)
    parts += [*disk[:2], verdict(disk[2], "the rate")]
    if memory := data.load("completions-memory"):
        words, table, shares = tenths(memory)
        parts += [f"The same in a memory file system: {words}", table, verdict(shares, "that rate")]
    return "\n\n".join(parts)


def tenths(result):
    """Returns the words, the table of the tenths, and the shares of the last in the first one."""
    rows = [row for row in result["rows"] if "rate" in row]
    rate, [(_, figures)] = rows[0]["rate"], rows[0]["figures"].items()
    parts = rate["tenths"]
    head = ["tenth of the files", *map(str, range(1, len(parts) + 1))]
    lines = [
        [title, *(data.figure(part.get(key)) for part in parts)]
        for title, key in (
            ("files per second", "rate"), ("processor time a file, µs", "processor"),
            ("processor time of nginx a file, µs", "server"), ("memory, MB", "memory"),
        )
    ]
    words = (
        f"{result['files']:,} files of 16 bytes from a queue of {rate['count']:,}, in "
        f"{data.figure(figures['seconds'])} s."
    )
    shares = {key: parts[-1][key] / parts[0][key] for key in ("rate", "memory")}
    return words, data.table(head, lines), shares


def verdict(shares, what):
    """Returns whether the rate at the end is near that at the start."""
    return data.prose(
        f"The rate at the end is {shares['rate']:.3f} times that at the start, and the memory",
        f"{shares['memory']:.3f} times. The target of at least 0.9 for {what} is",
        f"{'met' if shares['rate'] >= 0.9 else 'missed'}.",
    )


def memory(result):
    """Returns the plot of the peak memory of commands."""
    groups = []
    for row in result["rows"]:
        values = []
        for colour, count in enumerate(result["counts"]):
            figures = row["figures"].get(str(count), {})
            if figures.get("memory"):
                text = f"{data.figure(figures['memory'])} MB"
                values.append((f"{count:,} downloads", figures["memory"], text, colour))
        if values:
            groups.append((row["row"], values))
    title = "Peak anonymous memory of commands"
    return plot.dots(title, "MB", groups)
