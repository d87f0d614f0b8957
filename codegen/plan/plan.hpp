// A plan: the steps to run for a key, immutable once made. Sizes are formulas over the extents of the key's axes, so
// one plan serves every size of its class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <ingot/core/dtype.hpp>
#include <ingot/core/key.hpp>

#include "codegen/plan/formula.hpp"
#include "codegen/plan/kernel_shape.hpp"

namespace ingot::codegen {

/// Stands for no axis, formula or temporary.
inline constexpr std::uint16_t no_number = 0xffff;

/// The source of one member of a kernel's argument struct.
enum class argument_kind : std::uint8_t {
    operand_pointer,    // buffer + offset of operand `index`
    output_pointer,     // of output `index`
    temporary_pointer,  // of temporary `index`
    scratch_pointer,    // the stream's zeroed scratch
    scalar_value,       // operand `index`, in its dtype
    generator_key,      // operand `index`: two 64-bit words, seed and call number
    generator_rounds,   // operand `index`: call number, then its seed's words for each round of Philox: 20 32-bit words
    ranged_key,         // operand `index`: generator_key, then the last of its integers
    ranged_rounds,      // operand `index`: generator_rounds, then the last of its integers
    generator_offset,   // operand `index`: 64-bit counter of its element 0
    pick_offset,        // operand `index`
    operand_stride,     // operand `index` (array, generator or pick) on axis `axis`, in elements
    output_stride,
    count,       // formula `index`
    divisor,     // formula `index` as a divisor (codegen/plan/divisor.hpp): {multiplier, shift}, `bytes` each
    processors,  // the number of multiprocessors or worker threads
    // For a library's result that is read through a view, a pick: `pick` is the operand that holds the pick.
    view_stride,   // the pick's stride on its axis `axis` (no_number: none), and formula `index` (no_number: none)
    view_pointer,  // temporary `index` at the pick's offset
    raw_count,     // operand `index`: its number of elements
    raw_axes,      // operand `index`: the number of axes, then most_raw_axes extents, then as many strides in bytes
    // The record for errors that a kernel finds (codegen/text/error_report.hpp).
    error_record,  // the record of the stream
    statement,     // the number by which the statement's expression is found
};
/// Whether extents, strides and the device decide the argument.
constexpr bool is_number(argument_kind k) {
    return k >= argument_kind::operand_stride && k <= argument_kind::view_stride;
}

/// The number of members, of `bytes` each, of an argument.
constexpr std::uint32_t members_of(argument_kind k) {
    switch (k) {
        case argument_kind::divisor:
        case argument_kind::generator_key:
            return 2;
        case argument_kind::ranged_key:
            return 3;
        case argument_kind::generator_rounds:
            return 11;
        case argument_kind::ranged_rounds:
            return 12;
        case argument_kind::raw_axes:
            return 1 + 2 * detail::most_raw_axes;
        default:
            return 1;
    }
}

struct argument {
    argument_kind kind;
    std::uint8_t bytes = 8;  // of the member: 4 or 8 where there is a choice; a scalar's own size
    std::uint16_t index = 0;
    std::uint16_t axis = 0;
    std::uint32_t at = 0;  // byte offset in the argument struct
    std::uint16_t pick = 0;
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
    /// Not 0: grid[1] is cut so that all blocks are at most this many for each multiprocessor; it stays at least 1.
    std::uint32_t resident_blocks = 0;
    /// Where more than an eighth of the places of these blocks would be idle in the end, up to `waves` times as many
    /// are tried: the first number of waves that leaves less idle is taken, else the one that leaves least.
    std::uint32_t waves = 1;
    std::uint32_t blocks_in_waves = 0;  // of a multiprocessor, in each such wave, from one on; 0: resident_blocks
    bool in_one_row = false;            // blocks take tickets as they begin, so all lie along grid[0]
    std::uint32_t threads = 256;
    std::uint32_t shared_bytes = 0;
    std::uint32_t cluster = 1;         // blocks of a cluster; grid[0] counts clusters
    bool programmatic_launch = false;  // it may be launched while the kernels before it on its stream end
    std::vector<formula> formulas;     // the formulas that `arguments` name, each once
    std::vector<argument> arguments;
    std::uint32_t argument_bytes = 0;
    // Scratch of this launch: bytes = scratch_before + scratch_bytes * value(scratch_count), zero before and after the
    // launch.
    std::uint32_t scratch_before = 0, scratch_bytes = 0;
    formula scratch_count;
    // For explain: operands, outputs and temporaries read and written (indices, equal views once), and the operations.
    std::vector<std::uint16_t> reads, writes, reads_temporaries, writes_temporaries;
    std::vector<codegen::work> work;
    bool in_order = false;    // host: its blocks run one after the other
    bool can_stream = false;  // host: a key with past_caches gives another kernel
    std::string pattern;      // "map", "row reduction", ...: what explain prints
    kernel_shape shape;       // on CUDA: how threads share the elements
    std::string reason;       // why this tile and launch shape

