// Sizes of partial results.
#include "codegen/graph/fold_traits.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// The dtype of partial results: the elements' dtype for places, else the result's.
dtype joined_dtype(const fold_facts& row, dtype elements, dtype result) {
    return row.rule == fold_rule::arg_reduction ? elements : result;
}

}  // namespace

const std::vector<std::string>& shifted_members(fold f) {
    using names = std::vector<std::string>;  // never destroyed: a static object's destructor may evaluate an expression
    static const names &of_squares = *new names{".count", ".near", ".mean", ".squares"},
                       &of_exponentials = *new names{".top", ".sum"};
    return f == fold::squares ? of_squares : of_exponentials;
}

fold_traits::fold_traits(const graph& g, node_id reduction)
    : row_(facts(static_cast<fold>(g.nodes[reduction].code))),
      reduction_(reduction),
      value_(g.nodes[reduction].arguments[0]),
      type_(joined_dtype(row_, g.nodes[value_].type, g.nodes[reduction].type)),
      folded_(g.nodes[value_].type) {}

std::uint32_t fold_traits::words() const {
    return is_shifted() ? static_cast<std::uint32_t>(shifted_members(row_.of).size()) : is_arg_reduction() ? 2 : 1;
}

std::uint32_t fold_traits::slots() const {
    constexpr std::uint32_t indexed_bytes = 16, slot_bytes = 4;
    const std::uint32_t bytes =
        is_arg_reduction() ? indexed_bytes : words() * static_cast<std::uint32_t>(size_of(type_));
    return (bytes + slot_bytes - 1) / slot_bytes;
}

std::uint32_t fold_traits::bytes() const {
    constexpr std::uint32_t indexed_bytes = 16;
    return is_arg_reduction() ? indexed_bytes : static_cast<std::uint32_t>(size_of(wide())) * words();
}

}  // namespace ingot::codegen
