# Configures Ingot as a user does, by the preset that the README names and with BUILD_TESTING=OFF, and looks at what would
# be compiled: no tests, and no warning as an error.
set(work "${build}/tests/build_options")
file(REMOVE_RECURSE "${work}")

function(configure folder)
    execute_process(COMMAND ${CMAKE_COMMAND} -S "${source}" -B "${work}/${folder}" "-DCMAKE_CXX_COMPILER=${compiler}"
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DINGOT_SORTING_ARCHITECTURES= ${ARGN}
        WORKING_DIRECTORY "${source}" COMMAND_ERROR_IS_FATAL ANY)
    file(READ "${work}/${folder}/compile_commands.json" commands)
    foreach(unwanted IN ITEMS "-Werror" "ingot_doctest" "/tests/[a-z_]+/[a-z_]+\\.cpp")
        if(commands MATCHES "${unwanted}")
            message(FATAL_ERROR "${folder}: a user's build has ${unwanted}")
        endif()
    endforeach()
    if(NOT commands MATCHES "/runtime/[a-z_]+/[a-z_]+\\.cpp")
        message(FATAL_ERROR "${folder}: nothing of the library is built")
    endif()
endfunction()

configure(installed --preset release)
configure(without_tests -G Ninja -DBUILD_TESTING=OFF)
