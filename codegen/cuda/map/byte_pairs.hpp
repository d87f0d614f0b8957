// A stencil's arithmetic on bytes, two elements of a thread in a word: a GPU's 32-bit register holds two 16-bit halves,
// and additions in one do not reach the other while sums stay below 2^16. The lower half holds element e, the upper one
// element e + half of a thread's elements, so that the neighbours of both are two halves of a word as well.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda/map/stencil.hpp"

namespace ingot::codegen {

/// Whether all arrays that a map reads along its rows are bytes of a stencil, all outputs are bytes, and all operations
/// between them have a spelling here.
bool computes_byte_pairs(const cuda_kernel& b, const std::vector<view_window>& windows);

/// Writes the values of two elements at a time.
class byte_pairs {
public:
    explicit byte_pairs(cuda_kernel& b) : b_(b), pairs_(b.graph.nodes.size()) {}

    /// Names an operand's word: two elements, with all other bits 0.
    void name(node_id operand, const std::string& as);
    /// The name of a root's word. A byte is the lowest bits of either half, and so is a bool, which is 0 or 1.
    std::string value(node_id root);

private:
    /// A number is the lower byte of its half and at most `most`; a bool is bit 8, and other bits are undefined.
    struct pair {
        std::string name{};
        std::uint32_t most = 255;
    };
    std::string lower_bytes(node_id n) const;
    pair spell(node_id n) const;
    pair spell_leaf(node_id n) const;
    pair spell_map(const node& n) const;
    pair spell_cast(const node& n) const;
    const std::string& of(node_id n) const { return pairs_[n].name; }
    bool is_bool(node_id n) const { return b_.graph.nodes[n].type == dtype::b1; }

    cuda_kernel& b_;
    std::vector<pair> pairs_;
};

}  // namespace ingot::codegen
