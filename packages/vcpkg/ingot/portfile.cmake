# The port of the tree that it lies in: vcpkg install ingot[cuda] --overlay-ports=packages/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

# CUDA's headers that happen to be on the machine are not looked for: what is built is what was asked for.
vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        cuda CMAKE_REQUIRE_FIND_PACKAGE_CUDAHeaders
    INVERTED_FEATURES
        cuda CMAKE_DISABLE_FIND_PACKAGE_CUDAHeaders
)
if("cuda" IN_LIST FEATURES)
    vcpkg_find_cuda(OUT_CUDA_TOOLKIT_ROOT CUDA_ROOT)
    list(APPEND FEATURE_OPTIONS "-DCUDAToolkit_ROOT=${CUDA_ROOT}")
endif()

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DINGOT_BUILD_TESTING=OFF
        -DINGOT_BUILD_EXAMPLES=OFF
        -DINGOT_INSTALL=ON
        -DINGOT_MPI=OFF
        "-DINGOT_SORTING_ARCHITECTURES=sm_80;sm_90;sm_100;compute_100"
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/ingot)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
configure_file("${CMAKE_CURRENT_LIST_DIR}/usage" "${CURRENT_PACKAGES_DIR}/share/${PORT}/usage" COPYONLY)
