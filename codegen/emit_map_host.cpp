// The map kernel for the host: C++ whose inner loop the system's compiler vectorises. A block is a piece of one row of
// the outputs' space; its rows of pointers are found once, then the loop runs over the inner axis.
//
// Functions of the mathematical library round differently when vectorised, so where one is called every element goes
// through whole strips of a fixed length, the end of a row in padded copies: bits never depend on an element's place.
//
// Results that no cache holds are computed strip by strip into a copy that one does hold, and written past the caches
// in whole lines: an ordinary store first reads the line that it is going to write, a third more traffic for a + b.
#include <algorithm>

#include "codegen/kernel.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t block_elements = 1u << 15;
constexpr std::uint32_t strip = 256;
constexpr std::uint32_t streamed_bytes = 64u << 20;  // with their operands, more than a cache of the last level keeps

constexpr char stream_text[] =
    R"(/// Stores that go past the caches, in parts so wide that a line's follow each other at once.
#if defined(__AVX512F__)
typedef long long part __attribute__((vector_size(64), may_alias));
#else
typedef long long part __attribute__((vector_size(32), may_alias));
#endif
static inline void stream(void* to, const void* from, unsigned long bytes) {
    const unsigned long parts = bytes / sizeof(part), done = parts * sizeof(part);
    for (unsigned long i = 0; i < parts; ++i) {
        part* const at = (part*)to + i;
        const part value = ((const part*)from)[i];
#if defined(__clang__)
        __builtin_nontemporal_store(value, at);
#elif defined(__AVX512F__)
        __builtin_ia32_movntdq512(at, value);
#elif defined(__AVX__)
        __builtin_ia32_movntdq256(at, value);
#else
        *at = value;
#endif
    }
    __builtin_memcpy((char*)to + done, (const char*)from + done, bytes - done);
}
static inline bool starts_line(const void* row) { return (unsigned long)row % 64 == 0; }
/// Others see what was streamed before what this thread writes from here on.
static inline void settle() {
#if defined(__SSE__)
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
)";

class host_map {
public:
    host_map(const key& k, const graph& g)
        : b_(k, g), inner_(b_.rank - 1), strips_(calls_inexact(g, target::host)), streams_(can_stream()) {}

    void write(plan& p) {
        b_.name_scalars();
        open_block();
        read_rows();
        if (strips_) {
            write_strips();
        } else if (streams_) {
            write_streamed();
        } else {
            write_elements(b_.rank == 0 ? "int" : b_.signed_index(), "n");
        }
        b_.code.close();
        if (streams_) b_.code.line("if (large) settle();");
        b_.step.kernel = "map";
        b_.step.pattern = "map";
        b_.step.work = {{axis_range(0, b_.rank), b_.cost}};
        b_.step.threads = 1;
        b_.step.reason = "pieces of rows, up to " + std::to_string(block_elements) +
                         " elements each: what a first-level cache holds, and worth handing to a thread";
        p.source = b_.assemble(p.expression,
                               "extern \"C\" void map(const arguments* given, "
                               "unsigned long long begin, unsigned long long end)");
        p.steps.push_back(std::move(b_.step));
    }

private:
    /// An input or output as the inner loop sees it.
    struct row {
        const place* at;
        std::string type;
        stride_class inner;
        bool scattered = false;  // read at the digits of an unravelled place
    };

