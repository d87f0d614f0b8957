// See host/walk.hpp.
#include "codegen/host/walk.hpp"

#include <algorithm>
#include <functional>

#include "codegen/graph/rows.hpp"

namespace ingot::codegen {

using namespace detail;

host_walk::host_walk(kernel_builder& b, std::vector<int> kept_axes, const strips_choice& c)
    : b_(b), kept_axes_(std::move(kept_axes)), choice_(c), strip_(c.strip) {
    if (c.way == direction::packed) packed_.emplace(b_, kept_axes_, strip_);
}

void host_walk::open_block(const std::vector<node_id>& roots) {
    source_writer& out = b_.code;
    const std::string index = b_.linear();
    const int lane = across() ? kept_axes_.back() : -1;
    std::vector<int> outer = kept_axes_;
    if (across()) outer.pop_back();
    if (packed_) outer.clear();
    const std::size_t rank = outer.size();
    const formula tiles = across() ? ceil_divide(points_of(lane_axes(lane)), strip_) : formula();
    b_.step.grid[0] = points_of(outer_axes()) * tiles;
    if (split()) b_.step.grid[1] = *choice_.pieces;
    out.line("const arguments& p = *given;");
    if (split()) out.line("const ", index, " pieces = ", b_.count(*choice_.pieces, "row_pieces"), ";");
    if (packed_) declare_packing();
    out.open("for (", index, " block = ", index, "(begin); block < end; ++block)");
    if (split()) out.line("const ", index, " piece = block % pieces;");
    std::string row = split() ? "block / pieces" : "block";
    if (packed_) {
        const std::string rows = b_.count(points_of(kept_axes()), "rows");
        out.line("const ", index, " from = ", split() ? '(' + row + ')' : row, " * ", strip_, ";");
        out.line("const ", index, " to = ", rows, " - from < ", strip_, " ? ", rows, " : from + ", strip_, ";");
        packed_->open("from", "to");
    } else if (across()) {
        const std::string n = b_.extent(lane);
        const std::string i = digit(lane), type = b_.signed_index();
        std::string tile = row;
        if (rank > 0) {
            const std::string count = b_.count(tiles, "tiles");
            if (split()) row = '(' + row + ')';
            tile = row + " % " + count;
            row += " / " + count;
        }
        out.line("const ", type, ' ', i, " = ", type, '(', tile, " * ", strip_, ");");
        out.line("const int m = ", n, " - ", i, " < ", strip_, " ? int(", n, " - ", i, ") : ", strip_, ";");
    }
    if (rank > 0) out.line(rank > 1 ? "" : "const ", index, " row = ", row, ";");
    if (split() && across() && rank > 0)
        out.line("const ", index, " first_row = row * p.n", lane, " + ", digit(lane), ";");
    else if (split() && rank > 1)
        out.line("const ", index, " first_row = row;");
    write_digits(b_, "row", outer);
    const std::vector<bool> all(b_.graph.nodes.size(), true);
    const std::vector<input> inputs = unread(outer_axes(), across() ? lane_axes(lane) : 0, all);
    const bool whole = calls_inexact(b_.graph, target::host);
    declare_copies(inputs, lane, whole);
    read(inputs, outer_axes(), lane, whole);
    b_.body.hoist(outer_axes(), roots, out);
}

void host_walk::close_block() {
    if (packed_) b_.code.close();
    b_.code.close();
}

void host_walk::declare_packing() {
    packed_->declare();
    const auto add = [&](const array_argument& at) {
        if (!b_.offset(at, kept_axes()).empty()) packed_->add_table(at);
    };
    for (const auto* arrays : {&b_.inputs, &b_.outputs})
        for (const array_argument& at : *arrays) add(at);
    for (const node_id g : b_.generators) {
        const std::uint16_t i = b_.graph.nodes[g].index;
        add({&b_.key.operands[i], b_.names[i], i, false, g});
    }
    packed_->open_lanes();
    packed_->close_lanes();
}

std::string host_walk::first_row() const {
    if (kept_axes_.empty()) return "0";
    if (packed_) return "start";
    if (kept_axes_.size() == 1) return across() ? digit(kept_axes_[0]) : "row";
    return "first_row";
}

/// The wanted inputs that have no name yet and move along no axes but these.
std::vector<host_walk::input> host_walk::unread(std::uint64_t known, std::uint64_t lanes,
                                                const std::vector<bool>& required) {
    std::vector<input> inputs;
    const auto take = [&](const array_argument& at, dtype type, bool random) {
        if (!required[at.node] || b_.body.has_name(at.node) || (axes_of(at.node) & ~(known | lanes)) != 0) return;
        input& in = inputs.emplace_back();
        in.at = at;
        in.type = b_.needs.type(type);
        in.random = random;
    };
    for (const array_argument& in : b_.inputs) take(in, in.at->head.type, false);
    for (const node_id g : b_.generators) {
        const std::uint16_t i = b_.graph.nodes[g].index;
        take({&b_.key.operands[i], b_.names[i], i, false, g}, dtype::i8, true);
    }
    return inputs;
}

std::string host_walk::start_of(const input& in, std::uint64_t axes) {
    return in.random ? b_.generator_index(in.at.node, axes) : b_.pointer(in.at) + b_.offset(in.at, axes);
}

std::string host_walk::generated(const input& in, const std::string& number) {
    return b_.generator_call(in.at.node, number);
}

bool host_walk::wants_whole_strips(const std::vector<node_id>& values) const {
    std::vector<bool> computed = b_.body.required_by(values);
    for (node_id i = 0; i < computed.size(); ++i)
        if (b_.graph.nodes[i].kind == node_kind::map && b_.body.has_name(i)) computed[i] = false;
    return calls_inexact(b_.graph, computed, target::host);
}

/// Whether a strip is read through a copy; a random leaf's numbers need none, as they exist past its end too.
bool host_walk::is_copied(const input& in, int lane, bool whole) const {
    return whole && !in.random && (axes_of(in.at.node) & lane_axes(lane)) != 0;
}

void host_walk::declare_copies(const std::vector<input>& inputs, int lane, bool whole) {
    for (const input& in : inputs)
        if (is_copied(in, lane, whole)) b_.code.line("alignas(64) ", in.type, ' ', in.at.name, "_copy[", strip_, "];");
}

/// The last vector's other lanes get an element of the strip: for zeros a function such as the logarithm may take a
/// slow path, which would cost more than the strip.
std::string host_walk::pad(const std::string& name) const {
    const std::string lanes = std::to_string(lanes_of_whole_vectors(b_.graph));
    return "for (int j = m; j % " + lanes + " != 0; ++j) " + name + "_copy[j] = " + name + "_copy[0];";
}

/// Names the inputs' elements in a strip at these digits. An input that does not move along the lanes is one value.
void host_walk::read(const std::vector<input>& inputs, std::uint64_t known, int lane, bool whole) {
    source_writer& out = b_.code;
    for (const input& in : inputs) {
        const std::string& name = in.at.name;
        if ((axes_of(in.at.node) & lane_axes(lane)) == 0) {
            if (in.random) {
                b_.body.name(in.at.node, generated(in, start_of(in, known)));
                continue;
            }
            out.line("const ", in.type, ' ', name, " = *(", start_of(in, known), ");");
            b_.body.name(in.at.node, name);
            continue;
        }
        const std::string offset = lane_offset(in.at, lane), start = start_of(in, known | lane_axes(lane));
        std::string element = name + "_strip[" + offset + ']';
        if (in.random) {
            out.line("const ", in.type, ' ', name, "_strip = ", start, ";");
            element = generated(in, name + "_strip + " + offset);
        } else if (!is_copied(in, lane, whole)) {
            out.line("const ", in.type, "* const ", name, "_strip = ", start, ";");
        } else if (offset == "j") {  // whole vectors are read in place
            out.line("const bool ", name, "_whole = m % ", lanes_of_whole_vectors(b_.graph), " == 0;");
            out.line("if (!", name, "_whole) for (int j = 0; j < m; ++j) ", name, "_copy[j] = (", start, ")[j];");
            out.line("if (!", name, "_whole) ", pad(name));
            out.line("const ", in.type, "* const ", name, "_strip = ", name, "_whole ? ", start, " : ", name, "_copy;");
        } else {
            out.line("for (int j = 0; j < m; ++j) ", name, "_copy[j] = (", start, ")[", offset, "];");
            out.line(pad(name));
            element = name + "_copy[j]";
        }
        b_.body.name(in.at.node, in.random ? element : as_read(in.at.node, element));
    }
}

/// Rows over several axes: runs along the inner one, one after the other until the strip is full. `run` writes the work
/// for elements [0, run) of one run, which are the strip's from `filled` on.
void host_walk::over_runs(const folded_space& s, const std::function<void()>& run) {
    source_writer& out = b_.code;
    const std::string i = digit(s.inner());
    const std::string n = b_.extent(s.inner());
    out.open();
    out.line(b_.linear(), " rest = first;");
    write_digits(b_, "rest", s.axes, "");
    out.open("for (int filled = 0, run; filled < m; filled += run)");
    out.line("const int left = m - filled;");
    out.line("run = int(", n, " - ", i, ") < left ? int(", n, " - ", i, ") : left;");
    run();
    out.line(i, " += run;");
    carry_digits(b_, s.axes);
    out.close();
    out.close();
}

void host_walk::read_runs(const folded_space& s, const std::vector<input>& inputs) {
    over_runs(s, [&] {
        for (const input& in : inputs) {
            const std::string start = start_of(in, kept_axes() | s.bits()), step = b_.times_stride(in.at, s.inner());
            const std::string element = in.random ? start + " + j" + step : '(' + start + ")[j" + step + ']';
            b_.code.line("for (int j = 0; j < run; ++j) ", in.at.name, "_copy[filled + j] = ", element, ";");
        }
    });
    for (const input& in : inputs) {
        const std::string element = in.at.name + "_copy[j]";
        b_.body.name(in.at.node, in.random ? generated(in, element) : as_read(in.at.node, element));
    }
}

/// Whether columns are long and only their folds are needed.
bool host_walk::unrolls_strips(const folded_space& s, const std::vector<node_id>& values) const {
    constexpr std::uint8_t long_class = 2;
    if (!across() || packed_ || s.axes.size() != 1 || s.length_class < long_class || !s.outputs.empty()) return false;
    const std::vector<bool> required = b_.body.required_by(values);
    return !staged_ && !wants_whole_strips(values) &&
           std::ranges::none_of(cached_values_, [&](const cached_value& k) { return required[k.node]; });
}

/// Writes one loop over the lanes for several strips, as long as there are enough strips: memory then serves several
/// streams, and the lanes' partial results are loaded once for all. The loop over single strips follows.
void host_walk::write_unrolled_strips(const folded_space& s, const std::string& from, const std::string& to,
                                      const std::vector<input>& inputs, const std::function<void()>& body) {
    source_writer& out = b_.code;
    const auto outside = b_.body.scope();
    at_once_ = most_at_once;
    out.line(b_.linear(), " k = ", from, ";");
    out.open("for (; k + ", at_once_ - 1, " < ", to, "; k += ", at_once_, ")");
    if (!inputs.empty()) write_digits(b_, "k", s.axes);
    read(inputs, outer_axes() | s.bits(), lane_axis(s), false);
    for (const input& in : inputs) {
        if ((axes_of(in.at.node) & s.bits()) == 0) continue;
        const int lane = lane_axis(s);
        const std::string step = b_.times_stride(in.at, s.inner());
        if ((axes_of(in.at.node) >> lane & 1u) != 0)
            in_turn_.push_back({in, in.at.name + "_strip", "j" + b_.times_stride(in.at, lane) + " + ", step});
        else
            in_turn_.push_back({in, '(' + start_of(in, outer_axes() | s.bits()) + ')', "", step});
    }
    body();
    out.close();
    in_turn_.clear();
    at_once_ = 1;
    b_.body.leave(outside);
}

void host_walk::strips(const folded_space& s, const std::string& from, const std::string& to,
                       const std::vector<node_id>& values, const std::function<void()>& body,
                       const std::vector<cached_value>& keep, bool several) {
    source_writer& out = b_.code;
    const std::vector<bool> required = b_.body.required_by(values);
    const auto outside = b_.body.scope();
    const int lane = lane_axis(s);
    const std::uint64_t lanes = across() ? lane_axes(lane) : s.bits();
    const std::uint64_t known = across() ? outer_axes() | s.bits() : kept_axes();
    const std::vector<input> inputs = unread(known, lanes, required);
    const bool whole = wants_whole_strips(values), runs = has_runs(s);
    if (runs)
        for (const input& in : inputs) out.line("alignas(64) ", in.type, ' ', in.at.name, "_copy[", strip_, "] = {};");
    else
        declare_copies(inputs, lane, whole);
    if (across()) {
        several = several && keep.empty() && unrolls_strips(s, values);
        if (several) write_unrolled_strips(s, from, to, inputs, body);
        out.open("for (", several ? "" : b_.linear() + " k = " + from, "; k < ", to, "; ++k)");
        const auto staged = [&](std::size_t o) { return staged_ && is_staged(b_.outputs[o], s); };
        if (!inputs.empty() || !std::ranges::all_of(s.outputs, staged)) {  // some arrays are found by the digits
            if (s.axes.size() > 1) out.line(b_.linear(), " rest = k;");
            write_digits(b_, s.axes.size() > 1 ? "rest" : "k", s.axes);
        }
        read(inputs, known, lane, whole);
        b_.body.hoist(known, values, out);
    } else {
        out.open("for (", b_.linear(), " first = ", from, "; first < ", to, "; first += ", strip_, ")");
        out.line("const int m = ", to, " - first < ", strip_, " ? int(", to, " - first) : ", strip_, ";");
        if (runs) {
            read_runs(s, inputs);
        } else {
            if (lane >= 0)
                out.line("const ", b_.signed_index(), ' ', digit(lane), " = ", b_.signed_index(), "(first);");
            read(inputs, known, lane, whole);
        }
    }
    const std::string at = across() ? "k * " + std::to_string(pitch()) : "first";
    const auto open_strip = [&](const cached_value& k, const char* constant) {
        out.line(constant, b_.needs.type(b_.graph.nodes[k.node].type), "* const ", k.array, "_strip = ", k.array, " + ",
                 at, ";");
    };
    for (const cached_value& k : cached_values_)
        if (required[k.node]) open_strip(k, "const ");
    for (const cached_value& k : keep) open_strip(k, "");
    body();
    out.close();
    b_.body.leave(outside);
    for (const cached_value& k : keep) {
        cached_values_.push_back(k);
        b_.body.name(k.node, as_read(k.node, k.to()));
    }
}

void host_walk::declare_cached(const cached_value& k, std::uint32_t row_length) {
    b_.code.line("alignas(64) ", b_.needs.type(b_.graph.nodes[k.node].type), ' ', k.array, '[',
                 across() ? row_length * pitch() : row_length, "];");
}

bool host_walk::is_staged(const array_argument& at, const folded_space& s) const {
    if (!across() || s.length_class > 1 || s.axes.size() != 1) return false;
    const auto moves = [&](int axis, stride_class as) {
        for (std::size_t a = 0; a < at.at->strides.size(); ++a)
            if (b_.graph.loop_axis[a] == axis && at.at->strides[a] == as) return true;
        return false;
    };
    return moves(s.inner(), stride_class::unit) &&
           (packed_ ? !b_.offset(at, kept_axes()).empty() : moves(kept_axes_.back(), stride_class::strided));
}

/// Copies row after row, so that a row's elements are read or written one after the other.
void host_walk::copy_rows(const array_argument& at, const folded_space& s, const std::string& n, bool back) {
    const std::string here = at.name + "[k * " + std::to_string(pitch()) + " + j]";
    const std::string there = '(' + b_.pointer(at) + b_.offset(at, kept_axes()) + ")[" +
                              lane_offset(at, kept_axes_.back()) + " + k" + b_.times_stride(at, s.inner()) + ']';
    b_.code.line("for (int j = 0; j < m; ++j)");
    b_.code.line("    for (int k = 0; k < int(", n, "); ++k) ", back ? there : here, " = ", back ? here : there, ";");
}

void host_walk::stage(const folded_space& s, const std::string& n) {
    for (const array_argument& in : b_.inputs) {
        if (!is_staged(in, s) || b_.body.has_name(in.node)) continue;
        const cached_value rows{in.node, in.name};
        declare_cached(rows, 32);
        copy_rows(in, s, n, false);
        cached_values_.push_back(rows);
        b_.body.name(in.node, as_read(in.node, rows.to()));
    }
    for (const std::size_t k : s.outputs)
        if (const array_argument& z = b_.outputs[k]; is_staged(z, s))
            b_.code.line("alignas(64) ", b_.needs.type(z.at->head.type), ' ', z.name, '[', 32 * pitch(), "];");
    staged_ = true;
}

void host_walk::unstage(const folded_space& s, const std::string& n) {
    for (const std::size_t k : s.outputs)
        if (is_staged(b_.outputs[k], s)) copy_rows(b_.outputs[k], s, n, true);
    staged_ = false;
}

}  // namespace ingot::codegen
