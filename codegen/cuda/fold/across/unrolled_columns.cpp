// Folds across memory of columns of at most 16 elements: a thread loads all of some columns before it folds any, so
// that there is no loop and enough loads are in flight. Its columns lie a block's threads apart; aligned ones are
// vectors of neighbours.
#include <algorithm>

#include "codegen/cuda/fold/across/column_fold.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class unrolled_columns final : public column_writer<unrolled_columns_layout> {
public:
    using column_writer::column_writer;

private:
    std::string lane() const override { return "0"; }
    std::string lanes() const override { return "1"; }
    std::string first_result() const override { return ""; }
    std::string mine() const override { return ""; }
    std::string owner() override { return ""; }
    void combine(fold_writer&, const std::string&, const std::string&) override {}

    void locate_thread() override {
        b_.step.grid[0] = ceil_divide(vectors(), threads_ * choice_.vectors);
        b_.code.line("const ", b_.linear(), " begin = ", b_.thread_index(threads_ * choice_.vectors), ";");
    }

    /// The loop over this thread's columns j; a column past the end reads the last one.
    void open_strided_columns() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
        b_.open_unrolled("j", choice_.vectors);
        out.line("const ", type, " at = begin + j * ", threads_, "u, vector = min(at, ", all, " - 1);");
        std::string column = "vector";
        if (b_.rank > 1) {
            out.line("const ", type, " outer = quotient(vector, ", b_.divisor(row_vectors(), "by_row"), ");");
            write_outer_digits();
            column = "vector - outer * " + b_.count(row_vectors(), "row_vectors");
        }
        if (each_ == 1) return write_inner_digit(column);
        out.line("const ", type, " column = (", column, ") * ", each_, ", columns = min(", type, '(', each_, "), ",
                 b_.count(row_width(), "width"), " - column);");
    }

    std::string loaded(const array_argument& in, const std::string& e) const {
        return in.name + "[j][u]" + (each_ > 1 ? '[' + e + ']' : "");
    }

    void open_elements() {
        b_.open_unrolled("u", choice_.length);
        b_.code.line("if (u >= ", b_.count(points_of(spaces_[0].bits()), "folded"), ") break;");
        b_.write_digits("u", spaces_[0].axes);
    }

    void write_strided_loads() {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        const std::uint64_t bits = kept_bits() | s.bits();
        const std::vector<const array_argument*> inputs = inputs_of(s);
        for (const array_argument* in : inputs) {
            const std::string type = b_.needs.type(in->at->head.type),
                              of = '[' + std::to_string(choice_.vectors) + "][" + std::to_string(choice_.length) + ']';
            if (each_ == 1)
                out.line(type, ' ', in->name, of, ";");
            else
                out.line("alignas(", bytes_of(*in) * each_, ") ", type, ' ', in->name, of, '[', each_, "];");
        }
        open_strided_columns();
        if (each_ == 1) {
            open_elements();
            for (const array_argument* in : inputs)
                out.line(loaded(*in, ""), " = ", b_.element(*in, b_.offset(*in, bits)), ";");
            out.close();
        } else {
            out.open("if (columns == ", each_, ")");
            write_inner_digit("column");
            open_elements();
            for (const array_argument* in : inputs)
                out.line(b_.loader(b_.reading_of(*in, bits), bytes_of(*in) * each_), '<',
                         word_of(bytes_of(*in) * each_), ">(", in->name, "[j][u], ", b_.pointer(*in),
                         b_.offset(*in, bits), ");");
            out.close();
            out.otherwise();  // the array ends within a vector
            open_elements();
            b_.open_unrolled("e", each_);
            out.line("if (e >= columns) break;");
            write_inner_digit("column + e");
            for (const array_argument* in : inputs)
                out.line(loaded(*in, "e"), " = ", b_.element(*in, b_.offset(*in, bits)), ";");
            out.close();
            out.close();
            out.close();
        }
        out.close();
    }

    void write_space(std::size_t) override {
        source_writer& out = b_.code;
        write_strided_loads();
        open_strided_columns();
        write_folds();
        const std::string owner = "if (at < " + b_.count(vectors(), "vectors") + ')';
        each_ == 1 ? write_strided_results(owner) : write_results(owner);
        out.close();
    }

    void write_folds() {
        source_writer& out = b_.code;
        std::vector<fold_writer>& folds = folds_[0];
        const std::string n = b_.count(points_of(spaces_[0].bits()), "folded");
        load_invariants(each_ == 1 ? kept_bits() : outer_bits());
        declare_results(folds);
        const auto outside = b_.body.scope();
        open_columns("columns");
        write_column();
        for (const array_argument* in : inputs_of(spaces_[0])) b_.body.name(in->node, loaded(*in, "e"));
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line(folds[i].entry_type(), " value", i, '[', choice_.length, "];");
        b_.open_unrolled("u", choice_.length);
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line("value", i, "[u] = u < ", n, " ? ", folds[i].entry(b_.body.value(folds[i].value(), out), "u"),
                     " : ", folds[i].entry_start(), ";");
        out.close();
        for (std::size_t i = 0; i < folds.size(); ++i) {
            const std::string values = "value" + std::to_string(i);
            out.line(own(folds[i].name()), " = ",
                     folds[i].is_moments() ? moments_of_few(folds[i]) + '(' + values + ", " + n + ')'
                                           : b_.join_pairs(folds[i].ordered_joiner(), choice_.length, values),
                     ";");
        }
        close_columns();
        b_.body.leave(outside);
    }

    /// Values that are the same for all columns are computed once, outside any condition.
    void write_strided_results(const std::string& owner) {
        for (const std::size_t k : results_) {
            const std::string value = b_.body.value(b_.graph.roots[k], b_.code);
            b_.code.line("const ", b_.needs.type(b_.outputs[k].at->head.type), ' ', result(k), " = ", value, ";");
        }
        b_.code.open(owner);
        for (const std::size_t k : results_)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], kept_bits()), result(k));
        b_.code.close();
    }

    /// The function that makes a partial result of squares from all elements of a column.
    std::string moments_of_few(fold_writer& f) {
        f.part_type();  // declares the types
        f.joiner();
        b_.needs.add("moments_of_few",
                     "/// Returns the mean of the first n values and the sum of their squared deviations from it.\n"
                     "template <class type, int most>\n"
                     "__device__ __forceinline__ moments<type> moments_of_few(const type (&v)[most], " +
                         b_.linear() +
                         " n) {\n"
                         "    type sum = 0, squares = 0;\n"
                         "#pragma unroll\n"
                         "    for (int i = 1; i < most; ++i) sum += i < n ? v[i] - v[0] : 0;\n"
                         "    const type mean = sum * share_of(type(1), type(n));\n"
                         "#pragma unroll\n"
                         "    for (int i = 0; i < most; ++i) {\n"
                         "        const type off = i < n ? v[i] - v[0] - mean : 0;\n"
                         "        squares += off * off;\n"
                         "    }\n"
                         "    return {type(n), v[0], mean, squares};\n}\n");
        return "moments_of_few";
    }

    void write_ending() override {}
};

