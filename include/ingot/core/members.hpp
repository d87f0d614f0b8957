// The members of every expression: nodes, arrays and selections derive from expression_members of themselves. Nothing
// here is instantiated for a type until it is used.
#pragma once

#include <tuple>
#include <utility>

#include <ingot/core/device.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/indexing.hpp>
#include <ingot/core/program.hpp>
#include <ingot/core/rejected.hpp>
#include <ingot/core/shape.hpp>

namespace ingot::detail {

/// Base of everything that operators and functions take as an array.
struct expression_base {};

/// The members of every expression: of arrays, selections, lazies, and the results of operators and functions. `[]`,
/// `begin`, `end` and a conversion to bool do not compile.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << m(0, 1) << ' ' << m(all, slice(1, none)).shape() << ' ' << (m * 2)(-1);
///     // prints: 2 (2, 2) [ 8 10 12]
template <class E>
class expression_members : public expression_base {
public:
    /// The extent of each axis.
    ///
    ///     auto e = array<double>{1, 2, 3} * array<double>{1, 2}(all, newaxis);
    ///     std::cout << e.shape() << ' ' << e.ndim() << ' ' << e.size();
    ///     // prints: (2, 3) 2 6
    shape_like shape() const {
        shape_room room;
        return as_node(self()).extents(room).span();
    }
    /// Number of axes.
    int ndim() const {
        shape_room room;
        return as_node(self()).extents(room).rank;
    }
    /// Number of elements.
    index_t size() const {
        shape_room room;
        index_t n = 1;
        for (index_t extent : as_node(self()).extents(room).span()) n *= extent;
        return n;
    }

    /// The device of the arrays in it; the current device where there are none.
    ///
    ///     with_device on_the_host(device::host());
    ///     std::cout << (array<int>{1, 2} + 1).device();
    ///     // prints: host:0
    ingot::device device() const { return device_of(as_node(self())); }

    /// The values as an array, in one kernel.
    ///
    ///     std::cout << (array<int>{1, 2} * 3).eval();
    ///     // prints: [3 6]
    auto eval(const source_place& at = source_place::current()) const;

    /// The value of the only element, as a C++ value. Waits for it. Throws shape_error where there are more or none.
    ///
    ///     const int total = static_cast<int>(sum(array<int>{1, 2, 3}).item());
    ///     std::cout << total;
    ///     // prints: 6
    auto item(const source_place& at = source_place::current()) const;

    /// The values in C order, as a std::vector. Waits for them.
    ///
    ///     const std::vector<double> roots = sqrt(array<double>{1, 4, 9}).to_host();
    ///     std::cout << roots.size() << ' ' << roots[2];
    ///     for (const double ten : (array<double>{1, 2, 3} * 10).to_host()) std::cout << ' ' << ten;
    ///     // prints: 3 3 10 20 30
    auto to_host(const source_place& at = source_place::current()) const;

    /// A snapshot of the values in C order, as a range of the host's. It is copied only where necessary (host_range).
    /// Waits for them.
    ///
    ///     for (const double ten : (array<double>{1, 2, 3} * 10).values()) std::cout << ten << ", ";
    ///     // prints: 10, 20, 30, ...
    auto values(const source_place& at = source_place::current()) const;

    /// x(i, all, slice(1, -1), newaxis, ellipsis): a view, or a selection where x may be written. Throws index_error
    /// for an index outside its axis, and for more indices than axes.
    ///
    ///     array<int> m{{1, 2, 3}, {4, 5, 6}};
    ///     m(all, 0) = 9;
    ///     std::cout << m << '\n' << m(1, slice(none, none, 2));
    ///     // prints: [[9 2 3]
    ///     //          [9 5 6]]
    ///     //         [9 6]
    template <index_argument... I>
    auto operator()(I... indices) const& {
        return index_into(self(), indices...);
    }
    template <index_argument... I>
    auto operator()(I... indices) & {
        return index_into(static_cast<E&>(*this), indices...);
    }
    template <index_argument... I>
    auto operator()(I... indices) && {
        return index_into(static_cast<E&&>(*this), indices...);
    }

