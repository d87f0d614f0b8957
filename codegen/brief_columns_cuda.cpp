// Folds across memory of columns of at most 16 elements: a thread loads all of some columns before it folds any, so
// that there is no loop and enough is under way. Its columns lie as far apart as a block has threads; aligned ones are
// vectors of neighbours.
#include <algorithm>

#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t threads = 128;

class brief_columns final : public cuda_fold {
public:
    brief_columns(const key& k, const graph& g, const folding& f) : cuda_fold(k, g, f, threads), inner_(b_.rank - 1) {
        if (!fits()) return;
        constexpr std::uint32_t most_bytes = 128, wanted_bytes = 64, most_columns = 4;  // of a thread
        const bool vectors = std::ranges::all_of(b_.inputs, [&](const place& in) {
            if ((loops_of(in) & spaces_[0].bits()) == 0) return (loops_of(in) & axis_bit(inner_)) == 0;
            return in.at->head.vector && inner_class(in, inner_) == stride_class::unit;
        });
        std::uint32_t bytes = 1;
        for (const place* in : inputs_of(spaces_[0])) bytes = std::max(bytes, bytes_of(*in));
        each_ = vectors ? std::min(4u, std::max(1u, 16 / bytes)) : 1;
        const auto held = [&] { return bytes_of_columns() * each_; };
        while (each_ > 1 && (held() > most_bytes || each_ * cost() > statement_budget)) each_ /= 2;
        while (2 * apart_ * held() <= wanted_bytes && 2 * apart_ * each_ <= std::max(most_columns, 2 * each_) &&
               2 * apart_ * each_ * cost() <= statement_budget)
            apart_ *= 2;
    }

    bool fits() const {
        constexpr std::uint8_t longest = 5;  // 16 elements
        const bool narrow = b_.rank > 1 && (b_.key.axes[static_cast<std::size_t>(inner_)].bucket & bucket::short_inner);
        if (narrow || spaces_.size() != 1 || !spaces_[0].outputs.empty() || spaces_[0].axes.size() != 1 ||
            bucket_ != 1 || !b_.generators.empty() || !b_.unravellings.empty())
            return false;
        const std::uint8_t fine = length_class();
        return fine > 1 && fine <= longest && !inputs_of(spaces_[0]).empty() && bytes_of_columns() <= 256 &&
               cost() <= statement_budget &&
               std::ranges::none_of(folds_[0], [](const fold_writer& f) { return f.is_exponentials(); });
    }

private:
    /// Columns are up to 2^(this - 1) long.
    std::uint8_t length_class() const {
        std::uint8_t fine = 0;
        for (std::size_t a = 0; a < b_.key.axes.size(); ++a)
            if (b_.graph.loop_axis[a] == spaces_[0].inner()) fine = std::max(fine, b_.key.axes[a].fine);
        return fine;
    }
    std::uint32_t length() const { return 1u << (length_class() - 1); }
    std::uint32_t bytes_of_columns() const { return bytes_at_once(spaces_[0]) * length(); }
    std::uint32_t cost() const {
        return length() * (1 + static_cast<std::uint32_t>(cost_of(b_.graph, spaces_[0].values)));
    }
    formula row_vectors() const { return {.axes = 0, .inner = axis_bit(inner_), .inner_divide = each_}; }
    formula vectors() const { return {.axes = outer_bits(), .inner = axis_bit(inner_), .inner_divide = each_}; }

    std::string lane() const override { return "0"; }
    std::string lanes() const override { return "1"; }
    std::string first_result() const override { return ""; }
    std::string owner() override { return ""; }
    void combine(fold_writer&, const std::string&, const std::string&) override {}

    void write_place() override {
        b_.step.grid[0] = vectors();
        b_.step.grid[0].divide_by = threads * apart_;
        b_.code.line("const ", b_.linear(), " begin = ", b_.thread_index(threads * apart_), ";");
    }

