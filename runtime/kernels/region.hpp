// A region of a graph: the nodes from an output, or a binder's argument, down to the next binders. It is a list of
// steps over one block of elements, each into a buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ingot/core/program.hpp>

#include "codegen/graph/graph.hpp"
#include "runtime/kernels/bodies.hpp"
#include "runtime/kernels/index_block.hpp"

namespace ingot::runtime::interpreter {

inline constexpr std::size_t element_bytes = 16;

/// A block's values of one node, with room for the widest element, so that any node can have any buffer.
using buffer = std::unique_ptr<std::byte[]>;

struct step {
    codegen::node_id id = codegen::no_node;
    std::uint32_t to = 0;  // buffer
    std::uint32_t from[detail::most_arguments] = {};
    bodies::map_block map = nullptr;
    bodies::cast_block cast = nullptr;
};

struct region {
    std::vector<step> steps;
    std::vector<std::uint32_t> results;  // the buffer of each root
    std::vector<buffer> buffers;
};

/// The steps to these roots, operands before users; a buffer is reused once its last reader has run.
region make_region(const codegen::graph& g, const std::vector<codegen::node_id>& roots);

}  // namespace ingot::runtime::interpreter
