"""Compares reductions with NumPy 2.

    reductions.py CASES

CASES has for each result a line "operation axes keepdims ddof dtype extents dtype extents", of the operand and of the
result, then the bytes of both. Axes are "all" or "0,2"; extents "2,3", or "-" of a 0-d array. Prints what is wrong, and
in the end how many cases there were.
"""
import sys
import warnings

import numpy as np

np.seterr(all="ignore")
warnings.simplefilter("ignore")  # of empty slices, and slices all NaN: they are wanted


def wide(x):
    return x.astype(np.longdouble) if x.dtype.kind == "f" else x.astype(np.float64)


def softmax(x, axis, **_):
    y = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return y / np.sum(y, axis=axis, keepdims=True)


def logsumexp(x, axis, **keep):
    m = np.max(x, axis=axis, keepdims=True)
    m = np.where(np.isfinite(m), m, 0)
    return np.log(np.sum(np.exp(x - m), axis=axis, **keep)) + (m if keep.get("keepdims") else np.squeeze(m, axis=axis))


def log_softmax(x, axis, **_):
    m = np.max(x, axis=axis, keepdims=True)
    y = x - np.where(np.isfinite(m), m, 0)  # SciPy's
    return y - np.log(np.sum(np.exp(y), axis=axis, keepdims=True))


def standardise(x, axis, **_):
    return (x - np.mean(x, axis=axis, keepdims=True)) / np.std(x, axis=axis, keepdims=True)


def twice(x, axis, **_):
    y = x - np.mean(x, axis=axis, keepdims=True)
    return y / np.std(y, axis=0, keepdims=True)


EXACT = {"max", "min", "argmax", "argmin", "any", "all", "count_nonzero", "nanmax", "nanmin", "ptp",
         "nanargmax", "nanargmin"}
FRACTIONAL = {"var", "std", "mean", "average", "norm", "softmax", "log_softmax", "logsumexp", "standardise",
              "standardise_twice", "nanmean", "nanvar", "nanstd"}
# How large the terms are whose rounding the result carries.
SCALE = {
    "sum": lambda x, **how: np.sum(abs(x), **how),
    "nansum": lambda x, **how: np.nansum(abs(x), **how),
    "mean": lambda x, **how: np.mean(abs(x), **how),
    "average": lambda x, **how: np.mean(abs(x), **how),
    "nanmean": lambda x, **how: np.nanmean(abs(x), **how),
}


def place_without_nan(find, x, axis, **keep):
    """NumPy's, but -1 where all are NaN and NumPy throws."""
    nothing = np.all(np.isnan(x), axis=axis, **keep)
    return np.where(nothing, -1, find(np.where(np.all(np.isnan(x), axis=axis, keepdims=True), 0, x), axis=axis, **keep))


SPECIAL = {
    "softmax": softmax,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "standardise": standardise,
    "standardise_twice": twice,
}


def norm(x, axis, **keep):
    return np.sqrt(np.sum(x * x, axis=axis, **keep))


def expected(operation, x, how, ddof):
    if operation in SPECIAL:
        return SPECIAL[operation](x, **how)
    if operation.startswith("nanarg"):
        return place_without_nan(getattr(np, operation), x, **{**how, "axis": how["axis"] and how["axis"][0]})
    if operation == "norm":
        return norm(x, **how)
    if operation in ("var", "std", "nanvar", "nanstd"):
        return getattr(np, operation)(x, ddof=ddof, **how)
    if operation.startswith("arg") and how["axis"] is not None:
        how = {**how, "axis": how["axis"][0]}
    return getattr(np, operation)(x, **how)


def fault(operation, x, how, ddof, got):
    if x.dtype.kind != "f" and operation in FRACTIONAL:
        x = x.astype(np.float64)
    want = np.asarray(expected(operation, x, how, ddof))
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{got.dtype}{got.shape}, wanted {want.dtype}{want.shape}"
    if got.dtype.kind != "f" or operation in EXACT:
        wrong = ~np.equal(got, want) & ~(np.isnan(got) & np.isnan(want) if got.dtype.kind == "f" else False)
    else:
        want = np.asarray(expected(operation, wide(x), how, ddof))
        scale = SCALE[operation](wide(x), **how) if operation in SCALE else abs(want) + (operation in SPECIAL)
        bound = 64 * np.finfo(got.dtype).eps * scale
        if operation == "prod":  # in whatever order, every factor rounds
            bound *= max(1, x.size / max(1, want.size) / 64)
        want = np.where(abs(want) > np.finfo(got.dtype).max, want.astype(got.dtype), want)  # overflowed
        wrong = ~(abs(got - want) <= bound) & ~(got == want) & ~(np.isnan(got) & np.isnan(want))
    if not wrong.any():
        return None
    place = tuple(np.argwhere(wrong)[0])
    return f"{wrong.sum()} wrong, first at {place}: {got[place]!r}, wanted {want[place]!r}"


def extents(text):
    return () if text == "-" else tuple(map(int, text.split(",")))


def main(path):
    count = 0
    with open(path, "rb") as cases:
        while line := cases.readline():
            operation, axes, keep, ddof, given, shape, made, result = line.decode().split()

            def read(dtype, shape):
                data = cases.read(int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize)
                return np.frombuffer(data, dtype).reshape(shape)

            x, got = read(given, extents(shape)), read(made, extents(result))
            how = {"axis": None if axes == "all" else extents(axes), "keepdims": keep == "1"}
            if found := fault(operation, x, how, int(ddof), got):
                print(f"{operation} of {given} {shape} over {axes}: {found}")
            count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
