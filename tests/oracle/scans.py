"""Compares scans with NumPy 2.

    scans.py CASES

CASES is as reductions.py has it; the one axis is "all" where the operand is flattened. Prints what is wrong, and in the
end how many cases there were.
"""
import sys

import numpy as np

np.seterr(all="ignore")

SCANS = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "nancumsum": np.nancumsum,
    "nancumprod": np.nancumprod,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
    "logcumsumexp": np.logaddexp.accumulate,
}
OTHERS = {
    "diff": lambda x, axis: np.diff(x, axis=axis),
    "diff3": lambda x, axis: np.diff(x, 3, axis=axis),
    "ediff1d": lambda x, axis: np.ediff1d(x),
    "trapezoid": lambda x, axis: np.trapezoid(x, dx=0.5, axis=axis),
    "gradient": lambda x, axis: np.gradient(x, 0.5, axis=axis),
    "gradient_between": lambda x, axis: np.gradient(x * x, 0.5, axis=axis) * 2 + x,
    "gradient_twice": lambda x, axis: np.gradient(np.gradient(x, 0.5, axis=axis), 0.5, axis=0),
    "gradient_flipped": lambda x, axis: np.flip(np.gradient(np.flip(x, 0), 0.5, axis=axis))[..., 1::2],
    "gradient_transposed": lambda x, axis: np.gradient(x.T, 0.5, axis=axis).T,
    "gradient_ravelled": lambda x, axis: np.gradient(x, 0.5, axis=axis).reshape(-1),
    "gradient_of_ravelled": lambda x, axis: np.gradient(x.T.reshape(-1), 0.5),
    "gradient_of_scan": lambda x, axis: np.gradient(np.cumsum(x, 1), 0.5, axis=axis) + x,
    "scan_of_gradient": lambda x, axis: np.cumsum(np.gradient(x, 0.5, axis=axis), 0),
    "sum_of_gradient": lambda x, axis: np.sum(np.square(np.gradient(x, 0.5, axis=axis)), 1),
    "gradient_of_normed": lambda x, axis: np.gradient(x / (np.sum(x * x, 1, keepdims=True) + 1), 0.5, axis=axis),
    "gradient_normed": lambda x, axis: np.gradient(x, 0.5, axis=axis) / (np.max(np.abs(np.gradient(x, 0.5, axis=axis))) + 1),
    "gradient_reshaped_summed": lambda x, axis: np.sum(np.gradient(x.T, 0.5, axis=axis).reshape(x.shape), 0),
    # Views of scans, and trees around them.
    "flipped": lambda x, axis: np.flip(np.cumsum(x, axis)),
    "from_the_right": lambda x, axis: np.flip(np.cumsum(np.flip(x, axis), axis), axis),
    "last": lambda x, axis: np.take(np.cumsum(x, axis), -1, axis),
    "every_second": lambda x, axis: np.cumsum(x, axis)[..., 1::2],
    "transposed": lambda x, axis: np.cumsum(x, axis).T,
    "of_transposed": lambda x, axis: np.cumsum(x.T),
    "between": lambda x, axis: np.cumsum(x * x, axis) * 2 + x,
    "twice": lambda x, axis: np.cumsum(np.cumsum(x, axis), 0),
    "both_ways": lambda x, axis: np.cumsum(x, 0) + np.cumsum(x, 1),
    "of_a_sum": lambda x, axis: np.cumsum(np.sum(x, 1)),
    "summed": lambda x, axis: np.sum(np.cumsum(x, axis), axis),
    "normed": lambda x, axis: np.cumsum(x, axis) / np.sum(x, axis, keepdims=True),
    "row_for_all": lambda x, axis: np.cumsum(x[0]) + x,
    "row_for_all_rows": lambda x, axis: np.cumsum(x * x, axis) * x[:, :1] + x[0, 0],
    "reshaped": lambda x, axis: np.cumsum(x).reshape(x.shape) + 1,
    "smoothed": lambda x, axis: np.cumsum(x, axis)[..., 3:] - np.cumsum(x, axis)[..., :-3],
}
# Folds and maps of scans along their rows.
def softmax(x, axis):
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / np.sum(e, axis, keepdims=True)


