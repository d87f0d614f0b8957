// The writer of a map kernel for CUDA in which each of a thread's elements is computed for itself: map.cpp begins it
// and lists its shapes; each shape has a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/cuda/map/choice.hpp"
#include "codegen/plan/stages.hpp"

namespace ingot::codegen {

class cuda_map {
public:
    cuda_map(cuda_kernel& b, const map_choice& c)
        : b_(b), choice_(c), inner_(b.rank - 1), along_(c.along), each_(c.each) {}
    void write(plan& p);

private:
    static constexpr std::uint32_t threads = map_choice::threads;

    bool moves_inside(const array_argument& at) const { return inner_class(at, inner_) != stride_class::broadcast; }
    bool moves(const array_argument& at) const { return b_.moves_along(at, all_axes()); }
    std::uint64_t all_axes() const { return axis_range(0, b_.rank) | b_.unravelled_axes(); }
    /// The axes [0, n).
    static std::vector<int> outer_axes(int n);
    /// Operands that move along no axis are read once, before everything else.
    void read_constants();
    array_argument argument_of(node_id generator) const;
    void declare_random(const array_argument& g);
    void write_random(const array_argument& g, const std::string& to, const std::string& further);
    /// The elements of all of a thread's vectors, of which only a packed map has several; the distance between its
    /// vectors; and the distance of element e from the first.
    std::uint32_t all_elements() const { return each_ * choice_.chunks; }
    std::uint32_t vector_stride() const { return threads * each_; }
    std::string offset_of_element() const;
    void open_elements(const std::string& count);
    void open_unrolled_elements();

    // Packed.

    /// Writes element e of the thread's elements of a random leaf.
    void write_random_element(const array_argument& g, const std::string& to);
    /// All the thread's elements of a random leaf: by whole groups where they begin with one, else one by one.
    void write_random_vector(const array_argument& g);
    void write_packed();
    /// Reads, computes and stores by vectors, and returns unless a value was rare.
    void write_vector(const std::vector<const array_argument*>& vectors, const std::vector<array_argument>& generators);
    /// Draws and computes whole vectors, and stores their elements inside the row.
    void write_drawn(const std::vector<array_argument>& generators, const std::string& left);
    void declare_vector(const array_argument& z);
    void store_vector(const array_argument& z);
    std::string storer();
    void write_one_by_one(const std::vector<const array_argument*>& vectors,
                          const std::vector<array_argument>& generators);
    /// Loops of the thread's own read operands at its element e.
    void number_elements();
    /// Finds the elements of this thread: those from `i` on, on the inner axis of extent `n`.
    void find_vector(const std::string& n, const std::string& i);

    // Spread; elements are read and computed so where they are counted, too.

    void write_spread();
    /// Whether elements are read or written at places that depend on loaded values.
    bool has_loaded_indices() const;
    /// Reads all operands of element e into arrays: first those of an index, then those at its place.
    void read_elements();
    /// The variable of element e of an input.
    std::string slot_of(const array_argument& in) const;
    /// The places of a thread's scattered elements, and whether each has one.
    static std::string indices_of(const array_argument& z) { return z.name + "_at"; }
    void declare_indices();
    std::string number_of_element() const;
    /// Computes the thread's elements, by quick bodies where there are such; once more where one was rare.
    void compute_elements();

    // Counted.

    void write_counted();
    /// Counts a thread's elements, none of which lies behind the last.
    void count_batch();
    void count_one_by_one(const std::string& n);
    /// Declares the variables for loaded elements; those that go together are vectors, where there are such.
    void declare_read(bool batched);
    void compute_index();
    /// Without a branch: an element without a place among the block's counts increments a count that nothing reads.
    void count_element();
    /// Adds an element beyond the counts at its place in memory.
    void add_beyond();
    void open_counts(std::uint32_t counts);
    /// A place with a count of 0 may not exist.
    void close_counts(const std::string& value);

    // Along an axis.

    /// A thread's elements are some apart, so that neighbours read neighbours; along the inner axis a block apart.
    void write_along();
    bool moves_along(const array_argument& in) const { return b_.moves_along(in, axis_bit(along_)); }
    /// The digits of the thread's first element; `first` is its digit along the axis. Groups of the axis are `each`
    /// times as long as the distance of a thread's elements.
    void locate_along(std::uint32_t element_stride);
    /// The loop over the thread's elements that exist, with the digit along the axis.
    void open_present(std::uint32_t element_stride);
    void close_present();

    cuda_kernel& b_;
    const map_choice& choice_;
    const int inner_, along_;
    const std::uint32_t each_;
    std::string own_ = "[e]";  // of what a thread has for each element; empty where they go one by one
};

}  // namespace ingot::codegen
