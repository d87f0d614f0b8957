// The stages of classification, in order: (1) shapes of values, (2) strides aligned over all axes, (3) facts:
// libraries, indices, relations between views, (4) collapsed axes and the steps of an iteration, (5) words. Each is a
// struct that a call fills from the earlier ones; those that follow read it as const. The vectors are kept from
// statement to statement, so that a warm statement allocates nothing. `statement::kinds` is known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ingot/core/key.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/program.hpp>

#include "runtime/front/statement.hpp"

namespace ingot::runtime {

/// Axes below this extent are short.
inline constexpr index_t short_row = 32;

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

    void find(const statement&);
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

    void align(const statement&, const value_shapes&);
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

/// Whether a distance in elements between two views with these strides is a sum of a few steps on the axes, which are
/// written to `steps`.
bool find_steps(const aligned_strides&, index_t distance, const index_t* strides, const detail::step_limits& most,
                std::int8_t* steps);

/// Whether word `at` of a program, after `binders` binders, returns its operand unchanged: a reshape whose axes merged,
/// or a conversion to the dtype that the operand has.
bool changes_no_value(const statement&, std::size_t at, std::size_t binders);

struct collapsed_axes;

/// How the library function directly above an operand uses it.
struct library_use {
    int owner = 0;  // owner of the axes that the library binds; 0: no library
    std::uint16_t function = 0;
    std::uint8_t axes = 0;  // bits: the operand's own axes; for a pick, the result's
    bool picks = false;
    dtype type = dtype::b1;
};

/// Stage 3, facts of the program: which operands and outputs library functions read and write. Empty where there are no
/// such functions.
struct library_operands {
    /// An output that is a library's result, or the sum of a product and an array.
    struct written {
        library_use use;  // of the pick; without an owner for other outputs
        int pick;
        bool biased;  // set for such a sum
    };
    std::vector<library_use> uses;  // of each operand
    std::vector<written> outputs;

    void find(const statement& s) {
        uses.clear(), outputs.clear();
        if ((s.kinds & has_libraries) != 0) find_uses(s);
    }

    // How the arrays lie for these functions, on the collapsed axes.
    bool suits(std::size_t operand, const collapsed_axes&, std::uintptr_t address) const;
    bool is_vector(std::size_t pick, const collapsed_axes&, index_t offset) const;
    index_t largest_array(int owner, const collapsed_axes&, const bound_axes&) const;
    bool writes(const statement&, std::size_t output, const collapsed_axes&, const value_shapes&) const;
    bool adds_bias_in_call(std::size_t output, const collapsed_axes&, environment_class) const;

private:
    void find_uses(const statement&);
    bool has_columns_of_product(std::size_t output, const collapsed_axes&) const;
    bool writes_lattice(const statement&, std::size_t output, const collapsed_axes&, const bound_axes&) const;
};

/// Stage 3, facts of the program: how gathers use operands that are only indices. Empty where the key does not say it.
struct index_uses {
    std::vector<std::uint8_t> of_operands;

    void find(const statement& s, optional_key_parts parts) {
        of_operands.clear();
        if (parts.indices && (s.kinds & has_binders) != 0) find_uses(s);
    }

private:
    void find_uses(const statement&);

    std::vector<int> word_operands_;
};

/// Stage 3, facts of the strides: views of one buffer a few elements apart. Empty where the key does not say it.
struct view_relations {
    struct pair {
        std::uint16_t operand, base;
    };
    struct shift {
        std::uint16_t pick;         // the operand
        std::uint16_t axis, bound;  // axes before collapse: of the result, and of the binder that is read along it
        std::int8_t steps;
    };
    std::vector<pair> pairs;
    std::vector<std::int8_t> steps;  // [pairs][axes before collapse]
    std::vector<shift> shifts;       // filled where binders only shift

    void find(const statement& s, optional_key_parts parts, const bound_axes& bound, const aligned_strides& aligned) {
        pairs.clear(), shifts.clear();
        if (parts.relations && s.shapes.empty()) find_relations(s, bound, aligned);
    }
    bool empty() const noexcept { return pairs.empty(); }
    const std::int8_t* steps_of(std::size_t relation) const noexcept { return steps.data() + relation * axes_; }
    /// Whether related views differ along the outer of two axes, or one of the axes is shifted.
    bool keep_apart(std::size_t outer, std::size_t inner) const;
    void append_to(std::vector<std::uint32_t>& words, const bound_axes&, const collapsed_axes&,
                   std::span<const std::uint16_t> distinct) const;

private:
    void find_relations(const statement&, const bound_axes&, const aligned_strides&);
    bool find_shifts(const statement&, const bound_axes&, const aligned_strides&);
    bool find_shifts_of(const statement&, const bound_axes::binder&, detail::place_rule, const aligned_strides&);
    bool move_shifted_strides(const statement&, const aligned_strides&);
    void find_pairs(const statement&, const aligned_strides&, const std::vector<index_t>& strides);
    bool is_shifted(std::size_t axis) const;

