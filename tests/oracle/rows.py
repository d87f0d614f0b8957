"""Reference results for the operator table's rows, by NumPy 2.

    rows.py TABLE RESULTS

TABLE has one line a case: row, arity, dtype of the first operand, dtype of the others, dtype of the result, and "exact"
or "inexact". RESULTS gets for each case, in order: the number of elements as uint64, the operands, the results. Results
of inexact rows are in the next wider float (float64 for float32, long double for float64), computed there; behind them,
in the same float, stand their scales, 0 where an error is measured against the result alone.
"""
import functools
import itertools
import math
import os
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


def exponents(rng, dtypes):
    """Operands of ldexp: numbers, and powers of 2 that reach out of the floats and back."""
    a, b = operands(rng, dtypes)
    near = rng.integers(-2200 if dtypes[0].itemsize == 8 else -300, 2200 if dtypes[0].itemsize == 8 else 300, len(b))
    return [np.concatenate([a, a]), np.concatenate([b, near])]


def places(row):
    """Operands of a row that stands in special_values.txt."""
    def of_dtype(rng, dtypes):
        x = np.array([x for x, _, _ in special_values()[row]])
        return [x[np.isnan(x) | (x.astype(dtypes[0]) == x)].astype(dtypes[0])]
    return of_dtype


@functools.cache
def special_values():
    """Row -> (place, value, scale), as mpmath has them."""
    rows = {}
    with open(os.path.join(os.path.dirname(__file__), "special_values.txt")) as lines:
        for line in lines:
            row, x, value, *scale = line.split()
            rows.setdefault(row, []).append(
                (float.fromhex(x), np.longdouble(value), np.longdouble(scale[0] if scale else 0)))
    return rows


def looked_up(row, which):
    """Values (1) or scales (2) at places of the row."""
    def at(a):
        known = {float(entry[0]).hex(): entry[which] for entry in special_values()[row]}
        return np.array([known[float(x).hex()] for x in a], np.longdouble)
    return at


OPERANDS = {"ldexp": exponents} | {row: places(row) for row in special_values()}


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


def logistic(a):
    e = np.exp(-np.abs(a))
    return np.where(a < 0, e, np.ones_like(a)) / (1 + e)


def logit(a):
    s = 2 * (a - a.dtype.type(0.5))
    return np.where(np.abs(s) < 0.5, np.log1p(s) - np.log1p(-s), np.log(a / (1 - a)))


def log_logistic(a):
    e = np.log1p(np.exp(-np.abs(a)))
    return np.where(a < 0, a - e, -e)


def sinc(a):
    """By what a is off the nearest integer, and with the sign that sin(pi a) / (pi a) has there."""
    n = np.rint(a)
    pi = np.arctan2(np.zeros((), a.dtype), -np.ones((), a.dtype))
    y = np.sin((a - n) * pi) / (a * pi)
    return np.where(a == 0, 1, np.where(np.fmod(n, 2) == 0, y, -y))


def entropy(a):
    return np.where(a == 0, 0, np.where(a < 0, -np.inf, -a * np.log(a)))


def times_log(log):
    return lambda a, b: np.where((a == 0) & ~np.isnan(b), 0, a * log(b))


def relative_entropy(a, b):
    off = (a - b) / b
    ratio = np.where(np.abs(off) < 0.5, np.log1p(off), np.log(a) - np.log(b))
    outside = np.where(np.isnan(a) | np.isnan(b), np.nan, np.inf)
    return np.where((a > 0) & (b > 0), a * ratio, np.where((a == 0) & (b >= 0), 0, outside))


def divergence(a, b):
    y = relative_entropy(a, b)
    return np.where((a >= 0) & (b >= 0), y - a + b, y)


def greater(a, b):
    return np.fmax(np.abs(a), np.abs(b))


ROWS = {
    "clip": lambda a, lo, hi: np.minimum(np.maximum(a, lo), hi),
    "power": power,
    "reciprocal": reciprocal,
    "erf": erf,
    "ndtr": ndtr,
    "frexp_mantissa": lambda a: np.frexp(a)[0],
    "frexp_exponent": lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(np.int32),
    "ldexp": lambda a, b: np.ldexp(a, np.clip(b, -10000, 10000)),
    "expit": logistic,
    "logit": logit,
    "log_expit": log_logistic,
    "sinc": sinc,
    "entr": entropy,
    "xlogy": times_log(np.log),
    "xlog1py": times_log(np.log1p),
    "rel_entr": relative_entropy,
    "kl_div": divergence,
} | {row: looked_up(row, 1) for row in special_values()}

# What a result may be as small as where its terms cancel.
SCALES = {
    "logaddexp": greater,
    "logaddexp2": greater,
    "kl_div": greater,
} | {row: looked_up(row, 2) for row in special_values()}


def reference(row, arguments, result, exact):
    if row == "astype":
        return (astype(arguments[0], result),)
    if not exact:
        wide = WIDER[arguments[0].dtype]
        arguments = [a.astype(wide) for a in arguments]
        scale = SCALES[row](*arguments) if row in SCALES else np.zeros(len(arguments[0]))
        scale[~np.isfinite(scale)] = 0
        return ROWS.get(row, getattr(np, row, None))(*arguments).astype(wide), scale.astype(wide)
    out = ROWS.get(row, getattr(np, row, None))(*arguments)
    assert out.dtype == result, f"{row} of {arguments[0].dtype} gives {out.dtype}, the table says {result}"
    return (out,)


def main(table, results):
    np.seterr(all="ignore")
    with open(table) as lines, open(results, "wb") as out:
        for number, line in enumerate(lines):
            row, arity, first, others, result, exact = line.split()
            rng = np.random.default_rng(number)
            dtypes = [np.dtype(first)] + [np.dtype(others)] * (int(arity) - 1)
            arguments = OPERANDS.get(row, operands)(rng, dtypes)
            answers = reference(row, arguments, np.dtype(result), exact == "exact")
            out.write(np.uint64(len(answers[0])).tobytes())
            for array in (*arguments, *answers):
                out.write(np.ascontiguousarray(array).tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
