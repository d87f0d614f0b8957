// The key: all that decides the code of a kernel, and nothing else. It is a flat sequence of 32-bit words, written on
// every evaluation (so it is laid out to be written fast) and compared in full; the lowerer gets it and nothing
// besides.
//
//   header      version | target | math | checks | wide index; architecture | number of outputs;
//               number of program words; of operands; of axes
//   program     postfix words (program.hpp), one tree for each output, in order
//   axes        one word each, after joint dimension collapse: first the outputs' axes, outermost first, then the axes
//               that each binder binds, in program order
//   operands    for each: a head word, then its stride class on every axis, two bits each
//   outputs     the same
//   texts       of each operand that is a text and not the same as an earlier one: its length, its characters
//
// Extents, strides, offsets, pointers and scalars are arguments of the kernel: none of them is here.
#pragma once

#include <cstdint>

#include <ingot/program.hpp>

namespace ingot::detail {

inline constexpr std::uint32_t key_version = 2;

enum class target : std::uint8_t { host, cuda };
enum class math_mode : std::uint8_t { standard, strict, fast, tf32 };

enum class operand_kind : std::uint8_t { array, scalar, generator, pick, lazy, text };

/// How an operand moves along an axis: not at all, by one element, or by a run-time stride.
enum class stride_class : std::uint8_t { broadcast, unit, strided };

/// Header of a key.
struct key_header {
    detail::target where = target::host;
    math_mode math = math_mode::standard;
    bool wide_index = false;         // a linear index over some kernel space needs 64 bits
    std::uint32_t architecture = 0;  // 90 for sm_90; 0 on the host
    std::uint32_t outputs = 0, program = 0, operands = 0, axes = 0;
};
inline constexpr std::uint32_t key_header_words = 5;

constexpr void write_header(const key_header& h, std::uint32_t* out) {
    out[0] = key_version | static_cast<std::uint32_t>(h.where) << 8 | static_cast<std::uint32_t>(h.math) << 12 |
             static_cast<std::uint32_t>(h.wide_index) << 16;
    out[1] = h.architecture | h.outputs << 16;
    out[2] = h.program;
    out[3] = h.operands;
    out[4] = h.axes;
}

/// One axis. `owner` is 0 for the outputs' space and b + 1 for the axes bound by binder b of the program. `partner` is
/// 1 + an earlier axis of the same extent along which the binder's result is broadcast back (softmax's row), or 0.
/// `bucket` is a length class where a schedule wants one (see `bucket` below), else 0; `fine` a finer one, as there.
struct axis_class {
    std::uint8_t owner = 0;
    std::uint8_t partner = 0;
    std::uint8_t bucket = 0;
    std::uint8_t fine = 0;
    constexpr std::uint32_t encode() const {
        return owner | static_cast<std::uint32_t>(partner) << 8 | static_cast<std::uint32_t>(bucket) << 16 |
               static_cast<std::uint32_t>(fine) << 24;
    }
    static constexpr axis_class decode(std::uint32_t w) {
        return {static_cast<std::uint8_t>(w), static_cast<std::uint8_t>(w >> 8), static_cast<std::uint8_t>(w >> 16),
                static_cast<std::uint8_t>(w >> 24)};
    }
    friend bool operator==(const axis_class&, const axis_class&) = default;
};

/// Head word of an operand or output.
struct operand_head {
    operand_kind kind = operand_kind::array;
    dtype type = dtype::b1;
    bool vector = false;   // pointer and outer byte strides are multiples of 16
    bool wide = false;     // byte offsets reach beyond 31 bits
    bool aliased = false;  // operand: shares bytes with an output (only the same view, element for element)
    bool dense = false;    // beside short rows: along the axes it moves on one gapless run, from a multiple of 16 bytes
    exponent_class exponent = exponent_class::none;
    std::uint16_t same_as = 0;  // operand: number of the first operand that is the same view, scalar, generator or text
    constexpr std::uint32_t encode() const {
        return static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(type) << 4 |
               static_cast<std::uint32_t>(vector) << 8 | static_cast<std::uint32_t>(wide) << 9 |
               static_cast<std::uint32_t>(aliased) << 10 | static_cast<std::uint32_t>(dense) << 11 |
               static_cast<std::uint32_t>(exponent) << 12 | static_cast<std::uint32_t>(same_as) << 16;
    }
    static constexpr operand_head decode(std::uint32_t w) {
        return {static_cast<operand_kind>(w & 15u),
                static_cast<dtype>(w >> 4 & 15u),
                (w >> 8 & 1u) != 0,
                (w >> 9 & 1u) != 0,
                (w >> 10 & 1u) != 0,
                (w >> 11 & 1u) != 0,
                static_cast<exponent_class>(w >> 12 & 15u),
                static_cast<std::uint16_t>(w >> 16)};
    }
};

inline constexpr std::uint32_t stride_classes_per_word = 16;
constexpr std::uint32_t stride_words(std::uint32_t axes) {
    return (axes + stride_classes_per_word - 1) / stride_classes_per_word;
}

/// Length classes, and what else of an axis' extent decides between schedules.
///
/// A binder's innermost bound axis stands for the product of all axes it binds: 1 up to 32, then k for up to 2^(k + 4),
/// and `looped` beyond 2^19. The outputs' axes have flags:
///   short_inner    the innermost: it is shorter than 32 and the rank above 1 (threads then run over the linear index)
///   few_rows       the outermost: a program with a reduction or a scan has fewer than 264 results (rows alone do not
///                  fill a GPU)
///   ..gapless..    the innermost: every array that moves along a bound axis is one run of memory without gaps, from a
///                  multiple of 16 bytes, with that axis next to this one; at most 256 long or longer, beside arrays of
///                  8-byte elements also whether it is 65 to 256 long
///   .._columns     the innermost, beside rows across memory whose results are wanted along them and nothing else, on a
///                  GPU: columns as long as their class, beyond 1024, allows are at most 2^22 or 2^23 elements
///   whole_sectors  the same beside any other axes, of columns of 4097 to 16384: it is a multiple of eight, so each row
///                  of gapless four-byte elements is whole sectors of memory
///
/// `fine` says more of some axes, on a GPU:
///   of a short inner axis its extent, beside rows across memory whose results are wanted along them, and beside a scan
///   of columns, which for all of a place of the other axes, as long as their class allows, are at most 2^15 elements;
///   of an axis that a reduction binds across memory beside no short one, of the first length class, the least k with
///   extent <= 2^(k - 1);
///   of rows whose results are wanted along them, in some classes, 1 up to three quarters of it, then 2.
///
/// Such rows are `looped` beyond 2^18 on a GPU, but along memory and without arrays of 8-byte elements.
namespace bucket {
inline constexpr std::uint8_t short_inner = 1;
inline constexpr std::uint8_t few_rows = 2;
inline constexpr std::uint8_t gapless_columns = 4;
inline constexpr std::uint8_t wide_gapless_columns = 8;
inline constexpr std::uint8_t middling_gapless_columns = 16;
inline constexpr std::uint8_t few_columns = 32;
inline constexpr std::uint8_t several_columns = 64;
inline constexpr std::uint8_t whole_sectors = 128;
inline constexpr std::uint8_t flags = 255;  // all of these
inline constexpr std::int64_t widest_gapless = 256, widest_narrow_gapless = 64;
constexpr std::uint8_t of_gapless(std::int64_t inner, bool eight_bytes) {
    return inner > widest_gapless                         ? wide_gapless_columns
           : eight_bytes && inner > widest_narrow_gapless ? gapless_columns | middling_gapless_columns
                                                          : gapless_columns;
}
/// Beyond 2^18: only what holds rows asks how much longer they are.
inline constexpr std::uint8_t very_long = 15;
inline constexpr std::uint8_t looped = 16;
/// Rows of at most 128 elements: a block stages many of them in shared memory.
inline constexpr std::uint8_t longest_short = 3;
constexpr std::uint8_t of_length(std::int64_t n) {
    std::uint8_t b = 1;
    for (std::int64_t top = 32; n > top && b < looped; top *= 2) ++b;
    return b;
}
/// Of columns of a length class, as many as `inner`, which are all that there is.
constexpr std::uint8_t of_columns(std::uint8_t length_class, std::int64_t inner) {
    constexpr std::uint8_t longest_of_any_number = 6;
    constexpr std::int64_t few_elements = std::int64_t{1} << 22;
    const std::int64_t most = few_elements >> (length_class + 4);
    if (length_class <= longest_of_any_number || inner > 2 * most) return 0;
    return inner <= most ? few_columns : several_columns;
}
/// Columns of a length class that many blocks hold where a row of them is whole sectors.
constexpr bool want_many_blocks(std::uint8_t length_class) { return length_class == 9 || length_class == 10; }
/// Whether a block has columns of a length class whole, as many as `inner`, that a scan goes along.
constexpr bool is_whole(std::uint8_t length_class, std::int64_t inner) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 15;
    return inner << (length_class + 4) <= most_elements;
}
/// Of rows whose results are wanted along them, on a GPU: the class, and `fine`. `held_longest`: along memory, and
/// without arrays of 8-byte elements.
struct row_class {
    std::uint8_t bucket, fine;
    friend constexpr bool operator==(row_class, row_class) = default;
};
constexpr row_class of_row(std::int64_t n, bool held_longest) {
    const std::uint8_t b = of_length(n);
    if (b >= very_long) return {held_longest ? b : looped, 0};
    // Where rows that fill half of their class lose most: with all quarters there would be too many kernels.
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
}  // namespace bucket

}  // namespace ingot::detail
