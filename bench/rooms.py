#!/usr/bin/env python3
"""Times in CuPy what `rooms` times (its results are the first argument), and prints both with their ratio, CuPy's time
over Ingot's. Gates nothing."""
import json
import statistics
import sys

import cupy as cp
import cupyx.scipy.ndimage as ndimage
import cupyx.scipy.signal as signal
import cupyx.scipy.sparse as sparse


def microseconds(f):
    for _ in range(2):
        f()
    times = []
    for _ in range(7):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        for _ in range(3):
            f()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(begin, end) / 3 * 1e3)
    return statistics.median(times)


def statements():
    """Name and call of each statement; operands live as long as their group."""
    x = cp.random.random((8192, 8192), dtype="f4")
    b = cp.random.randint(0, 255, (8192, 8192)).astype("u1")
    w = cp.random.random((7, 7), dtype="f4")
    yield "gaussian_filter, 8192^2, sigma 2", lambda: ndimage.gaussian_filter(x, 2)
    yield "uniform_filter of 9, 8192^2", lambda: ndimage.uniform_filter(x, 9)
    yield "maximum_filter of 9, 8192^2", lambda: ndimage.maximum_filter(x, 9)
    yield "sobel, 8192^2", lambda: ndimage.sobel(x)
    yield "convolve by 7 x 7, 8192^2", lambda: ndimage.convolve(x, w)
    yield "median_filter 3 x 3 of bytes, 8192^2", lambda: ndimage.median_filter(b, 3)
    yield "median_filter 5 x 5, 8192^2", lambda: ndimage.median_filter(x, 5)
    k = cp.random.random((65, 65), dtype="f4")
    yield "fftconvolve by 65 x 65, 8192^2", lambda: signal.fftconvolve(x, k, mode="same")
    m = cp.random.random((4096, 4096), dtype="f4") > 0.5
    yield "label, 4096^2", lambda: ndimage.label(m)
    x = cp.random.random((4096, 4096), dtype="f4")
    at = cp.random.random((2, 1 << 24), dtype="f4") * 4095
    yield "map_coordinates of 2^24 places, order 1", lambda: ndimage.map_coordinates(x, at, order=1)
    yield "map_coordinates of 2^24 places, order 3", lambda: ndimage.map_coordinates(x, at, order=3)
    yield "zoom 2 of 4096^2, order 1", lambda: ndimage.zoom(x, 2, order=1)
    x = cp.random.random((4096, 65536), dtype="f4")
    sos = signal.butter(4, 0.2, output="sos")
    yield "sosfilt of butter(4), (4096, 65536)", lambda: signal.sosfilt(sos, x)
    yield "savgol_filter of 11, (4096, 65536)", lambda: signal.savgol_filter(x, 11, 3)
    x = cp.random.random(1 << 26, dtype="f4")
    yield "stft of 2^26, 1024", lambda: signal.stft(x, nperseg=1024)
    yield "welch of 2^26, 1024", lambda: signal.welch(x, nperseg=1024)
    yield "resample_poly 3 / 2 of 2^26", lambda: signal.resample_poly(x, 3, 2)
    n, entries = 1 << 20, 10**7
    rows, columns = cp.random.randint(0, n, entries), cp.random.randint(0, n, entries)
    a = sparse.coo_matrix((cp.random.random(entries, dtype="f4"), (rows, columns)), (n, n))
    c, d, v, many = a.tocsr(), a.T.tocsr(), cp.random.random(n, dtype="f4"), cp.random.random((n, 32), dtype="f4")
    yield "CSR of 2^20 rows and 10^7 entries by a vector", lambda: c @ v
    yield "the same, with a map behind", lambda: c @ v * 2 + v
    yield "CSR of 2^20 rows and 10^7 entries by 32 columns", lambda: c @ many
    yield "CSR + CSR of 10^7", lambda: c + d
    yield "COO to CSR of 10^7", lambda: sparse.coo_matrix((a.data, (a.row, a.col)), (n, n)).tocsr()
    side = 2048
    one = cp.ones(side * side, "f4")
    points = sparse.diags([-4 * one, one[1:], one[1:], one[side:], one[side:]], [0, 1, -1, side, -side]).tocsr()
    u = cp.random.random(side * side, dtype="f4")
    yield "five points as CSR, 2048^2, by a vector", lambda: points @ u


def main():
    ingot = {row["name"]: row for row in map(json.loads, open(sys.argv[1]))}
    print(f"{'statement':52}{'Ingot':>10}{'wanted':>10}{'CuPy':>10}{'ratio':>8} (us)")
    for name, f in statements():
        row, cupy = ingot.get(name, {}), microseconds(f)
        own = row.get("time", float("nan"))
        print(f"{name:52}{own:10.0f}{row.get('goal', 0):10.0f}{cupy:10.0f}{cupy / own:8.2f}")


if __name__ == "__main__":
    main()
