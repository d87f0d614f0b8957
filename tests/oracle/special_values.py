"""Values of the special functions, by mpmath at 60 digits: for tests/oracle/special_values.txt, which is kept because
mpmath is not wanted where the tests run.

    python3 -m pip install mpmath
    tests/oracle/special_values.py 70 > tests/oracle/special_values.txt

A line is a row of the operator table, a place as a hexadecimal float (a float32 for most), the value there, and the
size that its error is measured against where that is greater than the value's: in the neighbourhood of a zero. The
argument is the number of random places for each row.
"""
import random
import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 60
INF, NAN = float("inf"), float("nan")


def uniform(low, high):
    return lambda r: r.uniform(low, high)


def spread(low, high, sign=1):
    """Powers of ten between these."""
    return lambda r: sign * 10 ** r.uniform(low, high)


def near(*places, within=-7):
    return lambda r: r.choice(places) + r.choice((-1, 1)) * 10 ** r.uniform(within, -1)


def amplitude(x):
    x = abs(x)
    return mp.sqrt(2 / (mp.pi * x)) if x > 2 else min(mp.mpf(1), 1 / x) if x > 0.5 else mp.mpf(0)


def quantile(p):
    """The normal distribution's, by Newton's iteration on the logarithm of the tail."""
    if p == 0.5:
        return mp.mpf(0)
    tail = p if p < 0.5 else 1 - p
    z = -mp.sqrt(-2 * mp.log(tail)) if tail < 0.1 else mp.mpf(-1.3)
    for _ in range(60):
        step = (mp.log(mp.ncdf(z)) - mp.log(tail)) * mp.ncdf(z) / mp.npdf(z)
        z -= step
        if abs(step) < abs(z) * mp.mpf(10) ** -40:
            break
    return z if p < 0.5 else -z


def erfcx(x):
    if x < 100:
        return mp.exp(x * x) * mp.erfc(x)
    return 1 / (x * mp.sqrt(mp.pi)) * (1 - 1 / (2 * x**2) + 3 / (4 * x**4) - 15 / (8 * x**6) + 105 / (16 * x**8))


def digamma_scale(x):
    return abs(mp.pi * mp.cot(mp.pi * x)) + abs(mp.digamma(1 - x)) if x < 0 else mp.mpf(0)


def lgamma(x):
    return mp.log(abs(mp.gamma(x))) if abs(x) < 1e6 else mp.re(mp.loggamma(x))


ANY = [spread(-40, -3), spread(-40, -3, -1), uniform(-3, 3), uniform(-40, 40)]
BESSEL = [uniform(0, 8), uniform(0, 30), uniform(-30, 0), spread(-30, 0), spread(1, 4)]
MODIFIED = [uniform(0, 8), uniform(-30, 30), spread(-30, 0), uniform(0, 700), near(8.0)]
SECOND = [uniform(0, 4), uniform(0, 30), spread(-30, 0), spread(1, 4)]

