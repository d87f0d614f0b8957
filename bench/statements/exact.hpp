// A statement's value in double, and the bound of a result's error in its dtype: every operation passes on its
// operands' errors by its derivative and adds its own rounding. Plain loops over blocks of positions compute it, fold
// by fold and scan by scan; from the library it uses only the table's operator costs and Philox.
//
// Along axes without folds and scans, only results at a few chosen indices are computed.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <ingot/core/philox.hpp>

#include "draw.hpp"
#include "operations.hpp"

namespace bench {

/// The values on the host that a statement's arrays are taken from.
struct statement_values {
    std::span<const float> floats;
    std::span<const double> doubles;
    std::span<const std::int32_t> integers;

    std::size_t size(const statement& s, const statement_node& n) const {
        return n.what == action::converted || s.type == dtype::i4 ? integers.size()
               : s.type == dtype::f8                              ? doubles.size()
                                                                  : floats.size();
    }
};

/// Where an array begins in a turn; every turn uses the next position in the pool, so that nothing is in a cache.
inline std::uint64_t offset_of(const statement& s, const statement_node& n, std::size_t pool, std::uint64_t turn) {
    const std::uint64_t steps = (s.elements(n) + 127) / 64, places = (pool - 64) / 64 - steps + 1;
    return n.place % 64 + 64 * ((n.place / 64 + turn * steps) % places);
}

class exact_results {
public:
    /// Computes at about `positions` positions of the space.
    exact_results(const statement& s, const statement_values& values, std::uint64_t positions = std::uint64_t{1} << 18)
        : s_(s), pools_(values), stored_(s.nodes.size()), v_(s.nodes.size()), e_(s.nodes.size()) {
        pick(positions);
        for (std::size_t i = 0; i < s.nodes.size(); ++i) {
            const bool result = std::ranges::count(s.results, static_cast<int>(i)) > 0;
            if (s.nodes[i].is_pass() || result) compute(i);
        }
    }

    /// Calls f(position in the whole result, value, error) for every computed element of result k.
    template <class F>
    void for_each(std::size_t k, F f) const {
        const auto i = static_cast<std::size_t>(s_.results[k]);
        const statement_node& n = s_.nodes[i];
        const stored& r = stored_[i];
        std::array<std::size_t, 3> at{};
        for (std::size_t p = 0; p < r.value.size(); ++p) {
            std::uint64_t position = 0;
            for (int j = 0; j < s_.rank(); ++j)
                position = position * static_cast<std::uint64_t>(s_.extent(n, j)) +
                           (n.axes >> j & 1 ? index(j, at[axis(j)]) : 0);
            f(position, r.value[p], r.error[p]);
            advance(n.axes, at);
        }
    }

private:
    static constexpr std::size_t block = 1024;

    struct stored {
        std::vector<double> value;
        std::vector<float> error;
    };
    /// The state of a fold or scan at one element of its result.
    struct partial {
        long double first = 0, second = 0;
        double size = 0, carried = 0, weighted = 0, shift = 0, extreme = 0;
        std::uint64_t count = 0;
    };

    static std::size_t axis(int j) { return static_cast<std::size_t>(j); }
    std::size_t extent(axis_set axes, int j) const { return axes >> j & 1 ? counts_[axis(j)] : 1; }
    std::size_t elements(axis_set axes) const {
        std::size_t product = 1;
        for (int j = 0; j < s_.rank(); ++j) product *= extent(axes, j);
        return product;
    }
    std::uint64_t index(int j, std::size_t i) const { return picked_[axis(j)].empty() ? i : picked_[axis(j)][i]; }
    void advance(axis_set axes, std::array<std::size_t, 3>& at) const {
        for (int j = s_.rank(); j-- > 0;) {
            if (++at[axis(j)] < extent(axes, j)) return;
            at[axis(j)] = 0;
        }
    }
    double epsilon() const { return s_.type == dtype::f4 ? 0x1p-24 : s_.type == dtype::f8 ? 0x1p-53 : 0; }

    void pick(std::uint64_t positions) {
        axis_set passed = 0;
        for (const statement_node& n : s_.nodes) passed |= n.along;
        std::uint64_t whole = 1;
        int free = 0;
        for (int j = 0; j < s_.rank(); ++j)
            if (passed >> j & 1)
                whole *= static_cast<std::uint64_t>(s_.extents[axis(j)]);
            else
                ++free;
        const double each = std::pow(std::max(2.0, static_cast<double>(positions / whole)), 1.0 / std::max(1, free));
        for (int j = 0; j < s_.rank(); ++j) {
            const auto n = static_cast<std::uint64_t>(s_.extents[axis(j)]),
                       some = std::min(n, static_cast<std::uint64_t>(each));
            picked_[axis(j)].clear();
            counts_[axis(j)] = n;
            if ((passed >> j & 1) || some == n) continue;
            for (std::uint64_t i = 0; i < some; ++i)
                picked_[axis(j)].push_back(some == 1 ? n / 2 : i * (n - 1) / (some - 1));
            counts_[axis(j)] = some;
        }
    }

