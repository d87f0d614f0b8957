// Joins that are all that a statement computes. Each part is written to its place in the output: parts of one shape by
// one kernel, which reads an operand of several parts once. Inside an expression every element chooses its part instead
// (functions/joins.cpp).
#pragma once

#include <vector>

#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

class joined_statement {
public:
    /// Empty where the statement is something else, or where one kernel that chooses is better: on a GPU, for parts of
    /// several shapes.
    explicit joined_statement(const statement&);
    joined_statement(const joined_statement&) = delete;
    joined_statement& operator=(const joined_statement&) = delete;

    explicit operator bool() const noexcept { return !parts_.empty(); }
    std::span<const detail::index_t> shape() const noexcept { return shape_; }
    /// Evaluates the parts into `to`, which has memory, and a layout of the join's shape.
    void evaluate_into(const output& to, const statement_function& evaluate) const;

private:
    bool find_parts(const detail::tree_ref& root);
    /// The axes [axis_, merged()) of the result choose the part.
    int merged() const noexcept { return inner_ == 1 ? axis_ + 1 : static_cast<int>(shape_.size()); }
    bool add_part(const detail::tree_node& chosen, detail::index_t start, detail::index_t end);

    std::vector<detail::index_t> shape_;
    std::vector<detail::tree_ref> parts_;
    std::vector<detail::index_t> starts_;  // of each part along the axis, then the end
    int axis_ = 0;
    detail::index_t inner_ = 1;  // elements of the axes behind the joint one
    bool are_alike_ = true;      // all parts have one shape
};

}  // namespace ingot::runtime
