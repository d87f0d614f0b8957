"""Compares searches, interpolation, counts and histograms with NumPy 2.

    histograms.py CASES

CASES is as reductions.py has it; of axes nothing is said. Integers are exact, and so are edges; other floats are within
a few ulp. Prints what is wrong, and in the end how many cases there were.
"""
import sys

import numpy as np

XP, FP, FAR = np.array([-1, 0, 0.5, 2]), np.array([3, -2, 0.125, 8]), np.array([1, np.inf, np.inf, 2])
PLANE_DTYPE = {"planes.1", "planes.2", "planes_weights.1", "planes_weights.2"}  # Ingot's edges are float64


def table(dtype):
    if dtype == bool:
        return np.array([False, False, True])
    if np.issubdtype(dtype, np.integer):
        return np.array([1, 2, 2, 2, 20, 40, 40], dtype)
    inf, nan = np.inf, np.nan
    return np.array([-1, -0.5, 0, 0, 0.25, 0.5, 1, 1, 1, inf, nan, nan], dtype)


def few(dtype):
    return table(dtype)[1:7]


WEIGHTS_EDGES = np.array([-1, 0, 0.25, 0.5, 0.5, 1.5, 3])

WANTED = {
    "search_left": lambda x: np.searchsorted(table(x.dtype), x),
    "search_right": lambda x: np.searchsorted(table(x.dtype), x, "right"),
    "search_promoted": lambda x: np.searchsorted(table(np.float32), x),
    "search_wide": lambda x: np.searchsorted(np.array([-1, 0, 3]), np.abs(x).astype(np.uint64)),
    "search_nothing": lambda x: np.searchsorted([], x),
    "search_sorter": lambda x: np.searchsorted([3, -1, 0.5], x, "right", [1, 2, 0]),
    "search_number": lambda x: np.searchsorted(table(np.float32), 0.1),
    "search_view": lambda x: np.searchsorted([-1.0, 1, 3], x.T[3::2]),
    "digitize": lambda x: np.digitize(x, few(x.dtype)),
    "digitize_right": lambda x: np.digitize(x, few(x.dtype), True),
    "digitize_down": lambda x: np.digitize(x, few(x.dtype)[::-1]),
    "digitize_down_right": lambda x: np.digitize(x, few(x.dtype)[::-1], True),
    "digitize_nan": lambda x: np.digitize(x, [0, 1, np.nan]),
    "digitize_nan_down": lambda x: np.digitize(x, [np.nan, 1, 0]),
    "digitize_nan_down_right": lambda x: np.digitize(x, [np.nan, 1, 0], True),
    "digitize_number": lambda x: np.digitize(0.3, [0, 1]),
    "interp": lambda x: np.interp(x, XP, FP),
    "interp_outside": lambda x: np.interp(x * 2, XP, FP, -7, np.inf),
    "interp_left": lambda x: np.interp(x, XP, FP, np.nan),
    "interp_infinite": lambda x: np.interp(x, XP, FAR),
    "interp_one": lambda x: np.interp(x, [1], [5], right=6),
    "interp_period": lambda x: np.interp(x, [2.5, -1, 0.25], [1, 2, 3], period=-1.5),
    "interp_complex": lambda x: np.interp(x, XP, both(FP, FAR), 1 + 2j, 0j),
    "interp_complex_period": lambda x: np.interp(x, XP, both(FP, -FP), period=3),
    "interp_number": lambda x: np.interp(1, [0, 3], [0, 1]),
    "bincount": lambda x: np.bincount(x),
    "bincount_long": lambda x: np.bincount(x, minlength=100),
    "bincount_weights": lambda x: np.bincount(x, x * 0.5 - 1, 7),
    "edges_range": lambda x: np.histogram_bin_edges(x, 7, (-0.7, 1.3)),
    "histogram": lambda x: np.histogram(x),
    "histogram_61": lambda x: np.histogram(x, 61),
    "histogram_edges": lambda x: np.histogram(x, WEIGHTS_EDGES),
    "histogram_nan_edges": lambda x: np.histogram(x, [0, 1, np.nan]),
    "histogram_range": lambda x: np.histogram(x, 20, (-0.7, 1.3)),
    "histogram_weights": lambda x: np.histogram(x, 12, weights=x * x),
    "histogram_weights_edges": lambda x: np.histogram(x, np.arange(4, dtype=np.int32), density=True, weights=x + x),
    "histogram_complex": lambda x: np.histogram(x, 5, weights=x - 1j * x),
    "histogram_bool": lambda x: np.histogram(x, 5, weights=x > 3),
    "histogram_density": lambda x: np.histogram(x, 5, (0, 2), density=True),
    "planes": lambda x: np.histogram2d(x[0], x[1]),
    "planes_weights": lambda x: np.histogram2d(x[0], x[1], [3, 4], [(-1, 2), None], True, x[1] * 2),
    "planes_edges": lambda x: np.histogram2d(x[0], x[1], [np.array([-1, 0, 1, 1, 3], np.int32), [-1, 0.5, 4]]),
    "planes_alike": lambda x: np.histogram2d(x[0], x[1], np.array([-1, 0.5, 1.25], np.float32), density=True),
}


def both(re, im):
    z = np.empty(len(re), complex)
    z.real, z.imag = re, im
    return z


def extents(text):
    return () if text == "-" else tuple(map(int, text.split(",")))


def fault(name, x, got, want):
    """What is wrong with a result, or nothing."""
    if want.shape != got.shape:
        return f"shape {got.shape}, wanted {want.shape}"
    if want.dtype != got.dtype and name not in PLANE_DTYPE:
        return f"{got.dtype}, wanted {want.dtype}"
    is_edge = name.startswith(("histogram", "planes", "edges")) and not name.endswith(".0")
    if got.dtype.kind in "fc" and not is_edge:
        bound = 1e-6 if x.dtype == np.float32 else 1e-14  # weights that NumPy sums in single precision
        equal = np.allclose(got, want, rtol=bound, atol=bound, equal_nan=True)
    else:
        equal = np.array_equal(got, want, equal_nan=got.dtype.kind == "f")
    return "" if equal else f"{got.ravel()[:20]}, wanted {want.ravel()[:20]}"


def main(path):
    np.seterr(all="ignore")
    count = 0
    with open(path, "rb") as cases:
        while line := cases.readline():
            name, _, _, _, given, shape, made, result = line.decode().split()

            def read(dtype, shape):
                data = cases.read(int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize)
                return np.frombuffer(data, dtype).reshape(shape)

            x, got = read(given, extents(shape)), read(made, extents(result))
            operation, _, part = name.partition(".")
            want = WANTED[operation](x)
            if wrong := fault(name, x, got, np.asarray(want[int(part)] if part else want)):
                print(f"{name} of {given}: {wrong}")
            count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
