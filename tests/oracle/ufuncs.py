"""NumPy's ufuncs and what they give.

    ufuncs.py DTYPE... > lines

A line is a name in NumPy's namespace, the number of operands, and for every combination of the dtypes, the first
operand's slowest, the dtype of the first result, or "none" where there is no such function.
"""
import itertools
import sys

import numpy as np


def result(f, dtypes):
    try:
        resolved = f.resolve_dtypes((*map(np.dtype, dtypes), *[None] * f.nout))
    except TypeError:
        return "none"
    return resolved[f.nin].name


for name in sorted(dir(np)):
    f = getattr(np, name)
    if isinstance(f, np.ufunc):
        inputs = [] if f.signature else itertools.product(sys.argv[1:], repeat=f.nin)
        print(name, f.nin, *(result(f, dtypes) for dtypes in inputs))
