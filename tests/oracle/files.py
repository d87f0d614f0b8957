"""What NumPy and Python's zipfile read and write.

    files.py FOLDER

The arrays of these tests have bytes that follow from where they stand (`made`). FOLDER/given.txt has a line "name dtype
rank extent..." for each array that Ingot wrote: as FOLDER/name.npy, and all of them in stored.npz, deflated.npz and
wide.npz. Prints what is not as NumPy has it, then how many arrays there were. Then it writes files of its own:
FOLDER/theirs.txt has for each a line "file array dtype fortran_order rank extent...", with - for the array of a .npy.
"""
import io
import itertools
import os
import sys
import warnings
import zipfile

import numpy as np

DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
SHAPES = [(), (0,), (1,), (7,), (3, 4), (0, 3), (3, 0, 2), (2, 1, 3), (4, 3, 5), (1,) * 62 + (2, 3)]


def made(dtype, shape):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=int)) * dtype.itemsize
    data = ((np.arange(count) * 37 + 11) % 251).astype(np.uint8)
    return np.frombuffer((data % 2 if dtype == bool else data).tobytes(), dtype).reshape(shape)


class Unseekable(io.BytesIO):
    def seek(self, *_):
        raise io.UnsupportedOperation

    def tell(self):
        raise io.UnsupportedOperation


def saved(save, *arrays, **named):
    stream = io.BytesIO()
    save(stream, *arrays, **named)
    return stream.getvalue()


def check(folder):
    with open(f"{folder}/given.txt") as lines:
        given = [line.split() for line in lines]
    arrays = {name: made(dtype, tuple(map(int, shape))) for name, dtype, _, *shape in given}

    def contents(file):
        with open(f"{folder}/{file}", "rb") as f:
            return f.read()

    for name, array in arrays.items():
        if contents(name + ".npy") != saved(np.save, array):
            print(f"{name}.npy has other bytes than NumPy writes of {array.dtype}{array.shape}")
    if contents("stored.npz") != saved(np.savez, **arrays):
        print("stored.npz has other bytes than NumPy writes")
    deflated = np.load(f"{folder}/deflated.npz")
    if deflated.files != list(arrays):
        print(f"deflated.npz has {deflated.files}")
    for name, array in arrays.items():
        if saved(np.save, deflated[name]) != saved(np.save, array):
            print(f"{name} of deflated.npz is another array")
    limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 100
    if contents("wide.npz") != saved(np.savez, **arrays):
        print("wide.npz has other bytes than NumPy writes where sizes above 100 have 64 bits")
    zipfile.ZIP64_LIMIT = limit
    print(len(arrays))


def write(folder):
    lines = []

    def note(file, name, array, fortran=False):
        lines.append(" ".join(map(str, [file, name, array.dtype, int(fortran), array.ndim, *array.shape])))

    def swapped(array):
        return array.byteswap().view(array.dtype.newbyteorder(">"))

    arrays = {}
    number = 0
    for dtype, shape in itertools.product(DTYPES, SHAPES):
        array = made(dtype, shape)
        arrays[f"{dtype}_{'x'.join(map(str, shape[-3:]))}_{len(shape)}"] = array
        for order, swap, version in itertools.product("CF", (False, True), ((1, 0), (2, 0), (3, 0))):
            ordered = np.asarray(swapped(array) if swap else array, order=order)
            file, number = f"{number}.npy", number + 1
            with open(f"{folder}/{file}", "wb") as f:
                np.lib.format.write_array(f, ordered, version=version)
            note(file, "-", array, ordered.flags.f_contiguous and not ordered.flags.c_contiguous)

    def archive(file, **options):
        for name, array in (options.get("arrays") or arrays).items():
            note(file, name, array)
        return f"{folder}/{file}"

    np.savez(archive("a.npz"), **arrays)
    np.savez_compressed(archive("b.npz"), **arrays)
    few = {"größe": made("float32", (300, 200)), "a/b": made("int16", (3,)), "zeros": made("bool", (0,))}
    np.savez(archive("c.npz", arrays=few), **few)
    with open(archive("d.npz", arrays=few), "wb") as f:  # sizes behind the entries; NumPy 2 can write to a pipe
        stream = Unseekable()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as z:
            for name, array in few.items():
                z.writestr(name + ".npy", saved(np.save, array))
        f.write(stream.getvalue())
    zipfile.ZIP64_LIMIT = 100
    np.savez_compressed(archive("e.npz", arrays=few), **few)
    with zipfile.ZipFile(f"{folder}/e.npz", "a") as z:
        z.comment = b"a comment, with PK\5\6 in it"
    with open(f"{folder}/theirs.txt", "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    check(sys.argv[1])
    write(sys.argv[1])
