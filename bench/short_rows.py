#!/usr/bin/env python3
"""Runs short_rows (its path is the first argument, what follows goes to it) and times the same statements in NumPy, in
CPU time of one evaluation: the ratio is NumPy's over Ingot's, so what is below 1 is slower. Gates nothing."""
import subprocess
import sys
import time

import numpy as np


def milliseconds(statement, names):
    code = compile(statement, statement, "eval")
    least = float("inf")
    for turn in range(6):
        start = time.process_time()
        eval(code, names)
        least = min(least, time.process_time() - start) if turn else least
    return least * 1e3


def main():
    generator = np.random.default_rng(1)
    ratios = []
    for line in subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True).stdout.splitlines():
        dtype, shape, statement, ingot = line.split("\t")
        shape = tuple(map(int, shape.split(",")))
        column = shape[:-1] + (1,)
        names = {
            "np": np,
            "x": generator.random(shape, dtype) + np.dtype(dtype).type(0.5),
            "v": generator.random(shape[-1:], dtype) + np.dtype(dtype).type(0.5),
            "c": generator.random(column, dtype) + np.dtype(dtype).type(0.5),
            "uniform": lambda s: generator.random(s, dtype),
            "normal": lambda s: generator.standard_normal(s, dtype),
        }
        numpy = milliseconds(statement, names)
        ratios.append((numpy / float(ingot), f"{dtype} {str(shape):24} {statement:56} {float(ingot):9.3f} {numpy:9.3f}"))
    print(f"{'ratio':>6} dtype, shape, statement{'ingot':>66}{'numpy':>10} (ms)")
    for ratio, text in sorted(ratios):
        print(f"{ratio:6.2f} {text}")
    print(f"{sum(r < 1 for r, _ in ratios)} of {len(ratios)} slower than NumPy")


if __name__ == "__main__":
    main()
