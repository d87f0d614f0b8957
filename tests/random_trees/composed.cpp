// Random statements of shifted, wrapped, joined, gathered and windowed values among maps, folds and scans. Each is
// evaluated in one statement, and step by step. INGOT_TEST_SEED replays a run, INGOT_TEST_STATEMENTS sets how many
// statements it has.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <sstream>

#include <ingot/ingot.hpp>

namespace ingot::tests {

namespace {

std::uint64_t setting_of(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class composer {
public:
    explicit composer(std::uint64_t seed) : draw_(seed) {
        const index_t rows = 2 + below(40), columns = 2 + below(below(3) == 0 ? 700 : 60);
        for (int k = 0; k < 3; ++k)
            leaves_.push_back(sin(reshape(arange<double>(rows * columns), {rows, columns}) * (0.7 + k)).eval());
    }

    struct value {
        lazy<double> whole;     // evaluated in one statement
        array<double> stepped;  // evaluated after each operation
    };
    value draw(int depth) {
        if (depth == 0 || below(8) == 0) {
            const auto k = static_cast<std::size_t>(below(3));
            say("leaf " + std::to_string(k));
            return {leaves_[k], leaves_[k]};
        }
        const int axis = static_cast<int>(below(2));
        switch (below(12)) {
            case 0: {
                const index_t by = below(90) - 45;
                return one(depth, "roll by " + std::to_string(by) + along(axis),
                           [=](const auto& a) { return lazy<double>(roll(a, by, axis)); });
            }
            case 1: {
                constexpr pad_mode modes[] = {pad_mode::wrap, pad_mode::reflect, pad_mode::symmetric, pad_mode::edge,
                                              pad_mode::constant};
                const index_t mode = below(5), from = below(3);
                return one(depth, "pad " + std::to_string(mode) + " from " + std::to_string(from) + along(axis),
                           [=](const auto& a) {
                               const index_t n = a.shape()[0], m = a.shape()[1];
                               const auto padded = pad(a, 1, modes[mode]);
                               return axis == 0 ? lazy<double>(padded(slice(from, from + n), slice(1, m + 1)))
                                                : lazy<double>(padded(slice(1, n + 1), slice(from, from + m)));
                           });
            }
            case 2:
                return both(depth, "halves joined" + along(axis), [=](const auto& a, const auto& b) {
                    const index_t half = a.shape()[axis] / 2;
                    if (axis == 0)
                        return concatenate({lazy<double>(a(slice(0, half))), lazy<double>(b(slice(half, none)))}, 0);
                    return concatenate({lazy<double>(a(all, slice(0, half))), lazy<double>(b(all, slice(half, none)))},
                                       1);
                });
            case 3: {
                const index_t step = 1 + below(7);
                return one(depth, "every " + std::to_string(step) + "th taken" + along(axis), [=](const auto& a) {
                    const index_t n = a.shape()[axis];
                    const array<index_t> at = arange<index_t>(n) * step % n;
                    return lazy<double>(take(a, at, axis));
                });
            }
            case 4: {
                const index_t width = 2 + below(6);
                return one(depth, "windows of " + std::to_string(width) + along(axis), [=](const auto& a) {
                    const index_t w = std::min<index_t>(width, a.shape()[axis]);
                    const auto padded =
                        pad(a, {{axis == 0 ? w - 1 : 0, 0}, {axis == 1 ? w - 1 : 0, 0}}, pad_mode::edge);
                    return lazy<double>(mean(sliding_window_view(padded, w, axis), -1));
                });
            }
            case 5:
                return one(depth, "minus the greatest" + along(axis),
                           [=](const auto& a) { return lazy<double>(a - max(a, axis, keepdims)); });
            case 6:
                return one(depth, "minus the mean" + along(axis),
                           [=](const auto& a) { return lazy<double>(a - mean(a, axis, keepdims)); });
            case 7:
                return one(depth, "running mean" + along(axis), [=](const auto& a) {
                    return lazy<double>(cumsum(a, axis) / static_cast<double>(a.shape()[axis]));
                });
            case 8:
                return one(depth, "flipped" + along(axis), [=](const auto& a) { return lazy<double>(flip(a, axis)); });
            case 9:
                return one(depth, "cos", [](const auto& a) { return lazy<double>(cos(a * 3.0)); });
            case 10:
                return both(depth, "product", [](const auto& a, const auto& b) { return lazy<double>(a * b); });
            default:
                return both(depth, "half the sum",
                            [](const auto& a, const auto& b) { return lazy<double>(0.5 * (a + b)); });
        }
    }
    const std::string& told() const { return told_; }

private:
    index_t below(index_t n) { return static_cast<index_t>(draw_() % static_cast<std::uint64_t>(n)); }
    void say(const std::string& text) { told_ += text + "; "; }
    static std::string along(int axis) { return " along " + std::to_string(axis); }
    template <class F>
    value one(int depth, const std::string& name, F f) {
        const value a = draw(depth - 1);
        say(name);
        return {f(a.whole), array<double>(f(lazy<double>(a.stepped)))};
    }
    template <class F>
    value both(int depth, const std::string& name, F f) {
        const value a = draw(depth - 1), b = draw(depth - 1);
        say(name);
        return {f(a.whole, b.whole), array<double>(f(lazy<double>(a.stepped), lazy<double>(b.stepped)))};
    }

    std::mt19937_64 draw_;
    std::vector<array<double>> leaves_;
    std::string told_;
};

}  // namespace

TEST_CASE("statements of rolls, pads, joins, gathers and windows are what their steps are") {
    const std::uint64_t seed = setting_of("INGOT_TEST_SEED", std::random_device()());
    const std::uint64_t statements = setting_of("INGOT_TEST_STATEMENTS", 8);
    std::uint64_t kernels = 0;
    for (std::uint64_t k = 0; k < statements; ++k) {
        composer c(seed + k);
        try {
            const composer::value v = c.draw(4);
            const std::uint64_t before = counters().kernel_launches;
            const array<double> found = v.whole;
            kernels += counters().kernel_launches - before;
            const bool same = found.shape() == v.stepped.shape() && allclose(found, v.stepped, 1e-9, 1e-9).item();
            if (!same) FAIL_CHECK("seed " << seed + k << ", shape " << found.shape() << ": " << c.told());
        } catch (const std::exception& e) {
            FAIL_CHECK("seed " << seed + k << " threw " << e.what() << ": " << c.told());
        }
    }
    MESSAGE(statements << " statements, " << kernels << " kernels, seed " << seed);
}

}  // namespace ingot::tests
