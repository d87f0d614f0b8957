// A plan: what to run for a key, immutable once made. Sizes appear only as formulas over the extents of the key's axes,
// so one plan serves every size of its class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ingot/dtype.hpp>
#include <ingot/key.hpp>

namespace ingot::codegen {

/// ceil(product of the extents of `axes` * ceil(product of the extents of `inner` / inner_divide) / divide_by), at most
/// `per_processor` for each multiprocessor (0: no limit). Products over no axes are 1. Where `evenly` is not 0 the
/// value is cut into as few even pieces of at most so many as can be, and the formula stands for the size of one, or
/// with `strips` for their number; where `fewest` is not 0 either, of at most the root of twice the value, a power of
/// two from `fewest` to `evenly`. Where
/// `room` is not 0 the points of `axes` are packed, as many as fit a room of that size where each takes the inner part
/// of it, one at least; the formula stands for the number of rooms, divided. Where `threads` is not 0 they are no more
/// than so many threads share evenly: a multiple of these, or a power of two (`each_stands_for` axes: of as many rows a
/// point). With `of_room` the formula stands for the points of one room. Where `strip` is not 0 the inner pieces are
/// cut into as few even strips of at most so many as can be; the formula stands for the pieces of one and `spare` more,
/// or with `strips` for all strips; where `threads` of a block
/// have pieces of neighbouring rows, into more strips if that leaves fewer of them idle. Without strips the inner part
/// has `spare` points more.
struct formula {
    std::uint64_t axes = 0;  // bit a: axis a of the key
    std::uint32_t divide_by = 1;
    std::uint32_t per_processor = 0;
    std::uint64_t inner = 0;  // axes cut into pieces each for itself: a row's vectors, its chunks
    std::uint32_t inner_divide = 1;
    std::uint32_t evenly = 0;
    std::uint32_t fewest = 0;
    std::uint32_t room = 0;
    std::uint32_t threads = 0;
    std::uint64_t each_stands_for = 0;
    bool of_room = false;
    std::uint32_t strip = 0;
    std::uint32_t spare = 0;
    bool strips = false;
};

/// Where one member of a kernel's argument struct comes from.
enum class argument_kind : std::uint8_t {
    operand_pointer,    // buffer + offset of operand `index`
    output_pointer,     // of output `index`
    temporary_pointer,  // of temporary `index`
    scratch_pointer,    // the stream's zeroed scratch
    scalar_value,       // operand `index`, in its dtype
    generator_key,      // operand `index`: two 64-bit words, seed and call number
    generator_offset,   // operand `index`: 64-bit counter of its element 0
    pick_offset,        // operand `index`
    operand_stride,     // operand `index` (array, generator or pick) on axis `axis`, in elements
    output_stride,
    count,       // formula `index`
    divisor,     // formula `index` as a divisor (codegen/divisor.hpp): {multiplier, shift}, `bytes` each
    processors,  // number of multiprocessors or worker threads
};
/// Whether extents, strides and the device decide it.
constexpr bool is_number(argument_kind k) { return k >= argument_kind::operand_stride; }

struct argument {
    argument_kind kind;
    std::uint8_t bytes = 8;  // of the member; 4 or 8 where there is a choice
    std::uint16_t index = 0;
    std::uint16_t axis = 0;
    std::uint32_t at = 0;  // byte offset in the argument struct
};

/// Operations done once for every point of these axes.
struct work {
    std::uint64_t axes = 0;
    std::uint64_t flops = 0;
};

/// One kernel launch. CUDA: `extern "C" __global__ void name(const __grid_constant__ arguments)`. Host: `extern "C"
/// void name(const arguments*, unsigned long long begin, unsigned long long end)` over the linear block numbers [begin,
/// end).
struct launch {
    std::string kernel;
    formula grid[3];
    /// Not 0: grid[1] is cut until all blocks together are at most so many for each multiprocessor, or it is 1.
    std::uint32_t resident_blocks = 0;
    /// Where so many leave an eighth of the multiprocessors idle in the end, two times as many or more, up to so many
    /// times: the first that leaves less idle, or the one that leaves least.
    std::uint32_t waves = 1;
    std::uint32_t blocks_in_waves = 0;  // of a multiprocessor, in the first of these already, where not 0
    bool in_one_row = false;            // the blocks are numbered by who comes first: all of them along grid[0]
    std::uint32_t threads = 256;
    std::uint32_t shared_bytes = 0;
    std::uint32_t cluster = 1;      // blocks of one; grid[0] counts clusters
    bool waits_itself = false;      // for the kernels before it on its stream: it may be launched while these end
    std::vector<formula> formulas;  // those that `arguments` name
    std::vector<argument> arguments;
    std::uint32_t argument_bytes = 0;
    // Scratch of this launch: bytes = scratch_before + scratch_bytes * value(scratch_count), zero on entry and left
    // zero.
    std::uint32_t scratch_before = 0, scratch_bytes = 0;
    formula scratch_count;
    // For explain: operands, outputs and temporaries read and written (indices, equal views once), and the operations.
    std::vector<std::uint16_t> reads, writes, reads_temporaries, writes_temporaries;
    std::vector<codegen::work> work;
    std::string pattern;  // "map", "row reduction", ...: what explain prints
    std::string reason;   // why this tile and launch shape
};

/// An array that one step writes and a later one reads; contiguous over `axes`.
struct temporary {
    dtype type;
    formula elements;
};

struct plan {
    std::string expression;  // one line, as the comment in the source has it
    std::string pattern;     // of the whole: "map", "row program", "scan", ...
    std::string missing;     // not empty: the pattern has a plan and no kernel yet; the text says which
    std::vector<launch> steps;
    std::vector<temporary> temporaries;
    std::string source;        // one module for all steps
    bool contract = true;      // a * b + c may become a fused multiply-add
    bool approximate = false;  // CUDA: float32 division, roots and functions as the hardware has them, no subnormals
};

}  // namespace ingot::codegen
