// How a map goes over its elements on the host (host/map.cpp): the loads of its kernel for a block and for a row of it
// (host/map_rows.cpp), and the strips in which it computes (host/map_strips.cpp).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/host/packed_strips.hpp"

namespace ingot::codegen {

class host_map {
public:
    host_map(const key& k, const graph& g);
    void write(plan& p);

    std::string_view pattern() const { return "map"; }
    std::string reason() const;

private:
    /// An input or output in the inner loop.
    struct row {
        const array_argument* at;
        std::string type;
        stride_class inner;
        bool scattered = false;  // read at the digits of an unravelled place
        bool once = false;       // the same element in the whole kernel, or, packed, the same elements in every strip
        bool of_rows = false;    // read only for values of rows
        bool staged = false;     // lies across the rows: the block's part is copied to rows of its own
        int along = -1;          // the axis on which it moves in the loop: the inner one, or one that wraps beside it
    };
    /// Packed: a costly value that is constant along a row.
    struct value_of_rows {
        node_id node;
        std::string name, type;
    };

    std::uint64_t all_axes() const { return axis_range(0, b_.rank); }
    /// The axes of the outputs' space on which an array moves.
    std::uint64_t axes_of(const array_argument& at) const;
    bool has_short_rows() const {
        return b_.rank > 1 &&
               (b_.key.axes[static_cast<std::size_t>(inner_)].flags & detail::axis_flags::short_inner) != 0;
    }

    stride_class class_along(const array_argument& at, int loop) const;
    void add_row(const array_argument& at);
    /// Whether a row has one element.
    bool is_single(const row& r) const;
    bool is_copied_once(const row& r) const { return r.once && !is_single(r); }

    /// Chooses the places along the inner axis that only wrap: between two ends of their axes what they read lies in a
    /// row, so a piece of a row is cut at these ends. Beside them, places along other axes that wrap are the same for
    /// the whole row.
    void choose_wrapped();
    bool is_wrapped(const unravelling& u) const { return (axis_bit(u.axes[0]) & wrapped_) != 0; }
    void open_wrapped_piece();
    bool is_cut() const { return wrapped_ != 0; }
    void open_block();
    void open_packed_block();

    /// The axis before the inner one along which operands that cross the rows are contiguous, or -1. A block is then a
    /// strip of as many rows as fill a line of memory: each line is read once, whole, into the rows of a tile.
    void choose_side();
    void open_tile_block();
    void fill_tile(const row& r);
    static std::string tile_of(const row& r) { return r.at->name + "_tile"; }

    /// Declares where the lanes of a strip lie; reads the operands that are the same in every strip.
    void declare_packing();

    /// Whether a random leaf's numbers are computed strip by strip, before they are used.
    bool is_random_strip(node_id g) const;
    bool has_random_strips() const {
        return std::ranges::any_of(b_.generators, [&](node_id g) { return is_random_strip(g); });
    }
    array_argument generator(node_id g) const;

    /// Chooses values that an elementwise node uses for each element of a row; a random leaf's are not among them.
    void choose_values_of_rows();

    /// Computes the rows' values in the lanes of vectors too, then spreads each over its row's elements.
    void write_values_of_rows();

    /// Declares pointers to the block's first elements; reads the operands that do not move along the inner axis.
    void read_rows();
    void read_single(const row& r);

    /// Whether rows of results are whole lines, and no operand read just before has brought these lines into a cache.
    bool can_stream() const;
    /// Declares whether this piece's lines belong to it alone.
    void declare_streaming();

    /// Declares element j of a random leaf's row as `name(key, first + j * step)`.
    void add_generator(node_id g);
    void write_random_strips();

    static constexpr std::uint32_t strip = 256, packed_strip = 512;

    static std::string pointer_type(const row& r) { return (r.at->is_output ? "" : "const ") + r.type + "* const "; }
    static std::string row_of(const row& r) { return r.at->name + "_row"; }
    static std::string strip_of(const row& r) { return r.at->name + "_strip"; }
    static std::string copy_of(const row& r) { return r.at->name + "_copy"; }
    /// " * p.x0_stride0", or empty for a unit stride.
    std::string step_of(const row& r);
    std::string element(const row& r);
    /// The number of element j in its piece.
    std::string in_piece() const { return vectors_ || streams_ ? "(first + j)" : "j"; }

    /// Writes the digits of every unravelled place, for element j of the row. Returns what is read for indices.
    std::vector<bool> write_indices();
    void read_element(const row& r);
    void read_for_index(node_id index, std::vector<bool>& read);
    std::string scattered_element(const row& r);
    /// The distance of element j from the row's first, or from the strip's of packed rows.
    std::string along(const array_argument& at);

    /// Writes the loop itself. All is read before the first store, as an output may be an input's own array.
    void write_elements(const std::string& type, const std::string& n);
    /// The condition that a scattered element of the loop exists and has a place.
    std::string has_index() const;
    void open_lanes(const std::string& n, const std::string& type = "int");
    void close_lanes();

    /// Writes one strip that is the whole piece, or many through copies.
    void write_streamed();
    std::string stream_of(const row& r) const;
    void declare_copies();
    /// Writes strips in place where they lie in memory; through a copy at a row's end, whose last vector is not whole,
    /// and where the elements are not consecutive.
    void write_strips();

    bool has_strip(const row& r) const { return !is_copied_once(r) && (vectors_ || !r.scattered); }
    /// The condition that a strip is read or written in place.
    std::string in_memory(const row& r) const;
    void declare_strip(const row& r);
    /// Copies between a strip and its copy, where it has one.
    void copy(const row& r, const std::string& before = "");
    std::string in_row(const row& r);

    kernel_builder b_;
    int inner_, side_ = -1;
    std::uint64_t wrapped_ = 0;            // axes of places that only wrap
    std::uint64_t fixed_ = 0;              // those of them at which a row reads one place
    std::uint32_t height_ = 1;             // rows of a tile
    bool vectors_;                         // goes through whole vectors
    bool streams_;                         // stores past the caches
    std::optional<packed_strips> packed_;  // where rows are short
    std::vector<row> rows_;
    std::vector<value_of_rows> values_of_rows_;
    /// A random leaf's number at the digits of an unravelled place; whole vectors have copies of such numbers.
    struct scattered_number {
        std::string copy, number;
    };
    std::vector<scattered_number> scattered_numbers_;
};

}  // namespace ingot::codegen
