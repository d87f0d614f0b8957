// The map kernel for CUDA over views of one buffer a few elements apart. A thread has a few columns, as many as an
// aligned vector has elements, and rolls down some rows; where a stencil has a third dimension it has some rows side by
// side. Each element of a buffer passes once through its registers: a vector of each row, with the few elements before
// and behind it, enters a ring of as many rows as the views span and some in flight. Views that begin anywhere share
// the ring, for a thread's columns begin where the buffer is aligned.
//
// Nothing outside the buffer is read. A thread whose rows, with the columns beside them, lie between the views' first
// and last element reads them by vectors, whether or not a view has all of them; other threads test each element.
#include "codegen/cuda/map/stencil_map.hpp"

#include <algorithm>
#include <cstdlib>

#include "codegen/cuda/map/row_access.hpp"

namespace ingot::codegen {

using namespace detail;

void stencil_map::write() {
    b_.name_scalars();
    b_.read_constants(all_axes() | b_.unravelled_axes());
    b_.body.hoist(0, b_.graph.roots, b_.code);
    locate_thread();
    for (const view_window& w : windows_) declare(w);
    declare_room();
    roll();
}

bool stencil_map::is_read(const view_window& w, const array_argument& in) {
    return std::ranges::any_of(w.family.views, [&](const stencil_view& v) { return v.in->node == in.node; });
}

bool stencil_map::is_read_by_rows(const array_argument& in) const {
    return std::ranges::any_of(windows_, [&](const view_window& w) { return is_read(w, in); });
}

const view_window& stencil_map::widest() const {
    return *std::ranges::max_element(windows_, {}, [](const view_window& w) { return w.family.views.size(); });
}

void stencil_map::load(const view_window& w, const row_line& line, const std::string& slot, const std::string& row) {
    b_.code.line("if (here) ", loader_of(w, line), '(', w.name, '[', line.side - w.first_side, "][", slot, "], ", row,
                 ");");
}

void stencil_map::roll() {
    source_writer& out = b_.code;
    int first = 0;
    for (const view_window& w : windows_)
        for (const row_line& line : w.lines) {
            if (line.down.empty) continue;
            if (w.moves_down)
                first = std::min(first, line.down.low - line.down.high - static_cast<int>(size_.ahead));
            else
                load(w, line, "0", "0");
        }
    if (rolls()) {
        out.margin("#pragma unroll 1");
        if (turns() == 1) {
            out.open("for (int j = ", first, "; __any_sync(~0u, j < rows); ++j)");
            move_up();
        } else {
            out.open("for (int begin = ", first, "; __any_sync(~0u, begin < rows); begin += ", turns(), ')');
            out.margin("#pragma unroll");
            out.open("for (int u = 0; u < ", turns(), "; ++u)");
            out.line("const int j = begin + u;");
            out.line("if (!__any_sync(~0u, j < rows)) break;");
        }
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
    if (turns() > 1) out.close();
}

void stencil_map::load_next(int first) {
    const int ahead = static_cast<int>(size_.ahead);
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
                         slot_of(w, at - w.down.low), "], ", row, ");");
        }
}

