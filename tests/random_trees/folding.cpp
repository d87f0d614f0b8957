// Random programs of reductions, scans, row programs, maps and views among each other: what a fused statement makes of
// all of it must be what its operations make one after the other, each a statement of its own. Programs of integers
// agree bit for bit, for no order of adding rounds; smooth ones within what their roundings add up to. INGOT_TEST_SEED
// replays a run, INGOT_TEST_PROGRAMS sets how many programs it has.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "leaf.hpp"
#include "tests/drawn.hpp"

namespace ingot::tests {

namespace {

/// A value made both ways.
template <class T>
struct value {
    lazy<T> fused;
    array<T> apart;
    double most;  // no element's magnitude is above
    std::string text;
};

enum class numbers : std::uint8_t { integers, smooth };

template <class T, numbers kind>
class folding_program {
public:
    explicit folding_program(std::uint64_t seed) : random_(seed), seed_(seed) {
        choose_shape();
        for (std::uint64_t i = 1 + below(3); i-- > 0;) add_leaf();
        for (std::uint64_t i = 3 + below(10); i-- > 0;) step();
    }

    /// Evaluates the last value and up to two others in one statement; returns the difference, or nothing.
    std::string disagreement() {
        const value<T>&a = values_.back(), &b = some(), &c = some();
        evaluated_ = name(a);
        switch (below(3)) {
            case 0:
                return compare(a, eval(a.fused));
            case 1: {
                evaluated_ += ", " + name(b);
                const auto [x, y] = eval(a.fused, b.fused);
                return compare(a, x) + compare(b, y);
            }
            default: {
                evaluated_ += ", " + name(b) + ", " + name(c);
                const auto [x, y, z] = eval(a.fused, b.fused, c.fused);
                return compare(a, x) + compare(b, y) + compare(c, z);
            }
        }
    }

    std::string text() const {
        std::string out = "seed " + std::to_string(seed_) + ", evaluated: " + evaluated_;
        for (const value<T>& v : values_) out += "\n  " + name(v) + " = " + v.text + ": " + detail::to_text(shape(v));
        return out;
    }

private:
    static constexpr bool smooth = kind == numbers::smooth;
    /// Integers up to here are exact; smooth functions of smaller numbers do not magnify errors much.
    static constexpr double limit = smooth                      ? 100
                                    : std::is_same_v<T, float>  ? 0x1p24
                                    : std::is_same_v<T, double> ? 0x1p53
                                                                : 0x1p31;
    static constexpr index_t most_elements = 100'000;

    std::uint64_t below(std::uint64_t n) { return random_.below(n); }
    std::size_t pick() { return random_.chance(50) ? values_.size() - 1 : below(values_.size()); }
    const value<T>& some() { return random_.one_of(values_); }
    static extents shape(const value<T>& v) {
        const shape_like s = v.apart.shape();
        return {s.values().begin(), s.values().end()};
    }
    std::string name(const value<T>& v) const { return "v" + std::to_string(&v - values_.data()); }
    static axes over(const std::vector<index_t>& which) { return axes(std::span<const index_t>(which)); }

    void choose_shape() {
        static constexpr index_t sizes[] = {1,  2,  3,   5,   8,   16,   17,   31,   32,
                                            33, 64, 100, 129, 257, 1000, 1025, 4099, 70001};
        for (std::uint64_t i = 1 + below(4); i-- > 0;) shape_.push_back(random_.one_of(sizes));
        while (size_of_shape(shape_) > most_elements) {
            index_t& largest = *std::ranges::max_element(shape_);
            largest = largest / 3 + 1;
        }
        outer_ = shape_.size() > 1 && random_.chance(40);
    }

    std::vector<index_t> any_order(std::size_t rank) {
        std::vector<index_t> order(rank);
        std::iota(order.begin(), order.end(), index_t{0});
        std::ranges::shuffle(order, random_);
        return order;
    }

