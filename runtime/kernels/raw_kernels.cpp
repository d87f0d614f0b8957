// Launches of users' kernels: arguments are checked, packed, and ordered with other work.
#include <ingot/kernels/raw_kernels.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/host_workers.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/kernels/block_threads.hpp"
#include "runtime/kernels/raw_kernels.hpp"
#include "runtime/system/counters.hpp"

namespace ingot {

namespace runtime {

namespace {

using detail::raw_argument;
using detail::raw_kind;

std::string in(const raw_function& f) { return "[" + f.name + "] "; }

// ---- Arguments.

std::string type_text(raw_kind kind, std::size_t bytes) {
    const std::string bits = std::to_string(8 * bytes);
    switch (kind) {
        case raw_kind::boolean:
            return "bool";
        case raw_kind::signed_integer:
            return "int" + bits;
        case raw_kind::unsigned_integer:
            return "uint" + bits;
        case raw_kind::floating:
            return "float" + bits;
        case raw_kind::complex:
            return "complex" + bits;
        case raw_kind::other:
            break;
    }
    return "a type of " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}
std::string type_text(const raw_parameter& p) {
    if (!p.is_pointer) return type_text(p.kind, p.bytes);
    return std::string("a pointer to ") + (p.is_const ? "const " : "") +
           (p.is_void ? "void" : type_text(p.kind, p.bytes));
}
std::string type_text(const raw_argument& a) {
    using role = raw_argument::role;
    const std::string elements = "an array of " + std::string(name(a.type));
    switch (a.how) {
        case role::value:
            return type_text(a.kind, a.bytes);
        case role::pointer:
            return std::string("a pointer to ") + (a.is_const ? "const " : "") +
                   (a.bytes == 0 ? "void" : type_text(a.kind, a.bytes));
        case role::input:
            return elements;
        case role::output:
            return elements + " as out(x)";
        default:
            return elements + " as inout(x)";
    }
}

raw_kind kind_of_elements(dtype type) {
    switch (detail::kind_of(type)) {
        case detail::kind::boolean:
            return raw_kind::boolean;
        case detail::kind::integer:
            return detail::is_signed(type) ? raw_kind::signed_integer : raw_kind::unsigned_integer;
        case detail::kind::floating:
            return raw_kind::floating;
        default:
            return raw_kind::complex;
    }
}

/// Whether a pointer may point at these elements: (1) it has their type or none; (2) it points at structs of them
/// (float4, complex); (3) it points at the bits of a 16-bit float.
bool points_at(const raw_parameter& p, raw_kind kind, std::size_t bytes) {
    if (p.is_void || bytes == 0) return true;
    if (p.kind == raw_kind::other || kind == raw_kind::other) return p.bytes % bytes == 0;
    if (kind == raw_kind::floating && bytes == 2 && p.kind == raw_kind::unsigned_integer) return p.bytes == 2;
    return p.kind == kind && p.bytes == bytes;
}

bool is_array(const raw_argument& a) {
    return a.how != raw_argument::role::value && a.how != raw_argument::role::pointer;
}
bool is_written(const raw_argument& a) {
    return a.how == raw_argument::role::output || a.how == raw_argument::role::inout;
}

[[noreturn]] void throw_wrong(const raw_function& f, std::size_t i, std::size_t of, const std::string& wanted,
                              const raw_argument& given, const char* hint = "") {
    throw dtype_error(in(f) + "argument " + std::to_string(i + 1) + " of " + std::to_string(of) + " is " +
                      type_text(given) + ", and the parameter is " + wanted + hint);
}

void check_argument(const raw_function& f, const loaded_function& loaded, std::size_t i, std::size_t of,
                    const raw_argument& a) {
    const raw_parameter& p = loaded.parameters[i];
    if (!loaded.is_described) {
        const std::size_t bytes = a.how == raw_argument::role::value ? a.bytes : sizeof(void*);
        if (p.bytes != bytes) throw_wrong(f, i, of, "of " + std::to_string(p.bytes) + " bytes", a);
        return;
    }
    const auto wrong = [&](const char* hint = "") { throw_wrong(f, i, of, type_text(p), a, hint); };
    if (a.how == raw_argument::role::value) {
        const bool is_struct = p.kind == raw_kind::other || a.kind == raw_kind::other;
        if (p.is_pointer || p.bytes != a.bytes || (p.kind != a.kind && !is_struct)) wrong();
        return;
    }
    if (!p.is_pointer) wrong();
    if (a.how == raw_argument::role::pointer) {
        if (!points_at(p, a.kind, a.bytes) || (a.is_const && !p.is_const)) wrong();
        return;
    }
    if (!points_at(p, kind_of_elements(a.type), detail::size_of(a.type))) wrong();
    if (is_written(a) && p.is_const) wrong(", through which the kernel cannot write");
    if (!is_written(a) && !p.is_const) wrong(", through which the kernel may write: give out(x) or inout(x)");
}

void check_extent(const raw_function& f, const char* of, const launch_extent& given, const launch_extent& most,
                  std::uint64_t most_in_all) {
    const auto text = [](const launch_extent& e) {
        return "(" + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) + ")";
    };
    const std::uint64_t in_all = std::uint64_t{given.x} * given.y * given.z;
    if (in_all == 0 || given.x > most.x || given.y > most.y || given.z > most.z || in_all > most_in_all)
        throw shape_error(
            in(f) + "a " + of + " of " + text(given) + " was given; extents from 1 to " + text(most) +
            (most_in_all < 0xffffffffu ? " with a product of at most " + std::to_string(most_in_all) : "") +
            " are wanted");
}

device_id device_of_arguments(const raw_function& f, std::span<const raw_argument> arguments) {
    std::optional<device_id> found;
    for (const raw_argument& a : arguments) {
        if (!is_array(a) || !*a.memory) continue;
        const device_id here = (*a.memory)->device;
        if (found && *found != here)
            throw device_error(in(f) + "arguments on " + to_string(*found) + " and " + to_string(here) +
                               "; move one with .to(device)");
        found = here;
    }
    return found ? *found : current().device;
}

/// Pointers to a kernel's arguments, and their values.
class packed_arguments {
public:
    packed_arguments(const raw_function& f, std::span<const raw_argument> all, stream_state& stream)
        : values_(all.size()), pointers_(all.size()), held_(2 * all.size()) {
        for (std::size_t i = 0; i < all.size(); ++i)  // check all, before one is un-shared
            if (is_written(all[i])) check_writable(f, all[i], all.first(i));
        for (std::size_t i = 0; i < all.size(); ++i)  // read before anything is written
            if (all[i].how == raw_argument::role::input) held_[i] = read(all[i], stream);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const raw_argument& a = all[i];
            pointers_[i] = const_cast<void*>(a.value);
            if (!is_array(a)) continue;
            if (is_written(a)) write(a, stream);
            const buffer_ref& memory = is_written(a) ? *a.memory : held_[i];
            const index_t offset = is_written(a) || memory.get() == a.memory->get() ? a.where->offset : 0;
            values_[i] =
                memory ? static_cast<std::byte*>(memory->data) + offset * static_cast<index_t>(detail::size_of(a.type))
                       : nullptr;
            pointers_[i] = &values_[i];
        }
    }
    void** pointers() noexcept { return pointers_.data(); }

private:
    static buffer_ref read(const raw_argument& a, stream_state& stream) {
        if (!*a.memory) return {};
        buffer_ref memory = *a.memory;
        if (!detail::is_in_c_order(*a.where)) {
            detail::layout where;
            memory = {};
            detail::copy_elements(*a.memory, *a.where, {a.type, memory, where});
        }
        order_read(*memory, stream);
        return memory;
    }
    static void check_writable(const raw_function& f, const raw_argument& a, std::span<const raw_argument> before) {
        for (const raw_argument& b : before)
            if (is_written(b) && b.memory == a.memory) throw error(in(f) + "one array is given twice to be written");
        if (!detail::is_in_c_order(*a.where))
            throw shape_error(in(f) + "an array that is written is not in C order: shape " +
                              detail::to_text(a.where->extents()));
        if (*a.memory && (*a.memory)->read_only) throw_read_only(f.name.c_str());
    }
    static void write(const raw_argument& a, stream_state& stream) {
        buffer_ref& memory = const_cast<buffer_ref&>(*a.memory);
        if (!memory) return;
        if (a.how == raw_argument::role::inout)
            detail::make_unique(memory);
        else if (!memory->unowned && !memory.unique()) {
            if (const graph_capture* const capture = capture_of_thread()) capture->check_may_move(*memory);
            move_to(memory, allocate_buffer(memory->bytes, memory->device, stream));
        }
        order_write(*memory, stream);
    }

