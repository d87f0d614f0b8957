// Arrays composed of others: block, from rows of blocks; piecewise, from functions where conditions are true.
#pragma once

#include <concepts>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include <ingot/core/joins.hpp>

namespace ingot {
namespace detail {

constexpr int larger(int a, int b) { return a < b ? b : a; }

/// The facts of nested lists of expressions: their depth, the dtype to which they promote, and their highest rank.
template <class P>
struct block_facts {
    static constexpr bool is_block = false;
};
template <array_expression E>
struct block_facts<E> {
    static constexpr bool is_block = true;
    static constexpr int depth = 0;
    static constexpr dtype type = E::type;
    static int rank(const E& e) { return shape_of_expression(e).count(); }
};
template <class... P>
    requires(sizeof...(P) > 0) && (block_facts<std::remove_cvref_t<P>>::is_block && ...)
struct block_facts<std::tuple<P...>> {
    using first = block_facts<std::remove_cvref_t<std::tuple_element_t<0, std::tuple<P...>>>>;
    static constexpr bool is_block = ((block_facts<std::remove_cvref_t<P>>::depth == first::depth) && ...);
    static constexpr int depth = 1 + first::depth;
    static constexpr dtype type = promote_all({block_facts<std::remove_cvref_t<P>>::type...});
    static int rank(const std::tuple<P...>& parts) {
        int most = 0;
        std::apply(
            [&](const auto&... part) { ((most = larger(most, block_facts<std::remove_cvref_t<P>>::rank(part))), ...); },
            parts);
        return most;
    }
};
template <class P>
    requires block_facts<P>::is_block
struct block_facts<std::initializer_list<P>> {
    static constexpr bool is_block = true;
    static constexpr int depth = 1 + block_facts<P>::depth;
    static constexpr dtype type = block_facts<P>::type;
    static int rank(const std::initializer_list<P>& parts) {
        int most = 0;
        for (const P& part : parts) most = larger(most, block_facts<P>::rank(part));
        return most;
    }
};

/// The innermost lists are joined along the last axis, those around them along the one before it, and so on.
template <class T, class P>
lazy<T> joined_blocks(const P& p, int rank) {
    if constexpr (array_expression<P>) {
        return lazy<T>(viewed_to_read(p, view_with_axes, rank));
    } else {
        lazy_parts<T> parts;
        const auto add = [&](const auto& part) { parts.push_back(joined_blocks<T>(part, rank)); };
        if constexpr (values_of_host<P>)
            for (const auto& part : p) add(part);
        else
            std::apply([&](const auto&... part) { (add(part), ...); }, p);
        return joined("block", std::move(parts), -block_facts<P>::depth);
    }
}
template <class P>
auto block_of(const P& parts) {
    using facts = block_facts<P>;
    return joined_blocks<type_of<facts::type>>(parts, larger(facts::depth, facts::rank(parts)));
}

/// An array of blocks: lists in braces or tuples of expressions or of such lists. The entries of an innermost list are
/// joined along the last axis, lists of these along the axis before it, and so on; entries with fewer axes get axes of
/// extent 1 in front. Braces need one type; tuples promote. The result is a `lazy`, as from `concatenate`. Throws
/// shape_error where blocks do not fit.
///
///     array<int> a{{1, 2}, {3, 4}}, zero = zeros<int>({2, 1});
///     std::cout << block({{a, zero}, {zero, a}}) << '\n' << block(std::tuple{a(0), scalar(0.5)});
///     // prints: [[1 2 0]
///     //          [3 4 0]
///     //          [0 1 2]
///     //          [0 3 4]]
///     //         [1.  2.  0.5]
template <array_expression E>
auto block(std::initializer_list<E> row) {
    return block_of(row);
}
template <array_expression E>
auto block(std::initializer_list<std::initializer_list<E>> rows) {
    return block_of(rows);
}
template <array_expression E>
auto block(std::initializer_list<std::initializer_list<std::initializer_list<E>>> planes) {
    return block_of(planes);
}
template <class... P>
    requires block_facts<std::tuple<P...>>::is_block
auto block(const std::tuple<P...>& parts) {
    return block_of(parts);
}

// ---- functions in pieces -------------------------------------------------------------------------------------------

/// The value of a piece of piecewise: a number, or a function of an expression.
template <class T, class X, class P>
auto value_of_piece(const X& x, const P& piece) {
    if constexpr (weak_scalar<P>)
        return element_leaf<T>("piecewise", piece);
    else
        return astype<T>(piece(x));
}
template <std::size_t K, class T, class X, class C, class P>
auto pieces_of(const X& x, const C& conditions, const P& pieces) {
    constexpr std::size_t count = std::tuple_size_v<C>;
    if constexpr (K == count) {
        if constexpr (std::tuple_size_v<P> > count)
            return value_of_piece<T>(x, std::get<count>(pieces));
        else
            return element_leaf<T>("piecewise", 0);
    } else {
        // The last condition that is true decides.
        return where(std::get<count - 1 - K>(conditions), value_of_piece<T>(x, std::get<count - 1 - K>(pieces)),
                     pieces_of<K + 1, T>(x, conditions, pieces));
    }
}

/// Each element is computed by the last piece whose condition is true for it; where no condition is, by the piece that
/// follows them, or it is 0. Conditions are a tuple of expressions; pieces are a tuple of as many, or one more, numbers
/// and functions of x. A function takes all of x and may read any value. The result has x's type. Throws shape_error
/// where shapes do not broadcast.
///
///     array<double> x{-2, -0.5, 0.5, 2};
///     std::cout << piecewise(x, std::tuple{x < -1, x > 1}, std::tuple{-1, 1, [](const auto& v) { return v * v; }});
///     // prints: [-1.    0.25  0.25  1.  ]
template <array_expression X, array_expression... C, class... P>
    requires(sizeof...(C) > 0) && (sizeof...(P) == sizeof...(C) || sizeof...(P) == sizeof...(C) + 1)
auto piecewise(const X& x, const std::tuple<C...>& conditions, const std::tuple<P...>& pieces) {
    return pieces_of<0, typename X::value_type>(x, conditions, pieces);
}

}  // namespace detail

using detail::block;
using detail::piecewise;

}  // namespace ingot
