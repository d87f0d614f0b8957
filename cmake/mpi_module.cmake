# libingot_mpi.so, by which ranks that MPI's launcher starts meet and exchange. The library opens it when it is wanted
# and links no MPI; without it such ranks use TCP. A parent project must ask for it: CMake's search for MPI leaves its
# results in the cache, and stops where the compiler wrapper of an MPI names folders that are gone.
set(default OFF)
if(PROJECT_IS_TOP_LEVEL)
    set(default AUTO)
endif()
set(INGOT_MPI ${default} CACHE STRING "Build the module for MPI: ON, OFF, or AUTO, which is where MPI is found")
set_property(CACHE INGOT_MPI PROPERTY STRINGS AUTO ON OFF)

set(built "")
if(INGOT_MPI)
    set(required QUIET)
    if(NOT INGOT_MPI STREQUAL "AUTO")
        set(required REQUIRED)
    endif()
    find_package(MPI ${required} COMPONENTS CXX)
    if(MPI_CXX_FOUND)
        add_library(ingot_mpi MODULE runtime/mpi/ingot_mpi.cpp)
        ingot_own_target(ingot_mpi)
        target_compile_features(ingot_mpi PRIVATE cxx_std_20)
        target_include_directories(ingot_mpi PRIVATE "${PROJECT_SOURCE_DIR}")
        target_link_libraries(ingot_mpi PRIVATE MPI::MPI_CXX)
        target_link_options(ingot_mpi PRIVATE LINKER:--as-needed)  # the wrappers name a library of MPI's C++ classes
        # An MPI that lies elsewhere than the system's libraries is found again by the module that is installed.
        set_target_properties(ingot_mpi PROPERTIES CXX_VISIBILITY_PRESET hidden INSTALL_RPATH_USE_LINK_PATH ON)
        set(built "$<TARGET_FILE_DIR:ingot_mpi>")
        message(STATUS "Ingot: ranks may use MPI ${MPI_CXX_VERSION}, by a module")
    else()
        message(STATUS "Ingot: ranks do not use MPI, which was not found (Debian: libopenmpi-dev)")
    endif()
endif()
set_source_files_properties(runtime/distributed/mpi_start.cpp PROPERTIES COMPILE_DEFINITIONS
    "INGOT_MPI_BUILD_FOLDER=\"${built}\";INGOT_MPI_INSTALL_FOLDER=\"${CMAKE_INSTALL_FULL_LIBDIR}\"")
