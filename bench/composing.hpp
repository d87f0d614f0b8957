// Random statements of shifted, wrapped, joined, gathered and windowed values among maps, folds and scans: the tests
// compare them with their single steps, the benchmarks time them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

namespace bench {

using namespace ingot;

/// Draws statements over three arrays of one shape.
template <class T>
class composer {
public:
    /// The arrays have a drawn small shape.
    explicit composer(std::uint64_t seed) : draw_(seed) {
        const index_t rows = 2 + below(40), columns = 2 + below(below(3) == 0 ? 700 : 60);
        make_leaves(rows, columns);
    }
    /// The arrays have a given shape; the values of the single steps are not computed.
    composer(std::uint64_t seed, index_t rows, index_t columns) : draw_(seed), steps_(false) {
        make_leaves(rows, columns);
    }

    /// Begins another statement over the same arrays.
    void restart(std::uint64_t seed) {
        draw_.seed(seed);
        told_.clear();
        used_.fill(false);
    }

    struct value {
        lazy<T> whole;     // evaluated in one statement
        array<T> stepped;  // evaluated after each operation
    };
    value draw(int depth) {
        if (depth == 0 || below(8) == 0) {
            const auto k = static_cast<std::size_t>(below(3));
            say("leaf " + std::to_string(k));
            used_[k] = true;
            return {leaves_[k], leaves_[k]};
        }
        const int axis = static_cast<int>(below(2));
        switch (below(12)) {
            case 0: {
                const index_t by = below(90) - 45;
                return one(depth, "roll by " + std::to_string(by) + along(axis),
                           [=](const auto& a) { return lazy<T>(roll(a, by, axis)); });
            }
            case 1: {
                constexpr pad_mode modes[] = {pad_mode::wrap, pad_mode::reflect, pad_mode::symmetric, pad_mode::edge,
                                              pad_mode::constant};
                const index_t mode = below(5), from = below(3);
                return one(depth, "pad " + std::to_string(mode) + " from " + std::to_string(from) + along(axis),
                           [=](const auto& a) {
                               const index_t n = a.shape()[0], m = a.shape()[1];
                               const auto padded = pad(a, 1, modes[mode]);
                               return axis == 0 ? lazy<T>(padded(slice(from, from + n), slice(1, m + 1)))
                                                : lazy<T>(padded(slice(1, n + 1), slice(from, from + m)));
                           });
            }
            case 2:
                return both(depth, "halves joined" + along(axis), [=](const auto& a, const auto& b) {
                    const index_t half = a.shape()[axis] / 2;
                    if (axis == 0) return concatenate({lazy<T>(a(slice(0, half))), lazy<T>(b(slice(half, none)))}, 0);
                    return concatenate({lazy<T>(a(all, slice(0, half))), lazy<T>(b(all, slice(half, none)))}, 1);
                });
            case 3: {
                const index_t step = 1 + below(7);
                return one(depth, "every " + std::to_string(step) + "th taken" + along(axis), [=](const auto& a) {
                    const index_t n = a.shape()[axis];
                    const array<index_t> at = arange<index_t>(n) * step % n;
                    return lazy<T>(take(a, at, axis));
                });
            }
            case 4: {
                const index_t width = 2 + below(6);
                return one(depth, "windows of " + std::to_string(width) + along(axis), [=](const auto& a) {
                    const index_t w = std::min<index_t>(width, a.shape()[axis]);
                    const auto padded =
                        pad(a, {{axis == 0 ? w - 1 : 0, 0}, {axis == 1 ? w - 1 : 0, 0}}, pad_mode::edge);
                    return lazy<T>(mean(sliding_window_view(padded, w, axis), -1));
                });
            }
            case 5:
                return one(depth, "minus the greatest" + along(axis),
                           [=](const auto& a) { return lazy<T>(a - max(a, axis, keepdims)); });
            case 6:
                return one(depth, "minus the mean" + along(axis),
                           [=](const auto& a) { return lazy<T>(a - mean(a, axis, keepdims)); });
            case 7:
                return one(depth, "running mean" + along(axis),
                           [=](const auto& a) { return lazy<T>(cumsum(a, axis) / static_cast<T>(a.shape()[axis])); });
            case 8:
                return one(depth, "flipped" + along(axis), [=](const auto& a) { return lazy<T>(flip(a, axis)); });
            case 9:
                return one(depth, "cos", [](const auto& a) { return lazy<T>(cos(a * T(3))); });
            case 10:
                return both(depth, "product", [](const auto& a, const auto& b) { return lazy<T>(a * b); });
            default:
                return both(depth, "half the sum",
                            [](const auto& a, const auto& b) { return lazy<T>(T(0.5) * (a + b)); });
        }
    }
    const std::string& told() const { return told_; }
    /// How many of the arrays the statement reads.
    std::size_t leaves_read() const { return static_cast<std::size_t>(std::ranges::count(used_, true)); }

private:
    void make_leaves(index_t rows, index_t columns) {
        for (int k = 0; k < 3; ++k)
            leaves_.push_back(
                astype<T>(sin(reshape(arange<double>(rows * columns), {rows, columns}) * (0.7 + k))).eval());
    }
    index_t below(index_t n) { return static_cast<index_t>(draw_() % static_cast<std::uint64_t>(n)); }
    void say(const std::string& text) { told_ += text + "; "; }
    static std::string along(int axis) { return " along " + std::to_string(axis); }
    template <class F>
    value one(int depth, const std::string& name, F f) {
        const value a = draw(depth - 1);
        say(name);
        return {f(a.whole), steps_ ? array<T>(f(lazy<T>(a.stepped))) : a.stepped};
    }
    template <class F>
    value both(int depth, const std::string& name, F f) {
        const value a = draw(depth - 1), b = draw(depth - 1);
        say(name);
        return {f(a.whole, b.whole), steps_ ? array<T>(f(lazy<T>(a.stepped), lazy<T>(b.stepped))) : a.stepped};
    }

    std::mt19937_64 draw_;
    bool steps_ = true;
    std::vector<array<T>> leaves_;
    std::array<bool, 3> used_{};
    std::string told_;
};

}  // namespace bench
