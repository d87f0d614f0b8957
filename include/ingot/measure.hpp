// Seeing and measuring: what an expression becomes (explain, source, to_dot) and how long a function takes (benchmark).
// None of explain, source and to_dot runs the expression.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/counters.hpp>
#include <ingot/expression.hpp>

namespace ingot {

/// One kernel of an expression.
struct kernel_explanation {
    std::string name;
    std::string pattern;  ///< "map", "row reduction", ...
    std::string reason;   ///< why this tile and launch shape
    std::array<std::uint64_t, 3> grid{1, 1, 1};
    std::uint32_t block = 0;       ///< threads
    std::uint64_t bytes_read = 0;  ///< each element it needs once
    std::uint64_t bytes_written = 0;
    std::uint64_t flops = 0;  ///< by each operator's stated cost
};

/// What an expression becomes. Prints itself.
struct explanation {
    std::string expression;
    std::string pattern;
    std::string key;         ///< in words
    std::string missing;     ///< not empty: the pattern has no kernel yet, and why
    bool in_memory = false;  ///< a kernel of this key is loaded
    std::vector<kernel_explanation> kernels;

    std::uint64_t bytes_read() const;
    std::uint64_t bytes_written() const;
    std::uint64_t flops() const;
};
INGOT_API std::ostream& operator<<(std::ostream&, const explanation&);

inline namespace v1 {
/// The door's siblings: the same arguments, nothing is run.
INGOT_API explanation explain_statement(std::span<const detail::word> program, std::span<const operand> operands,
                                        std::span<const detail::word> attributes, std::span<const output> outputs);
INGOT_API std::string source_of_statement(std::span<const detail::word> program, std::span<const operand> operands,
                                          std::span<const detail::word> attributes, std::span<const output> outputs);
INGOT_API std::string dot_of_statement(std::span<const detail::word> program, std::span<const operand> operands,
                                       std::span<const detail::word> attributes, std::span<const output> outputs);
}  // namespace v1

namespace detail {

/// Gathers `e` as an evaluation into a new array would, and hands it to `f`.
template <class E, class F>
auto with_statement(const E& e, F f) {
    using node = std::remove_cvref_t<decltype(as_node(e))>;
    const node& tree = as_node(e);
    operand operands[node::operands];
    word attributes[node::binders + 1];
    cursor c{operands, attributes};
    tree.gather(c);
    buffer_ref memory;
    layout where;
    const output out{node::type, &memory, &where};
    return f(node::program, operands, std::span<const word>(attributes, static_cast<std::size_t>(node::binders)),
             std::span<const output>(&out, 1));
}

}  // namespace detail

/// Kernels, launch shapes, bytes and operations of an expression.
template <array_expression E>
explanation explain(const E& e) {
    return detail::with_statement(e, [](const auto&... a) { return v1::explain_statement(a...); });
}

/// The generated source of an expression, on the device it would run on.
template <array_expression E>
std::string source(const E& e) {
    return detail::with_statement(e, [](const auto&... a) { return v1::source_of_statement(a...); });
}

/// The expression's graph in Graphviz's language, equal subtrees drawn once.
template <array_expression E>
std::string to_dot(const E& e) {
    return detail::with_statement(e, [](const auto&... a) { return v1::dot_of_statement(a...); });
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
/// Calls fn() `repeats` times after `warm_up` calls: the time of the call on the CPU, and between two events around it
/// on the current stream.
INGOT_API benchmark_result benchmark(const std::function<void()>& fn, const benchmark_options& options = {});

}  // namespace ingot
