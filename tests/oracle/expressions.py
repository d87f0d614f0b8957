"""Compares results with what NumPy 2 makes of an expression.

    expressions.py CASES

CASES is a run of cases: a line with the number of operands and the tolerance in units of the last place, a line with
the expression, in which the operands are a, b, c, d; then for each operand and last for the result a line with its
dtype and shape ("-" for none) and the elements' bytes. Prints what is wrong, and in the end how many cases there were.
"""
import importlib
import sys
import warnings

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

if np.lib.NumpyVersion(np.__version__) < "2.3.0":
    # The rule 'auto' is NumPy 2.3's, which bounds the bins that quartiles ask for.
    from numpy.lib import _histograms_impl as histograms

    histograms._hist_bin_selectors["auto"] = lambda x, range: min(
        max(histograms._hist_bin_fd(x, range), histograms._hist_bin_sqrt(x, range) / 2),
        histograms._hist_bin_sturges(x, range),
    )

np.seterr(all="ignore")
warnings.simplefilter("ignore")
NAMES = {"np": np, "as_strided": as_strided, "sliding_window_view": sliding_window_view}
# SciPy's, by the modules that have them. They are imported where a case names them: all take six times as long as NumPy.
SCIPY = {"ndimage": "scipy", "signal": "scipy", "interpolate": "scipy", "integrate": "scipy", "distance": "scipy.spatial",
         "distance_matrix": "scipy.spatial"}


def names_in(expression):
    for name, module in SCIPY.items():
        if name in expression and name not in NAMES:
            module = importlib.import_module(module)
            NAMES[name] = getattr(module, name)
    return NAMES



def fault(want, got, ulps):
    want = np.asarray(want)
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{got.dtype}{got.shape}, wanted {want.dtype}{want.shape}"
    right = (got == want) | ((got != got) & (want != want))
    if ulps and got.dtype.kind in "fc":
        largest = np.max(abs(want), initial=0, where=np.isfinite(want))
        right |= abs(got - want) <= ulps * np.finfo(got.dtype).eps * largest
    if right.all():
        return None
    place = tuple(np.argwhere(~right)[0])
    return f"{(~right).sum()} wrong, first at {place}: {got[place]!r}, wanted {want[place]!r}"


def main(path):
    count = 0
    with open(path, "rb") as cases:

        def line():
            return cases.readline().decode().rstrip("\n")

        def elements():
            dtype, shape = line().split()
            shape = () if shape == "-" else tuple(map(int, shape.split(",")))
            data = cases.read(int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize)
            return np.frombuffer(data, dtype).reshape(shape)

        while head := line():
            operands, ulps = map(int, head.split())
            expression = line()
            given = dict(zip("abcd", [elements() for _ in range(operands)]))
            got = elements()
            if found := fault(eval(expression, names_in(expression) | given), got, ulps):
                print(f"{expression} of {', '.join(f'{x.dtype}{x.shape}' for x in given.values())}: {found}")
            count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
