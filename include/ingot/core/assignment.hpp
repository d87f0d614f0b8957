// Writing into arrays that exist: x = e, assign(x, e), x(...) = e and the compound assignments.
//
// An array is un-shared before it is written, where someone else holds its buffer. The statement's own references do
// not count: `own` is the number of references of the target, and of trees and selections that the statement itself
// made and will drop. Memory that is not Ingot's is always written in place.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ingot/core/expression.hpp>

namespace ingot {

template <class T>
class selection;

namespace detail {

/// A tree as the library sees it, without its destination.
struct tree {
    slot& cache;
    std::span<const word> program;
    std::span<const operand> operands;
    std::span<const word> attributes;
    extents_ref shape;
};

/// A gathered node whose result becomes elements of T.
template <class T, class N>
class gathered {
public:
    explicit gathered(const N& node) : shape_(node.extents(room_)) {
        cursor c{operands_, attributes_};
        node.gather(c);
    }
    gathered(const gathered&) = delete;
    gathered& operator=(const gathered&) = delete;
    operator tree() const noexcept {
        const std::span<const word> attributes{attributes_, static_cast<std::size_t>(N::binders)};
        return {slot_of<T, N>::cache, N::program, operands_, attributes, shape_};
    }

private:
    operand operands_[N::operands];
    word attributes_[N::binders + 1];
    shape_room room_;
    extents_ref shape_;
};
template <class T, class N>
gathered<T, N> gather_as(const N& node) {
    return gathered<T, N>(node);
}

/// The target of a write: an array's buffer and layout.
struct destination {
    dtype type;
    buffer_ref& memory;
    layout& where;
    bool keeps_rank = false;  // compound assignments: the result has as many axes
};

/// x = e: the target takes the tree's shape. Reuses the buffer where it fits and nothing else holds it.
INGOT_API void assign_array(const tree&, destination, std::uint32_t own);
/// Assigns to every element of the target, which keeps its shape. As in NumPy, the tree may have more leading axes of
/// extent 1.
INGOT_API void assign_elements(const char* operation, const tree&, destination, std::uint32_t own);
/// Assigns to the target's elements that the layout `part` selects in the buffer `from`; the others stay.
INGOT_API void assign_selected(const char* operation, const tree&, destination, const buffer* from, const layout& part,
                               std::uint32_t own);

/// One of several assignments in one statement: to `part` of the target, which was viewed in the buffer `from`. A
/// selection itself holds a reference to that buffer; the trees hold `own` more that end with the statement.
struct joint_assignment {
    destination to;
    const buffer* from;
    const layout& part;
    bool is_selection;
    std::uint32_t own;
};
/// Does all assignments, as if every right-hand side had been computed first. `trees` has no outputs yet. Throws
/// shape_error where targets differ in shape, or two of them have an element in common.
INGOT_API void assign_together(const char* operation, slot&, const joint_outputs& trees,
                               std::span<const joint_assignment>);

/// Whether values of one dtype may be written to elements of another: all but complex to real.
constexpr bool converts(dtype from, dtype to) {
    return kind_of(from) <= kind::floating || kind_of(to) == kind::complex;
}

/// A right-hand side of an assignment to elements of type T.
template <class E, class T>
concept assignable_to = (array_expression<E> || weak_scalar<E>) && converts(operand_type_of<E>().type, dtype_of<T>);

/// A scalar as an element of type T: floats saturate. Throws dtype_error where an integer does not fit.
template <class T, class S>
T element_value(const char* operation, S scalar) {
    const auto value = plain_number(scalar);
    using number = std::remove_const_t<decltype(value)>;
    if constexpr (complex_number<number>) {
        return static_cast<T>(value);
    } else if constexpr (complex_number<T>) {
        return T(static_cast<typename T::value_type>(value));
    } else if constexpr (std::is_integral_v<number> && !std::is_same_v<number, bool>) {
        if (!fits(value, dtype_of<T>))
            throw_does_not_fit(operation, static_cast<long long>(value), std::is_unsigned_v<number>, dtype_of<T>);
        return static_cast<T>(value);
    } else if constexpr (std::is_floating_point_v<number> && std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        using limits = std::numeric_limits<T>;
        if (std::isnan(value)) return T(0);
        if (value <= static_cast<number>(limits::lowest())) return limits::lowest();
        return value >= static_cast<number>(limits::max()) ? limits::max() : static_cast<T>(value);
    } else {
        return static_cast<T>(value);
    }
}
template <class T, class S>
strong_leaf<T> element_leaf(const char* operation, S scalar) {
    return {words_of_value(element_value<T>(operation, scalar)), dtype_of<T>};
}

/// The node of an assignment's right-hand side.
template <class T, class E>
decltype(auto) source_node(const char* operation, E&& e) {
    if constexpr (weak_scalar<E>)
        return element_leaf<T>(operation, static_cast<std::remove_cvref_t<E>>(e));
    else
        return as_node(std::forward<E>(e));
}
/// How many references to `b` end with the statement: none where the right-hand side is an lvalue.
template <class E, class N>
std::uint32_t own_references(const N& node, const buffer* b) {
    return std::is_lvalue_reference_v<E> ? 0 : node.count(b);
}

/// Access to the leaves of arrays and selections, which only assignments write.
struct access {
    template <class T>
    static leaf<T>& target(array<T>& a) noexcept {
        return a.leaf_;
    }
    template <class T>
    static leaf<T>& target(selection<T>& s) noexcept {
        return *s.target_;
    }
    template <class T>
    static leaf<T>& seen(selection<T>& s) noexcept {
        return s.seen_;
    }
};

template <class D>
struct written_type {};
template <class T>
struct written_type<array<T>&> {
    using type = T;
};
template <class T>
struct written_type<selection<T>> {
    using type = T;
};

/// A target of writes: an lvalue array, or a selection in the statement that made it.
template <class D>
concept writable = requires { typename written_type<D>::type; };

template <class D>
inline constexpr bool is_selection = !std::is_lvalue_reference_v<D>;

/// Writes e over every element of `to`, which keeps its shape.
template <class D, class E>
void write(const char* operation, D&& to, E&& e) {
    using T = typename written_type<D>::type;
    leaf<T>& whole = access::target(to);
    const auto& node = source_node<T>(operation, std::forward<E>(e));
    const buffer* b = whole.memory().get();
    const destination where{dtype_of<T>, whole.memory(), whole.where()};
    if constexpr (is_selection<D>) {
        leaf<T>& part = access::seen(to);
        assign_selected(operation, gather_as<T>(node), where, part.memory().get(), part.where(),
                        2 + own_references<E>(node, b));
    } else {
        assign_elements(operation, gather_as<T>(node), where, 1 + own_references<E>(node, b));
    }
}

/// Writes row O of the operator table over `to` and e to `to`. The tree that holds both is the statement's own.
template <op O, class D, class E>
void update(D&& to, E&& e) {
    using T = typename written_type<D>::type;
    leaf<T>& whole = access::target(to);
    const char* operation = facts(O).name.data();
    const destination where{dtype_of<T>, whole.memory(), whole.where(), true};
    if constexpr (is_selection<D>) {
        layout part = access::seen(to).where();
        const buffer* seen = access::seen(to).memory().get();
        const auto node = apply_operator<O>(std::move(access::seen(to)), std::forward<E>(e));
        assign_selected(operation, gather_as<T>(node), where, seen, part, 1 + node.count(seen));
    } else {
        const auto node = apply_operator<O>(whole, std::forward<E>(e));
        assign_elements(operation, gather_as<T>(node), where, 1 + node.count(whole.memory().get()));
    }
}

template <op O, class D, class E>
concept updatable = writable<D> && applicable<O, leaf<typename written_type<D>::type>, E> &&
                    same_kind(signature_of<O, leaf<typename written_type<D>::type>, E>().result,
                              dtype_of<typename written_type<D>::type>);

#define INGOT_COMPOUND(symbol, name)                               \
    template <class D, class E>                                    \
        requires updatable<op::name, D, E>                         \
    D&& operator symbol(D && to, E && e) {                         \
        update<op::name>(std::forward<D>(to), std::forward<E>(e)); \
        return std::forward<D>(to);                                \
    }

/// Updates an array or a selection in place: x += e writes x + e. x keeps its shape and type, which must hold the
/// result by NumPy's same-kind cast: int += double does not compile. Throws shape_error where e does not broadcast to
/// x's shape, device_error where it is on another device.
///
///     array<int> x{7, 8, 9};
///     x += 1;
///     x(slice(1, none)) %= 4;
///     x <<= array<int>{0, 1, 2};
///     std::cout << x;
///     // prints: [8 2 8]
INGOT_COMPOUND(+=, add)
INGOT_COMPOUND(-=, subtract)
INGOT_COMPOUND(*=, multiply)
INGOT_COMPOUND(/=, divide)
INGOT_COMPOUND(%=, remainder)
INGOT_COMPOUND(&=, bitwise_and)
INGOT_COMPOUND(|=, bitwise_or)
INGOT_COMPOUND(^=, bitwise_xor)
INGOT_COMPOUND(<<=, left_shift)
INGOT_COMPOUND(>>=, right_shift)
#undef INGOT_COMPOUND

/// Writes e, broadcast and converted, into an array or a selection, which keeps its shape. Throws shape_error where e
/// does not broadcast, device_error where it is on another device, dtype_error where an integer does not fit.
///
///     array<int> m = zeros<int>({2, 3});
///     assign(m, array<double>{1.5, 2.5, 3.5});
///     assign(m(0), 7);
///     std::cout << m;
///     // prints: [[7 7 7]
///     //          [1 2 3]]
template <class D, class E>
    requires writable<D> && assignable_to<E, typename written_type<D>::type>
void assign(D&& to, E&& e) {
    write("assign", std::forward<D>(to), std::forward<E>(e));
}

/// The type of a target in a tuple of references: an lvalue, or a selection by value.
template <class D>
using target_of = std::conditional_t<std::is_lvalue_reference_v<D>, D, std::remove_reference_t<D>>;

template <class D, class Own>
joint_assignment join_assignment(D&& to, Own own) {
    using T = typename written_type<D>::type;
    leaf<T>& whole = access::target(to);
    const destination where{dtype_of<T>, whole.memory(), whole.where()};
    if constexpr (is_selection<D>) {
        const leaf<T>& part = access::seen(to);
        return {where, part.memory().get(), part.where(), true, own(part.memory().get())};
    } else {
        return {where, whole.memory().get(), whole.where(), false, own(whole.memory().get())};
    }
}
template <class... E, class... D, class... N>
void write_together(std::tuple<D...>& to, const N&... nodes) {
    const auto own = [&](const buffer* b) { return (own_references<E>(nodes, b) + ...); };
    std::apply(
        [&](auto&... target) {
            const joint_assignment all[] = {join_assignment(static_cast<target_of<D>&&>(target), own)...};
            const gathered_trees<N...> trees(nodes...);
            assign_together("assign", slot_of<target_of<D>..., N...>::cache, trees.with({}), all);
        },
        to);
}

/// assign(std::forward_as_tuple(u, v(inner)), e, f): u gets e and v(inner) gets f, in one kernel, both computed from
/// the old values. The targets have one shape and no element in common; else shape_error is thrown and nothing is
/// written.
///
///     array<int> u{1, 2}, v{3, 4};
///     assign(std::forward_as_tuple(u, v), v, u + v);
///     std::cout << u << ' ' << v;
///     // prints: [3 4] [4 6]
template <class... D, array_expression... E>
    requires(sizeof...(D) == sizeof...(E)) && (writable<target_of<D>> && ...) &&
            (assignable_to<E, typename written_type<target_of<D>>::type> && ...)
void assign(std::tuple<D...> to, E&&... e) {
    write_together<E...>(to, as_node(std::forward<E>(e))...);
}

}  // namespace detail

using detail::assign;

}  // namespace ingot
