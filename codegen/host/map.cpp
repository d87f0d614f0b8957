// The map kernel for the host: C++ whose inner loop the system's compiler vectorises. A block is a piece of one row of
// the outputs' space; its row pointers are found once, then the loop runs over the inner axis. Where rows are short a
// block is a piece of all elements, and its strips are several rows (host/packed_strips.hpp).
//
// Functions of the mathematical library round differently when vectorised, so where one is called every element goes
// through whole vectors (host/loops.hpp); those at the end of a row go through padded copies.
//
// Results larger than any cache have a kernel of their own: they are computed strip by strip into a copy in the cache,
// and written past the caches in whole lines. An ordinary store first reads the line that it will write, a third more
// traffic for a + b.
#include "codegen/host/map.hpp"
#include "codegen/host/streaming.h.hpp"
#include "codegen/plan/emitters.hpp"

#include <algorithm>
#include <bit>

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t block_elements = 1u << 15;

/// Whether a text writes raw arrays, at indices of its own choice.
bool writes_raw(const kernel_builder& b) {
    return std::ranges::any_of(
        b.graph.nodes, [&](const node& n) { return n.kind == node_kind::user && b.graph.texts[n.index].writes; });
}

/// Whether an element may depend on what others stored: they are joined with it, or a text writes as it likes.
bool joins_scattered(const kernel_builder& b) {
    if (writes_raw(b)) return true;
    return std::ranges::any_of(b.outputs, [&](const array_argument& z) {
        return b.is_scattered(z) && static_cast<detail::scatter_rule>(b.graph.nodes[b.graph.roots[z.index]].code) !=
                                        detail::scatter_rule::set;
    });
}

/// The loops along which an operand moves.
std::uint64_t moved_axes(const kernel_builder& b, const array_argument& at) {
    std::uint64_t axes = 0;
    for (std::size_t a = 0; a < b.key.axes.size(); ++a)
        if (at.at->strides[a] != stride_class::broadcast) axes |= axis_bit(b.graph.loop_axis[a]);
    return axes;
}

}  // namespace

stride_class host_map::class_along(const array_argument& at, int loop) const {
    for (std::size_t a = 0; a < b_.key.axes.size(); ++a)
        if (b_.graph.loop_axis[a] == loop && at.at->strides[a] != stride_class::broadcast) return at.at->strides[a];
    return stride_class::broadcast;
}

host_map::host_map(const key& k, const graph& g)
    : b_(k, g),
      inner_(b_.rank - 1),
      vectors_(calls_inexact(g, target::host) || has_random_strips()),
      streams_(k.header.past_caches && can_stream()) {
    choose_side();
    if (has_short_rows() || (vectors_ && b_.rank > 1 && side_ < 0))
        packed_.emplace(b_, axes_in(all_axes()), packed_strip);
    if (!packed_ && side_ < 0) choose_wrapped();
    for (const auto* arrays : {&b_.inputs, &b_.outputs})
        for (const array_argument& at : *arrays)
            if (!at.is_output || !b_.is_scattered(at)) add_row(at);
    if (packed_) choose_values_of_rows();
}

void host_map::write(plan& p) {
    b_.name_scalars();
    b_.code.line("const arguments& p = *given;");
    if (streams_) b_.needs.add("stream", embedded::streaming);
    if (vectors_ || packed_) declare_copies();
    if (packed_) {
        declare_packing();
        open_packed_block();
    } else if (side_ >= 0) {
        open_tile_block();
    } else {
        open_block();
    }
    read_rows();
    write_values_of_rows();
    if (vectors_ || packed_) {
        write_strips();
    } else if (streams_) {
        write_streamed();
    } else {
        write_elements(b_.rank == 0 ? "int" : b_.signed_index(), "n");
    }
    if (packed_ || side_ >= 0 || is_cut()) b_.code.close();
    b_.code.close();
    if (streams_) b_.code.line("settle();");
    b_.step.in_order = joins_scattered(b_);
    b_.step.describe(*this);
    b_.step.work = {{all_axes(), b_.cost}};
    b_.step.can_stream = can_stream();
    b_.add_to(p, "map");
}

