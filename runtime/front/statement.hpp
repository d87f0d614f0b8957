// A statement as the door receives it, and its class: what classification (classify.hpp) gives to all that follows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <ingot/core/door.hpp>
#include <ingot/core/shape.hpp>

namespace ingot::runtime {

/// The vector class loads and stores this many bytes at a time.
inline constexpr std::size_t vector_bytes = 16;
/// Offsets and indices below this are computed in 32 bits.
index_t narrow_reach();

/// The kinds of nodes in a program; a slot computes them once.
enum program_kinds : std::uint8_t {
    has_any = 1,
    has_lazies = 2,
    has_binders = 4,
    has_reductions = 8,
    has_texts = 16,
    has_scans = 32,
    has_libraries = 64,
    has_indexing = 128  // unravels and gathers
};
std::uint8_t kinds_of(std::span<const detail::word> program);

/// The address of an array's first element.
inline std::uintptr_t address_of(const buffer& memory, const detail::layout& where, dtype type) noexcept {
    return reinterpret_cast<std::uintptr_t>(memory.data) +
           static_cast<std::uintptr_t>(where.offset) * detail::size_of(type);
}

/// Whether two operands are the same scalar or text, or begin at the same element of one array or random leaf.
inline bool have_one_origin(const operand& a, const operand& b) noexcept {
    if (a.kind != b.kind || a.type != b.type) return false;
    switch (a.kind) {
        case detail::operand_kind::scalar:
            return a.serial == b.serial && a.bits[0] == b.bits[0] && a.bits[1] == b.bits[1] && a.exponent == b.exponent;
        case detail::operand_kind::text:
            return a.bits[0] == b.bits[0] && a.bits[1] == b.bits[1];
        case detail::operand_kind::raw:  // the text sees its shape
            if (!detail::same_shape(*a.where, *b.where)) return false;
            [[fallthrough]];
        default:
            return a.memory == b.memory && a.where->offset == b.where->offset && a.bits[0] == b.bits[0] &&
                   a.bits[1] == b.bits[1] && a.serial == b.serial;
    }
}

/// A statement that runs `steps` times, as iterate does. After each step the output becomes the array that the next
/// step reads: `stepped` is that array's memory, `whole` its layout. The output has the same layout, and a step writes
/// its middle.
struct repetition {
    std::uint32_t steps = 1;
    const buffer* stepped = nullptr;
    const detail::layout* whole = nullptr;
};

struct placement;

/// A statement as the door receives it.
struct statement {
    std::span<const detail::word> program;
    std::span<const operand> operands;
    std::span<const detail::word> attributes;
    std::span<const output> outputs;
    std::uint8_t kinds = 0;                            // program_kinds; 0: not known yet
    std::span<const detail::extents_ref> shapes = {};  // one for each output, where they differ; one has all axes
    bool not_contiguous = false;                       // the slot's contiguous fast path did not match
    repetition repeated = {};
    bool is_piece = false;  // a part of a cut statement; it is not cut again
    // Where redistribute wants a new array in parts; it may come to lie elsewhere.
    const std::shared_ptr<const placement>* moved_to = nullptr;
};

/// operand_head::few_places of an output. It is 0 on the host, where kernels do not depend on it.
std::uint8_t few_places_of(const statement&, const output&, detail::target);

/// A statement with a list of leaves and one output.
struct tree_statement {
    std::span<const detail::word> program;
    detail::leaf_block& leaves;
    const output& out;
};

/// The class words, and the numbers that become arguments. Strides are in elements, on the key's axes.
struct classified {
    std::vector<index_t> shape;        // of the result, before collapse; of the largest where shapes differ
    std::vector<std::uint32_t> words;  // header, axes, operands, outputs, texts: the key without its program
    std::vector<index_t> extents;      // of the key's axes
    std::vector<index_t> strides;      // [operands + outputs][axes]
    index_t size = 0;                  // of the result

    std::uint32_t steps = 1;     // repetition::steps that one kernel does
    bool is_contiguous = false;  // set by contiguous_classifier

    void set_contiguous(const index_t* of, int rank, index_t elements) {
        shape.assign(of, of + rank);
        extents.assign(1, elements);
        size = elements;
        is_contiguous = true;
    }
    int axes() const noexcept { return static_cast<int>(extents.size()); }
    const index_t* strides_of(std::size_t i) const noexcept { return strides.data() + i * extents.size(); }
};

/// Optional parts of a key. Each makes more keys of a program, so it is written only where a kernel uses it.
struct optional_key_parts {
    bool relations = false;  // relations between views of one buffer
    bool indices = false;    // which operands are only indices
    friend bool operator==(optional_key_parts, optional_key_parts) = default;
};

/// Everything but the program and the operands that decides the code.
struct environment_class {
    detail::target where;
    std::uint32_t architecture;
    detail::math_mode math;
    optional_key_parts optional_parts{};
};

}  // namespace ingot::runtime
