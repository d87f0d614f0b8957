#!/usr/bin/env python3
"""Prints what two result files of report.py do not have in common: rows whose time (or share, where that is measured)
differs by more than 3%, worst first; then rows that only one of them has, and those that failed in either.

    compare.py OLD.json NEW.json [PERCENT]

A row that occurs several times, as the roofs of each program do, is compared with its like by order. Returns 1 where the
new file has a row that is worse.
"""
import collections
import json
import signal
import sys


def rows_by_key(path):
    seen = collections.Counter()
    rows = {}
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    for row in document["rows"]:
        name = (row["section"], row["name"], row["unit"])
        seen[name] += 1
        rows[name + (seen[name],)] = row
    return document["machine"], rows


def title(key):
    section, name, _, occurrence = key
    return f"{section[:14]:14} {name}" + (f" [{occurrence}]" if occurrence > 1 else "")


def amount(row):
    time = row.get("time")
    text = "failed" if time is None else f"{time:.4g} {row['unit']}"
    if row.get("gigabytes_per_second"):
        text += f" {row['gigabytes_per_second']:.0f} GB/s"
    if "met" in row and not row["met"]:
        text += " (missed)"
    return text


def slower(old, new):
    """How many times worse the new row is; a unit "of ..." is a share, of which more is better."""
    ratio = new["time"] / old["time"]
    return 1 / ratio if old["unit"].startswith("of ") else ratio


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that has seen enough, such as head
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    threshold = 1 + (float(sys.argv[3]) if len(sys.argv) == 4 else 3) / 100
    (machine, old), (new_machine, new) = rows_by_key(sys.argv[1]), rows_by_key(sys.argv[2])
    for fact in sorted(machine.keys() | new_machine.keys()):
        if machine.get(fact) != new_machine.get(fact):
            print(f"{fact}: {machine.get(fact, 'none')[:60]} -> {new_machine.get(fact, 'none')[:60]}")

    common = old.keys() & new.keys()
    failed = [key for key in common if old[key].get("time") is None or new[key].get("time") is None]
    # A time less its parts may be anything, and has no ratio.
    ratios = {key: slower(old[key], new[key]) for key in common.difference(failed)
              if old[key]["time"] > 0 and new[key]["time"] > 0}
    changed = sorted((key for key, ratio in ratios.items() if max(ratio, 1 / ratio) > threshold),
                     key=lambda key: -ratios[key])
    for key in changed:
        print(f"{100 * (ratios[key] - 1):+7.1f}%  {title(key)[:72]:72}  {amount(old[key])} -> {amount(new[key])}")
    for word, keys, rows in (("failed", failed, new), ("gone", old.keys() - new.keys(), old), ("new", new.keys() - old.keys(), new)):
        for key in sorted(keys):
            print(f"{word:>8}  {title(key)[:72]:72}  {amount(rows[key])}")
    worse = sum(ratios[key] > 1 for key in changed)
    print(f"{len(common)} rows in both: {worse} worse, {len(changed) - worse} better by more than "
          f"{100 * (threshold - 1):g}%; {len(old.keys() - new.keys())} gone, {len(new.keys() - old.keys())} new")
    return 1 if worse else 0


sys.exit(main())
