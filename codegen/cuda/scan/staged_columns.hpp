// Columns in shared memory, for CUDA's scans of columns: asynchronous copies put some rows of neighbouring columns
// there. A thread has some rows of up to 16 bytes of neighbouring columns; `across` threads stand beside each other,
// the others below.
//
// Narrow arrays are copied to shared memory, and results from there, in the order of memory, whichever threads compute
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codegen/cuda/scan/scan.hpp"

namespace ingot::codegen {

inline constexpr std::uint32_t most_column_chunks = 65;  // rows of a thread

/// A thread's columns, and the arrays that a block stages.
column_tile begin_columns(const cuda_kernel& b, const scanning& s, std::uint32_t threads);
/// Threads beside each other that together read a line of a row.
std::uint32_t most_across(const cuda_kernel& b, const scanning& s, const column_tile& c);
/// Bytes of a thread's chunk of all staged arrays.
std::uint32_t unit_bytes(const column_tile& c);
/// Shared memory of a multiprocessor, for all its blocks.
std::uint32_t multiprocessor_bytes(const cuda_kernel& b);
/// Once the chunks are chosen: the shared memory, and how loops over the chunks are unrolled.
void finish_columns(const cuda_kernel& b, const scanning& s, column_tile& c);

class staged_columns : protected cuda_scan {
public:
    /// `across`: the text of the number of threads beside each other.
    staged_columns(cuda_kernel& b, const scanning& s, const column_tile& c, std::string across, std::uint32_t run = 0);

protected:
    using staged_array = column_tile::staged_array;

    ~staged_columns() = default;

    /// The prefix ahead of this thread's rows of column e.
    virtual std::string base_of(fold_writer& f) = 0;
    /// For narrow arrays: writes the `row` and the `column` of place `place` of the block, the row's place `at` along
    /// the scanned axis, and whether it is `inside`.
    virtual void write_copied_index() {}
    /// The number of row u among a thread's rows.
    virtual std::string row_of_thread() const { return "u"; }

    std::uint64_t outer_bits() const { return kept_bits() & ~axis_bit(inner_); }
    bool moves_across(const array_argument& in) const { return inner_class(in, inner_) != stride_class::broadcast; }
    formula row_vectors() const { return ceil_divide(points_of(axis_bit(inner_)), columns_); }
    formula vectors() const { return points_of(outer_bits()) * row_vectors(); }
    std::string width() { return b_.extent(inner_); }
    std::string columns_from(const std::string& column);
    /// The loop over this thread's columns e; with `digits`, their digit.
    void open_columns(bool digits = false);
    /// Loads the operands that do not move along the columns.
    void read_own();
    /// A loop over this thread's rows.
    void open_rows(std::uint32_t unroll);
    /// The loop over this thread's rows where it has columns, or where the condition holds.
    void open_own_rows(std::uint32_t unroll, const std::string& condition = "mine");
    /// Writes the loop over a thread's rows twice: where its columns are a whole vector, and, not unrolled, where the
    /// array ends within one.
    void for_own_rows(std::uint32_t unroll, const std::function<void()>& write);
    /// The loop over the places that a thread copies: its own rows, or, in narrow arrays, places `threads` apart.
    void open_copies();
    void close_own_rows();
    std::string staged_at(const staged_array& a) const;
    void declare_staged();
    virtual void stage();
    void copy(const array_argument& in, const staged_array& to);
    void copy_vector(const array_argument& in, const staged_array& to);
    /// Names the elements of a row of the inputs that these nodes need.
    void read_row(const std::vector<node_id>& required);
    /// Folds this thread's rows; base_of then gives the prefix ahead of them.
    void fold();
    void write_results();
    /// Computes one row of results.
    void write_row();
    /// Stores it in shared memory, in the place of the inputs that it was computed from.
    virtual void stage_row();
    virtual void store_tile();
    void store_staged_row();
    void store_row();

    const std::vector<int> kept_axes_, outer_;
    const int inner_;
    const bool narrow_;
    const std::uint32_t columns_, rows_;  // of a thread
    const std::string across_;
    const std::vector<staged_array>& staged_;

private:
    /// Whether a thread's columns are whole vectors: asked at run time (any), or known.
    enum class columns_are : std::uint8_t { any, vectors, elements };
    void open_if_vector();
    void open_else_elements();
    void close_if_vector();

    const column_tile& tile_;
    columns_are known_ = columns_are::any;
};

}  // namespace ingot::codegen