/// Whether every folded array is aligned and contiguous across columns, and no other array moves along them.
bool has_vectors_of_columns(const folded_kernel& f) {
    const int inner = inner_axis(f);
    return std::ranges::all_of(f.kernel().inputs, [&](const array_argument& in) {
        if ((f.loops_of(in) & f.longest_space().bits()) == 0) return (f.loops_of(in) & axis_bit(inner)) == 0;
        return in.at->head.vector && inner_class(in, inner) == stride_class::unit;
    });
}

}  // namespace

std::optional<unrolled_columns_layout> choose_unrolled_columns(const folded_kernel& f) {
    constexpr std::uint8_t longest_subclass = 5;                                    // 16 elements
    constexpr std::uint32_t longest_bytes = 256;                                    // of a column
    constexpr std::uint32_t most_bytes = 128, target_bytes = 64, most_columns = 4;  // of a thread
    const folded_space& s = f.longest_space();
    const bool narrow = f.kernel().rank > 1 && inner_is(f, axis_flags::short_inner);
    const std::uint8_t known = s.subclass;
    if (narrow || !folds_one_axis_of_arrays(f) || f.length_class() != 1 || known <= 1 || known > longest_subclass)
        return {};
    const std::uint32_t length = s.longest(), column_bytes = f.bytes_at_once(s, 1) * length;
    const std::uint32_t cost = length * (1 + static_cast<std::uint32_t>(cost_of(f.kernel().graph, s.values)));
    if (column_bytes > longest_bytes || cost > statement_budget ||
        std::ranges::any_of(f.longest_folds(), &fold_traits::is_exponentials))
        return {};
    std::uint32_t widest = 1;
    for (const array_argument* in : f.inputs_of(s)) widest = std::max(widest, bytes_of(*in));
    unrolled_columns_layout c;
    c.threads = column_block::least;
    c.length = length;
    std::uint32_t each = has_vectors_of_columns(f) ? std::min(4u, std::max(1u, 16 / widest)) : 1;
    while (each > 1 && (column_bytes * each > most_bytes || each * cost > statement_budget)) each /= 2;
    while (2 * c.vectors * column_bytes * each <= target_bytes &&
           2 * c.vectors * each <= std::max(most_columns, 2 * each) && 2 * c.vectors * each * cost <= statement_budget)
        c.vectors *= 2;
    c.columns = c.tile_columns = each;
    return c;
}

kernel_shape unrolled_columns_layout::shape() const {
    return shape_of("unrolled columns", vectors * length, thread_exchange::none);
}

std::string unrolled_columns_layout::reason() const {
    return std::to_string(vectors * columns) +
           " short columns a thread, all of them loaded before the first is folded: loads wait for memory together";
}

void unrolled_columns_layout::write(cuda_kernel& b, const folded_kernel& f) const {
    unrolled_columns(b, f, *this).write();
}

}  // namespace ingot::codegen
