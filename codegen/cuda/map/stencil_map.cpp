// The map kernel for CUDA over views of one buffer a few elements apart. A thread has a few columns, as many as an
// aligned vector has elements, and rolls down some rows; where a stencil has a third dimension it has some rows side by
// side. Each element of a buffer passes once through its registers: a vector of each row, with the few elements before
// and behind it, enters a ring of as many rows as the views span and some in flight. Views that begin anywhere share
// the ring, for a thread's columns begin where the buffer is aligned.
//
// Nothing outside the buffer is read. A thread whose rows, with the columns beside them, lie between the views' first
// and last element reads them by vectors, whether or not a view has all of them; other threads test each element.
#include <algorithm>
#include <map>
#include <tuple>

#include "codegen/cuda/map/byte_pairs.hpp"
#include "codegen/cuda/map/choice.hpp"
#include "codegen/cuda/map/row_access.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class stencil_map {
public:
    stencil_map(cuda_kernel& b, const map_choice& c)
        : b_(b),
          choice_(c),
          inner_(b.rank - 1),
          axes_{c.along, c.side},
          each_(static_cast<int>(c.each)),
          windows_(windows_of(b, axes_, {c.each, c.aside, c.ahead, c.pairs})),
          pairs_(b) {}

    void write(plan& p) {
        b_.name_scalars();
        read_constants();
        b_.body.hoist(0, b_.graph.roots, b_.code);
        locate_thread();
        for (const view_window& w : windows_) declare(w);
        declare_room();
        roll();
        finish_map(b_, choice_, p);
    }

