// See host_walk.hpp.
#include "codegen/host_walk.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr const char* rounded = "(m + 63) / 64 * 64";  // a multiple of every vector's elements

bool moves_by_one(const kernel_builder& b, const place& at, int axis) {
    for (std::size_t a = 0; a < at.at->strides.size(); ++a)
        if (b.graph.loop_axis[a] == axis && at.at->strides[a] == stride_class::unit) return true;
    return false;
}

/// Are neighbours of the kept inner axis neighbours in memory, and those of the rows' are not?
bool are_columns(const kernel_builder& b, const folded_space& s) {
    bool columns = false;
    for (const place& in : b.inputs) {
        if ((b.graph.nodes[in.node].axes & s.bits()) == 0) continue;
        if (moves_by_one(b, in, s.inner())) return false;
        columns = columns || moves_by_one(b, in, b.rank - 1);
    }
    return columns;
}

}  // namespace

direction choose_direction(const kernel_builder& b, const std::vector<folded_space>& spaces) {
    if (b.rank == 0) return direction::along;
    const bool few = (b.key.axes[static_cast<std::size_t>(b.rank - 1)].bucket & bucket::short_inner) != 0;
    const bool across = std::ranges::all_of(
        spaces, [&](const folded_space& s) { return s.bucket <= 1 || (!few && are_columns(b, s)); });
    return across ? direction::across : direction::along;
}

std::uint32_t strip_of(const kernel_builder& b, const std::vector<folded_space>& spaces, direction d) {
    if (d == direction::across)  // columns: some pages of each row of them; short rows: so many as a cache holds
        return std::ranges::all_of(spaces, [&](const folded_space& s) { return are_columns(b, s); }) ? 2048 : 256;
    std::uint32_t strip = 64;
    for (const folded_space& s : spaces) strip = std::max(strip, s.bucket <= 2 ? 64u : s.bucket == 3 ? 128u : 256u);
    return strip;
}

host_walk::host_walk(kernel_builder& b, direction d, std::uint32_t strip, const formula& pieces)
    : b_(b), way_(d), strip_(strip), pieces_(pieces), whole_(calls_inexact(b.graph, target::host)) {}

void host_walk::open_block(const std::vector<node_id>& roots) {
    source_writer& out = b_.code;
    const std::string index = b_.linear();
    const int lane = b_.rank - 1;
    const formula tiles{.inner = axis_bit(std::max(lane, 0)), .inner_divide = strip_};
    b_.step.grid[0] = {.axes = kept_axes()};
    if (across()) {
        b_.step.grid[0] = tiles;
        b_.step.grid[0].axes = axis_range(0, lane);
    }
    if (split()) b_.step.grid[1] = pieces_;
    out.line("const arguments& p = *given;");
    if (split()) out.line("const ", index, " pieces = ", b_.count(pieces_, "row_pieces"), ";");
    out.open("for (", index, " block = ", index, "(begin); block < end; ++block)");
    if (split()) out.line("const ", index, " piece = block % pieces;");
    const std::string row = split() ? "block / pieces" : "block";
    std::vector<int> outer;
    for (int a = 0; a < (across() ? lane : b_.rank); ++a) outer.push_back(a);
    if (across()) {
        const std::string n = b_.count({.axes = axis_bit(lane)}, "n" + std::to_string(lane));
        const std::string i = digit(lane), type = b_.signed_index();
        std::string tile = row;
        if (lane > 0) {
            const std::string count = b_.count(tiles, "tiles");
            out.line(lane > 1 ? "" : "const ", index, " row = ", split() ? '(' + row + ')' : row, " / ", count, ";");
            tile = (split() ? '(' + row + ')' : row) + " % " + count;
        }
        out.line("const ", type, ' ', i, " = ", type, '(', tile, " * ", strip_, ");");
        out.line("const int m = ", n, " - ", i, " < ", strip_, " ? int(", n, " - ", i, ") : ", strip_, ";");
        if (split() && lane > 0) out.line("const ", index, " first_row = row * ", n, " + ", i, ";");
    } else if (b_.rank > 0) {
        out.line(b_.rank > 1 ? "" : "const ", index, " row = ", row, ";");
        if (split() && b_.rank > 1) out.line("const ", index, " first_row = row;");
    }
    write_digits("row", outer);
    const std::vector<bool> all(b_.graph.nodes.size(), true);
    const std::uint64_t known = axis_range(0, static_cast<int>(outer.size()));
    const std::vector<input> inputs = unread(known, across() ? axis_bit(lane) : 0, all);
    declare_copies(inputs, lane);
    read(inputs, known, across() ? lane : -1);
    b_.body.hoist(known, roots, out);
}

