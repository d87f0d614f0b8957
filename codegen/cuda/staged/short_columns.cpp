// Folds across memory of short columns side by side, as of a middle axis between short ones: a block copies a run of
// memory, the columns of a few places of the outer axes, into shared memory, 16 bytes a thread whatever the extents.
// Then a thread folds a column from there; where a block has threads to spare, neighbours share a column.
#include <algorithm>

#include "codegen/cuda/fold/across/column_fold.hpp"
#include "codegen/cuda/join.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t few = 4;  // elements of a thread, whose mean is subtracted from the others

class short_columns final : public column_writer<staged_columns_layout> {
public:
    using column_writer::column_writer;

private:
    std::string narrow(const std::string& value) { return b_.wide() ? u4() + '(' + value + ')' : value; }
    std::string u4() { return b_.needs.type(dtype::u4); }

    std::string lane() const override { return "lane"; }
    std::string lanes() const override { return "lanes"; }
    std::string first_result() const override { return ""; }
    std::string mine() const override { return ""; }
    std::string owner() override { return "if (mine && lane == 0)"; }

    void locate_thread() override {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        const std::string index = b_.linear(), type = u4(), block = this->block();
        const std::string outers = b_.count(points_of(outer_bits()), "outers"), across = b_.count(row_width(), "width"),
                          length = b_.count(points_of(s.bits()), "length"),
                          by_width = b_.divisor(row_width(), "by_width");
        const formula columns = row_width(),
                      share =
                          points_per_room(choice_.elements, points_of(axis_bit(inner_) | s.bits()), threads_, columns);
        b_.step.grid[0] = ceil_divide(points_of(outer_bits()), share);
        out.line("const ", type, " share = ", narrow(b_.count(share, "share")), ";");
        out.line("const ", index, " first = ", block, " * share;");
        out.line("const ", type, " width = ", narrow(across), ", n = ", narrow(length), ", cells = width * n;");
        out.line("const ", type, " points = ", narrow("min(" + index + "(share), " + outers + " - first)"), ";");
        out.line("const ", type, " results = points * width;");
        write_copies();
        out.line("const ", type, " spread = 31 - __clz(max(min(min(", threads_, "u / results, n / 2), 32u), 1u));");
        out.line("const ", type, " lanes = 1u << spread, lane = threadIdx.x & lanes - 1;");
        // All threads of a warp take the same number of turns, as lanes exchange values.
        out.open("for (", type, " begin = (threadIdx.x & ~31u) >> spread; begin < results; begin += ", threads_,
                 "u >> spread)");
        out.line("const ", type, " at = begin + ((threadIdx.x & 31) >> spread);");
        out.line("const bool mine = at < results;");
        out.line("const ", type, " result = mine ? at : results - 1;");
        out.line("const ", type, " within = ", narrow("quotient(result, " + by_width + ")"),
                 ", column = result - within * width;");
        if (b_.rank > 1) {
            out.line("const ", index, " outer = first + within;");
            write_outer_digits();
        }
        write_inner_digit("column");
        out.line("const ", type, " cell = within * cells + column;");
        load_invariants(kept_bits());
    }

    /// Copies whole vectors of the run, from the vector in which it begins, then the elements behind the last.
    void write_copies() {
        source_writer& out = b_.code;
        const std::string copy = b_.copier(16);
        b_.needs.add(
            "copy_run",
            b_.function("Copies elements [first, end) to consecutive positions; returns the position of the first.",
                        "template <class type, class index>\n") +
                "unsigned int copy_run(type* to, const type* from, index first, index end) {\n"
                "    constexpr unsigned int each = 16 / sizeof(type);\n"
                "    const index begin = first / each * each;\n"
                "    const unsigned int chunks = (end - begin) / each, n = end - begin;\n"
                "    const uint4* const vectors = reinterpret_cast<const uint4*>(from + begin);\n"
                "    for (unsigned int q = threadIdx.x; q < chunks; q += " +
                std::to_string(threads_) + ") " + copy +
                "(reinterpret_cast<uint4*>(to) + q, vectors + q);\n"
                "    for (unsigned int i = chunks * each + threadIdx.x; i < n; i += " +
                std::to_string(threads_) +
                ") to[i] = from[begin + i];\n"
                "    return first - begin;\n}\n");
        for (const array_argument* in : inputs_of(spaces_[0])) {
            const std::string run = in->name + "_run";
            out.line("alignas(16) __shared__ ", b_.needs.type(in->at->head.type), ' ', run, '[', choice_.capacity,
                     "];");
            out.line("const ", u4(), ' ', in->name, "_from = copy_run(", run, ", ", b_.pointer(*in),
                     ", first * cells, (first + points) * cells);");
        }
        b_.wait_for_copies();
        out.line("__syncthreads();");
    }

    void write_loads(const folded_space& s, const std::string& at) override {
        for (const array_argument* in : inputs_of(s))
            b_.code.line(in->name, "[u] = ", in->name, "_run[", in->name, "_from + cell + (", at, ") * width];");
    }

    void write_space(std::size_t) override {
        declare_results(folds_[0]);
        const auto outside = b_.body.scope();
        b_.code.open();
        if (choice_.moments) {
            write_moments();
            b_.body.leave(outside);
        } else {
            declare_parts(folds_[0]);
            b_.code.line(b_.linear(), " k = lane;");
            write_tiles(0, choice_.unroll, " * lanes", "n", std::to_string(choice_.unroll) + " * lanes");
            b_.body.leave(outside);
            join_parts(folds_[0]);
        }
        b_.code.close();
    }

