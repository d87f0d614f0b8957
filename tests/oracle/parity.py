"""NumPy 2's answers for the rows of the operator table, over every combination of dtypes that they take.

    parity.py TABLE RESULTS     computes them
    parity.py --differences     prints where Ingot gives something else on purpose, and why

TABLE holds lines of three kinds:

    seed NUMBER                                  of random operands
    operands PLACES RANDOM DTYPE...              begins a group: rows over the same operands, one for each dtype.
                                                 PLACES: `grid`, every combination of special values; `few`, of some;
                                                 `ldexp`; or `special:ROW,ROW`, an operand for each row, at places that
                                                 mpmath knows. RANDOM: random bit patterns besides
    row NAME EXACTNESS RESULT COMPUTES...        a row of the group: `exact` or `inexact`, dtype of the result, dtypes
                                                 that the operands are cast to

RESULTS gets for each group the number of elements as uint64; for each operand how many values of it the grid has, 0
where there is none; and the operands. The first elements are the grid, the last operand's values changing fastest.
Then for each row its answers; of an inexact one in the next wider float (float64 for float16, bfloat16 and float32,
long double for float64, complex ones of these), computed there, behind them in a real float of that width the scales,
0 where an error is measured against the answer alone and NaN where anything will do, and of a complex one what NumPy
gives in its own dtype.
NumPy has no bfloat16: it is read as uint16, computed as float32 and rounded.
"""
import functools
import math
import os
import sys

import numpy as np

# Where Ingot gives something else than NumPy, each with its reason; `row` or `row of dtype`.
DIFFERENCES = {
    "astype of floats to integers": "saturates, and NaN is 0, on every target: C++ and NumPy leave it to the hardware",
    "power of negative integer exponents": "1 and -1 have integer powers, others give 0: NumPy throws, a kernel cannot",
    "reciprocal of integer 0": "0, as integer division by 0 is: NumPy gives what the hardware leaves",
    "maximum, minimum, fmax, fmin, clip of two zeros": "either zero: NumPy's own choice depends on its build",
    "frexp_exponent of infinities and NaN": "0: NumPy's is the C library's, which leaves it open",
    "ldexp": "exponents beyond int32 count as large ones: NumPy throws for int64 on some systems",
    "functions of bool and 8-bit integers": "computed in float32: NumPy's float16 loses what float32 keeps",
    "complex functions of infinite angles": "C leaves signs, and which part is NaN, open",
    "complex power of infinities and NaN": "NaN or infinite: C leaves it open, and NumPy asks C",
    "complex expm1 of infinities": "exp(z) - 1, as C has exp: NumPy's formula multiplies 0 and infinity",
}

WIDER = {"float16": np.float64, "bfloat16": np.float64, "float32": np.float64, "float64": np.longdouble,
         "complex64": np.complex128, "complex128": np.clongdouble}


# ---- dtypes, of which NumPy lacks one ------------------------------------------------------------------------------


def storage(dtype):
    return np.dtype(np.uint16 if dtype == "bfloat16" else dtype)


def widened(a, dtype):
    """What NumPy computes with: of bfloat16 float32."""
    return (a.astype(np.uint32) << 16).view(np.float32) if dtype == "bfloat16" else a


def narrowed(a, dtype):
    """To the dtype's storage; to bfloat16 rounded once, to nearest even, by way of a float32 rounded to odd."""
    if dtype != "bfloat16":
        return a.astype(dtype)
    near = a.astype(np.float32)
    bits = near.view(np.uint32).copy()
    if a.dtype != np.float32:
        wide = a.astype(np.longdouble)
        inexact = (near != wide) & (wide == wide)
        bits -= (inexact & (abs(near) > abs(wide))).astype(np.uint32)
        bits |= inexact.astype(np.uint32)
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    return np.where(a != a, bits >> 16 | 0x40, rounded).astype(np.uint16)