std::string host_map::reason() const {
    if (side_ >= 0)
        return "tiles of " + std::to_string(height_) + " rows by " + std::to_string(strip) +
               ": what lies across the rows is read by whole lines";
    return (packed_ ? "strips of several short rows, up to " : "pieces of rows, up to ") +
           std::to_string(block_elements) +
           " elements a block: what a first-level cache holds, and worth handing to a thread";
}

void host_map::open_block() {
    source_writer& out = b_.code;
    const formula chunks = ceil_divide(points_of(inner_ < 0 ? 0 : axis_bit(inner_)), block_elements);
    const std::string type = b_.signed_index();
    b_.step.grid[0] = b_.rank > 1 ? points_of(axis_range(0, inner_)) * chunks : chunks;
    out.open("for (", b_.linear(), " block = ", b_.linear(), "(begin); block < end; ++block)");
    if (b_.rank == 0) {
        out.line("const int n = 1;");
        return;
    }
    const std::string length = b_.extent(inner_);
    std::string piece = "block";
    if (b_.rank > 1) {
        const std::string pieces = b_.count(chunks, "row_pieces");
        piece = "(block % " + pieces + ")";
        out.line(b_.linear(), " rest = block / ", pieces, ";");
        write_digits(b_, "rest", axes_in(axis_range(0, inner_)));
    }
    if (is_cut()) {
        out.line("const ", type, " begin_of_piece = ", type, "(", piece, " * ", block_elements, ");");
        out.line("const ", type, " end_of_piece = ", length, " - begin_of_piece < ", block_elements, " ? ", type, "(",
                 length, ") : begin_of_piece + ", block_elements, ";");
        return open_wrapped_piece();
    }
    out.line("const ", type, ' ', digit(inner_), " = ", type, "(", piece, " * ", block_elements, ");");
    out.line("const ", type, " n = ", length, " - ", digit(inner_), " < ", block_elements, " ? ", type, "(", length,
             ") - ", digit(inner_), " : ", block_elements, ";");
}

void host_map::choose_wrapped() {
    if (b_.rank == 0) return;
    std::uint64_t others = 0;  // axes that others than rows read
    for (const unravelling& u : b_.unravellings) {
        const bool only_wraps = !u.gathers() && u.rule == place_rule::wrap &&
                                inner_class(u.pick, inner_) != stride_class::strided &&
                                (moved_axes(b_, u.pick) & b_.unravelled_axes()) == 0;
        if (only_wraps) {
            wrapped_ |= axis_bit(u.axes[0]);
            if (inner_class(u.pick, inner_) == stride_class::broadcast) fixed_ |= axis_bit(u.axes[0]);
            continue;
        }
        for (const int a : u.axes) others |= axis_bit(a);
        if (!u.gathers()) others |= moved_axes(b_, u.pick) & b_.unravelled_axes();  // a place at another's digits
    }
    // Beside an element that is found one by one, its other digits are too.
    for (bool changes = true; changes;) {
        const std::uint64_t before = wrapped_;
        const auto drop = [&](std::uint64_t axes) {
            if ((axes & others) == 0) return;
            others |= axes & wrapped_;
            wrapped_ &= ~others;
        };
        for (const array_argument& at : b_.inputs) {
            const std::uint64_t axes = b_.graph.nodes[at.node].axes;
            const std::uint64_t moving = axes & wrapped_ & ~fixed_;
            if (std::popcount(moving) > 1 || (moving != 0 && inner_class(at, inner_) != stride_class::broadcast))
                others |= axes & wrapped_;
            drop(axes & b_.unravelled_axes());
        }
        for (const node_id g : b_.generators) {
            others |= b_.graph.nodes[g].axes & wrapped_;
            drop(b_.graph.nodes[g].axes & b_.unravelled_axes());
        }
        wrapped_ &= ~others;
        changes = wrapped_ != before;
    }
    if ((wrapped_ & ~fixed_) == 0) wrapped_ = 0;
}