void stencil_map::move_up() {
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

void stencil_map::declare_digits() {
    if (!rolls()) return;
    b_.code.line("const ", b_.signed_index(), ' ', digit(axes_.down), " = row + j;");
}

void stencil_map::open_sides(bool digits) {
    if (!has_side()) return;
    b_.open_unrolled("t", size_.aside);
    if (!digits) return;
    b_.code.line("const ", b_.signed_index(), ' ', digit(axes_.side), " = side + ", b_.signed_index(), "(t);");
}

void stencil_map::close_sides() {
    if (has_side()) b_.code.close();
}

void stencil_map::open_columns() {
    b_.open_unrolled("e", size_.each);
    b_.code.line("const ", b_.signed_index(), ' ', digit(inner_), " = column + ", b_.signed_index(), "(e);");
}

std::string stencil_map::row_there() const {
    return std::string(rolls() ? "j < rows" : "here") + (has_side() ? " && t < sides" : "");
}

std::string stencil_map::element_there() {
    return row_there() + " && " + digit(inner_) + " >= 0 && " + digit(inner_) + " < " + b_.signed_extent(inner_);
}

void stencil_map::read_others() {
    source_writer& out = b_.code;
    const std::string sides = std::to_string(size_.aside);
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

void stencil_map::compute() {
    source_writer& out = b_.code;
    for (const array_argument& z : b_.outputs)
        out.line("alignas(", bytes_of(z) * size_.each, ") ", type_of(z), ' ', z.name, '[', size_.aside, "][", each_,
                 "];");
    if (size_.pairs) return compute_pairs();
    b_.compute(b_.has_quick_bodies(), [&] {
        open_sides(false);
        if (b_.has_user_text()) {
            open_columns();
            out.line("if (!(", element_there(), ")) continue;");
        } else {
            b_.open_unrolled("e", size_.each);
        }
        for (const array_argument& z : b_.outputs)
            out.line(z.name, of_side(), "[e] = ", b_.body.value(b_.graph.roots[z.index], out), ";");
        out.close();
        close_sides();
    });
}

void stencil_map::compute_pairs() {
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

void stencil_map::store(const array_argument& z) {
    source_writer& out = b_.code;
    const std::string number = b_.signed_index(), n = b_.signed_extent(inner_);
    const std::string store = b_.pointer(z) + b_.offset(z, all_axes());
    open_sides();
    out.open();
    out.line("const ", number, ' ', digit(inner_), " = column;");
    out.line("const int begin = int(max(-column, ", number, "(0))), end = ", row_there(), " ? int(min(", n,
             " - column, ", number, '(', each_, "))) : 0;");
    out.line(add_row_storer(b_, z), '<', word_of(bytes_of(z) * size_.each, z.at->head.type), ">(", store, ", ", z.name,
             of_side(), ", begin, end, turned + threadIdx.x / 32 * ", 32 * size_.each * widest_output(), ");");
    out.close();
    close_sides();
}

std::uint32_t stencil_map::widest_output() const {
    std::uint32_t widest = 1;
    for (const array_argument& z : b_.outputs) widest = std::max(widest, bytes_of(z));
    return widest;
}

void stencil_map::declare_room() {
    b_.code.line("__shared__ alignas(16) unsigned char turned[", layout_.threads * size_.each * widest_output(), "];");
}

namespace {

/// The dtype to which every user of a window's views casts them: rows then hold floats, and the elements of neighbours
/// are cast once. Only narrow elements gain, each of which takes a register before the cast too.
std::optional<dtype> cast_of(const cuda_kernel& b, const view_window& w) {
    std::optional<dtype> found;
    for (const stencil_view& v : w.family.views) {
        if (std::ranges::find(b.graph.roots, v.in->node) != b.graph.roots.end()) return {};
        for (const node_id user : users_of(b.graph, v.in->node)) {
            const node& n = b.graph.nodes[user];
            if (n.kind != node_kind::cast || size_of(n.type) > 4 || (found && *found != n.type)) return {};
            found = n.type;
        }
    }
    return w.slots == 1 || bytes_of(w.family.first()) > 2 ? std::nullopt : found;
}

/// The rows that the views of a window span.
int rows_of(const view_window& w) { return w.down.high - w.down.low + 1; }
constexpr int tall_rows = 5;

/// The turns of the loop over rows to unroll, so that no row moves: as many as all rings have slots, where the compiler
/// takes their statements.
std::uint32_t turns_of(const stencil_layout& c, std::uint64_t cost) {
    std::uint32_t turns = 1;
    for (const view_window& w : c.windows) {
        if (w.slots == 1) continue;
        if (turns > 1 && w.slots != turns) return 1;
        turns = w.slots;
    }
    return turns * c.size.aside * c.size.each * cost > 5 * statement_budget ? 1 : turns;
}

}  // namespace

/// There must be views of one buffer a few elements apart, and a thread must have registers for their rows.
std::optional<stencil_layout> choose_stencil(const cuda_kernel& b) {
    // In three dimensions warps of 96 registers each are just enough to keep memory busy; a larger window would not fit
    // these registers.
    constexpr std::uint32_t side_threads = 128, side_blocks = 5, side_registers = 72;
    const auto axes = find_stencil(b);
    if (!axes) return {};
    const std::uint32_t vector = elements_of_vector(
        b, true, [&](const array_argument& at) { return class_along(b, at, b.rank - 1) != stride_class::broadcast; });
    // A thread of many gets few rows; in three dimensions two side by side, and more planes. Narrow elements are many,
    // so a row takes long: fewer rows are in flight, and a thread gets more.
    const bool rolls = axes->down >= 0, has_side = axes->side >= 0, few_ahead = has_side || vector >= 8;
    window_size size{elements_within(b, vector), has_side ? 2u : 1u, !rolls ? 0u : few_ahead ? 1u : 2u};
    stencil_layout c{.axes = *axes, .rows = !rolls ? 1u : few_ahead ? 16u : 8u};
    const auto registers = [&] {
        c.windows = windows_of(b, *axes, size);
        return registers_of(c.windows, size);
    };
    registers();
    const bool tall = std::ranges::any_of(c.windows, [](const view_window& w) { return rows_of(w) >= tall_rows; }),
               flat = std::ranges::all_of(c.windows, [](const view_window& w) { return rows_of(w) == 1; });
    // Many rows take many turns before the first result, and many statements hide the latency of loads.
    if (tall || flat) {
        size.ahead = std::min(size.ahead, 1u);
        constexpr std::size_t few_families = 3;  // many views of one buffer are few loads
        if (c.windows.size() <= few_families) size.each = vector;
    }
    if (tall) c.rows = 16;
    // With more registers too few warps would hide the latency of loads. Planes side by side need theirs.
    const std::uint32_t most_registers = has_side ? 96 : tall ? 88 : 64;
    while (registers() > most_registers || size.aside * size.each * b.cost > statement_budget) {
        if (size.ahead > 0)
            --size.ahead;
        else if (size.aside > 1)
            --size.aside;
        else if (size.each > 1)
            size.each /= 2;
        else
            return {};
    }
    if (has_side) {
        c.threads = side_threads;
        if (registers_of(c.windows, size) <= side_registers) c.least_blocks = side_blocks;
    }
    size.pairs = size.each % 8 == 0 && computes_byte_pairs(b, c.windows);
    if (size.pairs) c.windows = windows_of(b, *axes, size);
    for (view_window& w : c.windows)
        if (!size.pairs) w.held = cast_of(b, w);
    c.size = size;
    if (rolls && (tall || flat)) c.turns = turns_of(c, b.cost);
    return c;
}

kernel_shape stencil_layout::shape() const {
    return {.name = "stencil",
            .threads = threads,
            .each = size.each,
            .chunks = rows * size.aside,
            .read_ahead = size.ahead};
}

std::string stencil_layout::reason() const {
    return std::to_string(size.each) + " columns of " + std::to_string(rows * size.aside) +
           " rows a thread: what neighbours share of a buffer is read once" +
           (size.pairs ? ", and two bytes are computed at once in a word" : "");
}

void stencil_layout::write(cuda_kernel& b) const { stencil_map(b, *this).write(); }

}  // namespace ingot::codegen
