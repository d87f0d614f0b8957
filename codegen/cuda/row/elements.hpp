// The text of which elements of a row a lane has in registers and how they are loaded, by the choice
// (cuda/row/register_rows.hpp). Rows that begin anywhere are held from the last aligned place before them, so that all
// but their ends are accessed by vectors. A lane's loads are all in flight before it waits for one of them: tests of
// single elements, and branches, stand behind them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/cuda/kernel.hpp"
#include "codegen/cuda/row/register_rows.hpp"

namespace ingot::codegen {

class row_elements {
protected:
    row_elements(const key& k, const graph& g, const row_program& r, const register_rows& choice);
    ~row_elements() = default;

    /// The axes along which a row's elements do not move.
    std::uint64_t still_axes() const { return r_.kept_bits() | r_.gathered; }
    std::uint64_t all_axes() const { return still_axes() | r_.row_bits(); }
    bool along_row(node_id n) const { return (b_.graph.nodes[n].axes & r_.row_bits()) != 0; }
    bool along_row(const array_argument& out) const { return b_.moves_along(out, r_.row_bits()); }
    /// Whether an array is held from the beginning.
    bool is_stream(const array_argument& leaf) const {
        return std::ranges::count(choice_.held.streams, leaf.node) != 0;
    }
    bool is_deferred(const array_argument& leaf) const {
        return std::ranges::count(choice_.held.deferred_loads, leaf.node, &held_elements::shared_value::node) != 0;
    }
    /// Whether an array is accessed by vectors, where these are whole.
    bool packed(const array_argument& at) const { return choice_.each > 1 && is_packed(*at.at, b_.graph, r_); }
    std::string u4() { return b_.needs.type(dtype::u4); }
    std::string length() { return b_.count(points_of(r_.row_bits()), "length"); }
    std::string rows() { return b_.count(points_of(r_.kept_bits()), "rows"); }
    bool shares_block() const { return (choice_.rows_per_block > 1 || choice_.fitted()) && !r_.kept_axes.empty(); }
    std::string of_stream() const { return choice_.rows_per_thread > 1 ? "[r][u]" : "[u]"; }
    static std::string of(std::uint32_t n) { return std::to_string(n) + 'u'; }
    std::string of_chunk() const { return choice_.each > 1 ? '[' + std::to_string(choice_.each) + ']' : ""; }
    std::string of_element() const { return choice_.each > 1 ? "[e]" : ""; }

    // The place of a thread.

    void write_position();
    /// The place where threads lie beside each other as their rows do.
    void write_column_position();
    /// The number of a block, or of a cluster.
    std::string group() {
        return (b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x") +
               (choice_.cluster > 1 ? " / " + of(choice_.cluster) : "");
    }
    /// The number of a block's rows: as many as leave no lane more chunks than it holds.
    formula fitted_rows() const;
    /// The number of elements by which a row begins behind an aligned place: the lanes' chunks are moved by it. Arrays
    /// other than the first whose rows begin otherwise are accessed element by element.
    void write_shift();

    // A lane's elements.

    std::string lanes() const { return choice_.has_columns() ? "lanes" : of(choice_.lanes); }
    void open_chunks();
    /// The place in the row of a vector, which may begin before a shifted row.
    std::string row_index();
    std::string position() const { return choice_.each > 1 ? "at + e" : "at"; }
    /// The condition `test`, except for chunks that every row of this length class has whole.
    std::string known_or(const std::string& test) const;
    std::string is_whole();
    /// Whether an element of a present chunk lies in the row.
    std::string is_inside() { return choice_.each == 1 ? "" : known_or(position() + " < " + length()); }
    void open_inside();
    void close_inside();
    /// The condition that a lane has elements in a chunk; empty where every lane has.
    std::string is_present();
    void leave_absent();
    /// One element of a leaf, at the digits in scope.
    std::string one(const array_argument& leaf, std::uint64_t axes);
    /// The arrays accessed by vectors, leaves first.
    std::vector<const array_argument*> packed_arrays() const;
    const array_argument* leader() const;
    /// Arrays whose chunks are vectors under one condition: those that begin as the leader does, and each other alone.
    std::vector<std::vector<const array_argument*>> by_fit(const std::vector<const array_argument*>& arrays) const;
    std::string fits(const array_argument& at) const {
        return choice_.shifted && at.name != leader_ ? at.name + "_fits && " : "";
    }
    /// Loads one chunk into `name + suffix`, element by element. Places outside the row get other elements of it, so
    /// that nothing is computed from undefined values.
    void load_elements(const std::vector<const array_argument*>& leaves, const std::string& suffix,
                       bool streamed = false);
    static bool is_array_of_words(const array_argument& leaf);
    /// Whether an element is loaded by an instruction that the compiler keeps in place, before all uses.
    bool is_streamed(const array_argument& leaf) const;
    std::string streamed_element(const array_argument& leaf);
    /// Opens the loads of a chunk by vectors.
    void open_vectors(const std::vector<const array_argument*>& leaves, const std::string& suffix,
                      const std::string& test);
    /// The condition that an array's chunk is accessed as a vector.
    std::string is_vector(const array_argument& at) { return and_fits(at, is_whole()); }
    std::string and_fits(const array_argument& at, const std::string& test) const;
    /// The condition that the chunk of an array of rows is loaded as a vector.
    std::string is_loaded(const array_argument& at);
    /// All vectors are in flight before anything waits for one, so the end of a row within a chunk is handled later.
    void load_streams();
    /// A few single elements are in flight together too; many are loaded and tested one after the other, which takes
    /// fewer registers.
    void load_singles(const std::vector<const array_argument*>& leaves);
    /// Draws random leaves by whole groups: one call of the generator for each, beyond the row's end too.
    void draw_groups(const std::vector<const array_argument*>& leaves);
    /// The condition that a lane has elements in a chunk that is not loaded as a vector.
    std::string may_be_ragged(const std::vector<const array_argument*>& vectors);
    void declare(dtype t, const std::string& name, bool vectors);
    /// Loads one chunk, by vectors where these are whole.
    void load_chunk(const std::vector<const array_argument*>& leaves);
    /// Starts the deferred loads into shared memory, where each thread has places of its own.
    void load_deferred();
    std::string deferred_chunk() const { return "_deferred[u * " + of(choice_.threads) + ']'; }
    /// Leaves that these values need and that are not held: all rows read them alike. Names their elements, and those
    /// of deferred loads.
    std::vector<const array_argument*> unheld(const std::vector<node_id>& values);
    void load_unheld(const std::vector<node_id>& values);
    void open_elements();
    void close_elements();

    cuda_kernel b_;
    const row_program& r_;
    const register_rows& choice_;
    const std::vector<array_argument> leaves_;  // arrays and random leaves
    const std::string lane_, along_;            // this thread's lane; the text of the element in a loop, "[u][e]"
    const std::string leader_;                  // for shifted rows: the array that decides where they begin
};

}  // namespace ingot::codegen
