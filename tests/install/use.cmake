# Builds and runs the project beside this file against Ingot: installed from `build` (way=find_package) or as a
# subproject and a shared library (way=add_subdirectory). Any step that fails ends it.
set(work "${build}/tests/install_${way}")
file(REMOVE_RECURSE "${work}")

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(way STREQUAL "find_package")
    run(${CMAKE_COMMAND} --install "${build}" --prefix "${work}/prefix")
    set(arguments "-DCMAKE_PREFIX_PATH=${work}/prefix")
else()
    set(arguments "-DINGOT_SOURCE=${source}" -DBUILD_SHARED_LIBS=ON)
endif()

run(${CMAKE_COMMAND} -S "${source}/tests/install" -B "${work}/build" -G "${generator}"
    "-DCMAKE_CXX_COMPILER=${compiler}" ${arguments})
run(${CMAKE_COMMAND} --build "${work}/build" --target downstream --parallel)
run("${work}/build/downstream")
