// A stencil's arithmetic on bytes, two elements of a thread in a word: a GPU's 32-bit registers hold two 16-bit halves,
// and what is added in one does not reach the other while sums stay below 2^16. Element e lies in the lower half, and e
// + half as many as a thread has in the upper one, so that the neighbours of both are two halves of a word as well.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda/map/stencil.hpp"

namespace ingot::codegen {

/// Whether all that a map reads along its rows are bytes of a stencil's, all that it writes are bytes, and what is
/// computed between them has a spelling here.
bool computes_byte_pairs(const cuda_kernel& b, const stencil_axes& axes);

/// Writes values of two elements.
class byte_pairs {
public:
    explicit byte_pairs(cuda_kernel& b) : b_(b), pairs_(b.graph.nodes.size()) {}

    /// What is read of an array, two elements in a word, their other bits being 0.
    void name(node_id operand, const std::string& as);
    /// The name of a root's word. Of a byte the lowest bits of either half are it; of a bool, which is 0 or 1, too.
    std::string value(node_id root);

private:
    /// A number is the lower byte of its half, which is `most` at most; a bool is bit 8, the others being anything.
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
