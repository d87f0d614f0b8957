"""Makes a Conan package of Ingot and builds and runs the project beside this file against it:

    conan.py SOURCE BUILD GENERATOR COMPILER

Conan's home is empty and nothing is asked of a remote.
What BUILD has compiled already is not compiled again.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from launcher import write_launcher


def main(source, build, generator, compiler):
    conan = shutil.which("conan")
    if conan is None:
        print("not tested: there is no conan here (pip install conan)")
        return
    work = pathlib.Path(build) / "tests/conan"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    environment = {**os.environ, "CONAN_HOME": str(work / "home"), "CXX": compiler}
    environment.pop("CC", None)

    def run(*arguments):
        done = subprocess.run([conan, *map(str, arguments)], env=environment, check=False, cwd=work,
                              stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}\nconan {arguments[0]} failed")
        return done.stdout

    launcher = write_launcher(work, build, unity=False)
    run("profile", "detect")
    # The quickest options to build: the test is about the package's content and its use.
    settings = ("--no-remote", "-s", "compiler.cppstd=20", "-s", "build_type=Debug",
                "-c", f"tools.cmake.cmaketoolchain:generator={generator}",
                "-c", "tools.cmake.cmaketoolchain:extra_variables=" + json.dumps(
                    {"INGOT_SORTING_ARCHITECTURES": "", "CMAKE_CXX_COMPILER_LAUNCHER": str(launcher)}),
                "-c", f"tools.cmake.cmake_layout:test_folder={work / 'test_package'}",
                "-c", "tools.build:cxxflags=['-O0', '-g0']",
                "-c", "tools.build:compiler_executables=" + json.dumps({"cpp": compiler}))
    # Creates the package, then builds packages/conan/test_package against it and runs that.
    run("create", pathlib.Path(source) / "packages/conan", *settings)

    made = json.loads(run("list", "ingot/*:*", "--format=json"))["Local Cache"]
    (reference, recipe), = made.items()
    (revision,) = recipe["revisions"].values()
    (package,) = revision["packages"]
    folder = pathlib.Path(run("cache", "path", f"{reference}:{package}").strip())
    for file in ("include/ingot/ingot.hpp", "include/ingot/core/operators.def", "lib/libingot.a", "licenses/LICENSE",
                 "lib/cmake/ingot/ingot-config.cmake", "lib/pkgconfig/ingot.pc"):
        if not (folder / file).exists():
            sys.exit(f"the package has no {file}")
    print("a package of", reference)


main(*sys.argv[1:])