    /// x(i, all, j) with arrays of integers among the indices selects the elements that they name. The arrays are
    /// broadcast together. As in NumPy, their axes replace those they index, or come first where other indices stand
    /// between them. The next wait throws index_error for an index outside its axis; until then it reads any element
    /// and writes none, and the other indices read and write theirs. x(mask), a mask over the first axes, gives the
    /// true elements as an array and waits for their number. Where x may be written, both are selections; of several
    /// values for one element one wins. A mask beside other indices stands for the indices of its true elements; a bool
    /// beside others is a mask of no axes. Throws shape_error where arrays do not broadcast or a mask does not have the
    /// extents of its axes.
    ///
    ///     array<int> m{{1, 2, 3}, {4, 5, 6}};
    ///     array<int> columns{2, 0};
    ///     m(all, columns) += 10;
    ///     m(m > 12) = 0;
    ///     std::cout << m << '\n' << m(array<int>{1, 0}, columns) << ' ' << m(m > 5);
    ///     // prints: [[11  2  0]
    ///     //          [ 0  5  0]]
    ///     //         [ 0 11] [11]
    template <class... I>
        requires indices_with_arrays<I...>
    auto operator()(I&&... indices) const& {
        return index_by_arrays(self(), std::forward<I>(indices)...);
    }
    template <class... I>
        requires indices_with_arrays<I...>
    auto operator()(I&&... indices) & {
        return index_by_arrays(static_cast<E&>(*this), std::forward<I>(indices)...);
    }
    template <class... I>
        requires indices_with_arrays<I...>
    auto operator()(I&&... indices) && {
        return index_by_arrays(static_cast<E&&>(*this), std::forward<I>(indices)...);
    }

    /// x(...) with the indices of a std::tuple or a std::array: x(ix_(i, j)), x(unravel_index(k, {2, 3})).
    ///
    ///     array<int> m{{1, 2, 3}, {4, 5, 6}};
    ///     m(ix_(array<int>{1, 0}, array<int>{0, 2})) += 10;
    ///     std::cout << m;
    ///     // prints: [[11  2 13]
    ///     //          [14  5 16]]
    template <index_tuple I>
    auto operator()(const I& indices) const& {
        return std::apply([&](const auto&... own) { return self()(own...); }, indices);
    }
    template <index_tuple I>
    auto operator()(const I& indices) & {
        return std::apply([&](const auto&... own) { return static_cast<E&>(*this)(own...); }, indices);
    }
    template <index_tuple I>
    auto operator()(const I& indices) && {
        return std::apply([&](const auto&... own) { return static_cast<E&&>(*this)(own...); }, indices);
    }

    INGOT_REJECTED("not an index: indices are integers, slice(...), all, newaxis, ellipsis, arrays of integers, masks",
                   (class... I), !(any_index<I> && ...) && !(index_tuple<I> && ...),
                   ::ingot::detail::rejected operator()(I...) const)
    INGOT_REJECTED("an array has no brackets: x(i), x(i, j), x(slice(1, -1))", (class I), true,
                   ::ingot::detail::rejected operator[](I) const)
    INGOT_REJECTED_ALWAYS("an array is no range of the host's: for (auto v : x.values())", void begin() const)
    INGOT_REJECTED_ALWAYS("an array is no range of the host's: for (auto v : x.values())", void end() const)
    INGOT_REJECTED_ALWAYS("an array is no condition: all(e).item(), any(e).item(); by element where(e, x, y)",
                          explicit operator bool() const)
    INGOT_REJECTED("an array is no number: e.item() reads one; unlike expressions have one type as lazy<T>(e)",
                   (class Number), std::is_arithmetic_v<Number>, operator Number() const)
    // These functions are not members but free functions.
#define INGOT_FREE_FUNCTION(name, call)                                            \
    INGOT_REJECTED("of an array it is a free function: " call, (class... A), true, \
                   ::ingot::detail::rejected name(const A&...) const)
    INGOT_FREE_FUNCTION(sum, "sum(x), sum(x, axis)")
    INGOT_FREE_FUNCTION(prod, "prod(x), prod(x, axis)")
    INGOT_FREE_FUNCTION(mean, "mean(x), mean(x, axis)")
    INGOT_FREE_FUNCTION(std, "std(x), std(x, axis)")
    INGOT_FREE_FUNCTION(max, "max(x), max(x, axis)")
    INGOT_FREE_FUNCTION(min, "min(x), min(x, axis)")
    INGOT_FREE_FUNCTION(argmax, "argmax(x), argmax(x, axis)")
    INGOT_FREE_FUNCTION(dot, "dot(x, y), matmul(x, y)")
    INGOT_REJECTED_ALWAYS("of an array it is a free function: reshape(x, {2, 3})",
                          rejected reshape(const shape_like&) const)
    INGOT_FREE_FUNCTION(transpose, "transpose(x), x.T()")
    INGOT_FREE_FUNCTION(flatten, "ravel(x)")
#undef INGOT_FREE_FUNCTION
    INGOT_REJECTED("an array is copied by its constructor: array<T>(x)", (class... A), true,
                   ::ingot::detail::rejected copy(const A&...) const)
    INGOT_REJECTED("of an array it is a free function: astype<T>(x)", (class To, class... A), true,
                   ::ingot::detail::rejected astype(const A&...) const)
    INGOT_REJECTED("an array gives all its extents: x.shape()[0]", (class I), true,
                   ::ingot::detail::rejected shape(I) const)