void host_map::open_wrapped_piece() {
    source_writer& out = b_.code;
    const std::string type = b_.signed_index(), at = digit(inner_);
    out.open("for (", type, ' ', at, " = begin_of_piece, n; ", at, " < end_of_piece; ", at, " += n)");
    out.line("n = end_of_piece - ", at, ";");
    for (const unravelling& u : b_.unravellings) {
        if (!is_wrapped(u)) continue;
        const std::string length = type + '(' + b_.extent(u.axes[0]) + ')';
        out.line("const ", type, ' ', digit(u.axes[0]), " = ", b_.unravelled_index(u, all_axes()), ";");
        if ((axis_bit(u.axes[0]) & fixed_) != 0) continue;
        out.line("if (", length, " - ", digit(u.axes[0]), " < n) n = ", length, " - ", digit(u.axes[0]), ";");
    }
}

void host_map::choose_side() {
    constexpr std::uint32_t line = 64, most_bytes = 256u << 10;  // tiles lie on the thread's stack
    // A row's random numbers are drawn strip by strip, after the values that are computed once a row.
    if (has_random_strips()) return;
    const transposed_operands across = find_transposed(b_);
    if (across.side < 0 || across.bytes * strip * (line / across.widest) > most_bytes) return;
    side_ = across.side;
    height_ = line / across.widest;
}

void host_map::open_tile_block() {
    source_writer& out = b_.code;
    const std::string type = b_.signed_index(), height = std::to_string(height_), width = std::to_string(strip);
    const formula pieces = ceil_divide(points_of(axis_bit(inner_)), strip);
    const formula bands = ceil_divide(points_of(axis_bit(side_)), height_);
    const std::uint64_t others = all_axes() & ~axis_bit(inner_) & ~axis_bit(side_);
    b_.step.grid[0] = points_of(others) * bands * pieces;
    for (const row& r : rows_)
        if (r.staged) out.line("alignas(64) ", r.type, ' ', tile_of(r), '[', height_, "][", strip, "];");
    const std::string inner = digit(inner_), side = digit(side_);
    const std::string length = type + '(' + b_.extent(inner_) + ')';
    const std::string depth = type + '(' + b_.extent(side_) + ')';
    out.open("for (", b_.linear(), " block = ", b_.linear(), "(begin); block < end; ++block)");
    const std::string per_row = b_.count(pieces, "row_pieces");
    out.line(b_.linear(), " rest = block / ", per_row, ";");
    out.line("const ", type, ' ', inner, " = ", type, "(block % ", per_row, ") * ", width, ";");
    std::string band = "rest";
    if (others != 0) {
        band = "(rest % " + b_.count(bands, "bands") + ')';
        out.line("const ", type, " band = ", type, band, " * ", height, ";");
        out.line("rest /= ", b_.count(bands, "bands"), ";");
        write_digits(b_, "rest", axes_in(others));
    } else {
        out.line("const ", type, " band = ", type, "(rest) * ", height, ";");
    }
    out.line("const ", type, " n = ", length, " - ", inner, " < ", width, " ? ", length, " - ", inner, " : ", width,
             ";");
    out.line("const int rows = ", depth, " - band < ", height, " ? int(", depth, " - band) : ", height, ";");
    for (const row& r : rows_)
        if (r.staged) fill_tile(r);
    out.open("for (int line = 0; line < rows; ++line)");
    out.line("const ", type, ' ', side, " = band + line;");
}

