// Launching: what a plan says symbolically becomes numbers here.
#include "runtime/launch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "codegen/divisor.hpp"
#include "runtime/counters.hpp"
#include "runtime/device_facts.hpp"
#include "runtime/driver.hpp"
#include "runtime/host_workers.hpp"
#include "runtime/interpreter.hpp"
#include "runtime/ordering.hpp"

namespace ingot::runtime {

using codegen::argument;
using codegen::argument_kind;
using codegen::formula;
using codegen::launch;

namespace {

/// How many points a room holds, each of which takes so many parts of it and stands for `side` rows.
std::uint64_t points_of_room(const formula& f, std::uint64_t parts, std::uint64_t side) {
    const std::uint64_t most = std::max<std::uint64_t>(1, f.room / parts), rows = most * side;
    if (f.threads == 0) return most;
    const std::uint64_t even = (rows < f.threads ? std::bit_floor(rows) : rows / f.threads * f.threads) / side;
    const std::uint64_t points = std::max<std::uint64_t>(1, even);
    // Where threads are to spare, a power of two of them works on a row.
    const auto busy = [&](std::uint64_t n) { return n * std::bit_floor(f.threads / n); };
    return rows >= f.threads || busy(points * side) > busy(rows) ? points : most;
}

/// A power of two from `fewest` to `most`, which are.
std::uint64_t power_below_root(std::uint64_t n, std::uint64_t fewest, std::uint64_t most) {
    std::uint64_t power = fewest;
    while (power < most && 4 * power * power <= n) power *= 2;
    return power;
}

/// How many of an axis' parts are in a strip of it, but for the last.
std::uint64_t parts_of_strip(const formula& f, std::uint64_t parts) {
    const std::uint64_t fewest = (parts + f.strip - 1) / f.strip;
    std::uint64_t best = (parts + fewest - 1) / fewest, turns = fewest, rows = f.threads / best;
    for (std::uint64_t strips = fewest + 1; f.threads != 0 && 2 * strips <= 3 * fewest; ++strips) {
        const std::uint64_t strip = (parts + strips - 1) / strips, at_once = f.threads / strip;
        if (turns * at_once > strips * rows) best = strip, turns = strips, rows = at_once;
    }
    return best;
}

}  // namespace

std::uint64_t value_of(const formula& f, std::span<const index_t> extents, std::uint32_t processors) {
    if ((f.axes | f.inner) == 0 && f.divide_by == 1) return 1;  // a grid's second and third dimension most often
    std::uint64_t outer = 1, inner = 1, side = 1;
    for (std::size_t a = 0; a < extents.size(); ++a) {
        if (f.each_stands_for >> a & 1u) side *= static_cast<std::uint64_t>(extents[a]);
        if (f.axes >> a & 1u) outer *= static_cast<std::uint64_t>(extents[a]);
        if (f.inner >> a & 1u) inner *= static_cast<std::uint64_t>(extents[a]);
    }
    if (f.strip == 0) inner += f.spare;
    const std::uint64_t parts = (inner + f.inner_divide - 1) / f.inner_divide;
    if (f.strip != 0 && parts != 0) {
        const std::uint64_t strip = parts_of_strip(f, parts);
        return f.strips ? outer * ((parts + strip - 1) / strip) : strip + f.spare;
    }
    if (f.room != 0 && parts != 0) {
        const std::uint64_t together = points_of_room(f, parts, side);
        if (f.of_room) return together;
        const std::uint64_t rooms = (outer + together - 1) / together;
        return (rooms + f.divide_by - 1) / f.divide_by;
    }
    std::uint64_t value = (outer * parts + f.divide_by - 1) / f.divide_by;
    if (f.per_processor != 0) value = std::min<std::uint64_t>(value, std::uint64_t{f.per_processor} * processors);
    if (f.evenly != 0 && value != 0) {
        const std::uint64_t most = f.fewest == 0 ? f.evenly : power_below_root(2 * value, f.fewest, f.evenly),
                            pieces = (value + most - 1) / most;
        value = f.strips ? pieces : (value + pieces - 1) / pieces;
    }
    return value;
}

std::array<std::uint64_t, 3> grid_of(const launch& step, std::span<const index_t> extents, std::uint32_t processors) {
    std::array<std::uint64_t, 3> grid{};
    for (std::size_t d = 0; d < grid.size(); ++d) grid[d] = value_of(step.grid[d], extents, processors);
    if (step.resident_blocks != 0 && grid[0] != 0) {
        std::uint64_t pieces = 0, busy = 0, of = 1;  // the greatest share of the places that have a block
        const auto try_waves = [&](std::uint64_t n, std::uint64_t resident) {
            if (8 * busy >= 7 * of) return;
            const std::uint64_t cut = std::max<std::uint64_t>(1, std::min(grid[1], n * resident / grid[0])),
                                blocks = grid[0] * cut, places = (blocks + resident - 1) / resident * resident;
            if (blocks * of >= busy * places) pieces = cut, busy = blocks, of = places;
        };
        const std::uint64_t resident = std::uint64_t{step.resident_blocks} * processors,
                            in_waves = std::uint64_t{step.blocks_in_waves} * processors;
        try_waves(1, resident);
        for (std::uint64_t n = in_waves != 0 ? 1 : 2; n <= step.waves; ++n)
            try_waves(n, in_waves != 0 ? in_waves : resident);
        grid[1] = pieces;
    }
    if (step.in_one_row) grid = {grid[0] * grid[1] * grid[2], 1, 1};
    return grid;
}

namespace {

/// Everything that arguments are made from.
struct sources {
    const executable& e;
    const classified& c;
    const statement& s;
    std::span<const buffer_ref> temporaries;
    const launch& step;
    void* scratch;
    std::uint32_t processors;

