"""Compares what is read and written at indices with NumPy 2.

    indexing.py CASES

CASES is as reductions.py has it; of axes nothing is said. Results are exact. Prints what is wrong, and in the end how
many cases there were.
"""
import sys

import numpy as np

I = np.array([2, 0, -1, 1, 2])
J = np.array([[3], [-2]])
K = np.array([1, 0], np.int8)
U = np.array([[4, 0, 1], [2, 2, 3]], np.uint16)


def written(write):
    def of(x):
        y = x.copy()
        write(y)
        return y

    return of


def put_mask_values(y):
    m = y > 40
    y[m] = np.arange(m.sum()).astype(y.dtype)


def add_in_mask(y):
    y[y > 40] += 5


def set_column(y):
    y[:, [3, 1]] = 9


READ = {
    # x has shape (4, 5, 6).
    "take0": lambda x: np.take(x, I, 0),
    "take1": lambda x: np.take(x, U, 1),
    "take2": lambda x: np.take(x, K, -1),
    "take_flat": lambda x: np.take(x, np.array([[0, 119], [-1, 60]])),
    "take_wrap": lambda x: np.take(x, np.array([-9, 13, 5]), 1, mode="wrap"),
    "take_clip": lambda x: np.take(x, np.array([-9, 13, 3]), 1, mode="clip"),
    "take_of_map": lambda x: np.take(x * x + 1, I, 0) - 2,
    "take_of_sum": lambda x: np.take(np.sum(x, 1), I, 0),
    "take_of_take": lambda x: np.take(np.take(x, I, 0), np.array([4, 0]), 0),
    "take_at_take": lambda x: np.take(x, np.take(I, np.array([0, 3])), 0),
    "take_at_sum": lambda x: np.take(x, np.sum(U % 2, 1), 0),
    "sum_of_take": lambda x: np.sum(np.take(x, I, 1), 1),
    "sum_of_all_taken": lambda x: np.sum(np.take(x, U, 1)),
    "scan_of_take": lambda x: np.cumsum(np.take(x, I, 2), 2),
    "take_of_scan": lambda x: np.take(np.cumsum(x, 1), I, 1),
    "take_of_reshape": lambda x: np.take(x.reshape(6, 20).T, I, 0),
    "reshape_of_take": lambda x: np.take(x, I, 1).reshape(10, 12),
    "view_of_take": lambda x: np.take(x, I, 0)[::-2, 1, ::2].T,
    "take_of_view": lambda x: np.take(x[::-1, 1::2, :4].transpose(2, 0, 1), I, 0),
    "standardised": lambda x: np.take(x - np.max(x, 2, keepdims=True), I, 0),
    "pair": lambda x: x[I[:2], J],
    "split": lambda x: x[I, :, np.array([0, 5, 1, 1, -1])],
    "behind": lambda x: x[..., I],
    "between": lambda x: x[1:, I, ::-2],
    "with_integer": lambda x: x[0, :, I],
    "with_integer_beside": lambda x: x[:, 2, I],
    "new_axis": lambda x: x[:, None, I],
    "three": lambda x: x[I[:2], J, U[:, :2]],
    "of_map": lambda x: (x + x)[I, 1:3],
    "mask": lambda x: x[x > 40],
    "mask_rows": lambda x: x[x[:, 0, 0] > 30],
    "mask_planes": lambda x: x[x[:, :, 2] > 40],
    "mask_beside": lambda x: x[1, x[0, :, 0] > 10],
    "nonzero": lambda x: np.nonzero(x % 3 == 0)[1],
    "argwhere": lambda x: np.argwhere(x % 7 == 0),
    "flatnonzero": lambda x: np.flatnonzero(x % 7 == 0),
    "compress": lambda x: np.compress([True, False, True, True], x, 1),
    "extract": lambda x: np.extract(x % 2 == 0, x),
    "along": lambda x: np.take_along_axis(x, np.argsort(-x, 2), 2),
    "along_broadcast": lambda x: np.take_along_axis(x, J.reshape(1, 2, 1), 1),
    "choose": lambda x: np.choose(x % 3, [x, -x, x * 2]),
    "select": lambda x: np.select([x < 20, x < 60], [x, x * x], -1),
    # And written.
    "set": written(lambda y: y.__setitem__((I[:4],), 7)),
    "set_values": written(lambda y: y.__setitem__((slice(None), I[:4]), y[:, :4] * 2)),
    "set_pair": written(lambda y: y.__setitem__((I[:2], J + [[0], [-1]]), np.array([[1, 2], [3, 4]])[:, :, None])),
    "set_split": written(lambda y: y.__setitem__((I[:3], slice(1, 4), np.array([0, 5, 1])), 8)),
    "set_last": written(set_column),
    "set_in_view": written(lambda y: y[::2, 1:].__setitem__((slice(None), np.array([0, 3])), 6)),
    "set_own": written(lambda y: y.__setitem__((np.array([0, 1]),), y[np.array([1, 0])] + 1)),
    "add": written(lambda y: y.__setitem__((I[:4],), y[I[:4]] + 3)),
    "mask_set": written(lambda y: y.__setitem__(y > 40, 2)),
    "mask_set_row": written(lambda y: y.__setitem__(y[:, 0, 0] > 30, np.arange(6))),
    "mask_set_values": written(put_mask_values),
    "mask_add": written(add_in_mask),
    "put": written(lambda y: np.put(y, [0, 3, -1], [7, 8])),
    "place": written(lambda y: np.place(y, y > 40, [1, 2, 3])),
    "putmask": written(lambda y: np.putmask(y, y > 40, np.array([1, 2, 3], y.dtype))),
    "copyto": written(lambda y: np.copyto(y, y // 2, where=y > 40)),
    "put_along": written(lambda y: np.put_along_axis(y, np.argmax(y, 1, keepdims=True), 0, 1)),
    "diagonal": written(lambda y: np.fill_diagonal(y[:, 0, :4], 3)),
    "scatter_add": written(lambda y: np.add.at(y, (I,), 5)),
    "scatter_add_values": written(lambda y: np.add.at(y, (slice(None), I), y[:, ::-1])),
    "scatter_max": written(lambda y: np.maximum.at(y, (I,), 50)),
    "scatter_min": written(lambda y: np.minimum.at(y, (slice(None), slice(None), I), 30)),
}


def extents(text):
    return () if text == "-" else tuple(map(int, text.split(",")))


def main(path):
    count = 0
    with open(path, "rb") as cases:
        while line := cases.readline():
            operation, _, _, _, given, shape, made, result = line.decode().split()

            def read(dtype, shape):
                data = cases.read(int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize)
                return np.frombuffer(data, dtype).reshape(shape)

            x, got = read(given, extents(shape)), read(made, extents(result))
            want = READ[operation](x)
            if want.shape != got.shape:
                print(f"{operation} of {given}: shape {got.shape}, wanted {want.shape}")
            elif not np.array_equal(got, want.astype(got.dtype)):
                print(f"{operation} of {given}: {got.ravel()[:20]}, wanted {want.ravel()[:20]}")
            count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
