// Seeing and measuring: what an expression becomes (explain, source, to_dot) and how long a function takes (benchmark).
// None of explain, source and to_dot runs the expression.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/counters.hpp>
#include <ingot/expression.hpp>

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
struct explanation {
    std::string expression;
    std::string pattern;
    std::string key;                          ///< in words
    std::string missing;                      ///< not empty: the pattern has no kernel yet, and why
    bool in_memory = false;                   ///< a kernel of this key is loaded
    std::vector<kernel_explanation> kernels;  ///< and the other steps, in the order in which they run

    std::uint64_t bytes_read() const;
    std::uint64_t bytes_written() const;
    std::uint64_t flops() const;
};
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

/// Kernels, launch shapes, bytes and operations of an expression, or of what `eval` of several would run.
template <array_expression... E>
    requires(sizeof...(E) > 0)
explanation explain(const E&... e) {
    return detail::with_statement(v1::explain_statement, detail::as_node(e)...);
}

/// The generated source, on the device it would run on.
template <array_expression... E>
    requires(sizeof...(E) > 0)
std::string source(const E&... e) {
    return detail::with_statement(v1::source_of_statement, detail::as_node(e)...);
}

/// The graph in Graphviz's language, equal subtrees drawn once.
template <array_expression... E>
    requires(sizeof...(E) > 0)
std::string to_dot(const E&... e) {
    return detail::with_statement(v1::dot_of_statement, detail::as_node(e)...);
}

/// Times in microseconds. `gpu` is empty on a host device.
struct benchmark_result {
    std::string name;
    std::vector<double> cpu, gpu;
};
/// "name : CPU: 5.2 us +/- 0.3 (min: 4.9 / max: 7.0) us  GPU-0: ...".
INGOT_API std::ostream& operator<<(std::ostream&, const benchmark_result&);

struct benchmark_options {
    int repeats = 100;
    int warm_up = 10;
    std::string_view name = "benchmark";
};
namespace detail {
INGOT_API benchmark_result benchmark(void (*call)(void*), const void* fn, const benchmark_options&);
}
/// Calls fn() `repeats` times after `warm_up` calls: the time of the call on the CPU, and between two events around it
/// on the current stream.
template <class F>
benchmark_result benchmark(F&& fn, const benchmark_options& options = {}) {
    return detail::benchmark([](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); }, &fn, options);
}

}  // namespace ingot
