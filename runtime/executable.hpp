// Keys to loaded kernels: the second cache level, one sharded table in the library. It serves every slot, lazy trees, and
// the same tree in two shared objects. What it hands out is immutable and never freed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codegen/graph.hpp"
#include "codegen/key.hpp"
#include "codegen/plan.hpp"
#include "runtime/kernel_module.hpp"

namespace ingot::runtime {

using host_kernel = void (*)(const void* arguments, unsigned long long begin, unsigned long long end);

/// A plan with its kernels loaded, or, where no compiler could be had on the host, with the graph to be interpreted.
struct executable {
    codegen::key key;
    codegen::graph graph;
    codegen::plan plan;
    std::shared_ptr<const kernel_module> module;
    std::vector<void*> kernels;  // one for each step: a host_kernel or a CUkernel
    bool interpreted = false;
};

/// The executable of a key: from the table, or lowered, planned and compiled outside every lock. Throws compile_error,
/// library_error, or error where the pattern has no kernel.
const executable& executable_for(std::span<const std::uint32_t> key);

/// Whether the table has it.
bool is_loaded(std::span<const std::uint32_t> key);

/// The source as it is given to the compiler.
source_text source_of(const codegen::key& key, const codegen::plan& plan);

/// Called with every key that was not in the table, before it is compiled. For tests; null for none.
using key_observer = void (*)(std::span<const std::uint32_t> key);
void observe_new_keys(key_observer);

}  // namespace ingot::runtime