    /// Computes parts (text/shifted_reduction.hpp) from all the elements of a thread at once: sums of their differences
    /// from the mean of the first few.
    void write_moments() {
        source_writer& out = b_.code;
        std::vector<fold_writer>& folds = folds_[0];
        const auto own = [](const char* name, std::size_t i) { return name + std::to_string(i); };
        const auto write_element = [&](const std::string& at, const auto& use) {
            const auto outside = b_.body.scope();
            for (const array_argument* in : inputs_of(spaces_[0])) {
                out.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ", in->name, "_at[", at, "];");
                b_.body.name(in->node, in->name);
            }
            for (std::size_t i = 0; i < folds.size(); ++i)
                use(i, folds[i].entry(b_.body.value(folds[i].value(), out), ""));
            b_.body.leave(outside);
        };
        out.line("const ", u4(), " count = (n - 1 - lane >> spread) + 1, step = width << spread;");
        for (const array_argument* in : inputs_of(spaces_[0]))
            out.line("const ", b_.needs.type(in->at->head.type), "* ", in->name, "_at = ", in->name, "_run + ",
                     in->name, "_from + cell + lane * width;");
        for (std::size_t i = 0; i < folds.size(); ++i) {
            folds[i].part_type();  // declares the types
            out.line(folds[i].entry_type(), ' ', own("near", i), ", ", own("sum", i), " = 0, ", own("square", i),
                     " = 0;");
        }
        out.open();
        write_element("0",
                      [&](std::size_t i, const std::string& value) { out.line(own("near", i), " = ", value, ";"); });
        out.close();
        // With no more elements than these the first alone costs no digits.
        out.open("if (n > ", 2 * few, "u * lanes)");
        for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].entry_type(), ' ', own("off", i), " = 0;");
        b_.open_unrolled("u", few - 1);
        write_element("(u + 1) * step", [&](std::size_t i, const std::string& value) {
            out.line(own("off", i), " += ", value, " - ", own("near", i), ";");
        });
        out.close();
        for (std::size_t i = 0; i < folds.size(); ++i) out.line(own("near", i), " += ", own("off", i), " / ", few, ";");
        out.close();
        out.margin("#pragma unroll 4");
        out.open("for (", u4(), " i = 0; i < count; ++i)");
        write_element("0", [&](std::size_t i, const std::string& value) {
            out.line("const ", folds[i].entry_type(), ' ', own("off", i), " = ", value, " - ", own("near", i), ";");
            out.line(own("sum", i), " += ", own("off", i), ";");
            out.line(own("square", i), " += ", own("off", i), " * ", own("off", i), ";");
        });
        for (const array_argument* in : inputs_of(spaces_[0])) out.line(in->name, "_at += step;");
        out.close();
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line(folds[i].name(), " = ",
                     folds[i].of_part(folds[i].part_type() + '{' + folds[i].entry_type() + "(count), " +
                                      own("near", i) + ", " + own("sum", i) + ", " + own("square", i) + '}'),
                     ";");
    }

    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override {
        add_exchange(f, b_.needs);
        b_.needs.add("join_spread",
                     "/// Combines the values of `lanes` adjacent lanes; every lane gets the result.\n"
                     "template <class fold, class type>\n"
                     "__device__ __forceinline__ type join_spread(type v, unsigned int lanes) {\n"
                     "    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));\n"
                     "    return v;\n}\n");
        b_.code.line(variable, " = join_spread<", joiner, ">(", variable, ", lanes);");
    }

    void write_end() override { b_.code.close(); }
};

}  // namespace

/// The columns have to be one run of memory in all folded arrays, of few enough bytes to stage.
std::optional<staged_columns_layout> choose_staged_columns(const folded_kernel& f) {
    constexpr std::uint32_t target_bytes = 24 * 1024, most_bytes = 46 * 1024;  // of shared memory
    constexpr std::uint32_t widest_inner = 31;                                 // the class of short inner axes
    constexpr std::uint32_t vector_bytes = 16;
    const bool known_width = inner_class_of(f).extent != 0;
    const std::uint8_t longest_class = known_width ? 6 : 4;
    if (f.kernel().rank < 2 || !folds_one_axis_of_arrays(f) || f.length_class() > longest_class ||
        !inner_is(f, axis_flags::contiguous_columns | axis_flags::short_inner) ||
        !std::ranges::all_of(f.inputs_of(f.longest_space()), [&](const array_argument* in) {
            return moves_everywhere(f, *in) && !in->at->head.aliased;
        }))
        return {};
    const std::uint32_t bytes = f.bytes_at_once(f.longest_space(), 1);
    const std::uint32_t longest_run =
        (16u << f.length_class()) * (known_width ? inner_class_of(f).extent : widest_inner);
    staged_columns_layout c;
    c.threads = column_block::least;
    c.elements = target_bytes / bytes;
    c.capacity = std::max(longest_run, c.elements) + vector_bytes;
    c.moments = std::ranges::all_of(f.longest_folds(), &fold_traits::is_moments);
    return c.capacity * bytes <= most_bytes ? std::optional(c) : std::nullopt;
}

kernel_shape staged_columns_layout::shape() const {
    kernel_shape s = shape_of("short columns", unroll, thread_exchange::lanes);
    s.source = element_source::staged;
    s.tile = elements;
    return s;
}

std::string staged_columns_layout::reason() const {
    return "short columns staged in shared memory, as many threads a column as a block has to spare: read as they lie";
}

void staged_columns_layout::write(cuda_kernel& b, const folded_kernel& f) const { short_columns(b, f, *this).write(); }

}  // namespace ingot::codegen
