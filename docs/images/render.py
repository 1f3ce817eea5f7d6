#!/usr/bin/env python3
"""Draws the output of `tmux capture-pane -e -p` as an SVG picture.

usage: render.py COLUMNS TITLE <CAPTURE >PICTURE
"""
import html
import re
import sys
import unicodedata

COLORS = {31: "#f47067", 32: "#6bc46d", 33: "#daaa3f", 35: "#dcbdfb", 36: "#56d4dd"}
TEXT, DIM, BACKGROUND, BAR = "#d0d7de", "#848d97", "#1c2128", "#2d333b"
CELL, LINE, MARGIN, TOP = 8.4, 19, 14, 38


def width(character):
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def style(codes, current):
    for code in codes:
        if code == 0:
            current = (TEXT, False)
        elif code == 1:
            current = (current[0], True)
        elif code == 2:
            current = (DIM, current[1])
        elif code in COLORS:
            current = (COLORS[code], current[1])
        elif code == 39:
            current = (TEXT, current[1])
    return current


def runs(line, current):
    """The line as (column, width, text, style), one per word of ASCII, and the style at its end."""
    found, column = [], 0
    for escape, text in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b]+)", line):
        if not text:
            current = style([int(code or 0) for code in escape.split(";")], current)
        for word in re.findall(r"[!-~]+| +|[^ -~]+", text):
            count = sum(width(character) for character in word)
            if not word.isspace():
                found.append((column, count, word, current))
            column += count
    return found, current


def main():
    columns, title = int(sys.argv[1]), sys.argv[2]
    lines = sys.stdin.read().rstrip("\n").split("\n")
    wide, high = columns * CELL + 2 * MARGIN, TOP + len(lines) * LINE + MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high}" '
          f'width="{wide:.0f}" height="{high}">')
    print(f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>')
    print(f'<path d="M0 26V8a8 8 0 0 1 8-8H{wide - 8:.0f}a8 8 0 0 1 8 8v18z" fill="{BAR}"/>')
    print(f'<text x="{wide / 2:.0f}" y="18" fill="{DIM}" text-anchor="middle" '
          f'font-family="sans-serif" font-size="12">{html.escape(title)}</text>')
    print("<g font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"14\" "
          'xml:space="preserve">')
    current = (TEXT, False)
    for number, line in enumerate(lines):
        found, current = runs(line, current)
        for column, count, word, (color, bold) in found:
            weight = ' font-weight="bold"' if bold else ""
            print(f'<text x="{MARGIN + column * CELL:.1f}" y="{TOP + number * LINE + 14}" '
                  f'textLength="{count * CELL:.1f}" lengthAdjust="spacingAndGlyphs" '
                  f'fill="{color}"{weight}>{html.escape(word)}</text>')
    print("</g>\n</svg>")


main()