def cast(a, start, to):
    """Ingot's cast from one dtype to another, in storage."""
    if start == to:
        return a
    a = widened(a, start)
    if a.dtype.kind != "f" or storage(to).kind not in "iu" or to == "bfloat16":
        return narrowed(a, to)
    info = np.iinfo(to)
    out = np.zeros(len(a), to)
    inside = (a > float(info.min)) & (a < float(info.max) + 1 if info.bits < 64 else a < float(info.max))
    if a.dtype == np.float16:  # whose largest number is below those of most integers
        inside = (a.astype(np.float64) > info.min) & (a.astype(np.float64) < info.max)
    out[inside] = a[inside].astype(to)
    out[~inside & (a > 0)] = info.max
    out[~inside & (a < 0)] = info.min
    return out


# ---- operands ------------------------------------------------------------------------------------------------------


def integers(rng, dtype, count):
    info = np.iinfo(dtype)
    small = [v for v in (-3, -2, -1, 0, 1, 2, 3, 7, info.bits - 1, info.bits, info.bits + 1)
             if info.min <= v <= info.max]
    special = np.array(sorted({info.min, info.min + 1, *small, info.max - 1, info.max}), dtype)
    return special, rng.integers(info.min, info.max, count, dtype, endpoint=True), \
        rng.integers(-12 if info.min < 0 else 0, 12, min(count, 300)).astype(dtype)


