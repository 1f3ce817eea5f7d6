"""Draws plots as SVG, for pages with a light or a dark background."""

import math
from xml.sax.saxutils import escape

WIDTH = 760
LABELS = 150
RIGHT = 150
LINE = 16
HEADING = 20
GAP = 8
TOP = 34

STYLE = """
    text { font: 12px system-ui, sans-serif; fill: #1f2328; }
    .title { font-weight: 600; }
    .quiet { fill: #59636e; }
    .grid { stroke: #d1d9e0; stroke-width: 1; }
    .one { stroke: #59636e; stroke-width: 1.5; }
    .stem { stroke-width: 2; opacity: 0.45; }
    .c0 { fill: #0969da; stroke: #0969da; } .c1 { fill: #8250df; stroke: #8250df; }
    .c2 { fill: #1a7f37; stroke: #1a7f37; } .c3 { fill: #9a6700; stroke: #9a6700; }
    .c4 { fill: #cf222e; stroke: #cf222e; } .c5 { fill: #59636e; stroke: #59636e; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; } .quiet { fill: #9198a1; } .grid { stroke: #3d444d; }
      .one { stroke: #9198a1; }
      .c0 { fill: #58a6ff; stroke: #58a6ff; } .c1 { fill: #bc8cff; stroke: #bc8cff; }
      .c2 { fill: #3fb950; stroke: #3fb950; } .c3 { fill: #d29922; stroke: #d29922; }
      .c4 { fill: #ff7b72; stroke: #ff7b72; } .c5 { fill: #9198a1; stroke: #9198a1; }
    }
"""


def ticks(low, high):
    """Returns the powers of ten between two values, or 1, 2 and 5 times them in a short range."""
    steps = (1,) if math.log10(high / low) >= 2.5 else (1, 2, 5)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    values = (step * 10.0**power for power in range(first, last + 1) for step in steps)
    return [value for value in values if low <= value <= high]


def dots(title, axis, groups, reference=None):
    """Returns a plot with one line per value, on a logarithmic axis.

    No two labels can overlap: each value has a line of its own, with its name on the left and its
    text to the right of the dot.

    `groups` is a list of (heading, values), and a value is (name, number, text, colour 0 to 5).
    `reference` is a number that gets a line of its own, from which the dots' stems start.
    """
    numbers = [number for _, values in groups for _, number, _, _ in values]
    numbers += [reference] if reference else []
    low, high = min(numbers) / 1.25, max(numbers) * 1.25
    plotted = WIDTH - LABELS - RIGHT

    def position(number):
        return LABELS + plotted * math.log(number / low) / math.log(high / low)

    height = TOP + 26 + sum(HEADING + LINE * len(values) + GAP for _, values in groups)
    bottom = height - 22
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f"  <style>{STYLE}  </style>",
        f'  <text class="title" x="8" y="18">{escape(title)}</text>',
    ]
    for value in ticks(low, high):
        x = position(value)
        parts.append(f'  <line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(
            f'  <text class="quiet" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">'
            f"{value:,g}</text>"
        )
    parts.append(
        f'  <text class="quiet" x="8" y="{bottom + 16}">{escape(axis)}</text>'
    )
    if reference:
        x = position(reference)
        parts.append(f'  <line class="one" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
    y = TOP
    for heading, values in groups:
        y += HEADING
        parts.append(f'  <text class="title" x="8" y="{y - 4}">{escape(heading)}</text>')
        for name, number, text, colour in values:
            y += LINE
            x, middle = position(number), y - 5
            start = position(reference) if reference else LABELS
            side = max(x, start) + 9
            parts += [
                f'  <text class="quiet" x="20" y="{y - 1}">{escape(name)}</text>',
                f'  <line class="stem c{colour}" x1="{start:.1f}" y1="{middle}" '
                f'x2="{x:.1f}" y2="{middle}"/>',
                f'  <circle class="c{colour}" cx="{x:.1f}" cy="{middle}" r="4"/>',
                f'  <text x="{side:.1f}" y="{y - 1}">{escape(text)}</text>',
            ]
        y += GAP
    return "\n".join(parts + ["</svg>"]) + "\n"
