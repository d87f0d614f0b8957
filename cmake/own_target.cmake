# The options of Ingot's own targets, and of no others.

# Without a build type (a parent project need not set one) they are optimised as in a Release, unless CMAKE_CXX_FLAGS
# says how to optimise.
#
# The house's warnings. They are errors in tests/run alone, so that another compiler's opinion never stops a user's build.
function(ingot_own_target target)
    if(NOT CMAKE_CXX_FLAGS MATCHES "(^| )-O")
        separate_arguments(release NATIVE_COMMAND "${CMAKE_CXX_FLAGS_RELEASE}")
        target_compile_options(${target} PRIVATE "$<$<NOT:$<BOOL:$<CONFIG>>>:${release}>")
    endif()
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Its garbage collector takes a tenth of the time of sources that want far less memory than there is.
        target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-expand=200"
            "SHELL:--param ggc-min-heapsize=1000000")
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # g++ 12 sees an overlap in `"text" + std::string` that is not there (its bug 105651), a delete of no heap block
        # where a vector grows, and at -O3 members of a variant's other alternatives where one is moved.
        target_compile_options(${target} PRIVATE -Wno-restrict -Wno-free-nonheap-object -Wno-maybe-uninitialized)
        # Behind a precompiled header it sees strings written out of bounds that are not.
        target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
        # g++ 13 warns of every function that takes a temporary and returns a reference, whatever the reference is to, and
        # of arrays whose elements a loop writes, where sources are compiled at once.
        target_compile_options(${target} PRIVATE -Wno-dangling-reference -Wno-maybe-uninitialized)
    endif()
    set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR ${INGOT_WARNINGS_AS_ERRORS} CXX_EXTENSIONS OFF)
endfunction()

# Lets a target include "codegen/..." and "runtime/..." and see how this build was configured.
function(ingot_see_inside target scope)
    target_include_directories(${target} ${scope} "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
    if(INGOT_DEBUG)
        target_compile_definitions(${target} ${scope} INGOT_DEBUG=1)
    endif()
    if(CUDAHeaders_FOUND)
        target_include_directories(${target} SYSTEM ${scope} "$<BUILD_INTERFACE:${CUDAHeaders_INCLUDE_DIR}>")
        target_compile_definitions(${target} ${scope}
            INGOT_HAS_CUDA_HEADERS=1 INGOT_BUILD_CUDA_ROOT="${CUDAHeaders_ROOT}")
    endif()
endfunction()

# One executable for each of the files, named as its file is.
function(ingot_programs)
    foreach(source IN LISTS ARGN)
        cmake_path(GET source STEM name)
        add_executable(${name} ${source})
        ingot_own_target(${name})
    endforeach()
endfunction()
