"""Builds Ingot's wheel, installs it in a fresh virtual environment, builds examples/python against it there, and runs that:

    wheel.py SOURCE BUILD COMPILER

What BUILD has compiled already is not compiled again.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from launcher import write_launcher


def main(source, build, compiler):
    work = pathlib.Path(build) / "tests/wheel"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    # As the objects were compiled that are copied.
    cache = pathlib.Path(build, "CMakeCache.txt").read_text()
    architectures = re.search(r"^INGOT_SORTING_ARCHITECTURES:\w+=(.*)$", cache, re.M).group(1)
    environment = {**os.environ, "CXX": compiler, "INGOT_SORTING_ARCHITECTURES": architectures,
                   "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count()),
                   "CMAKE_CXX_COMPILER_LAUNCHER": str(write_launcher(work, build))}
    environment.pop("CC", None)
    environment.pop("PYTHONPATH", None)
    python = str(work / "venv/bin/python3")

    def run(*arguments):
        done = subprocess.run(arguments, env=environment, check=False, cwd=work, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}\n{' '.join(map(str, arguments))} failed")
        return done.stdout

    run(sys.executable, "-m", "venv", work / "venv")
    run(python, "-m", "pip", "install", "-q", "scikit-build-core>=0.10", "numpy")
    run(python, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", work, f"{source}/packages/wheel")
    (wheel,) = work.glob("ingot-*.whl")
    run(python, "-m", "pip", "install", "-q", wheel)
    folder = pathlib.Path(run(python, "-m", "ingot", "--cmake-dir").strip())
    if not (folder / "ingot-config.cmake").exists():
        sys.exit(f"there is no ingot-config.cmake in {folder}")
    # A user's compiler, who has nothing compiled already.
    environment["CMAKE_CXX_COMPILER_LAUNCHER"] = ""
    shutil.copytree(f"{source}/examples/python", work / "example")
    run(python, "-m", "pip", "install", "-q", "--no-build-isolation", work / "example")
    said = run(python, work / "example/gelu.py")
    if "values differ by at most" not in said and "gradients differ by at most" not in said:
        sys.exit(f"the example said {said}")
    print(wheel.name, f"{wheel.stat().st_size / 2**20:.1f} MiB:", said.strip())


main(*sys.argv[1:])
