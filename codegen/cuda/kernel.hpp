// The part that CUDA's schedules share: loads and stores of elements and vectors, and the digits of an element from a
// linear index.
#pragma once

#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

/// Operations that one thread's statements may have: the compiler takes some 200 ms for them.
inline constexpr std::uint32_t statement_budget = 800;

std::uint32_t bytes_of(const array_argument& at);
/// The built-in type of this many bytes.
std::string_view word_of(std::uint32_t bytes);
/// Likewise for elements of this type: doubles that are words of their own are not copied from pairs of words.
std::string_view word_of(std::uint32_t bytes, dtype of);
/// Whether CUDA's own functions, __ldg and __stcs, load and store this dtype.
bool has_intrinsics(dtype t);

/// How an input is read: once by one thread, more than once (so cached), or from memory that the kernel also writes.
enum class reading { once, again, in_place };

struct cuda_kernel : kernel_builder {
    using kernel_builder::kernel_builder;

    bool moves_along(const array_argument& at, std::uint64_t axes) const;
    /// How a kernel that walks over `axes` reads an input.
    reading reading_of(const array_argument& in, std::uint64_t axes) const;

    /// One element by a scalar load; `offset` begins with " + " or is empty.
    std::string element(const array_argument& in, const std::string& offset) override;
    /// Loads a row by vectors, where it is contiguous and aligned.
    void load_row(const loop_choice::row& row, const std::string& to, source_writer& out) override;
    /// Loads the windows of all the thread's elements, which overlap.
    void load_window(const loop_choice::row& row, const std::string& to, source_writer& out);
    /// Bytes of the vector by which a row of n elements is loaded; those of one element where no vector fits.
    std::uint32_t vector_of_row(const loop_choice::row& row, std::uint32_t n) const;
    /// Whether the rows of all elements of a thread are one run of vectors; `elements`, on axis `along`.
    bool is_run_of_rows(const loop_choice::row& row, std::uint32_t n, int along, std::uint32_t elements) const;
    std::string joined_lanes(fold_writer& f, const std::string& joiner, const std::string& value) override;
    std::string lane() const override;
    void store_element(const array_argument& out, const std::string& offset, const std::string& value);
    /// Adds a function that loads a vector, name<word>(array, from), to the prelude; returns its name.
    std::string loader(reading how, std::string_view word);
    std::string loader(reading how, std::uint32_t bytes) { return loader(how, word_of(bytes)); }
    /// Likewise for a store: name<word>(to, array).
    std::string storer();
    /// Likewise for a copy of 4, 8 or 16 bytes into shared memory: name(to, from). Where copies are asynchronous the
    /// threads must wait for them.
    std::string copier(std::uint32_t bytes);
    bool copies_asynchronously() const { return key.header.architecture >= 80; }
    void wait_for_copies();

    /// A random leaf as an operand.
    array_argument leaf_of(node_id generator) const;
    /// Writes n elements of a random leaf from `index` on into an array, by whole calls of the generator: one more
    /// where they do not begin with a group. `unaligned`: their place is no multiple of n along the unit axis.
    void draw_groups(node_id generator, const std::string& to, std::uint32_t n, const std::string& index,
                     bool unaligned = false);

    /// The call by which a fold's struct joins the first `count` elements of an array.
    std::string join_pairs(const std::string& fold, std::uint32_t count, const std::string& values);

    /// Writes the digits of `linear` along these axes of the key, outermost first; the outermost takes the remainder.
    void write_digits(std::string linear, const std::vector<int>& axes);
    /// "blockIdx.x". Over an array that an earlier step folded blocks begin at its end, which is still in a cache.
    std::string block_index();
    /// "blockIdx.x * 256u + threadIdx.x"
    std::string thread_index(std::uint32_t block_elements);

    /// Opens an unrolled loop, over `variable` from 0 to n.
    void open_unrolled(const char* variable, std::uint32_t n);

    /// Writes the statements of some elements by `write`: with quick bodies where there are such, then again where one
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

    /// Assembles the source of the kernel, whose body is written, and adds the step. `resident_blocks`: of a
    /// multiprocessor, which limits the registers; 0: no limit.
    void finish(plan& p, const std::string& name, std::uint32_t threads, std::uint32_t resident_blocks = 0,
                const std::string& comment = {});

    /// For a map: reads the operands that move along none of these axes, once, before everything else.
    void read_constants(std::uint64_t axes);
    /// For a map: whether a quick body, which excludes rare values, computes something.
    bool has_quick_bodies() const;
    /// For a map: the axis that earlier steps folded, on which some operand does not move; -1 where there is none.
    int folded_axis() const;
};

}  // namespace ingot::codegen
