// The key: everything that decides the code of a kernel, and nothing else. It is a flat sequence of 32-bit words. Every
// evaluation writes it, so its layout is fast to write; keys are compared in full. It is the lowerer's only input.
//
//   header      version | target | math | wide index | past caches; architecture | number of outputs;
//               number of program words; of operands; of axes
//   program     postfix words (program.hpp), one tree for each output, in order
//   axes        two words each, after joint dimension collapse: first the outputs' axes, outermost first, then the axes
//               that each binder binds, in program order
//   operands    for each: two words of head, then its stride class on every axis, two bits each
//   outputs     encoded as operands are
//   sections    optional, in this order; each begins with a word: its tag and the number of words that follow
//     text        for each distinct operand that is a text: the dtypes of its placeholders, a byte each in two words;
//                 the number of characters; the characters
//     relations   for pairs of operands that view one buffer a few elements apart: operand | base << 16; then the
//                 operand's distance from the base on every axis in steps, a signed byte each. Where all binders are
//                 shifts (roll, pad), each pick comes first, as its own base: on an axis of the outputs, the steps of
//                 its shift; on an axis that it binds, 1 + the axis of the outputs along which it is read
//     iteration   for a statement on a GPU that is repeated: number of repetitions | an operand that views the stepped
//                 array << 16; then the result's distance from that operand in steps, as in a relation
//
// Extents, strides, offsets, pointers and scalars are arguments of the kernel; the key has none of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ingot/core/program.hpp>

namespace ingot::detail {

inline constexpr std::uint32_t key_version = 3;

enum class target : std::uint8_t { host, cuda };
enum class math_mode : std::uint8_t { standard, strict, fast, tf32 };

/// A `raw` operand is an array that a user's text reads at any index; it has no axes, only an element count.
enum class operand_kind : std::uint8_t { array, scalar, generator, pick, lazy, text, raw };

/// How an operand moves along an axis: not at all, by one element, or by a run-time stride.
enum class stride_class : std::uint8_t { broadcast, unit, strided };

/// Header of a key.
struct key_header {
    detail::target where = target::host;
    math_mode math = math_mode::standard;
    bool wide_index = false;         // a linear index over some kernel space needs 64 bits
    bool past_caches = false;        // on the host: large results are written past the caches (below)
    std::uint32_t architecture = 0;  // 90 for sm_90; 0 on the host
    std::uint32_t outputs = 0, program = 0, operands = 0, axes = 0;
};
inline constexpr std::uint32_t key_header_words = 5;
/// Classification leaves `past_caches` false. The launch sets it, and so has a second kernel made, where results have
/// this many bytes: with the operands, more than a last-level cache holds.
inline constexpr std::uint64_t past_caches_bytes = 64u << 20;

constexpr void write_header(const key_header& h, std::uint32_t* out) {
    out[0] = key_version | static_cast<std::uint32_t>(h.where) << 8 | static_cast<std::uint32_t>(h.math) << 12 |
             static_cast<std::uint32_t>(h.wide_index) << 16 | static_cast<std::uint32_t>(h.past_caches) << 17;
    out[1] = h.architecture | h.outputs << 16;
    out[2] = h.program;
    out[3] = h.operands;
    out[4] = h.axes;
}

/// One axis, in two words. A field that does not apply to its axis is 0.
struct axis_class {
    std::uint16_t owner = 0;        // 0: an axis of the outputs; b + 1: bound by binder b of the program
    std::uint8_t partner = 0;       // 1 + an earlier axis of this extent that the binder's result is broadcast along
    std::uint8_t length_class = 0;  // bound axes only (below)
    std::uint8_t subclass = 0;      // bound axes only: the part of its length class, from 1
    std::uint8_t extent = 0;        // short axes that schedules unroll
    std::uint16_t flags = 0;        // axis_flags; an axis bound by a library has short_inner alone

    constexpr void write(std::uint32_t* to) const {
        to[0] = owner | static_cast<std::uint32_t>(partner) << 16 | static_cast<std::uint32_t>(length_class) << 24;
        to[1] = subclass | static_cast<std::uint32_t>(extent) << 8 | static_cast<std::uint32_t>(flags) << 16;
    }
    static constexpr axis_class read(const std::uint32_t* from) {
        return {static_cast<std::uint16_t>(from[0]),      static_cast<std::uint8_t>(from[0] >> 16),
                static_cast<std::uint8_t>(from[0] >> 24), static_cast<std::uint8_t>(from[1]),
                static_cast<std::uint8_t>(from[1] >> 8),  static_cast<std::uint16_t>(from[1] >> 16)};
    }
    friend bool operator==(const axis_class&, const axis_class&) = default;
};
inline constexpr std::uint32_t axis_words = 2;

/// Says whether an operand is the index of a gather and nothing else: 1 + that gather's index_mode. It is set for
/// integer arrays, where a schedule asks for it.
enum class index_use : std::uint8_t { none, check, wrap, clip, unchecked };

/// Head of an operand or output, two words with bits to spare.
struct operand_head {
    operand_kind kind = operand_kind::array;
    dtype type = dtype::b1;
    bool vector = false;   // pointer and outer byte strides are multiples of 16
    bool wide = false;     // byte offsets reach beyond 31 bits
    bool aliased = false;  // operand: shares bytes with an output, whose view is then the same, element for element
    bool dense = false;    // beside short rows: one gapless run along the axes it moves on, from a multiple of 16 bytes
    // With a library call: the operand lies as the function reads it, or the output as the function writes its result.
    bool suits_library = false;
    bool repeats = false;  // operand beneath a fold: several indices read one element, as windows do
    exponent_class exponent = exponent_class::none;
    index_use index = index_use::none;
    // For an output of integers to which one scalar is added at scattered indices: the first k of 8, 10, 12 and 14 for
    // which its buffer has at most 2^k elements; else 0.
    std::uint8_t few_places = 0;
    std::uint16_t same_as = 0;  // operand: number of the first operand that is the same view, scalar, generator or text

