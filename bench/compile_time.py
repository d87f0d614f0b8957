#!/usr/bin/env python3
"""What the umbrella header costs a user: seconds and memory of the compiler at -O2.

    compile_time.py RESULTS.jsonl [COMPILER [ROUNDS]]

The sources are written here: the header alone, one `where`, programs of more and more node types, and ten different
trees of thirty nodes in one file.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

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


def chain(nodes):
    """A tree of so many types of node: each operator stands over all before it."""
    text = "x"
    for i in range(nodes):
        text = f"({text} {'+-*'[i % 3]} {'xy'[i % 2]})"
    return HEADER + f"array<float> f(const array<float>& x, const array<float>& y) {{ return {text}; }}\n"


def tree(number, nodes):
    """A tree of binary operators; the number decides which, so that no two share a type."""
    operators = "+-*/"
    if nodes == 0:
        return "abcdefgh"[number % 8]
    left = (nodes - 1) // 2
    return (f"({tree(3 * number + 1, left)} {operators[(number + nodes) % 4]} "
            f"{tree(5 * number + 2, nodes - 1 - left)})")


def trees(count, nodes):
    parameters = ", ".join(f"const array<float>& {name}" for name in "abcdefgh")
    return HEADER + "".join(f"array<float> f{i}({parameters}) {{ return {tree(i, nodes)}; }}\n" for i in range(count))


def compile_once(text):
    """Seconds and peak GiB of the compiler and all that it starts."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "source.cpp")
        source.write_text(text)
        begin = time.perf_counter()
        process = subprocess.Popen([compiler, *flags, str(source)])
        peak = 0
        while process.poll() is None:  # the compiler proper is a child of the driver
            peak = max(peak, memory_of(process.pid))
            time.sleep(0.005)
        if process.returncode != 0:
            sys.exit(f"{compiler} failed")
        return time.perf_counter() - begin, peak / 2**20


def memory_of(parent):
    """Peak KiB of any one child."""
    peak = 0
    try:
        for child in pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
            for line in pathlib.Path(f"/proc/{child}/status").read_text().splitlines():
                if line.startswith("VmHWM"):
                    peak = max(peak, int(line.split()[1]))
    except OSError:
        pass  # it has just ended
    return peak


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


report("the header alone", "s", measure(HEADER)[0])
where, _ = measure(WHERE)
report("where", "s", where, 0.9)
few, many = measure(chain(5))[0], measure(chain(35))[0]
report("one more type of node", "ms", 1e3 * (many - few) / 30, 15)
seconds, memory = measure(trees(10, 30))
report("ten trees of 30 nodes", "s", seconds, 6)
report("ten trees of 30 nodes: memory", "GiB", memory, 1)
