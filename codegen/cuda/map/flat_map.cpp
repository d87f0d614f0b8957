// The map kernel for CUDA after a fold across memory, of rows that begin anywhere. All rows beneath the same results
// form one run of memory, a slab. After as many rows as a vector has elements, rows begin alike again: a period of the
// slab, of as many vectors as a row has elements. A thread takes the same vector of some periods, so the results of its
// few columns are read once, and memory is accessed by 16 bytes wherever rows begin. Arrays with gaps, or that begin
// elsewhere than the first output, are accessed element by element.
#include <algorithm>

#include "codegen/cuda/map/choice.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t each = 4;  // elements of a vector

class flat_map {
public:
    flat_map(cuda_kernel& b, const flat_layout& c) : b_(b), inner_(b.rank - 1), folded_(c.folded), chunks_(c.vectors) {}

    void write() {
        b_.name_scalars();
        locate_thread();
        for (const array_argument& in : b_.inputs) read(in);
        for (const array_argument& z : b_.outputs) declare(z, true);
        compute();
        for (const array_argument& z : b_.outputs) write(z);
    }

private:
    static constexpr std::uint32_t threads = map_threads, period_stride = 8;  // in periods

    bool moves(const array_argument& at) const { return b_.moves_along(at, axis_range(0, b_.rank)); }
    bool moves_inside(const array_argument& at) const { return b_.moves_along(at, axis_bit(inner_)); }
    bool moves_down(const array_argument& at) const { return b_.moves_along(at, axis_bit(folded_)); }
    bool by_vectors(const array_argument& at) const { return moves_inside(at) && moves_down(at); }
    std::string width() { return b_.extent(inner_); }
    std::string by_width() { return b_.divisor(points_of(axis_bit(inner_)), "by_n" + std::to_string(inner_)); }
    std::string total() { return b_.count(points_of(axis_bit(inner_) | axis_bit(folded_)), "total"); }
    std::string slab(const array_argument& at) { return b_.pointer(at) + b_.offset(at, axis_range(0, folded_)); }
    std::string shift_of(const array_argument& at) {
        return b_.linear() + "(reinterpret_cast<" + b_.needs.type(dtype::u8) + ">(" + slab(at) + ") / 4 % 4)";
    }

    /// A slab's first vector may begin before it, so its last period may have elements of one more row.
    void locate_thread() {
        source_writer& out = b_.code;
        const formula groups = ceil_divide(points_of(axis_bit(folded_)) + 1, chunks_ * period_stride * each);
        const formula all = points_of(axis_range(0, b_.rank) & ~axis_bit(folded_)) * groups;
        b_.step.grid[0] = ceil_divide(all, threads / period_stride);
        const std::string type = b_.linear(), n = width(), by_n = by_width(),
                          periods = std::to_string(period_stride) + 'u';
        out.line("const ", type, " q = ", b_.thread_index(threads), ";");
        out.line("if (q >= ", b_.count(all, "groups"), " * ", periods, ") return;");
        out.line("const ", type, " line = quotient(q, ", by_n, "), vector = q - line * ", n, ";");
        std::string group = "line / " + periods;
        if (folded_ > 0) {
            out.line("const ", type, " outer = quotient(", group, ", ", b_.divisor(groups, "by_groups"), ");");
            b_.write_digits("outer", axes_in(axis_range(0, folded_)));
            group = '(' + group + " - outer * " + b_.count(groups, "groups_along") + ')';
        }
        out.line("const ", type, " first = ", group, " * ", chunks_ * period_stride, " + line % ", periods,
                 ";  // the thread's first period");
        out.line("const ", type, " shift = ", shift_of(b_.outputs[0]), ";");
        for (const auto* arrays : {&b_.inputs, &b_.outputs})
            for (const array_argument& at : *arrays)
                if (by_vectors(at))
                    out.line("const bool ", at.name, "_fits = ", b_.stride(at, folded_), " == ", n, " && ",
                             shift_of(at), " == shift;");
        out.line("// Rows and columns of the thread's four elements; rows count from one period before the slab.");
        out.line(b_.signed_index(), " row[4], column[4];");
        out.line("const ", type, " begin = (vector + ", n, ") * 4 - shift, down = quotient(begin, ", by_n, ");");
        out.line("row[0] = ", b_.signed_index(), "(down), column[0] = ", b_.signed_index(), "(begin - down * ", n,
                 ");");
        out.margin("#pragma unroll");
        out.open("for (int i = 1; i < 4; ++i)");
        out.line("const bool ends = ", b_.linear(), "(column[i - 1]) + 1 == ", n, ";");
        out.line("row[i] = row[i - 1] + ends, column[i] = ends ? 0 : column[i - 1] + 1;");
        out.close();
    }