void host_map::fill_tile(const row& r) {
    source_writer& out = b_.code;
    out.open();
    out.line("const ", b_.signed_index(), ' ', digit(side_), " = band;");
    out.line("const ", r.type, "* from = ", b_.pointer(*r.at), b_.offset(*r.at, all_axes()), ";");
    out.open("for (int j = 0; j < n; ++j, from += ", b_.stride(*r.at, inner_), ")");
    out.open("if (rows == ", height_, ")");
    out.line("for (int line = 0; line < ", height_, "; ++line) ", tile_of(r), "[line][j] = from[line];");
    out.otherwise();
    out.line("for (int line = 0; line < rows; ++line) ", tile_of(r), "[line][j] = from[line];");
    out.close();
    out.close();
    out.close();
}

void host_map::open_packed_block() {
    source_writer& out = b_.code;
    const std::string type = b_.linear(), length = std::to_string(block_elements);
    b_.step.grid[0] = ceil_divide(points_of(all_axes()), block_elements);
    const std::string size = b_.count(points_of(all_axes()), "size");
    out.open("for (", type, " block = ", type, "(begin); block < end; ++block)");
    out.line("const ", type, " from = block * ", length, ";");
    out.line("const ", type, " to = ", size, " - from < ", length, " ? ", size, " : from + ", length, ";");
    packed_->open("from", "to");
}

std::string host_map::element(const row& r) {
    if (r.scattered && !vectors_) return scattered_element(r);
    if (is_copied_once(r)) return copy_of(r) + "[j]";
    return vectors_ || packed_ || (streams_ && r.at->is_output) ? strip_of(r) + "[j]" : in_row(r);
}

void host_map::write_elements(const std::string& type, const std::string& n) {
    source_writer& out = b_.code;
    open_lanes(n, type);
    const std::vector<bool> read = vectors_ ? std::vector<bool>(b_.graph.nodes.size()) : write_indices();
    for (const row& r : rows_)
        if (!r.at->is_output && !read[r.at->node])
            out.line("const ", r.type, ' ', r.at->name, " = ", b_.needs.element(r.at->at->head.type, element(r)), ";");
    for (const node_id g : b_.generators) {
        const std::string number = b_.needs.type(b_.graph.nodes[g].type), name = generator(g).name;
        if (is_random_strip(g)) out.line("const ", number, ' ', name, " = ", name, "_strip[j];");
    }
    std::vector<std::string> values;
    for (const array_argument& z : b_.outputs) {
        values.push_back(b_.body.value(b_.value_of(z), out));
        if (b_.outputs.size() == 1 && !b_.is_scattered(z)) break;
        const std::string number = std::to_string(z.index);
        out.line("const ", type_name(z.at->head.type), " r", number, " = ", values.back(), ";");
        values.back() = "r" + number;
        if (b_.is_scattered(z))
            out.line("const ", b_.needs.type(dtype::i8), " at", number, " = ",
                     b_.body.value(b_.scatter_index_of(z), out), ";");
    }
    for (const row& r : rows_)
        if (r.at->is_output) out.line(element(r), " = ", values[r.at->index], ";");
    for (const array_argument& z : b_.outputs)
        if (b_.is_scattered(z)) b_.store_scattered(z, "at" + std::to_string(z.index), values[z.index], has_index());
    close_lanes();
}

std::string host_map::has_index() const {
    std::string condition = vectors_ ? "j < m" : "";
    if (b_.checks_indices())
        condition += (condition.empty() ? "" : " && ") + std::string(vectors_ ? "inside[j]" : "inside");
    return condition;
}

void host_map::open_lanes(const std::string& n, const std::string& type) {
    if (vectors_) return open_whole_vectors(b_, n, !joins_scattered(b_));
    if (!joins_scattered(b_)) b_.declare_independent();
    b_.code.open("for (", type, " j = 0; j < ", n, "; ++j)");
}

void host_map::close_lanes() {
    if (vectors_) b_.code.close();
    b_.code.close();
}

void emit_map_host(const key& k, const graph& g, plan& p) { host_map(k, g).write(p); }

}  // namespace ingot::codegen
