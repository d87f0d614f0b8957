# `cmake --install` puts down what find_package(ingot) needs, and pkg-config. Three components: `runtime`, the shared library
# where it is one, `mpi`, the module for MPI where it is built, and `development`, all the rest.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ingot")

get_target_property(kind ingot TYPE)
install(TARGETS ingot EXPORT ingot_targets
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT development ARCHIVE COMPONENT development)
if(TARGET ingot_mpi)
    install(TARGETS ingot_mpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mpi)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" TYPE INCLUDE COMPONENT development)
install(EXPORT ingot_targets NAMESPACE ingot:: FILE ingot-targets.cmake DESTINATION "${package_dir}"
    COMPONENT development)
write_basic_package_version_file(ingot-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/ingot-config.cmake "${CMAKE_CURRENT_BINARY_DIR}/ingot-config-version.cmake"
    DESTINATION "${package_dir}" COMPONENT development)
set(component_of_licence development)
if(kind STREQUAL "SHARED_LIBRARY")
    set(component_of_licence runtime)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/ingot" RENAME copyright
    COMPONENT ${component_of_licence})

# Found from where the file lies, so that an installed tree can be moved. A static library's own wants are its user's.
file(RELATIVE_PATH prefix_from_package "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" prefix_from_package "${prefix_from_package}")
file(RELATIVE_PATH includes "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
file(RELATIVE_PATH libraries "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(own_libraries "${CMAKE_THREAD_LIBS_INIT}")
foreach(library IN LISTS CMAKE_DL_LIBS)
    string(APPEND own_libraries " -l${library}")
endforeach()
string(STRIP "${own_libraries}" own_libraries)
if(kind STREQUAL "STATIC_LIBRARY")
    set(static_libraries " ${own_libraries} -Wl,--gc-sections")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/ingot.pc.in" ingot.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/ingot.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
    include(cmake/package.cmake)
endif()
