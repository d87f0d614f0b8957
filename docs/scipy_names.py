#!/usr/bin/env python3
"""Prints which names of cupyx.scipy Ingot has, by room, and why it lacks the others: docs/scipy_names.py [--check].

docs/scipy-names.txt has the names. A name that is said to be there and that no header declares is an error, and so is one
that is said to be left and that a header declares.
"""
import pathlib
import re
import sys

import reference

ROOT = pathlib.Path(__file__).resolve().parent.parent


def rooms(text):
    """(SciPy's room, Ingot's namespace, {name: Ingot's name}, {reason: names}) for each."""
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("\n  ", " ")
    for room in re.split(r"^\[", text, flags=re.M)[1:]:
        title, _, rest = room.partition("]")
        scipy, _, own = title.partition(" ")
        done, left = {}, {}
        for line in rest.strip().splitlines():
            if line.startswith("left "):
                reason, _, names = line.removeprefix("left ").rpartition(":")
                left[reason] = names.split()
            else:
                for name in line.split():
                    scipys, _, other = name.partition("=")
                    done[scipys] = other or scipys
        yield scipy, own, done, left


def main(check):
    _, declared = reference.entries_by_header(ROOT / "include" / "ingot")
    faults = []
    for scipy, own, done, left in rooms((ROOT / "docs" / "scipy-names.txt").read_text()):
        inside = lambda name: name if "::" in name or not own else f"{own}::{name}"
        faults += [f"{scipy}.{name}: no header declares {inside(other)}" for name, other in done.items()
                   if inside(other).removeprefix("::") not in declared]
        faults += [f"{scipy}.{name} is there" for names in left.values() for name in names if inside(name) in declared]
        twice = [name for names in left.values() for name in names if name in done]
        faults += [f"{scipy}.{name} is there and left" for name in twice]
        if check:
            continue
        count = len(done) + sum(map(len, left.values()))
        print(f"| `{scipy}` | {len(done)} of {count} |")
        print("|---|---|")
        renamed = [f"`{a}` ({inside(b)})" if a != b else f"`{a}`" for a, b in done.items()]
        print(f"| there | {' '.join(renamed)} |")
        for reason, names in left.items():
            print(f"| left: {reason} | {' '.join(f'`{n}`' for n in names)} |")
        print()
    print("\n".join(faults), file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