    // ---- one pass over a space: to a fold, a scan or a result ----------------------------------------------------

    void compute(std::size_t target) {
        const statement_node& t = s_.nodes[target];
        const std::size_t root = t.is_pass() ? static_cast<std::size_t>(t.from[0]) : target;
        if (!t.is_pass() && !stored_[target].value.empty()) return;
        const axis_set space = s_.nodes[root].axes;
        const std::vector<std::size_t> order = nodes_beneath(root);
        stored to;
        to.value.resize(elements(t.axes));
        to.error.resize(to.value.size());
        std::vector<partial> partials(t.is_pass() ? elements(t.axes & ~t.along) : 0);

        std::array<std::size_t, 3> at{};
        const std::size_t all = elements(space);
        for (std::size_t first = 0; first < all; first += block) {
            const std::size_t n = std::min(block, all - first);
            for (std::size_t p = 0; p < n; ++p) {
                for (int j = 0; j < s_.rank(); ++j) at_[axis(j)][p] = static_cast<std::uint32_t>(at[axis(j)]);
                advance(space, at);
            }
            for (const std::size_t i : order) evaluate(i, n);
            const std::vector<double>&v = v_[root], &e = e_[root];
            for (std::size_t p = 0; p < n; ++p) {
                if (!t.is_pass()) {
                    to.value[first + p] = v[p];
                    to.error[first + p] = static_cast<float>(e[p]);
                    continue;
                }
                partial& s = partials[position(t.axes & ~t.along, p)];
                accumulate(t, s, v[p], e[p]);
                if (t.what != action::scan) continue;
                to.value[first + p] = value_of(t, s);
                to.error[first + p] = static_cast<float>(error_of(t, s));
            }
        }
        for (std::size_t p = 0; t.what == action::fold && p < partials.size(); ++p) {
            to.value[p] = value_of(t, partials[p]);
            to.error[p] = static_cast<float>(error_of(t, partials[p]));
        }
        stored_[target] = std::move(to);
    }
    /// The nodes beneath one, in order, without those that are computed already.
    std::vector<std::size_t> nodes_beneath(std::size_t root) const {
        std::vector<bool> wanted(root + 1, false);
        wanted[root] = true;
        std::vector<std::size_t> order;
        for (std::size_t i = root + 1; i-- > 0;) {
            if (!wanted[i]) continue;
            order.push_back(i);
            if (!stored_[i].value.empty()) continue;
            for (const int from : s_.nodes[i].from)
                if (from >= 0) wanted[static_cast<std::size_t>(from)] = true;
        }
        std::ranges::reverse(order);
        return order;
    }
    /// The index of a block's position among the computed elements over these axes.
    std::size_t position(axis_set axes, std::size_t p) const {
        std::size_t at = 0;
        for (int j = 0; j < s_.rank(); ++j)
            if (axes >> j & 1) at = at * counts_[axis(j)] + at_[axis(j)][p];
        return at;
    }

    // ---- folds and scans -----------------------------------------------------------------------------------------

    void accumulate(const statement_node& t, partial& s, double v, double e) const {
        if (s.count++ == 0) {
            s.shift = v;
            s.extreme = v;
        }
        switch (t.fold) {
            case folding::max:
                s.extreme = std::max(s.extreme, v);
                s.carried = std::max(s.carried, e);
                return;
            case folding::min:
                s.extreme = std::min(s.extreme, v);
                s.carried = std::max(s.carried, e);
                return;
            case folding::logsumexp: {
                const double term = std::exp(v);
                s.first += term;
                s.carried += term * e;
                return;
            }
            case folding::var: {
                const double d = v - s.shift;
                s.first += d;
                s.second += static_cast<long double>(d) * d;
                s.weighted += std::abs(d) * e;
                s.carried += e;
                return;
            }
            default:
                s.first += v;
                s.size += std::abs(v);
                s.carried += e;
        }
    }
    static double value_of(const statement_node& t, const partial& s) {
        const auto n = static_cast<long double>(s.count);
        switch (t.fold) {
            case folding::max:
            case folding::min:
                return s.extreme;
            case folding::logsumexp:
                return static_cast<double>(std::log(s.first));
            case folding::var:
                return static_cast<double>((s.second - s.first * s.first / n) / n);
            case folding::mean:
                return static_cast<double>(s.first / n);
            default:
                return static_cast<double>(s.first);
        }
    }
    /// The error of a sum is some units in the last place of the sum of its terms' sizes, however many there are; a
    /// scan adds more of them one after the other.
    double error_of(const statement_node& t, const partial& s) const {
        const double n = static_cast<double>(s.count), eps = epsilon();
        const double last_places = t.what == action::scan ? 128 : 32;
        switch (t.fold) {
            case folding::max:
            case folding::min:
                return s.carried;
            case folding::logsumexp:
                return s.carried / static_cast<double>(s.first) + last_places * eps * (1 + std::abs(value_of(t, s)));
            case folding::var: {
                const double off = std::abs(static_cast<double>(s.first)) / n, var = value_of(t, s),
                             mean = s.shift + off;
                return 2 * (s.weighted + off * s.carried) / n + last_places * eps * var +
                       8 * eps * std::abs(mean) * std::sqrt(std::max(var, 0.0)) + std::pow(4 * eps * mean, 2);
            }
            case folding::mean:
                return (s.carried + last_places * eps * s.size) / n;
            default:
                return s.carried + last_places * eps * s.size;
        }
    }

