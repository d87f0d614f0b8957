"""What NumPy reads in .npy files that were damaged, and that Ingot could read all the same.

    damaged_files.py CASES

CASES has for each file a line "bytes elements dtype fortran_order rank extent...", then the file, then the bytes of its
elements as Ingot has them, in the order of the file. Prints where NumPy has others, then how many files there were.
"""
import io
import sys
import warnings

import numpy as np


def fault(file, dtype, fortran, shape, elements):
    try:
        theirs = np.load(io.BytesIO(file))
    except Exception as reason:
        return f"NumPy cannot read it: {reason}"
    if theirs.dtype.newbyteorder("=") != dtype or theirs.shape != shape:
        return f"{dtype}{shape}, and NumPy reads {theirs.dtype}{theirs.shape}"
    if theirs.dtype == bool:
        theirs = theirs.view("u1") != 0
    if theirs.astype(dtype).tobytes("F" if fortran else "C") != elements:
        return "other elements than NumPy's"
    return None


def main(path):
    warnings.simplefilter("ignore")  # of Python 2's integers
    count = 0
    with open(path, "rb") as cases:
        while line := cases.readline():
            size, length, dtype, fortran, _, *shape = line.decode().split()
            file = cases.read(int(size))
            elements = cases.read(int(length))
            found = fault(file, np.dtype(dtype), fortran == "1", tuple(map(int, shape)), elements)
            if found:
                print(f"{file[:200]}: {found}")
            count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
