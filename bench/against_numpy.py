#!/usr/bin/env python3
"""Prints what statements take on the host target beside NumPy: against_numpy.py BUILD_FOLDER, which has bench/against_numpy.

2^26 floats; the median of 5 runs, whose results are new arrays: Ingot's memory comes from its pool.
"""
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

rng = np.random.default_rng(1)
x, y = rng.standard_normal(1 << 26, dtype="f4"), rng.random(1 << 26, dtype="f4")
m = rng.standard_normal((1 << 14, 1 << 12), dtype="f4")


def softmax(a):
    e = np.exp(a - a.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


statements = {
    "where(x - 2 > y, x * y, x + y)": lambda: np.where(x - 2 > y, x * y, x + y),
    "sum(square(x - y))": lambda: np.sum(np.square(x - y)),
    "softmax of rows of 4096": lambda: softmax(m),
    "(x - mean(x)) / std(x) + y": lambda: (x - x.mean()) / x.std() + y,
    "var(m, 0)": lambda: m.var(0),
    "cumsum(x * x)": lambda: np.cumsum(x * x),
}


def microseconds(statement):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        statement()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


program = pathlib.Path(sys.argv[1]) / "bench" / "against_numpy"
ours = dict(line.split("\t") for line in subprocess.run([program], check=True, stdout=subprocess.PIPE,
                                                       text=True).stdout.splitlines())
for name, statement in statements.items():
    theirs, mine = microseconds(statement), float(ours[name])
    print(f"{name:32} Ingot {mine / 1000:8.1f} ms  NumPy {np.__version__} {theirs / 1000:8.1f} ms  {theirs / mine:5.1f} times")