    /// Numbers from -9 to 9 in an array of any layout; some axes may have extent 1, and leading ones may be missing.
    void add_leaf() {
        extents stored = shape_;
        for (index_t& extent : stored)
            if (random_.chance(20)) extent = 1;
        if (outer_ && std::ranges::count(stored, index_t{1}) == 0) stored[below(stored.size())] = 1;
        if (random_.chance(25))
            stored.erase(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(below(stored.size())));
        std::vector<index_t> order = any_order(stored.size());
        if (random_.chance(70)) std::ranges::sort(order);
        extents permuted(stored.size());  // so that the transposed leaf has this shape
        for (std::size_t i = 0; i < order.size(); ++i) permuted[static_cast<std::size_t>(order[i])] = stored[i];
        const index_t lead = random_.chance(30) ? random_.below(index_t{4}) : 0;
        std::vector<T> line(static_cast<std::size_t>(size_of_shape(stored) + lead));
        for (T& x : line)
            x = smooth ? static_cast<T>(static_cast<double>(below(18'000'001)) / 1e6 - 9)
                       : static_cast<T>(static_cast<int>(below(19)) - 9);
        array<T> leaf = transpose(reshape(asarray(line)(slice(lead, none)), shape_like(permuted)), over(order));
        if (random_.chance(15)) leaf = flip(leaf, axes(static_cast<index_t>(below(stored.size()))));
        values_.push_back({leaf, leaf, 9, "leaf"});
    }

    /// f of a value, or of two.
    template <class F>
    void apply(const value<T>& v, double most, const std::string& text, F f) {
        values_.push_back({lazy<T>(f(v.fused)), eval(f(v.apart)), most, text + '(' + name(v) + ')'});
    }
    template <class F>
    void apply(const value<T>& v, const value<T>& w, double most, const std::string& text, F f) {
        values_.push_back({lazy<T>(f(v.fused, w.fused)), eval(f(v.apart, w.apart)), most,
                           text + '(' + name(v) + ", " + name(w) + ')'});
    }
    /// The index of a value whose magnitude leaves room for `factor`: this one, or one of its operands.
    std::size_t tame(std::size_t i, double factor) {
        if (values_[i].most * factor < limit) return i;
        if constexpr (smooth)
            apply(values_[i], 1, "share", [](const auto& x) { return x / (1 + abs(x)); });
        else
            apply(values_[i], 17, "remainder17", [](const auto& x) { return remainder(x, T(17)); });
        return values_.size() - 1;
    }

    void step() {
        const std::uint64_t which = below(100);
        if (which < 36)
            reduce();
        else if (which < 50)
            scan();
        else if (which < 55)
            view();
        else if (which < 80)
            combine();
        else
            map();
    }

    void reduce() {
        const std::size_t i = pick();
        const extents s = shape(values_[i]);
        std::vector<index_t> which;
        double count = 1;
        for (std::size_t a = 0; a < s.size(); ++a)
            if (random_.chance(s.size() == 1 ? 80 : 50)) {
                which.push_back(static_cast<index_t>(a));
                count *= static_cast<double>(s[a]);
            }
        if constexpr (smooth)
            reduce_smooth(i, which, count);
        else
            reduce_integers(i, which, count);
    }

    /// A reduction f(x, tags...), with the axes kept or not.
    template <class F>
    void fold(const value<T>& v, const std::vector<index_t>& which, double most, const char* called, F f) {
        const bool keep = random_.chance(75);
        const axes a = over(which);
        apply(
            v, most, called + detail::to_text(std::span<const index_t>(which)) + (keep ? " kept" : ""),
            [&](const auto& x) { return keep ? lazy<T>(astype<T>(f(x, a, keepdims))) : lazy<T>(astype<T>(f(x, a))); });
    }

    void reduce_integers(std::size_t i, const std::vector<index_t>& which, double count) {
        static const reduction_kernel<"T x", "T y"> positive("x > 0 ? x : T(0)", "a + b", "y = a", "0", "positive");
        const std::uint64_t operation = below(10);
        if (operation < 4) i = tame(i, count);
        const value<T>& v = values_[i];
        switch (operation) {
            case 0:
            case 1:
            case 2:
                return fold(v, which, v.most * count, "sum", [](const auto&... a) { return sum(a...); });
            case 3:
                return fold(v, which, v.most * count, "positive", [](const auto&... a) { return positive(a...); });
            case 4:
                return fold(v, which, v.most, "max", [](const auto&... a) { return max(a...); });
            case 5:
                return fold(v, which, v.most, "min", [](const auto&... a) { return min(a...); });
            case 6:
                if (which.size() != 1) return;
                return fold(v, which, count, "argmax", [](const auto&... a) { return argmax(a...); });
            case 7:
                return fold(v, which, count, "count",
                            [](const auto& x, const auto&... a) { return count_nonzero(x > 2, a...); });
            case 8:
                return fold(v, which, 1, "any",
                            [](const auto& x, const auto&... a) { return ingot::any(x > 6, a...); });
            default:
                return fold(v, which, 2 * v.most, "ptp", [](const auto&... a) { return ptp(a...); });
        }
    }

