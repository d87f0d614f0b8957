// Makes a statement's key: aligns every layout with the axes of the space in which it is computed, collapses dimensions
// jointly, and writes the class words. It runs on every evaluation and allocates nothing once its workspace has grown
// to the size of the statement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/front/class_stages.hpp"
#include "runtime/front/contiguous_fast_path.hpp"
#include "runtime/front/statement.hpp"

namespace ingot::runtime {

class classifier {
public:
    /// The reference is valid until the next call.
    const classified& classify(const statement&, environment_class);
    contiguous_classifier& contiguous() noexcept { return contiguous_; }
    /// The complete key: the class words with the program inserted behind the header.
    static void full_key(const classified&, std::span<const detail::word> program, std::vector<std::uint32_t>& key);

private:
    /// How the library function directly above an operand uses it.
    struct library_use {
        int owner = 0;  // owner of the axes that the library binds; 0: no library
        std::uint16_t function = 0;
        std::uint8_t axes = 0;  // bits: the operand's own axes; for a pick, the result's
        bool picks = false;
        dtype type = dtype::b1;
    };
    void collapse();
    // Views of one buffer (view_relations.cpp).
    void find_relations(const statement&);
    bool find_shifts(const statement&, std::uint8_t kinds);
    bool find_shifts_of(const statement&, std::size_t binder, detail::place_rule);
    bool move_shifted_strides(const statement&);
    bool is_shifted(std::size_t axis) const;
    bool find_steps(index_t distance, const index_t* strides, std::int8_t* steps);
    bool may_merge(std::size_t outer, std::size_t inner) const;
    void append_relations();
    // Repeated statements (iterated_steps.cpp).
    void find_iteration(const statement&, std::uint8_t kinds);
    std::uint32_t steps_in_one_kernel(const statement&);
    void append_iteration();
    bool has_short_rows() const;
    void find_indices(const statement&);
    void write_words(const statement&, environment_class, std::uint8_t kinds);
    detail::axis_class axis_of_key(std::size_t a) const noexcept {
        return detail::axis_class::read(c_.words.data() + detail::key_header_words + detail::axis_words * a);
    }
    void set_axis_of_key(std::size_t a, const detail::axis_class& axis) noexcept {
        axis.write(c_.words.data() + detail::key_header_words + detail::axis_words * a);
    }
    void write_short_rows(const statement&, std::size_t outer_axes, bool contiguous_columns);
    bool write_subclasses(std::size_t operands, std::size_t outer_axes, index_t inner);
    /// Writes the exact width of scanned columns where one block holds them whole.
    bool write_whole_columns(std::size_t outer_axes, index_t inner);
    /// Whether an operand has stride 1 along `axis` and another stride along the innermost output axis.
    bool lies_across(const statement&, std::size_t axis, std::size_t inner) const;
    void append_texts(const statement&);
    detail::operand_head head_of_operand(const statement&, std::size_t i);
    bool is_vector(std::size_t row, std::uintptr_t address, std::size_t element_bytes, std::size_t grain) const;
    bool is_dense(std::size_t row, std::uintptr_t address) const;
    bool repeats_elements(std::size_t row) const;
    /// For columns that are scanned whole.
    bool is_run_of_columns(std::size_t row, std::uintptr_t address) const;
    bool are_contiguous_columns(const statement& s, std::size_t outer_axes) const;
    bool cannot_stage_rows(const statement&, std::size_t axis, std::size_t outer_axes, bool contiguous_columns) const;
    bool is_run_of_rows(std::size_t row, std::uintptr_t address, std::size_t along, std::size_t output_axis,
                        std::size_t outer_axes) const;
    bool is_wide(std::size_t row, std::size_t element_bytes) const;
    bool moves(operand_range, std::size_t axis) const;
    bool has_strides_of(std::size_t i, std::size_t k) const;
    bool is_same_view(std::size_t i, std::size_t k) const;
    std::uint16_t first_equal_operand(const statement&, std::size_t i);
    bool is_scan(int owner) const { return shapes_.bound.is(detail::word_kind::scan, owner); }
    index_t largest_index(const statement&, int owner) const;
    bool reads_again(const statement&, int owner) const;
    static bool changes_no_value(const statement&, std::size_t at, std::size_t binders);
    void find_libraries(const statement&);
    bool is_library(int owner) const { return shapes_.bound.is(detail::word_kind::library, owner); }
    bool is_gather(int owner) const { return shapes_.bound.is(detail::word_kind::gather, owner); }
    std::vector<std::size_t> axes_of_owner(int owner, std::uint32_t mask) const;
    bool adds_bias_in_call(std::size_t output, environment_class) const;
    bool has_columns_of_product(std::size_t output) const;
    bool suits_library(std::size_t i, const library_use&, std::uintptr_t address) const;
    bool is_lattice(std::span<const std::size_t> axes, const index_t* strides) const;
    bool is_written_as_lattice(const statement&, std::size_t output) const;
    index_t most_calls_of_lattice(std::size_t i, const library_use&) const;
    index_t largest_of_library(int owner) const;
    bool is_written_by_library(const statement&, std::size_t output) const;
    bool is_vector_of_library(std::size_t pick, index_t offset) const;
    bool walks(int owner, std::size_t axis) const;
    std::uint8_t partner_of(const statement&, std::size_t a) const;

    contiguous_classifier contiguous_;
    classified c_;
    value_shapes shapes_;
    aligned_strides aligned_;
    std::vector<int> axis_pool_;  // innermost raw axis of each collapsed axis
    struct view_pair {
        std::uint16_t operand, base;
    };
    std::vector<view_pair> relations_;
    std::vector<std::int8_t> steps_;  // for each relation, steps on every axis before collapse
    struct shift {
        std::uint16_t pick;         // the operand
        std::uint16_t axis, bound;  // raw axes: of the result, and of the binder that is read along it
        std::int8_t steps;
    };
    std::vector<shift> shifts_;          // filled where binders only shift
    std::vector<index_t> view_strides_;  // the strides then, on the result's axes alone
    std::vector<std::uint16_t> bases_;   // views to which others are related
    std::uint16_t stepped_ = 0;          // the first view of the stepped array of a repeated statement
    std::vector<int> output_steps_;      // steps from that view to the output, on the key's axes
    std::vector<std::int8_t> found_steps_;
    std::vector<std::uint8_t> index_use_;  // of each operand, where optional_key_parts ask for it
    std::vector<int> word_operands_;
    bool folds_ = false;                   // the statement folds on a GPU
    bool short_rows_ = false;              // whether to test operands for density
    std::size_t whole_columns_ = 0;        // number of output axes, where a block scans whole columns; else 0
    std::vector<std::uint16_t> distinct_;  // operands unlike all before them
    struct matched_view {
        std::uint16_t operand, first;
    };
    std::vector<matched_view> matched_along_other_axes_;  // operands equal to a distinct one along other axes
    std::size_t bound_axes_ = 0;                          // number of bound axes in the key
    std::vector<library_use> library_roots_;  // for each output that is a library's result, the use of its pick
    std::vector<int> library_picks_;          // the operand that is that pick
    std::vector<bool> library_biased_;        // whether an array is added to that result
    std::vector<library_use> library_uses_;   // of each operand, where there are libraries
};

}  // namespace ingot::runtime
