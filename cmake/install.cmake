# `cmake --install` puts down what find_package(ingot) needs.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ingot")

install(TARGETS ingot EXPORT ingot_targets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" TYPE INCLUDE)
install(EXPORT ingot_targets NAMESPACE ingot:: FILE ingot-targets.cmake DESTINATION "${package_dir}")
write_basic_package_version_file(ingot-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/ingot-config.cmake cmake/FindHana.cmake "${CMAKE_CURRENT_BINARY_DIR}/ingot-config-version.cmake"
    DESTINATION "${package_dir}")