    void reduce_smooth(std::size_t i, const std::vector<index_t>& which, double count) {
        if (which.empty()) return;
        const value<T>& v = values_[tame(i, 3)];
        const axes along = over(which);
        const std::string on = detail::to_text(std::span<const index_t>(which));
        switch (below(11)) {
            case 0:
                return fold(v, which, v.most, "mean", [](const auto&... a) { return mean(a...); });
            case 1:
                return fold(v, which, v.most, "sum",
                            [&](const auto& x, const auto&... a) { return sum(x / count, a...); });
            case 2:
                return fold(v, which, v.most + 1, "deviation", [](const auto&... a) { return sqrt(var(a...) + 1); });
            case 3:
                return fold(v, which, v.most + std::log(count), "logsumexp",
                            [](const auto&... a) { return logsumexp(a...); });
            case 4:
                return fold(v, which, v.most + 1, "norm",
                            [&](const auto&... a) { return sqrt(square(norm(a...)) / count + 1); });
            case 5:
                return fold(v, which, v.most, "max", [](const auto&... a) { return max(a...); });
            case 6:
            case 7:
                return apply(v, 1, "softmax" + on, [&](const auto& x) { return softmax(x, along); });
            case 8:
                return apply(v, 2 * v.most + std::log(count), "log_softmax" + on,
                             [&](const auto& x) { return log_softmax(x, along); });
            case 9:
                return apply(v, 2 * v.most, "standardise" + on, [&](const auto& x) {
                    return (x - mean(x, along, keepdims)) / (sqrt(var(x, along, keepdims) + 1));
                });
            default:
                return apply(v, 1, "normalise" + on, [&](const auto& x) { return x / (norm(x, along, keepdims) + 1); });
        }
    }

    void scan() {
        std::size_t i = pick();
        const extents s = shape(values_[i]);
        if (s.empty()) return;
        const auto axis = static_cast<index_t>(below(s.size()));
        const auto length = static_cast<double>(s[static_cast<std::size_t>(axis)]);
        const std::string on = std::to_string(axis);
        if (random_.chance(40)) {
            const value<T>& v = values_[i];
            if (random_.chance(50))
                return apply(v, v.most, "cummin" + on, [&](const auto& x) { return cummin(x, axis); });
            return apply(v, v.most, "cummax" + on, [&](const auto& x) { return cummax(x, axis); });
        }
        if constexpr (smooth) {
            const value<T>& v = values_[i];
            return apply(v, v.most, "cumsum" + on, [&](const auto& x) { return cumsum(x / length, axis); });
        } else {
            const value<T>& v = values_[tame(i, length)];
            return apply(v, v.most * length, "cumsum" + on, [&](const auto& x) { return astype<T>(cumsum(x, axis)); });
        }
    }

    void view() {
        const value<T>& v = values_[pick()];
        const extents s = shape(v);
        if (s.empty()) return;
        const auto axis = static_cast<index_t>(below(s.size()));
        const std::vector<index_t> order = any_order(s.size());
        switch (below(5)) {
            case 0:
                return apply(v, v.most, "flip" + std::to_string(axis),
                             [&](const auto& x) { return flip(x, axes(axis)); });
            case 1:
                return apply(v, v.most, "transpose" + detail::to_text(std::span<const index_t>(order)),
                             [&](const auto& x) { return transpose(x, over(order)); });
            case 2:
                return apply(v, v.most, "ravel", [&](const auto& x) { return ravel(x); });
            case 3:
                return apply(v, v.most, "every second", [&](const auto& x) { return x(slice(none, none, 2)); });
            default:
                if (size_of_shape(s) * 3 > most_elements) return;
                return apply(v, v.most, "three times", [&](const auto& x) {
                    std::vector<index_t> wide{3};
                    wide.insert(wide.end(), s.begin(), s.end());
                    return broadcast_to(x, shape_like(wide));
                });
        }
    }

    static bool go_together(const value<T>& v, const value<T>& w) {
        const extents a = shape(v), b = shape(w);
        index_t size = 1;
        for (std::size_t k = 1; k <= std::max(a.size(), b.size()); ++k) {
            const index_t x = k > a.size() ? 1 : a[a.size() - k], y = k > b.size() ? 1 : b[b.size() - k];
            if (x != y && x != 1 && y != 1) return false;
            size *= std::max(x, y);
        }
        return size <= most_elements;
    }

