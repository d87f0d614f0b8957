// The strips of a map on the host: in place or in copies, with results written past the caches.
#include <algorithm>

#include "codegen/host/map.hpp"
#include "codegen/host/random_numbers.hpp"

namespace ingot::codegen {

using namespace detail;

bool host_map::can_stream() const {
    const auto is_unaliased = [](const operand_class& o) { return !o.head.aliased; };
    const auto in_lines = [&](const array_argument& out) { return inner_class(out, inner_) == stride_class::unit; };
    return b_.rank > 0 && (b_.key.axes[static_cast<std::size_t>(inner_)].flags & axis_flags::short_inner) == 0 &&
           std::ranges::all_of(b_.key.operands, is_unaliased) && std::ranges::all_of(b_.outputs, in_lines);
}

void host_map::declare_streaming() {
    std::string aligned;
    for (const array_argument& out : b_.outputs)
        aligned += (packed_ ? " && " + packed_strips::dense(out) : "") + " && starts_line(" + out.name + "_row)";
    b_.code.line("const bool streaming = ", aligned.substr(4), ";");
}

void host_map::write_random_strips() {
    for (const node_id g : b_.generators) {
        if (!is_random_strip(g)) continue;
        const array_argument at = generator(g);
        const bool unit = inner_class(at, inner_) == stride_class::unit;
        if (packed_)
            write_numbers(b_, g, at.name, at.name + "_row", along(at), packed_strips::dense(at));
        else
            write_numbers(b_, g, at.name, at.name + "_row" + (unit ? " + first" : ""), along(at), unit ? "" : "false");
    }
}

void host_map::write_streamed() {
    source_writer& out = b_.code;
    const std::string type = b_.signed_index();
    declare_streaming();
    for (const row& r : rows_)
        if (r.at->is_output) out.line("alignas(64) ", r.type, ' ', copy_of(r), '[', strip, "];");
    out.line("const ", type, " step = streaming ? ", strip, " : n;");
    out.open("for (", type, " first = 0; first < n; first += step)");
    out.line("const ", type, " m = n - first < step ? n - first : step;");
    for (const row& r : rows_)
        if (r.at->is_output)
            out.line(pointer_type(r), strip_of(r), " = streaming ? ", copy_of(r), " : ", row_of(r), " + first;");
    write_elements(type, "m");
    for (const row& r : rows_)
        if (r.at->is_output) out.line("if (streaming) ", stream_of(r), ";");
    out.close();
}

std::string host_map::stream_of(const row& r) const {
    const std::string size = std::to_string(detail::size_of(r.at->at->head.type));
    return "stream(" + row_of(r) + (packed_ ? ", " : " + first, ") + copy_of(r) + ", m * " + size + "ul)";
}

void host_map::declare_copies() {
    const auto declare = [&](const std::string& type, const std::string& name) {
        b_.code.line("alignas(64) ", type, ' ', name, '[', packed_ ? packed_strip : strip, vectors_ ? "] = {};" : "];");
    };
    for (const row& r : rows_)
        if (!is_single(r) && !r.of_rows && (vectors_ || !r.scattered)) declare(r.type, copy_of(r));
    if (vectors_ && b_.checks_indices()) declare("bool", "inside");
    std::vector<node_id> nodes;
    for (const value_of_rows& v : values_of_rows_) nodes.push_back(v.node);
    const std::vector<bool> below = nodes_below(b_.graph, nodes);
    for (const row& r : rows_)
        if (!r.at->is_output && below[r.at->node] && axes_of(*r.at) != 0) declare(r.type, r.at->name + "_of_rows");
    for (const value_of_rows& v : values_of_rows_) {
        declare(v.type, v.name + "_of_rows");
        declare(v.type, v.name);
    }
    for (const node_id g : b_.generators)
        if (is_random_strip(g)) declare_numbers(b_, g, generator(g).name, packed_ ? packed_strip : strip);
    for (const node_id g : b_.generators)
        if (vectors_ && (b_.graph.nodes[g].axes & b_.unravelled_axes()) != 0)
            declare(b_.needs.type(dtype::i8), generator(g).name + "_copy");
}

void host_map::write_strips() {
    source_writer& out = b_.code;
    if (streams_) declare_streaming();
    if (!packed_) {
        const std::string length = std::to_string(strip), index = b_.rank == 0 ? "int" : b_.signed_index();
        out.open("for (", index, " first = 0; first < n; first += ", length, ")");
        out.line("const int m = n - first < ", length, " ? int(n - first) : ", length, ";");
    }
    const auto may_be_direct = [&](const row& r) { return in_memory(r) != "false"; };
    if (vectors_ && std::ranges::any_of(rows_, may_be_direct))
        out.line("const bool whole = m % ", lanes_of_whole_vectors(b_.graph), " == 0;");
    for (const row& r : rows_)
        if (has_strip(r)) declare_strip(r);
    for (const row& r : rows_)
        if (has_strip(r) && !r.at->is_output && !r.scattered) copy(r);
    write_random_strips();
    if (vectors_ && !b_.unravellings.empty()) {
        out.open("for (int j = 0; j < m; ++j)");
        const std::vector<bool> read = write_indices();
        for (const row& r : rows_)
            if (r.scattered && !read[r.at->node]) out.line(copy_of(r), "[j] = ", scattered_element(r), ";");
        for (const scattered_number& s : scattered_numbers_) out.line(s.copy, " = ", s.number, ";");
        out.close();
    }
    write_elements("int", "m");
    for (const row& r : rows_) {
        if (!r.at->is_output) continue;
        if (streams_) out.line("if (streaming) ", stream_of(r), ";");
        copy(r, streams_ ? "else " : "");
    }
    if (!packed_) out.close();
}

std::string host_map::in_memory(const row& r) const {
    if (r.scattered || is_copied_once(r)) return "false";
    const std::string streaming = streams_ && r.at->is_output ? " && !streaming" : "";
    if (packed_) return packed_strips::dense(*r.at) + (vectors_ ? " && whole" : "") + streaming;
    if (r.inner == stride_class::strided) return "false";
    return "whole" + streaming;
}

void host_map::declare_strip(const row& r) {
    const std::string condition = in_memory(r), there = row_of(r) + (packed_ ? "" : " + first");
    b_.code.line(pointer_type(r), strip_of(r), " = ", condition == "false" ? "" : condition + " ? " + there + " : ",
                 copy_of(r), ";");
}

void host_map::copy(const row& r, const std::string& before) {
    const std::string when = in_memory(r) == "false" ? "" : "if (" + strip_of(r) + " == " + copy_of(r) + ") ";
    const std::string lane = copy_of(r) + "[j]";
    if (packed_ && r.at->is_output)
        b_.code.line(before, when, packed_->scatter(*r.at, copy_of(r), row_of(r)));
    else if (packed_)
        b_.code.line(before, when, packed_->gather(*r.at, copy_of(r), row_of(r)));
    else
        b_.code.line(before, when, "for (int j = 0; j < m; ++j) ", r.at->is_output ? in_row(r) : lane, " = ",
                     r.at->is_output ? lane : in_row(r), ";");
}

std::string host_map::in_row(const row& r) {
    const std::string step = step_of(r);
    return row_of(r) + '[' + (step.empty() && in_piece() != "j" ? "first + j" : in_piece() + step) + ']';
}

}  // namespace ingot::codegen
