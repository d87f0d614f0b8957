#!/usr/bin/env python3
"""Draws the rates of `where` over its size, from bench/results/<gpu>.json, as an SVG.

    plot.py RESULTS.json where.svg
"""
import json
import math
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 64, 150, 48, 56
COLOURS = {"fused": "#0b6e4f", "hand-written": "#c8553d", "op by op": "#5b7db1"}


def series(document):
    """{name: [(elements, GB/s)]} of the sizes, every way by the bytes that a fused kernel moves."""
    lines = {}
    for row in document["rows"]:
        if row["section"] == "sizes" and row.get("gigabytes_per_second"):
            name = row["name"].split(",")[0]
            lines.setdefault(name, []).append((row["elements"], row["gigabytes_per_second"]))
    return {name: sorted(points) for name, points in lines.items()}


def draw(document):
    lines = series(document)
    roof = next((row["gigabytes_per_second"] for row in document["rows"]
                 if row["section"] == "roof" and row["name"] == "triad"), 0)
    sizes = [size for points in lines.values() for size, _ in points]
    low, high = math.log2(min(sizes)), math.log2(max(sizes))
    top = 500 * math.ceil(max([roof] + [rate for points in lines.values() for _, rate in points]) / 500)

    def x(size):
        return LEFT + (math.log2(size) - low) / (high - low or 1) * (WIDTH - LEFT - RIGHT)

    def y(rate):
        return HEIGHT - BOTTOM - rate / top * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="12" fill="#333">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="24" font-size="15">where(x - 2 &gt; y, x * y, x + y), float32, on {document["machine"]["gpu"]}</text>']
    for rate in range(0, int(top) + 1, 1000 if top > 2500 else 500):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(rate):.1f}" y2="{y(rate):.1f}" stroke="#e4e4e4"/>'
                   f'<text x="{LEFT - 8}" y="{y(rate) + 4:.1f}" text-anchor="end">{rate}</text>')
    for power in range(math.ceil(low), math.floor(high) + 1, 2):
        out.append(f'<text x="{x(2 ** power):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">2'
                   f'<tspan dy="-5" font-size="9">{power}</tspan></text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">elements</text>')
    out.append(f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2})">'
               'GB/s of 12 bytes an element</text>')

    labels = []
    if roof:
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(roof):.1f}" y2="{y(roof):.1f}" stroke="#888" '
                   'stroke-dasharray="5 4"/>')
        labels.append((y(roof), "roof (triad)", "#666"))
    for name, points in lines.items():
        colour = COLOURS.get(name, "#333")
        path = " ".join(f"{x(size):.1f},{y(rate):.1f}" for size, rate in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        labels.append((y(points[-1][1]), name, colour))
    at = -math.inf
    for height, text, colour in sorted(labels):  # from the top, none over another
        at = max(height, at + 16)
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{at + 4:.1f}" fill="{colour}">{text}</text>')
    out.append("</svg>\n")
    return "\n".join(out)


with open(sys.argv[1]) as file:
    picture = draw(json.load(file))
with open(sys.argv[2], "w") as file:
    file.write(picture)
