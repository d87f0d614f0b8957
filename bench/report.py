#!/usr/bin/env python3
"""Gathers the rows that the benchmarks wrote into one file for this GPU, and prints a short table.

    report.py FOLDER_OF_JSONL OUTPUT_FOLDER [KEY=VALUE...]

The file is OUTPUT_FOLDER/<gpu>.json: what was measured on (the GPU, its driver, the toolkit, the commit; never a name of
a host or a path), facts given as KEY=VALUE, and all rows. Returns 1 where a measurement failed, not where a goal is missed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys


def first_line(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=True).stdout.strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ""


def machine():
    gpu, _, driver = first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).partition(", ")
    toolkit = re.search(r"release ([\d.]+)", " ".join(
        subprocess.run(["nvcc", "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout.split())
        if _has("nvcc") else "")
    return {
        "gpu": gpu or "none",
        "driver": driver or "none",
        "toolkit": toolkit.group(1) if toolkit else "unknown",
        "compiler": first_line([os.environ.get("CXX", "c++"), "--version"]),
        "commit": os.environ.get("INGOT_COMMIT") or first_line(["git", "rev-parse", "HEAD"]) or "unknown",
    }


def _has(program):
    return any(os.access(os.path.join(folder, program), os.X_OK) for folder in os.environ["PATH"].split(os.pathsep))


def amount(value, unit):
    return f"{value:.4g} {unit}" if value is not None else "failed"


def table(rows):
    for row in rows:
        if row["section"] in ("sizes", "roof") and row.get("elements", 1 << 28) < 1 << 28:
            continue  # the plot has these
        line = f"{row['section'][:22]:22} {row['name'][:52]:52} {amount(row['time'], row['unit']):>12}"
        if "gigabytes_per_second" in row and row["gigabytes_per_second"]:
            line += f" {row['gigabytes_per_second']:6.0f} GB/s"
        elif "baseline_time" in row:
            line += f" {amount(row['baseline_time'], row['unit']):>11}"
        else:
            line += " " * 12
        if "promise" in row:
            line += f"  {row['promise']:6} {row['reached']:8.4g} goal {row['goal']:6.4g} {'' if row['met'] else 'MISSED'}"
        yield line.rstrip()


def main():
    source, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    rows = [json.loads(line) for path in sorted(source.rglob("*.jsonl"), key=lambda file: file.name) for line in path.read_text().splitlines()]
    facts = dict(argument.split("=", 1) for argument in sys.argv[3:])
    document = {"machine": {**machine(), **facts}, "rows": rows}
    name = re.sub(r"[^a-z0-9]+", "-", document["machine"]["gpu"].lower()).strip("-")
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{name}.json"
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    path.write_text('{\n  "machine": ' + json.dumps(document["machine"]) + ',\n  "rows": [\n' + lines + "\n  ]\n}\n")
    print("\n".join(table(rows)))
    missed = sum(not row.get("met", True) for row in rows)
    failed = sum(row["section"] == "failed" for row in rows)
    print(f"{len(rows)} rows, {missed} goals missed, {failed} measurements failed: {path.name}")
    return 1 if failed else 0


sys.exit(main())
