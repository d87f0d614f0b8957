#!/usr/bin/env python3
"""The rows of indexing.cpp in torch (eager, and by torch.compile where there is something to fuse) and in CuPy, on one
GPU, beside Ingot's and CUB's, so that every ratio is of one run.

    indexing.py [--shrink N] [--ingot BUILD/bench/indexing] [--cub BUILD/cub_indexing] [--only PART_OF_A_NAME]

Prints microseconds, each the median of eleven calls, and Ingot's time over the least of the others'. What is not
installed is left out; results are compared with each other once. Gates nothing.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shrink", type=int, default=0)
    parser.add_argument("--ingot")
    parser.add_argument("--cub")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def rows(n):
    """Each row: a name, what makes its arrays (of `random`, which has the same functions for both libraries), and the
    statement in torch and in CuPy; the first returns the second's arguments. `n(2^k)` is a size."""
    side, some, many = 1 << 14, n(1 << 26), n(1 << 28)
    half = lambda r: (r.uniform(many), r.integers(2, many) != 0)
    scattered = lambda r: (r.zeros(n(1 << 20)), r.integers(n(1 << 20), some), r.uniform(some))
    in_torch, in_cupy = lambda t, s, i, v: s.index_add_(0, i, v), lambda c, s, i, v: c.add.at(s, i, v)
    return [
        ("(A - mu) / sd", lambda r: (r.uniform((n(side), side)), r.uniform(side), r.uniform(side) + 0.5),
         lambda t, a, mu, sd: (a - mu) / sd, None, True),
        ("A + transpose(B)", lambda r: (r.uniform((n(side), side)), r.uniform((side, n(side)))),
         lambda t, a, b: a + b.T, None, True),
        ("reversed axes copied", lambda r: (r.uniform((n(512), 512, 1024)),),
         lambda t, x: x.permute(2, 1, 0).contiguous(), lambda c, x: c.ascontiguousarray(x.transpose(2, 1, 0)), True),
        ("take at random indices", lambda r: (r.uniform(n(1 << 27)), r.integers(n(1 << 27), n(1 << 27))),
         lambda t, x, i: t.take(x, i), lambda c, x, i: c.take(x, i), False),
        ("take at sorted indices", lambda r: (r.uniform(n(1 << 27)), r.sorted(r.integers(n(1 << 27), n(1 << 27)))),
         lambda t, x, i: t.take(x, i), lambda c, x, i: c.take(x, i), False),
        ("take of rows of 128", lambda r: (r.uniform((n(1 << 20), 128)), r.integers(n(1 << 20), n(1 << 20))),
         lambda t, x, i: t.index_select(x, 0, i), lambda c, x, i: c.take(x, i, axis=0), False),
        ("x(mask)", half, lambda t, x, m: x[m], None, False),
        ("x(mask) = 0", half, lambda t, x, m: x.masked_fill_(m, 0), lambda c, x, m: c.putmask(x, m, 0), False),
        ("nonzero(mask)", lambda r: half(r)[1:], lambda t, m: t.nonzero(m)[:, 0], lambda c, m: c.nonzero(m)[0], False),
        # The others' is by atomics, in no order; Ingot has both.
        ("scatter_add", scattered, in_torch, in_cupy, False), ("scatter_add, unordered", scattered, in_torch, in_cupy, False),
        ("exp of a concatenate", lambda r: (r.uniform(many // 2), r.uniform(many // 2)),
         lambda t, a, b: t.exp(t.cat((a, b))), lambda c, a, b: c.exp(c.concatenate((a, b))), True),
        ("roll + x", lambda r: (r.uniform(many),), lambda t, x: t.roll(x, 100) + x, lambda c, x: c.roll(x, 100) + x,
         True),
        ("pad", lambda r: (r.uniform(many),), lambda t, x: t.nn.functional.pad(x, (100, 100)),
         lambda c, x: c.pad(x, 100), True),
        ("flip", lambda r: (r.uniform(many),), lambda t, x: t.flip(x, (0,)),
         lambda c, x: c.ascontiguousarray(c.flip(x)), True),
        ("histogram of 256 bins", lambda r: (r.uniform(many),), lambda t, x: t.histc(x, 256, 0, 1),
         lambda c, x: c.histogram(x, 256, (0, 1))[0], False),
        ("bincount to 1024", lambda r: (r.integers(1024, some, small=True),),
         lambda t, x: t.bincount(x, minlength=1024), lambda c, x: c.bincount(x, minlength=1024), False),
        ("searchsorted in 2^16", lambda r: (r.sorted(r.uniform(1 << 16)), r.uniform(some)),
         lambda t, a, x: t.searchsorted(a, x), lambda c, a, x: c.searchsorted(a, x), False),
    ]


class Torch:
    name = "torch"

    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            raise ImportError("torch sees no GPU")
        self.module = torch
        torch.manual_seed(1)

    def uniform(self, shape):
        return self.module.rand(shape, device="cuda")

    def zeros(self, n):
        return self.module.zeros(n, device="cuda")

    def integers(self, below, n, small=False):
        dtype = self.module.int32 if small else self.module.int64
        return self.module.randint(0, below, (n,), device="cuda", dtype=dtype)

    def sorted(self, x):
        return self.module.sort(x).values

    def time(self, call):
        cuda = self.module.cuda
        times = []
        for turn in range(14):
            start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            start.record()
            call()
            end.record()
            end.synchronize()
            if turn >= 3:
                times.append(1e3 * start.elapsed_time(end))
        return statistics.median(times)

    def free(self):
        self.module.cuda.empty_cache()


class CuPy:
    name = "CuPy"

    def __init__(self):
        import cupy
        cupy.cuda.runtime.getDeviceCount()
        self.module = cupy
        cupy.random.seed(1)

    def uniform(self, shape):
        return self.module.random.random(shape, dtype=self.module.float32)

    def zeros(self, n):
        return self.module.zeros(n, self.module.float32)

    def integers(self, below, n, small=False):
        return self.module.random.randint(0, below, n, dtype=self.module.int32 if small else self.module.int64)

    def sorted(self, x):
        return self.module.sort(x)

    def time(self, call):
        cuda = self.module.cuda
        times = []
        for turn in range(14):
            start, end = cuda.Event(), cuda.Event()
            start.record()
            call()
            end.record()
            end.synchronize()
            if turn >= 3:
                times.append(1e3 * cuda.get_elapsed_time(start, end))
        return statistics.median(times)

    def free(self):
        self.module.get_default_memory_pool().free_all_blocks()


def measured(library, arguments):
    """Of each row the time in this library, by torch.compile too."""
    times, compiled = {}, {}
    shrunk = lambda size: max(size >> arguments.shrink, 1)
    for name, make, in_torch, in_cupy, fusable in rows(shrunk):
        if arguments.only not in name:
            continue
        is_torch = library.name == "torch"
        statement = in_torch if is_torch or in_cupy is None else in_cupy
        try:
            given = make(library)
            times[name] = library.time(lambda: statement(library.module, *given))
            if is_torch and fusable:
                library.module.compiler.reset()  # or what is compiled of one piece of code is limited
                fused = library.module.compile(lambda *values: statement(library.module, *values), dynamic=False)
                if not library.module.equal(fused(*given), statement(library.module, *given)):
                    print(f"{name}: torch.compile's bits differ from torch's")
                compiled[name] = library.time(lambda: fused(*given))
        except Exception as reason:  # what one library cannot do keeps the others from nothing
            print(f"{name}, {library.name}: {type(reason).__name__}: {str(reason)[:200]}")
        given = None
        library.free()
    return times, compiled


def ran(command):
    print(f"== {' '.join(command)}", flush=True)
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        print(f"failed with {result.returncode}")
    return result.stdout


def times_of(lines):
    return {row["name"]: row["time"] for row in map(json.loads, lines) if row.get("section") not in ("roof", "failed")}


def main():
    arguments = parse()
    columns = {}
    if arguments.ingot:
        with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
            print(ran([arguments.ingot, file.name, arguments.only, str(arguments.shrink)]), end="")
            columns["Ingot"] = times_of(file)
    if arguments.cub:
        columns["CUB"] = times_of(ran([arguments.cub, str(arguments.shrink)]).splitlines())
    for kind in (Torch, CuPy):
        try:
            library = kind()
        except Exception as reason:
            print(f"{kind.name} is not measured: {reason}")
            continue
        print(f"== {kind.name} {library.module.__version__}", flush=True)
        times, compiled = measured(library, arguments)
        columns[kind.name] = times
        if compiled:
            columns["torch.compile"] = compiled
    names = list(dict.fromkeys(name for times in columns.values() for name in times))
    print(f"{'us':28}" + "".join(f"{column:>15}" for column in columns) + f"{'Ingot / best':>15}")
    for name in names:
        line = f"{name:28}"
        for times in columns.values():
            line += f"{times[name]:15.0f}" if name in times else " " * 15
        others = [times[name] for column, times in columns.items() if column != "Ingot" and name in times]
        own = columns.get("Ingot", {}).get(name, math.nan)
        print(line + (f"{own / min(others):15.2f}" if others else ""))


if __name__ == "__main__":
    sys.exit(main())
