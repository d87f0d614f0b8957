// How a thread of a map over neighbours reads rows: the ring of rows that it holds, and a function for each line of
// them that reads by vectors or tests each element.
#include <algorithm>
#include <map>
#include <string>

#include "codegen/cuda/map/row_access.hpp"
#include "codegen/cuda/map/stencil_map.hpp"

namespace ingot::codegen {

using namespace detail;

bool stencil_map::is_aligned(const view_window& w) const {
    return &w == &widest() &&
           std::ranges::any_of(w.family.views, [](const stencil_view& v) { return v.in->at->head.vector; });
}

std::string stencil_map::name_of(const char* function, const view_window& w, const row_line& line) {
    return std::string(function) + '_' + w.name + (w.lines.size() > 1 ? std::to_string(line.side - w.first_side) : "");
}

void stencil_map::declare(const view_window& w) {
    source_writer& out = b_.code;
    const std::string type = b_.needs.type(size_.pairs ? dtype::u4 : w.held.value_or(w.family.first().at->head.type));
    out.line(type, ' ', w.name, '[', w.lines.size(), "][", w.slots, "][", ring_width(w), "] = {};");
    if (w.border_along != border::none && w.left + w.right > 0 && keeps_ends(w)) declare_ends(w);
    for (const row_line& line : w.lines) {
        if (line.down.empty) continue;
        declare_loader(w, line);
        if (size_.pairs) declare_pair_loader(w, line);
        if (w.held) declare_cast_loader(w, line);
    }
    for (const stencil_view& v : w.family.views) {
        const std::string t = w.moves_aside ? "t + " + std::to_string(v.side - w.first_side) : "0";
        const std::string element = w.name + '[' + t + "][" + slot_of(w, v.down - w.down.low) + "][e + " +
                                    std::to_string(w.left + v.along) + ']';
        if (size_.pairs) {
            pairs_.name(v.in->node, element);
        } else if (!w.held) {
            b_.body.name(v.in->node, element);
        } else {
            for (const node_id cast : users_of(b_.graph, v.in->node)) b_.body.name(cast, element);
        }
    }
}

void stencil_map::declare_cast_loader(const view_window& w, const row_line& line) {
    source_writer& out = b_.code;
    const dtype own = w.family.first().at->head.type;
    out.open("const auto ", loader_of(w, line), " = [&](", b_.needs.type(*w.held), " (&to)[", w.width, "], int r)");
    out.line(type_of(w.family.first()), " own[", w.width, "] = {};");
    out.line(reader_of(w, line), "(own, r);");
    out.margin("#pragma unroll");
    out.line("for (int k = 0; k < ", w.width, "; ++k) to[k] = ", spell_cast("own[k]", own, *w.held, b_.needs), ";");
    out.close(";");
}

void stencil_map::declare_pair_loader(const view_window& w, const row_line& line) {
    source_writer& out = b_.code;
    const std::string word = b_.needs.type(dtype::u4), type = type_of(w.family.first());
    out.open("const auto ", loader_of(w, line), " = [&](", word, " (&to)[", ring_width(w), "], int r)");
    out.line("alignas(16) ", type, " bytes[", w.width, "] = {};");
    out.line(reader_of(w, line), "(bytes, r);");
    out.line("const ", word, "* const words = reinterpret_cast<const ", word, "*>(bytes);");
    out.margin("#pragma unroll");
    out.open("for (int k = 0; k < ", ring_width(w), "; ++k)");
    out.line("const int at = k + ", w.first - w.left, ";");
    out.line("to[k] = __byte_perm(words[at / 4], words[at / 4 + ", half() / 4,
             "], 0x400 + at % 4 * 0x101) & 0xff00ffu;");
    out.close();
    out.close(";");
}

void stencil_map::declare_ends(const view_window& w) {
    source_writer& out = b_.code;
    const std::string number = b_.signed_index(), ends = ends_of(w);
    out.line(number, ' ', ends, '[', w.left + w.right, "];");
    out.margin("#pragma unroll");
    out.line("for (int e = 0; e < ", w.left + w.right, "; ++e) ", ends, "[e] = ",
             bordered(w.border_along, inner_,
                      "column - " + number + '(' + std::to_string(w.left) + ") + " + number + "(e < " +
                          std::to_string(w.left) + " ? e : e + " + each() + ')'),
             ";");
}

std::string stencil_map::row_of(const view_window& w, const row_line& line) {
    const array_argument& in = w.family.first();
    const std::string number = b_.signed_index();
    const auto at_most = [&](const std::string& index, const std::string& count, int last) {
        return "min(" + number + '(' + index + "), " + count + " + " + parenthesised(last) + ')';
    };
    std::string from = in.name + "_at";
    if (w.moves_down) {
        const std::string r = at_most("r", "rows", line.down.high - 1);
        from += " + " + steps(in, axes_.down,
                              w.down_border == border::none ? r : bordered(w.down_border, axes_.down, "row + " + r));
    }
    if (w.moves_aside) {
        const std::string s = at_most(std::to_string(line.side), "sides", w.last_side - static_cast<int>(size_.aside));
        from += " + " + steps(in, axes_.side,
                              w.side_border == border::none ? s : bordered(w.side_border, axes_.side, "side + " + s));
    }
    return from;
}

void stencil_map::declare_bordered_loader(const view_window& w, const row_line& line) {
    source_writer& out = b_.code;
    const array_argument& in = w.family.first();
    const std::string type = type_of(in), ends = ends_of(w);
    const row_loaders loaders = add_row_loaders(b_, in, is_aligned(w), std::max(line.left, line.right) > 1);
    const std::uint32_t bytes = bytes_of(in) * size_.each;
    out.open("const auto ", reader_of(w, line), " = [&](", type, " (&to)[", w.width, "], int r)");
    if (w.moves_aside && (w.down_border == border::none || w.side_border == border::none)) {
        // At its end a buffer has no rows that nothing needs.
        const auto ranges = columns_of(w, line);
        std::string needed;
        for (const auto& [when, columns] : ranges) needed += (needed.empty() ? "" : " || ") + when;
        if (!ranges.contains("")) out.line("if (!(", needed, ")) return;");
    }
    out.line("const ", type, "* const from = ", row_of(w, line), ";");
    if (!keeps_ends(w)) {
        out.line("if (inside && column >= ", line.left, " && column + ", each_ + line.right,
                 " <= ", b_.signed_extent(inner_), ") return ", loaders.by_vectors, '<',
                 word_of(bytes, in.at->head.type), ", ", each_, ", ", line.left, ", ", line.right, ", ", w.first,
                 ">(to, from + column);");
        return read_ends(w, line);
    }
    out.open("if (inside)");
    out.line(loaders.by_vectors, '<', word_of(bytes, in.at->head.type), ", ", each_, ", 0, 0, ", w.first,
             ">(to, from + column);");
    const auto load_ends = [&](int first, int last, int before) {
        if (first == last) return;
        out.margin("#pragma unroll");
        out.line("for (int e = ", first, "; e < ", last, "; ++e) to[e] = ",
                 element_at(in, "from + " + ends + "[e" + (before > 0 ? " - " + std::to_string(before) : "") + ']'),
                 ";");
    };
    load_ends(w.first - line.left, w.first, w.first - w.left);
    load_ends(w.first + each_, w.first + each_ + line.right, w.first - w.left + each_);
    out.line("return;");
    out.close();
    read_ends(w, line);
}

void stencil_map::read_ends(const view_window& w, const row_line& line) {
    source_writer& out = b_.code;
    const array_argument& in = w.family.first();
    out.line("if (!here) return;");
    out.margin("#pragma unroll");
    out.open("for (int e = ", w.first - line.left, "; e < ", w.first + each_ + line.right, "; ++e)");
    const std::string number = b_.signed_index(), n = b_.signed_extent(inner_);
    out.line("const ", number, " at = column + ", number, "(e) - ", w.first, ";");
    out.line("if (at >= -", line.left, " && at < ", n, " + ", line.right,
             ") to[e] = ", element_at(in, "from + " + bordered(w.border_along, inner_, "at")), ";");
    out.close();
    out.close(";");
}

std::map<std::string, number_range> stencil_map::columns_of(const view_window& w, const row_line& line) const {
    std::map<std::string, number_range> ranges;
    for (const stencil_view& v : w.family.views) {
        const int t = line.side - v.side;
        if (w.moves_aside && (t < 0 || t >= static_cast<int>(size_.aside))) continue;
        std::string when;
        if (w.moves_down) when = "unsigned(r - " + parenthesised(v.down) + ") < unsigned(rows)";
        if (w.moves_aside && t > 0) when += (when.empty() ? "" : " && ") + std::to_string(t) + " < sides";
        ranges[when].add(v.along);
    }
    return ranges;
}

void stencil_map::declare_loader(const view_window& w, const row_line& line) {
    if (w.border_along != border::none) return declare_bordered_loader(w, line);
    source_writer& out = b_.code;
    const array_argument& in = w.family.first();
    const std::string type = type_of(in), number = b_.signed_index();
    const row_loaders loaders = add_row_loaders(b_, in, is_aligned(w), std::max(line.left, line.right) > 1);
    const std::uint32_t bytes = bytes_of(in) * size_.each;
    out.line("const auto ", reader_of(w, line), " = [&](", type, " (&to)[", w.width, "], int r) {");
    std::string from = w.has_borders() ? row_of(w, line) + " + column" : in.name + "_at + column";
    if (w.moves_down && !w.has_borders()) from += " + " + steps(in, axes_.down, "r");
    if (line.side != 0 && !w.has_borders()) from += " + " + steps(in, axes_.side, std::to_string(line.side));
    out.line("    const ", type, "* const from = ", from, ";");
    out.line("    if (whole) return ", loaders.by_vectors, "<", word_of(bytes, in.at->head.type), ", ", each_, ", ",
             line.left, ", ", line.right, ", ", w.first, ">(to, from);");
    const std::map<std::string, number_range> ranges = columns_of(w, line);
    const std::string n = b_.signed_extent(inner_);
    const number_range& s = ranges.begin()->second;
    const bool same = std::ranges::all_of(
        ranges, [&](const auto& other) { return other.second.low == s.low && other.second.high == s.high; });
    // Rows between the first and the last one needed are in the buffer, but rows of other planes need not be. Few rows
    // take fewer registers by a condition each.
    constexpr std::size_t many_rows = 5;
    const bool always = ranges.contains("");
    if (same && (ranges.size() == 1 ? always : ranges.size() >= many_rows && (always || !w.moves_aside))) {
        out.line("    ", loaders.by_elements, "(to, from - ", w.first, ", column - ", w.first, ", ", s.low, ", ", n,
                 " + ", parenthesised(s.high), ");");
    } else {
        out.line("    ", number, " low = ", n, " + 8, high = -8;");
        for (const auto& [when, columns] : ranges)
            out.line("    ", when.empty() ? "" : "if (" + when + ") ", "low = min(low, ", number, '(', columns.low,
                     ")), high = max(high, ", n, " + ", parenthesised(columns.high), ");");
        out.line("    ", loaders.by_elements, "(to, from - ", w.first, ", column - ", w.first, ", low, high);");
    }
    out.line("};");
}

}  // namespace ingot::codegen
