// A drawn statement as trees of lazies over pools of values on the current device.
#pragma once

#include <algorithm>
#include <concepts>
#include <numeric>
#include <tuple>
#include <vector>

#include <ingot/ingot.hpp>

#include "exact.hpp"

namespace bench {

/// Values for leaves, on the host and on the current device.
class statement_pools {
public:
    /// Floats and doubles of at most pool_range, integers of at most integer_range.
    statement_pools(std::vector<float> floats, std::vector<double> doubles, std::vector<std::int32_t> integers)
        : floats_host_(std::move(floats)),
          doubles_host_(std::move(doubles)),
          integers_host_(std::move(integers)),
          floats_(ingot::asarray(floats_host_)),
          doubles_(ingot::asarray(doubles_host_)),
          integers_(ingot::asarray(integers_host_)) {}

    statement_values values() const { return {floats_host_, doubles_host_, integers_host_}; }
    template <class T>
    const ingot::array<T>& on_device() const {
        if constexpr (std::same_as<T, float>)
            return floats_;
        else if constexpr (std::same_as<T, double>)
            return doubles_;
        else
            return integers_;
    }

private:
    std::vector<float> floats_host_;
    std::vector<double> doubles_host_;
    std::vector<std::int32_t> integers_host_;
    ingot::array<float> floats_;
    ingot::array<double> doubles_;
    ingot::array<std::int32_t> integers_;
};

/// The results of a statement of elements T, their arrays at the places of a turn.
template <class T>
class statement_trees {
public:
    statement_trees(const statement& s, const statement_pools& pools, std::uint64_t turn) : s_(s), pools_(pools) {
        // A call's number is its order in the generator.
        ingot::random::generator generator(s.seed);
        for (const statement_node& n : s.nodes) trees_.push_back(tree_of(n, turn, generator));
    }

    std::vector<ingot::array<T>> evaluate() const {
        if (s_.results.size() == 1) return {ingot::eval(result(0))};
        auto [first, second] = ingot::eval(result(0), result(1));
        return {std::move(first), std::move(second)};
    }
    ingot::explanation explain() const {
        return s_.results.size() == 1 ? ingot::explain(result(0)) : ingot::explain(result(0), result(1));
    }

private:
    using tree = ingot::lazy<T>;

    const tree& result(std::size_t k) const { return trees_[static_cast<std::size_t>(s_.results[k])]; }
    const tree& operand(const statement_node& n, std::size_t i) const {
        return trees_[static_cast<std::size_t>(n.from[i])];
    }

    tree tree_of(const statement_node& n, std::uint64_t turn, ingot::random::generator& generator) const {
        switch (n.what) {
            case action::array:
                return view<T>(n, turn);
            case action::converted:
                return tree(view<std::int32_t>(n, turn));
            case action::map:
                return n.from[1] >= 0    ? binary(n.row, operand(n, 0), operand(n, 1))
                       : n.with_constant ? binary(n.row, operand(n, 0), static_cast<T>(n.constant))
                                         : unary(n.row, operand(n, 0));
            case action::select:
                return where(operand(n, 0) < static_cast<T>(n.constant), operand(n, 1), operand(n, 2));
            case action::fold:
                return fold(n, operand(n, 0));
            case action::scan:
                return scan(n, operand(n, 0));
            default:
                break;
        }
        if constexpr (std::floating_point<T>) {
            if (n.what == action::uniform) return generator.uniform<T>(shape_of(n));
            return generator.normal<T>(shape_of(n));
        }
        throw std::logic_error("a random leaf of integers");
    }

    std::vector<index_t> shape_of(const statement_node& n) const {
        std::vector<index_t> shape;
        for (int j = 0; j < s_.rank(); ++j) shape.push_back(s_.extent(n, j));
        return shape;
    }
    template <class V>
    ingot::lazy<V> view(const statement_node& n, std::uint64_t turn) const {
        const ingot::array<V>& pool = pools_.on_device<V>();
        const auto first = static_cast<index_t>(offset_of(s_, n, static_cast<std::size_t>(pool.size()), turn));
        const auto part = pool(ingot::slice(first, first + static_cast<index_t>(s_.elements(n))));
        std::vector<index_t> shape = shape_of(n);
        if (!n.reversed) return reshape(part, ingot::shape_like(shape));
        std::ranges::reverse(shape);
        std::vector<index_t> order(shape.size());
        std::iota(order.rbegin(), order.rend(), 0);
        return permute_dims(reshape(part, ingot::shape_like(shape)), ingot::axes(order));
    }

    template <class B>
    static tree binary(op row, const tree& a, const B& b) {
        switch (row) {
            case op::add:
                return a + b;
            case op::subtract:
                return a - b;
            case op::multiply:
                return a * b;
            case op::maximum:
                return maximum(a, b);
            case op::minimum:
                return minimum(a, b);
            default:
                if constexpr (std::floating_point<T>) return a / b;
        }
        throw std::logic_error("an operation that is not drawn");
    }
    static tree unary(op row, const tree& a) {
        if (row == op::negative) return -a;
        if (row == op::absolute) return abs(a);
        if (row == op::square) return square(a);
        if constexpr (std::floating_point<T>) {
            if (row == op::exp) return exp(a);
            if (row == op::log) return log(a);
            if (row == op::log1p) return log1p(a);
            if (row == op::sqrt) return sqrt(a);
            if (row == op::sin) return sin(a);
            if (row == op::tanh) return tanh(a);
            if (row == op::erf) return erf(a);
        }
        throw std::logic_error("an operation that is not drawn");
    }
    tree fold(const statement_node& n, const tree& a) const {
        std::vector<index_t> along;
        for (int j = 0; j < s_.rank(); ++j)
            if (n.along >> j & 1) along.push_back(j);
        const ingot::axes over(along);
        if (n.fold == folding::sum) return tree(sum(a, over, ingot::keepdims));
        if (n.fold == folding::max) return tree(max(a, over, ingot::keepdims));
        if (n.fold == folding::min) return tree(min(a, over, ingot::keepdims));
        if constexpr (std::floating_point<T>) {
            if (n.fold == folding::mean) return tree(mean(a, over, ingot::keepdims));
            if (n.fold == folding::var) return tree(var(a, over, ingot::keepdims));
            if (n.fold == folding::logsumexp) return tree(logsumexp(a, over, ingot::keepdims));
        }
        throw std::logic_error("a fold that is not drawn");
    }
    static tree scan(const statement_node& n, const tree& a) {
        const index_t along = std::countr_zero(n.along);
        if (n.fold == folding::sum) return tree(cumsum(a, along));
        if (n.fold == folding::max) return tree(cummax(a, along));
        return tree(cummin(a, along));
    }

    const statement& s_;
    const statement_pools& pools_;
    std::vector<tree> trees_;
};

/// Calls f with a value of the statement's C++ type.
template <class F>
auto with_type_of(const statement& s, F f) {
    if (s.type == dtype::f4) return f(float{});
    if (s.type == dtype::f8) return f(double{});
    return f(std::int32_t{});
}

}  // namespace bench
