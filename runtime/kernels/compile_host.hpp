// Header-free C++ to a shared object, by the system's compiler: $INGOT_CXX, else c++, g++, clang++. Source, object and
// log pass through memory files, so that nothing of Ingot's own touches the disk.
#pragma once

#include <filesystem>

#include "runtime/kernels/compile.hpp"

namespace ingot::runtime {

/// Empty where there is none. An $INGOT_CXX that cannot be run is none: nothing stands in for it.
std::filesystem::path host_compiler();

std::vector<std::string> host_options(const source_text& source);

/// Throws compiler_unavailable where the compiler did not judge the source.
compilation compile_host(const source_text& source);

/// This CPU's vector features as compiler options, separated by spaces: a baseline and what lies above it, spelled out
/// and never "native", so that equal texts mean equal code on every machine that shares a cache.
const std::string& host_architecture();

}  // namespace ingot::runtime