def floats(rng, dtype, count):
    info = np.finfo(np.float32 if dtype == "bfloat16" else dtype)
    positive = [0.0, info.smallest_subnormal, info.tiny, 1e-10, 0.1, 0.5, 1, 1.5, 2, 2.5, 3, 10, 88.5, 1e10,
                info.max, np.inf]
    if dtype == "bfloat16":
        positive[1], positive[-2] = 2.0**-133, 2.0**128 - 2.0**120
    special = narrowed(np.array([s * v for v in positive for s in (1, -1)] + [np.nan], info.dtype), dtype)
    unsigned = np.dtype(f"u{storage(dtype).itemsize}")
    bits = rng.integers(0, 2 ** (8 * unsigned.itemsize) - 1, count, unsigned, endpoint=True)
    usual = min(count, max(1700, count // 10))
    near = np.concatenate([rng.standard_normal(usual - usual // 8) * 4, rng.integers(-40, 40, usual // 8) / 4])
    return special, bits.view(storage(dtype)), narrowed(near, dtype)


def complexes(rng, dtype, count):
    parts = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan]
    special = np.array([complex(re, im) for re in parts for im in parts], dtype)

    def disc(n, size):
        return (rng.uniform(-size, size, n) + 1j * rng.uniform(-size, size, n)).astype(dtype)

    large, small = disc(count // 6, 60), disc(count // 6, 1e-3)
    return special, np.concatenate([disc(count - 4 * (count // 6), 3), large, small, 1 + small, 1j + small]), \
        np.concatenate([disc(min(count, 300), 4).real, 1j * disc(min(count, 300), 4).real]).astype(dtype)


def values(rng, dtype, count):
    """Special values, values from the whole range, and values of daily life."""
    if dtype == "bool":
        both = np.array([False, True])
        return both, both[rng.integers(0, 2, min(count, 64))], both[rng.integers(0, 2, min(count, 64))]
    kind = "f" if dtype == "bfloat16" else np.dtype(dtype).kind
    return {"f": floats, "c": complexes, "i": integers, "u": integers}[kind](rng, dtype, count)


def grid_and_random(rng, dtypes, count, most=None):
    """Every combination of special values, then random ones."""
    groups = [values(rng, t, count) for t in dtypes]
    if most:
        groups = [(rng.permutation(special)[:most], *others) for special, *others in groups]
    extents = [len(special) for special, _, _ in groups]
    index = [i.reshape(-1) for i in np.indices(extents)]
    parts = [[special[i] for (special, _, _), i in zip(groups, index)]]
    for which in (1, 2):
        n = min(len(g[which]) for g in groups)
        parts.append([rng.permutation(g[which])[:n] for g in groups])
    return [np.concatenate(column) for column in zip(*parts)], extents


def exponents(rng, dtypes, count):
    """Operands of ldexp: numbers, and powers of 2 that reach out of the floats and back."""
    (a, b), _ = grid_and_random(rng, dtypes, count)
    reach = {"float64": 2200, "float16": 50}.get(dtypes[0], 300)
    return [np.concatenate([a, a]), np.concatenate([b, rng.integers(-reach, reach, len(b))])], [0, 0]


def places(rows, dtype):
    """Operands of rows that stand in special_values.txt."""
    found = [np.array([x for x, _, _ in special_values()[row]]) for row in rows]
    found = [x[np.isnan(x) | (x.astype(dtype) == x)].astype(dtype) for x in found]
    return [np.resize(x, max(map(len, found))) for x in found], [0] * len(rows)


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


OPERANDS = {"grid": grid_and_random, "few": functools.partial(grid_and_random, most=16), "ldexp": exponents}


# ---- rows ----------------------------------------------------------------------------------------------------------


def power(a, b):
    common = np.result_type(a, b)
    if common == np.longdouble:  # glibc's has (-inf)^(-2^63) infinite
        return np.where(np.isinf(a), np.power(a.astype(np.float64), b.astype(np.float64)), np.power(a, b))
    if common.kind != "i":
        return np.power(a, b)
    a, b = a.astype(common), b.astype(common)
    negative = b < 0
    one_over = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(negative, one_over, np.power(a, np.where(negative, 0, b))).astype(a.dtype)


def reciprocal(a):
    if a.dtype.kind not in "biu":
        return np.reciprocal(a)
    a = a.astype(np.int8) if a.dtype.kind == "b" else a
    return np.where(a == 0, 0, np.reciprocal(np.where(a == 0, 1, a))).astype(a.dtype)


def by_library(f):
    return lambda a: np.array([f(x) for x in a], a.dtype)


def ndtr(a):
    """erfc(-a / sqrt 2) / 2, where what rounding the argument to a double left out is put back by the derivative."""
    z = -np.longdouble(a) * np.sqrt(np.longdouble(0.5))
    near = z.astype(np.float64)
    rest = np.where(np.isfinite(near), z - near, 0)
    base = np.array([math.erfc(x) for x in near], np.longdouble)
    return np.abs(base - 2 / np.sqrt(np.longdouble(np.pi)) * np.exp(-z * z) * rest) / 2


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


def log1p(a):
    """NumPy's of complex numbers loses digits near 0."""
    if a.dtype.kind != "c":
        return np.log1p(a)
    out = np.log1p(a)
    near = (abs(a.real) < 0.5) & (abs(a.imag) < 0.5)
    out.real = np.where(near, np.log1p(a.real * (a.real + 2) + a.imag * a.imag) / 2, out.real)
    return out


def expm1(a):
    return np.where(np.isfinite(a), np.expm1(a), np.exp(a) - 1) if a.dtype.kind == "c" else np.expm1(a)


def greater(a, b):
    return np.fmax(np.abs(a), np.abs(b))


def power_scale(a, b):
    """Of complex numbers; NaN where any result will do."""
    if a.dtype.kind != "c":
        return np.zeros(len(a))
    size = np.abs(np.power(a, b)) * (1 + np.abs(b) * (1 + np.abs(np.log(a))))
    known = np.isfinite(a) & np.isfinite(b) | (b == 1) | (b == 2) | (b == 3)
    return np.where(known, np.where(np.isfinite(size), size, 0), np.nan)


def above(a, b):
    computed = np.hypot(a[:0], b[:0]).dtype
    a, b = a.astype(computed), b.astype(computed)
    return np.where(a > b, a - b, np.where(a <= b, computed.type(0), a + b))


ROWS = {
    "clip": lambda a, lo, hi: np.minimum(np.maximum(a, lo), hi),
    "power": power,
    "float_power": lambda a, b: power(*(x.astype(np.result_type(x, np.float64)) for x in (a, b))),
    "reciprocal": reciprocal,
    "erf": by_library(math.erf),
    "erfc": by_library(math.erfc),
    "ndtr": ndtr,
    "log1p": log1p,
    "expm1": expm1,
    "real": lambda a: a.real,
    "imag": lambda a: a.imag if a.dtype.kind == "c" else np.zeros_like(a),
    "frexp_mantissa": lambda a: np.frexp(a)[0],
    "frexp_exponent": lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(np.int32),
    "ldexp": lambda a, b: np.ldexp(a, np.clip(b.astype(np.int64), -10000, 10000)),
    "expit": logistic,
    "logit": logit,
    "log_expit": log_logistic,
    "sinc": sinc,
    "entr": entropy,
    "xlogy": times_log(np.log),
    "xlog1py": times_log(np.log1p),
    "rel_entr": relative_entropy,
    "kl_div": divergence,
    "fma": lambda a, b, c: a * b + c,
    "fdim": above,
}

# A result may be as small as this where its terms cancel.
SCALES = {
    "fma": lambda a, b, c: np.maximum(np.abs(a * b), np.abs(c)),
    "logaddexp": greater,
    "logaddexp2": greater,
    "kl_div": greater,
    "power": power_scale,
    "float_power": power_scale,
}


def function(row):
    return ROWS.get(row) or getattr(np, row)


def known_answers(row, a, result):
    """At places of mpmath's, with their scales."""
    wide = WIDER[result]
    return looked_up(row, 1)(a).astype(wide), looked_up(row, 2)(a).astype(wide)


def exact_answers(row, given, dtypes, result, computes):
    """In the result's storage. NumPy promotes where it comes to Ingot's dtypes, and has them."""
    if row == "astype":
        return cast(given[0], dtypes[0], result)
    if "bfloat16" not in (*dtypes, result):
        out = function(row)(*given)
        if out.dtype == storage(result):
            return out
    out = function(row)(*(widened(cast(a, t, c), c) for a, t, c in zip(given, dtypes, computes)))
    assert result == "bfloat16" or out.dtype == storage(result), f"{row} of {dtypes} gives {out.dtype}, not {result}"
    return narrowed(out, result)


def inexact_answers(row, given, dtypes, result, computes):
    """The answers in a wider float, their scales and NumPy's own where those are complex."""
    cast_ones = [widened(cast(a, t, c), c) for a, t, c in zip(given, dtypes, computes)]
    wide = WIDER[computes[0]]
    arguments = [a.astype(wide) for a in cast_ones]
    answers = function(row)(*arguments)
    real = np.dtype(np.longdouble if WIDER[result] in (np.longdouble, np.clongdouble) else np.float64)
    scale = SCALES[row](*arguments) if row in SCALES else np.zeros(len(answers))
    scale[np.isinf(scale)] = 0
    own = [function(row)(*cast_ones).astype(result)] if storage(result).kind == "c" else []
    return (answers.astype(WIDER[result]), scale.astype(real), *own)


def main(table, results):
    np.seterr(all="ignore")
    seed, dtypes, given, number = 0, [], [], 0
    with open(table) as lines, open(results, "wb") as out:

        def write(*arrays):
            for array in arrays:
                out.write(np.ascontiguousarray(array).tobytes())

        for line in lines:
            kind, *words = line.split()
            if kind == "seed":
                seed = int(words[0])
            elif kind == "operands":
                number += 1
                places_of, count, *dtypes = words
                rows = places_of.removeprefix("special:").split(",") if ":" in places_of else []
                given, extents = places(rows, dtypes[0]) if rows else \
                    OPERANDS[places_of](np.random.default_rng([seed, number]), dtypes, int(count))
                whole = -(-len(given[0]) // 64) * 64  # in rows of 64, too
                given = [np.resize(a, whole) for a in given]
                write(np.uint64([whole, *extents]), *given)
            else:
                row, exactness, result, *computes = words
                if rows:
                    write(*known_answers(row, given[rows.index(row)], result))
                elif exactness == "exact":
                    write(exact_answers(row, given, dtypes, result, computes))
                else:
                    write(*inexact_answers(row, given, dtypes, result, computes))


if __name__ == "__main__":
    if sys.argv[1:] == ["--differences"]:
        print(*(f"{what}: {why}" for what, why in DIFFERENCES.items()), sep="\n")
    else:
        main(*sys.argv[1:])
