// Launching: turns a plan's symbolic arguments and grids into numbers.
#include "runtime/front/launch.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <ingot/core/philox.hpp>

#include "codegen/plan/divisor.hpp"
#include "runtime/device/device_facts.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/host_workers.hpp"
#include "runtime/device/nvtx.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/plan_steps.hpp"
#include "runtime/kernels/error_record.hpp"
#include "runtime/kernels/interpreter.hpp"
#include "runtime/system/counters.hpp"
#include "runtime/system/small_array.hpp"

namespace ingot::runtime {

using codegen::argument;
using codegen::argument_kind;
using codegen::launch;

std::array<std::uint64_t, 3> grid_of(const launch& step, std::span<const index_t> extents, std::uint32_t processors) {
    std::array<std::uint64_t, 3> grid{};
    for (std::size_t d = 0; d < grid.size(); ++d) grid[d] = step.grid[d].value(extents, processors);
    if (step.resident_blocks != 0 && grid[0] != 0) {
        std::uint64_t pieces = 0, busy = 0, of = 1;  // the best share of resident blocks that have work: busy / of
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

/// The values from which a launch's arguments are made.
struct sources {
    const step_context& of;
    std::span<const std::uint64_t> sizes;  // the values of the step's formulas
    void* scratch;
};

/// Switches on the size: a memcpy of variable length takes longer than the rest of packing an argument.
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

/// The keys of Philox's ten rounds.
void put_rounds(std::byte* at, std::uint64_t seed) {
    auto low = static_cast<std::uint32_t>(seed), high = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round, at += 8) {
        put(at, std::uint64_t{high} << 32 | low, 8);  // little-endian: two words, the low one first
        low += detail::philox::low_step;
        high += detail::philox::high_step;
    }
}

void pack(const sources& from, const argument& a, std::byte* arguments) {
    std::byte* at = arguments + a.at;
    switch (a.kind) {
        case argument_kind::operand_pointer:
        case argument_kind::output_pointer:
        case argument_kind::temporary_pointer:
            return put(at, from.of.address_of(a.kind, a.index));
        case argument_kind::scratch_pointer:
            return put(at, from.scratch);
        case argument_kind::scalar_value:
            if (a.bytes == 16) put(at + 8, from.of.s.operands[a.index].bits[1], 8);
            return put(at, from.of.s.operands[a.index].bits[0], std::min<std::uint8_t>(a.bytes, 8));
        case argument_kind::ranged_key:
            put(at + 16, from.of.s.operands[a.index].serial, 8);
            [[fallthrough]];
        case argument_kind::generator_key:
            put(at, from.of.s.operands[a.index].bits[0], 8);
            return put(at + 8, from.of.s.operands[a.index].bits[1], 8);
        case argument_kind::ranged_rounds:
            put(at + 88, from.of.s.operands[a.index].serial, 8);
            [[fallthrough]];
        case argument_kind::generator_rounds:
            put(at, from.of.s.operands[a.index].bits[1], 8);
            return put_rounds(at + 8, from.of.s.operands[a.index].bits[0]);
        case argument_kind::generator_offset:
        case argument_kind::pick_offset:
            return put(at, static_cast<std::uint64_t>(from.of.s.operands[a.index].where->offset), a.bytes);
        case argument_kind::operand_stride:
            return put(at, static_cast<std::uint64_t>(from.of.c.strides_of(a.index)[a.axis]), a.bytes);
        case argument_kind::output_stride:
            return put(at,
                       static_cast<std::uint64_t>(from.of.c.strides_of(from.of.s.operands.size() + a.index)[a.axis]),
                       a.bytes);
        case argument_kind::count:
            return put(at, from.sizes[a.index], a.bytes);
        case argument_kind::divisor: {
            const codegen::divisor d = codegen::make_divisor(from.sizes[a.index], 8 * a.bytes);
            put(at, d.multiplier, a.bytes);
            return put(at + a.bytes, d.shift, a.bytes);
        }
        case argument_kind::processors:
            return put(at, from.of.processors, a.bytes);
        case argument_kind::view_stride: {
            std::uint64_t stride = a.index == codegen::no_number ? 0 : from.sizes[a.index];
            if (a.axis != codegen::no_number)
                stride += static_cast<std::uint64_t>(from.of.c.strides_of(a.pick)[a.axis]);
            return put(at, stride, a.bytes);
        }
        case argument_kind::view_pointer: {
            const auto offset = from.of.s.operands[a.pick].where->offset;
            const std::size_t each = detail::size_of(from.of.e.plan.temporaries[a.index].type);
            return put(at, from.of.address_of(argument_kind::temporary_pointer, a.index) +
                               offset * static_cast<index_t>(each));
        }
        case argument_kind::raw_count:
            return put(at, from.of.s.operands[a.index].bits[1], a.bytes);
        case argument_kind::raw_axes: {
            const operand& o = from.of.s.operands[a.index];
            index_t axes[1 + 2 * detail::most_raw_axes] = {o.where->rank()};
            for (int j = 0; j < o.where->rank(); ++j) {
                axes[1 + j] = o.where->shape()[j];
                axes[1 + detail::most_raw_axes + j] =
                    o.where->strides()[j] * static_cast<index_t>(detail::size_of(o.type));
            }
            std::memcpy(at, axes, sizeof(axes));
            return;
        }
        case argument_kind::error_record:
            return put(at, &error_record_of(from.of.stream));
        case argument_kind::statement:
            return put(at, statement_number(from.of.e), a.bytes);
    }
}

cached_launch cache_launch(const launch& step, const std::array<std::uint64_t, 3>& grid, const std::byte* arguments) {
    cached_launch cached{grid, {arguments, arguments + step.argument_bytes}, {}};
    std::ranges::copy_if(step.arguments, std::back_inserter(cached.written),
                         [](const argument& a) { return !codegen::is_number(a.kind); });
    return cached;
}

void run_host(host_kernel kernel, const std::byte* arguments, std::uint64_t blocks, bool in_order) {
    if (in_order) return kernel(arguments, 0, blocks);
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
        // The blocks may start while the previous kernel ends. On the legacy stream they may not: it waits for other
        // streams too.
        if (step.programmatic_launch && stream.origin != stream_origin::legacy &&
            stream.capture.load(std::memory_order_relaxed) == nullptr) {
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
    const profiled_range range(e.plan.expression);
    std::vector<bound_operand> operands;
    std::vector<bound_output> outputs;
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        operands.push_back({o.memory ? o.memory->data : nullptr,
                            {o.bits[0], o.bits[1]},
                            o.where ? o.where->offset : 0,
                            c.strides_of(i),
                            o.serial});
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        auto* base = static_cast<std::byte*>((*o.memory)->data);
        outputs.push_back({base + o.where->offset * static_cast<index_t>(detail::size_of(o.type)),
                           c.strides_of(s.operands.size() + k)});
    }
    interpret(e.key, e.graph, operands, outputs, c.extents, statement_number(e));
    add(counter::interpreter_runs);
}

void order(const statement& s, const stream_state& stream) {
    for (const operand& o : s.operands)
        if (o.memory) order_read(const_cast<buffer&>(*o.memory), stream);
    for (const output& o : s.outputs) order_write(**o.memory, stream);
}

namespace {

constexpr std::size_t small_arguments = 1024;

/// `known`: the launch kept from the previous run, or null; `cached`: where to keep this one.
void run_launch(const launch& step, const loaded_kernel& kernel, const step_context& with, cached_launch* known,
                std::vector<cached_launch>* cached) {
    alignas(16) std::byte room[small_arguments];
    std::vector<std::byte> large;
    std::byte* arguments = known ? known->arguments.data() : room;
    if (!known && step.argument_bytes > small_arguments) {
        large.resize(step.argument_bytes);
        arguments = large.data();
    }
    void* scratch = nullptr;
    if (step.scratch_bytes != 0)
        scratch = zeroed_scratch(
            with.stream,
            step.scratch_before + step.scratch_bytes * step.scratch_count.value(with.c.extents, with.processors));
    small_array<std::uint64_t, 32> sizes(known ? 0 : step.formulas.size());
    for (std::size_t f = 0; f < sizes.size(); ++f) sizes[f] = step.formulas[f].value(with.c.extents, with.processors);
    const sources from{with, sizes.all(), scratch};
    for (const argument& a : known ? known->written : step.arguments) pack(from, a, arguments);
    const std::array<std::uint64_t, 3> grid = known ? known->grid : grid_of(step, with.c.extents, with.processors);
    if (cached != nullptr && !known) cached->push_back(cache_launch(step, grid, arguments));
    if (grid[0] * grid[1] * grid[2] == 0) return;  // the launch would write a temporary without elements
    graph_capture* const capture = with.stream.capture.load(std::memory_order_relaxed);
#ifdef INGOT_HAS_CUDA_HEADERS
    if (with.stream.device.is_cuda())
        run_cuda(kernel, step, grid, arguments, with.stream);
    else
#endif
        if (capture != nullptr)
        capture->record([of = kernel.on_host(),
                         own = std::vector<std::byte>(arguments, arguments + step.argument_bytes),
                         blocks = grid[0] * grid[1] * grid[2],
                         in_order = step.in_order] { run_host(of, own.data(), blocks, in_order); });
    else
        run_host(kernel.on_host(), arguments, grid[0] * grid[1] * grid[2], step.in_order);
    if (capture != nullptr)
        ++capture->size;
    else
        add(counter::kernel_launches);
}

bool has_large_results(const classified& c, const statement& s) {
    std::uint64_t bytes = 0;
    for (const output& o : s.outputs) bytes += detail::size_of(o.type);
    return static_cast<std::uint64_t>(c.size) * bytes >= detail::past_caches_bytes;
}

}  // namespace

void run(const executable& e, const classified& c, const statement& s, stream_state& stream,
         std::vector<cached_launch>* cached) {
    if (e.interpreted) [[unlikely]] {
        const executable& latest = compile_again(e);
        if (latest.interpreted && stream.capture.load(std::memory_order_relaxed) != nullptr)
            throw library_error(
                "[graph] recording on a host needs a compiler for the host's kernels, and none was found");
        return latest.interpreted ? run_interpreted(e, c, s) : run(latest, c, s, stream, cached);
    }
    if (e.has_large_form && has_large_results(c, s)) [[unlikely]]
        if (const executable& large = large_form_of(e); &large != &e) return run(large, c, s, stream, cached);
    const profiled_range range(e.plan.expression);
    const bool again = cached != nullptr && cached->size() == e.kernels.size();
    if (cached != nullptr && !again) cached->clear();

    small_array<buffer_ref, 8> temporaries(e.plan.temporaries.size());
    const step_context with{e, c, s, stream, processors_of(stream.device), temporaries.all()};
    for (std::size_t i = 0; i < temporaries.size(); ++i) {
        const codegen::temporary& t = e.plan.temporaries[i];
        if (t.workspace) continue;
        temporaries[i] = allocate_buffer(with.bytes_of(t), stream.device, stream);
        order_write(*temporaries[i], stream);
    }

    stream.backend->bind_thread();
    std::size_t kernel = 0, function = 0;
    for (const codegen::plan_step& step : e.plan.steps) {
        if (const auto* l = std::get_if<launch>(&step)) {
            run_launch(*l, e.kernels[kernel], with, again ? &(*cached)[kernel] : nullptr, cached);
            ++kernel;
        } else if (const auto* call = std::get_if<codegen::library_call>(&step)) {
            run_library_call(*call, *e.functions[function++], with);
        } else {
            run_fill(std::get<codegen::fill>(step), with);
        }
    }
}

}  // namespace ingot::runtime
