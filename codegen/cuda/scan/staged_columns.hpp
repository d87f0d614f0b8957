// What the schedules of scans of columns on CUDA share: a block has some rows of neighbouring columns in shared memory,
// where asynchronous copies put them. A thread has some rows of up to 16 bytes of neighbouring columns, `across`
// threads lie beside each other, the others below.
//
// Of narrow arrays threads copy what a block has into shared memory, and its results out of there, as it lies in
// memory, whichever threads compute them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codegen/cuda/scan/scan.hpp"

namespace ingot::codegen {

class staged_columns : protected cuda_scan {
public:
    staged_columns(cuda_kernel& b, const scanning& s, const scan_choice& c);

protected:
    using staged_array = scan_choice::staged_array;

    ~staged_columns() = default;

    /// What lies before this thread's rows of column e.
    virtual std::string base_of(fold_writer& f) = 0;
    /// Of place `place` of a narrow array among the block's: its `row` and its `column`, the place `at` of that along
    /// what is scanned and whether it is `inside`.
    virtual void write_copied_place() {}
    /// Which of a thread's rows row u is.
    virtual std::string row_of_thread() const { return "u"; }

    std::uint64_t outer_bits() const { return kept_bits() & ~axis_bit(inner_); }
    bool moves_across(const array_argument& in) const { return inner_class(in, inner_) != stride_class::broadcast; }
    formula row_vectors() const { return ceil_divide(points_of(axis_bit(inner_)), columns_); }
    formula vectors() const { return points_of(outer_bits()) * row_vectors(); }
    std::string width() { return b_.count(points_of(axis_bit(inner_)), "n" + std::to_string(inner_)); }
    std::string columns_from(const std::string& column);
    /// Round the text that handles column e of this thread's; its digit.
    void open_columns(bool digits = false);
    /// What does not move along the columns.
    void read_own();
    /// A loop over this thread's rows.
    void open_rows(std::uint32_t unroll);
    /// Round what is done for each row of this thread's columns, where it has any, or the condition holds.
    void open_own_rows(std::uint32_t unroll, const std::string& condition = "mine");
    /// Writes this for each of a thread's rows, where its columns are a vector and, in a loop that is not unrolled,
    /// where the array ends within one.
    void for_own_rows(std::uint32_t unroll, const std::function<void()>& write);
    /// Round what is done for each of the places that a thread copies: of narrow arrays those that lie `threads` apart.
    void open_copies();
    void close_own_rows();
    std::string staged_at(const staged_array& a) const;
    void declare_staged();
    virtual void stage();
    void copy(const array_argument& in, const staged_array& to);
    void copy_vector(const array_argument& in, const staged_array& to);
    /// Names what is wanted of a row of the inputs.
    void read_row(const std::vector<node_id>& wanted);
    /// What this thread's rows fold to, then what lies before them in the tile.
    void fold();
    void write_results();
    /// A row of them.
    void write_row();
    /// Into the place of what the row was computed from.
    virtual void keep_row();
    virtual void store_tile();
    void store_kept_row();
    void store_row();

    const std::vector<int> kept_, outer_;
    const int inner_;
    const bool narrow_;
    const std::uint32_t columns_, rows_;  // of a thread
    const std::string across_;            // the text of how many threads lie beside each other
    const std::vector<scan_choice::staged_array>& staged_;

private:
    /// What is asked of columns, or known.
    enum class columns_are : std::uint8_t { any, vectors, elements };
    void open_if_vector();
    void open_else_elements();
    void close_if_vector();

    columns_are known_ = columns_are::any;
};

}  // namespace ingot::codegen
