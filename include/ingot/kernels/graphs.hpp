// Graphs: work that is recorded once and launched as a unit many times. On a GPU they are CUDA's graphs, with loops
// that end by a value on the device, without a read by the host. On the host the same calls record the work to run.
//
// A graph records which memory is read and written. A change of an array's elements between launches, by assign(x, e),
// x.set(values), x.fill(v) or a kernel, is seen by the next launch; new memory for an array, such as by x = y of
// another shape, is not. If an array had to move because a copy or an expression from before the capture held its
// memory when it, or the copy, was written, the next launch throws. Launches write in place, so copies of a graph's
// arrays are deep.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/host.hpp>

namespace ingot {

namespace runtime {
struct graph_state;
}  // namespace runtime

namespace detail {

template <class C>
concept loop_condition = requires(C& c) {
    { c() } -> array_expression;
    requires std::same_as<typename std::remove_cvref_t<decltype(c())>::value_type, bool>;
};

/// Calls `body(argument)` and records its work on the current device.
INGOT_API runtime::graph_state* record_graph(void (*body)(void*), void* argument);
/// Whether the calling thread records.
INGOT_API bool is_recording() noexcept;
/// Records a loop. `condition` evaluates its value into the array, which has one element.
INGOT_API void record_loop(void (*condition)(void*, array<bool>&), void* of_condition, void (*body)(void*),
                           void* of_body);
/// Throws shape_error unless the condition has one element and no axes.
INGOT_API void check_condition(extents_ref shape);
INGOT_API void drop_graph(runtime::graph_state*) noexcept;

template <class C>
void evaluate_condition(C& condition, array<bool>& to) {
    const auto& value = condition();
    shape_room room;
    if constexpr (requires { value.extents(room); })
        check_condition(value.extents(room));
    else
        check_condition(as_node(value).extents(room));
    to = array<bool>(value);
}

}  // namespace detail

/// Recorded work. It holds the arrays that it reads and writes, so they need not outlive it. Copies of those arrays are
/// deep from the recording on. Its end waits for its last launch.
///
///     array<double> x = zeros<double>(3), by = full<double>({}, 1.0);
///     graph g = capture([&] { x += by; });
///     g.launch();
///     by.fill(10);
///     g.launch();
///     std::cout << x;
///     // prints: [11. 11. 11.]
class graph {
public:
    /// An empty graph, which cannot be launched.
    graph() noexcept = default;
    // Inner
    explicit graph(runtime::graph_state* state) noexcept : state_(state) {}
    graph(graph&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    graph& operator=(graph&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~graph() {
        if (state_) detail::drop_graph(state_);
    }

    /// A graph with one loop, which runs body while condition is true. condition is a function that returns a bool
    /// expression without axes; it is evaluated before the first iteration. On a GPU the loop is a conditional node: no
    /// value comes to the host between iterations. Throws device_error where the driver has none (12.4 and newer have),
    /// and what capture throws.
    ///
    ///     array<double> x = full<double>({}, 1000.0), turns = zeros<double>({});
    ///     graph halve = graph::loop([&] { return x > 1; }, [&] { x /= 2; turns += 1; });
    ///     halve.launch();
    ///     std::cout << x << ' ' << turns;
    ///     // prints: 0.9765625 10.0
    template <detail::loop_condition C, std::invocable B>
    static graph loop(C&& condition, B&& body);

    /// Launches the work, on the current stream where that belongs to the graph's device, else on that device's default
    /// stream. Throws device_error for an empty graph, and in a capture; error where an array of the graph has new
    /// memory because it was written while a copy from before the capture shared it.
    INGOT_API void launch() const;
    /// The number of recorded kernels and library calls.
    ///
    ///     array<double> x = ones<double>(3);
    ///     std::cout << capture([&] { x = x * 2 + 1; }).size();
    ///     // prints: 1
    INGOT_API std::size_t size() const noexcept;

private:
    runtime::graph_state* state_ = nullptr;
};

/// Records a function's work on the current device without doing it: arrays that it makes have memory, which launches
/// fill. Kernels are compiled and loaded meanwhile; all memory that it allocates stays with the graph. Random numbers
/// are drawn when their expression is written, so each launch has the same ones. Throws device_error for any call that
/// must wait for a result (item, to_host, printing, set from the host's memory, synchronize) and for work on another
/// device; error where an array was given new memory, which the next launch would not see; and the function's own
/// errors. After an error nothing is recorded.
///
///     array<float> x{1, 2, 3}, y;
///     graph g = capture([&] { y = x * x + 1; });
///     x.fill(3);
///     g.launch();
///     std::cout << y << ' ';
///     try {
///         capture([&] { std::cout << sum(x).item(); });
///     } catch (const device_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [10. 10. 10.] [graph] reading on the host waits for a result, which cannot be recorded
template <std::invocable F>
graph capture(F&& f) {
    using function = std::remove_reference_t<F>;
    return graph(detail::record_graph([](void* body) { static_cast<void>((*static_cast<function*>(body))()); },
                                      const_cast<void*>(static_cast<const void*>(std::addressof(f)))));
}

/// A loop within a capture, as graph::loop, beside other recorded work. Outside of a capture it runs at once, and reads
/// the condition on the host.
///
///     array<double> x = full<double>({}, 1.0);
///     graph g = capture([&] {
///         x *= 3;
///         loop_while([&] { return x < 1000; }, [&] { x *= 2; });
///     });
///     g.launch();
///     std::cout << x;
///     // prints: 1536.0
template <detail::loop_condition C, std::invocable B>
void loop_while(C&& condition, B&& body) {
    using asked = std::remove_reference_t<C>;
    using repeated = std::remove_reference_t<B>;
    if (!detail::is_recording()) {
        array<detail::deferred<bool, C>> more;
        for (;;) {
            detail::evaluate_condition(condition, more);
            if (!more.item()) return;
            body();
        }
    }
    detail::record_loop([](void* c, array<bool>& to) { detail::evaluate_condition(*static_cast<asked*>(c), to); },
                        const_cast<void*>(static_cast<const void*>(std::addressof(condition))),
                        [](void* b) { static_cast<void>((*static_cast<repeated*>(b))()); },
                        const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

template <detail::loop_condition C, std::invocable B>
graph graph::loop(C&& condition, B&& body) {
    return capture([&] { loop_while(condition, body); });
}

}  // namespace ingot