private:
    static constexpr std::uint32_t warp_lanes = 32;

    std::uint64_t all_axes() const { return axis_range(0, b_.rank); }
    bool rolls() const { return axes_.down >= 0; }
    bool has_side() const { return axes_.side >= 0; }
    std::uint32_t warps() const { return choice_.block_threads / warp_lanes; }
    std::string extent(int axis) {
        return b_.signed_index() + '(' + b_.count(points_of(axis_bit(axis)), "n" + std::to_string(axis)) + ')';
    }
    std::string type_of(const array_argument& at) { return b_.needs.type(at.at->head.type); }
    std::string each() const { return std::to_string(each_); }

    // Arrays that are read by rows.

    static bool is_read(const view_window& w, const array_argument& in) {
        return std::ranges::any_of(w.family.views, [&](const stencil_view& v) { return v.in->node == in.node; });
    }
    bool is_read_by_rows(const array_argument& in) const {
        return std::ranges::any_of(windows_, [&](const view_window& w) { return is_read(w, in); });
    }
    /// The window with the most views: the thread's columns begin where it is aligned.
    const view_window& widest() const {
        return *std::ranges::max_element(windows_, {}, [](const view_window& w) { return w.family.views.size(); });
    }

    void read_constants() {
        for (const array_argument& in : b_.inputs) {
            if (moves_along(b_, in, all_axes())) continue;
            b_.code.line("const ", type_of(in), ' ', in.name, " = ", b_.element(in, ""), ";");
            b_.body.name(in.node, in.name);
        }
    }

    // The place of a thread.

    /// A place along an axis, or the place read instead where it is beyond the ends.
    std::string bordered(border beyond, int axis, const std::string& index) {
        if (beyond == border::none) return index;
        const std::string type = b_.signed_index(), n = extent(axis);
        if (beyond == border::nearest) return "min(max(" + index + ", " + type + "(0)), " + n + " - 1)";
        const auto call = [&](const std::string& name, const std::string& how, const std::string& before,
                              const std::string& behind) {
            b_.needs.add(name,
                         b_.function("Maps an index at most n beyond the ends of an axis into [0, n), " + how + '.') +
                             type + ' ' + name + '(' + type + " at, " + type + " n) {\n    return at < 0 ? " + before +
                             " : at < n ? at : " + behind + ";\n}\n");
            return name + '(' + index + ", " + n + ')';
        };
        if (beyond == border::wrapped) return call("wrapped", "wrapping around", "at + n", "at - n");
        if (beyond == border::reflected)
            return call("reflected", "by reflection that does not repeat the end elements", "-at", "n - 2 - (at - n)");
        return call("mirrored", "by reflection that repeats the end elements", "-1 - at", "n - 1 - (at - n)");
    }
    /// An input's offset, as in the kernel's base, but some axes may be shifted.
    std::string offset(const array_argument& in, std::uint64_t axes) {
        std::uint64_t own = 0;
        std::string shifted;
        for (const int a : axes_in(axes)) {
            const view_axis axis = axis_of_view(b_, in, a);
            if (axis.own == a) {
                own |= axis_bit(a);
                continue;
            }
            const std::string index = bordered(axis.beyond, a, digit(a) + " + " + parenthesised(axis.steps));
            const std::string stride = stride_along_own(in, axis.own);
            shifted += " + " + b_.needs.type(dtype::i8) + '(' + index + ") * " + stride;
        }
        return b_.offset(in, own) + shifted;
    }

    /// "p.x0_stride1"
    std::string stride_along_own(const array_argument& at, int own) {
        const std::string moved = b_.offset(at, axis_bit(own));
        if (moved.empty()) return "0";
        const std::string unit = " + " + digit(own);
        return moved == unit ? "1" : moved.substr(unit.size() + 3);
    }
    std::string stride(const array_argument& at, int axis) {
        return stride_along_own(at, at.is_output ? axis : axis_of_view(b_, at, axis).own);
    }
    /// "(long long)(r) * p.x0_stride1", from steps along an outer axis.
    std::string steps(const array_argument& at, int axis, const std::string& count) {
        return b_.needs.type(dtype::i8) + '(' + count + ") * " + stride(at, axis);
    }

    void locate_thread() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), number = b_.signed_index();
        const std::uint32_t rows = choice_.chunks;
        const formula row_vectors =
            ceil_divide(points_of(axis_bit(inner_)) + static_cast<std::uint64_t>(each_ - 1), choice_.each);
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
            sides = ceil_divide(points_of(axis_bit(axes_.side)), choice_.aside * warps());
            all = all * sides;
        }
        all = all * points_of(others);
        b_.step.grid[0] = has_side() ? all : ceil_divide(all, choice_.block_threads);
        // No thread ends before its warp does, as a warp stores together.
        std::string rest = "q", there, first = "q";
        if (has_side()) {
            out.line(
                "// The warps of a block have the same columns of adjacent rows, so that they share cached elements.");
            out.line("const ", type, " q = ", b_.block_index(), ';');
            there = "side < " + extent(axes_.side);
        } else {
            const std::string vectors = b_.count(all, "vectors");
            out.line("const ", type, " index = ", b_.thread_index(choice_.block_threads), ", q = min(index, ", vectors,
                     " - 1);");
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
            take("side", sides, "sides", choice_.aside, !rolls() && others == 0,
                 " * " + std::to_string(warps()) + "u + threadIdx.x / 32u");
        if (rolls()) take("row", strips, "strips", rows, others == 0, "");
        if (others != 0) b_.write_digits(rest, axes_in(others));
        if (has_side())
            out.line("const ", number, " sides = min(", number, '(', choice_.aside, "), ", extent(axes_.side),
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
        out.line("const bool here = ", there, " && column < ", extent(inner_), ";");
        if (rolls())
            out.line("const ", number, " rows = here ? min(", number, '(', rows, "), ", extent(axes_.down),
                     " - row) : 0;");
        if (std::ranges::any_of(windows_, [](const view_window& w) { return w.border_along == border::none; }))
            write_whole();
        if (std::ranges::any_of(windows_, [](const view_window& w) { return w.border_along != border::none; }))
            out.line("const bool inside = here && column >= 0 && column + ", each_, " <= ", extent(inner_), ";");
    }

    /// Whether a thread reads its rows by vectors.
    void write_whole() {
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
                " <= " + extent(inner_));
            if (rolls()) add("rows == " + std::to_string(choice_.chunks));
            if (has_side()) add("sides == " + std::to_string(choice_.aside));
        }
        if (!within.empty()) add(within);
        b_.code.line("const bool whole = ", whole, ";");
    }

    /// Declares the least and the greatest place, in elements from its pointer, of a window's views, and of a thread's
    /// rows with the columns beside them. Everything between two elements of a buffer is in it, whether or not a view
    /// has it. Returns the condition that the thread's places lie within the views'.
    std::string declare_reach(const view_window& w) {
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
            const std::string span = steps(in, a, extent(a) + " - 1"), none = wide + "(0)";
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
            reach(steps(in, axes_.side, std::to_string(w.first_side)),
                  steps(in, axes_.side, std::to_string(w.last_side)));
        out.line("const ", wide, ' ', w.name, "_least = ", least, ";");
        out.line("const ", wide, ' ', w.name, "_most = ", most, ";");
        out.line("const ", wide, ' ', w.name, "_low = ", low, ";");
        out.line("const ", wide, ' ', w.name, "_high = ", high, ";");
        return w.name + "_low >= " + w.name + "_least && " + w.name + "_high <= " + w.name + "_most";
    }

    // Rows.

    /// Whether all rows of a window are aligned where the thread's columns begin.
    bool is_aligned(const view_window& w) const {
        return &w == &widest() &&
               std::ranges::any_of(w.family.views, [](const stencil_view& v) { return v.in->at->head.vector; });
    }
    static std::string loader_of(const view_window& w, const row_line& line) {
        const std::string which = std::to_string(line.side - w.first_side);
        return "load_" + w.name + (w.lines.size() > 1 ? which : "");
    }

    /// Declares the ring, and for each of its lines a function that reads the row r rows below the thread's first.
    void declare(const view_window& w) {
        source_writer& out = b_.code;
        const std::string type = b_.needs.type(choice_.pairs ? dtype::u4 : w.family.first().at->head.type);
        out.line(type, ' ', w.name, '[', w.lines.size(), "][", w.slots, "][", ring_width(w), "] = {};");
        if (w.border_along != border::none && w.left + w.right > 0) declare_ends(w);
        for (const row_line& line : w.lines) {
            if (line.down.empty) continue;
            declare_loader(w, line);
            if (choice_.pairs) declare_pair_loader(w, line);
        }
        for (const stencil_view& v : w.family.views) {
            const std::string t = w.moves_aside ? "t + " + std::to_string(v.side - w.first_side) : "0";
            const std::string element = w.name + '[' + t + "][" + std::to_string(v.down - w.down.low) + "][e + " +
                                        std::to_string(w.left + v.along) + ']';
            choice_.pairs ? pairs_.name(v.in->node, element) : b_.body.name(v.in->node, element);
        }
    }
    int half() const { return each_ / 2; }
    int ring_width(const view_window& w) const { return choice_.pairs ? w.left + half() + w.right : w.width; }

    /// Reads the thread's first half element by element, with the elements of its second half in the same words.
    void declare_pair_loader(const view_window& w, const row_line& line) {
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

    /// The columns before and behind the thread's own, which are the same in every row.
    void declare_ends(const view_window& w) {
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
    static std::string ends_of(const view_window& w) { return w.name + "_ends"; }

    /// The beginning of the row r rows below the thread's first, or of the row read instead. A row that no element of
    /// the thread needs is replaced by one that exists.
    std::string row_of(const view_window& w, const row_line& line) {
        const array_argument& in = w.family.first();
        const std::string number = b_.signed_index();
        const auto at_most = [&](const std::string& index, const std::string& count, int last) {
            return "min(" + number + '(' + index + "), " + count + " + " + parenthesised(last) + ')';
        };
        std::string from = in.name + "_at";
        if (w.moves_down) {
            const std::string r = at_most("r", "rows", line.down.high - 1);
            from +=
                " + " + steps(in, axes_.down,
                              w.down_border == border::none ? r : bordered(w.down_border, axes_.down, "row + " + r));
        }
        if (w.moves_aside) {
            const std::string s =
                at_most(std::to_string(line.side), "sides", w.last_side - static_cast<int>(choice_.aside));
            from +=
                " + " + steps(in, axes_.side,
                              w.side_border == border::none ? s : bordered(w.side_border, axes_.side, "side + " + s));
        }
        return from;
    }

    /// The loader of a window with a border along its rows: each row has all columns.
    void declare_bordered_loader(const view_window& w, const row_line& line) {
        source_writer& out = b_.code;
        const array_argument& in = w.family.first();
        const std::string type = type_of(in), ends = ends_of(w);
        const bool aligned = is_aligned(w);
        const std::string suffix = add_row_loaders(b_, in, aligned);
        const std::uint32_t bytes = bytes_of(in) * choice_.each;
        out.open("const auto ", reader_of(w, line), " = [&](", type, " (&to)[", w.width, "], int r)");
        if (w.moves_aside && (w.down_border == border::none || w.side_border == border::none)) {
            // At its end a buffer has no rows that nothing needs.
            const auto ranges = columns_of(w, line);
            std::string needed;
            for (const auto& [when, columns] : ranges) needed += (needed.empty() ? "" : " || ") + when;
            if (!ranges.contains("")) out.line("if (!(", needed, ")) return;");
        }
        out.line("const ", type, "* const from = ", row_of(w, line), ";");
        out.open("if (inside)");
        out.line(aligned ? "load_aligned_row" : "load_row", suffix, '<', word_of(bytes, in.at->head.type), ", ", each_,
                 ", 0, 0, ", w.first, ">(to, from + column);");
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
        out.line("if (!here) return;");
        out.margin("#pragma unroll");
        out.open("for (int e = ", w.first - line.left, "; e < ", w.first + each_ + line.right, "; ++e)");
        const std::string number = b_.signed_index(), n = extent(inner_);
        out.line("const ", number, " at = column + ", number, "(e) - ", w.first, ";");
        out.line("if (at >= -", line.left, " && at < ", n, " + ", line.right,
                 ") to[e] = ", element_at(in, "from + " + bordered(w.border_along, inner_, "at")), ";");
        out.close();
        out.close(";");
    }

    /// The name of the function that reads a row of single elements.
    std::string reader_of(const view_window& w, const row_line& line) const {
        const std::string name = loader_of(w, line);
        return choice_.pairs ? "read" + name.substr(name.find('_')) : name;
    }

    /// The columns of the views that read row r for the thread's present elements, by the condition of the read.
    std::map<std::string, number_range> columns_of(const view_window& w, const row_line& line) const {
        std::map<std::string, number_range> ranges;
        for (const stencil_view& v : w.family.views) {
            const int t = line.side - v.side;
            if (w.moves_aside && (t < 0 || t >= static_cast<int>(choice_.aside))) continue;
            std::string when;
            if (w.moves_down) when = "unsigned(r - " + parenthesised(v.down) + ") < unsigned(rows)";
            if (w.moves_aside && t > 0) when += (when.empty() ? "" : " && ") + std::to_string(t) + " < sides";
            ranges[when].add(v.along);
        }
        return ranges;
    }

    void declare_loader(const view_window& w, const row_line& line) {
        if (w.border_along != border::none) return declare_bordered_loader(w, line);
        source_writer& out = b_.code;
        const array_argument& in = w.family.first();
        const std::string type = type_of(in), number = b_.signed_index();
        const bool aligned = is_aligned(w);
        const std::string suffix = add_row_loaders(b_, in, aligned);
        const std::uint32_t bytes = bytes_of(in) * choice_.each;
        out.line("const auto ", reader_of(w, line), " = [&](", type, " (&to)[", w.width, "], int r) {");
        std::string from = w.has_borders() ? row_of(w, line) + " + column" : in.name + "_at + column";
        if (w.moves_down && !w.has_borders()) from += " + " + steps(in, axes_.down, "r");
        if (line.side != 0 && !w.has_borders()) from += " + " + steps(in, axes_.side, std::to_string(line.side));
        out.line("    const ", type, "* const from = ", from, ";");
        out.line("    if (whole) return ", aligned ? "load_aligned_row" : "load_row", suffix, "<",
                 word_of(bytes, in.at->head.type), ", ", each_, ", ", line.left, ", ", line.right, ", ", w.first,
                 ">(to, from);");
        const std::map<std::string, number_range> ranges = columns_of(w, line);
        const std::string n = extent(inner_);
        if (ranges.size() == 1 && ranges.begin()->first.empty()) {
            const number_range& s = ranges.begin()->second;
            out.line("    load_ends", suffix, "(to, from - ", w.first, ", column - ", w.first, ", ", s.low, ", ", n,
                     " + ", parenthesised(s.high), ");");
        } else {
            out.line("    ", number, " low = ", n, " + 8, high = -8;");
            for (const auto& [when, s] : ranges)
                out.line("    ", when.empty() ? "" : "if (" + when + ") ", "low = min(low, ", number, '(', s.low,
                         ")), high = max(high, ", n, " + ", parenthesised(s.high), ");");
            out.line("    load_ends", suffix, "(to, from - ", w.first, ", column - ", w.first, ", low, high);");
        }
        out.line("};");
    }
    static std::string parenthesised(int n) { return n < 0 ? '(' + std::to_string(n) + ')' : std::to_string(n); }

    void load(const view_window& w, const row_line& line, const std::string& slot, const std::string& row) {
        b_.code.line("if (here) ", loader_of(w, line), '(', w.name, '[', line.side - w.first_side, "][", slot, "], ",
                     row, ");");
    }

    /// Goes row by row; the first turns only fill the rings. The text has one place for each load, as a load is read in
    /// three ways.
    void roll() {
        source_writer& out = b_.code;
        int first = 0;
        for (const view_window& w : windows_)
            for (const row_line& line : w.lines) {
                if (line.down.empty) continue;
                if (w.moves_down)
                    first = std::min(first, line.down.low - line.down.high - static_cast<int>(choice_.ahead));
                else
                    load(w, line, "0", "0");
            }
        if (rolls()) {
            out.margin("#pragma unroll 1");
            out.open("for (int j = ", first, "; __any_sync(~0u, j < rows); ++j)");
            move_up();
            load_next(first);
            if (first < 0) out.line("if (j < 0) continue;");
        } else {
            out.open();
        }
        declare_digits();
        read_others();
        compute();
        for (const array_argument& z : b_.outputs) store(z);
        out.close();
    }

    void load_next(int first) {
        const int ahead = static_cast<int>(choice_.ahead);
        for (const view_window& w : windows_)
            for (const row_line& line : w.lines) {
                if (line.down.empty || !w.moves_down) continue;
                // Loads no row above the first one needed, nor below the last.
                const int begins = line.down.low - line.down.high - ahead;
                std::string when;
                if (begins > first) when = "j >= " + std::to_string(begins);
                when += (when.empty() ? "j" : " && j") + (ahead > 0 ? " + " + std::to_string(ahead) : "") + " < rows";
                const int at = line.down.high + ahead;
                const std::string row =
                    at == 0 ? "j" : "j " + std::string(at < 0 ? "- " : "+ ") + std::to_string(std::abs(at));
                b_.code.line("if (", when, ") ", loader_of(w, line), '(', w.name, '[', line.side - w.first_side, "][",
                             at - w.down.low, "], ", row, ");");
            }
    }

    void move_up() {
        source_writer& out = b_.code;
        for (const view_window& w : windows_) {
            if (w.slots == 1) continue;
            out.margin("#pragma unroll");
            out.line("for (int l = 0; l < ", w.lines.size(), "; ++l)");
            out.margin("#pragma unroll");
            out.line("    for (int r = 0; r < ", w.slots - 1, "; ++r)");
            out.margin("#pragma unroll");
            out.line("        for (int k = 0; k < ", ring_width(w), "; ++k) ", w.name, "[l][r][k] = ", w.name,
                     "[l][r + 1][k];");
        }
    }

    // Elements.

    void declare_digits() {
        if (!rolls()) return;
        b_.code.line("const ", b_.signed_index(), ' ', digit(axes_.down), " = row + j;");
    }
    void open_sides(bool digits = true) {
        if (!has_side()) return;
        b_.open_unrolled("t", choice_.aside);
        if (!digits) return;
        b_.code.line("const ", b_.signed_index(), ' ', digit(axes_.side), " = side + ", b_.signed_index(), "(t);");
    }
    void close_sides() {
        if (has_side()) b_.code.close();
    }
    void open_columns() {
        b_.open_unrolled("e", choice_.each);
        b_.code.line("const ", b_.signed_index(), ' ', digit(inner_), " = column + ", b_.signed_index(), "(e);");
    }
    /// Whether the thread's present row exists, and an element of it.
    std::string row_there() const {
        return std::string(rolls() ? "j < rows" : "here") + (has_side() ? " && t < sides" : "");
    }
    std::string element_there() {
        return row_there() + " && " + digit(inner_) + " >= 0 && " + digit(inner_) + " < " + extent(inner_);
    }
    std::string of_side() const { return has_side() ? "[t]" : "[0]"; }

    /// Reads operands that do not lie along the rows: one element for each of the thread's, or one for the whole row.
    void read_others() {
        source_writer& out = b_.code;
        const std::string sides = std::to_string(choice_.aside);
        for (const array_argument& in : b_.inputs) {
            if (!moves_along(b_, in, all_axes()) || is_read_by_rows(in)) continue;
            const bool inside = moves_along(b_, in, axis_bit(inner_));
            out.line(type_of(in), ' ', in.name, '[', sides, ']', inside ? '[' + each() + ']' : "", " = {};");
            b_.body.name(in.node, in.name + of_side() + (inside ? "[e]" : ""));
            open_sides();
            if (inside) open_columns();
            const std::string there = inside ? element_there() : row_there();
            out.line("if (", there, ") ", in.name, of_side(), inside ? "[e]" : "", " = ",
                     b_.element(in, offset(in, all_axes())), ";");
            if (inside) out.close();
            close_sides();
        }
        for (const node_id g : b_.generators) {
            const array_argument leaf = b_.leaf_of(g);
            out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', leaf.name, '[', sides, "][", each_, "];");
            b_.body.name(g, leaf.name + of_side() + "[e]");
            open_sides();
            open_columns();
            out.line(leaf.name, of_side(), "[e] = ", b_.generator_call(g, b_.generator_index(g, all_axes())), ";");
            out.close();
            close_sides();
        }
    }

    void compute() {
        source_writer& out = b_.code;
        for (const array_argument& z : b_.outputs)
            out.line("alignas(", bytes_of(z) * choice_.each, ") ", type_of(z), ' ', z.name, '[', choice_.aside, "][",
                     each_, "];");
        if (choice_.pairs) return compute_pairs();
        b_.compute(b_.has_quick_bodies(), [&] {
            open_sides(false);
            if (b_.has_user_text()) {
                open_columns();
                out.line("if (!(", element_there(), ")) continue;");
            } else {
                b_.open_unrolled("e", choice_.each);
            }
            for (const array_argument& z : b_.outputs)
                out.line(z.name, of_side(), "[e] = ", b_.body.value(b_.graph.roots[z.index], out), ";");
            out.close();
            close_sides();
        });
    }

    void compute_pairs() {
        source_writer& out = b_.code;
        const std::string byte = b_.needs.type(dtype::u1);
        open_sides(false);
        b_.open_unrolled("e", static_cast<std::uint32_t>(half()));
        for (const array_argument& z : b_.outputs) {
            const std::string value = pairs_.value(b_.graph.roots[z.index]);
            const std::string to = "reinterpret_cast<" + byte + "*>(" + z.name + of_side() + ")";
            out.line(to, "[e] = ", byte, '(', value, ");");
            out.line(to, "[e + ", half(), "] = ", byte, '(', value, " >> 16);");
        }
        out.close();
        close_sides();
    }

    void store(const array_argument& z) {
        source_writer& out = b_.code;
        const std::string number = b_.signed_index(), n = extent(inner_);
        const std::string store = b_.pointer(z) + b_.offset(z, all_axes());
        open_sides();
        out.open();
        out.line("const ", number, ' ', digit(inner_), " = column;");
        out.line("const int begin = int(max(-column, ", number, "(0))), end = ", row_there(), " ? int(min(", n,
                 " - column, ", number, '(', each_, "))) : 0;");
        out.line(add_row_storer(b_, z), '<', word_of(bytes_of(z) * choice_.each, z.at->head.type), ">(", store, ", ",
                 z.name, of_side(), ", begin, end, turned + threadIdx.x / 32 * ", 32 * choice_.each * widest_output(),
                 ");");
        out.close();
        close_sides();
    }
    std::uint32_t widest_output() const {
        std::uint32_t widest = 1;
        for (const array_argument& z : b_.outputs) widest = std::max(widest, bytes_of(z));
        return widest;
    }
    void declare_room() {
        b_.code.line("__shared__ alignas(16) unsigned char turned[",
                     choice_.block_threads * choice_.each * widest_output(), "];");
    }

    cuda_kernel& b_;
    const map_choice& choice_;
    const int inner_;
    const stencil_axes axes_;
    const int each_;
    const std::vector<view_window> windows_;
    byte_pairs pairs_;
};

}  // namespace

void emit_stencil_map_cuda(cuda_kernel& b, const map_choice& c, plan& p) { stencil_map(b, c).write(p); }

}  // namespace ingot::codegen
