"""Sparse matrices drawn by SciPy, and what it makes of them.

    sparse.py make FOLDER       writes the cases: FOLDER/cases.npz, and files of scipy.sparse.save_npz
    sparse.py compare FOLDER    compares FOLDER/results.npz with SciPy's results; prints what differs, then their number

cases.npz has for case K, named DTYPE.NUMBER, the triplets K.values K.rows K.columns, those of another matrix K.values_b
and so on, K.shape, and dense operands: vectors K.x and K.left, matrices K.xs and K.lefts, K.dense of the matrix' shape.
"""
import sys

import numpy as np
import scipy.sparse as sp

# All types are converted and multiplied; two have elementwise functions, one those that build.
ELEMENTWISE = ("float32", "complex128")
BUILT = "float32"
DTYPES = ["float32", "float64", "complex64", "complex128"]
# Rows, columns, entries before values for one place are added.
SIZES = [(0, 0, 0), (0, 5, 0), (4, 0, 0), (3, 4, 0), (1, 1, 1), (1, 9, 20), (9, 1, 5), (200, 7, 300), (7, 300, 500),
         (40, 60, 90), (90, 90, 3000), (130, 20, 1000)]

COMPARISONS = {"not_equal", "not_equal_0", "equal_1", "less", "greater", "less_number", "greater_number", "at_most",
               "at_least"}
FUNCTIONS = ("arcsin arcsinh arctan arctanh ceil deg2rad expm1 floor log1p rad2deg rint sign sinh tan tanh "
             "trunc").split()


def drawn(random, dtype, shape):
    values = random.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * random.standard_normal(shape)
    return (np.round(values * 8) / 8).astype(dtype)


