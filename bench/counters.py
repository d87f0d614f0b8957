#!/usr/bin/env python3
"""Says what bounds the draws that are slow: adds a profiler's counters to their rows.

    counters.py ROWS.jsonl LAUNCHED.txt COUNTED.csv

LAUNCHED.txt is what `reductions --launch-draws` printed (number of kernels and name of each draw), COUNTED.csv what ncu
wrote of it (--csv --page raw). Rows of draws get `counters`, a text for each kernel, and `bound`, what the longest of them
is short of: memory, issue slots, a pipe, or nothing of these, so that it waits.
"""
import csv
import json
import sys

METRICS = {
    "dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "issue": "sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
    "f64": "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed",
    "xu": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",
    "shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
TIME, REGISTERS, WAVES = "gpu__time_duration.sum", "launch__registers_per_thread", "launch__waves_per_multiprocessor"
ENOUGH = 80  # per cent of its peak from which a unit is what a kernel waits for


def kernels(path):
    with open(path, newline="", encoding="utf-8") as lines:
        text = [line for line in lines if line.startswith('"')]
    for row in csv.DictReader(text):
        if row["ID"]:  # the line of units has none
            yield {name: float(row[metric].replace(",", "")) for name, metric in
                   {**METRICS, "time": TIME, "registers": REGISTERS, "waves": WAVES}.items()}


def bound(k):
    unit = max(METRICS.keys() - {"warps"}, key=k.get)
    if k[unit] >= ENOUGH:
        return f"{unit} {k[unit]:.0f} %"
    return f"latency: {k['warps']:.0f} % of the warps, {k['waves']:.1f} waves; dram {k['dram']:.0f} %, issue {k['issue']:.0f} %"


def text(k):
    units = ", ".join(f"{name} {k[name]:.0f} %" for name in METRICS)
    return f"{units}, {k['registers']:.0f} registers, {k['waves']:.1f} waves"


def main(rows_path, launched_path, counted_path):
    counted = kernels(counted_path)
    of_draw = {}
    with open(launched_path, encoding="utf-8") as lines:
        for line in lines:
            count, tab, name = line.rstrip("\n").partition("\t")
            if tab and count.isdecimal():
                of_draw[name] = [next(counted) for _ in range(int(count))]
    with open(rows_path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        if row["section"] == "drawn" and row["name"] in of_draw:
            ran = of_draw[row["name"]]
            row["counters"] = "; ".join(map(text, ran))
            row["bound"] = bound(max(ran, key=lambda k: k["time"]))
            print(f"{row['reached']:.3f} {row['name']}: {row['bound']}")
    with open(rows_path, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1] == "--metrics":
        print(",".join([*METRICS.values(), TIME, REGISTERS, WAVES]))
    elif len(sys.argv) == 4:
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