ROWS = {
    "drawdown": lambda x, axis: np.min(x / np.maximum.accumulate(x, axis) - 1, axis),
    "greatest_prefix": lambda x, axis: np.max(np.cumsum(x, axis), axis),
    "place_of_greatest": lambda x, axis: np.argmax(np.cumsum(x, axis), axis),
    "mean_growth": lambda x, axis: np.mean(np.exp(np.cumsum(x / x.shape[axis], axis)), axis),
    "less_mean_prefix": lambda x, axis: x - np.mean(np.cumsum(x, axis), axis, keepdims=True),
    "distribution": lambda x, axis: np.cumsum(softmax(x, axis), axis),
    "centred": lambda x, axis: np.sum(abs(np.cumsum(x - np.mean(x, axis, keepdims=True), axis)), axis),
    "widest": lambda x, axis: np.max(np.maximum.accumulate(x, axis) - np.minimum.accumulate(x, axis), axis),
    "above_least": lambda x, axis: np.max(
        np.cumsum(x, axis) - np.minimum.accumulate(np.cumsum(x, axis), axis), axis
    ),
    "prefixes_of_prefixes": lambda x, axis: np.cumsum(np.cumsum(x, axis), axis),
    "span_of_prefixes": lambda x, axis: np.max(np.cumsum(x)) - np.min(np.cumsum(x)),
}
OTHERS |= ROWS
OF_PREFIXES_OF_PREFIXES = {"centred", "prefixes_of_prefixes"}
LARGE = {"cumprod", "nancumprod", "trapezoid", "diff", "diff3", "ediff1d"} | {o for o in OTHERS if "gradient" in o}


def accumulated(operation, x, axis):
    if axis == "all":
        x, axis = x.reshape(-1), 0
    if operation.startswith("cumm"):
        return SCANS[operation](x, axis)
    return SCANS[operation](x, axis=axis)


def expected(operation, x, axis):
    if operation in OTHERS:
        return OTHERS[operation](x, None if axis == "all" else axis)
    return accumulated(operation, x, axis)


def scale(operation, x, axis, want):
    """How large the terms are whose rounding a result carries."""
    if operation in ("cumsum", "nancumsum"):
        return accumulated("nancumsum", abs(x), axis)
    if operation == "logcumsumexp":
        return abs(want) + 1
    if operation in ROWS:
        row = x.size if axis == "all" else x.shape[axis]
        return 2 + np.nanmax(abs(x)) * row * (row if operation in OF_PREFIXES_OF_PREFIXES else 1) / 8
    if operation in LARGE:
        return abs(want) + np.nanmax(abs(x), initial=0) * (not operation.endswith("prod"))
    return np.nanmax(np.nancumsum(abs(x) + x * x)) * max(1, min(x.shape or (1,))) * 3


def fault(operation, x, axis, got):
    real = x.astype(np.float64) if x.dtype.kind != "f" and operation == "logcumsumexp" else x
    want = np.asarray(expected(operation, real, axis))
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{got.dtype}{got.shape}, wanted {want.dtype}{want.shape}"
    if got.size == 0:
        return None
    if got.dtype.kind != "f" or operation in ("cummax", "cummin"):
        wrong = got != want
        if got.dtype.kind == "f":
            wrong &= ~(np.isnan(got) & np.isnan(want))
    else:
        wide = real.astype(np.longdouble)
        want = np.asarray(expected(operation, wide, axis))
        bound = np.finfo(got.dtype).eps * scale(operation, wide, axis, want) * 64
        if operation.endswith("prod"):  # every factor rounds
            bound = bound * max(1, x.size / 16)
        edge = np.isinf(got) & (abs(want) + bound > np.finfo(got.dtype).max)  # overflowed, or as good as
        wrong = ~(abs(got - want) <= bound) & ~edge & ~(got == want) & ~(np.isnan(got) & np.isnan(want))
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
            operation, axis, _, _, given, shape, made, result = line.decode().split()

            def read(dtype, shape):
                data = cases.read(int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize)
                return np.frombuffer(data, dtype).reshape(shape)

            x, got = read(given, extents(shape)), read(made, extents(result))
            if found := fault(operation, x, axis if axis == "all" else int(axis), got):
                print(f"{operation} of {given} {shape} along {axis}: {found}")
            count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