std::string host_walk::first_row() const {
    if (b_.rank == 0) return "0";
    if (b_.rank == 1) return across() ? digit(0) : "row";
    return "first_row";
}

/// The digits of the variable `linear`, which is used up.
void host_walk::write_digits(const std::string& linear, const std::vector<int>& axes) {
    const std::string type = b_.signed_index();
    for (std::size_t k = axes.size(); k-- > 1;) {
        const std::string n = b_.count({.axes = axis_bit(axes[k])}, "n" + std::to_string(axes[k]));
        b_.code.line("const ", type, ' ', digit(axes[k]), " = ", type, '(', linear, " % ", n, ");");
        b_.code.line(linear, " /= ", n, ";");
    }
    if (!axes.empty()) b_.code.line("const ", type, ' ', digit(axes[0]), " = ", type, '(', linear, ");");
}

/// What is wanted, has no name yet, and moves along nothing but these axes.
std::vector<host_walk::input> host_walk::unread(std::uint64_t known, std::uint64_t lanes,
                                                const std::vector<bool>& wanted) {
    std::vector<input> inputs;
    const auto take = [&](const place& at, dtype type, bool random) {
        if (!wanted[at.node] || b_.body.has_name(at.node) || (axes_of(at.node) & ~(known | lanes)) != 0) return;
        input& in = inputs.emplace_back();
        in.at = at;
        in.type = b_.needs.type(type);
        in.random = random;
    };
    for (const place& in : b_.inputs) take(in, in.at->head.type, false);
    for (const node_id g : b_.generators) {
        const std::uint16_t i = b_.graph.nodes[g].index;
        take({&b_.key.operands[i], b_.names[i], i, false, g}, dtype::i8, true);
    }
    return inputs;
}

std::string host_walk::start_of(const input& in, std::uint64_t axes) {
    return in.random ? b_.generator_index(in.at.node, axes) : b_.pointer(in.at) + b_.offset(in.at, axes);
}

/// " * p.x0_stride1", or nothing for a unit stride.
std::string host_walk::step_along(const place& at, int axis) {
    const std::string along = b_.offset(at, axis_bit(axis));
    return along.empty() ? " * 0" : along.substr(3 + digit(axis).size());
}

std::string host_walk::generated(const input& in, const std::string& number) {
    return b_.generator_name(in.at.node) + '(' + b_.generator_key(in.at.node) + ", " + number + ')';
}

/// Whether a strip is read by way of a copy; a random leaf's numbers need none, for they exist past its end too.
bool host_walk::is_copied(const input& in, int lane) const {
    return whole_ && !in.random && lane >= 0 && (axes_of(in.at.node) >> lane & 1u) != 0;
}

void host_walk::declare_copies(const std::vector<input>& inputs, int lane) {
    for (const input& in : inputs)
        if (is_copied(in, lane)) b_.code.line("alignas(64) ", in.type, ' ', in.at.name, "_copy[", strip_, "] = {};");
}

