"""Where Ingot's headers, library and CMake's files are: `python -m ingot --cmake-dir`."""
import pathlib

__version__ = "0.1.0"


def include_dir():
    """The folder for a compiler's -I."""
    return str(pathlib.Path(__file__).parent / "include")


def library_dir():
    """The folder of libingot.a."""
    return str(pathlib.Path(__file__).parent / "lib")


def cmake_dir():
    """The folder for CMake's ingot_DIR, which find_package(ingot) reads."""
    return str(pathlib.Path(__file__).parent / "lib" / "cmake" / "ingot")
