// The map kernel for the host: C++ whose inner loop the system's compiler vectorises. A block is a piece of one row of
// the outputs' space; its rows of pointers are found once, then the loop runs over the inner axis.
//
// Functions of the mathematical library round differently when vectorised, so where one is called every element goes
// through whole strips of a fixed length, the end of a row in padded copies: bits never depend on an element's place.
#include <algorithm>

#include "codegen/kernel.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t block_elements = 1u << 15;
constexpr std::uint32_t strip = 256;

class host_map {
public:
    host_map(const key& k, const graph& g) : b_(k, g), inner_(b_.rank - 1), strips_(calls_inexact(g, target::host)) {}

    void write(plan& p) {
        b_.name_scalars();
        open_block();
        read_rows();
        if (strips_) {
            write_strips();
        } else {
            write_elements(b_.rank == 0 ? "int" : b_.signed_index(), "n");
        }
        b_.code.close();
        b_.step.kernel = "map";
        b_.step.pattern = "map";
        b_.step.work = {{axis_range(0, b_.rank), b_.cost}};
        b_.step.threads = 1;
        b_.step.reason = "pieces of rows, up to " + std::to_string(block_elements) + " elements each";
        p.source = b_.assemble(p.expression,
                               "extern \"C\" void map(const arguments* given, unsigned long long begin, unsigned long long end)");
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
        out.line("const ", type, " n = ", length, " - ", digit(inner_), " < ", block_elements, " ? ", type, "(", length, ") - ",
                 digit(inner_), " : ", block_elements, ";");
    }

    /// Pointers to the block's first elements; what does not move along the inner axis is read here.
    void read_rows() {
        for (const place& in : b_.inputs) add_row(in);
        for (const place& out : b_.outputs) add_row(out);
        for (const node_id g : b_.generators) add_generator(g);
        b_.body.hoist(axis_range(0, inner_), b_.graph.roots, b_.code);
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
        if (!at.is_output) b_.body.name(at.node, at.name);
    }

    /// Element j of a random leaf's row is `name(key, first + j * step)`.
    void add_generator(node_id g) {
        const std::uint16_t index = b_.graph.nodes[g].index;
        const place at{&b_.key.operands[index], b_.names[index], index, false, g};
        const row r{&at, "", inner_class(at, inner_)};
        b_.code.line("const ", b_.needs.type(dtype::i8), ' ', at.name, "_row = ", b_.generator_index(g, axis_range(0, b_.rank)),
                     ";");
        std::string element = at.name + "_row";
        if (r.inner != stride_class::broadcast)
            element += strips_ ? " + (first + j)" + step_of(r) : " + j" + step_of(r);
        b_.body.name(g, b_.generator_name(g) + '(' + b_.generator_key(g) + ", " + element + ')');
    }

    static std::string pointer_type(const row& r) { return (r.at->is_output ? "" : "const ") + r.type + "* const "; }
    static std::string row_of(const row& r) { return r.at->name + "_row"; }
    static std::string strip_of(const row& r) { return r.at->name + "_strip"; }
    static std::string copy_of(const row& r) { return r.at->name + "_copy"; }
    /// " * p.x0_stride0", or nothing for a unit stride.
    std::string step_of(const row& r) {
        return r.inner == stride_class::strided ? b_.offset(*r.at, axis_bit(inner_)).substr(3 + digit(inner_).size()) : "";
    }
    std::string element(const row& r) {
        if (r.scattered && !strips_) return scattered_element(r);
        return strips_ ? strip_of(r) + "[j]" : row_of(r) + "[j" + step_of(r) + ']';
    }

