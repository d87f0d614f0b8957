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
    void append_texts(const statement&);
    detail::operand_head head_of_operand(const statement&, std::size_t i);
    bool cannot_stage_rows(const statement&, std::size_t axis, std::size_t outer_axes, bool contiguous_columns) const;
    std::uint16_t first_equal_operand(const statement&, std::size_t i);
    bool is_scan(int owner) const { return shapes_.bound.is(detail::word_kind::scan, owner); }
    bool is_library(int owner) const { return shapes_.bound.is(detail::word_kind::library, owner); }
    bool is_gather(int owner) const { return shapes_.bound.is(detail::word_kind::gather, owner); }
    index_t largest_index(const statement&, int owner) const;
    bool reads_again(const statement&, int owner) const;
    bool walks(int owner, std::size_t axis) const;
    std::uint8_t partner_of(const statement&, std::size_t a) const;

    contiguous_classifier contiguous_;
    value_shapes shapes_;
    aligned_strides aligned_;
    library_operands libraries_;
    index_uses indices_;
    view_relations relations_;
    collapsed_axes axes_;
    iterated_steps iteration_;
    classified c_;
    bool folds_ = false;                   // the statement folds on a GPU
    bool short_rows_ = false;              // whether to test operands for density
    std::size_t whole_columns_ = 0;        // number of output axes, where a block scans whole columns; else 0
    std::vector<std::uint16_t> distinct_;  // operands unlike all before them
    struct matched_view {
        std::uint16_t operand, first;
    };
    std::vector<matched_view> matched_along_other_axes_;  // operands equal to a distinct one along other axes
};

}  // namespace ingot::runtime
