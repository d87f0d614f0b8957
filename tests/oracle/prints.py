"""What NumPy prints.

    prints.py CASES TEXTS

CASES has for each array a line "dtype precision threshold edgeitems linewidth suppress rank extent...", then its bytes.
TEXTS gets str() and repr() of each, with a zero byte behind; where this version has another repr, that it is
"another version's".
"""
import sys

import numpy as np

VERSION = tuple(map(int, np.__version__.split(".")[:2]))
# Ingot prints as NumPy 2.0 to 2.2 do; later versions have their style as a legacy one.
if VERSION > (2, 2):
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
            array = np.frombuffer(data, dtype).reshape(shape)
            # Only version 2.2 adds the shape to a summary, and later ones leave it out in the legacy style.
            summarised = array.size > threshold and VERSION != (2, 2)
            for text in str(array), "another version's" if summarised else repr(array):
                texts.write(text.encode() + b"\0")
