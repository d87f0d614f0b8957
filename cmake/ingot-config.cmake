# find_package(ingot): the target ingot::ingot and what it stands on.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/ingot-targets.cmake")
