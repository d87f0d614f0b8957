// The stages of classification. Each is a struct that a call fills from the earlier ones; those that follow read it as
// const. Their vectors are kept from statement to statement, so that a warm statement allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ingot/core/key.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/program.hpp>

#include "runtime/front/statement.hpp"

namespace ingot::runtime {

/// The operands of a tree within the program.
struct operand_range {
    std::uint32_t first, last;
};

/// The binders of a program. An *owner* of axes is 0 for the result's, b + 1 for those of binder b.
struct bound_axes {
    struct binder {
        detail::word_kind kind;
        std::uint32_t pick;   // the operand that is its pick, for kinds that have one
        operand_range below;  // what it folds, scans or reads
        int first, last;      // the axes that it binds, counted over all binders
    };
    std::vector<binder> binders;

    int count() const noexcept { return binders.empty() ? 0 : binders.back().last; }
    const binder& of(int owner) const noexcept { return binders[static_cast<std::size_t>(owner - 1)]; }
    bool is(detail::word_kind kind, int owner) const noexcept { return owner != 0 && of(owner).kind == kind; }
};

/// Stage 1: the shapes of the values and of the result.
struct value_shapes {
    struct value {
        std::uint32_t at;  // in `extents`
        int rank;
        std::uint32_t first;  // first operand of the value's tree
    };
    std::vector<index_t> result;  // of the largest output where shapes differ
    index_t size = 0;             // of the result
    bound_axes bound;
    std::vector<value> values;  // of each word, where the statement has binders or outputs of several shapes
    std::vector<index_t> extents;

    void find(const statement&, std::uint8_t kinds);
    bool is_result(detail::extents_ref shape) const;

private:
    void broadcast_operands(const statement&);
    void find_values(const statement&);
    void broadcast_into_outputs(const statement&);

    std::vector<value> stack_;
    std::vector<index_t> room_;  // room for one shape
};

/// Stage 2: strides on all axes of the statement. First are the result's axes, then those that binders bind, then those
/// of outputs of other shapes: these were joined with the result's, and nothing moves along them.
struct aligned_strides {
    std::size_t result_axes = 0;
    std::vector<index_t> extents;
    std::vector<int> owners;
    std::vector<index_t> strides;  // [operands + outputs][axes]
    std::vector<int> order;        // the axes in the key's order, from the outermost to the innermost

    void align(const statement&, const value_shapes&, std::uint8_t kinds);
    std::size_t axes() const noexcept { return extents.size(); }
    const index_t* strides_of(std::size_t row) const noexcept { return strides.data() + row * axes(); }

private:
    /// The axes over which a value is computed.
    struct context {
        std::uint32_t at;  // in context_axes_
        int rank;
    };
    index_t* row(std::size_t i) noexcept { return strides.data() + i * axes(); }
    void set_strides(std::size_t row, const detail::layout&, const int* on, int rank);
    void align_values(const statement&, const value_shapes&);
    void open_contexts(const statement&, const value_shapes&);
    void join_axes(const statement&, const value_shapes&);
    void find_joint_axes(const statement&, detail::extents_ref own, std::size_t first);
    int common_strides(const statement&, std::size_t own, std::size_t joint) const;
    void align_outputs(const statement&, const value_shapes&);
    void find_order(const statement&);

    std::vector<context> contexts_;
    std::vector<int> context_axes_;  // the result's axes come first
    std::vector<int> joint_axes_;    // of the output that is being joined
    std::vector<int> scores_;
};

}  // namespace ingot::runtime
