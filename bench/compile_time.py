#!/usr/bin/env python3
"""What the headers cost a user: seconds and memory of the compiler at -O2, of each header, of the first use of a function
and of programs.

    compile_time.py RESULTS.jsonl [COMPILER [ROUNDS]]

Seconds are the processor's, so that other work on the machine counts little.
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


def compile_once(text, *more):
    """Seconds of the compiler and all that it starts, and the peak GiB of one of them."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "source.cpp")
        source.write_text(text)
        process = subprocess.Popen([compiler, *flags, *more, str(source)])
        _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{compiler} failed")
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def measure(text, *more):
    runs = [compile_once(text, *more) for _ in range(rounds)]
    return statistics.median(run[0] for run in runs), max(run[1] for run in runs)


def report(name, unit, value, goal=None):
    row = {"section": "compiling a user's file", "name": f"{name}, {os.path.basename(compiler)}", "unit": unit,
           "time": value}
    if goal is not None:
        row.update(promise="limit", reached=value, goal=goal, met=value <= goal)
    with open(results, "a") as file:
        file.write(json.dumps(row) + "\n")
    print(f"{row['name']:58} {value:8.3f} {unit}" + (f"  goal {goal}" if goal is not None else ""))


ROOMS = ("core", "linalg", "fft", "sorting", "statistics", "distributions", "interop", "kernels", "files", "ingot")
# The first use of a function in a file: x, y of float64, m a matrix, i of integers, b of bool, z complex.
FUNCTIONS = {
    "x + y": "array<double> r = x + y;",
    "where": "array<double> r = where(x - 2 > y, x * y, x + y);",
    "sum(x, 0)": "array<double> r = sum(m, 0);",
    "mean, var": "auto [a, c] = eval(mean(m, 1), var(m, 1));",
    "softmax": "array<double> r = softmax(m, 1);",
    "cumsum": "array<double> r = cumsum(x);",
    "x(i)": "array<double> r = x(i);",
    "x(b) = 0": "x(b) = 0;",
    "x(slice) = y": "x(slice(1, -1)) = y;",
    "concatenate": "array<double> r = concatenate({x, y});",
    "pad": "array<double> r = pad(x, 1);",
    "roll": "array<double> r = roll(x, 1);",
    "random::normal": "array<double> r = random::normal<double>({10});",
    "std::cout << x": "std::cout << x;",
    "matmul": "array<double> r = matmul(m, m);",
    "einsum": "array<double> r = einsum(\"ij,jk->ik\", m, m);",
    "solve": "array<double> r = linalg::solve(m, x);",
    "svd": "auto r = linalg::svd(m);",
    "fft": "auto r = eval(fft::fft(x));",
    "sort": "array<double> r = sort(x);",
    "unique": "auto r = unique(x);",
    "interp": "array<double> r = interp(x, y, y);",
    "quantile": "array<double> r = quantile(x, 0.5);",
    "histogram": "auto r = histogram(x, 10);",
    "cov": "array<double> r = cov(m);",
    "convolve": "array<double> r = convolve(x, y);",
    "random::choice": "auto r = random::choice(10, {3});",
    "elementwise_kernel": "const elementwise_kernel<\"T x\", \"T y\"> k(\"y = x\"); array<double> r = k(x);",
    "save": "save(\"x.npy\", x);",
}
USE = HEADER + """#include <iostream>
void f(array<double>& x, array<double>& y, array<double>& m, array<index_t>& i, array<bool>& b) {
    %s
}
"""
PROGRAMS = ("k_means", "n_body", "game_of_life", "black_scholes", "gaussian_process", "summary")

header, _ = measure(HEADER)
report("the header alone", "s", header)
for room in ROOMS:
    report(f"{room}.hpp", "s", measure(f"#include <ingot/{room}.hpp>\n")[0])
report("where", "s", measure(WHERE)[0], 0.9)
unused, _ = measure(USE % "")
for name, statement in FUNCTIONS.items():
    report(f"the first {name}", "s", measure(USE % statement)[0] - unused)
for name in PROGRAMS:
    seconds, memory = measure((root / "examples" / f"{name}.cpp").read_text(), "-I", str(root), "-I", str(root / "examples"))
    report(f"examples/{name}.cpp", "s", seconds, 8)
    report(f"examples/{name}.cpp: memory", "GiB", memory)
seconds, memory = measure(trees(10, 30))
report("ten trees of 30 nodes", "s", seconds, 6)
report("ten trees of 30 nodes: each node", "ms", 1e3 * (seconds - header) / 300, 15)
report("ten trees of 30 nodes: memory", "GiB", memory, 1)