/// Names the inputs' elements in a strip at these digits. What does not move along the lanes is one value.
void host_walk::read(const std::vector<input>& inputs, std::uint64_t known, int lane) {
    source_writer& out = b_.code;
    for (const input& in : inputs) {
        const std::string& name = in.at.name;
        if (lane < 0 || (axes_of(in.at.node) >> lane & 1u) == 0) {
            if (in.random) {
                b_.body.name(in.at.node, generated(in, start_of(in, known)));
                continue;
            }
            out.line("const ", in.type, ' ', name, " = *(", start_of(in, known), ");");
            b_.body.name(in.at.node, name);
            continue;
        }
        const std::string step = step_along(in.at, lane), start = start_of(in, known | axis_bit(lane));
        std::string element = name + "_strip[j" + step + ']';
        if (in.random) {
            out.line("const ", in.type, ' ', name, "_strip = ", start, ";");
            element = generated(in, name + "_strip + j" + step);
        } else if (!is_copied(in, lane)) {
            out.line("const ", in.type, "* const ", name, "_strip = ", start, ";");
        } else if (step.empty()) {  // a whole strip is read in place
            out.line("const bool ", name, "_whole = m == ", strip_, ";");
            out.line("if (!", name, "_whole) for (int j = 0; j < m; ++j) ", name, "_copy[j] = (", start, ")[j];");
            out.line("const ", in.type, "* const ", name, "_strip = ", name, "_whole ? ", start, " : ", name, "_copy;");
        } else {
            out.line("for (int j = 0; j < m; ++j) ", name, "_copy[j] = (", start, ")[j", step, "];");
            element = name + "_copy[j]";
        }
        b_.body.name(in.at.node, element);
    }
}

/// Rows over several axes: runs along the inner one, one after the other until the strip is full. `run` writes what is
/// done for elements [0, run) of one, which are those from `filled` on of the strip.
void host_walk::over_runs(const folded_space& s, const std::function<void()>& run) {
    source_writer& out = b_.code;
    const std::string i = digit(s.inner());
    const std::string n = b_.count({.axes = axis_bit(s.inner())}, "n" + std::to_string(s.inner()));
    out.open("while (filled < m)");
    out.line(b_.linear(), " rest = first + filled;");
    write_digits("rest", s.axes);
    out.line("const int left = m - filled;");
    out.line("const int run = int(", n, " - ", i, ") < left ? int(", n, " - ", i, ") : left;");
    run();
    out.line("filled += run;");
    out.close();
}

void host_walk::read_runs(const folded_space& s, const std::vector<input>& inputs) {
    b_.code.line("int filled = 0;");
    over_runs(s, [&] {
        for (const input& in : inputs) {
            const std::string start = start_of(in, kept_axes() | s.bits()), step = step_along(in.at, s.inner());
            const std::string element = in.random ? start + " + j" + step : '(' + start + ")[j" + step + ']';
            b_.code.line("for (int j = 0; j < run; ++j) ", in.at.name, "_copy[filled + j] = ", element, ";");
        }
    });
    for (const input& in : inputs) {
        const std::string element = in.at.name + "_copy[j]";
        b_.body.name(in.at.node, in.random ? generated(in, element) : element);
    }
}

void host_walk::strips(const folded_space& s, const std::string& from, const std::string& to,
                       const std::vector<node_id>& values, const std::function<void()>& body) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    const int lane = lane_axis(s);
    const std::uint64_t lanes = across() ? axis_bit(lane) : s.bits();
    const std::uint64_t known = across() ? axis_range(0, lane) | s.bits() : kept_axes();
    const std::vector<input> inputs = unread(known, lanes, nodes_below(b_.graph, values));
    const bool runs = has_runs(s);
    if (runs)
        for (const input& in : inputs) out.line("alignas(64) ", in.type, ' ', in.at.name, "_copy[", strip_, "] = {};");
    else
        declare_copies(inputs, lane);
    if (across()) {
        out.open("for (", b_.linear(), " k = ", from, "; k < ", to, "; ++k)");
        if (s.axes.size() > 1) out.line(b_.linear(), " rest = k;");
        write_digits(s.axes.size() > 1 ? "rest" : "k", s.axes);
        read(inputs, known, lane);
        b_.body.hoist(known, values, out);
    } else {
        out.open("for (", b_.linear(), " first = ", from, "; first < ", to, "; first += ", strip_, ")");
        out.line("const int m = ", to, " - first < ", strip_, " ? int(", to, " - first) : ", strip_, ";");
        if (runs) {
            read_runs(s, inputs);
        } else {
            if (lane >= 0)
                out.line("const ", b_.signed_index(), ' ', digit(lane), " = ", b_.signed_index(), "(first);");
            read(inputs, known, lane);
        }
    }
    body();
    out.close();
    b_.body.leave(outside);
}