    std::byte* address(const void* base, index_t offset, dtype type) const {
        return static_cast<std::byte*>(const_cast<void*>(base)) + offset * static_cast<index_t>(detail::size_of(type));
    }
    const formula& formula_of(const argument& a) const { return step.formulas[a.index]; }
};

/// By its size, for a copy of any number of bytes takes longer than all the rest of an argument.
void put(std::byte* at, std::uint64_t value, std::uint8_t bytes) {
    const auto as = [at](auto number) { std::memcpy(at, &number, sizeof number); };
    switch (bytes) {
        case 8:
            return as(value);
        case 4:
            return as(static_cast<std::uint32_t>(value));
        case 2:
            return as(static_cast<std::uint16_t>(value));
        default:
            return as(static_cast<std::uint8_t>(value));
    }
}
void put(std::byte* at, const void* pointer) { std::memcpy(at, &pointer, sizeof pointer); }

void pack(const sources& from, const argument& a, std::byte* arguments) {
    std::byte* at = arguments + a.at;
    switch (a.kind) {
        case argument_kind::operand_pointer: {
            const operand& o = from.s.operands[a.index];
            return put(at, from.address(o.memory->data, o.where->offset, o.type));
        }
        case argument_kind::output_pointer: {
            const output& o = from.s.outputs[a.index];
            return put(at, from.address((*o.memory)->data, o.where->offset, o.type));
        }
        case argument_kind::temporary_pointer:
            return put(at, from.temporaries[a.index]->data);
        case argument_kind::scratch_pointer:
            return put(at, from.scratch);
        case argument_kind::scalar_value:
            return put(at, from.s.operands[a.index].bits[0], a.bytes);
        case argument_kind::generator_key:
            put(at, from.s.operands[a.index].bits[0], 8);
            return put(at + 8, from.s.operands[a.index].bits[1], 8);
        case argument_kind::generator_offset:
        case argument_kind::pick_offset:
            return put(at, static_cast<std::uint64_t>(from.s.operands[a.index].where->offset), a.bytes);
        case argument_kind::operand_stride:
            return put(at, static_cast<std::uint64_t>(from.c.strides_of(a.index)[a.axis]), a.bytes);
        case argument_kind::output_stride:
            return put(at, static_cast<std::uint64_t>(from.c.strides_of(from.s.operands.size() + a.index)[a.axis]),
                       a.bytes);
        case argument_kind::count:
            return put(at, value_of(from.formula_of(a), from.c.extents, from.processors), a.bytes);
        case argument_kind::divisor: {
            const codegen::divisor d =
                codegen::make_divisor(value_of(from.formula_of(a), from.c.extents, from.processors), 8 * a.bytes);
            put(at, d.multiplier, a.bytes);
            return put(at + a.bytes, d.shift, a.bytes);
        }
        case argument_kind::processors:
            return put(at, from.processors, a.bytes);
    }
}

kept_launch keep(const launch& step, const std::array<std::uint64_t, 3>& grid, const std::byte* arguments) {
    kept_launch kept{grid, {arguments, arguments + step.argument_bytes}, {}};
    std::ranges::copy_if(step.arguments, std::back_inserter(kept.written),
                         [](const argument& a) { return !codegen::is_number(a.kind); });
    return kept;
}

void run_host(host_kernel kernel, const std::byte* arguments, std::uint64_t blocks) {
    run_on_workers(blocks, [&](std::size_t begin, std::size_t end) { kernel(arguments, begin, end); });
}

#ifdef INGOT_HAS_CUDA_HEADERS
void run_cuda(const loaded_kernel& kernel, const launch& step, const std::array<std::uint64_t, 3>& grid,
              void* arguments, const stream_state& stream) {
    void* parameters[] = {arguments};
    const auto status = [&] {
        const auto function = static_cast<CUfunction>(kernel.on_gpu(stream.device.index(), step));
        const auto native = reinterpret_cast<CUstream>(stream.native);
        const auto x = static_cast<unsigned>(grid[0] * step.cluster), y = static_cast<unsigned>(grid[1]),
                   z = static_cast<unsigned>(grid[2]);
        CUlaunchAttribute attributes[2]{};
        unsigned n = 0;
        if (step.waits_itself) {  // its blocks are on their way while the kernel before it ends
            attributes[n].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            attributes[n++].value.programmaticStreamSerializationAllowed = 1;
        }
        if (step.cluster > 1) {
            attributes[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attributes[n++].value.clusterDim = {step.cluster, 1, 1};
        }
        if (n == 0)
            return driver()->cuLaunchKernel(function, x, y, z, step.threads, 1, 1, step.shared_bytes, native,
                                            parameters, nullptr);
        const CUlaunchConfig config{x, y, z, step.threads, 1, 1, step.shared_bytes, native, attributes, n};
        return driver()->cuLaunchKernelEx(&config, function, parameters, nullptr);
    }();
    check(status, "launch");
}
#endif

}  // namespace

void run_interpreted(const executable& e, const classified& c, const statement& s) {
    std::vector<bound_operand> operands;
    std::vector<bound_output> outputs;
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        operands.push_back({o.memory ? o.memory->data : nullptr,
                            {o.bits[0], o.bits[1]},
                            o.where ? o.where->offset : 0,
                            c.strides_of(i)});
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        auto* base = static_cast<std::byte*>((*o.memory)->data);
        outputs.push_back({base + o.where->offset * static_cast<index_t>(detail::size_of(o.type)),
                           c.strides_of(s.operands.size() + k)});
    }
    interpret(e.key, e.graph, operands, outputs, c.extents);
    add(counter::interpreter_runs);
}

void order(const statement& s, const stream_state& stream) {
    for (const operand& o : s.operands)
        if (o.memory) order_read(const_cast<buffer&>(*o.memory), stream);
    for (const output& o : s.outputs) order_write(**o.memory, stream);
}

void run(const executable& e, const classified& c, const statement& s, stream_state& stream,
         std::vector<kept_launch>* kept) {
    if (e.interpreted) return run_interpreted(e, c, s);
    const bool again = kept != nullptr && kept->size() == e.plan.steps.size();
    if (kept != nullptr && !again) kept->clear();

    const std::uint32_t processors = processors_of(stream.device);
    std::vector<buffer_ref> temporaries;
    for (const codegen::temporary& t : e.plan.temporaries) {
        temporaries.push_back(allocate_buffer(value_of(t.elements, c.extents, processors) * detail::size_of(t.type),
                                              stream.device, stream));
        order_write(*temporaries.back(), stream);
    }

    constexpr std::size_t small_arguments = 1024;
    alignas(16) std::byte room[small_arguments];
    std::vector<std::byte> large;
    stream.backend->bind_thread();
    for (std::size_t i = 0; i < e.plan.steps.size(); ++i) {
        const launch& step = e.plan.steps[i];
        kept_launch* const known = again ? &(*kept)[i] : nullptr;
        std::byte* arguments = known ? known->arguments.data() : room;
        if (!known && step.argument_bytes > small_arguments) {
            large.resize(step.argument_bytes);
            arguments = large.data();
        }
        void* scratch = nullptr;
        if (step.scratch_bytes != 0)
            scratch = zeroed_scratch(
                stream, step.scratch_before + step.scratch_bytes * value_of(step.scratch_count, c.extents, processors));
        const sources from{e, c, s, temporaries, step, scratch, processors};
        for (const argument& a : known ? known->written : step.arguments) pack(from, a, arguments);
        const std::array<std::uint64_t, 3> grid = known ? known->grid : grid_of(step, c.extents, processors);
        if (kept != nullptr && !known) kept->push_back(keep(step, grid, arguments));
        if (grid[0] * grid[1] * grid[2] == 0) continue;  // it would write a temporary without elements
#ifdef INGOT_HAS_CUDA_HEADERS
        if (stream.device.is_cuda())
            run_cuda(e.kernels[i], step, grid, arguments, stream);
        else
#endif
            run_host(e.kernels[i].on_host(), arguments, grid[0] * grid[1] * grid[2]);
        add(counter::kernel_launches);
    }
}

}  // namespace ingot::runtime
