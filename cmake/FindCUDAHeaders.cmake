# Finds cuda.h, cudaTypedefs.h and nvrtc.h, and neither a compiler nor a library: those are looked for at run time.
# Sets CUDAHeaders_FOUND, CUDAHeaders_VERSION, CUDAHeaders_INCLUDE_DIR and CUDAHeaders_ROOT, the toolkit's folder.
find_program(CUDAHeaders_NVCC nvcc)
file(GLOB installed LIST_DIRECTORIES true /usr/local/cuda-*)
list(SORT installed COMPARE NATURAL ORDER DESCENDING)
set(hints "${CUDAToolkit_ROOT}" "$ENV{CUDAToolkit_ROOT}" "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}")
if(CUDAHeaders_NVCC)
    file(REAL_PATH "${CUDAHeaders_NVCC}" nvcc)
    cmake_path(GET nvcc PARENT_PATH nvcc)
    list(APPEND hints "${nvcc}/..")
endif()
list(REMOVE_ITEM hints "")
find_path(CUDAHeaders_INCLUDE_DIR NAMES cudaTypedefs.h HINTS ${hints} PATHS /usr/local/cuda ${installed}
    PATH_SUFFIXES include targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include DOC "Where CUDA's headers are")
mark_as_advanced(CUDAHeaders_INCLUDE_DIR CUDAHeaders_NVCC)

set(complete FALSE)
if(EXISTS "${CUDAHeaders_INCLUDE_DIR}/cuda.h" AND EXISTS "${CUDAHeaders_INCLUDE_DIR}/nvrtc.h")
    set(complete TRUE)
    file(STRINGS "${CUDAHeaders_INCLUDE_DIR}/cuda.h" version REGEX "#define CUDA_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+" version "${version}")
    math(EXPR major "${version} / 1000")
    math(EXPR minor "${version} % 1000 / 10")
    set(CUDAHeaders_VERSION ${major}.${minor})
    string(REGEX REPLACE "(/targets/[^/]+)?/include/?$" "" CUDAHeaders_ROOT "${CUDAHeaders_INCLUDE_DIR}")
    cmake_path(NORMAL_PATH CUDAHeaders_ROOT)
endif()

set(CUDAHeaders_FIND_QUIETLY TRUE)  # the project says in its own words what was found
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUDAHeaders REQUIRED_VARS CUDAHeaders_INCLUDE_DIR complete
    VERSION_VAR CUDAHeaders_VERSION)
