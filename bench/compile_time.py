#!/usr/bin/env python3
"""What the umbrella header costs a user: seconds and memory of the compiler at -O2.

    compile_time.py RESULTS.jsonl [COMPILER [ROUNDS]]

The sources are written here: the header alone, one `where`, and ten different trees of thirty nodes in one file. Seconds
are the processor's, so that other work on the machine does not count.
"""
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
results = sys.argv[1]
compiler = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("CXX", "c++")
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
flags = ["-std=c++20", "-O2", "-c", "-I", str(root / "include"), "-o", "/dev/null"]

HEADER = "#include <ingot/ingot.hpp>\nusing namespace ingot;\n"
WHERE = HEADER + """array<float> f(const array<float>& x, const array<float>& y) {
    return where(x - 2 > y, x * y, x + y);
}
"""


def tree(draw, nodes):
    """A tree of so many binary operators, drawn at random."""
    if nodes == 0:
        return draw.choice("abcdefgh")
    left = draw.randrange(nodes)
    return f"({tree(draw, left)} {draw.choice('+-*/')} {tree(draw, nodes - 1 - left)})"


def trees(count, nodes):
    parameters = ", ".join(f"const array<float>& {name}" for name in "abcdefgh")
    return HEADER + "".join(f"array<float> f{i}({parameters}) {{ return {tree(random.Random(i), nodes)}; }}\n"
                            for i in range(count))


def compile_once(text):
    """Seconds of the compiler and all that it starts, and the peak GiB of one of them."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "source.cpp")
        source.write_text(text)
        process = subprocess.Popen([compiler, *flags, str(source)])
        _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{compiler} failed")
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def measure(text):
    runs = [compile_once(text) for _ in range(rounds)]
    return statistics.median(run[0] for run in runs), max(run[1] for run in runs)


def report(name, unit, value, goal=None):
    row = {"section": "compiling a user's file", "name": f"{name}, {os.path.basename(compiler)}", "unit": unit,
           "time": value}
    if goal is not None:
        row.update(promise="limit", reached=value, goal=goal, met=value <= goal)
    with open(results, "a") as file:
        file.write(json.dumps(row) + "\n")
    print(f"{row['name']:58} {value:8.3f} {unit}" + (f"  goal {goal}" if goal is not None else ""))


header, _ = measure(HEADER)
report("the header alone", "s", header)
report("where", "s", measure(WHERE)[0], 0.9)
seconds, memory = measure(trees(10, 30))
report("ten trees of 30 nodes", "s", seconds, 6)
report("ten trees of 30 nodes: each node", "ms", 1e3 * (seconds - header) / 300, 15)
report("ten trees of 30 nodes: memory", "GiB", memory, 1)