    /// The axes reversed: a view. Writing it writes the array, where that may be written.
    ///
    ///     array<int> m{{1, 2, 3}, {4, 5, 6}};
    ///     m.T()(0) = 7;
    ///     std::cout << m.T();
    ///     // prints: [[7 7]
    ///     //          [2 5]
    ///     //          [3 6]]
    auto T() const& { return viewed(self(), view_permuted, nullptr, "T"); }
    auto T() & { return viewed(static_cast<E&>(*this), view_permuted, nullptr, "T"); }
    auto T() && { return viewed(static_cast<E&&>(*this), view_permuted, nullptr, "T"); }

private:
    const E& self() const noexcept { return static_cast<const E&>(*this); }
};

/// expression_members for trees. Trees are not assignable: exp(x) = exp(y) would overwrite a temporary.
template <class E>
class node_members : public expression_members<E> {
public:
    node_members() = default;
    node_members(const node_members&) = default;
    node_members& operator=(const node_members&) = delete;
};

/// Whether all leaves of a tree are scalars, so that a view changes no layout.
template <class N>
consteval bool has_scalars_alone() {
    for (const word w : N::program) switch (kind_of_word(w)) {
            case word_kind::leaf:
            case word_kind::generator:
            case word_kind::lazy:
            case word_kind::scan:
            case word_kind::unravel:
            case word_kind::library:
                return false;
            default:
                break;
        }
    return true;
}

/// A copy of e's node under a view of its result.
template <class E>
auto node_seen(E&& e, const axis_view& view) {
    auto node = as_node(std::forward<E>(e));
    if constexpr (has_scalars_alone<decltype(node)>()) {
        return repeated(std::move(node), view);
    } else {
        node.apply(view, 0);
        return node;
    }
}

/// e under a view: a selection where e may be written, else node_seen.
template <class E>
auto seen(E&& e, const axis_view& view) {
    if constexpr (requires { std::forward<E>(e).as_selection(); }) {
        auto selected = std::forward<E>(e).as_selection();
        selected.apply(view);
        return selected;
    } else {
        return node_seen(std::forward<E>(e), view);
    }
}

/// e under the view that `make(view, shape, arguments...)` gives.
template <class E, class Make, class... A>
auto viewed(E&& e, Make make, const A&... arguments) {
    shape_room room;
    view_room view;
    make(view, as_node(std::as_const(e)).extents(room), arguments...);
    return seen(std::forward<E>(e), view);
}

template <class E, class... I>
auto index_into(E&& e, I... indices) {
    const index_item items[] = {as_index_item(indices)..., index_item{}};
    return viewed(std::forward<E>(e), view_by_index, items, int{sizeof...(I)});
}

template <class N>
device_id device_of(const N& node) {
    const device_id d = node.on_device();
    return d == no_device ? runtime::current().device : d;
}

}  // namespace ingot::detail
