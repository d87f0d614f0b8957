// Where a thread of a map over neighbours is: its columns and rows, the places that views read beyond the ends of an
// axis, and whether all that it reads by vectors lies within the buffer.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "codegen/cuda/map/stencil_map.hpp"

namespace ingot::codegen {

using namespace detail;

std::string stencil_map::bordered(border beyond, int axis, const std::string& index) {
    if (beyond == border::none) return index;
    const std::string type = b_.signed_index(), n = b_.signed_extent(axis);
    if (beyond == border::nearest) return "min(max(" + index + ", " + type + "(0)), " + n + " - 1)";
    const auto call = [&](const std::string& name, const std::string& how, const std::string& before,
                          const std::string& behind) {
        b_.needs.add(name, b_.function("Maps an index at most n beyond the ends of an axis into [0, n), " + how + '.') +
                               type + ' ' + name + '(' + type + " at, " + type + " n) {\n    return at < 0 ? " +
                               before + " : at < n ? at : " + behind + ";\n}\n");
        return name + '(' + index + ", " + n + ')';
    };
    if (beyond == border::wrapped) return call("wrapped", "wrapping around", "at + n", "at - n");
    if (beyond == border::reflected)
        return call("reflected", "by reflection that does not repeat the end elements", "-at", "n - 2 - (at - n)");
    return call("mirrored", "by reflection that repeats the end elements", "-1 - at", "n - 1 - (at - n)");
}

std::string stencil_map::offset(const array_argument& in, std::uint64_t axes) {
    std::uint64_t own = 0;
    std::string shifted;
    for (const int a : axes_in(axes)) {
        const view_axis axis = axis_of_view(b_, in, a);
        if (axis.own == a) {
            own |= axis_bit(a);
            continue;
        }
        const std::string index = bordered(axis.beyond, a, digit(a) + " + " + parenthesised(axis.steps));
        const std::string stride = b_.stride(in, axis.own);
        shifted += " + " + b_.needs.type(dtype::i8) + '(' + index + ") * " + stride;
    }
    return b_.offset(in, own) + shifted;
}

std::string stencil_map::steps(const array_argument& at, int axis, const std::string& count) {
    return b_.needs.type(dtype::i8) + '(' + count + ") * " + b_.stride(at, axis_of_view(b_, at, axis).own);
}

void stencil_map::locate_thread() {
    source_writer& out = b_.code;
    const std::string type = b_.linear(), number = b_.signed_index();
    const std::uint32_t rows = layout_.rows;
    const formula row_vectors =
        ceil_divide(points_of(axis_bit(inner_)) + static_cast<std::uint64_t>(each_ - 1), size_.each);
    std::uint64_t others = axis_range(0, inner_);
    const formula bands = ceil_divide(row_vectors, warp_lanes);
    formula all = has_side() ? bands : row_vectors;
    formula strips, sides;
    if (rolls()) {
        others &= ~axis_bit(axes_.down);
        strips = ceil_divide(points_of(axis_bit(axes_.down)), rows);
        all = all * strips;
    }
    if (has_side()) {
        others &= ~axis_bit(axes_.side);
        sides = ceil_divide(points_of(axis_bit(axes_.side)), size_.aside * warps());
        all = all * sides;
    }
    all = all * points_of(others);
    b_.step.grid[0] = has_side() ? all : ceil_divide(all, layout_.threads);
    // No thread ends before its warp does, as a warp stores together.
    std::string rest = "q", there, first = "q";
    if (has_side()) {
        out.line("// The warps of a block have the same columns of adjacent rows, so that they share cached elements.");
        out.line("const ", type, " q = ", b_.block_index(), ';');
        there = "side < " + b_.signed_extent(axes_.side);
    } else {
        const std::string vectors = b_.count(all, "vectors");
        out.line("const ", type, " index = ", b_.thread_index(layout_.threads), ", q = min(index, ", vectors, " - 1);");
        there = "index < " + vectors;
    }
    if (b_.rank > 1) {
        const formula& of = has_side() ? bands : row_vectors;
        const std::string by = b_.divisor(of, has_side() ? "by_bands" : "by_row");
        out.line("const ", type, " line = quotient(q, ", by, ");");
        rest = "line";
        first = "q - line * " + b_.count(of, has_side() ? "bands" : "row_vectors");
    }
    if (has_side()) first = '(' + first + ") * 32u + threadIdx.x % 32u";
    const auto take = [&](const std::string& name, const formula& of, const std::string& by, std::uint32_t each,
                          bool last, const std::string& within) {
        std::string at = rest;
        if (!last) {
            const std::string above = name + "_above";
            out.line("const ", type, ' ', above, " = quotient(", rest, ", ", b_.divisor(of, "by_" + by), ");");
            at = '(' + rest + " - " + above + " * " + b_.count(of, by) + ')';
            rest = above;
        }
        out.line("const ", number, ' ', name, " = ", number, '(', at, within, ") * ", each, ";");
    };
    if (has_side())
        take("side", sides, "sides", size_.aside, !rolls() && others == 0,
             " * " + std::to_string(warps()) + "u + threadIdx.x / 32u");
    if (rolls()) take("row", strips, "strips", rows, others == 0, "");
    if (others != 0) b_.write_digits(rest, axes_in(others));
    if (has_side())
        out.line("const ", number, " sides = min(", number, '(', size_.aside, "), ", b_.signed_extent(axes_.side),
                 " - side);");
    for (const view_window& w : windows_) {
        const array_argument& in = w.family.first();
        std::string moved = offset(in, others);
        if (w.moves_down && w.down_border == border::none) moved += " + " + steps(in, axes_.down, "row");
        if (w.moves_aside && w.side_border == border::none) moved += " + " + steps(in, axes_.side, "side");
        out.line("const ", type_of(in), "* const ", in.name, "_at = ", b_.pointer(in), moved, ";");
    }
    out.line("// Vectors of columns start at aligned addresses; the first vector may start before the row.");
    const array_argument& anchor = widest().family.first();
    const std::string shift = each_ == 1 ? ""
                                         : " - " + number + "(reinterpret_cast<" + b_.needs.type(dtype::u8) + ">(" +
                                               anchor.name + "_at) / " + std::to_string(bytes_of(anchor)) + " % " +
                                               each() + ')';
    out.line("const ", number, " column = ", number, '(', first, ") * ", each_, shift, ";");
    out.line("const bool here = ", there, " && column < ", b_.signed_extent(inner_), ";");
    if (rolls())
        out.line("const ", number, " rows = here ? min(", number, '(', rows, "), ", b_.signed_extent(axes_.down),
                 " - row) : 0;");
    if (std::ranges::any_of(windows_, [](const view_window& w) { return w.border_along == border::none; }))
        write_whole();
    if (std::ranges::any_of(windows_, [](const view_window& w) { return w.border_along != border::none; }))
        out.line("const bool inside = here && column >= 0 && column + ", each_, " <= ", b_.signed_extent(inner_), ";");
}

void stencil_map::write_whole() {
    // The columns that all rows of a line must have, as it is read alike all the way down: everything between two
    // elements of one column or one row is in the buffer.
    int before = 0, behind = 0;
    bool strict = false;
    std::string within;
    for (const view_window& w : windows_) {
        if (w.border_along != border::none) continue;
        // Elements that the kernel writes to the same buffer may lie beside those it reads.
        if (!w.has_borders() && !w.family.first().at->head.aliased) {
            within += (within.empty() ? "" : " && ") + declare_reach(w);
            continue;
        }
        strict = true;
        std::map<std::pair<int, int>, number_range> rows;
        for (const stencil_view& v : w.family.views) rows[{v.side, v.down}].add(v.along);
        for (const auto& [row, columns] : rows) {
            before = std::max(before, w.left + columns.low);
            behind = std::max(behind, w.right - columns.high);
        }
    }
    std::string whole = "here";
    const auto add = [&](const std::string& condition) { whole += " && " + condition; };
    if (strict) {
        add("column >= " + std::to_string(before) + " && column + " + std::to_string(each_ + behind) +
            " <= " + b_.signed_extent(inner_));
        if (rolls()) add("rows == " + std::to_string(layout_.rows));
        if (has_side()) add("sides == " + std::to_string(size_.aside));
    }
    if (!within.empty()) add(within);
    b_.code.line("const bool whole = ", whole, ";");
}

std::string stencil_map::declare_reach(const view_window& w) {
    source_writer& out = b_.code;
    const array_argument& in = w.family.first();
    const std::string wide = b_.needs.type(dtype::i8);
    const auto [low_view, high_view] = std::ranges::minmax_element(
        w.family.views, {}, [](const stencil_view& v) { return std::tuple(v.down, v.side, v.along); });
    const auto of_view = [&](const stencil_view& v) {
        std::string sum;
        if (w.moves_down && v.down != 0) sum += steps(in, axes_.down, std::to_string(v.down)) + " + ";
        if (w.moves_aside && v.side != 0) sum += steps(in, axes_.side, std::to_string(v.side)) + " + ";
        return sum + wide + '(' + std::to_string(v.along) + ')';
    };
    const auto of_either = [&](const std::string& which, const std::string& one, const std::string& other) {
        return " + " + which + '(' + one + ", " + other + ')';
    };
    const std::string first = of_view(*low_view), last = of_view(*high_view);  // other views may lie further out
    std::string least = "min(" + first + ", " + last + ')', most = "max(" + first + ", " + last + ')';
    for (const int a : axes_in(all_axes())) {
        if (!moves_along(b_, in, axis_bit(a))) continue;
        const std::string span = steps(in, a, b_.signed_extent(a) + " - 1"), none = wide + "(0)";
        least += of_either("min", none, span), most += of_either("max", none, span);
    }
    const std::string from = in.name + "_at - " + b_.pointer(in) + " + (column";
    std::string low = from + " - " + std::to_string(w.left) + ')';
    std::string high = from + " + " + std::to_string(each_ + w.right - 1) + ')';
    const auto reach = [&](const std::string& one, const std::string& other) {
        low += of_either("min", one, other), high += of_either("max", one, other);
    };
    if (w.moves_down)
        reach(steps(in, axes_.down, std::to_string(w.down.low)),
              steps(in, axes_.down, "rows - 1 + " + parenthesised(w.down.high)));
    if (w.moves_aside)
        reach(steps(in, axes_.side, std::to_string(w.first_side)), steps(in, axes_.side, std::to_string(w.last_side)));
    out.line("const ", wide, ' ', w.name, "_least = ", least, ";");
    out.line("const ", wide, ' ', w.name, "_most = ", most, ";");
    out.line("const ", wide, ' ', w.name, "_low = ", low, ";");
    out.line("const ", wide, ' ', w.name, "_high = ", high, ";");
    return w.name + "_low >= " + w.name + "_least && " + w.name + "_high <= " + w.name + "_most";
}

}  // namespace ingot::codegen
