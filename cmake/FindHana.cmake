# Finds Boost.Hana, which is headers alone: the target Hana::hana. The rest of Boost is not needed.
find_path(Hana_INCLUDE_DIR boost/hana.hpp HINTS ENV CPATH ENV BOOST_ROOT PATH_SUFFIXES include
    DOC "Where boost/hana.hpp is")
mark_as_advanced(Hana_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hana REQUIRED_VARS Hana_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "Ingot needs boost/hana.hpp (Debian: libboost-dev) or Hana_INCLUDE_DIR set")

if(Hana_FOUND AND NOT TARGET Hana::hana)
    add_library(Hana::hana INTERFACE IMPORTED)
    set_target_properties(Hana::hana PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Hana_INCLUDE_DIR}")
endif()