def triplets(random, dtype, m, n, count, dense_row):
    rows, columns = random.integers(0, max(m, 1), count), random.integers(0, max(n, 1), count)
    if dense_row:
        rows, columns = np.concatenate([rows, np.full(n, m // 2)]), np.concatenate([columns, np.arange(n)])
        order = random.permutation(len(rows))
        rows, columns = rows[order], columns[order]
    return drawn(random, dtype, len(rows)), rows.astype(np.int64), columns.astype(np.int64)


def make(folder):
    random = np.random.default_rng(7)
    cases = {}
    for dtype in DTYPES:
        for number, (m, n, count) in enumerate(SIZES):
            for name in ("", "_b"):
                of = triplets(random, dtype, m, n, count, count == 90)
                cases |= {f"{dtype}.{number}.{part}{name}": v for part, v in zip(("values", "rows", "columns"), of)}
            made = {"shape": np.array([m, n], np.int64), "x": drawn(random, dtype, n),
                    "xs": drawn(random, dtype, (n, 5)),
                    "left": drawn(random, dtype, m), "lefts": drawn(random, dtype, (3, m)),
                    "dense": drawn(random, dtype, (m, n)) * (random.random((m, n)) < 0.3)}
            cases |= {f"{dtype}.{number}.{part}": v for part, v in made.items()}
        a = matrix(cases, f"{dtype}.9")
        for kind in ("csr", "csc", "coo"):
            sp.save_npz(f"{folder}/{dtype}.{kind}.npz", a.asformat(kind), compressed=kind == "csr")
        sp.save_npz(f"{folder}/{dtype}.matrix.npz", sp.csr_matrix(a))
    np.savez(f"{folder}/cases.npz", **cases)


def matrix(cases, name, which=""):
    values, rows, columns = (cases[f"{name}.{part}{which}"] for part in ("values", "rows", "columns"))
    a = sp.coo_array((values, (rows, columns)), shape=tuple(cases[f"{name}.shape"])).tocsr()
    a.sum_duplicates()
    return a


def wanted(names, dtypes, cases):
    """Results by name, each when it is asked for, of these cases and types."""
    for name in names:
        def case(part):
            return cases[f"{name}.{part}"]

        a, b = matrix(cases, name), matrix(cases, name, "_b")
        results = {
            "a": a, "coo": a, "dense_to_csr": sp.csr_array(case("dense")), "transposed": a.T.tocsr(),
            "coo_transposed": a.T.tocsr(), "to_dense": a.toarray(), "diagonal": a.diagonal(0),
            "diagonal_up": a.diagonal(1), "diagonal_down": a.diagonal(-2), "sum": np.asarray(a.sum()),
            "sum_0": a.sum(axis=0), "sum_1": a.sum(axis=1), "times_x": a @ case("x"), "times_xs": a @ case("xs"),
            "left": case("left") @ a, "lefts": case("lefts") @ a, "transposed_times": a.T @ case("left"),
            "transposed_times_matrix": a.T @ case("lefts").T, "slice": a[1:-1], "slice_by_2": a[::2],
            "reversed": a[::-3],
        }
        if a.shape[0]:
            results["row"] = a[[-1]]
        if name.startswith(ELEMENTWISE):
            results |= {
                "plus": a + b, "minus": a - b, "multiply": a.multiply(b).tocsr(),
                "multiply_dense": sp.csr_array(a.multiply(case("dense"))), "plus_dense": a + case("dense"),
                "dense_minus": case("dense") - a, "scaled": a * 3, "divided": a * a.dtype.type(0.25), "negated": -a,
                "abs": abs(a), "conj": a.conj(), "square": a.power(2), "sin": a.sin(), "wide": a,
                "wide_times_x": a @ case("x"), "not_equal": a != b, "not_equal_0": a != 0, "equal_1": a == 1,
            }
            if name.startswith(BUILT):
                results |= {"less": a < b, "greater": a > b, "less_number": a < -0.5, "greater_number": a > 0,
                            "at_most": a <= -1, "at_least": a >= 0.5}
            for key in COMPARISONS & results.keys():  # entries of float32 at the places that are true
                true = sp.csr_array(results[key]).astype("float32")
                true.eliminate_zeros()
                true.sort_indices()
                results[key] = true
        yield from ((f"{name}.{key}", value) for key, value in results.items())
    for dtype in dtypes:
        a = matrix(cases, f"{dtype}.9")
        yield from ((f"{dtype}.{kind}", a) for kind in ("csr", "csc", "coo", "matrix", "saved"))
        if dtype == BUILT:
            yield from ((f"{dtype}.{key}", value) for key, value in built(cases, dtype).items())


def built(cases, dtype):
    nothing, column, tall, wide = (matrix(cases, f"{dtype}.{k}") for k in (1, 6, 7, 8))
    tall_b, wide_b = matrix(cases, f"{dtype}.7", "_b"), matrix(cases, f"{dtype}.8", "_b")
    x = cases[f"{dtype}.7.x"]
    results = {
        "product": tall @ wide, "other_product": wide @ wide_b.T,
        "no_product": sp.csr_array((3, 7), dtype=dtype) @ wide,
        "kron": sp.kron(column, tall), "kron_of_nothing": sp.kron(nothing, tall),
        "vstack": sp.vstack([tall, tall_b, tall]),
        "hstack": sp.hstack([matrix(cases, f"{dtype}.9"), matrix(cases, f"{dtype}.9", "_b")]),
        "block_diag": sp.block_diag([tall, nothing, wide]), "eye": sp.eye_array(5, 7, k=-2, dtype=dtype),
        "eye_outside": sp.csr_array((5, 7), dtype=dtype),
        "diags": sp.diags_array([x, np.full(6, x[0]), x[:5]], offsets=[0, 1, -2]),
        "diags_in": sp.diags_array([x, np.full(7, x[0])], offsets=[2, -1], shape=(8, 9)),
    }
    small = tall * 0.125
    results |= {name: getattr(small, name)() for name in FUNCTIONS}
    results |= {"sqrt": abs(tall).sqrt(), "power": tall.power(3)}
    return {name: sp.csr_array(value).astype(dtype) for name, value in results.items()}


def result(results, folder, name):
    """A matrix by its parts, an array, or a file; None where it is not there."""
    if name.endswith(".saved"):
        return sp.load_npz(f"{folder}/{name}.npz")
    if name in results:
        return results[name]
    if name + ".indptr" not in results:
        return None
    values, indices, indptr, shape = (results[f"{name}.{part}"] for part in ("values", "indices", "indptr", "shape"))
    return sp.csr_array((values, indices, indptr), shape=tuple(shape))


def fault(want, got):
    if got is None:
        return "is missing"
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{got.dtype}{got.shape}, wanted {want.dtype}{want.shape}"
    if sp.issparse(want) != sp.issparse(got):
        return "is sparse, or wanted so"
    if sp.issparse(got):
        got.check_format()
        if not sp.csr_array((got.data, got.indices, got.indptr), shape=got.shape).has_canonical_format:
            return "is not sorted, or has a place twice"
        want, got = want.toarray(), got.toarray()
    largest = np.max(abs(want), initial=1)
    wrong = ~(abs(got - want) <= 64 * np.finfo(want.dtype).eps * largest)
    return f"{wrong.sum()} elements are wrong" if wrong.any() else None


def entries_differ(name, want, got):
    """Where SciPy drops zeros the number of entries is compared as well, but for sums in another order."""
    exact = name.rsplit(".", 1)[1] in ("a", "coo", "dense_to_csr", "transposed", "slice", "reversed", "row", "multiply")
    return exact and want.nnz != got.nnz


def compare(folder):
    cases, results = (dict(np.load(f"{folder}/{name}.npz")) for name in ("cases", "results"))
    count = 0
    dtypes = [dtype for dtype in DTYPES if any(name.startswith(dtype) for name in results)]
    names = sorted(name.removesuffix(".a.indptr") for name in results if name.endswith(".a.indptr"))
    for name, want in wanted(names, dtypes, cases):
        got = result(results, folder, name)
        found = fault(want, got)
        if found is None and sp.issparse(want) and entries_differ(name, want, got):
            found = f"{got.nnz} entries, wanted {want.nnz}"
        if found:
            print(f"{name}, {want.shape}: {found}")
        count += 1
    print(count)


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](sys.argv[2])