    /// The digits of every unravelled place, for element j of the row.
    void write_places() {
        source_writer& out = b_.code;
        const std::string type = b_.signed_index();
        for (const unravelling& u : b_.unravellings) {
            const std::string place = u.pick.name;
            out.line(u.axes.size() > 1 ? "" : "const ", b_.linear(), ' ', place, " = ", b_.linear(), '(',
                     b_.place_index(u, axis_range(0, b_.rank) | b_.unravelled_axes()), along_row(u.pick), ");");
            for (std::size_t k = u.axes.size(); k-- > 1;) {
                const std::string n = b_.count({.axes = axis_bit(u.axes[k])}, "n" + std::to_string(u.axes[k]));
                out.line("const ", type, ' ', digit(u.axes[k]), " = ", type, '(', place, " % ", n, ");");
                out.line(place, " /= ", n, ";");
            }
            out.line("const ", type, ' ', digit(u.axes[0]), " = ", type, '(', place, ");");
        }
    }
    std::string scattered_element(const row& r) {
        return "*(" + b_.pointer(*r.at) + b_.offset(*r.at, axis_range(0, b_.rank) | b_.unravelled_axes()) + along_row(*r.at) + ')';
    }
    /// What element j of a row lies further than its first.
    std::string along_row(const place& at) {
        if (inner_class(at, inner_) == stride_class::broadcast) return "";
        const std::string by = strips_ ? " + (first + j)" : " + j";
        return by + b_.offset(at, axis_bit(inner_)).substr(3 + digit(inner_).size());
    }

    /// The loop itself. Everything is read before anything is written, for an output may be an input's own array.
    void write_elements(const std::string& type, const std::string& n) {
        source_writer& out = b_.code;
        b_.declare_independent();
        out.open("for (", type, " j = 0; j < ", n, "; ++j)");
        if (!strips_) write_places();
        for (const row& r : rows_)
            if (!r.at->is_output) out.line("const ", r.type, ' ', r.at->name, " = ", element(r), ";");
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

    /// Whole strips: in place where one lies in memory, through a copy at a row's end and where the stride is not one.
    void write_strips() {
        source_writer& out = b_.code;
        const std::string length = std::to_string(strip), index = b_.rank == 0 ? "int" : b_.signed_index();
        for (const row& r : rows_) out.line("alignas(64) ", r.type, ' ', copy_of(r), '[', length, "] = {};");
        out.open("for (", index, " first = 0; first < n; first += ", length, ")");
        out.line("const int m = n - first < ", length, " ? int(n - first) : ", length, ";");
        for (const row& r : rows_) {
            const bool packed = r.scattered || r.inner == stride_class::strided;
            out.line(pointer_type(r), strip_of(r), " = ", packed ? "" : "m < " + length + " ? ", copy_of(r),
                     packed ? "" : " : " + row_of(r) + " + first", ";");
        }
        for (const row& r : rows_)
            if (!r.at->is_output && !r.scattered) copy(r, copy_of(r) + "[j] = " + in_row(r));
        if (!b_.unravellings.empty()) {
            out.open("for (int j = 0; j < m; ++j)");
            write_places();
            for (const row& r : rows_)
                if (r.scattered) out.line(copy_of(r), "[j] = ", scattered_element(r), ";");
            out.close();
        }
        write_elements("int", length);
        for (const row& r : rows_)
            if (r.at->is_output) copy(r, in_row(r) + " = " + copy_of(r) + "[j]");
        out.close();
    }

    std::string in_row(const row& r) {
        const std::string step = step_of(r);
        return row_of(r) + (step.empty() ? "[first + j]" : "[(first + j)" + step + ']');
    }
    void copy(const row& r, const std::string& statement) {
        const std::string when = r.inner == stride_class::strided ? "" : "if (m < " + std::to_string(strip) + ") ";
        b_.code.line(when, "for (int j = 0; j < m; ++j) ", statement, ";");
    }

    kernel_builder b_;
    int inner_;
    bool strips_;
    std::vector<row> rows_;
};

}  // namespace

void emit_map_host(const key& k, const graph& g, plan& p) { host_map(k, g).write(p); }

}  // namespace ingot::codegen