    std::vector<void*> values_, pointers_;
    std::vector<buffer_ref> held_;
};

// ---- Launches.

/// Runs a range of blocks with its own shared memory.
void run_blocks(const loaded_function& kernel, const raw_grid& grid, std::size_t shared_bytes, void** arguments) {
    struct alignas(128) shared_piece {
        std::byte bytes[128];
    };
    run_on_workers(std::size_t{grid.grid[0]} * grid.grid[1] * grid.grid[2], [&](std::size_t begin, std::size_t end) {
        std::vector<shared_piece> shared((shared_bytes + sizeof(shared_piece) - 1) / sizeof(shared_piece));
        raw_grid own = grid;
        own.shared = shared.data();
        kernel.on_host(arguments, &own, begin, end);
    });
}

/// A launch that a graph keeps: the kernel and its arguments.
class recorded_launch_on_host {
public:
    recorded_launch_on_host(const loaded_function& kernel, const raw_grid& grid, std::size_t shared_bytes,
                            void** arguments)
        : kernel_(kernel), grid_(grid), shared_bytes_(shared_bytes) {
        for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
            const raw_parameter& p = kernel.parameters[i];
            const std::size_t bytes = p.is_pointer ? sizeof(void*) : p.bytes;
            values_.emplace_back((bytes + sizeof(aligned_bytes) - 1) / sizeof(aligned_bytes));
            std::memcpy(values_.back().data(), arguments[i], bytes);
        }
    }
    void operator()() {
        std::vector<void*> pointers;
        for (auto& value : values_) pointers.push_back(value.data());
        run_blocks(kernel_, grid_, shared_bytes_, pointers.data());
    }

private:
    struct alignas(64) aligned_bytes {
        std::byte bytes[64];
    };
    const loaded_function& kernel_;
    raw_grid grid_;
    std::size_t shared_bytes_;
    std::vector<std::vector<aligned_bytes>> values_;
};

