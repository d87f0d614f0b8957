"""Reference results for the operator table's rows, by NumPy 2.

    rows.py TABLE RESULTS

TABLE has one line a case: row, arity, dtype of the first operand, dtype of the others, dtype of the result, and "exact"
or "inexact". RESULTS gets for each case, in order: the number of elements as uint64, the operands, the results. Results
of inexact rows are in the next wider float (float64 for float32, long double for float64), computed there.
"""
import itertools
import math
import sys

import numpy as np

WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}


def integers(rng, dtype):
    info = np.iinfo(dtype)
    bits = 8 * dtype.itemsize
    small = [v for v in (-3, -2, -1, 0, 1, 2, 3, 7, bits - 1, bits, bits + 1) if info.min <= v <= info.max]
    special = np.array(sorted({info.min, info.min + 1, *small, info.max - 1, info.max}), dtype)
    anywhere = rng.integers(info.min, info.max, 600, dtype, endpoint=True)
    near = rng.integers(-12 if info.min < 0 else 0, 12, 300).astype(dtype)
    return special, anywhere, near


def floats(rng, dtype):
    info = np.finfo(dtype)
    positive = [0.0, info.smallest_subnormal, info.tiny, 1e-10, 0.1, 0.5, 1, 1.5, 2, 2.5, 3, 10, 88.5, 1e10,
                info.max, np.inf]
    special = np.array([s * v for v in positive for s in (1, -1)] + [np.nan], dtype)
    bits = rng.integers(0, 2 ** (8 * dtype.itemsize) - 1, 1500, np.dtype(f"u{dtype.itemsize}"), endpoint=True)
    near = np.concatenate([rng.standard_normal(1500) * 4, rng.integers(-40, 40, 200) / 4]).astype(dtype)
    return special, bits.view(dtype), near


def values(rng, dtype):
    """Special values, values from the whole range, and values of daily life."""
    if dtype == np.bool_:
        both = np.array([False, True])
        return both, both[rng.integers(0, 2, 64)], both[rng.integers(0, 2, 64)]
    return (floats if dtype.kind == "f" else integers)(rng, dtype)


def operands(rng, dtypes):
    """Every combination of special values, then random ones."""
    groups = [values(rng, t) for t in dtypes]
    grid = list(zip(*itertools.product(*(range(len(g[0])) for g in groups))))
    columns = []
    for index, (special, anywhere, near) in zip(grid, groups):
        columns.append([special[list(index)], rng.permutation(anywhere), rng.permutation(near)])
    whole = []
    for parts in zip(*columns):
        n = min(len(p) for p in parts)
        whole.append([p[:n] for p in parts])
    return [np.concatenate(c) for c in zip(*whole)]


def power(a, b):
    if a.dtype.kind != "i":
        return np.power(a, b)
    negative = b < 0
    one_over = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(negative, one_over, np.power(a, np.where(negative, 0, b))).astype(a.dtype)


def reciprocal(a):
    if a.dtype.kind == "f":
        return np.reciprocal(a)
    return np.where(a == 0, 0, np.reciprocal(np.where(a == 0, 1, a)))


def erf(a):
    return np.array([math.erf(x) for x in a], a.dtype)


def ndtr(a):
    """erfc(-a / sqrt 2) / 2, where what rounding the argument to a double left out is put back by the derivative."""
    z = -np.longdouble(a) * np.sqrt(np.longdouble(0.5))
    near = z.astype(np.float64)
    rest = np.where(np.isfinite(near), z - near, 0)
    base = np.array([math.erfc(x) for x in near], np.longdouble)
    return np.abs(base - 2 / np.sqrt(np.longdouble(np.pi)) * np.exp(-z * z) * rest) / 2


def astype(a, to):
    """Out of range saturates, NaN is 0."""
    if a.dtype.kind != "f" or to.kind not in "iu":
        return a.astype(to)
    info = np.iinfo(to)
    out = np.zeros(len(a), to)
    inside = (a > float(info.min)) & (a < float(info.max) + 1 if to.itemsize < 8 else a < float(info.max))
    out[inside] = a[inside].astype(to)
    out[~inside & (a > 0)] = info.max
    out[~inside & (a < 0)] = info.min
    return out


ROWS = {
    "clip": lambda a, lo, hi: np.minimum(np.maximum(a, lo), hi),
    "power": power,
    "reciprocal": reciprocal,
    "erf": erf,
    "ndtr": ndtr,
}


def reference(row, arguments, result, exact):
    if row == "astype":
        return astype(arguments[0], result)
    if not exact:
        wide = WIDER[arguments[0].dtype]
        return ROWS.get(row, getattr(np, row, None))(*(a.astype(wide) for a in arguments)).astype(wide)
    out = ROWS.get(row, getattr(np, row, None))(*arguments)
    assert out.dtype == result, f"{row} of {arguments[0].dtype} gives {out.dtype}, the table says {result}"
    return out


def main(table, results):
    np.seterr(all="ignore")
    with open(table) as lines, open(results, "wb") as out:
        for number, line in enumerate(lines):
            row, arity, first, others, result, exact = line.split()
            rng = np.random.default_rng(number)
            dtypes = [np.dtype(first)] + [np.dtype(others)] * (int(arity) - 1)
            arguments = operands(rng, dtypes)
            answer = reference(row, arguments, np.dtype(result), exact == "exact")
            out.write(np.uint64(len(answer)).tobytes())
            for array in (*arguments, answer):
                out.write(np.ascontiguousarray(array).tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
