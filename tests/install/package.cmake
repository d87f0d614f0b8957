# Packs Ingot by cpack, unpacks the Debian packages into an empty root, looks at what is in them, and builds and runs the
# project beside this file against that: the library of `build` (kind=static), or a shared one that is built for it
# (kind=shared). Any step that fails ends it.
cmake_minimum_required(VERSION 3.25)
set(work "${build}/tests/package_${kind}")
file(REMOVE_RECURSE "${work}")
unset(ENV{CMAKE_BUILD_TYPE})
find_program(dpkg_deb dpkg-deb)
find_program(cpack cpack)
if(NOT dpkg_deb OR NOT cpack)
    message("not tested: there is no dpkg-deb or no cpack here, which make Debian packages")
    return()
endif()

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(expect_list what list)  # each of the others is in the list
    foreach(wanted IN LISTS ARGN)
        if(NOT wanted IN_LIST list)
            message(FATAL_ERROR "${what} has no ${wanted}, but ${list}")
        endif()
    endforeach()
endfunction()

# unpack NAME DEPENDS FILES...: one package, of which files_of_NAME are the files.
function(unpack name depends)
    file(GLOB package "${work}/packages/${name}_*.deb")
    list(LENGTH package count)
    if(NOT count EQUAL 1)
        message(FATAL_ERROR "one ${name}_*.deb is wanted, and there is ${package}")
    endif()
    run("${dpkg_deb}" -x "${package}" "${work}/root")
    foreach(field IN ITEMS Package Version Architecture Depends Suggests Maintainer)
        execute_process(COMMAND "${dpkg_deb}" -f "${package}" ${field} OUTPUT_VARIABLE ${field}
            OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    if(NOT Package STREQUAL name OR NOT Version OR NOT Architecture OR NOT Maintainer OR NOT Depends MATCHES "${depends}")
        message(FATAL_ERROR "${name} says ${Package} ${Version} ${Architecture} by ${Maintainer}, depends on ${Depends}")
    endif()
    if(Depends MATCHES "boost" OR NOT Suggests MATCHES "openblas.*lapack.*fftw3.*zlib")
        message(FATAL_ERROR "${name} depends on ${Depends} and suggests ${Suggests}")
    endif()
    execute_process(COMMAND "${dpkg_deb}" --fsys-tarfile "${package}" COMMAND tar -t OUTPUT_VARIABLE files
        COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" files "${files}")
    expect_list(${name} "${files}" ${ARGN})
    foreach(file IN LISTS files)
        if(file AND NOT file MATCHES "^\\./(usr/.*)?$")
            message(FATAL_ERROR "${name} puts ${file} outside /usr")
        endif()
    endforeach()
    set(files_of_${name} "${files}" PARENT_SCOPE)
endfunction()

set(tree "${build}")
if(kind STREQUAL "shared")
    set(tree "${work}/library")
    run(${CMAKE_COMMAND} -S "${source}" -B "${tree}" -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}"
        -DBUILD_SHARED_LIBS=ON -DINGOT_BUILD_TESTING=OFF -DINGOT_BUILD_EXAMPLES=OFF -DCMAKE_BUILD_TYPE=Debug
        -DINGOT_SORTING_ARCHITECTURES= -DCMAKE_CXX_FLAGS_DEBUG=-O0)  # the quickest to build
    run(${CMAKE_COMMAND} --build "${tree}")
endif()
execute_process(COMMAND "${cpack}" --config "${tree}/CPackConfig.cmake" -G DEB -B "${work}/packages"
    WORKING_DIRECTORY "${tree}" COMMAND_ERROR_IS_FATAL ANY)

set(headers ./usr/include/ingot/ingot.hpp ./usr/include/ingot/core/operators.def ./usr/lib/cmake/ingot/ingot-config.cmake
    ./usr/lib/cmake/ingot/ingot-targets.cmake ./usr/lib/pkgconfig/ingot.pc)
if(kind STREQUAL "static")
    unpack(libingot-dev "^$" ${headers} ./usr/lib/libingot.a ./usr/share/doc/ingot/copyright)
else()
    unpack(libingot-dev "libingot[0-9.]+ \\(= [0-9.]+\\)" ${headers} ./usr/lib/libingot.so)
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" abi "${version}")
    unpack(libingot${abi} "libc6" ./usr/lib/libingot.so.${abi} ./usr/lib/libingot.so.${version}
        ./usr/share/doc/ingot/copyright)
    foreach(file IN LISTS files_of_libingot${abi})
        if(file AND NOT file MATCHES "/$" AND file IN_LIST files_of_libingot-dev)
            message(FATAL_ERROR "both packages have ${file}")
        endif()
    endforeach()
endif()
if(EXISTS "${tree}/libingot_mpi.so")
    unpack(libingot-mpi "libc6" ./usr/lib/libingot_mpi.so)
endif()

# In their place in the root, and none of it in the system.
run(${CMAKE_COMMAND} -S "${source}/tests/install" -B "${work}/found" -G "${generator}"
    "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_PREFIX_PATH=${work}/root/usr" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=ON)
file(STRINGS "${work}/found/CMakeCache.txt" place REGEX "^ingot_DIR")
string(FIND "${place}" "${work}/root/usr/lib/cmake/ingot" at)
if(at EQUAL -1)
    message(FATAL_ERROR "Ingot was found elsewhere: ${place}")
endif()
run(${CMAKE_COMMAND} --build "${work}/found" --target downstream)
run(${CMAKE_CTEST_COMMAND} --test-dir "${work}/found" --no-tests=error --output-on-failure)
