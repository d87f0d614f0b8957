"""Which folders of Ingot include which: arrows.py SOURCE. Fails at an arrow that the table lacks, and at one that it has in
vain. Arrows that go back up are marked: they are to go."""
import pathlib
import re
import sys

ALLOWED = """
include/core:
include/kernels: include/core
include/sorting: include/core include/kernels
include/statistics: include/core include/sorting
include/linalg: include/core
include/solvers: include/core include/kernels include/linalg
include/fft: include/core
include/files: include/core
include/ndimage: include/core
include/nn: include/core
include/signal: include/core include/ndimage include/statistics
include/interpolate: include/core
include/spatial: include/core
include/interop: include/core include/files
include/distributed: include/core
include/sparse: include/core
include/distributions: include/core include/kernels include/linalg include/sorting

codegen:
codegen/graph: codegen
codegen/text: codegen codegen/graph codegen/plan^
codegen/plan: codegen/graph codegen/text codegen/cuda codegen/host
codegen/cuda: codegen/graph codegen/text codegen/plan^
codegen/host: codegen/graph codegen/text codegen/plan^

runtime/system: runtime/kernels^
runtime/device: codegen/text runtime/system runtime/kernels^ runtime/front^
runtime/kernels: codegen/graph codegen/text codegen/plan runtime/system runtime/device runtime/files^ runtime/front^
runtime/trees: runtime/system runtime/front^
runtime/front: codegen/graph codegen/plan runtime/system runtime/device runtime/kernels runtime/trees runtime/linalg
    runtime/fft runtime/sorting runtime/sparse runtime/ndimage
runtime/functions: runtime/system runtime/device runtime/kernels runtime/front runtime/sorting
runtime/files: runtime/system runtime/device runtime/functions runtime/front
runtime/linalg: runtime/system runtime/device runtime/functions runtime/front^
runtime/fft: runtime/system runtime/device runtime/front^
runtime/sorting: runtime/system runtime/device runtime/kernels runtime/front^
runtime/sparse: runtime/system runtime/device runtime/kernels runtime/files runtime/front^
runtime/ndimage: runtime/system runtime/device runtime/kernels runtime/functions runtime/front^
runtime/nn: runtime/system runtime/device runtime/front runtime/functions
runtime/signal: runtime/device runtime/front^ runtime/functions runtime/kernels runtime/ndimage runtime/system
runtime/interpolate: runtime/system runtime/functions
runtime/spatial: runtime/system runtime/functions
runtime/random: runtime/system runtime/device runtime/front
runtime/distributed: runtime/system runtime/device runtime/front runtime/trees runtime/random runtime/sorting runtime/files runtime/mpi
runtime/mpi:
"""


def folder(path):
    """The folder of a file, by its path in the tree: include/core of include/ingot/core/array.hpp."""
    parts = path.parent.parts
    return "/".join(parts[:1] + parts[2:] if parts[0] == "include" else parts[:2])


def found(root):
    """Arrows between folders, with a file that makes each; headers that gather a folder's have none."""
    arrows = {}
    for top in ("include/ingot", "codegen", "runtime"):
        for path in sorted((root / top).rglob("*.[ch]pp")):
            here = folder(path.relative_to(root))
            for name in re.findall(r'#include [<"]((?:codegen|runtime|ingot)/[\w./]+)[>"]', path.read_text()):
                there = folder(pathlib.Path("include", name) if name.startswith("ingot/") else pathlib.Path(name))
                own_part = there.startswith("include") and not here.startswith("include")
                if here != there and here != "include" and not own_part:
                    arrows.setdefault((here, there), path.relative_to(root))
    return arrows


def main(source):
    table = {}
    for line in re.sub(r"\n    ", " ", ALLOWED).strip().splitlines():
        if line:
            here, there = line.split(":")
            table[here] = {name.rstrip("^") for name in there.split()}
    allowed = {(here, there) for here, all_of_them in table.items() for there in all_of_them}
    arrows = found(pathlib.Path(source))
    faults = [f"{arrows[a]}: {a[0]} includes {a[1]}" for a in sorted(arrows.keys() - allowed)]
    faults += [f"{here} no longer includes {there}: take it out of the table" for here, there in
               sorted(allowed - arrows.keys())]
    print(f"{len(arrows)} arrows between folders, {ALLOWED.count('^')} of them back up")
    if faults:
        sys.exit("\n".join(faults))


main(*sys.argv[1:])