    void open_block() {
        source_writer& out = b_.code;
        const formula chunks{.inner = inner_ < 0 ? 0 : axis_bit(inner_), .inner_divide = block_elements};
        const std::string type = b_.signed_index();
        b_.step.grid[0] = chunks;
        if (b_.rank > 1) b_.step.grid[0].axes = axis_range(0, inner_);
        out.line("const arguments& p = *given;");
        if (streams_) declare_large();
        out.open("for (", b_.linear(), " block = ", b_.linear(), "(begin); block < end; ++block)");
        if (b_.rank == 0) {
            out.line("const int n = 1;");
            return;
        }
        const std::string length = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_));
        std::string piece = "block";
        if (b_.rank > 1) {
            const std::string pieces = b_.count(chunks, "row_pieces");
            piece = "(block % " + pieces + ")";
            out.line(b_.linear(), " rest = block / ", pieces, ";");
            for (int a = inner_ - 1; a > 0; --a) {
                const std::string extent = b_.count({.axes = axis_bit(a)}, "n" + std::to_string(a));
                out.line("const ", type, ' ', digit(a), " = ", type, "(rest % ", extent, ");");
                out.line("rest /= ", extent, ";");
            }
            out.line("const ", type, ' ', digit(0), " = ", type, "(rest);");
        }
        out.line("const ", type, ' ', digit(inner_), " = ", type, "(", piece, " * ", block_elements, ");");
        out.line("const ", type, " n = ", length, " - ", digit(inner_), " < ", block_elements, " ? ", type, "(", length,
                 ") - ", digit(inner_), " : ", block_elements, ";");
    }

    /// Pointers to the block's first elements; what does not move along the inner axis is read here.
    void read_rows() {
        for (const place& in : b_.inputs) add_row(in);
        for (const place& out : b_.outputs) add_row(out);
        for (const node_id g : b_.generators) add_generator(g);
        b_.body.hoist(axis_range(0, inner_), b_.graph.roots, b_.code);
        for (const row& r : rows_)  // element by element, though it may be the same one all along the row
            if (r.scattered) b_.body.name(r.at->node, r.at->name);
    }

    /// Rows of results that lie in whole lines, and whose lines are in no cache because an operand was just read there.
    bool can_stream() const {
        const auto apart = [](const operand_class& o) { return !o.head.aliased; };
        const auto in_lines = [&](const place& out) { return inner_class(out, inner_) == stride_class::unit; };
        return b_.rank > 0 && (b_.key.axes[static_cast<std::size_t>(inner_)].bucket & bucket::short_inner) == 0 &&
               std::ranges::all_of(b_.key.operands, apart) && std::ranges::all_of(b_.outputs, in_lines);
    }

    void declare_large() {
        std::uint32_t bytes = 0;
        for (const place& out : b_.outputs) bytes += static_cast<std::uint32_t>(detail::size_of(out.at->head.type));
        const std::string size = b_.rank == 1 ? "n0" : "size";
        b_.code.line("const bool large = ", b_.count({.axes = axis_range(0, b_.rank)}, size),
                     " >= ", streamed_bytes / bytes, ";");
        b_.needs.add("stream", stream_text);
    }
    /// Whether this piece's lines are its own.
    void declare_streaming() {
        std::string aligned;
        for (const place& out : b_.outputs) aligned += " && starts_line(" + out.name + "_row)";
        b_.code.line("const bool streaming = large", aligned, ";");
    }

    void add_row(const place& at) {
        const row r{&at, b_.needs.type(at.at->head.type), inner_class(at, inner_),
                    !at.is_output && (b_.graph.nodes[at.node].axes & b_.unravelled_axes()) != 0};
        const std::string start = b_.pointer(at) + b_.offset(at, axis_range(0, b_.rank));
        if (r.scattered) {
            rows_.push_back(r);
        } else if (!at.is_output && r.inner == stride_class::broadcast) {
            b_.code.line("const ", r.type, ' ', at.name, " = *(", start, ");");
        } else {
            b_.code.line(pointer_type(r), row_of(r), " = ", start, ";");
            rows_.push_back(r);
        }
        if (!at.is_output && !r.scattered) b_.body.name(at.node, at.name);
    }

    /// Element j of a random leaf's row is `name(key, first + j * step)`.
    void add_generator(node_id g) {
        const std::uint16_t index = b_.graph.nodes[g].index;
        const place at{&b_.key.operands[index], b_.names[index], index, false, g};
        if ((b_.graph.nodes[g].axes & b_.unravelled_axes()) != 0) {  // its digits are those of each element
            const std::string fixed = b_.generator_index(g, axis_range(0, b_.rank) | b_.unravelled_axes());
            const std::string number = b_.generator_call(g, fixed + along_row(at));
            const scattered_number s{b_.needs.type(b_.graph.nodes[g].type), at.name + "_copy", number};
            b_.body.name(g, strips_ ? s.copy + "[j]" : s.number);
            scattered_numbers_.push_back(s);
            return;
        }
        const std::string first = b_.generator_index(g, axis_range(0, b_.rank));
        b_.code.line("const ", b_.needs.type(dtype::i8), ' ', at.name, "_row = ", first, ";");
        std::string element = at.name + "_row";
        const row r{&at, "", inner_class(at, inner_)};
        if (r.inner != stride_class::broadcast) element += " + " + in_piece() + step_of(r);
        b_.body.name(g, b_.generator_call(g, element));
    }

    static std::string pointer_type(const row& r) { return (r.at->is_output ? "" : "const ") + r.type + "* const "; }
    static std::string row_of(const row& r) { return r.at->name + "_row"; }
    static std::string strip_of(const row& r) { return r.at->name + "_strip"; }
    static std::string copy_of(const row& r) { return r.at->name + "_copy"; }
    /// " * p.x0_stride0", or nothing for a unit stride.
    std::string step_of(const row& r) {
        if (r.inner != stride_class::strided) return "";
        return b_.offset(*r.at, axis_bit(inner_)).substr(3 + digit(inner_).size());
    }
    std::string element(const row& r) {
        if (r.scattered && !strips_) return scattered_element(r);
        return strips_ || (streams_ && r.at->is_output) ? strip_of(r) + "[j]" : in_row(r);
    }
    /// Number of element j in its piece.
    std::string in_piece() const { return strips_ || streams_ ? "(first + j)" : "j"; }

    /// The digits of every unravelled place, for element j of the row.
    void write_places() {
        source_writer& out = b_.code;
        const std::string type = b_.signed_index();
        for (const unravelling& u : b_.unravellings) {
            out.line(u.axes.size() > 1 ? "" : "const ", b_.linear(), ' ', u.name, " = ", b_.linear(), '(',
                     b_.place_index(u, axis_range(0, b_.rank) | b_.unravelled_axes(), along_row(u.pick)), ");");
            for (std::size_t k = u.axes.size(); k-- > 1;) {
                const std::string n = b_.count({.axes = axis_bit(u.axes[k])}, "n" + std::to_string(u.axes[k]));
                out.line("const ", type, ' ', digit(u.axes[k]), " = ", type, '(', u.name, " % ", n, ");");
                out.line(u.name, " /= ", n, ";");
            }
            out.line("const ", type, ' ', digit(u.axes[0]), " = ", type, '(', u.name, ");");
        }
    }
    std::string scattered_element(const row& r) {
        const std::string fixed = b_.offset(*r.at, axis_range(0, b_.rank) | b_.unravelled_axes());
        return "*(" + b_.pointer(*r.at) + fixed + along_row(*r.at) + ')';
    }
    /// What element j of a row lies further than its first.
    std::string along_row(const place& at) {
        if (inner_class(at, inner_) == stride_class::broadcast) return "";
        return " + " + in_piece() + b_.offset(at, axis_bit(inner_)).substr(3 + digit(inner_).size());
    }

    /// The loop itself. Everything is read before anything is written, for an output may be an input's own array.
    void write_elements(const std::string& type, const std::string& n) {
        source_writer& out = b_.code;
        b_.declare_independent();
        out.open("for (", type, " j = 0; j < ", n, "; ++j)");
        if (!strips_) write_places();
        for (const row& r : rows_)
            if (!r.at->is_output)
                out.line("const ", r.type, ' ', r.at->name, " = ", b_.needs.element(r.at->at->head.type, element(r)),
                         ";");
        std::vector<std::string> values;
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            values.push_back(b_.body.value(b_.graph.roots[k], out));
            if (b_.outputs.size() == 1) break;
            const std::string name = "r" + std::to_string(k);
            out.line("const ", type_name(b_.outputs[k].at->head.type), ' ', name, " = ", values.back(), ";");
            values.back() = name;
        }
        std::size_t k = 0;
        for (const row& r : rows_)
            if (r.at->is_output) out.line(element(r), " = ", values[k++], ";");
        out.close();
    }

    /// One strip that is the whole piece, or many by way of copies.
    void write_streamed() {
        source_writer& out = b_.code;
        const std::string type = b_.signed_index();
        declare_streaming();
        for (const row& r : rows_)
            if (r.at->is_output) out.line("alignas(64) ", r.type, ' ', copy_of(r), '[', strip, "];");
        out.line("const ", type, " step = streaming ? ", strip, " : n;");
        out.open("for (", type, " first = 0; first < n; first += step)");
        out.line("const ", type, " m = n - first < step ? n - first : step;");
        for (const row& r : rows_)
            if (r.at->is_output) declare_strip(r, "streaming");
        write_elements(type, "m");
        for (const row& r : rows_)
            if (r.at->is_output) out.line("if (streaming) ", stream_of(r), ";");
        out.close();
    }

    /// In the copy where the condition holds, always where there is none.
    void declare_strip(const row& r, const std::string& copied) {
        const std::string in_row = " : " + row_of(r) + " + first";
        b_.code.line(pointer_type(r), strip_of(r), " = ", copied.empty() ? "" : copied + " ? ", copy_of(r),
                     copied.empty() ? "" : in_row, ";");
    }
    std::string stream_of(const row& r) const {
        const std::string size = std::to_string(detail::size_of(r.at->at->head.type));
        return "stream(" + row_of(r) + " + first, " + copy_of(r) + ", m * " + size + "ul)";
    }

    /// Whole strips: in place where one lies in memory, through a copy at a row's end and where the stride is not one.
    void write_strips() {
        source_writer& out = b_.code;
        const std::string length = std::to_string(strip), index = b_.rank == 0 ? "int" : b_.signed_index();
        if (streams_) declare_streaming();
        for (const row& r : rows_) out.line("alignas(64) ", r.type, ' ', copy_of(r), '[', length, "] = {};");
        for (const scattered_number& s : scattered_numbers_)
            out.line("alignas(64) ", s.type, ' ', s.copy, '[', length, "] = {};");
        out.open("for (", index, " first = 0; first < n; first += ", length, ")");
        out.line("const int m = n - first < ", length, " ? int(n - first) : ", length, ";");
        for (const row& r : rows_) {
            const bool packed = r.scattered || r.inner == stride_class::strided;
            const std::string streaming = streams_ && r.at->is_output ? "streaming || " : "";
            declare_strip(r, packed ? "" : streaming + "m < " + length);
        }
        for (const row& r : rows_)
            if (!r.at->is_output && !r.scattered) copy(r, copy_of(r) + "[j] = " + in_row(r));
        if (!b_.unravellings.empty()) {
            out.open("for (int j = 0; j < m; ++j)");
            write_places();
            for (const row& r : rows_)
                if (r.scattered) out.line(copy_of(r), "[j] = ", scattered_element(r), ";");
            for (const scattered_number& s : scattered_numbers_) out.line(s.copy, "[j] = ", s.number, ";");
            out.close();
        }
        write_elements("int", length);
        for (const row& r : rows_) {
            if (!r.at->is_output) continue;
            if (streams_) out.line("if (streaming) ", stream_of(r), ";");
            copy(r, in_row(r) + " = " + copy_of(r) + "[j]", streams_ ? "else " : "");
        }
        out.close();
    }

    std::string in_row(const row& r) {
        const std::string step = step_of(r);
        return row_of(r) + '[' + (step.empty() && in_piece() != "j" ? "first + j" : in_piece() + step) + ']';
    }
    void copy(const row& r, const std::string& statement, const std::string& before = "") {
        const std::string when = r.inner == stride_class::strided ? "" : "if (m < " + std::to_string(strip) + ") ";
        b_.code.line(before, when, "for (int j = 0; j < m; ++j) ", statement, ";");
    }

    kernel_builder b_;
    int inner_;
    bool strips_;   // whole ones
    bool streams_;  // where the results are large
    std::vector<row> rows_;
    /// A random leaf's at the digits of an unravelled place; whole strips have copies of them.
    struct scattered_number {
        std::string type, copy, number;
    };
    std::vector<scattered_number> scattered_numbers_;
};

}  // namespace

void emit_map_host(const key& k, const graph& g, plan& p) { host_map(k, g).write(p); }

}  // namespace ingot::codegen