void run_on_host(const loaded_function& kernel, const launch_settings& how, void** arguments, graph_capture* capture) {
    const raw_grid grid{{how.grid.x, how.grid.y, how.grid.z},
                        {how.block.x, how.block.y, how.block.z},
                        run_block_threads,
                        wait_for_block,
                        nullptr};
    if (capture != nullptr) return capture->record(recorded_launch_on_host(kernel, grid, how.shared_bytes, arguments));
    run_blocks(kernel, grid, how.shared_bytes, arguments);
}

#ifdef INGOT_HAS_CUDA_HEADERS

CUfunction function_on_gpu(const loaded_function& kernel, device_id device) {
    state_of(device).backend->bind_thread();
    const auto number = static_cast<std::size_t>(device.index());
    if (number < cached_devices)
        if (void* const known = kernel.functions[number].load(std::memory_order_acquire))
            return static_cast<CUfunction>(known);
    CUfunction function = nullptr;
    check(driver()->cuKernelGetFunction(&function, static_cast<CUkernel>(kernel.on_gpu)),
          "finding a kernel's function");
    if (number < cached_devices) kernel.functions[number].store(function, std::memory_order_release);
    return function;
}

int attribute(CUfunction function, CUfunction_attribute which) {
    int value = 0;
    check(driver()->cuFuncGetAttribute(&value, which, function), "asking a kernel's attribute");
    return value;
}

void allow_shared_bytes(const raw_function& f, CUfunction function, std::size_t bytes) {
    const auto requested = static_cast<int>(std::min<std::size_t>(bytes, 0x7fffffff));
    const CUresult status =
        driver()->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, requested);
    check(status, (f.name + ": asking for " + std::to_string(bytes) + " bytes of shared memory").c_str());
}