    /// Where column j of this thread lies, or the last one.
    void open_columns_apart() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
        b_.open_unrolled("j", apart_);
        out.line("const ", type, " at = begin + j * ", threads, "u, vector = min(at, ", all, " - 1);");
        std::string column = "vector";
        if (b_.rank > 1) {
            out.line("const ", type, " outer = quotient(vector, ", b_.divisor(row_vectors(), "by_row"), ");");
            b_.write_digits("outer", std::vector<int>(kept_.begin(), kept_.end() - 1));
            column = "vector - outer * " + b_.count(row_vectors(), "row_vectors");
        }
        if (each_ == 1) return write_digit(column);
        out.line("const ", type, " column = (", column, ") * ", each_, ", columns = min(", type, '(', each_, "), ",
                 b_.count({.axes = axis_bit(inner_)}, "width"), " - column);");
    }
    void write_digit(const std::string& column) {
        b_.code.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), '(', column, ");");
    }

    std::string loaded(const place& in, const std::string& e) const {
        return in.name + "[j][u]" + (each_ > 1 ? '[' + e + ']' : "");
    }

    void open_elements() {
        b_.open_unrolled("u", length());
        b_.code.line("if (u >= ", b_.count({.axes = spaces_[0].bits()}, "folded"), ") break;");
        b_.write_digits("u", spaces_[0].axes);
    }

    void write_loads_apart() {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        const std::uint64_t bits = kept_bits() | s.bits();
        const std::vector<const place*> inputs = inputs_of(s);
        for (const place* in : inputs) {
            const std::string type = b_.needs.type(in->at->head.type),
                              of = '[' + std::to_string(apart_) + "][" + std::to_string(length()) + ']';
            if (each_ == 1)
                out.line(type, ' ', in->name, of, ";");
            else
                out.line("alignas(", bytes_of(*in) * each_, ") ", type, ' ', in->name, of, '[', each_, "];");
        }
        open_columns_apart();
        if (each_ == 1) {
            open_elements();
            for (const place* in : inputs) out.line(loaded(*in, ""), " = ", b_.element(*in, b_.offset(*in, bits)), ";");
            out.close();
        } else {
            out.open("if (columns == ", each_, ")");
            write_digit("column");
            open_elements();
            for (const place* in : inputs)
                out.line(b_.loader(b_.reading_of(*in, bits), bytes_of(*in) * each_), '<',
                         word_of(bytes_of(*in) * each_), ">(", in->name, "[j][u], ", b_.pointer(*in),
                         b_.offset(*in, bits), ");");
            out.close();
            out.otherwise();  // the array ends within a vector
            open_elements();
            b_.open_unrolled("e", each_);
            out.line("if (e >= columns) break;");
            write_digit("column + e");
            for (const place* in : inputs)
                out.line(loaded(*in, "e"), " = ", b_.element(*in, b_.offset(*in, bits)), ";");
            out.close();
            out.close();
            out.close();
        }
        out.close();
    }

    void write_space(std::size_t) override {
        source_writer& out = b_.code;
        write_loads_apart();
        columns_ = each_;
        open_columns_apart();
        write_folds();
        const std::string owner = "if (at < " + b_.count(vectors(), "vectors") + ')';
        each_ == 1 ? write_results_apart(owner) : write_results(owner);
        out.close();
    }

    void write_folds() {
        source_writer& out = b_.code;
        std::vector<fold_writer>& folds = folds_[0];
        const std::string n = b_.count({.axes = spaces_[0].bits()}, "folded");
        load_kept(each_ == 1 ? kept_bits() : outer_bits());
        declare_results(folds);
        const auto outside = b_.body.scope();
        open_columns("columns");
        write_column();
        for (const place* in : inputs_of(spaces_[0])) b_.body.name(in->node, loaded(*in, "e"));
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line(folds[i].entry_type(), " value", i, '[', length(), "];");
        b_.open_unrolled("u", length());
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line("value", i, "[u] = u < ", n, " ? ", folds[i].entry(b_.body.value(folds[i].value(), out), "u"),
                     " : ", folds[i].entry_start(), ";");
        out.close();
        for (std::size_t i = 0; i < folds.size(); ++i) {
            const std::string values = "value" + std::to_string(i);
            out.line(own(folds[i].name()), " = ",
                     folds[i].is_moments() ? moments_of_few(folds[i]) + '(' + values + ", " + n + ')'
                                           : b_.join_pairs(folds[i].joiner(), length(), values),
                     ";");
        }
        close_columns();
        b_.body.leave(outside);
    }

    /// What is the same for all columns is computed once: no condition stands before it.
    void write_results_apart(const std::string& owner) {
        for (const std::size_t k : results_) {
            const std::string value = b_.body.value(b_.graph.roots[k], b_.code);
            b_.code.line("const ", b_.needs.type(b_.outputs[k].at->head.type), ' ', result(k), " = ", value, ";");
        }
        b_.code.open(owner);
        for (const std::size_t k : results_)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], kept_bits()), result(k));
        b_.code.close();
    }

    /// The function that makes a partial result of squares of all elements of a column.
    std::string moments_of_few(fold_writer& f) {
        f.part_type();  // declares the types
        f.joiner();
        b_.needs.add("moments_of_few",
                     "/// Of the first n values: their mean, then the squares about it.\n"
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

    void describe(launch& step) const override {
        step.pattern = "column reduction";
        step.reason =
            std::to_string(apart_ * each_) +
            " short columns a thread, all of them loaded before the first is folded: loads wait for memory together";
    }

    int inner_;
    std::uint32_t each_ = 1, apart_ = 1;  // columns side by side, and so many a block's threads apart
};

}  // namespace

bool emit_brief_columns_cuda(const key& k, const graph& g, const folding& f, plan& p) {
    if (k.axes.empty() || k.axes[0].owner != 0) return false;
    brief_columns columns(k, g, f);
    if (!columns.fits()) return false;
    columns.write(p);
    return true;
}

}  // namespace ingot::codegen
