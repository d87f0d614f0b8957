// The cost of work with other libraries: exporting and importing handles and arrays, with the allocations of each call;
// and a kernel from a user's text, compared with the same expression.
//   interop RESULTS.jsonl [stub] [LOG2_OF_ELEMENTS]
// With `stub` the driver does nothing and no GPU is needed: only Ingot's own time of the calls is measured.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "stub_driver.hpp"

namespace {

using namespace ingot;
using bench::median;
using bench::promise;

constinit thread_local std::size_t allocations = 0;

void* counted_memory(std::size_t bytes, std::size_t alignment) {
    ++allocations;
    void* const memory = alignment <= alignof(std::max_align_t)
                             ? std::malloc(bytes)
                             : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

constexpr int calls_a_block = 1000;
constexpr int blocks = 101;

/// Keeps a result from being left out.
template <class T>
void use(const T& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

struct cost {
    double nanoseconds;
    double allocations;
};

/// The lowest tenth: the others include other work of the machine.
double least(std::vector<double> times) {
    const auto tenth = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10);
    std::nth_element(times.begin(), tenth, times.end());
    return *tenth;
}

/// The cost of one call, from many blocks of calls.
template <class F>
cost cost_of(F call) {
    for (int i = 0; i < calls_a_block; ++i) call();
    std::vector<double> times;
    times.reserve(blocks);
    const std::size_t before = allocations;
    for (int block = 0; block < blocks; ++block) {
        const auto from = std::chrono::steady_clock::now();
        for (int i = 0; i < calls_a_block; ++i) call();
        times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - from).count() /
                        calls_a_block);
    }
    const auto taken = static_cast<double>(allocations - before);
    return {least(times), taken / (calls_a_block * blocks)};
}

/// The costs of a call that makes an array over foreign memory, and of that array's end, measured in turn.
template <class F>
std::pair<cost, cost> cost_of_making(F make) {
    constexpr std::size_t at_once = 8;
    using made = decltype(make());
    std::vector<made> arrays;
    arrays.reserve(at_once);
    std::vector<double> making, ending;
    making.reserve(calls_a_block), ending.reserve(calls_a_block);
    std::size_t taken[2] = {};
    for (int block = -10; block < calls_a_block; ++block) {
        const std::size_t before = allocations;
        const auto from = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < at_once; ++i) arrays.push_back(make());
        const auto made_at = std::chrono::steady_clock::now();
        const std::size_t between = allocations;
        arrays.clear();
        const auto ended_at = std::chrono::steady_clock::now();
        if (block < 0) continue;
        making.push_back(std::chrono::duration<double, std::nano>(made_at - from).count() / at_once);
        ending.push_back(std::chrono::duration<double, std::nano>(ended_at - made_at).count() / at_once);
        taken[0] += between - before;
        taken[1] += allocations - between;
        if (block % 100 == 0) synchronize();
    }
    const auto each = [&](std::size_t n) { return static_cast<double>(n) / (at_once * calls_a_block); };
    return {{least(making), each(taken[0])}, {least(ending), each(taken[1])}};
}

/// Adds a row for a call, with the promise of at most 100 ns and that many allocations.
void add_call(bench::report& out, const std::string& section, const std::string& name, double most_allocations,
              const cost& of) {
    char note[64];
    std::snprintf(note, sizeof note, "%.3g allocations, wanted %.3g", of.allocations, most_allocations);
    out.add({.section = section,
             .name = name,
             .unit = "ns",
             .time = of.nanoseconds,
             .kind = promise::limit,
             .goal = of.allocations <= most_allocations + 0.01 ? 100.0 : 0.0,
             .note = note});
    std::printf("%15s%s\n", "", note);
}

template <class F>
void measure_call(bench::report& out, const std::string& section, const char* name, double most_allocations, F call) {
    add_call(out, section, name, most_allocations, cost_of(call));
}

/// Measures a call that makes an array. The array's end has a row without a promise, because on a GPU it records an
/// event.
template <class F>
void measure_making(bench::report& out, const std::string& section, const std::string& name, F make) {
    const auto [making, ending] = cost_of_making(make);
    add_call(out, section, name, 0, making);
    char note[64];
    std::snprintf(note, sizeof note, "%.3g allocations", ending.allocations);
    out.add({.section = section,
             .name = "the end of its array, " + name,
             .unit = "ns",
             .time = ending.nanoseconds,
             .note = note});
}

/// Elements of somebody's, as an mdspan shows them.
struct matrix_view {
    float* first;
    struct extents_of {
        static constexpr std::size_t rank() { return 2; }
        std::int64_t extent(std::size_t) const { return 32; }
    };
    float* data_handle() const { return first; }
    extents_of extents() const { return {}; }
    std::int64_t stride(std::size_t axis) const { return axis == 0 ? 32 : 1; }
};

