# Builds and runs the project beside this file against Ingot: installed from `build` (way=find_package), or as a
# subproject and a shared library, which is then installed too (way=add_subdirectory). What is installed is found by
# CMake and by pkg-config. Any step that fails ends it.
set(work "${build}/tests/install_${way}")
file(REMOVE_RECURSE "${work}")
unset(ENV{CMAKE_BUILD_TYPE})

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# configure FOLDER ARGUMENTS...: the user's project.
function(configure folder)
    run(${CMAKE_COMMAND} -S "${source}/tests/install" -B "${work}/${folder}" -G "${generator}"
        "-DCMAKE_CXX_COMPILER=${compiler}" ${ARGN})
endfunction()

function(build_and_run folder)
    run(${CMAKE_COMMAND} --build "${work}/${folder}" --target downstream --parallel)
    run(${CMAKE_CTEST_COMMAND} --test-dir "${work}/${folder}" --no-tests=error --output-on-failure)
endfunction()

# Ingot as it is installed under work/prefix, once it was moved.
function(use_installed)
    file(RENAME "${work}/prefix" "${work}/moved")
    configure(found "-DCMAKE_PREFIX_PATH=${work}/moved")
    build_and_run(found)

    find_program(pkg_config NAMES pkg-config pkgconf)
    if(NOT pkg_config)
        message("not tested in part: there is no pkg-config here, which would find Ingot installed")
        return()
    endif()
    file(GLOB_RECURSE package "${work}/moved/ingot.pc")
    cmake_path(GET package PARENT_PATH folder)
    set(ENV{PKG_CONFIG_PATH} "${folder}")
    execute_process(COMMAND "${pkg_config}" --cflags --libs ingot OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${pkg_config}" --variable=libdir ingot OUTPUT_VARIABLE libraries
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run("${compiler}" -std=c++20 "${source}/tests/install/main.cpp" -o "${work}/packaged" ${flags})
    run(${CMAKE_COMMAND} -E env "LD_LIBRARY_PATH=${libraries}:$ENV{LD_LIBRARY_PATH}" "${work}/packaged")
endfunction()

# Without a build type Ingot's sources are optimised, its parent's are left as they are.
function(expect_optimised_ingot folder)
    file(READ "${work}/${folder}/compile_commands.json" commands)
    string(JSON count LENGTH "${commands}")
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
        string(JSON file GET "${commands}" ${i} file)
        string(JSON command GET "${commands}" ${i} command)
        string(REGEX MATCH " -O[1-3]" optimised "${command}")
        if(file MATCHES "/tests/install/main\\.cpp$")
            if(optimised)
                message(FATAL_ERROR "Ingot has set how its parent is compiled: ${command}")
            endif()
        elseif(NOT optimised)
            message(FATAL_ERROR "Without a build type Ingot is not optimised: ${command}")
        endif()
    endforeach()
endfunction()

if(way STREQUAL "find_package")
    run(${CMAKE_COMMAND} --install "${build}" --prefix "${work}/prefix")
else()
    set(arguments "-DINGOT_SOURCE=${source}" -DBUILD_SHARED_LIBS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
    if(NOT generator MATCHES "Multi-Config")
        configure(no_type ${arguments})
        expect_optimised_ingot(no_type)
    endif()
    configure(build ${arguments} -DCMAKE_BUILD_TYPE=Debug)  # the quickest to build
    build_and_run(build)
    run(${CMAKE_COMMAND} --install "${work}/build" --prefix "${work}/prefix")
    if(EXISTS "${work}/prefix")
        message(FATAL_ERROR "Ingot is installed with a parent that has not asked for it")
    endif()
    configure(build -DINGOT_INSTALL=ON)
    run(${CMAKE_COMMAND} --install "${work}/build" --prefix "${work}/prefix")
endif()
use_installed()
