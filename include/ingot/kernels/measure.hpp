// Seeing and measuring: what an expression becomes (explain, source, to_dot) and how long a function takes (benchmark).
// None of explain, source and to_dot runs the expression.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/core/counters.hpp>
#include <ingot/core/device.hpp>
#include <ingot/core/expression.hpp>

namespace ingot {

/// What a step of an expression is: a generated kernel, a call of a library's function, bytes set to one value.
enum class step_kind : std::uint8_t { kernel, library_call, fill };

/// One kernel of an expression, or another step between its kernels, which has no grid and no block.
struct kernel_explanation {
    step_kind kind = step_kind::kernel;
    std::string name;     ///< of the kernel, or of the library's function
    std::string pattern;  ///< "map", "row reduction", "library call", ...
    std::string shape;    ///< how the threads of a CUDA kernel share its elements, in words
    std::string reason;   ///< why this tile and launch shape
    std::array<std::uint64_t, 3> grid{1, 1, 1};
    std::string grid_formula;      ///< the same over the extents of the key's axes, n0 n1 ...
    std::uint32_t block = 0;       ///< threads
    std::uint64_t bytes_read = 0;  ///< each element it needs once
    std::uint64_t bytes_written = 0;
    std::uint64_t flops = 0;  ///< by each operator's stated cost
};

/// What an expression becomes. Prints itself.
///
///     array<double> x{1, 2, 3};
///     const explanation e = explain(x * 2 + 1);
///     std::cout << e.expression << ", kernels: " << e.kernels.size() << ", bytes: " << e.bytes_read() << " and "
///               << e.bytes_written() << ", operations: " << e.flops();
///     // prints: x0 * s0 + s1, kernels: 1, bytes: 24 and 24, operations: 6
struct explanation {
    std::string expression;
    std::string pattern;
    std::string key;                          ///< in words
    std::string missing;                      ///< not empty: the pattern has no kernel yet, and why
    bool in_memory = false;                   ///< a kernel of this key is loaded
    std::vector<kernel_explanation> kernels;  ///< and the other steps, in the order in which they run

    /// What all kernels read together.
    std::uint64_t bytes_read() const;
    /// What all kernels write together.
    std::uint64_t bytes_written() const;
    /// Operations of all kernels together.
    std::uint64_t flops() const;
};

/// Prints an explanation with its kernels, a line or more each.
///
///     array<double> x{1, 2, 3};
///     std::cout << explain(sqrt(x));
///     // prints: sqrt(x0)
///     //           key      ...
///     //           pattern  map, 1 kernel, ...
INGOT_API std::ostream& operator<<(std::ostream&, const explanation&);

inline namespace v1 {
/// The door's siblings: nothing is run.
INGOT_API explanation explain_statement(const joint_outputs&);
INGOT_API std::string source_of_statement(const joint_outputs&);
INGOT_API std::string dot_of_statement(const joint_outputs&);
}  // namespace v1

namespace detail {

/// Gathers nodes as an evaluation into new arrays would, and hands the statement to `f`.
template <class F, class... N>
auto with_statement(F f, const N&... nodes) {
    buffer_ref memory[sizeof...(N)];
    layout where[sizeof...(N)];
    std::size_t i = 0, k = 0;
    const output outputs[] = {{N::type, &memory[i++], &where[k++]}...};
    const gathered_trees<N...> trees(nodes...);
    return f(trees.with(outputs));
}

}  // namespace detail

/// Kernels, launch shapes, bytes and operations of an expression, or of what `eval` of several would run. Runs and
/// compiles nothing.
///
///     array<double> x{1, 2, 3};
///     std::cout << explain(sum(x * x)).expression << ' ' << explain(x + 1, x * 2).kernels.size();
///     // prints: sum(x0 * x0) 1
template <array_expression... E>
    requires(sizeof...(E) > 0)
explanation explain(const E&... e) {
    return detail::with_statement(v1::explain_statement, detail::as_node(e)...);
}

/// The generated source, on the device it would run on. Runs and compiles nothing.
///
///     array<double> x{1, 2, 3};
///     std::cout << (source(x * 2 + 1).find("x0 * s0 + s1") != std::string::npos);
///     // prints: 1
template <array_expression... E>
    requires(sizeof...(E) > 0)
std::string source(const E&... e) {
    return detail::with_statement(v1::source_of_statement, detail::as_node(e)...);
}

/// The graph in Graphviz's language, equal subtrees drawn once. Runs nothing.
///
///     array<double> x{1, 2, 3};
///     std::cout << to_dot(x * 2).substr(0, 7);
///     // prints: digraph
template <array_expression... E>
    requires(sizeof...(E) > 0)
std::string to_dot(const E&... e) {
    return detail::with_statement(v1::dot_of_statement, detail::as_node(e)...);
}

/// Times on one GPU, between events on its current stream.
struct device_times {
    ingot::device device;
    std::vector<double> us;
};

/// Times in microseconds, of each call.
struct benchmark_result {
    std::string name;
    std::vector<double> cpu;            ///< of the call
    std::vector<double> gpu;            ///< on the first of the devices that is a GPU; empty where none is
    std::vector<device_times> devices;  ///< on each of the GPUs
};

/// Prints means and, of several calls, deviations and extremes, as CuPy does: "name : CPU: 5.2 us +/- 0.3 (min: 4.9 /
/// max: 7.0) us GPU-0: ...", each GPU with its number.
///
///     std::cout << benchmark([] {}, {.repeats = 5, .name = "nothing"});
///     // prints: nothing             :    CPU:... us   +/-... (min:... / max:...) us...
INGOT_API std::ostream& operator<<(std::ostream&, const benchmark_result&);

/// How often `benchmark` calls, and how it calls the result.
struct benchmark_options {
    int repeats = 100;
    int warm_up = 10;
    std::string_view name = "benchmark";
    std::vector<device> devices{};                                  ///< none: the current one
    double max_duration = std::numeric_limits<double>::infinity();  ///< seconds after which no call begins
};
namespace detail {
INGOT_API benchmark_result benchmark(void (*call)(void*), const void* fn, const benchmark_options&);
}

/// Calls fn() `repeats` times after `warm_up` calls, as cupyx.profiler.benchmark does: the time of the call on the CPU,
/// and on each GPU of the devices between two events around it on the device's current stream. The devices are waited
/// for after each call. Throws dtype_error where there is nothing to call, and device_error for a device that is not
/// there.
///
///     array<double> x{1, 2, 3};
///     const benchmark_result r = benchmark([&] { x = x + 1; }, {.repeats = 20, .warm_up = 2, .name = "add"});
///     std::cout << r.name << ' ' << r.cpu.size() << ' ' << x(0) << ' ';
///     const std::vector<device> both{current_device(), device::host()};
///     std::cout << benchmark([&] { x = x + 1; }, {.repeats = 3, .devices = both, .max_duration = 60}).cpu.size();
///     // prints: add 20 23.0 3
template <class F>
benchmark_result benchmark(F&& fn, const benchmark_options& options = {}) {
    return detail::benchmark([](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); }, &fn, options);
}

}  // namespace ingot