void measure_calls(bench::report& out, bool stub) {
    const std::string section = stub ? "interop, stub driver" : "interop";
    array<float> x = ones<float>({32, 32});
    const array<float>& kept = x;
    const stream s;
    measure_call(out, section, "s.native_handle()", 0, [&] { use(s.native_handle()); });
    measure_call(out, section, "x.data()", 0, [&] { use(kept.data()); });
    measure_call(out, section, "x.mutable_data()", 0, [&] { use(x.mutable_data()); });
    measure_call(out, section, "current_stream()", 0, [&] { use(current_stream()); });
    if (x.device().is_cuda()) {
        const stream theirs;
        void* const native = theirs.native_handle();
        measure_call(out, section, "stream::from_native of Ingot's own", 0, [&] { use(stream::from_native(native)); });
        CUstream made = nullptr;
        runtime::check(runtime::driver()->cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), "making a stream");
        {
            const stream adopted = stream::from_native(made);
            measure_call(out, section, "stream::from_native of another's, in use", 0,
                         [&] { use(stream::from_native(made)); });
        }
        const cost of_last = cost_of([&] { use(stream::from_native(made)); });
        out.add({.section = section,
                 .name = "stream::from_native of another's, and its end",
                 .unit = "ns",
                 .time = of_last.nanoseconds,
                 .note = "with the event that is recorded at its end"});
        measure_call(out, section, "stream::legacy_default()", 0, [&] { use(stream::legacy_default()); });
        measure_call(out, section, "to_cuda_array_interface", 0, [&] { use(to_cuda_array_interface(x)); });
        const cuda_array_interface of = to_cuda_array_interface(x);
        measure_making(out, section, "from_cuda_array_interface", [&] { return from_cuda_array_interface<float>(of); });
    }

    // Two allocations: the exported array, and the tensor.
    measure_call(out, section, "to_dlpack of a const array, and its deleter", 2, [&] {
        dlpack::managed_tensor_versioned* const m = to_dlpack(kept);
        m->deleter(m);
    });
    measure_call(out, section, "to_dlpack, and its deleter", 2, [&] {
        dlpack::managed_tensor_versioned* const m = to_dlpack(x);
        m->deleter(m);
    });

    // A tensor of somebody's, which costs nothing to give up.
    std::int64_t shape[] = {32, 32}, strides[] = {32, 1};
    dlpack::managed_tensor theirs{};
    theirs.dl_tensor.data = x.mutable_data();
    theirs.dl_tensor.device = {x.device().is_cuda() ? dlpack::cuda : dlpack::cpu, 0};
    theirs.dl_tensor.ndim = 2;
    theirs.dl_tensor.dtype = {2, 32, 1};
    theirs.dl_tensor.shape = shape;
    theirs.dl_tensor.strides = strides;
    theirs.deleter = [](dlpack::managed_tensor*) {};
    measure_making(out, section, "from_dlpack", [&] { return from_dlpack<float>(&theirs); });

    const ingot::detail::device_id where = x.device();
    const std::span<float> elements(static_cast<float*>(theirs.dl_tensor.data), 1024);
    measure_making(out, section, "frombuffer of a span", [&] { return frombuffer(elements, {32, 32}, where); });
    const matrix_view view{elements.data()};
    measure_making(out, section, "asarray of an mdspan", [&] { return asarray(view, where); });
}

/// The text of `where` against the expression, which is to be the same kernel in all that matters.
void measure_text(bench::report& out, std::size_t n) {
    const auto on_host_x = bench::uniform<float>(n, 71, -4, 4), on_host_y = bench::uniform<float>(n, 72, -4, 4);
    const array<float> x = asarray(on_host_x), y = asarray(on_host_y);
    const elementwise_kernel<"T x, T y", "T z"> text("if (x - 2 > y) z = x * y; else z = x + y;", "choose");
    array<float> r;
    const auto require_right = [&](const std::string& what) {
        const auto values = r.to_host();
        bench::require(what, n, 0, [&](std::size_t i) {
            const float a = on_host_x[i], b = on_host_y[i], wanted = a - 2 > b ? a * b : a + b;
            return values[i] == wanted ? 0.0 : 1.0;
        });
    };
    r = where(x - 2 > y, x * y, x + y);
    require_right("where");
    r.fill(0);
    r = text(x, y);
    require_right("the text of where");
    const explanation of_text = explain(text(x, y)), of_where = explain(where(x - 2 > y, x * y, x + y));
    const bool same_bytes = of_text.bytes_read() == of_where.bytes_read() &&
                            of_text.bytes_written() == of_where.bytes_written() && of_text.kernels.size() == 1;
    const auto times =
        bench::time_in_turn({[&](int) { r = text(x, y); }, [&](int) { r = where(x - 2 > y, x * y, x + y); }}, 21);
    out.add({.section = "interop",
             .name = "elementwise_kernel of where's text",
             .unit = "us",
             .time = median(times[0]),
             .baseline = "the expression",
             .baseline_time = median(times[1]),
             .kind = promise::share,
             .reached = same_bytes ? bench::paired_ratio(times[1], times[0]) : 0.001,
             .goal = 0.98,
             .elements = n,
             .bytes = of_text.bytes_read() + of_text.bytes_written(),
             .note = same_bytes ? "as many bytes" : "OTHER BYTES than the expression's"});
}

int run(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: interop RESULTS.jsonl [stub] [LOG2_OF_ELEMENTS]\n"), 2;
    const bool stub = argc > 2 && std::strcmp(argv[2], "stub") == 0;
    bench::report out(argv[1]);
    static const runtime::driver_api nothing = bench::stub_driver();
    std::optional<runtime::driver_replacement> in_place;
    std::optional<with_device> on_gpu;
    if (stub) {
        in_place.emplace(nothing);
        on_gpu.emplace(device::cuda(0));
    }
    measure_calls(out, stub);
    const int log2 = argc > (stub ? 3 : 2) ? std::atoi(argv[stub ? 3 : 2]) : 28;
    if (!stub) measure_text(out, std::size_t{1} << log2);
    return 0;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted_memory(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return counted_memory(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "interop: %s\n", reason.what());
    return 1;
}
