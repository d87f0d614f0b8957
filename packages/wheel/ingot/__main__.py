"""Prints the folders of the package ingot, for build scripts."""
import argparse

import ingot

parser = argparse.ArgumentParser(prog="python -m ingot", description=__doc__)
parser.add_argument("--version", action="version", version=ingot.__version__)
parser.add_argument("--cmake-dir", action="store_const", dest="folder", const=ingot.cmake_dir,
                    help="for CMake's ingot_DIR")
parser.add_argument("--include-dir", action="store_const", dest="folder", const=ingot.include_dir,
                    help="for a compiler's -I")
parser.add_argument("--library-dir", action="store_const", dest="folder", const=ingot.library_dir,
                    help="for a linker's -L")
chosen = parser.parse_args().folder
if chosen is None:
    parser.error("--cmake-dir, --include-dir or --library-dir is wanted")
print(chosen())