    // ---- one node over the block's positions -----------------------------------------------------------------------

    void evaluate(std::size_t i, std::size_t n) {
        const statement_node& node = s_.nodes[i];
        std::vector<double>&v = v_[i], &e = e_[i];
        v.resize(block);
        e.resize(block);
        if (!stored_[i].value.empty()) {
            for (std::size_t p = 0; p < n; ++p) {
                const std::size_t at = position(node.axes, p);
                v[p] = stored_[i].value[at];
                e[p] = stored_[i].error[at];
            }
        } else if (node.is_leaf()) {
            read_leaf(node, n, v, e);
        } else if (node.what == action::select) {
            const auto of = [](const auto& lists, int from) -> const auto& {
                return lists[static_cast<std::size_t>(from)];
            };
            const auto &compared = of(v_, node.from[0]), &a = of(v_, node.from[1]), &b = of(v_, node.from[2]);
            const auto &a_error = of(e_, node.from[1]), &b_error = of(e_, node.from[2]);
            for (std::size_t p = 0; p < n; ++p) {
                v[p] = compared[p] < node.constant ? a[p] : b[p];
                e[p] = compared[p] < node.constant ? a_error[p] : b_error[p];
            }
        } else {
            const auto a = static_cast<std::size_t>(node.from[0]);
            const bool two = node.from[1] >= 0, exact = rounds_nothing(node.row);
            if (!two) {
                constants_.assign(n, node.constant);
                no_errors_.assign(n, 0);
            }
            const std::vector<double>&y = two ? v_[static_cast<std::size_t>(node.from[1])] : constants_,
                  &dy = two ? e_[static_cast<std::size_t>(node.from[1])] : no_errors_;
            const double rounding =
                exact ? 0 : epsilon() * (1 + 2 * static_cast<double>(ingot::detail::facts(node.row).ulp));
            with_operation(node.row, [&](auto operation) {
                for (std::size_t p = 0; p < n; ++p) {
                    const bounded r = operation(v_[a][p], e_[a][p], y[p], dy[p]);
                    v[p] = r.value;
                    e[p] = r.error + rounding * (std::abs(r.value) + r.error);
                }
            });
        }
    }

    void read_leaf(const statement_node& node, std::size_t n, std::vector<double>& v, std::vector<double>& e) const {
        std::array<std::uint64_t, 3> strides{};
        std::uint64_t step = 1;
        for (int k = 0; k < s_.rank(); ++k) {
            const int j = node.reversed ? k : s_.rank() - 1 - k;
            if ((node.axes >> j & 1) == 0) continue;
            strides[axis(j)] = step;
            step *= static_cast<std::uint64_t>(s_.extent(node, j));
        }
        const std::uint64_t first = node.is_array() ? offset_of(s_, node, pools_.size(s_, node), 0) : 0;
        for (std::size_t p = 0; p < n; ++p) {
            std::uint64_t at = first;
            for (int j = 0; j < s_.rank(); ++j)
                if (strides[axis(j)] != 0) at += strides[axis(j)] * index(j, at_[axis(j)][p]);
            e[p] = 0;
            if (!node.is_array())
                s_.type == dtype::f8 ? draw<double>(node, at, v[p], e[p]) : draw<float>(node, at, v[p], e[p]);
            else if (node.what == action::converted || s_.type == dtype::i4)
                v[p] = pools_.integers[at];
            else
                v[p] = s_.type == dtype::f8 ? pools_.doubles[at] : static_cast<double>(pools_.floats[at]);
        }
    }
    template <class T>
    void draw(const statement_node& node, std::uint64_t i, double& v, double& e) const {
        namespace philox = ingot::detail::philox;
        const philox::block words = philox::words(s_.seed, node.place, i / philox::per_block<T>);
        const auto word = [&](std::uint64_t of) { return philox::word_of<T>(words, of % philox::per_block<T>); };
        if (node.what == action::uniform) {
            v = philox::uniform(word(i));
            return;
        }
        const double radius = std::sqrt(-2 * std::log(double{philox::uniform_above_zero(word(i & ~std::uint64_t{1}))}));
        const double angle = philox::two_pi<double> * double{philox::uniform(word(i | 1))};
        v = radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
        e = 16 * epsilon() * radius;  // the angle's rounding, and some units in the last place of each factor
    }

    const statement& s_;
    statement_values pools_;
    std::array<std::vector<std::uint64_t>, 3> picked_;
    std::array<std::size_t, 3> counts_{1, 1, 1};
    std::vector<stored> stored_;
    std::vector<std::vector<double>> v_, e_;
    std::vector<double> constants_, no_errors_;
    std::array<std::array<std::uint32_t, block>, 3> at_;
};

}  // namespace bench
