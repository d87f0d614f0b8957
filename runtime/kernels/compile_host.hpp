// Header-free C++ to a shared object, by the system's compiler: $INGOT_CXX, else c++, g++, clang++. Source, object and
// log are memory files, so that Ingot writes nothing to disk.
#pragma once

#include <filesystem>

#include "runtime/kernels/compile.hpp"

namespace ingot::runtime {

/// Empty where there is none, also for an $INGOT_CXX that cannot be run: no other compiler replaces it.
std::filesystem::path host_compiler();

std::vector<std::string> host_options(const source_text& source);

/// Throws compiler_unavailable where the compiler gave no verdict on the source.
compilation compile_host(const source_text& source);

/// This CPU's vector features as compiler options, separated by spaces: a baseline and additional features. They are
/// spelled out, never "native", so that equal texts mean equal code on every machine that shares a cache.
const std::string& host_architecture();

}  // namespace ingot::runtime