    /// The head as one integer, the second word in the high half.
    constexpr std::uint64_t encode() const {
        return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(type) << 8 |
               static_cast<std::uint64_t>(exponent) << 16 | static_cast<std::uint64_t>(vector) << 24 |
               static_cast<std::uint64_t>(wide) << 25 | static_cast<std::uint64_t>(aliased) << 26 |
               static_cast<std::uint64_t>(dense) << 27 | static_cast<std::uint64_t>(suits_library) << 28 |
               static_cast<std::uint64_t>(repeats) << 29 | static_cast<std::uint64_t>(index) << 32 |
               static_cast<std::uint64_t>(few_places) << 36 | static_cast<std::uint64_t>(same_as) << 48;
    }
    static constexpr operand_head decode(std::uint64_t w) {
        const auto flag = [w](int bit) { return (w >> bit & 1u) != 0; };
        return {static_cast<operand_kind>(w & 0xffu),
                static_cast<dtype>(w >> 8 & 0xffu),
                flag(24),
                flag(25),
                flag(26),
                flag(27),
                flag(28),
                flag(29),
                static_cast<exponent_class>(w >> 16 & 0xffu),
                static_cast<index_use>(w >> 32 & 15u),
                static_cast<std::uint8_t>(w >> 36 & 15u),
                static_cast<std::uint16_t>(w >> 48)};
    }
    constexpr void write(std::uint32_t* to) const {
        const std::uint64_t w = encode();
        to[0] = static_cast<std::uint32_t>(w);
        to[1] = static_cast<std::uint32_t>(w >> 32);
    }
    friend bool operator==(const operand_head&, const operand_head&) = default;
};
inline constexpr std::uint32_t head_words = 2;

inline constexpr std::uint32_t stride_classes_per_word = 16;
constexpr std::uint32_t stride_words(std::uint32_t axes) {
    return (axes + stride_classes_per_word - 1) / stride_classes_per_word;
}

/// The optional sections behind the outputs.
enum class key_section : std::uint8_t { text = 1, relations, iteration };
constexpr std::uint32_t section_head(key_section tag, std::size_t words) {
    return static_cast<std::uint32_t>(tag) | static_cast<std::uint32_t>(words) << 8;
}

/// Views of one buffer are related where they have one dtype, move alike and begin at most this many steps apart: along
/// the axis of their shortest stride, and along every other one. Each distance is a kernel of its own, so few views
/// that lie further apart are not related; the many views of a filter are.
struct step_limits {
    std::int64_t inner = 8, outer = 4;
};
inline constexpr std::int64_t most_steps = 16;
constexpr step_limits step_limits_of(std::size_t operands) {
    constexpr std::size_t many = 7;
    return operands < many ? step_limits{} : step_limits{most_steps, most_steps};
}
inline constexpr std::uint32_t steps_per_word = 4;
constexpr std::uint32_t relation_words(std::uint32_t axes) { return 1 + (axes + steps_per_word - 1) / steps_per_word; }

/// The most steps of an iteration that one kernel does.
inline constexpr std::uint32_t most_iterated_steps = 4;

/// Facts about the outputs' axes that schedules ask for. An axis that a library binds may become the innermost of a
/// kernel's outputs; its one flag is short_inner, for it and the axes of its library before it.
namespace axis_flags {
/// Innermost axis: it is shorter than 32 and the rank is above 1, so threads run over the linear index.
inline constexpr std::uint16_t short_inner = 1;
/// Outermost axis: a program with a reduction or a scan has fewer than 264 results, so rows alone do not fill a GPU.
inline constexpr std::uint16_t few_rows = 2;
/// Innermost axis: every array that moves along a bound axis is one gapless run of memory from a multiple of 16 bytes,
/// in which the bound axis is next to this one. The flags tell whether this axis is at most 256 long or longer, and,
/// beside arrays of 8-byte elements, whether it is 65 to 256 long.
inline constexpr std::uint16_t contiguous_columns = 4;
inline constexpr std::uint16_t wide_contiguous_columns = 8;
inline constexpr std::uint16_t middling_contiguous_columns = 16;
/// Innermost axis on a GPU, where the only other axes are rows across memory whose results are broadcast back along
/// them: columns of the maximum length of their class, beyond 1024, have at most 2^22 or 2^23 elements.
inline constexpr std::uint16_t few_columns = 32;
inline constexpr std::uint16_t several_columns = 64;
/// As few_columns, but with any other axes and for columns of 4097 to 16384: the extent is a multiple of eight, so each
/// row of contiguous four-byte elements is whole sectors of memory.
inline constexpr std::uint16_t whole_sectors = 128;
/// Last axis that a reduction binds, on a GPU: the reduction has at least 2^15 results, so a thread for each fills the
/// GPU; and no array beneath moves along all axes of the folded value, so each array is read repeatedly.
inline constexpr std::uint16_t reads_again = 256;
/// An axis shorter than 32 that has unit stride in an array which is strided along the innermost axis.
inline constexpr std::uint16_t short_side = 512;
inline constexpr std::uint16_t all = 1023;  // flags
inline constexpr std::int64_t widest_contiguous = 256, widest_narrow_contiguous = 64;
constexpr std::uint16_t of_contiguous(std::int64_t inner, bool eight_bytes) {
    return inner > widest_contiguous                         ? wide_contiguous_columns
           : eight_bytes && inner > widest_narrow_contiguous ? contiguous_columns | middling_contiguous_columns
                                                             : contiguous_columns;
}
/// few_columns or several_columns for `inner` columns of this length class, if there are no others; else 0.
constexpr std::uint16_t of_columns(std::uint8_t length_class, std::int64_t inner) {
    constexpr std::uint8_t longest_of_any_number = 6;
    constexpr std::int64_t few_elements = std::int64_t{1} << 22;
    const std::int64_t most = few_elements >> (length_class + 4);
    if (length_class <= longest_of_any_number || inner > 2 * most) return 0;
    return inner <= most ? few_columns : several_columns;
}
}  // namespace axis_flags

/// Length classes. The class of a binder's innermost bound axis is that of the product of all axes it binds: 1 up to
/// 32, then k up to 2^(k + 4), and `looped` beyond 2^19. On a GPU, rows whose results are broadcast back along them are
/// `looped` beyond 2^18, unless they lie along memory and no array has 8-byte elements.
///
/// On a GPU some classes have parts, the subclasses:
///   class 1, for rows that are scanned, lie across memory or form no run with the rows beside: k up to 2^(k - 1);
///   some classes of rows whose results are broadcast back along them: 1 up to three quarters of the class, 2 beyond.
///
/// On a GPU the key has the exact extent of a short innermost output axis (1) beside rows across memory without a
/// subclass whose results are broadcast back along them; (2) beside a scan of columns that have at most 2^15 elements
/// for one index on each other axis, at the maximum length of their class; (3) beside axes with `reads_again`, which
/// have an exact extent too: up to 8, 12, 16 ... 32.
namespace length_class {
/// Beyond 2^18: only kernels that hold rows distinguish longer ones.
inline constexpr std::uint8_t very_long = 15;
inline constexpr std::uint8_t looped = 16;
/// Rows of at most 128 elements: a block stages many of them in shared memory.
inline constexpr std::uint8_t longest_short = 3;
constexpr std::uint8_t of_length(std::int64_t n) {
    std::uint8_t b = 1;
    for (std::int64_t top = 32; n > top && b < looped; top *= 2) ++b;
    return b;
}
/// Columns of these length classes are held by many blocks, where a row of them is whole sectors.
constexpr bool want_many_blocks(std::uint8_t length_class) { return length_class == 9 || length_class == 10; }
/// Whether a block holds `inner` whole columns of a length class, along which a scan goes.
constexpr bool is_whole(std::uint8_t length_class, std::int64_t inner) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 15;
    return inner << (length_class + 4) <= most_elements;
}
/// The class of rows whose results are broadcast back along them, on a GPU. `held_longest`: the rows lie along memory
/// and no array has 8-byte elements.
struct row_class {
    std::uint8_t length_class, subclass;
    friend constexpr bool operator==(row_class, row_class) = default;
};
constexpr row_class of_row(std::int64_t n, bool held_longest) {
    const std::uint8_t b = of_length(n);
    if (b >= very_long) return {held_longest ? b : looped, 0};
    // Rows that fill half of these classes lose most. Parts for all quarters would make too many kernels.
    constexpr std::uint8_t losing_least = 9;
    if (b != 4 && (b < 7 || (b == losing_least && held_longest))) return {b, 0};
    const bool fills_quarter = n > std::int64_t{12} << b;
    return {b, static_cast<std::uint8_t>(fills_quarter ? 2 : 1)};
}
/// The least k with n <= 2^k.
constexpr std::uint8_t power_of(std::int64_t n) {
    std::uint8_t k = 0;
    while (n > std::int64_t{1} << k) ++k;
    return k;
}
}  // namespace length_class

}  // namespace ingot::detail
