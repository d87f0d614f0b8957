# CUB's radix sort, compiled by NVRTC when Ingot is built and embedded in the library: a cubin for each sm_NN of
# INGOT_SORTING_ARCHITECTURES, PTX for each compute_NN, which the driver assembles for GPUs that are newer. Without them
# rows are sorted by kernels of Ingot's own, which take more passes. Each takes 20 seconds and 1.4 MB, so unless told
# otherwise they are built for the GPUs of this machine.
if(NOT DEFINED INGOT_SORTING_ARCHITECTURES)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE here ERROR_QUIET RESULT_VARIABLE status)
    set(found "")
    if(status EQUAL 0)
        string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${here}")
        list(REMOVE_DUPLICATES found)
        list(TRANSFORM found REPLACE "^(.*)\\.(.)$" "sm_\\1\\2")
    endif()
    set(INGOT_SORTING_ARCHITECTURES "${found}" CACHE STRING
        "GPUs for which CUB's sorting kernels are built in, as sm_90 or compute_90; none where it is empty")
endif()

# Kernels made of internals of CUB, of the versions that they have been tried with.
file(STRINGS runtime/sorting/radix_kernels.hpp pinned REGEX "cub_version = [0-9]+")
string(REGEX MATCH "[0-9]+" pinned "${pinned}")

find_path(CUB_INCLUDE_DIR cub/version.cuh HINTS "${CUDAHeaders_INCLUDE_DIR}/cccl" "${CUDAHeaders_INCLUDE_DIR}"
    DOC "Where CUB's headers are, a part of the toolkit's CCCL")
find_library(NVRTC_LIBRARY NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12 HINTS "${CUDAHeaders_ROOT}"
    PATH_SUFFIXES lib64 lib targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib DOC "NVRTC, by which CUDA sources are compiled")
mark_as_advanced(CUB_INCLUDE_DIR NVRTC_LIBRARY)

set(ingot_own_sorting "GPUs sort by Ingot's own kernels, in more passes than CUB's")
if(NOT INGOT_SORTING_ARCHITECTURES)
    message(STATUS "Ingot: ${ingot_own_sorting}: no GPU is here, and INGOT_SORTING_ARCHITECTURES names none (sm_90, ...)")
    return()
elseif(NOT EXISTS "${CUB_INCLUDE_DIR}/cub/version.cuh")
    message(STATUS "Ingot: ${ingot_own_sorting}, for the toolkit's CCCL headers were not found; "
        "CUB_INCLUDE_DIR can name them")
    return()
elseif(NOT NVRTC_LIBRARY)
    message(STATUS "Ingot: ${ingot_own_sorting}, for NVRTC was not found; NVRTC_LIBRARY can name it")
    return()
endif()
file(STRINGS "${CUB_INCLUDE_DIR}/cub/version.cuh" version REGEX "#define CUB_VERSION [0-9]+")
string(REGEX MATCH "[0-9]+" version "${version}")
if(NOT version STREQUAL pinned)
    message(STATUS "Ingot: ${ingot_own_sorting}, for those are made of version ${pinned} of CUB, "
        "and ${CUB_INCLUDE_DIR} has ${version}")
    return()
endif()

add_executable(ingot_compile_kernels cmake/compile_kernels.cpp)
ingot_own_target(ingot_compile_kernels)
target_compile_features(ingot_compile_kernels PRIVATE cxx_std_20)
target_include_directories(ingot_compile_kernels SYSTEM PRIVATE "${CUDAHeaders_INCLUDE_DIR}")
target_link_libraries(ingot_compile_kernels PRIVATE ${CMAKE_DL_LIBS})

set(source "${PROJECT_SOURCE_DIR}/runtime/sorting/radix_kernels.cu")
set(folder "${CMAKE_CURRENT_BINARY_DIR}/sorting")
file(MAKE_DIRECTORY "${folder}")
set(symbols "")
set(rows "")
set(images "")
foreach(target IN LISTS INGOT_SORTING_ARCHITECTURES)
    if(NOT target MATCHES "^(sm|compute)_([0-9]+)$")
        message(FATAL_ERROR "INGOT_SORTING_ARCHITECTURES has ${target}, and wants names such as sm_90 and compute_90")
    endif()
    set(number ${CMAKE_MATCH_2})
    string(COMPARE EQUAL ${CMAKE_MATCH_1} compute ptx)
    set(image "${folder}/${target}")
    list(APPEND images "${image}")
    string(APPEND symbols "INGOT_IMAGE(${target})\n")
    string(APPEND rows "        {${number}, ${ptx}, ingot_sorting_${target}, ingot_sorting_${target}_end},\n")
    add_custom_command(OUTPUT "${image}"
        COMMAND ingot_compile_kernels "${NVRTC_LIBRARY}" "${source}" ${target} "${image}" "-I${CUB_INCLUDE_DIR}"
            "-I${CUDAHeaders_INCLUDE_DIR}" "-I${PROJECT_SOURCE_DIR}/runtime/sorting"
        DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/runtime/sorting/radix_kernels.hpp"
        COMMENT "Compiling CUB's sorting kernels for ${target}" VERBATIM)
endforeach()
configure_file(cmake/radix_images.cpp.in sorting/radix_images.cpp @ONLY)
set_source_files_properties("${folder}/radix_images.cpp" PROPERTIES
    OBJECT_DEPENDS "${images}" SKIP_PRECOMPILE_HEADERS ON)
target_sources(ingot PRIVATE "${folder}/radix_images.cpp")
set_source_files_properties(runtime/sorting/radix_sort.cpp PROPERTIES COMPILE_DEFINITIONS INGOT_SORTING_KERNELS=1)
list(JOIN INGOT_SORTING_ARCHITECTURES ", " targets)
message(STATUS "Ingot: GPUs sort by CUB's kernels (version ${version}), built in for ${targets}")
