"""The recipes of package managers, as far as they can be tested without them: recipes.py SOURCE BUILD VERSION CMAKE

Their versions are the project's, and so is the newest of the changelog. The steps of vcpkg's port run with stand-ins for
vcpkg's functions: it configures the tree that it lies in with its options, and what `build` installs comes to lie as vcpkg
wants it. Conan's recipe exports what a build needs.
"""
import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys

STAND_INS = """
cmake_minimum_required(VERSION 3.25)
set(CURRENT_PORT_DIR "{port}")
set(CURRENT_PACKAGES_DIR "{packages}")
set(PORT ingot)
set(FEATURES "{features}")
function(vcpkg_check_features)
    cmake_parse_arguments(given "" OUT_FEATURE_OPTIONS "FEATURES;INVERTED_FEATURES" ${{ARGN}})
    set(options)
    foreach(kind IN ITEMS FEATURES INVERTED_FEATURES)
        while(given_${{kind}})
            list(POP_FRONT given_${{kind}} feature variable)
            set(is_on OFF)
            if((feature IN_LIST FEATURES AND kind STREQUAL "FEATURES") OR
               (NOT feature IN_LIST FEATURES AND kind STREQUAL "INVERTED_FEATURES"))
                set(is_on ON)
            endif()
            list(APPEND options "-D${{variable}}=${{is_on}}")
        endwhile()
    endforeach()
    set(${{given_OUT_FEATURE_OPTIONS}} "${{options}}" PARENT_SCOPE)
endfunction()
function(vcpkg_find_cuda)
    cmake_parse_arguments(given "" OUT_CUDA_TOOLKIT_ROOT "" ${{ARGN}})
    set(${{given_OUT_CUDA_TOOLKIT_ROOT}} "{cuda}" PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(given "" SOURCE_PATH OPTIONS ${{ARGN}})
    execute_process(COMMAND "{cmake}" -S "${{given_SOURCE_PATH}}" -B "{work}/configured" ${{given_OPTIONS}}
        -DINGOT_SORTING_ARCHITECTURES= --no-warn-unused-cli COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()
function(vcpkg_cmake_install)
    execute_process(COMMAND "{cmake}" --install "{build}" --prefix "{packages}" COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(given "" CONFIG_PATH "" ${{ARGN}})
    file(RENAME "{packages}/${{given_CONFIG_PATH}}" "{packages}/share/${{PORT}}")
endfunction()
function(vcpkg_fixup_pkgconfig)
    if(NOT EXISTS "{packages}/lib/pkgconfig/ingot.pc")
        message(FATAL_ERROR "no ingot.pc")
    endif()
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(given "" "" FILE_LIST ${{ARGN}})
    file(COPY_FILE "${{given_FILE_LIST}}" "{packages}/share/${{PORT}}/copyright")
endfunction()
include("{port}/portfile.cmake")
"""


def class_attributes(path):
    recipe = next(n for n in ast.parse(path.read_text()).body if isinstance(n, ast.ClassDef))
    return {t.id: ast.literal_eval(n.value) for n in recipe.body if isinstance(n, ast.Assign)
            for t in n.targets if isinstance(t, ast.Name)}


def exported(path):
    """The patterns that export_sources copies."""
    return re.findall(r'"([\w.]+(?:/\*)?)"', re.search(r"for pattern in \(([^)]*)\)", path.read_text()).group(1))


def of_text(path, pattern):
    return re.search(pattern, path.read_text(), re.M).group(1)


def main(source, build, version, cmake):
    source, build = pathlib.Path(source), pathlib.Path(build)
    port, conan = source / "packages/vcpkg/ingot", source / "packages/conan/conanfile.py"
    recipe = class_attributes(conan)
    newest = re.search(r"^## (\d+\.\d+\.\d+)", (source / "CHANGELOG.md").read_text(), re.M).group(1)
    for what, found in (("vcpkg.json", json.loads((port / "vcpkg.json").read_text())["version"]),
                        ("conanfile.py", recipe["version"]), ("CHANGELOG.md", newest),
                        ("the wheel", of_text(source / "packages/wheel/pyproject.toml", r'^version = "(.*)"')),
                        ("the wheel's module", of_text(source / "packages/wheel/ingot/__init__.py", r'"(\d.*)"'))):
        if found != version:
            sys.exit(f"{what} is of version {found}, and the project of {version}")
    if recipe["options"] != {"shared": [True, False], "fPIC": [True, False]}:
        sys.exit("conanfile.py has other kinds of library than two")

    copied = exported(conan)
    needed = re.findall(r"include\((cmake/[\w.]+)\)|configure_file\(\"\$\{PROJECT_SOURCE_DIR\}/([\w./]+)\"",
                        "".join((source / p).read_text() for p in ("CMakeLists.txt", "cmake/install.cmake")))
    needed = [a or b for a, b in needed] + ["LICENSE", "codegen/", "runtime/", "include/"]
    for path in needed:
        if not any(path.startswith(p.rstrip("*")) for p in copied):
            sys.exit(f"conanfile.py exports no {path}")

    written = (port / "vcpkg.json").read_text()
    if written != json.dumps(json.loads(written), indent=2) + "\n":
        sys.exit("vcpkg.json is not as `vcpkg format-manifest` writes it")
    install(port, source, build, cmake, [])
    known = re.search(r"^CUDAHeaders_INCLUDE_DIR:PATH=(.+)/include$", (build / "CMakeCache.txt").read_text(), re.M)
    if known:
        install(port, source, build, cmake, ["cuda"], known.group(1))
    print("recipes of version", version)


def install(port, source, build, cmake, features, cuda=""):
    """The port's steps, with these of its features."""
    work = build / "tests/recipes"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    packages = work / "packages"
    script = work / "port.cmake"
    script.write_text(STAND_INS.format(port=port, packages=packages, cmake=cmake, work=work, build=build, cuda=cuda,
                                        features=";".join(features)))
    subprocess.run([cmake, "-P", script], check=True)
    cache = (work / "configured/CMakeCache.txt").read_text()
    for line in ("INGOT_BUILD_TESTING:BOOL=OFF", "INGOT_BUILD_EXAMPLES:BOOL=OFF", "INGOT_INSTALL:BOOL=ON",
                 "INGOT_MPI:STRING=OFF"):
        if line not in cache:
            sys.exit(f"the port does not set {line}")
    has_cuda = re.search(r"^CUDAHeaders_INCLUDE_DIR:PATH=/", cache, re.M) is not None
    if has_cuda != ("cuda" in features):
        sys.exit(f"CUDA's headers are {'' if has_cuda else 'not '}looked for with the features {features}")
    for file in ("include/ingot/ingot.hpp", "lib/libingot.a", "lib/pkgconfig/ingot.pc", "share/ingot/ingot-config.cmake",
                 "share/ingot/ingot-targets.cmake", "share/ingot/copyright", "share/ingot/usage"):
        if not (packages / file).exists() and not (packages / file.replace(".a", ".so")).exists():
            sys.exit(f"the port installs no {file}")
    for folder in ("share/doc", "lib/cmake/ingot"):
        if (packages / folder).exists():
            sys.exit(f"the port leaves {folder}")


main(*sys.argv[1:])