    void combine() {
        std::size_t i = pick(), j = below(values_.size());
        if (!go_together(values_[i], values_[j])) return;
        const std::uint64_t operation = below(smooth ? 4 : 6);
        if (operation == 2) i = tame(i, 17), j = tame(j, values_[i].most);
        if (operation < 2) i = tame(i, 2), j = tame(j, 2);
        const value<T>&v = values_[i], &w = values_[j];
        const double larger = std::max(v.most, w.most);
        switch (operation) {
            case 0:
                return apply(v, w, v.most + w.most, "add", [](const auto& x, const auto& y) { return x + y; });
            case 1:
                return apply(v, w, v.most + w.most, "subtract", [](const auto& x, const auto& y) { return x - y; });
            case 2:
                return apply(v, w, v.most * w.most, "multiply", [](const auto& x, const auto& y) { return x * y; });
            case 3:
                return apply(v, w, larger, "minimum", [](const auto& x, const auto& y) { return minimum(x, y); });
            case 4:
                return apply(v, w, larger, "where", [](const auto& x, const auto& y) { return where(x > y, x, y); });
            default:
                return apply(v, w, 1, "equal", [](const auto& x, const auto& y) { return astype<T>(x == y); });
        }
    }

    void map() {
        const value<T>& v = values_[tame(pick(), 3)];
        switch (below(5)) {
            case 0:
                return apply(v, v.most, "negative", [](const auto& x) { return -x; });
            case 1:
                return apply(v, v.most * 3, "three", [](const auto& x) { return x * T(3); });
            case 2:
                return apply(v, v.most, "absolute", [](const auto& x) { return abs(x); });
            case 3:
                if constexpr (smooth)
                    return apply(v, 1, "sin", [](const auto& x) { return sin(x); });
                else
                    return apply(v, 17, "remainder17", [](const auto& x) { return remainder(x, T(17)); });
            default:
                if constexpr (smooth)
                    return apply(v, 1, "exp", [](const auto& x) { return exp(-abs(x)); });
                else
                    return apply(v, v.most + 1, "above", [](const auto& x) { return where(x > 1, x + T(1), -x); });
        }
    }

    std::string compare(const value<T>& wanted, const array<T>& got) const {
        if (got.shape() != wanted.apart.shape()) return name(wanted) + " has another shape; ";
        const std::vector<T> a = eval(ravel(got)).to_host(), b = eval(ravel(wanted.apart)).to_host();
        const auto differ = [&](std::size_t k) {
            if constexpr (smooth) return !(std::abs(a[k] - b[k]) <= 1e-8 * (1 + std::abs(b[k])));
            return a[k] != b[k];
        };
        std::size_t first = 0, wrong = 0;
        for (std::size_t k = a.size(); k-- > 0;)
            if (differ(k)) first = k, ++wrong;
        if (wrong == 0) return "";
        return name(wanted) + ": " + std::to_string(wrong) + " elements differ, the first is " + std::to_string(first) +
               ": " + std::to_string(a[first]) + " for " + std::to_string(b[first]) + "; ";
    }

    random_engine random_;
    std::uint64_t seed_;
    extents shape_;
    bool outer_ = false;  // no leaf has all axes: all are broadcast together
    std::vector<value<T>> values_;
    std::string evaluated_;
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

template <class T, numbers kind = numbers::integers>
void check(std::uint64_t seed) {
    std::optional<folding_program<T, kind>> program;
    std::string what;
    try {
        program.emplace(seed);
        what = program->disagreement();
    } catch (const std::exception& error) {
        what = std::string("threw ") + error.what();
    }
    CHECK_MESSAGE(what.empty(), what, "\n", program ? program->text() : "seed " + std::to_string(seed));
}

}  // namespace

TEST_CASE("reductions, scans, maps and views among each other are what they are one by one") {
    const std::uint64_t seed = ingot::test::drawing_seed();
    const auto draws = static_cast<std::uint64_t>(ingot::test::number_of_draws(40));
    const std::uint64_t count = number_from("INGOT_TEST_PROGRAMS", draws);
    MESSAGE("seed " << seed << ", " << count << " programs");
    for (std::uint64_t s = seed; s < seed + count; ++s) switch (s % 4) {
            case 0:
                check<double>(s);
                break;
            case 1:
                check<float>(s);
                break;
            case 2:
                check<double, numbers::smooth>(s);
                break;
            default:
                check<std::int32_t>(s);
        }
}

}  // namespace ingot::tests
