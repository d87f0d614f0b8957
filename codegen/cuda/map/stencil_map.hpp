// The writer of a map kernel for CUDA over neighbours: a thread finds its place (stencil_place.cpp), has functions that
// read rows (stencil_rows.cpp), and rolls down its rows (stencil_map.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/cuda/map/byte_pairs.hpp"
#include "codegen/cuda/map/choice.hpp"
#include "codegen/cuda/map/stencil.hpp"

namespace ingot::codegen {

class stencil_map {
public:
    stencil_map(cuda_kernel& b, const stencil_layout& c)
        : b_(b),
          layout_(c),
          inner_(b.rank - 1),
          axes_(c.axes),
          size_(c.size),
          each_(static_cast<int>(c.size.each)),
          windows_(c.windows),
          pairs_(b) {}

    void write();

private:
    static constexpr std::uint32_t warp_lanes = 32;

    std::uint64_t all_axes() const { return axis_range(0, b_.rank); }
    bool rolls() const { return axes_.down >= 0; }
    bool has_side() const { return axes_.side >= 0; }
    std::uint32_t warps() const { return layout_.threads / warp_lanes; }
    std::string type_of(const array_argument& at) { return b_.needs.type(at.at->head.type); }
    std::string each() const { return std::to_string(each_); }
    static std::string parenthesised(int n) { return n < 0 ? '(' + std::to_string(n) + ')' : std::to_string(n); }

    // Arrays that are read by rows.

    static bool is_read(const view_window& w, const array_argument& in);
    bool is_read_by_rows(const array_argument& in) const;
    /// The window with the most views: the thread's columns begin where it is aligned.
    const view_window& widest() const;

    // The place of a thread.

    /// A place along an axis, or the place read instead where it is beyond the ends.
    std::string bordered(border beyond, int axis, const std::string& index);
    /// An input's offset, as in the kernel's base, but some axes may be shifted.
    std::string offset(const array_argument& in, std::uint64_t axes);

    /// "(long long)(r) * p.x0_stride1", from steps along an outer axis.
    std::string steps(const array_argument& at, int axis, const std::string& count);
    void locate_thread();

    /// Whether a thread reads its rows by vectors.
    void write_whole();

    /// Declares the least and the greatest place, in elements from its pointer, of a window's views, and of a thread's
    /// rows with the columns beside them. Everything between two elements of a buffer is in it, whether or not a view
    /// has it. Returns the condition that the thread's places lie within the views'.
    std::string declare_reach(const view_window& w);

    // Rows.

    /// Whether all rows of a window are aligned where the thread's columns begin.
    bool is_aligned(const view_window& w) const;
    /// The names of the functions that load a row into the ring, and that read a row of single elements.
    static std::string name_of(const char* function, const view_window& w, const row_line& line);
    static std::string loader_of(const view_window& w, const row_line& line) { return name_of("load", w, line); }
    std::string reader_of(const view_window& w, const row_line& line) const {
        return name_of(size_.pairs || w.held ? "read" : "load", w, line);
    }

    /// The slot of the row that lies `row` rows below the highest one held.
    std::string slot_of(const view_window& w, int row) const {
        const std::string r = std::to_string(row);
        return turns() == 1 || w.slots == 1 ? r : '(' + r + " + u) % " + std::to_string(w.slots);
    }
    int turns() const { return static_cast<int>(layout_.turns); }

    /// Declares the ring, and for each of its lines a function that reads the row r rows below the thread's first.
    void declare(const view_window& w);
    int half() const { return each_ / 2; }
    int ring_width(const view_window& w) const { return size_.pairs ? w.left + half() + w.right : w.width; }

    /// Reads the thread's first half element by element, with the elements of its second half in the same words.
    void declare_pair_loader(const view_window& w, const row_line& line);

    /// Casts the elements of a row as it is read: those of neighbours are cast once.
    void declare_cast_loader(const view_window& w, const row_line& line);

    /// Whether the places of few columns before and behind the thread's own are kept, as they are the same in every
    /// row. Many columns are read by vectors, but at the ends.
    static bool keeps_ends(const view_window& w) { return w.left + w.right <= 2; }
    void declare_ends(const view_window& w);
    static std::string ends_of(const view_window& w) { return w.name + "_ends"; }

    /// The beginning of the row r rows below the thread's first, or of the row read instead. A row that no element of
    /// the thread needs is replaced by one that exists.
    std::string row_of(const view_window& w, const row_line& line);

    /// The loader of a window with a border along its rows: each row has all columns.
    void declare_bordered_loader(const view_window& w, const row_line& line);

    /// Reads element by element in a loader, which it ends.
    void read_ends(const view_window& w, const row_line& line);

    /// The columns of the views that read row r for the thread's present elements, by the condition of the read.
    std::map<std::string, number_range> columns_of(const view_window& w, const row_line& line) const;
    void declare_loader(const view_window& w, const row_line& line);

    // Turns.

    void load(const view_window& w, const row_line& line, const std::string& slot, const std::string& row);

    /// Goes row by row; the first turns only fill the rings. The text has one place for each load, as a load is read in
    /// three ways.
    void roll();
    void load_next(int first);
    void move_up();

    // Elements.

    void declare_digits();
    void open_sides(bool digits = true);
    void close_sides();
    void open_columns();
    /// Whether the thread's present row exists, and an element of it.
    std::string row_there() const;
    std::string element_there();
    std::string of_side() const { return has_side() ? "[t]" : "[0]"; }

    /// Reads operands that do not lie along the rows: one element for each of the thread's, or one for the whole row.
    void read_others();
    void compute();
    void compute_pairs();
    void store(const array_argument& z);
    std::uint32_t widest_output() const;
    void declare_room();

    cuda_kernel& b_;
    const stencil_layout& layout_;
    const int inner_;
    const stencil_axes axes_;
    const window_size size_;
    const int each_;
    const std::vector<view_window>& windows_;
    byte_pairs pairs_;
};

}  // namespace ingot::codegen
