"""What NumPy prints.

    prints.py CASES TEXTS

CASES has for each array a line "dtype precision threshold edgeitems linewidth suppress rank extent...", then its bytes.
TEXTS gets str() of each, with a zero byte behind.
"""
import sys

import numpy as np

# Ingot prints as NumPy 2.0 to 2.2 do; later versions have their style as a legacy one.
if tuple(map(int, np.__version__.split(".")[:2])) > (2, 2):
    np.set_printoptions(legacy="2.2")

with open(sys.argv[1], "rb") as cases, open(sys.argv[2], "wb") as texts:
    while line := cases.readline():
        name, *options, _ = line.decode().split()[:7]
        precision, threshold, edgeitems, linewidth, suppress = map(int, options)
        shape = tuple(map(int, line.split()[7:]))
        dtype = np.dtype(name)
        data = cases.read(int(np.prod(shape, dtype=int)) * dtype.itemsize)
        with np.printoptions(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth,
                             suppress=bool(suppress)):
            texts.write(str(np.frombuffer(data, dtype).reshape(shape)).encode() + b"\0")
