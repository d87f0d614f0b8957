#!/usr/bin/env python3
"""Times whole processes: the first kernel with an empty cache, the start until the first result is printed, with a
bundle of kernels too, and 30 statements that are compiled by precompile and one after another.

    processes.py BUILD_FOLDER RESULTS.jsonl [ROUNDS]

INGOT_DEVICE chooses the device. Every process has a home, a kernel cache and a driver cache of its own, empty unless it
is to be warm. In a round every kind of process runs once, so that what is compared is measured side by side.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

build, results = pathlib.Path(sys.argv[1]), sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 11
program = str(build / "bench" / "first_result")
prebuilt = str(build / "prebuilt")
on_gpu = os.environ.get("INGOT_DEVICE", "cuda:0").startswith("cuda")
where = "" if on_gpu else ", host target"


def report(name, unit, times, baseline=None, baseline_times=None, promise=None, goal=None):
    """Adds a row as bench/report.hpp does; the excess is that of a round's pair."""
    row = {"section": "start", "name": name, "unit": unit, "time": statistics.median(times)}
    reached = row["time"]
    if baseline:
        row.update(baseline=baseline, baseline_time=statistics.median(baseline_times))
        reached = statistics.median(a - b for a, b in zip(times, baseline_times))
    if promise:
        row.update(promise=promise, reached=reached, goal=goal, met=reached <= goal)
    with open(results, "a") as file:
        file.write(json.dumps(row) + "\n")
    print(f"{name:70} {row['time']:10.4g} {unit}" + (f"  {promise} {reached:.4g}, goal {goal}" if promise else ""))


def report_share(name, unit, times, baseline, baseline_times, shares, goal):
    """The same of a share: the baseline over the time is at least the goal."""
    reached = statistics.median(shares)
    row = {"section": "start", "name": name, "unit": unit, "time": statistics.median(times), "baseline": baseline,
           "baseline_time": statistics.median(baseline_times), "promise": "share", "reached": reached, "goal": goal,
           "met": reached >= goal}
    with open(results, "a") as file:
        file.write(json.dumps(row) + "\n")
    print(f"{name:70} {row['time']:10.4g} {unit}  share {reached:.4g}, goal {goal}")


def environment(folder):
    """Caches in the folder alone."""
    return {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": f"{folder}/cache", "INGOT_CACHE_DIR": f"{folder}/ingot",
            "CUDA_CACHE_PATH": f"{folder}/driver"}


def times_of(mode, folder, extra=None):
    """What first_result prints in a process of its own."""
    out = subprocess.run([program, mode, str(folder)], env={**environment(folder), **(extra or {})}, check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)


def seconds_to_output(command, folder):
    """From before the process is made until it has written a line."""
    begin = time.perf_counter()
    with subprocess.Popen(command, env=environment(folder), stdout=subprocess.PIPE) as process:
        line = process.stdout.readline()
        seconds = time.perf_counter() - begin
        process.stdout.read()
    if process.returncode != 0 or not line:
        sys.exit(f"{command} failed")
    return seconds


class fresh_folder:
    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="ingot-bench-"))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def first_kernels_on_gpu():
    compiled, bare = [], []
    for _ in range(rounds):
        with fresh_folder() as folder, fresh_folder() as other:
            compiled.append(times_of("compile", folder))
            for name in ("first.cu", "second.cu"):
                shutil.copy(folder / name, other / name)
            bare.append(times_of("nvrtc", other))
    for which, goal in (("first", 20), ("second", 5)):
        report(f"{which} kernel of a process, empty cache", "ms", [t[which] for t in compiled], "bare NVRTC",
               [t[which] for t in bare], "excess", goal)


def first_kernels_on_host():
    for compiler, goal in (("g++", 80), ("clang++", 130)):
        if not shutil.which(compiler):
            continue
        times = []
        for _ in range(rounds):
            with fresh_folder() as folder:
                times.append(times_of("compile", folder, {"INGOT_CXX": compiler}))
        for which in ("first", "second"):
            report(f"{which} kernel of a process, {compiler}", "ms", [t[which] for t in times], promise="limit", goal=goal)


def starts():
    empty, warm, bundled, built = [], [], [], []
    with fresh_folder() as kept:
        seconds_to_output([program, "result"], kept)
        seconds_to_output([program, "bundle", str(kept / "kernels")], kept)
        for _ in range(rounds):
            with fresh_folder() as folder:
                empty.append(seconds_to_output([program, "result"], folder))
            warm.append(seconds_to_output([program, "result"], kept))
            with fresh_folder() as folder:  # the bundle alone, no cache; fails where NVRTC is opened
                bundled.append(seconds_to_output([program, "bundled", str(kept / "kernels")], folder))
            if os.path.exists(prebuilt) and on_gpu:
                with fresh_folder() as folder:
                    built.append(seconds_to_output([prebuilt], folder))
    for name, times, goal in (("empty cache", empty, 0.10), ("warm cache", warm, 0.03), ("bundle", bundled, 0.01)):
        if built:
            report(f"start to first result, {name}{where}", "s", times, "prebuilt CUDA", built, "excess", goal)
        else:
            report(f"start to first result, {name}{where}", "s", times)


def precompiling():
    together, in_turn = [], []
    for _ in range(min(rounds, 3)):
        for mode, times in (("precompile", together), ("in_turn", in_turn)):
            with fresh_folder() as folder:
                out = subprocess.run([program, mode], env=environment(folder), check=True, stdout=subprocess.PIPE,
                                     text=True).stdout
                times.append(json.loads(out)["all"])
    # A quarter on 16 cores; of fewer, what as many threads can give with as much lost.
    cores = len(os.sched_getaffinity(0))
    share = [b / a for a, b in zip(together, in_turn)]
    row_goal = min(4, max(1, cores / 4))
    report_share(f"30 statements precompiled, {cores} cores{where}", "ms", together, "one after another", in_turn, share,
                 row_goal)


if on_gpu:
    first_kernels_on_gpu()
else:
    first_kernels_on_host()
starts()
precompiling()
