"""Compares Fourier, cosine and sine transforms with NumPy 2's.

    transforms.py CASES

CASES is as reductions.py has it: the operation is an expression of x, in the place of axes is how many points are
transformed together. In the Euclidean norm a result is as far from NumPy's in double precision as rounding takes it,
which grows as the logarithm of the points. Prints what is wrong, and in the end how many cases there were.
"""
import sys

import numpy as np


def matrix(kind, n, ortho):
    """scipy.fft.dct of this type as a matrix, by its definition."""
    k, j = np.arange(n)[:, None], np.arange(n)[None, :]

    def cos(turn, period):  # cos(2 pi turn / period), whose argument is not rounded where it is large
        return np.cos(2 * np.pi * (turn % period) / period)

    if kind == 1:
        m = cos(k * j, 2 * (n - 1)) * np.where((j == 0) | (j == n - 1), 1, 2)
        ends, size = [0, n - 1], 2 * (n - 1)
    elif kind == 2:
        m, ends, size = 2 * cos(k * (2 * j + 1), 4 * n), [0], 2 * n
    elif kind == 3:
        m = cos((2 * k + 1) * j, 4 * n) * np.where(j == 0, 1, 2)
        ends, size = [0], 2 * n
    else:
        m, ends, size = 2 * cos((2 * k + 1) * (2 * j + 1), 8 * n), [], 2 * n
    if ortho:
        if kind in (1, 3):
            m[:, ends] *= np.sqrt(2)
        if kind in (1, 2):
            m[ends] /= np.sqrt(2)
    return m, size


def sine_matrix(kind, n, ortho):
    """The same of scipy.fft.dst."""
    k, j = np.arange(n)[:, None], np.arange(n)[None, :]

    def sin(turn, period):
        return np.sin(2 * np.pi * (turn % period) / period)

    if kind == 1:
        m, size = 2 * sin((k + 1) * (j + 1), 2 * (n + 1)), 2 * (n + 1)
    elif kind == 2:
        m, size = 2 * sin((k + 1) * (2 * j + 1), 4 * n), 2 * n
    elif kind == 3:
        m, size = sin((2 * k + 1) * (j + 1), 4 * n) * np.where(j == n - 1, 1, 2), 2 * n
    else:
        m, size = 2 * sin((2 * k + 1) * (2 * j + 1), 8 * n), 2 * n
    if ortho and kind == 3:
        m[:, -1] *= np.sqrt(2)
    if ortho and kind == 2:
        m[-1] /= np.sqrt(2)
    return m, size


def dct(x, kind=2, n=None, axis=-1, norm="backward", inverse=False, matrix=matrix):
    x = np.moveaxis(x.astype(float), axis, -1)
    n = n or x.shape[-1]
    x = np.concatenate([x, np.zeros(x.shape[:-1] + (n,))], -1)[..., :n]
    m, size = matrix({1: 1, 2: 3, 3: 2, 4: 4}[kind] if inverse else kind, n, norm == "ortho")
    scale = {"backward": inverse, "forward": not inverse}.get(norm, 0.5)
    return np.moveaxis(x @ m.T, -1, axis) / float(size) ** scale


def idct(x, kind=2, n=None, axis=-1, norm="backward"):
    return dct(x, kind, n, axis, norm, True)


def dst(x, kind=2, n=None, axis=-1, norm="backward"):
    return dct(x, kind, n, axis, norm, False, sine_matrix)


def idst(x, kind=2, n=None, axis=-1, norm="backward"):
    return dct(x, kind, n, axis, norm, True, sine_matrix)


def along(one):
    def several(x, kind=2, s=None, axes=None, norm="backward"):
        axes = axes if axes is not None else range(-len(s), 0) if s else range(x.ndim)
        for i, axis in enumerate(axes):
            x = one(x, kind, s[i] if s else None, axis, norm)
        return x

    return several


NAMES = {"np": np, "dct": dct, "idct": idct, "dst": dst, "idst": idst}
NAMES |= {name + "n": along(one) for name, one in NAMES.items() if name != "np"}
NAMES |= {name: getattr(np.fft, name) for name in dir(np.fft) if "fft" in name}


def fault(operation, x, points, got):
    """What is wrong with a result, or nothing."""
    exact = x.astype(np.promote_types(x.dtype, np.float64)) if x.dtype != bool else x.astype(float)
    want = np.asarray(eval(operation, NAMES, {"x": exact}))
    single = x.dtype in (np.float16, np.float32, np.complex64)
    parts = np.float32 if single else np.float64
    dtype = np.dtype(np.promote_types(parts, np.complex64) if want.dtype.kind == "c" else parts)
    if want.shape != got.shape:
        return f"shape {got.shape}, wanted {want.shape}"
    if got.dtype != dtype:
        return f"{got.dtype}, wanted {dtype}"
    error, size = np.linalg.norm((got - want).ravel()), np.linalg.norm(want.ravel())
    bound = 2 * np.finfo(parts).eps * (2 + np.log2(points)) * size
    return "" if error <= bound else f"error {error:g} of {size:g}, bound {bound:g}: {got.ravel()[:8]}, wanted {want.ravel()[:8]}"


def main(path):
    count = 0
    with open(path, "rb") as cases:
        while line := cases.readline():
            name, points, _, _, given, shape, made, result = line.decode().split()

            def read(dtype, shape):
                extents = () if shape == "-" else tuple(map(int, shape.split(",")))
                data = cases.read(int(np.prod(extents, dtype=int)) * np.dtype(dtype).itemsize)
                return np.frombuffer(data, dtype).reshape(extents)

            x, got = read(given, shape), read(made, result)
            if wrong := fault(name, x, int(points), got):
                print(f"{name} of {given} {x.shape}: {wrong}")
            count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