    /// The index of a formula in `formulas`, to which it is added where it is missing.
    std::uint16_t index_of(const formula& f) {
        const auto known = std::find(formulas.begin(), formulas.end(), f);
        const auto index = static_cast<std::uint16_t>(known - formulas.begin());
        if (known == formulas.end()) formulas.push_back(f);
        return index;
    }
    /// Takes what explain prints from the layout by which the kernel is written.
    template <class Layout>
    void describe(const Layout& layout) {
        pattern = layout.pattern();
        if constexpr (requires { layout.shape(); }) shape = layout.shape();
        reason = layout.reason();
    }
};

/// One axis of an array that a library takes.
struct library_axis {
    std::uint16_t extent;              // the key's axis of this extent
    std::uint16_t stride = no_number;  // the key's axis whose stride an operand or output has here; no_number: 1
    std::uint64_t inner = 0;           // the stride is multiplied by the extents of these axes
    bool moves = false;                // whether it has a stride that is not 0
};

/// An array as a library takes it: first the batch's axes, the same for all arrays of a call, then the axes of the
/// function itself.
struct library_array {
    argument_kind memory = argument_kind::temporary_pointer;  // or operand_pointer, output_pointer
    std::uint16_t index = 0;
    dtype type = dtype::b1;
    std::vector<library_axis> axes;
};

/// One call of a library's function, found in the runtime's registry by its name.
struct library_call {
    std::string function;
    std::uint16_t batch_axes = 0;
    std::vector<library_array> operands;
    std::vector<library_array> results;
    std::vector<std::uint32_t> attributes;  // words for the function itself
    std::uint16_t workspace = no_number;    // the temporary for its workspace
    std::vector<codegen::work> work;        // for explain
    std::string reason;
};

/// All bytes of a temporary, or of an output that lies in memory without gaps, set to one value.
struct fill {
    argument_kind memory = argument_kind::temporary_pointer;  // or output_pointer
    std::uint16_t index = 0;
    unsigned char value = 0;
};

using plan_step = std::variant<launch, library_call, fill>;

/// An array that one step writes and a later one reads; contiguous over the axes of `elements`. A workspace has as many
/// more bytes as the library asks for at its call, and lives for that call alone.
struct temporary {
    dtype type;
    formula elements;
    std::uint64_t bytes = 0;  // not 0: this many bytes, and no array
    bool workspace = false;
};

struct plan {
    std::string expression;     // one line, as the comment in the source has it
    std::string pattern;        // of the whole plan: "map", "row program", "scan", ...
    std::string missing;        // not empty: there is no kernel yet for this pattern; the text says which
    std::string kernel_prefix;  // of its kernels' names, where it is a part of another plan
    std::vector<plan_step> steps;
    std::vector<temporary> temporaries;
    std::string source;        // one module for all kernels
    bool contract = true;      // a * b + c may become a fused multiply-add
    bool approximate = false;  // CUDA: float32 division, roots and functions of the hardware, no subnormals
};

/// The kernels among a plan's steps, in order.
inline std::vector<std::reference_wrapper<const launch>> launches_of(const plan& p) {
    std::vector<std::reference_wrapper<const launch>> found;
    for (const plan_step& s : p.steps)
        if (const auto* l = std::get_if<launch>(&s)) found.emplace_back(*l);
    return found;
}

}  // namespace ingot::codegen