# row: the function, where its values are asked for, values that are known, and the scale of errors.
ROWS = {
    "ndtri": (quantile, [uniform(0, 1), spread(-37, 0), spread(-300, -37), near(0.5), near(0.075, 0.925)],
              [(0, -INF), (1, INF), (2, NAN), (-1e-30, NAN), (-INF, NAN), (INF, NAN)], None),
    "erfinv": (lambda x: quantile((1 + x) / 2) / mp.sqrt(2) if abs(x) > 1e-3 else mp.erfinv(x),
               [uniform(-1, 1), spread(-30, 0), near(0.85, -0.85),
                lambda r: r.choice((-1, 1)) * (1 - 10 ** r.uniform(-15, -1))],
               [(0, 0.0), (-0.0, -0.0), (1, INF), (-1, -INF), (2, NAN), (INF, NAN), (-INF, NAN)], None),
    "erfcinv": (lambda x: -quantile(x / 2) / mp.sqrt(2) if x < 1 else quantile(1 - x / 2) / mp.sqrt(2),
                [uniform(0, 2), spread(-37, 0), spread(-300, -37), near(1.0), near(0.15, 1.85)],
                [(0, INF), (2, -INF), (1, 0.0), (-1, NAN), (3, NAN), (INF, NAN), (-INF, NAN)], None),
    "erfc": (mp.erfc, [*ANY, uniform(0, 10), uniform(0, 27)], [(INF, 0.0), (-INF, 2.0)], None),
    "erfcx": (erfcx, [*ANY, uniform(-26, 0), uniform(0, 10), spread(1, 30), spread(30, 300)],
              [(0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, INF), (-30, INF), (-1e30, INF)], None),
    "tgamma": (mp.gamma, [uniform(-5, 30), uniform(-30, 0), uniform(0, 171), spread(-30, 0), near(0, -1, -2, -7)],
               [(0, INF), (-0.0, -INF), (INF, INF), (-1, NAN), (-INF, NAN), (200, INF)], None),
    "lgamma": (lgamma, [uniform(-5, 30), uniform(-30, 0), spread(-30, 0), spread(0, 30), near(1, 2),
                        near(-2, -3, -7)],
               [(0, INF), (-0.0, INF), (1, 0.0), (2, 0.0), (INF, INF), (-INF, INF), (-1, INF), (-2, INF)],
               lambda x: mp.mpf(1) if x < 0 else mp.mpf(0)),
    "digamma": (mp.digamma, [uniform(0, 10), uniform(-30, 0), spread(-30, 0), spread(0, 30), near(1.4616321449683622),
                             near(1, 3), near(-1, -2, -7), spread(-30, 0, -1)],
                [(0, -INF), (-0.0, INF), (INF, INF), (-INF, NAN), (-1, NAN), (-7, NAN)], digamma_scale),
    "j0": (lambda x: mp.besselj(0, x), BESSEL, [(0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 0.0)], amplitude),
    "j1": (lambda x: mp.besselj(1, x), BESSEL, [(0, 0.0), (-0.0, -0.0), (INF, 0.0)], amplitude),
    "y0": (lambda x: mp.bessely(0, x), SECOND, [(0, -INF), (INF, 0.0), (-INF, NAN), (-1, NAN)], amplitude),
    "y1": (lambda x: mp.bessely(1, x), SECOND, [(0, -INF), (INF, 0.0), (-INF, NAN), (-1, NAN)], amplitude),
    "i0": (lambda x: mp.besseli(0, x), MODIFIED, [(0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (800, INF)], None),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), MODIFIED, [(0, 1.0), (INF, 0.0), (-INF, 0.0)], None),
    "i1": (lambda x: mp.besseli(1, x), MODIFIED, [(0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (-800, -INF)], None),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), MODIFIED, [(0, 0.0), (-0.0, -0.0), (INF, 0.0)], None),
}


def single(x):
    """As a float32 where there is one."""
    return float(np.float32(x)) if 2**-126 <= abs(x) < 2**127 else x


def values(row, count):
    f, places, known, scale = ROWS[row]
    r = random.Random(row)
    for x, value in known:
        yield float(x), value, 0
    yield NAN, NAN, 0
    for k in range(count):
        x = single(places[k % len(places)](r))
        if any(x == place for place, _ in known):
            continue
        try:
            value = f(mp.mpf(x))
        except (ValueError, TypeError):  # a pole, or outside the domain
            continue
        size = scale(mp.mpf(x)) if scale else 0
        yield x, value, size if size > abs(value) else 0


def main(count):
    for row in ROWS:
        for x, value, size in values(row, count):
            text = mp.nstr(value, 22) if isinstance(value, mp.mpf) else repr(value)
            print(row, x.hex(), text, *([mp.nstr(size, 5)] if size else []))


if __name__ == "__main__":
    main(int(sys.argv[1]))