    std::size_t axes_ = 0;                  // before collapse
    std::vector<index_t> shifted_strides_;  // where binders only shift, the strides on the result's axes alone
    std::vector<std::uint16_t> bases_;      // views to which others are related
};

/// Stage 4: the key's axes. Axes along which all rows can be walked as one are merged.
struct collapsed_axes {
    std::vector<index_t> extents;
    std::vector<index_t> strides;  // [operands + outputs][axes]
    std::vector<int> owners;
    std::vector<int> innermost;   // of the axes that each one merges, before collapse
    std::size_t outer = 0;        // number of output axes; they come first
    bool keep_relations = false;  // whether related views keep axes from merging, and the key relates them

    void collapse(const aligned_strides&, const bound_axes&, const view_relations&);
    std::size_t count() const noexcept { return extents.size(); }
    const index_t* strides_of(std::size_t row) const noexcept { return strides.data() + row * count(); }
    index_t inner() const noexcept { return outer == 0 ? 1 : extents[outer - 1]; }
    bool has_short_rows() const noexcept;
    /// The axes that belong to `owner` and are set in `mask`.
    std::vector<std::size_t> of_owner(int owner, std::uint32_t mask) const;
    bool moves(operand_range, std::size_t axis) const;

    // How operands and outputs, which are rows of `strides`, lie in memory (class_layouts.cpp).
    bool is_wide(std::size_t row, std::size_t element_bytes) const;
    bool is_vector(std::size_t row, std::uintptr_t address, std::size_t element_bytes, std::size_t grain) const;
    bool is_dense(std::size_t row, std::uintptr_t address) const;
    bool repeats_elements(std::size_t row) const;
    bool has_strides_of(std::size_t i, std::size_t k) const;
    bool is_same_view(std::size_t i, std::size_t k) const;
    bool is_lattice(std::span<const std::size_t> axes, const index_t* row) const;
    bool is_run_of_rows(std::size_t row, std::uintptr_t address, std::size_t along, std::size_t output_axis) const;
    bool is_run_of_columns(std::size_t row, std::uintptr_t address) const;
    bool are_contiguous_columns(const statement&) const;
    /// Whether an operand has stride 1 along `axis` and another stride along the innermost output axis.
    bool lies_across(const statement&, std::size_t axis) const;

private:
    void merge(const aligned_strides&, const bound_axes&, const view_relations&);
};

/// Stage 4: how many steps of a repeated statement one kernel does.
struct iterated_steps {
    std::uint32_t steps = 1;
    std::uint16_t stepped = 0;      // the first view of the stepped array
    std::vector<int> output_steps;  // from that view to the output, on the key's axes

    void find(const statement& s, const aligned_strides& aligned, const view_relations& relations,
              const collapsed_axes& key) {
        const bool is_candidate = s.repeated.steps > 1 && key.keep_relations && s.kinds == has_any;
        steps = is_candidate && s.outputs.size() == 1 ? steps_in_one_kernel(s, aligned, relations, key) : 1;
    }
    void append_to(std::vector<std::uint32_t>& words) const;

private:
    std::uint32_t steps_in_one_kernel(const statement&, const aligned_strides&, const view_relations&,
                                      const collapsed_axes&);

    std::vector<std::int8_t> found_steps_;
};

/// The stages before the words.
struct class_stages {
    value_shapes shapes;
    aligned_strides aligned;
    library_operands libraries;
    index_uses indices;
    view_relations relations;
    collapsed_axes axes;
    iterated_steps iteration;
};

/// Stage 5: the classes of the key's axes.
struct axis_classes {
    std::vector<detail::axis_class> axes;
    index_t walked = 0;          // the size of the largest space that a loop walks
    bool short_rows = false;     // whether the key says which operands are dense
    bool whole_columns = false;  // whether a block scans whole columns

    void find(const statement&, environment_class, const class_stages&);
};

/// Stage 5: the words.
class class_words {
public:
    void write(const statement&, environment_class, const class_stages&, const axis_classes&,
               std::vector<std::uint32_t>& words);

private:
    detail::operand_head head_of_operand(const statement&, std::size_t i, bool folds, const class_stages&,
                                         const axis_classes&);
    std::uint16_t first_equal_operand(const statement&, std::size_t i, const collapsed_axes&);
    void append_texts(const statement&, std::vector<std::uint32_t>& words) const;

    struct matched_view {
        std::uint16_t operand, first;
    };
    std::vector<std::uint16_t> distinct_;                 // operands unlike all before them
    std::vector<matched_view> matched_along_other_axes_;  // operands equal to a distinct one along other axes
};

}  // namespace ingot::runtime
