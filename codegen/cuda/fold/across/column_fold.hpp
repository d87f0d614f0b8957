// Folds across memory: the text that the layouts of columns share (cuda/fold/across/choice.hpp). Each layout is printed
// by a file of its own.
#pragma once

#include <functional>
#include <string>

#include "codegen/cuda/fold/across/choice.hpp"
#include "codegen/cuda/fold/fold.hpp"

namespace ingot::codegen {

class column_fold : public cuda_fold {
public:
    column_fold(cuda_kernel& b, const folded_kernel& f, const column_layout& c)
        : cuda_fold(b, f, c), inner_(b.rank - 1), each_(c.tile_columns) {}

protected:
    std::string first_result() const override { return "first"; }
    std::string mine() const override { return "mine && "; }

    std::string block() { return b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x"; }
    /// Columns beside each other in memory; their vectors, in a row of memory and over all kept axes.
    formula row_width() const { return points_of(axis_bit(inner_)); }
    formula row_vectors() const { return ceil_divide(row_width(), each_); }
    formula vectors() const { return points_of(outer_bits()) * row_vectors(); }
    /// The digits of `outer`; the innermost digit, from the text of a column.
    void write_outer_digits() {
        if (b_.rank > 1) b_.write_digits("outer", std::vector<int>(kept_axes_.begin(), kept_axes_.end() - 1));
    }
    void write_inner_digit(const std::string& column) {
        b_.code.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), '(', column, ");");
    }
    /// Loads an element of each of the thread's neighbouring columns into the arrays' elements [u], from `address` on.
    void load_vectors(const folded_space& s, const std::function<std::string(const array_argument& in)>& address);
    static std::string_view scalar_load(const array_argument& in) { return in.at->head.aliased ? "*(" : "__ldg("; }
    /// Joins over the `lanes()` threads of a column; `across` threads stand beside each other and have `columns` each.
    void combine_down(fold_writer& f, const std::string& joiner, const std::string& variable,
                      const std::string& across);
    /// Gives the values of the first row's threads to all rows.
    void share_down(fold_writer& f, const std::string& across);

    /// Declares shared memory for the joins, with room for so many parts of the widest fold.
    void declare_room(std::uint32_t parts);

    const int inner_;
    const std::uint32_t each_;  // neighbouring columns that a thread folds
};

/// The part of a writer that depends on its layout.
template <class Layout>
class column_writer : public column_fold {
public:
    column_writer(cuda_kernel& b, const folded_kernel& f, const Layout& c) : column_fold(b, f, c), choice_(c) {}

protected:
    const Layout& choice_;
};

}  // namespace ingot::codegen