void host_walk::elements(const std::vector<node_id>& values,
                         const std::function<void(const std::vector<std::string>&)>& statements) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    std::vector<std::string> texts;
    std::vector<std::string> arrays;
    if (whole_)
        for (const node_id v : values) {
            arrays.push_back("value" + std::to_string(arrays_++));
            out.line("alignas(64) ", b_.needs.type(b_.graph.nodes[v].type), ' ', arrays.back(), '[', strip_, "];");
        }
    b_.declare_independent();
    out.open("for (int j = 0; j < ", whole_ ? rounded : "m", "; ++j)");
    for (std::size_t i = 0; i < values.size(); ++i) {
        texts.push_back(b_.body.value(values[i], out));
        if (whole_) out.line(arrays[i], "[j] = ", texts[i], ";");
    }
    if (whole_) {
        out.close();
        b_.declare_independent();
        out.open("for (int j = 0; j < m; ++j)");
        for (std::size_t i = 0; i < values.size(); ++i) texts[i] = arrays[i] + "[j]";
    }
    statements(texts);
    out.close();
    b_.body.leave(outside);
}

std::string host_walk::strip_number(const std::string& from) const {
    if (across()) return from == "0" ? "k" : "k - " + from;
    return (from == "0" ? "first" : "(first - " + from + ')') + " / " + std::to_string(strip_);
}

void host_walk::open_outputs(const folded_space& s) {
    for (const std::size_t k : s.outputs) {
        const place& z = b_.outputs[k];
        const std::string type = b_.needs.type(z.at->head.type);
        if (has_runs(s))
            b_.code.line("alignas(64) ", type, ' ', z.name, "_strip[", strip_, "];");
        else
            b_.code.line(type, "* const ", z.name, "_strip = ", b_.pointer(z), b_.offset(z, kept_axes() | s.bits()),
                         ";");
    }
}

std::string host_walk::element_of(std::size_t output, const folded_space& s) {
    const place& z = b_.outputs[output];
    return z.name + "_strip[j" + (has_runs(s) ? "" : step_along(z, lane_axis(s))) + ']';
}

void host_walk::close_outputs(const folded_space& s) {
    if (s.outputs.empty() || !has_runs(s)) return;
    b_.code.line("filled = 0;");
    over_runs(s, [&] {
        for (const std::size_t k : s.outputs) {
            const place& z = b_.outputs[k];
            b_.code.line("for (int j = 0; j < run; ++j) (", b_.pointer(z), b_.offset(z, kept_axes() | s.bits()), ")[j",
                         step_along(z, s.inner()), "] = ", z.name, "_strip[filled + j];");
        }
    });
}

void host_walk::store(const std::vector<std::size_t>& outputs) {
    source_writer& out = b_.code;
    const int lane = b_.rank - 1;
    std::vector<node_id> roots;
    for (const std::size_t k : outputs) {
        const place& z = b_.outputs[k];
        roots.push_back(b_.graph.roots[k]);
        out.line(b_.needs.type(z.at->head.type), "* const ", z.name, "_strip = ", b_.pointer(z),
                 b_.offset(z, kept_axes()), ";");
    }
    elements(roots, [&](std::vector<std::string> values) {
        for (std::size_t i = 0; outputs.size() > 1 && i < outputs.size(); ++i) {  // all is read before any is written
            const std::string name = "r" + std::to_string(i);
            out.line("const ", b_.needs.type(b_.outputs[outputs[i]].at->head.type), ' ', name, " = ", values[i], ";");
            values[i] = name;
        }
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const place& z = b_.outputs[outputs[i]];
            out.line(z.name, "_strip[j", step_along(z, lane), "] = ", values[i], ";");
        }
    });
}

}  // namespace ingot::codegen
