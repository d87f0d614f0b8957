// What CUDA's schedules share: how elements and vectors of them are loaded and stored, and how a linear index becomes
// the digits of an element.
#pragma once

#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

/// Operations that one thread's statements may hold: what the compiler digests in some 200 ms.
inline constexpr std::uint32_t statement_budget = 800;

std::uint32_t bytes_of(const array_argument& at);
/// The built-in type of this many bytes.
std::string_view word_of(std::uint32_t bytes);
/// The same for elements of this type: doubles that are words of their own are not copied from pairs of words.
std::string_view word_of(std::uint32_t bytes, dtype of);
/// Whether CUDA's own functions, __ldg and __stcs, load and store it.
bool has_intrinsics(dtype t);

/// How an input is read: once by one thread, more than once (so cached), or from memory that the kernel also writes.
enum class reading { once, again, in_place };

struct cuda_kernel : kernel_builder {
    using kernel_builder::kernel_builder;

    bool moves_along(const array_argument& at, std::uint64_t axes) const;
    /// For a kernel that walks over `axes`.
    reading reading_of(const array_argument& in, std::uint64_t axes) const;

    /// One element by a scalar load; `offset` begins with " + " or is empty.
    std::string element(const array_argument& in, const std::string& offset) override;
    /// By vectors, where it is contiguous and aligned.
    void load_row(const loop_choice::row& row, const std::string& to, source_writer& out) override;
    /// Bytes of a vector by which a row of so many elements is loaded; those of one element where none fits.
    std::uint32_t vector_of_row(const loop_choice::row& row, std::uint32_t n) const;
    std::string joined_lanes(fold_writer& f, const std::string& joiner, const std::string& value) override;
    std::string lane() const override;
    void store_element(const array_argument& out, const std::string& offset, const std::string& value);
    /// The name of a function, put into the prelude, that loads a vector: name<word>(array, from).
    std::string loader(reading how, std::string_view word);
    std::string loader(reading how, std::uint32_t bytes) { return loader(how, word_of(bytes)); }
    /// The same for a store: name<word>(to, array).
    std::string storer();
    /// The same for a copy of 4, 8 or 16 bytes into shared memory: name(to, from). Where threads copy asynchronously
    /// they must wait.
    std::string copier(std::uint32_t bytes);
    bool copies_asynchronously() const { return key.header.architecture >= 80; }
    void wait_for_copies();

    /// A random leaf as an operand.
    array_argument leaf_of(node_id generator) const;
    /// Writes the n elements of a random leaf from `index` on into an array, by whole calls of the generator: one more
    /// where they do not begin with a group. `apart`: from a place that is not a multiple of n along the unit axis.
    void draw_groups(node_id generator, const std::string& to, std::uint32_t n, const std::string& index,
                     bool apart = false);

    /// The call that joins the first elements of an array, of which there are `count`, by a fold's struct.
    std::string join_pairs(const std::string& fold, std::uint32_t count, const std::string& values);

    /// The digits of `linear` along these axes of the key, outermost first; the outermost takes what is left.
    void write_digits(std::string linear, const std::vector<int>& axes);
    /// "blockIdx.x". The blocks of what an earlier step has folded begin at its end, which a cache has still.
    std::string block_index();
    /// "blockIdx.x * 256u + threadIdx.x"
    std::string thread_index(std::uint32_t block_elements);

    /// Opens an unrolled loop, over `variable` from 0 to n.
    void open_unrolled(const char* variable, std::uint32_t n);

    /// Writes the statements of some elements by `write`: where there are quick bodies, by these, then again where one
    /// met a rare value.
    template <class Write>
    void compute(bool quick, Write write) {
        if (quick) code.line("bool rare = false;");
        for (int turn = 0; turn < (quick ? 2 : 1); ++turn) {
            const auto outside = body.scope();
            if (turn == 1) code.open("if (rare)");
            needs.use_quick(quick && turn == 0);
            write();
            needs.use_quick(false);
            if (turn == 1) code.close();
            body.leave(outside);
        }
    }

    /// For a map: whether something is computed by a body that is quick but for rare values.
    bool has_quick_bodies() const;
    /// For a map: the axis that earlier steps have folded, on which something read does not move; -1 where there is
    /// none.
    int folded_axis() const;
};

}  // namespace ingot::codegen
