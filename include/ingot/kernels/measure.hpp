// Inspection and measurement: the kernels of an expression (explain, source, to_dot) and the time of a function
// (benchmark). explain, source and to_dot do not run the expression.
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

/// The kinds of steps of an expression: a generated kernel, a call of a library's function, bytes set to one value, an
/// exchange with other ranks (distributed.hpp; the bytes are those that this rank receives and sends).
enum class step_kind : std::uint8_t { kernel, library_call, fill, exchange };

/// One step of an expression: a kernel, or another step, which has no grid and no block.
struct kernel_explanation {
    step_kind kind = step_kind::kernel;
    std::string name;     ///< the kernel's, or the library function's
    std::string pattern;  ///< "map", "row reduction", "library call", ...
    std::string shape;    ///< how the threads of a CUDA kernel share its elements
    std::string reason;   ///< the reason for this tile and launch shape
    std::array<std::uint64_t, 3> grid{1, 1, 1};
    std::string grid_formula;      ///< the grid over the extents of the key's axes, n0 n1 ...
    std::uint32_t block = 0;       ///< threads
    std::uint64_t bytes_read = 0;  ///< counts each element once
    std::uint64_t bytes_written = 0;
    std::uint64_t flops = 0;  ///< by each operator's stated cost
};

/// The steps of an expression; it can be printed.
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
    std::string missing;                      ///< not empty: why the pattern has no kernel yet
    bool in_memory = false;                   ///< a kernel of this key is loaded
    std::vector<kernel_explanation> kernels;  ///< kernels and other steps, in the order in which they run

    /// The bytes that all kernels read together.
    std::uint64_t bytes_read() const;
    /// The bytes that all kernels write together.
    std::uint64_t bytes_written() const;
    /// The operations of all kernels together.
    std::uint64_t flops() const;
};

/// Prints an explanation with its kernels, at least a line each.
///
///     array<double> x{1, 2, 3};
///     std::cout << explain(sqrt(x));
///     // prints: sqrt(x0)
///     //           key      ...
///     //           pattern  map, 1 kernel, ...
INGOT_API std::ostream& operator<<(std::ostream&, const explanation&);

inline namespace v1 {
/// Entry points beside those of the door; they run nothing.
INGOT_API explanation explain_statement(const detail::joint_outputs&);
INGOT_API std::string source_of_statement(const detail::joint_outputs&);
INGOT_API std::string dot_of_statement(const detail::joint_outputs&);
}  // namespace v1

namespace detail {

/// Gathers nodes as an evaluation into new arrays would, and passes the statement to `f`.
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

/// The kernels, launch shapes, bytes and operations of an expression, or of `eval` of several. Runs and compiles
/// nothing.
///
///     array<double> x{1, 2, 3};
///     std::cout << explain(sum(x * x)).expression << ' ' << explain(x + 1, x * 2).kernels.size();
///     // prints: sum(x0 * x0) 1
template <array_expression... E>
    requires(sizeof...(E) > 0)
explanation explain(const E&... e) {
    return detail::with_statement(v1::explain_statement, detail::as_node(e)...);
}

/// The generated source for the expression's device. Runs and compiles nothing.
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

/// Times of each call in microseconds.
struct benchmark_result {
    std::string name;
    std::vector<double> cpu;            ///< times of the call
    std::vector<double> gpu;            ///< times on the first GPU of the devices; empty without one
    std::vector<device_times> devices;  ///< times on each GPU
};

/// Prints means and, for several calls, deviations and extremes, as CuPy does: "name : CPU: 5.2 us +/- 0.3 (min: 4.9 /
/// max: 7.0) us GPU-0: ...", each GPU with its number.
///
///     std::cout << benchmark([] {}, {.repeats = 5, .name = "nothing"});
///     // prints: nothing             :    CPU:... us   +/-... (min:... / max:...) us...
INGOT_API std::ostream& operator<<(std::ostream&, const benchmark_result&);

/// The options of `benchmark`.
struct benchmark_options {
    int repeats = 100;
    int warm_up = 10;
    std::string_view name = "benchmark";
    std::vector<device> devices{};                                  ///< empty: the current one
    double max_duration = std::numeric_limits<double>::infinity();  ///< seconds after which no call begins
};
namespace detail {
INGOT_API benchmark_result benchmark(void (*call)(void*), const void* fn, const benchmark_options&);
}

/// Calls fn() `repeats` times after `warm_up` calls, as cupyx.profiler.benchmark does. It measures the time of the call
/// on the CPU, and on each GPU of the devices the time between two events around it on the device's current stream.
/// After each call it waits for the devices. Throws dtype_error where there is nothing to call, and device_error for a
/// device that does not exist.
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