void run_on_gpu(const raw_function& f, const loaded_function& kernel, const launch_settings& how, void** arguments,
                const stream_state& stream) {
    const CUfunction function = function_on_gpu(kernel, stream.device);
    if (how.shared_bytes > 0 && how.shared_bytes > static_cast<std::size_t>(attribute(
                                                       function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)))
        allow_shared_bytes(f, function, how.shared_bytes);
    const std::uint32_t cluster = how.cluster.x * how.cluster.y * how.cluster.z;
    constexpr std::uint32_t portable_cluster = 8;
    if (cluster > portable_cluster)
        check(driver()->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
              "asking for large clusters");
    CUlaunchAttribute attributes[2]{};
    unsigned n = 0;
    if (cluster > 1) {
        attributes[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attributes[n++].value.clusterDim = {how.cluster.x, how.cluster.y, how.cluster.z};
    }
    if (how.cooperative) {
        attributes[n].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attributes[n++].value.cooperative = 1;
    }
    const CUlaunchConfig config{how.grid.x,
                                how.grid.y,
                                how.grid.z,
                                how.block.x,
                                how.block.y,
                                how.block.z,
                                static_cast<unsigned>(how.shared_bytes),
                                reinterpret_cast<CUstream>(stream.native),
                                attributes,
                                n};
    check(driver()->cuLaunchKernelEx(&config, function, arguments, nullptr), ("launch " + f.name).c_str());
}

#endif

void check_launch(const raw_function& f, const launch_settings& how, device_id device) {
    constexpr std::uint32_t most_blocks = 0x7fffffff, most_beside = 65535, most_threads = 1024, most_deep = 64;
    check_extent(f, "grid", how.grid, {most_blocks, most_beside, most_beside}, ~std::uint64_t{0});
    check_extent(f, "block", how.block, {most_threads, most_threads, most_deep}, most_threads);
    const std::uint64_t cluster = std::uint64_t{how.cluster.x} * how.cluster.y * how.cluster.z;
    if (cluster != 1) {
        if (device.is_host()) throw device_error(in(f) + to_string(device) + " has no clusters of blocks");
        if (cluster == 0 || how.grid.x % how.cluster.x != 0 || how.grid.y % how.cluster.y != 0 ||
            how.grid.z % how.cluster.z != 0)
            throw shape_error(in(f) + "the grid is no multiple of the cluster");
    }
    if (device.is_host() && how.cooperative)
        throw device_error(in(f) + to_string(device) + " has no cooperative launches");
}

}  // namespace

}  // namespace runtime

namespace detail {

void launch_raw(const runtime::raw_function& f, const launch_settings& how, std::span<const raw_argument> arguments) {
    using namespace runtime;
    const device_id device = device_of_arguments(f, arguments);
    check_launch(f, how, device);
    const loaded_function& kernel = loaded_on(f, device);
    if (kernel.is_counted && kernel.parameters.size() != arguments.size())
        throw error(in(f) + std::to_string(arguments.size()) + " arguments were given, and the kernel has " +
                    std::to_string(kernel.parameters.size()) + " parameters");
    if (kernel.is_counted)
        for (std::size_t i = 0; i < arguments.size(); ++i) check_argument(f, kernel, i, arguments.size(), arguments[i]);
    stream_state& stream = *context_on(device).stream;
    packed_arguments packed(f, arguments, stream);
    order_variables(*f.program, stream);
    graph_capture* const capture = stream.capture.load(std::memory_order_relaxed);
    if (capture != nullptr) capture->use_variables(*f.program);
#ifdef INGOT_HAS_CUDA_HEADERS
    if (device.is_cuda())
        run_on_gpu(f, kernel, how, packed.pointers(), stream);
    else
#endif
        run_on_host(kernel, how, packed.pointers(), capture);
    if (capture != nullptr)
        ++capture->size;
    else
        add(counter::kernel_launches);
}

}  // namespace detail

kernel_attributes raw_kernel::attributes() const {
    const detail::device_id device = runtime::current().device;
    [[maybe_unused]] const runtime::loaded_function& kernel = runtime::loaded_on(*function_, device);
    kernel_attributes a;
    a.max_threads_per_block = 1024;
#ifdef INGOT_HAS_CUDA_HEADERS
    if (device.is_cuda()) {
        const CUfunction function = runtime::function_on_gpu(kernel, device);
        const auto ask = [&](CUfunction_attribute which) { return runtime::attribute(function, which); };
        const auto bytes = [&](CUfunction_attribute which) { return static_cast<std::size_t>(ask(which)); };
        a.registers = ask(CU_FUNC_ATTRIBUTE_NUM_REGS);
        a.shared_bytes = bytes(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
        a.const_bytes = bytes(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
        a.local_bytes = bytes(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
        a.max_threads_per_block = ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        a.max_dynamic_shared_bytes = bytes(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
        a.ptx_version = ask(CU_FUNC_ATTRIBUTE_PTX_VERSION);
        a.binary_version = ask(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    }
#endif
    return a;
}

void raw_kernel::set_max_dynamic_shared_bytes([[maybe_unused]] std::size_t bytes) const {
    const detail::device_id device = runtime::current().device;
    [[maybe_unused]] const runtime::loaded_function& kernel = runtime::loaded_on(*function_, device);
#ifdef INGOT_HAS_CUDA_HEADERS
    if (device.is_cuda()) runtime::allow_shared_bytes(*function_, runtime::function_on_gpu(kernel, device), bytes);
#endif
}

}  // namespace ingot