    /// `k` is the place of a chunk's first element in the slab; negative where a slab begins within a vector.
    void open_chunks() {
        b_.open_unrolled("e", chunks_);
        b_.code.line("const ", b_.linear(), " period = first + e * ", period_stride, "u, k = (period * ", width(),
                     " + vector) * 4 - shift;");
    }
    void open_whole(const array_argument& at) { b_.code.open("if (", at.name, "_fits && k < ", total(), " - 3)"); }
    /// The loop over a chunk's elements that lie in the slab, with their digits.
    void open_elements() {
        b_.open_unrolled("i", each);
        b_.code.line("if (k + i >= ", total(), ") continue;");
        b_.code.line("const ", b_.signed_index(), ' ', digit(folded_), " = ", b_.signed_index(),
                     "(period * 4) - 4 + row[i], ", digit(inner_), " = column[i];");
    }

    void declare(const array_argument& at, bool output) {
        b_.code.line("alignas(16) ", b_.needs.type(at.at->head.type), ' ', at.name, '[', chunks_, "][4]",
                     output ? ";" : " = {};");
    }

    void read(const array_argument& in) {
        source_writer& out = b_.code;
        const std::uint64_t all = axis_range(0, b_.rank), still = all & ~axis_bit(folded_);
        if (!moves_down(in)) {
            const bool inside = moves_inside(in);
            out.line(inside ? "" : "const ", b_.needs.type(in.at->head.type), ' ', in.name, inside ? "[4];" : " = ",
                     inside ? "" : b_.element(in, moves(in) ? b_.offset(in, still) : "") + ';');
            b_.body.name(in.node, in.name + (inside ? "[i]" : ""));
            if (!inside) return;
            b_.open_unrolled("i", each);
            out.line("const ", b_.signed_index(), ' ', digit(inner_), " = column[i];");
            out.line(in.name, "[i] = ", b_.element(in, b_.offset(in, still)), ";");
            return out.close();
        }
        declare(in, false);
        b_.body.name(in.node, in.name + "[e][i]");
        open_chunks();
        if (by_vectors(in)) {
            open_whole(in);
            out.line(b_.loader(b_.reading_of(in, all), 16), '<', word_of(16), ">(", in.name, "[e], ", slab(in),
                     " + k);");
            out.otherwise();
        }
        open_elements();
        out.line(in.name, "[e][i] = ", b_.element(in, b_.offset(in, all)), ";");
        out.close();
        if (by_vectors(in)) out.close();
        out.close();
    }

    /// Computes column by column, by quick bodies where there are such; once more where one met a rare value.
    void compute() {
        source_writer& out = b_.code;
        b_.open_unrolled("i", each);
        b_.body.hoist(axis_range(0, b_.rank) & ~axis_bit(folded_), b_.graph.roots, out);
        b_.compute(b_.has_quick_bodies(), [&] {
            b_.open_unrolled("e", chunks_);
            for (const array_argument& z : b_.outputs)
                out.line(z.name, "[e][i] = ", b_.body.value(b_.graph.roots[z.index], out), ";");
            out.close();
        });
        out.close();
    }

    void write(const array_argument& z) {
        source_writer& out = b_.code;
        open_chunks();
        open_whole(z);
        out.line(b_.storer(), '<', word_of(16), ">(", slab(z), " + k, ", z.name, "[e]);");
        out.otherwise();
        open_elements();
        b_.store_element(z, b_.offset(z, axis_range(0, b_.rank)), z.name + "[e][i]");
        out.close();
        out.close();
        out.close();
    }

    cuda_kernel& b_;
    const int inner_, folded_;
    const std::uint32_t chunks_;
};

}  // namespace

/// The rows along which the map goes must be runs of memory of 4-byte elements, one below the other.
std::optional<flat_layout> choose_flat(const cuda_kernel& b, int folded) {
    constexpr std::uint32_t fewest_vectors = 2, most_vectors = 4;
    const int inner = b.rank - 1;
    if (folded + 1 != inner || bytes_of(b.outputs[0]) != 4 || fewest_vectors * each * b.cost > statement_budget)
        return {};
    const auto moves_inside = [&](const array_argument& at) { return b.moves_along(at, axis_bit(inner)); };
    const auto moves_down = [&](const array_argument& at) { return b.moves_along(at, axis_bit(folded)); };
    const auto is_run = [&](const array_argument& at) {
        return inner_class(at, inner) == stride_class::unit && inner_class(at, folded) == stride_class::strided &&
               bytes_of(at) == 4;
    };
    const auto by_vectors = [&](const array_argument& in) { return moves_down(in) && moves_inside(in); };
    if (!std::ranges::all_of(b.outputs, is_run) ||
        !std::ranges::all_of(b.inputs, [&](const array_argument& in) { return !by_vectors(in) || is_run(in); }))
        return {};
    // With more than one array fewer vectors of each are as many in flight.
    const bool light = b.outputs.size() == 1 && most_vectors * each * b.cost <= statement_budget &&
                       std::ranges::count_if(b.inputs, by_vectors) == 1;
    return flat_layout{folded, light ? most_vectors : fewest_vectors};
}

kernel_shape flat_layout::shape() const {
    return {.name = "flat", .threads = map_threads, .each = each, .chunks = vectors, .source = element_source::run};
}

std::string flat_layout::reason() const {
    return std::to_string(vectors) + " vectors a thread, some rows apart: results are read once";
}

void flat_layout::write(cuda_kernel& b) const { flat_map(b, *this).write(); }

}  // namespace ingot::codegen
