// What the schedules of scans of columns on CUDA share: a block has some rows of neighbouring columns in shared memory,
// where asynchronous copies put them. A thread has some rows of up to 16 bytes of neighbouring columns, `across`
// threads lie beside each other, the others below.
//
// Of narrow arrays threads copy what a block has into shared memory, and its results out of there, as it lies in
// memory, whoever computes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

class staged_columns : protected cuda_scan {
protected:
    /// A result of a narrow array takes the place of an input of its size.
    staged_columns(const key& k, const graph& g, const scanning& s, std::uint32_t threads);
    ~staged_columns() = default;

    /// Some rows of an array in shared memory, `each` elements of every row for each thread.
    struct staged_rows {
        std::string name, type;
        std::uint32_t bytes, each;  // of an element; columns
        bool has_result = false;
        std::uint32_t spare = 0;  // bytes beside the rows
        std::uint32_t unit() const { return bytes * each; }
    };

    /// What lies before this thread's rows of column e.
    virtual std::string base_of(fold_writer& f) = 0;
    /// Of place `place` of a narrow array among the block's: its `row` and its `column`, the place `at` of that along
    /// what is scanned and whether it is `inside`.
    virtual void write_copied_place() {}
    /// Which of a thread's rows row u is.
    virtual std::string row_of_thread() const { return "u"; }

    std::uint64_t outer_bits() const { return kept_bits() & ~axis_bit(inner_); }
    /// Whether all that moves along the columns does so by one element, and is aligned.
    bool has_vectors() const;
    bool moves_across(const place& in) const { return inner_class(in, inner_) != stride_class::broadcast; }
    std::uint32_t columns_of(const place& in) const { return moves_across(in) ? columns_ : 1; }
    /// Of a row of a thread's columns.
    std::uint32_t unit_bytes() const;
    std::uint32_t staged_bytes() const;
    /// Shared memory that the blocks of a multiprocessor have together.
    std::uint32_t memory_of_processor() const;
    std::uint32_t most_across() const;
    formula row_vectors() const { return {.axes = 0, .inner = axis_bit(inner_), .inner_divide = columns_}; }
    formula vectors() const { return {.axes = outer_bits(), .inner = axis_bit(inner_), .inner_divide = columns_}; }
    std::string width() { return b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_)); }
    std::string columns_from(const std::string& column);
    /// Round the text that handles column e of this thread's; its digit.
    void open_columns(bool digits = false);
    /// What does not move along the columns.
    void read_own();
    /// A loop over this thread's rows; of `operations` for each, unrolled as far as the compiler should.
    void open_rows(std::uint32_t operations);
    /// Round what is done for each row of this thread's columns, where it has any.
    void open_own_rows(std::uint32_t operations);
    /// Round what is done for each of the places that a thread copies: of narrow arrays those that lie `threads` apart.
    void open_copies();
    void close_own_rows();
    void close_copies();
    std::string staged_at(const staged_rows& s) const;
    void declare_staged();
    virtual void stage();
    void copy(const place& in, const staged_rows& to);
    /// Names what is wanted of a row of the inputs.
    void read_row(const std::vector<node_id>& wanted);
    /// What this thread's rows fold to, then what lies before them in the tile.
    void fold();
    void write_results();
    /// Into the place of what the row was computed from.
    virtual void keep_row();
    virtual void store_tile();
    void store_kept_row();
    void store_row();

    std::string across_ = "p.across";  // the text of how many threads lie beside each other
    std::vector<int> kept_, outer_;
    int inner_;
    bool narrow_ = false;
    std::uint32_t columns_ = 1, rows_ = 1, threads_, blocks_ = 2;
    std::vector<staged_rows> staged_;   // the inputs that move along the columns, then what else results need
    std::vector<std::size_t> results_;  // where each output's are
};

}  // namespace ingot::codegen
